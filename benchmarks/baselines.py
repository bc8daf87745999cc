"""What a user would call without this library."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from sklearn.decomposition import sparse_encode
from sklearn.linear_model import Lasso


def lasso_cd(samples: np.ndarray, atoms: np.ndarray, penalty: float, gram: np.ndarray) -> np.ndarray:
    """Codes by scikit-learn's sparse_encode, whose tolerance is fixed: they end at a residual of 1e-8 to 3e-8.

    Its default max_iter of 1000 stops half of the samples early, at residuals up to 2e-3.
    """
    return sparse_encode(samples, atoms, gram=gram, algorithm="lasso_cd", alpha=penalty / 2, max_iter=100_000)


def tight_lasso(samples: np.ndarray, atoms: np.ndarray, penalty: float, gram: np.ndarray) -> np.ndarray:
    """The same coordinate descent through scikit-learn's Lasso, at a tolerance that brings the residual below 1e-8."""
    n_features = atoms.shape[1]
    model = Lasso(penalty / 2 / n_features, fit_intercept=False, precompute=gram, tol=1e-10, max_iter=100_000)
    return np.atleast_2d(model.fit(atoms.T, samples.T).coef_)


def shrink_by_svd(V: np.ndarray, t: float) -> np.ndarray:
    """The nuclear proximal map through a full singular value decomposition, multiplying only what is kept."""
    left, singular, right = scipy.linalg.svd(V, full_matrices=False)
    kept = int(np.sum(singular > t))
    return (left[:, :kept] * (singular[:kept] - t)) @ right[:kept]
