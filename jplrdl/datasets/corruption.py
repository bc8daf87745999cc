"""Corruption of images: by an exact share of the pixels, and the same for the same seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._validation import FloatArray, as_float_array, as_image_shape

Seed = int | list[int] | np.random.Generator | None
# Of the longer side of a block to the shorter, where the image leaves room.
_LONGEST = 1.5


def saturate_pixels(
    X: ArrayLike, share: float, *, value: float = 255.0, random_state: Seed = None
) -> FloatArray:
    """Set a share of the pixels of every image, chosen at random, to one value.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_pixels)
    share : float in [0, 1]
        Exactly ``round(share * n_pixels)`` pixels of each image are set.
    value : float
    random_state : int, list of ints, numpy.random.Generator or None

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
    chosen = _random_pixels(images.shape, share, np.random.default_rng(random_state))
    np.put_along_axis(images, chosen, value, axis=1)
    return images


def add_uniform_noise(X: ArrayLike, share: float, *, random_state: Seed = None) -> FloatArray:
    """Replace a share of the pixels of every image, chosen at random, by uniform noise in [0, its largest pixel].

    Parameters
    ----------
    X : array-like of shape (n_samples, n_pixels)
    share : float in [0, 1]
        Exactly ``round(share * n_pixels)`` pixels of each image are replaced.
    random_state : int, list of ints, numpy.random.Generator or None

    Returns
    -------
    ndarray of the shape of X

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.datasets import add_uniform_noise
    >>> noisy = add_uniform_noise(np.full((2, 8), 5.0), 0.25, random_state=0)
    >>> (noisy != 5.0).sum(axis=1), bool(noisy.max() <= 5.0)
    (array([2, 2]), True)
    """
    images = as_float_array(X, "X", ndim=2).copy()
    rng = np.random.default_rng(random_state)
    chosen = _random_pixels(images.shape, share, rng)
    noise = rng.random(chosen.shape) * images.max(axis=1, keepdims=True)
    np.put_along_axis(images, chosen, noise.astype(images.dtype), axis=1)
    return images


def _random_pixels(shape: tuple[int, ...], share: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Indices of a share of the pixels of each image, shape (n_samples, count)."""
    _check_share(share)
    return rng.random(shape).argsort(axis=1)[:, : round(share * shape[1])]


def _check_share(share: float) -> None:
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in [0, 1], got {share!r}")


def cover_blocks(
    X: ArrayLike,
    share: float,
    image_shape: tuple[int, int],
    *,
    photographs: ArrayLike | None = None,
    random_state: Seed = None,
) -> FloatArray:
    """Paste a block of an unrelated photograph over every image, at a random place.

    Parameters
    ----------
    X : array-like of shape (n_samples, height * width)
    share : float in [0, 1]
        Of the pixels that are covered: the block is the rectangle nearest to it in area, no side longer than 3/2 of the
        other where the image leaves room, of those the squarest.
    image_shape : (height, width)
    photographs : array-like of shape (n_photographs, height, width), optional
        At least as large as the block, values as in X; by default :func:`unrelated_photographs`, which needs Pillow.
    random_state : int, list of ints, numpy.random.Generator or None

    Returns
    -------
    ndarray of the shape of X

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.datasets import cover_blocks
    >>> covered = cover_blocks(np.zeros((3, 100)), 0.2, (10, 10), photographs=np.ones((1, 20, 20)), random_state=0)
    >>> covered.sum(axis=1)
    array([20., 20., 20.])
    """
    images = as_float_array(X, "X", ndim=2).copy()
    height, width = as_image_shape(image_shape, images.shape[1])
    tall, wide = block_shape(share, image_shape)
    if tall * wide == 0:
        return images
    sources = as_float_array(unrelated_photographs() if photographs is None else photographs, "photographs", ndim=3)
    if sources.shape[1] < tall or sources.shape[2] < wide:
        raise ValueError(f"photographs must be at least as large as a block, {(tall, wide)}, got {sources.shape[1:]}")
    rng, n_images = np.random.default_rng(random_state), len(images)

    def places(size: int, side: int) -> NDArray[np.intp]:
        return rng.integers(size - side + 1, size=(n_images, 1)) + np.arange(side)

    which = rng.integers(len(sources), size=n_images)[:, None, None]
    pieces = sources[which, places(sources.shape[1], tall)[:, :, None], places(sources.shape[2], wide)[:, None, :]]
    rows, columns = places(height, tall)[:, :, None], places(width, wide)[:, None, :]
    images.reshape(n_images, height, width)[np.arange(n_images)[:, None, None], rows, columns] = pieces
    return images


def block_shape(share: float, image_shape: tuple[int, int]) -> tuple[int, int]:
    """The sides of a block that covers a share of an image; see :func:`cover_blocks`.

    Examples
    --------
    >>> from jplrdl.datasets.corruption import block_shape
    >>> block_shape(0.2, (55, 48)), block_shape(1.0, (55, 40))
    ((24, 22), (55, 40))
    """
    _check_share(share)
    height, width = image_shape
    if share == 0:
        return 0, 0
    longest = max(_LONGEST, share * height / width, share * width / height)
    sides = [(tall, wide) for tall in range(1, height + 1) for wide in range(1, width + 1)]
    stretch = {(tall, wide): max(tall, wide) / min(tall, wide) for tall, wide in sides}
    allowed = [block for block in sides if stretch[block] <= longest + 1e-9]
    wanted = share * height * width
    return min(allowed, key=lambda block: (round(abs(block[0] * block[1] - wanted), 9), stretch[block], -block[0]))


def unrelated_photographs() -> FloatArray:
    """The two photographs that come with scikit-learn, grey and shrunk four times, shape (2, 106, 160)."""
    from sklearn.datasets import load_sample_images

    try:
        photographs = np.stack(load_sample_images().images)
    except ImportError as error:
        raise ImportError('photographs need Pillow: pip install "jplrdl[experiments]", or give your own') from error
    grey = photographs[:, :424].mean(axis=3)
    return grey.reshape(2, 106, 4, 160, 4).mean(axis=(2, 4))
