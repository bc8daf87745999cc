"""Sparse coding, at one BLAS thread (set by threadpoolctl and verified in every setup)."""

from __future__ import annotations

import jplrdl
from jplrdl import reference

from . import baselines, data, measures

SUBSAMPLE = 50


class Coding:
    """sparse_encode on all samples, the Gram matrix included."""

    params = (tuple(data.CODING_SIZES), ("float64", "float32"))
    param_names = ("size", "dtype")
    number, repeat, rounds, warmup_time, timeout = 1, 5, 1, 0, 120

    def setup(self, size: str, dtype: str) -> None:
        measures.hold_one_thread()
        self.samples, self.atoms, self.penalty = data.coding_problem(size, dtype)

    def encode(self) -> tuple:
        return jplrdl.sparse_encode(self.samples, self.atoms, self.penalty, return_info=True)

    def time_sparse_encode(self, size: str, dtype: str) -> None:
        self.encode()

    def track_residual_reported(self, size: str, dtype: str) -> float:
        """The largest residual of the optimality conditions, as CodingInfo has it."""
        return float(self.encode()[1].residual.max())

    def track_residual_recomputed(self, size: str, dtype: str) -> float:
        """The same from the codes alone, in float64, without a Gram matrix."""
        return measures.lasso_residual(self.samples, self.atoms, self.penalty, self.encode()[0])

    def track_samples_not_converged(self, size: str, dtype: str) -> int:
        return int((self.encode()[1].status != 0).sum())

    def track_mean_nonzeros(self, size: str, dtype: str) -> float:
        return measures.mean_nonzeros(self.encode()[0])


class _Subsample:
    params = (tuple(data.CODING_SIZES),)
    param_names = ("size",)
    number, repeat, rounds, warmup_time, timeout = 1, 3, 1, 0, 120

    def setup(self, size: str) -> None:
        measures.hold_one_thread()
        samples, self.atoms, self.penalty = data.coding_problem(size)
        self.samples = samples[:SUBSAMPLE]
        self.gram = self.atoms @ self.atoms.T
        self.problem = self.samples, self.atoms, self.penalty


class First50Samples(_Subsample):
    """The first 50 samples in float64, the Gram matrix given: for all of them the reference would take a minute.

    Nothing is scaled up: compare these times with each other.
    """

    def time_sparse_encode(self, size: str) -> None:
        jplrdl.sparse_encode(*self.problem, gram=self.gram)

    def time_reference(self, size: str) -> None:
        reference.sparse_encode(*self.problem, gram=self.gram)

    def track_reference_residual(self, size: str) -> float:
        codes = reference.sparse_encode(*self.problem, gram=self.gram)
        return measures.lasso_residual(*self.problem, codes)


class First50SamplesByScikitLearn(_Subsample):
    """scikit-learn's coordinate descent on the same 50 samples: at its fixed tolerance, and below 1e-8 (tight)."""

    params = (("S", "M"),)

    def time_lasso_cd(self, size: str) -> None:
        baselines.lasso_cd(*self.problem, gram=self.gram)

    def time_tight_lasso(self, size: str) -> None:
        baselines.tight_lasso(*self.problem, gram=self.gram)

    def track_lasso_cd_residual(self, size: str) -> float:
        return measures.lasso_residual(*self.problem, baselines.lasso_cd(*self.problem, gram=self.gram))

    def track_tight_lasso_residual(self, size: str) -> float:
        return measures.lasso_residual(*self.problem, baselines.tight_lasso(*self.problem, gram=self.gram))
