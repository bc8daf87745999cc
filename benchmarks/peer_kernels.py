"""The kernels' jobs for benchmarks/peers.py: coding, proximal maps, robust PCA and graphs, with their peers.

A peer is called as its documentation says, at the tolerance that the job's accuracy asks for, on arrays in its own
layout, prepared before the clock starts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk, ssyrk

import jplrdl
from jplrdl import reference

if __package__:  # asv imports every file of this folder as part of a package
    from . import baselines, data, measures
    from .contest import Job, LeftOutError, Program
else:
    import baselines
    import data
    import measures
    from contest import Job, LeftOutError, Program

SUBSAMPLE = {"S": 100, "M": 50, "L": 20}
GAP = 1e-9
SPAMS_GOALS = {"S": 1.5, "M": 3.0, "L": 4.0}


@dataclass(frozen=True)
class Machine:
    """What this machine does at best, with `n_threads`: seconds."""

    n_threads: int
    flop: dict[str, float]  # of a product of two matrices
    copy: dict[str, float]  # of a matrix of data.MATRIX


def coding_jobs(machine: Machine) -> Iterator[Job]:
    """All samples over all atoms, Gram matrix included; and fewer samples for those who would take minutes."""
    for size in data.CODING_SIZES:
        for dtype in ("float64", "float32"):
            problem = data.coding_problem(size, dtype)
            programs = [_ours_coding(problem, machine)]
            if dtype == "float64":
                programs.append(_spams(problem, machine, "LARS"))
            else:
                exact = data.coding_problem(size)
                programs.append(Program("jplrdl", "jplrdl, float64", _ours_coding(exact, machine).make))
            yield Job(
                f"batch lasso {size}, {len(problem.samples)} samples, {dtype}", programs,
                lambda codes, size=size: _judge_codes(data.coding_problem(size), codes),
                GAP if dtype == "float64" else 1e-4, _coding_floor(problem, machine, dtype), "Gram matrix and products",
                faster=SPAMS_GOALS[size] if dtype == "float64" else 1.5 if size == "L" else None,
                rival="" if dtype == "float64" else "jplrdl, float64", seconds=4,
            )  # fmt: skip
        samples, atoms, penalty = data.coding_problem(size)
        problem = data.CodingProblem(samples[: SUBSAMPLE[size]], atoms, penalty)
        yield Job(
            f"lasso {size}, {len(problem.samples)} samples",
            [_ours_coding(problem, machine), _spams(problem, machine, "LARS"), _spams(problem, machine, "CD"),
             *_other_coders(problem)],
            lambda codes, problem=problem: _judge_codes(problem, codes), GAP,
            _coding_floor(problem, machine, "float64"), "Gram matrix and products", seconds=4,
        )  # fmt: skip


def _coding_floor(problem: data.CodingProblem, machine: Machine, dtype: str) -> float:
    n_atoms, n_features = problem.atoms.shape
    return machine.flop[dtype] * n_features * n_atoms * (n_atoms + 2 * len(problem.samples))


def _judge_codes(problem: data.CodingProblem, codes: Any) -> tuple[float, str]:
    dense = codes.toarray().T if hasattr(codes, "toarray") else np.asarray(codes)
    gap = measures.lasso_gap(*problem, dense)
    residual = measures.lasso_residual(*problem, dense)
    return gap, f"duality gap {gap:.0e}, residual {residual:.0e}, {measures.mean_nonzeros(dense):.0f} non-zeros"


def _ours_coding(problem: data.CodingProblem, machine: Machine) -> Program:
    n_jobs = machine.n_threads
    return Program("jplrdl", "jplrdl sparse_encode", lambda: lambda: jplrdl.sparse_encode(*problem, n_jobs=n_jobs))


def _spams(problem: data.CodingProblem, machine: Machine, method: str) -> Program:
    def make() -> Callable[[], Any]:
        import spams

        X, D = np.asfortranarray(problem.samples.T), np.asfortranarray(problem.atoms.T)
        options = {"lambda1": problem.penalty / 2, "mode": spams.PENALTY, "numThreads": machine.n_threads}
        if method == "LARS":
            return lambda: spams.lasso(X, D, **options)
        start = spams.lasso(X, D, L=1, **options)  # only its shape matters: cd starts where it is told
        start.data[:] = 0
        return lambda: spams.cd(X, D, start.copy(), tol=1e-12, itermax=100_000, **options)

    return Program("spams", f"spams {method}", make)


def _other_coders(problem: data.CodingProblem) -> list[Program]:
    samples, atoms, penalty = problem
    gram, alpha = atoms @ atoms.T, penalty / 2 / atoms.shape[1]

    def each(model: Any) -> Callable[[], Any]:
        design = np.asfortranarray(atoms.T)
        return lambda: np.array([model.fit(design, x).coef_ for x in samples])

    def lars() -> Callable[[], Any]:
        from sklearn.decomposition import sparse_encode

        return lambda: sparse_encode(samples, atoms, gram=gram, algorithm="lasso_lars", alpha=penalty / 2)

    def celer() -> Callable[[], Any]:
        from celer import Lasso

        return each(Lasso(alpha, tol=1e-14, fit_intercept=False))

    def skglm() -> Callable[[], Any]:
        from skglm import Lasso

        return each(Lasso(alpha, tol=1e-13, max_iter=1000, fit_intercept=False))

    return [
        Program("sklearn", "scikit-learn lasso_cd", lambda: lambda: baselines.lasso_cd(*problem, gram=gram)),
        Program("sklearn", "scikit-learn Lasso(tol=1e-10)", lambda: lambda: baselines.tight_lasso(*problem, gram=gram)),
        Program("sklearn", "scikit-learn lasso_lars", lars),
        Program("celer", "celer Lasso", celer),
        Program("skglm", "skglm Lasso", skglm),
    ]


def map_jobs(machine: Machine) -> Iterator[Job]:
    """l1 and 2,1, into the same array where a program can; a copy has one thread, as NumPy's has."""
    n_jobs = machine.n_threads
    for dtype in ("float64", "float32"):
        V = data.noise(dtype)
        out, limit = V.copy(), 1e-12 if dtype == "float64" else 1e-5
        copy = functools.partial(np.copyto, out, V)
        t = data.l1_threshold()
        yield Job(
            f"l1 map, {data.MATRIX[0]} x {data.MATRIX[1]} {dtype}",
            [Program("jplrdl", "jplrdl prox_l1",
                     lambda V=V, t=t, out=out: lambda: jplrdl.prox_l1(V, t, out=out, n_jobs=n_jobs)),
             Program("numpy", "NumPy", lambda V=V, t=t: lambda: np.sign(V) * np.maximum(np.abs(V) - t, 0)),
             *_peer_l1(V, t)],
            _judge_map(reference.prox_l1(V.astype(np.float64), t)), limit, copy, "a copy", within=1.2,
        )  # fmt: skip
        for axis in (0, 1):
            t = data.l21_threshold(axis)
            yield Job(
                f"2,1 map, axis {axis}, {data.MATRIX[0]} x {data.MATRIX[1]} {dtype}",
                [Program("jplrdl", "jplrdl prox_l21",
                         lambda V=V, t=t, axis=axis, out=out: lambda: jplrdl.prox_l21(
                             V, t, axis, out=out, n_jobs=n_jobs)),
                 Program("numpy", "NumPy", lambda V=V, t=t, axis=axis: lambda: _numpy_l21(V, t, axis)),
                 *_peer_l21(V, t, axis), *_two_readings(V, copy, axis)],
                _judge_map(reference.prox_l21(V.astype(np.float64), t, axis)), limit, copy, "a copy",
                within=1.2,
            )  # fmt: skip


def _judge_map(truth: np.ndarray) -> Callable[[Any], tuple[float, str]]:
    def judge(answer: Any) -> tuple[float, str]:
        error = measures.relative_error(np.asarray(answer).reshape(truth.shape), truth)
        return error, f"error {error:.0e}"

    return judge


def _numpy_l21(V: np.ndarray, t: float, axis: int) -> np.ndarray:
    norms = np.linalg.norm(V, axis=axis, keepdims=True)
    return np.maximum(1 - t / np.maximum(norms, t), 0) * V


def _two_readings(V: np.ndarray, copy: Callable[[], Any], axis: int) -> list[Program]:
    """Rows that lie one after another must all have been read before the first of their columns can be written."""

    def make() -> Callable[[], Any]:
        return lambda: (V.max(), copy())

    return [Program("numpy", "a reading (NumPy's maximum) and a copy", make, competes=False)] if axis == 0 else []


def _peer_l1(V: np.ndarray, t: float) -> list[Program]:
    def pyproximal() -> Callable[[], Any]:
        from pyproximal import L1

        operator, v = L1(), V.ravel()
        return lambda: operator.prox(v, t)

    def tensorly() -> Callable[[], Any]:
        from tensorly.tenalg.proximal import soft_thresholding

        return lambda: soft_thresholding(V, t)

    def sporco() -> Callable[[], Any]:
        from sporco.prox import prox_l1

        return lambda: prox_l1(V, t)

    return [
        Program("pyproximal", "pyproximal L1", pyproximal),
        Program("tensorly", "tensorly soft_thresholding", tensorly),
        Program("sporco", "sporco prox_l1", sporco),
    ]


def _peer_l21(V: np.ndarray, t: float, axis: int) -> list[Program]:
    def pyproximal() -> Callable[[], Any]:
        from pyproximal import L21

        if axis == 1:
            raise LeftOutError("it has groups down the columns only")
        operator, v = L21(V.shape[0]), V.ravel()
        return lambda: operator.prox(v, t)

    def sporco() -> Callable[[], Any]:
        from sporco.prox import prox_l2

        return lambda: prox_l2(V, t, axis=axis)

    return [Program("pyproximal", "pyproximal L21", pyproximal), Program("sporco", "sporco prox_l2", sporco)]


def nuclear_jobs(machine: Machine) -> Iterator[Job]:
    """60 of 760 singular values kept; the limit is the Gram matrix alone."""
    for dtype in ("float64", "float32"):
        V, t = data.images(dtype), data.nuclear_threshold()
        out, syrk = V.copy(), dsyrk if dtype == "float64" else ssyrk
        yield Job(
            f"nuclear map, {data.KEPT} of {min(V.shape)} kept, {dtype}",
            [Program("jplrdl", "jplrdl prox_nuclear",
                     lambda V=V, t=t, out=out: lambda: jplrdl.prox_nuclear(V, t, out=out)[0]),
             Program("scipy", "SciPy svd", lambda V=V, t=t: lambda: baselines.shrink_by_svd(V, t)),
             *_peer_nuclear(V, t)],
            _judge_map(baselines.shrink_by_svd(V.astype(np.float64), t)), 1e-9 if dtype == "float64" else 1e-3,
            functools.partial(syrk, 1.0, V.T), "syrk", within=2.5, seconds=3,
        )  # fmt: skip


def _peer_nuclear(V: np.ndarray, t: float) -> list[Program]:
    def pyproximal() -> Callable[[], Any]:
        from pyproximal import Nuclear

        operator, v = Nuclear(V.shape), V.ravel()
        return lambda: operator.prox(v, t)

    def tensorly() -> Callable[[], Any]:
        from tensorly.tenalg.proximal import svd_thresholding

        return lambda: svd_thresholding(V, t)

    def sporco() -> Callable[[], Any]:
        from sporco.prox import prox_nuclear

        return lambda: prox_nuclear(V, t)[0]

    return [
        Program("pyproximal", "pyproximal Nuclear", pyproximal),
        Program("tensorly", "tensorly svd_thresholding", tensorly),
        Program("sporco", "sporco prox_nuclear", sporco),
    ]


def graph_jobs(machine: Machine) -> Iterator[Job]:
    """Our graph has two lists a sample and signs; scikit-learn's one list of as many neighbours."""
    from sklearn.neighbors import kneighbors_graph

    k_same, k_other = data.NEIGHBORS_SAME, data.NEIGHBORS_OTHER
    for n_samples in data.GRAPH_SIZES:
        for dtype in ("float64", "float32"):
            X, y = data.labelled(n_samples, dtype)
            yield Job(
                f"signed kNN graph, {n_samples} x {X.shape[1]} {dtype}",
                [Program("jplrdl", "jplrdl signed_knn_graph",
                         lambda X=X, y=y: lambda: jplrdl.signed_knn_graph(
                             X, y, k_same, k_other, n_jobs=machine.n_threads)),
                 Program("sklearn", "scikit-learn kneighbors_graph",
                         lambda X=X: lambda: kneighbors_graph(X, k_same + k_other, n_jobs=machine.n_threads))],
                lambda graph, X=X, y=y: _judge_graph(graph, X, y), 1e-2,
                machine.flop[dtype] * X.shape[1] * n_samples**2, "half of the products",
                faster=1.5 if dtype == "float64" else 1.8, seconds=4,
            )  # fmt: skip


def _judge_graph(graph: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, str]:
    """The share of the first 50 rows' edges that brute force in float64 does not find."""
    rows = X[:50].astype(np.float64)
    squares = ((X.astype(np.float64)) ** 2).sum(axis=1)
    distances = squares[:50, None] + squares - 2 * rows @ X.astype(np.float64).T
    distances[np.arange(50), np.arange(50)] = np.inf
    wrong = total = 0
    signed = graph.min() < 0
    for i in range(50):
        if signed:
            same = np.where(y == y[i], distances[i], np.inf)
            other = np.where(y == y[i], np.inf, distances[i])
            wanted = {*np.argsort(same)[: data.NEIGHBORS_SAME], *np.argsort(other)[: data.NEIGHBORS_OTHER]}
        else:
            wanted = set(np.argsort(distances[i])[: data.NEIGHBORS_SAME + data.NEIGHBORS_OTHER])
        found = set(graph.indices[graph.indptr[i] : graph.indptr[i + 1]])
        wrong += len(wanted - found)
        total += len(wanted)
    return wrong / total, f"{wrong} of {total} neighbours missed"
