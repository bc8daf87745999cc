"""A cell of a table: images, which of them are for training, how they are corrupted, and what that comes to."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._validation import FloatArray
from ..datasets import (
    Images,
    add_uniform_noise,
    choose_training,
    cover_blocks,
    lbp_histograms,
    load_images,
    saturate_pixels,
    synthetic_faces,
)

Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]


@dataclass(frozen=True)
class Cell:
    """What is measured; everything that follows from it follows from its fields and the number of the split.

    Attributes
    ----------
    data : str
        A name that load_images knows, or "synthetic".
    rule : str
        "random", "first", or a scenario of AR: "sunglasses", "scarf", "mixed".
    n_per_class : int
        For training, for the first two rules.
    corruption : "", "pixels", "noise" or "blocks"
    share : float
        Of the pixels that are corrupted.
    where : "all", "train" or "test"
        The images that are.
    n_classes : int, optional
        Only the first ones.
    features : "pixels" or "lbp"
    changes : tuple of pairs
        Parameters of JPLRDLClassifier and their values.
    loose : bool
        Samples of a class have little in common: choose from larger weights.
    tuned : bool
        Choose parameters by cross-validation; otherwise defaults.
    """

    data: str
    rule: str = "random"
    n_per_class: int = 0
    corruption: Literal["", "pixels", "noise", "blocks"] = ""
    share: float = 0.0
    where: Literal["all", "train", "test"] = "all"
    n_classes: int | None = None
    features: Literal["pixels", "lbp"] = "pixels"
    changes: tuple[tuple[str, Any], ...] = ()
    loose: bool = False
    tuned: bool = True

    @property
    def name(self) -> str:
        """What results are kept under.

        Examples
        --------
        >>> from jplrdl.experiments.cells import Cell
        >>> Cell("coil20", "random", 10, "blocks", 0.3, "test").name
        'coil20/random-10/blocks-30-test'
        """
        parts = [self.data, self.rule + (f"-{self.n_per_class}" if self.n_per_class else "")]
        parts += [f"{self.n_classes}-classes"] * bool(self.n_classes)
        parts += [f"{self.corruption}-{100 * self.share:g}-{self.where}"] * bool(self.corruption and self.share)
        parts += [self.features] * (self.features != "pixels")
        parts += [f"{key}={value}" for key, value in self.changes]
        parts += ["loose"] * self.loose
        parts += ["untuned"] * (not self.tuned)
        return "/".join(parts)

    @property
    def is_fixed(self) -> bool:
        """Is every split the same?"""
        return self.rule != "random" and not (self.corruption and self.share)


class Split(NamedTuple):
    """Images for training and test.

    Attributes
    ----------
    held_in : ndarray
        The training images as test images are corrupted, or, where test images are not, as they are themselves.
    groups : ndarray or None
        For images taken in conditions that test images do not share, the condition of each training image.
    """

    X_train: FloatArray
    y_train: NDArray[np.intp]
    held_in: FloatArray
    X_test: FloatArray
    y_test: NDArray[np.intp]
    shape: tuple[int, ...]
    groups: NDArray[Any] | None


@functools.lru_cache(maxsize=2)
def _load(name: str, folder: str | None) -> Images:
    if name == "synthetic":
        return synthetic_faces(10, 30, (24, 20), random_state=0)
    return load_images(name, folder)


def split_images(cell: Cell, split: int, folder: str | os.PathLike[str] | None = None) -> Split:
    """The images of one split of a cell, a pure function of both."""
    images = _load(cell.data, None if folder is None else os.fspath(folder))
    train, test = RULES[cell.rule](cell, images, split)
    if cell.n_classes is not None:
        train, test = (mask & (images.y < cell.n_classes) for mask in (train, test))
    clean = images.X
    spoilt = _corrupt(cell, images, split) if cell.corruption and cell.share else clean
    X_train = (spoilt if cell.where in ("all", "train") else clean)[train]
    X_test, held_in = (spoilt if cell.where in ("all", "test") else clean)[test], spoilt[train]
    shape = images.shape
    if cell.features == "lbp":
        X_train, held_in, X_test = (lbp_histograms(X, _flat(shape)) for X in (X_train, held_in, X_test))
        shape = X_train.shape[1:]
    groups = images.more["condition"][train] if cell.rule in DISGUISES else None
    return Split(X_train, images.y[train], held_in, X_test, images.y[test], shape, groups)


def _flat(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) != 2:
        raise ValueError(f"blocks and patterns need images, got features of shape {shape}")
    return shape[0], shape[1]


def _corrupt(cell: Cell, images: Images, split: int) -> FloatArray:
    # Another stream than the choice of training images, which takes the split itself as its seed.
    seed = [split, 1]
    if cell.corruption == "pixels":
        return saturate_pixels(images.X, cell.share, random_state=seed)
    if cell.corruption == "noise":
        return add_uniform_noise(images.X, cell.share, random_state=seed)
    return cover_blocks(images.X, cell.share, _flat(images.shape), random_state=seed)


def _random(cell: Cell, images: Images, split: int) -> Masks:
    train = choose_training(images.y, cell.n_per_class, split)
    return train, ~train


def _first(cell: Cell, images: Images, split: int) -> Masks:
    """The first images of each class, in the order of the file."""
    train = np.zeros(len(images.y), dtype=bool)
    for label in np.unique(images.y):
        train[np.flatnonzero(images.y == label)[: cell.n_per_class]] = True
    return train, ~train


def _disguised(disguises: tuple[int, ...]) -> Callable[[Cell, Images, int], Masks]:
    """AR: unobscured images (conditions 1 to 7) and the first of each disguise (three conditions) of session 1 train;
    unobscured images of session 2 and all other images of the disguises test."""

    def rule(cell: Cell, images: Images, split: int) -> Masks:
        condition, session = images.more["condition"], images.more["session"]
        plain = condition <= 7
        of_disguise = np.isin(condition, [first + k for first in disguises for k in range(3)])
        train = (session == 1) & (plain | np.isin(condition, disguises))
        return train, (of_disguise | (plain & (session == 2))) & ~train

    return rule


# The first condition of each disguise.
DISGUISES = {"sunglasses": (8,), "scarf": (11,), "mixed": (8, 11)}
RULES: dict[str, Callable[[Cell, Images, int], Masks]] = {
    "random": _random,
    "first": _first,
    **{scenario: _disguised(disguises) for scenario, disguises in DISGUISES.items()},
}
