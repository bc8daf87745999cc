"""Hypothesis strategies shared by the tests: arrays as users have them, in any order, stride, byte order and type."""

import numpy as np
from hypothesis import strategies as st


def _fortran(a):
    return np.asfortranarray(a)


def _strided(a):
    wide = np.full((2 * a.shape[0], *a.shape[1:]), np.nan, dtype=a.dtype)
    wide[::2] = a
    return wide[::2]


def _reversed(a):
    return a[::-1].copy()[::-1]


def _read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def _swapped(a):
    return a.astype(a.dtype.newbyteorder())


layouts = st.sampled_from([np.ascontiguousarray, _fortran, _strided, _reversed, _read_only, _swapped])
dtypes = st.sampled_from([np.float64, np.float32])
seeds = st.integers(0, 2**32 - 1)


@st.composite
def matrices(draw, most_rows=12, most_columns=12):
    """A matrix of standard normal numbers, some of its rows zero or repeated, in any layout; and its plain copy."""
    rng = np.random.default_rng(draw(seeds))
    n_rows, n_columns = draw(st.integers(1, most_rows)), draw(st.integers(1, most_columns))
    plain = rng.standard_normal((n_rows, n_columns)).astype(draw(dtypes))
    if draw(st.booleans()):
        plain[rng.integers(n_rows)] = 0
        plain[rng.integers(n_rows)] = plain[rng.integers(n_rows)]
    return draw(layouts)(plain), plain


@st.composite
def coding_problems(draw):
    """X, dictionary and penalty: over- and undercomplete, with repeated, zero and scaled atoms."""
    rng = np.random.default_rng(draw(seeds))
    n_features, n_atoms = draw(st.integers(1, 15)), draw(st.integers(1, 30))
    dictionary = rng.standard_normal((n_atoms, n_features))
    if draw(st.booleans()):
        dictionary = rng.standard_normal((n_atoms, 2)) @ rng.standard_normal((2, n_features))
    if draw(st.booleans()):
        dictionary[rng.integers(n_atoms)] = dictionary[rng.integers(n_atoms)]
        dictionary[rng.integers(n_atoms)] = 0
    if draw(st.booleans()):
        dictionary *= rng.uniform(0.1, 3, size=(n_atoms, 1))
    X = rng.standard_normal((draw(st.integers(1, 5)), n_features))
    penalty = draw(st.sampled_from([0.0, 1e-6, 1e-3, 0.1, 1.0, 10.0, 1e30]))
    return X, dictionary, penalty
