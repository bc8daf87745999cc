"""The span of the samples: their coordinates in an orthonormal basis of it, without a matrix of all features."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cholesky, eigh

from ._parallel import chunks_of, run_chunks, run_tasks
from ._products import by_rows, gram_matrix, product, triangular_solve
from ._validation import FloatArray, as_float_array

_FEATURES, _SOLVED, _PROBED = 8192, 256, 256
# Of the smallest pivot of a Cholesky factor, as a share of the largest: from where on one factor will do, and two will;
# and a distance from orthonormality. What is beyond is for eigenvalues to tell.
_FIRM_PIVOT, _LEAST_PIVOT, _MOST_APART = 1e-4, {np.float64: 1e-8, np.float32: 1e-4}, 1e-2
_NEAR, _SMALL = 1e-10, 2.0**-24


class Span(NamedTuple):
    """An orthonormal basis of the span of samples, which is not written down, and their coordinates in it.

    Attributes
    ----------
    coordinates : ndarray of shape (n_samples, rank)
        Lower triangular if the samples are independent and fewer than the features.
    rows : ndarray of shape (rank, n_features)
        The basis, or independent samples.
    factor : ndarray of shape (rank, rank) or None
        R, upper triangular: R^-T times the rows is the basis.
    """

    coordinates: FloatArray
    rows: FloatArray
    factor: FloatArray | None = None

    @property
    def rank(self) -> int:
        """The dimension of the span."""
        return self.rows.shape[0]

    @property
    def n_features(self) -> int:
        """The dimension of the space around it."""
        return self.rows.shape[1]

    def lift(self, P: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
        """Orthonormal vectors of coordinates, the columns of P, as vectors of features, orthonormal to 1e-10."""
        if self.factor is None:
            return product(self.rows.T, P, n_jobs=n_jobs)
        P = _solve(self.factor, P, np.empty(P.shape), n_jobs, transposed=False)
        lifted: FloatArray = np.empty((self.n_features, P.shape[1]), dtype=self.rows.dtype)
        for part in _parts(self.n_features):
            product(_double(self.rows[:, part]).T, P, n_jobs=n_jobs, out=lifted[part])
        if lifted.dtype == np.float32 or _apart(lifted, n_jobs) < _NEAR:
            return lifted
        return polished(lifted, n_jobs=n_jobs)


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
    span = find_span(X, n_jobs=n_jobs)
    basis = span.lift(np.eye(span.rank, dtype=span.rows.dtype), n_jobs=n_jobs)
    return basis if span.factor is None else polished(basis, n_jobs=n_jobs)


def find_span(X: ArrayLike, *, n_jobs: int | None = None) -> Span:
    """The span of the rows of X, with the precision of span_basis.

    Independent samples, fewer than features, are factored by Cholesky's method, which makes their coordinates lower
    triangular; whatever else through eigenvectors.

    Examples
    --------
    >>> from jplrdl.span import find_span
    >>> find_span([[3.0, 0.0, 4.0], [0.0, 2.0, 0.0]]).coordinates
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


def _by_cholesky(x: FloatArray, gram: FloatArray, n_jobs: int | None) -> Span | None:
    """X = R'Q' with XX' = R'R.

    Squaring leaves Q apart from orthonormal by eps times the squared condition number of X. Where that is little, Q is
    not even made. Otherwise the rows of Q' are factored once more.
    """
    try:
        first = cholesky(gram)
        pivots = np.diagonal(first) ** 2
        firmness = float(pivots.min() / pivots.max())
        if firmness > _FIRM_PIVOT:
            return Span(np.ascontiguousarray(first.T, dtype=x.dtype), x, first)
        if not firmness > _LEAST_PIVOT[x.dtype.type]:
            return None
        rows = _solve(first, x, np.empty_like(x), n_jobs)
        again = _gram(rows, n_jobs)
        if not np.abs(again - np.eye(len(again))).max() < _MOST_APART:
            return None
        second = cholesky(again)
    except LinAlgError:
        return None
    coordinates = product(first.T, second.T, n_jobs=n_jobs, triangle="lower")
    return Span(coordinates.astype(x.dtype, copy=False), _solve(second, rows, rows, n_jobs))


def _by_eigenvectors(x: FloatArray, gram: FloatArray, n_jobs: int | None) -> Span:
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
    return Span(product(x, basis, n_jobs=n_jobs), basis.T)


def _apart(U: FloatArray, n_jobs: int | None) -> float:
    """How far columns are from orthonormal, |U'U - I|_F / sqrt(n), as a few random vectors see it."""
    probes = np.random.default_rng(0).standard_normal((U.shape[1], 4))
    seen = run_tasks([partial(_gram_times, U[rows], probes) for rows in chunks_of(len(U), _PROBED)], n_jobs)
    return float(np.linalg.norm(sum(seen) - probes) / np.linalg.norm(probes))


def _gram_times(U: FloatArray, B: FloatArray) -> FloatArray:
    """U'UB"""
    found: FloatArray = U.T @ (U @ B)
    return found


def polished(U: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
    """U (U'U)^-1/2 for columns that are all but orthonormal: U (I + E/2 + 3/8 E^2 + ...), E = I - U'U.

    A correction needs as many digits less as it is small: E^2 is taken in single precision, and where it is below eps,
    E itself.
    """
    F = gram_matrix(U.T, n_jobs=n_jobs)  # less I, that is -E
    diagonal = np.diag_indices_from(F)
    F[diagonal] -= 1
    single = F.astype(np.float32, copy=False)
    if float(np.linalg.norm(single)) < _SMALL:
        return U - product(U.astype(np.float32, copy=False), single / 2, n_jobs=n_jobs)
    square, half = gram_matrix(single, n_jobs=n_jobs), F.dtype.type(0.5)
    correction = by_rows(lambda rows: np.float32(3 / 8) * square[rows] - half * F[rows], F, n_jobs=n_jobs)
    correction[diagonal] += 1
    return product(U, correction, n_jobs=n_jobs)


def _double(a: FloatArray) -> FloatArray:
    return a.astype(np.float64, copy=False)


def _parts(m: int) -> Iterator[slice]:
    """Some features at a time, so that double precision never needs a copy of X."""
    return (slice(start, start + _FEATURES) for start in range(0, m, _FEATURES))


def _gram(rows: FloatArray, n_jobs: int | None) -> FloatArray:
    parts = _parts(rows.shape[1])
    return reduce(np.add, (gram_matrix(_double(rows[:, part]), n_jobs=n_jobs) for part in parts))


def _solve(
    factor: FloatArray, rows: FloatArray, out: FloatArray, n_jobs: int | None, *, transposed: bool = True
) -> FloatArray:
    """R^-T or R^-1 times rows, some columns at a time, in threads; out may be rows."""

    def solve(some: slice) -> None:
        out[:, some] = triangular_solve(factor, rows[:, some].astype(np.float64), transposed=transposed)

    run_chunks(solve, rows.shape[1], _SOLVED, n_jobs)
    return out
