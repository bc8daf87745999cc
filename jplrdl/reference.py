"""The same functions in plain NumPy, equation by equation.

The oracle of the tests and the baseline of the benchmarks: made to be read, not to be fast. Nothing here calls a
kernel, and nothing checks its input. Samples, codes and atoms are rows, as in the public functions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from ._validation import FloatArray

# ------------------------------------------------------------------------------------------------------------ codes


def lasso_objective(gram: ArrayLike, cov: ArrayLike, penalty: float, code: ArrayLike, shift: float = 0.0) -> float:
    """a'Ha - 2 b'a + shift a'a + penalty |a|_1"""
    H, b, a = np.asarray(gram), np.asarray(cov), np.asarray(code)
    return float(a @ H @ a - 2 * b @ a + shift * a @ a + penalty * np.abs(a).sum())


def optimality_residual(gram: ArrayLike, cov: ArrayLike, penalty: float, code: ArrayLike, shift: float = 0.0) -> float:
    """How far 2(Ha - b)_j = -penalty sign(a_j) on the support and |2(Ha - b)_j| <= penalty off it are from holding."""
    H, b, a = np.asarray(gram), np.asarray(cov), np.asarray(code)
    gradient = 2 * (H @ a + shift * a - b)
    on, off = a != 0, a == 0
    return float(
        max(
            np.max(np.abs(gradient[on] + penalty * np.sign(a[on])), initial=0.0),
            np.max(np.abs(gradient[off]) - penalty, initial=0.0),
        )
    )


def feature_sign_search(
    gram: ArrayLike,
    cov: ArrayLike,
    penalty: float,
    *,
    shift: float = 0.0,
    init: ArrayLike | None = None,
    tol: float = 1e-10,
    max_iter: int = 10_000,
) -> FloatArray:
    """Minimise a'Ha - 2 b'a + shift a'a + penalty |a|_1 for each row b of cov (Lee et al. 2006, Algorithm 1).

    As printed there, it has no answer to an atom that depends linearly on the active ones.
    """
    H, rows = np.asarray(gram) + shift * np.eye(len(np.asarray(gram))), np.atleast_2d(cov)
    starts = np.zeros_like(rows) if init is None else np.atleast_2d(init)
    codes = np.zeros_like(rows)
    for code, b, a in zip(codes, rows, starts, strict=True):
        code[:] = _search(H, b, penalty, a, tol * 2 * np.abs(b).max(), max_iter)
    return codes.reshape(np.shape(cov))


def _search(H: FloatArray, b: FloatArray, penalty: float, a: FloatArray, tol: float, max_iter: int) -> FloatArray:
    theta = np.sign(a)
    for _ in range(max_iter):
        gradient = 2 * (H @ a - b)
        support = np.flatnonzero(a)
        stationary = np.max(np.abs(gradient[support] + penalty * theta[support]), initial=0.0) <= tol
        violation = np.where(a == 0, np.abs(gradient), 0.0)
        worst = int(np.argmax(violation))
        if stationary:
            if violation[worst] <= penalty + tol:
                return a
            theta[worst] = -np.sign(gradient[worst])
            support = np.append(support, worst)
        a = _feature_sign_step(H, b, penalty, a, theta, support)
        theta = np.sign(a)
    return a


def _feature_sign_step(
    H: FloatArray, b: FloatArray, penalty: float, a: FloatArray, theta: FloatArray, support: Any
) -> FloatArray:
    """Solve for the signs theta, then take the best of the solution and the points where a sign changes on the way."""
    solution = np.linalg.solve(H[np.ix_(support, support)], b[support] - penalty / 2 * theta[support])
    here = a[support]
    crossing = np.flatnonzero(here * solution < 0)
    best, lowest = a, np.inf
    for when in [*(here[crossing] / (here[crossing] - solution[crossing])), 1.0]:
        point = np.zeros_like(a)
        point[support] = here + when * (solution - here)
        point[support[crossing[np.abs(point[support[crossing]]) < 1e-14 * np.abs(here[crossing])]]] = 0.0
        value = lasso_objective(H[np.ix_(support, support)], b[support], penalty, point[support])
        if value < lowest:
            best, lowest = point, value
    return best


def sparse_encode(
    X: ArrayLike,
    dictionary: ArrayLike,
    penalty: float,
    *,
    gram: ArrayLike | None = None,
    init: ArrayLike | None = None,
    shift: float = 0.0,
    tol: float = 1e-10,
    max_iter: int = 10_000,
) -> FloatArray:
    """min |x - aD|^2 + shift |a|^2 + penalty |a|_1 for each row x of X"""
    x, D = np.asarray(X), np.asarray(dictionary)
    return feature_sign_search(
        D @ D.T if gram is None else gram, x @ D.T, penalty, shift=shift, init=init, tol=tol, max_iter=max_iter
    )


# ---------------------------------------------------------------------------------------------------- proximal maps


def prox_l1(V: ArrayLike, t: float) -> FloatArray:
    """sign(v) max(|v| - t, 0)"""
    v: FloatArray = np.asarray(V)
    return np.sign(v) * np.maximum(np.abs(v) - t, 0)


def prox_l21(V: ArrayLike, t: float, axis: int = 0) -> FloatArray:
    """max(1 - t / |v|_2, 0) v along an axis"""
    v: FloatArray = np.asarray(V)
    norms = np.linalg.norm(v, axis=axis, keepdims=True)
    return v * np.maximum(1 - t / np.where(norms > 0, norms, 1), 0)


def prox_nuclear(V: ArrayLike, t: float) -> tuple[FloatArray, int]:
    """max(s - t, 0) for each singular value s, and how many are left"""
    U, s, Wt = np.linalg.svd(np.asarray(V), full_matrices=False)
    return (U * np.maximum(s - t, 0)) @ Wt, int(np.sum(s > t))


# -------------------------------------------------------------------------------------------------- robust PCA (eq3)


def robust_pca(
    X: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    eta: float | None = None,
    rho: float = 1.5,
    tol: float = 1e-7,
    max_iter: int = 500,
) -> tuple[FloatArray, FloatArray, int]:
    """min |L|_* + eta |E|_1 s.t. X = L + E, by inexact ALM; returns L, E and the number of iterations

    The l1 norm is taken where the mask is true; elsewhere E is free.
    """
    observed = np.ones(np.shape(X), dtype=bool) if mask is None else np.asarray(mask)
    x = np.where(observed, X, 0.0)
    eta = 1 / math.sqrt(observed.mean() * max(x.shape)) if eta is None else eta
    norm = float(np.linalg.norm(x, 2))
    mu, last_mu = 1.25 / norm, 1.25e7 / norm
    Y = x / max(norm, np.abs(x).max() / eta)
    E = np.zeros_like(x)
    L = np.zeros_like(x)
    n_iter = 0
    while n_iter < max_iter and np.linalg.norm(x - L - E) > tol * np.linalg.norm(x):
        n_iter += 1
        L = prox_nuclear(x - E + Y / mu, 1 / mu)[0]
        E = np.where(observed, prox_l1(x - L + Y / mu, eta / mu), x - L)
        Y = Y + mu * (x - L - E)
        mu = min(rho * mu, last_mu)
    return L, E, n_iter


# ------------------------------------------------------------------------------------------------ graphs (eq4 to eq10)


def signed_knn_graph(
    X: ArrayLike,
    y: ArrayLike,
    n_neighbors_same: int,
    n_neighbors_other: int,
    *,
    weights: str = "sign",
    kernel_width: float = 1.0,
) -> csr_array:
    """+-1 (eq4) or +-exp(-|x_i - x_j|^2 / 2 t^2) (eq7) where either sample is a neighbour of the other"""
    x, labels = np.asarray(X), np.asarray(y)
    n = len(x)
    W = np.zeros((n, n), dtype=x.dtype)
    for i in range(n):
        squared = ((x - x[i]) ** 2).sum(axis=1)
        nearest = np.argsort(squared, kind="stable")
        nearest = nearest[nearest != i]
        same = nearest[labels[nearest] == labels[i]][:n_neighbors_same]
        other = nearest[labels[nearest] != labels[i]][:n_neighbors_other]
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
