"""The whole fit and the whole prediction, at one BLAS thread (set by threadpoolctl and verified in every setup)."""

from __future__ import annotations

import numpy as np

import jplrdl

from . import data, measures

# features, classes, training samples a class, new samples, dimensions
SIZES = {"small": (300, 20, 10, 200, 60), "Extended Yale B": (2640, 38, 20, 1654, 660)}
ROUNDS = 3


class _Faces:
    params: tuple[tuple[object, ...], ...] = (tuple(SIZES), (1, 2))
    param_names: tuple[str, ...] = ("size", "n_jobs")
    number, repeat, rounds, warmup_time, timeout = 1, 2, 1, 0, 300

    def setup(self, size: str, n_jobs: int) -> None:
        measures.hold_one_thread()
        n_features, n_classes, per_class, n_new, dimensions = SIZES[size]
        rng = np.random.default_rng(4)
        self.X, self.new = data.draw(rng, n_features, n_classes, n_classes * per_class, n_new)
        self.y, self.labels = np.arange(len(self.X)) % n_classes, np.arange(n_new) % n_classes
        self.model = jplrdl.JPLRDLClassifier(dimensions, max_iter=ROUNDS, tol=0.0, n_jobs=n_jobs)


class WholeFit(_Faces):
    """Three rounds on samples in the shape of faces; as many atoms as samples."""

    def time_fit(self, size: str, n_jobs: int) -> None:
        self.model.fit(self.X, self.y)

    def peakmem_fit(self, size: str, n_jobs: int) -> None:
        self.model.fit(self.X, self.y)

    def track_objective(self, size: str, n_jobs: int) -> float:
        return self.model.fit(self.X, self.y).history_["objective"][-1]


class WholePrediction(_Faces):
    """New samples, after one round; by sparse codes and by ridge codes."""

    params = (*_Faces.params, ("sparse", "ridge"))
    param_names = (*_Faces.param_names, "codes")

    def setup(self, size: str, n_jobs: int, codes: str) -> None:
        super().setup(size, n_jobs)
        self.model.set_params(max_iter=1, **({"code_penalty": 0} if codes == "ridge" else {})).fit(self.X, self.y)

    def time_predict(self, size: str, n_jobs: int, codes: str) -> None:
        self.model.predict(self.new)

    def track_accuracy(self, size: str, n_jobs: int, codes: str) -> float:
        return float(np.mean(self.model.predict(self.new) == self.labels))
