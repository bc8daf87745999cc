"""Every goal for speed, measured in one run: `python benchmarks/table.py` prints a Markdown table.

The two sides of a row take turns, so that a busy machine slows both, and the best time of each counts. BLAS and OpenMP
have one thread. Where a baseline would take minutes, both sides get the same subsample, which the row names; nothing
is scaled up.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_info

import jplrdl
from jplrdl import reference

if __package__:  # asv imports every file of this folder as part of a package
    from . import baselines, data, measures
else:
    import baselines
    import data
    import measures

Job = Callable[[], Any]

SUBSAMPLE = {"S": 200, "M": 100, "L": 50}
ROUNDS, QUICK_ROUNDS = 5, 2
LEAST_SECONDS = 1.0  # for all rounds of a row: short jobs get more of them


class Row(NamedTuple):
    """A line of the table; the goal is a least speed-up or a largest multiple of the baseline's time."""

    job: str
    ours: float
    baseline: str = ""
    theirs: float = np.nan
    reached: str = ""
    at_least: float | None = None
    at_most: float | None = None


def best_times(rounds: int, *jobs: Job) -> list[float]:
    """The shortest time of each job in seconds, the jobs taking turns."""
    times: list[list[float]] = [[] for _ in jobs]
    begin = time.perf_counter()
    while len(times[0]) < rounds or time.perf_counter() - begin < LEAST_SECONDS:
        for job, its_times in zip(jobs, times, strict=True):
            start = time.perf_counter()
            job()
            its_times.append(time.perf_counter() - start)
    return [min(its_times) for its_times in times]


def whole_rows(sizes: list[str], rounds: int) -> Iterator[Row]:
    """All samples and the Gram matrix: what a user waits for. No baseline ends in reasonable time."""
    for size in sizes:
        problem = data.coding_problem(size)
        codes, info = jplrdl.sparse_encode(*problem, return_info=True)
        (ours,) = best_times(rounds, lambda problem=problem: jplrdl.sparse_encode(*problem))
        reached = (
            f"residual {measures.lasso_residual(*problem, codes):.0e}, reported {info.residual.max():.0e}; "
            f"{measures.mean_nonzeros(codes):.0f} non-zeros a code"
        )
        yield Row(f"sparse_encode {size}, all {len(codes)} samples, Gram matrix included", ours, reached=reached)


def reference_rows(sizes: list[str], rounds: int) -> Iterator[Row]:
    """Feature-sign search against the same algorithm in NumPy."""
    for size in sizes:
        samples, atoms, penalty = data.coding_problem(size)
        samples = samples[: SUBSAMPLE[size]]
        problem = atoms @ atoms.T, samples @ atoms.T, penalty
        ours, theirs = best_times(
            rounds,
            lambda problem=problem: jplrdl.feature_sign_search(*problem),
            lambda problem=problem: reference.feature_sign_search(*problem),
        )
        residuals = [
            measures.lasso_residual(samples, atoms, penalty, package.feature_sign_search(*problem))
            for package in (jplrdl, reference)
        ]
        yield Row(
            f"feature_sign_search {size}, {len(samples)} samples", ours, "NumPy reference", theirs,
            "residual {:.0e}; baseline {:.0e}".format(*residuals), at_least=30 if size == "M" else None,
        )  # fmt: skip


def scikit_learn_rows(sizes: list[str], rounds: int) -> Iterator[Row]:
    """Coding against scikit-learn's coordinate descent, as sparse_encode offers it and at a tighter tolerance."""
    for size in sizes:
        samples, atoms, penalty = data.coding_problem(size)
        problem, gram = (samples[: SUBSAMPLE[size]], atoms, penalty), atoms @ atoms.T
        jobs = [
            lambda function=function, problem=problem, gram=gram: function(*problem, gram=gram)
            for function in (jplrdl.sparse_encode, baselines.lasso_cd, baselines.tight_lasso)
        ]
        ours, *others = best_times(rounds, *jobs)
        (residual, _), *reached = (residual_and_warnings(job, problem) for job in jobs)
        names = "scikit-learn sparse_encode(lasso_cd)", "scikit-learn Lasso(tol=1e-10)"
        for name, theirs, (baseline_residual, complaints) in zip(names, others, reached, strict=True):
            yield Row(
                f"sparse_encode {size}, {SUBSAMPLE[size]} samples, Gram matrix given", ours, name, theirs,
                f"residual {residual:.0e}; baseline {baseline_residual:.0e}{complaints}",
                at_least=1 if size == "M" else None,
            )  # fmt: skip


def residual_and_warnings(job: Job, problem: tuple[np.ndarray, np.ndarray, float]) -> tuple[float, str]:
    """The residual of a coder's answer, and how often it said itself that it did not converge."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        residual = measures.lasso_residual(*problem, job())
    return residual, f" ({len(caught)} warnings: {caught[0].category.__name__})" if caught else ""


def map_rows(rounds: int) -> Iterator[Row]:
    """Maps that move memory and little else, into a preallocated array, against a copy into the same array."""
    for dtype in ("float64", "float32"):
        V = data.noise(dtype)
        out = V.copy()
        for name, arguments in (
            ("prox_l1", (data.l1_threshold(),)),
            ("prox_l21", (data.l21_threshold(0), 0)),
            ("prox_l21", (data.l21_threshold(1), 1)),
        ):
            fast, plain = getattr(jplrdl, name), getattr(reference, name)
            ours, theirs = best_times(
                rounds,
                lambda fast=fast, V=V, arguments=arguments, out=out: fast(V, *arguments, out=out),
                lambda V=V, out=out: np.copyto(out, V),
            )
            error = measures.relative_error(fast(V, *arguments), plain(V, *arguments))
            axis = f", axis {arguments[1]}" if len(arguments) > 1 else ""
            yield Row(
                f"{name}{axis}, {shape(V)} {dtype}", ours, "numpy.copyto", theirs,
                f"error {error:.0e} (reference)", at_most=1.5,
            )  # fmt: skip


def nuclear_rows(rounds: int) -> Iterator[Row]:
    for dtype in ("float64", "float32"):
        V, t = data.images(dtype), data.nuclear_threshold()
        out = V.copy()
        ours, theirs = best_times(
            rounds,
            lambda V=V, t=t, out=out: jplrdl.prox_nuclear(V, t, out=out),
            lambda V=V, t=t: baselines.shrink_by_svd(V, t),
        )
        answer, rank = jplrdl.prox_nuclear(V, t)
        error = measures.relative_error(answer, baselines.shrink_by_svd(V.astype(np.float64), t))
        yield Row(
            f"prox_nuclear, {rank} of {min(V.shape)} kept, {shape(V)} {dtype}", ours, "scipy.linalg.svd", theirs,
            f"error {error:.0e} (float64 SVD)", at_least=3,
        )  # fmt: skip


def robust_pca_rows(rounds: int) -> Iterator[Row]:
    for size in data.ROBUST_PCA_SHAPES:
        X = data.corrupted(size)
        result, (low_rank, _, n_iter) = jplrdl.robust_pca(X), reference.robust_pca(X)
        ours, theirs = best_times(rounds, lambda X=X: jplrdl.robust_pca(X), lambda X=X: reference.robust_pca(X))
        reached = (
            f"gap {result.gap / result.objective:.0e} of the objective, feasibility {result.feasibility:.0e}, "
            f"{result.n_iter} iterations; baseline {n_iter}, low rank differs by "
            f"{measures.relative_error(result.low_rank, low_rank):.0e}"
        )
        yield Row(f"robust_pca, {shape(X)}", ours, "NumPy reference", theirs, reached)


def graph_rows(rounds: int) -> Iterator[Row]:
    k_same, k_other = data.NEIGHBORS_SAME, data.NEIGHBORS_OTHER
    small, medium, _ = data.GRAPH_SIZES
    for n_samples, name, baseline in (
        (small, "NumPy reference", lambda X, y: reference.signed_knn_graph(X, y, k_same, k_other)),
        (medium, "scikit-learn kneighbors_graph", lambda X, y: kneighbors_graph(X, k_same + k_other)),
    ):
        X, y = data.labelled(n_samples)
        jobs = [lambda X=X, y=y: jplrdl.signed_knn_graph(X, y, k_same, k_other), lambda X=X, y=y, f=baseline: f(X, y)]
        ours, theirs = best_times(rounds, *jobs)
        graph, other = jobs[0](), jobs[1]()
        differing = f"{(graph != other).nnz} edges differ" if n_samples == small else "baseline: no signs, one way"
        yield Row(f"signed_knn_graph, {shape(X)}", ours, name, theirs, f"{graph.nnz} edges, {differing}")


def shape(array: np.ndarray) -> str:
    return " x ".join(map(str, array.shape))


def seconds(t: float) -> str:
    if np.isnan(t):
        return ""
    return f"{t:.2f} s" if t >= 1 else f"{1e3 * t:.3g} ms"


def line(row: Row) -> str:
    goal, ratio = "", ""
    if row.at_most is not None:
        multiple = row.ours / row.theirs
        ratio = f"{multiple:.2f} of the copy"
        goal = f"<= {row.at_most:g}: {'met' if multiple <= row.at_most else 'MISSED'}"
    elif not np.isnan(row.theirs):
        faster = row.theirs / row.ours
        ratio = f"{faster:.3g} times as fast"
        if row.at_least is not None:
            goal = f">= {row.at_least:g}: {'met' if faster >= row.at_least else 'MISSED'}"
    cells = (row.job, seconds(row.ours), row.baseline, seconds(row.theirs), ratio, goal, row.reached)
    return f"| {' | '.join(cells)} |"


def machine() -> str:
    """What the numbers depend on."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("jplrdl", "numpy", "scipy", "scikit-learn"))
    pools = ", ".join(
        f"{pool['prefix']} {pool['version'] or ''} ({pool.get('architecture', pool['user_api'])}): "
        f"{pool['num_threads']} thread"
        for pool in threadpool_info()
    )
    python = f"Python {platform.python_version()}"
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs; {python}, {packages}; {pools}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", nargs="+", choices=list(data.CODING_SIZES), default=list(data.CODING_SIZES))
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROUNDS} rounds instead of {ROUNDS}")
    options = parser.parse_args()
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    measures.hold_one_thread()
    print(f"{machine()}. Best of {rounds} rounds or more.\n", flush=True)
    print("| job | this library | baseline | its time | ratio | goal | reached |\n|---|---|---|---|---|---|---|")
    for rows in (
        whole_rows(options.size, rounds),
        reference_rows(options.size, rounds),
        scikit_learn_rows(options.size, rounds),
        map_rows(rounds),
        nuclear_rows(rounds),
        robust_pca_rows(rounds),
        graph_rows(rounds),
    ):
        for row in rows:
            print(line(row), flush=True)


if __name__ == "__main__":
    main()
