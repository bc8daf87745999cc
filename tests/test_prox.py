"""Proximal maps against their closed forms, and against what defines them: the minimum of |U - V|^2 / 2 + t |U|."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import matrices

import jplrdl
from jplrdl import reference
from jplrdl.prox import shrink_spectrum, spectrum_workspace

thresholds = st.sampled_from([0.0, 1e-3, 0.3, 1.0, 2.5, 100.0])


def close(actual, expected, dtype, factor=1.0):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=factor * 50 * np.finfo(dtype).eps)


@given(matrices(), thresholds)
def test_l1_is_the_soft_threshold(matrix, t):
    V, plain = matrix
    result = jplrdl.prox_l1(V, t)
    assert result.dtype == plain.dtype
    close(result, reference.prox_l1(plain, plain.dtype.type(t)), plain.dtype)
    np.testing.assert_array_equal(V, plain)


@given(matrices(), thresholds, st.sampled_from([0, 1, -1, -2]))
def test_l21_shrinks_groups(matrix, t, axis):
    V, plain = matrix
    result = jplrdl.prox_l21(V, t, axis=axis)
    assert result.dtype == plain.dtype
    close(result, reference.prox_l21(plain, t, axis=axis), plain.dtype)
    np.testing.assert_array_equal(V, plain)


@given(matrices(), thresholds)
def test_nuclear_shrinks_singular_values(matrix, t):
    V, plain = matrix
    result, rank = jplrdl.prox_nuclear(V, t)
    expected, _ = reference.prox_nuclear(plain.astype(np.float64), t)
    singular = np.linalg.svd(plain.astype(np.float64), compute_uv=False)
    assert result.dtype == plain.dtype
    largest = max(1.0, singular.max())
    close(result, expected, plain.dtype, factor=2**11 * largest)
    margin = 2**11 * np.finfo(plain.dtype).eps * largest
    assert np.sum(singular > t + margin) <= rank <= np.sum(singular > t - margin)
    np.testing.assert_array_equal(V, plain)


@pytest.mark.parametrize("name", ["prox_l1", "prox_l21", "prox_nuclear"])
@given(matrix=matrices(), t=thresholds)
def test_out_and_in_place_give_the_same(name, matrix, t):
    V, plain = matrix
    function = getattr(jplrdl, name)
    expected = function(plain, t)
    first = (lambda r: r[0]) if name == "prox_nuclear" else (lambda r: r)
    out = np.full_like(plain, np.nan)
    assert first(function(V, t, out=out)) is out
    np.testing.assert_allclose(out, first(expected), rtol=0, atol=1e-3 if plain.dtype == np.float32 else 1e-10)
    strided = np.full((2 * len(plain), plain.shape[1]), np.nan, dtype=plain.dtype)[::2]
    function(V, t, out=strided)
    np.testing.assert_allclose(strided, out, rtol=0, atol=1e-3 if plain.dtype == np.float32 else 1e-10)
    inplace = plain.copy()
    function(inplace, t, out=inplace)
    np.testing.assert_allclose(inplace, out, rtol=0, atol=1e-3 if plain.dtype == np.float32 else 1e-10)


def test_overlapping_output_is_safe(rng):
    buffer = rng.standard_normal(101)
    expected = reference.prox_l1(buffer[:-1].copy(), 0.5)
    jplrdl.prox_l1(buffer[:-1], 0.5, out=buffer[1:])
    np.testing.assert_allclose(buffer[1:], expected, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 5, 16, 47, 63, 1000])
@pytest.mark.parametrize("distance", [0, 8, 40, 64, 1984, 2048, 2072, 4032])
def test_l1_whichever_way_it_walks(rng, dtype, n, distance):
    """Where the result lies, modulo 4096 bytes, decides which end comes first, and modulo 64 where vectors begin; what
    is around it stays as it was."""
    V = rng.standard_normal(n).astype(dtype)
    buffer = np.full(8192 // V.itemsize + n, np.nan, dtype=dtype)
    first = (V.ctypes.data + distance - buffer.ctypes.data) % 4096 // V.itemsize
    jplrdl.prox_l1(V, 0.5, out=buffer[first : first + n])
    np.testing.assert_array_equal(buffer[first : first + n], reference.prox_l1(V, 0.5))
    assert np.isnan(buffer[:first]).all()
    assert np.isnan(buffer[first + n :]).all()


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_l21_of_three_dimensions(rng, axis):
    V = rng.standard_normal((5, 7, 6))
    for array in (V, np.asfortranarray(V)):
        np.testing.assert_allclose(
            jplrdl.prox_l21(array, 1.5, axis=axis), reference.prox_l21(V, 1.5, axis=axis), atol=1e-14
        )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 3, 4, 15, 16, 21, 63, 700, 1500, 5000])
def test_l21_of_rows_shorter_and_longer_than_a_block(rng, n, dtype):
    V = rng.standard_normal((131, n)).astype(dtype)
    t = np.sqrt(n)
    result = jplrdl.prox_l21(V, t, axis=1)
    np.testing.assert_allclose(result, reference.prox_l21(V.astype(float), t, axis=1), atol=20 * np.finfo(dtype).eps)
    jplrdl.prox_l21(V, t, axis=1, out=V)
    np.testing.assert_array_equal(V, result)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 3, 8, 17, 40, 129])
@pytest.mark.parametrize("axis", [0, 1])
def test_l21_wherever_the_lines_of_its_result_begin(rng, dtype, n, axis):
    """The same bits, which are the reference's but for rounding, and nothing around them."""
    V = rng.standard_normal((7, n)).astype(dtype)
    t = np.sqrt(V.shape[axis])
    expected = reference.prox_l21(V.astype(float), t, axis=axis)
    for shift in range(20):
        out = np.full(V.size + 20, np.nan, dtype=dtype)
        inside = out[shift : shift + V.size].reshape(V.shape)
        jplrdl.prox_l21(V, t, axis, out=inside)
        np.testing.assert_allclose(inside, expected, atol=20 * np.finfo(dtype).eps)
        np.testing.assert_array_equal(inside, jplrdl.prox_l21(V, t, axis))
        assert np.isnan(out).sum() == 20


# Of 12 MiB and more, in panels of whole lines and what is left over (in the third less than a line), or, above 28 MiB,
# in one; the last has rows shorter than a line, and goes through the cache.
LARGE = [
    (np.float64, (1601, 1003)),
    (np.float64, (2640, 760)),
    (np.float64, (1301, 1283)),
    (np.float64, (3703, 1003)),
    (np.float64, (300_001, 7)),
    (np.float32, (3203, 1005)),
    (np.float32, (30_011, 113)),
]


@pytest.mark.parametrize(("dtype", "shape"), LARGE)
@pytest.mark.parametrize("shift", [0, 1, 2, 5, 7, 14])
def test_l21_of_columns_that_no_cache_holds(rng, dtype, shape, shift):
    """Where the result goes past the cache, wherever its lines begin; in place it does not, with the same bits."""
    V = rng.standard_normal(shape).astype(dtype)
    t = np.sqrt(shape[0])
    out = np.full(V.size + 16, np.nan, dtype=dtype)
    inside = out[shift : shift + V.size].reshape(shape)
    jplrdl.prox_l21(V, t, out=inside)
    expected = reference.prox_l21(V.astype(float), t)
    assert 0.1 < np.mean(expected == 0) < 0.9
    np.testing.assert_allclose(inside, expected, atol=50 * np.finfo(dtype).eps)
    assert np.isnan(out).sum() == 16
    jplrdl.prox_l21(V, t, out=V)
    np.testing.assert_array_equal(V, inside)


@pytest.mark.parametrize("place", [(0, 0), (800, 115), (1600, 116), (7, 500), (1600, 1002)])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_l21_of_columns_that_no_cache_holds_finds_what_is_not_finite(rng, place, value):
    V = rng.standard_normal((1601, 1003))
    V[place] = value
    with pytest.raises(ValueError, match="V must be finite"):
        jplrdl.prox_l21(V, 1.0)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    ("dtype", "factor"), [(np.float64, 1e-200), (np.float64, 1e200), (np.float32, 1e-30), (np.float32, 1e30)]
)
def test_l21_survives_squares_that_over_or_underflow(rng, axis, dtype, factor):
    V = rng.standard_normal((6, 8))
    expected = reference.prox_l21(V, 1.0, axis=axis)
    scaled = (V * factor).astype(dtype)
    result = jplrdl.prox_l21(scaled, factor, axis=axis).astype(float) / factor
    np.testing.assert_allclose(result, expected, atol=1e-5 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("factor", [1e-200, 1e-150, 1e150, 1e200])
def test_nuclear_survives_squares_that_over_or_underflow(rng, factor):
    V = rng.standard_normal((12, 8))
    expected, expected_rank = reference.prox_nuclear(V, 2.0)
    result, rank = jplrdl.prox_nuclear(V * factor, 2.0 * factor)
    assert rank == expected_rank
    np.testing.assert_allclose(result / factor, expected, atol=1e-12)


@pytest.mark.parametrize("shape", [(300, 40), (40, 300), (90, 90), (20, 1000), (1000, 20)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nuclear_keeps_its_accuracy_on_both_sides_of_the_gram_limit(rng, shape, dtype):
    """Through the Gram matrix at most 2^11 eps of the largest singular value is lost, whatever the threshold."""
    n = min(shape)
    U, W = np.linalg.qr(rng.standard_normal((shape[0], n)))[0], np.linalg.qr(rng.standard_normal((shape[1], n)))[0]
    V = ((U * np.geomspace(1, 1e-8, n)) @ W.T).astype(dtype)
    for t in np.geomspace(1e-9, 0.9, 40):
        result = jplrdl.prox_nuclear(V, t)[0]
        expected = reference.prox_nuclear(V.astype(np.float64), t)[0]
        assert np.linalg.norm(result - expected, 2) <= 2**11 * np.finfo(dtype).eps
        if dtype == np.float64:
            rough = np.empty_like(V)
            shrink_spectrum(V, t, rough, spectrum_workspace(V), rough=True)
            assert np.linalg.norm(rough - expected, 2) <= 1e-9


def test_without_the_svd_fallback_a_small_threshold_would_fail(rng):
    """The limit is needed: the plain Gram route at t far below it is wrong by much more than the bound above."""
    n = 40
    U, W = np.linalg.qr(rng.standard_normal((300, n)))[0], np.linalg.qr(rng.standard_normal((n, n)))[0]
    V, t = (U * np.geomspace(1, 1e-8, n)) @ W.T, 1e-8
    values, Z = np.linalg.eigh(V.T @ V)
    kept = values > t**2
    by_gram = V @ (Z[:, kept] * (1 - t / np.sqrt(values[kept]))) @ Z[:, kept].T
    expected = reference.prox_nuclear(V, t)[0]
    bound = 2**11 * np.finfo(float).eps
    assert np.linalg.norm(by_gram - expected, 2) > bound
    assert np.linalg.norm(jplrdl.prox_nuclear(V, t)[0] - expected, 2) <= bound


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["one block", "two blocks", "zero columns", "diagonal", "equal values", "one column"])
@pytest.mark.parametrize("n", [30, 45])
def test_nuclear_whether_or_not_the_gram_matrix_falls_apart(rng, n, kind, dtype):
    """Eigenvectors are found in one way for small matrices, in others for tridiagonal ones, whole or split."""
    V = rng.standard_normal((70, n))
    if kind == "two blocks":
        V[:40, 20:] = V[40:, :20] = 0
    elif kind == "zero columns":
        V[:, ::3] = 0
    elif kind == "diagonal":
        V = np.diag(np.linspace(20, 1, n))
    elif kind == "equal values":
        V = np.linalg.qr(V)[0] * np.repeat([9.0, 6.0, 3.0], n // 3)
    elif kind == "one column":
        V = V[:, :1]
    V = V.astype(dtype)
    for t in (2.0, 5.0, 7.5):
        result, rank = jplrdl.prox_nuclear(V, t)
        expected, expected_rank = reference.prox_nuclear(V.astype(np.float64), t)
        assert rank == expected_rank
        np.testing.assert_allclose(result, expected, atol=500 * np.finfo(dtype).eps)


def test_nuclear_map_is_the_minimum(rng):
    """U is the minimum of |U - V|^2 / 2 + t |U|_* if and only if V - U is t times a subgradient of the norm at U."""
    V, t = rng.standard_normal((60, 25)), 4.0
    U, rank = jplrdl.prox_nuclear(V, t)
    left, _, right = np.linalg.svd(U, full_matrices=False)
    subgradient = (V - U) / t
    assert 0 < rank < 25
    assert np.linalg.matrix_rank(U, tol=1e-9) == rank
    np.testing.assert_allclose(left[:, :rank].T @ subgradient @ right[:rank].T, np.eye(rank), atol=1e-12)
    assert np.linalg.norm(subgradient, 2) <= 1 + 1e-12


def test_a_threshold_above_everything_gives_zero_and_lapack_stays_silent(rng, capfd):
    V = rng.standard_normal((9, 6))
    result, rank = jplrdl.prox_nuclear(V, 1e3)
    assert capfd.readouterr() == ("", "")
    assert rank == 0
    assert not result.any()
    assert not jplrdl.prox_l1(V, 1e3).any()
    assert not jplrdl.prox_l21(V, 1e3).any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(7, 1500), (1500, 7), (32, 449), (449, 32), (33, 900), (1, 448), (5, 3)])
@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_nuclear_of_a_few_long_vectors(rng, shape, kept, dtype):
    """Products of a few vectors are taken strip by strip, by one product or two, in place or not."""
    V = rng.standard_normal(shape).astype(dtype)
    singular = np.linalg.svd(V.astype(np.float64), compute_uv=False)
    t = float(np.quantile(singular, 1 - kept)) * 0.999
    expected, rank = reference.prox_nuclear(V.astype(np.float64), t)
    bound = 500 * float(np.finfo(dtype).eps) * singular[0]
    inplace = V.copy()
    for out in (None, np.empty_like(V), inplace):
        result, found = jplrdl.prox_nuclear(inplace if out is inplace else V, t, out=out)
        assert found == rank
        np.testing.assert_allclose(result, expected, atol=bound)
