"""Rows in chunks, in threads: the kernels release the GIL, BLAS is held at one thread meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from types import TracebackType
from typing import Any


class _HeldBLAS:
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


def run_chunks(function: Callable[[slice], None], n_rows: int, chunk: int, n_jobs: int | None) -> None:
    """Call function(slice) for consecutive chunks of rows, in `n_jobs` threads.

    The chunks do not depend on n_jobs, and BLAS has one thread inside each: results are bit-identical for every
    n_jobs. An exception, Ctrl-C too, cancels the chunks that have not begun and waits for those that have.
    """
    from joblib import effective_n_jobs

    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise TypeError(f"n_jobs must be an integer or None, got {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; 1 is one thread, -1 all processors")
    chunks = [slice(start, min(start + chunk, n_rows)) for start in range(0, n_rows, chunk)]
    n_threads = min(effective_n_jobs(n_jobs), len(chunks))
    with held_blas:
        if n_threads == 1:
            for rows in chunks:
                function(rows)
            return
        pool = ThreadPoolExecutor(n_threads)
        try:
            for future in [pool.submit(function, rows) for rows in chunks]:
                future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
