"""Bad input gets an error that names the argument; nothing is modified, nothing is printed."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import jplrdl

X = np.arange(12.0).reshape(3, 4)
D = np.eye(4)[:2] + 0.1
G = D @ D.T

# The functions with one array each: how to call them with it, and what it is called.
ARRAYS = [
    (lambda a: jplrdl.sparse_encode(a, D, 0.1), "X"),
    (lambda a: jplrdl.sparse_encode(X, a, 0.1), "dictionary"),
    (lambda a: jplrdl.sparse_encode(X, D, 0.1, gram=a), "gram"),
    (lambda a: jplrdl.sparse_encode(X, D, 0.1, init=a), "init"),
    (lambda a: jplrdl.feature_sign_search(a, X[:, :2], 0.1), "gram"),
    (lambda a: jplrdl.feature_sign_search(G, a, 0.1), "cov"),
    (lambda a: jplrdl.prox_l1(a, 0.1), "V"),
    (lambda a: jplrdl.prox_l21(a, 0.1), "V"),
    (lambda a: jplrdl.prox_nuclear(a, 0.1), "V"),
    (lambda a: jplrdl.robust_pca(a), "X"),
    (lambda a: jplrdl.signed_knn_graph(a, [0, 1, 1], 1, 1), "X"),
    (lambda a: jplrdl.laplacian(a), "W"),
]
BAD_VALUES = [
    (np.array([[1.0, np.nan], [np.nan, 1.0]]), ValueError, "must be finite, got nan"),
    (np.array([[1.0, np.inf], [np.inf, 1.0]]), ValueError, "must be finite, got inf"),
    (np.empty((0, 4)), ValueError, "must not be empty"),
    (np.ones((2, 2), dtype=complex), TypeError, "real numbers"),
    (np.array([["a", "b"], ["c", "d"]]), TypeError, "real numbers"),
    (np.array([[None, 1], [1, None]], dtype=object), TypeError, "real numbers"),
    ([[1.0, 2.0], [3.0]], ValueError, ""),
    (np.ma.masked_array(np.ones((2, 2)), mask=True), TypeError, "masked"),
    (np.ones((2, 2, 2, 2)), ValueError, ""),
    (3.0, ValueError, ""),
]


@pytest.mark.parametrize(("call", "name"), ARRAYS)
@pytest.mark.parametrize(("value", "error", "message"), BAD_VALUES)
def test_bad_arrays_are_named(call, name, value, error, message, capfd):
    if name == "V" and getattr(value, "ndim", 0) == 4:
        pytest.skip("the element- and group-wise maps take any number of dimensions")
    with pytest.raises(error, match=f"(?s)^{name}.*{message}"):
        call(value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("call", "name"), [pair for pair in ARRAYS if pair[1] != "W"])
def test_sparse_input_is_named(call, name):
    with pytest.raises(TypeError, match=rf"{name} must be dense, got a sparse csr_array"):
        call(csr_array(np.eye(2)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jplrdl.sparse_encode(X, D[:, :3], 0.1), "same number of features, got 4 and 3"),
        (lambda: jplrdl.sparse_encode(X, D, 0.1, gram=np.eye(3)), r"gram must have shape \(2, 2\)"),
        (lambda: jplrdl.sparse_encode(X, D, 0.1, gram=np.ones((2, 3))), "gram must be square"),
        (lambda: jplrdl.sparse_encode(X, D, 0.1, init=np.ones((2, 2))), r"init must have the shape.*\(3, 2\)"),
        (lambda: jplrdl.sparse_encode(X, D, [0.1, 0.2]), "penalty must be a number or hold one for each of 3"),
        (lambda: jplrdl.sparse_encode(X, D, [0.1, 0.2, -1.0]), "penalty must be >= 0"),
        (lambda: jplrdl.sparse_encode(X * 1e200, D * 1e200, 0.1), "Gram matrix of dictionary must be finite"),
        (lambda: jplrdl.sparse_encode(X * 1e300, D * 1e10, 0.1), "product of X and dictionary must be finite"),
        (lambda: jplrdl.feature_sign_search([[1.0, 0.5], [0.4, 1.0]], [1.0, 2.0], 0.1), "gram must be symmetric"),
        (lambda: jplrdl.feature_sign_search(G, [1.0, 2.0, 3.0], 0.1), "cov must have shape"),
        (lambda: jplrdl.prox_l21(X, 0.1, axis=2), "axis must be an integer in"),
        (lambda: jplrdl.prox_l1(X, 0.1, out=np.empty((4, 3))), "out must have shape"),
        (lambda: jplrdl.prox_l1(X, 0.1, out=np.empty((3, 4), np.float32)), "out must have shape"),
        (lambda: jplrdl.robust_pca(X, rho=0.9), "rho must be >= 1"),
        (lambda: jplrdl.robust_pca(X, eta=0.0), "eta must be > 0"),
        (lambda: jplrdl.signed_knn_graph(X, [0, 1], 1, 1), "y must hold one label for each of 3"),
        (lambda: jplrdl.signed_knn_graph(X, [0, 1, np.nan], 1, 1), "y must hold labels, got nan at index 2"),
        (lambda: jplrdl.signed_knn_graph(X, [0, 1, 1], np.array([1, 2]), 1), "n_neighbors_same must be an integer or"),
        (lambda: jplrdl.signed_knn_graph(X, [0, 1, 1], np.array([1, -2, 1]), 1), "n_neighbors_same must be >= 0, got"),
        (lambda: jplrdl.sparse_encode(X, D, 0.1, n_jobs=0), "n_jobs must not be 0"),
        (lambda: jplrdl.signed_knn_graph(X, [0, 1, 1], 1, 1, weights="cosine"), "weights must be"),
        (lambda: jplrdl.signed_knn_graph(X, [0, 1, 1], 1, -1), "n_neighbors_other must be >= 0"),
        (lambda: jplrdl.signed_knn_graph(X, [0, 1, 1], 1, 1, weights="heat", kernel_width=0.0), "kernel_width"),
        (lambda: jplrdl.laplacian(np.ones((2, 3))), "W must be square"),
        (lambda: jplrdl.laplacian([[0.0, 1.0], [2.0, 0.0]]), "W must be symmetric"),
        (lambda: jplrdl.laplacian([[0.0, -1.0], [-1.0, 0.0]], normalized=True), "W must have positive degrees"),
    ],
)
def test_mismatches_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf])
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda v: jplrdl.sparse_encode(X, D, v), "penalty"),
        (lambda v: jplrdl.sparse_encode(X, D, 0.1, shift=v), "shift"),
        (lambda v: jplrdl.sparse_encode(X, D, 0.1, tol=v), "tol"),
        (lambda v: jplrdl.prox_l1(X, v), "t"),
        (lambda v: jplrdl.prox_l21(X, v), "t"),
        (lambda v: jplrdl.prox_nuclear(X, v), "t"),
        (lambda v: jplrdl.robust_pca(X, eta=v), "eta"),
        (lambda v: jplrdl.robust_pca(X, tol=v), "tol"),
    ],
)
def test_bad_numbers_are_named(call, name, value):
    with pytest.raises(ValueError, match=f"^{name} must be finite and >= 0, got {value}"):
        call(value)


@pytest.mark.parametrize("value", ["0.1", None, 1j, True])
def test_things_that_are_not_numbers(value):
    with pytest.raises(TypeError, match="t must be a real number"):
        jplrdl.prox_l1(X, value)


@pytest.mark.parametrize("value", ["2", 1.5, True])
def test_threads_are_counted(value):
    with pytest.raises(TypeError, match="n_jobs must be an integer or None"):
        jplrdl.sparse_encode(X, D, 0.1, n_jobs=value)


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (1.5, TypeError), (True, TypeError)])
def test_counts(value, error):
    with pytest.raises(error, match="max_iter must be"):
        jplrdl.sparse_encode(X, D, 0.1, max_iter=value)


def test_out_must_be_a_writeable_array():
    frozen = np.empty((3, 4))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="out must be writeable"):
        jplrdl.prox_l1(X, 0.1, out=frozen)
    with pytest.raises(TypeError, match="out must be a NumPy array"):
        jplrdl.prox_l1(X, 0.1, out=[[0.0] * 4] * 3)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, bool, np.float16, np.longdouble])
def test_other_numbers_are_converted(dtype):
    expected = np.float32 if dtype == np.float16 else np.float64
    assert jplrdl.prox_l1(np.ones((2, 2), dtype=dtype), 0.5).dtype == expected


def test_mixed_precision_is_double():
    assert jplrdl.sparse_encode(X.astype(np.float32), D, 0.1).dtype == np.float64
    assert jplrdl.sparse_encode(X.astype(np.float32), D.astype(np.float32), 0.1).dtype == np.float32
