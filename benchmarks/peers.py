"""This library and its peers side by side: `pip install ".[bench]" && python benchmarks/peers.py --write`.

One process, the same arrays, the programs of a job taking turns; first with one thread for BLAS, OpenMP and the
programs themselves, then with all. Every answer is judged; one that misses the accuracy is shown but not counted. The
limits (rate of a matrix product, time of a copy) are measured in the same run. Times are the processor's with one
thread and the wall's with all. `--write` puts the tables into
docs/performance.md between the marks of each kind of job and leaves the rest of that file alone.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator

import numpy as np
from threadpoolctl import threadpool_limits

if __package__:  # asv imports every file of this folder as part of a package
    from . import contest, data, measures, page, peer_kernels, peer_models
else:
    import contest
    import data
    import measures
    import page
    import peer_kernels
    import peer_models

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


SHELVES: dict[str, Callable[[peer_kernels.Machine], Iterator[contest.Job]]] = {
    "coding": peer_kernels.coding_jobs,
    "maps": peer_kernels.map_jobs,
    "nuclear": peer_kernels.nuclear_jobs,
    "robust_pca": peer_models.robust_pca_jobs,
    "graph": peer_kernels.graph_jobs,
    "fit": peer_models.fit_jobs,
}


def report(shelf: str, n_threads: int, rounds: int) -> list[str]:
    """A summary of the shelf's jobs and a table of each, with `n_threads`."""
    clock = measures.clock_for(n_threads)
    with threadpool_limits(n_threads):
        machine = measure_machine(n_threads)
        rates = ", ".join(f"{dtype} {1e-9 / flop:.1f} GFLOP/s" for dtype, flop in machine.flop.items())
        copies = ", ".join(f"{dtype} {1e3 * t:.3g} ms" for dtype, t in machine.copy.items())
        head = [
            f"*{n_threads} thread{'s' if n_threads > 1 else ''}.* Matrix product: {rates};",
            f"copy of {data.MATRIX[0]} x {data.MATRIX[1]}: {copies}.",
            "",
            "| job | this library | times as fast as the best peer | of the limit | goal |",
            "|---|---|---|---|---|",
        ]
        details: list[str] = []
        for job in SHELVES[shelf](machine):
            entries, floor = contest.hold(job, rounds, clock)
            speed_up, multiple, goal = contest.verdict(job, entries, floor)
            ours = contest.seconds(entries[0].best)
            head.append(f"| {job.title} | {ours} | {speed_up} | {multiple} {job.what and f'({job.what})'} | {goal} |")
            details += contest.lines(job, entries, floor)
            print(f"{time.strftime('%H:%M:%S')} {head[-1]}", flush=True)
    return [*head, "", *details]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--job", nargs="+", choices=list(SHELVES), default=list(SHELVES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, os.cpu_count() or 1])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--write", action="store_true", help="into docs/performance.md")
    options = parser.parse_args()
    packages = ", ".join(contest.version_of(name) for name in PACKAGES)
    rounds = "" if options.rounds == ROUNDS else f" --rounds {options.rounds}"
    today = time.strftime("%Y-%m-%d")
    for shelf in options.job:
        lines = [
            f"`python benchmarks/peers.py --job {shelf}{rounds} --write`, {today}: {platform.system()}",
            f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, {packages}.",
            "",
        ]
        for n_threads in dict.fromkeys(options.threads):
            lines += report(shelf, n_threads, options.rounds)
        text = "\n".join(lines).rstrip()
        print(text, flush=True)
        if options.write:
            page.write(shelf, text)


if __name__ == "__main__":
    main()
