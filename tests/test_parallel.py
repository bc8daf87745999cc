"""Threads change nothing but the time; Ctrl-C is answered; BLAS is left as it was."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import jplrdl
from jplrdl import coding
from jplrdl._parallel import held_blas, run_chunks
from jplrdl._products import gram_matrix, product, triangular_solve
from jplrdl.classification import class_residuals, ridge_encode


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize(("n_samples", "n_features"), [(301, 30), (50, 30), (70, 800)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_codes_are_bit_identical_for_every_n_jobs(unit_rows, dtype, n_samples, n_features):
    """Many samples, few, and few whose products threads share too."""
    X, dictionary = unit_rows(n_samples, n_features, dtype), unit_rows(400, n_features, dtype)
    codes = jplrdl.sparse_encode(X, dictionary, 0.1)
    by_gram = jplrdl.feature_sign_search(dictionary @ dictionary.T, X @ dictionary.T, 0.1)
    np.testing.assert_allclose(codes, by_gram, atol=1e-9 if dtype == np.float64 else 1e-3)
    for n_jobs in (1, 2, 3, -1):
        np.testing.assert_array_equal(jplrdl.sparse_encode(X, dictionary, 0.1, n_jobs=n_jobs), codes)
    with joblib.parallel_config(n_jobs=2):
        np.testing.assert_array_equal(jplrdl.sparse_encode(X, dictionary, 0.1), codes)


@pytest.fixture
def coupled(rng, monkeypatch):
    """A pass over samples of which many wait for others, and one thread more for however few."""
    monkeypatch.setattr(coding, "_LEAST_SWEPT", 1)

    def draw(n_samples, dtype=np.float64):
        y = np.arange(n_samples) % (n_samples // 10)
        X = rng.standard_normal((n_samples, 30)) + 2 * rng.standard_normal((n_samples, 30))[y]
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        L = jplrdl.laplacian(jplrdl.signed_knn_graph(X, y, 9, 9), signed=True)
        gram, init = (X @ X.T).astype(dtype), np.zeros(2 * [n_samples], dtype=dtype)
        init[:3] = 1  # too many to list
        return lambda n_jobs: coding.coupled_codes(gram, gram, L, 0.05, 0.05, init=init, n_jobs=n_jobs)

    return draw


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_coupled_codes_are_bit_identical_for_every_n_jobs(coupled, dtype):
    sweep = coupled(300, dtype)
    codes, info = sweep(1)
    for n_jobs in 10 * (2, 4):
        found, told = sweep(n_jobs)
        np.testing.assert_array_equal(found, codes)
        for name in ("n_iter", "residual", "status"):
            np.testing.assert_array_equal(getattr(told, name), getattr(info, name))


def test_coupled_codes_need_no_helper_that_starts(coupled):
    """Callers who have taken all helpers, and wait for none of them."""
    sweep = coupled(30)
    expected, found = sweep(1)[0], []
    run_chunks(lambda _: found.append(sweep(4)[0]), 400, 1, 400)
    assert len(found) == 400
    for codes in found:
        np.testing.assert_array_equal(codes, expected)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_codes_do_not_depend_on_blas_threads(unit_rows, n_threads):
    X, dictionary = unit_rows(100, 200), unit_rows(300, 200)
    codes = jplrdl.sparse_encode(X, dictionary, 0.1)
    with threadpool_limits(n_threads, user_api="blas"):
        np.testing.assert_array_equal(jplrdl.sparse_encode(X, dictionary, 0.1), codes)


def test_gram_is_exactly_symmetric(unit_rows):
    for n in (1, 255, 256, 257, 600):
        atoms = unit_rows(n, 20)
        gram = gram_matrix(atoms, n_jobs=2)
        np.testing.assert_array_equal(gram, gram.T)
        np.testing.assert_allclose(gram, atoms @ atoms.T, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gram_is_exactly_symmetric_however_the_atoms_lie(rng, dtype):
    wide = rng.standard_normal((600, 90)).astype(dtype)
    for atoms in (wide[:, ::3], wide[::2], wide[:, 7:60], np.asfortranarray(wide), wide[::-1, ::-1], wide[:1].T):
        gram = gram_matrix(atoms)
        np.testing.assert_array_equal(gram, gram.T)
        np.testing.assert_allclose(gram, atoms @ atoms.T, atol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_are_those_of_numpy(rng, dtype):
    for n, m, k in ((1, 40, 7), (127, 40, 7), (300, 40, 7), (900, 200, 150), (140, 300, 700)):
        A, B = rng.standard_normal((n, m)).astype(dtype), rng.standard_normal((m, k)).astype(dtype)
        for n_jobs in (1, 3):
            found = product(A, B, n_jobs=n_jobs)
            assert found.dtype == dtype
            np.testing.assert_allclose(found, A @ B, atol=1e-3 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (90, 200)])
def test_triangular_systems_are_solved(rng, dtype, transposed, shape):
    R = (np.triu(rng.standard_normal((shape[0], shape[0]))) / shape[0] + np.eye(shape[0])).astype(dtype)
    B = rng.standard_normal(shape).astype(dtype)
    for factor in (R, np.asfortranarray(R)):
        found = triangular_solve(factor, B.copy(), transposed=transposed)
        assert found.dtype == dtype
        np.testing.assert_allclose((R.T if transposed else R) @ found, B, atol=1e-12 if dtype == np.float64 else 1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ridge", [1e-2, 1e-30])
def test_ridge_codes_and_residuals_are_bit_identical_for_every_n_jobs(unit_rows, dtype, ridge):
    """A ridge below rounding errors goes another way."""
    Y, D, labels = unit_rows(700, 120, dtype), unit_rows(300, 120, dtype), np.arange(300) // 6
    means = np.zeros((50, 300), dtype=dtype)
    found = []
    for n_jobs, blas in ((None, 2), (1, 1), (2, 2), (3, 1)):
        with threadpool_limits(blas, user_api="blas"):
            codes = ridge_encode(Y, D, ridge, gram=gram_matrix(D), n_jobs=n_jobs)
            found.append((codes, class_residuals(Y, D, codes, labels, means, normalized=True, n_jobs=n_jobs)))
    for codes, residuals in found:
        np.testing.assert_array_equal(codes, found[0][0])
        np.testing.assert_array_equal(residuals, found[0][1])


def test_helpers_go_home_after_an_exception():
    def fail(rows):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_chunks(fail, 100, 1, n_jobs=3)
    seen = []
    run_chunks(lambda rows: seen.append(rows.start), 100, 1, n_jobs=3)
    assert sorted(seen) == list(range(100))


def test_a_chunk_that_has_begun_is_dropped_between_its_steps():
    begun, steps = threading.Event(), []

    def run(some):
        if some.start == 0:
            begun.wait(10)
            raise RuntimeError("the first chunk")
        for _ in range(200):
            begun.set()
            time.sleep(0.01)
            steps.append(some)
            yield

    with pytest.raises(RuntimeError, match="the first chunk"):
        run_chunks(run, 2, 1, 2)
    assert len(steps) < 100


def test_helpers_remember_nothing_of_what_they_have_done():
    class Given:
        pass

    given, began = Given(), threading.Barrier(2)
    last = weakref.ref(given)

    def run(_, given=given):
        began.wait(10)

    run_chunks(run, 2, 1, 2)
    del given, run
    for _ in range(100):
        if last() is None:
            break
        time.sleep(0.01)
    assert last() is None


def test_chunks_may_have_chunks_of_their_own():
    seen = []
    run_chunks(lambda rows: run_chunks(lambda inner: seen.append((rows.start, inner.start)), 5, 1, 4), 400, 1, 400)
    assert len(set(seen)) == len(seen) == 2000


def test_blas_has_one_thread_inside_and_its_own_number_afterwards():
    with threadpool_limits(2, user_api="blas"):
        before, inside = blas_threads(), []
        run_chunks(lambda rows: inside.append(blas_threads()), 4, 2, n_jobs=2)
        assert inside
        assert all(set(threads) == {1} for threads in inside)
        assert blas_threads() == before


def test_two_callers_at_once_leave_blas_as_it_was():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first_is_in, first_may_leave = threading.Event(), threading.Event()

        def first():
            with held_blas:
                first_is_in.set()
                first_may_leave.wait(10)

        thread = threading.Thread(target=first)
        thread.start()
        first_is_in.wait(10)
        with held_blas:
            first_may_leave.set()
            thread.join()
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_an_error_in_a_chunk_reaches_the_caller():
    def fail(rows):
        raise ZeroDivisionError(rows)

    for n_jobs in (1, 2):
        with pytest.raises(ZeroDivisionError):
            run_chunks(fail, 100, 10, n_jobs)


def test_concurrent_callers_share_arrays(unit_rows):
    X, dictionary = unit_rows(50, 30), unit_rows(80, 30)
    expected = jplrdl.sparse_encode(X, dictionary, 0.1)
    with ThreadPoolExecutor(8) as pool:
        for codes in pool.map(lambda _: jplrdl.sparse_encode(X, dictionary, 0.1, n_jobs=2), range(16)):
            np.testing.assert_array_equal(codes, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_works_after_fork(unit_rows):
    X, dictionary = unit_rows(100, 30), unit_rows(80, 30)
    expected = jplrdl.sparse_encode(X, dictionary, 0.1, n_jobs=2)
    script = textwrap.dedent("""
        import os, sys
        import numpy as np
        import jplrdl
        rng = np.random.default_rng(0)
        X, D = rng.standard_normal((100, 30)), rng.standard_normal((80, 30))
        expected = jplrdl.sparse_encode(X, D, 0.1, n_jobs=2)
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(jplrdl.sparse_encode(X, D, 0.1, n_jobs=2), expected) else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert subprocess.run([sys.executable, "-P", "-W", "ignore", "-c", script], timeout=60).returncode == 0
    assert expected.any()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child process on Windows")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("coupled", [False, True])
def test_ctrl_c_interrupts_within_a_second(n_jobs, coupled):
    # Other processes can only lengthen it: one of three tries must do.
    assert any(seconds_to_interrupt(n_jobs, coupled) < 1.0 for _ in range(3))


def seconds_to_interrupt(n_jobs, coupled):
    call = "coupled_codes(D @ D.T, X @ D.T, L[: len(X), : len(X)], 5.0, 0.1" if coupled else "sparse_encode(X, D, 5.0"
    # A shell may start the tests in the background with SIGINT ignored, which the child would inherit.
    script = textwrap.dedent(f"""
        import signal, time
        import numpy as np
        from scipy.sparse import diags_array
        from jplrdl.coding import coupled_codes, sparse_encode
        signal.signal(signal.SIGINT, signal.default_int_handler)
        rng = np.random.default_rng(0)
        n = {30_000 if coupled else 100_000}
        samples, D = rng.standard_normal((n, 200)), rng.standard_normal((600, 200))
        L = diags_array([[-1.0], [2.0], [-1.0]], offsets=[-1, 0, 1], shape=(n, n)).tocsr()
        X = samples[:10]
        {call}, n_jobs={n_jobs})
        print("begun", flush=True)
        X = samples
        try:
            {call}, n_jobs={n_jobs})
        except KeyboardInterrupt:
            print("interrupted", time.monotonic(), flush=True)
    """)
    with subprocess.Popen([sys.executable, "-P", "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().strip() == "begun"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        word, when = process.stdout.readline().split()
        assert word == "interrupted"
        return float(when) - sent
