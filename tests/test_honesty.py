"""Numerical honesty: what must not matter does not, and what was reached is told."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from strategies import seeds

import jplrdl
from jplrdl import JPLRDLClassifier, LowRankCleaner, paper, problem, reference
from jplrdl.classification import ridge_encode
from jplrdl.dictionary import update_atoms
from jplrdl.low_rank_dictionary import low_rank_atoms

powers = st.integers(-200, 200).map(lambda k: 2.0**k)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    return X[:80], y[:80], X[80:130]


def small(**parameters):
    return JPLRDLClassifier(**{"n_components": 12, "max_iter": 3, "tol": 0.0, **parameters})


# ---------------------------------------------------------------------------------------------- scale equivariance


@given(seeds, powers, powers)
def test_codes_scale_with_samples_and_against_atoms(seed, factor, atom_factor):
    rng = np.random.default_rng(seed)
    X, D = rng.standard_normal((4, 8)), rng.standard_normal((12, 8))
    codes = jplrdl.sparse_encode(X, D, 0.5, shift=0.1)
    scaled = jplrdl.sparse_encode(
        factor * X, atom_factor * D, 0.5 * factor * atom_factor, shift=0.1 * atom_factor**2
    )  # fmt: skip
    np.testing.assert_array_equal(scaled * atom_factor / factor, codes)


@given(seeds, powers)
def test_proximal_maps_scale(seed, factor):
    V = np.random.default_rng(seed).standard_normal((5, 7))
    np.testing.assert_array_equal(jplrdl.prox_l1(factor * V, factor * 0.5) / factor, jplrdl.prox_l1(V, 0.5))
    for axis in (0, 1):
        scaled = jplrdl.prox_l21(factor * V, factor * 0.5, axis=axis) / factor
        np.testing.assert_allclose(scaled, jplrdl.prox_l21(V, 0.5, axis=axis), rtol=1e-14, atol=1e-300)
    shrunk, rank = jplrdl.prox_nuclear(V, 1.0)
    scaled, scaled_rank = jplrdl.prox_nuclear(factor * V, factor)
    np.testing.assert_allclose(scaled / factor, shrunk, atol=1e-11)
    assert scaled_rank == rank


@settings(max_examples=30)
@given(seeds, powers)
def test_robust_pca_scales(seed, factor):
    X = np.random.default_rng(seed).standard_normal((8, 6))
    plain, scaled = jplrdl.robust_pca(X), jplrdl.robust_pca(factor * X)
    np.testing.assert_allclose(scaled.low_rank / factor, plain.low_rank, atol=1e-12)
    assert scaled.n_iter == plain.n_iter
    np.testing.assert_allclose(scaled.objective / factor, plain.objective, rtol=1e-12)


@pytest.mark.parametrize("factor", [2.0**-500, 2.0**-20, 2.0**500])
def test_a_classifier_sees_directions_only(digits, factor):
    X, y, new = digits
    plain, scaled = small().fit(X, y), small().fit(factor * X, y)
    np.testing.assert_allclose(scaled.decision_function(factor * new), plain.decision_function(new), atol=1e-9)
    lengths = np.linspace(1, 1000, len(X))[:, None]
    stretched = small().fit(lengths * X, y)
    np.testing.assert_allclose(stretched.decision_function(new), plain.decision_function(new), atol=1e-6)


# ------------------------------------------------------------------------------------------------------ permutations


@given(seeds)
def test_the_order_of_samples_and_atoms_does_not_matter_to_codes(seed):
    rng = np.random.default_rng(seed)
    X, D = rng.standard_normal((6, 20)), rng.standard_normal((15, 20))
    samples, atoms = rng.permutation(6), rng.permutation(15)
    codes = jplrdl.sparse_encode(X, D, 1.0)
    np.testing.assert_allclose(jplrdl.sparse_encode(X[samples], D[atoms], 1.0), codes[samples][:, atoms], atol=1e-9)


@given(seeds)
def test_the_order_of_samples_does_not_matter_to_graphs(seed):
    rng = np.random.default_rng(seed)
    X, y, order = rng.standard_normal((20, 4)), rng.integers(0, 3, 20), rng.permutation(20)
    W = jplrdl.signed_knn_graph(X, y, 3, 2, weights="heat").toarray()
    moved = jplrdl.signed_knn_graph(X[order], y[order], 3, 2, weights="heat").toarray()
    np.testing.assert_allclose(moved, W[np.ix_(order, order)], rtol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_order_of_samples_and_the_names_of_classes_do_not_matter_to_a_fit(digits, seed):
    # Before the first round, and while singular vectors are enough atoms: samples that fill up are taken as they come.
    X, y, new = digits
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(len(X)), rng.permutation(5)
    options = {"max_iter": 0, "n_atoms": 4, "init_projection": "pca"}
    plain = small(**options).fit(X, y)
    moved = small(**options).fit(X[order], y[order])
    renamed = small(**options).fit(X, names[y])
    np.testing.assert_allclose(moved.decision_function(new), plain.decision_function(new), atol=1e-6)
    np.testing.assert_allclose(renamed.decision_function(new)[:, names], plain.decision_function(new), atol=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_after_rounds_order_and_names_change_next_to_no_prediction(digits, seed):
    # Blocks are solved in turn, so that their order counts: by how much, is told here.
    X, y, new = digits
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(len(X)), rng.permutation(5)
    plain = small().fit(X, y)
    for model, labels in ((small().fit(X[order], y[order]), np.arange(5)), (small().fit(X, names[y]), names)):
        assert np.mean(model.predict(new) == labels[plain.predict(new)]) >= 0.9
        np.testing.assert_allclose(model.history_["objective"][-1], plain.history_["objective"][-1], rtol=0.01)


# --------------------------------------------------------------------------------------------------------- rotations


@settings(max_examples=50)
@given(seeds)
def test_the_dictionary_step_turns_with_the_space(seed):
    rng = np.random.default_rng(seed)
    D, C, others = rng.standard_normal((5, 8)), rng.standard_normal((5, 8)), rng.standard_normal((9, 8))
    D, others = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (D, others))
    A, R = rng.standard_normal((20, 5)), np.linalg.qr(rng.standard_normal((8, 8)))[0]
    weights = {"lambda_incoherence": 0.1, "lambda_rank": 0.5}
    plain = update_atoms(D, 2 * A.T @ A, C, others, **weights)
    turned = update_atoms(D @ R, 2 * A.T @ A, C @ R, others @ R, **weights)
    np.testing.assert_allclose(turned, plain @ R, atol=1e-9)


@settings(max_examples=20)
@given(seeds)
def test_algorithm_1_turns_with_the_space(seed):
    rng = np.random.default_rng(seed)
    Y, D, others = rng.standard_normal((7, 6)), rng.standard_normal((4, 6)), rng.standard_normal((3, 6))
    D = D / np.linalg.norm(D, axis=1, keepdims=True)
    R, zero = np.linalg.qr(rng.standard_normal((6, 6)))[0], np.zeros((7, 6))
    plain = low_rank_atoms(Y, D, Y @ D.T, others, zero, max_iter=30)
    turned = low_rank_atoms(Y @ R, D @ R, Y @ D.T, others @ R, zero, max_iter=30)
    np.testing.assert_allclose(turned.atoms, plain.atoms @ R, atol=1e-7)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_fit_turns_with_the_space(digits, seed):
    X, y, new = digits
    R = np.linalg.qr(np.random.default_rng(seed).standard_normal((64, 64)))[0]
    options = {"low_rank_graph": False, "max_iter": 1}  # robust PCA counts pixels, which a rotation mixes
    plain, turned = small(**options).fit(X, y), small(**options).fit(X @ R, y)
    np.testing.assert_allclose(turned.decision_function(new @ R), plain.decision_function(new), atol=1e-6)


# --------------------------------------------------------------------------------------------------------- precision


@given(seeds)
def test_single_precision_agrees_with_double(seed):
    rng = np.random.default_rng(seed)
    X, D = rng.standard_normal((4, 12)).astype(np.float32), rng.standard_normal((10, 12)).astype(np.float32)
    single, double = jplrdl.sparse_encode(X, D, 1.0), jplrdl.sparse_encode(X.astype(float), D.astype(float), 1.0)
    H, b = D.astype(float) @ D.T.astype(float), X.astype(float) @ D.T.astype(float)
    for s, d, c in zip(single.astype(float), double, b, strict=True):
        worse = reference.lasso_objective(H, c, 1.0, s) - reference.lasso_objective(H, c, 1.0, d)
        assert worse <= 1e-5 * np.abs(c).max() * np.abs(d).sum() + 1e-9
    for t in (0.1, 2.0):
        shrunk = jplrdl.prox_nuclear(X, t)[0]
        np.testing.assert_allclose(shrunk, jplrdl.prox_nuclear(X.astype(float), t)[0], atol=5e-3)
    low = jplrdl.robust_pca(X, tol=1e-4)
    assert abs(low.objective - jplrdl.robust_pca(X.astype(float), tol=1e-4).objective) <= 0.01 * low.objective


def test_a_single_precision_fit_decides_as_a_double_one(digits):
    X, y, new = digits
    double, single = small().fit(X, y), small().fit(X.astype(np.float32), y)
    assert np.mean(single.predict(new.astype(np.float32)) == double.predict(new)) >= 0.98
    np.testing.assert_allclose(single.history_["objective"], double.history_["objective"], rtol=1e-2)


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e10, 1e14])
@pytest.mark.parametrize("seed", range(5))
def test_a_gram_matrix_of_any_condition_gives_the_optimum_or_says_that_it_does_not(seed, condition):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    H = (Q * np.geomspace(1, 1 / condition, 20)) @ Q.T
    H = (H + H.T) / 2
    cov = rng.standard_normal((10, 20)) @ H
    for penalty in (0.0, 1e-8, 1e-3):
        codes, info = jplrdl.feature_sign_search(H, cov, penalty, return_info=True)
        for b, a, residual, status in zip(cov, codes, info.residual, info.status, strict=True):
            true = reference.optimality_residual(H, b, penalty, a)
            scale = 2 * np.abs(b).max()
            assert abs(true - residual) <= 1e-10 * scale + 1e-14 * np.abs(a).sum()
            assert status != 0 or true <= 1.1e-10 * scale + 1e-14 * np.abs(a).sum()
            assert status == 0 or condition >= 1e10


@pytest.mark.parametrize("ridge", [1e-3, 1e-9, 1e-30])
def test_a_ridge_below_all_rounding_errors_still_gives_codes(rng, ridge):
    D, Y = rng.standard_normal((30, 8)).astype(np.float32), rng.standard_normal((5, 8)).astype(np.float32)
    codes = ridge_encode(Y, D, ridge, gram=D @ D.T)
    np.testing.assert_allclose(codes @ D, Y, atol=2e-3)


# ------------------------------------------------------------------------------------------- what was reached is told


def test_everything_iterative_tells_when_it_stops_early(rng, digits, monkeypatch):
    X, y, new = digits
    with pytest.warns(ConvergenceWarning, match=r"largest residual .* max_iter, raise it"):
        jplrdl.sparse_encode(rng.standard_normal((3, 20)), rng.standard_normal((30, 20)), 0.1, max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 iterations at feasibility .* raise max_iter"):
        assert not jplrdl.robust_pca(X, max_iter=2).converged
    with pytest.warns(ConvergenceWarning, match=r"stopped after max_iter = 2 iterations at feasibility .* raise"):
        cleaner = LowRankCleaner(max_iter=2).fit(X)
    with pytest.warns(ConvergenceWarning, match=r"images stopped after max_iter = 2 iterations at a gap of .* raise"):
        cleaner.transform(new)
    with pytest.warns(ConvergenceWarning, match=r"stopped after max_iter = 1 rounds, .* raise max_iter or tol"):
        assert not JPLRDLClassifier(12, max_iter=1, tol=1e-9).fit(X, y).converged_
    assert JPLRDLClassifier(12, max_iter=50, tol=1e-2).fit(X, y).converged_
    with monkeypatch.context() as patch:
        # It needs some thirty iterations; the limit of a fit's own robust PCA is 500 and no parameter.
        patch.setattr(problem, "decompose", partial(problem.decompose, max_iter=2))
        with pytest.warns(ConvergenceWarning, match=r"5 of 5 classes stopped at .* low_rank_graph=False") as told:
            JPLRDLClassifier(12, max_iter=1).fit(X, y)
        assert told[0].filename == __file__
        patch.undo()
        patch.setattr(paper, "low_rank_atoms", partial(paper.low_rank_atoms, max_iter=2))
        with pytest.warns(ConvergenceWarning, match=r"Algorithm 1 of 5 of 5 classes stopped .* violation") as told:
            JPLRDLClassifier(12, solver="paper", max_iter=1).fit(X, y)
        assert told[0].filename == __file__
    found = low_rank_atoms(X[:9], X[:4], np.ones((9, 4)), X[9:12], 0 * X[:9], max_iter=2)
    assert not found.converged
    assert found.violations.shape == (2, 3)
