"""The demo: faces and handwritten digits with white pixels, classified from a few training images a class."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from .._validation import FloatArray
from ..classifier import JPLRDLClassifier
from ..cleaner import LowRankCleaner
from ..datasets import choose_training, saturate_pixels, synthetic_faces
from . import demo_picture
from .sparse_representation import SparseRepresentationClassifier

SHARES = (0.1, 0.2, 0.3)
N_FOLDS = 5
PENALTIES = {"penalty": [0.005, 0.02, 0.1]}


class Contest(NamedTuple):
    """Training and test images, by the share of their pixels that is white, clean ones at 0; and their labels.

    Attributes
    ----------
    what : str
        The images, for a reader.
    shape : (height, width)
    dimensions : list of floats
        For n_components, to choose from.
    shown : float
        The share of white pixels in the picture.
    """

    what: str
    shape: tuple[int, int]
    dimensions: list[float]
    shown: float
    train: dict[float, FloatArray]
    test: dict[float, FloatArray]
    y_train: Any
    y_test: Any


def faces() -> Contest:
    """Shaded surfaces, one a subject, each image under a light of its own: what low rank is made for."""
    made = synthetic_faces(20, 25, random_state=0)
    what = "images of 20 synthetic faces (24x20 pixels, a new light in each)"
    return contest(what, made.X, made.y, (24, 20), [0.1, 0.2], 10, white=255.0, shown=SHARES[len(SHARES) // 2])


def digits() -> Contest:
    """scikit-learn's handwritten digits."""
    X, y = load_digits(return_X_y=True)
    # Cleaned, they span 38 of the 64 dimensions.
    return contest("handwritten digits (8x8 pixels)", X, y, (8, 8), [0.3, 0.5], 20, white=16.0, shown=SHARES[0])


def contest(
    what: str, X: FloatArray, y: Any, shape: tuple[int, int], dimensions: list[float], n_per_class: int, *,
    white: float, shown: float,
) -> Contest:
    """A few images of each class to learn from, all others to test."""
    chosen = choose_training(y, n_per_class, seed=0)
    corrupted = {share: saturate_pixels(X, share, value=white, random_state=0) for share in (0.0, *SHARES)}
    train, test = ({share: images[rows] for share, images in corrupted.items()} for rows in (chosen, ~chosen))
    return Contest(what, shape, dimensions, shown, train, test, y[chosen], y[~chosen])


def choose(data: Contest, n_jobs: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The methods, and the parameters of each that folds of the clean training images have chosen."""
    src, robust = (SparseRepresentationClassifier(error_atoms=atoms, n_jobs=n_jobs) for atoms in (False, True))
    ours: dict[str, list[Any]] = {"n_components": data.dimensions, "init_dictionary": ["singular", "samples"]}
    searched: dict[str, tuple[Any, dict[str, list[Any]]]] = {
        "linear SVM": (LinearSVC(random_state=0, max_iter=20_000), {"C": [0.001, 0.01, 0.1]}),
        "SRC": (src, PENALTIES),
        "SRC + error atoms": (robust, PENALTIES),
        "JP-LRDL": (JPLRDLClassifier(n_jobs=n_jobs), ours),
    }
    models: dict[str, Any] = {"1-NN": KNeighborsClassifier(1)}
    parameters = {}
    for name, (model, grid) in searched.items():
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        search = GridSearchCV(model, grid, cv=folds, refit=False).fit(data.train[0.0], data.y_train)
        models[name], parameters[name] = model.set_params(**search.best_params_), search.best_params_
    models["cleaner + JP-LRDL"] = make_pipeline(LowRankCleaner(n_jobs=n_jobs), clone(models["JP-LRDL"]))
    return models, parameters


def timed(job: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """What a function returns, and the seconds that it took."""
    began = time.perf_counter()
    answer = job(*arguments)
    return answer, time.perf_counter() - began


def row(model: Any, data: Contest) -> str:
    """Accuracies with clean and with corrupted training images, and the mean times of a fit and of an image."""
    accuracies, fits, predictions = [], [], []
    for learned, shares in ((0.0, (0.0, *SHARES)), *((share, (share,)) for share in SHARES)):
        fits.append(timed(model.fit, data.train[learned], data.y_train)[1])
        for share in shares:
            predicted, seconds = timed(model.predict, data.test[share])
            accuracies.append(f"{100 * np.mean(predicted == data.y_test):7.1f}")
            predictions.append(seconds / len(predicted))
    accuracies.insert(1 + len(SHARES), "   ")
    return "".join(accuracies) + f"{1e3 * np.mean(fits):10.1f}{1e6 * np.mean(predictions):13.0f}"


def run(out: Path, *, n_jobs: int | None = None) -> None:
    """Print a table of accuracies and times for faces and one for digits, and save a picture of each."""
    print(
        "A share of the pixels of each image, chosen at random, is set to white: in test images only, or in all.\n"
        f"Parameters come from {N_FOLDS} folds of the clean training images; those not named are defaults.\n"
        "SRC codes an image over all training images (exact lasso); error atoms, one a pixel, take what is corrupted.\n"
        "JP-LRDL is JPLRDLClassifier, alone and, with the same parameters, behind LowRankCleaner.",
        flush=True,
    )
    show(faces(), out, n_jobs)
    show(digits(), out.with_stem(f"{out.stem}-digits"), n_jobs)


def show(data: Contest, out: Path, n_jobs: int | None) -> None:
    """The table and the picture of one contest."""
    _, counts = np.unique(data.y_train, return_counts=True)
    print(f"\n{len(data.y_test)} {data.what} from {counts[0]} training images a class, one random split.", flush=True)
    models, parameters = choose(data, n_jobs)
    told = [f"{method}: {name} {value}" for method, found in parameters.items() for name, value in found.items()]
    print(f"{', '.join(told)}.\n")
    width = 7 * len(SHARES)
    print(f"{'':18s}{'white in test images':>{7 + width}s}   {'in all images':>{width}s}{'fit':>10s}{'predict':>13s}")
    shares = "".join(f"{100 * share:5.0f} %" for share in SHARES)
    print(f"{'accuracy (%)':18s}{'0 %':>7s}{shares}   {shares}{'ms':>10s}{'us/image':>13s}")
    for name, model in models.items():
        print(f"{name:18s}{row(model, data)}", flush=True)
    model = models["cleaner + JP-LRDL"].fit(data.train[data.shown], data.y_train)
    demo_picture.draw(out, model, data.test[data.shown], data.y_test, data.shape, data.shown)
    print(f"\nPicture: {out} (cleaner + JP-LRDL, {100 * data.shown:.0f} % of the pixels white in all images)")
