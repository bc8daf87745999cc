"""The solver "exact": block after block, each a true descent step on the objective of jplrdl.objective."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import objective
from ._spectrum import largest_eigenvalue, top_eigenvalue
from ._validation import FloatArray
from .coding import coupled_codes
from .dictionary import initial_dictionary, update_atoms
from .objective import Labels, Weights
from .projection import update_projection


class ExactSolver:
    """The state of a fit and its three blocks.

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

    Attributes
    ----------
    P, Y, D, codes, atom_labels : ndarray
        Projection, projected samples, dictionary, codes, and the class of each atom.
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
    ) -> None:
        self.X, self.labels, self.weights = X, labels, weights
        self.graph, self.projection_graph = graph, projection_graph
        self.P, self.Y = projection, X @ projection
        self.D, self.atom_labels = initial_dictionary(self.Y, labels, n_atoms)
        self.codes: FloatArray = np.zeros((len(X), len(self.D)), dtype=X.dtype)
        self.energy = float(np.sum(X.astype(np.float64) ** 2))
        self.quadratic = (2 - weights.energy) * (X.T @ X) + weights.projection * (X.T @ (projection_graph @ X))
        self.ceiling = top_eigenvalue(self.quadratic)
        self.history: dict[str, list[Any]] = {}
        self.record("start")

    def record(self, block: str) -> None:
        """Every term of the objective, as it stands."""
        found = objective.terms(
            self.Y, self.D, self.codes, self.labels, self.atom_labels, self.graph, self.projection_graph, self.energy,
            self.weights,
        )  # fmt: skip
        for name, value in {"block": block, **found}.items():
            self.history.setdefault(name, []).append(value)

    def update_codes(self) -> None:
        """Each code in turn to its exact minimum."""
        gram = objective.coding_gram(self.D @ self.D.T, self.atom_labels)
        cov = objective.coding_cov(self.Y, self.D, self.labels, self.atom_labels)
        self.codes, _ = coupled_codes(
            gram, cov, self.graph, self.weights.sparse, self.weights.graph, init=self.codes
        )
        self.record("codes")

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
        explained = (self.codes + objective.own_codes(self.codes, self.labels, self.atom_labels)) @ self.D
        self.P = update_projection(self.P, self.quadratic, self.X.T @ explained, ceiling=self.ceiling)
        self.Y = self.X @ self.P
        self.record("projection")
