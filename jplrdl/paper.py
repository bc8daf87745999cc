"""The solver "paper": Algorithm 1 for the dictionary, eq21 to eq23 for the projection, repaired only where they fail.

Kept as printed: each class's atoms see its own terms only (eq15, eq16), the two data terms of the projection become
the square of a sum (eq21), and eigenvectors are taken as if phi(P) did not depend on P (eq22). So the objective may
rise. Repaired: docs/method.md says what and why.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from ._validation import FloatArray, as_float_array, as_nonnegative
from .low_rank_dictionary import low_rank_atoms
from .projection import nearest_orthonormal
from .solver import Solver


class PaperSolver(Solver):
    """The state of a fit and the paper's three blocks. Parameters and attributes are those of Solver, and

    Parameters
    ----------
    lambda_error : float >= 0
        beta of eq17, the weight of the samples' errors in Algorithm 1.
    projection_step : float
        gamma of eq23, in (0, 1].

    Attributes
    ----------
    history : dict of lists
        Beside the objective and its terms: "algorithm1", for every dictionary block a list of the `violations` of
        LowRankAtoms, one array of shape (n_iter, 3) a class; and "projection_change", for every projection block the
        root mean square distance between the columns of P before and after it.
    """

    def __init__(self, *state: Any, lambda_error: float = 1.0, projection_step: float = 0.1) -> None:
        super().__init__(*state)
        self.lambda_error, self.projection_step = lambda_error, projection_step
        X, w = self.X, self.weights
        self.penalty = w.projection * (X.T @ (self.projection_graph @ X)) - w.energy * (X.T @ X)
        self.history |= {"algorithm1": [], "projection_change": []}

    def update_dictionary(self) -> None:
        """The atoms of each class in turn, and with them the codes A_i^i of its own samples."""
        D, A, w = self.D.copy(), self.codes.copy(), self.weights
        violations, failed = [], 0
        for label in range(self.atom_labels[-1] + 1):
            own, mine = self.atom_labels == label, self.labels == label
            block, atoms = np.ix_(mine, own), D[own]
            D[own] = 0  # what is left are the others, without a copy of them
            found = low_rank_atoms(
                self.Y[mine], atoms, A[block], D, A[mine] @ D, lambda_sparse=w.sparse, lambda_rank=w.rank,
                lambda_error=self.lambda_error, lambda_incoherence=w.incoherence,
            )  # fmt: skip
            D[own], A[block] = found.atoms, found.codes
            violations.append(found.violations)
            failed += not found.converged
        self.D, self.codes = D, A
        self.history["algorithm1"].append(violations)
        if failed:
            warnings.warn(
                f"Algorithm 1 of {failed} of {len(violations)} classes stopped before its conditions held to its "
                f"tolerance (largest violation {max(found[-1].max() for found in violations):.3g}, all are in "
                'history_["algorithm1"]); solver="exact" needs no such conditions.',
                ConvergenceWarning,
                stacklevel=7,
            )
        self.evaluate("codes", "dictionary")
        self.record("dictionary")

    def update_projection(self) -> None:
        """A step towards the smallest eigenvectors of phi(P) + lambda_projection X'L^pX."""
        before, rest = self.P, self.X - (self.explained + self.explained_own) @ self.P.T
        self.P = eigenvector_step(before, rest.T @ rest + self.penalty, self.projection_step)
        self.Y = self.X @ self.P
        self.history["projection_change"].append(float(np.linalg.norm(self.P - before)) / before.shape[1] ** 0.5)
        self.evaluate("projection")
        self.record("projection")


def eigenvector_step(P: ArrayLike, quadratic: ArrayLike, step: float) -> FloatArray:
    """P + step (U - P) with orthonormal columns again (eq23), U the smallest eigenvectors of a symmetric matrix.

    Eigenvectors may be rotated among themselves without any effect on tr(U'MU): U is first turned as near to P as it
    can be (Procrustes), or else the difference would mean nothing. The sum is replaced by the nearest matrix with
    orthonormal columns, its polar factor. A square U can be turned to P itself, which then stays where it is.

    Parameters
    ----------
    P : array-like of shape (n_features, n_components)
        Orthonormal columns.
    quadratic : array-like of shape (n_features, n_features)
        M = phi(P) + lambda_projection X'L^pX of eq22.
    step : float
        gamma, in [0, 1].

    Returns
    -------
    ndarray of the shape of P

    Examples
    --------
    A whole step takes the eigenvector, with the sign that is nearer to P:

    >>> import numpy as np
    >>> from jplrdl.paper import eigenvector_step
    >>> eigenvector_step([[-0.6], [0.8]], np.diag([1.0, 3.0]), 1.0)
    array([[-1.],
           [ 0.]])
    """
    p, m = as_float_array(P, "P", ndim=2), as_float_array(quadratic, "quadratic", ndim=2)
    if m.shape != (len(p), len(p)):
        raise ValueError(f"quadratic must have shape {(len(p), len(p))}, as P asks, got {m.shape}")
    gamma = as_nonnegative(step, "step")
    if p.shape[0] == p.shape[1]:
        return p.copy()  # U is a rotation, and P the nearest one to itself
    # Of all eigenvectors LAPACK knows a way that takes less than half the time of its way to some.
    U = eigh(m)[1][:, : p.shape[1]]
    aligned = U @ nearest_orthonormal(U.T @ p, np.eye(p.shape[1], dtype=p.dtype))
    return nearest_orthonormal(p + p.dtype.type(gamma) * (aligned - p), p)
