"""The span of the samples, their coordinates in it, and products with these."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from jplrdl._products import adding_product, product, sparse_gram, sparse_product
from jplrdl.span import _apart, find_span, polished, span_basis


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(20, 500), (50, 10)])
def test_span_is_orthonormal_and_loses_nothing(rng, dtype, shape):
    X = (rng.standard_normal((shape[0], 6)) @ rng.standard_normal((6, shape[1]))).astype(dtype)
    U = span_basis(X)
    assert U.shape == (shape[1], 6)
    assert U.dtype == dtype
    np.testing.assert_allclose(U.T @ U, np.eye(6), atol=100 * np.finfo(dtype).eps)
    np.testing.assert_allclose(X @ U @ U.T, X, atol=1e3 * np.finfo(dtype).eps * np.abs(X).max())


@pytest.mark.parametrize("shape", [(60, 200), (200, 60)])
def test_span_in_single_precision_keeps_weak_directions(rng, shape):
    U, V = (np.linalg.qr(rng.standard_normal((n, 60)))[0] for n in shape)
    X = ((U * np.geomspace(1, 1e-4, 60)) @ V.T).astype(np.float32)
    basis = span_basis(X)
    assert basis.shape == (shape[1], 60)
    np.testing.assert_allclose(basis.T @ basis, np.eye(60), atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [5, 60, 400])
@pytest.mark.parametrize("weakest", [1.0, 1e-2, 1e-4, 1e-6])
def test_samples_are_their_coordinates_in_the_span(rng, dtype, n, weakest):
    U, V = (np.linalg.qr(rng.standard_normal((size, n)))[0] for size in (n, 500))
    X = ((U * np.geomspace(1, weakest, n)) @ V.T).astype(dtype)
    coordinates, basis = find_span(X, n_jobs=2).coordinates, span_basis(X, n_jobs=2)
    eps = float(np.finfo(dtype).eps)
    assert coordinates.dtype == basis.dtype == dtype
    assert basis.shape[1] == n or weakest < n * eps
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=300 * eps)
    np.testing.assert_allclose(coordinates @ basis.T, X, atol=100 * n * eps)
    if weakest >= 0.01:
        assert not np.triu(coordinates, 1).any()


def test_samples_that_repeat_have_a_smaller_span(rng):
    X = rng.standard_normal((6, 40))
    span = find_span(np.vstack([X, X[:2], X[:1] + X[1:2]]))
    coordinates, basis = span.coordinates, span.lift(np.eye(6))
    assert basis.shape == (40, 6)
    np.testing.assert_allclose(coordinates[6:8], coordinates[:2], atol=1e-12)
    np.testing.assert_allclose(coordinates[:6] @ basis.T, X, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weakest", [1.0, 0.1, 1e-3])
def test_what_is_lifted_has_its_coordinates(rng, dtype, weakest):
    U, V = (np.linalg.qr(rng.standard_normal((size, 40)))[0] for size in (40, 9000))
    X = ((U * np.geomspace(1, weakest, 40)) @ V.T).astype(dtype)
    span, P = find_span(X), np.linalg.qr(rng.standard_normal((40, 25)))[0].astype(dtype)
    lifted = span.lift(P, n_jobs=2)
    assert lifted.shape == (9000, 25)
    assert lifted.dtype == dtype
    np.testing.assert_allclose(lifted.T @ lifted, np.eye(25), atol=1e-10 if dtype == np.float64 else 1e-5)
    np.testing.assert_allclose(X @ lifted, span.coordinates @ P, atol=1e-12 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("stretch", [1.01, 0.99])
def test_stretched_columns_are_apart_by_their_squares(rng, stretch, n_jobs):
    Q = np.linalg.qr(rng.standard_normal((700, 40)))[0]
    assert _apart(Q, n_jobs) < 1e-14
    assert _apart(stretch * Q, n_jobs) == pytest.approx(abs(stretch**2 - 1))


def test_what_squaring_has_left_apart_is_polished(rng):
    """Equal pivots do not tell that a triangular matrix of ones and minus ones has a condition of 1e5."""
    V = np.linalg.qr(rng.standard_normal((60, 14)))[0]
    span = find_span((np.eye(14) - np.tril(np.ones((14, 14)), -1)) @ V.T)
    assert span.factor is not None
    lifted = span.lift(np.eye(14))
    np.testing.assert_allclose(lifted.T @ lifted, np.eye(14), atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("apart", [1e-12, 7e-9, 1e-6, 1e-5])
def test_polishing_gives_the_polar_factor(rng, dtype, apart):
    U = np.linalg.qr(rng.standard_normal((300, 40)))[0]
    U = U + apart * rng.standard_normal(U.shape)
    U[:, 0] *= 1 + 40 * apart
    U = U.astype(dtype)
    left, _, right = np.linalg.svd(U.astype(np.float64), full_matrices=False)
    found = polished(U, n_jobs=2)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, left @ right, atol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sparse_products_are_products(rng, dtype, n_jobs):
    dense = np.where(rng.random((300, 200)) < 0.03, rng.standard_normal((300, 200)), 0).astype(dtype)
    dense[17] = 0  # a row without, and rows of any number of non-zeros
    S = csr_array(dense)
    B, onto = rng.standard_normal((200, 45)).astype(dtype), rng.standard_normal((300, 45)).astype(dtype)
    atol = 100 * float(np.finfo(dtype).eps)
    assert set(np.diff(S.indptr) % 4) == {0, 1, 2, 3}
    np.testing.assert_allclose(sparse_product(S, B, n_jobs=n_jobs), dense @ B, atol=atol)
    np.testing.assert_allclose(sparse_product(S.T, onto, n_jobs=n_jobs), dense.T @ onto, atol=atol)
    np.testing.assert_allclose(sparse_product(dense, B, n_jobs=n_jobs), dense @ B, atol=atol)
    for matrix in (S, S.tocsc(), dense):
        found = onto.copy()
        adding_product(matrix, B)(slice(10, 290), found)
        np.testing.assert_allclose(found[10:290], (onto + dense @ B)[10:290], atol=atol)
        np.testing.assert_array_equal(found[:10], onto[:10])
        np.testing.assert_array_equal(found[290:], onto[290:])
    assert not sparse_product(csr_array((300, 200), dtype=dtype), B).any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("density", [0.0, 0.03, 0.2])
def test_sparse_gram_is_the_gram_matrix_of_columns_for_every_n_jobs(rng, dtype, density):
    dense = np.where(rng.random((500, 310)) < density, rng.standard_normal((500, 310)), 0).astype(dtype)
    found = sparse_gram(csr_array(dense), n_jobs=1)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, dense.T @ dense, atol=500 * float(np.finfo(dtype).eps))
    np.testing.assert_array_equal(sparse_gram(csr_array(dense), n_jobs=2), found)
    np.testing.assert_allclose(sparse_gram(dense, n_jobs=2), found, atol=500 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("n", [30, 400, 500])
def test_a_product_leaves_out_nothing_but_zeros(rng, n):
    A, B = np.tril(rng.standard_normal((n, n))), rng.standard_normal((n, 70))
    np.testing.assert_allclose(product(A, B, triangle="lower"), A @ B, atol=1e-11)
    np.testing.assert_allclose(product(A.T, B, triangle="upper"), A.T @ B, atol=1e-11)


def test_span_of_many_features_needs_no_square_matrix(rng):
    # A matrix of 200,000 x 200,000 numbers would not fit anywhere.
    assert span_basis(rng.standard_normal((5, 200_000)).astype(np.float32)).shape == (200_000, 5)
