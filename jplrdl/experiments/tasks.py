"""The two tasks that a run is made of, pure functions of their arguments: choose parameters, and measure a split.

Both return records, plain dicts of what JSON can hold, and keep BLAS to one thread: runs are parallel over tasks.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from .cells import Cell, Split, split_images
from .cleaning import Fold, Parameters, clean_fold, cleaners, low_rank_part, transforms
from .kept import kept
from .methods import METHODS, Grid, Method

N_FOLDS = 5
Record = dict[str, Any]


def choose(
    cell: Cell,
    cleaning: str,
    methods: Sequence[str],
    folder: str | None = None,
    n_folds: int = N_FOLDS,
    keep: str | None = None,
) -> list[Record]:
    """Parameters of the cleaner and of each method, by cross-validation on the training images of the first split.

    Of five folds the first `n_folds` are held out in turn: random ones, or, for AR, whose test images come from another
    session and other lights than the training images, all images of a condition. Training images are corrupted as the
    cell says, and those held out as test images are. Where only training images are corrupted, those held out are what
    robust PCA leaves of them: nothing is nearer to original images then. The cleaner with the highest accuracy of CRC
    behind it is taken, then the best parameters of each method behind it; the first of equals. Cleaned images are kept
    in the folder `keep`, if one is given.

    Returns
    -------
    list of dicts
        One for each method: "parameters", "cleaner" and the "score", held-out accuracy in percent.
    """
    with quiet():
        split = split_images(cell, 0, folder)
        if cell.corruption and cell.where == "train":
            split = split._replace(held_in=kept(keep, low_rank_part, {}, split.X_train)[0])
        folds = _folds(split, n_folds)
        clean: Sequence[Fold] = folds
        chosen: Parameters = {}
        if cleaning:
            cleaned = []
            for candidate in cleaners(cleaning, split.X_train, split.shape):
                afters = transforms(cleaning)
                variants = [clean_fold(cleaning, candidate, afters, fold, split.shape, keep) for fold in folds]
                for after, pairs in zip(afters, zip(*variants, strict=True), strict=True):
                    score = _best(METHODS["CRC"], {}, cell.loose, pairs)[1]
                    cleaned.append((score, {**candidate, **after}, pairs))
            _, chosen, clean = max(cleaned, key=lambda found: found[0])
        records = []
        for name in methods:
            parameters, score = _best(METHODS[name], _changes(cell, METHODS[name]), cell.loose, clean)
            records.append({
                "kind": "choice", "cell": cell.name, "cleaning": cleaning, "method": name, "cleaner": chosen,
                "parameters": parameters, "score": round(score, 4), "n_folds": len(folds),
            })  # fmt: skip
    return records


def measure(
    cell: Cell,
    split: int,
    cleaning: str,
    chosen: dict[str, Record],
    folder: str | None = None,
    keep: str | None = None,
) -> list[Record]:
    """The accuracy in percent of methods on the test images of one split, with the seconds of fit and prediction.

    "accuracy" counts images alike, "class_accuracy" classes.

    Parameters
    ----------
    chosen : dict
        For each method a record with its "parameters" and its "cleaner", as :func:`choose` returns it.
    keep : str, optional
        Folder where cleaned images are kept.
    """
    with quiet():
        images = split_images(cell, split, folder)
        records: list[Record] = []
        last: tuple[Parameters, Fold] | None = None
        for name, choice in chosen.items():
            # Methods behind the same cleaner share what it has cleaned.
            if cleaning and (last is None or last[0] != choice["cleaner"]):
                cleaned = clean_fold(cleaning, choice["cleaner"], [{}], _fold(images), images.shape, keep)
                last = choice["cleaner"], cleaned[0]
            train, y_train, test, y_test = last[1] if cleaning and last else _fold(images)
            model = METHODS[name].build().set_params(**_changes(cell, METHODS[name]), **choice["parameters"])
            began = time.perf_counter()
            model.fit(train, y_train)
            fitted = time.perf_counter()
            right = model.predict(test) == y_test
            done = time.perf_counter()
            records.append({
                "kind": "result", "cell": cell.name, "split": split, "cleaning": cleaning, "method": name,
                "accuracy": round(100 * float(np.mean(right)), 4),
                "class_accuracy": round(100 * _class_accuracy(right, y_test), 4), "n_test": len(y_test),
                "fit_seconds": round(fitted - began, 3), "predict_seconds": round(done - fitted, 3),
            })  # fmt: skip
    return records


def defaults(methods: Sequence[str]) -> dict[str, Record]:
    """What :func:`measure` takes for methods whose parameters are not chosen."""
    return {name: {"parameters": {}, "cleaner": {}} for name in methods}


def _fold(images: Split) -> Fold:
    return images.X_train, images.y_train, images.X_test, images.y_test


def _folds(split: Split, n_folds: int) -> list[Fold]:
    y = split.y_train
    return [
        (split.X_train[~out], y[~out], split.held_in[out], y[out])
        for out in itertools.islice(_held_out(split), n_folds)
    ]


def _held_out(split: Split) -> Iterator[NDArray[np.bool_]]:
    """Which training images each fold holds out: random ones, or whole groups, the last groups first."""
    if split.groups is None:
        sizes = np.bincount(split.y_train)
        folds = StratifiedKFold(min(N_FOLDS, int(sizes[sizes > 0].min())), shuffle=True, random_state=0)
        for _, rows in folds.split(split.X_train, split.y_train):
            yield np.isin(np.arange(len(split.y_train)), rows)
    else:
        groups = np.unique(split.groups)[::-1]
        for fold in range(min(N_FOLDS, len(groups))):
            yield np.isin(split.groups, groups[fold::N_FOLDS])


def _changes(cell: Cell, method: Method) -> Parameters:
    return dict(cell.changes) if method.ours else {}


def _best(method: Method, changes: Parameters, loose: bool, folds: Sequence[Fold]) -> tuple[Parameters, float]:
    """The parameters with the highest mean accuracy over folds, and that accuracy in percent."""
    fit_grid, predict_grids = method.grids(loose)
    scores: dict[int, list[float]] = {}
    candidates = list(itertools.product(_combinations([fit_grid], changes), _combinations(predict_grids, changes)))
    for train, y_train, test, y_test in folds:
        model: Any = None
        fitted: Parameters | None = None
        for index, (before, after) in enumerate(candidates):
            if fitted != before or model is None:
                model, fitted = method.build().set_params(**changes, **before).fit(train, y_train), before
            right = model.set_params(**after).predict(test) == y_test
            scores.setdefault(index, []).append(100 * float(np.mean(right)))
    means = [float(np.mean(scores[index])) for index in range(len(candidates))]
    best = int(np.argmax(means))
    return {**candidates[best][0], **candidates[best][1]}, means[best]


def _combinations(grids: Sequence[Grid], fixed: Parameters) -> list[Parameters]:
    """All combinations of the values of each grid, less the parameters that are fixed."""
    free = [{name: values for name, values in grid.items() if name not in fixed} for grid in grids]
    return [dict(zip(grid, values, strict=True)) for grid in free for values in itertools.product(*grid.values())]


def _class_accuracy(right: Any, y: Any) -> float:
    return float(np.mean([np.mean(right[y == label]) for label in np.unique(y)]))


@contextmanager
def quiet() -> Iterator[None]:
    """BLAS at one thread, and no word about dimensions above the rank, of which there are many here by design."""
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_components = ", UserWarning)
        yield
