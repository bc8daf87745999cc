"""Where LowRankCleaner's default values come from: `JPLRDL_DATA=folder python benchmarks/cleaner_defaults.py`.

The tables of docs/cleaner.md. Only training images are looked at: of 20 random images a class (10 of AR), four in five
are held in, one in five held out. A share of the pixels of all of them is set to 255 or, with --blocks, covered by a
square of a photograph at a random place. Held-out images are cleaned, classified by ridge codes over the cleaned
held-in ones (each class's residual over the energy of its code), and compared with what they were before the corruption
by the mean cosine. One parameter at a time leaves the defaults. With --test, for once, all training images are held in,
and the defaults meet the test images, all others.
"""

from __future__ import annotations

import argparse
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy.linalg import solve
from sklearn.datasets import load_sample_images

from jplrdl import LowRankCleaner
from jplrdl.classification import class_residuals, unit_rows
from jplrdl.datasets import saturate_pixels
from jplrdl.robust_pca import default_eta

# file, images a class
SETS = {"yale": ("extended_yale_b_55x48", 20), "ar": ("ar_55x40", 10), "coil": ("coil20_32x32", 20)}
SHARES, MISSING_SHARES = (0.0, 0.1, 0.2, 0.4), (0.2, 0.4, 0.6)
ETAS, PIXEL_ERRORS, RIDGES = (0.8, 1.0, 1.1, 1.2, 1.5), (0.01, 0.1), (1e-4, 1e-2)
CODE_RIDGE = 1e-3


def images(name: str, *, test: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Images, their classes, and the place of each in the random order of its class; training images unless `test`."""
    file, count = SETS[name]
    data = np.load(pathlib.Path(os.environ["JPLRDL_DATA"], f"{file}.npz"))
    rng = np.random.default_rng(0)
    chosen = [rng.permutation(np.flatnonzero(data["y"] == label)) for label in np.unique(data["y"])]
    rows = np.concatenate([own if test else own[:count] for own in chosen])
    places = np.concatenate([np.arange(len(own) if test else count) for own in chosen])
    return data["X"][rows].astype(np.float32), data["y"][rows].astype(int), places


def cover(X: np.ndarray, share: float) -> np.ndarray:
    """A square of a photograph at a random place of each image."""
    rng, photographs = np.random.default_rng(1), [photograph.mean(axis=2) for photograph in load_sample_images().images]
    side = round(float(np.sqrt(share * X[0].size)))
    covered = X.copy()
    for image in covered:
        photograph, pace = photographs[rng.integers(len(photographs))], rng.integers(2, 6)
        top, left = (rng.integers(size - side * pace) for size in photograph.shape)
        piece = photograph[top : top + side * pace, left : left + side * pace]
        row, column = (rng.integers(size - side + 1) for size in image.shape)
        image[row : row + side, column : column + side] = piece.reshape(side, pace, side, pace).mean(axis=(1, 3))
    return covered


def accuracy(train: np.ndarray, y_train: np.ndarray, test: np.ndarray, y_test: np.ndarray) -> float:
    """Of ridge codes over samples of unit length."""
    D, Y = unit_rows(train.astype(float)), unit_rows(test.astype(float))
    codes = solve(D @ D.T + CODE_RIDGE * np.eye(len(D)), D @ Y.T, assume_a="pos").T
    means = np.zeros((y_train.max() + 1, len(D)))
    return float(np.mean(class_residuals(Y, D, codes, y_train, means, normalized=True).argmin(axis=1) == y_test))


def cosine(A: np.ndarray, B: np.ndarray) -> float:
    return float(np.mean(np.sum(unit_rows(A) * unit_rows(B), axis=1)))


def settings(shape: tuple[int, int]) -> Iterator[tuple[dict[str, Any], list[tuple[str, dict[str, float]]]]]:
    """What to fit with, and what to call and to change after the fit."""
    fresh = LowRankCleaner()
    changes: list[tuple[str, dict[str, float]]] = [("default", {})]
    changes += [(f"pixel_error {value:g}", {"pixel_error": value, "ridge": fresh.ridge}) for value in PIXEL_ERRORS]
    changes += [(f"ridge {value:g}", {"ridge": value, "pixel_error": fresh.pixel_error}) for value in RIDGES]
    yield {}, changes
    for factor in ETAS:
        yield {"eta": factor * default_eta(shape)}, [(f"eta {factor:g}", {})]


def run(name: str, share: float, arguments: argparse.Namespace) -> dict[str, list[tuple[float, float]]]:
    """Accuracy and cosine of every setting in every fold."""
    X, y, places = images(name, test=arguments.test)
    image_shape, flat = X.shape[1:], X.reshape(len(X), -1)
    spoilt = cover(X, share).reshape(flat.shape) if arguments.blocks else saturate_pixels(flat, share, random_state=1)
    spoilt = spoilt.astype(np.float32)
    found: dict[str, list[tuple[float, float]]] = {}
    for fold in range(1 if arguments.test else arguments.folds):
        out = places >= SETS[name][1] if arguments.test else places % 5 == fold
        train, test = spoilt[~out], spoilt[out]
        found.setdefault("none", []).append((accuracy(train, y[~out], test, y[out]), cosine(test, flat[out])))
        chosen: Iterable[Any] = settings(train.shape)
        if arguments.blocks or arguments.missing or arguments.test:
            chosen = [({}, [("default", {})])]
        if arguments.blocks:
            chosen = [*chosen, ({"image_shape": image_shape}, [("image_shape", {})])]
        if arguments.missing:
            chosen = [*chosen, ({"missing_values": 255.0}, [("missing_values 255", {})])]
        for parameters, changes in chosen:
            cleaner = LowRankCleaner(**parameters).fit(train)
            for label, change in changes:
                cleaned = cleaner.set_params(**change).transform(test)
                score = accuracy(cleaner.low_rank_, y[~out], cleaned, y[out])
                found.setdefault(label, []).append((score, cosine(cleaned, flat[out])))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--folds", type=int, default=2, choices=range(1, 6), help="of five")
    parser.add_argument("--blocks", action="store_true", help="blocks instead of pixels")
    parser.add_argument("--missing", action="store_true", help="a cleaner that is told of saturated pixels")
    parser.add_argument("--test", action="store_true", help="the test images, with the defaults")
    arguments = parser.parse_args()
    for name in arguments.sets:
        shares = MISSING_SHARES if arguments.missing else SHARES
        columns = [run(name, share, arguments) for share in shares]
        print(f"| {name} | " + " | ".join(f"{share:.0%}" for share in shares) + " |\n|---|" + "---|" * len(shares))
        for label in columns[0]:
            means = [np.mean(column[label], axis=0) for column in columns]
            print(f"| {label} | " + " | ".join(f"{100 * score:.1f} % ({cos:.3f})" for score, cos in means) + " |")
        print(flush=True)


if __name__ == "__main__":
    main()
