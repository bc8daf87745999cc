"""Signed neighbour graphs of samples with 2640 features, at one thread (threadpoolctl, verified in every setup)."""

from __future__ import annotations

from sklearn.neighbors import kneighbors_graph

import jplrdl
from jplrdl import reference

from . import data, measures

NEIGHBORS = data.NEIGHBORS_SAME, data.NEIGHBORS_OTHER


class _Labelled:
    param_names = ("n_samples", "dtype")
    number, repeat, rounds, warmup_time, timeout = 1, 3, 1, 0, 120

    def setup(self, n_samples: int, dtype: str) -> None:
        measures.hold_one_thread()
        self.X, self.y = data.labelled(n_samples, dtype)


class Graph(_Labelled):
    """15 neighbours in the class and 19 outside."""

    params = (data.GRAPH_SIZES, ("float64", "float32"))

    def time_signed_knn_graph(self, n_samples: int, dtype: str) -> None:
        jplrdl.signed_knn_graph(self.X, self.y, *NEIGHBORS)

    def time_kneighbors_graph(self, n_samples: int, dtype: str) -> None:
        """scikit-learn's: as many neighbours, but one list a sample, whatever the class, and not symmetric."""
        kneighbors_graph(self.X, sum(NEIGHBORS))

    def track_edges(self, n_samples: int, dtype: str) -> int:
        return jplrdl.signed_knn_graph(self.X, self.y, *NEIGHBORS).nnz


class SmallestGraph(_Labelled):
    """The reference, which takes minutes at the other sizes; and the Laplacian."""

    params = (data.GRAPH_SIZES[:1], ("float64", "float32"))

    def setup(self, n_samples: int, dtype: str) -> None:
        super().setup(n_samples, dtype)
        self.graph = jplrdl.signed_knn_graph(self.X, self.y, *NEIGHBORS)

    def time_reference(self, n_samples: int, dtype: str) -> None:
        reference.signed_knn_graph(self.X, self.y, *NEIGHBORS)

    def time_laplacian(self, n_samples: int, dtype: str) -> None:
        jplrdl.laplacian(self.graph, normalized=True, signed=True)

    def time_reference_laplacian(self, n_samples: int, dtype: str) -> None:
        reference.laplacian(self.graph, normalized=True, signed=True)

    def track_edges_unlike_reference(self, n_samples: int, dtype: str) -> int:
        return (self.graph != reference.signed_knn_graph(self.X, self.y, *NEIGHBORS)).nnz
