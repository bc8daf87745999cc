"""Local binary patterns: what images taken in the wild keep in common when the light changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._validation import FloatArray, as_count, as_float_array, as_image_shape

_N_POINTS = 8


def lbp_histograms(X: ArrayLike, image_shape: tuple[int, int], cell: int = 8, *, radius: float = 2.0) -> FloatArray:
    """Square roots of histograms of uniform local binary patterns, block by block (Ahonen et al. 2006).

    A pixel's pattern tells which of 8 points on a circle around it, interpolated, are at least as bright. The 58
    patterns with at most two changes around the circle have a bin each, all others share one. Blocks overlap by half,
    each histogram sums to one, and the square root makes the Euclidean distance between them Hellinger's.

    Parameters
    ----------
    X : array-like of shape (n_samples, height * width)
    image_shape : (height, width)
    cell : int
        Side of a block.
    radius : float > 0

    Returns
    -------
    ndarray of shape (n_samples, n_blocks * 59)

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.datasets import lbp_histograms
    >>> lbp_histograms(np.random.default_rng(0).random((2, 400)), (20, 20)).shape
    (2, 531)
    """
    images = as_float_array(X, "X", ndim=2)
    height, width = as_image_shape(image_shape, images.shape[1])
    bins = _uniform_bins()
    patterns = bins[_patterns(images.reshape(-1, height, width), radius)]
    side, n_bins = as_count(cell, "cell", least=2), int(bins.max()) + 1
    starts = [range(0, size - side + 1, side // 2) for size in patterns.shape[1:]]
    if not (len(starts[0]) and len(starts[1])):
        left = min(patterns.shape[1:])
        raise ValueError(f"cell must be at most {left}, what the circle leaves of an image, got {cell}")
    histograms = []
    for top in starts[0]:
        for left in starts[1]:
            block = patterns[:, top : top + side, left : left + side].reshape(len(images), -1)
            flat = (block + n_bins * np.arange(len(images))[:, None]).ravel()
            histograms.append(np.bincount(flat, minlength=n_bins * len(images)).reshape(len(images), n_bins))
    return np.sqrt(np.concatenate(histograms, axis=1) / side**2)


def _patterns(images: FloatArray, radius: float) -> NDArray[np.intp]:
    """One byte for every pixel that has the circle inside the image."""
    margin = int(np.ceil(radius))
    height, width = (size - 2 * margin for size in images.shape[1:])
    centre = images[:, margin : margin + height, margin : margin + width]
    found = np.zeros(centre.shape, dtype=np.intp)
    for point in range(_N_POINTS):
        angle = 2 * np.pi * point / _N_POINTS
        row, column = round(margin - radius * np.sin(angle), 9), round(margin + radius * np.cos(angle), 9)
        top, left = int(row), int(column)
        down, right = row - top, column - left
        value = 0.0
        for i, along in enumerate((1 - down, down)):
            for j, across in enumerate((1 - right, right)):
                if along * across:
                    pixels = images[:, top + i : top + i + height, left + j : left + j + width]
                    value = value + along * across * pixels
        found |= (value >= centre - 1e-9).astype(np.intp) << point
    return found


def _uniform_bins() -> NDArray[np.intp]:
    """The bin of each of the 256 patterns."""
    bits = (np.arange(256)[:, None] >> np.arange(_N_POINTS)) & 1
    uniform = np.sum(bits != np.roll(bits, 1, axis=1), axis=1) <= 2
    return np.where(uniform, np.cumsum(uniform) - 1, int(uniform.sum()))
