"""The paper's tables and figures, as a table: which cells, which columns, and what the paper reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from .cells import Cell
from .cleaning import FITTING
from .methods import METHODS, Column, columns


class Point(NamedTuple):
    """A cell in its place: its row or curve, where on the curve it lies, and the paper's accuracy in percent."""

    label: str
    cell: Cell
    x: float | None = None
    paper: float | None = None


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper.

    Attributes
    ----------
    title, where : str
        What it shows, and where the paper shows it.
    points : tuple of Points
    columns : tuple of Columns
    x_label : str
        "" for a table.
    measure : "accuracy", "class_accuracy" or "fit_seconds"
        Of all test images, the mean of the accuracies of the classes, or how long a fit takes.
    """

    title: str
    where: str
    points: tuple[Point, ...]
    columns: tuple[Column, ...]
    x_label: str = ""
    measure: Literal["accuracy", "class_accuracy", "fit_seconds"] = "accuracy"

    def quick(self) -> Experiment:
        """The same with few classes, and of each curve both ends and the middle."""
        curves: dict[str, list[Point]] = {}
        for point in self.points:
            curves.setdefault(point.label, []).append(point)
        kept = [curve[k] for curve in curves.values() for k in sorted({0, len(curve) // 2, len(curve) - 1})]
        small = [_with(point.cell, n_classes=min(point.cell.n_classes or 8, 8)) for point in kept]
        points = (point._replace(cell=cell, paper=None) for point, cell in zip(kept, small, strict=True))
        return dataclasses.replace(self, points=tuple(points))


ALL = columns(*METHODS, *(f"cleaner + {name}" for name in METHODS))
TOLD = columns(*(f"{cleaning} + {name}" for cleaning in ("finding cleaner", "told cleaner") for name in METHODS))
PLAIN = columns(*METHODS)
FACES = ALL + columns(*(f"{cleaning} + {name}" for cleaning in FITTING for name in METHODS))

_YALE, _COIL = Cell("extended_yale_b", n_per_class=20), Cell("coil20", n_per_class=10)
_CALTECH = Cell("caltech101", loose=True)
_LFW, _FACES = Cell("lfw", "first", 10), Cell("synthetic", n_per_class=10)
_SUNGLASSES, _SCARF, _MIXED = (Cell("ar", rule) for rule in ("sunglasses", "scarf", "mixed"))
_SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_DIMENSIONS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
_WEIGHTS = (0.0, 0.001, 0.01, 0.1, 1.0)


def _with(cell: Cell, **fields: Any) -> Cell:
    return dataclasses.replace(cell, **fields)


def _changed(cell: Cell, **changes: Any) -> Cell:
    return _with(cell, changes=(*cell.changes, *changes.items()))


def _untuned(cell: Cell) -> Cell:
    return _with(cell, tuned=False)


def _spoilt(cell: Cell, corruption: str, share: float, where: str = "all") -> Cell:
    return _with(cell, corruption=corruption, share=share, where=where) if share else cell


def _curve(label: str, cells: Iterable[tuple[float, Cell]]) -> tuple[Point, ...]:
    return tuple(Point(label, cell, x) for x, cell in cells)


def _single(
    label: str, cell: Cell, paper: float, what: tuple[Column, ...] = ALL, where: str = "Table III"
) -> Experiment:
    return Experiment(label, where, (Point(label, cell, None, paper),), what)


# The cells of the JP-LRDL column of Table III that our data allows, each by its own name.
HEADLINES: dict[str, Experiment] = {
    "yale": _single("Extended Yale B", _YALE, 94.61, FACES),
    "yale-pixels-20": _single("Extended Yale B, 20 % pixels", _spoilt(_YALE, "pixels", 0.2), 88.01, ALL + TOLD),
    "yale-pixels-60": _single("Extended Yale B, 60 % pixels", _spoilt(_YALE, "pixels", 0.6), 54.31, ALL + TOLD),
    "yale-blocks-20": _single("Extended Yale B, 20 % occluded", _spoilt(_YALE, "blocks", 0.2), 89.30),
    "yale-blocks-60": _single("Extended Yale B, 60 % occluded", _spoilt(_YALE, "blocks", 0.6), 64.42),
    "ar-sunglasses": _single("AR Sunglasses", _SUNGLASSES, 95.31, FACES),
    "ar-sunglasses-20": _single(
        "AR Sunglasses, 20 % pixels", _spoilt(_SUNGLASSES, "pixels", 0.2, "train"), 92.85, FACES
    ),
    "ar-scarf": _single("AR Scarf", _SCARF, 94.69, FACES),
    "ar-scarf-20": _single("AR Scarf, 20 % pixels", _spoilt(_SCARF, "pixels", 0.2, "train"), 92.00, FACES),
    "ar-mixed": _single("AR Mixed", _MIXED, 95.12, FACES),
    "ar-mixed-20": _single("AR Mixed, 20 % pixels", _spoilt(_MIXED, "pixels", 0.2, "train"), 93.00, FACES),
    "lfw": _single("LFW, pixels", _changed(_LFW, n_components=1000), 79.87, FACES, "Tables I and III"),
    "lfw-lbp": _single(
        "LFW, uniform LBP", _with(_changed(_LFW, n_components=1000), features="lbp"), 79.87, PLAIN, "Tables I and III"
    ),
    "coil20": _single("COIL-20", _COIL, 92.10),
    "coil20-pixels-30": _single("COIL-20, 30 % pixels", _spoilt(_COIL, "pixels", 0.3), 56.72, ALL + TOLD),
    "coil20-blocks-30": _single("COIL-20, 30 % occluded", _spoilt(_COIL, "blocks", 0.3, "test"), 54.33),
}  # fmt: skip


def _caltech(n_per_class: int, **changes: Any) -> Cell:
    return _changed(_with(_CALTECH, n_per_class=n_per_class), **changes)


def _ablation() -> tuple[Point, ...]:
    sets = {"AR Mixed": _MIXED, "Extended Yale B": _YALE, "COIL-20": _COIL}
    variants: dict[str, dict[str, Any]] = {
        "JP-LRDL": {}, "JP-DL": {"lambda_rank": 0.0}, "P-LRDL": {"learn_projection": False},
    }  # fmt: skip
    return tuple(
        Point(f"{name}, {variant}", _changed(_untuned(_spoilt(cell, "blocks", 0.2)), n_components=0.1, **changes))
        for name, cell in sets.items()
        for variant, changes in variants.items()
    )


FIGURES: dict[str, Experiment] = {
    "caltech": Experiment(
        "Caltech-101, 15 and 30 training images a class, with and without incoherence", "Table II",
        (
            Point("15, without", _caltech(15, lambda_incoherence=0.0), None, 66.02),
            Point("15, with", _caltech(15), None, 71.97),
            Point("30, without", _caltech(30, lambda_incoherence=0.0), None, 73.71),
            Point("30, with", _caltech(30), None, 79.87),
        ),
        PLAIN,
    ),
    "yale-pixels": Experiment(
        "Extended Yale B, share of pixels at 255", "Figure 6a",
        _curve("Extended Yale B", ((100 * s, _spoilt(_YALE, "pixels", s)) for s in _SHARES)), ALL + TOLD, "pixels (%)",
    ),
    "yale-blocks": Experiment(
        "Extended Yale B, share of each image covered by a block", "Figure 6b",
        _curve("Extended Yale B", ((100 * s, _spoilt(_YALE, "blocks", s)) for s in _SHARES)), ALL, "covered (%)",
    ),
    "yale-training": Experiment(
        "Extended Yale B, number of training images a subject", "Figure 6c",
        _curve("Extended Yale B", ((n, _with(_YALE, n_per_class=n)) for n in (4, 7, 10, 15, 20, 25))), ALL, "images",
    ),
    "ar-dimension": Experiment(
        "AR, 20 % of the training pixels at 255, dimension", "Figures 7a and 7b",
        tuple(
            point
            for label, cell in (("Sunglasses", _SUNGLASSES), ("Scarf", _SCARF))
            for point in _curve(
                label, ((100 * d, _changed(_spoilt(cell, "pixels", 0.2, "train"), n_components=d)) for d in _DIMENSIONS)
            )
        ),
        columns("start", "exact", "paper", "cleaner + start", "cleaner + exact", "cleaner + paper"), "dimension (%)",
    ),
    "ar-noise": Experiment(
        "AR Mixed, uniform noise in all images", "Figure 7c",
        _curve("AR Mixed", ((100 * s, _spoilt(_MIXED, "noise", s)) for s in _SHARES[:-1])), ALL, "pixels (%)",
    ),
    "coil-objects": Experiment(
        "COIL, number of objects", "Figure 10a",
        _curve("COIL", ((n, Cell("coil100", n_per_class=10, n_classes=n)) for n in range(10, 101, 10))), ALL, "objects",
    ),
    "coil-objects-pixels": Experiment(
        "COIL, number of objects, 10 % of pixels at 255", "Figure 10b",
        _curve(
            "COIL",
            ((n, _spoilt(Cell("coil100", n_per_class=10, n_classes=n), "pixels", 0.1)) for n in range(10, 101, 10)),
        ),
        ALL, "objects",
    ),
    "coil-blocks": Experiment(
        "COIL-20, share of each test image covered by a block", "Figure 10c",
        _curve("COIL-20", ((100 * s, _spoilt(_COIL, "blocks", s, "test")) for s in _SHARES[:-1])), ALL, "covered (%)",
    ),
    "components": Experiment(
        "Without low rank (JP-DL) and without a learned projection (P-LRDL); d = 10 %, 20 % of each image covered",
        "Figure 10d", _ablation(), columns("exact", "paper"),
    ),
    "caltech-training": Experiment(
        "Caltech-101, number of training images, mean over classes", "Figure 11a",
        _curve("Caltech-101", ((n, _caltech(n)) for n in (5, 10, 15, 20, 25, 30))), PLAIN, "images", "class_accuracy",
    ),
    "lambdas": Experiment(
        "AR Mixed, lambda_sparse and lambda_graph", "Figure 5a",
        tuple(
            point
            for graph in _WEIGHTS
            for point in _curve(
                f"lambda_graph {graph:g}",
                ((w, _changed(_untuned(_MIXED), lambda_sparse=w, lambda_graph=graph)) for w in _WEIGHTS),
            )
        ),
        columns("exact"), "lambda_sparse",
    ),
    "neighbours": Experiment(
        "Extended Yale B, 30 % of each image covered, neighbours in the same class and in others", "Figure 5b",
        tuple(
            point
            for other in (1, 5, 10, 19)
            for point in _curve(
                f"{other} in other classes",
                (
                    (k, _changed(_untuned(_spoilt(_YALE, "blocks", 0.3)), n_neighbors_same=k, n_neighbors_other=other))
                    for k in (1, 5, 10, 15, 19)
                ),
            )
        ),
        columns("exact"), "in the same class",
    ),
    "beta": Experiment(
        'AR Mixed, lambda_error of the solver "paper"', "Figure 5c",
        _curve(
            "AR Mixed", ((b, _changed(_untuned(_MIXED), lambda_error=b)) for b in (0.05, 0.1, 0.5, 1.0, 5.0))
        ),
        columns("paper"), "lambda_error",
    ),
    "time": Experiment(
        "Extended Yale B, seconds of a fit", "Figure 5d", (Point("Extended Yale B", _YALE),), PLAIN, "", "fit_seconds",
    ),
    "synthetic": Experiment(
        "Synthetic faces, share of pixels at 255: needs no data", "not in the paper",
        _curve("Synthetic faces", ((100 * s, _spoilt(_FACES, "pixels", s)) for s in _SHARES[:4])), ALL, "pixels (%)",
    ),
}  # fmt: skip

EXPERIMENTS: dict[str, Experiment] = {**HEADLINES, **FIGURES}
GROUPS: dict[str, tuple[str, ...]] = {"table": tuple(HEADLINES), "all": tuple(EXPERIMENTS)}
