"""The solver "exact": block after block, each a true descent step on the objective of jplrdl.objective."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property, partial

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ._algebra import estimated_eigenvalue
from ._parallel import run_tasks
from ._products import LEAST, by_rows, sparse_gram, sparse_product
from ._validation import FloatArray
from .dictionary import turn_group
from .objective import class_slices
from .projection import nearest_orthonormal, next_curvature, turn_projection
from .solver import Solver

# Atoms of a group of classes, and of what is multiplied with it at a time.
_GROUP, _PART = 80, 128
# Of the objective, by which rounding errors may raise it.
_SLACK = {np.float64: 1e-10, np.float32: 1e-6}


class ExactSolver(Solver):
    """Codes, atoms and projection that never raise the objective. Parameters and attributes are those of Solver."""

    curvature: float | None = None
    incoherence_ceiling: float

    @cached_property
    def ceiling(self) -> float:
        """The largest eigenvalue of M in the projection's problem, tr(P'MP) - 2 tr(P'B), without M."""

        def multiply(v: FloatArray) -> FloatArray:
            y = self.X @ v
            return self.X.T @ self._quadratic(y, self.projection_graph @ y)

        n = self.X.shape[1]
        return max(0.0, estimated_eigenvalue(LinearOperator((n, n), multiply, dtype=self.X.dtype)))

    def _quadratic(self, Y: FloatArray, drawn: FloatArray) -> FloatArray:
        """What X' times makes MP, for Y = XP; `drawn` is L^p Y."""
        quadratic: FloatArray = (2 - self.weights.energy) * Y + self.weights.projection * drawn
        return quadratic

    def _term_tasks(self, changed: Collection[str]) -> list[Callable[[], dict[str, float]]]:
        tasks = super()._term_tasks(changed)
        return [self._bound_incoherence, *tasks] if "dictionary" in changed else tasks

    def _bound_incoherence(self) -> dict[str, float]:
        """For the next dictionary, beside the terms of this one. No term."""
        incoherent = self.weights.incoherence > 0
        self.incoherence_ceiling = estimated_eigenvalue(self.gram) if incoherent else float(len(self.D))
        return {}

    def update_dictionary(self) -> None:
        """The atoms of each class in turn.

        The tangent of the incoherence needs a bound of an eigenvalue that grows as classes before are turned; an
        estimate of it is taken. If the objective has risen, all is done again with a larger one, in the end with one
        that holds for any unit atoms: their number.
        """
        before, D, gram, most = self.objective, self.D, self.gram, float(len(self.D))
        codes, ceiling = self.split.all, self.incoherence_ceiling
        products = sparse_gram(codes, n_jobs=self.n_jobs)
        linear = sparse_product((codes + self.split.own).T, self.Y, n_jobs=self.n_jobs)
        slack = _SLACK[D.dtype.type] * abs(before)
        while True:
            self.D = self._turned(D, gram, products, linear, ceiling)
            self.evaluate("dictionary")
            if self.objective <= before + slack or ceiling >= most:
                break
            ceiling = min(4 * ceiling, most)
        self.record("dictionary")

    def _turned(
        self, D: FloatArray, gram: FloatArray, products: FloatArray, linear: FloatArray, ceiling: float
    ) -> FloatArray:
        """New atoms, given A'A and the linear term of all classes.

        What couples those of a class to all others is C of jplrdl.dictionary, with the tangent of the incoherence:
        products of thin matrices, a class against all. They are taken for a group of classes at once, as far as they
        concern atoms outside it, which stay what they are meanwhile; each class then adds those of its group. Groups
        follow one another, but while a thread turns one, others take the products of the next with all but these two.
        """
        D, w = D.copy(), self.weights
        double = D.dtype.type(2 * w.incoherence)

        def pull(span: slice, others: slice) -> FloatArray:
            """What `others` take from the rows `span` of the linear term."""
            coupling = products[span, others]
            if double > 0:
                inner = gram[span, others] if others.start >= span.stop else D[span] @ D[others].T
                coupling = coupling + double * inner
            return coupling @ D[others]

        def turn(group: list[slice], span: slice, pulls: list[FloatArray], following: slice) -> FloatArray:
            outside = linear[span] - sum(pulls)
            here = [slice(own.start - span.start, own.stop - span.start) for own in group]
            among = np.ascontiguousarray(products[span, span])
            turn_group(D[span], here, among, outside, w.incoherence, ceiling, w.rank)
            return pull(following, span)

        n_jobs = self.n_jobs if _GROUP * D.size >= LEAST else 1
        before = slice(0, 0)
        turning: list[Callable[[slice], FloatArray]] = []
        for group in _groups(class_slices(self.atom_labels)):
            span = slice(group[0].start, group[-1].stop)
            parts = [*_parts(0, before.start), *_parts(span.stop, len(D))]
            tasks = [*(partial(last, span) for last in turning), *(partial(pull, span, part) for part in parts)]
            before, turning = span, [partial(turn, group, span, run_tasks(tasks, n_jobs))]
        turning[0](slice(0, 0))
        return D

    def update_projection(self) -> None:
        """The projection, given what the codes explain of the projected samples.

        The step of jplrdl.projection.update_projection, with X where M would need a product more: B - MP is X' times
        what Y = XP tells, and the new Y tells the objective.
        """
        square = self.P.shape[0] == self.P.shape[1]
        a = 0.0 if square else self.ceiling if self.curvature is None else self.curvature
        pull = self._gathered(by_rows(lambda rows: self._pull(rows, square), self.Y, n_jobs=self.n_jobs))
        if square:
            self._project(turn_projection(self.P, pull, n_jobs=self.n_jobs))
            self.evaluate("projection")
        else:
            P, Y, before, factor = self.P, self.Y, self.objective, self.P.dtype.type(a)
            target = by_rows(lambda rows: factor * P[rows] + pull[rows], P, n_jobs=self.n_jobs)
            self._project(nearest_orthonormal(target, P, n_jobs=self.n_jobs))
            self.evaluate("projection")
            taken = self.objective <= before
            self.curvature = next_curvature(a, self.ceiling, taken)
            if not taken:
                self.P, self.Y = P, Y
                self.evaluate("projection")
        self.record("projection")

    def _pull(self, rows: slice, square: bool) -> FloatArray:
        """What X' times makes B - MP, or B for a square P, to which MP is the same whatever P is."""
        explained: FloatArray = self.explained[rows] + self.explained_own[rows]
        return explained if square else explained - self._quadratic(self.Y[rows], self.drawn[rows])


def _groups(classes: list[slice]) -> Iterator[list[slice]]:
    """Neighbouring classes that have together some dozen atoms."""
    group: list[slice] = []
    for own in classes:
        group.append(own)
        if own.stop - group[0].start >= _GROUP:
            yield group
            group = []
    if group:
        yield group


def _parts(start: int, stop: int) -> Iterator[slice]:
    """Atoms, some at a time."""
    return (slice(first, min(first + _PART, stop)) for first in range(start, stop, _PART))
