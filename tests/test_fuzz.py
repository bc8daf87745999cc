"""Any array, any weight: the answer is right, by its optimality conditions, or the error is the documented one.

A case is one call with its check. `pytest tests/test_fuzz.py` makes more than two thousand; JPLRDL_FUZZ=50000 asks for
that many and prints how many there were (with `-s`).
"""

import contextlib
import os
import pickle
import re
import warnings

import numpy as np
import oracles
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, precondition, rule
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from strategies import dtypes, layouts, seeds

import jplrdl
from jplrdl import JPLRDLClassifier
from jplrdl.huber import huber_fit

CASES = int(os.environ.get("JPLRDL_FUZZ", "0"))
STEPS = 25
FEW = settings(
    deadline=None,
    max_examples=max(125, CASES // 16),
    stateful_step_count=STEPS,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate] if CASES else list(Phase),
    print_blob=True,
    derandomize=not CASES,  # the same cases every time, so that a change is judged and not the dice; new ones if asked
)
DOCUMENTED = re.compile(
    r"(X|W|V|Y|y|gram|cov|dictionary|penalty|shift|init|t|eta|weights|kernel_width|X and dictionary|"
    r"the product of X and dictionary|the Gram matrix of dictionary) must "
)
pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).maxexp <= np.finfo(np.float64).maxexp, reason="the checks need numbers beyond double's"
)
counted = {"functions": 0, "estimator": 0, "errors": 0, "not converged": 0}


class Named(np.ndarray):
    """A subclass, as pandas and astropy have them."""


exponents = st.sampled_from([0, 0, 0, 0, 1, -3, 6, -30, 30, 75, -75, 150, -150, -300, -320, 200])
weights = st.one_of(st.just(0.0), st.sampled_from([1e-300, 1e-8, 1e-3, 0.1, 1.0, 1e3, 1e30]), st.floats(0, 1e30))


@st.composite
def arrays(draw):
    """A matrix of any size of numbers, type, order and stride."""
    rng = np.random.default_rng(draw(seeds))
    shape = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    array = rng.standard_normal(shape)
    kind = draw(st.integers(0, 5))
    if kind == 1:
        array[rng.integers(shape[0])] = 0
    elif kind == 2:
        array[rng.integers(shape[0])] = array[rng.integers(shape[0])]
    elif kind == 3:
        array = np.round(array)
    elif kind == 4:
        array = array[:, :1] * array[:1]
    with np.errstate(all="ignore"):
        array = (array * 10.0 ** draw(exponents)).astype(draw(dtypes))
        if kind == 5:
            array = array * array.dtype.type(10) ** rng.integers(-30, 30, size=(shape[0], 1)).astype(array.dtype)
    array[~np.isfinite(array)] = 1
    array = draw(layouts)(array)
    return array.view(Named) if draw(st.integers(0, 9)) == 0 else array


@contextlib.contextmanager
def documented():
    """No warning but that of convergence, no error but one that names an argument; the state must not be touched."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            yield
        except (ValueError, TypeError) as error:
            if not DOCUMENTED.match(str(error)):
                raise
            counted["errors"] += 1


class Functions(RuleBasedStateMachine):
    """Arrays and what the functions make of them, which may be the input of the next."""

    pool = Bundle("pool")

    def __init__(self):
        super().__init__()
        self.before = []

    def keep(self, array):
        self.before.append((array, array.tobytes()))
        return array

    @initialize(target=pool, array=arrays())
    def first(self, array):
        return self.keep(array)

    @rule(target=pool, array=arrays())
    def another(self, array):
        return self.keep(array)

    @rule(target=pool, array=pool, layout=layouts)
    def laid_out(self, array, layout):
        return self.keep(layout(np.asarray(array)))

    @rule(target=pool, array=pool, penalty=weights, shift=weights, data=st.data())
    def sparse_encode(self, array, penalty, shift, data):
        rng = np.random.default_rng(data.draw(seeds))
        with np.errstate(all="ignore"):
            other = rng.standard_normal((data.draw(st.integers(1, 12)), array.shape[1]))
            other = (other * 10.0 ** data.draw(exponents)).astype(data.draw(dtypes))
        other[~np.isfinite(other)] = 1
        X, D = (array, other) if data.draw(st.booleans()) else (other, array)
        init = rng.standard_normal((len(X), len(D))) if data.draw(st.booleans()) else None
        counted["functions"] += 1
        with documented():
            codes, info = jplrdl.sparse_encode(X, D, penalty, shift=shift, init=init, return_info=True)
            counted["not converged"] += not info.converged
            oracles.check_codes(
                np.asarray(X), np.asarray(D), *np.asarray([penalty, shift], dtype=codes.dtype), codes, info,
                1e-10 if codes.dtype == np.float64 else 1e-5,
            )
            return self.keep(codes)
        return self.keep(np.ones((1, 1)))

    @rule(target=pool, array=pool, t=weights)
    def prox_l1(self, array, t):
        counted["functions"] += 1
        with documented():
            U = jplrdl.prox_l1(array, t)
            oracles.check_prox_l1(np.asarray(array), np.asarray(t, U.dtype), U)
            return self.keep(U)
        return self.keep(np.ones((1, 1)))

    @rule(target=pool, array=pool, t=weights, axis=st.integers(-2, 1))
    def prox_l21(self, array, t, axis):
        counted["functions"] += 1
        with documented():
            U = jplrdl.prox_l21(array, t, axis=axis)
            oracles.check_prox_l21(np.asarray(array), np.asarray(t, U.dtype), axis, U)
            return self.keep(U)
        return self.keep(np.ones((1, 1)))

    @rule(target=pool, array=pool, t=weights)
    def prox_nuclear(self, array, t):
        counted["functions"] += 1
        with documented():
            U, rank = jplrdl.prox_nuclear(array, t)
            oracles.check_prox_nuclear(np.asarray(array), np.asarray(t, U.dtype), U, rank)
            return self.keep(U)
        return self.keep(np.ones((1, 1)))

    @rule(target=pool, array=pool, eta=st.sampled_from([None, 0.05, 0.5, 3.0]))
    def robust_pca(self, array, eta):
        counted["functions"] += 1
        with documented():
            result = jplrdl.robust_pca(array, eta=eta)
            counted["not converged"] += not result.converged
            used = 1 / np.sqrt(max(array.shape)) if eta is None else eta
            oracles.check_robust_pca(np.asarray(array), used, result, 1e-7 if array.dtype.itemsize == 8 else 1e-5)
            return self.keep(result.low_rank)
        return self.keep(np.ones((1, 1)))

    @rule(target=pool, array=pool, same=st.integers(0, 4), other=st.integers(0, 4), heat=st.booleans(), data=st.data())
    def graph(self, array, same, other, heat, data):
        y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(array), max_size=len(array))))
        counted["functions"] += 1
        with documented():
            if heat:
                W = jplrdl.signed_knn_graph(array, y, same, other, weights="heat", kernel_width=1e3)
                assert np.isfinite(W.data).all()
                assert np.abs(W.data).max(initial=0) <= 1
            else:
                W = jplrdl.signed_knn_graph(array, y, same, other)
                oracles.check_graph(np.asarray(array), y, same, other, W)
            return self.keep(W.toarray())
        return self.keep(np.ones((1, 1)))

    @rule(array=pool, normalized=st.booleans(), signed=st.booleans(), sparse=st.booleans())
    def laplacian(self, array, normalized, signed, sparse):
        square = np.asarray(array)[: min(array.shape), : min(array.shape)]
        with np.errstate(all="ignore"):
            W = square / 2 + square.T / 2
        counted["functions"] += 1
        with documented():
            L = jplrdl.laplacian(csr_array(W) if sparse else W, normalized=normalized, signed=signed)
            oracles.check_laplacian(W, normalized, signed, L)

    @rule(array=pool, threshold=st.sampled_from([1e-6, 0.1, 10.0]), weight=st.sampled_from([1e-3, 1.0, 100.0]))
    def huber(self, array, threshold, weight):
        counted["functions"] += 1
        V = np.linalg.qr(np.random.default_rng(0).standard_normal((array.shape[1], array.shape[1])))[0]
        with documented():
            scaled = (np.asarray(array).astype(oracles.LONG) / oracles.power_of_two(array)).astype(np.float64)
            y, info = huber_fit(scaled, V[:2], threshold, np.full(len(V[:2]), weight))
            r = scaled - y @ V[:2]
            g = np.clip(r, -threshold, threshold) @ V[:2].T - weight * y
            if info.converged:
                value = np.where(np.abs(r) <= threshold, r**2 / 2, threshold * (np.abs(r) - threshold / 2)).sum(axis=1)
                value += weight * (y**2).sum(axis=1) / 2
                assert ((g**2).sum(axis=1) / 2 / weight <= 1.01e-5 * value + 1e-25).all()

    @rule(array=consumes(pool), bad=st.sampled_from([np.nan, np.inf, -np.inf]), data=st.data())
    def spoilt(self, array, bad, data):
        spoilt = np.array(array, copy=True, subok=False)
        spoilt[data.draw(st.integers(0, len(spoilt) - 1)), 0] = bad
        counted["functions"] += 1
        for call in (
            lambda: jplrdl.prox_l1(spoilt, 0.1), lambda: jplrdl.prox_l21(spoilt, 0.1),
            lambda: jplrdl.prox_nuclear(spoilt, 0.1), lambda: jplrdl.robust_pca(spoilt),
            lambda: jplrdl.sparse_encode(spoilt, spoilt, 0.1),
        ):
            with pytest.raises(ValueError, match="must be finite"):
                call()

    @invariant()
    def nothing_was_written_to(self):
        for array, content in self.before:
            assert array.tobytes() == content


class Estimator(RuleBasedStateMachine):
    """A classifier through fits, predictions, copies and failures."""

    @initialize(seed=seeds, dtype=dtypes, exponent=st.sampled_from([0, 0, 0, 20, -20, 140, -140]), layout=layouts)
    def begin(self, seed, dtype, exponent, layout):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(6, 20)), int(rng.integers(2, 9))
        with np.errstate(all="ignore"):
            X = rng.standard_normal((n, m))
            X[rng.integers(n)] = X[rng.integers(n)]
            X = (X * 10.0 ** (exponent if dtype == np.float64 else np.sign(exponent) * 15)).astype(dtype)
        self.X, self.y = layout(X), rng.permutation(np.arange(n) % int(rng.integers(2, 4)))
        self.content = self.X.tobytes()
        self.model = JPLRDLClassifier(2, max_iter=1)
        self.fitted = False

    @rule(
        n_components=st.integers(1, 10) | st.floats(0.1, 0.9), n_atoms=st.none() | st.integers(1, 8),
        max_iter=st.integers(0, 2), solver=st.sampled_from(["exact", "exact", "paper"]),
        learn_projection=st.booleans(), low_rank_graph=st.booleans(), penalty_edges=st.booleans(),
        init_projection=st.sampled_from(["lpp", "pca"]), init_ridge=st.sampled_from([0.0, 1e-3, 1.0, 1e30]),
        factors=st.lists(st.sampled_from([0.0, 1e-3, 0.1, 1.0, 1e3]), min_size=6, max_size=6),
    )  # fmt: skip
    def change(self, factors, **parameters):
        names = ["sparse", "graph", "rank", "incoherence", "projection", "energy"]
        self.model = clone(self.model).set_params(
            **parameters, **{f"lambda_{name}": value for name, value in zip(names, factors, strict=True)}
        )
        self.fitted = False

    @rule(code_penalty=weights, code_ridge=weights, mean_weight=st.sampled_from([0.0, 0.1, 1e30]))
    def change_prediction(self, **parameters):
        self.model.set_params(**parameters)

    @rule(n_jobs=st.sampled_from([None, 1, 2]))
    def fit(self, n_jobs):
        counted["estimator"] += 1
        self.model.set_params(n_jobs=n_jobs)
        with documented(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "n_components = ", UserWarning)
            self.fitted = False
            self.model.fit(self.X, self.y)
            self.fitted = True
        if self.fitted:
            P, D = self.model.projection_, self.model.components_
            precision = 1e-8 if P.dtype == np.float64 else 1e-3
            np.testing.assert_allclose(P.T @ P, np.eye(P.shape[1]), atol=precision)
            np.testing.assert_allclose(np.linalg.norm(D, axis=1), 1, atol=precision)
            values = np.array(self.model.history_["objective"])
            assert np.isfinite(values).all()
            if self.model.solver == "exact":
                rise = np.diff(values) / np.maximum(np.abs(values[:-1]), np.abs(values).max() * 1e-6)
                assert rise.max(initial=0) <= (1e-8 if P.dtype == np.float64 else 1e-3)

    @precondition(lambda self: self.fitted)
    @rule(seed=seeds, exponent=exponents)
    def predict(self, seed, exponent):
        counted["estimator"] += 1
        rng = np.random.default_rng(seed)
        with np.errstate(all="ignore"):
            new = rng.standard_normal((3, self.X.shape[1])) * 10.0 ** min(exponent, 200)
        new[0] = 0
        with documented():
            labels, scores = self.model.predict(new), self.model.decision_function(new)
            assert np.isfinite(scores).all()
            expected = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
            np.testing.assert_array_equal(labels, self.model.classes_[expected])
            probabilities = self.model.predict_proba(new)
            np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
            if self.model.mean_weight == 0:
                np.testing.assert_array_equal(self.model.predict(-new), labels)

    @precondition(lambda self: self.fitted)
    @rule()
    def copy(self):
        counted["estimator"] += 1
        again = pickle.loads(pickle.dumps(self.model))
        with documented():
            np.testing.assert_array_equal(again.decision_function(self.X), self.model.decision_function(self.X))
        self.model = again

    @precondition(lambda self: self.fitted)
    @rule(bad=st.sampled_from([np.nan, np.inf]))
    def fail(self, bad):
        counted["estimator"] += 1
        state = pickle.dumps(self.model)
        spoilt = np.array(self.X, copy=True)
        spoilt[0, 0] = bad
        for call in (self.model.predict, self.model.transform, lambda X: self.model.fit(X, self.y)):
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                call(spoilt)
        assert pickle.dumps(self.model) == state

    @invariant()
    def samples_stay(self):
        assert not hasattr(self, "X") or self.X.tobytes() == self.content


TestFunctions = Functions.TestCase
TestFunctions.settings = FEW
TestEstimator = Estimator.TestCase
TestEstimator.settings = settings(FEW, max_examples=max(20, CASES // 100))


def test_enough_cases_were_tried():
    if counted["functions"] and counted["estimator"]:
        print("\ncases:", counted)
        assert counted["functions"] + counted["estimator"] >= max(2000, CASES)
