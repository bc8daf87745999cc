"""The whole fit against the NumPy reference, at the paper's size: `JPLRDL_DATA=folder python benchmarks/fit.py`.

Extended Yale B, 20 images a class: 2640 features, 760 samples, 660 dimensions, 10 rounds (`--images ar`: 2200 features,
900 samples and dimensions); with one thread, then with one for each processor, which the reference has through BLAS
alone. Its first three rounds are measured, and the other
seven taken to last as long. Both sides see the same samples and must end these rounds at the same objective. Times are
the processor's with one thread and the wall's with all, as in peers.py; beside them the wall's with one, in turns with
all, and how much faster the machine itself is with all: products that know nothing of each other, one for each thread.
What the fit loses of the processors' time, because one waits for another, is told apart from what the machine takes:
how much longer the same work takes when all processors share the way to memory.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

from jplrdl import JPLRDLClassifier, reference
from jplrdl.datasets import choose_training, load_images

if __package__:  # asv imports every file of this folder as part of a package
    from . import measures
else:
    import measures

ROUNDS, MEASURED = 10, 3
# images of each class, and dimensions
SIZES = {"extended_yale_b": (20, 660), "ar": (9, 900)}


def fitted(X: np.ndarray, y: np.ndarray, dimensions: int, n_threads: int) -> JPLRDLClassifier:
    """A model after all rounds."""
    return JPLRDLClassifier(dimensions, max_iter=ROUNDS, tol=0.0, n_jobs=n_threads).fit(X, y)


def ours(X: np.ndarray, y: np.ndarray, dimensions: int, n_threads: int) -> tuple[float, JPLRDLClassifier]:
    """The best of five fits, in seconds, and the model."""
    clock, times = measures.clock_for(n_threads), []
    for _ in range(5):
        began = clock()
        model = fitted(X, y, dimensions, n_threads)
        times.append(clock() - began)
    return min(times), model


def gain_of_threads(X: np.ndarray, y: np.ndarray, dimensions: int, n_threads: int) -> str:
    """Fits with one thread and with all in turns, by the wall, and as many independent products as threads."""
    fits: dict[int, list[tuple[float, float]]] = {1: [], n_threads: []}
    products: dict[int, list[tuple[float, float]]] = {1: [], n_threads: []}
    for _ in range(7):
        for count in fits:
            with threadpool_limits(count, user_api="blas"):
                fits[count].append(_seconds(lambda count=count: fitted(X, y, dimensions, count)))
            with threadpool_limits(1, user_api="blas"):
                products[count].append(_seconds(lambda count=count: _multiply(count)))
    one, all_ = min(fits[1])[0], min(fits[n_threads])[0]
    machine = n_threads * min(products[1])[0] / min(products[n_threads])[0]
    neighbours = np.median([alone[0] / shared[0] for alone, shared in zip(fits[1], fits[n_threads], strict=True)])
    busy = np.median([processor / wall for wall, processor in fits[n_threads]]) / n_threads
    longer = np.median([processor for _, processor in fits[n_threads]]) / np.median([each for _, each in fits[1]])
    return (
        f"{n_threads} threads against one, by the wall, best of seven: {one:.2f} to {all_:.2f} s, "
        f"{one / all_:.2f} times as fast; independent products: {machine:.2f} times\n"
        f"in the median, {neighbours:.2f} times as fast as the fit before, "
        f"processors are busy for {busy:.0%} of the time and take {longer:.2f} times as long for all"
    )


def _seconds(function: Callable[[], object]) -> tuple[float, float]:
    """By the wall and of the processors."""
    began = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - began[0], time.process_time() - began[1]


def _multiply(n_threads: int) -> None:
    """A dozen products of 1000 x 1000 matrices in each of some threads."""
    A = np.random.default_rng(0).standard_normal((1000, 1000))
    with ThreadPoolExecutor(n_threads) as threads:
        list(threads.map(lambda _: [A @ A for _ in range(12)], range(n_threads)))


def theirs(X: np.ndarray, y: np.ndarray, dimensions: int, n_threads: int) -> tuple[float, list[float]]:
    """Seconds of the reference for all rounds, and the objective after each block of those that were measured.

    The best of two starts without rounds, and of two with some.
    """
    clock, best = measures.clock_for(n_threads), {}
    for rounds in 2 * (0, MEASURED):
        began = clock()
        truth = reference.fit(X, y, dimensions, max_iter=rounds, tol=0.0)
        best[rounds] = min(clock() - began, best.get(rounds, np.inf))
    start, some = best.values()
    return start + ROUNDS * (some - start) / MEASURED, truth.history["objective"][: 1 + 3 * MEASURED]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", action="store_true", help="leave the reference out")
    parser.add_argument("--images", choices=list(SIZES), default="extended_yale_b")
    arguments = parser.parse_args()
    images, (n_per_class, dimensions) = load_images(arguments.images), SIZES[arguments.images]
    train = choose_training(images.y, n_per_class, 0)
    X, y = images.X[train], images.y[train]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = []
    for n_threads in (1, os.cpu_count() or 1):
        with threadpool_limits(n_threads, user_api="blas"):
            seconds, model = ours(X, y, dimensions, n_threads)
            if n_threads == 1:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                print(f"peak memory {peak / 2**20:.2f} GiB, {(peak - before) / 2**20:.2f} of it by the fit")
            line = f"{n_threads} threads: this library {seconds:.2f} s for {model.n_iter_} rounds"
            if not arguments.ours:
                slow, objective = theirs(X, y, dimensions, n_threads)
                found.append((seconds, slow))
                same = model.history_["objective"][: len(objective)]
                apart = np.max(np.abs(np.array(objective) / np.array(same) - 1))
                line += f", reference {slow:.0f} s: {slow / seconds:.1f} times as fast; objectives apart by {apart:.0e}"
            print(line, flush=True)
    if n_threads > 1:
        print(gain_of_threads(X, y, dimensions, n_threads), flush=True)
    if found:
        fast, slow = (min(times) for times in zip(*found, strict=True))
        print(f"the faster of each: {fast:.2f} s and {slow:.0f} s, {slow / fast:.1f} times as fast")


if __name__ == "__main__":
    main()
