"""docs/performance.md: each script writes its tables between its own two marks and leaves the rest alone."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "performance.md"


def write(name: str, tables: str) -> None:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = PAGE.read_text()
    PAGE.write_text(f"{text.split(begin)[0]}{begin}\n{tables}\n{end}{text.split(end)[1]}")
