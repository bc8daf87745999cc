"""The dictionary: first atoms (Algorithm 2), and a descending update of one class's atoms (eq15, exact form).

Atoms are rows of unit length. For the atoms D_i of class i, with codes A_i (one column an atom, all samples), the
objective of the model is, up to a constant,

    tr(Q D_i D_i') - 2 tr(C D_i') + 2 lambda_inc tr(D_i S D_i') + lambda_rank |D_i|_*

    Q = 2 A_i'A_i,   S = sum_{j != i} D_j'D_j,   C = A_i'R_i + (A_i'Y over the samples of class i),

with R_i the data minus what all other classes' atoms explain. The factor 2 in Q: the own-class term and the
other-class terms together are once more the whole of A_i.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _atoms as _kernel
from ._algebra import inner, largest_eigenvalue
from ._parallel import run_tasks
from ._validation import FloatArray, as_count, as_float_array, as_nonnegative

# Elements of samples whose singular vectors are found before a thread wakes.
_LEAST = 20_000


def initial_dictionary(
    Y: ArrayLike,
    y: ArrayLike,
    n_atoms: int | None = None,
    *,
    method: Literal["singular", "samples"] = "singular",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> tuple[FloatArray, NDArray[np.intp]]:
    """The first atoms of each class, and the class of each atom.

    "singular": the right singular vectors of the class's samples. A class with fewer than `n_atoms` is filled up with
    its own samples, scaled to unit length, one after the other and over again. "samples": these alone.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        Projected samples.
    y : array-like of shape (n_samples,)
        Labels.
    n_atoms : int, optional
        Atoms of each class; as many as it has samples by default.
    method : "singular" or "samples"
    random_state : int, RandomState or None
        Of the order of the samples that fill up; None takes them as they come.
    n_jobs : int, optional
        Threads, which share the classes.

    Returns
    -------
    dictionary : ndarray of shape (n_atoms_in_all, n_components)
    atom_labels : ndarray of shape (n_atoms_in_all,)
        Indices into the sorted labels.

    Examples
    --------
    >>> from jplrdl.dictionary import initial_dictionary
    >>> atoms, labels = initial_dictionary([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]], ["a", "a", "b"])
    >>> abs(atoms), labels
    (array([[1., 0.],
           [1., 0.],
           [0., 1.]]), array([0, 0, 1]))
    """
    samples = as_float_array(Y, "Y", ndim=2)
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    if labels.shape != (len(samples),):
        raise ValueError(f"y must hold one label for each of {len(samples)} samples, got shape {np.shape(y)}")
    rng = None if random_state is None else _check_random_state(random_state)
    tasks = []
    for label in range(len(classes)):
        own = samples[labels == label]
        own = own if rng is None else own[rng.permutation(len(own))]
        count = len(own) if n_atoms is None else as_count(n_atoms, "n_atoms")
        tasks.append(partial(_first_atoms, own, count, method))
    blocks = run_tasks(tasks, n_jobs if samples.size >= _LEAST else 1)
    atom_labels = np.repeat(np.arange(len(classes)), [len(block) for block in blocks])
    return np.vstack(blocks), atom_labels


def _check_random_state(seed: Any) -> np.random.RandomState:
    from sklearn.utils import check_random_state

    return check_random_state(seed)


def _first_atoms(own: FloatArray, count: int, method: str) -> FloatArray:
    _, values, vectors = np.linalg.svd(own, full_matrices=False)
    # Locality preserving projections leave each class a lower rank, up to the rounding errors of all steps before.
    rank = int(np.sum(values > values[0] * np.sqrt(np.finfo(own.dtype).eps))) if method == "singular" else 0
    lengths = np.linalg.norm(own, axis=1)
    if not lengths.any():
        raise ValueError("Y must have a sample other than zero in every class")
    unit = own[lengths > 0] / lengths[lengths > 0][:, None]
    missing = max(0, count - rank)
    return np.vstack([vectors[: min(rank, count)], unit[np.arange(missing) % len(unit)]])


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
    """Descend the objective of this module in the atoms of one class, each of unit length.

    Majorise and minimise. On the unit sphere d S d' = s - d (sI - S) d', concave for s >= the largest eigenvalue of S,
    lies below its tangent at the present atoms: the incoherence becomes a part of C. The nuclear norm lies below a
    quadratic that touches it there,

        |D|_* <= tr(N^-1 DD') / 2 + tr(N) / 2,      N = (DD')^1/2,

    so Q gains lambda_rank N^-1 / 2. What is left is linear in one atom with the others fixed: the minimum over the
    sphere is a scaled vector. Atom after atom, `n_sweeps` times, each time with a new N. Where atoms are dependent, N
    is singular and would hold them in their subspace: its eigenvalues are raised to a tenth of the largest. Then it
    bounds no more, and the nuclear norm itself decides whether the result is taken; if not, they are raised less.

    Parameters
    ----------
    atoms : array-like of shape (n_atoms, n_components)
        D_i, rows of unit length.
    quadratic : array-like of shape (n_atoms, n_atoms)
        Q.
    linear : array-like of shape (n_atoms, n_components)
        C.
    others : array-like of shape (n_other_atoms, n_components)
        The atoms of all other classes: S = others' others.
    lambda_incoherence, lambda_rank : float >= 0
    ceiling : float, optional
        s, an upper bound of the largest eigenvalue of S, where it is known already.
    n_sweeps : int

    Returns
    -------
    ndarray of the shape of atoms
    """
    D, Q, C, rest = (
        as_float_array(a, name, ndim=2)
        for a, name in ((atoms, "atoms"), (quadratic, "quadratic"), (linear, "linear"), (others, "others"))
    )
    incoherence = as_nonnegative(lambda_incoherence, "lambda_incoherence")
    if ceiling is None:
        ceiling = largest_eigenvalue(rest) if incoherence > 0 else 0.0
    dtype = D.dtype.type
    C = C + dtype(2 * incoherence) * (dtype(ceiling) * D - (D @ rest.T) @ rest)
    return descend_atoms(
        D, Q, C, as_nonnegative(lambda_rank, "lambda_rank"), n_sweeps=as_count(n_sweeps, "n_sweeps", least=0)
    )


def descend_atoms(
    D: FloatArray, Q: FloatArray, C: FloatArray, lambda_rank: float, *, n_sweeps: int = 2
) -> FloatArray:
    """update_atoms, for arrays that need no check and a C that has the tangent of the incoherence."""
    atoms, q, c = np.array(D, order="C"), *(np.ascontiguousarray(a, dtype=D.dtype) for a in (Q, C))
    _check(_kernel.descend_atoms(atoms, q, c, lambda_rank, n_sweeps, _workspace(len(atoms), 0, atoms.shape[1])))
    return atoms


def turn_group(
    D: FloatArray,
    classes: list[slice],
    products: FloatArray,
    outside: FloatArray,
    lambda_incoherence: float,
    ceiling: float,
    lambda_rank: float,
    *,
    n_sweeps: int = 2,
) -> None:
    """descend_atoms for the atoms D, in place, of neighbouring classes, each seeing what the ones before have become.

    Parameters
    ----------
    D : ndarray of shape (n_atoms, n_components)
    classes : list of slices
        Where in D each class has its atoms.
    products : ndarray of shape (n_atoms, n_atoms)
        A'A, of the codes of these atoms.
    outside : ndarray of shape (n_atoms, n_components)
        C, without what atoms of D have a part in.
    lambda_incoherence, ceiling, lambda_rank, n_sweeps
        As in update_atoms.
    """
    bounds = _bounds(classes)
    work = _workspace(int(np.diff(bounds).max()), *D.shape)
    weight = 2 * lambda_incoherence
    _check(_kernel.turn_group(D, bounds, products, outside, weight, weight * ceiling, lambda_rank, n_sweeps, work))


def nuclear_norms(D: FloatArray, classes: list[slice]) -> FloatArray:
    """The nuclear norm of the atoms of each class, neighbours in D, in double precision."""
    bounds = _bounds(classes)
    norms = np.empty(len(classes))
    work = _workspace(int(np.diff(bounds).max()), 0, D.shape[1])
    _check(_kernel.nuclear_norms(np.ascontiguousarray(D), bounds, norms, work))
    return norms


def _bounds(classes: list[slice]) -> NDArray[np.intp]:
    return np.array([classes[0].start, *(own.stop for own in classes)], dtype=np.intp)


def _workspace(n_atoms: int, n_group: int, n_components: int) -> NDArray[np.uint8]:
    return np.empty(_kernel.group_worksize(n_atoms, n_group, n_components), dtype=np.uint8)


def _check(info: int) -> None:
    if info != 0:
        raise np.linalg.LinAlgError(f"the eigenvalues of a class's atoms were not found (LAPACK's info: {info})")


def atoms_objective(
    D: FloatArray, Q: FloatArray, C: FloatArray, rest: FloatArray, lambda_incoherence: float, lambda_rank: float
) -> float:
    """tr(Q DD') - 2 tr(C D') + 2 lambda_inc tr(D S D') + lambda_rank |D|_*"""
    cross = D @ rest.T
    d = D.astype(np.float64, copy=False)
    value = float(np.sum(Q * (d @ d.T))) - 2 * inner(C, D)
    nuclear = float(nuclear_norms(D, [slice(0, len(D))])[0])
    return value + 2 * lambda_incoherence * inner(cross, cross) + lambda_rank * nuclear
