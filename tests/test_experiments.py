"""The demo does what it prints, and its rival keeps scikit-learn's conventions."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from jplrdl import JPLRDLClassifier, LowRankCleaner, reference
from jplrdl.datasets import choose_training, saturate_pixels, synthetic_faces
from jplrdl.experiments import SparseRepresentationClassifier, demo, demo_picture
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


def demo_tables(printed):
    """Title and rows of each table: accuracies on clean, white and all white images, seconds of fit and prediction."""
    tables = {}
    for line in printed.splitlines():
        if "one random split" in line:
            table = tables.setdefault(line, {})
        elif line[:18].strip() in METHODS and tables:
            table[line[:18].strip()] = [float(cell) for cell in line[18:].split()]
    return tables


METHODS = {"1-NN", "linear SVM", "SRC", "SRC + error atoms", "JP-LRDL", "cleaner + JP-LRDL"}


def test_demo_prints_tables_and_saves_pictures(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib", reason="the picture needs the experiments extra")
    choose = demo.choose

    def choose_blindly(data, n_jobs):
        return choose(data._replace(test=None, y_test=None), n_jobs)

    # Parameters are chosen without a look at the test images.
    monkeypatch.setattr(demo, "choose", choose_blindly)
    monkeypatch.setattr(demo, "SHARES", (0.2,))
    monkeypatch.setattr(demo, "N_FOLDS", 2)
    picture = tmp_path / "demo.png"
    assert main(["demo", "--out", str(picture)]) == 0
    for path in (picture, tmp_path / "demo-digits.png"):
        assert path.read_bytes().startswith(b"\x89PNG")
    (of_faces, faces), (of_digits, digits) = demo_tables(capsys.readouterr().out).items()
    assert "300 images of 20 synthetic faces" in of_faces
    assert "1597 handwritten digits" in of_digits
    assert set(faces) == set(digits) == METHODS
    assert min(digits[name][0] for name in METHODS) > 85
    assert digits["SRC + error atoms"][1] > 85 > digits["SRC"][1] > digits["SRC"][2]
    assert digits["JP-LRDL"][1] > digits["JP-LRDL"][2] > 45
    assert digits["cleaner + JP-LRDL"][:3] != digits["JP-LRDL"][:3]
    assert max(faces[name][2] for name in METHODS - {"cleaner + JP-LRDL"}) < faces["cleaner + JP-LRDL"][2] > 99
    assert min(min(row[3:]) for row in (*digits.values(), *faces.values())) >= 0 < digits["JP-LRDL"][3]

    made = synthetic_faces(20, 25, random_state=0)
    for table, X, y, n_per_class, value in (
        (digits, *load_digits(return_X_y=True), 20, 16), (faces, made.X, made.y, 10, 255),
    ):  # fmt: skip
        train, white = choose_training(y, n_per_class, seed=0), saturate_pixels(X, 0.2, value=value, random_state=0)
        for printed, learned, seen in zip(table["1-NN"], (X, X, white), (X, white, white), strict=False):
            distances = cdist(seen[~train], learned[train])
            expected = 100 * np.mean(y[train][distances.argmin(axis=1)] == y[~train])
            assert printed == pytest.approx(expected, abs=0.2)


@pytest.fixture(scope="module")
def pipeline():
    X, y = load_digits(return_X_y=True)
    return make_pipeline(LowRankCleaner(), JPLRDLClassifier(20, n_atoms=5, max_iter=2)).fit(X[:100], y[:100])


def test_the_picture_marks_what_is_wrong(tmp_path, monkeypatch, pipeline):
    figure = pytest.importorskip("matplotlib.figure", reason="the picture needs the experiments extra")
    X, y = load_digits(return_X_y=True)
    drawn = []
    monkeypatch.setattr(figure.Figure, "savefig", lambda self, *_, **__: drawn.append(self))
    # Images of fours are called fives, and fives fours.
    images = X[[100 + np.flatnonzero(y[100:] == digit)[0] for digit in (0, 1, 2, 3, 5, 4, 6, 7, 8, 9)]]
    demo_picture.draw(tmp_path / "unused.png", pipeline, images, np.arange(10), (8, 8), 0.0)
    axes = drawn[0].axes
    right = pipeline.predict(images) == np.arange(10)
    assert not right[4]
    assert right.any()
    for digit, guess, axis in zip(range(10), pipeline.predict(images), axes[-10:], strict=True):
        assert axis.get_xlabel() == (f"{guess}" if right[digit] else f"{guess}, not {digit}")
        assert axis.xaxis.label.get_color() == ("k" if right[digit] else "r")
    line = axes[0].lines[0].get_ydata()
    objective = np.array(pipeline[-1].history_["objective"])
    np.testing.assert_allclose(line, objective[:-1] - objective[-1])
    assert (np.diff(line) <= 0).all()
    mosaic, classifier = axes[1].images[0].get_array(), pipeline[-1]
    for digit, atom in ((0, 0), (3, 4), (9, 2)):
        tile = mosaic[9 * digit + 1 : 9 * digit + 9, 9 * atom + 1 : 9 * atom + 9].ravel()
        pixels = classifier.projection_ @ classifier.components_[classifier.atom_labels_ == digit][atom]
        np.testing.assert_allclose(tile * np.sign(tile @ pixels), pixels / abs(pixels).max(), atol=1e-12)


def test_atoms_of_the_class_found_explain_an_image(pipeline):
    X, _ = load_digits(return_X_y=True)
    classifier, images = pipeline[-1], X[200:203]
    explained = demo_picture.explained(classifier, images, [3, 1, 4])
    for image, label, found in zip(classifier.transform(images), [3, 1, 4], explained, strict=True):
        own = np.flatnonzero(classifier.atom_labels_ == label)
        expected = sum(image[k] * classifier.projection_ @ classifier.components_[k] for k in own)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_command_explains_itself(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "demo" in capsys.readouterr().out
