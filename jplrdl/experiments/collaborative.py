"""Classification by collaborative representation (Zhang et al. 2011): ridge codes over all training samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._algebra import squares_of_rows
from .._validation import FloatArray
from ..classification import Groups, residuals_by_products, spectral_codes, unit_rows


class CollaborativeRepresentationClassifier(ClassifierMixin, BaseEstimator):
    """Code a sample over all training samples by ridge regression; its class has the least residual for its energy.

        min |x - aD|^2 + ridge |a|^2,       class = argmin_i |x - a_i D_i|^2 / |a_i|^2

    Parameters
    ----------
    ridge : float > 0
        Weight of the squared l2 norm, for samples of unit length. Used by prediction only: may be changed after a fit.

    Attributes
    ----------
    classes_ : ndarray
    dictionary_ : ndarray of shape (n_atoms, n_features)
        The training samples scaled to unit length.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from jplrdl.experiments import CollaborativeRepresentationClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = CollaborativeRepresentationClassifier().fit(X[:300], y[:300])
    >>> bool(model.score(X[300:500], y[300:500]) > 0.85)
    True
    """

    def __init__(self, ridge: float = 0.01) -> None:
        self.ridge = ridge

    def fit(self, X: Any, y: Any) -> CollaborativeRepresentationClassifier:
        """Keep the samples as atoms, and the spectrum of their Gram matrix."""
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        self.classes_, self._labels = np.unique(y, return_inverse=True)
        self.dictionary_ = unit_rows(X)
        self._values, self._vectors = eigh(self.dictionary_ @ self.dictionary_.T)
        self._order = np.argsort(self._labels, kind="stable")
        self._groups = Groups.of(self.dictionary_[self._order], self._labels[self._order])
        return self

    def encode(self, X: Any) -> FloatArray:
        """The codes of samples of unit length, shape (n_samples, n_atoms)."""
        return self._encode(X)[0]

    def _encode(self, X: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The codes, the products with atoms, and the squared lengths, one or zero, of samples of unit length."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        if not self.ridge > 0:
            raise ValueError(f"ridge must be > 0, got {self.ridge!r}")
        samples = unit_rows(X)
        cov = samples @ self.dictionary_.T
        codes = spectral_codes(cov, self._values, self._vectors, self.ridge)
        return codes, cov, squares_of_rows(samples)

    def predict(self, X: Any) -> Any:
        """The class with the smallest residual over the energy of its code."""
        codes, cov, lengths = self._encode(X)
        codes = codes[:, self._order]
        residuals = residuals_by_products(self._groups, lengths, cov[:, self._order], codes)
        energies = self._groups.sums(codes * codes)
        ratios = np.where(energies > 0, residuals, np.inf) / np.where(energies > 0, energies, 1)
        return self.classes_[ratios.argmin(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # An atom explains a sample and its negative alike: blobs around the origin, scikit-learn's measure, are hard.
        tags.classifier_tags.poor_score = True
        return tags
