"""Every public function, for many threads at once: `pytest --parallel-threads=8 tests/test_threads.py`."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import jplrdl
from jplrdl import JPLRDLClassifier, LowRankCleaner
from jplrdl.coding import coupled_codes
from jplrdl.huber import huber_fit

rng = np.random.default_rng(0)
X, D = rng.standard_normal((60, 20)), rng.standard_normal((40, 20))
Y = np.arange(60) % 4
MANY, WIDE = rng.standard_normal((400, 20)), rng.standard_normal((300, 20))
GRAM, COV = WIDE @ WIDE.T, MANY @ WIDE.T
GRAPH = jplrdl.laplacian(jplrdl.signed_knn_graph(MANY, np.arange(400) % 20, 5, 5), signed=True)
IMAGES, LABELS = (array[:40] for array in load_digits(n_class=4, return_X_y=True))
CALLS = {
    "sparse_encode": lambda: jplrdl.sparse_encode(X, D, 0.5),
    "sparse_encode in threads": lambda: jplrdl.sparse_encode(X, D, 0.5, n_jobs=2),
    "feature_sign_search": lambda: jplrdl.feature_sign_search(D @ D.T, X @ D.T, 0.5, shift=0.1),
    "coupled_codes in threads": lambda: coupled_codes(GRAM, COV, GRAPH, 5.0, 0.1, n_jobs=2)[0],
    "prox_l1": lambda: jplrdl.prox_l1(X, 0.5),
    "prox_l21": lambda: jplrdl.prox_l21(X, 0.5),
    "prox_nuclear": lambda: jplrdl.prox_nuclear(X, 0.5)[0],
    "robust_pca": lambda: jplrdl.robust_pca(X).low_rank,
    "signed_knn_graph": lambda: jplrdl.signed_knn_graph(X, Y, 3, 3).toarray(),
    "laplacian": lambda: jplrdl.laplacian(D[:20] + D[:20].T, signed=True, normalized=True).toarray(),
    "huber_fit": lambda: huber_fit(X, np.eye(20)[:5], 0.1, np.full(5, 0.1))[0],
    "classifier": lambda: JPLRDLClassifier(8, max_iter=1, n_jobs=2).fit(IMAGES, LABELS).decision_function(IMAGES),
    "cleaner": lambda: LowRankCleaner().fit(IMAGES).transform(IMAGES),
}
ALONE = {name: call() for name, call in CALLS.items()}


@pytest.mark.parametrize("name", CALLS)
def test_answers_are_those_of_one_thread(name):
    for _ in range(3):
        np.testing.assert_array_equal(CALLS[name](), ALONE[name])
