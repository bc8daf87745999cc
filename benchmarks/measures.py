"""How good an answer is, found without the kernels; and the one thread that all times are measured with."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits


def hold_one_thread() -> None:
    """Every BLAS and OpenMP library to one thread from now on; raise if one does not obey.

    Not by environment variables: asv has loaded NumPy, and with it a BLAS, before it imports a benchmark.
    """
    threadpool_limits(1)
    busy = [f"{pool['prefix']} {pool['num_threads']}" for pool in threadpool_info() if pool["num_threads"] > 1]
    if busy:
        raise RuntimeError(f"every thread pool must have one thread, got {', '.join(busy)}")


def lasso_residual(samples: np.ndarray, atoms: np.ndarray, penalty: float, codes: np.ndarray) -> float:
    """What is left of the optimality conditions at worst, in float64 and without a Gram matrix.

    The gradient 2 (aD - x) D' must be -penalty sign(a) on the support of a, and within +-penalty off it.
    """
    x, D, a = (array.astype(np.float64) for array in (samples, atoms, codes))
    gradient = 2 * (a @ D - x) @ D.T
    on_support = np.abs(gradient + penalty * np.sign(a))[a != 0]
    off_support = np.abs(gradient[a == 0]) - penalty
    return float(max(np.max(on_support, initial=0.0), np.max(off_support, initial=0.0)))


def mean_nonzeros(codes: np.ndarray) -> float:
    return float(np.count_nonzero(codes) / len(codes))


def relative_error(answer: np.ndarray, truth: np.ndarray) -> float:
    return float(np.linalg.norm(answer - truth) / np.linalg.norm(truth))
