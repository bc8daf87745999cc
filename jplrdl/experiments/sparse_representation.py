"""Sparse-representation classification (Wright et al. 2009): the rival that needs no training."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._products import gram_matrix
from .._validation import FloatArray
from ..classification import unit_rows
from ..coding import sparse_encode


class SparseRepresentationClassifier(ClassifierMixin, BaseEstimator):
    """Code a sample over all training samples; it belongs to the class whose part of the code explains it best.

        min |x - aD - e|^2 + penalty (|a|_1 + |e|_1),       class = argmin_i |x - e - a_i D_i|

    where e, one coefficient for every feature, is there only with ``error_atoms=True``: it takes corrupted pixels.

    Parameters
    ----------
    penalty : float >= 0
        Weight of the l1 norm, for samples of unit length.
    error_atoms : bool
        Code over one more atom for every feature.
    n_jobs : int, optional
        Threads, as in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray
    dictionary_ : ndarray of shape (n_atoms, n_features)
        The training samples scaled to unit length, and the error atoms.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from jplrdl.experiments import SparseRepresentationClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SparseRepresentationClassifier().fit(X[:300], y[:300])
    >>> bool(model.score(X[300:500], y[300:500]) > 0.9)
    True
    """

    def __init__(self, penalty: float = 0.02, error_atoms: bool = False, n_jobs: int | None = None) -> None:
        self.penalty = penalty
        self.error_atoms = error_atoms
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> SparseRepresentationClassifier:
        """Keep the samples as atoms."""
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        self.classes_, self._labels = np.unique(y, return_inverse=True)
        atoms = unit_rows(X)
        if self.error_atoms:
            atoms = np.vstack([atoms, np.eye(X.shape[1], dtype=X.dtype)])
        self.dictionary_ = atoms
        self._gram = gram_matrix(atoms, n_jobs=self.n_jobs)
        return self

    def encode(self, X: Any) -> FloatArray:
        """The codes of samples of unit length, error coefficients last."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return sparse_encode(unit_rows(X), self.dictionary_, self.penalty, gram=self._gram, n_jobs=self.n_jobs)

    def residuals(self, X: Any) -> FloatArray:
        """What each class leaves of each sample, shape (n_samples, n_classes)."""
        codes = self.encode(X)
        n_samples = len(self._labels)
        error = codes[:, n_samples:] @ self.dictionary_[n_samples:]
        rest = unit_rows(np.asarray(X, dtype=codes.dtype)) - error
        residuals = []
        for label in range(len(self.classes_)):
            own = np.flatnonzero(self._labels == label)
            residuals.append(np.linalg.norm(rest - codes[:, own] @ self.dictionary_[own], axis=1))
        return np.stack(residuals, axis=1)

    def predict(self, X: Any) -> Any:
        """The class with the smallest residual."""
        nearest = self.residuals(X).argmin(axis=1)
        return self.classes_[nearest]
