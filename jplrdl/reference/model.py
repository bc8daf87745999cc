"""The whole fit (Algorithm 2, exact blocks) and the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._validation import FloatArray
from ..weights import Weights
from .classification import class_residuals, unit_rows
from .coding import coupled_codes, sparse_encode
from .dictionary import initial_dictionary, update_atoms
from .graphs import laplacian, shifted_laplacian, signed_knn_graph
from .objective import terms
from .projection import initial_projection, span_basis, update_projection
from .robust_pca import robust_pca


@dataclass
class Model:
    """What a fit found: P, D, the class of each atom, A, its mean in each class, the sorted classes, and the terms."""

    projection: FloatArray
    components: FloatArray
    atom_labels: NDArray[Any]
    codes: FloatArray
    means: FloatArray
    classes: NDArray[Any]
    history: dict[str, list[Any]]


def fit(
    X: ArrayLike,
    y: ArrayLike,
    n_components: int,
    *,
    n_atoms: int | None = None,
    lambda_sparse: float = 0.08,
    lambda_graph: float = 0.0005,
    lambda_rank: float = 0.03,
    lambda_incoherence: float = 1e-5,
    lambda_projection: float = 0.1,
    lambda_energy: float = 1.0,
    init_projection: str = "lpp",
    init_ridge: float = 0.001,
    init_dictionary: str = "singular",
    learn_projection: bool = True,
    max_iter: int = 10,
    tol: float = 0.0,
) -> Model:
    """Rounds of codes, dictionary and projection, until the objective changes by less than `tol` of itself"""
    w = Weights(lambda_sparse, lambda_graph, lambda_rank, lambda_incoherence, lambda_projection, lambda_energy)
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    x = unit_rows(X)
    coefficient, heat = graphs(x, labels)
    Lc = shifted_laplacian(coefficient).toarray()
    Lp = laplacian(heat, normalized=True, signed=True).toarray()
    basis = span_basis(x)
    x = x @ basis
    P = initial_projection(x, n_components, graph=heat, method=init_projection, ridge=init_ridge)
    D, atom_labels = initial_dictionary(x @ P, labels, n_atoms, method=init_dictionary)
    A: FloatArray = np.zeros((len(x), len(D)))
    history: dict[str, list[Any]] = {}

    def record(block: str, found: dict[str, float] | None = None) -> float:
        found = terms(x, P, D, A, labels, atom_labels, Lc, Lp, w) if found is None else found
        for name, value in {"block": block, **found}.items():
            history.setdefault(name, []).append(value)
        return found["objective"]

    value, curvature = record("start"), None
    for iteration in range(max_iter):
        A = codes_block(x @ P, D, A, labels, atom_labels, Lc, w)
        last, ceiling = record("codes"), float(np.linalg.norm(D, 2) ** 2)
        while True:
            candidate = dictionary_block(x @ P, D, A, labels, atom_labels, w, ceiling)
            found = terms(x, P, candidate, A, labels, atom_labels, Lc, Lp, w)
            if found["objective"] <= last + 1e-10 * abs(last) or ceiling >= len(D):
                break
            # Atoms that were turned already have made the bound too small; of unit atoms it is at most their number
            ceiling = min(4 * ceiling, float(len(D)))
        D = candidate
        record("dictionary", found)
        if learn_projection:
            P, curvature = projection_block(x, P, D, A, labels, atom_labels, Lp, w, curvature)
            record("projection")
        before, value = value, history["objective"][-1]
        if iteration > 0 and tol > 0 and abs(before - value) <= tol * abs(value):
            break
    A = codes_block(x @ P, D, A, labels, atom_labels, Lc, w)
    record("codes")
    means = np.stack([A[labels == label].mean(axis=0) for label in range(len(classes))])
    return Model(basis @ P, D, atom_labels, A, means, classes, history)


def graphs(x: FloatArray, labels: NDArray[Any]) -> tuple[Any, Any]:
    """Neighbours among the low-rank parts of each class's samples (eq3), with weights +-1 (eq4) and of heat (eq7)"""
    low_rank = x.copy()
    for label in np.unique(labels):
        if np.sum(labels == label) > 1:
            low_rank[labels == label] = robust_pca(x[labels == label], tol=1e-5)[0]
    sizes = np.bincount(labels)[labels]
    same, other = np.minimum(sizes - 1, 15), sizes - 1
    return (
        signed_knn_graph(low_rank, labels, same, other),
        signed_knn_graph(low_rank, labels, same, other, weights="heat"),
    )


def codes_block(
    Y: FloatArray,
    D: FloatArray,
    A: FloatArray,
    labels: NDArray[Any],
    atom_labels: NDArray[Any],
    Lc: FloatArray,
    w: Weights,
) -> FloatArray:
    """H = DD' + blockdiag(D_j D_j'); b = Dy, and once more D_i y on the atoms of the sample's own class i"""
    gram, cov = D @ D.T, Y @ D.T
    H = gram + gram * (atom_labels[:, None] == atom_labels)
    b = cov + cov * (labels[:, None] == atom_labels)
    return coupled_codes(H, b, Lc, w.sparse, w.graph, init=A)


def dictionary_block(
    Y: FloatArray,
    D: FloatArray,
    A: FloatArray,
    labels: NDArray[Any],
    atom_labels: NDArray[Any],
    w: Weights,
    ceiling: float,
) -> FloatArray:
    """Q = 2 A_i'A_i and C = A_i'R_i + A_i^i'Y_i, class after class, R_i what the other classes' atoms leave of Y"""
    D = D.copy()
    for label in np.unique(labels):
        own, mine = atom_labels == label, labels == label
        rest = Y - A[:, ~own] @ D[~own]
        D[own] = update_atoms(
            D[own],
            2 * A[:, own].T @ A[:, own],
            A[:, own].T @ rest + A[np.ix_(mine, own)].T @ Y[mine],
            D[~own],
            lambda_incoherence=w.incoherence,
            lambda_rank=w.rank,
            ceiling=ceiling,
        )
    return D


def projection_block(
    x: FloatArray,
    P: FloatArray,
    D: FloatArray,
    A: FloatArray,
    labels: NDArray[Any],
    atom_labels: NDArray[Any],
    Lp: FloatArray,
    w: Weights,
    curvature: float | None,
) -> tuple[FloatArray, float]:
    """M = (2 - lambda_energy) X'X + lambda_projection X'L^pX and B = sum_i X_i'(A_i D + A_i^i D_i)"""
    M = (2 - w.energy) * x.T @ x + w.projection * x.T @ Lp @ x
    B = x.T @ (A @ D + (A * (labels[:, None] == atom_labels)) @ D)
    return update_projection(P, M, B, curvature=curvature)


def predict(
    model: Model,
    X: ArrayLike,
    *,
    code_penalty: float = 0.01,
    code_ridge: float = 0.003,
    mean_weight: float = 0.0,
    residual: str = "normalized",
) -> NDArray[Any]:
    """The class with the smallest residual (eq24, eq25)"""
    Y = unit_rows(X) @ model.projection
    codes = sparse_encode(Y, model.components, code_penalty, shift=code_ridge)
    residuals = class_residuals(
        Y, model.components, codes, model.atom_labels, model.means,
        mean_weight=mean_weight, normalized=residual == "normalized",
    )  # fmt: skip
    return model.classes[residuals.argmin(axis=1)]
