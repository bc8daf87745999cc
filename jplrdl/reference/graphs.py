"""Signed neighbour graphs (eq4, eq7) and their Laplacians (eq6, eq9, eq10)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array


def signed_knn_graph(
    X: ArrayLike,
    y: ArrayLike,
    n_neighbors_same: ArrayLike,
    n_neighbors_other: ArrayLike,
    *,
    weights: str = "sign",
    kernel_width: float = 1.0,
) -> csr_array:
    """+-1 (eq4) or +-exp(-|x_i - x_j|^2 / 2 t^2) (eq7) where either sample is a neighbour of the other"""
    x, labels = np.asarray(X), np.asarray(y)
    n = len(x)
    n_same, n_other = (np.broadcast_to(count, n) for count in (n_neighbors_same, n_neighbors_other))
    W = np.zeros((n, n), dtype=x.dtype)
    for i in range(n):
        squared = ((x - x[i]) ** 2).sum(axis=1)
        nearest = np.argsort(squared, kind="stable")
        nearest = nearest[nearest != i]
        same = nearest[labels[nearest] == labels[i]][: n_same[i]]
        other = nearest[labels[nearest] != labels[i]][: n_other[i]]
        for neighbors, sign in ((same, 1), (other, -1)):
            size = np.exp(-squared[neighbors] / (2 * kernel_width**2)) if weights == "heat" else 1.0
            W[i, neighbors] = W[neighbors, i] = sign * size
    return csr_array(W)


def laplacian(W: Any, *, normalized: bool = False, signed: bool = False) -> csr_array:
    """diag(d) - W with the degrees d of W or of |W|, scaled by d^-1/2 from both sides if normalized"""
    w = W.toarray() if hasattr(W, "toarray") else np.asarray(W)
    degree = (np.abs(w) if signed else w).sum(axis=1)
    L = np.diag(degree) - w
    if normalized:
        root = np.where(degree != 0, np.abs(degree), 1) ** -0.5
        L = root[:, None] * L * root
    return csr_array(L)


def shifted_laplacian(W: Any) -> csr_array:
    """L + sigma I, sigma = max(0, -the smallest eigenvalue of L)"""
    L = laplacian(W).toarray()
    return csr_array(L + max(0.0, -np.linalg.eigvalsh(L)[0]) * np.eye(len(L)))
