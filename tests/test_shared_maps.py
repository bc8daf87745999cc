"""Proximal maps in threads: the bits of one thread, whenever the others come."""

import threading
import time

import numpy as np
import pytest

import jplrdl
from jplrdl import _shrink_columns, prox, reference


@pytest.fixture
def matrix(rng):
    """Nine parts of columns and a rest, and large enough for threads."""
    return lambda dtype=np.float64: rng.standard_normal((1203, 505 if dtype == np.float64 else 1010)).astype(dtype)


def shrink_blocks(V, n_jobs, out=None):
    """Groups down the columns of three blocks."""
    blocks = (3, len(V) // 3, V.shape[1])
    out = np.empty_like(V) if out is None else out
    jplrdl.prox_l21(V.reshape(blocks), 20.0, axis=1, out=out.reshape(blocks), n_jobs=n_jobs)
    return out


MAPS = {
    "l1": lambda V, **more: jplrdl.prox_l1(V, 0.5, **more),
    "columns": lambda V, **more: jplrdl.prox_l21(V, 34.7, **more),
    "rows": lambda V, **more: jplrdl.prox_l21(V, np.sqrt(V.shape[1]), axis=1, **more),
    "blocks": shrink_blocks,
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", MAPS)
def test_maps_are_bit_identical_for_every_n_jobs(matrix, name, dtype):
    V, shrink = matrix(dtype), MAPS[name]
    assert V.nbytes >= prox._LEAST_SHARED
    truth = shrink(V, n_jobs=1)
    assert 0 < np.count_nonzero(truth) < truth.size
    for n_jobs in (None, 2, 2, 2, 3, 8, -1):
        np.testing.assert_array_equal(shrink(V, n_jobs=n_jobs), truth)
    out = V.copy()
    shrink(out, out=out, n_jobs=2)
    np.testing.assert_array_equal(out, truth)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axis", [0, 1])
def test_groups_of_either_order_in_threads_are_those_of_the_reference(matrix, dtype, order, axis):
    V = np.asarray(matrix(dtype), order=order)
    t = np.sqrt(V.shape[axis])
    expected = reference.prox_l21(V.astype(float), t, axis=axis)
    np.testing.assert_allclose(
        jplrdl.prox_l21(V, t, axis, n_jobs=2), expected, atol=50 * np.finfo(dtype).eps
    )


@pytest.mark.parametrize("late", [None, 0.0, 0.0001, 0.0003, 0.0006, 0.001, 0.1])
def test_a_second_thread_may_come_whenever_it_does(matrix, late):
    """Never, while norms are taken, while columns are scaled, or when nothing is left."""
    V = matrix()
    truth = jplrdl.prox_l21(V, 34.7, n_jobs=1)
    size = _shrink_columns.share_worksize(V)
    for _ in range(5):
        out, work = np.full_like(V, np.nan), np.zeros(size, dtype=np.uint8)

        def follow(out=out, work=work):
            time.sleep(late)
            assert _shrink_columns.share(V, 34.7, out, work, 1, 2)

        second = threading.Thread(target=follow if late is not None else lambda: None)
        second.start()
        assert _shrink_columns.share(V, 34.7, out, work, 0, 2)
        second.join(timeout=10)
        assert not second.is_alive()
        np.testing.assert_array_equal(out, truth)


def test_a_follower_waits_for_its_leader(matrix):
    V = matrix()
    out, work = np.full_like(V, np.nan), np.zeros(_shrink_columns.share_worksize(V), dtype=np.uint8)
    follower = threading.Thread(target=_shrink_columns.share, args=(V, 34.7, out, work, 1, 2))
    follower.start()
    time.sleep(0.02)
    assert follower.is_alive()
    assert np.isnan(out).all()
    assert _shrink_columns.share(V, 34.7, out, work, 0, 2)
    follower.join(timeout=10)
    np.testing.assert_array_equal(out, jplrdl.prox_l21(V, 34.7, n_jobs=1))


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("place", [(0, 0), (600, 300), (-1, -1)])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_found_in_every_part(matrix, name, place, value):
    V = matrix()
    V[place] = value
    with pytest.raises(ValueError, match="V"):
        MAPS[name](V, n_jobs=2)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_columns_whose_squares_over_or_underflow_are_read_before_they_are_overwritten(matrix, factor):
    V = matrix()
    expected = reference.prox_l21(V, 34.7)
    V *= factor
    for _ in range(5):
        out = V.copy()
        jplrdl.prox_l21(out, 34.7 * factor, out=out, n_jobs=2)
        np.testing.assert_allclose(out / factor, expected, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 4), (1203, 505)])
def test_n_jobs_is_checked_whatever_the_size(rng, shape):
    V = rng.standard_normal(shape)
    for function in (jplrdl.prox_l1, jplrdl.prox_l21):
        with pytest.raises(ValueError, match="n_jobs must not be 0"):
            function(V, 1.0, n_jobs=0)
        with pytest.raises(TypeError, match="n_jobs must be an integer"):
            function(V, 1.0, n_jobs=1.5)
