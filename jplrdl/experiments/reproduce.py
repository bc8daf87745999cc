"""`jplrdl reproduce`: the paper's tables and figures from one command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .methods import columns as find_columns
from .pictures import plotting
from .protocols import EXPERIMENTS, GROUPS
from .report import write_experiment, write_page, write_study
from .results import Results
from .runner import run_cells
from .studies import STUDIES

QUICK_SPLITS, QUICK_CLASSES = 2, 8


def describe() -> str:
    """The names that can be reproduced, a line each."""
    lines = [f"{name:22s}{experiment.where:20s}{experiment.title}" for name, experiment in EXPERIMENTS.items()]
    lines += [f"{name:22s}{study.where:20s}{study.title}" for name, study in STUDIES.items()]
    lines += [f"{'table':22s}{'Table III':20s}its cells, one after the other", f"{'all':22s}{'':20s}everything"]
    return "\n".join(lines)


def reproduce(
    *names: str,
    data: str | os.PathLike[str] | None = None,
    splits: int = 10,
    n_jobs: int | None = None,
    out: str | os.PathLike[str] = "reproduction",
    quick: bool = False,
    scheduler: str | None = None,
    columns: Sequence[str] | None = None,
    n_folds: int = 5,
) -> Path:
    """Run experiments, or go on with them, and write their tables and pictures.

    Parameters
    ----------
    names : str
        What :func:`describe` lists.
    data : path, optional
        Folder of the images; the environment variable JPLRDL_DATA by default.
    splits : int
        Random splits of each cell.
    n_jobs : int, optional
        Processes, over splits, each with BLAS at one thread; -1 for all cores.
    out : path
        Folder of the results; what is there is not measured again. Its folder "cleaned", gigabytes in a long run, may
        be deleted at any time.
    quick : bool
        Few classes, two splits, two folds, and three points of each curve: to see that all works.
    scheduler : str, optional
        Address of a Dask scheduler.
    columns : sequence of str, optional
        Only these columns, such as "CRC" and "cleaner + exact".
    n_folds : int
        Of five, held out in turn to choose parameters.

    Returns
    -------
    pathlib.Path
        The report, one HTML page on all that has been measured in `out`.

    Examples
    --------
    >>> import tempfile
    >>> from jplrdl.experiments import reproduce
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     reproduce("synthetic", out=folder, quick=True)
    """
    wanted = [name for given in names for name in GROUPS.get(given, (given,))]
    wanted += list(STUDIES) if "all" in names else []
    unknown = [name for name in wanted if name not in EXPERIMENTS and name not in STUDIES]
    if unknown or not wanted:
        raise ValueError(f"names must be among {', '.join([*EXPERIMENTS, *STUDIES, *GROUPS])}, got {unknown or names}")
    plotting()  # a missing matplotlib is told now, not after hours
    only = None if columns is None else set(find_columns(*columns))
    folder, place = None if data is None else os.fspath(data), Path(out)
    place.mkdir(parents=True, exist_ok=True)
    known = {name: experiment.quick() if quick else experiment for name, experiment in EXPERIMENTS.items()}
    results = Results(place / "results.jsonl")
    cells = [
        (point.cell, [column for column in known[name].columns if only is None or column in only])
        for name in wanted
        if name in known
        for point in known[name].points
    ]
    run_cells(
        cells, results, splits=min(splits, QUICK_SPLITS) if quick else splits, folder=folder, n_jobs=n_jobs,
        n_folds=min(n_folds, 2) if quick else n_folds, scheduler=scheduler,
        # Workers of a cluster need not share a disk with us.
        keep=os.fspath(place / "cleaned") if scheduler is None else None,
    )  # fmt: skip
    for name in wanted:
        if name in STUDIES:
            write_study(name, STUDIES[name], place, folder, QUICK_CLASSES if quick else None)
    for name in known:
        write_experiment(name, known[name], results, place)
    return write_page(known, STUDIES, results, place)
