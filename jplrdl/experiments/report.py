"""Results as CSV files, pictures and one HTML page that needs no other file."""

from __future__ import annotations

import base64
import csv
import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import pictures
from .protocols import Experiment
from .results import Results
from .studies import Study

_HEADER = ("row", "x", "column", "mean", "std", "splits", "paper")
_UNITS = {
    "accuracy": "accuracy (%)", "class_accuracy": "mean accuracy of classes (%)", "fit_seconds": "seconds of a fit",
}  # fmt: skip
Row = tuple[str, float | None, str, float, float, int, float | None]


def summary(experiment: Experiment, results: Results) -> list[Row]:
    """Mean and standard deviation over the splits measured, one row for each point and column that has any."""
    rows: list[Row] = []
    for point in experiment.points:
        for column in experiment.columns:
            splits = results.splits(point.cell.name, column.cleaning, column.method)
            values = [record[experiment.measure] for record in splits.values()]
            if values:
                mean, std = float(np.mean(values)), float(np.std(values))
                rows.append((point.label, point.x, str(column), mean, std, len(values), point.paper))
    return rows


def write_experiment(name: str, experiment: Experiment, results: Results, out: Path) -> list[Row]:
    """NAME.csv and NAME.png of what has been measured; nothing if nothing has."""
    rows = summary(experiment, results)
    if not rows:
        return rows
    write_table(out / f"{name}.csv", _HEADER, rows)
    unit = _UNITS[experiment.measure]
    labels = {row[0] for row in rows}
    if experiment.x_label:
        curves: dict[str, list[tuple[float, float, float]]] = {}
        for label, x, column, mean, std, _, _ in rows:
            curve = column if len(labels) == 1 else f"{label}, {column}"
            curves.setdefault(curve, []).append((x or 0.0, mean, std))
        pictures.draw_curves(out / f"{name}.png", curves, experiment.title, experiment.x_label, unit)
    else:
        bars = {(row[2] if len(labels) == 1 else f"{row[0]}: {row[2]}"): row[3:5] for row in rows}
        paper = rows[0][6] if len(labels) == 1 and experiment.measure == "accuracy" else None
        pictures.draw_bars(out / f"{name}.png", bars, experiment.title, unit, paper)
    return rows


def write_study(name: str, study: Study, out: Path, folder: str | None, n_classes: int | None = None) -> None:
    """Run a study; NAME.csv and NAME.png."""
    table, drawn = study.run(folder, n_classes)
    write_table(out / f"{name}.csv", tuple(table), zip(*table.values(), strict=True))
    pictures.draw_study(out / f"{name}.png", study.title, drawn)


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A CSV file; nothing where a value is None."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows([["" if value is None else value for value in row] for row in rows])


def write_page(
    experiments: Mapping[str, Experiment], studies: Mapping[str, Study], results: Results, out: Path
) -> Path:
    """report.html: every experiment, ours beside the paper's, and every study; what has not been run says how to."""
    rows, sections = [], []
    for name, experiment in experiments.items():
        found = summary(experiment, results)
        rows += [_headline(name, experiment, found)]
        sections.append(_section(name, experiment.title, experiment.where, out, _cells(found)))
    for name, study in studies.items():
        sections.append(_section(name, study.title, study.where, out, ""))
    page = out / "report.html"
    page.write_text(_PAGE.format(rows="\n".join(rows), sections="\n".join(sections)), encoding="utf-8")
    return page


def _headline(name: str, experiment: Experiment, rows: list[Row]) -> str:
    """The best of ours, and of all, for each row of the paper's that has a number; otherwise the range."""
    link = f'<a href="#{name}">{html.escape(experiment.title)}</a>'
    start = f"<tr><td>{link}</td><td>{html.escape(experiment.where)}</td>"
    if not rows:
        return f"{start}<td></td><td colspan=2>not run: <code>jplrdl reproduce {name}</code></td></tr>"
    papers = {row[6] for row in rows}
    paper = f"{papers.pop():.2f}" if len(papers) == 1 and None not in papers else "see below"
    ours = [row for row in rows if row[2].split(" + ")[-1] in ("exact", "paper")]
    cells = [_told(max(part, key=lambda row: row[3])) if part else "" for part in (ours, rows)]
    return f"{start}<td>{paper}</td><td>{cells[0]}</td><td>{cells[1]}</td></tr>"


def _told(row: Row) -> str:
    return f"{row[3]:.2f} ± {row[4]:.2f} ({html.escape(row[2])}, {row[5]} splits)"


def _cells(rows: list[Row]) -> str:
    lines = [
        f"<tr><td>{html.escape(label)}</td><td>{'' if x is None else f'{x:g}'}</td><td>{html.escape(column)}</td>"
        f"<td>{mean:.2f} ± {std:.2f}</td><td>{count}</td><td>{'' if paper is None else f'{paper:.2f}'}</td></tr>"
        for label, x, column, mean, std, count, paper in rows
    ]
    if not lines:
        return ""
    head = "<tr><th>row</th><th>x</th><th>column</th><th>ours</th><th>splits</th><th>the paper</th></tr>"
    return f"<details><summary>numbers</summary><table>{head}{''.join(lines)}</table></details>"


def _section(name: str, title: str, where: str, out: Path, table: str) -> str:
    picture = out / f"{name}.png"
    if picture.exists():
        data = base64.b64encode(picture.read_bytes()).decode()
        body = f'<img alt="{html.escape(title)}" src="data:image/png;base64,{data}">{table}'
    else:
        body = f"<p>Not run: <code>jplrdl reproduce {name}</code></p>"
    return f'<h2 id="{name}">{html.escape(title)} ({html.escape(where)})</h2>{body}'


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>JP-LRDL, reproduced</title>
<style>
body {{ font: 15px/1.4 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em }}
table {{ border-collapse: collapse }} td, th {{ border: 1px solid #ccc; padding: 2px 8px; text-align: left }}
h2 {{ font-size: 1.1em; margin-top: 2em }} img {{ max-width: 100% }}
</style></head><body>
<h1>JP-LRDL, reproduced</h1>
<p>Accuracy in percent, mean ± standard deviation over random splits. "exact" and "paper" are the two solvers of
JPLRDLClassifier, "start" is its first projection and dictionary; "cleaner" stands before a column where images went
through LowRankCleaner, "told cleaner" where it was told that pixels at 255 are missing, "finding cleaner" where a value
found scattered at random over the training images was taken for missing. Where the paper has a curve only, it gives no
number to compare with.</p>
<table>
<tr><th>experiment</th><th>in the paper</th><th>its number</th><th>ours, best column</th><th>best of all</th></tr>
{rows}
</table>
{sections}
</body></html>
"""
