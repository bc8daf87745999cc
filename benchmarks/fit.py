"""The whole fit against the NumPy reference, and what threads bring: `JPLRDL_DATA=folder python benchmarks/fit.py`.

Extended Yale B, 20 images a class: 2640 features, 760 samples, 660 dimensions, 10 rounds (`--images` has the paper's
other sets); with one thread, then with one for each processor, which the reference has through BLAS
alone. Its first three rounds are measured, and the other
seven taken to last as long. Both sides see the same samples and must end these rounds at the same objective. Times are
the processor's with one thread and the wall's with all, as in peers.py.

Then fits, and predictions of all other images, with one thread and with all in turns, by the wall; and how much faster
the machine itself is with all: products that know nothing of each other, one for each thread.
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
    from . import measures, profile_fit
else:
    import measures
    import profile_fit

ROUNDS, MEASURED = 10, 3
SIZES = {size.images: size for size in profile_fit.SIZES}
# Of calls in turns; those that take longer than so many seconds have fewer.
MOST_TURNS, LEAST_TURNS, LONG = 7, 3, 120


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


def gain_of_threads(X: np.ndarray, y: np.ndarray, new: np.ndarray, dimensions: int, n_threads: int) -> str:
    """What all threads bring a fit, beside as many independent products, and predictions by either kind of codes."""
    fits, products = Turns(n_threads), Turns(n_threads)
    while fits.go_on():
        fits.take(lambda count: fitted(X, y, dimensions, count))
        products.take(_multiply)
    busy = np.median([processor / wall for wall, processor in fits.times[n_threads]]) / n_threads
    longer = np.divide(*(np.median([each for _, each in fits.times[count]]) for count in (n_threads, 1)))
    machine = n_threads * np.divide(*products.walls.min(axis=0))
    found = [
        f"{n_threads} threads against one, by the wall, in turns; independent products: {machine:.2f} times",
        f"fit: {fits}; processors are busy for {busy:.0%} of the time and take {longer:.2f} times as long for all",
    ]
    for name, options in {"predict": {}, "predict, ridge codes": {"code_penalty": 0}}.items():
        models = {
            count: JPLRDLClassifier(dimensions, max_iter=1, tol=0.0, n_jobs=count, **options).fit(X, y)
            for count in (1, n_threads)
        }
        predictions = Turns(n_threads)
        while predictions.go_on():
            predictions.take(lambda count, models=models: models[count].predict(new))
        found.append(f"{name}, {len(new)} images: {predictions}")
    return "\n".join(found)


class Turns:
    """Seconds of calls with one thread and with all: by the wall and of the processors."""

    def __init__(self, n_threads: int) -> None:
        self.times: dict[int, list[tuple[float, float]]] = {1: [], n_threads: []}

    def go_on(self) -> bool:
        """For a few turns, and for more if they are short."""
        taken, spent = len(self.times[1]), sum(wall for times in self.times.values() for wall, _ in times)
        return taken < LEAST_TURNS or (taken < MOST_TURNS and spent < LONG)

    def take(self, call: Callable[[int], object]) -> None:
        """One turn with one thread, and one with all."""
        for count, times in self.times.items():
            with threadpool_limits(count, user_api="blas"):
                times.append(_seconds(lambda count=count: call(count)))

    @property
    def walls(self) -> np.ndarray:
        """Of all turns, a row each: with one thread, and with all."""
        return np.array([[wall for wall, _ in times] for times in self.times.values()]).T

    def __str__(self) -> str:
        one, all_ = self.walls.min(axis=0)
        return (
            f"best of {len(self.walls)}: {one:.3g} to {all_:.3g} s, {one / all_:.2f} times as fast; "
            f"in the median {np.median(self.walls[:, 0] / self.walls[:, 1]):.2f} times as fast as the one before"
        )


def _seconds(function: Callable[[], object]) -> tuple[float, float]:
    """By the wall and of the processors."""
    began = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - began[0], time.process_time() - began[1]


def _multiply(n_threads: int) -> None:
    """A dozen products of 1000 x 1000 matrices in each of some threads, BLAS at one in each."""
    A = np.random.default_rng(0).standard_normal((1000, 1000))
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as threads:
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
    images, size = load_images(arguments.images), SIZES[arguments.images]
    train, dimensions = choose_training(images.y, size.n_per_class, 0), size.n_components
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
        print(gain_of_threads(X, y, images.X[~train], dimensions, n_threads), flush=True)
    if found:
        fast, slow = (min(times) for times in zip(*found, strict=True))
        print(f"the faster of each: {fast:.2f} s and {slow:.0f} s, {slow / fast:.1f} times as fast")


if __name__ == "__main__":
    main()
