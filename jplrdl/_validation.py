"""Checks of arguments: every error names the argument, what it was and what it must be."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[Any]

_CHECKED_ROWS = 256
_BOOLEANS = (bool, np.bool_)
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def as_float_array(value: Any, name: str, *, ndim: int | None = None, finite: bool = True) -> FloatArray:
    """A non-empty float32 or float64 array in native byte order, a view where nothing has to change.

    Finite too, unless the caller sees to that.
    """
    array: FloatArray = value if type(value) is np.ndarray and value.dtype in _FLOATS else _converted(value, name)
    if ndim is None and array.ndim == 0:
        raise ValueError(f"{name} must have at least one dimension, got a scalar")
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    if finite:
        check_finite(array, name)
    return array


def _converted(value: Any, name: str) -> FloatArray:
    if hasattr(value, "toarray") and hasattr(value, "nnz"):
        raise TypeError(f"{name} must be dense, got a sparse {type(value).__name__}; convert it with .toarray()")
    if np.ma.isMaskedArray(value):
        raise TypeError(f"{name} must be a plain array, got a masked array; fill it first")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from error
    return np.asarray(array, dtype=_float_dtype(array.dtype, name))


def _float_dtype(dtype: np.dtype[Any], name: str) -> type:
    if dtype.kind in "iub":
        return np.float64
    if dtype.kind == "f":
        return np.float32 if dtype.itemsize <= 4 else np.float64
    raise TypeError(f"{name} must hold real numbers, got dtype {dtype}")


def check_finite(array: FloatArray, name: str) -> None:
    """Raise if the array holds NaN or infinity. A finite sum proves that it does not."""
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum()):
            return
    bad = ~np.isfinite(array)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name} must be finite, got {array[where]} at index {where}")


def common_dtype(*arrays: FloatArray | None) -> type:
    """float32 if all arrays are, else float64."""
    return np.float32 if all(a is None or a.dtype == np.float32 for a in arrays) else np.float64


def as_nonnegative(value: Any, name: str) -> float:
    """A finite real number >= 0."""
    if type(value) is not float and (not isinstance(value, Real) or isinstance(value, _BOOLEANS)):
        raise TypeError(f"{name} must be a real number, got {value!r}")
    number = float(value)
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} must be finite and >= 0, got {value!r}")
    return number


def as_positive(value: Any, name: str) -> float:
    """A finite real number > 0."""
    number = as_nonnegative(value, name)
    if number == 0:
        raise ValueError(f"{name} must be > 0, got {value!r}")
    return number


def as_count(value: Any, name: str, *, least: int = 1) -> int:
    """A whole number >= least."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be >= {least}, got {value!r}")
    return int(value)


def as_weights(value: Any, name: str, n_samples: int, dtype: type) -> FloatArray:
    """One finite weight >= 0 for each sample, from a number or an array of n_samples numbers."""
    if np.ndim(value) == 0:
        weights: FloatArray = np.full(n_samples, as_nonnegative(value, name), dtype=dtype)
    else:
        weights = np.ascontiguousarray(as_float_array(value, name, ndim=1), dtype=dtype)
        if weights.size != n_samples:
            raise ValueError(f"{name} must be a number or hold one for each of {n_samples} samples, got {weights.size}")
        if weights.min() < 0:
            raise ValueError(f"{name} must be >= 0, got {weights.min()!r}")
    check_finite(weights, name)
    return weights


def as_mask(value: Any, shape: tuple[int, ...], name: str = "mask") -> NDArray[np.bool_]:
    """Booleans of one shape."""
    mask = np.asarray(value)
    if mask.dtype != np.bool_:
        raise TypeError(f"{name} must hold booleans, got dtype {mask.dtype}")
    if mask.shape != shape:
        raise ValueError(f"{name} must have the shape of X, {shape}, got {mask.shape}")
    return mask


def as_image_shape(value: Any, n_features: int) -> tuple[int, int]:
    """Height and width of images of `n_features` pixels."""
    sides = tuple(value)
    if len(sides) != 2 or not all(isinstance(side, Integral) for side in sides) or math.prod(sides) != n_features:
        raise ValueError(
            f"image_shape must be (height, width) with height * width = {n_features}, the number of features, "
            f"got {value!r}"
        )
    return int(sides[0]), int(sides[1])


def as_gram(value: Any, name: str = "gram") -> FloatArray:
    """A symmetric matrix."""
    gram = as_float_array(value, name, ndim=2)
    if gram.shape[0] != gram.shape[1]:
        raise ValueError(f"{name} must be square, got shape {gram.shape}")
    largest = asymmetry = 0.0
    for start in range(0, len(gram), _CHECKED_ROWS):
        stop = start + _CHECKED_ROWS
        lower, upper = gram[start:stop, :stop], gram[:stop, start:stop].T
        largest = max(largest, float(lower.max()), -float(lower.min()))
        asymmetry = max(asymmetry, float(np.abs(lower - upper).max()))
    if asymmetry > 100 * float(np.finfo(gram.dtype).eps) * largest:
        raise ValueError(f"{name} must be symmetric, got entries that differ from their mirror by {asymmetry:.3g}")
    return gram


def as_output(out: Any, like: FloatArray, name: str = "out") -> FloatArray:
    """An array that a result of the shape and dtype of `like` can be written to."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, got {type(out).__name__}")
    if out.shape != like.shape or out.dtype != like.dtype:
        raise ValueError(
            f"{name} must have shape {like.shape} and dtype {like.dtype}, got shape {out.shape} and dtype {out.dtype}"
        )
    if not out.flags.writeable:
        raise ValueError(f"{name} must be writeable, got a read-only array")
    return out
