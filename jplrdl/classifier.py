"""The estimator: it strings the steps of the method together and holds no mathematics of its own."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ._parallel import held_blas, run_chunks, threads_of
from ._products import even_chunk
from ._transaction import all_or_nothing
from ._validation import FloatArray, as_gram
from .classification import class_residuals, ridge_encode, unit_rows
from .coding import CodingInfo, sparse_encode, warn_unless_converged
from .exact import ExactSolver
from .paper import PaperSolver
from .persistence import Field, Saved, require
from .problem import Problem, pose_problem
from .solver import Solver
from .weights import Weights

_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
_WEIGHTS = ("sparse", "graph", "rank", "incoherence", "projection", "energy")
# New samples are taken in portions of so many rows and, with their codes, about so many elements; BLAS gets the least.
_LEAST_ROWS, _MOST_ROWS, _ELEMENTS = 64, 4096, 2**22
_PROJECTED_ROWS = 128
_GRAPH_PARAMETERS = ("low_rank_graph", "penalty_edges", "n_neighbors_same", "n_neighbors_other", "kernel_width")


class JPLRDLClassifier(Saved, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """Joint projection and low-rank dictionary learning.

    A projection P and a dictionary D of class-wise atoms are learned together: samples XP are coded over D so that
    their own class explains them, other classes do not, and the codes of similar samples agree within a class and
    differ between classes. A sample is classified by the residual of its code over each class's atoms. Samples are
    scaled to unit length first; a sample of zeros stays zero.

    Parameters
    ----------
    n_components : int or float
        Dimension of the projected space; a float is a share of the features. At most the rank of X, with a warning.
    n_atoms : int, optional
        Atoms of each class; as many as it has samples by default.
    lambda_sparse, lambda_graph, lambda_rank, lambda_incoherence, lambda_projection, lambda_energy : float >= 0
        Weights of the terms: l1 norm and graph of the codes, nuclear norm of each class's atoms, inner products between
        classes' atoms, graph of the projected samples, energy that the projection loses.
    solver : "exact" or "paper"
        Blocks that never raise the objective, or the paper's own, repaired where they fail.
    lambda_error : float > 0
        Weight of the samples' errors in the dictionary block of the solver "paper".
    projection_step : float in (0, 1]
        Share of the way to the new projection that the solver "paper" goes.
    init_projection : "lpp" or "pca"
        The first projection: supervised locality preserving projections, or principal components.
    init_ridge : float >= 0
        Of the former, as a share of the samples' mean energy in a direction; the larger, the nearer to the latter. Has
        a say if n_components is below the rank of X, and most with about as many samples as features.
    init_dictionary : "singular" or "samples"
        The first atoms: singular vectors of each class, or its samples, which code_penalty=0 suits.
    learn_projection : bool
        Update the projection; False keeps the first one.
    low_rank_graph : bool
        Look for neighbours among the low-rank parts of each class's samples (robust PCA), not among the samples.
    penalty_edges : bool
        Join neighbours of different classes by negative weights.
    n_neighbors_same, n_neighbors_other : int, optional
        Neighbours in the same class and in all others; for a class of n samples min(n - 1, 15) and n - 1 by default.
    kernel_width : float > 0
        Of the weights of the projection's graph.
    max_iter : int
        Rounds of codes, dictionary and projection; 0 keeps the first projection and dictionary.
    tol : float
        Relative change of the objective in a round below which the fit ends; a ConvergenceWarning tells if it does not
        come to that. 0 asks for no convergence, but for `max_iter` rounds.
    code_penalty, code_ridge : float >= 0
        Weights of the l1 and of the squared l2 norm of a new sample's code. Used by prediction only: may be changed
        after the fit, as may the next two.
    mean_weight : float >= 0
        Weight of the distance between a code and the class's mean code.
    residual : "paper" or "normalized"
        The residual of each class as it is, or set against the energy of its part of the code.
    n_jobs : int, optional
        Threads of a fit and of a prediction, as in scikit-learn. BLAS has one thread meanwhile, whatever it is set to,
        and the result does not depend on n_jobs, not in one bit.
    random_state : int, RandomState or None
        Of the order in which samples fill up the first atoms of a class with fewer singular vectors than `n_atoms`, the
        only choice in a fit; None takes them as they come, every time.
    verbose : bool
        Print a line a round: objective, ranks of the classes' atoms, sparsity of the codes, time.
    callback : callable, optional
        ``callback(iteration, history)`` after every round; returning True ends the fit.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_components)
    components_ : ndarray of shape (n_atoms_in_all, n_components)
        The dictionary, atoms of unit length.
    atom_labels_ : ndarray of shape (n_atoms_in_all,)
        The class of each atom.
    codes_ : ndarray of shape (n_samples, n_atoms_in_all)
    class_means_ : ndarray of shape (n_classes, n_atoms_in_all)
        Mean code of each class.
    history_ : dict of lists
        "block", "objective" and every term, at the start and after every block; what the solver "paper" adds is told
        by jplrdl.paper.PaperSolver.
    n_iter_ : int
    change_ : float
        Relative change of the objective in the last round; infinite without any.
    converged_ : bool
        Is it below `tol`?
    classes_ : ndarray

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from jplrdl import JPLRDLClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = JPLRDLClassifier(n_components=30, max_iter=3).fit(X[:200], y[:200])
    >>> model.history_["block"][:4]
    ['start', 'codes', 'dictionary', 'projection']
    >>> model.predict(X[:5])
    array([0, 1, 2, 3, 4])
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "n_components": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither")],
        "n_atoms": [Interval(Integral, 1, None, closed="left"), None],
        **{f"lambda_{name}": [_NOT_NEGATIVE] for name in _WEIGHTS},
        "solver": [StrOptions({"exact", "paper"})],
        "lambda_error": [Interval(Real, 0, None, closed="neither")],
        "projection_step": [Interval(Real, 0, 1, closed="right")],
        "init_projection": [StrOptions({"lpp", "pca"})],
        "init_ridge": [_NOT_NEGATIVE],
        "init_dictionary": [StrOptions({"singular", "samples"})],
        "learn_projection": ["boolean"],
        "low_rank_graph": ["boolean"],
        "penalty_edges": ["boolean"],
        "n_neighbors_same": [Interval(Integral, 0, None, closed="left"), None],
        "n_neighbors_other": [Interval(Integral, 0, None, closed="left"), None],
        "kernel_width": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [_NOT_NEGATIVE],
        "code_penalty": [_NOT_NEGATIVE],
        "code_ridge": [_NOT_NEGATIVE],
        "mean_weight": [_NOT_NEGATIVE],
        "residual": [StrOptions({"paper", "normalized"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "callback": [callable, None],
    }

    _saved_arrays: ClassVar[dict[str, Field]] = {
        "projection_": Field(("features", "components")),
        "components_": Field(("atoms", "components")),
        "codes_": Field(("samples", "atoms")),
        "class_means_": Field(("classes", "atoms")),
        "classes_": Field(("classes",), "label"),
        "_atom_classes": Field(("atoms",), "index"),
        "_gram": Field(("atoms", "atoms")),
        "feature_names_in_": Field(("features",), "name", optional=True),
    }
    _saved_facts: ClassVar[dict[str, type]] = {
        "n_iter_": int, "change_": float, "converged_": bool, "history_": dict
    }  # fmt: skip

    def __init__(
        self,
        n_components: float = 0.3,
        n_atoms: int | None = None,
        *,
        lambda_sparse: float = 0.08,
        lambda_graph: float = 0.0005,
        lambda_rank: float = 0.03,
        lambda_incoherence: float = 1e-5,
        lambda_projection: float = 0.1,
        lambda_energy: float = 1.0,
        solver: Literal["exact", "paper"] = "exact",
        lambda_error: float = 1.0,
        projection_step: float = 0.1,
        init_projection: Literal["lpp", "pca"] = "lpp",
        init_ridge: float = 0.001,
        init_dictionary: Literal["singular", "samples"] = "singular",
        learn_projection: bool = True,
        low_rank_graph: bool = True,
        penalty_edges: bool = True,
        n_neighbors_same: int | None = None,
        n_neighbors_other: int | None = None,
        kernel_width: float = 1.0,
        max_iter: int = 10,
        tol: float = 0.0,
        code_penalty: float = 0.01,
        code_ridge: float = 0.003,
        mean_weight: float = 0.0,
        residual: Literal["paper", "normalized"] = "normalized",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        callback: Callable[[int, dict[str, list[Any]]], bool | None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_atoms = n_atoms
        self.lambda_sparse = lambda_sparse
        self.lambda_graph = lambda_graph
        self.lambda_rank = lambda_rank
        self.lambda_incoherence = lambda_incoherence
        self.lambda_projection = lambda_projection
        self.lambda_energy = lambda_energy
        self.solver = solver
        self.lambda_error = lambda_error
        self.projection_step = projection_step
        self.init_projection = init_projection
        self.init_ridge = init_ridge
        self.init_dictionary = init_dictionary
        self.learn_projection = learn_projection
        self.low_rank_graph = low_rank_graph
        self.penalty_edges = penalty_edges
        self.n_neighbors_same = n_neighbors_same
        self.n_neighbors_other = n_neighbors_other
        self.kernel_width = kernel_width
        self.max_iter = max_iter
        self.tol = tol
        self.code_penalty = code_penalty
        self.code_ridge = code_ridge
        self.mean_weight = mean_weight
        self.residual = residual
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> JPLRDLClassifier:
        """Learn projection and dictionary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind, at least two.
        """
        with all_or_nothing(self), held_blas:
            self._solve(self._pose(X, y))
        return self

    def _pose(self, X: Any, y: Any) -> Problem:
        """The problem that these samples pose, whatever the weights."""
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold at least two classes, got {len(self.classes_)} class: {self.classes_[0]!r}")
        graph_parameters = {name: getattr(self, name) for name in _GRAPH_PARAMETERS}
        return pose_problem(unit_rows(X), labels, n_jobs=threads_of(self.n_jobs), **graph_parameters)

    def _solve(self, problem: Problem, start: Solver | None = None) -> Solver:
        """Fit to a problem, from where another solver of it has ended if there is one."""
        dimension, n_jobs = self._dimension(problem.span.n_features, problem.rank), threads_of(self.n_jobs)
        first = problem.first_projection(dimension, self.init_projection, self.init_ridge, n_jobs=n_jobs)
        solver = self._solver(
            problem.X, problem.labels, first, self.n_atoms,
            problem.graph, problem.projection_graph,
            Weights(**{name: getattr(self, f"lambda_{name}") for name in _WEIGHTS}), self.random_state,
            self.init_dictionary, n_jobs,
        )  # fmt: skip
        if start is not None:
            solver.go_on_from(start)
        self.n_iter_, self.change_ = self._iterate(solver)
        self.converged_ = self.change_ <= self.tol
        self.projection_ = problem.span.lift(solver.P, n_jobs=n_jobs)
        self.components_, self.codes_ = solver.D, solver.codes
        self.atom_labels_ = self.classes_[solver.atom_labels]
        self.class_means_ = solver.class_means()
        self.history_ = solver.history
        self._atom_classes = solver.atom_labels
        self._gram = solver.gram
        return solver

    def _solver(self, *state: Any) -> Solver:
        if self.solver == "exact":
            return ExactSolver(*state)
        return PaperSolver(*state, lambda_error=self.lambda_error, projection_step=self.projection_step)

    def _dimension(self, n_features: int, rank: int) -> int:
        wanted = self.n_components
        dimension = int(wanted) if isinstance(wanted, Integral) else max(1, round(wanted * n_features))
        if dimension > rank:
            warnings.warn(
                f"n_components = {wanted} asks for {dimension} dimensions, more than the rank of X; {rank} are used.",
                stacklevel=5,
            )
        return min(dimension, rank)

    def _iterate(self, solver: Solver) -> tuple[int, float]:
        """Rounds of the three blocks, until little changes, and the codes of what was found.

        Returns how many, and by how much the last has changed the objective.
        """
        done, change = self._rounds(solver)
        if self.tol > 0 and change > self.tol and done == self.max_iter:
            warnings.warn(
                f"JPLRDLClassifier stopped after max_iter = {done} rounds, the last of which changed the objective by "
                f"{change:.3g} of it, more than tol = {self.tol:.3g}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,
            )
        solver.update_codes()
        self._tell_of_codes(solver.coding)
        return done, change

    def _rounds(self, solver: Solver) -> tuple[int, float]:
        change = np.inf
        for iteration in range(1, self.max_iter + 1):
            began, before = time.perf_counter(), solver.history["objective"][-1]
            solver.update_codes()
            solver.update_dictionary()
            if self.learn_projection:
                solver.update_projection()
            value = solver.history["objective"][-1]
            change = abs(before - value) / (abs(value) or 1)
            if self.verbose:
                nonzeros, ranks = np.count_nonzero(solver.codes) / len(solver.codes), solver.ranks()
                print(
                    f"[JPLRDLClassifier] round {iteration}: objective {value:.6g}, ranks {min(ranks)} to {max(ranks)}, "
                    f"{nonzeros:.1f} non-zeros a code, {time.perf_counter() - began:.2f} s"
                )
            if self.callback is not None and self.callback(iteration, solver.history):
                return iteration, change
            if self.tol > 0 and iteration > 1 and change <= self.tol:
                return iteration, change
        return self.max_iter, change

    def _tell_of_codes(self, info: CodingInfo) -> None:
        if not info.converged:
            warnings.warn(
                f"{np.count_nonzero(info.status)} of {info.status.size} samples' codes did not reach their minimum in "
                f"the last pass (largest residual {info.residual.max():.3g}); raise lambda_sparse or lambda_graph.",
                ConvergenceWarning,
                stacklevel=6,
            )

    def project(self, X: Any) -> FloatArray:
        """Samples scaled to unit length and projected, shape (n_samples, n_components)."""
        return self._map(X, self._project)

    def transform(self, X: Any) -> FloatArray:
        """Codes of the projected samples over the dictionary (eq24), shape (n_samples, n_atoms_in_all)."""
        return self._map_codes(X, lambda projected, codes: codes)

    def _residuals(self, X: Any) -> FloatArray:
        return self._map_codes(X, self._coded_residuals)

    def _map(self, X: Any, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """function(checked samples), some at a time: an array on a disk is never in memory as a whole."""
        check_is_fitted(self)
        as_it_is = type(X) in (np.ndarray, np.memmap) and X.ndim == 2 and len(X) > 0
        if not as_it_is:
            X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        step = max(_LEAST_ROWS, min(_MOST_ROWS, _ELEMENTS // (X.shape[1] + len(self.components_))))
        step = -(-len(X) // -(-len(X) // step))  # even portions, for threads to share
        found: FloatArray | None = None
        for start in range(0, len(X), step):
            rows = X[start : start + step]
            if as_it_is:
                rows = validate_data(self, np.asarray(rows), dtype=[np.float64, np.float32], reset=False)
            part = function(rows)
            if found is None:
                found = np.empty((len(X), *part.shape[1:]), dtype=part.dtype)
            found[start : start + step] = part
        assert found is not None
        return found

    def _map_codes(self, X: Any, function: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
        """function(projected samples, codes), and one warning if some codes did not converge."""
        failed: list[CodingInfo] = []

        def code(rows: FloatArray) -> FloatArray:
            projected = self._project(rows)
            codes, info = self._encode(projected)
            failed.append(info.failed())
            return function(projected, codes)

        found = self._map(X, code)
        warn_unless_converged(CodingInfo.joined(failed), n_samples=len(found), stacklevel=3)
        return found

    def _project(self, X: FloatArray) -> FloatArray:
        P = self.projection_.astype(X.dtype, copy=False)
        projected: FloatArray = np.empty((len(X), P.shape[1]), dtype=X.dtype)

        def fill(rows: slice) -> None:
            projected[rows] = unit_rows(X[rows]) @ P

        run_chunks(fill, len(X), even_chunk(len(X), _PROJECTED_ROWS), self.n_jobs)
        return projected

    def _encode(self, projected: FloatArray) -> tuple[FloatArray, CodingInfo]:
        if self.code_penalty == 0 and self.code_ridge > 0:
            codes = ridge_encode(projected, self.components_, self.code_ridge, gram=self._gram, n_jobs=self.n_jobs)
            return codes, CodingInfo.direct(len(codes))
        return sparse_encode(
            projected, self.components_, self.code_penalty, gram=self._gram, shift=self.code_ridge, n_jobs=self.n_jobs,
            return_info=True,
        )  # fmt: skip

    def _coded_residuals(self, projected: FloatArray, codes: FloatArray) -> FloatArray:
        return class_residuals(
            projected, self.components_, codes, self._atom_classes, self.class_means_,
            mean_weight=self.mean_weight, normalized=self.residual == "normalized", n_jobs=self.n_jobs,
        )  # fmt: skip

    def decision_function(self, X: Any) -> FloatArray:
        """Minus the residual e_i of each class (eq25), shape (n_samples, n_classes); e_0 - e_1 for two classes."""
        residuals = self._residuals(X)
        return residuals[:, 0] - residuals[:, 1] if len(self.classes_) == 2 else -residuals

    def predict(self, X: Any) -> Any:
        """The class with the smallest residual.

        Samples are taken some thousand at a time: beyond X and the answer, memory does not grow with their number, and
        an array that is mapped from a disk is never copied as a whole.
        """
        nearest = self._map_codes(X, lambda *coded: self._coded_residuals(*coded).argmin(axis=1))
        return self.classes_[nearest]

    def predict_proba(self, X: Any) -> FloatArray:
        """exp(-10 e_i), scaled to sum to one.

        The order is that of the residuals e_i of :meth:`decision_function`, the scale a convention: for calibrated
        probabilities use scikit-learn's CalibratedClassifierCV.
        """
        residuals = self._residuals(X)
        likely = np.exp(10 * (residuals.min(axis=1, keepdims=True) - residuals))
        # Residuals so near that all come to 1 here: the smallest, which decides, stays ahead, after the division too.
        np.minimum(likely, 1 - 4 * np.finfo(likely.dtype).eps, out=likely)
        likely[np.arange(len(likely)), residuals.argmin(axis=1)] = 1
        return likely / likely.sum(axis=1, keepdims=True)

    def _complete(self) -> None:
        classes, atoms = self.classes_, self._atom_classes
        require(len(classes) >= 2 and np.array_equal(np.unique(classes), classes), "classes_ must be in order")
        require(np.array_equal(np.unique(atoms), np.arange(len(classes))), "_atom_classes must name every class")
        require((np.diff(atoms) >= 0).all(), "_atom_classes must be in order")
        require(self.projection_.size > 0, "projection_ must not be empty")
        self.n_features_in_ = len(self.projection_)
        self.atom_labels_ = classes[atoms]
        as_gram(self._gram, "_gram")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # An atom explains a sample and its negative alike: blobs around the origin, scikit-learn's measure, are hard.
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])
