"""Robust PCA (eq3): a matrix as the sum of a low-rank and a sparse one, by inexact ALM, entries missing or not."""

from __future__ import annotations

import math
import warnings
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _alm
from ._algebra import largest_eigenvalue
from ._parallel import held_blas
from ._validation import FloatArray, as_count, as_float_array, as_mask, as_nonnegative, as_positive, check_finite
from .prox import check_spectrum, prox_l1, spectrum_workspace

# Rows or columns, below which threads of BLAS cost more than they bring.
_ALONE = 256
# Multiplications of Gram matrices, between two looks at Ctrl-C: some milliseconds.
_UNINTERRUPTED = 50_000_000


@dataclass(frozen=True)
class RobustPCAResult:
    """What robust_pca found, and how good it is.

    Attributes
    ----------
    low_rank, sparse : ndarray of the shape of X
        Sparse is zero where nothing was observed.
    rank : int
        Of low_rank.
    n_iter : int
    feasibility : float
        ``|X - low_rank - sparse|_F / |X|_F`` over the observed entries.
    objective : float
        ``|L|_* + eta |X - L|_1`` at L = low_rank, the second norm over the observed entries: the value of a point that
        meets the constraint exactly.
    gap : float
        The objective minus a lower bound of the optimum, from the multiplier scaled into the dual's feasible set.
    converged : bool
        Did the feasibility reach the tolerance?
    """

    low_rank: FloatArray
    sparse: FloatArray
    rank: int
    n_iter: int
    feasibility: float
    objective: float
    gap: float
    converged: bool


def robust_pca(
    X: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    eta: float | None = None,
    mu: float | None = None,
    rho: float = 1.5,
    tol: float | None = None,
    max_iter: int = 500,
) -> RobustPCAResult:
    """Split X into low rank and sparse: min |L|_* + eta |E|_1 subject to X = L + E.

    Inexact ALM: a nuclear and an l1 proximal map an iteration, the penalty mu growing by rho. A smaller rho takes
    more iterations and ends nearer to the optimum; `gap` tells how near.

    With a mask the constraint holds on the observed entries alone, and L completes the others.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    mask : array-like of bool of the shape of X, optional
        True where X is observed; what X holds elsewhere, NaN too, is not looked at.
    eta : float > 0, optional
        Weight of the sparse part; 1 / sqrt(p max(X.shape)) by default, p being the share of the entries observed.
    mu : float > 0, optional
        First penalty; 1.25 / |X|_2 by default.
    rho : float >= 1
        Growth of mu.
    tol : float, optional
        Feasibility to reach; 1e-7 in float64 and 1e-5 in float32 by default.
    max_iter : int

    Returns
    -------
    RobustPCAResult
        A ConvergenceWarning tells if it did not converge.

    Examples
    --------
    >>> import numpy as np
    >>> import jplrdl
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 50))
    >>> corrupted = truth + 10.0 * (rng.random(truth.shape) < 0.05)
    >>> result = jplrdl.robust_pca(corrupted)
    >>> result.rank, bool(abs(result.low_rank - truth).max() < 1e-4)
    (2, True)
    """
    result = decompose(X, mask=mask, eta=eta, mu=mu, rho=rho, tol=tol, max_iter=max_iter)
    if not result.converged:
        _warn(result)
    return result


def decompose(
    X: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    eta: float | None = None,
    mu: float | None = None,
    rho: float = 1.5,
    tol: float | None = None,
    max_iter: int = 500,
) -> RobustPCAResult:
    """robust_pca without its warning, which threads must not give."""
    x, missing = _observe(X, mask)
    eta = default_eta(x.shape, None if missing is None else ~missing) if eta is None else as_positive(eta, "eta")
    tol = (1e-7 if x.dtype == np.float64 else 1e-5) if tol is None else as_nonnegative(tol, "tol")
    max_iter = as_count(max_iter, "max_iter")
    if as_positive(rho, "rho") < 1:
        raise ValueError(f"rho must be >= 1, got {rho!r}")
    mu = None if mu is None else as_positive(mu, "mu")
    largest = float(np.abs(x).max())
    if largest == 0:
        return RobustPCAResult(x.copy(), x.copy(), 0, 0, 0.0, 0.0, 0.0, True)
    # The problem scales with X; inside, its largest element is 1, so that no square over- or underflows.
    mu = None if mu is None else mu * largest
    with held_blas if min(x.shape) < _ALONE else nullcontext():
        return _solve(x / x.dtype.type(largest), missing, eta, mu, rho, tol, max_iter, largest)


def default_eta(shape: tuple[int, ...], mask: NDArray[np.bool_] | None = None) -> float:
    """The weight of the sparse part that the theory of exact recovery gives: 1 / sqrt(p max(shape))."""
    share = 1.0 if mask is None else float(mask.mean())
    return 1 / math.sqrt(max(share * max(shape), 1.0))


def _observe(X: ArrayLike, mask: ArrayLike | None) -> tuple[FloatArray, NDArray[np.bool_] | None]:
    """X with zeros where it is not observed, and where that is; None if nowhere."""
    x = np.ascontiguousarray(as_float_array(X, "X", ndim=2, finite=mask is None))
    if mask is None:
        return x, None
    observed = as_mask(mask, x.shape)
    x = np.where(observed, x, x.dtype.type(0))
    check_finite(x, "X")
    return x, None if observed.all() else ~observed


def _solve(
    x: FloatArray,
    missing: NDArray[np.bool_] | None,
    eta: float,
    mu: float | None,
    rho: float,
    tol: float,
    max_iter: int,
    scale: float,
) -> RobustPCAResult:
    """Inexact ALM on X / scale, which is overwritten; the answer is scaled back."""
    norm, size = _spectral_norm(x), float(np.linalg.norm(x))
    mu = 1.25 / norm if mu is None else mu
    last_mu = 1e7 * mu
    multiplier = x / x.dtype.type(max(norm, float(np.abs(x).max()) / eta))
    low_rank = np.empty_like(x)
    v = x + multiplier / x.dtype.type(mu)
    singular, work = np.empty(min(x.shape), dtype=x.dtype), spectrum_workspace(v)
    free = None if missing is None else np.ascontiguousarray(missing).view(np.uint8)
    at_once = max(1, _UNINTERRUPTED // (x.size * min(x.shape)))
    n_iter, rank, nuclear, feasibility = 0, 0, 0.0, math.inf
    while n_iter < max_iter and feasibility > tol:
        info, taken, rank, nuclear, feasibility, mu = _alm.iterate(
            x, free, low_rank, multiplier, v, singular, work, eta, mu, rho, last_mu, size, tol,
            min(at_once, max_iter - n_iter),
        )  # fmt: skip
        check_spectrum(info)
        n_iter += taken
    sparse = prox_l1(x - low_rank + multiplier / x.dtype.type(mu), eta / mu)
    feasibility = float(np.linalg.norm(x - low_rank - sparse)) / size
    objective = nuclear + eta * float(np.abs(x - low_rank).sum(dtype=np.float64))
    gap = objective - _dual_bound(x, multiplier, eta)
    low_rank *= x.dtype.type(scale)
    sparse *= x.dtype.type(scale)
    return RobustPCAResult(
        low_rank, sparse, rank, n_iter, feasibility, scale * objective, scale * gap, feasibility <= tol
    )


def _dual_bound(x: FloatArray, multiplier: FloatArray, eta: float) -> float:
    """<X, Y> for the multiplier scaled to |Y|_2 <= 1 and |Y|_inf <= eta: a lower bound of the optimum."""
    outside = max(1.0, _spectral_norm(multiplier), float(np.abs(multiplier).max()) / eta)
    return float(np.vdot(x.astype(np.float64, copy=False), multiplier)) / outside


def _spectral_norm(x: FloatArray) -> float:
    return math.sqrt(max(0.0, largest_eigenvalue(x)))


def _warn(result: RobustPCAResult) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"robust_pca stopped after {result.n_iter} iterations at feasibility {result.feasibility:.3g}, "
        "above tol; raise max_iter, rho or tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
