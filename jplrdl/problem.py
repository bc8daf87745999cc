"""What a fit starts from and never changes: samples in their span, their classes, and both graphs (eq3 to eq10)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ._parallel import run_chunks, run_tasks
from ._validation import FloatArray
from .graphs import laplacian, shifted_laplacian, signed_knn_graph
from .projection import first_directions
from .robust_pca import RobustPCAResult, decompose
from .span import Span, find_span

# Of the low-rank parts, in which neighbours are searched. Inexact ALM ends further than this from the optimum, however
# feasible it becomes, and a third of the iterations would go into the digits after it.
_FEASIBILITY = 1e-5


@dataclass(frozen=True)
class Problem:
    """Samples in an orthonormal basis of their span, and their graphs: the same for all weights of the objective.

    Attributes
    ----------
    span : Span
        Of the samples.
    labels : ndarray of shape (n_samples,)
        Classes as 0, 1, ...
    weights : sparse matrix of shape (n_samples, n_samples)
        W^p, of the projection's graph (eq7).
    graph, projection_graph : sparse matrices of shape (n_samples, n_samples)
        The Laplacians L^c, shifted to be positive semi-definite (eq6), and L^p (eq10).
    """

    span: Span
    labels: NDArray[Any]
    weights: Any
    graph: Any
    projection_graph: Any

    @property
    def X(self) -> FloatArray:
        """The samples in a basis of their span, shape (n_samples, rank)."""
        return self.span.coordinates

    @property
    def rank(self) -> int:
        """Of the samples."""
        return self.span.rank

    def first_projection(
        self, n_components: int, method: Literal["lpp", "pca"], ridge: float, *, n_jobs: int | None = None
    ) -> FloatArray:
        """P to start from, shape (rank, n_components)."""
        return first_directions(
            self.X, n_components, graph=self.weights, method=method, ridge=ridge, n_jobs=n_jobs
        )


def pose_problem(
    X: FloatArray,
    labels: NDArray[Any],
    *,
    low_rank_graph: bool = True,
    penalty_edges: bool = True,
    n_neighbors_same: int | None = None,
    n_neighbors_other: int | None = None,
    kernel_width: float = 1.0,
    n_jobs: int | None = None,
) -> Problem:
    """The problem of samples of unit length. The parameters are those of JPLRDLClassifier.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.problem import pose_problem
    >>> problem = pose_problem(np.eye(4), np.array([0, 0, 1, 1]))
    >>> problem.rank, problem.graph.shape
    (4, (4, 4))
    """
    found = low_rank_parts(X, labels, n_jobs=n_jobs) if low_rank_graph else X
    sizes = np.bincount(labels)[labels]
    same = np.minimum(sizes - 1, 15) if n_neighbors_same is None else n_neighbors_same
    other = sizes - 1 if n_neighbors_other is None else n_neighbors_other
    # One search for both graphs: exp(-d^2 / 2) has the signs of eq4, and its power 1 / t^2 is the weight of eq7.
    heat = signed_knn_graph(found, labels, same, other if penalty_edges else 0, weights="heat", n_jobs=n_jobs)
    signs, sizes_of_weights = np.sign(heat.data), np.abs(heat.data)
    coefficient, weights = heat.copy(), heat.copy()
    coefficient.data = signs
    weights.data = signs * sizes_of_weights ** X.dtype.type(kernel_width**-2)
    span, graph, projection_graph = run_tasks(
        [
            lambda: find_span(X, n_jobs=n_jobs),
            lambda: shifted_laplacian(coefficient),
            lambda: laplacian(weights, normalized=True, signed=True),
        ],
        n_jobs,
    )
    return Problem(span, labels, weights, graph, projection_graph)


def low_rank_parts(X: FloatArray, labels: NDArray[Any], *, n_jobs: int | None = None) -> FloatArray:
    """The low-rank part of each class's samples (eq3), class by class, in threads; a single sample stays as it is."""
    found = X.copy()
    classes = np.flatnonzero(np.bincount(labels) > 1)
    results: dict[int, RobustPCAResult] = {}

    def separate(chunk: slice) -> None:
        for label in classes[chunk]:
            results[label] = decompose(X[labels == label], tol=_FEASIBILITY)
            found[labels == label] = results[label].low_rank

    run_chunks(separate, len(classes), 1, n_jobs)
    failed = [result.feasibility for result in results.values() if not result.converged]
    if failed:
        warnings.warn(
            f"Robust PCA of {len(failed)} of {len(classes)} classes stopped at a feasibility of up to "
            f"{max(failed):.3g}, above its tolerance; neighbours are searched in what it found. "
            "low_rank_graph=False searches them in the samples.",
            ConvergenceWarning,
            stacklevel=6,
        )
    return found
