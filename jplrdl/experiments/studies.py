"""What the paper shows of the method itself: convergence, weight matrices, residuals. One fit each, no accuracy."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import FloatArray
from ..classification import class_residuals, unit_rows
from ..classifier import JPLRDLClassifier
from ..problem import pose_problem
from .cells import Cell, split_images
from .tasks import quiet

_YALE = Cell("extended_yale_b", n_per_class=20)
_COIL = Cell("coil20", n_per_class=10)
_CALTECH = Cell("caltech101", n_per_class=20, n_classes=20)


@dataclass(frozen=True)
class Study:
    """A picture of the method at work.

    Attributes
    ----------
    title, where : str
        What it shows, and where the paper shows it.
    run : callable
        Of the folder of the images and the number of classes to keep, None for all; returns the table, its columns by
        name, and what to draw: lines or matrices by name.
    """

    title: str
    where: str
    run: Callable[[str | None, int | None], tuple[dict[str, list[Any]], dict[str, Any]]]


def _fewer(cell: Cell, n_classes: int | None) -> Cell:
    return cell if n_classes is None else dataclasses.replace(cell, n_classes=n_classes)


def convergence(folder: str | None, n_classes: int | None) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """The objective after every block, on original and corrupted images."""
    table: dict[str, list[Any]] = {"images": [], "step": [], "block": [], "objective": []}
    lines: dict[str, Any] = {}
    for name, cell in (("Extended Yale B", _YALE), ("COIL-20", _COIL)):
        for share in (0.0, 0.2):
            label = f"{name}, {100 * share:.0f} % pixels"
            split = split_images(
                _fewer(dataclasses.replace(cell, corruption="pixels", share=share), n_classes), 0, folder
            )
            with quiet():
                history = JPLRDLClassifier(tol=0.0).fit(split.X_train, split.y_train).history_
            # The value before the first codes says nothing of the method, and sets differ in size: shares of the next.
            lines[label] = [value / history["objective"][1] for value in history["objective"][1:]]
            for step, (block, value) in enumerate(zip(history["block"], history["objective"], strict=True)):
                for column, cell_value in zip(table, (label, step, block, value), strict=True):
                    table[column].append(cell_value)
    return table, {"x": "block", "y": "objective, as a share of its first value", "lines": lines}


def algorithm1(folder: str | None, n_classes: int | None) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """The three stopping conditions of Algorithm 1 for the first class, in the first round."""
    names = ("D - J", "Y - AD - E", "A - Z")
    table: dict[str, list[Any]] = {"images": [], "iteration": [], **{name: [] for name in names}}
    lines: dict[str, Any] = {}
    for share in (0.0, 0.2):
        label = f"{100 * share:.0f} % pixels"
        split = split_images(_fewer(dataclasses.replace(_YALE, corruption="pixels", share=share), n_classes), 0, folder)
        with quiet():
            model = JPLRDLClassifier(solver="paper", max_iter=1).fit(split.X_train, split.y_train)
        violations = model.history_["algorithm1"][0][0]
        for k, name in enumerate(names):
            lines[f"{name}, {label}"] = violations[:, k].tolist()
            table[name] += violations[:, k].tolist()
        table["images"] += [label] * len(violations)
        table["iteration"] += list(range(1, len(violations) + 1))
    return table, {"x": "iteration", "y": "longest row", "log": True, "lines": lines}


def weights(folder: str | None, n_classes: int | None) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """W^p (eq7) for images with 60 % of their pixels at 255, with and without low rank and penalty."""
    cell = _fewer(dataclasses.replace(_YALE, corruption="pixels", share=0.6), n_classes)
    split = split_images(cell, 0, folder)
    order = np.argsort(split.y_train, kind="stable")
    X, labels = unit_rows(split.X_train[order]), np.unique(split.y_train[order], return_inverse=True)[1]
    same = labels[:, None] == labels
    table: dict[str, list[Any]] = {"graph": [], "mean weight in a class": [], "mean weight between classes": []}
    matrices: dict[str, FloatArray] = {}
    for low_rank in (True, False):
        for penalty in (True, False):
            name = f"{'low rank' if low_rank else 'no low rank'}, {'penalty' if penalty else 'no penalty'}"
            with quiet():
                problem = pose_problem(X, labels, low_rank_graph=low_rank, penalty_edges=penalty)
            W = problem.weights.toarray()
            matrices[name] = W
            off = same & ~np.eye(len(W), dtype=bool)
            for column, value in zip(table, (name, float(W[off].mean()), float(W[~same].mean())), strict=True):
                table[column].append(value)
    return table, {"matrices": matrices}


def residuals(folder: str | None, n_classes: int | None) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """What each class's atoms leave of every training sample, with and without incoherence."""
    split = split_images(_fewer(_CALTECH, n_classes), 0, folder)
    order = np.argsort(split.y_train, kind="stable")
    X, y = split.X_train[order], split.y_train[order]
    table: dict[str, list[Any]] = {"model": [], "own class": [], "other classes": [], "own is least (%)": []}
    matrices: dict[str, FloatArray] = {}
    for name, weight in (("no incoherence", 0.0), ("incoherence", 1e-3)):
        with quiet():
            model = JPLRDLClassifier(1000, lambda_incoherence=weight).fit(X, y)
        labels, classes = np.unique(y, return_inverse=True)[1], np.unique(model.atom_labels_, return_inverse=True)[1]
        found = class_residuals(model.project(X), model.components_, model.codes_, classes, model.class_means_)
        own = np.eye(len(model.classes_), dtype=bool)[labels]
        least = 100 * float(np.mean(found.argmin(axis=1) == labels))
        row = name, float(found[own].mean()), float(found[~own].mean()), least
        for column, value in zip(table, row, strict=True):
            table[column].append(value)
        matrices[name] = found.T
    return table, {"matrices": matrices}


STUDIES: dict[str, Study] = {
    "convergence": Study("The objective, block by block, of original and corrupted images", "Figure 4ab", convergence),
    "algorithm1": Study("The stopping conditions of Algorithm 1, Extended Yale B", "Figure 4c", algorithm1),
    "weights": Study("Weight matrices, Extended Yale B, 60 % pixels", "Figure 3", weights),
    "residuals": Study("Representation residuals, Caltech-101, 20 classes", "Figure 2", residuals),
}
