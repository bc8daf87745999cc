"""The state of a fit: what it records block by block is the objective of its state, whatever was computed anew."""

import numpy as np
import pytest

from jplrdl import objective
from jplrdl import solver as solvers
from jplrdl.classification import unit_rows
from jplrdl.exact import ExactSolver
from jplrdl.problem import pose_problem
from jplrdl.weights import Weights


def solver_of(rng, n_classes, sparse, dtype=np.float64, n_jobs=None):
    """Samples of several portions, atoms of more than one group, every weight at work."""
    centres = 2 * rng.standard_normal((n_classes, 1, 40))
    X = unit_rows((centres + rng.standard_normal((n_classes, 12, 40))).reshape(-1, 40)).astype(dtype)
    problem = pose_problem(X, np.repeat(np.arange(n_classes), 12), low_rank_graph=False)
    weights = Weights(sparse=sparse, graph=0.01, rank=0.1, incoherence=0.01, projection=0.1, energy=0.5)
    first = problem.first_projection(15, "lpp", 0.001)
    graphs = problem.graph, problem.projection_graph
    return ExactSolver(problem.X, problem.labels, first, 4, *graphs, weights, n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [0.2, 0.0])
def test_every_block_leaves_the_terms_of_its_state(rng, sparse, dtype, n_jobs, monkeypatch):
    monkeypatch.setattr(solvers, "_LEAST", 0)
    solver = solver_of(rng, 26, sparse, dtype, n_jobs)
    assert solver.n_jobs == n_jobs
    assert len(solver.Y) > 3 * 96
    assert len(solver.D) > 80
    for block in (solver.update_codes, solver.update_dictionary, solver.update_projection, solver.update_codes):
        block()
        truth = objective.terms(
            solver.Y, solver.D, solver.codes, solver.labels, solver.atom_labels, solver.graph, solver.projection_graph,
            float(np.sum(solver.X.astype(float) ** 2)), solver.weights,
        )  # fmt: skip
        assert isinstance(solver.split.all, np.ndarray) == (sparse == 0)
        for name, value in truth.items():
            assert solver.history[name][-1] == pytest.approx(value, rel=1e-9 if dtype == np.float64 else 1e-3), name


def test_a_small_fit_keeps_to_one_thread(rng):
    assert solver_of(rng, 26, 0.2, n_jobs=2).n_jobs == 1


def test_who_goes_on_from_another_leaves_it_as_it_is():
    first, second = (solver_of(np.random.default_rng(3), 5, 0.2) for _ in range(2))
    first.update_codes()
    kept = first.codes.copy()
    second.go_on_from(first)
    second.update_dictionary()
    second.update_codes()
    assert np.abs(second.codes - kept).max() > 1e-3
    np.testing.assert_array_equal(first.codes, kept)
