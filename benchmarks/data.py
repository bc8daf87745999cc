"""Seeded synthetic data in the shape of face images.

A class is a random subspace of rank 8; all classes share one mean direction, which makes atoms as coherent as those of
real images are; noise comes on top, and every sample has unit length.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

RANK_OF_A_CLASS = 8
MATRIX = (2640, 760)
KEPT = 60
ROBUST_PCA_SHAPES = ((2640, 20), (1024, 72), MATRIX)
GRAPH_SIZES = (760, 2000, 5000)
GRAPH_FEATURES, GRAPH_CLASSES = 2640, 38
NEIGHBORS_SAME, NEIGHBORS_OTHER = 15, 19


class CodingProblem(NamedTuple):
    """Rows of `samples` to be coded over rows of `atoms`."""

    samples: np.ndarray
    atoms: np.ndarray
    penalty: float


# features, atoms, samples, classes, penalty; the penalty gives 48 to 54 non-zeros a code
CODING_SIZES = {
    "S": (100, 200, 1000, 10, 0.02),
    "M": (660, 760, 1654, 38, 0.04),
    "L": (1000, 1430, 2700, 70, 0.045),
}


def draw(rng: np.random.Generator, n_features: int, n_classes: int, *counts: int) -> list[np.ndarray]:
    """Sets of `counts` samples from the same classes; sample i of a set belongs to class i modulo n_classes."""
    mean = rng.standard_normal(n_features)
    bases = rng.standard_normal((n_classes, RANK_OF_A_CLASS, n_features)) / math.sqrt(RANK_OF_A_CLASS)
    sets = []
    for count in counts:
        samples = mean + 0.3 * rng.standard_normal((count, n_features))
        for label in range(n_classes):
            members = samples[label::n_classes]
            members += rng.standard_normal((len(members), RANK_OF_A_CLASS)) @ bases[label]
        sets.append(samples / np.linalg.norm(samples, axis=1, keepdims=True))
    return sets


@cache
def coding_problem(size: str, dtype: str = "float64") -> CodingProblem:
    n_features, n_atoms, n_samples, n_classes, penalty = CODING_SIZES[size]
    atoms, samples = draw(np.random.default_rng(0), n_features, n_classes, n_atoms, n_samples)
    return CodingProblem(samples.astype(dtype), atoms.astype(dtype), penalty)


@cache
def noise(dtype: str = "float64") -> np.ndarray:
    """Rows and columns of very different lengths, for the l1 and the 2,1 map."""
    rng = np.random.default_rng(1)
    rows, columns = rng.random((MATRIX[0], 1)), rng.random(MATRIX[1])
    return (rows * columns * rng.standard_normal(MATRIX)).astype(dtype)


@cache
def l1_threshold() -> float:
    """The median magnitude of `noise`: half of its elements vanish."""
    return float(np.median(np.abs(noise())))


@cache
def l21_threshold(axis: int) -> float:
    """The median length of a group of `noise`: half of them vanish."""
    return float(np.median(np.linalg.norm(noise(), axis=axis)))


@cache
def images(dtype: str = "float64") -> np.ndarray:
    """Samples as columns, for the nuclear map."""
    n_features, n_samples = MATRIX
    (samples,) = draw(np.random.default_rng(1), n_features, GRAPH_CLASSES, n_samples)
    return np.ascontiguousarray(samples.T, dtype=dtype)


@cache
def nuclear_threshold() -> float:
    """Half way between the last singular value of `images` that is to be kept and the next."""
    singular = np.linalg.svd(images(), compute_uv=False)
    return float(singular[KEPT - 1] + singular[KEPT]) / 2


@cache
def corrupted(shape: tuple[int, int], dtype: str = "float64") -> np.ndarray:
    """A matrix with a rank of a twentieth of its columns (at least 2), a tenth of the elements saturated."""
    rng = np.random.default_rng(2)
    rank = max(2, shape[1] // 20)
    image = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    image[rng.random(shape) < 0.1] = np.abs(image).max()
    return image.astype(dtype)


@cache
def labelled(n_samples: int, dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Samples and their classes, for the graphs."""
    (samples,) = draw(np.random.default_rng(3), GRAPH_FEATURES, GRAPH_CLASSES, n_samples)
    return samples.astype(dtype), np.arange(n_samples) % GRAPH_CLASSES
