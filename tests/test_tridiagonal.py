"""A symmetric matrix in tridiagonal form: it is the same matrix, and the same bits, however many threads and when."""

import os
import threading
import time

import numpy as np
import pytest

from jplrdl import _reduction
from jplrdl.tridiagonal import Tridiagonal, reduce_symmetric, some_eigenvectors

SIZES = [1, 2, 3, 50, 127, 128, 129, 159, 160, 161, 193, 300]


def symmetric(rng, n, dtype=np.float64):
    A = rng.standard_normal((n, n))
    return ((A + A.T) / 2).astype(dtype)


def matrix_of(T):
    return np.diag(T.diagonal) + np.diag(T.off_diagonal[:-1], 1) + np.diag(T.off_diagonal[:-1], -1)


def turned_back(K, T):
    """Q of K = QTQ' from its reflectors, one by one."""
    Q = np.eye(len(K))
    for i in range(1, len(K)):
        v = np.concatenate([K[i, : i - 1], [1.0], np.zeros(len(K) - i)])
        Q -= T.factors[i - 1] * np.outer(v, v @ Q)
    return Q


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", SIZES)
def test_reflectors_turn_it_back_into_the_matrix(rng, n, dtype):
    K = symmetric(rng, n, dtype)
    left = np.tril(K) + np.triu(np.full_like(K, np.nan), 1)  # what is above the diagonal does not count
    T = reduce_symmetric(left, n_jobs=2)
    Q = turned_back(left.astype(np.float64), T)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(Q.T @ Q, np.eye(n), atol=20 * n**0.5 * eps)
    np.testing.assert_allclose(Q @ matrix_of(T) @ Q.T, K, atol=20 * n**0.5 * eps * np.abs(K).max())


def test_a_matrix_that_is_nearly_tridiagonal_loses_no_digits(rng):
    """Of the two reflectors that turn a row, the one that subtracts nothing from nearly the same."""
    K = 1e-7 * symmetric(rng, 200) + np.diag(np.full(199, 2.0), 1) + np.diag(np.full(199, 2.0), -1)
    left = K.copy()
    T = reduce_symmetric(left)
    Q = turned_back(left, T)
    np.testing.assert_allclose(Q.T @ Q, np.eye(200), atol=1e-13)
    np.testing.assert_allclose(Q @ matrix_of(T) @ Q.T, K, atol=1e-13)


@pytest.mark.parametrize("n", SIZES)
def test_eigenvalues_are_those_of_the_matrix(rng, n):
    K = symmetric(rng, n)
    truth = np.linalg.eigvalsh(K)
    T = reduce_symmetric(K, n_jobs=2)
    np.testing.assert_allclose(np.linalg.eigvalsh(matrix_of(T)), truth, atol=1e-14 * n * np.abs(truth).max())


@pytest.mark.parametrize("n", [150, 300])
def test_rows_that_need_no_turning(n):
    for K in (np.zeros((n, n)), np.diag(np.arange(n, dtype=float)), np.kron(np.eye(n // 2), [[2.0, 1.0], [1.0, 2.0]])):
        T = reduce_symmetric(K.copy(), n_jobs=2)
        np.testing.assert_array_equal(np.abs(matrix_of(T)), K)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [300, 411])
def test_every_number_of_threads_gives_the_same_bits(rng, n, dtype):
    K = symmetric(rng, n, dtype)
    first = K.copy()
    truth = reduce_symmetric(first, n_jobs=1)
    for n_jobs in (2, 2, 2, 3, 8):
        again = K.copy()
        for one, other in zip(truth, reduce_symmetric(again, n_jobs=n_jobs), strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.tril(first, -1), np.tril(again, -1))


def prepared(K):
    """T, to be found, and what leader and second thread are given."""
    n = len(K)
    found = Tridiagonal(*np.zeros((3, n)))
    return found, (K.copy(), *found, np.empty(_reduction.worksize(n)), np.zeros(_reduction.n_signs, dtype=np.intc))


@pytest.mark.parametrize("late", [0.0, 0.0003, 0.001, 0.002, 0.003, 0.1])
def test_a_second_thread_may_come_whenever_it_does(rng, late):
    """At the beginning, in the middle of a panel, or when nothing is left."""
    K = symmetric(rng, 400)
    truth = reduce_symmetric(K.copy(), n_jobs=1)
    for _ in range(5):
        found, given = prepared(K)

        def follow(given=given):
            time.sleep(late)
            _reduction.follow(*given)

        second = threading.Thread(target=follow)
        second.start()
        assert _reduction.lead(*given) == 0
        second.join(timeout=10)
        assert not second.is_alive()
        for one, other in zip(truth, found, strict=True):
            np.testing.assert_array_equal(one, other)


def test_threads_that_are_put_aside_for_others(rng):
    """Four times as many threads as processors: some leaders send their seconds away, in the middle of a panel too."""
    K = symmetric(rng, 500)
    truth = reduce_symmetric(K.copy(), n_jobs=1)
    for _ in range(3):
        pairs = [prepared(K) for _ in range(2 * (os.cpu_count() or 1))]
        threads = [
            threading.Thread(target=role, args=given)
            for _, given in pairs
            for role in (_reduction.lead, _reduction.follow)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
            assert not thread.is_alive()
        for found, _ in pairs:
            for one, other in zip(truth, found, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("n", "start", "stop"),
    [(1, 0, 1), (2, 0, 1), (2, 1, 2), (30, 0, 7), (30, 28, 30), (150, 0, 150), (300, 0, 40), (300, 60, 300)],
)
def test_some_eigenvectors_have_the_wanted_eigenvalues(rng, n, start, stop, n_jobs, dtype):
    K = symmetric(rng, n).astype(dtype)
    vectors = some_eigenvectors(K.copy(), slice(start, stop), n_jobs=n_jobs)
    values, rounding = np.linalg.eigvalsh(K.astype(np.float64))[start:stop], 5e3 * np.finfo(dtype).eps
    assert vectors.dtype == dtype
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(stop - start), atol=rounding)
    np.testing.assert_allclose(K @ vectors, vectors * values, atol=rounding * n)


@pytest.mark.parametrize("wanted", [slice(40, 200), slice(0, 40), slice(180, 200), slice(0, 5)])
def test_some_eigenvectors_are_the_same_bits_for_every_number_of_threads(rng, wanted):
    K = symmetric(rng, 300)
    one, two = (some_eigenvectors(K.copy(), wanted, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("count", [20, 100])
def test_some_eigenvectors_of_a_matrix_that_falls_apart(rng, count):
    K = np.zeros((200, 200))
    K[:90, :90], K[120:, 120:] = symmetric(rng, 90), symmetric(rng, 80)
    vectors = some_eigenvectors(K.copy(), slice(200 - count, 200))
    np.testing.assert_allclose(K @ vectors, vectors * np.linalg.eigvalsh(K)[200 - count :], atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-12)
