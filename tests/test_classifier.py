"""The estimator: scikit-learn's conventions, a monotone objective, and residuals as eq25 says."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import jplrdl
from jplrdl import JPLRDLClassifier, reference
from jplrdl.classification import class_residuals, ridge_encode
from jplrdl.experiments import CollaborativeRepresentationClassifier

# Small data have a smaller rank than the share of features asked for; the warning is tested below.
pytestmark = pytest.mark.filterwarnings("ignore:n_components = :UserWarning")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:150], y[:150], X[150:400], y[150:400]


@pytest.fixture(scope="module")
def fitted(digits):
    return JPLRDLClassifier(n_components=25, max_iter=3).fit(*digits[:2])


def small(**parameters):
    return JPLRDLClassifier(**{"n_components": 15, "max_iter": 2, **parameters})


@parametrize_with_checks([JPLRDLClassifier(), JPLRDLClassifier(solver="paper", max_iter=2)])
def test_estimator_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("dtype", "rise"), [(np.float64, 1e-9), (np.float32, 1e-5)])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("load", [load_digits, load_wine, load_breast_cancer])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"lambda_incoherence": 0.1, "lambda_rank": 1.0, "lambda_energy": 0.0},
        {"lambda_energy": 3.0, "lambda_graph": 0.1, "n_atoms": 30},
    ],
)
def test_the_objective_never_rises(load, dtype, rise, seed, changes):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))[:80]
    X, y = X[order].astype(dtype), y[order]
    model = small(n_components=0.3, max_iter=4, tol=0.0, **changes).fit(X, y)
    values = np.array(model.history_["objective"])
    assert len(values) == 2 + 3 * 4
    assert np.max(np.diff(values) / np.abs(values[:-1])) <= rise
    assert values[-1] < values[1]
    assert model.components_.dtype == model.projection_.dtype == model.codes_.dtype == dtype
    total = sum(np.array(model.history_[name]) for name in model.history_ if name not in ("block", "objective"))
    np.testing.assert_allclose(total, values, rtol=1e-12)


def test_what_is_learned_keeps_its_constraints(fitted, digits):
    P, D = fitted.projection_, fitted.components_
    np.testing.assert_allclose(P.T @ P, np.eye(25), atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(D, axis=1), 1, atol=1e-10)
    assert D.shape == (150, 25)
    np.testing.assert_array_equal(np.unique(fitted.atom_labels_), np.arange(10))
    unit = digits[0] / np.linalg.norm(digits[0], axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.project(digits[0]), unit @ P, atol=1e-12)
    np.testing.assert_allclose(
        fitted.class_means_[3], fitted.codes_[digits[1] == 3].mean(axis=0), atol=1e-14
    )


@pytest.mark.parametrize("residual", ["paper", "normalized"])
@pytest.mark.parametrize("mean_weight", [0.0, 0.3])
def test_decision_follows_its_definition(fitted, digits, residual, mean_weight):
    model = clone(fitted).fit(*digits[:2]).set_params(residual=residual, mean_weight=mean_weight)
    X = digits[2][:7]
    Y, codes = model.project(X), model.transform(X)
    np.testing.assert_allclose(codes, jplrdl.sparse_encode(Y, model.components_, 0.01, shift=0.003), atol=1e-10)
    for y, a, scores in zip(Y, codes, model.decision_function(X), strict=True):
        for label in range(10):
            own = model.atom_labels_ == label
            e = np.sum((y - a[own] @ model.components_[own]) ** 2)
            if residual == "normalized":
                e /= e + np.sum(a[own] ** 2) / np.sum(a**2)
            e += mean_weight * np.sum((a - model.class_means_[label]) ** 2)
            np.testing.assert_allclose(scores[label], -e, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


def test_probabilities_order_as_the_decision_and_sum_to_one(fitted, digits):
    probabilities, scores = fitted.predict_proba(digits[2]), fitted.decision_function(digits[2])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-12)
    assert probabilities.min() >= 0
    np.testing.assert_array_equal(probabilities.argmax(axis=1), scores.argmax(axis=1))


def test_it_learns_to_read(fitted, digits):
    assert fitted.score(*digits[2:]) > 0.75


def test_without_rounds_it_keeps_the_first_projection_and_dictionary(digits):
    model = small(max_iter=0).fit(*digits[:2])
    assert model.n_iter_ == 0
    assert model.history_["block"] == ["start", "codes"]
    assert model.score(*digits[2:]) > 0.7


def test_parameters_of_prediction_need_no_new_fit(digits):
    fresh = small(code_penalty=0.05, code_ridge=0.1, mean_weight=0.2, residual="paper").fit(*digits[:2])
    changed = small().fit(*digits[:2]).set_params(code_penalty=0.05, code_ridge=0.1, mean_weight=0.2, residual="paper")
    np.testing.assert_array_equal(changed.decision_function(digits[2]), fresh.decision_function(digits[2]))


@pytest.mark.parametrize(
    "changes",
    [
        {"lambda_rank": 0.0}, {"learn_projection": False}, {"lambda_incoherence": 0.0}, {"lambda_graph": 0.0},
        {"low_rank_graph": False}, {"penalty_edges": False}, {"init_projection": "pca"}, {"n_atoms": 3},
        {"init_dictionary": "samples"}, {"init_ridge": 1.0},
        {"n_neighbors_same": 2, "n_neighbors_other": 1}, {"n_components": 0.2},
    ],
)  # fmt: skip
def test_every_ablation_runs_and_changes_the_model(digits, changes):
    X, y = digits[0][:90], digits[1][:90]
    plain, changed = small().fit(X, y), small(**changes).fit(X, y)
    assert changed.score(*digits[2:]) > 0.5
    assert plain.components_.shape != changed.components_.shape or not np.allclose(
        plain.components_, changed.components_, atol=1e-8
    )


def test_codes_without_penalty_solve_their_normal_equations(digits):
    model = small(code_penalty=0.0, code_ridge=0.02, init_dictionary="samples").fit(*digits[:2])
    Y, D = model.project(digits[2]), model.components_
    codes = model.transform(digits[2])
    np.testing.assert_allclose(codes @ (D @ D.T) + 0.02 * codes, Y @ D.T, atol=1e-10)


def test_samples_as_first_atoms_classify_as_collaborative_representation(digits):
    X, y, X_test, _ = digits
    rank = int(np.linalg.matrix_rank(X))
    model = small(n_components=rank, max_iter=0, init_dictionary="samples", code_penalty=0.0, code_ridge=0.01)
    truth = CollaborativeRepresentationClassifier(0.01).fit(X, y)
    assert np.mean(model.fit(X, y).predict(X_test) == truth.predict(X_test)) > 0.98


def test_a_projection_not_learned_stays(digits):
    first, last = small(max_iter=0).fit(*digits[:2]), small(learn_projection=False).fit(*digits[:2])
    np.testing.assert_array_equal(first.projection_, last.projection_)
    assert "projection" not in last.history_["block"]


def test_samples_fill_up_in_an_order_of_their_own(digits):
    X, y = digits[0][:60], digits[1][:60]

    def atoms(seed):
        return small(max_iter=0, n_atoms=30, random_state=seed).fit(X, y).components_

    np.testing.assert_array_equal(atoms(3), atoms(3))
    np.testing.assert_array_equal(atoms(None), atoms(None))
    assert not np.array_equal(atoms(3), atoms(4))


def test_threads_do_not_change_the_result(digits):
    one, two = small(n_jobs=1).fit(*digits[:2]), small(n_jobs=2).fit(*digits[:2])
    np.testing.assert_array_equal(one.decision_function(digits[2]), two.decision_function(digits[2]))


def test_pipelines_grids_and_frames(digits):
    X, y = digits[0][:90], digits[1][:90]
    pipeline = make_pipeline(FunctionTransformer(), small())
    assert cross_val_score(pipeline, X, y, cv=2).mean() > 0.5
    grid = GridSearchCV(small(), {"lambda_sparse": [0.02, 0.1]}, cv=2).fit(X, y)
    assert set(grid.best_params_) == {"lambda_sparse"}
    assert small().fit(X, y).get_feature_names_out()[0] == "jplrdlclassifier0"


def test_labels_imbalance_and_classes_of_one_sample(digits):
    X, y = digits[0], digits[1]
    chosen = np.concatenate([np.flatnonzero(y == 0)[:12], np.flatnonzero(y == 1)[:5], np.flatnonzero(y == 2)[:1]])
    names = np.array(["zero", "one", "two"], dtype=object)[y[chosen]]
    model = small(n_components=10).fit(X[chosen], names)
    assert set(model.predict(X[chosen])) == {"zero", "one", "two"}
    np.testing.assert_array_equal(model.predict(X[chosen]), names)


def test_verbose_prints_a_line_a_round_and_the_callback_can_stop(digits, capsys):
    seen = []

    def stop(iteration, history):
        seen.append((iteration, history["objective"][-1]))
        return iteration == 2

    model = small(max_iter=5, verbose=True, callback=stop).fit(*digits[:2])
    assert model.n_iter_ == 2
    assert [iteration for iteration, _ in seen] == [1, 2]
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_more_dimensions_than_the_rank_are_told(digits):
    X, y = digits[0][:20], digits[1][:20]
    with pytest.warns(UserWarning, match="n_components = 40 asks for 40 dimensions, more than the rank of X; 20 are"):
        model = JPLRDLClassifier(n_components=40, max_iter=1).fit(X, y)
    assert model.projection_.shape == (64, 20)


def test_bad_input_is_named(digits):
    X, y = digits[0][:20], digits[1][:20]
    with pytest.raises(ValueError, match="y must hold at least two classes, got 1 class"):
        small().fit(X, np.zeros(20))
    with pytest.raises(ValueError, match="Y must have a sample other than zero in every class"):
        small().fit(np.where((y == 3)[:, None], 0.0, X), y)
    for name, value in [("n_components", 0), ("n_components", 1.5), ("lambda_rank", -1.0), ("residual", "other")]:
        with pytest.raises(ValueError, match=name):
            small(**{name: value}).fit(X, y)
    for bad in (np.nan, np.inf):
        spoilt = X.copy()
        spoilt[3, 4] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            small().fit(spoilt, y)


def test_zero_samples_and_constant_features_do_no_harm(digits):
    X, y = digits[0][:60].copy(), digits[1][:60]
    X[5] = 0.0
    X[:, 0] = 7.0
    X[5, 0] = 0.0
    model = small().fit(X, y)
    assert np.isfinite(model.decision_function(np.vstack([X, np.zeros(64)]))).all()
    assert not model.codes_[5].any() or np.isfinite(model.codes_).all()


def test_residuals_of_a_class_without_a_part():
    e = class_residuals(
        np.array([[1.0, 0.0]]), np.eye(2), np.array([[1.0, 0.0]]), np.array([0, 1]), np.zeros((2, 2)), normalized=True
    )
    np.testing.assert_array_equal(e, [[0.0, 1.0]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("normalized", [False, True])
def test_residuals_are_those_of_the_reference(rng, dtype, normalized):
    """Of samples that a class explains wholly, too, and of atoms in any order."""
    D, labels = rng.standard_normal((30, 12)).astype(dtype), rng.permutation(np.arange(30) % 5)
    codes = rng.standard_normal((40, 30)).astype(dtype)
    codes[:20] *= labels == 3
    Y = (codes @ D + np.where(np.arange(40) < 10, 0, 0.1)[:, None] * rng.standard_normal((40, 12))).astype(dtype)
    means = rng.standard_normal((5, 30)).astype(dtype)
    scale = np.linalg.norm(Y, axis=1, keepdims=True)
    given = Y / scale, D, codes / scale, labels, means
    found = class_residuals(*given, mean_weight=0.1, normalized=normalized)
    truth = reference.class_residuals(*given, mean_weight=0.1, normalized=normalized)
    np.testing.assert_allclose(found, truth, atol=1e-13 if dtype == np.float64 else 1e-5)
    assert found.min() >= 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_samples", [1, 400])
@pytest.mark.parametrize("n_components", [5, 20, 21, 60])
def test_ridge_codes_are_those_of_the_larger_system(rng, dtype, n_samples, n_components):
    """Forty atoms: up to twenty dimensions, the smaller system is that of these."""
    D, Y = (rng.standard_normal((n, n_components)).astype(dtype) for n in (40, n_samples))
    before = Y.copy()
    codes = ridge_encode(Y, D, 0.5, gram=D @ D.T)
    np.testing.assert_array_equal(Y, before)
    assert codes.dtype == dtype
    D, Y = D.astype(float), Y.astype(float)
    truth = np.linalg.solve(D @ D.T + 0.5 * np.eye(40), D @ Y.T).T
    np.testing.assert_allclose(codes, truth, atol=1e-12 if dtype == np.float64 else 2e-4)


def test_residuals_of_classes_of_many_sizes(rng):
    labels = np.repeat(np.arange(6), [1, 4, 2, 4, 1, 9])
    D, codes, Y = (rng.standard_normal((n, m)) for n, m in ((21, 12), (300, 21), (300, 12)))
    given = Y, D, codes, labels, np.zeros((6, 21))
    np.testing.assert_allclose(class_residuals(*given), reference.class_residuals(*given), atol=1e-10)


def test_many_features_need_a_few_copies_of_them():
    # 100,000 features: a square matrix of them would take 40 GB, and 300 samples take 114 MB.
    code = """
import resource
import numpy as np
from jplrdl import JPLRDLClassifier

rng = np.random.default_rng(0)
JPLRDLClassifier(2, max_iter=1).fit(rng.random((20, 10)), np.repeat([0, 1], 10))
X, y = rng.random((30, 100_000), dtype=np.float32), np.repeat(np.arange(30), 10)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
X = X[y]
X += rng.random(X.shape, dtype=np.float32) / 10
model = JPLRDLClassifier(100, max_iter=1).fit(X, y)
grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(grown / X.nbytes, model.score(X[::10], y[::10]))
"""
    pytest.importorskip("resource")
    out = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout
    copies, score = map(float, out.split())
    assert copies < 6
    assert score == 1
