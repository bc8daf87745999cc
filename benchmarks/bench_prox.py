"""Proximal maps of a 2640 x 760 matrix, at one BLAS thread (set by threadpoolctl and verified in every setup)."""

from __future__ import annotations

import numpy as np

import jplrdl
from jplrdl import reference

from . import baselines, data, measures


class _Map:
    params = (("float64", "float32"),)
    param_names = ("dtype",)
    number, repeat, rounds, warmup_time, timeout = 5, 10, 1, 0.1, 60

    def prepare(self, V: np.ndarray, t: float) -> None:
        measures.hold_one_thread()
        self.V, self.t = V, t
        # A copy, not np.empty: the first touch of fresh pages would cost more than the map.
        self.out = V.copy()


class L1(_Map):
    """Into a preallocated array; beside it a plain copy, the least that any map can cost."""

    def setup(self, dtype: str) -> None:
        self.prepare(data.noise(dtype), data.l1_threshold())

    def time_prox_l1(self, dtype: str) -> None:
        jplrdl.prox_l1(self.V, self.t, out=self.out)

    def time_two_threads(self, dtype: str) -> None:
        jplrdl.prox_l1(self.V, self.t, out=self.out, n_jobs=2)

    def time_copy(self, dtype: str) -> None:
        np.copyto(self.out, self.V)

    def time_reference(self, dtype: str) -> None:
        reference.prox_l1(self.V, self.t)

    def track_error(self, dtype: str) -> float:
        """Relative, against the reference."""
        return measures.relative_error(jplrdl.prox_l1(self.V, self.t), reference.prox_l1(self.V, self.t))

    def track_share_of_nonzeros(self, dtype: str) -> float:
        return np.count_nonzero(jplrdl.prox_l1(self.V, self.t)) / self.V.size


class L21(_Map):
    """Into a preallocated array, half of the groups vanish; L1.time_copy is the copy to compare with."""

    params = (("float64", "float32"), (0, 1))
    param_names = ("dtype", "axis")

    def setup(self, dtype: str, axis: int) -> None:
        self.prepare(data.noise(dtype), data.l21_threshold(axis))

    def time_prox_l21(self, dtype: str, axis: int) -> None:
        jplrdl.prox_l21(self.V, self.t, axis, out=self.out)

    def time_two_threads(self, dtype: str, axis: int) -> None:
        jplrdl.prox_l21(self.V, self.t, axis, out=self.out, n_jobs=2)

    def time_reference(self, dtype: str, axis: int) -> None:
        reference.prox_l21(self.V, self.t, axis)

    def track_error(self, dtype: str, axis: int) -> float:
        """Relative, against the reference."""
        answer, truth = (map_(self.V, self.t, axis) for map_ in (jplrdl.prox_l21, reference.prox_l21))
        return measures.relative_error(answer, truth)

    def track_share_of_groups_left(self, dtype: str, axis: int) -> float:
        return float(jplrdl.prox_l21(self.V, self.t, axis).any(axis=axis).mean())


class Nuclear(_Map):
    """60 of 760 singular values are kept; beside it the plain route through scipy.linalg.svd."""

    number, repeat, warmup_time = 1, 3, 0

    def setup(self, dtype: str) -> None:
        self.prepare(data.images(dtype), data.nuclear_threshold())

    def time_prox_nuclear(self, dtype: str) -> None:
        jplrdl.prox_nuclear(self.V, self.t, out=self.out)

    def time_svd(self, dtype: str) -> None:
        baselines.shrink_by_svd(self.V, self.t)

    def time_reference(self, dtype: str) -> None:
        reference.prox_nuclear(self.V, self.t)

    def track_error(self, dtype: str) -> float:
        """Relative, against the decomposition in float64 of the same matrix."""
        truth = baselines.shrink_by_svd(self.V.astype(np.float64), self.t)
        return measures.relative_error(jplrdl.prox_nuclear(self.V, self.t)[0], truth)

    def track_rank(self, dtype: str) -> int:
        return jplrdl.prox_nuclear(self.V, self.t)[1]
