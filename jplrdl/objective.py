"""The objective of JP-LRDL (eq1), term by term, and the pieces that its blocks share. Samples, codes, atoms are rows.

    sum_i [ |Y_i - A_i D|^2 + |Y_i - A_i^i D_i|^2 + sum_{j != i} |A_i^j D_j|^2 ]          Y = XP
    + lambda_incoherence sum_{i != j} |D_i D_j'|^2 + lambda_sparse |A|_1 + lambda_graph tr(A'L^c A)
    + lambda_rank sum_i |D_i|_* + lambda_projection tr(Y'L^p Y) + lambda_energy (|X|^2 - |Y|^2)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._validation import FloatArray

Labels = NDArray[Any]


@dataclass(frozen=True)
class Weights:
    """The weights of the terms."""

    sparse: float
    graph: float
    rank: float
    incoherence: float
    projection: float
    energy: float


def coding_gram(gram: FloatArray, atom_labels: Labels) -> FloatArray:
    """H = DD' + blockdiag(D_j D_j'), one for the samples of all classes."""
    return gram + np.where(atom_labels[:, None] == atom_labels, gram, 0)


def coding_cov(Y: FloatArray, D: FloatArray, labels: Labels, atom_labels: Labels) -> FloatArray:
    """b = Dy, and once more Dy on the atoms of the sample's own class."""
    cov = Y @ D.T
    return cov + np.where(labels[:, None] == atom_labels, cov, 0)


def own_codes(codes: FloatArray, labels: Labels, atom_labels: Labels) -> FloatArray:
    """The codes with zeros on the atoms of other classes: A_i^i."""
    return np.where(labels[:, None] == atom_labels, codes, 0)


def terms(
    Y: FloatArray,
    D: FloatArray,
    codes: FloatArray,
    labels: Labels,
    atom_labels: Labels,
    graph: Any,
    projection_graph: Any,
    energy: float,
    weights: Weights,
) -> dict[str, float]:
    """Every term with its weight, and "objective", their sum; in double precision. `energy` is |X|^2."""
    y, d, a = (np.asarray(array, dtype=np.float64) for array in (Y, D, codes))
    gram = d @ d.T
    inside = np.where(atom_labels[:, None] == atom_labels, gram, 0)
    own = own_codes(a, labels, atom_labels)
    explained_by_class = np.sum((a @ inside) * a) - np.sum((own @ inside) * own)
    nuclear = sum(np.linalg.norm(d[atom_labels == label], "nuc") for label in np.unique(atom_labels))
    result = {
        "reconstruction": float(np.sum((y - a @ d) ** 2)),
        "own_class": float(np.sum((y - own @ d) ** 2)),
        "other_classes": float(explained_by_class),
        "incoherence": weights.incoherence * float(np.sum(gram**2) - np.sum(inside**2)),
        "sparse": weights.sparse * float(np.abs(a).sum()),
        "graph": weights.graph * float(np.sum(a * (graph @ a))),
        "rank": weights.rank * float(nuclear),
        "projection": weights.projection * float(np.sum(y * (projection_graph @ y))),
        "energy": weights.energy * (energy - float(np.sum(y**2))),
    }
    return {"objective": sum(result.values()), **result}
