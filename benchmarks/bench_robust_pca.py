"""Robust PCA, at one BLAS thread (set by threadpoolctl and verified in every setup)."""

from __future__ import annotations

import numpy as np

import jplrdl
from jplrdl import reference
from jplrdl.problem import low_rank_parts

from . import data, measures


class _Corrupted:
    params = (data.ROBUST_PCA_SHAPES, ("float64", "float32"))
    param_names = ("shape", "dtype")
    number, repeat, rounds, warmup_time, timeout = 1, 3, 1, 0, 180

    def setup(self, shape: tuple[int, int], dtype: str) -> None:
        measures.hold_one_thread()
        self.X = data.corrupted(shape, dtype)


class RobustPCA(_Corrupted):
    """A tenth of the elements saturated."""

    def time_robust_pca(self, shape: tuple[int, int], dtype: str) -> None:
        jplrdl.robust_pca(self.X)

    def track_relative_gap(self, shape: tuple[int, int], dtype: str) -> float:
        """The duality gap as a share of the objective."""
        result = jplrdl.robust_pca(self.X)
        return result.gap / result.objective

    def track_feasibility(self, shape: tuple[int, int], dtype: str) -> float:
        """|X - L - E| / |X|, from the answer itself."""
        result = jplrdl.robust_pca(self.X)
        return measures.relative_error(result.low_rank.astype(np.float64) + result.sparse, self.X)

    def track_rank(self, shape: tuple[int, int], dtype: str) -> int:
        return jplrdl.robust_pca(self.X).rank

    def track_share_of_nonzeros(self, shape: tuple[int, int], dtype: str) -> float:
        return np.count_nonzero(jplrdl.robust_pca(self.X).sparse) / self.X.size


class Reference(_Corrupted):
    """To the same feasibility; once only, it takes long."""

    repeat = 1

    def time_reference(self, shape: tuple[int, int], dtype: str) -> None:
        reference.robust_pca(self.X, tol=1e-7 if dtype == "float64" else 1e-5)


class Classes:
    """A hundred classes of seven samples, one in each thread."""

    params = ((1, 2),)
    param_names = ("n_jobs",)
    number, repeat, rounds, warmup_time, timeout = 1, 10, 1, 0.1, 60

    def setup(self, n_jobs: int) -> None:
        measures.hold_one_thread()
        (self.X,) = data.draw(np.random.default_rng(4), 300, 100, 700)
        self.y = np.arange(700) % 100

    def time_low_rank_parts(self, n_jobs: int) -> None:
        low_rank_parts(self.X, self.y, n_jobs=n_jobs)
