"""A symmetric matrix in tridiagonal form, by one thread or two: the kernel `_reduction` has the mathematics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import _reduction as _kernel
from ._parallel import run_chunks
from ._validation import FloatArray

# Below so many rows the work is done before a second thread wakes.
_LEAST_ROWS = 256


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
    work, signs = np.empty(_kernel.worksize(n), dtype=K.dtype), np.zeros(_kernel.n_signs, dtype=np.intc)
    infos = []

    def take(role: slice) -> None:
        if role.start == 0:
            infos.append(_kernel.lead(K, *found, work, signs))
        else:
            _kernel.follow(K, *found, work, signs)

    run_chunks(take, 2, 1, n_jobs if n >= _LEAST_ROWS else 1)
    if infos[0] != 0:
        raise np.linalg.LinAlgError(f"a symmetric matrix was not reduced (LAPACK's info: {infos[0]})")
    return found
