"""The solver "exact": block after block, each a true descent step on the objective of jplrdl.objective."""

from __future__ import annotations

from functools import cached_property

from ._spectrum import largest_eigenvalue, top_eigenvalue
from ._validation import FloatArray
from .dictionary import update_atoms
from .projection import update_projection
from .solver import Solver


class ExactSolver(Solver):
    """Codes, atoms and projection that never raise the objective. Parameters and attributes are those of Solver."""

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
        D, A, w = self.D.copy(), self.codes, self.weights
        ceiling = largest_eigenvalue(D)
        rest = self.Y - A @ D
        for label in range(self.atom_labels[-1] + 1):
            own, mine = self.atom_labels == label, self.labels == label
            part = A[:, own]
            gram = part.T @ part
            linear = part.T @ rest + gram @ D[own] + part[mine].T @ self.Y[mine]
            atoms = update_atoms(
                D[own], 2 * gram, linear, D[~own],
                lambda_incoherence=w.incoherence, lambda_rank=w.rank, ceiling=ceiling,
            )  # fmt: skip
            rest += part @ (D[own] - atoms)
            D[own] = atoms
        self.D = D
        self.record("dictionary")

    def update_projection(self) -> None:
        """The projection, given what the codes explain of the projected samples."""
        self.P = update_projection(self.P, self.quadratic, self.X.T @ self.explained(), ceiling=self.ceiling)
        self.Y = self.X @ self.P
        self.record("projection")
