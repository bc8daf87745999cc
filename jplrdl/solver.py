"""What both solvers share: the state of a fit, its codes, and the record of the objective."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any, Literal

import numpy as np

from . import objective
from ._algebra import is_lower_triangular
from ._parallel import chunks_of, run_tasks
from ._products import adding_product, even_chunk, gram_matrix, product
from ._validation import FloatArray
from .coding import sweep_codes
from .dictionary import initial_dictionary
from .objective import Labels
from .turns import turns_of
from .weights import Weights

# Samples that are multiplied or summed at once: what explains them stays in the second-level cache.
_ROWS = 96
# Multiplications of codes with atoms, half a millisecond, below which threads take from a fit what they spare it.
_LEAST = 15_000_000


class Solver:
    """The state of a fit, and the block of the codes; a solver adds the blocks of the dictionary and the projection.

    Parameters
    ----------
    X : ndarray of shape (n_samples, rank)
        Samples in an orthonormal basis of their span.
    labels : ndarray of shape (n_samples,)
        Classes as 0, 1, ...
    projection : ndarray of shape (rank, n_components)
        The first P.
    n_atoms : int or None
        Atoms of each class.
    graph, projection_graph : sparse matrices
        L^c, positive semi-definite, and L^p.
    weights : Weights
    random_state : int, RandomState or None
        As in initial_dictionary.
    init_dictionary : "singular" or "samples"
        Its method.
    n_jobs : int or None
        Threads for large products and for the codes.

    Attributes
    ----------
    P, Y, D, codes, atom_labels : ndarray
        Projection, projected samples, dictionary, codes, and the class of each atom.
    gram : ndarray
        DD'.
    split : SplitCodes
        The codes again, to be multiplied with.
    explained, explained_own : ndarray
        A_i D and A_i^i D_i: what all atoms and what those of its own class make of each sample.
    drawn : ndarray
        L^p Y.
    coding : CodingInfo
        How the last pass over the codes ended.
    history : dict of lists
        "block", "objective" and every term, after the initialisation and after every block.
    """

    def __init__(
        self,
        X: FloatArray,
        labels: Labels,
        projection: FloatArray,
        n_atoms: int | None,
        graph: Any,
        projection_graph: Any,
        weights: Weights,
        random_state: Any = None,
        init_dictionary: Literal["singular", "samples"] = "singular",
        n_jobs: int | None = None,
    ) -> None:
        self.X, self.labels, self.weights, self.n_jobs = X, labels, weights, n_jobs
        self.graph, self.projection_graph, self._turns = graph, projection_graph, turns_of(graph)
        self._triangular = is_lower_triangular(X)
        self._project(projection)
        self.D, self.atom_labels = initial_dictionary(
            self.Y, labels, n_atoms, method=init_dictionary, random_state=random_state, n_jobs=n_jobs
        )
        self.codes: FloatArray = np.zeros((len(X), len(self.D)), dtype=X.dtype)
        if self.codes.size * self.Y.shape[1] < _LEAST:
            self.n_jobs = 1
        self._energies = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        self.history: dict[str, list[Any]] = {}
        self._terms: dict[str, float] = {}
        self.evaluate("codes", "dictionary", "projection")
        self.record("start")

    def _project(self, P: FloatArray) -> None:
        """A new P, and Y = XP."""
        self.P, self.Y = P, product(self.X, P, n_jobs=self.n_jobs, triangle="lower" if self._triangular else None)

    def _gathered(self, T: FloatArray) -> FloatArray:
        """X'T"""
        return product(self.X.T, T, n_jobs=self.n_jobs, triangle="upper" if self._triangular else None)

    def record(self, block: str) -> None:
        """The terms that were evaluated last, into the history."""
        for name, value in {"block": block, "objective": self.objective, **self._terms}.items():
            self.history.setdefault(name, []).append(value)

    @property
    def objective(self) -> float:
        """The sum of the terms that were evaluated last."""
        return sum(self._terms.values())

    def evaluate(self, *changed: str) -> None:
        """The terms that depend on what is new, codes, dictionary or projection, in threads.

        Those that are sums over the samples last, some samples at a time: they fill what is left of the threads' time.
        """
        if "codes" in changed:
            self.split = objective.split_codes(self.codes, self.labels, self.atom_labels)
        if "dictionary" in changed:
            self.gram = gram_matrix(self.D, n_jobs=self.n_jobs)
        tasks, sum_rows = self._term_tasks(changed), self._row_terms(changed)
        found = run_tasks([*tasks, *self._by_rows(sum_rows)], self.n_jobs)
        for terms in found[: len(tasks)]:
            self._terms |= terms
        for name in found[-1]:
            self._terms[name] = sum(terms[name] for terms in found[len(tasks) :])

    def _by_rows(self, function: Callable[[slice], Any]) -> Iterator[Callable[[], Any]]:
        """A function of samples as tasks, each for some of them."""
        return (partial(function, rows) for rows in chunks_of(len(self.Y), even_chunk(len(self.Y), _ROWS)))

    def _term_tasks(self, changed: Collection[str]) -> list[Callable[[], dict[str, float]]]:
        """What `evaluate` computes in threads, the longest first: some terms by name each."""
        w, tasks = self.weights, []
        if "dictionary" in changed:
            tasks.append(lambda: objective.atom_terms(self.D, self.gram, self.atom_labels, w))
        if "codes" in changed or "dictionary" in changed:
            tasks.append(
                lambda: {"other_classes": objective.elsewhere(self.split.other, self.gram, self.atom_labels)}
            )
        if "codes" in changed:
            tasks.append(lambda: objective.code_terms(self.split.all, self.graph, w))
        return tasks

    def _row_terms(self, changed: Collection[str]) -> Callable[[slice], dict[str, float]]:
        """A function of some samples: what they add to terms by name, from what is explained and drawn of them.

        These are in the cache when their squares are summed.
        """
        coded, projected = "codes" in changed or "dictionary" in changed, "projection" in changed
        if coded:
            self.explained_own, self.explained = np.empty_like(self.Y), np.empty_like(self.Y)
            add_own, add_other = (adding_product(S, self.D) for S in (self.split.own, self.split.other))
        if projected:
            self.drawn = np.empty_like(self.Y)
            add_drawn = adding_product(self.projection_graph, self.Y)

        def sum_rows(rows: slice) -> dict[str, float]:
            Y, terms = self.Y[rows], {}
            if coded:
                self.explained_own[rows] = 0
                add_own(rows, self.explained_own)
                self.explained[rows] = self.explained_own[rows]
                add_other(rows, self.explained)
            if projected:
                self.drawn[rows] = 0
                add_drawn(rows, self.drawn)
                energy = float(self._energies[rows].sum())
                terms = objective.projection_terms(Y, self.drawn[rows], energy, self.weights)
            return terms | {
                "reconstruction": objective.unexplained(Y, self.explained[rows]),
                "own_class": objective.unexplained(Y, self.explained_own[rows]),
            }

        return sum_rows

    def go_on_from(self, other: Solver) -> None:
        """Start from where another solver of the same problem, with other weights, has ended."""
        self.P, self.Y, self.D, self.codes = other.P, other.Y, other.D, other.codes.copy()
        self.evaluate("codes", "dictionary", "projection")
        self.record("start")

    def class_means(self) -> FloatArray:
        """The mean code of each class, shape (n_classes, n_atoms)."""
        return np.stack([self.codes[self.labels == label].mean(axis=0) for label in range(self.atom_labels[-1] + 1)])

    def ranks(self) -> list[int]:
        """Of each class's atoms: singular values above a hundredth of the largest."""
        values = [
            np.linalg.svd(self.D[self.atom_labels == label], compute_uv=False)
            for label in range(self.atom_labels[-1] + 1)
        ]
        return [int(np.sum(found > 0.01 * found[0])) for found in values]

    def update_codes(self) -> None:
        """Each code in turn to its exact minimum."""
        cov = np.empty_like(self.codes)

        def multiply(rows: slice) -> None:
            np.matmul(self.Y[rows], self.D.T, out=cov[rows])
            objective.coding_cov(cov[rows], self.labels[rows], self.atom_labels)

        gram, *_ = run_tasks(
            [partial(objective.coding_gram, self.gram, self.atom_labels), *self._by_rows(multiply)], self.n_jobs
        )
        self.codes, self.coding = sweep_codes(
            gram, cov, self.graph, self.weights.sparse, self.weights.graph, self.codes,
            turns=self._turns, n_jobs=self.n_jobs,
        )
        self.evaluate("codes")
        self.record("codes")

    def update_dictionary(self) -> None:
        """The atoms of each class in turn."""
        raise NotImplementedError

    def update_projection(self) -> None:
        """The projection, given what the codes explain of the projected samples."""
        raise NotImplementedError
