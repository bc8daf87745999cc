"""The decision: samples of unit length, and what each class leaves of a coded one (eq25)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh, solve

from ._validation import FloatArray


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


def ridge_encode(Y: FloatArray, D: FloatArray, ridge: float, *, gram: FloatArray) -> FloatArray:
    """The codes with the least |y - aD|^2 + ridge |a|^2, one row for each of Y: eq24 without its l1 norm.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_components)
    D : ndarray of shape (n_atoms, n_components)
    ridge : float > 0
    gram : ndarray of shape (n_atoms, n_atoms)
        DD'.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.classification import ridge_encode
    >>> ridge_encode(np.array([[1.0, 0.5]]), np.eye(2), 1.0, gram=np.eye(2))
    array([[0.5 , 0.25]])
    """
    cov = Y @ D.T
    regular = gram + gram.dtype.type(ridge) * np.eye(len(gram), dtype=gram.dtype)
    try:
        return np.ascontiguousarray(solve(regular, cov.T, assume_a="pos", check_finite=False).T)
    except LinAlgError:
        # The ridge is below the rounding errors of the Gram matrix, which may have made it indefinite.
        values, vectors = eigh(gram)
        return spectral_codes(cov, values, vectors, ridge)


def spectral_codes(cov: FloatArray, values: FloatArray, vectors: FloatArray, ridge: float) -> FloatArray:
    """The codes of ridge_encode from the spectrum of DD', ascending, and cov = YD', for one ridge after the other."""
    # Below this an eigenvalue, and the part of cov along its vector, is a rounding error.
    kept = values > len(values) * np.finfo(values.dtype).eps * values[-1]
    vectors = vectors[:, kept]
    return (cov @ vectors / (values[kept] + values.dtype.type(ridge))) @ vectors.T


def class_residuals(
    Y: FloatArray,
    D: FloatArray,
    codes: FloatArray,
    atom_labels: NDArray[Any],
    means: FloatArray,
    *,
    mean_weight: float = 0.0,
    normalized: bool = False,
) -> FloatArray:
    """e_i = |y - a_i D_i|^2 + mean_weight |a - m_i|^2 for each sample and class.

    Normalized: the first term r_i becomes r_i / (r_i + s_i), with s_i = |a_i|^2 / |a|^2 the class's share of the code.
    It orders the classes as r_i / |a_i|^2 does, the rule of collaborative representation, and stays between 0 and 1,
    which it is for a class without any part in the code.

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
    energy = np.sum(codes**2, axis=1)
    for label in range(n_classes):
        own = atom_labels == label
        part = codes[:, own]
        residuals[:, label] = np.sum((Y - part @ D[own]) ** 2, axis=1)
        if normalized:
            share = np.sum(part**2, axis=1) / np.where(energy > 0, energy, 1)
            whole = residuals[:, label] + share
            residuals[:, label] = np.where(whole > 0, residuals[:, label], 1) / np.where(whole > 0, whole, 1)
        if mean_weight > 0:
            residuals[:, label] += mean_weight * np.sum((codes - means[label]) ** 2, axis=1)
    return residuals
