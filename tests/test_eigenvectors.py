"""The nuclear map where its tridiagonal reduction may end early: nothing missed, nothing found by half."""

import numpy as np
import pytest

import jplrdl
from jplrdl import reference

N = 160  # five panels of the reduction


def check(V, t):
    """Against the singular value decomposition in float64, to the bound of the Gram matrix's route."""
    result, rank = jplrdl.prox_nuclear(V, t)
    expected, _ = reference.prox_nuclear(V.astype(np.float64), t)
    singular = np.linalg.svd(V.astype(np.float64), compute_uv=False)
    margin = 2**11 * np.finfo(V.dtype).eps * singular[0]
    assert np.linalg.norm(result - expected, 2) <= margin
    assert np.sum(singular > t + margin) <= rank <= np.sum(singular > t - margin)


def with_spectrum(rng, singular, n_rows=200):
    left, right = (np.linalg.qr(rng.standard_normal((rows, len(singular))))[0] for rows in (n_rows, len(singular)))
    return (left * singular) @ right.T


SPECTRA = {
    "few far above": np.where(np.arange(N) < 5, 3.0, 0.1),
    "slow decay": (1.0 + np.arange(N)) ** -0.3,
    "fast decay": np.geomspace(1, 1e-8, N),
    "equal values": np.repeat([1.0, 0.7, 0.5, 0.2], N // 4),
    "one value twice": np.concatenate([[1.0, 1.0], np.linspace(0.5, 0.1, N - 2)]),
    "a cluster": np.concatenate([[1.0], 0.5 + 1e-9 * np.arange(9), np.linspace(0.3, 0.01, N - 10)]),
    "all equal": np.ones(N),
    "rank 7": np.where(np.arange(N) < 7, 1.0 + np.arange(N), 0.0),
    "nothing": np.zeros(N),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SPECTRA)
def test_any_spectrum_at_any_threshold(rng, name, dtype):
    singular = np.sort(SPECTRA[name])[::-1]
    V = with_spectrum(rng, singular).astype(dtype)
    for k in (0, 1, 3, 8, 30, 90):
        between, at = (singular[k] + singular[k + 1]) / 2, singular[k]
        check(V, between)
        check(V, at)
        check(np.ascontiguousarray(V.T), between)


@pytest.mark.parametrize("factor", [1e-100, 1e-20, 1e20, 1e100])
def test_the_scale_changes_nothing(rng, factor):
    V, t = with_spectrum(rng, SPECTRA["slow decay"]), 0.5
    expected, rank = jplrdl.prox_nuclear(V, t)
    result, rank_of_scaled = jplrdl.prox_nuclear(V * factor, t * factor)
    assert rank_of_scaled == rank
    np.testing.assert_allclose(result / factor, expected, atol=1e-13)


@pytest.mark.parametrize("n_last", [1, 31, 32, 33, 50])
def test_columns_that_the_reduction_does_not_reach(rng, n_last):
    """It starts at the last column; where that is orthogonal to others, or zero, these have all to tell."""
    V = rng.standard_normal((200, N))
    V[100:, :-n_last] = V[:100, -n_last:] = 0
    check(V, 15.0)
    V[:, -n_last:] = 0
    check(V, 15.0)


def root_of_tridiagonal(diagonal, off_diagonal):
    """V with V'V tridiagonal, which the reduction leaves as it is: T is its end and A its beginning."""
    gram = np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)
    return np.ascontiguousarray(np.linalg.cholesky(gram).T)


@pytest.mark.parametrize("panels", [1, 2, 3])
def test_a_value_that_exists_only_across_the_end_of_the_reduction(panels):
    """Two rows below the threshold, one on each side of where it might end, have an eigenvalue above it together."""
    diagonal, off_diagonal, first = np.full(N, 0.3), np.full(N - 1, 1e-3), N - 32 * panels
    diagonal[-1] = 4.0
    diagonal[first - 1 : first + 1], off_diagonal[first - 1] = 0.9, 0.2
    V = root_of_tridiagonal(diagonal, off_diagonal)
    assert jplrdl.prox_nuclear(V, 1.0)[1] == 2
    check(V, 1.0)


@pytest.mark.parametrize("panels", [1, 2, 3])
def test_a_vector_of_which_a_part_is_not_reduced_yet(panels):
    """The value is counted on one side of where the reduction might end; its vector has a share on the other."""
    diagonal, off_diagonal, first = np.full(N, 0.3), np.full(N - 1, 1e-3), N - 32 * panels
    diagonal[first], off_diagonal[first - 1] = 1.5, 0.3
    check(root_of_tridiagonal(diagonal, off_diagonal), 1.0)


def test_twice_the_same_bits(rng):
    V = with_spectrum(rng, SPECTRA["slow decay"])
    first, second = (jplrdl.prox_nuclear(V, 0.5)[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
