"""Where the time of a whole fit goes, at the paper's sizes: `JPLRDL_DATA=folder python benchmarks/profile_fit.py`.

Ten rounds on each image set, BLAS at one thread, in units of one product of two 2000 x 2000 matrices measured between
the fits. The rate of a block is that of the dense operations its formulas ask for (`operations`), as a share of the
rate of that product; sparse work and Python count as time without operations. `--picture docs/fit_profile.png` draws
the table.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from typing import NamedTuple

import numpy as np

from jplrdl import JPLRDLClassifier
from jplrdl.datasets import choose_training, load_images

if __package__:  # asv imports every file of this folder as part of a package
    from . import measures
else:
    import measures

ROUNDS, SIDE = 10, 2000


class Size(NamedTuple):
    """An image set of the paper, how many images of each class are for training, and the dimensions asked for."""

    title: str
    images: str
    n_per_class: int
    n_components: int


SIZES = (
    Size("Extended Yale B", "extended_yale_b", 20, 660),
    Size("AR", "ar", 9, 900),  # the paper's 1100, as far as the samples have dimensions
    Size("COIL-100", "coil100", 10, 307),
    Size("Caltech-101", "caltech101", 30, 300),
)

# a block's name, and the functions whose time it is
BLOCKS = {
    "robust PCA": ("low_rank_parts",),
    "graphs": ("signed_knn_graph", "shifted_laplacian", "laplacian"),
    "span": ("find_span", "lift"),
    "first P and D": ("first_directions", "initial_dictionary"),
    "codes": ("update_codes",),
    "dictionary": ("update_dictionary",),
    "projection": ("update_projection",),
    "objective": ("evaluate",),
}


def product_time() -> float:
    """Seconds of a product of two matrices of SIDE rows and columns, the best of three."""
    A = np.random.default_rng(0).standard_normal((SIDE, SIDE))
    times = []
    for _ in range(3):
        began = time.process_time()
        A @ A
        times.append(time.process_time() - began)
    return min(times)


def operations(model: JPLRDLClassifier, n: int, m: int) -> dict[str, float]:
    """Dense operations of each block, all rounds together, as its formulas ask for them."""
    d, C = model.projection_.shape[1], len(model.components_)
    r = min(n, m)
    independent = r < m
    eigen = 10 / 3  # times the cube of the side: a symmetric matrix to tridiagonal form, and eigenvectors back
    # A Gram matrix, to tridiagonal form; its inverse root turned back from both sides; a product.
    polar, polish = 3 * r * d**2 + (4 / 3 + 4) * d**3, 3 * r * d**2 + d**3
    # A square projection's matrix is singular here: that is found out, and its Gram matrix made a second time.
    step = polar + polish if r > d else polar + r * d**2 + d**3 / 3 + polish
    lift = 2.0 * m * r * d
    qr = 4 * r * d**2 - 4 / 3 * d**3
    first = qr + ((eigen + 4 / 3) * r**3 + r**2 * d if independent else 4 * n * r**2 + (eigen + 3) * r**3)
    if d == r:  # any basis
        first = 0
    elif independent and 4 * (r - d) < r:  # the few directions that are left out, and what is orthogonal to them
        first = (4 / 3 + 4 / 3) * r**3 + (r - d) * (3 * r**2 + 4 * r * d)
    return {
        # Independent samples have a Cholesky factor (COIL-100 another one); the others go through eigenvectors.
        "span": lift + (n**2 * m + r**3 / 3 + r**2 * d if independent else r**2 * n + eigen * r**3 + 2 * n * m * r),
        "first P and D": first,
        "codes": (model.n_iter_ + 1) * 2.0 * n * C * d,
        "dictionary": model.n_iter_ * 3.0 * C**2 * d,
        "projection": model.n_iter_ * ((2.0 if r < m else 4.0) * n * r * d + step),
        "objective": model.n_iter_ * 1.0 * C**2 * d,
    }


def block_times(X: np.ndarray, y: np.ndarray, size: Size) -> tuple[JPLRDLClassifier, dict[str, float]]:
    """A fit, and the seconds of each of its blocks; the objective is taken out of the blocks that evaluate it."""
    model = JPLRDLClassifier(size.n_components, max_iter=ROUNDS, tol=0.0)
    profile = cProfile.Profile(time.process_time)
    profile.enable()
    began = time.process_time()
    model.fit(X, y)
    total = time.process_time() - began
    profile.disable()
    found = dict.fromkeys(BLOCKS, 0.0)
    for (_, _, function), (*_, seconds, callers) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        for name, functions in BLOCKS.items():
            # Solvers' methods and the functions that they call have the same name: the outermost counts.
            if function in functions and not any(caller[2] == function for caller in callers):
                found[name] += seconds
        if function == "evaluate":
            for caller, (*_, spent) in callers.items():
                for name, functions in BLOCKS.items():
                    if caller[2] in functions:
                        found[name] -= spent
    found["rest"] = total - sum(found.values())
    return model, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", help="where to draw the table")
    arguments = parser.parse_args()
    measures.hold_one_thread()
    columns: dict[str, dict[str, float]] = {}
    rates: dict[str, dict[str, float]] = {}
    for size in SIZES:
        images = load_images(size.images)
        train = choose_training(images.y, size.n_per_class, 0)
        X, y = images.X[train], images.y[train]
        unit = product_time()
        model, seconds = block_times(X, y, size)
        unit = min(unit, product_time())
        title = f"{size.title}, {X.shape[0]} x {X.shape[1]}, d = {model.projection_.shape[1]}"
        columns[title] = {name: spent / unit for name, spent in seconds.items()}
        speed = 2.0 * SIDE**3 / unit
        rates[title] = {name: count / seconds[name] / speed for name, count in operations(model, *X.shape).items()}
        print(f"{title}: {sum(seconds.values()):.1f} s; a product takes {unit:.3f} s", flush=True)
    print(f"\n| block | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name in next(iter(columns.values())):
        cells = [
            f"{column[name]:.1f}" + (f" ({rates[title][name]:.0%})" if rates[title].get(name) else "")
            for title, column in columns.items()
        ]
        print(f"| {name} | {' | '.join(cells)} |")
    print(f"| whole | {' | '.join(f'{sum(column.values()):.1f}' for column in columns.values())} |")
    if arguments.picture:
        draw(columns, arguments.picture)


def draw(columns: dict[str, dict[str, float]], path: str) -> None:
    """A bar for each image set, its parts the blocks."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.6 * len(columns)), layout="constrained")
    colours = plt.get_cmap("tab10").colors
    for row, column in enumerate(columns.values()):
        left = 0.0
        for colour, (name, spent) in zip(colours, column.items(), strict=False):
            axes.barh(row, spent, left=left, color=colour, label=name if row == 0 else None)
            left += spent
    axes.set_yticks(range(len(columns)), columns)
    axes.invert_yaxis()
    axes.set_xlabel(f"products of two {SIDE} x {SIDE} matrices, {ROUNDS} rounds, one thread")
    figure.legend(ncols=5, fontsize="small", frameon=False, loc="outside upper center")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
