"""Ways to clean the images of a split or a fold, each with what is chosen by cross-validation.

- "cleaner": LowRankCleaner, which knows nothing of the corruption;
- "told cleaner": it knows that pixels at 255 are missing;
- "finding cleaner": it takes for missing what scattered_value finds in the training images;
- "fitting cleaner": it fits training images as it fits new ones, instead of taking their low-rank part, so that both
  have lost the same;
- "mirroring cleaner": so does this one, and the mirror image of each training image, fitted too, is one more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._validation import FloatArray
from ..cleaner import LowRankCleaner
from ..robust_pca import default_eta
from ..saturation import scattered_value
from .kept import kept

Parameters = dict[str, Any]
Fold = tuple[FloatArray, Any, FloatArray, Any]

CLEANINGS = ("cleaner", "fitting cleaner", "mirroring cleaner", "finding cleaner", "told cleaner")
# The value that corrupted pixels are set to, for the cleaner that is told so.
SATURATED = 255.0
FITTING = ("fitting cleaner", "mirroring cleaner")


def cleaners(cleaning: str, X: FloatArray, shape: tuple[int, ...]) -> list[Parameters]:
    """The parameters of LowRankCleaner to choose from, with a fit each, given training images; the defaults first."""
    if cleaning not in CLEANINGS:
        raise ValueError(f"cleaning must be one of {', '.join(map(repr, CLEANINGS))}, got {cleaning!r}")
    if cleaning == "told cleaner":
        return [{"missing_values": SATURATED}]
    if cleaning == "finding cleaner":
        found = scattered_value(X, (shape[0], shape[1]))
        return [{} if found is None else {"missing_values": found}]
    if cleaning in FITTING:
        return [{}]
    etas: list[Parameters] = [{"eta": factor * default_eta(X.shape)} for factor in (0.8, 1.25)]
    return [{}, *etas, *([{"image_shape": tuple(shape)}] if len(shape) == 2 else [])]


def transforms(cleaning: str) -> tuple[Parameters, ...]:
    """Parameters that only `transform` uses, to choose from, the defaults first: one fit serves all of them."""
    return ({}, *({"ridge": ridge} for ridge in ((3e-4, 3e-3, 1e-2) if cleaning in FITTING else (3e-4, 1e-4))))


def clean_fold(
    cleaning: str,
    parameters: Parameters,
    afters: Sequence[Parameters],
    fold: Fold,
    shape: tuple[int, ...],
    keep: str | None,
) -> list[Fold]:
    """Images behind the cleaner, once for each set of parameters of its `transform`; kept in the folder `keep`."""
    train, y_train, test, y_test = fold
    given: Parameters = {"fit": parameters, "transform": list(afters)}
    if cleaning not in FITTING:
        clean_train, *clean_tests = kept(keep, _clean, given, train, test)
        return [(clean_train, y_train, clean_test, y_test) for clean_test in clean_tests]
    if cleaning == "mirroring cleaner":
        train, y_train = np.concatenate([train, mirrored(train, shape)]), np.tile(y_train, 2)
    given["n_fit"] = len(fold[0])
    found = kept(keep, _fit_all, given, train, test)
    return [(*pair, y_test) for pair in zip(found[::2], [y_train] * len(afters), found[1::2], strict=True)]


def mirrored(X: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Each image with left and right exchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.experiments.cleaning import mirrored
    >>> mirrored(np.array([[1, 2, 3, 4]]), (2, 2))
    array([[2, 1, 4, 3]])
    """
    if len(shape) != 2:
        raise ValueError(f"mirror images need images, got features of shape {shape}")
    return X.reshape(-1, *shape)[:, :, ::-1].reshape(X.shape)


def make_cleaner(parameters: Parameters) -> LowRankCleaner:
    """The cleaner of parameters that may have been through JSON."""
    given: Parameters = {name: tuple(v) if isinstance(v, list) else v for name, v in parameters.items()}
    return LowRankCleaner().set_params(**given)


def low_rank_part(parameters: Parameters, X: FloatArray) -> tuple[FloatArray]:
    """What robust PCA leaves of training images."""
    return (make_cleaner(parameters).fit_transform(X),)


def _clean(parameters: Parameters, train: FloatArray, test: FloatArray) -> tuple[FloatArray, ...]:
    cleaner = make_cleaner(parameters["fit"])
    clean_train = cleaner.fit_transform(train)
    return clean_train, *(cleaner.set_params(**after).transform(test) for after in parameters["transform"])


def _fit_all(parameters: Parameters, train: FloatArray, test: FloatArray) -> tuple[FloatArray, ...]:
    """Training images and new ones, both fitted, by turns for each transform; the first `n_fit` make the basis."""
    cleaner = make_cleaner(parameters["fit"]).fit(train[: parameters["n_fit"]])
    found: list[FloatArray] = []
    for after in parameters["transform"]:
        cleaner.set_params(**after)
        found += [cleaner.transform(train), cleaner.transform(test)]
    return tuple(found)
