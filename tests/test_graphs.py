"""Graphs against the reference, which sorts all distances, and against what a Laplacian must satisfy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import laplacian as scipy_laplacian
from strategies import dtypes, layouts, seeds

import jplrdl
from jplrdl import reference
from jplrdl.graphs import shifted_laplacian


@given(seeds, st.integers(1, 60), st.integers(1, 6), st.integers(0, 8), st.integers(0, 8), dtypes, layouts,
       st.sampled_from(["sign", "heat"]))
def test_graph_matches_the_reference_with_ties(seed, n, n_classes, k_same, k_other, dtype, layout, weights):
    """Coordinates are small whole numbers: distances are exact and many are equal, so that the index must decide."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (n, 3)).astype(dtype), rng.integers(0, n_classes, n)
    ours = jplrdl.signed_knn_graph(layout(X), y, k_same, k_other, weights=weights, kernel_width=1.5)
    theirs = reference.signed_knn_graph(X, y, k_same, k_other, weights=weights, kernel_width=1.5)
    assert ours.dtype == dtype
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3, -1])
def test_threads_find_the_same_neighbours_and_ties(rng, n_jobs):
    """Ten tiles in any order; most distances are equal to others, so that an order which counts would show."""
    X, y = rng.integers(0, 3, (900, 5)).astype(float), rng.integers(0, 4, 900)
    ours = jplrdl.signed_knn_graph(X, y, 6, 8, weights="heat", n_jobs=n_jobs)
    assert abs(ours - reference.signed_knn_graph(X, y, 6, 8, weights="heat")).max() <= 1e-15


@pytest.mark.parametrize("n", [255, 256, 257, 600])
def test_blocks_fit_together(rng, n):
    X, y = rng.integers(0, 4, (n, 4)).astype(float), rng.integers(0, 5, n)
    ours = jplrdl.signed_knn_graph(X, y, 7, 9)
    assert abs(ours - reference.signed_knn_graph(X, y, 7, 9)).max() == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_real_coordinates(rng, dtype):
    X, y = rng.standard_normal((300, 40)).astype(dtype), rng.integers(0, 5, 300)
    ours = jplrdl.signed_knn_graph(X, y, 5, 5, weights="heat", kernel_width=6.0)
    theirs = reference.signed_knn_graph(X.astype(float), y, 5, 5, weights="heat", kernel_width=6.0)
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-4 if dtype == np.float32 else 1e-11)


def test_graph_is_symmetric_ordered_and_canonical(rng):
    X, y = rng.standard_normal((100, 5)), rng.integers(0, 3, 100)
    graph = jplrdl.signed_knn_graph(X, y, 4, 6, weights="heat")
    assert abs(graph - graph.T).max() == 0
    assert not graph.diagonal().any()
    assert graph.has_canonical_format
    rows, columns = graph.nonzero()
    assert ((graph.data > 0) == (y[rows] == y[columns])).all()


def test_every_sample_may_have_its_own_number_of_neighbours(rng):
    X, y = rng.standard_normal((40, 4)), rng.integers(0, 3, 40)
    same, other = rng.integers(0, 5, 40), rng.integers(0, 5, 40)
    graph = jplrdl.signed_knn_graph(X, y, same, other).toarray()
    expected = np.zeros((40, 40))
    for i in range(40):
        row = reference.signed_knn_graph(X, y, same[i], other[i]).toarray()
        lists = np.zeros(40, dtype=bool)
        nearest = np.argsort(((X - X[i]) ** 2).sum(axis=1), kind="stable")[1:]
        lists[nearest[y[nearest] == y[i]][: same[i]]] = True
        lists[nearest[y[nearest] != y[i]][: other[i]]] = True
        expected[i, lists] = row[i, lists]
        expected[lists, i] = row[i, lists]
    np.testing.assert_array_equal(graph, expected)


def test_shifted_laplacian_touches_zero(rng):
    X, y = rng.standard_normal((50, 4)), rng.integers(0, 3, 50)
    W = jplrdl.signed_knn_graph(X, y, 3, 6)
    values = np.linalg.eigvalsh(shifted_laplacian(W).toarray())
    assert abs(values[0]) < 1e-10
    positive = abs(W)
    np.testing.assert_allclose(shifted_laplacian(positive).toarray(), jplrdl.laplacian(positive).toarray(), atol=1e-12)


@pytest.mark.parametrize("steps", [1, 60])
@pytest.mark.parametrize("dense", [10, 3000])
def test_shifted_laplacian_of_many_samples_is_positive_too(rng, monkeypatch, steps, dense):
    """The smallest eigenvalue comes from Lanczos' method, or, where that has not found it, from others."""
    monkeypatch.setattr("jplrdl.graphs._DENSE", dense)
    monkeypatch.setattr("jplrdl._algebra._MOST_STEPS", steps)
    W = jplrdl.signed_knn_graph(rng.standard_normal((400, 4)), rng.integers(0, 3, 400), 3, 6)
    value = np.linalg.eigvalsh(shifted_laplacian(W).toarray())[0]
    assert -1e-12 < value < (0.1 if steps == 1 and dense < 400 else 1e-6)


def test_labels_may_be_anything(rng):
    X, y = rng.standard_normal((30, 4)), rng.integers(0, 3, 30)
    names = np.array(["ant", "bee", "cat"])[y]
    assert abs(jplrdl.signed_knn_graph(X, y, 3, 3) - jplrdl.signed_knn_graph(X, names, 3, 3)).max() == 0
    assert abs(jplrdl.signed_knn_graph(X, y, 3, 3) - jplrdl.signed_knn_graph(X, y - 7.5, 3, 3)).max() == 0


def test_a_class_of_one_has_only_enemies():
    graph = jplrdl.signed_knn_graph([[0.0], [1.0], [2.0]], [0, 1, 1], 2, 1)
    np.testing.assert_array_equal(graph.toarray(), [[0, -1, -1], [-1, 0, 1], [-1, 1, 0]])


@given(seeds, st.integers(1, 30), dtypes, st.booleans(), st.sampled_from([csr_array, coo_array, np.asarray]))
def test_laplacian_matches_the_reference(seed, n, dtype, signed, container):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.3)).astype(dtype)
    W = W + W.T
    for normalized in (False, True):
        if normalized and not signed:
            continue
        L = jplrdl.laplacian(container(W), normalized=normalized, signed=signed)
        assert L.dtype == dtype
        expected = reference.laplacian(W, normalized=normalized, signed=signed)
        np.testing.assert_allclose(L.toarray(), expected.toarray(), atol=1e-5 if dtype == np.float32 else 1e-13)


def test_laplacian_of_positive_weights_matches_scipy(rng):
    W = rng.random((20, 20)) * (rng.random((20, 20)) < 0.3)
    W = np.triu(W, 1) + np.triu(W, 1).T
    np.testing.assert_allclose(jplrdl.laplacian(W).toarray(), scipy_laplacian(W), atol=1e-14)
    np.testing.assert_allclose(
        jplrdl.laplacian(W, normalized=True).toarray(), scipy_laplacian(W, normed=True), atol=1e-14
    )


def test_laplacian_is_the_quadratic_form_of_eq5(rng):
    X, y = rng.standard_normal((40, 5)), rng.integers(0, 3, 40)
    W = jplrdl.signed_knn_graph(X, y, 4, 4, weights="heat")
    A = rng.standard_normal((6, 40))
    L = jplrdl.laplacian(W).toarray()
    pairs = sum(W[i, j] * np.sum((A[:, i] - A[:, j]) ** 2) / 2 for i, j in zip(*W.nonzero(), strict=True))
    np.testing.assert_allclose(np.trace(A @ L @ A.T), pairs, rtol=1e-12)


def test_signed_laplacians_are_positive_semidefinite(rng):
    X, y = rng.standard_normal((80, 5)), rng.integers(0, 4, 80)
    W = jplrdl.signed_knn_graph(X, y, 3, 8)
    assert np.linalg.eigvalsh(jplrdl.laplacian(W).toarray()).min() < -1
    assert np.linalg.eigvalsh(jplrdl.laplacian(W, signed=True).toarray()).min() > -1e-10
    normalized = np.linalg.eigvalsh(jplrdl.laplacian(W, signed=True, normalized=True).toarray())
    assert normalized.min() > -1e-10
    assert normalized.max() < 2 + 1e-10


def test_laplacian_leaves_its_input_alone(rng):
    W = csr_array(([1.0, 2.0, 1.0, 2.0], ([0, 0, 2, 1], [2, 1, 0, 0])), shape=(3, 3))
    before = W.copy()
    jplrdl.laplacian(W)
    np.testing.assert_array_equal(W.indices, before.indices)
    np.testing.assert_array_equal(W.data, before.data)
