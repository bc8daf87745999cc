"""The inverse square root of a matrix, against its eigenvectors, and the sum that stands for the integral."""

import numpy as np
import pytest

from jplrdl.inverse_root import inverse_root, quadrature


def symmetric(n, condition, dtype=np.float64, seed=0):
    """A matrix with eigenvalues from 1 to `condition`, evenly spread on a logarithmic scale."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    K = (Q * np.geomspace(1, condition, n)) @ Q.T
    return ((K + K.T) / 2).astype(dtype)


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e6, 1e10])
@pytest.mark.parametrize("n", [1, 2, 3, 33, 65, 200])
def test_inverse_root_is_that_of_the_eigenvectors(n, condition):
    K = symmetric(n, condition)
    found = inverse_root(K.copy(), 1e-12)
    values, vectors = np.linalg.eigh(K)
    truth = (vectors / np.sqrt(values)) @ vectors.T
    error = 100 * np.finfo(float).eps * (1 + values[-1] / values[0])
    np.testing.assert_allclose(found.matrix, truth, rtol=0, atol=error * np.abs(truth).max())
    np.testing.assert_allclose(found.matrix @ K @ found.matrix, np.eye(n), rtol=0, atol=error)
    assert found.firmness == pytest.approx(values[0] / values[-1], rel=0.02)


def test_a_single_matrix_in_single_precision():
    K = symmetric(100, 1e2, np.float32)
    found = inverse_root(K.copy(), 1e-5).matrix
    assert found.dtype == np.float32
    np.testing.assert_allclose(found @ K @ found, np.eye(100), atol=2e-4)


@pytest.mark.parametrize("n", [100, 300, 511])
def test_every_number_of_threads_gives_the_same_bits(n):
    K = symmetric(n, 1e4)
    one, *others = (inverse_root(K.copy(), 1e-12, n_jobs=n_jobs).matrix for n_jobs in (1, 2, 3, 8))
    for other in others:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("scale", "dtype"), [(1e-290, float), (1e290, float), (1e-30, np.float32), (1e30, np.float32)])
@pytest.mark.parametrize("n", [5, 150])
def test_matrices_whose_squares_over_or_underflow(n, scale, dtype):
    K = symmetric(n, 1e2)
    found = inverse_root((K * scale).astype(dtype), 1e-5).matrix * np.sqrt(scale)
    np.testing.assert_allclose(found @ K @ found, np.eye(n), atol=1e4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("values", [[1.0, 1e-13], [1.0, 0.0], [1.0, -1.0], [0.0, 0.0], [-1.0, -2.0]])
def test_too_small_an_eigenvalue_is_told(values):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]
    K = (Q * values) @ Q.T
    assert inverse_root((K + K.T) / 2, 1e-12) is None


def test_a_matrix_of_blocks():
    K = np.zeros((70, 70))
    K[:30, :30], K[30:, 30:] = symmetric(30, 10.0), 5 * np.eye(40)
    found = inverse_root(K.copy(), 1e-12).matrix
    np.testing.assert_allclose(found @ K @ found, np.eye(70), atol=1e-13)
    assert not found[:30, 30:].any()


@pytest.mark.parametrize("error", [1e-3, 1e-7, 2.0**-52])
@pytest.mark.parametrize("ratio", [1.0, 1.5, 1e3, 1e8, 1e12])
@pytest.mark.parametrize("low", [1e-100, 1.0, 1e50])
def test_the_sum_over_nodes_is_an_inverse_root_on_the_whole_interval(low, ratio, error):
    shifts, weights = quadrature(low, low * ratio, error)
    assert min(shifts.min(), weights.min()) > 0
    x = low * np.geomspace(1, ratio, 1000)
    found = np.sum(weights / (x[:, None] + shifts), axis=1)
    np.testing.assert_allclose(found * np.sqrt(x), 1, rtol=0, atol=2 * error + 2e-15)


def test_no_more_nodes_than_the_error_asks_for():
    x = np.geomspace(1, 1e6, 1000)
    shifts, weights = quadrature(1.0, 1e6, 1e-9)
    # Four nodes fewer would be wrong by a hundred times as much.
    assert len(shifts) <= len(quadrature(1.0, 1e6, 1e-7)[0]) + 6
    assert np.abs(np.sum(weights / (x[:, None] + shifts), axis=1) * np.sqrt(x) - 1).max() > 1e-14
