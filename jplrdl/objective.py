"""The objective of JP-LRDL (eq1), term by term, and the pieces that its blocks share. Samples, codes, atoms are rows.

    sum_i [ |Y_i - A_i D|^2 + |Y_i - A_i^i D_i|^2 + sum_{j != i} |A_i^j D_j|^2 ]          Y = XP
    + lambda_incoherence sum_{i != j} |D_i D_j'|^2 + lambda_sparse |A|_1 + lambda_graph tr(A'L^c A)
    + lambda_rank sum_i |D_i|_* + lambda_projection tr(Y'L^p Y) + lambda_energy (|X|^2 - |Y|^2)
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _code_energy as _kernel
from . import _sparse
from ._algebra import inner
from ._validation import FloatArray
from .dictionary import nuclear_norms
from .weights import Weights

Labels = NDArray[Any]

_MOST_NONZEROS = 0.2


def class_slices(atom_labels: Labels) -> list[slice]:
    """Where the atoms of each class are; they stand in the order of the classes."""
    return [slice(start, stop) for start, stop in pairwise(_class_bounds(atom_labels))]


def _class_bounds(atom_labels: Labels) -> NDArray[np.intp]:
    """Where the atoms of each class begin, and the last ones end."""
    return np.searchsorted(atom_labels, np.arange(atom_labels[-1] + 2))


def own_elements(labels: Labels, atom_labels: Labels) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where, in a matrix with a row a sample and a column an atom, the atoms of the sample's own class are: rows and
    columns.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.objective import own_elements
    >>> own_elements(np.array([1, 0]), np.array([0, 1, 1]))
    (array([0, 0, 1]), array([1, 2, 0]))
    """
    bounds = _class_bounds(atom_labels)
    sizes = np.diff(bounds)[labels]
    rows = np.repeat(np.arange(len(labels)), sizes)
    before = np.cumsum(sizes) - sizes
    return rows, np.arange(len(rows)) + np.repeat(bounds[labels] - before, sizes)


def coding_gram(gram: FloatArray, atom_labels: Labels) -> FloatArray:
    """H = DD' + blockdiag(D_j D_j'), one for the samples of all classes."""
    return coding_cov(gram.copy(), atom_labels, atom_labels)


def coding_cov(cov: FloatArray, labels: Labels, atom_labels: Labels) -> FloatArray:
    """b = Dy, `cov`, and once more Dy on the atoms of the sample's own class; in place."""
    cov[own_elements(labels, atom_labels)] *= 2
    return cov


def own_codes(codes: FloatArray, labels: Labels, atom_labels: Labels) -> FloatArray:
    """The codes with zeros on the atoms of other classes: A_i^i."""
    return np.where(labels[:, None] == atom_labels, codes, 0)


class SplitCodes(NamedTuple):
    """A_i, A_i^i with zeros on the atoms of other classes, and what the two differ by, ready for products."""

    all: Any
    own: Any
    other: Any


def split_codes(codes: FloatArray, labels: Labels, atom_labels: Labels) -> SplitCodes:
    """Sparse arrays, or plain ones where more than a fifth of the codes is not zero."""
    codes, ends = np.ascontiguousarray(codes), np.empty(len(codes) + 1, dtype=np.intc)
    most = max(1, int(_MOST_NONZEROS * codes.size))
    columns, values = np.empty(most, dtype=np.intc), np.empty(most, dtype=codes.dtype)
    count = _sparse.list_nonzeros(codes, ends, columns, values)
    if count < 0:
        own = own_codes(codes, labels, atom_labels)
        return SplitCodes(codes, own, codes - own)
    every = ends, columns[:count].copy(), values[:count].copy()  # without the room for more
    mine, others = ([np.empty_like(array) for array in every] for _ in range(2))
    of_rows, of_columns = (array.astype(np.intp, copy=False) for array in (labels, atom_labels))
    _sparse.split_columns(*every, of_rows, of_columns, *mine, *others)
    return SplitCodes(*(_compressed(codes.shape, *parts) for parts in (every, mine, others)))


def _compressed(shape: tuple[int, ...], ends: NDArray[np.intc], columns: NDArray[np.intc], values: FloatArray) -> Any:
    from scipy.sparse import csr_array

    return csr_array((values[: ends[-1]], columns[: ends[-1]], ends), shape=shape)


def unexplained(Y: FloatArray, explained: FloatArray) -> float:
    """What is left of samples, squared."""
    return _square(Y - explained)


def elsewhere(other: Any, gram: FloatArray, atom_labels: Labels) -> float:
    """The sum of |A_i^j D_j|^2 over j != i: of the codes `other`, class by class. `gram` is DD'."""
    if isinstance(other, np.ndarray):
        parts = ((other[:, own], gram[own, own]) for own in class_slices(atom_labels))
        return sum(inner(codes @ inside, codes) for codes, inside in parts)
    return _kernel.class_energy(
        other.indptr, other.indices, other.data, atom_labels.astype(np.intp, copy=False),
        np.ascontiguousarray(gram, dtype=other.dtype),
    )  # fmt: skip


def code_terms(codes: Any, graph: Any, weights: Weights) -> dict[str, float]:
    """The l1 norm of the codes, and how a graph, a CSR array, couples them."""
    if isinstance(codes, np.ndarray):
        coupling = inner(codes, graph @ codes)
    else:
        ends, neighbours = (a.astype(np.intc, copy=False) for a in (graph.indptr, graph.indices))
        coupling = _kernel.graph_energy(
            ends, neighbours, graph.data.astype(codes.dtype, copy=False), codes.indptr, codes.indices, codes.data,
            np.zeros(codes.shape[1]),
        )  # fmt: skip
    return {
        "sparse": weights.sparse * float(abs(codes).sum(dtype=np.float64)),
        "graph": weights.graph * coupling,
    }


def atom_terms(D: FloatArray, gram: FloatArray, atom_labels: Labels, weights: Weights) -> dict[str, float]:
    """The incoherence of the classes' atoms, and their nuclear norms. `gram` is DD'."""
    inside = _square(gram[own_elements(atom_labels, atom_labels)][None])
    nuclear = float(nuclear_norms(D, class_slices(atom_labels)).sum())
    return {"incoherence": weights.incoherence * (_square(gram) - inside), "rank": weights.rank * nuclear}


def projection_terms(Y: FloatArray, drawn: FloatArray, energy: float, weights: Weights) -> dict[str, float]:
    """The graph of the projected samples, and the energy that they lose. `drawn` is L^p Y, `energy` |X|^2."""
    return {
        "projection": weights.projection * inner(Y, drawn),
        "energy": weights.energy * (energy - _square(Y)),
    }


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
    """Every term with its weight, and "objective", their sum. `energy` is |X|^2."""
    gram, split = D @ D.T, split_codes(codes, labels, atom_labels)
    found = (
        {
            "reconstruction": unexplained(Y, split.all @ D),
            "own_class": unexplained(Y, split.own @ D),
            "other_classes": elsewhere(split.other, gram, atom_labels),
        }
        | code_terms(split.all, graph, weights)
        | atom_terms(D, gram, atom_labels, weights)
        | projection_terms(Y, projection_graph @ Y, energy, weights)
    )
    return {"objective": sum(found.values()), **found}


def _square(A: FloatArray) -> float:
    return inner(A, A)
