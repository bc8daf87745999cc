"""One job, many programs: each takes its turn, its answer is judged, and only the accurate ones are compared."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module, metadata
from typing import Any

OURS = "jplrdl"


class LeftOutError(Exception):
    """A program that `make` does not start, and why."""


@dataclass(frozen=True)
class Program:
    """`make` imports what it needs and returns the call to be timed; `package` names who wrote it.

    What only moves the memory that the job's way must move does not `compete`: it is timed, but has no answer.
    """

    package: str
    name: str
    make: Callable[[], Callable[[], Any]]
    competes: bool = True


@dataclass(frozen=True)
class Job:
    """The same arrays for all programs; `judge` turns an answer into its error and the words to print.

    An error above `limit` does not count. `floor` is the time below which this machine cannot do the job, in seconds
    or as a call that takes its turns with the others; `what` it stands for. The goal is a least speed-up over the best
    peer that counts (or over the program `rival`), or a largest multiple of the floor.
    """

    title: str
    programs: list[Program]
    judge: Callable[[Any], tuple[float, str]]
    limit: float
    floor: float | Callable[[], Any] = math.nan
    what: str = ""
    faster: float | None = None
    within: float | None = None
    rival: str = ""
    seconds: float = 1.5


@dataclass
class Entry:
    """A program's best time and what it reached; or why it did not run."""

    program: Program
    failure: str = ""
    error: float = math.nan
    words: str = ""
    times: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.times, default=math.nan)


def hold(job: Job, rounds: int, clock: Callable[[], float]) -> tuple[list[Entry], float]:
    """Let every program answer once, judge it, then time all in turns, the floor too; returns it in seconds.

    A slow program has fewer turns; a fast one runs several times in each, and finds its data where it left them.
    """
    entries = [Entry(program) for program in job.programs]
    calls = [_first(entry, job, clock) for entry in entries]
    floor = Entry(Program("", "", lambda: lambda: None))
    runners = list(zip(entries, calls, strict=True))
    if callable(job.floor):
        runners.append((floor, job.floor))
    else:
        floor.times.append(job.floor)
    for _ in range(rounds):
        for entry, call in runners:
            if call is not None and sum(entry.times) < job.seconds:
                with _quiet():
                    entry.times.append(_turn(call, clock))
    return entries, floor.best


def _turn(call: Callable[[], Any], clock: Callable[[], float]) -> float:
    """The shortest of the runs that fit into a twentieth of a second, at least one."""
    times: list[float] = []
    while sum(times) < 0.05:
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


def _first(entry: Entry, job: Job, clock: Callable[[], float]) -> Callable[[], Any] | None:
    """The call, once it has answered: compiled, warm and judged. None, and the reason, if it did not."""
    try:
        import_module(entry.program.package)
    except ImportError as error:
        entry.failure = f"not installed: {error}"
        return None
    try:
        with _quiet():
            call = entry.program.make()
            start = clock()
            answer = call()
            spent = clock() - start
        if entry.program.competes:
            entry.error, entry.words = job.judge(answer)
        else:
            entry.words = "for comparison"
        if spent > job.seconds:  # too slow for a second time
            entry.times.append(spent)
            return None
    except LeftOutError as reason:
        entry.failure = f"left out: {reason}"
        return None
    except Exception as error:  # a peer that breaks is a line of the table, not the end of it
        entry.failure = f"failed: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        return None
    return call


@contextlib.contextmanager
def _quiet() -> Any:
    nowhere = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        warnings.simplefilter("ignore")
        yield


def counts(entry: Entry, job: Job) -> bool:
    return not entry.failure and bool(entry.error <= job.limit)


def best_peer(entries: list[Entry], job: Job) -> Entry | None:
    peers = [
        entry
        for entry in entries[1:]
        if counts(entry, job) and (entry.program.name == job.rival or (not job.rival and entry.program.package != OURS))
    ]
    return min(peers, key=lambda entry: entry.best, default=None)


def verdict(job: Job, entries: list[Entry], floor: float) -> tuple[str, str, str]:
    """Our speed-up over the best peer, the multiple of the floor, and the goal with met or MISSED."""
    ours, peer = entries[0], best_peer(entries, job)
    speed_up = peer.best / ours.best if peer else math.nan
    multiple = ours.best / floor
    goals = []
    if job.faster is not None:
        met = _mark(speed_up >= job.faster) if peer else "no peer is as accurate"
        goals.append(f">= {job.faster:g} times: {met}")
    if job.within is not None:
        goals.append(f"<= {job.within:g} of the limit: {_mark(multiple <= job.within)}")
    if not counts(ours, job):
        goals.append(f"inaccurate: {ours.failure or ours.words}")
    return (
        f"{speed_up:.2f} ({peer.program.name})" if peer else "no peer",
        "" if math.isnan(multiple) else f"{multiple:.2f}",
        "; ".join(goals),
    )


def _mark(met: bool) -> str:
    return "met" if met else "MISSED"


def lines(job: Job, entries: list[Entry], floor: float) -> list[str]:
    """A table of all programs for one job."""
    out = [f"**{job.title}**" + (f" (limit: {job.what}, {seconds(floor)})" if job.what else ""), ""]
    out += ["| program | time | ours is | of the limit | reached |", "|---|---|---|---|---|"]
    for entry in entries:
        name = entry.program.name
        if entry.failure:
            out.append(f"| {name} | | | | {entry.failure} |")
            continue
        ratio = "" if entry is entries[0] else f"{entry.best / entries[0].best:.2f} times as fast"
        multiple = "" if math.isnan(floor) else f"{entry.best / floor:.2f}"
        words = entry.words
        if entry.program.competes and not counts(entry, job):
            words = f"{words}: **misses {job.limit:.0e}, not counted**"
        out.append(f"| {name} | {seconds(entry.best)} | {ratio} | {multiple} | {words} |")
    return [*out, ""]


def seconds(t: float) -> str:
    return f"{t:.2f} s" if t >= 1 else f"{1e3 * t:.3g} ms"


def version_of(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"{package} not installed"
