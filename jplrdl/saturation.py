"""Saturated pixels: the one value that pixels at random places were set to, found without being told."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._validation import as_float_array, as_image_shape

# A value counts from this share of the pixels on; and it is scattered below this correlation between neighbours.
LEAST_SHARE, LARGEST_CORRELATION = 0.02, 0.2


def scattered_value(X: ArrayLike, image_shape: tuple[int, int]) -> float | None:
    """The value of many pixels that lie scattered, as dead, saturated or erased ones do; None if there is none.

    Pixels of one value in an image of something lie together: a white sky, a black ground. Where they were set at
    random, a pixel of that value says nothing about its neighbours. With f the share of pixels that have a value and p
    the share of their neighbours that have it too, (p - f) / (1 - f) is the correlation of neighbours: 0.3 to 0.9 for
    the grey levels of faces and objects, near 0 for what is scattered. Of all values with a share of 2 % or more the
    least correlated one is taken, if it is below 0.2. It is meant for `missing_values` of LowRankCleaner.

    Parameters
    ----------
    X : array-like of shape (n_samples, height * width)
    image_shape : (height, width)

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.saturation import scattered_value
    >>> rng = np.random.default_rng(0)
    >>> images = np.repeat(rng.integers(0, 100, (20, 16)), 16, axis=1)
    >>> images[:, :64] = 7
    >>> scattered_value(images, (16, 16)) is None
    True
    >>> images[rng.random(images.shape) < 0.3] = 255
    >>> scattered_value(images, (16, 16))
    255.0
    """
    x = as_float_array(X, "X", ndim=2)
    height, width = as_image_shape(image_shape, x.shape[1])
    values, counts = np.unique(x, return_counts=True)
    frequent = values[counts >= LEAST_SHARE * x.size]
    correlations = {float(value): _correlation(x.reshape(-1, height, width) == value) for value in frequent}
    if not correlations:
        return None
    found = min(correlations, key=lambda value: correlations[value])
    return found if correlations[found] < LARGEST_CORRELATION else None


def _correlation(here: NDArray[np.bool_]) -> float:
    """Of neighbours, along rows and columns together."""
    share = float(here.mean())
    pairs = [(here[:, 1:], here[:, :-1]), (here[:, :, 1:], here[:, :, :-1])]
    both = sum(int(np.sum(a & b)) for a, b in pairs)
    either = sum(int(a.sum() + b.sum()) for a, b in pairs) / 2
    return (both / either - share) / (1 - share) if either and share < 1 else 1.0
