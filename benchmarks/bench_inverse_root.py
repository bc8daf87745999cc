"""K^-1/2 of a Gram matrix, as every projection step needs one; BLAS at one thread (verified in every setup)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, lapack

from jplrdl.inverse_root import inverse_root
from jplrdl.tridiagonal import reduce_symmetric

from . import measures


class InverseRoot:
    """Of n x n matrices with a condition number of about a thousand."""

    params = ((660, 900), (1, 2))
    param_names = ("n", "n_jobs")
    number, repeat, rounds, warmup_time = 1, 10, 1, 0

    def setup(self, n: int, n_jobs: int) -> None:
        measures.hold_one_thread()
        A = np.random.default_rng(0).standard_normal((n + 100, n))
        self.K = np.asfortranarray(A.T @ A)

    def time_inverse_root(self, n: int, n_jobs: int) -> None:
        inverse_root(self.K.T.copy(), 1e-12, n_jobs=n_jobs)

    def time_eigenvectors(self, n: int, n_jobs: int) -> None:
        """LAPACK's way, which has no threads of ours."""
        values, V = eigh(self.K, driver="evd", check_finite=False)
        (V / np.sqrt(values)) @ V.T

    def time_reduction(self, n: int, n_jobs: int) -> None:
        """To tridiagonal form, a part of the first."""
        reduce_symmetric(self.K.T.copy(), n_jobs=n_jobs)

    def time_lapack_reduction(self, n: int, n_jobs: int) -> None:
        """LAPACK's, which has one thread."""
        lapack.dsytrd(self.K, lower=0, lwork=64 * n)

    def track_error(self, n: int, n_jobs: int) -> float:
        root = inverse_root(self.K.T.copy(), 1e-12, n_jobs=n_jobs)
        assert root is not None
        return float(np.abs(root.matrix @ self.K @ root.matrix - np.eye(n)).max())
