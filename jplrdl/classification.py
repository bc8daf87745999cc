"""The decision: samples of unit length, and what each class leaves of a coded one (eq25)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, eigh

from ._algebra import squares_of_rows
from ._parallel import held_blas, run_chunks
from ._products import even_chunk, gram_matrix, triangular_solve
from ._validation import FloatArray

_ROWS = 160  # samples that are coded, or whose residuals are taken, at once


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

    a = yD'(DD' + ridge I)^-1 = y(D'D + ridge I)^-1 D': where atoms are twice as many as dimensions, the smaller system.

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
    smaller = 2 * D.shape[1] <= len(D)
    regular = (gram_matrix(D.T, n_jobs=n_jobs) if smaller else gram).astype(dtype)
    regular[np.diag_indices_from(regular)] += dtype.type(ridge)
    try:
        factor = cholesky(regular.T, overwrite_a=True, check_finite=False)
    except LinAlgError:
        # The ridge is below the rounding errors of the products, which may have made them indefinite.
        factor, (values, vectors) = None, eigh(gram)

    def solve(right: FloatArray) -> FloatArray:
        return triangular_solve(factor, triangular_solve(factor, right, transposed=True))

    def fill(rows: slice) -> None:
        if factor is None:
            codes[rows] = spectral_codes(Y[rows] @ D.T, values, vectors, ridge)
        elif smaller:
            codes[rows] = solve(Y[rows].T.copy()).T @ D.T
        else:
            codes[rows] = solve(D @ Y[rows].T).T

    run_chunks(fill, len(Y), even_chunk(len(Y), _ROWS), n_jobs)
    return codes


def spectral_codes(cov: FloatArray, values: FloatArray, vectors: FloatArray, ridge: float) -> FloatArray:
    """The codes of ridge_encode from the spectrum of DD', ascending, and cov = YD', for one ridge after the other."""
    # Below this an eigenvalue, and the part of cov along its vector, is a rounding error.
    kept = values > len(values) * np.finfo(values.dtype).eps * values[-1]
    vectors = vectors[:, kept]
    return (cov @ vectors / (values[kept] + values.dtype.type(ridge))) @ vectors.T


class Groups(NamedTuple):
    """Atoms in the order of their classes: where each class begins, and, for all classes of one size at once, which
    columns are theirs and every D_i D_i'."""

    starts: NDArray[np.intp]
    grams: list[tuple[Any, FloatArray]]

    @classmethod
    def of(cls, D: FloatArray, atom_labels: NDArray[Any]) -> Groups:
        """From atoms in that order, and their classes as 0, 1, ..."""
        sizes = np.bincount(atom_labels)
        grams: list[tuple[Any, FloatArray]] = []
        for size in np.unique(sizes):
            own = np.flatnonzero(sizes[atom_labels] == size)
            atoms = D[own].reshape(-1, size, D.shape[1])
            grams.append((own if len(own) < len(D) else slice(None), atoms @ atoms.transpose(0, 2, 1)))
        return cls(np.cumsum(sizes) - sizes, grams)

    def sums(self, columns: FloatArray) -> FloatArray:
        """Of each class's columns."""
        total: FloatArray = np.add.reduceat(columns, self.starts, axis=1)
        return total


def residuals_by_products(groups: Groups, length: FloatArray, cov: FloatArray, codes: FloatArray) -> FloatArray:
    """|y - a_i D_i|^2 = |y|^2 - a_i(2 D_i y - D_i D_i' a_i) for each row and class: exact to the rounding errors of
    |y|^2, and never negative.

    Parameters
    ----------
    groups : Groups
    length : ndarray of shape (n_samples,)
        |y|^2.
    cov, codes : ndarray of shape (n_samples, n_atoms)
        YD', which is lost, and one a a row.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.classification import Groups, residuals_by_products
    >>> groups = Groups.of(np.eye(2), np.array([0, 1]))
    >>> residuals_by_products(groups, np.array([1.25]), np.array([[1.0, 0.5]]), np.array([[1.0, 0.0]]))
    array([[0.25, 1.25]])
    """
    cov *= 2
    for own, grams in groups.grams:
        parts = codes[:, own].reshape(len(codes), *grams.shape[:2]).transpose(1, 0, 2)
        cov[:, own] -= (parts @ grams).transpose(1, 0, 2).reshape(len(codes), -1)
    cov *= codes
    return np.maximum(length[:, None] - groups.sums(cov), 0)


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

    Some samples at a time: nothing as large as all of them is made.

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
        Threads; the residuals are the same bits for every number of them.

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
    if (np.diff(atom_labels) < 0).any():
        order = np.argsort(atom_labels, kind="stable")
        D, codes, atom_labels, means = D[order], codes[:, order], atom_labels[order], means[:, order]
    groups, residuals = Groups.of(D, atom_labels), np.empty((len(Y), len(means)), dtype=Y.dtype)

    def fill(rows: slice) -> None:
        some = codes[rows]
        left = residuals_by_products(groups, squares_of_rows(Y[rows]), Y[rows] @ D.T, some)
        if normalized:
            energy = squares_of_rows(some)
            share = groups.sums(some * some) / np.where(energy > 0, energy, 1)[:, None]
            whole = left + share
            left = np.where(whole > 0, left, 1) / np.where(whole > 0, whole, 1)
        if mean_weight > 0:
            for label, mean in enumerate(means):
                left[:, label] += mean_weight * squares_of_rows(some - mean)
        residuals[rows] = left

    run_chunks(fill, len(Y), even_chunk(len(Y), _ROWS), n_jobs)
    return residuals
