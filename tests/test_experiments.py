"""The demo does what it prints, and its classifier keeps scikit-learn's conventions."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

from jplrdl import reference
from jplrdl.datasets import saturate_pixels
from jplrdl.experiments import SparseRepresentationClassifier
from jplrdl.experiments.cli import main


@parametrize_with_checks([SparseRepresentationClassifier(), SparseRepresentationClassifier(error_atoms=True)])
def test_estimator_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("error_atoms", [False, True])
def test_classification_follows_its_definition(error_atoms):
    X, y = load_digits(return_X_y=True)
    train, test = slice(0, 40), slice(300, 310)
    model = SparseRepresentationClassifier(penalty=0.1, error_atoms=error_atoms).fit(X[train], y[train])
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    dictionary = np.vstack([unit[train], np.eye(64)]) if error_atoms else unit[train]
    for x, residuals in zip(unit[test], model.residuals(X[test]), strict=True):
        code = reference.sparse_encode(x, dictionary, 0.1)
        rest = x - code[40:] @ dictionary[40:]
        expected = [np.linalg.norm(rest - code[:40][y[train] == c] @ unit[train][y[train] == c]) for c in range(10)]
        np.testing.assert_allclose(residuals, expected, atol=1e-8)


def test_pixels_are_saturated_exactly(rng):
    X = rng.random((50, 30))
    for share, count in ((0.0, 0), (0.1, 3), (0.5, 15), (1.0, 30)):
        corrupted = saturate_pixels(X, share, value=7.0, random_state=1)
        assert ((corrupted == 7.0).sum(axis=1) == count).all()
        np.testing.assert_array_equal(corrupted[corrupted != 7.0], X[corrupted != 7.0])
    np.testing.assert_array_equal(saturate_pixels(X, 0.3, random_state=4), saturate_pixels(X, 0.3, random_state=4))
    places = saturate_pixels(X, 0.5, random_state=1) == 255.0
    assert len(np.unique(places, axis=0)) == 50
    with pytest.raises(ValueError, match="share must lie in"):
        saturate_pixels(X, 1.5)


def test_demo_prints_a_table_and_saves_a_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="the picture needs the experiments extra")
    picture = tmp_path / "demo.png"
    assert main(["demo", "--out", str(picture)]) == 0
    printed = capsys.readouterr().out
    rows = {line[:18].strip(): line.split() for line in printed.splitlines()}
    robust, plain = rows["SRC + error atoms"], rows["SRC"]
    assert float(robust[-3]) > 90 > float(plain[-3])
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_explains_itself(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "demo" in capsys.readouterr().out
