"""Proximal maps: argmin_U |U - V|_F^2 / 2 + t |U|."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._validation import FloatArray


def prox_l1(V: ArrayLike, t: float) -> FloatArray:
    """sign(v) max(|v| - t, 0)"""
    v: FloatArray = np.asarray(V)
    return np.sign(v) * np.maximum(np.abs(v) - t, 0)


def prox_l21(V: ArrayLike, t: float, axis: int = 0) -> FloatArray:
    """max(1 - t / |v|_2, 0) v along an axis"""
    v: FloatArray = np.asarray(V)
    norms = np.linalg.norm(v, axis=axis, keepdims=True)
    return v * np.maximum(1 - t / np.where(norms > 0, norms, 1), 0)


def prox_nuclear(V: ArrayLike, t: float) -> tuple[FloatArray, int]:
    """max(s - t, 0) for each singular value s, and how many are left"""
    U, s, Wt = np.linalg.svd(np.asarray(V), full_matrices=False)
    return (U * np.maximum(s - t, 0)) @ Wt, int(np.sum(s > t))
