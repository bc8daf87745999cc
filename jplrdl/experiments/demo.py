"""The demo: handwritten digits with saturated pixels, classified by their sparse codes over training samples."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from ..datasets import saturate_pixels
from .sparse_representation import SparseRepresentationClassifier

SHARES = (0.0, 0.1, 0.2, 0.3)
SATURATED = 16.0


def run(out: Path, *, n_jobs: int | None = None) -> None:
    """Print the table of accuracies and times, and save the picture."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=500, stratify=y, random_state=0)
    models: dict[str, Any] = {
        "1-NN": KNeighborsClassifier(1),
        "linear SVM": LinearSVC(random_state=0, max_iter=20_000, C=0.01),
        "SRC": SparseRepresentationClassifier(n_jobs=n_jobs),
        "SRC + error atoms": SparseRepresentationClassifier(error_atoms=True, n_jobs=n_jobs),
    }
    print(
        f"{len(X_test)} handwritten digits (8x8 pixels) are classified from {len(X_train)} clean training samples.\n"
        "A share of the pixels of every test image, chosen at random, is set to white.\n"
        "SRC codes each image over all training samples with jplrdl.sparse_encode (an exact lasso)\n"
        "and takes the class whose atoms explain it best; error atoms, one a pixel, take what is corrupted."
    )
    print(f"\n{'accuracy (%)':18s}" + "".join(f"{share:>9.0%}" for share in SHARES) + "   predict (us/image)")
    corrupted = {share: saturate_pixels(X_test, share, value=SATURATED, random_state=0) for share in SHARES}
    for name, model in models.items():
        model.fit(X_train, y_train)
        began = time.perf_counter()
        scores = [100 * model.score(corrupted[share], y_test) for share in SHARES]
        seconds = (time.perf_counter() - began) / (len(SHARES) * len(X_test))
        print(f"{name:18s}" + "".join(f"{score:9.1f}" for score in scores) + f"{1e6 * seconds:12.0f}", flush=True)
    draw(out, models["SRC + error atoms"], X_test, corrupted[0.2], y_test)
    print(f"\nPicture: {out} (digits at 20 % corruption: what was seen, what was taken as error, what was recognised)")


def draw(out: Path, model: SparseRepresentationClassifier, clean: Any, corrupted: Any, labels: Any) -> None:
    """Ten digits a column: the truth, the corrupted image, the error found, the rest as its class explains it."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    chosen = [int(np.flatnonzero(labels == digit)[0]) for digit in range(10)]
    codes, predicted = model.encode(corrupted[chosen]), model.predict(corrupted[chosen])
    n_atoms = len(model.dictionary_) - clean.shape[1]
    rows = {
        "original": clean[chosen],
        "20 % white": corrupted[chosen],
        "error found": codes[:, n_atoms:],
        "explained": codes[:, :n_atoms] @ model.dictionary_[:n_atoms],
    }
    figure, axes = plt.subplots(len(rows), 10, figsize=(10, 4.4))
    for line, (name, images) in zip(axes, rows.items(), strict=True):
        for axis, image in zip(line, images, strict=True):
            axis.imshow(image.reshape(8, 8), cmap="gray")
            axis.set(xticks=[], yticks=[])
        line[0].set_ylabel(name)
    for axis, index, guess in zip(axes[-1], chosen, predicted, strict=True):
        axis.set_xlabel(f"{guess}", color="black" if guess == labels[index] else "red")
    figure.suptitle("Digits recognised by their sparse codes (wrong ones in red)")
    figure.tight_layout()
    figure.savefig(out, dpi=120)
    plt.close(figure)
