"""The README's example runs as printed."""

import pathlib
import re


def test_python_blocks_run(capsys):
    text = pathlib.Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
