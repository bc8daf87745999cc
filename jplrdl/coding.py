"""Sparse codes: the lasso for many samples over one dictionary, by feature-sign search (eq11 to eq14, eq24)."""

from __future__ import annotations

import mmap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _graph_coding as _graph_kernel
from . import cython_feature_sign as _kernel
from ._parallel import chunks_of, held_blas, run_chunks, threads_of
from ._products import LEAST, even_chunk, gram_matrix
from ._validation import (
    FloatArray,
    as_count,
    as_float_array,
    as_gram,
    as_nonnegative,
    as_weights,
    check_finite,
    common_dtype,
)
from .coupled_least_squares import coupled_least_squares
from .turns import Turns, turns_of

CONVERGED, ITERATION_LIMIT, NOT_POSITIVE_DEFINITE = 0, 1, 2

_LEAST_SWEPT = 50_000  # elements of coupled codes, half a millisecond, below which a thread is not worth waking
_MULTIPLIED = 4  # times as many samples are multiplied with the atoms at once, for an efficient product, as coded
_FEW, _FEW_ATOMS = 256, 128  # samples that are too few for chunks with efficient products; atoms of a part of theirs


@dataclass(frozen=True)
class CodingInfo:
    """How each sample's search ended.

    Attributes
    ----------
    n_iter : ndarray of shape (n_samples,)
        Linear systems solved.
    residual : ndarray of shape (n_samples,)
        What is left of the optimality conditions: the largest of ``|2(Ha - b)_j + penalty sign(a_j)|`` on the
        support and ``|2(Ha - b)_j| - penalty`` off it, where H includes the diagonal shift.
    status : ndarray of shape (n_samples,)
        0: converged; 1: iteration limit; 2: the active block of the Gram matrix is not positive definite, the
        code is the best point found.
    """

    n_iter: NDArray[np.intp]
    residual: FloatArray
    status: NDArray[np.intc]

    @property
    def converged(self) -> bool:
        """Did every sample converge?"""
        return not self.status.any()

    def failed(self) -> CodingInfo:
        """Of the samples that did not converge."""
        rows = np.flatnonzero(self.status)
        return CodingInfo(self.n_iter[rows], self.residual[rows], self.status[rows])

    @staticmethod
    def direct(n_samples: int) -> CodingInfo:
        """Of samples coded by one linear system each, which cannot fail."""
        return CodingInfo(
            np.ones(n_samples, dtype=np.intp), np.zeros(n_samples), np.zeros(n_samples, dtype=np.intc)
        )

    @staticmethod
    def joined(infos: Sequence[CodingInfo]) -> CodingInfo:
        """Of the samples of all, one after the other."""
        parts = zip(*((info.n_iter, info.residual, info.status) for info in infos), strict=True)
        return CodingInfo(*map(np.concatenate, parts))


@overload
def feature_sign_search(
    gram: ArrayLike, cov: ArrayLike, penalty: ArrayLike, *, shift: ArrayLike = ..., init: ArrayLike | None = ...,
    tol: float | None = ..., max_iter: int = ..., n_jobs: int | None = ..., return_info: Literal[False] = ...,
) -> FloatArray: ...
@overload
def feature_sign_search(
    gram: ArrayLike, cov: ArrayLike, penalty: ArrayLike, *, shift: ArrayLike = ..., init: ArrayLike | None = ...,
    tol: float | None = ..., max_iter: int = ..., n_jobs: int | None = ..., return_info: Literal[True],
) -> tuple[FloatArray, CodingInfo]: ...
def feature_sign_search(
    gram: ArrayLike,
    cov: ArrayLike,
    penalty: ArrayLike,
    *,
    shift: ArrayLike = 0.0,
    init: ArrayLike | None = None,
    tol: float | None = None,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
    return_info: bool = False,
) -> FloatArray | tuple[FloatArray, CodingInfo]:
    """Minimise a'Ha - 2 b'a + shift a'a + penalty |a|_1 for each row b of `cov`, exactly.

    Parameters
    ----------
    gram : array-like of shape (n_atoms, n_atoms)
        H, symmetric and positive semi-definite.
    cov : array-like of shape (n_samples, n_atoms) or (n_atoms,)
        One b a row.
    penalty, shift : float or array-like of shape (n_samples,)
        Weights >= 0 of the l1 norm and of the squared l2 norm (an elastic net).
    init : array-like of the shape of cov, optional
        Codes to start from; any signs will do.
    tol : float, optional
        Largest residual of the optimality conditions, as a share of ``2 max |b_j|``. 1e-10 in float64 and 1e-5 in
        float32 by default.
    max_iter : int
        Most linear systems to solve for one sample.
    n_jobs : int, optional
        Threads, as in scikit-learn. The result does not depend on it, not in one bit.
    return_info : bool
        Return a :class:`CodingInfo` too.

    Returns
    -------
    codes : ndarray of the shape of cov
    info : CodingInfo
        If `return_info`. Otherwise a ConvergenceWarning tells of samples that did not converge.

    Examples
    --------
    With an identity Gram matrix the answer is the soft threshold of b at penalty / 2:

    >>> import numpy as np
    >>> import jplrdl
    >>> jplrdl.feature_sign_search(np.eye(3), [2.0, -1.0, 0.2], penalty=1.0)
    array([ 1.5, -0.5,  0. ])
    """
    H = as_gram(gram)
    b = as_float_array(cov, "cov")
    if b.ndim > 2 or b.shape[-1] != H.shape[0]:
        raise ValueError(f"cov must have shape (n_samples, {H.shape[0]}), one column for each atom, got {b.shape}")
    rows = np.atleast_2d(b)
    a = _as_init(init, b.shape)
    dtype = common_dtype(H, b, a)
    rows = np.ascontiguousarray(rows, dtype=dtype)
    codes = _first_codes(a, (len(rows), len(H)), dtype)
    search = _Search(np.ascontiguousarray(H, dtype=dtype), codes, penalty, shift, tol, max_iter)
    run_chunks(lambda chunk: search(chunk, rows[chunk]), len(rows), _chunk_rows(len(H)), n_jobs)
    return search.answer(b.shape, return_info)


@overload
def sparse_encode(
    X: ArrayLike, dictionary: ArrayLike, penalty: ArrayLike, *, gram: ArrayLike | None = ...,
    init: ArrayLike | None = ..., shift: ArrayLike = ..., tol: float | None = ..., max_iter: int = ...,
    n_jobs: int | None = ..., return_info: Literal[False] = ...,
) -> FloatArray: ...
@overload
def sparse_encode(
    X: ArrayLike, dictionary: ArrayLike, penalty: ArrayLike, *, gram: ArrayLike | None = ...,
    init: ArrayLike | None = ..., shift: ArrayLike = ..., tol: float | None = ..., max_iter: int = ...,
    n_jobs: int | None = ..., return_info: Literal[True],
) -> tuple[FloatArray, CodingInfo]: ...
def sparse_encode(
    X: ArrayLike,
    dictionary: ArrayLike,
    penalty: ArrayLike,
    *,
    gram: ArrayLike | None = None,
    init: ArrayLike | None = None,
    shift: ArrayLike = 0.0,
    tol: float | None = None,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
    return_info: bool = False,
) -> FloatArray | tuple[FloatArray, CodingInfo]:
    """Code the rows of X over the rows of a dictionary: min |x - aD|^2 + shift |a|^2 + penalty |a|_1, exactly.

    scikit-learn's ``alpha`` is penalty / 2.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples.
    dictionary : array-like of shape (n_atoms, n_features)
        Atoms. They need not have unit norm.
    penalty, shift : float or array-like of shape (n_samples,)
        Weights >= 0 of the l1 norm and of the squared l2 norm (an elastic net).
    gram : array-like of shape (n_atoms, n_atoms), optional
        ``dictionary @ dictionary.T``, where it is known already.
    init, tol, max_iter, n_jobs, return_info
        As in :func:`feature_sign_search`.

    Returns
    -------
    codes : ndarray of shape (n_samples, n_atoms)
    info : CodingInfo
        If `return_info`. Otherwise a ConvergenceWarning tells of samples that did not converge.

    Examples
    --------
    >>> import numpy as np
    >>> import jplrdl
    >>> dictionary = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> codes = jplrdl.sparse_encode([[0.6, 0.8]], dictionary, penalty=0.2)
    >>> codes.round(6)
    array([[0. , 0. , 0.9]])
    """
    samples = as_float_array(X, "X", ndim=2)
    atoms = as_float_array(dictionary, "dictionary", ndim=2)
    if samples.shape[1] != atoms.shape[1]:
        raise ValueError(
            f"X and dictionary must have the same number of features, got {samples.shape[1]} and {atoms.shape[1]}"
        )
    shape = (len(samples), len(atoms))
    a = _as_init(init, shape)
    H = None if gram is None else as_gram(gram)
    if H is not None and len(H) != len(atoms):
        raise ValueError(f"gram must have shape {(len(atoms), len(atoms))}, as the dictionary asks, got {H.shape}")
    dtype = common_dtype(samples, atoms, H, a)
    samples, atoms = samples.astype(dtype, copy=False), atoms.astype(dtype, copy=False)
    H = gram_matrix(atoms, n_jobs=n_jobs) if H is None else np.ascontiguousarray(H, dtype=dtype)
    check_finite(H, "the Gram matrix of dictionary")
    search = _Search(H, _first_codes(a, shape, dtype), penalty, shift, tol, max_iter)

    def products(rows: slice, columns: slice) -> FloatArray:
        with np.errstate(all="ignore"):
            cov: FloatArray = np.ascontiguousarray(samples[rows] @ atoms[columns].T)
        check_finite(cov, "the product of X and dictionary")
        return cov

    if len(samples) <= _FEW:  # one product of all, which threads share by atoms, and searches of a few
        cov: FloatArray = np.empty(shape, dtype=dtype)

        def multiply(some: slice) -> None:
            cov[:, some] = products(slice(None), some)

        with held_blas:
            run_chunks(multiply, len(atoms), _FEW_ATOMS, n_jobs if samples.size * len(atoms) >= LEAST else 1)
            run_chunks(lambda some: search(some, cov[some]), len(samples), max(4, -(-len(samples) // 16)), n_jobs)
    else:
        step = _chunk_rows(len(atoms))

        def code(some: slice) -> Iterator[None]:
            cov = products(some, slice(None))
            for part in chunks_of(len(cov), step):
                search(slice(some.start + part.start, some.start + part.stop), cov[part])
                yield

        run_chunks(code, len(samples), even_chunk(len(samples), _MULTIPLIED * step), n_jobs)
    return search.answer(shape, return_info)


def coupled_codes(
    gram: ArrayLike,
    cov: ArrayLike,
    laplacian: Any,
    penalty: float,
    weight: float,
    *,
    init: ArrayLike | None = None,
    tol: float | None = None,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
) -> tuple[FloatArray, CodingInfo]:
    """One descending pass over min sum_p [a_p'Ha_p - 2 b_p'a_p + penalty |a_p|_1] + weight tr(A'LA) (eq11 to eq14).

    Each code in turn becomes the exact minimum with all others fixed; a pass from `init` never raises the objective.
    The order is that of :func:`jplrdl.turns.turns_of`, in which neighbours lie far apart.

    Parameters
    ----------
    gram : array-like of shape (n_atoms, n_atoms)
        H, symmetric and positive semi-definite.
    cov : array-like of shape (n_samples, n_atoms)
        One b a row.
    laplacian : sparse matrix of shape (n_samples, n_samples)
        L, symmetric, with a diagonal >= 0.
    penalty, weight : float >= 0
    init : array-like of the shape of cov, optional
        Codes to start from; zero by default.
    tol, max_iter, n_jobs
        As in :func:`feature_sign_search`.

    Returns
    -------
    codes : ndarray of the shape of cov
    info : CodingInfo
        Of each sample's own search.

    Examples
    --------
    Two samples that attract each other: their codes draw together.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from jplrdl.coding import coupled_codes
    >>> L = csr_array([[1.0, -1.0], [-1.0, 1.0]])
    >>> codes = np.zeros((2, 1))
    >>> for _ in range(50):
    ...     codes, _info = coupled_codes([[1.0]], [[1.0], [3.0]], L, 0.0, weight=0.5, init=codes)
    >>> codes.ravel().round(6)
    array([1.5, 2.5])
    """
    H, b = as_gram(gram), as_float_array(cov, "cov", ndim=2)
    if b.shape[1] != len(H):
        raise ValueError(f"cov must have shape (n_samples, {len(H)}), one column for each atom, got {b.shape}")
    if laplacian.shape != (len(b), len(b)):
        raise ValueError(f"laplacian must have shape {(len(b), len(b))}, as cov asks, got {laplacian.shape}")
    if laplacian.diagonal().min() < 0:
        raise ValueError(f"laplacian must have a diagonal >= 0, got {laplacian.diagonal().min():.3g}")
    a = _as_init(init, b.shape)
    dtype = common_dtype(H, b, a)
    H, b = (np.ascontiguousarray(array, dtype=dtype) for array in (H, b))
    L = laplacian.tocsr(copy=True)
    L.eliminate_zeros()
    return sweep_codes(
        H, b, L, penalty, as_nonnegative(weight, "weight"), _first_codes(a, b.shape, dtype),
        turns=turns_of(L), tol=tol, max_iter=max_iter, n_jobs=n_jobs,
    )


def sweep_codes(
    gram: FloatArray,
    cov: FloatArray,
    laplacian: Any,
    penalty: float,
    weight: float,
    codes: FloatArray,
    *,
    turns: Turns,
    tol: float | None = None,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
) -> tuple[FloatArray, CodingInfo]:
    """coupled_codes for arrays that need no check, and the turns of the Laplacian's samples; overwrites `codes`."""
    search = _Search(gram, codes, penalty, 0.0, tol, max_iter)
    L = laplacian.tocsr().astype(gram.dtype, copy=False)
    if search.penalty.any():
        search.sweep(cov, L, weight, turns, n_jobs)
    else:
        search.sweep_without_penalty(cov, L, weight, turns)
    return search.codes, search.info


class _Search:
    """Codes of all samples, each the start of its own search, filled chunk by chunk."""

    def __init__(self, gram: FloatArray, codes: FloatArray, penalty: Any, shift: Any, tol: Any, max_iter: Any) -> None:
        dtype, n_samples = gram.dtype.type, len(codes)
        self.gram, self.codes = gram, codes
        self.penalty = as_weights(penalty, "penalty", n_samples, dtype)
        self.shift = as_weights(shift, "shift", n_samples, dtype)
        self.tol = (1e-10 if dtype == np.float64 else 1e-5) if tol is None else as_nonnegative(tol, "tol")
        self.max_iter = as_count(max_iter, "max_iter")
        self.n_iter = np.zeros(n_samples, dtype=np.intp)
        self.residual: FloatArray = np.zeros(n_samples, dtype=dtype)
        self.status = np.zeros(n_samples, dtype=np.intc)
        self.worksize = _kernel.worksize(len(gram), dtype == np.float32)

    def __call__(self, rows: slice, cov: FloatArray) -> None:
        work = np.empty(self.worksize, dtype=np.uint8)
        _kernel.search_rows(
            self.gram, cov, self.penalty[rows], self.shift[rows], self.tol, self.max_iter,
            self.codes[rows], self.n_iter[rows], self.residual[rows], self.status[rows], work,
        )

    def sweep(self, cov: FloatArray, laplacian: Any, weight: float, turns: Turns, n_jobs: int | None) -> None:
        """All samples in turn, each with the newest codes of the others; some in a call, for Ctrl-C."""
        counts = np.empty(len(cov), dtype=np.intc)
        columns = np.empty((len(cov), _graph_kernel.most_listed(len(self.gram))), dtype=np.intc)
        values = np.empty(columns.shape, dtype=self.gram.dtype)
        _graph_kernel.list_rows(self.codes, counts, columns, values)
        indptr, indices = (array.astype(np.intc, copy=False) for array in (laplacian.indptr, laplacian.indices))
        turn, done = np.zeros(1, dtype=np.intc), np.zeros(len(cov), dtype=np.intc)
        threads = min(threads_of(n_jobs), max(1, cov.size // _LEAST_SWEPT))
        step = _chunk_rows(len(self.gram))
        spaces = [(np.empty_like(cov[0]), _pages(self.worksize)) for _ in range(threads)]

        def take_turns(_: slice) -> None:
            space = spaces.pop()
            _graph_kernel.sweep_rows(
                self.gram, cov, indptr, indices, laplacian.data, weight, float(self.penalty[0]), self.tol,
                self.max_iter, *turns, step, turn, done, self.codes, self.n_iter, self.residual, self.status,
                counts, columns, values, *space,
            )
            spaces.append(space)

        # Calls that find samples left, and one more for each other thread, which may be amid its last one.
        run_chunks(take_turns, -(-len(cov) // step) + threads - 1, 1, threads)

    def sweep_without_penalty(self, cov: FloatArray, laplacian: Any, weight: float, turns: Turns) -> None:
        """The same where a code is the solution of a linear system."""
        with held_blas:
            self.codes, gradient, sizes = coupled_least_squares(
                self.gram, cov, laplacian, weight, self.codes, order=turns.order
            )
        self.n_iter[:] = 1
        self.residual = np.abs(gradient).max(axis=1)
        # A sample of zeros may be left with the rounding errors of the others.
        rounding = cov.shape[1] * float(np.finfo(cov.dtype).eps) * sizes.max()
        self.status[self.residual > 2 * (self.tol * sizes + rounding)] = NOT_POSITIVE_DEFINITE

    @property
    def info(self) -> CodingInfo:
        return CodingInfo(self.n_iter, self.residual, self.status)

    def answer(self, shape: tuple[int, ...], return_info: bool) -> FloatArray | tuple[FloatArray, CodingInfo]:
        info, codes = self.info, self.codes.reshape(shape)
        if return_info:
            return codes, info
        warn_unless_converged(info, stacklevel=3)
        return codes


def warn_unless_converged(info: CodingInfo, *, n_samples: int | None = None, stacklevel: int) -> None:
    """One warning for all samples, or for those of `n_samples` that did not converge, with what to change.

    stacklevel as in warnings.warn, from the caller's place.
    """
    if info.converged:
        return
    from sklearn.exceptions import ConvergenceWarning

    n_limit = int(np.sum(info.status == ITERATION_LIMIT))
    n_indefinite = int(np.sum(info.status == NOT_POSITIVE_DEFINITE))
    warnings.warn(
        f"{n_limit + n_indefinite} of {n_samples or info.status.size} samples did not reach the tolerance (largest "
        f"residual {info.residual.max():.3g}): {n_limit} stopped at max_iter, raise it; for {n_indefinite} the active "
        "block of the Gram matrix is not positive definite, raise tol or shift.",
        ConvergenceWarning,
        stacklevel=stacklevel + 1,
    )


def _as_init(init: Any, shape: tuple[int, ...]) -> FloatArray | None:
    if init is None:
        return None
    codes = as_float_array(init, "init")
    if codes.shape != shape:
        raise ValueError(f"init must have the shape of the codes, {shape}, got {codes.shape}")
    return codes


def _first_codes(init: FloatArray | None, shape: tuple[int, ...], dtype: Any) -> FloatArray:
    """Codes to begin from, ours to overwrite."""
    return np.zeros(shape, dtype=dtype) if init is None else np.array(init, dtype=dtype, order="C").reshape(shape)


def _pages(size: int) -> NDArray[np.uint8]:
    """Memory of which a search touches a few pages.

    NumPy asks for huge pages, and the system fills each with zeros when it is touched: for two threads that took as
    long as their searches.
    """
    return np.frombuffer(mmap.mmap(-1, size), dtype=np.uint8)


def _chunk_rows(n_atoms: int) -> int:
    """Rows coded between two looks at the keyboard: well under a second."""
    return max(4, min(64, 200_000 // n_atoms))
