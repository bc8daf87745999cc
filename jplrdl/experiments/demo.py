"""The demo: handwritten digits with white pixels, classified from twenty training images a class."""

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
from ..datasets import choose_training, saturate_pixels
from . import demo_picture
from .sparse_representation import SparseRepresentationClassifier

SHARES = (0.1, 0.2, 0.3)
WHITE = 16.0
N_PER_CLASS = 20
N_FOLDS = 5
# Cleaned images span 38 of the 64 dimensions.
OURS: dict[str, list[Any]] = {"n_components": [0.3, 0.5], "init_dictionary": ["singular", "samples"]}
PENALTIES = {"penalty": [0.005, 0.02, 0.1]}


class Digits(NamedTuple):
    """Training and test images, by the share of their pixels that is white; and their labels."""

    train: dict[float, FloatArray]
    test: dict[float, FloatArray]
    y_train: Any
    y_test: Any


def digits() -> Digits:
    """A few images of each digit to learn from, all others to test; clean ones have the share 0."""
    X, y = load_digits(return_X_y=True)
    chosen = choose_training(y, N_PER_CLASS, seed=0)
    corrupted = {share: saturate_pixels(X, share, value=WHITE, random_state=0) for share in (0.0, *SHARES)}
    train = {share: images[chosen] for share, images in corrupted.items()}
    return Digits(train, {share: images[~chosen] for share, images in corrupted.items()}, y[chosen], y[~chosen])


def choose(data: Digits, n_jobs: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The methods, and the parameters of each that folds of the clean training images have chosen."""
    src, robust = (SparseRepresentationClassifier(error_atoms=atoms, n_jobs=n_jobs) for atoms in (False, True))
    searched: dict[str, tuple[Any, dict[str, list[Any]]]] = {
        "linear SVM": (LinearSVC(random_state=0, max_iter=20_000), {"C": [0.001, 0.01, 0.1]}),
        "SRC": (src, PENALTIES),
        "SRC + error atoms": (robust, PENALTIES),
        "JP-LRDL": (JPLRDLClassifier(n_jobs=n_jobs), OURS),
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


def row(model: Any, data: Digits) -> str:
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
    """Print the table of accuracies and times, and save the picture."""
    data = digits()
    print(
        f"{len(data.y_test)} handwritten digits (8x8 pixels) are classified from {N_PER_CLASS} training images a "
        "class, one random split.\nA share of the pixels of every image, chosen at random, is set to white: in test "
        "images only, or in all images.",
        flush=True,
    )
    models, parameters = choose(data, n_jobs)
    told = [f"{method}: {name} {value}" for method, found in parameters.items() for name, value in found.items()]
    print(
        f"These parameters come from {N_FOLDS} folds of the clean training images, all others are defaults:\n"
        f"{', '.join(told)}.\n"
        "SRC codes an image over all training images (exact lasso); error atoms, one a pixel, take what is corrupted.\n"
        "JP-LRDL is JPLRDLClassifier, alone and, with the same parameters, behind LowRankCleaner.\n"
    )
    width = 7 * len(SHARES)
    print(f"{'':18s}{'white in test images':>{7 + width}s}   {'in all images':>{width}s}{'fit':>10s}{'predict':>13s}")
    shares = "".join(f"{100 * share:5.0f} %" for share in SHARES)
    print(f"{'accuracy (%)':18s}{'0 %':>7s}{shares}   {shares}{'ms':>10s}{'us/image':>13s}")
    for name, model in models.items():
        print(f"{name:18s}{row(model, data)}", flush=True)
    model = models["cleaner + JP-LRDL"].fit(data.train[SHARES[0]], data.y_train)
    demo_picture.draw(out, model, data.test[SHARES[0]], data.y_test, SHARES[0])
    print(f"\nPicture: {out} (cleaner + JP-LRDL, {100 * SHARES[0]:.0f} % of the pixels white in all images)")
