"""The blocks of the model: each descends the objective it claims to, and does what its closed forms say."""

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array

import jplrdl
from jplrdl import objective, projection, reference
from jplrdl._algebra import estimated_eigenvalue, largest_eigenvalue
from jplrdl.coding import coupled_codes
from jplrdl.dictionary import atoms_objective, initial_dictionary, nuclear_norms, update_atoms
from jplrdl.graphs import shifted_laplacian
from jplrdl.projection import initial_projection, nearest_orthonormal, update_projection
from jplrdl.span import span_basis
from jplrdl.weights import Weights

PRECISION = {np.float64: 1e-9, np.float32: 1e-5}


@pytest.fixture
def classes(rng):
    """Three classes near subspaces of rank three, unit samples of forty features; and labels."""
    labels = np.repeat(np.arange(3), [8, 10, 12])
    bases = rng.standard_normal((3, 3, 40))
    X = np.einsum("nr,nrd->nd", rng.standard_normal((30, 3)), bases[labels]) + 0.1 * rng.standard_normal((30, 40)) + 0.5
    return X / np.linalg.norm(X, axis=1, keepdims=True), labels


def coupled_objective(H, cov, L, penalty, weight, codes):
    separate = sum(reference.lasso_objective(H, b, penalty, a) for b, a in zip(cov, codes, strict=True))
    return separate + weight * np.sum(codes * (L @ codes))


# ------------------------------------------------------------------------------------------------ first projection


def test_pca_projection_keeps_the_most_energy(classes):
    X, _ = classes
    P = initial_projection(X, 5, method="pca")
    np.testing.assert_allclose(P.T @ P, np.eye(5), atol=1e-12)
    singular = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(np.sum((X @ P) ** 2), np.sum(singular[:5] ** 2), rtol=1e-10)


@pytest.mark.parametrize("share", [0.0, 1e-3, 1.0])
def test_lpp_projection_spans_the_smallest_generalised_eigenvectors(classes, share):
    X, y = classes
    graph = jplrdl.signed_knn_graph(X, y, 4, 4, weights="heat")
    P = initial_projection(X, 3, graph=graph, ridge=share)
    np.testing.assert_allclose(P.T @ P, np.eye(3), atol=1e-12)
    positive = graph.toarray().clip(min=0)
    Z = X @ span_basis(X)
    D = np.diag(positive.sum(axis=1))
    ridge = share * np.trace(Z.T @ D @ Z) / Z.shape[1]
    ridged = Z.T @ (D - positive) @ Z + ridge * np.eye(Z.shape[1])
    values = np.sort(np.linalg.eigvals(np.linalg.solve(Z.T @ D @ Z, ridged)).real)
    local, scatter = P.T @ X.T @ (D - positive) @ X @ P + ridge * np.eye(3), P.T @ X.T @ D @ X @ P
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(np.linalg.solve(scatter, local)).real), values[:3], atol=1e-8)


def lpp_of_both(rng, shape, n_components, lonely, ridge=1e-3):
    """Ours and the reference's, of samples one of which may have no neighbour."""
    X, y = rng.standard_normal(shape) + 1, np.arange(shape[0]) % 4
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    graph = jplrdl.signed_knn_graph(X, y, 3, 3, weights="heat").tolil()
    if lonely:
        graph[5] = graph[:, 5] = 0
    return tuple(
        module.initial_projection(X, n_components, graph=graph.tocsr(), ridge=ridge)
        for module in (projection, reference)
    )


@pytest.mark.parametrize("shape", [(30, 40), (30, 20), (60, 40)])
@pytest.mark.parametrize("n_components", [2, 15])
@pytest.mark.parametrize(("lonely", "ridge"), [(False, 1e-3), (True, 1e-3), (False, 1.0)])
def test_lpp_directions_are_those_of_the_reference(rng, shape, n_components, lonely, ridge):
    """Independent samples have an eigenproblem of their own, which is not generalised."""
    P, truth = lpp_of_both(rng, shape, n_components, lonely, ridge)
    np.testing.assert_allclose(np.abs(P.T @ truth), np.eye(n_components), atol=1e-7)


@pytest.mark.parametrize("shape", [(30, 40), (60, 30)])
@pytest.mark.parametrize("n_components", [25, 29, 30])
@pytest.mark.parametrize("lonely", [False, True])
def test_most_lpp_directions_span_what_those_of_the_reference_span(rng, shape, n_components, lonely):
    """Then the few others are found, and what is orthogonal to them in the right sense."""
    P, truth = lpp_of_both(rng, shape, n_components, lonely)
    np.testing.assert_allclose(P.T @ P, np.eye(n_components), atol=1e-12)
    np.testing.assert_allclose(P @ P.T, truth @ truth.T, atol=1e-9)


@pytest.mark.parametrize("units", [[], [0], [0, 1], [0, 1, 2]])
def test_the_complement_of_columns_some_of_which_need_no_reflector(rng, units):
    A = rng.standard_normal((8, 3))
    A[:, units] = np.eye(8)[:, units]
    rest, Q = projection._complement(A), np.linalg.qr(A)[0]
    np.testing.assert_allclose(rest.T @ rest, np.eye(5), atol=1e-14)
    np.testing.assert_allclose(rest @ rest.T, np.eye(8) - Q @ Q.T, atol=1e-14)


def test_bad_projections_are_named(classes):
    X, _ = classes
    with pytest.raises(ValueError, match="n_components must be at most the rank of X, 30, got 31"):
        initial_projection(X, 31, method="pca")
    with pytest.raises(ValueError, match="graph must be given"):
        initial_projection(X, 3)
    with pytest.raises(ValueError, match="method must be"):
        initial_projection(X, 3, method="lda")
    with pytest.raises(ValueError, match="ridge must be finite and >= 0, got -1"):
        initial_projection(X, 3, method="pca", ridge=-1)


# ----------------------------------------------------------------------------------------------- projection update


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_projection_steps_descend_and_stay_orthonormal(rng, dtype):
    A = rng.standard_normal((20, 20))
    M, B = (A @ A.T).astype(dtype), rng.standard_normal((20, 6)).astype(dtype)
    P = np.linalg.qr(rng.standard_normal((20, 6)))[0].astype(dtype)

    def value(P):
        P, m, b = (a.astype(float) for a in (P, M, B))
        return np.trace(P.T @ m @ P) - 2 * np.trace(P.T @ b)

    values, curvature = [value(P)], None
    for _ in range(30):
        P, curvature = update_projection(P, M, B, curvature=curvature)
        values.append(value(P))
    assert np.diff(values).max() <= PRECISION[dtype] * abs(values[0])
    assert values[-1] < values[0] - 1
    np.testing.assert_allclose(P.T @ P, np.eye(6), atol=100 * np.finfo(dtype).eps)


def test_a_square_projection_is_a_procrustes_solution_at_once(rng):
    A, B = rng.standard_normal((2, 7, 7))
    U, _, Vt = np.linalg.svd(B)
    np.testing.assert_allclose(update_projection(np.eye(7), A @ A.T, B)[0], U @ Vt, atol=1e-10)


def test_projection_update_reaches_the_procrustes_solution(rng):
    # For M = I the first term is constant and the minimum is the polar factor of B.
    B = rng.standard_normal((12, 4))
    P, _ = update_projection(np.eye(12)[:, :4], np.eye(12), B)
    U, _, Vt = np.linalg.svd(B, full_matrices=False)
    np.testing.assert_allclose(P, U @ Vt, atol=1e-10)


def test_projection_update_reaches_the_smallest_eigenvalues(rng):
    A = rng.standard_normal((10, 10))
    M = A @ A.T
    start = np.linalg.qr(rng.standard_normal((10, 3)))[0]
    P, _ = update_projection(start, M, np.zeros((10, 3)), n_steps=5000, tol=0.0)
    np.testing.assert_allclose(np.trace(P.T @ M @ P), np.linalg.eigvalsh(M)[:3].sum(), rtol=1e-6)


def test_projection_steps_grow_until_one_ascends(rng):
    A, B = rng.standard_normal((20, 20)), rng.standard_normal((20, 6))
    M, P = A @ A.T, np.linalg.qr(rng.standard_normal((20, 6)))[0]
    ceiling = np.linalg.eigvalsh(M)[-1]
    after, curvature = update_projection(P, M, B)
    np.testing.assert_allclose(curvature, ceiling / 4)
    U, _, Vt = np.linalg.svd(ceiling * P - M @ P + B, full_matrices=False)
    np.testing.assert_allclose(after, U @ Vt, atol=1e-10)
    # At the minimum: a step with a small curvature turns P to -P, ascends, and is not taken.
    values, vectors = np.linalg.eigh(M)
    lowest = vectors[:, :2]
    stayed, curvature = update_projection(lowest, M, values[0] / 2 * lowest, curvature=1e-3 * values[0])
    np.testing.assert_array_equal(stayed, lowest)
    np.testing.assert_allclose(curvature, 4e-3 * values[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(9, 9), (12, 7)])
@pytest.mark.parametrize("weak", [1e-4, 1e-7, 1e-12, 0.0])
def test_a_projection_stays_where_the_matrix_tells_nothing(rng, dtype, shape, weak):
    n = shape[1]
    U, V = np.linalg.qr(rng.standard_normal(shape))[0], np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.r_[np.linspace(1, 3, n - 2), weak, 0.0]
    P = U @ np.diag(np.r_[np.ones(n - 2), -1.0, 1.0]) @ V.T
    A = (U * values) @ V.T
    found = nearest_orthonormal(A.astype(dtype), P.astype(dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(found.T @ found, np.eye(n), atol=100 * np.finfo(dtype).eps)
    # The nuclear norm is the maximum of tr(P'A); a proximal step may lack what the weak direction is worth.
    assert np.vdot(found, A) >= values.sum() - 2 * weak - 1e-5
    turned = U.T @ found @ V
    np.testing.assert_allclose(turned[:-2, :-2], np.eye(n - 2), atol=1e-3)
    np.testing.assert_allclose(turned[-1, -1], 1.0, atol=1e-3)
    if weak <= 1e-7:
        np.testing.assert_allclose(turned[-2, -2], -1.0, atol=1e-3)
    elif dtype == np.float64:
        np.testing.assert_allclose(turned[-2, -2], 1.0, atol=1e-3)


def test_a_projection_stays_where_there_is_nothing_to_descend():
    P = np.eye(5)[:, :3]
    np.testing.assert_array_equal(nearest_orthonormal(np.zeros((5, 3)), P), P)


# ------------------------------------------------------------------------------------------------------ dictionary


def test_first_atoms_are_singular_vectors_then_samples(classes):
    X, y = classes
    D, labels = initial_dictionary(X, y, n_atoms=11)
    np.testing.assert_array_equal(labels, np.repeat([0, 1, 2], 11))
    np.testing.assert_allclose(np.linalg.norm(D, axis=1), 1, atol=1e-12)
    own = D[labels == 0]
    np.testing.assert_allclose(np.abs(np.linalg.svd(X[y == 0], full_matrices=False)[2]), np.abs(own[:8]), atol=1e-10)
    np.testing.assert_allclose(own[8:], X[y == 0][:3], atol=1e-12)
    assert np.bincount(initial_dictionary(X, y)[1]).tolist() == [8, 10, 12]


def test_samples_may_be_the_first_atoms(classes):
    X, y = classes
    D, labels = initial_dictionary(X, y, n_atoms=11, method="samples")
    np.testing.assert_allclose(D[labels == 0], X[y == 0][np.arange(11) % 8], atol=1e-12)


def test_rounding_errors_are_no_atoms(rng):
    flat = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 15))
    D, _ = initial_dictionary(flat + 1e-12 * rng.standard_normal((6, 15)), np.zeros(6))
    assert np.linalg.matrix_rank(D, tol=1e-9) == 2
    np.testing.assert_allclose(D[2:], flat[:4] / np.linalg.norm(flat[:4], axis=1, keepdims=True), atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("incoherence", "rank"), [(0.0, 0.0), (0.5, 0.0), (0.0, 2.0), (0.3, 1.0)])
def test_atoms_descend_and_keep_unit_length(rng, dtype, incoherence, rank):
    A = rng.standard_normal((30, 6)) * (rng.random((30, 6)) < 0.5)
    Q, C = (2 * A.T @ A).astype(dtype), rng.standard_normal((6, 15)).astype(dtype) * 3
    D, rest = (a / np.linalg.norm(a, axis=1, keepdims=True) for a in rng.standard_normal((2, 6, 15)).astype(dtype))
    values = [atoms_objective(D, Q, C, rest, incoherence, rank)]
    for _ in range(20):
        D = update_atoms(D, Q, C, rest, lambda_incoherence=incoherence, lambda_rank=rank)
        values.append(atoms_objective(D, Q, C, rest, incoherence, rank))
    assert np.diff(values).max() <= 0
    assert values[-1] < values[0] - 1
    assert D.dtype == dtype
    np.testing.assert_allclose(np.linalg.norm(D, axis=1), 1, atol=100 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rank", [0.0, 2.0])
@pytest.mark.parametrize(("n_atoms", "n_components", "independent"), [(6, 15, 6), (6, 15, 3), (7, 4, 4), (1, 5, 1)])
def test_atoms_turn_as_the_reference_does(rng, dtype, rank, n_atoms, n_components, independent):
    """Also atoms that depend on each other, whose nuclear norm squaring would lose."""
    A = rng.standard_normal((30, n_atoms))
    D = rng.standard_normal((n_atoms, independent)) @ rng.standard_normal((independent, n_components))
    rest, C = rng.standard_normal((2, n_components)), 9 * rng.standard_normal((n_atoms, n_components))
    D, rest = (a / np.linalg.norm(a, axis=1, keepdims=True) for a in (D, rest))
    problem, weights = (D, 2 * A.T @ A, C, rest), {"lambda_incoherence": 0.3, "lambda_rank": rank, "n_sweeps": 3}
    found = update_atoms(*(a.astype(dtype) for a in problem), **weights)
    truth = reference.dictionary.update_atoms(*problem, **weights)
    np.testing.assert_allclose(found, truth, atol=1e-11 if dtype == np.float64 else 2e-5)


@pytest.mark.parametrize("rank", [2.0, 10.0, 50.0])
def test_low_rank_atoms_turn_as_the_reference_does(rng, rank):
    """Near their minimum a bound that is raised to a tenth of the largest ascends, and the next one must be tried."""
    for _ in range(10):
        D = rng.standard_normal((6, 3)) @ rng.standard_normal((3, 15))
        D /= np.linalg.norm(D, axis=1, keepdims=True)
        A = 0.3 * rng.standard_normal((30, 6))
        problem = D, 2 * A.T @ A, 2 * A.T @ A @ D + 0.05 * rng.standard_normal((6, 15)), D[:1]
        updates = update_atoms, reference.dictionary.update_atoms
        found, truth = (update(*problem, lambda_rank=rank, n_sweeps=6) for update in updates)
        np.testing.assert_allclose(found, truth, atol=1e-9)


def test_a_sweep_that_would_ascend_is_not_taken(rng):
    """Heavy low rank, and atoms that are at their minimum already."""
    D = np.linalg.qr(rng.standard_normal((9, 3)))[0].T
    best = update_atoms(D, np.eye(3), 3 * D, D[:1], lambda_rank=1.0, n_sweeps=400)
    np.testing.assert_allclose(update_atoms(best, np.eye(3), 3 * D, D[:1], lambda_rank=1.0), best, atol=1e-7)


def test_one_atom_alone_has_a_closed_form(rng):
    C = rng.standard_normal((1, 9))
    D = update_atoms(np.eye(9)[:1], [[2.0]], C, np.eye(9)[1:2])
    np.testing.assert_allclose(D, C / np.linalg.norm(C), atol=1e-12)


def test_the_nuclear_norm_lowers_the_rank(rng):
    A = rng.standard_normal((30, 8))
    Q, C = 2 * A.T @ A, 2 * A.T @ (A @ rng.standard_normal((8, 20)))
    start = rng.standard_normal((8, 20))
    start /= np.linalg.norm(start, axis=1, keepdims=True)

    def nuclear(weight):
        return np.linalg.norm(update_atoms(start, Q, C, start, lambda_rank=weight, n_sweeps=200), "nuc")

    assert nuclear(0.0) > nuclear(30.0) > nuclear(300.0)


def test_incoherence_turns_atoms_away(rng):
    start, rest = np.eye(10)[:3] + 0.1, np.eye(10)[:4]
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    C = start.copy()

    def overlap(weight):
        atoms = start
        for _ in range(100):
            atoms = update_atoms(atoms, np.eye(3), C, rest, lambda_incoherence=weight)
        return np.sum((atoms @ rest.T) ** 2)

    assert overlap(10.0) < 0.1 * overlap(0.0)


# ---------------------------------------------------------------------------------------------------- coupled codes


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("penalty", [0.05, 0.0])
def test_passes_descend_to_the_joint_minimum(rng, classes, penalty, dtype):
    X, y = classes
    D, _ = initial_dictionary(X, y)
    H, cov = D @ D.T + 0.1 * np.eye(len(D)), X @ D.T
    L = jplrdl.laplacian(jplrdl.signed_knn_graph(X, y, 3, 3), signed=True)
    codes = np.zeros((30, len(D)), dtype=dtype)
    values = [0.0]
    for _ in range(60):
        codes, info = coupled_codes(H.astype(dtype), cov.astype(dtype), L, penalty, 0.2, init=codes)
        assert info.converged
        values.append(coupled_objective(H, cov, L, penalty, 0.2, codes.astype(float)))
    assert codes.dtype == dtype
    assert np.diff(values).max() <= PRECISION[dtype] * abs(values[-1])
    gradient = 2 * (codes @ H - cov + 0.2 * (L @ codes))
    on = codes != 0
    tight = 1e-7 if dtype == np.float64 else 1e-3
    assert np.abs(gradient[on] + penalty * np.sign(codes[on])).max() < tight
    assert np.abs(gradient[~on]).max(initial=0.0) < penalty + tight


@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-9), (np.float32, 1e-4)])
def test_a_pass_is_that_of_the_reference(rng, classes, dtype, atol):
    X, y = classes
    H, cov = X @ X.T + 0.1 * np.eye(30), X @ X.T
    L = jplrdl.laplacian(jplrdl.signed_knn_graph(X, y, 3, 3), signed=True)
    start = 0.1 * rng.standard_normal(cov.shape) * (rng.random(cov.shape) < 0.2)
    codes, _ = coupled_codes(H.astype(dtype), cov.astype(dtype), L, 0.05, 0.2, init=start.astype(dtype))
    expected = reference.coupled_codes(H, cov, L.toarray(), 0.05, 0.2, init=start)
    np.testing.assert_allclose(codes, expected, atol=atol)


@pytest.mark.parametrize("weight", [0.3, 0.0])
def test_a_pass_without_penalty_is_that_of_the_reference(rng, weight):
    D = rng.standard_normal((12, 7)) @ rng.standard_normal((7, 20))  # twelve atoms of rank seven
    cov, H = rng.standard_normal((15, 20)) @ D.T, D @ D.T
    L = jplrdl.laplacian(jplrdl.signed_knn_graph(cov, np.arange(15) % 3, 3, 3), signed=True)
    start = 0.1 * rng.standard_normal(cov.shape)
    codes, info = coupled_codes(H, cov, L, 0.0, weight, init=start)
    assert info.converged
    expected = reference.coupled_codes(H, cov, L.toarray(), 0.0, weight, init=start)
    assert (coupled_objective(H, cov, L, 0.0, weight, codes)
            <= coupled_objective(H, cov, L, 0.0, weight, start))  # fmt: skip
    np.testing.assert_allclose(codes @ D, expected @ D, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weight", [0.3, 0.0])
def test_a_sample_of_zeros_among_others_converges_without_penalty(rng, weight, dtype):
    D, X = rng.standard_normal((40, 15)), rng.standard_normal((12, 15))
    X[3] = 0
    L = jplrdl.laplacian(jplrdl.signed_knn_graph(X, np.arange(12) % 3, 3, 3), signed=True)
    codes = np.zeros((12, 40), dtype=dtype)
    for _ in range(5):
        codes, info = coupled_codes((D @ D.T).astype(dtype), (X @ D.T).astype(dtype), L, 0.0, weight, init=codes)
        assert info.converged


def test_a_code_that_has_no_minimum_is_told():
    _, info = coupled_codes(np.diag([1.0, 0.0]), np.array([[1.0, 1.0], [1.0, 0.0]]), eye_array(2), 0.0, 0.0)
    np.testing.assert_array_equal(info.status, [2, 0])
    np.testing.assert_allclose(info.residual, [2.0, 0.0])


def test_without_weight_the_codes_are_those_of_the_samples_alone(classes):
    X, y = classes
    D, _ = initial_dictionary(X, y)
    codes, _ = coupled_codes(D @ D.T, X @ D.T, eye_array(30), 0.05, 0.0)
    np.testing.assert_allclose(codes @ D, jplrdl.sparse_encode(X, D, 0.05) @ D, atol=1e-9)


def test_a_code_of_many_non_zeros_is_found_from_any_start(rng):
    D, X = rng.standard_normal((90, 200)), rng.standard_normal((6, 200))
    expected = jplrdl.sparse_encode(X, D, 0.5)
    assert (expected != 0).sum(axis=1).min() > 60
    for start in (np.zeros_like(expected), rng.standard_normal(expected.shape), expected):
        codes, info = coupled_codes(D @ D.T, X @ D.T, eye_array(6), 0.5, 0.0, init=start)
        assert info.converged
        np.testing.assert_allclose(codes, expected, atol=1e-10)


def test_bad_coupling_is_named():
    with pytest.raises(ValueError, match=r"laplacian must have shape \(2, 2\)"):
        coupled_codes(np.eye(3), np.ones((2, 3)), eye_array(3), 0.1, 0.1)
    with pytest.raises(ValueError, match="laplacian must have a diagonal >= 0"):
        coupled_codes(np.eye(3), np.ones((2, 3)), -eye_array(2), 0.1, 0.1)


# ------------------------------------------------------------------------------------------------- the whole model


def literal_objective(X, P, D, A, y, labels, Lc, Lp, w):
    """The formula of the model, sum by sum."""
    Y = X @ P
    total = 0.0
    for i in np.unique(y):
        own, atoms = y == i, labels == i
        total += np.sum((Y[own] - A[own] @ D) ** 2) + np.sum((Y[own] - A[np.ix_(own, atoms)] @ D[atoms]) ** 2)
        for j in np.unique(y):
            if j != i:
                total += np.sum((A[np.ix_(own, labels == j)] @ D[labels == j]) ** 2)
                total += w.incoherence * np.sum((D[atoms] @ D[labels == j].T) ** 2)
        total += w.rank * np.linalg.norm(D[atoms], "nuc")
    total += w.sparse * np.abs(A).sum() + w.graph * np.trace(A.T @ Lc @ A)
    return total + w.projection * np.trace(Y.T @ Lp @ Y) + w.energy * np.sum((X - Y @ P.T) ** 2)


def test_what_a_code_minimises_doubles_the_atoms_of_its_class(rng):
    labels, y = np.array([0, 0, 1, 2, 2, 2]), np.array([2, 0, 1, 0])
    gram, cov = rng.standard_normal((6, 6)), rng.standard_normal((4, 6))
    np.testing.assert_array_equal(objective.coding_gram(gram, labels), gram * (1 + np.equal.outer(labels, labels)))
    np.testing.assert_array_equal(objective.coding_cov(cov.copy(), y, labels), cov * (1 + np.equal.outer(y, labels)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("share", [0, 0.02, 0.15, 0.5])
def test_split_codes_are_those_of_the_own_class_and_the_others(rng, dtype, share):
    labels, y = np.repeat(np.arange(6), [1, 40, 2, 30, 1, 9]), rng.integers(0, 6, 50)
    codes = np.where(rng.random((50, 83)) < share, rng.standard_normal((50, 83)), 0).astype(dtype)
    own = np.where(np.equal.outer(y, labels), codes, 0)
    for found, truth in zip(objective.split_codes(codes, y, labels), (codes, own, codes - own), strict=True):
        dense = found if share > 0.2 else found.toarray()
        assert dense.dtype == dtype
        np.testing.assert_array_equal(dense, truth)


def test_blocks_in_turn_descend_the_objective_of_the_model(classes):
    X, y = classes
    w = Weights(sparse=0.05, graph=0.01, rank=0.1, incoherence=0.01, projection=0.2, energy=0.5)
    graph = jplrdl.signed_knn_graph(X, y, 4, 4, weights="heat")
    Lc = csr_array(jplrdl.laplacian(jplrdl.signed_knn_graph(X, y, 4, 4), signed=True))
    Lp = jplrdl.laplacian(graph, normalized=True, signed=True)
    P = initial_projection(X, 12, graph=graph)
    D, labels = initial_dictionary(X @ P, y)
    A = np.zeros((len(X), len(D)))
    M = (2 - w.energy) * X.T @ X + w.projection * X.T @ (Lp @ X)
    values = []

    def record():
        found = objective.terms(X @ P, D, A, y, labels, Lc, Lp, np.sum(X**2), w)
        expected = literal_objective(X, P, D, A, y, labels, Lc.toarray(), Lp.toarray(), w)
        np.testing.assert_allclose(found["objective"], expected, rtol=1e-10)
        values.append(found["objective"])

    record()
    for _ in range(5):
        Y = X @ P
        H, cov = objective.coding_gram(D @ D.T, labels), objective.coding_cov(Y @ D.T, y, labels)
        A, _ = coupled_codes(H, cov, Lc, w.sparse, w.graph, init=A)
        record()
        for i in range(3):
            own = labels == i
            part = A[:, own]
            C = part.T @ (Y - A @ D) + part.T @ part @ D[own] + part[y == i].T @ Y[y == i]
            D = D.copy()
            D[own] = update_atoms(
                D[own], 2 * part.T @ part, C, D[~own], lambda_incoherence=w.incoherence, lambda_rank=w.rank
            )
            record()
        P, _ = update_projection(P, M, X.T @ (A @ D + objective.own_codes(A, y, labels) @ D))
        record()
    assert np.diff(values).max() <= 1e-9 * values[0]
    assert values[-1] < 0.95 * values[1]


@pytest.mark.parametrize("share", [0.05, 0.6])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_terms_are_those_of_the_formulas_for_sparse_and_dense_codes(rng, share, dtype):
    """Labels of 32 bits and a graph in double precision are as good as any."""
    X, P, y = rng.standard_normal((12, 9)), np.eye(9)[:, :6], np.repeat(np.arange(3), 4)
    D, labels = initial_dictionary(X @ P, y, 5)
    D, A = D.astype(dtype), (rng.standard_normal((12, 15)) * (rng.random((12, 15)) < share)).astype(dtype)
    W = jplrdl.signed_knn_graph(X, y, 2, 2)
    Lc, Lp = shifted_laplacian(W), jplrdl.laplacian(W, signed=True)
    w = Weights(sparse=0.05, graph=0.01, rank=0.1, incoherence=0.01, projection=0.2, energy=0.5)
    found = objective.terms((X @ P).astype(dtype), D, A, y, labels.astype(np.int32), Lc, Lp, np.sum(X**2), w)
    truth = reference.objective.terms(X, P, D, A, y, labels, Lc.toarray(), Lp.toarray(), w)
    for name, value in truth.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12 if dtype == np.float64 else 1e-5, err_msg=name)


@pytest.mark.parametrize("least", [1.0, 1e-3, 1e-6, 1e-12, 0.0])
def test_the_nuclear_norm_is_the_sum_of_singular_values_however_small(rng, least):
    U, V = (np.linalg.qr(rng.standard_normal((n, 4)))[0] for n in (4, 30))
    A = (U * [2.0, 1.0, 0.5, least]) @ V.T
    np.testing.assert_allclose(nuclear_norms(A, [slice(0, 4)]), 3.5 + least, rtol=1e-13)


def test_largest_eigenvalue_is_that_of_the_gram(rng):
    for shape in ((5, 9), (9, 5)):
        atoms = rng.standard_normal(shape)
        np.testing.assert_allclose(largest_eigenvalue(atoms), np.linalg.norm(atoms, 2) ** 2, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 3, 40, 300])
def test_an_estimate_of_the_largest_eigenvalue_has_ten_digits(rng, n):
    atoms = rng.standard_normal((n, 30))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    np.testing.assert_allclose(estimated_eigenvalue(atoms @ atoms.T), np.linalg.norm(atoms, 2) ** 2, rtol=1e-10)
    np.testing.assert_allclose(estimated_eigenvalue(np.eye(n)), 1.0, rtol=1e-14)
    assert estimated_eigenvalue(np.zeros((n, n))) == 0
