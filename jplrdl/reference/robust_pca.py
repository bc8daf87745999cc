"""Robust PCA (eq3) by inexact ALM."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .._validation import FloatArray
from .prox import prox_l1, prox_nuclear


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
