"""A block Krylov space that grows as it is needed, in coordinates that make its symmetric matrix diagonal."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, qr

from ._validation import FloatArray
from .classification import unit_rows


class KrylovSpace:
    """The span of the rows of V, VS, VS^2, ... for S = F'F, one power at first.

    With B an orthonormal basis of the span, a vector a row, and BSB' = U diag(values) U', coordinates x mean the vector
    xU'B. S leads out of the span from its last power alone: xU'BS = x diag(values) U'B + x edge N, for an orthonormal
    basis N of what the next power adds. So the x with q x + t x diag(values) = c solves that equation in the whole
    space, where S stands for diag(values), but for a residual of length t |x edge|: when that is a rounding error of c,
    no more powers are needed.

    Parameters
    ----------
    vectors : ndarray of shape (n_vectors, n_features)
        V.
    factor : ndarray of shape (n, n_features)
        F.

    Attributes
    ----------
    values : ndarray of shape (n_dimensions,)
    edge : ndarray of shape (n_dimensions, n_new)
        Without a column once the span holds all powers.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.krylov import KrylovSpace
    >>> space = KrylovSpace(np.array([[1.0, 1.0, 0.0]]), np.diag([1.0, 2.0, 3.0]))
    >>> space.values, abs(space.edge).round(6)
    (array([2.5]), array([[1.5]]))
    >>> turn = space.grow()
    >>> space.values.round(6), space.edge.shape
    (array([1., 4.]), (2, 0))
    """

    def __init__(self, vectors: FloatArray, factor: FloatArray) -> None:
        self._factor = factor
        # A span knows no lengths: what is small beside other vectors is not yet a rounding error.
        self._basis = _orthonormal(unit_rows(vectors), 1.0, least=1)
        self._matrix = np.zeros((0, 0), dtype=factor.dtype)
        self._extend(self._basis)

    def coordinates(self, vectors: FloatArray) -> FloatArray:
        """x of rows that lie in the span."""
        return vectors @ self._basis.T @ self._vectors

    def vectors(self, coordinates: FloatArray) -> FloatArray:
        """The rows whose coordinates these are."""
        return coordinates @ self._vectors.T @ self._basis

    def grow(self) -> FloatArray:
        """Add the next power; returns what takes coordinates to the new ones, x to x turn."""
        before, U = len(self._basis), self._vectors
        self._basis = np.vstack([self._basis, self._next])
        self._extend(self._next)
        return U.T @ self._vectors[:before]

    def _extend(self, new: FloatArray) -> None:
        """S and its eigenvectors in the basis, whose last rows are new, and what S makes of these beyond it."""
        image = (new @ self._factor.T) @ self._factor
        inside = image @ self._basis.T
        beyond = image - inside @ self._basis
        scale = float(np.linalg.norm(image, axis=1).max(initial=0))
        found = _orthonormal(beyond, scale)[: self._basis.shape[1] - len(self._basis)]
        # The smaller a row was, the more of the basis is left in it.
        self._next = np.linalg.qr((found - (found @ self._basis.T) @ self._basis).T)[0].T
        self._matrix = np.block([[self._matrix, inside[:, : len(self._matrix)].T], [inside]])
        self.values, self._vectors = eigh(self._matrix)
        self.edge = self._vectors[-len(new) :].T @ (beyond @ self._next.T)


def _orthonormal(rows: FloatArray, scale: float, least: int = 0) -> FloatArray:
    """A basis of the rows' span, but for directions in which they are rounding errors of vectors of a length."""
    Q, R, _ = qr(rows.T, mode="economic", pivoting=True)
    kept = np.abs(np.diagonal(R)) > max(rows.shape) * np.finfo(rows.dtype).eps * scale
    return Q[:, : max(least, np.count_nonzero(kept))].T
