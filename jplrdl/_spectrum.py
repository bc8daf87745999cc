"""Largest eigenvalues, which bound steps and scale problems."""

from __future__ import annotations

from scipy.linalg import eigh

from ._validation import FloatArray


def top_eigenvalue(symmetric: FloatArray) -> float:
    """The largest eigenvalue of a symmetric matrix."""
    last = len(symmetric) - 1
    return float(eigh(symmetric, eigvals_only=True, subset_by_index=(last, last))[0])


def largest_eigenvalue(A: FloatArray) -> float:
    """Of A'A, through the smaller of the two Gram matrices: the squared spectral norm of A."""
    return top_eigenvalue(A @ A.T if A.shape[0] < A.shape[1] else A.T @ A)
