"""Inner products, eigenvalues and norms that several steps need."""

from __future__ import annotations

import numpy as np

from ._validation import FloatArray

_SMALLEST = 1e-8


def inner(A: FloatArray, B: FloatArray) -> float:
    """tr(A'B), summed in double precision."""
    if A.dtype == B.dtype == np.float64 and A.flags.c_contiguous and B.flags.c_contiguous:
        return float(np.vdot(A, B))
    return float(np.einsum("ij,ij->", A, B, dtype=np.float64))


def top_eigenvalue(symmetric: FloatArray) -> float:
    """The largest eigenvalue of a symmetric matrix.

    All of them cost hardly more than one, and LAPACK's search for one fails where all are nearly the same.
    """
    return float(np.linalg.eigvalsh(symmetric)[-1])


def largest_eigenvalue(A: FloatArray) -> float:
    """Of A'A, through the smaller of the two Gram matrices: the squared spectral norm of A."""
    return top_eigenvalue(A @ A.T if A.shape[0] < A.shape[1] else A.T @ A)


def nuclear_norm(A: FloatArray, eigenvalues: FloatArray | None = None) -> float:
    """The sum of the singular values of A, whose rows are few, in double precision.

    Through the eigenvalues of AA', which may be given; their roots are as good as singular values, unless one of them
    is so small that squaring has lost it.
    """
    a = A.astype(np.float64, copy=False)
    values = np.linalg.eigvalsh(a @ a.T) if eigenvalues is None else eigenvalues
    if values[0] > _SMALLEST * values[-1]:
        return float(np.sqrt(values).sum())
    return float(np.linalg.svd(a, compute_uv=False).sum())
