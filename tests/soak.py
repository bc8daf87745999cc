"""Fit and predict with random configurations for some minutes, in bounded memory: `python tests/soak.py [minutes]`.

Every model is checked for what must hold whatever the configuration: the objective does not rise, the copy from a file
decides the same, labels are those of the training. Memory is that of the process, after everything was freed.
"""

import gc
import os
import sys
import tempfile
import time
import warnings

import numpy as np

from jplrdl import JPLRDLClassifier, LowRankCleaner

WEIGHTS = ("sparse", "graph", "rank", "incoherence", "projection", "energy")


def resident_megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def draw_problem(rng):
    n_classes, n_each, n_features = int(rng.integers(2, 8)), int(rng.integers(2, 15)), int(rng.integers(4, 200))
    y = np.repeat(np.arange(n_classes), n_each)
    X = rng.random((n_classes, n_features))[y] + rng.uniform(0.01, 1) * rng.random((len(y), n_features))
    dtype = rng.choice([np.float64, np.float32])
    return (X * 10.0 ** rng.integers(-9, 9)).astype(dtype), rng.permutation(y) if rng.random() < 0.1 else y


def draw_model(rng):
    chosen = {
        "n_components": rng.choice([float(rng.uniform(0.1, 0.9)), int(rng.integers(1, 40))]),
        "n_atoms": [None, int(rng.integers(1, 20))][rng.integers(2)],
        "solver": str(rng.choice(["exact", "exact", "paper"])),
        "init_projection": str(rng.choice(["lpp", "pca"])),
        "init_ridge": 10.0 ** rng.uniform(-5, 1),
        "residual": str(rng.choice(["paper", "normalized"])),
        "max_iter": int(rng.integers(0, 6)),
        "n_jobs": [None, 1, 2][rng.integers(3)],
        "random_state": int(rng.integers(100)),
        **{name: bool(rng.integers(2)) for name in ("learn_projection", "low_rank_graph", "penalty_edges")},
        **{f"lambda_{name}": 10.0 ** rng.uniform(-5, 1) for name in WEIGHTS},
    }
    if chosen["n_components"] >= 1:
        chosen["n_components"] = int(chosen["n_components"])
    return JPLRDLClassifier(**chosen)


def one_round(rng, folder):
    X, y = draw_problem(rng)
    if rng.random() < 0.3:
        X = LowRankCleaner(mode=str(rng.choice(["global", "class"])), max_iter=100).fit_transform(X, y)
    model = draw_model(rng).fit(X, y)
    values = np.array(model.history_["objective"])
    if model.solver == "exact":
        rise = np.diff(values).max(initial=0) / np.abs(values).max()
        assert rise <= (1e-8 if X.dtype == np.float64 else 1e-3), (model, rise)
    model.save(os.path.join(folder, "model.npz"))
    again = JPLRDLClassifier.load(os.path.join(folder, "model.npz"))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert np.isin(model.predict(X), y).all()


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    warnings.simplefilter("ignore")
    rng, begun, rounds, first, most = np.random.default_rng(0), time.monotonic(), 0, None, 0.0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() - begun < 60 * minutes:
            one_round(rng, folder)
            rounds += 1
            if rounds % 50 == 0:
                gc.collect()
                now = resident_megabytes()
                # What libraries set up at first use, and the largest problem so far, are in it after some rounds.
                first = now if rounds == 200 else first
                most = max(most, now)
                assert first is None or now < first + 30, f"{now:.0f} MB after {rounds} fits, {first:.0f} MB after 200"
    told = "unknown" if first is None else f"{first:.1f}"
    print(
        f"{rounds} fits in {minutes:g} minutes, {told} MB resident after 200 of them, {most:.1f} MB at most, "
        f"{resident_megabytes():.1f} MB at the end"
    )


if __name__ == "__main__":
    main()
