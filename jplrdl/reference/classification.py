"""The decision: samples of unit length, and the residual of each class (eq25)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._validation import FloatArray


def unit_rows(X: ArrayLike) -> FloatArray:
    """x / |x|; zeros stay zeros"""
    x = np.asarray(X)
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(norms > 0, norms, 1)


def class_residuals(
    Y: ArrayLike,
    D: ArrayLike,
    codes: ArrayLike,
    atom_labels: NDArray[Any],
    means: ArrayLike,
    *,
    mean_weight: float = 0.0,
    normalized: bool = False,
) -> FloatArray:
    """e_i = |y - a_i D_i|^2 + mean_weight |a - m_i|^2; normalized: r / (r + s) for the first term r and
    the class's share s of |a|^2
    """
    y, d, A, m = (np.asarray(array) for array in (Y, D, codes, means))
    residuals = np.zeros((len(y), len(m)))
    for sample, (row, a) in enumerate(zip(y, A, strict=True)):
        for label in range(len(m)):
            own = atom_labels == label
            residual = np.sum((row - a[own] @ d[own]) ** 2)
            if normalized:
                share = np.sum(a[own] ** 2) / (np.sum(a**2) or 1.0)
                residual = residual / (residual + share) if residual + share > 0 else 1.0
            residuals[sample, label] = residual + mean_weight * np.sum((a - m[label]) ** 2)
    return residuals
