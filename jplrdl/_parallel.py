"""Rows in chunks, in threads: the kernels release the GIL, BLAS is held at one thread meanwhile."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ContextDecorator
from numbers import Integral
from types import TracebackType
from typing import Any


class _HeldBLAS(ContextDecorator):
    """BLAS at one thread while anybody is inside: the first to enter sets the limit, the last to leave lifts it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._blas: Any = None
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._blas is None:
                from threadpoolctl import ThreadpoolController

                self._blas = ThreadpoolController().select(user_api="blas")
            if self._inside == 0:
                _free_control()
                self._limiter = self._blas.limit(limits=1)
            self._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                _free_control()
                self._limiter.restore_original_limits()
                _free_control()


def _free_control() -> None:
    """From 3.8 on, threadpoolctl ignores every thread but the one that set a limit first; ours take turns by a lock."""
    import threadpoolctl

    clear = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


held_blas = _HeldBLAS()


class _Helpers:
    """Threads that wait for work: starting one anew would take as long as a product of small matrices."""

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):  # a forked process has none of its parent's threads
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._pool = ThreadPoolExecutor(_MOST_HELPERS, thread_name_prefix="jplrdl")

    def start(self, function: Callable[[], None], n_threads: int) -> list[Future[None]]:
        """Call function in `n_threads` threads, or fewer if others have them."""
        return [self._pool.submit(function) for _ in range(n_threads)]


_MOST_HELPERS = 256
_helpers = _Helpers()


def threads_of(n_jobs: int | None) -> int:
    """How many threads n_jobs asks for."""
    from joblib import effective_n_jobs

    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise TypeError(f"n_jobs must be an integer or None, got {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; 1 is one thread, -1 all processors")
    return int(effective_n_jobs(n_jobs))


def run_chunks(
    function: Callable[[slice], Iterable[None] | None], n_rows: int, chunk: int, n_jobs: int | None
) -> None:
    """Call function(slice) for consecutive chunks of rows, in `n_jobs` threads, of which this is one.

    The chunks do not depend on n_jobs, and BLAS has one thread inside each: results are bit-identical for every
    n_jobs. An exception, Ctrl-C too, drops the chunks that have not begun and waits for those that have, or, if
    `function` yields between its steps, for their next steps.
    """
    left = chunks_of(n_rows, chunk)
    dropped: list[BaseException] = []

    def work() -> None:
        try:
            while True:
                try:
                    rows = left.popleft()
                except IndexError:
                    return
                for _ in function(rows) or ():
                    if dropped:
                        return
        except BaseException as error:
            left.clear()
            dropped.append(error)
            raise

    with held_blas:
        helping = _helpers.start(work, min(threads_of(n_jobs), len(left)) - 1)
        try:
            work()
        finally:
            begun = [future for future in helping if not future.cancel()]
            wait(begun)
        for future in begun:
            future.result()


def chunks_of(n_rows: int, chunk: int) -> deque[slice]:
    """Consecutive slices of so many rows, the last of which may have fewer."""
    return deque(slice(start, min(start + chunk, n_rows)) for start in range(0, n_rows, chunk))


def run_tasks(tasks: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
    """The results of functions that do not wait for one another, called in threads, the first ones first."""
    found: list[Any] = [None] * len(tasks)

    def run(one: slice) -> None:
        found[one.start] = tasks[one.start]()

    run_chunks(run, len(tasks), 1, n_jobs)
    return found
