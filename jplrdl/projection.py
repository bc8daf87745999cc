"""The projection: the first P (Algorithm 2) and its update (eq20), without an m x m matrix.

Samples are rows: Y = XP is the projected data, P'P = I.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cholesky, eigh, lapack, qr, svd

from ._algebra import inner, is_lower_triangular, squares_of_rows, top_eigenvalue
from ._products import gram_matrix, product, triangular_solve
from ._validation import FloatArray, as_count, as_float_array, as_nonnegative
from .inverse_root import inverse_root
from .span import find_span, polished
from .tridiagonal import some_eigenvectors

_PROXIMAL = 2.0**-16


def initial_projection(
    X: ArrayLike, n_components: int, *, graph: Any = None, method: Literal["lpp", "pca"] = "lpp", ridge: float = 1e-3
) -> FloatArray:
    """The first projection, shape (n_features, n_components), orthonormal columns.

    "pca": the directions of largest energy |XP|^2. "lpp" (locality preserving projections): the directions v with the
    smallest v'(X'LX + rI)v / v'X'DXv, for the Laplacian L and the degrees D of the positive edges of `graph`; the
    generalised problem is solved in the span of X, where X'DX is regular; the columns are an orthonormal basis of what
    these directions span. r, `ridge` times the mean eigenvalue of X'DX, keeps directions of hardly any energy from
    coming first: with more features than samples they would map every class to a point, whatever the samples are. A
    large one leads towards the directions of largest energy.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    n_components : int
        At most the rank of X.
    graph : sparse matrix of shape (n_samples, n_samples)
        Weights, for "lpp"; negative ones are left out.
    method : "lpp" or "pca"
    ridge : float >= 0
        For "lpp".

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.projection import initial_projection
    >>> abs(initial_projection([[2.0, 0.0], [0.0, 1.0]], 1, method="pca"))
    array([[1.],
           [0.]])
    """
    x = as_float_array(X, "X", ndim=2)
    span = find_span(x)
    if not 1 <= as_count(n_components, "n_components") <= span.rank:
        raise ValueError(f"n_components must be at most the rank of X, {span.rank}, got {n_components}")
    first = first_directions(
        span.coordinates, n_components, graph=graph, method=method, ridge=as_nonnegative(ridge, "ridge")
    )
    return _signed(polished(span.lift(first)))


def first_directions(
    X: FloatArray,
    n_components: int,
    *,
    graph: Any = None,
    method: Literal["lpp", "pca"] = "lpp",
    ridge: float = 1e-3,
    n_jobs: int | None = None,
) -> FloatArray:
    """initial_projection of samples that are in a basis of their span already."""
    if method == "pca":
        directions = svd(X, full_matrices=False)[2][:n_components].T
    elif method == "lpp":
        directions = _locality_preserving(X.astype(np.float64, copy=False), graph, n_components, ridge, n_jobs)
    else:
        raise ValueError(f"method must be 'lpp' or 'pca', got {method!r}")
    return _signed(directions.astype(X.dtype, copy=False))


def _signed(P: FloatArray) -> FloatArray:
    """Each column with the sign that makes its largest element positive, whatever LAPACK has given it."""
    return np.ascontiguousarray(P * np.sign(P[np.abs(P).argmax(axis=0), np.arange(P.shape[1])]))


class _Edges(NamedTuple):
    """Positive weights, their sums, D without zeros, and r."""

    positive: Any
    degree: FloatArray
    scale: FloatArray
    ridge: float


def _locality_preserving(
    x: FloatArray, graph: Any, n_components: int, ridge: float, n_jobs: int | None
) -> FloatArray:
    """An orthonormal basis of the span of the first directions.

    If most of all directions are wanted, it is what the few others leave: eigenvectors v and w of two eigenvalues have
    v'X'DXw = 0, so that all X'DXw are orthogonal to the first directions.
    """
    if graph is None:
        raise ValueError("graph must be given for method='lpp', got None")
    n = x.shape[1]
    if n_components == n:
        return np.eye(n)
    positive = graph.maximum(0)
    degree = np.asarray(positive.sum(axis=1)).ravel()
    # A sample without positive edges would make X'DX singular: it counts as its own neighbour.
    scale = np.where(degree > 0, degree, 1)
    mean_eigenvalue = float(scale @ squares_of_rows(x)) / n
    wanted = slice(n_components, n) if 4 * (n - n_components) < n else slice(0, n_components)
    solve = _of_independent_samples if is_lower_triangular(x) else _of_samples
    found = solve(x, _Edges(positive, degree, scale, ridge * mean_eigenvalue), wanted, n_jobs)
    if wanted.start == 0:
        return np.linalg.qr(found)[0]
    return _complement(found, n_jobs=n_jobs)


def _of_samples(x: FloatArray, edges: _Edges, wanted: slice, n_jobs: int | None) -> FloatArray:
    """The directions v that are wanted, the first, or X'DXv of the last."""
    positive, degree, scale, ridge = edges
    scatter = x.T @ (scale[:, None] * x)
    local = x.T @ (degree[:, None] * x - positive @ x)
    local[np.diag_indices_from(local)] += ridge
    # Divide and conquer finds all eigenvectors sooner than bisection finds a quarter of them.
    few = 4 * (wanted.stop - wanted.start) < len(local)
    vectors = eigh(
        (local + local.T) / 2, (scatter + scatter.T) / 2,
        driver="gvx" if few else "gvd", subset_by_index=(wanted.start, wanted.stop - 1) if few else None,
    )[1]  # fmt: skip
    chosen: FloatArray = vectors if few else vectors[:, wanted]
    return chosen if wanted.start == 0 else scatter @ chosen


def _of_independent_samples(x: FloatArray, edges: _Edges, wanted: slice, n_jobs: int | None) -> FloatArray:
    """_of_samples whose coordinates are a regular triangular matrix, by an eigenproblem that is not generalised.

    With u = D^1/2 X v it is that of D^-1/2 (L + r (XX')^-1) D^-1/2: neither X'LX nor X'DX is needed.
    """
    positive, degree, scale, ridge = edges
    root = np.sqrt(scale)
    inverse = lapack.dtrtri(x.T)[0].T / root
    local = ridge * gram_matrix(inverse.T, n_jobs=n_jobs)
    local -= (positive / root[:, None] / root).toarray()
    local[np.diag_indices_from(local)] += degree / scale
    vectors = some_eigenvectors(local, wanted, n_jobs=n_jobs)
    if wanted.start > 0:
        return product(x.T, root[:, None] * vectors, n_jobs=n_jobs, triangle="upper")
    return product(inverse, np.ascontiguousarray(vectors), n_jobs=n_jobs, triangle="lower")


def _complement(A: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
    """An orthonormal basis of all that is orthogonal to independent columns: the last columns of Q in A = QR.

    Q is a product of reflectors I - tau vv', or I - VTV' with all v in one matrix: T^-1 has the v'v above its diagonal
    and 1/tau on it. So one product of large matrices takes the place of reflectors, one after another.
    """
    n, k = A.shape
    (reflectors, tau), _ = qr(A, mode="raw")
    V = np.tril(reflectors, -1)
    V[np.arange(k), np.arange(k)] = 1
    inverse = np.triu(V.T @ V, 1)
    inverse[np.diag_indices(k)] = 1 / np.where(tau == 0, 1, tau)  # without a reflector v is a unit vector, of no effect
    last = product(V, triangular_solve(inverse, -V[k:].T), n_jobs=n_jobs)
    last[np.arange(k, n), np.arange(n - k)] += 1
    return last


def update_projection(
    P: ArrayLike,
    quadratic: ArrayLike,
    linear: ArrayLike,
    *,
    ceiling: float | None = None,
    curvature: float | None = None,
    n_steps: int = 1,
    tol: float = 1e-6,
) -> tuple[FloatArray, float]:
    """Descend tr(P'MP) - 2 tr(P'B) over the P with orthonormal columns, from P, by the generalised power method.

    With a >= the largest eigenvalue of M, -tr(P'(aI - M)P) is concave and lies below its tangent at P, whose minimum is
    the polar factor of (aI - M)P + B: no step ascends. A smaller a, the curvature, makes longer steps: it is divided by
    four after every step that descends, and multiplied by four, up to that eigenvalue, after one that does not and is
    not taken. Of a square P the first term is constant, and the polar factor of B is the minimum. If what it is the
    polar factor of is all but singular, it stays near to P where that tells it nothing.

    Parameters
    ----------
    P : array-like of shape (n_features, n_components)
        Orthonormal columns.
    quadratic : array-like of shape (n_features, n_features)
        M, symmetric.
    linear : array-like of shape (n_features, n_components)
        B.
    ceiling : float, optional
        The largest eigenvalue of M, where it is known already.
    curvature : float, optional
        a of the first step: `ceiling` by default, or what an earlier update of a similar problem has come to.
    n_steps : int
        Most steps to try.
    tol : float
        Relative descent of a step below which it stops.

    Returns
    -------
    P : ndarray of the shape of P
    curvature : float
        For the next update.

    Examples
    --------
    The smallest eigenvector is the minimum for B = 0:

    >>> import numpy as np
    >>> from jplrdl.projection import update_projection
    >>> P, _ = update_projection([[0.6], [0.8]], np.diag([1.0, 3.0]), [[0.0], [0.0]], n_steps=100, tol=0.0)
    >>> abs(P).round(6)
    array([[1.],
           [0.]])
    """
    p, m, b = (as_float_array(a, name, ndim=2) for a, name in ((P, "P"), (quadratic, "quadratic"), (linear, "linear")))
    if m.shape != (len(p), len(p)) or b.shape != p.shape:
        raise ValueError(f"quadratic and linear must fit P of shape {p.shape}, got shapes {m.shape} and {b.shape}")
    if p.shape[0] == p.shape[1]:
        return turn_projection(p, b), 0.0
    return descend_projection(
        p, m, b, top_eigenvalue(m) if ceiling is None else ceiling,
        None if curvature is None else as_nonnegative(curvature, "curvature"),
        n_steps=as_count(n_steps, "n_steps", least=0), tol=tol,
    )  # fmt: skip


def turn_projection(p: FloatArray, b: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
    """update_projection of a square P, for arrays that need no check."""
    best = nearest_orthonormal(b, p, n_jobs=n_jobs)
    return best if inner(best, b) > inner(p, b) else p


def descend_projection(
    p: FloatArray,
    m: FloatArray,
    b: FloatArray,
    ceiling: float,
    curvature: float | None,
    *,
    n_steps: int = 1,
    tol: float = 1e-6,
) -> tuple[FloatArray, float]:
    """update_projection of a P with fewer columns than rows, for arrays that need no check."""
    ceiling = max(0.0, ceiling)
    a = ceiling if curvature is None else min(curvature, ceiling)
    moved = m @ p
    value = inner(p, moved) - 2 * inner(p, b)
    for _ in range(n_steps):
        candidate = nearest_orthonormal(p.dtype.type(a) * p - moved + b, p)
        candidate_moved = m @ candidate
        candidate_value = inner(candidate, candidate_moved) - 2 * inner(candidate, b)
        taken, last = candidate_value <= value, a
        a = next_curvature(a, ceiling, taken)
        if not taken:
            if last == ceiling:
                break
            continue
        descent = value - candidate_value
        p, moved, value = candidate, candidate_moved, candidate_value
        if descent <= tol * abs(value):
            break
    return p, a


def next_curvature(a: float, ceiling: float, taken: bool) -> float:
    """a of the next step: longer after a step that was taken, shorter after one that would have ascended."""
    return a / 4 if taken else min(4 * a, ceiling)


def nearest_orthonormal(A: FloatArray, P: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
    """The polar factor of A, the matrix with orthonormal columns that maximises tr(P'A).

    Where A is all but singular, it says next to nothing of some directions, and of those that maximise it the one near
    to the present P is wanted: the polar factor of A + sP, for a small s, is a proximal step from there. A singular
    value decomposition would choose those directions by rounding errors; it is what remains if A + sP is singular too.
    """
    shift = A.dtype.type(_PROXIMAL * float(np.linalg.norm(A)))
    if shift == 0:
        return P
    gram = gram_matrix(A.T, n_jobs=n_jobs)
    # A square P follows B alone, which is often singular: before an inverse root is sought in vain, pivots tell.
    singular = A.shape[0] == A.shape[1] and _smallest_pivot(gram) < _least_eigenvalue(A)
    found = None if singular else _polar(A, gram, n_jobs)
    if found is None:
        moved = (A + shift * P).astype(np.float64, copy=False)
        found = _polar(moved, gram_matrix(moved.T, n_jobs=n_jobs), n_jobs)
    if found is None:
        U, _, Vt = svd(A, full_matrices=False)
        found = product(U, Vt, n_jobs=n_jobs)
    return found.astype(A.dtype, copy=False)


def _polar(A: FloatArray, gram: FloatArray, n_jobs: int | None) -> FloatArray | None:
    """A (A'A)^-1/2, or None if A is too ill-conditioned; `gram` is A'A, and lost.

    Squaring brings an error of eps times the squared condition number, which costs the columns so much of their
    orthonormality and turns them by as much; the latter is of second order in the tr(P'A) that they maximise.
    """
    root = inverse_root(gram, _least_eigenvalue(A), n_jobs=n_jobs)
    if root is None:
        return None
    found = product(A, root.matrix, n_jobs=n_jobs)
    exact = root.firmness > np.finfo(A.dtype).eps ** 0.25
    return found if exact else polished(found, n_jobs=n_jobs)


def _least_eigenvalue(A: FloatArray) -> float:
    """Of A'A, as a share of the largest, from where on its inverse root serves."""
    return float(np.finfo(A.dtype).eps ** 0.75)


def _smallest_pivot(gram: FloatArray) -> float:
    """Of Cholesky's method, a share of the largest: a bound of the smallest eigenvalue, far cheaper than that."""
    try:
        pivots = np.diagonal(cholesky(gram)) ** 2
    except LinAlgError:
        return 0.0
    return float(pivots.min() / pivots.max())
