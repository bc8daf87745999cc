"""Blocks: the rectangle that was pasted over an image, found by its sides.

What lies inside says little, for a shadow leaves the same residual. But where a block begins, neighbouring pixels have
nothing to do with each other, along straight lines that images of the same kind do not have at that place. The step
between two neighbours counts in units of its median over the training images, and of its mean over the image; the sides
of a rectangle score what their steps exceed SPARED by, at most LARGEST each.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _rectangle
from ._parallel import run_chunks
from ._validation import FloatArray

LARGEST, SPARED = 8.0, 1.5
# A block must score this many times the square root of its sides' length; see docs/cleaner.md.
SIGNIFICANT = 25.0
LEAST_SIDE = 4
_CHUNK_ROWS = 64


class Steps(NamedTuple):
    """Between rows, shape (..., height - 1, width), and between columns, (..., height, width - 1)."""

    rows: FloatArray
    columns: FloatArray


def steps_between_pixels(X: FloatArray, shape: tuple[int, int], mask: NDArray[np.bool_] | None = None) -> Steps:
    """Magnitudes of the steps between neighbours in each image; NaN where one is not observed."""
    images = np.reshape(X if mask is None else np.where(mask, X, np.nan), (len(X), *shape)).astype(np.float64)
    return Steps(np.abs(np.diff(images, axis=1)), np.abs(np.diff(images, axis=2)))


def typical_steps(X: FloatArray, shape: tuple[int, int], mask: NDArray[np.bool_] | None = None) -> Steps:
    """The median step at every place, at least half of the mean of all."""

    def typical(steps: FloatArray) -> FloatArray:
        medians = np.median(steps, axis=0) if mask is None else _median_of_observed(steps)
        least = np.nan_to_num(steps).mean() / 2 if steps.size else 0.0
        return np.maximum(medians, least) if least > 0 else np.ones_like(medians)

    return Steps(*map(typical, steps_between_pixels(X, shape, mask)))


def find_blocks(
    X: FloatArray,
    shape: tuple[int, int],
    typical: Steps,
    *,
    mask: NDArray[np.bool_] | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.bool_]:
    """Where each image's block lies; nowhere, if no rectangle is significant.

    Parameters
    ----------
    X : ndarray of shape (n_samples, height * width)
    shape : (height, width)
    typical : Steps
        Of images of the same kind, from :func:`typical_steps`.
    mask : ndarray of bool of the shape of X, optional
        True where X is observed.
    n_jobs : int, optional
        Threads, as in scikit-learn.

    Returns
    -------
    ndarray of bool of the shape of X

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.occlusion import find_blocks, typical_steps
    >>> images = np.random.default_rng(0).random((20, 1, 1)) + np.add.outer(np.arange(16), np.arange(12)) / 10
    >>> typical = typical_steps(images.reshape(20, -1), (16, 12))
    >>> images[7, 4:12, 3:9] = 0.0
    >>> blocks = find_blocks(images.reshape(20, -1), (16, 12), typical).reshape(images.shape)
    >>> np.flatnonzero(blocks.any(axis=(1, 2))), bool(blocks[7, 4:12, 3:9].all()), int(blocks.sum())
    (array([7]), True, 48)
    """
    height, width = shape
    blocks = np.zeros((len(X), height, width), dtype=bool)

    def find(rows: slice) -> None:
        steps = steps_between_pixels(X[rows], shape, None if mask is None else mask[rows])
        H = np.zeros((len(steps.rows), height + 1, width + 1))
        V = np.zeros_like(H)
        # The frame of the image is no evidence: its lines score nothing.
        H[:, 1:-1, 1:] = np.cumsum(_scores(steps.rows, typical.rows), axis=2)
        V[:, 1:, 1:-1] = np.cumsum(_scores(steps.columns, typical.columns), axis=1)
        rectangles, scores = np.zeros((len(H), 4), dtype=np.intp), np.empty(len(H))
        _rectangle.find(H, V, LEAST_SIDE, rectangles, scores)
        for image, score, (top, bottom, left, right) in zip(blocks[rows], scores, rectangles.tolist(), strict=True):
            wide, high = right - left, bottom - top
            length = ((top > 0) + (bottom < height)) * wide + ((left > 0) + (right < width)) * high
            image[top:bottom, left:right] = length > 0 and score >= SIGNIFICANT * length**0.5

    run_chunks(find, len(X), _CHUNK_ROWS, n_jobs)
    return blocks.reshape(len(X), -1)


def _scores(steps: FloatArray, typical: FloatArray) -> FloatArray:
    """Steps in units of the typical one and of the image's mean, less what is spared; zero where not observed."""
    relative = np.nan_to_num(steps / typical)
    if not relative.size:
        return relative
    mean = np.minimum(relative, LARGEST).mean(axis=(1, 2), keepdims=True)
    relative = np.minimum(relative / np.where(mean > 0, mean, 1), LARGEST) - SPARED
    return np.where(np.isnan(steps), 0.0, relative)


def _median_of_observed(steps: FloatArray) -> FloatArray:
    """The median of what is not NaN; zero where all is."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        return np.nan_to_num(np.nanmedian(steps, axis=0))
