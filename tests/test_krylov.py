"""The growing Krylov space against dense matrices: where S leads out of it, and the equations that are solved in it."""

import numpy as np
import pytest

from jplrdl.krylov import KrylovSpace
from jplrdl.low_rank_dictionary import diagonal_sylvester


@pytest.fixture
def matrices(rng):
    """Four vectors, one of them twice, and a factor of full rank, in thirty dimensions."""
    vectors = rng.standard_normal((4, 30))
    return np.vstack([vectors, -2 * vectors[:1]]), rng.standard_normal((40, 30)) / 6


def powers(vectors, S, n):
    """V, VS, ..., VS^(n - 1), one below the other."""
    rows = [vectors]
    for _ in range(n - 1):
        rows.append(rows[-1] @ S)
    return np.vstack(rows)


def test_it_spans_one_power_more_each_time_until_it_holds_all(matrices):
    vectors, factor = matrices
    S, space = factor.T @ factor, KrylovSpace(*matrices)
    for n in range(1, 9):
        size = min(4 * n, 30)
        assert len(space.values) == size
        W = space.vectors(np.eye(size))
        np.testing.assert_allclose(W @ W.T, np.eye(size), atol=1e-12)
        np.testing.assert_allclose(W @ S @ W.T, np.diag(space.values), atol=1e-12)
        inside = powers(vectors, S, min(n, 4))  # of more, rounding errors are as large as what is new
        np.testing.assert_allclose(space.vectors(space.coordinates(inside)), inside, rtol=0, atol=1e-9)
        if n < 8:
            x, turn = np.eye(size), space.grow()
            np.testing.assert_allclose(space.vectors(x @ turn), W, atol=1e-12)
    assert space.edge.shape == (30, 0)
    np.testing.assert_allclose(space.values, np.linalg.eigvalsh(S), atol=1e-12)


def test_the_edge_tells_what_leads_out_of_it(matrices, rng):
    S, space = matrices[1].T @ matrices[1], KrylovSpace(*matrices)
    for _ in range(3):
        x = rng.standard_normal((6, len(space.values)))
        out = space.vectors(x) @ S - space.vectors(x * space.values)
        assert np.linalg.norm(out) > 0.1
        np.testing.assert_allclose(np.linalg.norm(x @ space.edge, axis=1), np.linalg.norm(out, axis=1), rtol=1e-10)
        space.grow()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("t", "largest"), [(1e-3, 20), (1.0, 30)])
def test_equations_that_hold_at_its_edge_hold_everywhere(matrices, dtype, t, largest):
    vectors, factor = (M.astype(dtype) for M in matrices)
    Q, space, eps = np.diag(np.arange(1.0, 6.0).astype(dtype)), KrylovSpace(vectors, factor), np.finfo(dtype).eps
    while True:
        C = space.coordinates(vectors)
        X = diagonal_sylvester(Q, dtype(t) * space.values, C)
        if t * np.linalg.norm(X @ space.edge) <= eps * np.linalg.norm(C):
            break
        space.grow()
    assert space.values.dtype == X.dtype == dtype
    assert len(space.values) <= largest
    found = space.vectors(X)
    residual = Q @ found + t * found @ (factor.T @ factor) - vectors
    assert np.linalg.norm(residual) < 100 * eps * np.linalg.norm(vectors)


def test_invariant_vectors_zeros_and_small_ones():
    S = np.diag(np.sqrt(np.arange(1.0, 7.0)))
    invariant = KrylovSpace(np.eye(6)[[1, 4]], S)
    np.testing.assert_allclose(invariant.values, [2, 5])
    assert invariant.edge.shape == (2, 0)
    assert len(KrylovSpace(np.zeros((2, 6)), S).values) == 1
    # A short vector is a direction like others.
    assert len(KrylovSpace(np.diag([1.0, 1e-200, 0, 0, 0, 0]), S).values) == 2
    nothing = KrylovSpace(np.eye(6)[:2], np.zeros((3, 6)))
    np.testing.assert_array_equal(nothing.values, [0, 0])
    assert nothing.edge.shape == (2, 0)
