"""The decision: samples of unit length, and what each class leaves of a coded one (eq25)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, eigh

from ._algebra import squares_of_rows
from ._parallel import held_blas, run_chunks
from ._products import even_chunk, product, triangular_solve
from ._validation import FloatArray

_ROWS = 160  # samples whose codes are solved for at once


def unit_rows(X: FloatArray) -> FloatArray:
    """Rows scaled to unit length; zeros stay zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.classification import unit_rows
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    with np.errstate(over="ignore", under="ignore"):
        norms = np.linalg.norm(X, axis=1, keepdims=True)
    numbers = np.finfo(X.dtype)
    unsafe = ~((norms > np.sqrt(numbers.tiny) / numbers.eps) & (norms < np.inf))[:, 0]
    if unsafe.any():
        # Their squares over- or underflow: first to a largest element of one.
        largest = np.abs(X[unsafe]).max(axis=1, keepdims=True)
        X = X.copy()
        X[unsafe] /= np.where(largest > 0, largest, 1)
        norms[unsafe] = np.linalg.norm(X[unsafe], axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1)


@held_blas
def ridge_encode(
    Y: FloatArray, D: FloatArray, ridge: float, *, gram: FloatArray, n_jobs: int | None = None
) -> FloatArray:
    """The codes with the least |y - aD|^2 + ridge |a|^2, one row for each of Y: eq24 without its l1 norm.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_components)
    D : ndarray of shape (n_atoms, n_components)
    ridge : float > 0
    gram : ndarray of shape (n_atoms, n_atoms)
        DD'.
    n_jobs : int, optional
        Threads; the codes are the same bits for every number of them, and of BLAS's.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.classification import ridge_encode
    >>> ridge_encode(np.array([[1.0, 0.5]]), np.eye(2), 1.0, gram=np.eye(2))
    array([[0.5 , 0.25]])
    """
    dtype = np.result_type(Y, D, gram)
    codes: FloatArray = np.empty((len(Y), len(D)), dtype=dtype)
    regular = gram + dtype.type(ridge) * np.eye(len(gram), dtype=dtype)
    try:
        factor = cholesky(regular, overwrite_a=True, check_finite=False)
    except LinAlgError:
        # The ridge is below the rounding errors of the Gram matrix, which may have made it indefinite.
        factor, (values, vectors) = None, eigh(gram)

    def fill(rows: slice) -> None:
        if factor is None:
            codes[rows] = spectral_codes(Y[rows] @ D.T, values, vectors, ridge)
        else:
            half = triangular_solve(factor, D @ Y[rows].T, transposed=True)
            codes[rows] = triangular_solve(factor, half).T

    run_chunks(fill, len(Y), even_chunk(len(Y), _ROWS), n_jobs)
    return codes


def spectral_codes(cov: FloatArray, values: FloatArray, vectors: FloatArray, ridge: float) -> FloatArray:
    """The codes of ridge_encode from the spectrum of DD', ascending, and cov = YD', for one ridge after the other."""
    # Below this an eigenvalue, and the part of cov along its vector, is a rounding error.
    kept = values > len(values) * np.finfo(values.dtype).eps * values[-1]
    vectors = vectors[:, kept]
    return (cov @ vectors / (values[kept] + values.dtype.type(ridge))) @ vectors.T


def residual_by_products(length: FloatArray, cov: FloatArray, gram: FloatArray, codes: FloatArray) -> FloatArray:
    """|y - aD|^2 = |y|^2 - a(2 Dy - DD'a) for each row: exact to the rounding errors of |y|^2, and never negative.

    Parameters
    ----------
    length : ndarray of shape (n_samples,)
        |y|^2.
    cov, gram, codes : ndarray
        YD', DD', and one a a row.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.classification import residual_by_products
    >>> residual_by_products(np.array([1.25]), np.array([[1.0]]), np.array([[1.0]]), np.array([[1.0]]))
    array([0.25])
    """
    explained = np.einsum("ij,ij->i", codes, 2 * cov - codes @ gram)
    return np.maximum(length - explained, 0)


@held_blas
def class_residuals(
    Y: FloatArray,
    D: FloatArray,
    codes: FloatArray,
    atom_labels: NDArray[Any],
    means: FloatArray,
    *,
    mean_weight: float = 0.0,
    normalized: bool = False,
    n_jobs: int | None = None,
) -> FloatArray:
    """e_i = |y - a_i D_i|^2 + mean_weight |a - m_i|^2 for each sample and class.

    Normalized: the first term r_i becomes r_i / (r_i + s_i), with s_i = |a_i|^2 / |a|^2 the class's share of the code.
    It orders the classes as r_i / |a_i|^2 does, the rule of collaborative representation, and stays between 0 and 1,
    which it is for a class without any part in the code.

    r_i comes from one product of all samples with all atoms: nothing as large as the samples is made for each class.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_components)
        Projected samples.
    D : ndarray of shape (n_atoms, n_components)
    codes : ndarray of shape (n_samples, n_atoms)
    atom_labels : ndarray of shape (n_atoms,)
        Classes as 0, 1, ...
    means : ndarray of shape (n_classes, n_atoms)
    mean_weight : float >= 0
    normalized : bool
    n_jobs : int, optional
        Threads of the product with the atoms.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.classification import class_residuals
    >>> class_residuals(np.array([[1.0, 0.5]]), np.eye(2), np.array([[1.0, 0.5]]), np.array([0, 1]), np.zeros((2, 2)))
    array([[0.25, 1.  ]])
    """
    n_classes = len(means)
    residuals: FloatArray = np.empty((len(Y), n_classes), dtype=Y.dtype)
    cov, length, energy = product(Y, D.T, n_jobs=n_jobs), squares_of_rows(Y), squares_of_rows(codes)
    for label in range(n_classes):
        own = atom_labels == label
        part, atoms = codes[:, own], D[own]
        residuals[:, label] = residual_by_products(length, cov[:, own], atoms @ atoms.T, part)
        if normalized:
            share = squares_of_rows(part) / np.where(energy > 0, energy, 1)
            whole = residuals[:, label] + share
            residuals[:, label] = np.where(whole > 0, residuals[:, label], 1) / np.where(whole > 0, whole, 1)
        if mean_weight > 0:
            residuals[:, label] += mean_weight * np.sum((codes - means[label]) ** 2, axis=1)
    return residuals
