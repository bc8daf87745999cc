"""Algorithm 1 of the paper: low-rank atoms of one class, by inexact augmented Lagrange multipliers (eq15 to eq19).

    min  lambda_sparse |Z|_1 + lambda_rank |J|_* + lambda_error |E|_2,1
         + |Y - AD - R|^2 + lambda_incoherence sum_{j != i} |D D_j'|^2
    s.t. Y = AD + E,   D = J,   A = Z,   atoms of unit length

for the samples Y of class i, its atoms D, their codes A over these atoms, and R, what the atoms of all other classes
explain of the samples. Samples, codes and atoms are rows; |E|_2,1 sums the lengths of rows, one a sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._algebra import squares_of_rows
from ._validation import FloatArray, as_count, as_float_array, as_nonnegative, as_positive
from .classification import unit_rows
from .krylov import KrylovSpace
from .prox import prox_l1, prox_l21, prox_nuclear


@dataclass(frozen=True)
class LowRankAtoms:
    """Where Algorithm 1 ended.

    Attributes
    ----------
    atoms : ndarray of shape (n_atoms, n_components)
        D, rows of unit length.
    codes : ndarray of shape (n_samples, n_atoms)
        Z, which is A with its zeros exact.
    error : ndarray of shape (n_samples, n_components)
        E.
    violations : ndarray of shape (n_iter, 3)
        The length of the longest row of ``D - J``, ``Y - AD - E`` and ``A - Z`` after every iteration. The paper takes
        the largest elements, which are no larger, but change with the basis of the projected space.
    converged : bool
        Are the last three below the tolerance?
    """

    atoms: FloatArray
    codes: FloatArray
    error: FloatArray
    violations: FloatArray
    converged: bool

    @property
    def n_iter(self) -> int:
        """Iterations taken."""
        return len(self.violations)


def low_rank_atoms(
    Y: ArrayLike,
    atoms: ArrayLike,
    codes: ArrayLike,
    others: ArrayLike,
    explained: ArrayLike,
    *,
    lambda_sparse: float = 0.02,
    lambda_rank: float = 0.1,
    lambda_error: float = 1.0,
    lambda_incoherence: float = 0.0,
    mu: float = 0.1,
    rho: float = 1.1,
    mu_max: float = 1e30,
    tol: float | None = None,
    max_iter: int = 500,
) -> LowRankAtoms:
    """Learn the atoms of one class, and its codes over them, from its own samples.

    The scatter S = sum_{j != i} D_j'D_j of the other classes' atoms does not change here, and is all that leads out of
    the span of samples, atoms and R. No norm above notices a rotation: everything is held in coordinates of a Krylov
    space of S, where the Sylvester equation for D is a division. The space grows until that is exact but for rounding.
    Multipliers are held as U = T / mu.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        Projected samples of the class.
    atoms : array-like of shape (n_atoms, n_components)
        D to start from.
    codes : array-like of shape (n_samples, n_atoms)
        A to start from.
    others : array-like of shape (n_other_atoms, n_components)
        The atoms of all other classes.
    explained : array-like of the shape of Y
        R.
    lambda_sparse, lambda_rank, lambda_error, lambda_incoherence : float >= 0
        With lambda_error <= lambda_sparse the minimum is A = 0, E = Y: no atom of unit length is worth its code.
    mu, rho, mu_max : float > 0
        The weight of the constraints, its growth an iteration, and where it ends.
    tol : float, optional
        Largest violation of a constraint; 1e-8 in float64 and 1e-5 in float32 by default.
    max_iter : int

    Returns
    -------
    LowRankAtoms

    Examples
    --------
    Two samples in opposite directions need one line only, and both atoms come to lie on it:

    >>> import numpy as np
    >>> from jplrdl.low_rank_dictionary import low_rank_atoms
    >>> Y = np.array([[1.0, 0.0], [-1.0, 0.0]])
    >>> found = low_rank_atoms(Y, [[0.8, 0.6], [0.8, -0.6]], 0.5 * Y, np.zeros((1, 2)), 0 * Y, lambda_rank=0.5)
    >>> abs(found.atoms).round(4), found.converged
    (array([[1., 0.],
           [1., 0.]]), True)
    """
    y, D, A, rest, R = (
        as_float_array(array, name, ndim=2)
        for array, name in (
            (Y, "Y"), (atoms, "atoms"), (codes, "codes"), (others, "others"), (explained, "explained"),
        )
    )  # fmt: skip
    if A.shape != (len(y), len(D)):
        raise ValueError(f"codes must have shape {(len(y), len(D))}, as Y and atoms ask, got {A.shape}")
    if R.shape != y.shape:
        raise ValueError(f"explained must have the shape of Y, {y.shape}, got {R.shape}")
    sparse, rank = as_nonnegative(lambda_sparse, "lambda_sparse"), as_nonnegative(lambda_rank, "lambda_rank")
    error = as_nonnegative(lambda_error, "lambda_error")
    incoherence = as_nonnegative(lambda_incoherence, "lambda_incoherence")
    mu, rho, mu_max = as_positive(mu, "mu"), as_positive(rho, "rho"), as_positive(mu_max, "mu_max")
    tol = (1e-8 if y.dtype == np.float64 else 1e-5) if tol is None else as_nonnegative(tol, "tol")
    space = KrylovSpace(np.vstack([y, D, R]), rest)
    y, unshared, D = (space.coordinates(M) for M in (y, y - R, D))
    E, U1, U2, U3 = np.zeros_like(y), np.zeros_like(y), np.zeros_like(D), np.zeros_like(A)
    identity, rounding = np.eye(len(D), dtype=y.dtype), np.finfo(y.dtype).eps
    violations: list[tuple[float, float, float]] = []
    for _ in range(as_count(max_iter, "max_iter")):
        Z = prox_l1(A + U3, sparse / mu)
        fitted = y - E + U1
        A = np.linalg.solve(D @ D.T + identity, (fitted @ D.T + Z - U3).T).T
        J = _unit_rows(prox_nuclear(D + U2, rank / mu)[0])
        quadratic, spread = (2 / mu + 1) * (A.T @ A) + identity, 2 * incoherence / mu
        linear = A.T @ ((2 / mu) * unshared + fitted) + J - U2
        solution = diagonal_sylvester(quadratic, spread * space.values, linear)
        while spread * np.linalg.norm(solution @ space.edge) > rounding * np.linalg.norm(linear):
            turn = space.grow()
            y, unshared, D, U1, U2, J, linear = (M @ turn for M in (y, unshared, D, U1, U2, J, linear))
            solution = diagonal_sylvester(quadratic, spread * space.values, linear)
        D = _unit_rows(solution, D)
        left = y - A @ D
        E = prox_l21(left + U1, error / mu, axis=1)
        left, apart, unequal = left - E, D - J, A - Z
        growth = min(rho * mu, mu_max) / mu
        U1, U2, U3, mu = (U1 + left) / growth, (U2 + apart) / growth, (U3 + unequal) / growth, growth * mu
        violations.append((_longest(apart), _longest(left), _longest(unequal)))
        if max(violations[-1]) < tol:
            break
    return LowRankAtoms(space.vectors(D), Z, space.vectors(E), np.array(violations), max(violations[-1]) < tol)


def diagonal_sylvester(Q: FloatArray, values: FloatArray, C: FloatArray) -> FloatArray:
    """The D with QD + D diag(values) = C, for a symmetric Q: a division in the eigenvectors of Q."""
    q, U = np.linalg.eigh(Q)
    return U @ ((U.T @ C) / (q[:, None] + values))


def _unit_rows(rows: FloatArray, instead: FloatArray | float = 0.0) -> FloatArray:
    """Rows of unit length; zeros are replaced."""
    squares = squares_of_rows(rows)
    numbers = np.finfo(rows.dtype)
    if numbers.tiny / numbers.eps < squares.min() and squares.max() < np.inf:
        return rows / np.sqrt(squares)[:, None]
    return np.where(rows.any(axis=1, keepdims=True), unit_rows(rows), instead).astype(rows.dtype, copy=False)


def _longest(rows: FloatArray) -> float:
    return float(np.sqrt(squares_of_rows(rows).max()))
