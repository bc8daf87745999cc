"""The command `jplrdl`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named on the command line."""
    parser = argparse.ArgumentParser(prog="jplrdl", description="Joint projection and low-rank dictionary learning.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="classify corrupted digits, print a table and save a picture")
    demo.add_argument("--out", type=Path, default=Path("jplrdl-demo.png"), help="the picture (default: %(default)s)")
    demo.add_argument("--jobs", type=int, default=None, help="threads (default: 1; -1: all)")
    options = parser.parse_args(arguments)
    from . import demo as experiment

    experiment.run(options.out, n_jobs=options.jobs)
    return 0
