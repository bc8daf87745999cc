"""Proximal maps of the l1, the 2,1 and the nuclear norm: argmin_U |U - V|_F^2 / 2 + t |U|."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from numbers import Integral
from threading import get_ident

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _shrink_columns, _spectrum
from . import cython_prox as _kernel
from ._parallel import chunks_of, run_together, threads_of
from ._validation import FloatArray, as_float_array, as_nonnegative, as_output, check_finite

# Bytes that one thread maps before a second one has come.
_LEAST_SHARED = 4 << 20


def prox_l1(V: ArrayLike, t: float, out: FloatArray | None = None, *, n_jobs: int | None = None) -> FloatArray:
    """Shrink every element towards zero: sign(v) max(|v| - t, 0).

    Parameters
    ----------
    V : array-like of any shape
    t : float >= 0
    out : ndarray of the shape and dtype of V, optional
        Where to write the result; V itself works in place.
    n_jobs : int, optional
        Threads for arrays of 4 MiB and more: None is one, -1 all processors. The result does not depend on it.

    Returns
    -------
    ndarray of the shape of V

    Examples
    --------
    >>> import jplrdl
    >>> jplrdl.prox_l1([3.0, -0.5, -2.0], 1.0)
    array([ 2.,  0., -1.])
    """
    v, t, result, source, target = _operands(V, t, out)
    if source.flags.c_contiguous:
        flat, flat_out = source.reshape(-1), target.reshape(-1)
    else:
        flat, flat_out = source.T.reshape(-1), target.T.reshape(-1)
    if not _shrink_elements(flat, t, flat_out, _threads(v, n_jobs)):
        check_finite(v, "V")
    return _deliver(target, result)


def prox_l21(
    V: ArrayLike, t: float, axis: int = 0, out: FloatArray | None = None, *, n_jobs: int | None = None
) -> FloatArray:
    """Shrink every vector along an axis towards zero: max(1 - t / |v|_2, 0) v.

    Parameters
    ----------
    V : array-like of any shape
    t : float >= 0
    axis : int
        The axis along which a group lies: 0 shrinks the columns of a matrix, 1 its rows.
    out : ndarray of the shape and dtype of V, optional
        Where to write the result; V itself works in place.
    n_jobs : int, optional
        Threads for arrays of 4 MiB and more: None is one, -1 all processors. The result does not depend on it.

    Returns
    -------
    ndarray of the shape of V

    Examples
    --------
    >>> import jplrdl
    >>> jplrdl.prox_l21([[3.0, 0.1], [4.0, 0.1]], 2.5)
    array([[1.5, 0. ],
           [2. , 0. ]])
    """
    v, t, result, source, target = _operands(V, t, out)
    whole = type(axis) is int or (isinstance(axis, Integral) and not isinstance(axis, bool))
    if not whole or not -v.ndim <= axis < v.ndim:
        raise ValueError(f"axis must be an integer in [{-v.ndim}, {v.ndim}), got {axis!r}")
    axis = int(axis) % v.ndim
    if not source.flags.c_contiguous:
        source, target_c, axis = source.T, target.T, v.ndim - 1 - axis
    else:
        target_c = target
    grouped = (math.prod(source.shape[:axis]), source.shape[axis], math.prod(source.shape[axis + 1 :]))
    if not _shrink_groups(source.reshape(grouped), t, target_c.reshape(grouped), _threads(v, n_jobs)):
        check_finite(v, "V")
    return _deliver(target, result)


def prox_nuclear(V: ArrayLike, t: float, out: FloatArray | None = None) -> tuple[FloatArray, int]:
    """Shrink every singular value towards zero: max(s - t, 0).

    Through the Gram matrix of the smaller side and only the eigenvectors that are kept, where all singular values
    above t are at least 2^-10 of the largest (as bounded by the Gram matrix's Frobenius norm) and that loses at most
    nine bits; through a full singular value decomposition otherwise.

    Parameters
    ----------
    V : array-like of shape (n_rows, n_columns)
    t : float >= 0
    out : ndarray of the shape and dtype of V, optional
        Where to write the result; V itself works in place.

    Returns
    -------
    array : ndarray of the shape of V
    rank : int
        Singular values that are left.

    Examples
    --------
    >>> import numpy as np
    >>> import jplrdl
    >>> shrunk, rank = jplrdl.prox_nuclear(np.diag([3.0, 1.0, 0.5]), 1.0)
    >>> shrunk.round(6).diagonal(), rank
    (array([2., 0., 0.]), 1)
    """
    _, t, result, source, target = _operands(V, t, out, ndim=2, finite=True)
    rows, target_rows = (source, target) if source.flags.c_contiguous else (source.T, target.T)
    rank = shrink_spectrum(rows, t, target_rows, spectrum_workspace(rows))[1]
    return _deliver(target, result), rank


def spectrum_workspace(v: FloatArray) -> NDArray[np.uint8]:
    """Room for shrink_spectrum on arrays like v."""
    return np.empty(_spectrum.worksize(v), dtype=np.uint8)


def shrink_spectrum(
    v: FloatArray, t: float, out: FloatArray, work: NDArray[np.uint8], *, rough: bool = False
) -> tuple[FloatArray, int]:
    """The kernel of prox_nuclear for C-contiguous arrays, identical or apart; the new singular values and the rank.

    A rough map is through the Gram matrix wherever that can tell singular values from rounding errors: in float64 an
    error of 1e-10 of the largest.
    """
    singular: FloatArray = np.empty(min(v.shape), dtype=v.dtype)
    info, rank = _spectrum.shrink(v, t, out, singular, work, rough)
    check_spectrum(info)
    return singular, rank


def check_spectrum(info: int) -> None:
    """Raise what LAPACK's info asks for."""
    if info != 0:
        raise np.linalg.LinAlgError(f"the singular value decomposition of V did not converge (LAPACK's info: {info})")


def _threads(v: FloatArray, n_jobs: int | None) -> int:
    """How many threads map the array. None asks nobody: to ask joblib would take a tenth as long as a map."""
    threads = 1 if n_jobs is None else threads_of(n_jobs)
    return threads if v.nbytes >= _LEAST_SHARED else 1


def _share(shrink: Callable[[slice], bool], length: int, threads: int) -> bool:
    """Call shrink(slice) for as many parts as there are threads; whether all of them were finite.

    The caller takes the first part, helpers begin with the last: when they come again, each finds what it has read and
    written before in its processor's cache.
    """
    left, finite, caller = chunks_of(length, -(-length // threads)), [], get_ident()

    def work() -> None:
        take = left.popleft if get_ident() == caller else left.pop
        while left:
            with suppress(IndexError):  # another thread has been faster
                finite.append(shrink(take()))

    run_together(work, threads)
    return all(finite)


def _shrink_elements(v: FloatArray, t: float, out: FloatArray, threads: int) -> bool:
    """The l1 map of a vector; whether it was finite."""
    if threads == 1:
        return _kernel.l1(v, t, out) == 0
    return _share(lambda some: _kernel.l1(v[some], t, out[some]) == 0, len(v), threads)


def _shrink_groups(v: FloatArray, t: float, out: FloatArray, threads: int) -> bool:
    """The 2,1 map of groups along the middle one of three axes; whether they were finite."""
    n_outer, _, n_inner = v.shape
    if threads > 1 and n_outer == 1 and n_inner > 1:
        work = np.zeros(_shrink_columns.share_worksize(v[0]), dtype=np.uint8)
        return _share(lambda role: _shrink_columns.share(v[0], t, out[0], work, role.start, threads), threads, threads)
    if threads == 1:
        return _kernel.l21(v, t, out) == 0
    return _share(lambda some: _kernel.l21(v[some], t, out[some]) == 0, n_outer, threads)


def _operands(
    V: ArrayLike, t: float, out: FloatArray | None, *, ndim: int | None = None, finite: bool = False
) -> tuple[FloatArray, float, FloatArray, FloatArray, FloatArray]:
    """V, t and the result, checked, and what a kernel reads and writes: two arrays contiguous in the same order.

    They are identical if the map may run in place. The kernels of the l1 and the 2,1 map tell of NaN and infinity, but
    only after they have written: what is overwritten is checked before.
    """
    v, t = as_float_array(V, "V", ndim=ndim, finite=finite), as_nonnegative(t, "t")
    result = np.empty_like(v, subok=False) if out is None else as_output(out, v)
    of, to = v.flags, result.flags
    if (of.c_contiguous and to.c_contiguous) or (of.f_contiguous and to.f_contiguous):
        # Arrays that own their memory share none; others have to be asked.
        if v is not result and ((of.owndata and to.owndata) or not np.may_share_memory(v, result)):
            return v, t, result, v, result
        if _address(v) == _address(result):
            check_finite(v, "V")
            return v, t, result, result, result
    fresh = np.array(v, order="C", copy=True, subok=False)
    return v, t, result, fresh, fresh


def _address(array: FloatArray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _deliver(target: FloatArray, result: FloatArray) -> FloatArray:
    if target is not result:
        result[...] = target
    return result
