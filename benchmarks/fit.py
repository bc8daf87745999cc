"""The whole fit against the NumPy reference, at the paper's size: `JPLRDL_DATA=folder python benchmarks/fit.py`.

Extended Yale B, 20 images a class: 2640 features, 760 samples, 660 dimensions, 10 rounds, BLAS at one thread. The
reference goes three rounds; its other seven are taken to last as long. Both sides see the same samples and must end
these rounds at the same objective.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from jplrdl import JPLRDLClassifier, reference
from jplrdl.datasets import choose_training, load_images

if __package__:  # asv imports every file of this folder as part of a package
    from . import measures
else:
    import measures

DIMENSIONS, ROUNDS, MEASURED = 660, 10, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", action="store_true", help="leave the reference out")
    arguments = parser.parse_args()
    measures.hold_one_thread()
    images = load_images("extended_yale_b")
    train = choose_training(images.y, 20, 0)
    X, y = images.X[train], images.y[train]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    model = JPLRDLClassifier(DIMENSIONS, max_iter=ROUNDS, tol=0.0).fit(X, y)
    ours = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"this library: {ours:.1f} s for {model.n_iter_} rounds, peak memory {peak / 2**20:.2f} GiB, "
        f"{(peak - before) / 2**20:.2f} of it by the fit",
        flush=True,
    )
    if arguments.ours:
        return
    times, values = [], []
    for rounds in (0, MEASURED):
        began = time.perf_counter()
        truth = reference.fit(X, y, DIMENSIONS, max_iter=rounds, tol=0.0)
        times.append(time.perf_counter() - began)
        values.append(truth.history["objective"])
        print(f"reference, {rounds} rounds: {times[-1]:.1f} s", flush=True)
    blocks = 1 + 3 * MEASURED
    apart = np.max(np.abs(np.array(values[1][:blocks]) / np.array(model.history_["objective"][:blocks]) - 1))
    theirs = times[0] + ROUNDS * (times[1] - times[0]) / MEASURED
    print(f"objectives of the first {MEASURED} rounds apart by {apart:.1e}")
    print(f"reference, {ROUNDS} rounds: {theirs:.0f} s; this library is {theirs / ours:.1f} times as fast")


if __name__ == "__main__":
    main()
