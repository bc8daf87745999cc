"""The solver "paper": Algorithm 1 against the reference and optimality conditions, eq22 and eq23 against m x m."""

import numpy as np
import pytest
from scipy.linalg import solve_sylvester
from sklearn.datasets import load_digits

import jplrdl
from jplrdl import reference
from jplrdl.classifier import JPLRDLClassifier
from jplrdl.graphs import shifted_laplacian
from jplrdl.krylov import KrylovSpace
from jplrdl.low_rank_dictionary import diagonal_sylvester, low_rank_atoms
from jplrdl.objective import own_codes
from jplrdl.paper import PaperSolver, eigenvector_step
from jplrdl.projection import initial_projection
from jplrdl.weights import Weights

WEIGHTS = {"lambda_sparse": 0.05, "lambda_rank": 0.2, "lambda_error": 1.0, "lambda_incoherence": 0.05}


@pytest.fixture
def problem(rng, unit_rows):
    """Nine samples near a subspace of rank three and one outlier, ten atoms, thirty others, and what these explain."""
    Y = rng.standard_normal((10, 3)) @ rng.standard_normal((3, 16)) + 0.05 * rng.standard_normal((10, 16))
    Y[-1] = 3 * rng.standard_normal(16)
    Y /= np.linalg.norm(Y, axis=1, keepdims=True)
    codes, explained = 0.1 * rng.standard_normal((10, 10)), 0.05 * rng.standard_normal((10, 16))
    return Y, unit_rows(10, 16), codes, unit_rows(30, 16), explained


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:150], y[:150], X[150:400], y[150:400]


# ------------------------------------------------------------------------------------------------------ Algorithm 1


def test_the_atoms_of_a_step_solve_the_sylvester_equation(rng):
    root, values, C = rng.standard_normal((6, 6)), rng.random(9), rng.standard_normal((6, 9))
    Q = root @ root.T + np.eye(6)
    D = diagonal_sylvester(Q, values, C)
    np.testing.assert_allclose(Q @ D + D * values, C, atol=1e-12)
    np.testing.assert_allclose(D, solve_sylvester(Q, np.diag(values), C), atol=1e-12)


@pytest.mark.parametrize("changes", [{}, {"lambda_incoherence": 0.0}, {"lambda_error": 0.3}, {"mu": 1e-3, "rho": 1.3}])
@pytest.mark.parametrize("max_iter", [1, 2, 25])
def test_every_iterate_is_that_of_the_printed_algorithm(problem, changes, max_iter):
    arguments = {**WEIGHTS, **changes, "max_iter": max_iter}
    found = low_rank_atoms(*problem, **arguments)
    D, Z, E, violations = reference.low_rank_atoms(*problem, **arguments)
    assert found.n_iter == max_iter
    for ours, theirs in ((found.atoms, D), (found.codes, Z), (found.error, E), (found.violations, violations)):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize(("weight", "dimensions"), [(0.0, 12), (1e-5, 48), (1e-3, 90), (1.0, 90)])
@pytest.mark.parametrize("scale", [0.0, 0.1])
def test_atoms_that_turn_little_are_sought_in_few_dimensions(rng, unit_rows, monkeypatch, weight, dimensions, scale):
    # Atoms in the span of six samples, as after initial_dictionary, and what others explain of these, or do not.
    Y = unit_rows(6, 90)
    problem = Y, Y[::-1].copy(), 0.1 * np.eye(6), unit_rows(150, 90), scale * rng.standard_normal((6, 90))
    sizes, coordinates = [], KrylovSpace.vectors
    monkeypatch.setattr(KrylovSpace, "vectors", lambda self, x: (sizes.append(x.shape[1]), coordinates(self, x))[1])
    arguments = {**WEIGHTS, "lambda_incoherence": weight, "max_iter": 60}
    found = low_rank_atoms(*problem, **arguments)
    D, Z, E, violations = reference.low_rank_atoms(*problem, **arguments)
    assert max(sizes) <= (dimensions if scale else dimensions // 2 if dimensions < 90 else 90)
    for ours, theirs in ((found.atoms, D), (found.codes, Z), (found.error, E), (found.violations, violations)):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


def test_nothing_to_learn_an_atom_without_samples_and_a_weight_that_may_not_grow(problem):
    nothing = low_rank_atoms(*(0 * array for array in problem), **WEIGHTS)
    assert nothing.n_iter == 1
    assert not nothing.atoms.any()
    # No sample along it and a nuclear norm that leaves nothing: the atom's equation says zero, and it stays.
    x, y = np.eye(2)[:1], np.eye(2)[1:]
    stays = low_rank_atoms(x, y, [[0.0]], x, 0 * x, lambda_rank=100.0, max_iter=1)
    np.testing.assert_array_equal(stays.atoms, y)
    arguments = {**WEIGHTS, "mu": 0.5, "mu_max": 0.7, "max_iter": 12}
    found, expected = low_rank_atoms(*problem, **arguments), reference.low_rank_atoms(*problem, **arguments)
    np.testing.assert_allclose(found.atoms, expected[0], atol=1e-9)
    np.testing.assert_allclose(found.violations, expected[3], atol=1e-9)


def test_one_iteration_meets_the_optimality_of_each_of_its_steps(problem):
    # From E = T = 0: what Z, A, J, D and E minimise, checked by gradients and by moving away from them.
    Y, D0, A0, others, R = problem
    mu, w = 0.7, {**WEIGHTS, "lambda_error": 0.4}
    found = low_rank_atoms(*problem, **w, mu=mu, max_iter=1)
    Z = found.codes
    on = Z != 0
    assert 0 < on.sum() < on.size
    np.testing.assert_allclose((Z - A0)[on], -w["lambda_sparse"] / mu * np.sign(Z[on]), atol=1e-12)
    assert np.abs(A0[~on]).max() <= w["lambda_sparse"] / mu
    A = np.linalg.solve(D0 @ D0.T + np.eye(10), D0 @ Y.T + Z.T).T
    np.testing.assert_allclose(-(Y - A @ D0) @ D0.T + A - Z, 0, atol=1e-12)
    assert found.violations[0, 2] == pytest.approx(np.linalg.norm(A - Z, axis=1).max(), abs=1e-12)

    J = reference.prox_nuclear(D0, w["lambda_rank"] / mu)[0]
    J /= np.linalg.norm(J, axis=1, keepdims=True)

    def lagrangian(D):
        smooth = np.sum((Y - A @ D - R) ** 2) + w["lambda_incoherence"] * np.sum((D @ others.T) ** 2)
        return smooth + mu / 2 * (np.sum((Y - A @ D) ** 2) + np.sum((D - J) ** 2))

    S = others.T @ others
    free = solve_sylvester(
        (2 + mu) * A.T @ A + mu * np.eye(10), 2 * w["lambda_incoherence"] * S, A.T @ (2 * (Y - R) + mu * Y) + mu * J
    )
    step = 1e-4 * np.random.default_rng(1).standard_normal((20, *free.shape))
    assert all(lagrangian(free + s) > lagrangian(free) for s in step)
    np.testing.assert_allclose(found.atoms, free / np.linalg.norm(free, axis=1, keepdims=True), atol=1e-10)

    left, E, t = Y - A @ found.atoms, found.error, w["lambda_error"] / mu
    assert 0 < E.any(axis=1).sum() < 10
    for row, error in zip(left, E, strict=True):
        if error.any():
            np.testing.assert_allclose(row - error, t * error / np.linalg.norm(error), atol=1e-10)
        else:
            assert np.linalg.norm(row) <= t


def test_it_ends_feasible_with_unit_atoms_of_low_rank(problem):
    Y = problem[0]
    found = low_rank_atoms(*problem, **WEIGHTS)
    assert found.converged
    assert found.violations[-1].max() < 1e-8
    np.testing.assert_allclose(np.linalg.norm(found.atoms, axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(found.codes @ found.atoms + found.error, Y, atol=1e-7)
    singular = np.linalg.svd(found.atoms, compute_uv=False)
    assert np.sum(singular > 1e-3) < 10
    assert low_rank_atoms(*problem, **{**WEIGHTS, "lambda_rank": 0.0}).converged


def test_the_violations_fall(problem):
    violations = low_rank_atoms(*problem, **WEIGHTS).violations
    quarters = np.array([part.max() for part in np.array_split(violations, 4)])
    assert (quarters[1:] < quarters[:-1]).all()
    assert quarters[-1] < 1e-3 * quarters[0]


def test_a_rotation_of_the_space_rotates_the_atoms_and_leaves_the_codes(problem, rng):
    Y, D, A, others, R = problem
    Q = np.linalg.qr(rng.standard_normal((16, 16)))[0]
    plain = low_rank_atoms(*problem, **WEIGHTS, max_iter=40)
    turned = low_rank_atoms(Y @ Q, D @ Q, A, others @ Q, R @ Q, **WEIGHTS, max_iter=40)
    np.testing.assert_allclose(turned.atoms @ Q.T, plain.atoms, atol=1e-8)
    np.testing.assert_allclose(turned.codes, plain.codes, atol=1e-8)
    np.testing.assert_allclose(turned.error @ Q.T, plain.error, atol=1e-8)
    np.testing.assert_allclose(turned.violations, plain.violations, atol=1e-8)


def test_no_code_is_worth_its_weight_when_errors_are_cheaper(problem):
    # |Da| <= |a|_1 for unit atoms: with lambda_error <= lambda_sparse the data term of eq17 leaves all to the error.
    cheap = low_rank_atoms(*problem, **{**WEIGHTS, "lambda_sparse": 1.0, "lambda_error": 0.1})
    dear = low_rank_atoms(*problem, **WEIGHTS)
    assert np.abs(cheap.codes).sum() < 0.1 * np.abs(dear.codes).sum()
    assert np.linalg.norm(cheap.error - problem[0]) < 0.5 * np.linalg.norm(dear.error - problem[0])


def test_incoherence_turns_atoms_away(problem):
    others = problem[3][:3]

    def overlap(weight):
        found = low_rank_atoms(
            *problem[:3], others, 0 * problem[4], **{**WEIGHTS, "lambda_incoherence": weight, "lambda_rank": 0.0}
        )
        return np.sum((found.atoms @ others.T) ** 2)

    assert overlap(10.0) < overlap(0.1) < overlap(0.0)


def test_float32_stays_float32_and_near(problem):
    found = low_rank_atoms(*(a.astype(np.float32) for a in problem), **WEIGHTS)
    assert found.converged
    assert found.atoms.dtype == found.codes.dtype == found.error.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found.atoms, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(found.codes @ found.atoms + found.error, problem[0], atol=1e-4)


def test_bad_arguments_are_named(problem):
    Y, D, A, others, R = problem
    with pytest.raises(ValueError, match=r"codes must have shape \(10, 10\)"):
        low_rank_atoms(Y, D, A[:5], others, R)
    with pytest.raises(ValueError, match="explained must have the shape of Y"):
        low_rank_atoms(Y, D, A, others, R[:5])
    with pytest.raises(ValueError, match="mu must be > 0"):
        low_rank_atoms(*problem, mu=0.0)
    with pytest.raises(ValueError, match="quadratic must have shape"):
        eigenvector_step(np.eye(3)[:, :1], np.eye(2), 0.1)


# ------------------------------------------------------------------------------------------------------ projection


def printed_step(X, P, explained, L, delta, gamma):
    """eq22 and eq23 on m x m matrices, samples as columns: smallest eigenvalues, aligned, orthonormalised."""
    phi = (X.T - P @ explained.T) @ (X.T - P @ explained.T).T
    U = np.linalg.eigh(phi + delta * X.T @ L @ X)[1][:, : P.shape[1]]
    left, _, right = np.linalg.svd(U.T @ P)
    moved = P + gamma * (U @ (left @ right) - P)
    values, vectors = np.linalg.eigh(moved.T @ moved)
    return moved @ (vectors / np.sqrt(values)) @ vectors.T


@pytest.fixture
def solver(rng):
    """Sixty samples of twenty features, so that their span is the whole space; codes and atoms after one round."""
    labels = np.repeat(np.arange(3), 20)
    X = rng.standard_normal((60, 20)) + 2 * rng.standard_normal((3, 20))[labels]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    graph = jplrdl.signed_knn_graph(X, labels, 5, 5, weights="heat")
    weights = Weights(sparse=0.05, graph=0.01, rank=0.5, incoherence=0.01, projection=0.3, energy=0.0)
    coefficient = jplrdl.signed_knn_graph(X, labels, 5, 5)
    state = PaperSolver(
        X, labels, initial_projection(X, 8, graph=graph), 6, shifted_laplacian(coefficient),
        jplrdl.laplacian(graph, normalized=True, signed=True), weights, projection_step=0.4,
    )  # fmt: skip
    state.update_codes()
    state.update_dictionary()
    return state


def test_the_projection_moves_as_eq22_and_eq23_say(solver):
    X, before, A, D = solver.X, solver.P, solver.codes, solver.D
    explained = A @ D + own_codes(A, solver.labels, solver.atom_labels) @ D
    solver.update_projection()
    expected = printed_step(X, before, explained, solver.projection_graph.toarray(), 0.3, 0.4)
    np.testing.assert_allclose(solver.P, expected, atol=1e-9)
    np.testing.assert_allclose(solver.P.T @ solver.P, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(solver.Y, X @ solver.P, atol=1e-12)
    change = np.sqrt(np.sum((solver.P - before) ** 2) / 8)
    assert solver.history["projection_change"] == [pytest.approx(change)]
    assert change > 0.01


def test_steps_towards_eigenvectors_are_monotone_and_do_not_feel_a_rotation(rng):
    root = rng.standard_normal((12, 12))
    M, P = root @ root.T, np.linalg.qr(rng.standard_normal((12, 4)))[0]
    values = [np.trace(p.T @ M @ p) for p in (eigenvector_step(P, M, step) for step in (0.0, 0.2, 0.5, 0.8, 1.0))]
    assert values[0] == pytest.approx(np.trace(P.T @ M @ P))
    assert np.diff(values).max() < 0
    assert values[-1] == pytest.approx(np.linalg.eigvalsh(M)[:4].sum())
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    np.testing.assert_allclose(eigenvector_step(P @ Q, M, 0.3), eigenvector_step(P, M, 0.3) @ Q, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_step_of_a_square_projection_stays_where_it_is(rng, dtype):
    """All singular values are 1 then, which LAPACK's divide and conquer cannot always tell apart."""
    P = np.linalg.qr(rng.standard_normal((60, 60)))[0].astype(dtype)
    M = np.diag(np.arange(60.0)).astype(dtype)
    found = eigenvector_step(P, M, 0.4)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, P, atol=100 * np.finfo(dtype).eps)


def test_the_dictionary_block_is_algorithm_1_class_after_class(solver):
    D, A = solver.D.copy(), solver.codes.copy()
    solver.update_dictionary()
    for label in range(3):
        mine, own = solver.labels == label, solver.atom_labels == label
        explained = A[mine][:, ~own] @ D[~own]
        D[own], A[np.ix_(mine, own)], _, violations = reference.low_rank_atoms(
            solver.Y[mine], D[own], A[np.ix_(mine, own)], D[~own], explained,
            lambda_sparse=0.05, lambda_rank=0.5, lambda_error=1.0, lambda_incoherence=0.01,
        )  # fmt: skip
        np.testing.assert_allclose(solver.history["algorithm1"][-1][label], violations, atol=1e-6)
    np.testing.assert_allclose(solver.D, D, atol=1e-6)
    np.testing.assert_allclose(solver.codes, A, atol=1e-6)


# ------------------------------------------------------------------------------------------------- the whole model


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_estimator_learns_to_read_with_it(digits, dtype):
    X, y = digits[0].astype(dtype), digits[1]
    model = JPLRDLClassifier(25, solver="paper", lambda_rank=1.0, max_iter=3, tol=0.0).fit(X, y)
    assert model.score(digits[2].astype(dtype), digits[3]) > 0.75
    assert model.components_.dtype == model.projection_.dtype == model.codes_.dtype == dtype
    np.testing.assert_allclose(model.projection_.T @ model.projection_, np.eye(25), atol=1e3 * np.finfo(dtype).eps)
    history = model.history_
    assert len(history["block"]) == len(history["objective"]) == 2 + 3 * 3
    assert len(history["algorithm1"]) == len(history["projection_change"]) == 3
    for block in history["algorithm1"]:
        assert [violations.shape[1] for violations in block] == [3] * 10
        assert max(violations[-1].max() for violations in block) < (1e-8 if dtype == np.float64 else 1e-5)


def test_its_parameters_reach_the_solver(digits):
    X, y = digits[0][:80], digits[1][:80]

    def learned(**changes):
        return JPLRDLClassifier(15, **{"solver": "paper", "max_iter": 1, **changes}).fit(X, y)

    plain = learned()
    assert learned(projection_step=0.2).history_["projection_change"][0] > 1.5 * plain.history_["projection_change"][0]
    assert not np.allclose(learned(lambda_error=0.1).components_, plain.components_, atol=1e-3)
    assert "algorithm1" not in JPLRDLClassifier(15, max_iter=1).fit(X, y).history_
    for name, value in [("solver", "other"), ("lambda_error", 0.0), ("projection_step", 1.5)]:
        with pytest.raises(ValueError, match=name):
            learned(**{name: value})


@pytest.mark.parametrize(
    "changes",
    [{"n_atoms": 20}, {"lambda_rank": 100.0}, {"lambda_rank": 0.0, "lambda_sparse": 0.0}, {"lambda_incoherence": 1e3},
     {"lambda_error": 1e-3}],
)  # fmt: skip
def test_extremes_a_zero_sample_and_a_class_of_one_do_no_harm(digits, changes):
    X, y = digits[0].copy(), digits[1]
    chosen = np.concatenate([np.flatnonzero(y == 0)[:12], np.flatnonzero(y == 1)[:5], np.flatnonzero(y == 2)[:1]])
    X[chosen[3]] = 0.0
    model = JPLRDLClassifier(8, **{"solver": "paper", "max_iter": 2, **changes}).fit(X[chosen], y[chosen])
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1, atol=1e-10)
    assert np.isfinite(model.codes_).all()
    assert max(violations[-1].max() for violations in model.history_["algorithm1"][-1]) < 1e-8
