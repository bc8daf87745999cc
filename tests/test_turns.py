"""Turns of coupled samples: neighbours far apart, and each knows whom it waits for."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import jplrdl
from jplrdl import reference
from jplrdl.coding import coupled_codes
from jplrdl.turns import turns_of


@pytest.fixture(params=["neighbours", "complete", "empty", "one"])
def graph(request, rng):
    if request.param == "neighbours":
        return jplrdl.laplacian(jplrdl.signed_knn_graph(rng.standard_normal((90, 5)), np.arange(90) // 9, 8, 8))
    return csr_array({"complete": np.ones((7, 7)), "empty": np.zeros((7, 7)), "one": np.ones((1, 1))}[request.param])


def test_turns_are_those_of_the_reference(graph):
    np.testing.assert_array_equal(turns_of(graph).order, reference.coding.turns(graph.toarray()))


def test_samples_come_by_colour_and_those_of_one_are_no_neighbours(graph):
    """The colour of a sample is how many of those before it, each a neighbour of the next, lead to it."""
    order, joined = turns_of(graph).order, graph.toarray() != 0
    np.fill_diagonal(joined, val=False)
    colours = np.full(len(joined), -1)
    for p in order:
        colours[p] = colours[joined[p]].max(initial=-1) + 1
    np.testing.assert_array_equal(order, np.lexsort((np.arange(len(joined)), colours)))
    assert not joined[colours[:, None] == colours].any()
    assert colours.max() <= joined.sum(axis=1).max()


def test_each_sample_waits_for_its_neighbours_before_it(graph):
    turns, joined = turns_of(graph), graph.toarray() != 0
    seen = np.zeros(len(joined), dtype=bool)
    for p in turns.order:
        before = turns.before[turns.ptr[p] : turns.ptr[p + 1]]
        np.testing.assert_array_equal(np.sort(before), np.flatnonzero(joined[p] & seen))
        seen[p] = True


def test_an_entry_without_a_mirror_joins_both(rng):
    half = csr_array(np.triu(rng.random((30, 30)) < 0.2))
    for found, expected in zip(turns_of(half), turns_of(half + half.T), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_zero_that_is_stored_joins_nobody(rng):
    H, cov = np.eye(5) + 0.5, rng.standard_normal((3, 5))
    dense = np.array([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0]])
    stored = csr_array((dense.ravel(), (np.repeat(range(3), 3), np.tile(range(3), 3))), shape=(3, 3))
    assert stored.nnz == 9
    codes, _ = coupled_codes(H, cov, stored, 0.1, 0.5)
    np.testing.assert_array_equal(codes, coupled_codes(H, cov, csr_array(dense), 0.1, 0.5)[0])
    assert stored.nnz == 9
