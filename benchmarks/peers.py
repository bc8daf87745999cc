"""This library and its peers side by side: `pip install ".[bench]" && python benchmarks/peers.py --write`.

One process, the same arrays, the programs of a job taking turns; first with one thread for BLAS, OpenMP and the
programs themselves, then with all. Every answer is judged; one that misses the accuracy is shown but not counted. The
limits (rate of a matrix product, time of a copy) are measured in the same run. Times are the processor's with one
thread and the wall's with all. `--write` puts the tables into
docs/performance.md between its two marks and leaves the rest of that file alone.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

if __package__:  # asv imports every file of this folder as part of a package
    from . import contest, data, measures, peer_kernels, peer_models
else:
    import contest
    import data
    import measures
    import peer_kernels
    import peer_models

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- peers: begin -->", "<!-- peers: end -->"
PACKAGES = (
    "jplrdl", "numpy", "scipy", "scikit-learn", "spams-bin", "celer", "skglm", "pyproximal", "tensorly", "sporco",
    "pyrpca", "dictlearn", "dictol",
)  # fmt: skip
ROUNDS = 5


def measure_machine(n_threads: int) -> peer_kernels.Machine:
    """The rate of a 2000 x 2000 x 2000 product and the time of a copy, in both precisions."""
    flop, copy = {}, {}
    for dtype in ("float64", "float32"):
        A = np.random.default_rng(0).standard_normal((2000, 2000)).astype(dtype)
        V = data.noise(dtype)
        out = V.copy()
        clock = measures.clock_for(n_threads)
        flop[dtype] = measures.best_time(lambda A=A: A @ A, 4.0, clock) / (2 * 2000.0**3)
        copy[dtype] = measures.best_time(lambda V=V, out=out: np.copyto(out, V), 2.0, clock)
    return peer_kernels.Machine(n_threads, flop, copy)


def jobs(machine: peer_kernels.Machine, options: argparse.Namespace) -> Iterator[contest.Job]:
    shelves: dict[str, Callable[[], Iterator[contest.Job]]] = {
        "coding": lambda: peer_kernels.coding_jobs(machine, options.size),
        "maps": lambda: peer_kernels.map_jobs(machine),
        "nuclear": lambda: peer_kernels.nuclear_jobs(machine),
        "robust_pca": lambda: peer_models.robust_pca_jobs(machine),
        "graph": lambda: peer_kernels.graph_jobs(machine),
        "fit": lambda: peer_models.fit_jobs(machine),
    }
    for name, shelf in shelves.items():
        if name in options.job:
            yield from shelf()


def report(n_threads: int, options: argparse.Namespace) -> list[str]:
    """A summary of all jobs and a table of each, with `n_threads`."""
    with threadpool_limits(n_threads):
        machine = measure_machine(n_threads)
        pools = {pool["num_threads"] for pool in threadpool_info()}
        rates = ", ".join(f"{dtype} {1e-9 / flop:.1f} GFLOP/s" for dtype, flop in machine.flop.items())
        copies = ", ".join(f"{dtype} {1e3 * t:.3g} ms" for dtype, t in machine.copy.items())
        head = [
            f"## {n_threads} thread{'s' if n_threads > 1 else ''}", "",
            f"Matrix product: {rates}; copy of {data.MATRIX[0]} x {data.MATRIX[1]}: {copies} (pools: {sorted(pools)}).",
            "",
            "| job | this library | times as fast as the best peer | of the limit | goal |",
            "|---|---|---|---|---|",
        ]  # fmt: skip
        details: list[str] = []
        for job in jobs(machine, options):
            entries, floor = contest.hold(job, options.rounds, measures.clock_for(n_threads))
            speed_up, multiple, goal = contest.verdict(job, entries, floor)
            ours = contest.seconds(entries[0].best)
            head.append(f"| {job.title} | {ours} | {speed_up} | {multiple} {job.what and f'({job.what})'} | {goal} |")
            details += contest.lines(job, entries, floor)
            print(f"{time.strftime('%H:%M:%S')} {head[-1]}", flush=True)
    return [*head, "", "### Every program", "", *details]


def write(tables: str) -> None:
    text = PAGE.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{tables}\n{END}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", nargs="+", choices=list(data.CODING_SIZES), default=list(data.CODING_SIZES))
    names = ["coding", "maps", "nuclear", "robust_pca", "graph", "fit"]
    parser.add_argument("--job", nargs="+", choices=names, default=names)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, os.cpu_count() or 1])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.name}")
    options = parser.parse_args()
    packages = ", ".join(contest.version_of(name) for name in PACKAGES)
    tables = [
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs;",
        f"Python {platform.python_version()}, {packages}.",
        f"Best of up to {options.rounds} rounds; limits and times from one run, {time.strftime('%Y-%m-%d')}.", "",
    ]  # fmt: skip
    for n_threads in dict.fromkeys(options.threads):
        tables += report(n_threads, options)
    text = "\n".join(tables).rstrip()
    print(text)
    if options.write:
        write(text)


if __name__ == "__main__":
    main()
