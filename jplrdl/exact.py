"""The solver "exact": block after block, each a true descent step on the objective of jplrdl.objective."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ._algebra import largest_eigenvalue, top_eigenvalue
from ._validation import FloatArray
from .dictionary import descend_atoms
from .objective import class_slices
from .projection import update_projection
from .solver import Solver


class ExactSolver(Solver):
    """Codes, atoms and projection that never raise the objective. Parameters and attributes are those of Solver."""

    curvature: float | None = None

    @cached_property
    def quadratic(self) -> FloatArray:
        """M of the projection's problem, tr(P'MP) - 2 tr(P'B)."""
        X, w = self.X, self.weights
        return (2 - w.energy) * (X.T @ X) + w.projection * (X.T @ (self.projection_graph @ X))

    @cached_property
    def ceiling(self) -> float:
        """The largest eigenvalue of M."""
        return top_eigenvalue(self.quadratic)

    def update_dictionary(self) -> None:
        """The atoms of each class in turn."""
        D, w = self.D.copy(), self.weights
        ceiling = largest_eigenvalue(D) if w.incoherence > 0 else 0.0
        codes = self.split.all
        products = codes.T @ codes
        products = products if isinstance(products, np.ndarray) else products.toarray()
        linear = (codes + self.split.own).T @ self.Y
        for own in class_slices(self.atom_labels):
            # With the class's own atoms at zero D stands for those of all others.
            atoms = D[own].copy()
            D[own] = 0
            D[own] = descend_atoms(
                atoms, 2 * products[own, own], linear[own] - products[own] @ D, D, w.incoherence, w.rank, ceiling
            )
        self.D = D
        self.record("dictionary", "dictionary")

    def update_projection(self) -> None:
        """The projection, given what the codes explain of the projected samples."""
        linear = self.X.T @ (self.explained + self.explained_own)
        self.P, self.curvature = update_projection(
            self.P, self.quadratic, linear, ceiling=self.ceiling, curvature=self.curvature
        )
        self.Y = self.X @ self.P
        self.record("projection", "projection")
