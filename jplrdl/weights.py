"""What the terms of the objective weigh."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Weights:
    """The weights of the terms."""

    sparse: float
    graph: float
    rank: float
    incoherence: float
    projection: float
    energy: float
