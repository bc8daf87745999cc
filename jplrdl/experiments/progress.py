"""A line of progress with the time left."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class Progress:
    """Tell how many of a number of tasks are done, and about how long the rest will take.

    Parameters
    ----------
    what : str
    total : int
    stream : text file, optional
        sys.stderr by default. On a terminal the line is written over, elsewhere every task adds one.

    Examples
    --------
    >>> import sys
    >>> from jplrdl.experiments.progress import Progress
    >>> progress = Progress("splits", 2, stream=sys.stdout)
    >>> progress.step("yale")
    splits: 1 of 2, 0 s left, yale
    """

    def __init__(self, what: str, total: int, stream: TextIO | None = None) -> None:
        self.what, self.total, self.done = what, total, 0
        self.stream = sys.stderr if stream is None else stream
        self.began = time.monotonic()

    def step(self, told: str = "") -> None:
        """One more is done."""
        self.done += 1
        left = (time.monotonic() - self.began) / self.done * (self.total - self.done)
        line = f"{self.what}: {self.done} of {self.total}, {duration(left)} left" + (f", {told}" if told else "")
        if self.stream.isatty():
            self.stream.write(f"\r\x1b[K{line[:150]}" + ("\n" if self.done == self.total else ""))
        else:
            self.stream.write(line + "\n")
        self.stream.flush()


def duration(seconds: float) -> str:
    """Seconds, minutes or hours.

    Examples
    --------
    >>> from jplrdl.experiments.progress import duration
    >>> duration(40), duration(200), duration(9000)
    ('40 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
