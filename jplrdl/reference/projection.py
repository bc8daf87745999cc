"""The projection: the span of the data, the first P (Algorithm 2) and its descending update (eq20)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import FloatArray


def span_basis(X: ArrayLike) -> FloatArray:
    """The right singular vectors of X, shape (n_features, rank)"""
    x = np.asarray(X)
    _, singular, vectors = np.linalg.svd(x, full_matrices=False)
    return vectors[singular > singular[0] * np.sqrt(len(x) * np.finfo(x.dtype).eps)].T


def initial_projection(
    X: ArrayLike, n_components: int, *, graph: Any = None, method: str = "lpp", ridge: float = 1e-3
) -> FloatArray:
    """The right singular vectors ("pca"), or the smallest v'(X'LX + rI)v / v'X'DXv over the positive edges ("lpp")

    r is `ridge` times the mean eigenvalue of X'DX.
    """
    x = np.asarray(X)
    basis = span_basis(x)
    if method == "pca":
        return basis[:, :n_components]
    inside = x @ basis
    W = graph.toarray().clip(min=0)
    degree = np.diag(W.sum(axis=1))
    loops = np.diag(np.where(W.sum(axis=1) > 0, 0.0, 1.0))
    scatter = inside.T @ (degree + loops) @ inside
    values, vectors = np.linalg.eigh(scatter)
    whiten = vectors / np.sqrt(values)
    local = inside.T @ (degree - W) @ inside + ridge * np.trace(scatter) / len(scatter) * np.eye(len(scatter))
    directions = whiten @ np.linalg.eigh(whiten.T @ local @ whiten)[1]
    return basis @ np.linalg.qr(directions[:, :n_components])[0]


def update_projection(
    P: ArrayLike,
    quadratic: ArrayLike,
    linear: ArrayLike,
    *,
    ceiling: float | None = None,
    curvature: float | None = None,
    n_steps: int = 1,
    tol: float = 1e-6,
) -> tuple[FloatArray, float]:
    """Descend tr(P'MP) - 2 tr(P'B): P <- polar factor of (aI - M)P + B; a quarter of a if it descends, else four times

    A square P is the polar factor of B at once.
    """
    p, M, B = np.asarray(P), np.asarray(quadratic), np.asarray(linear)
    if p.shape[0] == p.shape[1]:
        U, _, Vt = np.linalg.svd(B)
        return U @ Vt, 0.0
    ceiling = max(0.0, float(np.linalg.eigvalsh(M)[-1]) if ceiling is None else ceiling)
    a = ceiling if curvature is None else min(curvature, ceiling)
    value = np.trace(p.T @ M @ p) - 2 * np.trace(p.T @ B)
    for _ in range(n_steps):
        U, _, Vt = np.linalg.svd(a * p - M @ p + B, full_matrices=False)
        candidate = U @ Vt
        lower = np.trace(candidate.T @ M @ candidate) - 2 * np.trace(candidate.T @ B)
        if lower > value:
            if a == ceiling:
                break
            a = min(4 * a, ceiling)
            continue
        descent = value - lower
        p, value, a = candidate, lower, a / 4
        if descent <= tol * abs(value):
            break
    return p, a
