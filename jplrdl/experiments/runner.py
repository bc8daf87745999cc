"""A run: the tasks that are still to do, over processes or a Dask cluster, their records kept as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, delayed, parallel_config

from .cells import Cell
from .methods import Column
from .progress import Progress
from .results import Results
from .tasks import Record, choose, defaults, measure

Job = tuple[Callable[..., list[Record]], tuple[Any, ...]]


def run_cells(
    cells: Iterable[tuple[Cell, Sequence[Column]]],
    results: Results,
    *,
    splits: int = 10,
    folder: str | None = None,
    n_jobs: int | None = None,
    n_folds: int = 5,
    scheduler: str | None = None,
    keep: str | None = None,
) -> None:
    """Measure columns of cells on every split that `results` does not have yet.

    Parameters
    ----------
    cells : iterable of (Cell, columns)
    results : Results
    splits : int
        Of each cell; one where all would be the same.
    folder : str, optional
        Of the images; the environment variable JPLRDL_DATA by default.
    n_jobs : int, optional
        Processes, each with BLAS at one thread.
    n_folds : int
        Held out in turn to choose parameters, of five.
    scheduler : str, optional
        The address of a Dask scheduler whose workers take the place of processes; a worker that is lost is not missed.
        The workers must be able to read `folder`.
    keep : str, optional
        Folder where cleaned images are kept for other columns and experiments; processes and workers write there.
    """
    wanted = list(cells)
    with _workers(n_jobs, scheduler):
        _run("parameters", _choices(wanted, results, folder, n_folds, keep), results)
        _run("splits", _measurements(wanted, results, splits, folder, keep), results)


@contextmanager
def _workers(n_jobs: int | None, scheduler: str | None) -> Iterator[None]:
    if scheduler is None:
        with parallel_config(backend="loky", n_jobs=n_jobs or 1, inner_max_num_threads=1):
            yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError('scheduler needs Dask: pip install "jplrdl[dask]"') from error
    connect: Any = Client
    with connect(scheduler, set_as_default=False) as client, parallel_config(backend="dask", n_jobs=-1, client=client):
        yield


def _run(what: str, jobs: list[Job], results: Results) -> None:
    progress = Progress(what, len(jobs))
    if jobs:
        done = Parallel(return_as="generator_unordered", batch_size=1)(delayed(job)(*given) for job, given in jobs)
        for records in done:
            results.append(records)
            progress.step(_told(records))


def _told(records: list[Record]) -> str:
    values = ", ".join(f"{record['method']} {record.get('accuracy', record.get('score')):.1f}" for record in records)
    first = records[0]
    return f"{first['cell']} {first.get('split', '')} {first['cleaning']}: {values}"


def _by_cleaning(columns: Sequence[Column]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for column in columns:
        found.setdefault(column.cleaning, []).append(column.method)
    return found


def _choices(
    cells: list[tuple[Cell, Sequence[Column]]], results: Results, folder: str | None, n_folds: int, keep: str | None
) -> list[Job]:
    jobs: dict[tuple[str, str], tuple[Cell, list[str]]] = {}
    for cell, columns in cells:
        for cleaning, methods in _by_cleaning(columns).items():
            missing = [name for name in methods if cell.tuned and results.choice(cell.name, cleaning, name) is None]
            if missing:
                jobs[cell.name, cleaning] = cell, missing
    return [
        (choose, (cell, cleaning, methods, folder, n_folds, keep)) for (_, cleaning), (cell, methods) in jobs.items()
    ]


def _measurements(
    cells: list[tuple[Cell, Sequence[Column]]], results: Results, splits: int, folder: str | None, keep: str | None
) -> list[Job]:
    jobs: dict[tuple[str, int, str], Job] = {}
    for cell, columns in cells:
        for split in range(1 if cell.is_fixed else splits):
            for cleaning, methods in _by_cleaning(columns).items():
                missing = [name for name in methods if split not in results.splits(cell.name, cleaning, name)]
                if missing:
                    chosen = _chosen(cell, cleaning, missing, results)
                    jobs[cell.name, split, cleaning] = (measure, (cell, split, cleaning, chosen, folder, keep))
    return list(jobs.values())


def _chosen(cell: Cell, cleaning: str, methods: list[str], results: Results) -> dict[str, Record]:
    if not cell.tuned:
        return defaults(methods)
    records = {name: results.choice(cell.name, cleaning, name) for name in methods}
    return {
        name: {"parameters": record["parameters"], "cleaner": record["cleaner"]}
        for name, record in records.items()
        if record is not None
    }
