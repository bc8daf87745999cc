"""What fuzzing and faults have found: every defect with a name, so that it does not come back."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import jplrdl
from jplrdl.classification import unit_rows
from jplrdl.datasets import choose_training
from jplrdl.span import span_basis


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("axis", [0, 1])
def test_l21_saw_nan_only_where_nothing_followed_it_in_its_group(dtype, place, axis):
    V = np.ones((3, 1), dtype=dtype) if axis == 0 else np.ones((1, 3), dtype=dtype)
    V[np.unravel_index(place, V.shape)] = np.nan
    with pytest.raises(ValueError, match="V must be finite, got nan"):
        jplrdl.prox_l21(V, 0.1, axis=axis)


@pytest.mark.parametrize("factor", [1e-320, 1e-300, 1.0, 1e300])
def test_tiny_weights_made_an_infinite_normalized_laplacian(factor):
    W = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    L = jplrdl.laplacian(W * factor, normalized=True).toarray()
    np.testing.assert_allclose(L, jplrdl.laplacian(W, normalized=True).toarray(), rtol=1e-3)
    np.testing.assert_array_equal(L, L.T)


@pytest.mark.parametrize(("dtype", "factors"), [(np.float64, [1e-250, 1e-170, 1e170]), (np.float32, [1e-25, 1e25])])
@pytest.mark.parametrize("weights", ["sign", "heat"])
def test_tiny_samples_had_no_distances_and_huge_ones_were_refused(rng, dtype, factors, weights):
    X, y = rng.standard_normal((30, 4)).astype(dtype), rng.integers(0, 3, 30)
    expected = jplrdl.signed_knn_graph(X, y, 3, 3, weights=weights).toarray()
    for factor in factors:
        graph = jplrdl.signed_knn_graph(X * dtype(factor), y, 3, 3, weights=weights, kernel_width=factor)
        np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-5 if dtype == np.float32 else 1e-11)


def test_a_narrow_kernel_made_nan_of_equal_samples():
    for dtype in (np.float64, np.float32):
        X = np.array([[1.0], [1.0], [2.0]], dtype=dtype)
        graph = jplrdl.signed_knn_graph(X, [0, 0, 0], 1, 0, weights="heat", kernel_width=1e-200).toarray()
        np.testing.assert_array_equal(graph[:2, :2], [[0, 1], [1, 0]])
        assert graph[2].sum() == 0


@pytest.mark.parametrize(("dtype", "factors"), [(np.float64, [1e-310, 1e-200, 1e200]), (np.float32, [1e-30, 1e30])])
def test_unit_rows_of_huge_or_tiny_numbers_were_not_of_unit_length(rng, dtype, factors):
    X = rng.standard_normal((5, 4)).astype(dtype)
    for factor in factors:
        unit = unit_rows(X * dtype(factor))
        np.testing.assert_allclose(unit, unit_rows(X), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(unit_rows(np.zeros((2, 3), dtype)), 0)


def test_robust_pca_fell_to_lapacks_search_for_one_of_many_equal_eigenvalues():
    for seed in (404, 538):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((9, 6))
        X[rng.integers(9)] = 0
        for factor in (1.0, 1e-300):
            result = jplrdl.robust_pca(X * factor, eta=3.0)
            assert result.converged
            assert abs(result.gap) <= 1e-6 * result.objective


def test_a_span_had_more_dimensions_than_features_in_single_precision():
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X = unit_rows(rng.standard_normal((rng.integers(6, 20), rng.integers(2, 9))).astype(np.float32))
        basis = span_basis(X)
        assert basis.shape[1] <= min(X.shape)
        np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-4)


@pytest.mark.parametrize(("dtype", "factors"), [(np.float64, [1e-100, 1.0, 1e100]), (np.float32, [1e-12, 1.0, 1e3])])
def test_a_graded_matrix_became_nan_in_the_nuclear_map(dtype, factors):
    for factor in factors:
        V = np.array([[0.3125, 1.09375], [-5368709120.0, -64.0]]).astype(dtype) * dtype(factor)
        shrunk, rank = jplrdl.prox_nuclear(V, 67108864.0 * factor)
        assert rank == 1
        np.testing.assert_allclose(shrunk / dtype(factor), [[0.3, 0], [-5301600256.0, -63.2]], rtol=1e-3, atol=2e3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_strong_incoherence_raised_the_objective(dtype):
    X, y = load_digits(return_X_y=True)
    train = choose_training(y, 20, seed=0)
    model = jplrdl.JPLRDLClassifier(0.3, max_iter=3, lambda_incoherence=10.0, low_rank_graph=False)
    values = np.array(model.fit(X[train].astype(dtype), y[train]).history_["objective"])
    assert np.max(np.diff(values) / np.abs(values[:-1])) <= (1e-9 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("size", "t"), [(1.7e-320, 6.8e29), (1e-130, 1e300)])
def test_a_threshold_infinitely_larger_than_a_group_made_nan_of_it(size, t, axis):
    np.testing.assert_array_equal(jplrdl.prox_l21(np.full((2, 2), -size), t, axis=axis), np.zeros((2, 2)))


@pytest.mark.parametrize("n_classes", [3, 5, 7])
def test_probabilities_of_nearly_equal_residuals_tied_after_they_were_scaled(monkeypatch, n_classes):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    model = jplrdl.JPLRDLClassifier(10, max_iter=1).fit(X[:100], y[:100])
    residuals = 0.01 + 1e-18 * np.random.default_rng(0).integers(-4, 5, (1000, n_classes))
    monkeypatch.setattr(model, "_residuals", lambda _: residuals)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), residuals.argmin(axis=1))
