"""Weights chosen by cross-validation on the training data, cheaply: a fold's graphs are built once for all of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ._parallel import held_blas
from ._transaction import all_or_nothing
from ._validation import FloatArray, as_nonnegative
from .classifier import JPLRDLClassifier
from .coding import warn_unless_converged
from .solver import Solver

_GRIDS = ("lambda_sparse", "lambda_graph", "code_penalty", "mean_weight")


class JPLRDLClassifierCV(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """JPLRDLClassifier with lambda_sparse, lambda_graph, code_penalty and mean_weight chosen by cross-validation.

    Each fold's robust PCA, graphs and first projection serve all candidates. For each lambda_graph the values of
    lambda_sparse are taken from the largest down, each fit going on from the last one; code_penalty and mean_weight
    need no fit at all. The candidate with the highest mean accuracy, the first of equals, is fitted to all samples,
    from the start.

    Parameters
    ----------
    estimator : JPLRDLClassifier, optional
        Has all other parameters; the default ones if None.
    lambda_sparse, lambda_graph, code_penalty, mean_weight : sequences of floats >= 0, optional
        What to choose from; None keeps the value of `estimator`.
    cv : int, splitter or iterable
        As in scikit-learn; an integer makes stratified folds.
    n_jobs : int, optional
        Processes, one a fold.
    verbose : bool
        Print a line a candidate.

    Attributes
    ----------
    best_estimator_ : JPLRDLClassifier
        Fitted to all samples.
    best_params_ : dict
    best_score_ : float
        Mean accuracy on the held-out folds.
    cv_results_ : dict
        "params", a list of dicts; "mean_test_score", "std_test_score" and "split_test_score" of shape
        (n_candidates, n_folds).
    classes_ : ndarray

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from jplrdl import JPLRDLClassifier, JPLRDLClassifierCV
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> search = JPLRDLClassifierCV(
    ...     JPLRDLClassifier(n_components=20, max_iter=2), lambda_sparse=[0.01, 0.1], lambda_graph=None,
    ...     code_penalty=[0.001, 0.01], mean_weight=[0.0, 0.1, 1.0], cv=3,
    ... ).fit(X[:60], y[:60])
    >>> len(search.cv_results_["params"]), sorted(search.best_params_)
    (12, ['code_penalty', 'lambda_graph', 'lambda_sparse', 'mean_weight'])
    """

    def __init__(
        self,
        estimator: JPLRDLClassifier | None = None,
        *,
        lambda_sparse: Sequence[float] | None = (0.03, 0.08, 0.2),
        lambda_graph: Sequence[float] | None = (0.0005, 0.002),
        code_penalty: Sequence[float] | None = (0.001, 0.01, 0.03),
        mean_weight: Sequence[float] | None = (0.0, 0.1),
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.lambda_sparse = lambda_sparse
        self.lambda_graph = lambda_graph
        self.code_penalty = code_penalty
        self.mean_weight = mean_weight
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> JPLRDLClassifierCV:
        """Choose the weights, then fit to all samples."""
        with all_or_nothing(self):
            return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> JPLRDLClassifierCV:
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        base = JPLRDLClassifier() if self.estimator is None else clone(self.estimator)
        grids = {name: self._grid(name, base) for name in _GRIDS}
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y))
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_fold_scores)(clone(base), grids, X[train], y[train], X[test], y[test]) for train, test in folds
        )
        params = [dict(zip(_GRIDS, values, strict=True)) for values in itertools.product(*grids.values())]
        scores = np.array([[fold[tuple(candidate.values())] for fold in found] for candidate in params])
        means = scores.mean(axis=1)
        self.cv_results_ = {
            "params": params,
            "mean_test_score": means,
            "std_test_score": scores.std(axis=1),
            "split_test_score": scores,
        }
        if self.verbose:
            for candidate, mean in zip(params, means, strict=True):
                told = ", ".join(f"{name} {value:g}" for name, value in candidate.items())
                print(f"[JPLRDLClassifierCV] {told}: accuracy {mean:.4f}")
        best = int(means.argmax())
        self.best_params_, self.best_score_ = params[best], float(means[best])
        self.best_estimator_ = base.set_params(**self.best_params_).fit(X, y)
        self.classes_ = self.best_estimator_.classes_
        return self

    def _grid(self, name: str, base: JPLRDLClassifier) -> list[float]:
        values = getattr(self, name)
        values = [getattr(base, name)] if values is None else list(values)
        if not values:
            raise ValueError(f"{name} must hold at least one value, got {getattr(self, name)!r}")
        return [as_nonnegative(value, name) for value in values]

    def _checked(self, X: Any) -> Any:
        """Samples for the best estimator, which checks an array itself, piece by piece, but knows no feature names."""
        check_is_fitted(self)
        if type(X) in (np.ndarray, np.memmap):
            return X
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)

    def predict(self, X: Any) -> Any:
        """As the best estimator."""
        X = self._checked(X)
        return self.best_estimator_.predict(X)

    def decision_function(self, X: Any) -> FloatArray:
        """As the best estimator."""
        X = self._checked(X)
        return self.best_estimator_.decision_function(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """As the best estimator."""
        X = self._checked(X)
        return self.best_estimator_.predict_proba(X)

    def transform(self, X: Any) -> FloatArray:
        """The codes of the best estimator."""
        X = self._checked(X)
        return self.best_estimator_.transform(X)

    def project(self, X: Any) -> FloatArray:
        """The projected samples of the best estimator."""
        X = self._checked(X)
        return self.best_estimator_.project(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = JPLRDLClassifier().__sklearn_tags__().classifier_tags.poor_score
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.best_estimator_.components_.shape[0])


@held_blas
def _fold_scores(
    model: JPLRDLClassifier, grids: dict[str, list[float]], X: Any, y: Any, X_test: Any, y_test: Any
) -> dict[tuple[float, ...], float]:
    """The accuracy of every candidate on one fold."""
    scores: dict[tuple[float, ...], float] = {}
    problem = model._pose(X, y)
    for lambda_graph in grids["lambda_graph"]:
        last: Solver | None = None
        for lambda_sparse in sorted(grids["lambda_sparse"], reverse=True):
            last = model.set_params(lambda_sparse=lambda_sparse, lambda_graph=lambda_graph)._solve(problem, last)
            projected = model.project(X_test)
            for code_penalty in grids["code_penalty"]:
                codes, info = model.set_params(code_penalty=code_penalty)._encode(projected)
                warn_unless_converged(info, stacklevel=1)
                for mean_weight in grids["mean_weight"]:
                    residuals = model.set_params(mean_weight=mean_weight)._coded_residuals(projected, codes)
                    right = model.classes_[residuals.argmin(axis=1)] == y_test
                    scores[lambda_sparse, lambda_graph, code_penalty, mean_weight] = float(np.mean(right))
    return scores
