"""Robust fits: many samples over one orthonormal basis, with the Huber loss on the pixels, by conjugate gradients.

For each sample x, rows being samples and V the basis with orthonormal rows,

    min over y, e of  |x - yV - e|^2 / 2 + t |e|_1 + sum_j w_j y_j^2 / 2.

e is x - yV shrunk by t. Without it a convex and smooth problem is left: the Huber loss of x - yV and the ridge.
With u = clip(x - yV, -t, t), its negative gradient is g = uV' - wy. By VV' = I its Hessian lies between diag(w) and
diag(1 + w), from which follows

- the preconditioner: directions g / (1 + w), conjugated (Polak and Ribiere, restarted where that would ascend);
- the certificate: u is feasible in the dual, max u'x - |u|^2 / 2 - sum_j (uV')_j^2 / 2 w_j over |u| <= t, and the gap
  between the two values is exactly sum_j g_j^2 / 2 w_j.

An iteration is two matrix products over all samples that have not converged, and a search along a line for each.
A pixel that is not observed has x - yV = 0 by definition; all else stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _huber
from ._parallel import run_chunks
from ._validation import FloatArray, as_count, as_float_array, as_mask, as_nonnegative, as_positive, common_dtype

# Enough rows for an efficient product even when most have left, few enough for chunks to share among threads.
_CHUNK_ROWS = 128


@dataclass(frozen=True)
class FitInfo:
    """How each sample's fit ended.

    Attributes
    ----------
    n_iter : ndarray of shape (n_samples,)
    gap : ndarray of shape (n_samples,)
        Duality gap as a share of the objective.
    converged : bool
        Did the gap of every sample reach the tolerance?
    """

    n_iter: NDArray[np.intp]
    gap: NDArray[np.float64]
    converged: bool


def huber_fit(
    X: ArrayLike,
    basis: ArrayLike,
    threshold: float,
    weights: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    tol: float = 1e-5,
    max_iter: int = 500,
    n_jobs: int | None = None,
) -> tuple[FloatArray, FitInfo]:
    """Coordinates y of each row x of X: min of the Huber loss of x - yV at a threshold, plus sum_j w_j y_j^2 / 2.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    basis : array-like of shape (n_components, n_features)
        V. Its rows must be orthonormal; this is not checked.
    threshold : float > 0
        t: residuals count by their square up to here, by their magnitude beyond.
    weights : array-like of shape (n_components,)
        w > 0.
    mask : array-like of bool of the shape of X, optional
        True where X is observed; what X holds elsewhere, NaN too, is not looked at. A sample of which nothing is
        observed has y = 0.
    tol : float
        Duality gap to reach, as a share of the objective.
    max_iter : int
    n_jobs : int, optional
        Threads, as in scikit-learn. The result does not depend on it, not in one bit.

    Returns
    -------
    coordinates : ndarray of shape (n_samples, n_components)
    info : FitInfo

    Examples
    --------
    A constant is fitted to four numbers; the outlier pulls with the strength of the threshold only.

    >>> from jplrdl.huber import huber_fit
    >>> y, info = huber_fit([[1.0, 1.0, 1.0, 9.0]], [[0.5, 0.5, 0.5, 0.5]], 0.3, [1e-9], tol=1e-9)
    >>> (0.5 * y).round(6), info.converged
    (array([[1.1]]), True)
    """
    x = as_float_array(X, "X", ndim=2, finite=mask is None)
    v, w = as_float_array(basis, "basis", ndim=2), as_float_array(weights, "weights", ndim=1)
    if v.shape[1] != x.shape[1]:
        raise ValueError(f"basis must have {x.shape[1]} columns, as X has, got shape {v.shape}")
    if w.shape != v.shape[:1] or w.min() <= 0:
        raise ValueError(f"weights must be {len(v)} numbers > 0, one for each row of basis, got {weights!r}")
    dtype, t = common_dtype(x, v), as_positive(threshold, "threshold")
    observed = None if mask is None else as_mask(mask, x.shape)
    tol, max_iter = as_nonnegative(tol, "tol"), as_count(max_iter, "max_iter")
    v, w = np.ascontiguousarray(v, dtype=dtype), w.astype(dtype, copy=False)
    y: FloatArray = np.zeros((len(x), len(v)), dtype=dtype)
    n_iter, gap = np.zeros(len(x), dtype=np.intp), np.zeros(len(x))

    def fit(rows: slice) -> None:
        seen = None if observed is None else observed[rows]
        # In units of the threshold the loss bends at one.
        scaled = x[rows] / dtype(t) if seen is None else np.where(seen, x[rows], 0) / dtype(t)
        y[rows], n_iter[rows], gap[rows] = _descend(scaled.astype(dtype, copy=False), v, w, seen, tol, max_iter)
        y[rows] *= dtype(t)

    run_chunks(fit, len(x), _CHUNK_ROWS, n_jobs)
    return y, FitInfo(n_iter, gap, bool((gap <= tol).all()))


def _descend(
    x: FloatArray, v: FloatArray, w: FloatArray, mask: NDArray[np.bool_] | None, tol: float, max_iter: int
) -> tuple[FloatArray, NDArray[np.intp], NDArray[np.float64]]:
    """Coordinates, iterations and relative gaps for t = 1; samples that have converged leave the products."""
    y: FloatArray = np.zeros((len(x), len(v)), dtype=x.dtype)
    n_iter, gap = np.zeros(len(x), dtype=np.intp), np.zeros(len(x))
    rows, descent = np.arange(len(x)), _Descent(x, v, w, mask)
    for iteration in range(max_iter + 1):
        gap[rows], n_iter[rows] = descent.look(), iteration
        done = gap[rows] <= tol
        if iteration == max_iter or done.any():
            y[rows] = descent.y
            if iteration == max_iter or done.all():
                break
            rows = rows[~done]
            descent.keep(~done)
        descent.step()
    return y, n_iter, gap


class _Descent:
    """Conjugate gradients from y = 0 for some samples, one a row."""

    def __init__(self, x: FloatArray, v: FloatArray, w: FloatArray, mask: NDArray[np.bool_] | None) -> None:
        self.v, self.w, self.mask = v, w, mask
        self.y: FloatArray = np.zeros((len(x), len(v)), dtype=x.dtype)
        self.gradient = self.direction = self.y
        self.residual = np.array(x, order="C")
        self.clipped = np.clip(self.residual, -1, 1)
        self.loss = _dot(self.clipped, self.residual - self.clipped / 2)
        self.length, self.energy = np.empty(len(x)), np.zeros(len(x))

    def look(self) -> NDArray[np.float64]:
        """Take the gradient at y; returns the gap as a share of the objective."""
        self.before, self.gradient = self.gradient, self.clipped @ self.v.T - self.w * self.y
        value = self.loss + _dot(self.w * self.y, self.y) / 2
        return _dot(self.gradient / self.w, self.gradient) / 2 / np.where(value > 0, value, 1)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Go on with these rows only."""
        for name in (
            "y", "gradient", "before", "direction", "energy", "residual", "clipped", "length", "loss", "mask"
        ):  # fmt: skip
            rows = getattr(self, name)
            setattr(self, name, None if rows is None else rows[kept])

    def step(self) -> None:
        """Go to the minimum along the next direction."""
        g, p = self.gradient, self.gradient / (1 + self.w)
        energy = _dot(g, p)
        share = np.maximum(energy - _dot(self.before, p), 0) / np.where(self.energy > 0, self.energy, np.inf)
        conjugate = p + share[:, None].astype(p.dtype) * self.direction
        slope = _dot(g, conjugate)
        ascends = slope <= 0
        conjugate[ascends], slope[ascends] = p[ascends], energy[ascends]
        self.direction, self.energy = conjugate, energy
        line = conjugate @ self.v
        if self.mask is not None:
            line *= self.mask
        weighted = self.w * conjugate
        linear, quadratic = _dot(weighted, self.y), _dot(weighted, conjugate)
        ceiling = _dot(conjugate, conjugate) + quadratic
        _huber.descend(self.residual, line, slope, ceiling, linear, quadratic, self.clipped, self.length, self.loss)
        self.y += self.length[:, None].astype(p.dtype) * conjugate


def _dot(a: FloatArray, b: FloatArray) -> NDArray[np.float64]:
    """The inner product of each pair of rows, summed in double precision."""
    return np.einsum("ij,ij->i", a, b, dtype=np.float64)
