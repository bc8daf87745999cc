"""Large products in threads: a part at a time, bit-identical for every n_jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _sparse as _kernel
from . import _triangular
from ._parallel import run_chunks, threads_of
from ._validation import FloatArray

_GRAM_ROWS, _PRODUCT_ROWS, _PRODUCT_COLUMNS = 165, 192, 320
# Multiplications, a sixth of a millisecond, below which it is not worth the fiftieth of one that waking a thread takes;
# those of sparse matrices with dense ones, and with each other, take longer.
LEAST, _LEAST_SPARSE, _LEAST_SCATTERED = 5_000_000, 2_000_000, 200_000
# The same of elements that are only added.
_LEAST_ELEMENTS, _ADDED_ROWS = 200_000, 96


def even_parts(length: int, usual: int) -> int:
    """How many parts of about the usual length: one, or as many for one of two threads as for the other."""
    return max(1, 2 * round(length / (2 * usual)))


def even_chunk(length: int, usual: int) -> int:
    """The length of each of the even_parts, the last of which may be shorter."""
    return max(1, -(-length // even_parts(length, usual)))


def by_rows(function: Callable[[slice], FloatArray], like: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
    """A matrix as large as another, made of sums of such, some rows at a time, in threads.

    What `function` needs for some rows only is in the cache when it needs it again.
    """
    found: FloatArray = np.empty(like.shape, dtype=like.dtype)

    def fill(rows: slice) -> None:
        found[rows] = function(rows)

    run_chunks(fill, len(found), even_chunk(len(found), _ADDED_ROWS), n_jobs if found.size >= _LEAST_ELEMENTS else 1)
    return found


def product(
    A: FloatArray,
    B: FloatArray,
    *,
    n_jobs: int | None = None,
    triangle: Literal["lower", "upper"] | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """A B, some rows of A or, if these are few, columns of B at a time, in threads; bit-identical for every n_jobs.

    Of a triangular A, the zeros of whole columns of some rows are left out. The result is in `out`, if given, in its
    precision.
    """
    n, k = len(A), B.shape[1]
    found: FloatArray = np.empty((n, k), dtype=A.dtype) if out is None else out
    by_rows = n >= min(k, 2 * _PRODUCT_ROWS)
    length, usual = (n, _PRODUCT_ROWS // (2 if triangle else 1)) if by_rows else (k, _PRODUCT_COLUMNS)

    def fill(part: slice) -> None:
        # The longest rows of a triangle first, so that no thread is left with them at the end.
        some = slice(length - part.stop, length - part.start) if triangle == "lower" else part
        if by_rows:
            inner = slice(some.start if triangle == "upper" else 0, some.stop if triangle == "lower" else None)
            np.matmul(A[some, inner], B[inner], out=found[some])
        else:
            np.matmul(A, B[:, some], out=found[:, some])

    run_chunks(fill, length, even_chunk(length, usual), n_jobs if A.size * k >= LEAST else 1)
    return found


def adding_product(S: Any, B: FloatArray) -> Callable[[slice, FloatArray], None]:
    """A function of some rows and a matrix, which adds these rows of S B to the same rows of it; S is sparse or dense.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from jplrdl._products import adding_product
    >>> onto = np.ones((2, 2))
    >>> adding_product(csr_array([[0.0, 2.0], [3.0, 0.0]]), np.eye(2))(slice(1, 2), onto)
    >>> onto
    array([[1., 1.],
           [4., 1.]])
    """
    if isinstance(S, np.ndarray):

        def add(rows: slice, onto: FloatArray) -> None:
            onto[rows] += S[rows] @ B

        return add
    compressed, dense = _compressed(S, B.dtype), np.ascontiguousarray(B)
    return lambda rows, onto: _kernel.add_product(*compressed, dense, rows.start, rows.stop, onto)


def _compressed(S: Any, dtype: Any) -> tuple[NDArray[np.intc], NDArray[np.intc], FloatArray]:
    """Where rows begin, columns and values."""
    S = S.tocsr()
    return S.indptr.astype(np.intc, copy=False), S.indices.astype(np.intc, copy=False), S.data.astype(dtype, copy=False)


def sparse_product(S: Any, B: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
    """S B for a sparse array or a dense one, in threads; bit-identical for every n_jobs.

    Rows of a sparse product do not know of each other, so that there may be as many parts as threads.
    """
    if isinstance(S, np.ndarray):
        return product(S, B, n_jobs=n_jobs)
    found: FloatArray = np.empty((S.shape[0], B.shape[1]), dtype=B.dtype)
    add = adding_product(S, B)
    parts = threads_of(n_jobs) if S.nnz * B.shape[1] >= _LEAST_SPARSE else 1

    def fill(rows: slice) -> None:
        found[rows] = 0
        add(rows, found)

    run_chunks(fill, len(found), max(1, -(-len(found) // parts)), n_jobs if parts > 1 else 1)
    return found


def gram_matrix(atoms: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
    """The inner products of all rows, exactly symmetric, in threads; bit-identical for every n_jobs."""
    n = len(atoms)
    gram = np.empty((n, n), dtype=atoms.dtype)
    if not (atoms.flags.c_contiguous or atoms.flags.f_contiguous):
        atoms = np.ascontiguousarray(atoms)  # NumPy would copy twice, and not see that both sides are the same

    # Parts of the lower triangle with as many elements each.
    parts = even_parts(n, _GRAM_ROWS)
    bounds = [round(n * (k / parts) ** 0.5) for k in range(parts + 1)]

    def fill(part: slice) -> None:
        rows = slice(bounds[part.start], bounds[part.stop])
        some = atoms[rows]
        with np.errstate(all="ignore"):
            np.matmul(some, some.T, out=gram[rows, rows])
            np.matmul(some, atoms[: rows.start].T, out=gram[rows, : rows.start])
        gram[: rows.start, rows] = gram[rows, : rows.start].T

    run_chunks(fill, parts, 1, n_jobs if atoms.size * n >= LEAST else 1)
    return gram


def sparse_gram(S: Any, *, n_jobs: int | None = None) -> FloatArray:
    """The inner products S'S of all columns of a sparse array or a dense one, exactly symmetric, as a dense matrix, in
    threads; bit-identical for every n_jobs.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from jplrdl._products import sparse_gram
    >>> sparse_gram(csr_array([[1.0, 2.0], [0.0, 3.0]]))
    array([[ 1.,  2.],
           [ 2., 13.]])
    """
    if isinstance(S, np.ndarray):
        return gram_matrix(S.T, n_jobs=n_jobs)
    by_columns, by_rows = _compressed(S.T, S.dtype), _compressed(S, S.dtype)
    gram: FloatArray = np.zeros((S.shape[1], S.shape[1]), dtype=S.dtype)
    multiplied = float(np.square(np.diff(by_rows[0]), dtype=np.float64).sum())

    def fill(rows: slice) -> None:
        _kernel.add_sparse_product(*by_columns, *by_rows, rows.start, rows.stop, gram)

    run_chunks(fill, len(gram), even_chunk(len(gram), _ADDED_ROWS), n_jobs if multiplied >= _LEAST_SCATTERED else 1)
    return gram


def triangular_solve(R: FloatArray, B: FloatArray, *, transposed: bool = False) -> FloatArray:
    """R^-1 B or R^-T B for an upper triangular R, without the GIL; B is overwritten if it is contiguous.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl._products import triangular_solve
    >>> triangular_solve(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([[5.0], [4.0]]))
    array([[2.],
           [1.]])
    """
    found = np.ascontiguousarray(B, dtype=R.dtype)
    _triangular.solve_columns(np.asfortranarray(R), found, transposed)
    return found
