"""The paper's print against what this library does instead, measured: `python benchmarks/print_vs_fix.py`.

Prints the last column of the table in docs/method.md, item by item. COIL-20 (32 x 32) from the folder that the
environment variable JPLRDL_DATA names, ten training images an object, the rest for testing; every number is the mean
over random splits, with the lowest and the highest in brackets where they differ.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
from scipy.linalg import eigh, qr

import jplrdl
from jplrdl import paper
from jplrdl.classification import unit_rows
from jplrdl.classifier import JPLRDLClassifier
from jplrdl.exact import ExactSolver
from jplrdl.low_rank_dictionary import low_rank_atoms
from jplrdl.objective import own_codes
from jplrdl.projection import initial_projection
from jplrdl.robust_pca import robust_pca
from jplrdl.solver import Solver

if __package__:  # asv imports every file of this folder as part of a package
    from . import measures
else:
    import measures

PER_CLASS, ROUNDS, STEP = 10, 5, 0.1
# lambda_rank, lambda_projection and projection_step as the paper sets them
SETTINGS = {
    "n_components": 100, "lambda_sparse": 0.02, "lambda_graph": 0.005, "lambda_rank": 1.0, "lambda_incoherence": 0.001,
    "lambda_projection": 1.0, "lambda_energy": 0.0, "lambda_error": 1.0, "projection_step": STEP, "max_iter": ROUNDS,
    "tol": 0.0, "code_penalty": 0.005, "code_ridge": 0.01, "mean_weight": 0.0, "residual": "normalized",
}  # fmt: skip


class Split:
    """Training and test images of unit length, and the graphs of the training images as the estimator builds them."""

    def __init__(self, X: np.ndarray, y: np.ndarray, seed: int) -> None:
        rng = np.random.default_rng(seed)
        chosen = np.concatenate([rng.choice(np.flatnonzero(y == label), PER_CLASS, False) for label in np.unique(y)])
        rest = np.setdiff1d(np.arange(len(y)), chosen)
        self.X, self.y = unit_rows(X[chosen]), y[chosen]
        self.X_test, self.y_test = unit_rows(X[rest]), y[rest]
        self.low_rank = self.X.copy()
        for label in np.unique(y):
            self.low_rank[self.y == label] = robust_pca(self.X[self.y == label]).low_rank
        k = PER_CLASS - 1
        self.coefficient = jplrdl.signed_knn_graph(self.low_rank, self.y, k, k)
        self.heat = jplrdl.signed_knn_graph(self.low_rank, self.y, k, k, weights="heat")

    def fit(self, solver: Callable[..., Solver] | str = "exact", **changes: Any) -> JPLRDLClassifier:
        """The estimator with one of its solvers, or with one that is made here."""

        class Variant(JPLRDLClassifier):
            def _solver(self, *state: Any) -> Solver:
                return solver(*state) if callable(solver) else super()._solver(*state)

        name = "exact" if callable(solver) else solver
        return Variant(**{**SETTINGS, "solver": name, **changes}).fit(self.X, self.y)

    def accuracy(self, model: JPLRDLClassifier) -> float:
        return 100 * float(model.score(self.X_test, self.y_test))


@contextmanager
def algorithm1(**changes: Any) -> Iterator[None]:
    """Algorithm 1 with other arguments, whatever the solver asks for."""

    def changed(*arrays: Any, **arguments: Any) -> Any:
        return low_rank_atoms(*arrays, **{**arguments, **changes})

    with mock.patch.object(paper, "low_rank_atoms", changed):
        yield


def printed_projection(largest: bool, aligned: bool) -> type[Solver]:
    """The exact solver, but for P: eq22 and eq23 with the largest or smallest eigenvectors, aligned or as they come."""

    class Printed(ExactSolver):
        def update_projection(self) -> None:
            rest = self.X - (self.explained + self.explained_own) @ self.P.T
            M = rest.T @ rest + self.weights.projection * (self.X.T @ (self.projection_graph @ self.X))
            if aligned:
                self.P = paper.eigenvector_step(self.P, -M if largest else M, STEP)
            else:
                vectors = eigh(M)[1][:, ::-1] if largest else eigh(M)[1]
                self.P = self.P + STEP * (vectors[:, : self.P.shape[1]] - self.P)
            self.Y = self.X @ self.P
            self.evaluate("projection")
            self.record("projection")

    return Printed


def coefficient_graph(split: Split) -> Iterator[tuple[str, float]]:
    L = jplrdl.laplacian(split.coefficient).toarray()
    yield "smallest eigenvalue of L^c", np.linalg.eigvalsh(L)[0]
    yield "samples of 200 with L^c_pp < 0", np.sum(L.diagonal() < 0)
    yield "accuracy, shifted", split.accuracy(split.fit())
    with mock.patch("jplrdl.problem.shifted_laplacian", lambda W: jplrdl.laplacian(W, signed=True)):
        yield "accuracy, absolute degrees", split.accuracy(split.fit())


def projection_graph(split: Split) -> Iterator[tuple[str, float]]:
    yield "samples of 200 with a degree <= 0", np.sum(np.asarray(split.heat.sum(axis=1)).ravel() <= 0)
    values = np.linalg.eigvalsh(jplrdl.laplacian(split.heat, normalized=True, signed=True).toarray())
    yield "with absolute degrees smallest eigenvalue", values[0]
    yield "largest eigenvalue", values[-1]


def error_weight(split: Split) -> Iterator[tuple[str, float]]:
    for name, changes in (("weight 1, beta 0.1", {"lambda_sparse": 1.0, "lambda_error": 0.1}), ("fixed", {})):
        with algorithm1(**changes):
            model = split.fit("paper")
        own = own_codes(model.codes_, split.y, model.atom_labels_)
        yield f"{name}: accuracy", split.accuracy(model)
        yield f"{name}: rank of a class's atoms", class_rank(model)
        yield f"{name}: samples with no code over their own class", np.sum(~own.any(axis=1))


def class_rank(model: JPLRDLClassifier) -> float:
    """Mean number of singular values of a class's atoms above a thousandth of the largest."""
    blocks = [model.components_[model.atom_labels_ == label] for label in model.classes_]
    return float(np.mean([np.linalg.matrix_rank(block, tol=1e-3 * np.linalg.norm(block, 2)) for block in blocks]))


def incoherence_weight(split: Split) -> Iterator[tuple[str, float]]:
    for weight in (1.0, 0.1, 0.01, 0.001):
        yield f"weight {weight:g}: accuracy, exact", split.accuracy(split.fit(lambda_incoherence=weight))
        yield "paper", split.accuracy(split.fit("paper", lambda_incoherence=weight))


def other_terms(split: Split) -> Iterator[tuple[str, float]]:
    yield "rank of a class's 10 first atoms", class_rank(split.fit(max_iter=0))
    for solver in ("paper", "exact"):
        values = split.fit(solver, max_iter=1, learn_projection=False).history_["objective"]
        yield f"{solver}: objective before the first dictionary block", values[1]
        yield "after it", values[2]


def first_penalty(split: Split) -> Iterator[tuple[str, float]]:
    for mu in (1e-6, 0.1):
        with algorithm1(mu=mu):
            model = split.fit("paper")
        counts = [len(violations) for block in model.history_["algorithm1"] for violations in block]
        yield f"iterations a class from mu = {mu:g}", float(np.mean(counts))
        yield "accuracy", split.accuracy(model)


def stacked_terms(split: Split) -> Iterator[tuple[str, float]]:
    model = split.fit(max_iter=1)
    Y, A, D = model.project(split.X), model.codes_, model.components_
    own = own_codes(A, split.y, model.atom_labels_)
    yield "sum of the two squares", np.sum((Y - A @ D) ** 2) + np.sum((Y - own @ D) ** 2)
    yield "eq21's square", np.sum((Y - (A + own) @ D) ** 2)


def projection_steps(split: Split) -> Iterator[tuple[str, float]]:
    variants: dict[str, Callable[..., Solver] | str] = {
        "as printed (largest, as they come)": printed_projection(largest=True, aligned=False),
        "largest, aligned": printed_projection(largest=True, aligned=True),
        "smallest, as they come": printed_projection(largest=False, aligned=False),
        "smallest, aligned": printed_projection(largest=False, aligned=True),
        "exact step": "exact",
    }
    for name, solver in variants.items():
        model = split.fit(solver)
        drift = model.projection_.T @ model.projection_ - np.eye(model.projection_.shape[1])
        yield f"{name}: objective after {ROUNDS} rounds", model.history_["objective"][-1]
        yield "accuracy", split.accuracy(model)
        yield "distance of P'P from I", np.linalg.norm(drift)
    yield "no update: accuracy", split.accuracy(split.fit(learn_projection=False))


def first_projection(split: Split) -> Iterator[tuple[str, float]]:
    degree = np.asarray(split.heat.maximum(0).sum(axis=1)).ravel()
    scatter = split.X.T @ (degree[:, None] * split.X)
    yield f"rank of X'DX, a matrix of {len(scatter)} rows", np.linalg.matrix_rank(scatter)


def useless_dimensions(split: Split) -> Iterator[tuple[str, float]]:
    full = initial_projection(split.X, np.linalg.matrix_rank(split.X), method="pca")
    more = qr(np.hstack([full, np.random.default_rng(0).standard_normal((split.X.shape[1], 50))]), mode="economic")[0]
    yield "largest element of XP in 50 dimensions beyond the rank", np.abs(split.X @ more[:, -50:]).max()


def neighbour_reading(split: Split) -> Iterator[tuple[str, float]]:
    gaps = split.low_rank[:, None] - split.low_rank
    order = np.argsort(np.einsum("ijk,ijk->ij", gaps, gaps), axis=1, kind="stable")[:, 1:PER_CLASS]
    literal = np.mean(np.sum(split.y[order] == split.y[:, None], axis=1))
    yield "neighbours of the same class among the 9 nearest of all", literal
    yield "of other classes", PER_CLASS - 1 - literal
    yield "joined to other classes by \"or\"", np.mean(np.sum(split.coefficient.toarray() < 0, axis=1))


def lost_energy(split: Split) -> Iterator[tuple[str, float]]:
    for name, changes in (
        ("P kept", {"learn_projection": False}), ("tau = 0", {}), ("tau = 2", {"lambda_energy": 2.0}),
    ):  # fmt: skip
        model = split.fit(**changes)
        yield f"{name}: energy kept (%)", 100 * np.sum(model.project(split.X) ** 2) / np.sum(split.X**2)
        yield "accuracy", split.accuracy(model)


ITEMS: dict[int, Callable[[Split], Iterator[tuple[str, float]]]] = {
    2: coefficient_graph, 3: projection_graph, 4: error_weight, 5: incoherence_weight, 6: other_terms,
    7: first_penalty, 8: stacked_terms, 9: projection_steps, 10: first_projection, 11: useless_dimensions,
    12: neighbour_reading, 13: lost_energy,
}  # fmt: skip


def measured(splits: list[Split], item: int) -> str:
    """All numbers of an item, one after another."""
    runs = [list(ITEMS[item](split)) for split in splits]
    return "; ".join(
        f"{numbers[0][0]} {summary([number for _, number in numbers])}" for numbers in zip(*runs, strict=True)
    )


def summary(numbers: list[float]) -> str:
    mean, low, high = (f"{f(numbers):.3g}" for f in (np.mean, np.min, np.max))
    return mean if low == high else f"{mean} ({low} to {high})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--items", type=int, nargs="+", default=list(ITEMS), choices=list(ITEMS))
    arguments = parser.parse_args()
    folder = os.environ.get("JPLRDL_DATA")
    if folder is None:
        parser.error("the environment variable JPLRDL_DATA must name the folder with coil20_32x32.npz")
    measures.hold_one_thread()
    warnings.simplefilter("ignore")  # a printed step may well not converge
    images = np.load(pathlib.Path(folder) / "coil20_32x32.npz")
    X = images["X"].reshape(len(images["X"]), -1).astype(np.float64)
    splits = [Split(X, images["y"], seed) for seed in range(arguments.splits)]
    print("| item | measured |\n|---|---|")
    for item in arguments.items:
        print(f"| {item} | {measured(splits, item)} |", flush=True)


if __name__ == "__main__":
    main()
