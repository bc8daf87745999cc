"""A symmetric matrix in tridiagonal form, K = QTQ', and some of its eigenvectors.

The kernels `_reduction` and `_reflectors` have the mathematics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh_tridiagonal

from . import _divide, _reduction, _reflectors
from ._parallel import run_chunks
from ._products import even_chunk
from ._validation import FloatArray

# Below so many rows the work is done before a second thread wakes.
_LEAST_ROWS, _TURNED_ROWS = 256, 192
# More than a sixth of all eigenvectors take longer to find than, by divide and conquer, all of them.
_MANY = 6


class Reflectors(NamedTuple):
    """Q, as I - V'U for some of its reflectors at a time, one after another."""

    V: FloatArray
    U: FloatArray

    def turn(self, columns: FloatArray, out: FloatArray, *, n_jobs: int | None = None) -> None:
        """Q times columns, as the rows of `out`, some at a time, in threads; bit-identical for every n_jobs."""

        def turn(some: slice) -> None:
            out[some] = columns[:, some].T
            _reflectors.turn(self.V, self.U, out[some], np.empty(_reflectors.block * len(out[some]), dtype=out.dtype))

        run_chunks(turn, len(out), even_chunk(len(out), _TURNED_ROWS), n_jobs)


class Tridiagonal(NamedTuple):
    """T of K = QTQ', and the factors of the reflectors that Q is a product of.

    Attributes
    ----------
    diagonal, off_diagonal, factors : ndarray of shape (n,)
        Of the last two all but the last element count.
    """

    diagonal: FloatArray
    off_diagonal: FloatArray
    factors: FloatArray


def reduce_symmetric(K: FloatArray, *, n_jobs: int | None = None) -> Tridiagonal:
    """T of a symmetric matrix, from its lower triangle. Bit-identical for every n_jobs, of which two are used.

    Row i of K becomes the reflector that has turned it, I - factors[i - 1] vv': v ends with a one in column i - 1.
    Squares of K's elements must not overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.tridiagonal import reduce_symmetric
    >>> abs(reduce_symmetric(np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 4.0], [3.0, 4.0, 3.0]])).off_diagonal[:2])
    array([0.48, 5.  ])
    """
    n = len(K)
    found = Tridiagonal(*np.zeros((3, n), dtype=K.dtype))
    work, signs = np.empty(_reduction.worksize(n), dtype=K.dtype), np.zeros(_reduction.n_signs, dtype=np.intc)
    infos = []

    def take(role: slice) -> None:
        if role.start == 0:
            infos.append(_reduction.lead(K, *found, work, signs))
        else:
            _reduction.follow(K, *found, work, signs)

    run_chunks(take, 2, 1, n_jobs if n >= _LEAST_ROWS else 1)
    if infos[0] != 0:
        raise np.linalg.LinAlgError(f"a symmetric matrix was not reduced (LAPACK's info: {infos[0]})")
    return found


def join_reflectors(K: FloatArray, factors: FloatArray, *, n_jobs: int | None = None) -> Reflectors:
    """Q from what reduce_symmetric has left in K, whose last column is lost, and found."""
    V, U = K[1:], np.empty_like(K[1:])
    run_chunks(lambda some: _reflectors.join(V, factors, some.start, some.stop, U), len(V), _reflectors.block, n_jobs)
    return Reflectors(V, U)


def some_eigenvectors(K: FloatArray, wanted: slice, *, n_jobs: int | None = None) -> FloatArray:
    """Of the eigenvalues of a symmetric matrix in ascending order, which is lost, the wanted ones' vectors as columns.

    Bit-identical for every n_jobs.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.tridiagonal import some_eigenvectors
    >>> abs(some_eigenvectors(np.array([[5.0, 4.0], [4.0, 5.0]]), slice(1, 2))).round(6)
    array([[0.707107],
           [0.707107]])
    """
    n, count = len(K), wanted.stop - wanted.start
    n_jobs = n_jobs if n >= _LEAST_ROWS else 1
    d, e, factors = reduce_symmetric(K, n_jobs=n_jobs)
    vectors = _all_of(d, e)[:, wanted] if _MANY * count > n else _few_of(d, e[:-1], wanted)
    turned = np.empty((count, n), dtype=K.dtype)
    join_reflectors(K, factors, n_jobs=n_jobs).turn(vectors, turned, n_jobs=n_jobs)
    return turned.T


def _all_of(d: FloatArray, e: FloatArray) -> FloatArray:
    """All eigenvectors of a tridiagonal matrix, as columns; d and e are lost."""
    rows = np.empty((len(d), len(d)), dtype=d.dtype)
    info = _divide.eigenvectors(d, e, rows)
    if info != 0:
        raise np.linalg.LinAlgError(f"the eigenvalues of a tridiagonal matrix were not found (LAPACK's info: {info})")
    return rows.T


def _few_of(d: FloatArray, e: FloatArray, wanted: slice) -> FloatArray:
    """Some eigenvectors of a tridiagonal matrix, as columns."""
    norm = max(float(np.abs(d).max()), float(np.abs(e).max()))
    # LAPACK's stemr, the fastest, reads an index that nobody has written where T falls apart: well before, bisection.
    whole = float(np.abs(e).min()) > 16 * np.finfo(d.dtype).eps * norm
    vectors: FloatArray = eigh_tridiagonal(
        d, e, select="i", select_range=(wanted.start, wanted.stop - 1), check_finite=False,
        lapack_driver="stemr" if whole else "stebz",
    )[1]  # fmt: skip
    return vectors
