"""The objective (eq1, eq2), sum by sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..weights import Weights


def terms(
    X: ArrayLike,
    P: ArrayLike,
    D: ArrayLike,
    codes: ArrayLike,
    labels: NDArray[Any],
    atom_labels: NDArray[Any],
    graph: ArrayLike,
    projection_graph: ArrayLike,
    weights: Weights,
) -> dict[str, float]:
    """Every term with its weight, and "objective", their sum"""
    x, p, d, A, Lc, Lp = (np.asarray(array) for array in (X, P, D, codes, graph, projection_graph))
    y = x @ p
    found: dict[str, Any] = dict.fromkeys(("reconstruction", "own_class", "other_classes", "incoherence", "rank"), 0.0)
    for i in np.unique(labels):
        Y_i, A_i, D_i = y[labels == i], A[labels == i], d[atom_labels == i]
        found["reconstruction"] += np.sum((Y_i - A_i @ d) ** 2)
        found["own_class"] += np.sum((Y_i - A_i[:, atom_labels == i] @ D_i) ** 2)
        found["rank"] += weights.rank * np.linalg.norm(D_i, "nuc")
        for j in np.unique(labels):
            if j != i:
                D_j = d[atom_labels == j]
                found["other_classes"] += np.sum((A_i[:, atom_labels == j] @ D_j) ** 2)
                found["incoherence"] += weights.incoherence * np.sum((D_i @ D_j.T) ** 2)
    found["sparse"] = weights.sparse * np.abs(A).sum()
    found["graph"] = weights.graph * np.trace(A.T @ Lc @ A)
    found["projection"] = weights.projection * np.trace(y.T @ Lp @ y)
    found["energy"] = weights.energy * np.sum((x - y @ p.T) ** 2)
    return {"objective": float(sum(found.values())), **{name: float(value) for name, value in found.items()}}
