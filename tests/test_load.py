"""Many samples and many calls: memory does not grow with them."""

import gc
import tracemalloc

import numpy as np
import pytest

import jplrdl
from jplrdl import JPLRDLClassifier, JPLRDLClassifierCV
from jplrdl.huber import huber_fit

N_CALLS = 10_000


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    centres = rng.random((3, 12))
    y = np.repeat(np.arange(3), 8)
    return JPLRDLClassifier(4, n_atoms=1, max_iter=1).fit(centres[y] + 0.1 * rng.random((24, 12)), y)


def peak_memory(function):
    """The answer, and the most bytes that were allocated at once on the way to it."""
    gc.collect()
    tracemalloc.start()
    try:
        return function(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("dtype", "n_samples"), [
    (np.uint8, 100_000), (np.float64, 50_000), pytest.param(np.uint8, 1_000_000, marks=pytest.mark.long),
])  # fmt: skip
def test_samples_on_a_disk_stay_there(fitted, tmp_path, dtype, n_samples):
    rng = np.random.default_rng(1)
    X = np.memmap(tmp_path / "X", dtype, "w+", shape=(n_samples, 12))
    X[:] = rng.integers(0, 256, X.shape, dtype=np.uint8)
    del X
    X = np.memmap(tmp_path / "X", dtype, "r", shape=(n_samples, 12))
    labels, peak = peak_memory(lambda: fitted.predict(X))
    # The labels, the class of each sample, and a portion: a million samples alone have 96 MB as float64.
    assert peak < 2 * labels.nbytes + 4e6
    few = slice(23_456, 23_556)
    np.testing.assert_array_equal(labels[few], fitted.predict(np.array(X[few])))


def test_portions_make_no_difference(fitted):
    X = np.random.default_rng(2).random((10_000, 12))
    scores = fitted.decision_function(X)
    for rows in (slice(0, 1), slice(4000, 4200), slice(9_990, None)):
        np.testing.assert_allclose(fitted.decision_function(X[rows]), scores[rows], rtol=1e-10)
    np.testing.assert_array_equal(fitted.decision_function(X.tolist()), scores)
    np.testing.assert_array_equal(fitted.predict(X), np.argmax(scores, axis=1))
    bad = X.copy()
    bad[9_999, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict(bad)


def test_a_search_hands_arrays_on_as_they_are(tmp_path):
    rng = np.random.default_rng(3)
    X, y = rng.random((30, 12)), np.repeat([0, 1, 2], 10)
    search = JPLRDLClassifierCV(
        JPLRDLClassifier(3, n_atoms=2, max_iter=1), lambda_sparse=[0.1], lambda_graph=None, code_penalty=None,
        mean_weight=None, cv=2,
    ).fit(X, y)  # fmt: skip
    new = np.memmap(tmp_path / "X", np.uint8, "w+", shape=(100_000, 12))
    new[:] = rng.integers(0, 256, new.shape)
    labels, peak = peak_memory(lambda: search.predict(new))
    assert peak < 2 * labels.nbytes + 4e6


def test_a_graph_needs_no_copy_of_the_samples():
    y = np.arange(400) % 4
    narrow, wide = (np.random.default_rng(0).standard_normal((400, m)) for m in (10, 4000))
    peaks = [peak_memory(lambda X=X: jplrdl.signed_knn_graph(X, y, 5, 5))[1] for X in (narrow, wide)]
    assert peaks[1] < peaks[0] + wide.nbytes / 10


def resident_memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


rng = np.random.default_rng(0)
X, D = rng.standard_normal((3, 6)), rng.standard_normal((8, 6))
Y = np.array([0, 0, 1])


def provoke():
    with pytest.raises(ValueError, match="finite"):
        jplrdl.prox_l1([np.nan], 0.5)


CALLS = {
    "sparse_encode": lambda: jplrdl.sparse_encode(X, D, 0.5),
    "feature_sign_search": lambda: jplrdl.feature_sign_search(np.eye(6), X, 0.5),
    "prox_l1": lambda: jplrdl.prox_l1(X, 0.5),
    "prox_l21": lambda: jplrdl.prox_l21(X, 0.5),
    "prox_nuclear": lambda: jplrdl.prox_nuclear(X, 0.5),
    "prox_nuclear by svd": lambda: jplrdl.prox_nuclear(X, 1e-9),
    "robust_pca": lambda: jplrdl.robust_pca(X[:2, :3], rho=4.0, tol=1e-3),
    "signed_knn_graph": lambda: jplrdl.signed_knn_graph(X, Y, 1, 1),
    "laplacian": lambda: jplrdl.laplacian(np.ones((3, 3)) - np.eye(3)),
    "huber_fit": lambda: huber_fit(X, np.eye(6)[:2], 0.1, [0.1, 0.1]),
    "an error": provoke,
}


@pytest.mark.long
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_no_call_leaks(call):
    try:
        resident_memory()
    except OSError:
        pytest.skip("this system does not tell the resident memory of a process in /proc")
    for _ in range(N_CALLS // 10):
        call()
    gc.collect()
    before = resident_memory()
    for _ in range(N_CALLS):
        call()
    gc.collect()
    # A leak of the smallest array would be more than a hundred bytes a call.
    assert resident_memory() - before < 50 * N_CALLS
