"""Where JPLRDLClassifier's default values come from: `JPLRDL_DATA=folder python benchmarks/defaults.py`.

The tables of docs/defaults.md. Only training images are looked at: of COIL-100 ten random images of 40 objects, of
Extended Yale B twenty of every other subject, of AR the seven unobscured ones of the first session of every other
subject. Four fifths of each class are held in, one fifth held out, five times; every number is the share of held-out
images that are classified rightly. One parameter at a time leaves the defaults. The second table has a share of the
pixels of all images at 255 and d at 10 %, where the projection has something to leave out. The third has clean images,
d below the rank, and twelve images of each class of Caltech-101, with which there are as many samples as features.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from jplrdl import JPLRDLClassifier
from jplrdl.datasets import choose_training, load_images, saturate_pixels

LEARNING: list[dict[str, Any]] = [
    {}, {"max_iter": 0}, {"max_iter": 3},
    {"lambda_sparse": 0.02}, {"lambda_sparse": 0.2},
    {"lambda_graph": 0.0}, {"lambda_graph": 0.002},
    {"lambda_rank": 0.0}, {"lambda_rank": 0.1},
    {"lambda_incoherence": 0.0}, {"lambda_incoherence": 0.001},
]  # fmt: skip
PREDICTION: list[dict[str, Any]] = [
    {"code_penalty": 0.003}, {"code_penalty": 0.03}, {"code_ridge": 0.03}, {"code_ridge": 0.3},
    {"mean_weight": 0.1}, {"residual": "paper"},
]  # fmt: skip
PROJECTION: list[dict[str, Any]] = [
    {}, {"max_iter": 0}, {"learn_projection": False},
    {"lambda_energy": 0.0}, {"lambda_energy": 0.5}, {"lambda_energy": 2.0},
    {"lambda_projection": 0.0}, {"lambda_projection": 1.0},
]  # fmt: skip
RIDGES: list[dict[str, Any]] = [{}, {"init_ridge": 0.01}, {"init_ridge": 0.1}, {"init_ridge": 1.0}]
LOOSE: dict[str, Any] = {"init_dictionary": "samples", "code_penalty": 0.0, "code_ridge": 1.0}


def coil() -> tuple[np.ndarray, np.ndarray]:
    images = load_images("coil100")
    chosen = choose_training(images.y, 10, 0) & np.isin(images.y, np.random.default_rng(0).permutation(100)[:40])
    return images.X[chosen], images.y[chosen]


def yale() -> tuple[np.ndarray, np.ndarray]:
    images = load_images("extended_yale_b")
    chosen = choose_training(images.y, 20, 0) & (images.y % 2 == 0)
    return images.X[chosen], images.y[chosen]


def ar() -> tuple[np.ndarray, np.ndarray]:
    images = load_images("ar")
    chosen = (images.more["session"] == 1) & (images.more["condition"] <= 7) & (images.y % 2 == 0)
    return images.X[chosen], images.y[chosen]


def caltech() -> tuple[np.ndarray, np.ndarray]:
    images = load_images("caltech101")
    chosen = choose_training(images.y, 12, 0)
    return images.X[chosen], images.y[chosen]


SETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {"coil": coil, "yale": yale, "ar": ar}


def name(changes: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in changes.items()) or "defaults"


def fold_scores(
    X: np.ndarray, y: np.ndarray, learning: list[dict[str, Any]], prediction: list[dict[str, Any]], **fixed: Any
) -> Iterator[dict[str, float]]:
    """For every fold, the accuracy of every change."""
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        found = {}
        for changes in learning:
            model = JPLRDLClassifier(**fixed, **changes).fit(X[train], y[train])
            found[name(changes)] = model.score(X[test], y[test])
            for change in prediction if not changes else []:
                found[name(change)] = model.set_params(**change).score(X[test], y[test])
                model.set_params(**{key: JPLRDLClassifier().get_params()[key] for key in change})
        yield found


def table(title: str, columns: dict[str, list[dict[str, float]]]) -> None:
    print(f"\n| {title} | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for row in next(iter(columns.values()))[0]:
        cells = [f"{100 * np.mean([fold[row] for fold in folds]):.1f}" for folds in columns.values()]
        print(f"| {row} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=list(SETS), help=f"of {', '.join(SETS)}")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", "n_components = ", UserWarning)
    data = {key: SETS[key]() for key in arguments.sets}
    table("clean images", {key: list(fold_scores(X, y, LEARNING, PREDICTION)) for key, (X, y) in data.items()})
    corrupted = {}
    for key, (X, y) in data.items():
        share = 0.1 if key == "coil" else 0.2
        spoilt = saturate_pixels(X, share, random_state=0)
        corrupted[f"{key}, {share:.0%}"] = list(fold_scores(spoilt, y, PROJECTION, [], n_components=0.1))
    table("corrupted images, d = 10 %", corrupted)
    ridges = {f"{key}, d = 10 %": list(fold_scores(*data[key], RIDGES, [], n_components=0.1)) for key in data}
    ridges["caltech, d = 30 %"] = list(fold_scores(*caltech(), RIDGES, [], n_components=0.3, **LOOSE))
    table("clean images", ridges)


if __name__ == "__main__":
    main()
