"""Pictures of results: curves, bars, lines and matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def plotting() -> Any:
    """matplotlib.pyplot, drawing to files."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "jplrdl[experiments]"') from error
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    return plt


def new_figure(width: float = 7.5, height: float = 4.8, n_axes: int = 1) -> tuple[Any, list[Any]]:
    """matplotlib's figure and its axes in a row."""
    figure, axes = plotting().subplots(1, n_axes, figsize=(width, height), layout="constrained", squeeze=False)
    return figure, axes[0].tolist()


def save(figure: Any, path: Path) -> None:
    """As PNG, and forget it."""
    figure.savefig(path, dpi=100)
    plotting().close(figure)


def draw_curves(path: Path, curves: dict[str, list[tuple[float, float, float]]], title: str, x: str, y: str) -> None:
    """Points (x, mean, standard deviation) of each curve."""
    figure, (axis,) = new_figure()
    for k, (name, points) in enumerate(curves.items()):
        at, means, deviations = (np.array(values) for values in zip(*sorted(points), strict=True))
        style = {"color": f"C{k % 10}", "ls": ("-", "--", ":")[k // 10 % 3], "marker": "o", "markersize": 3}
        axis.errorbar(at, means, deviations, label=name, capsize=2, **style)
    axis.set(xlabel=x, ylabel=y)
    axis.set_title(title, fontsize=10)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7, ncols=2)
    save(figure, path)


def draw_bars(path: Path, bars: dict[str, tuple[float, float]], title: str, y: str, paper: float | None) -> None:
    """Mean and standard deviation of each column, and the paper's number as a line."""
    figure, (axis,) = new_figure(7.5, 0.8 + 0.28 * len(bars))
    names = list(bars)[::-1]
    means, deviations = (np.array([bars[name][k] for name in names]) for k in (0, 1))
    axis.barh(names, means, xerr=deviations, color="C0", alpha=0.7)
    if paper is not None:
        axis.axvline(paper, color="C3", lw=1, label=f"the paper, {paper:.2f}")
        axis.legend(fontsize=7)
    axis.set_xlabel(y)
    axis.set_title(title, fontsize=10)
    save(figure, path)


def draw_study(path: Path, title: str, drawn: dict[str, Any]) -> None:
    """Lines or matrices of a study."""
    if "matrices" in drawn:
        matrices = drawn["matrices"]
        figure, axes = new_figure(4 * len(matrices), 4, len(matrices))
        largest = max(float(np.abs(matrix).max()) for matrix in matrices.values())
        least = min(float(matrix.min()) for matrix in matrices.values())
        scale = {"vmin": -largest, "vmax": largest, "cmap": "RdBu_r"} if least < 0 else {"vmin": 0, "vmax": largest}
        for axis, (name, matrix) in zip(axes, matrices.items(), strict=True):
            image = axis.imshow(matrix, aspect="auto", interpolation="nearest", **scale)
            axis.set_title(name, fontsize=9)
        figure.colorbar(image, ax=axes)
        figure.suptitle(title, fontsize=10)
    else:
        figure, (axis,) = new_figure()
        for name, values in drawn["lines"].items():
            axis.plot(np.arange(1, len(values) + 1), values, label=name)
        axis.set(xlabel=drawn["x"], ylabel=drawn["y"], yscale="log" if drawn.get("log") else "linear")
        axis.set_title(title, fontsize=10)
        axis.legend(fontsize=7)
    save(figure, path)
