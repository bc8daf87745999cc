"""How good an answer is, found without the kernels; the shortest time of a job; and the one thread for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

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


def lasso_gap(samples: np.ndarray, atoms: np.ndarray, penalty: float, codes: np.ndarray) -> float:
    """The largest duality gap of |x - aD|^2 + penalty |a|_1, as a share of |x|^2, in float64.

    The residual r = x - aD, scaled by s to 2 |Dr| s <= penalty, bounds the minimum from below by |x|^2 - |x - sr|^2.
    """
    x, D, a = (array.astype(np.float64) for array in (samples, atoms, codes))
    r = x - a @ D
    correlation = np.abs(r @ D.T).max(axis=1)
    s = np.minimum(1, penalty / 2 / np.maximum(correlation, np.finfo(float).tiny))[:, None]
    size = (x**2).sum(axis=1)
    primal = (r**2).sum(axis=1) + penalty * np.abs(a).sum(axis=1)
    dual = size - ((x - s * r) ** 2).sum(axis=1)
    return float(((primal - dual) / size).max())


def clock_for(n_threads: int) -> Callable[[], float]:
    """With one thread the processor's time, which no other process can lengthen by its own; else the wall's."""
    return time.process_time if n_threads == 1 else time.perf_counter


def best_time(job: Callable[[], Any], seconds: float, clock: Callable[[], float] = time.perf_counter) -> float:
    """The shortest of all runs within `seconds`."""
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = clock()
        job()
        best = min(best, clock() - start)
    return best
