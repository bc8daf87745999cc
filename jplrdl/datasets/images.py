"""Image sets from a folder of the user's, and random choices of training images."""

from __future__ import annotations

import os
import pathlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._validation import FloatArray, as_count
from . import originals

# The file with the arrays X and y; how to read the original instead, if we can; where the original is to be had.
_SETS: dict[str, tuple[str, originals.Reader | None, str]] = {
    "extended_yale_b": (
        "extended_yale_b_55x48", originals.read_cropped_yale,
        "the Extended Yale Face Database B, cropped, of UC San Diego; its folder CroppedYale here will do as well",
    ),
    "ar": ("ar_55x40", None, "the AR Face Database of Ohio State University, on request"),
    "lfw": (
        "lfw_deepfunneled_60x54", originals.read_lfw,
        "Labeled Faces in the Wild, deep-funneled, of UMass Amherst; scikit-learn's lfw_home here will do as well",
    ),
    "coil20": (
        "coil20_32x32", originals.read_coil20,
        "the Columbia Object Image Library, COIL-20; its folder coil-20-proc here will do as well",
    ),
    "coil100": (
        "coil100_32x32", originals.read_coil100,
        "the Columbia Object Image Library, COIL-100; its folder coil-100 here will do as well",
    ),
    "caltech101": (
        "caltech101_spm_pca1000", None, "Caltech-101; spatial pyramid features reduced to 1000 dimensions"
    ),
}  # fmt: skip


class Images(NamedTuple):
    """An image set.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        One image a row, float64.
    y : ndarray of shape (n_samples,)
    shape : (height, width), or (n_features,) where rows are not images
    more : dict of ndarrays
        What else the file tells of each image.
    """

    X: FloatArray
    y: NDArray[np.intp]
    shape: tuple[int, ...]
    more: dict[str, NDArray[Any]]


def load_images(name: str, folder: str | os.PathLike[str] | None = None) -> Images:
    """An image set from an .npz file with the arrays X, one image a row, and y; or from the original's own files.

    Originals are made grey and shrunk to the paper's size. They are read every time, which takes a while: keep what was
    read with ``np.savez_compressed(file, X=images.X.reshape(-1, *images.shape), y=images.y, **images.more)``.

    Parameters
    ----------
    name : "extended_yale_b", "ar", "lfw", "coil20", "coil100" or "caltech101"
    folder : path, optional
        Holds the .npz file, or the original's folder: CroppedYale, coil-20-proc, coil-100 or lfw_home. The environment
        variable JPLRDL_DATA by default.
    """
    if name not in _SETS:
        raise ValueError(f"name must be one of {', '.join(_SETS)}, got {name!r}")
    file, read, origin = _SETS[name]
    folder = os.environ.get("JPLRDL_DATA") if folder is None else folder
    if folder is None:
        raise FileNotFoundError(f"folder must be given, or the environment variable JPLRDL_DATA, to find {file}.npz")
    path = pathlib.Path(folder, f"{file}.npz")
    if path.is_file():
        with np.load(path, allow_pickle=False) as data:
            arrays = {key: data[key] for key in data.files}
    else:
        found = None if read is None else read(pathlib.Path(folder))
        if found is None:
            raise FileNotFoundError(f"{path} is missing; it holds X, one image a row, and y of {origin}")
        arrays = found
    X, y = arrays.pop("X"), arrays.pop("y")
    return Images(X.reshape(len(X), -1).astype(np.float64), y.astype(np.intp), X.shape[1:], arrays)


def choose_training(y: ArrayLike, n_per_class: int, seed: int) -> NDArray[np.bool_]:
    """True for `n_per_class` random samples of each class.

    Examples
    --------
    >>> from jplrdl.datasets import choose_training
    >>> int(choose_training(["a", "a", "a", "b", "b"], 2, seed=0).sum())
    4
    """
    labels, rng = np.asarray(y), np.random.default_rng(seed)
    count = as_count(n_per_class, "n_per_class")
    chosen = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        if len(own) < count:
            raise ValueError(f"n_per_class must be at most {len(own)}, the samples of class {label!r}, got {count}")
        chosen[rng.permutation(own)[:count]] = True
    return chosen
