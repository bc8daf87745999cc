"""The dictionary: first atoms (Algorithm 2), the descending update of one class's atoms, and Algorithm 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_sylvester

from .._validation import FloatArray
from .prox import prox_l1, prox_l21, prox_nuclear


def initial_dictionary(
    Y: ArrayLike, labels: NDArray[Any], n_atoms: int | None = None, *, method: str = "singular"
) -> tuple[FloatArray, FloatArray]:
    """The right singular vectors of each class's samples, if wanted, then the samples; and the class of each atom"""
    y, atoms, atom_labels = np.asarray(Y), [], []
    for label in np.unique(labels):
        own = y[labels == label]
        count = len(own) if n_atoms is None else n_atoms
        _, singular, vectors = np.linalg.svd(own, full_matrices=False)
        vectors = vectors[singular > singular[0] * np.sqrt(np.finfo(own.dtype).eps)]
        vectors = vectors[: 0 if method == "samples" else None]
        nonzero = own[np.linalg.norm(own, axis=1) > 0]
        samples = nonzero / np.linalg.norm(nonzero, axis=1, keepdims=True)
        repeated = np.resize(samples, (max(0, count - len(vectors)), y.shape[1]))
        atoms.append(np.vstack([vectors[:count], repeated]))
        atom_labels.append(np.full(count, label))
    return np.vstack(atoms), np.concatenate(atom_labels)


def atoms_objective(
    atoms: ArrayLike,
    quadratic: ArrayLike,
    linear: ArrayLike,
    others: ArrayLike,
    lambda_incoherence: float,
    lambda_rank: float,
) -> float:
    """tr(Q DD') - 2 tr(C D') + 2 lambda_inc tr(D S D') + lambda_rank |D|_*"""
    D, Q, C, rest = (np.asarray(array) for array in (atoms, quadratic, linear, others))
    incoherence = 2 * lambda_incoherence * np.trace(D @ rest.T @ rest @ D.T)
    return float(np.trace(Q @ D @ D.T) - 2 * np.trace(C @ D.T) + incoherence + lambda_rank * np.linalg.norm(D, "nuc"))


def update_atoms(
    atoms: ArrayLike,
    quadratic: ArrayLike,
    linear: ArrayLike,
    others: ArrayLike,
    *,
    lambda_incoherence: float = 0.0,
    lambda_rank: float = 0.0,
    ceiling: float | None = None,
    n_sweeps: int = 2,
) -> FloatArray:
    """Atom after atom to the minimum of a majorant on the sphere, as long as the objective falls

    The incoherence lies below its tangent, which joins C; |D|_* <= tr(N^-1 DD') / 2 + tr(N) / 2 with N = (DD')^1/2.
    """
    D, Q, C, rest = (np.asarray(array) for array in (atoms, quadratic, linear, others))
    s = np.linalg.norm(rest, 2) ** 2 if ceiling is None else ceiling
    C = C + 2 * lambda_incoherence * D @ (s * np.eye(D.shape[1]) - rest.T @ rest)
    value = atoms_objective(D, Q, C, rest, 0.0, lambda_rank)
    floors = [0.1, 0.01]
    for _ in range(n_sweeps):
        # N is kept away from singular, less so where the objective rises
        values, U = np.linalg.eigh(D @ D.T)
        roots = np.maximum(np.sqrt(values.clip(min=0)), floors[0] * np.sqrt(values[-1]))
        majorant = Q + lambda_rank / 2 * (U / roots) @ U.T
        candidate = D.copy()
        for k in range(len(D)):
            w = C[k] - majorant[k] @ candidate + majorant[k, k] * candidate[k]
            if np.linalg.norm(w) > 0:
                candidate[k] = w / np.linalg.norm(w)
        lower = atoms_objective(candidate, Q, C, rest, 0.0, lambda_rank)
        if lower < value:
            D, value = candidate, lower
        elif lambda_rank == 0 or not (floors := floors[1:]):
            break
    return D


def low_rank_atoms(
    Y: ArrayLike,
    atoms: ArrayLike,
    codes: ArrayLike,
    others: ArrayLike,
    explained: ArrayLike,
    *,
    lambda_sparse: float,
    lambda_rank: float,
    lambda_error: float,
    lambda_incoherence: float,
    mu: float = 0.1,
    rho: float = 1.1,
    mu_max: float = 1e30,
    tol: float = 1e-8,
    max_iter: int = 500,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Algorithm 1, line by line; returns D, Z, E and the violations of the three constraints after every iteration"""
    y, D, A, rest, R = (np.asarray(array) for array in (Y, atoms, codes, others, explained))
    E, T1, T2, T3 = np.zeros_like(y), np.zeros_like(y), np.zeros_like(D), np.zeros_like(A)
    Z, I = A, np.eye(len(D))  # noqa: E741
    violations = []
    for _ in range(max_iter):
        Z = prox_l1(A + T3 / mu, lambda_sparse / mu)
        A = ((y - E) @ D.T + Z + (T1 @ D.T - T3) / mu) @ np.linalg.inv(D @ D.T + I)
        J = prox_nuclear(D + T2 / mu, lambda_rank / mu)[0]
        lengths = np.linalg.norm(J, axis=1, keepdims=True)
        J = np.divide(J, lengths, out=np.zeros_like(J), where=lengths > 0)
        D_new = solve_sylvester(
            2 / mu * A.T @ A + A.T @ A + I,
            2 * lambda_incoherence / mu * rest.T @ rest,
            2 / mu * A.T @ (y - R) + A.T @ (y - E) + J + (A.T @ T1 - T2) / mu,
        )
        lengths = np.linalg.norm(D_new, axis=1, keepdims=True)
        D = np.divide(D_new, lengths, out=D.copy(), where=lengths > 0)
        E = prox_l21(y - A @ D + T1 / mu, lambda_error / mu, axis=1)
        T1 = T1 + mu * (y - A @ D - E)
        T2 = T2 + mu * (D - J)
        T3 = T3 + mu * (A - Z)
        mu = min(rho * mu, mu_max)
        violations.append([np.linalg.norm(apart, axis=1).max() for apart in (D - J, y - A @ D - E, A - Z)])
        if max(violations[-1]) < tol:
            break
    return D, Z, E, np.array(violations)
