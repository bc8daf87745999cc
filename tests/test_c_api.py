"""The C API as downstream authors meet it: a package built against the wheel gives the Python API's answers."""

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

import jplrdl
from jplrdl import reference

CONVERGED, ITERATION_LIMIT, NOT_POSITIVE_DEFINITE = 0, 1, 2

# Compiled downstream packages carry these with them. A change here breaks them: raise the minor version with it.
SIGNATURES = {
    "cython_feature_sign": {
        "feature_sign_worksize": "size_t (Py_ssize_t)",
        "feature_sign": "int (Py_ssize_t, real const *, Py_ssize_t, real const *, real, real, real, Py_ssize_t, "
        "real *, Py_ssize_t *, real *, void *)",
    },
    "cython_graph": {
        "signed_knn_worksize": "size_t (Py_ssize_t)",
        "signed_knn": "int (Py_ssize_t, Py_ssize_t, real const *, real const *, int const *, Py_ssize_t, Py_ssize_t, "
        "Py_ssize_t, Py_ssize_t, int *, real *, void *)",
        "signed_csr": "int (Py_ssize_t, Py_ssize_t, Py_ssize_t, int const *, real const *, real, int *, int *, real *)",
        "laplacian": "int (Py_ssize_t, int const *, int const *, real const *, real const *, real const *, "
        "int *, int *, real *)",
    },
    "cython_prox": {
        "prox_l1": "int (Py_ssize_t, real const *, real, real *)",
        "prox_l21_worksize": "size_t (Py_ssize_t, Py_ssize_t, Py_ssize_t)",
        "prox_l21": "int (Py_ssize_t, Py_ssize_t, Py_ssize_t, real const *, real, real *, void *)",
        "prox_nuclear_worksize": "size_t (Py_ssize_t, Py_ssize_t)",
        "prox_nuclear": "int (Py_ssize_t, Py_ssize_t, real const *, real, real *, real *, Py_ssize_t *, void *)",
    },
}

both_precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["d", "s"])


@pytest.fixture(scope="session")
def consumer(tmp_path_factory):
    """The package in tests/downstream, built with the installed jplrdl and imported."""
    folder = tmp_path_factory.mktemp("downstream")
    source = shutil.copytree(Path(__file__).with_name("downstream"), folder / "source")
    target = folder / "installed"
    # The build must find the cython whose interpreter has jplrdl, not another that happens to be on PATH.
    path = os.pathsep.join([str(Path(sys.executable).parent), sysconfig.get_path("scripts"), os.environ["PATH"]])
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = subprocess.run(
        [*pip, "install", "--no-build-isolation", "--no-deps", "--no-index", "--target", str(target), str(source)],
        cwd=folder, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    assert build.returncode == 0, build.stdout
    (built,) = target.glob("consumer*" + sysconfig.get_config_var("EXT_SUFFIX"))
    spec = importlib.util.spec_from_file_location("consumer", built)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_near(actual, expected, n_eps=100):
    """Equal but for rounding: n_eps units in the last place of the largest element."""
    assert actual.shape == np.shape(expected)
    largest = max(1.0, float(np.abs(expected).max(initial=0)))
    assert_allclose(actual, expected, rtol=0, atol=n_eps * float(np.finfo(actual.dtype).eps) * largest)


def encode(consumer, gram, cov, penalty, *, shift=0.0, init=None, max_iter=10_000):
    """codes, n_iter, residual and status of the downstream package's search"""
    codes = np.zeros_like(cov) if init is None else init.copy()
    n_iter, status = np.full(len(cov), -1, dtype=np.intp), np.full(len(cov), -1, dtype=np.intc)
    residual = np.full(len(cov), np.nan, dtype=cov.dtype)
    tol = 1e-10 if cov.dtype == np.float64 else 1e-5
    consumer.feature_sign(gram, cov, penalty, shift, tol, max_iter, codes, n_iter, residual, status)
    return codes, n_iter, residual, status


def shrink_spectra(consumer, V, t, out=None):
    """shrunk matrices, their singular values and ranks"""
    out = np.empty_like(V) if out is None else out
    singular, rank = np.empty((len(V), min(V.shape[1:])), dtype=V.dtype), np.empty(len(V), dtype=np.intp)
    assert consumer.prox_nuclear(V, t, out, singular, rank) == 0
    return out, singular, rank


def nearest(consumer, X, labels, n_same, n_other, block):
    """both lists of every sample, and the squared distances"""
    neighbors = np.full((len(X), n_same + n_other), -1, dtype=np.intc)
    distances = np.full(neighbors.shape, np.inf, dtype=X.dtype)
    assert consumer.signed_knn(X, (X * X).sum(axis=1), labels, block, n_same, neighbors, distances) == 0
    return neighbors, distances


def as_graph(consumer, neighbors, distances, n_same, width):
    n, room = len(neighbors), 2 * neighbors.size
    indptr, indices, data = np.empty(n + 1, np.intc), np.empty(room, np.intc), np.empty(room, distances.dtype)
    assert consumer.signed_csr(neighbors, distances, n_same, width, indptr, indices, data) == 0
    return csr_array((data[: indptr[-1]], indices[: indptr[-1]], indptr), shape=(n, n))


def graph_laplacian(consumer, W, degree, scale):
    n, room = len(degree), W.nnz + len(degree)
    indptr, indices, data = np.empty(n + 1, np.intc), np.empty(room, np.intc), np.empty(room, W.dtype)
    assert consumer.laplacian(W.indptr, W.indices, W.data, degree, scale, indptr, indices, data) == 0
    return csr_array((data[: indptr[-1]], indices[: indptr[-1]], indptr), shape=(n, n))


def assert_same_graph(actual, expected):
    assert_array_equal(actual.indptr, expected.indptr)
    assert_array_equal(actual.indices, expected.indices)
    assert_near(actual.data, expected.data)


@pytest.fixture
def lasso(unit_rows):
    """gram, a block of a wider matrix whose rest is NaN, and cov"""

    def draw(dtype):
        dictionary, X = unit_rows(40, 25), unit_rows(30, 25)
        wide = np.full((40, 47), np.nan, dtype=dtype)
        wide[:, :40] = dictionary @ dictionary.T
        return wide[:, :40], (X @ dictionary.T).astype(dtype)

    return draw


@pytest.fixture
def labelled(rng):
    """Samples of four classes, one of which has two samples and so fewer neighbours than are asked for."""

    def draw(dtype):
        labels = np.r_[np.full(2, 3), rng.integers(0, 3, size=43)].astype(np.intc)
        return rng.standard_normal((45, 5)).astype(dtype), labels

    return draw


# ------------------------------------------------------------------------------------------------- what is installed


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_those_that_downstream_packages_were_compiled_with(name):
    module = importlib.import_module(f"jplrdl.{name}")
    exported = {key: re.search('"(.*)"', repr(capsule))[1] for key, capsule in module.__pyx_capi__.items()}
    assert exported == {
        prefix + function: signature.replace("real", real)
        for function, signature in SIGNATURES[name].items()
        for prefix, real in (("d", "double"), ("s", "float"))
    }


def test_declarations_are_installed_beside_the_modules_and_private_ones_are_not():
    installed = Path(importlib.import_module("jplrdl.cython_prox").__file__).parent
    assert {file.stem for file in installed.glob("*.pxd")} == {"__init__", *SIGNATURES}


def test_status_codes_are_fixed(consumer):
    assert consumer.STATUSES == (CONVERGED, ITERATION_LIMIT, NOT_POSITIVE_DEFINITE)


# ----------------------------------------------------------------------------------------------------- proximal maps


@both_precisions
def test_prox_l1(consumer, rng, dtype):
    V = rng.standard_normal((7, 11)).astype(dtype)
    out = np.empty_like(V)
    assert consumer.prox_l1(V, 0.5, out) == 0
    assert_near(out, jplrdl.prox_l1(V, 0.5), n_eps=1)
    assert_near(out, reference.prox_l1(V, 0.5), n_eps=1)
    for bad in (np.nan, np.inf, -np.inf):
        for place in np.ndindex(V.shape):
            spoilt = V.copy()
            spoilt[place] = bad
            assert consumer.prox_l1(spoilt, 0.5, np.empty_like(V)) == 1
    assert consumer.prox_l1(V, 0.5, V) == 0
    assert_array_equal(V, out)


@both_precisions
@pytest.mark.parametrize("n_inner", [1, 6])
def test_prox_l21(consumer, rng, dtype, n_inner):
    V = rng.standard_normal((3, 4, 5, n_inner)).astype(dtype)
    out = np.empty_like(V)
    assert consumer.prox_l21(V, 2.0, out) == 0
    assert 0 < np.count_nonzero(out) < out.size
    assert_near(out, jplrdl.prox_l21(V, 2.0, axis=2), n_eps=5)
    assert_near(out, reference.prox_l21(V, 2.0, axis=2), n_eps=5)
    assert consumer.prox_l21(V, 2.0, V) == 0
    assert_array_equal(V, out)


@both_precisions
@pytest.mark.parametrize("shape", [(12, 7), (7, 12)], ids=["tall", "wide"])
@pytest.mark.parametrize("t", [2.5, 1e-3], ids=["gram route", "svd route"])
def test_prox_nuclear(consumer, rng, dtype, shape, t):
    V = rng.standard_normal((3, *shape)).astype(dtype)
    out, singular, rank = shrink_spectra(consumer, V, t)
    for v, u, s, r in zip(V, out, singular, rank, strict=True):
        ours, our_rank = jplrdl.prox_nuclear(v, t)
        true, true_rank = reference.prox_nuclear(v, t)
        assert r == our_rank == true_rank == np.count_nonzero(s)
        assert_near(u, ours, n_eps=10)
        assert_near(u, true, n_eps=500)
        assert_near(s, np.maximum(np.linalg.svd(v, compute_uv=False) - t, 0), n_eps=500)
    in_place = shrink_spectra(consumer, V, t, out=V)[0]
    assert_array_equal(in_place, out)


# ----------------------------------------------------------------------------------------------- feature-sign search


@both_precisions
@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_feature_sign(consumer, lasso, dtype, shift):
    gram, cov = lasso(dtype)
    codes, n_iter, residual, status = encode(consumer, gram, cov, 0.1, shift=shift)
    ours, info = jplrdl.feature_sign_search(gram, cov, 0.1, shift=shift, return_info=True)
    assert_array_equal(status, CONVERGED)
    assert_array_equal(n_iter, info.n_iter)
    assert_near(codes, ours)
    assert (residual <= (2e-10 if dtype == np.float64 else 2e-5) * np.abs(cov).max(axis=1)).all()
    true = reference.feature_sign_search(gram.astype(float), cov.astype(float), 0.1, shift=shift)
    assert_allclose(codes, true, rtol=0, atol=1e-8 if dtype == np.float64 else 1e-3)


@both_precisions
def test_feature_sign_codes_samples_over_a_dictionary(consumer, unit_rows, dtype):
    X, dictionary = unit_rows(10, 30, dtype), unit_rows(20, 30, dtype)
    codes = encode(consumer, dictionary @ dictionary.T, X @ dictionary.T, 0.05)[0]
    assert_near(codes, jplrdl.sparse_encode(X, dictionary, 0.05), n_eps=1000)


@both_precisions
def test_feature_sign_takes_the_answer_as_a_warm_start(consumer, lasso, dtype):
    gram, cov = lasso(dtype)
    codes = encode(consumer, gram, cov, 0.1)[0]
    again, n_iter, _, status = encode(consumer, gram, cov, 0.1, init=codes)
    assert_array_equal(status, CONVERGED)
    assert (n_iter <= 1).all()
    assert_near(again, codes)


@both_precisions
def test_feature_sign_stops_at_the_iteration_limit(consumer, lasso, dtype):
    gram, cov = lasso(dtype)
    codes, n_iter, residual, status = encode(consumer, gram, cov, 0.01, max_iter=1)
    assert_array_equal(status, ITERATION_LIMIT)
    assert_array_equal(n_iter, 1)
    assert np.isfinite(codes).all()
    assert (residual > 0).all()


@both_precisions
def test_feature_sign_reports_an_indefinite_gram_matrix(consumer, dtype):
    gram, cov = np.array([[1, 2], [2, 1]], dtype=dtype), np.array([[1, 1], [1, -1]], dtype=dtype)
    codes, _, residual, status = encode(consumer, gram, cov, 0.1)
    assert_array_equal(status, NOT_POSITIVE_DEFINITE)
    assert np.isfinite(codes).all()
    assert_near(residual, [reference.optimality_residual(gram, b, 0.1, a) for b, a in zip(cov, codes, strict=True)])


# ------------------------------------------------------------------------------------------------------------ graphs


@both_precisions
@pytest.mark.parametrize("block", [1, 8, 45, 64])
def test_signed_knn(consumer, labelled, dtype, block):
    X, labels = labelled(dtype)
    neighbors, distances = nearest(consumer, X, labels, 3, 2, block)
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    for i, order in enumerate(np.argsort(squared, axis=1)):
        others = order[order != i]
        same, other = others[labels[others] == labels[i]][:3], others[labels[others] != labels[i]][:2]
        padding = np.full(3 - len(same), -1)
        assert_array_equal(neighbors[i], np.r_[same, padding, other])
        assert_near(distances[i, neighbors[i] >= 0], squared[i, np.r_[same, other]])
        assert np.isinf(distances[i, neighbors[i] < 0]).all()


@both_precisions
def test_signed_csr(consumer, labelled, dtype):
    X, labels = labelled(dtype)
    lists = nearest(consumer, X, labels, 3, 2, block=8)
    by_sign, by_heat = as_graph(consumer, *lists, 3, np.inf), as_graph(consumer, *lists, 3, 1.5)
    assert set(by_sign.data) == {1, -1}
    assert_same_graph(by_sign, jplrdl.signed_knn_graph(X, labels, 3, 2))
    assert_same_graph(by_heat, jplrdl.signed_knn_graph(X, labels, 3, 2, weights="heat", kernel_width=1.5))
    assert_near(by_sign.toarray(), reference.signed_knn_graph(X, labels, 3, 2).toarray())
    heat = reference.signed_knn_graph(X, labels, 3, 2, weights="heat", kernel_width=1.5)
    assert_near(by_heat.toarray(), heat.toarray())


@both_precisions
def test_laplacian(consumer, labelled, dtype):
    X, labels = labelled(dtype)
    W = jplrdl.signed_knn_graph(X, labels, 3, 2, weights="heat", kernel_width=1.5)
    degree, magnitudes = W.sum(axis=1), abs(W).sum(axis=1)
    plain = graph_laplacian(consumer, W, degree, np.ones_like(degree))
    normalized = graph_laplacian(consumer, W, magnitudes, magnitudes**-0.5)
    assert_same_graph(plain, jplrdl.laplacian(W))
    assert_same_graph(normalized, jplrdl.laplacian(W, normalized=True, signed=True))
    assert_near(plain.toarray(), reference.laplacian(W).toarray())
    assert_near(normalized.toarray(), reference.laplacian(W, normalized=True, signed=True).toarray())


# ----------------------------------------------------------------------------------------------------------- threads


@both_precisions
def test_two_threads_at_once_give_the_same_answers(consumer, rng, lasso, labelled, dtype):
    gram, cov = lasso(dtype)
    matrices = rng.standard_normal((20, 30, 20)).astype(dtype)
    calls = [
        partial(encode, consumer, gram, cov, 0.02),
        partial(encode, consumer, gram, cov, 0.3, shift=0.1),
        partial(shrink_spectra, consumer, matrices, 4.0),
        partial(shrink_spectra, consumer, matrices, 1e-3),
        partial(nearest, consumer, *labelled(dtype), 3, 2, 8),
    ]
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(2) as pool:
        alone = [call() for call in calls]
        together = list(pool.map(lambda call: call(), 20 * calls))
    for answers, expected in zip(together, 20 * alone, strict=True):
        for answer, truth in zip(answers, expected, strict=True):
            assert_array_equal(answer, truth)
