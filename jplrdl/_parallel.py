"""Rows in chunks, in threads: the kernels release the GIL, BLAS is held at one thread meanwhile."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ContextDecorator
from numbers import Integral
from queue import SimpleQueue
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


class _Call:
    """A function that a helper is to call, unless it is called off before the helper has begun."""

    def __init__(self, function: Callable[[], None]) -> None:
        self.function = function
        self.error: BaseException | None = None
        self._begun, self._done = threading.Lock(), threading.Lock()
        self._done.acquire()

    def take(self) -> bool:
        """For the first who asks: the helper that begins, or the caller, who calls it off."""
        return self._begun.acquire(blocking=False)

    def run(self) -> None:
        try:
            self.function()
        except BaseException as error:
            self.error = error

    def end(self) -> None:
        self._done.release()

    def wait(self) -> None:
        self._done.acquire()


class _Helpers:
    """Threads that wait for work: starting one anew would take as long as a product of small matrices.

    Those of concurrent.futures take half as long again from a call to its end.
    """

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):  # a forked process has none of its parent's threads
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._left = _MOST_HELPERS
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[_Call]] = []

    def start(self, function: Callable[[], None], n_threads: int) -> list[_Call]:
        """Call function in `n_threads` threads, or fewer if others have them."""
        calls = []
        for _ in range(n_threads):
            with self._lock:
                # The last to become idle is the first to be called: its processor still knows it.
                box = self._idle.pop() if self._idle else None
                if box is None and self._left == 0:
                    break
                self._left -= box is None
            if box is None:
                box = SimpleQueue()
                threading.Thread(target=self._serve, args=(box,), name="jplrdl", daemon=True).start()
            calls.append(_Call(function))
            box.put(calls[-1])
        return calls

    def _serve(self, box: SimpleQueue[_Call]) -> None:
        while True:
            call = box.get()
            begun = call.take()
            if begun:
                call.run()
            with self._lock:
                self._idle.append(box)
            if begun:
                call.end()
            del call  # and with it the arrays that its function knows


_MOST_HELPERS = 256
_helpers = _Helpers()


def threads_of(n_jobs: int | None) -> int:
    """How many threads n_jobs asks for.

    A positive number is taken at its word. What None and negative numbers mean joblib knows, but to ask it takes as
    long as to map a megabyte.
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise TypeError(f"n_jobs must be an integer or None, got {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; 1 is one thread, -1 all processors")
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    from joblib import effective_n_jobs

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
        run_together(work, min(threads_of(n_jobs), len(left)))


def run_together(work: Callable[[], None], n_threads: int) -> None:
    """Call the same function in so many threads, of which this is one, or in fewer: what others do is not left to do.

    When this one is done, those that have not begun are called off.
    """
    helping = _helpers.start(work, n_threads - 1)
    try:
        work()
    finally:
        begun = [call for call in helping if not call.take()]
        for call in begun:
            call.wait()
    for call in begun:
        if call.error is not None:
            raise call.error


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
