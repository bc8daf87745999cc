"""Codes of coupled samples without an l1 norm (eq11 to eq14, lambda_1 = 0): least squares, no search for a support."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._validation import FloatArray


def coupled_least_squares(
    gram: FloatArray,
    cov: FloatArray,
    laplacian: Any,
    weight: float,
    codes: FloatArray,
    *,
    order: NDArray[np.integer[Any]] | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One pass over min sum_p [a_p'Ha_p - 2 b_p'a_p] + weight tr(A'LA): each code in turn to its minimum.

    All samples share the eigenvectors U of H. In the coordinates c_p = U'a_p the minimum is a division,

        (Lambda + weight L_pp) c_p = U'b_p - weight sum_{q != p} L_pq c_q,

    where an active set would have to grow to all atoms. Coordinates whose left side is zero up to rounding stay as they
    were: along them the objective is flat, or else has no minimum.

    Parameters
    ----------
    gram, cov : ndarray of shapes (n_atoms, n_atoms) and (n_samples, n_atoms)
        H and one b a row.
    laplacian : sparse matrix of shape (n_samples, n_samples), in rows
    weight : float >= 0
    codes : ndarray of the shape of cov
        To start from.
    order : ndarray of shape (n_samples,), optional
        In which samples take their turns; by their index if not given.

    Returns
    -------
    codes : ndarray of the shape of cov
    gradient : ndarray of the shape of cov
        What was left, at the end of its turn, of the gradient in each code.
    sizes : ndarray of shape (n_samples,)
        The length of the right side above, to compare the gradient with.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from jplrdl.coupled_least_squares import coupled_least_squares
    >>> H, b = np.diag([1.0, 4.0]), np.array([[2.0, 2.0]])
    >>> coupled_least_squares(H, b, csr_array((1, 1)), 0.0, np.zeros((1, 2)))[0].round(6)
    array([[2. , 0.5]])
    """
    values, U = np.linalg.eigh(gram.astype(np.float64, copy=False))
    least = len(values) * float(np.finfo(gram.dtype).eps) * abs(values[-1])
    c, linear, left, sizes = codes @ U, cov @ U, np.zeros(cov.shape), np.zeros(len(cov))
    for p in range(len(c)) if order is None else order:
        of_row = slice(laplacian.indptr[p], laplacian.indptr[p + 1])
        neighbours, coupling = laplacian.indices[of_row], weight * laplacian.data[of_row].astype(np.float64)
        others = neighbours != p
        diagonal = values + coupling[~others].sum()
        right = linear[p] - coupling[others] @ c[neighbours[others]]
        np.divide(right, diagonal, out=c[p], where=diagonal > least)
        left[p], sizes[p] = 2 * (diagonal * c[p] - right), np.linalg.norm(right)
    return (c @ U.T).astype(gram.dtype, copy=False), (left @ U.T).astype(gram.dtype, copy=False), sizes
