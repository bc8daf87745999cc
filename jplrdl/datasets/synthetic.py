"""Faces that need no download: smooth surfaces under many lights, with their low-rank truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._validation import FloatArray, as_count
from .images import Images


def synthetic_faces(
    n_subjects: int = 10,
    n_images: int = 30,
    image_shape: tuple[int, int] = (24, 20),
    *,
    spread: float = 0.8,
    random_state: int | np.random.Generator | None = None,
) -> Images:
    """Lambertian images of random smooth surfaces with random albedo, one surface a subject, a new light every image.

    A pixel is albedo * max(normal . light, 0), scaled to [0, 255] over all images. Without the shadows, where the
    maximum is zero, a subject's images would span three dimensions: that is the truth, ``more["low_rank"]``.

    Parameters
    ----------
    n_subjects, n_images : int
        n_images is of each subject.
    image_shape : (height, width)
    spread : float >= 0
        How far lights are from the frontal one, and so how much lies in shadow; none at 0.
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    Images
        ``more`` has "low_rank", the images without shadows, of rank 3 a subject; and "light", the direction of each.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.datasets import synthetic_faces
    >>> faces = synthetic_faces(2, 8, (12, 10), random_state=0)
    >>> faces.X.shape, int(np.linalg.matrix_rank(faces.more["low_rank"][faces.y == 0]))
    ((16, 120), 3)
    """
    rng = np.random.default_rng(random_state)
    subjects, images = as_count(n_subjects, "n_subjects"), as_count(n_images, "n_images")
    common = _smooth(rng, image_shape, 3)
    lights = np.dstack([spread * rng.standard_normal((subjects, images, 2)), np.ones((subjects, images, 1))])
    lights /= np.linalg.norm(lights, axis=2, keepdims=True)
    unshadowed = np.stack(
        [light @ _surface(rng, image_shape, common).T for light in lights]
    ).reshape(subjects * images, -1)
    scale = 255 / unshadowed.max()
    labels: NDArray[np.intp] = np.repeat(np.arange(subjects), images)
    more = {"low_rank": scale * unshadowed, "light": lights.reshape(-1, 3)}
    return Images(scale * np.maximum(unshadowed, 0), labels, tuple(image_shape), more)


def _surface(rng: np.random.Generator, shape: tuple[int, int], common: FloatArray) -> FloatArray:
    """albedo * normal of every pixel, shape (n_pixels, 3), of a surface that is half common to all subjects."""
    depth = 0.5 * max(shape) * (common + _smooth(rng, shape, 4))
    slopes = np.gradient(depth)
    normals = np.stack([-slopes[0], -slopes[1], np.ones(shape)], axis=2)
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    albedo = 0.6 + 0.4 * np.tanh(2 * _smooth(rng, shape, 6))
    return (albedo[:, :, None] * normals).reshape(-1, 3)


def _smooth(rng: np.random.Generator, shape: tuple[int, int], waves: int) -> FloatArray:
    """A random sum of the lowest cosine waves, of unit mean square."""
    height, width = (np.cos(np.pi * np.outer(np.arange(size) + 0.5, np.arange(waves)) / size) for size in shape)
    field: FloatArray = height @ rng.standard_normal((waves, waves)) @ width.T
    field -= field.mean()
    return field / np.sqrt(np.mean(field**2))
