"""Codes are the exact minimum of the lasso: checked by its optimality conditions, the reference and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso
from strategies import coding_problems, dtypes, layouts

import jplrdl
from jplrdl import reference


def largest_residual(X, dictionary, penalty, codes, shift=0.0):
    gram, cov = dictionary @ dictionary.T, X @ dictionary.T
    return max(
        reference.optimality_residual(gram, b, penalty, a, shift) for b, a in zip(cov, codes.astype(float), strict=True)
    )


def scale_of(X, dictionary):
    return 2 * np.abs(X @ dictionary.T).max()


@given(coding_problems())
def test_codes_satisfy_the_optimality_conditions(problem):
    X, dictionary, penalty = problem
    codes, info = jplrdl.sparse_encode(X, dictionary, penalty, return_info=True)
    assert info.converged
    assert largest_residual(X, dictionary, penalty, codes) <= 1e-9 * scale_of(X, dictionary)


@given(coding_problems())
def test_float32_codes_satisfy_them_to_single_precision(problem):
    X, dictionary, penalty = problem
    penalty = min(penalty, 1e30)
    X, dictionary = X.astype(np.float32), dictionary.astype(np.float32)
    codes, info = jplrdl.sparse_encode(X, dictionary, penalty, return_info=True)
    assert codes.dtype == np.float32
    assert np.isfinite(codes).all()
    if info.converged:
        rounding = 1e-5 * np.abs(codes).sum(axis=1).max() * (dictionary**2).sum(axis=1).max()
        assert largest_residual(X, dictionary, penalty, codes) <= 3e-5 * scale_of(X, dictionary) + rounding


@given(coding_problems(), st.integers(0, 2**32 - 1))
def test_any_warm_start_leads_to_the_optimum(problem, seed):
    X, dictionary, penalty = problem
    rng = np.random.default_rng(seed)
    init = rng.standard_normal((len(X), len(dictionary))) * (rng.random((len(X), len(dictionary))) < 0.5)
    codes, info = jplrdl.sparse_encode(X, dictionary, penalty, init=init, return_info=True)
    for x, code, status in zip(X, codes, info.status, strict=True):
        if status == 2:
            # Without a penalty, atoms of the start may be too nearly parallel for any solver: it must say so.
            active = dictionary[code != 0]
            assert penalty == 0
            assert np.linalg.cond(active @ active.T) > 1e12
        else:
            assert largest_residual(x[None], dictionary, penalty, code[None]) <= 1e-9 * scale_of(x[None], dictionary)


def test_matches_the_reference(unit_rows):
    X, dictionary = unit_rows(20, 60), unit_rows(40, 60)
    for penalty in (0.01, 0.1, 0.5):
        ours = jplrdl.sparse_encode(X, dictionary, penalty)
        np.testing.assert_allclose(ours, reference.sparse_encode(X, dictionary, penalty), atol=1e-10)


def test_matches_scikit_learns_lasso(unit_rows):
    X, dictionary, penalty = unit_rows(10, 30), unit_rows(50, 30), 0.1
    ours = jplrdl.sparse_encode(X, dictionary, penalty)
    lasso = Lasso(alpha=penalty / 2 / X.shape[1], fit_intercept=False, tol=1e-12, max_iter=100_000)
    theirs = np.array([lasso.fit(dictionary.T, x).coef_ for x in X])
    np.testing.assert_allclose(ours, theirs, atol=1e-7)
    assert (ours != 0).sum() > 50


def test_shift_is_an_elastic_net(unit_rows):
    X, dictionary, penalty, shift = unit_rows(10, 30), unit_rows(50, 30), 0.1, 0.3
    ours = jplrdl.sparse_encode(X, dictionary, penalty, shift=shift)
    alpha = (penalty / 2 + shift) / X.shape[1]
    net = ElasticNet(alpha=alpha, l1_ratio=penalty / 2 / (penalty / 2 + shift), fit_intercept=False, tol=1e-12,
                     max_iter=100_000)
    np.testing.assert_allclose(ours, [net.fit(dictionary.T, x).coef_ for x in X], atol=1e-7)
    assert largest_residual(X, dictionary, penalty, ours, shift) <= 1e-10


def test_an_orthonormal_dictionary_gives_the_soft_threshold(rng):
    Q = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    X = rng.standard_normal((5, 30))
    np.testing.assert_allclose(jplrdl.sparse_encode(X, Q, 0.8), reference.prox_l1(X @ Q.T, 0.4), atol=1e-12)


def test_no_penalty_is_least_squares(rng):
    X, dictionary = rng.standard_normal((5, 40)), rng.standard_normal((20, 40))
    expected = np.linalg.lstsq(dictionary.T, X.T, rcond=None)[0].T
    np.testing.assert_allclose(jplrdl.sparse_encode(X, dictionary, 0.0), expected, atol=1e-10)


def test_no_penalty_and_more_atoms_than_features_fits_exactly(rng):
    X, dictionary = rng.standard_normal((5, 20)), rng.standard_normal((60, 20))
    codes = jplrdl.sparse_encode(X, dictionary, 0.0)
    np.testing.assert_allclose(codes @ dictionary, X, atol=1e-9)


def test_a_large_penalty_gives_zero(rng):
    X, dictionary = rng.standard_normal((5, 20)), rng.standard_normal((10, 20))
    smallest = 2 * np.abs(X @ dictionary.T).max(axis=1)
    codes, info = jplrdl.sparse_encode(X, dictionary, smallest, return_info=True)
    assert not codes.any()
    assert not info.n_iter.any()
    assert jplrdl.sparse_encode(X, dictionary, 0.999 * smallest).any(axis=1).all()


def test_duplicate_atoms_share_one_code(unit_rows):
    X, dictionary = unit_rows(10, 30), unit_rows(20, 30)
    twice = np.vstack([dictionary, dictionary])
    codes = jplrdl.sparse_encode(X, twice, 0.1)
    once = jplrdl.sparse_encode(X, dictionary, 0.1)
    np.testing.assert_allclose(codes[:, :20] + codes[:, 20:], once, atol=1e-10)


def test_atoms_in_a_small_subspace(rng):
    # Twenty atoms of rank four: whenever a fifth wants to join, it must take the place of another.
    dictionary = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 30))
    dictionary /= np.linalg.norm(dictionary, axis=1, keepdims=True)
    X = rng.standard_normal((50, 20)) @ dictionary
    for penalty in (1e-8, 1e-3, 0.1):
        codes, info = jplrdl.sparse_encode(X, dictionary, penalty, return_info=True)
        assert info.converged
        assert (codes != 0).sum(axis=1).max() <= 4
        assert largest_residual(X, dictionary, penalty, codes) <= 1e-9 * scale_of(X, dictionary)


def test_hundreds_of_violators_that_are_all_equal(rng):
    """The worst violators are found by halving a range: here it is empty, and any of them will do."""
    n = 300
    cov = rng.choice([-1.0, 1.0], size=(2, n))
    np.testing.assert_allclose(jplrdl.feature_sign_search(np.eye(n), cov, 0.5), 0.75 * cov)


def test_large_supports_outgrow_the_first_room(rng):
    X, dictionary = rng.standard_normal((3, 400)), rng.standard_normal((300, 400))
    codes = jplrdl.sparse_encode(X, dictionary, 0.5)
    assert (codes != 0).sum(axis=1).min() > 200
    assert largest_residual(X, dictionary, 0.5, codes) <= 1e-9 * scale_of(X, dictionary)


def test_penalty_and_shift_may_differ_by_sample(unit_rows):
    X, dictionary = unit_rows(4, 30), unit_rows(20, 30)
    penalty, shift = np.array([0.01, 0.1, 0.5, 0.0]), np.array([0.0, 0.2, 0.0, 1.0])
    codes = jplrdl.sparse_encode(X, dictionary, penalty, shift=shift)
    for x, p, s, code in zip(X, penalty, shift, codes, strict=True):
        np.testing.assert_allclose(jplrdl.sparse_encode([x], dictionary, p, shift=s)[0], code, atol=1e-13)


def test_gram_form_agrees_with_data_form(unit_rows):
    X, dictionary = unit_rows(6, 30), unit_rows(20, 30)
    gram, cov = dictionary @ dictionary.T, X @ dictionary.T
    codes = jplrdl.sparse_encode(X, dictionary, 0.1)
    np.testing.assert_allclose(jplrdl.feature_sign_search(gram, cov, 0.1), codes, atol=1e-13)
    np.testing.assert_allclose(jplrdl.feature_sign_search(gram, cov[0], 0.1), codes[0], atol=1e-13)
    np.testing.assert_allclose(jplrdl.sparse_encode(X, dictionary, 0.1, gram=gram), codes, atol=1e-13)


def test_codes_scale_with_the_sample(unit_rows):
    X, dictionary = unit_rows(5, 30), unit_rows(20, 30)
    codes = jplrdl.sparse_encode(X, dictionary, 0.1)
    for factor in (1e-140, 1e-3, 1e140):
        scaled = jplrdl.sparse_encode(factor * X, dictionary, factor * 0.1)
        np.testing.assert_allclose(scaled / factor, codes, rtol=1e-9, atol=1e-13)


def test_the_order_of_atoms_does_not_matter(unit_rows, rng):
    X, dictionary = unit_rows(5, 30), unit_rows(50, 30)
    order = rng.permutation(50)
    codes = jplrdl.sparse_encode(X, dictionary, 0.05)
    np.testing.assert_allclose(jplrdl.sparse_encode(X, dictionary[order], 0.05), codes[:, order], atol=1e-9)


@given(st.data(), dtypes)
def test_every_layout_gives_the_same_codes(data, dtype):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((7, 12)).astype(dtype)
    dictionary = rng.standard_normal((9, 12)).astype(dtype)
    x, d = data.draw(layouts)(X), data.draw(layouts)(dictionary)
    before = x.copy(), d.copy()
    codes = jplrdl.sparse_encode(x, d, 0.3)
    assert codes.dtype == dtype
    plain = jplrdl.sparse_encode(X, dictionary, 0.3)
    np.testing.assert_allclose(codes, plain, atol=1e-5 if dtype == np.float32 else 1e-12)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(d, before[1])


def test_init_is_not_written_to(unit_rows):
    X, dictionary = unit_rows(3, 10), unit_rows(5, 10)
    init = np.ones((3, 5))
    jplrdl.sparse_encode(X, dictionary, 0.1, init=init)
    assert (init == 1).all()


def test_a_good_warm_start_saves_iterations(unit_rows):
    X, dictionary = unit_rows(10, 40), unit_rows(80, 40)
    codes, cold = jplrdl.sparse_encode(X, dictionary, 0.05, return_info=True)
    again, warm = jplrdl.sparse_encode(X, dictionary, 0.05, init=codes, return_info=True)
    assert warm.n_iter.sum() < 0.2 * cold.n_iter.sum()
    np.testing.assert_allclose(again, codes, atol=1e-12)


def test_the_residual_told_is_the_residual_reached(unit_rows):
    X, dictionary = unit_rows(10, 40), unit_rows(80, 40)
    gram, cov = dictionary @ dictionary.T, X @ dictionary.T
    for max_iter in range(1, 12):
        codes, info = jplrdl.sparse_encode(X, dictionary, 0.05, max_iter=max_iter, return_info=True)
        expected = [reference.optimality_residual(gram, b, 0.05, a) for b, a in zip(cov, codes, strict=True)]
        np.testing.assert_allclose(info.residual, expected, rtol=1e-10)


def test_iteration_limit_is_told(unit_rows):
    X, dictionary = unit_rows(4, 40), unit_rows(80, 40)
    codes, info = jplrdl.sparse_encode(X, dictionary, 0.05, max_iter=2, return_info=True)
    assert (info.status == 1).all()
    assert (info.n_iter == 2).all()
    assert np.isfinite(codes).all()
    with pytest.warns(ConvergenceWarning, match="4 stopped at max_iter"):
        jplrdl.sparse_encode(X, dictionary, 0.05, max_iter=2)


def test_stopping_early_is_no_worse_than_not_starting(unit_rows):
    X, dictionary = unit_rows(4, 40), unit_rows(80, 40)
    gram, cov = dictionary @ dictionary.T, X @ dictionary.T
    for max_iter in range(1, 12):
        codes, _ = jplrdl.sparse_encode(X, dictionary, 0.05, max_iter=max_iter, return_info=True)
        for b, a in zip(cov, codes, strict=True):
            assert reference.lasso_objective(gram, b, 0.05, a) < 0


def test_an_indefinite_gram_is_told_and_the_codes_are_finite(rng):
    A = rng.standard_normal((30, 30))
    gram = (A + A.T) / 2
    cov = rng.standard_normal((50, 30))
    codes, info = jplrdl.feature_sign_search(gram, cov, 0.1, return_info=True)
    assert (info.status == 2).any()
    assert np.isfinite(codes).all()
    assert np.isfinite(info.residual).all()
    for b, a in zip(cov, codes, strict=True):
        assert reference.lasso_objective(gram, b, 0.1, a) <= 0
    with pytest.warns(ConvergenceWarning, match="not positive definite"):
        jplrdl.feature_sign_search(gram, cov, 0.1)


def test_an_unbounded_problem_is_told():
    # H = 0 and |2b| > penalty: the objective falls for ever.
    codes, info = jplrdl.feature_sign_search(np.zeros((3, 3)), [1.0, 0.2, -0.1], 0.5, return_info=True)
    assert info.status == 2
    np.testing.assert_array_equal(codes, 0)


@pytest.mark.parametrize("condition", [1e4, 1e8, 1e12])
def test_ill_conditioned_dictionaries(rng, condition):
    U = np.linalg.qr(rng.standard_normal((60, 30)))[0]
    V = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    dictionary = (V * np.geomspace(1, condition**-0.5, 30)) @ U.T
    X = rng.standard_normal((10, 60))
    codes, info = jplrdl.sparse_encode(X, dictionary, 1e-3, return_info=True)
    assert info.converged
    assert largest_residual(X, dictionary, 1e-3, codes) <= 1e-9 * scale_of(X, dictionary)
