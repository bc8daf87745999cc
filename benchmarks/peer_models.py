"""The larger jobs for benchmarks/peers.py: robust PCA, whole fits and whole predictions, with their peers.

Robust PCA is judged by its objective |L|_* + eta |X - L|_1 above the best lower bound known; fits and predictions by
the share of new samples that they classify rightly.
"""

from __future__ import annotations

import contextlib
import copy
import io
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import jplrdl

if __package__:  # asv imports every file of this folder as part of a package
    from . import data
    from .contest import Job, LeftOutError, Program
    from .peer_kernels import Machine
else:
    import data
    from contest import Job, LeftOutError, Program
    from peer_kernels import Machine

# features, classes, training samples a class, test samples in all, dimensions, rounds
FITS = {
    "AR faces as FDDL sees them": (300, 100, 7, 700, 200, 30),
    "Extended Yale B": (2640, 38, 20, 1654, 660, 10),
    "AR": (2200, 100, 9, 1700, 900, 10),
}
LARGE = 1_000_000  # elements, from which on a hundred full decompositions take minutes
SLACK = 1e-6  # of the objective, by which a peer's gap may exceed ours
LESS_RIGHT = 0.05  # share of the new samples, by which a peer's predictions may be less right than ours


def robust_pca_jobs(machine: Machine) -> Iterator[Job]:
    """Every program gets the same weight of the sparse part; who offers them, the same growth and tolerance too."""
    for shape in data.ROBUST_PCA_SHAPES:
        X = data.corrupted(shape)
        eta = 1 / math.sqrt(max(shape))
        ours = jplrdl.robust_pca(X)
        tight = jplrdl.robust_pca(X, rho=1.1)
        bound = max(result.objective - result.gap for result in (ours, tight))
        reached = ours.objective / bound - 1
        m, n = max(shape), min(shape)
        yield Job(
            f"robust PCA, {shape[0]} x {shape[1]}",
            [Program("jplrdl", "jplrdl robust_pca", lambda X=X: lambda: _ours(X)), *_decomposers(X, eta)],
            lambda answer, X=X, eta=eta, bound=bound: _judge_low_rank(*answer, X, eta, bound), reached + SLACK,
            ours.n_iter * machine.flop["float64"] * m * n * n, f"{ours.n_iter} Gram matrices", faster=3.0, seconds=4,
        )  # fmt: skip


def _ours(X: np.ndarray, **options: Any) -> tuple[np.ndarray, int]:
    result = jplrdl.robust_pca(X, **options)
    return result.low_rank, result.n_iter


def _judge_low_rank(L: np.ndarray, n_iter: int, X: np.ndarray, eta: float, bound: float) -> tuple[float, str]:
    singular = np.linalg.svd(L, compute_uv=False)
    gap = float((singular.sum() + eta * np.abs(X - L).sum()) / bound - 1)
    return gap, f"gap {gap:.4e} of the objective, rank {np.sum(singular > 1e-6 * singular[0])}, {n_iter} iterations"


def _decomposers(X: np.ndarray, eta: float) -> list[Program]:
    def pyrpca() -> Callable[[], Any]:
        from pyrpca import rpca_pcp_ialm

        def decompose() -> tuple[np.ndarray, int]:
            with contextlib.redirect_stdout(io.StringIO()) as printed:  # it only prints how many iterations it takes
                L, _ = rpca_pcp_ialm(X, eta)
            return L, printed.getvalue().count("iter ")

        return decompose

    def as_many() -> Callable[[], Any]:
        _, n_iter = pyrpca()()
        return lambda: _ours(X, tol=0.0, max_iter=n_iter)

    def tensorly() -> Callable[[], Any]:
        from tensorly.decomposition import robust_pca

        options = {"reg_E": eta, "tol": 1e-7, "learning_rate": 1.5, "n_iter_max": 500, "verbose": 0}

        def decompose() -> tuple[np.ndarray, int]:
            L, _, errors = robust_pca(X, return_errors=True, **options)
            return L, len(errors)

        return decompose

    def sporco() -> Callable[[], Any]:
        from sporco.admm.rpca import RobustPCA

        options = RobustPCA.Options({"MaxMainIter": 200, "RelStopTol": 1e-5, "Verbose": False})

        def decompose() -> tuple[np.ndarray, int]:
            solver = RobustPCA(X, eta, options)
            return solver.solve()[0], solver.k

        return decompose

    def pyproximal() -> Callable[[], Any]:
        from pyproximal import L1, Nuclear
        from pyproximal.optimization.primal import ADMM

        step = 4 * float(np.abs(X).mean())
        sparse, low_rank = L1(eta, g=X.ravel()), Nuclear(X.shape)
        return lambda: (ADMM(low_rank, sparse, np.zeros(X.size), step, niter=60)[0].reshape(X.shape), 60)

    if X.size > LARGE:
        sporco = pyproximal = _left_out
    return [
        Program("jplrdl", "jplrdl, as many iterations as pyrpca", as_many),
        Program("pyrpca", "pyrpca", pyrpca),
        Program("tensorly", "tensorly robust_pca", tensorly),
        Program("sporco", "sporco RobustPCA", sporco),
        Program("pyproximal", "pyproximal ADMM", pyproximal),
    ]


def _left_out() -> Callable[[], Any]:
    raise LeftOutError("takes minutes at this size")


def fit_jobs(machine: Machine) -> Iterator[Job]:
    """Whole fits and whole predictions of learned dictionaries, and predictions of SRC, which fits nothing."""
    for name, (n_features, n_classes, per_class, n_test, dimensions, rounds) in FITS.items():
        train, test = data.draw(np.random.default_rng(4), n_features, n_classes, n_classes * per_class, n_test)
        order = np.argsort(np.arange(len(train)) % n_classes, kind="stable")  # dictol wants classes in one piece
        X, y, Y, z = train[order], (np.arange(len(train)) % n_classes)[order], test, np.arange(n_test) % n_classes
        ours = jplrdl.JPLRDLClassifier(dimensions, max_iter=rounds, tol=0.0, n_jobs=machine.n_threads)
        title = f"{name}: {n_features} features, {len(X)} samples, {n_classes} classes"
        yield Job(
            f"whole fit, {title}, {rounds} rounds",
            [Program("jplrdl", f"JPLRDLClassifier, d = {dimensions}",
                     lambda X=X, y=y, ours=ours: lambda: ours.fit(X, y)),
             *_learners(X, y, per_class, rounds, small=n_features == 300)],
            lambda model, Y=Y, z=z: _judge_labels(model.predict(Y), z), 1.0,
            _first_products(machine, n_features, len(X), dimensions, rounds), "XP and PD once a round",
            rival="dictol FDDL" if n_features == 300 else "", faster=5.0 if n_features == 300 else None, seconds=8,
        )  # fmt: skip
        yield Job(
            f"whole predict, {title}, {n_test} new samples",
            [Program("jplrdl", "JPLRDLClassifier.predict", lambda ours=ours, Y=Y: lambda: ours.predict(Y)),
             Program("jplrdl", "the same, ridge codes (code_penalty=0)", lambda ours=ours, Y=Y: _with_ridge(ours, Y)),
             *_representations(X, y, Y, machine)],
            lambda labels, z=z: _judge_labels(labels, z), _judge_labels(ours.predict(Y), z)[0] + LESS_RIGHT,
            machine.flop["float64"] * 2 * n_test * dimensions * (n_features + len(X)), "products", faster=1.0,
            seconds=4,
        )  # fmt: skip


def _with_ridge(model: jplrdl.JPLRDLClassifier, Y: np.ndarray) -> Callable[[], Any]:
    ridge = copy.copy(model).set_params(code_penalty=0.0)
    return lambda: ridge.predict(Y)


def _first_products(machine: Machine, n_features: int, n_samples: int, dimensions: int, rounds: int) -> float:
    return machine.flop["float64"] * 2 * rounds * n_samples * dimensions * (n_features + n_samples)


def _judge_labels(labels: np.ndarray, truth: np.ndarray) -> tuple[float, str]:
    wrong = float(np.mean(np.asarray(labels).ravel() != truth))
    return wrong, f"{100 * (1 - wrong):.1f} % right"


class _Dictol:
    """dictol holds samples as columns and counts classes from 1."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, Y: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict(Y.T)).ravel() - 1


def _learners(X: np.ndarray, y: np.ndarray, per_class: int, rounds: int, small: bool) -> list[Program]:
    def fddl() -> Callable[[], Any]:
        from dictol.LRSDL import LRSDL

        def fit() -> _Dictol:
            model = LRSDL(lambd=0.01, lambd2=0.01, k=per_class, k0=0)
            model.fit(X.T, y + 1, iterations=rounds)
            return _Dictol(model)

        return fit

    def dictlearn(name: str, **options: Any) -> Callable[[], Callable[[], Any]]:
        def make() -> Callable[[], Any]:
            from dictlearn import classification

            learner = getattr(classification, name)
            return lambda: learner(per_class, max_iter=rounds, random_state=0, **options).fit(X, y)

        return make

    dpl, lc_ksvd = dictlearn("DPLClassifier"), dictlearn("LCDLClassifier", n_nonzero_coefs=20)
    if not small:
        fddl = dpl = lc_ksvd = _left_out
    return [
        Program("dictol", "dictol FDDL", fddl),
        Program("dictlearn", "dictlearn DPL", dpl),
        Program("dictlearn", "dictlearn LC-KSVD", lc_ksvd),
    ]


def _representations(X: np.ndarray, y: np.ndarray, Y: np.ndarray, machine: Machine) -> list[Program]:
    def ours() -> Callable[[], Any]:
        from jplrdl.experiments import SparseRepresentationClassifier

        model = SparseRepresentationClassifier(n_jobs=machine.n_threads).fit(X, y)
        return lambda: model.predict(Y)

    def dictol() -> Callable[[], Any]:
        from dictol import utils
        from dictol.SRC import SRC

        utils.vec = np.ravel  # its own asks NumPy for an order by number, which NumPy 2 refuses
        model = SRC(lamb=0.01)
        model.fit(X.T, y + 1)
        return lambda: np.asarray(model.predict(Y.T)).ravel() - 1

    def dictlearn() -> Callable[[], Any]:
        from dictlearn.classification import SRCClassifier

        model = SRCClassifier().fit(X, y)
        return lambda: model.predict(Y)

    return [
        Program("jplrdl", "jplrdl.experiments SRC, exact lasso", ours),
        Program("dictol", "dictol SRC, 100 steps of FISTA", dictol),
        Program("dictlearn", "dictlearn SRC, OMP as it comes", dictlearn),
    ]
