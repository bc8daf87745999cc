"""The whole fit, kernels against plain NumPy: the same objective after every block, the same decisions."""

import inspect

import numpy as np
import pytest
from sklearn.datasets import load_digits

from jplrdl import exact, reference
from jplrdl.classifier import JPLRDLClassifier

WEIGHTS = {
    "lambda_sparse": 0.02, "lambda_graph": 0.005, "lambda_rank": 0.1, "lambda_incoherence": 0.001,
    "lambda_projection": 0.1, "lambda_energy": 0.0,
}  # fmt: skip


def test_defaults_are_the_same():
    ours = JPLRDLClassifier().get_params()
    for function in (reference.fit, reference.predict):
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.default is not inspect.Parameter.empty:
                assert ours[name] == parameter.default, name


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"lambda_rank": 1.0, "lambda_incoherence": 0.1, "lambda_energy": 0.5},
        {"n_atoms": 4, "learn_projection": False},
        {"init_projection": "pca", "lambda_graph": 0.05},
        {"init_ridge": 0.5},
        {"init_dictionary": "samples", "lambda_sparse": 0.01},
    ],
)
@pytest.mark.parametrize("group", [20, 128])
def test_the_estimator_repeats_the_reference(changes, group, monkeypatch):
    monkeypatch.setattr(exact, "_GROUP", group)  # seventy atoms: in groups of two classes, or all at once
    X, y = load_digits(n_class=5, return_X_y=True)
    train, test = slice(0, 70), slice(70, 150)
    parameters = {**WEIGHTS, "init_projection": "lpp", "max_iter": 3, "tol": 0.0, **changes}
    model = JPLRDLClassifier(12, **parameters).fit(X[train], y[train])
    truth = reference.fit(X[train], y[train], 12, **parameters)
    assert model.history_["block"] == truth.history["block"]
    for name in truth.history:
        if name != "block":
            np.testing.assert_allclose(model.history_[name], truth.history[name], rtol=1e-6, atol=1e-8, err_msg=name)
    # P and D are defined up to a common rotation, an atom and its codes up to a sign.
    np.testing.assert_allclose(
        model.projection_ @ model.projection_.T, truth.projection @ truth.projection.T, atol=1e-6
    )
    np.testing.assert_allclose(np.abs(model.codes_), np.abs(truth.codes), atol=1e-6)
    np.testing.assert_allclose(
        np.abs(model.components_ @ model.components_.T), np.abs(truth.components @ truth.components.T), atol=1e-6
    )
    for residual, mean_weight in (("paper", 0.1), ("normalized", 0.0)):
        model.set_params(code_penalty=0.005, code_ridge=0.01, residual=residual, mean_weight=mean_weight)
        expected = reference.predict(
            truth, X[test], code_penalty=0.005, code_ridge=0.01, residual=residual, mean_weight=mean_weight
        )
        np.testing.assert_array_equal(model.predict(X[test]), expected)
