"""Inner products and eigenvalues that several steps need."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._validation import FloatArray

RESIDUAL, _MOST_STEPS = 1e-6, 60


def inner(A: FloatArray, B: FloatArray) -> float:
    """tr(A'B), summed in double precision."""
    if A.dtype == B.dtype == np.float64 and A.flags.c_contiguous and B.flags.c_contiguous:
        return float(np.vdot(A, B))
    return float(np.einsum("ij,ij->", A, B, dtype=np.float64))


def is_lower_triangular(A: FloatArray) -> bool:
    """Is A square, with zeros above its diagonal?"""
    return A.shape[0] == A.shape[1] and not np.triu(A, 1).any()


def top_eigenvalue(symmetric: FloatArray) -> float:
    """The largest eigenvalue of a symmetric matrix.

    All of them cost hardly more than one, and LAPACK's search for one fails where all are nearly the same.
    """
    return float(np.linalg.eigvalsh(symmetric)[-1])


def largest_eigenvalue(A: FloatArray) -> float:
    """Of A'A, through the smaller of the two Gram matrices: the squared spectral norm of A."""
    return top_eigenvalue(A @ A.T if A.shape[0] < A.shape[1] else A.T @ A)


def estimated_eigenvalue(symmetric: Any) -> float:
    """The largest eigenvalue of a symmetric matrix, of which nobody needs to be certain.

    The matrix may be all that can be multiplied with a vector and has a shape and a dtype.
    """
    value, residual = extreme_eigenvalue(symmetric)
    return value if residual <= RESIDUAL * value else value + residual


def extreme_eigenvalue(symmetric: Any) -> tuple[float, float]:
    """The largest eigenvalue by Lanczos' method, every vector orthogonal to all before, and the residual of its vector.

    Until the residual is a millionth of the eigenvalue, or some steps have been taken: what the estimate lacks is of
    the order of the residual's square, unless the first vector had nothing of the right one.
    """
    n = symmetric.shape[0]
    basis = np.zeros((min(n, _MOST_STEPS), n), dtype=symmetric.dtype)
    tridiagonal = np.zeros((len(basis) + 1, len(basis) + 1))
    vector = np.random.default_rng(0).standard_normal(n).astype(symmetric.dtype)
    value = residual = 0.0
    for k in range(len(basis)):
        basis[k] = vector / np.linalg.norm(vector)
        vector = symmetric @ basis[k]
        tridiagonal[k, k] = basis[k] @ vector
        for _ in range(2):
            vector -= (basis[: k + 1] @ vector) @ basis[: k + 1]
        tridiagonal[k, k + 1] = tridiagonal[k + 1, k] = length = float(np.linalg.norm(vector))
        values, vectors = np.linalg.eigh(tridiagonal[: k + 1, : k + 1])
        value, residual = float(values[-1]), length * abs(float(vectors[-1, -1]))
        if residual <= RESIDUAL * value:
            break
    return value, residual


def squares_of_rows(rows: FloatArray) -> FloatArray:
    """The squared length of each row; thrice as fast as a norm where rows are few."""
    squares: FloatArray = np.einsum("ij,ij->i", rows, rows)
    return squares
