"""Sparse codes by feature-sign search (eq11 to eq14, eq24)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._validation import FloatArray


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


def coupled_codes(
    gram: ArrayLike,
    cov: ArrayLike,
    laplacian: ArrayLike,
    penalty: float,
    weight: float,
    *,
    init: ArrayLike | None = None,
    tol: float = 1e-10,
    max_iter: int = 10_000,
) -> FloatArray:
    """One pass over min sum_p [a_p'Ha_p - 2 b_p'a_p + penalty |a_p|_1] + weight tr(A'LA), a code after another

    in the order of `turns`.
    """
    b, L = np.asarray(cov), np.asarray(laplacian)
    codes: FloatArray = np.zeros_like(b) if init is None else np.array(init)
    for p in turns(L):
        others = L[p] @ codes - L[p, p] * codes[p]
        codes[p] = feature_sign_search(
            gram, b[p] - weight * others, penalty, shift=weight * L[p, p], init=codes[p], tol=tol, max_iter=max_iter
        )
    return codes


def turns(laplacian: ArrayLike) -> NDArray[np.intp]:
    """Samples by colour, each of the smallest that no neighbour has: those of one colour are not coupled"""
    joined = np.asarray(laplacian) != 0
    joined |= joined.T
    colours = np.full(len(joined), -1)
    for p, neighbours in enumerate(joined):
        taken = set(colours[neighbours])
        colours[p] = next(colour for colour in range(len(joined)) if colour not in taken)
    return np.argsort(colours, kind="stable")
