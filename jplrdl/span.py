"""The span of the samples: an orthonormal basis of it and their coordinates there, without a matrix of all features."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular

from ._parallel import run_chunks
from ._products import gram_matrix, product
from ._validation import FloatArray, as_float_array

_FEATURES, _SOLVED = 8192, 512
# A share of the largest pivot of a Cholesky factor, and a distance from orthonormality, beyond which the rank
# is for eigenvalues to tell.
_LEAST_PIVOT, _MOST_APART = {np.float64: 1e-8, np.float32: 1e-4}, 1e-2


def span_basis(X: ArrayLike, *, n_jobs: int | None = None) -> FloatArray:
    """An orthonormal basis of the row space of X, shape (n_features, rank).

    Memory stays at copies of X, however many features there are. In double precision whatever X is: in single
    precision squaring would lose directions below a hundredth of the largest. What counts is above n eps of the largest
    in single, and above sqrt(n eps) in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.span import span_basis
    >>> span_basis([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0]]).shape
    (3, 2)
    """
    return span_coordinates(X, n_jobs=n_jobs)[1]


def span_coordinates(X: ArrayLike, *, n_jobs: int | None = None) -> tuple[FloatArray, FloatArray]:
    """Coordinates of shape (n_samples, rank) and a basis as of span_basis, whose product ``Z @ basis.T`` is X.

    Independent samples, fewer than features, are factored by Cholesky's method, twice, which makes their coordinates
    lower triangular; whatever else through eigenvectors.

    Examples
    --------
    >>> from jplrdl.span import span_coordinates
    >>> coordinates, basis = span_coordinates([[3.0, 0.0, 4.0], [0.0, 2.0, 0.0]])
    >>> coordinates
    array([[5., 0.],
           [0., 2.]])
    """
    x = as_float_array(X, "X", ndim=2)
    n, m = x.shape
    if n >= m:
        return _by_eigenvectors(x, gram_matrix(_double(x.T), n_jobs=n_jobs), n_jobs)
    gram = _gram(x, n_jobs)
    found = _by_cholesky(x, gram, n_jobs)
    return _by_eigenvectors(x, gram, n_jobs) if found is None else found


def _by_cholesky(x: FloatArray, gram: FloatArray, n_jobs: int | None) -> tuple[FloatArray, FloatArray] | None:
    """X = R'Q' with XX' = R'R, and once more for the Q of the first time, which squaring has left less orthonormal."""
    try:
        first = cholesky(gram)
        pivots = np.diagonal(first) ** 2
        if not pivots.min() > _LEAST_PIVOT[x.dtype.type] * pivots.max():
            return None
        rows = _solve(first, x, np.empty_like(x), n_jobs)
        again = _gram(rows, n_jobs)
        if not np.abs(again - np.eye(len(again))).max() < _MOST_APART:
            return None
        second = cholesky(again)
    except LinAlgError:
        return None
    coordinates = product(first.T, second.T, n_jobs=n_jobs, triangle="lower")
    return coordinates.astype(x.dtype, copy=False), _solve(second, rows, rows, n_jobs).T


def _by_eigenvectors(x: FloatArray, gram: FloatArray, n_jobs: int | None) -> tuple[FloatArray, FloatArray]:
    """Eigenvectors of X'X, or of XX' where that is smaller; the Gram matrix's Cholesky factor then orthonormalises."""
    n, m = x.shape
    values, vectors = eigh(gram)
    least = max(n * np.finfo(np.float64).eps, (n * np.finfo(x.dtype).eps) ** 2)
    kept = values > max(values[-1], 0) * least
    basis = np.ascontiguousarray(vectors[:, kept][:, ::-1])
    if n < m and kept.any():
        rows: FloatArray = np.empty((basis.shape[1], m), dtype=x.dtype)
        for part in _parts(m):
            rows[:, part] = product(basis.T / np.sqrt(values[kept][::-1])[:, None], _double(x[:, part]), n_jobs=n_jobs)
        basis = _solve(cholesky(_gram(rows, n_jobs)), rows, rows, n_jobs).T
    elif n < m:
        basis = np.empty((m, 0))
    basis = basis.astype(x.dtype, copy=False)
    return product(x, basis, n_jobs=n_jobs), basis


def _double(a: FloatArray) -> FloatArray:
    return a.astype(np.float64, copy=False)


def _parts(m: int) -> Iterator[slice]:
    """Some features at a time, so that double precision never needs a copy of X."""
    return (slice(start, start + _FEATURES) for start in range(0, m, _FEATURES))


def _gram(rows: FloatArray, n_jobs: int | None) -> FloatArray:
    parts = _parts(rows.shape[1])
    return reduce(np.add, (gram_matrix(_double(rows[:, part]), n_jobs=n_jobs) for part in parts))


def _solve(factor: FloatArray, rows: FloatArray, out: FloatArray, n_jobs: int | None) -> FloatArray:
    """R^-T times rows, some features at a time, in threads; out may be rows."""

    def solve(some: slice) -> None:
        out[:, some] = solve_triangular(factor, _double(rows[:, some]), trans="T", check_finite=False)

    run_chunks(solve, rows.shape[1], _SOLVED, n_jobs)
    return out
