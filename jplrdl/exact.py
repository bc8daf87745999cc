"""The solver "exact": block after block, each a true descent step on the objective of jplrdl.objective."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ._algebra import largest_eigenvalue, top_eigenvalue
from ._products import product
from ._validation import FloatArray
from .dictionary import descend_atoms
from .objective import class_slices
from .projection import descend_projection, turn_projection
from .solver import Solver

_GROUP = 128


class ExactSolver(Solver):
    """Codes, atoms and projection that never raise the objective. Parameters and attributes are those of Solver."""

    curvature: float | None = None

    @cached_property
    def quadratic(self) -> FloatArray:
        """M of the projection's problem, tr(P'MP) - 2 tr(P'B)."""
        X, w = self.X, self.weights
        return product(X.T, (2 - w.energy) * X + w.projection * (self.projection_graph @ X), n_jobs=self.n_jobs)

    @cached_property
    def ceiling(self) -> float:
        """The largest eigenvalue of M."""
        return top_eigenvalue(self.quadratic)

    def update_dictionary(self) -> None:
        """The atoms of each class in turn.

        What couples them to all others is C of jplrdl.dictionary, with the tangent of the incoherence: products of
        thin matrices, a class against all. They are taken for a group of classes at once, as far as they concern atoms
        outside it, which stay what they are meanwhile; each class then adds those of its group.
        """
        D, w = self.D.copy(), self.weights
        double, ceiling = D.dtype.type(2 * w.incoherence), D.dtype.type(0)
        if w.incoherence > 0:
            ceiling = D.dtype.type(largest_eigenvalue(D))
        codes = self.split.all
        products = codes.T @ codes
        products = products if isinstance(products, np.ndarray) else products.toarray()
        linear = (codes + self.split.own).T @ self.Y
        for group in _groups(class_slices(self.atom_labels)):
            together = slice(group[0].start, group[-1].stop)
            coupling = products[together].copy()
            if w.incoherence > 0:
                new, old = slice(together.start), slice(together.stop, None)
                coupling[:, new] += double * product(D[together], D[new].T, n_jobs=self.n_jobs)
                coupling[:, old] += double * self.gram[together, old]
            coupling[:, together] = 0
            outside = linear[together] - product(coupling, D, n_jobs=self.n_jobs)
            for own in group:
                atoms, here = D[own], slice(own.start - together.start, own.stop - together.start)
                inside = products[own, together] + double * (atoms @ D[together].T)
                inside[:, here] = 0
                C = outside[here] - inside @ D[together]
                D[own] = descend_atoms(atoms, 2 * products[own, own], C + double * ceiling * atoms, w.rank)
        self.D = D
        self.record("dictionary", "dictionary")

    def update_projection(self) -> None:
        """The projection, given what the codes explain of the projected samples."""
        linear = product(self.X.T, self.explained + self.explained_own, n_jobs=self.n_jobs)
        if self.P.shape[0] == self.P.shape[1]:
            self.P = turn_projection(self.P, linear, n_jobs=self.n_jobs)
        else:
            self.P, self.curvature = descend_projection(
                self.P, self.quadratic, linear, self.ceiling, self.curvature, n_jobs=self.n_jobs
            )
        self.Y = product(self.X, self.P, n_jobs=self.n_jobs)
        self.record("projection", "projection")


def _groups(classes: list[slice]) -> Iterator[list[slice]]:
    """Neighbouring classes that have together some hundred atoms."""
    group: list[slice] = []
    for own in classes:
        group.append(own)
        if own.stop - group[0].start >= _GROUP:
            yield group
            group = []
    if group:
        yield group
