"""The command `jplrdl`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named on the command line."""
    parser = argparse.ArgumentParser(prog="jplrdl", description="Joint projection and low-rank dictionary learning.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="classify corrupted faces and digits, print tables and save pictures")
    out = "the picture of the faces (default: %(default)s); that of the digits has -digits behind its name"
    demo.add_argument("--out", type=Path, default=Path("jplrdl-demo.png"), help=out)
    demo.add_argument("--jobs", type=int, default=None, help="threads (default: 1; -1: all)")
    _add_reproduce(commands.add_parser("reproduce", help="the paper's tables and figures, on your copy of its data"))
    options = parser.parse_args(arguments)
    return {"demo": _demo, "reproduce": _reproduce}[options.command](options)


def _add_reproduce(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="experiments; --list tells which")
    add("--list", action="store_true", help="what can be reproduced")
    add("--data", type=Path, default=None, help="folder of the images (default: the environment variable JPLRDL_DATA)")
    add("--splits", type=int, default=10, help="random splits of each cell (default: %(default)s)")
    add("--jobs", type=int, default=None, help="processes, over splits (default: 1; -1: all cores)")
    add("--out", type=Path, default=Path("reproduction"), help="folder of results; a run goes on there (%(default)s)")
    add("--quick", action="store_true", help="few classes, two splits: some minutes, to see that all works")
    add("--scheduler", metavar="ADDRESS", default=None, help="of a Dask cluster to run on (extra: dask)")
    add("--columns", nargs="+", default=None, metavar="COLUMN", help='only these, such as CRC "cleaner + exact"')
    add("--folds", type=int, default=5, choices=range(1, 6), help="of five, held out to choose parameters (default: 5)")


def _demo(options: argparse.Namespace) -> int:
    from . import demo

    demo.run(options.out, n_jobs=options.jobs)
    return 0


def _reproduce(options: argparse.Namespace) -> int:
    from .reproduce import describe, reproduce

    if options.list:
        print(describe())
        return 0
    try:
        page = reproduce(
            *options.names, data=options.data, splits=options.splits, n_jobs=options.jobs, out=options.out,
            quick=options.quick, scheduler=options.scheduler, columns=options.columns, n_folds=options.folds,
        )  # fmt: skip
    except (FileNotFoundError, ImportError, ValueError) as error:
        print(f"jplrdl reproduce: {error}", file=sys.stderr)
        return 2
    print(f"Report: {page}")
    return 0
