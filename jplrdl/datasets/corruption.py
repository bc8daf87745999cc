"""Corruption of images: by an exact share of the pixels, and the same for the same seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._validation import FloatArray, as_float_array


def saturate_pixels(
    X: ArrayLike, share: float, *, value: float = 255.0, random_state: int | np.random.Generator | None = None
) -> FloatArray:
    """Set a share of the pixels of every image, chosen at random, to one value.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_pixels)
    share : float in [0, 1]
        Exactly ``round(share * n_pixels)`` pixels of each image are set.
    value : float
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    ndarray of the shape of X

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.datasets import saturate_pixels
    >>> saturate_pixels(np.zeros((2, 4)), 0.5, random_state=0).sum(axis=1)
    array([510., 510.])
    """
    images = as_float_array(X, "X", ndim=2).copy()
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in [0, 1], got {share!r}")
    count = round(share * images.shape[1])
    order = np.random.default_rng(random_state).random(images.shape).argsort(axis=1)
    np.put_along_axis(images, order[:, :count], value, axis=1)
    return images
