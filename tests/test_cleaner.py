"""The cleaner: the optimum against an independent solver, known truths recovered, scikit-learn's conventions."""

import os
import pathlib
import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import jplrdl
from jplrdl import LowRankCleaner, _rectangle, occlusion, reference
from jplrdl.datasets import saturate_pixels
from jplrdl.huber import huber_fit
from jplrdl.occlusion import find_blocks, typical_steps


def huber(r, t):
    return np.where(np.abs(r) <= t, r**2 / 2, t * np.abs(r) - t**2 / 2)


@pytest.fixture
def problem(rng):
    """Samples with outliers over a basis that does not hold all of them; threshold and weights."""
    basis = np.linalg.qr(rng.standard_normal((60, 8)))[0].T
    X = 5 * rng.standard_normal((100, 8)) @ basis + 0.1 * rng.standard_normal((100, 60))
    X[rng.random(X.shape) < 0.2] = 8.0
    return X, basis, 0.2, np.geomspace(1e-3, 2.0, 8)


@pytest.fixture(scope="module")
def images():
    """Three classes of images of low rank, and labels; pixels in [0, 1] or so."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.random((40, 3)) @ rng.random((3, 80)) / 2 for _ in range(3)])
    return X, np.repeat([0, 1, 2], 40)


@pytest.fixture(scope="module")
def corrupted(images):
    return saturate_pixels(images[0], 0.1, value=2.0, random_state=0)


def differs_by_design(estimator):
    """The split of training images is not the fit of new ones, as in scikit-learn's TargetEncoder."""
    reason = "fit_transform(X) is not fit(X).transform(X)"
    return {"check_transformer_general": reason, "check_transformer_data_not_an_array": reason}


@parametrize_with_checks(
    [LowRankCleaner(), LowRankCleaner(mode="class"), LowRankCleaner(missing_values=np.nan)],
    expected_failed_checks=differs_by_design,
)
def test_estimator_conventions(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------------------------------ Huber's fit


@pytest.mark.parametrize("masked", [False, True])
def test_the_fit_is_the_optimum_that_another_solver_finds(problem, rng, masked):
    X, V, t, w = problem
    mask = rng.random(X.shape) < 0.6 if masked else np.ones(X.shape, dtype=bool)
    y, info = huber_fit(X, V, t, w, mask=mask if masked else None, tol=1e-12)
    assert info.converged
    for x, seen, mine in zip(X[:10], mask, y, strict=False):

        def objective(y, x=x, seen=seen):
            r = (x - y @ V)[seen]
            return huber(r, t).sum() + w @ y**2 / 2, w * y - V[:, seen] @ np.clip(r, -t, t)

        other = minimize(objective, np.zeros(8), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
        assert objective(mine)[0] <= other.fun * (1 + 1e-10)
        np.testing.assert_allclose(mine, other.x, atol=1e-5)


@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-10), (np.float64, 1e-3), (np.float32, 1e-6)])
def test_the_gap_is_primal_minus_dual(problem, dtype, tol):
    X, V, t, w = problem
    y, info = huber_fit(X.astype(dtype), V.astype(dtype), t, w, tol=tol)
    assert y.dtype == dtype
    assert info.converged
    assert info.gap.max() <= tol
    y = y.astype(float)
    primal = huber(X - y @ V, t).sum(axis=1) + y**2 @ w / 2
    u = np.clip(X - y @ V, -t, t)
    dual = (u * X).sum(axis=1) - (u**2).sum(axis=1) / 2 - (u @ V.T) ** 2 @ (1 / w) / 2
    np.testing.assert_allclose(info.gap, (primal - dual) / primal, atol=1e-13 if dtype == np.float64 else 1e-5)


def test_pixels_not_observed_are_as_if_deleted(problem, rng):
    X, V, t, w = problem
    mask = rng.random(60) < 0.7
    holes = np.where(mask, X, np.nan)
    y, _ = huber_fit(holes, V, t, w, mask=np.tile(mask, (100, 1)), tol=1e-13)
    # Without those columns the basis is not orthonormal: another one, and the ridge turned with it.
    gradient = np.clip(X[:, mask] - y @ V[:, mask], -t, t) @ V[:, mask].T - w * y
    assert np.abs(gradient).max() < 1e-5
    nothing, _ = huber_fit(holes, V, t, w, mask=np.zeros(X.shape, dtype=bool))
    assert not nothing.any()


def test_threads_do_not_change_a_bit(problem):
    X, V, t, w = problem
    X = np.vstack([X, X[::-1], 2 * X])
    one, two = (huber_fit(X, V, t, w, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1].gap, two[1].gap)


def test_small_residuals_are_fitted_by_ridge_regression(problem):
    X, V, _, w = problem
    y, _ = huber_fit(X, V, 1e3, w, tol=1e-20)
    np.testing.assert_allclose(y, X @ V.T / (1 + w), atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"basis": np.eye(3)}, ValueError, r"basis must have 60 columns, as X has, got shape \(3, 3\)"),
        ({"weights": np.ones(3)}, ValueError, "weights must be 8 numbers > 0"),
        ({"weights": np.zeros(8)}, ValueError, "weights must be 8 numbers > 0"),
        ({"threshold": 0.0}, ValueError, "threshold must be > 0"),
        ({"mask": np.ones((2, 2), dtype=bool)}, ValueError, r"mask must have the shape of X, \(100, 60\), got \(2, 2"),
        ({"mask": np.ones((100, 60))}, TypeError, "mask must hold booleans, got dtype float64"),
    ],
)
def test_bad_arguments_of_the_fit_are_named(problem, arguments, error, message):
    X, V, t, w = problem
    with pytest.raises(error, match=message):
        huber_fit(**{"X": X, "basis": V, "threshold": t, "weights": w, **arguments})


# -------------------------------------------------------------------------------------------------------- completion


@pytest.fixture
def holes(rng):
    """A matrix of rank three of which one in twenty entries is off by much and a third not observed; mask and truth."""
    truth = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 80))
    X = truth + 8.0 * (rng.random(truth.shape) < 0.05) * rng.choice([-1, 1], truth.shape)
    mask = rng.random(truth.shape) < 2 / 3
    return np.where(mask, X, np.nan), mask, truth


@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-4), (np.float32, 1e-2)])
def test_completion_recovers_the_truth(holes, dtype, error):
    X, mask, truth = holes
    result = jplrdl.robust_pca(X.astype(dtype), mask=mask, rho=1.2)
    assert result.converged
    assert result.rank == 3
    assert result.low_rank.dtype == dtype
    assert np.abs(result.low_rank - truth).max() < error
    np.testing.assert_array_equal(result.sparse != 0, mask & (np.abs(X - truth) > 0.1))


def test_completion_matches_the_reference_and_tells_the_truth(holes):
    X, mask, _ = holes
    result = jplrdl.robust_pca(X, mask=mask)
    L, E, n_iter = reference.robust_pca(X, mask=mask)
    assert result.n_iter == n_iter
    np.testing.assert_allclose(result.low_rank, L, atol=1e-9)
    np.testing.assert_allclose(result.sparse[mask], E[mask], atol=1e-5)
    objective = np.linalg.norm(L, "nuc") + np.abs(X - L)[mask].sum() / np.sqrt(100 * mask.mean())
    np.testing.assert_allclose(result.objective, objective, rtol=1e-8)
    assert 0 <= result.gap <= 0.1 * result.objective
    feasibility = np.linalg.norm((X - result.low_rank - result.sparse)[mask]) / np.linalg.norm(X[mask])
    np.testing.assert_allclose(result.feasibility, feasibility, rtol=1e-6)


def test_a_full_mask_is_no_mask(holes):
    X = np.nan_to_num(holes[0])
    plain, masked = jplrdl.robust_pca(X), jplrdl.robust_pca(X, mask=np.ones(X.shape, dtype=bool))
    np.testing.assert_array_equal(plain.low_rank, masked.low_rank)
    with pytest.raises(ValueError, match="X must be finite, got nan"):
        jplrdl.robust_pca(holes[0], mask=np.ones(X.shape, dtype=bool))


# ------------------------------------------------------------------------------------------------------- the cleaner


@pytest.mark.parametrize("mode", ["global", "class"])
def test_corrupted_pixels_are_taken_away(images, corrupted, mode):
    X, y = images
    train = np.arange(len(X)) % 4 != 0
    cleaner = LowRankCleaner(mode)
    cleaned = cleaner.fit_transform(corrupted[train], y[train])
    np.testing.assert_array_equal(cleaned, cleaner.low_rank_)
    assert np.abs(cleaned - X[train]).max() < 0.02
    np.testing.assert_allclose(cleaner.low_rank_ + cleaner.sparse_, corrupted[train], atol=1e-3)
    assert np.abs(cleaner.transform(corrupted[~train]) - X[~train]).max() < 0.05
    error = cleaner.error(corrupted[~train])
    np.testing.assert_array_equal(error, corrupted[~train] - cleaner.transform(corrupted[~train]))
    np.testing.assert_array_equal(error > 0.1, corrupted[~train] - X[~train] > 0.1)


def test_global_and_class_are_robust_pca_of_all_and_of_each_class(images, corrupted):
    y = images[1]
    names = np.array(["b", "c", "a"])[y]
    whole, each = LowRankCleaner(eta=0.1, tol=1e-7).fit(corrupted), LowRankCleaner("class", eta=0.1, tol=1e-7)
    each.fit(corrupted, names)
    np.testing.assert_array_equal(whole.low_rank_, jplrdl.robust_pca(corrupted, eta=0.1).low_rank)
    assert list(each.classes_) == ["a", "b", "c"]
    for label in range(3):
        alone = jplrdl.robust_pca(corrupted[y == label], eta=0.1)
        np.testing.assert_allclose(each.low_rank_[y == label], alone.low_rank, atol=1e-10)
        np.testing.assert_allclose(each.sparse_[y == label], alone.sparse, atol=1e-10)


def test_a_new_image_is_the_optimum_of_the_documented_problem(images, corrupted):
    cleaner = LowRankCleaner(pixel_error=0.3, ridge=0.2, tol=1e-10).fit(corrupted[:100])
    L = cleaner.low_rank_
    s = np.sqrt(np.mean(L**2))
    np.testing.assert_allclose(cleaner.scale_, s, rtol=1e-12)
    np.testing.assert_allclose(cleaner.basis_ @ cleaner.basis_.T, np.eye(len(cleaner.basis_)), atol=1e-12)
    np.testing.assert_allclose(L @ cleaner.basis_.T @ cleaner.basis_, L, atol=1e-12)
    for x in corrupted[100:103]:

        def objective(c, x=x):
            r = x - c @ L
            value = huber(r, 0.3 * s).sum() + 0.2 * 80 * s**2 * c @ c / 2
            return value, 0.2 * 80 * s**2 * c - L @ np.clip(r, -0.3 * s, 0.3 * s)

        c = minimize(objective, np.zeros(100), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10}).x
        np.testing.assert_allclose(cleaner.transform([x])[0], c @ L, atol=1e-5)


@pytest.mark.parametrize("factor", [255.0, 1e-150, 1e150])
def test_scales_with_the_images(corrupted, factor):
    plain, scaled = LowRankCleaner().fit(corrupted[:100]), LowRankCleaner().fit(factor * corrupted[:100])
    np.testing.assert_allclose(scaled.low_rank_ / factor, plain.low_rank_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        scaled.transform(factor * corrupted[100:]) / factor, plain.transform(corrupted[100:]), rtol=1e-8, atol=1e-8
    )


@pytest.mark.parametrize("mode", ["global", "class"])
def test_threads_do_not_change_the_cleaner(images, corrupted, mode):
    one, two = (LowRankCleaner(mode, n_jobs=n_jobs).fit(corrupted, images[1]) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.low_rank_, two.low_rank_)
    np.testing.assert_array_equal(one.transform(corrupted[::-1]), two.transform(corrupted[::-1]))


@pytest.mark.parametrize("missing", [np.nan, 2.0])
def test_missing_pixels_are_completed(images, missing):
    X = images[0]
    holes = saturate_pixels(X, 0.2, value=missing, random_state=0)
    train = np.arange(len(X)) % 4 != 0
    cleaner = LowRankCleaner(missing_values=missing)
    cleaned = cleaner.fit_transform(holes[train])
    assert np.abs(cleaned - X[train]).max() < 0.05
    assert np.abs(cleaner.transform(holes[~train]) - X[~train]).max() < 0.05
    error, away = cleaner.error(holes[~train]), np.isnan(holes[~train]) | (holes[~train] == 2.0)
    assert not error[away].any()
    assert error[~away].all()
    assert not cleaner.sparse_[np.isnan(holes[train]) | (holes[train] == 2.0)].any()
    # What the missing value is does not matter, and an image without any observed pixel is zero.
    assert not cleaner.transform(np.full((1, 80), missing)).any()


def test_missing_values_do_not_matter(images, corrupted):
    mask = np.random.default_rng(3).random(corrupted.shape) < 0.8
    by_nan = LowRankCleaner(missing_values=np.nan).fit(np.where(mask, corrupted, np.nan)[:100])
    by_number = LowRankCleaner(missing_values=-7.0).fit(np.where(mask, corrupted, -7.0)[:100])
    np.testing.assert_array_equal(by_nan.low_rank_, by_number.low_rank_)
    np.testing.assert_array_equal(
        by_nan.transform(np.where(mask, corrupted, np.nan)), by_number.transform(np.where(mask, corrupted, -7.0))
    )
    none_missing = LowRankCleaner(missing_values=np.nan).fit(corrupted)
    np.testing.assert_array_equal(none_missing.low_rank_, LowRankCleaner().fit(corrupted).low_rank_)


def test_single_precision_stays_single(corrupted):
    double, single = LowRankCleaner().fit(corrupted[:100]), LowRankCleaner()
    cleaned = single.fit_transform(corrupted[:100].astype(np.float32))
    assert cleaned.dtype == single.basis_.dtype == single.sparse_.dtype == np.float32
    np.testing.assert_allclose(cleaned, double.low_rank_, atol=1e-2)
    new = single.transform(corrupted[100:].astype(np.float32))
    assert new.dtype == single.error(corrupted[100:].astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(new, double.transform(corrupted[100:]), atol=1e-2)
    assert double.transform(corrupted.astype(np.float32)).dtype == np.float32


def test_pipelines_clones_and_pickles(images, corrupted):
    y = images[1]
    model = make_pipeline(LowRankCleaner("class"), LinearSVC(random_state=0)).fit(corrupted[::2], y[::2])
    assert model.score(corrupted[1::2], y[1::2]) > 0.9
    cleaner = model[0]
    assert clone(cleaner).get_params() == cleaner.get_params()
    stored = pickle.loads(pickle.dumps(cleaner))
    np.testing.assert_array_equal(stored.transform(corrupted), cleaner.transform(corrupted))
    assert list(cleaner.get_feature_names_out()[:2]) == ["x0", "x1"]


def test_the_name_is_public_but_its_import_is_lazy():
    assert jplrdl.LowRankCleaner is LowRankCleaner
    assert "LowRankCleaner" in dir(jplrdl)


def test_zero_images_constant_pixels_and_one_image(corrupted):
    nothing = LowRankCleaner().fit(np.zeros((5, 6)))
    assert nothing.basis_.shape == (0, 6)
    assert not nothing.transform(np.ones((2, 6))).any()
    np.testing.assert_array_equal(nothing.error(np.ones((2, 6))), np.ones((2, 6)))
    X = corrupted.copy()
    X[:, 3], X[7] = 1.0, 0.0
    cleaner = LowRankCleaner().fit(X)
    assert not cleaner.transform(np.zeros((1, 80))).any()
    assert np.isfinite(cleaner.transform(X)).all()
    np.testing.assert_allclose(cleaner.low_rank_[7], 0, atol=1e-6)
    one = LowRankCleaner().fit(X[:1])
    assert one.basis_.shape == (1, 80)
    assert one.transform(X).shape == X.shape


def test_limits_are_told(images, corrupted):
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter = 2 iterations at feasibility"):
        cleaner = LowRankCleaner("class", max_iter=2, n_jobs=2).fit(corrupted, images[1])
    with pytest.warns(ConvergenceWarning, match="120 of 120 images stopped after max_iter = 2 iterations at a gap"):
        cleaner.transform(corrupted)


def test_verbose_prints_a_line_a_call(corrupted, capsys):
    LowRankCleaner(verbose=True).fit(corrupted).transform(corrupted)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("[LowRankCleaner] 120 training images: rank ")


def test_bad_input_is_named(images, corrupted):
    with pytest.raises(ValueError, match="y must be given for mode='class'"):
        LowRankCleaner("class").fit(corrupted)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LowRankCleaner("class").fit(corrupted, [0, 1])
    with pytest.raises(ValueError, match="X must have observed pixels, got missing_values = nan in all of them"):
        LowRankCleaner(missing_values=np.nan).fit(np.full((3, 4), np.nan))
    spoilt = corrupted.copy()
    spoilt[3, 4] = np.nan
    for missing in (None, 255.0):
        with pytest.raises(ValueError, match="NaN"):
            LowRankCleaner(missing_values=missing).fit(spoilt)
    with pytest.raises(ValueError, match="80 features"):
        LowRankCleaner().fit(corrupted).transform(corrupted[:, :70])
    for name, value in [("mode", "all"), ("eta", 0.0), ("pixel_error", 0.0), ("ridge", 0.0), ("missing_values", "255")]:
        with pytest.raises(ValueError, match=name):
            LowRankCleaner(**{name: value}).fit(corrupted)


# ------------------------------------------------------------------------------------------------------------ blocks

SHAPE = (24, 20)


@pytest.fixture(scope="module")
def covered():
    """Smooth images, the same with another, brighter or darker, in a block of each but the first five; and where."""
    rng = np.random.default_rng(2)
    rows, columns = np.meshgrid(np.linspace(0, 1, 24), np.linspace(0, 1, 20), indexing="ij")
    patterns = np.stack([np.ones(SHAPE), rows, columns, np.sin(3 * rows), np.cos(4 * columns), rows * columns])
    X = rng.uniform(0.2, 1, (80, 6)) @ patterns.reshape(6, -1)
    blocks = np.zeros((80, *SHAPE), dtype=bool)
    for block in blocks[5:]:
        top, left = rng.integers(0, 14), rng.integers(0, 11)
        block[top : top + 10, left : left + 9] = True
    blocks = blocks.reshape(X.shape)
    other = rng.permutation(X)[:, ::-1] + rng.choice([-1, 1], (80, 1)) * rng.uniform(0.5, 1.5, (80, 1))
    return X, np.where(blocks, other, X), blocks


@pytest.mark.parametrize("seed", range(3))
def test_the_best_rectangle_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    h, v = rng.standard_normal((2, 8, 6)), rng.standard_normal((2, 7, 7))
    H = np.concatenate([np.zeros((2, 8, 1)), h.cumsum(axis=2)], axis=2)
    V = np.concatenate([np.zeros((2, 1, 7)), v.cumsum(axis=1)], axis=1)
    found, scores = np.zeros((2, 4), dtype=np.intp), np.empty(2)
    _rectangle.find(H, V, 2, found, scores)
    for i in range(2):
        every = {
            (t, b, l, r): h[i, t, l:r].sum() + h[i, b, l:r].sum() + v[i, t:b, l].sum() + v[i, t:b, r].sum()
            for t in range(8) for b in range(t + 2, 8) for l in range(7) for r in range(l + 2, 7)  # noqa: E741
        }  # fmt: skip
        assert tuple(found[i].tolist()) == max(every, key=every.get)
        np.testing.assert_allclose(scores[i], max(every.values()))


def test_blocks_are_found_and_nothing_else(covered):
    X, spoilt, blocks = covered
    found = find_blocks(spoilt, SHAPE, typical_steps(spoilt, SHAPE))
    assert not found[:5].any()
    assert (found & blocks).sum() > 0.75 * blocks.sum()
    assert (found & blocks).sum() > 0.95 * found.sum()
    assert not find_blocks(X, SHAPE, typical_steps(X, SHAPE)).any()
    np.testing.assert_array_equal(found, find_blocks(spoilt, SHAPE, typical_steps(spoilt, SHAPE), n_jobs=2))
    np.testing.assert_array_equal(found, find_blocks(255 * spoilt, SHAPE, typical_steps(255 * spoilt, SHAPE)))


@pytest.mark.parametrize(("top", "left", "sides"), [(8, 6, 4), (0, 6, 3), (0, 0, 2), (14, 11, 2)])
def test_a_block_must_score_more_than_its_sides_are_long(covered, monkeypatch, top, left, sides):
    X = covered[0].copy()
    typical = typical_steps(X, SHAPE)
    X[0].reshape(SHAPE)[top : top + 10, left : left + 9] += 1.0
    rows, columns = (
        np.minimum(s / np.minimum(s, 8).mean(), 8) - 1.5
        for s in (np.abs(np.diff(X[0].reshape(SHAPE), axis=axis)) / typical[axis] for axis in (0, 1))
    )
    across, along = slice(left, left + 9), slice(top, top + 10)
    pieces = [rows[i - 1, across] for i in (top, top + 10) if 0 < i < 24]
    pieces += [columns[along, j - 1] for j in (left, left + 9) if 0 < j < 20]
    assert len(pieces) == sides
    scores = np.concatenate(pieces)
    for factor, found in [(1 - 1e-9, True), (1 + 1e-9, False)]:
        monkeypatch.setattr(occlusion, "SIGNIFICANT", factor * scores.sum() / np.sqrt(len(scores)))
        block = find_blocks(X[:1], SHAPE, typical).reshape(SHAPE)
        assert block.sum() == (90 if found else 0)
        assert block[along, across].all() == found


def test_blocks_are_left_out_of_the_fit(covered):
    X, spoilt, blocks = covered
    blind, seeing = LowRankCleaner().fit(spoilt[:60]), LowRankCleaner(image_shape=SHAPE).fit(spoilt[:60])
    assert np.abs(seeing.low_rank_ - X[:60]).mean() < 0.2 * np.abs(blind.low_rank_ - X[:60]).mean()
    assert np.abs(seeing.transform(spoilt[60:]) - X[60:]).mean() < 0.2 * np.abs(
        blind.transform(spoilt[60:]) - X[60:]
    ).mean()
    assert (seeing.blocks_ & blocks[:60]).mean() > 0.75 * blocks[:60].mean()
    # A block was observed, so it is part of what was taken away.
    np.testing.assert_allclose(seeing.low_rank_ + seeing.sparse_, spoilt[:60], atol=1e-3)
    assert np.abs(seeing.error(spoilt[60:]))[blocks[60:]].mean() > 0.3


def test_blocks_are_found_among_missing_pixels(covered):
    X, spoilt, blocks = covered
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, spoilt)
    holes[:, 7] = np.nan
    cleaner = LowRankCleaner(missing_values=np.nan, image_shape=SHAPE).fit(holes[:60])
    assert (cleaner.blocks_ & blocks[:60]).mean() > 0.6 * blocks[:60].mean()
    assert np.abs(cleaner.transform(holes[60:]) - X[60:])[:, 8:].mean() < 0.1
    assert not cleaner.sparse_[np.isnan(holes[:60])].any()
    assert not cleaner.error(holes[60:])[np.isnan(holes[60:])].any()


@pytest.mark.parametrize("image_shape", [(24, 21), (480,), (2, 12, 20), (24.0, 20)])
def test_an_image_shape_that_does_not_fit_is_named(covered, image_shape):
    with pytest.raises((ValueError, TypeError), match="image_shape must be"):
        LowRankCleaner(image_shape=image_shape).fit(covered[1])


@pytest.mark.parametrize("image_shape", [(1, 480), (480, 1), (3, 160)])
def test_images_too_narrow_for_a_block_have_none(covered, image_shape):
    assert not LowRankCleaner(image_shape=image_shape).fit(covered[1]).blocks_.any()


@pytest.mark.skipif("JPLRDL_DATA" not in os.environ, reason="JPLRDL_DATA names no folder with the images of Yale B")
def test_corrupted_faces_become_like_the_clean_ones():
    data = np.load(pathlib.Path(os.environ["JPLRDL_DATA"], "extended_yale_b_55x48.npz"))
    chosen = data["y"] < 15
    X, y = data["X"][chosen].reshape(chosen.sum(), -1).astype(np.float32), data["y"][chosen]
    order = np.random.default_rng(0).permutation(len(y))
    rank = np.empty(len(y), dtype=int)
    for label in range(15):
        own = order[y[order] == label]
        rank[own] = np.arange(len(own))
    train, held_out = rank < 20, (rank >= 20) & (rank < 24)
    corrupted = saturate_pixels(X, 0.2, random_state=0).astype(np.float32)
    cleaned = LowRankCleaner().fit(corrupted[train]).transform(corrupted[held_out])

    def cosine(A, B):
        return np.mean(np.sum(A * B, axis=1) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1))

    assert cosine(corrupted[held_out], X[held_out]) < 0.8
    assert cosine(cleaned, X[held_out]) > 0.95
