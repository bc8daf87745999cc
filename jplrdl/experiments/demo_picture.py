"""The demo's picture: how a fit goes down, what it has learned, and what it makes of new images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._validation import FloatArray
from ..classifier import JPLRDLClassifier

MOST_CLASSES = 10
COLOURS = {"start": "black", "codes": "tab:blue", "dictionary": "tab:orange", "projection": "tab:green"}


def draw(
    out: Path, model: Any, images: FloatArray, labels: Any, shape: tuple[int, int], share: float
) -> None:
    """Save the picture of a fitted pipeline of LowRankCleaner and JPLRDLClassifier.

    Parameters
    ----------
    out : path
    model : Pipeline
    images : ndarray of shape (n_samples, height * width)
        New images; the first of each of the first ten classes is shown.
    labels : ndarray of shape (n_samples,)
    shape : (height, width)
    share : float
        Of the pixels that are white.
    """
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    cleaner, classifier = model[0], model[-1]
    figure: Any = plt.figure(figsize=(11, 7.6), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.05, 1))
    left, right = above.subplots(1, 2, width_ratios=(1, 1.9))
    convergence(left, classifier.history_)
    atoms(right, classifier, shape)
    chosen = [int(np.flatnonzero(labels == label)[0]) for label in classifier.classes_[:MOST_CLASSES]]
    cleaned = cleaner.transform(images[chosen])
    predicted = classifier.predict(cleaned)
    rows = {
        f"{100 * share:.0f} % white": images[chosen],
        "cleaned": cleaned,
        "explained": explained(classifier, cleaned, predicted),
    }
    below.suptitle("New images: as seen, cleaned, and as the atoms of the class found explain them (wrong ones in red)")
    for line, (name, row) in zip(below.subplots(len(rows), len(chosen)), rows.items(), strict=True):
        line[0].set_ylabel(name)
        for axis, image in zip(line, row, strict=True):
            axis.imshow(image.reshape(shape), cmap="gray", vmin=0)
            axis.set(xticks=[], yticks=[])
    for axis, guess, truth in zip(line, predicted, labels[chosen], strict=True):
        axis.set_xlabel(f"{guess}" if guess == truth else f"{guess}, not {truth}", color="k" if guess == truth else "r")
    figure.savefig(out, dpi=120)
    plt.close(figure)


def convergence(axis: Any, history: dict[str, list[Any]]) -> None:
    """How far the objective after every block lies above its last value."""
    above, blocks = np.array(history["objective"]) - history["objective"][-1], np.array(history["block"])
    # The last is zero, which no logarithm shows.
    shown = np.flatnonzero(above > 0)
    axis.semilogy(shown, above[shown], color="0.7", zorder=1)
    for block, colour in COLOURS.items():
        here = shown[blocks[shown] == block]
        axis.scatter(here, above[here], s=22, color=colour, label=block, zorder=2)
    axis.set(title="Objective above its last value", xlabel="blocks done")
    axis.legend(frameon=False)


def atoms(axis: Any, classifier: JPLRDLClassifier, shape: tuple[int, int]) -> None:
    """Each atom mapped back to pixels, a row a class; an atom and its negative are the same, the brighter is shown."""
    pixels = classifier.components_ @ classifier.projection_.T
    pixels *= np.sign(pixels.sum(axis=1, keepdims=True)) / np.abs(pixels).max(axis=1, keepdims=True)
    labels = classifier.classes_[:MOST_CLASSES]
    rows = [pixels[classifier.atom_labels_ == label] for label in labels]
    down, right = shape[0] + 1, shape[1] + 1
    canvas = np.ones((len(rows) * down + 1, max(map(len, rows)) * right + 1))
    for i, row in enumerate(rows):
        for j, atom in enumerate(row):
            canvas[i * down + 1 : (i + 1) * down, j * right + 1 : (j + 1) * right] = atom.reshape(shape)
    axis.imshow(canvas, cmap="gray", vmin=-1, vmax=1)
    axis.set(title="Learned atoms, mapped back to pixels", ylabel="class", xticks=[])
    axis.set_yticks(down * np.arange(len(rows)) + down / 2, [str(label) for label in labels])
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def explained(classifier: JPLRDLClassifier, images: FloatArray, labels: Any) -> FloatArray:
    """What the atoms of the class found add up to, in pixels."""
    own = classifier.atom_labels_ == np.asarray(labels)[:, None]
    return (classifier.transform(images) * own) @ classifier.components_ @ classifier.projection_.T
