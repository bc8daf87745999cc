"""Results as they come: one JSON object a line, appended whole or not at all, so that a stopped run can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class Results:
    """A file of records.

    Every batch of records is one write to the end of the file, on disk when `append` returns. A line that a crash has
    torn is cut off when the file is opened for the next run.

    Parameters
    ----------
    path : path
        Made, with its folder, if it is not there.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from jplrdl.experiments.results import Results
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Results(pathlib.Path(folder, "results.jsonl"))
    ...     found = {"kind": "result", "cell": "a", "cleaning": "", "method": "CRC", "split": 0, "accuracy": 90.0}
    ...     results.append([found])
    ...     again = Results(results.path)
    >>> again.accuracies("a", "", "CRC")
    [90.0]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.records: list[Record] = []
        self._choices: dict[tuple[str, str, str], Record] = {}
        self._found: dict[tuple[str, str, str], dict[int, Record]] = {}
        if self.path.exists():
            self._mend()
            with self.path.open(encoding="utf-8") as lines:
                self._take(json.loads(line) for line in lines)

    def _mend(self) -> None:
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(self.path, whole)

    def _take(self, records: Iterable[Record]) -> None:
        for record in records:
            key = record["cell"], record["cleaning"], record["method"]
            self.records.append(record)
            if record["kind"] == "choice":
                self._choices.setdefault(key, record)
            else:
                self._found.setdefault(key, {}).setdefault(record["split"], record)

    def append(self, records: Iterable[Record]) -> None:
        """Keep records, on disk too."""
        new = list(records)
        lines = "".join(json.dumps(record) + "\n" for record in new)
        with self.path.open("ab", buffering=0) as file:
            file.write(lines.encode())
            os.fsync(file.fileno())
        self._take(new)

    def choice(self, cell: str, cleaning: str, method: str) -> Record | None:
        """The parameters chosen, if they have been."""
        return self._choices.get((cell, cleaning, method))

    def splits(self, cell: str, cleaning: str, method: str) -> dict[int, Record]:
        """What has been measured, by split."""
        return self._found.get((cell, cleaning, method), {})

    def accuracies(self, cell: str, cleaning: str, method: str) -> list[float]:
        """In percent, in the order of the splits."""
        return [record["accuracy"] for _, record in sorted(self.splits(cell, cleaning, method).items())]

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)
