"""Some eigenvectors of a symmetric matrix, as first projections need them; BLAS at one thread (verified in setup)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from jplrdl.tridiagonal import some_eigenvectors

from . import measures


class SomeEigenvectors:
    """Of the smallest eigenvalues of n x n matrices, a quarter or half of them, or of the largest tenth."""

    params = ((760, 900), ("first quarter", "first half", "last tenth"), (1, 2))
    param_names = ("n", "wanted", "n_jobs")
    number, repeat, rounds, warmup_time = 1, 10, 1, 0

    def setup(self, n: int, wanted: str, n_jobs: int) -> None:
        measures.hold_one_thread()
        A = np.random.default_rng(0).standard_normal((n + 100, n))
        self.K = A.T @ A
        share = {"first quarter": (0, n // 4), "first half": (0, n // 2), "last tenth": (n - n // 10, n)}
        self.wanted = slice(*share[wanted])

    def time_some_eigenvectors(self, n: int, wanted: str, n_jobs: int) -> None:
        some_eigenvectors(self.K.copy(), self.wanted, n_jobs=n_jobs)

    def time_lapack_all(self, n: int, wanted: str, n_jobs: int) -> None:
        """LAPACK's divide and conquer, which has no threads of ours."""
        eigh(self.K.T, driver="evd", check_finite=False)

    def time_lapack_some(self, n: int, wanted: str, n_jobs: int) -> None:
        """LAPACK's relatively robust representations."""
        eigh(self.K.T, subset_by_index=(self.wanted.start, self.wanted.stop - 1), check_finite=False)

    def track_error(self, n: int, wanted: str, n_jobs: int) -> float:
        V = some_eigenvectors(self.K.copy(), self.wanted, n_jobs=n_jobs)
        values = np.linalg.eigvalsh(self.K)[self.wanted]
        return float(np.abs(self.K @ V - V * values).max() / values.max())
