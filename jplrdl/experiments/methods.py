"""The columns of every table: classifiers, each with what is chosen by cross-validation, behind ways to clean images.

A further method is one more entry of METHODS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from .._validation import FloatArray
from ..classifier import JPLRDLClassifier
from ..coding import CodingInfo
from .cleaning import CLEANINGS
from .collaborative import CollaborativeRepresentationClassifier
from .sparse_representation import SparseRepresentationClassifier

Grid = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Method:
    """A classifier.

    Attributes
    ----------
    build : callable
        Makes the estimator.
    fit_grid : mapping from parameters to values
        What to choose from, with a fit each.
    predict_grids : tuple of such mappings
        What to choose from after a fit: all combinations of the values of each mapping.
    loose_grids : pair of a fit_grid and predict_grids, optional
        What to choose from instead where samples of a class have little in common.
    ours : bool
        Takes the parameters of JPLRDLClassifier that a cell of an experiment changes.
    """

    build: Callable[[], Any]
    fit_grid: Grid = field(default_factory=dict)
    predict_grids: tuple[Grid, ...] = ({},)
    loose_grids: tuple[Grid, tuple[Grid, ...]] | None = None
    ours: bool = False

    def grids(self, loose: bool) -> tuple[Grid, tuple[Grid, ...]]:
        """What to choose from with a fit each, and after a fit."""
        return self.loose_grids if loose and self.loose_grids is not None else (self.fit_grid, self.predict_grids)


class RememberingClassifier(JPLRDLClassifier):
    """JPLRDLClassifier that does not code the same samples again when only its decision rule has changed."""

    _last: tuple[Any, FloatArray, tuple[FloatArray, CodingInfo]] | None = None

    def _solve(self, *problem: Any) -> Any:
        self._last = None
        return super()._solve(*problem)

    def _encode(self, projected: FloatArray) -> tuple[FloatArray, CodingInfo]:
        weights = self.code_penalty, self.code_ridge
        if self._last is None or self._last[0] != weights or not np.array_equal(self._last[1], projected):
            self._last = weights, projected, super()._encode(projected)
        return self._last[2]


_ATOMS: Grid = {"init_dictionary": ("singular", "samples")}
_RIDGES = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
# The decision rule comes last and so changes first: codes are remembered. Ridge codes are cheap, one product for each
# ridge; beside an l1 penalty a small ridge changes little and takes a search each.
_RULES: Grid = {"residual": ("normalized", "paper")}
_CODES: tuple[Grid, ...] = (
    {"code_penalty": (0.0,), "code_ridge": _RIDGES, **_RULES},
    {"code_penalty": (0.001, 0.01), "code_ridge": (1e-4, 1e-3, 1e-2), **_RULES},
)
# With about as many samples as features a first projection without much of a ridge fits their noise, and a fold, which
# has fewer samples, does not show it: no small ridge is on offer.
_LOOSE_START: Grid = {**_ATOMS, "init_ridge": (0.1, 1.0)}
# A penalty of 0.01 leaves hundreds of non-zeros in codes of loose classes, and a split takes minutes to predict.
_LOOSE_CODES: tuple[Grid, ...] = (
    {"code_penalty": (0.0,), "code_ridge": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0), **_RULES},
    {"code_penalty": (0.1,), "code_ridge": (0.01, 0.1, 1.0), **_RULES},
)
METHODS: dict[str, Method] = {
    "1-NN": Method(lambda: make_pipeline(Normalizer(), KNeighborsClassifier(1))),
    "linear SVM": Method(
        lambda: make_pipeline(Normalizer(), LinearSVC(random_state=0, max_iter=20_000)),
        {"linearsvc__C": (1.0, 10.0, 100.0)},
    ),
    "SRC": Method(SparseRepresentationClassifier, predict_grids=({"penalty": (0.001, 0.003, 0.01, 0.03)},)),
    "CRC": Method(
        CollaborativeRepresentationClassifier,
        predict_grids=({"ridge": (*_RIDGES, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)},),
    ),
    "start": Method(lambda: RememberingClassifier(max_iter=0), _ATOMS, _CODES, (_LOOSE_START, _LOOSE_CODES), ours=True),
    "exact": Method(
        RememberingClassifier, {**_ATOMS, "lambda_sparse": (0.01, 0.08)}, _CODES,
        ({**_LOOSE_START, "lambda_sparse": (0.08, 0.3)}, _LOOSE_CODES), ours=True,
    ),
    "paper": Method(lambda: RememberingClassifier(solver="paper"), {}, _CODES, ({}, _LOOSE_CODES), ours=True),
}  # fmt: skip


class Column(NamedTuple):
    """A way to clean images, "" for none, and a method behind it.

    jplrdl.experiments.cleaning tells what the ways to clean are.
    """

    cleaning: str
    method: str

    def __str__(self) -> str:
        return f"{self.cleaning} + {self.method}" if self.cleaning else self.method


ALL_COLUMNS = {
    str(Column(cleaning, method)): Column(cleaning, method) for cleaning in ("", *CLEANINGS) for method in METHODS
}


def columns(*names: str) -> tuple[Column, ...]:
    """Columns by name.

    Examples
    --------
    >>> from jplrdl.experiments.methods import columns
    >>> columns("CRC", "cleaner + exact")
    (Column(cleaning='', method='CRC'), Column(cleaning='cleaner', method='exact'))
    """
    for name in names:
        if name not in ALL_COLUMNS:
            raise ValueError(f"columns must be among {', '.join(ALL_COLUMNS)}, got {name!r}")
    return tuple(ALL_COLUMNS[name] for name in names)
