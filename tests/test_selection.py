"""The choice of weights: the scores of plain cross-validation, and the work shared that can be."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from jplrdl import JPLRDLClassifier, JPLRDLClassifierCV, classifier

pytestmark = pytest.mark.filterwarnings("ignore:n_components = :UserWarning")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    return X[:100], y[:100]


def small():
    return JPLRDLClassifier(n_components=12, max_iter=2)


def quick():
    return JPLRDLClassifierCV(
        JPLRDLClassifier(max_iter=1), lambda_sparse=[0.02], lambda_graph=None, code_penalty=[0.001, 0.01],
        mean_weight=None, cv=2,
    )  # fmt: skip


@parametrize_with_checks([quick()])
def test_estimator_conventions(estimator, check):
    check(estimator)


def test_scores_are_those_of_plain_cross_validation(digits):
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    grid = {"code_penalty": [0.5, 0.001], "mean_weight": [0.0, 2.0]}
    search = JPLRDLClassifierCV(small(), lambda_sparse=[0.05], lambda_graph=[0.01], cv=folds, **grid).fit(*digits)
    for params, scores in zip(search.cv_results_["params"], search.cv_results_["split_test_score"], strict=True):
        np.testing.assert_allclose(scores, cross_val_score(small().set_params(**params), *digits, cv=folds))
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    best = search.cv_results_["mean_test_score"].argmax()
    assert search.best_params_ == search.cv_results_["params"][best]
    assert search.best_score_ == search.cv_results_["mean_test_score"][best]
    alone = small().set_params(**search.best_params_).fit(*digits)
    np.testing.assert_array_equal(search.decision_function(digits[0]), alone.decision_function(digits[0]))
    np.testing.assert_array_equal(search.transform(digits[0]), alone.transform(digits[0]))
    np.testing.assert_array_equal(search.project(digits[0]), alone.project(digits[0]))


def test_graphs_are_built_once_a_fold_and_fits_go_on_from_each_other(digits, monkeypatch):
    posed, starts = [], []
    pose, solve = classifier.pose_problem, JPLRDLClassifier._solve

    def counting_pose(*args, **kwargs):
        posed.append(len(args[0]))
        return pose(*args, **kwargs)

    def noting_solve(self, problem, start=None):
        solver = solve(self, problem, start)
        starts.append((self.lambda_sparse, start, solver))
        return solver

    monkeypatch.setattr(classifier, "pose_problem", counting_pose)
    monkeypatch.setattr(JPLRDLClassifier, "_solve", noting_solve)
    JPLRDLClassifierCV(small(), lambda_sparse=[0.01, 0.1, 0.03], lambda_graph=[0.001], cv=2).fit(*digits)
    assert posed == [50, 50, 100]
    assert [value for value, _, _ in starts[:3]] == [0.1, 0.03, 0.01]
    assert starts[0][1] is None
    assert starts[1][1] is starts[0][2]
    assert starts[2][1] is starts[1][2]


def test_processes_do_not_change_the_choice(digits):
    one, two = (
        JPLRDLClassifierCV(small(), lambda_sparse=[0.02, 0.2], lambda_graph=[0.005], cv=2, n_jobs=n).fit(*digits)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.cv_results_["split_test_score"], two.cv_results_["split_test_score"])


def test_a_line_a_candidate(digits, capsys):
    JPLRDLClassifierCV(
        small(), lambda_sparse=[0.02], lambda_graph=None, code_penalty=[0.001, 0.01], mean_weight=None, cv=2,
        verbose=True,
    ).fit(*digits)  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert "lambda_sparse 0.02, lambda_graph" in lines[0]
    assert "code_penalty 0.01" in lines[1]


def test_bad_grids_are_named(digits):
    with pytest.raises(ValueError, match="lambda_sparse must hold at least one value"):
        JPLRDLClassifierCV(small(), lambda_sparse=[]).fit(*digits)
    with pytest.raises(ValueError, match="mean_weight must be finite and >= 0, got -1"):
        JPLRDLClassifierCV(small(), mean_weight=[0.0, -1.0]).fit(*digits)
