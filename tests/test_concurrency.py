"""Threads, processes and interruptions: answers are the same bits, and what fails leaves everything as it was."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

import jplrdl
from jplrdl import JPLRDLClassifier, JPLRDLClassifierCV, LowRankCleaner


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    X, y = X[:60].copy(), y[:60].copy()
    for array in (X, y):
        array.flags.writeable = False
    return X, y


def small(**parameters):
    return JPLRDLClassifier(**{"n_components": 10, "max_iter": 2, **parameters})


def test_fits_and_predictions_in_eight_threads_are_those_of_one(digits):
    X, y = digits
    alone = small().fit(X, y)
    expected = alone.decision_function(X)

    def fit_and_predict(k):
        model = small(n_jobs=1 + k % 2).fit(X, y)
        return model.decision_function(X), alone.decision_function(X)

    with ThreadPoolExecutor(8) as pool:
        for own, shared in pool.map(fit_and_predict, range(16)):
            np.testing.assert_array_equal(own, expected)
            np.testing.assert_array_equal(shared, expected)


def test_cleaners_in_eight_threads_are_those_of_one(digits):
    X, y = digits
    expected = LowRankCleaner(mode="class").fit(X, y).transform(X)
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda k: LowRankCleaner(mode="class", n_jobs=1 + k % 2).fit(X, y).transform(X), range(8))
        for cleaned in found:
            np.testing.assert_array_equal(cleaned, expected)


def test_predictions_are_the_same_bits_for_every_number_of_threads(digits):
    X, y = digits
    model = small().fit(X, y)
    new = np.random.default_rng(0).random((3000, 64))
    expected = model.decision_function(new)
    for n_jobs in (1, 2, 3):
        for blas_threads in (1, 2):
            with threadpool_limits(blas_threads, user_api="blas"):
                model.set_params(n_jobs=n_jobs)
                np.testing.assert_array_equal(model.decision_function(new), expected)
                np.testing.assert_array_equal(model.transform(new[:500]), model.transform(new)[:500])


def test_the_same_seed_gives_the_same_bits(digits):
    X, y = digits
    one, two = (small(n_atoms=30, random_state=5, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2))
    for name in ("projection_", "components_", "codes_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_a_fit_gives_the_same_bits_for_every_number_of_threads():
    # Large enough for every block of a fit to use its threads.
    X, y = np.random.default_rng(0).random((560, 700)), np.arange(560) % 14
    expected = JPLRDLClassifier(460, max_iter=2).fit(X, y)
    for n_jobs in (1, 3):
        for blas_threads in (1, 2):
            with threadpool_limits(blas_threads, user_api="blas"):
                model = JPLRDLClassifier(460, max_iter=2, n_jobs=n_jobs).fit(X, y)
            for name in ("projection_", "components_", "codes_"):
                np.testing.assert_array_equal(getattr(model, name), getattr(expected, name))


def test_loky_workers_give_the_same_bits(digits):
    X, y = digits
    expected = small().fit(X, y).decision_function(X)

    with joblib.Parallel(n_jobs=2, backend="loky") as workers:
        models = workers(joblib.delayed(small(n_jobs=n_jobs).fit)(X, y) for n_jobs in (1, 2))
        for scores in workers(joblib.delayed(model.decision_function)(X) for model in models):
            np.testing.assert_array_equal(scores, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_model_fits_and_predicts_after_fork():
    script = textwrap.dedent("""
        import os, sys
        import numpy as np
        from jplrdl import JPLRDLClassifier
        rng = np.random.default_rng(0)
        X, y = rng.random((40, 12)), np.arange(40) % 3
        model = JPLRDLClassifier(4, n_jobs=2, max_iter=2).fit(X, y)
        scores = model.decision_function(X)
        child = os.fork()
        if child == 0:
            again = JPLRDLClassifier(4, n_jobs=2, max_iter=2).fit(X, y).decision_function(X)
            os._exit(0 if np.array_equal(again, scores) and np.array_equal(model.decision_function(X), scores) else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert subprocess.run([sys.executable, "-P", "-W", "ignore", "-c", script], timeout=60).returncode == 0


class Stop(Exception):
    pass


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("fitted_before", [False, True])
def test_a_callback_that_raises_leaves_the_model_and_the_samples_as_they_were(digits, error, fitted_before):
    X, y = digits
    model = small()
    if fitted_before:
        model.fit(X[:, :40], y % 2)

    def fail(iteration, history):
        raise error

    model.set_params(callback=fail)
    before, content = pickle.dumps({**vars(model), "callback": None}), X.tobytes()
    with pytest.raises(error):
        model.fit(X, y)
    assert pickle.dumps({**vars(model), "callback": None}) == before
    assert X.tobytes() == content
    if fitted_before:
        assert set(model.predict(X[:, :40])) <= {0, 1}
    assert model.set_params(callback=None).fit(X, y).score(X, y) > 0.8


def test_a_fit_that_fails_leaves_cleaners_and_searches_as_they_were(digits, monkeypatch):
    X, y = digits
    cleaner = LowRankCleaner(image_shape=(8, 8)).fit(X)
    search = JPLRDLClassifierCV(small(), lambda_sparse=[0.1], lambda_graph=None, cv=2).fit(X, y)
    for model in (cleaner, search):
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match=r"image_shape|two classes|least"):
            model.fit(X[:, :40], np.zeros(len(X)))
        assert pickle.dumps(model) == before


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child process on Windows")
def test_ctrl_c_in_a_fit_leaves_the_model_and_the_samples_as_they_were():
    script = textwrap.dedent("""
        import pickle, signal
        import numpy as np
        from jplrdl import JPLRDLClassifier
        signal.signal(signal.SIGINT, signal.default_int_handler)
        rng = np.random.default_rng(0)
        X, y = rng.random((400, 100)), np.arange(400) % 8
        model = JPLRDLClassifier(20, max_iter=1).fit(X[:40, :50], y[:40] % 2).set_params(max_iter=10_000)
        before, content = pickle.dumps(model), X.tobytes()
        print("begun", flush=True)
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            print(pickle.dumps(model) == before and X.tobytes() == content, flush=True)
    """)
    with subprocess.Popen([sys.executable, "-P", "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().strip() == "begun"
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline().strip() == "True"


def test_codes_are_made_in_threads_while_others_fit(digits):
    X, y = digits
    D = X[:20].copy()
    stop, errors = threading.Event(), []

    def encode():
        while not stop.is_set():
            try:
                jplrdl.sparse_encode(X, D, 5.0)
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=encode) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        small(n_jobs=2).fit(X, y)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
