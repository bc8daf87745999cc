"""Robust PCA against the reference, a known truth, and its own certificate: the duality gap bounds the error."""

import importlib

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import jplrdl
from jplrdl import reference
from jplrdl.problem import low_rank_parts


@pytest.fixture
def corrupted(rng):
    """A matrix of rank three with one in twenty entries off by much; and the truth."""
    truth = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 60))
    return truth + 8.0 * (rng.random(truth.shape) < 0.05) * rng.choice([-1, 1], truth.shape), truth


def objective(L, X, eta):
    return np.linalg.norm(L, "nuc") + eta * np.abs(X - L).sum()


@pytest.mark.parametrize("orient", [np.asarray, np.transpose])
def test_matches_the_reference(corrupted, orient):
    X = orient(corrupted[0])
    result = jplrdl.robust_pca(X)
    L, E, n_iter = reference.robust_pca(X)
    assert result.n_iter == n_iter
    np.testing.assert_allclose(result.low_rank, L, atol=1e-10)
    np.testing.assert_allclose(result.sparse, E, atol=1e-5)


@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-4), (np.float32, 1e-2)])
def test_recovers_the_truth(corrupted, dtype, error):
    X, truth = corrupted
    result = jplrdl.robust_pca(X.astype(dtype))
    assert result.converged
    assert result.low_rank.dtype == result.sparse.dtype == dtype
    assert result.rank == 3
    assert np.abs(result.low_rank - truth).max() < error
    np.testing.assert_array_equal(result.sparse != 0, np.abs(X - truth) > 0.1)


def test_what_it_tells_is_true(corrupted):
    X, _ = corrupted
    result = jplrdl.robust_pca(X)
    eta = 1 / np.sqrt(100)
    assert np.linalg.matrix_rank(result.low_rank, tol=1e-8) == result.rank
    np.testing.assert_allclose(result.objective, objective(result.low_rank, X, eta), rtol=1e-10)
    feasibility = np.linalg.norm(X - result.low_rank - result.sparse) / np.linalg.norm(X)
    np.testing.assert_allclose(result.feasibility, feasibility, rtol=1e-6)


def test_the_gap_bounds_the_distance_to_the_optimum(rng):
    # Not exactly recoverable: dense noise, so that the optimum has to be found by a slow, careful run.
    X = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 20)) + 0.1 * rng.standard_normal((30, 20))
    careful = jplrdl.robust_pca(X, rho=1.005, max_iter=5000)
    assert careful.gap <= 1e-3 * careful.objective
    for rho in (1.1, 1.5, 3.0):
        result = jplrdl.robust_pca(X, rho=rho)
        assert result.gap >= result.objective - careful.objective - 1e-9
        assert result.gap >= -1e-9


def test_a_smaller_rho_ends_nearer_to_the_optimum(rng):
    X = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 20)) + 0.1 * rng.standard_normal((30, 20))
    gaps = [jplrdl.robust_pca(X, rho=rho, max_iter=5000).gap for rho in (2.0, 1.2, 1.02)]
    assert gaps[0] > gaps[1] > gaps[2]


@pytest.mark.parametrize("factor", [1e-150, 1e-5, 1e5, 1e150])
def test_scales_with_the_data(corrupted, factor):
    X, _ = corrupted
    result, scaled = jplrdl.robust_pca(X), jplrdl.robust_pca(factor * X)
    np.testing.assert_allclose(scaled.low_rank / factor, result.low_rank, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scaled.objective / factor, result.objective, rtol=1e-9)


def test_zeros_stay_zeros():
    result = jplrdl.robust_pca(np.zeros((4, 3)))
    assert result.converged
    assert result.rank == 0
    assert not result.low_rank.any()


def test_input_is_not_written_to(corrupted):
    X = corrupted[0].copy()
    X.flags.writeable = False
    jplrdl.robust_pca(X)
    np.testing.assert_array_equal(X, corrupted[0])


def test_iteration_limit_is_told(corrupted):
    with pytest.warns(ConvergenceWarning, match="raise max_iter, rho or tol"):
        result = jplrdl.robust_pca(corrupted[0], max_iter=3)
    assert not result.converged
    assert result.n_iter == 3


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_iterations_in_one_call_of_the_kernel_are_those_of_many(corrupted, rng, monkeypatch, masked, dtype):
    X = corrupted[0].astype(dtype)
    mask = np.asfortranarray(rng.random(X.shape) < 0.9) if masked else None
    at_once = jplrdl.robust_pca(X, mask=mask)
    monkeypatch.setattr(importlib.import_module("jplrdl.robust_pca"), "_UNINTERRUPTED", 0)
    one_by_one = jplrdl.robust_pca(X, mask=mask)
    assert at_once.n_iter == one_by_one.n_iter > 1
    assert (at_once.rank, at_once.feasibility, at_once.gap) == (one_by_one.rank, one_by_one.feasibility, one_by_one.gap)
    np.testing.assert_array_equal(at_once.low_rank, one_by_one.low_rank)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_parts_of_classes_are_found_apart_and_a_single_sample_stays(corrupted, n_jobs):
    X = corrupted[0].T.copy()
    labels = np.arange(len(X)) % 3
    labels[4] = 3
    found = low_rank_parts(X, labels, n_jobs=n_jobs)
    np.testing.assert_array_equal(found[4], X[4])
    for label in range(3):
        truth = reference.robust_pca(X[labels == label], tol=1e-5)[0]
        np.testing.assert_allclose(found[labels == label], truth, atol=1e-9)
