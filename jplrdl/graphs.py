"""Signed neighbour graphs (eq4, eq7) and their Laplacians (eq6, eq9, eq10)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import cython_graph as _kernel
from ._algebra import RESIDUAL, extreme_eigenvalue
from ._parallel import run_chunks
from ._validation import FloatArray, as_count, as_float_array, as_positive, check_finite

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_BLOCK = 256
_FEW, _DENSE = 256, 3000
_MOST_EDGES = np.iinfo(np.intc).max


def signed_knn_graph(
    X: ArrayLike,
    y: ArrayLike,
    n_neighbors_same: int | NDArray[np.integer[Any]],
    n_neighbors_other: int | NDArray[np.integer[Any]],
    *,
    weights: Literal["sign", "heat"] = "sign",
    kernel_width: float = 1.0,
    n_jobs: int | None = None,
) -> csr_array:
    """Join each sample to its nearest of the same class (positive) and of all other classes (negative weight).

    Two samples are joined if either is a neighbour of the other. Ties in distance go to the lower index. A class or a
    rest that is too small gives what it has. Memory beyond X grows with the number of edges, not of pairs.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels of any kind.
    n_neighbors_same, n_neighbors_other : int >= 0, or one for each sample
        k1 and k2.
    weights : "sign" or "heat"
        1 and -1 (eq4), or plus and minus ``exp(-|x_i - x_j|^2 / 2 kernel_width^2)`` (eq7).
    kernel_width : float > 0
        t of eq7.
    n_jobs : int, optional
        Threads, -1 for all processors; one by default. The graph is the same for every number.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Symmetric, of the dtype of X, with ordered indices and an empty diagonal.

    Examples
    --------
    >>> import jplrdl
    >>> graph = jplrdl.signed_knn_graph([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"], 1, 1)
    >>> graph.toarray()
    array([[ 0.,  1., -1.,  0.],
           [ 1.,  0., -1., -1.],
           [-1., -1.,  0.,  1.],
           [ 0., -1.,  1.,  0.]])
    """
    from scipy.sparse import csr_array

    x = np.ascontiguousarray(as_float_array(X, "X", ndim=2))
    labels = _as_labels(y, len(x))
    same = _as_counts(n_neighbors_same, "n_neighbors_same", len(x))
    other = _as_counts(n_neighbors_other, "n_neighbors_other", len(x))
    k_same, k_other = int(same.max()), int(other.max())
    width = np.inf if weights == "sign" else as_positive(kernel_width, "kernel_width")
    if weights not in ("sign", "heat"):
        raise ValueError(f"weights must be 'sign' or 'heat', got {weights!r}")
    n, k = len(x), k_same + k_other
    if k == 0:
        return csr_array((n, n), dtype=x.dtype)
    if 2 * n * k > _MOST_EDGES:
        raise ValueError(f"n_neighbors_same + n_neighbors_other must be at most {_MOST_EDGES // (2 * n)} here, got {k}")
    x, width = _scaled(x, width)
    neighbors, distances = _nearest(x, labels, k_same, k_other, n_jobs)
    neighbors[:, :k_same][np.arange(k_same) >= same[:, None]] = -1
    neighbors[:, k_same:][np.arange(k_other) >= other[:, None]] = -1
    indptr = np.empty(n + 1, dtype=np.intc)
    indices = np.empty(2 * n * k, dtype=np.intc)
    data: FloatArray = np.empty(2 * n * k, dtype=x.dtype)
    _kernel.knn_csr(neighbors, distances, k_same, width, indptr, indices, data)
    n_edges = int(indptr[-1])
    return csr_array((data[:n_edges].copy(), indices[:n_edges].copy(), indptr), shape=(n, n))


def laplacian(W: Any, *, normalized: bool = False, signed: bool = False) -> csr_array:
    """The Laplacian of a symmetric weight matrix.

    ==========================  =====================================================================
    ``laplacian(W)``            diag(W 1) - W. Negative weights make it indefinite (eq6).
    ``signed=True``             diag(|W| 1) - W, positive semi-definite whatever the signs.
    ``normalized=True``         D^-1/2 (D - W) D^-1/2 for the degrees D above (eq10); all of them must be
                                positive where there is an edge, which ``signed=True`` guarantees:
                                eigenvalues then lie in [0, 2].
    ==========================  =====================================================================

    Parameters
    ----------
    W : sparse or dense matrix of shape (n_samples, n_samples)
    normalized, signed : bool

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        With a full diagonal; a sample without edges has a row of zeros.

    Examples
    --------
    >>> import jplrdl
    >>> jplrdl.laplacian([[0.0, 1.0, -1.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], signed=True).toarray()
    array([[ 2., -1.,  1.],
           [-1.,  1.,  0.],
           [ 1.,  0.,  1.]])
    """
    from scipy.sparse import csr_array

    graph = _as_graph(W)
    n = graph.shape[0]
    magnitudes = abs(graph).sum(axis=1)
    degree = magnitudes if signed else graph.sum(axis=1)
    degree = np.ascontiguousarray(degree, dtype=graph.dtype)
    scale = np.ones_like(degree)
    if normalized:
        joined = magnitudes > 0
        if (degree[joined] <= 0).any():
            raise ValueError(
                f"W must have positive degrees to be normalized, got {degree[joined].min():.3g}; "
                "signed=True uses those of |W|"
            )
        scale[joined] = 1 / np.sqrt(degree[joined])
    indptr = np.empty(n + 1, dtype=np.intc)
    indices = np.empty(graph.nnz + n, dtype=np.intc)
    data: FloatArray = np.empty(graph.nnz + n, dtype=graph.dtype)
    _kernel.laplacian_csr(
        graph.indptr.astype(np.intc, copy=False), graph.indices.astype(np.intc, copy=False), graph.data,
        degree, scale, indptr, indices, data,
    )
    filled = int(indptr[-1])
    return csr_array((data[:filled].copy(), indices[:filled].copy(), indptr), shape=(n, n))


def shifted_laplacian(W: Any) -> csr_array:
    """laplacian(W) + sigma I with the smallest sigma >= 0 that makes it positive semi-definite.

    The Laplacian of eq4's weights is indefinite, and the code problem with it not bounded below; the shift is a ridge
    on the codes.

    Examples
    --------
    >>> from jplrdl.graphs import shifted_laplacian
    >>> shifted_laplacian([[0.0, -1.0], [-1.0, 0.0]]).toarray()
    array([[1., 1.],
           [1., 1.]])
    """
    from scipy.sparse import csr_array, eye_array

    L = laplacian(W)
    sigma = max(0.0, -_smallest_eigenvalue(L))
    return csr_array(L + sigma * eye_array(L.shape[0], dtype=L.dtype))


def _smallest_eigenvalue(L: csr_array) -> float:
    """Of a Laplacian: zero if no weight is negative. Of many samples a few steps of Lanczos' method find it, mostly."""
    n = L.shape[0]
    if np.count_nonzero(L.data > 0) <= np.count_nonzero(L.diagonal() > 0):
        return 0.0
    if n > _FEW:
        value, residual = extreme_eigenvalue(-L)
        if residual <= RESIDUAL * value:
            return -value * (1 + 100 * RESIDUAL**2)
    if n <= _DENSE:
        return float(np.linalg.eigvalsh(L.toarray())[0])
    from scipy.sparse.linalg import eigsh

    # As many steps as it takes to a tolerance, which the margin makes up for. They must not start from an eigenvector,
    # such as the vector of ones, and start from the same one every time.
    start = np.random.default_rng(0).standard_normal(n).astype(L.dtype)
    return float(eigsh(L, k=1, which="SA", tol=1e-4, v0=start)[0][0]) - 1e-3 * float(abs(L).sum(axis=1).max())


def _scaled(x: FloatArray, width: float) -> tuple[FloatArray, float]:
    """X and the kernel's width in units in which squares neither over- nor underflow: a power of two, exactly."""
    numbers = np.finfo(x.dtype)
    exponent = int(np.frexp(max(x.max(), -x.min()))[1])
    if abs(exponent) > numbers.maxexp // 4:
        with np.errstate(over="ignore", under="ignore"):
            x, width = np.ldexp(x, -exponent), float(np.ldexp(width, -exponent))
    return x, max(width, float(numbers.tiny))


def _nearest(
    x: FloatArray, labels: NDArray[np.intc], k_same: int, k_other: int, n_jobs: int | None
) -> tuple[NDArray[np.intc], FloatArray]:
    """Both lists of every sample, side by side, nearest first, -1 where there is none; and the squared distances.

    Threads share the products; the lists, which do not depend on the order of the offers, belong to one at a time.
    """
    neighbors = np.full((len(x), k_same + k_other), -1, dtype=np.intc)
    distances: FloatArray = np.full(neighbors.shape, np.inf, dtype=x.dtype)
    squares = np.einsum("ij,ij->i", x, x)
    tiles = [(start, left) for start in range(0, len(x), _BLOCK) for left in range(0, start + 1, _BLOCK)]
    lists = threading.Lock()

    def search(chunk: slice) -> None:
        tile: FloatArray = np.empty(min(_BLOCK, len(x)) ** 2, dtype=x.dtype)
        for start, left in tiles[chunk]:
            _kernel.knn_products(x, start, left, _BLOCK, tile)
            with lists:
                _kernel.knn_offer(tile, squares, labels, start, left, _BLOCK, k_same, neighbors, distances)

    run_chunks(search, len(tiles), 1, n_jobs)
    return neighbors, distances


def _as_counts(value: Any, name: str, n_samples: int) -> NDArray[np.intp]:
    """A number of neighbours for each sample, at most all others."""
    counts = np.asarray(value)
    if counts.ndim == 0:
        counts = np.full(n_samples, as_count(value, name, least=0))
    if counts.shape != (n_samples,) or counts.dtype.kind not in "iu":
        raise ValueError(f"{name} must be an integer or hold one for each of {n_samples} samples, got {value!r}")
    if counts.min() < 0:
        raise ValueError(f"{name} must be >= 0, got {counts.min()}")
    return np.minimum(counts, n_samples - 1).astype(np.intp)


def _as_labels(y: ArrayLike, n_samples: int) -> NDArray[np.intc]:
    labels = np.asarray(y)
    if labels.shape != (n_samples,):
        raise ValueError(f"y must hold one label for each of {n_samples} samples, got shape {labels.shape}")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"y must hold labels, got nan at index {int(np.isnan(labels).argmax())}")
    return np.unique(labels, return_inverse=True)[1].astype(np.intc)


def _as_graph(W: Any) -> Any:
    """A symmetric CSR matrix of floats with ordered indices, the caller's own left as it was."""
    from scipy.sparse import csr_array, issparse

    if issparse(W):
        dtype = as_float_array(np.zeros(1, dtype=W.dtype), "W").dtype
        graph = csr_array(W, dtype=dtype, copy=True)
        check_finite(graph.data, "W")
        graph.sum_duplicates()
    else:
        graph = csr_array(as_float_array(W, "W", ndim=2))
    if graph.shape[0] != graph.shape[1]:
        raise ValueError(f"W must be square, got shape {graph.shape}")
    asymmetry = abs(graph - graph.T).max() if graph.nnz else 0.0
    if asymmetry > 100 * np.finfo(graph.dtype).eps * abs(graph).max():
        raise ValueError(f"W must be symmetric, got entries that differ from their mirror by {asymmetry:.3g}")
    if graph.nnz + graph.shape[0] > _MOST_EDGES:
        raise ValueError(f"W must have fewer than {_MOST_EDGES} entries, got {graph.nnz}")
    return graph
