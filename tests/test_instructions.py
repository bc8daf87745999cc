"""The kernels take no more instructions than they did: what no clock can tell on a busy machine."""

from __future__ import annotations

import json
import shutil

import instructions
import pytest

ALLOWED = 1.2


def test_kernels_take_at_most_a_fifth_more_instructions_than_stored() -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not here")
    build, stored = instructions.build(), json.loads(instructions.STORE.read_text())
    if build not in stored:
        pytest.skip(f"no counts are stored for {build}; python tests/instructions.py stores them")
    ratios = {name: count / stored[build][name] for name, count in instructions.count().items()}
    grown = {name: ratio for name, ratio in ratios.items() if ratio > ALLOWED}
    assert not grown, f"more instructions than tests/instructions.json has, by these factors: {grown}"


def test_own_costs_are_told_from_those_of_the_called() -> None:
    profile = "\n".join([
        "events: Ir",
        *(f"ob=({i}) /there/jplrdl/{name}.cpython-311.so" for i, name in enumerate(instructions.MODULES)),
        "ob=(1)", "fn=(1) search", "10 5", "+2 7",
        "cob=(99) /there/blas.so", "cfn=(2) ddot", "calls=3 0", "* 1000", "+1 2",
        "ob=(99)", "fn=(2)", "1 1000",
        *(line for i in range(len(instructions.MODULES)) if i != 1 for line in (f"ob=({i})", f"3 {i}")),
    ])  # fmt: skip
    expected = {name: 14 if i == 1 else i for i, name in enumerate(instructions.MODULES)}
    assert instructions.by_module(profile) == expected
