"""Accuracy over random splits, with default values: `JPLRDL_DATA=folder python benchmarks/accuracy.py`.

Each case: 10 splits, mean accuracy with the standard deviation, of the whole fit, of the first projection and
dictionary alone (max_iter=0), and of a fit that keeps the first projection. The tables of docs/defaults.md and the
README.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from jplrdl import JPLRDLClassifier, LowRankCleaner
from jplrdl.datasets import choose_training, load_images, saturate_pixels


@dataclass(frozen=True)
class Case:
    """Images, how many of each class are for training, share of pixels at 255, cleaning, and the estimator's own."""

    title: str
    images: str
    n_per_class: int
    share: float = 0.0
    clean: bool = False
    n_components: float = 0.3


CASES = {
    "coil": Case("COIL-20, 10 a class, d = 30 %", "coil20", 10),
    "yale": Case("Extended Yale B, 20 a class", "extended_yale_b", 20),
    "yale-cleaned": Case(
        "Extended Yale B, 20 a class, 20 % of pixels at 255, LowRankCleaner", "extended_yale_b", 20, 0.2, True
    ),
    "coil-corrupted": Case("COIL-20, 10 a class, 10 % of pixels at 255, d = 10 %", "coil20", 10, 0.1, False, 0.1),
    "yale-corrupted": Case(
        "Extended Yale B, 20 a class, 20 % of pixels at 255, d = 10 %", "extended_yale_b", 20, 0.2, False, 0.1
    ),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "whole": {}, "max_iter=0": {"max_iter": 0}, "learn_projection=False": {"learn_projection": False},
}  # fmt: skip


def scores(case: Case, seeds: Iterator[int] | range, n_jobs: int | None) -> np.ndarray:
    """Accuracy in percent, one row a split, one column a variant."""
    images = load_images(case.images)
    found = []
    for seed in seeds:
        began = time.perf_counter()
        X = saturate_pixels(images.X, case.share, random_state=seed) if case.share else images.X
        train = choose_training(images.y, case.n_per_class, seed)
        X_train, X_test = X[train], X[~train]
        if case.clean:
            cleaner = LowRankCleaner(n_jobs=n_jobs)
            X_train, X_test = cleaner.fit_transform(X_train), cleaner.transform(X_test)
        row = []
        for parameters in VARIANTS.values():
            model = JPLRDLClassifier(case.n_components, n_jobs=n_jobs, **parameters).fit(X_train, images.y[train])
            row.append(100 * model.score(X_test, images.y[~train]))
        found.append(row)
        told = ", ".join(f"{name} {value:.2f}" for name, value in zip(VARIANTS, row, strict=True))
        print(f"  split {seed}: {told} ({time.perf_counter() - began:.0f} s)", flush=True)
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE", help=f"of {', '.join(CASES)}")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=None)
    arguments = parser.parse_args()
    # On these sets 30 % of the features are more than the rank, which the estimator tells every time.
    warnings.filterwarnings("ignore", "n_components = ", UserWarning)
    rows = []
    for name in arguments.cases:
        case = CASES[name]
        print(case.title, flush=True)
        found = scores(case, range(arguments.splits), arguments.jobs)
        cells = [f"{column.mean():.2f} ± {column.std():.2f}" for column in found.T]
        rows.append(f"| {case.title} | {' | '.join(cells)} |")
    print(f"\n| | {' | '.join(VARIANTS)} |\n|---|{'---|' * len(VARIANTS)}")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
