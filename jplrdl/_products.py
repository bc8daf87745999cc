"""Large products in threads: some rows at a time, bit-identical for every n_jobs."""

from __future__ import annotations

import numpy as np

from ._parallel import run_chunks
from ._validation import FloatArray

_GRAM_ROWS, _PRODUCT_ROWS = 256, 128
# Multiplications, a millisecond of them, below which to wake a thread is not worth it.
_LEAST = 20_000_000


def product(A: FloatArray, B: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
    """A B, some rows of A at a time, in threads; bit-identical for every n_jobs."""
    found: FloatArray = np.empty((len(A), B.shape[1]), dtype=A.dtype)

    def fill(rows: slice) -> None:
        np.matmul(A[rows], B, out=found[rows])

    parts = max(1, round(len(A) / _PRODUCT_ROWS))
    run_chunks(fill, len(A), max(1, -(-len(A) // parts)), n_jobs if A.size * B.shape[1] >= _LEAST else 1)
    return found


def gram_matrix(atoms: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
    """The inner products of all rows, exactly symmetric, in threads; bit-identical for every n_jobs."""
    n = len(atoms)
    gram = np.empty((n, n), dtype=atoms.dtype)

    def fill(rows: slice) -> None:
        some = atoms[rows]
        with np.errstate(all="ignore"):
            np.matmul(some, some.T, out=gram[rows, rows])
            np.matmul(some, atoms[: rows.start].T, out=gram[rows, : rows.start])
        gram[: rows.start, rows] = gram[rows, : rows.start].T

    run_chunks(fill, n, _GRAM_ROWS, n_jobs if atoms.size * n >= _LEAST else 1)
    return gram
