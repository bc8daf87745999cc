"""How time and memory grow: `python benchmarks/growth.py --write` measures, fits exponents and draws docs/growth.png.

One size grows by factors of two while the others stay. Times are the processor's, with one thread, the best of three
runs; memory is the peak of what NumPy holds beyond the input, from a run of its own. An exponent is the slope of a
line through the last three points in logarithms. Theory names the exponent of the step that wins in the end; before
that, smaller terms show a smaller one.
"""

from __future__ import annotations

import argparse
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import jplrdl

if __package__:  # asv imports every file of this folder as part of a package
    from . import data, measures, page
else:
    import data
    import measures
    import page

ROUNDS = 3


class Curve(NamedTuple):
    """One call for each value of a size; exponents that theory promises for time and memory."""

    job: str
    variable: str
    values: tuple[int, ...]
    make: Callable[[int], Callable[[], Any]]
    time: str
    memory: str


class Points(NamedTuple):
    curve: Curve
    seconds: list[float]
    bytes: list[int]


def doubled(first: int, count: int) -> tuple[int, ...]:
    return tuple(first * 2**i for i in range(count))


def coding(n_features: int, n_atoms: int, n_samples: int) -> Callable[[], Any]:
    atoms, samples = data.draw(np.random.default_rng(0), n_features, 10, n_atoms, n_samples)
    return lambda: jplrdl.sparse_encode(samples, atoms, 0.05)


def nuclear(n: int) -> Callable[[], Any]:
    V = np.random.default_rng(0).standard_normal((3 * n, n))
    threshold = 0.95 * float(np.linalg.norm(V, 2))
    return lambda: jplrdl.prox_nuclear(V, threshold)


def robust_pca(n: int) -> Callable[[], Any]:
    X = data.corrupted((3 * n, n))
    return lambda: jplrdl.robust_pca(X)


def graph(n_samples: int, n_features: int) -> Callable[[], Any]:
    (X,) = data.draw(np.random.default_rng(0), n_features, 10, n_samples)
    y = np.arange(n_samples) % 10
    return lambda: jplrdl.signed_knn_graph(X, y, 10, 10)


def fit(n_samples: int, n_features: int, n_classes: int, dimensions: int) -> Callable[[], Any]:
    (X,) = data.draw(np.random.default_rng(0), n_features, n_classes, n_samples)
    y = np.arange(n_samples) % n_classes
    model = jplrdl.JPLRDLClassifier(dimensions, n_atoms=8, max_iter=ROUNDS, tol=0.0)
    return lambda: model.fit(X, y)


CURVES = (
    Curve("sparse_encode", "samples N", doubled(250, 5), lambda N: coding(100, 200, N), "1", "1"),
    Curve("sparse_encode", "atoms C", doubled(200, 5), lambda C: coding(300, C, 200), "1 to 2", "2"),
    Curve("prox_nuclear", "columns n of 3n x n", doubled(64, 5), nuclear, "3", "2"),
    Curve("robust_pca", "columns n of 3n x n", doubled(32, 5), robust_pca, "3", "2"),
    Curve("signed_knn_graph", "samples N", doubled(512, 4), lambda N: graph(N, 500), "2", "1"),
    Curve("signed_knn_graph", "features m", doubled(250, 4), lambda m: graph(1000, m), "1", "0"),
    Curve("whole fit", "samples N", doubled(200, 4), lambda N: fit(N, 400, 10, 40), "1 to 2", "1 to 2"),
    Curve("whole fit", "features m", doubled(500, 5), lambda m: fit(300, m, 10, 40), "1", "1"),
    Curve("whole fit", "classes K, 10 samples each", doubled(10, 4), lambda K: fit(10 * K, 400, K, 40), "2 to 3", "2"),
    Curve("whole fit", "dimensions d", doubled(20, 5), lambda d: fit(400, 600, 10, d), "0 to 1", "0 to 1"),
)


def measure(curves: tuple[Curve, ...]) -> Iterator[Points]:
    clock = measures.clock_for(1)
    for curve in curves:
        seconds, peaks = [], []
        for value in curve.values:
            call = curve.make(value)
            call()
            times = []
            for _ in range(3):
                start = clock()
                call()
                times.append(clock() - start)
            seconds.append(min(times))
            tracemalloc.start()
            call()
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        points = Points(curve, seconds, peaks)
        print(row(points), flush=True)
        yield points


def exponent(values: tuple[int, ...], measured: list[float] | list[int]) -> float:
    slope, _ = np.polyfit(np.log(values[-3:]), np.log(measured[-3:]), 1)
    return float(slope)


def row(points: Points) -> str:
    curve, seconds, peaks = points
    return (
        f"| {curve.job} | {curve.variable} = {curve.values[0]} to {curve.values[-1]} "
        f"| {seconds[0]:.3g} to {seconds[-1]:.3g} s | {exponent(curve.values, seconds):.2f} | {curve.time} "
        f"| {peaks[0] / 2**20:.3g} to {peaks[-1] / 2**20:.3g} MiB | {exponent(curve.values, peaks):.2f} "
        f"| {curve.memory} |"
    )


def draw(all_points: list[Points]) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 8), sharex="col", constrained_layout=True)
    for column, kernels in enumerate((True, False)):
        for points in all_points:
            curve = points.curve
            if (curve.job != "whole fit") is not kernels:
                continue
            growth = np.array(curve.values) / curve.values[0]
            name = f"{curve.job}, {curve.variable.partition(',')[0]}"
            for axis, measured in zip(axes[:, column], (points.seconds, np.array(points.bytes) / 2**20), strict=True):
                slope = exponent(curve.values, list(measured))
                axis.loglog(growth, measured, "o-", label=f"{name}: {slope:.2f}")
        axes[0, column].set_title("kernels" if kernels else f"whole fit, {ROUNDS} rounds")
        axes[1, column].set_xlabel("size, as a multiple of the smallest")
    for axis, label in zip(axes[:, 0], ("seconds", "peak memory beyond the input, MiB"), strict=True):
        axis.set_ylabel(label)
    for axis in axes.flat:
        axis.grid(which="both", alpha=0.3)
        axis.legend(fontsize=7, title="fitted exponent", title_fontsize=7)
    figure.savefig(page.DOCS / "growth.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="into docs/performance.md and docs/growth.png")
    options = parser.parse_args()
    measures.hold_one_thread()
    head = [
        "| job | growing | time | exponent | theory | memory | exponent | theory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(head))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        all_points = list(measure(CURVES))
    if options.write:
        page.write("growth", "\n".join([*head, *map(row, all_points)]))
        draw(all_points)


if __name__ == "__main__":
    main()
