"""What a right answer must satisfy, for numbers of any size: in extended precision, or scaled to safe squares."""

import numpy as np
from scipy.sparse import csr_array

LONG = np.longdouble


def rounding(dtype):
    """eps and the smallest positive number."""
    numbers = np.finfo(dtype)
    return float(numbers.eps), LONG(numbers.smallest_subnormal)


def power_of_two(array):
    """The power of two by which to divide so that the largest element lies in [1/2, 1); 1 for zeros."""
    largest = np.abs(array).max()
    return LONG(2) ** int(np.frexp(LONG(largest))[1]) if largest > 0 else LONG(1)


def check_codes(X, dictionary, penalty, shift, codes, info, tol):
    """The optimality conditions of every sample that is said to have converged; all codes are finite."""
    assert np.isfinite(codes).all()
    eps, least = rounding(codes.dtype)
    D, X = dictionary.astype(LONG), X.astype(LONG)
    sizes = np.abs(D) @ np.abs(D).T
    for x, a, status in zip(X, codes.astype(LONG), info.status, strict=True):
        assert status in (0, 1, 2)
        if status != 0:
            continue
        b = D @ x
        g = 2 * (D @ (a @ D - x) + LONG(shift) * a)
        penalty_, support = LONG(penalty), a != 0
        left = np.where(support, np.abs(g + penalty_ * np.sign(a)), np.abs(g) - penalty_).max()
        # What rounding of the Gram matrix, of the products and of the search itself may leave.
        size = (sizes @ np.abs(a)).max() + (np.abs(D) @ np.abs(x)).max() + LONG(shift) * np.abs(a).max() + penalty_
        allowed = 2 * tol * np.abs(b).max() + 100 * len(D) * eps * size
        allowed += 100 * D.shape[1] * least * (1 + np.abs(a).sum())
        assert left <= allowed, (left, allowed)


def check_prox_l1(V, t, U):
    expected = np.sign(V.astype(LONG)) * np.maximum(np.abs(V.astype(LONG)) - LONG(t), 0)
    eps, least = rounding(U.dtype)
    assert (np.abs(U - expected) <= 2 * eps * np.abs(V.astype(LONG)) + 2 * least).all()


def check_prox_l21(V, t, axis, U):
    V = V.astype(LONG)
    norm = np.sqrt((V * V).sum(axis=axis, keepdims=True))
    scale = np.maximum(1 - LONG(t) / np.where(norm > 0, norm, 1), 0) * (norm > 0)
    eps, least = rounding(U.dtype)
    assert (np.abs(U - scale * V) <= (20 + V.shape[axis]) * eps * np.abs(V) + 4 * least).all()


def check_prox_nuclear(V, t, U, rank):
    """V - U is a subgradient of t |U|_*: |V - U|_2 <= t and <V - U, U> = t |U|_*."""
    eps, least = rounding(U.dtype)
    scale = power_of_two(V)
    V, U = ((value.astype(LONG) / scale).astype(np.float64) for value in (V, U))
    t = float(min(LONG(t) / scale, LONG(1e300)))
    largest = np.linalg.norm(V, 2)
    slack = 2**10 * max(V.shape) * eps * largest + float(10 * V.size * least / scale)
    values = np.linalg.svd(U, compute_uv=False)
    assert np.linalg.norm(V - U, 2) <= t + slack
    assert abs(np.sum((V - U) * U) - t * values.sum()) <= slack * (values.sum() + largest)
    assert rank == np.sum(values > slack) or np.abs(values - slack).min() <= slack


def check_robust_pca(X, eta, result, tol):
    """Feasible if it says so, and the gap is one: no less than rounding, and of the objective that is told."""
    eps, least = rounding(X.dtype)
    scale = power_of_two(X)
    step = float(10 * X.size * least / scale)       # of numbers so small that they have few digits
    X, L, E = ((value.astype(LONG) / scale).astype(np.float64) for value in (X, result.low_rank, result.sparse))
    assert np.isfinite(L).all()
    assert np.isfinite(E).all()
    size = np.linalg.norm(X)
    if result.converged:
        assert np.linalg.norm(X - L - E) <= (tol + 100 * eps) * size + step
    value = np.linalg.norm(L, "nuc") + eta * np.abs(X - L).sum()
    told, gap = float(LONG(result.objective) / scale), float(LONG(result.gap) / scale)
    slack = (1e4 * eps * np.sqrt(X.size) * size + step) * (1 + eta * np.sqrt(X.size))
    assert abs(told - value) <= slack + 1e-9 * value
    assert gap >= -slack


def check_graph(X, y, n_same, n_other, graph):
    """Signs follow the labels, the matrix is symmetric, and no neighbour is farther than one that was left out."""
    eps = rounding(graph.dtype)[0]
    W = graph.toarray()
    np.testing.assert_array_equal(W, W.T)
    same = np.equal.outer(y, y)
    assert not W.diagonal().any()
    assert (W[same] >= 0).all()
    assert (W[~same] <= 0).all()
    X = X.astype(LONG) / power_of_two(X)
    distance = ((X[:, None] - X) ** 2).sum(axis=2)
    slack = 20 * (X.shape[1] + 1) * eps * (X**2).sum(axis=1).max()
    for i in range(len(X)):
        for there, count in ((same[i], n_same), (~same[i], n_other)):
            others = np.flatnonzero(there & (np.arange(len(X)) != i))
            nearest = np.sort(distance[i, others])
            count = min(count, len(others))
            if count:
                inside = distance[i, others] < nearest[count - 1] - slack
                assert (W[i, others[inside]] != 0).all()
                assert np.count_nonzero(W[i, others]) >= count


def check_laplacian(W, normalized, signed, L):
    W = W.astype(LONG)
    degree = (np.abs(W) if signed else W).sum(axis=1)
    joined = np.abs(W).sum(axis=1) > 0
    expected = np.diag(degree) - W
    if normalized:
        root = np.where(joined, 1 / np.sqrt(np.where(joined, degree, 1)), 0)
        expected = root[:, None] * expected * root
    eps, least = rounding(L.dtype)
    # A degree is a sum: where weights cancel, its error is one of the weights.
    size = np.abs(W).sum(axis=1)
    if normalized and (np.abs(degree) <= 20 * len(W) * eps * size)[joined].any():
        return  # rounding alone decides whether this degree is positive
    if normalized:
        size = size * np.where(joined, 1 / np.where(joined, np.abs(degree), 1), 0)
    allowed = 20 * len(W) * eps * (np.abs(expected) + np.diag(size) + np.sqrt(np.outer(size, size)) * normalized)
    assert isinstance(L, csr_array)
    assert (np.abs(L.toarray() - expected) <= allowed + 10 * len(W) * least).all()
