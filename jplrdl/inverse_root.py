"""The inverse square root of a symmetric positive definite matrix, in threads and without its eigenvectors.

    K = Q T Q',     K^-1/2 = Q T^-1/2 Q'

with T tridiagonal, by Householder reflectors. Of T^-1/2 nobody needs eigenvectors either: it is an integral,

    x^-1/2 = 2/pi  integral over t > 0 of  1 / (x + t^2),

which for all x in [low, high] at once has a sum over N nodes that is wrong by 4 exp(-2 pi^2 N / log(16 high / low)) of
it: the midpoint rule after a substitution by an elliptic function (Hale, Higham and Trefethen, 2008). So T^-1/2 is a
sum of some thirty inverses of tridiagonal matrices, each written down in one multiplication an element. Divide and
conquer, the usual way, takes ten times as long for it, and LAPACK's has one thread, as its way to T has.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from . import _inverse_root as _kernel
from ._parallel import run_chunks
from ._products import LEAST
from ._validation import FloatArray
from .tridiagonal import join_reflectors, reduce_symmetric

_BISECTIONS = 12


class InverseRoot(NamedTuple):
    """K^-1/2, and the smallest eigenvalue of K as a share of the largest, to two digits."""

    matrix: FloatArray
    firmness: float


def inverse_root(K: FloatArray, least: float, *, n_jobs: int | None = None) -> InverseRoot | None:
    """K^-1/2, or None if an eigenvalue of K is below a share `least` of the largest. Bit-identical for every n_jobs.

    K is lost. Rounding errors are those of the reduction, eps |K|, as they are of eigenvectors.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.inverse_root import inverse_root
    >>> inverse_root(np.array([[5.0, 4.0], [4.0, 5.0]]), 1e-10).matrix.round(6)
    array([[ 0.666667, -0.333333],
           [-0.333333,  0.666667]])
    """
    n_jobs = n_jobs if len(K) ** 3 >= LEAST else 1
    halved = _halvings(float(K.diagonal().max(initial=0.0)))
    if halved != 0:
        np.ldexp(K, -2 * halved, out=K)
    d, e, tau = reduce_symmetric(K, n_jobs=n_jobs)
    d, e = d.astype(np.float64), e.astype(np.float64)
    bounds = _extremes(d, e, least)
    if bounds is None:
        return None
    root, between = np.empty_like(K), np.empty_like(K)
    _tridiagonal_root(d, e, *bounds, root, n_jobs)
    Q = join_reflectors(K, tau, n_jobs=n_jobs)
    # T^-1/2 is its own transpose: its columns turned are the rows of what has to be turned once more.
    Q.turn(root, between, n_jobs=n_jobs)
    Q.turn(between, root, n_jobs=n_jobs)
    return InverseRoot(root if halved == 0 else np.ldexp(root, -halved, out=root), bounds[0] / bounds[1])


def _halvings(largest: float) -> int:
    """Of elements' exponents, which are left as they are where squares are far from over- and underflow."""
    return 0 if 2.0**-40 < largest < 2.0**40 else math.frexp(largest)[1] // 2


def _extremes(d: FloatArray, e: FloatArray, least: float) -> tuple[float, float] | None:
    """The smallest and the largest eigenvalue of T, by bisection; None if the smallest is too small."""
    n, off = len(d), np.abs(np.append(0.0, e))
    inside, high = float(d.max()), float((d + off[:-1] + off[1:]).max())
    if not inside > 0:
        return None
    for _ in range(_BISECTIONS):
        middle = (inside + high) / 2
        inside, high = (inside, middle) if _kernel.eigenvalues_below(d, e, middle) == n else (middle, high)
    low, above = least * high, float(d.min())
    if above <= low or _kernel.eigenvalues_below(d, e, low) > 0:
        return None
    for _ in range(_BISECTIONS):
        middle = float(np.sqrt(low * above))
        low, above = (low, middle) if _kernel.eigenvalues_below(d, e, middle) > 0 else (middle, above)
    return low, high


def _tridiagonal_root(
    d: FloatArray, e: FloatArray, low: float, high: float, out: FloatArray, n_jobs: int | None
) -> None:
    """T^-1/2"""
    n = len(d)
    shifts, weights = quadrature(low, high, float(np.finfo(out.dtype).eps))
    ratios, diagonals = np.empty((2, n, len(shifts)))
    _kernel.prepare(d, e, shifts, weights, ratios, diagonals)

    def fill(part: slice) -> None:
        inverses = np.empty((len(shifts), _kernel.most_columns))
        # The longest columns first, so that no thread is left with one at the end.
        _kernel.inverse_root(ratios, diagonals, n - part.stop, n - part.start, inverses, out)

    run_chunks(fill, n, _kernel.most_columns, n_jobs)


def quadrature(low: float, high: float, error: float) -> tuple[FloatArray, FloatArray]:
    """Shifts s and weights w, all positive: x^-1/2 = sum w / (x + s) for low <= x <= high, up to `error` of it.

    The shifts are low sc(u)^2 at N equally spaced u, for the elliptic function sc = sn / cn of modulus
    (1 - low / high)^1/2, from theta functions. By sc(u) sc(u_last + u_first - u) = (high / low)^1/2 half of the nodes
    tell the others.

    Examples
    --------
    >>> from jplrdl.inverse_root import quadrature
    >>> shifts, weights = quadrature(1.0, 100.0, 1e-12)
    >>> round(sum(weights / (4.0 + shifts)), 12)
    0.5
    """
    high = max(high, 2 * low)
    n = int(np.ceil(np.log(4 / error) * np.log(16 * high / low) / (2 * np.pi**2))) + 1
    other = np.pi / 2 / _mean(1.0, np.sqrt(low / high))  # elliptic integrals: K' here, and pi / 2 / _mean(...) is K
    log_nome = -2 * other * _mean(1.0, np.sqrt(1 - low / high))
    z = (np.arange((n + 1) // 2) + 0.5) / n * (-log_nome / 2)
    k = np.arange(6)[:, None]
    odd, even = 2 * np.exp(log_nome * (k + 0.5) ** 2), np.where(k > 0, 2, 1) * np.exp(log_nome * k**2)
    turns = (-1.0) ** k
    one, two = (turns * odd * np.sinh((2 * k + 1) * z)).sum(axis=0), (odd * np.cosh((2 * k + 1) * z)).sum(axis=0)
    three, four = (even * np.cosh(2 * k * z)).sum(axis=0), (turns * even * np.cosh(2 * k * z)).sum(axis=0)
    at_two, at_three, at_four = odd.sum(), even.sum(), (turns * even).sum()
    sc = at_three / at_two * one / four
    slope = at_four**2 / (at_two * at_three) * two * three / four**2
    shifts, weights = low * sc**2, 2 * other * np.sqrt(low) / (np.pi * n) * slope
    mirrored = shifts[: n // 2], weights[: n // 2]
    return (
        np.append(shifts, low * high / mirrored[0]),
        np.append(weights, mirrored[1] * np.sqrt(low * high) / mirrored[0]),
    )


def _mean(a: float, b: float) -> float:
    """The arithmetic-geometric mean of Gauss."""
    while abs(a - b) > 1e-15 * a:
        a, b = (a + b) / 2, np.sqrt(a * b)
    return float(a)
