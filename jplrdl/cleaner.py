"""The cleaner: images without their corrupted pixels, as a transformer to stand before a classifier."""

from __future__ import annotations

import math
import time
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ._parallel import run_chunks
from ._transaction import all_or_nothing
from ._validation import FloatArray, as_image_shape
from .huber import huber_fit
from .occlusion import Steps, find_blocks, typical_steps
from .persistence import Field, Saved, require
from .robust_pca import RobustPCAResult, decompose, default_eta

# Weight of the errors by default, in units of robust PCA's own default; see docs/cleaner.md.
_ETA = 1.1
_POSITIVE = Interval(Real, 0, None, closed="neither")


class LowRankCleaner(Saved, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Images as combinations of low-rank training images, their corrupted pixels left out.

    Training images X become the low-rank part L of robust PCA (eq3): min |L|_* + eta |E|_1 subject to X = L + E. A new
    image x becomes cL, its best combination of the rows of L, where some pixels may be wrong by any amount:

        min over c, e of  |x - cL - e|^2 / 2 + pixel_error s |e|_1 + ridge m s^2 |c|^2 / 2,

    with m features and s the root mean square of L's elements, so that images in other units give the same answer in
    those units. A weight of `ridge` = 1 would shrink a copy of a typical training image by half.

    So `fit_transform(X)` is not `fit(X).transform(X)`: the first splits the training images, among them what no other
    image shares; the second treats them as new.

    Parameters
    ----------
    mode : "global" or "class"
        Robust PCA of all training images together, or of each class alone, which needs y.
    eta : float > 0, optional
        Weight of the errors in training; 1.1 / sqrt(p max(X.shape)) by default, p being the share of the pixels
        observed, for each class its own in mode "class".
    pixel_error : float > 0
        Errors below this share of s are noise, to be fitted by least squares; larger ones count by their magnitude.
        Used by `transform` only: may be changed after the fit, as may the next.
    ridge : float > 0
        Weight of the squared coefficients of a new image.
    missing_values : float or nan, optional
        The value of pixels that are not known. Training images are completed, new ones fitted on their observed pixels.
        An image without any becomes zero.
    image_shape : (height, width), optional
        Look for a block in every image, a rectangle pasted over it, and treat its pixels as missing. For images that
        have such blocks: in others it may take the outline of an object for one.
    tol : float
        Precision: of X = L + E relative to X, and the duality gap of a new image's fit relative to its objective.
    max_iter : int
        Most iterations of each.
    n_jobs : int, optional
        Threads, as in scikit-learn: for classes in training, for new images. The result does not depend on it.
    verbose : bool
        Print a line a fit and a line a transform.

    Attributes
    ----------
    low_rank_, sparse_ : ndarray of shape (n_samples, n_features)
        The two parts of the training images; `sparse_` is zero where a pixel is missing.
    blocks_ : ndarray of bool of shape (n_samples, n_features)
        Where blocks were found in the training images, if `image_shape` is given.
    basis_ : ndarray of shape (rank, n_features)
        Orthonormal basis of the rows of `low_rank_`.
    singular_values_ : ndarray of shape (rank,)
        Of `low_rank_`, the largest first.
    scale_ : float
        s, the root mean square of the elements of `low_rank_`.
    n_iter_ : int
        Iterations of robust PCA, the most of all classes.
    classes_ : ndarray
        In mode "class".

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl import LowRankCleaner
    >>> rng = np.random.default_rng(0)
    >>> images = rng.random((80, 2)) @ rng.random((2, 60))
    >>> corrupted = np.where(rng.random(images.shape) < 0.1, 2.0, images)
    >>> cleaner = LowRankCleaner().fit(corrupted[:60])
    >>> bool(abs(cleaner.low_rank_ - images[:60]).max() < 1e-3)
    True
    >>> bool(abs(cleaner.transform(corrupted[60:]) - images[60:]).max() < 0.05)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "mode": [StrOptions({"global", "class"})],
        "eta": [_POSITIVE, None],
        "pixel_error": [_POSITIVE],
        "ridge": [_POSITIVE],
        "missing_values": [Real, None],
        "image_shape": [tuple, list, None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    _saved_arrays: ClassVar[dict[str, Field]] = {
        "low_rank_": Field(("samples", "features")),
        "sparse_": Field(("samples", "features")),
        "basis_": Field(("rank", "features")),
        "singular_values_": Field(("rank",)),
        "blocks_": Field(("samples", "features"), "mask", optional=True),
        "_steps_between_rows": Field(("height - 1", "width"), "double", optional=True),
        "_steps_between_columns": Field(("height", "width - 1"), "double", optional=True),
        "classes_": Field(("classes",), "label", optional=True),
        "feature_names_in_": Field(("features",), "name", optional=True),
    }
    _saved_facts: ClassVar[dict[str, type]] = {"n_iter_": int, "scale_": float}

    def __init__(
        self,
        mode: Literal["global", "class"] = "global",
        *,
        eta: float | None = None,
        pixel_error: float = 0.03,
        ridge: float = 1e-3,
        missing_values: float | None = None,
        image_shape: tuple[int, int] | None = None,
        tol: float = 1e-5,
        max_iter: int = 500,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.mode = mode
        self.eta = eta
        self.pixel_error = pixel_error
        self.ridge = ridge
        self.missing_values = missing_values
        self.image_shape = image_shape
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> LowRankCleaner:
        """Split training images into low rank and sparse.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Images as rows.
        y : array-like of shape (n_samples,), optional
            Labels of any kind, for mode "class".
        """
        with all_or_nothing(self):
            return self._fit(X, y)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """As `fit`; returns the cleaned training images, a copy of `low_rank_`."""
        with all_or_nothing(self):
            return self._fit(X, y).low_rank_.copy()

    def _fit(self, X: Any, y: Any) -> LowRankCleaner:
        began = time.perf_counter()
        X, mask = self._observe(X, reset=True)
        if mask is not None and not mask.any():
            raise ValueError(f"X must have observed pixels, got missing_values = {self.missing_values} in all of them")
        missing, mask = mask, self._without_blocks(X, mask, reset=True)
        groups = [slice(None)] if self.mode == "global" else self._classes(X, y)
        self.low_rank_, self.sparse_ = np.empty_like(X), np.empty_like(X)
        results = self._split(X, mask, groups)
        if self.image_shape is not None:
            # To robust PCA a block is missing, but it was seen, and taken away.
            seen = self.blocks_ if missing is None else self.blocks_ & missing
            self.sparse_ = np.where(seen, X - self.low_rank_, self.sparse_)
        self.n_iter_ = max(result.n_iter for result in results)
        self._set_basis()
        if self.verbose:
            print(
                f"[LowRankCleaner] {len(X)} training images: rank {len(self.basis_)}, {self.n_iter_} iterations, "
                f"{time.perf_counter() - began:.2f} s"
            )
        failed = [result.feasibility for result in results if not result.converged]
        if failed:
            warnings.warn(
                f"Robust PCA of the training images stopped after max_iter = {self.max_iter} iterations at feasibility "
                f"{max(failed):.3g}, above tol = {self.tol:.3g}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return self

    def _classes(self, X: FloatArray, y: Any) -> list[Any]:
        """The rows of each class."""
        if y is None:
            raise ValueError("y must be given for mode='class': it requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        return [np.flatnonzero(labels == label) for label in range(len(self.classes_))]

    def _split(self, X: FloatArray, mask: NDArray[np.bool_] | None, groups: list[Any]) -> list[RobustPCAResult]:
        """Robust PCA of each group of rows, into low_rank_ and sparse_; classes in threads."""
        results: list[Any] = [None] * len(groups)

        def split(chosen: slice) -> None:
            for k in range(chosen.start, chosen.stop):
                rows = groups[k]
                observed = None if mask is None else mask[rows]
                eta = _ETA * default_eta(X[rows].shape, observed) if self.eta is None else self.eta
                result = decompose(X[rows], mask=observed, eta=eta, tol=self.tol, max_iter=self.max_iter)
                self.low_rank_[rows], self.sparse_[rows], results[k] = result.low_rank, result.sparse, result

        if self.mode == "global":
            # Nothing runs beside it: BLAS may have all its threads.
            split(slice(0, 1))
        else:
            run_chunks(split, len(groups), 1, self.n_jobs)
        return results

    def _set_basis(self) -> None:
        _, singular, basis = svd(self.low_rank_, full_matrices=False)
        kept = singular > 10 * np.finfo(singular.dtype).eps * singular[0]
        self.singular_values_, self.basis_ = singular[kept], np.ascontiguousarray(basis[kept])
        largest = float(singular[0])
        # Relative to the largest, so that no square over- or underflows.
        relative = float(np.linalg.norm(singular / (largest or 1)))
        self.scale_ = largest * relative / math.sqrt(self.low_rank_.size)

    def transform(self, X: Any) -> FloatArray:
        """New images as combinations of the cleaned training images, shape (n_samples, n_features)."""
        check_is_fitted(self)
        X, mask = self._observe(X, reset=False)
        return self._clean(X, self._without_blocks(X, mask, reset=False))

    def error(self, X: Any) -> FloatArray:
        """What `transform` takes away from new images, X - transform(X); zero where a pixel is missing."""
        check_is_fitted(self)
        X, mask = self._observe(X, reset=False)
        error = X - self._clean(X, self._without_blocks(X, mask, reset=False))
        return error if mask is None else np.where(mask, error, error.dtype.type(0))

    def _observe(self, X: Any, *, reset: bool) -> tuple[FloatArray, NDArray[np.bool_] | None]:
        """Checked images, and where their pixels are observed; None if everywhere."""
        finite: bool | str = "allow-nan" if self._nan_is_missing() else True
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_all_finite=finite, reset=reset)
        if self.missing_values is None:
            return X, None
        mask = ~np.isnan(X) if self._nan_is_missing() else np.not_equal(X, self.missing_values)
        return X, None if mask.all() else mask

    def _without_blocks(
        self, X: FloatArray, mask: NDArray[np.bool_] | None, *, reset: bool
    ) -> NDArray[np.bool_] | None:
        """The mask less the pixels of blocks."""
        if self.image_shape is None:
            return mask
        shape = as_image_shape(self.image_shape, X.shape[1])
        if reset:
            self._steps_between_rows, self._steps_between_columns = typical_steps(X, shape, mask)
        typical = Steps(self._steps_between_rows, self._steps_between_columns)
        blocks = find_blocks(X, shape, typical, mask=mask, n_jobs=self.n_jobs)
        if reset:
            self.blocks_ = blocks
        return ~blocks if mask is None else mask & ~blocks

    def _nan_is_missing(self) -> bool:
        return self.missing_values is not None and bool(np.isnan(self.missing_values))

    def _clean(self, X: FloatArray, mask: NDArray[np.bool_] | None) -> FloatArray:
        if len(self.basis_) == 0:
            return np.zeros_like(X)
        began = time.perf_counter()
        basis = self.basis_.astype(X.dtype, copy=False)
        weights = self.ridge * self.n_features_in_ * (self.scale_ / self.singular_values_.astype(np.float64)) ** 2
        y, info = huber_fit(
            X, basis, self.pixel_error * self.scale_, weights,
            mask=mask, tol=self.tol, max_iter=self.max_iter, n_jobs=self.n_jobs,
        )  # fmt: skip
        if self.verbose:
            print(
                f"[LowRankCleaner] {len(X)} images: {info.n_iter.mean():.1f} iterations on average, largest gap "
                f"{info.gap.max():.2g}, {time.perf_counter() - began:.2f} s"
            )
        if not info.converged:
            warnings.warn(
                f"{int(np.sum(info.gap > self.tol))} of {len(X)} images stopped after max_iter = {self.max_iter} "
                f"iterations at a gap of {info.gap.max():.3g}, above tol = {self.tol:.3g}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return y @ basis

    def _complete(self) -> None:
        self.n_features_in_ = self.low_rank_.shape[1]
        require(self.low_rank_.size > 0, "low_rank_ must not be empty")
        require((self.singular_values_ > 0).all(), "singular_values_ must be > 0")
        require(0 <= self.scale_ < math.inf, "scale_ must be finite and >= 0")
        if self.image_shape is not None:
            height, width = self.image_shape
            steps = self._steps_between_rows.shape, self._steps_between_columns.shape
            require(steps == ((height - 1, width), (height, width - 1)), "image_shape must fit the steps")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._nan_is_missing()
        tags.target_tags.required = self.mode == "class"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
