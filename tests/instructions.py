"""How many instructions the kernels take on a small fixed case, by valgrind: a speed that does not depend on the day.

Only instructions inside this library's own compiled modules count: what BLAS does depends on the processor, what
Python does is not ours. The numbers depend on the compiler and on which vectors the processor has, so they are stored
for each. `python tests/instructions.py` prints them and stores them in tests/instructions.json.
"""

from __future__ import annotations

import importlib
import json
import platform
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

import jplrdl
from jplrdl._products import adding_product, sparse_gram, sparse_product
from jplrdl.dictionary import update_atoms
from jplrdl.inverse_root import inverse_root
from jplrdl.objective import split_codes

STORE = Path(__file__).with_name("instructions.json")
MODULES = (
    "_alm", "_atoms", "_inverse_root", "_reduction", "_sparse", "_spectrum", "cython_feature_sign", "cython_graph",
    "cython_prox",
)  # fmt: skip


def workload() -> None:
    """Coding, atoms, products, maps, roots, robust PCA and a graph, in both precisions; enough to drown the imports."""
    rng = np.random.default_rng(0)
    mean = rng.standard_normal(60)
    atoms, samples = (mean + rng.standard_normal((count, 60)) for count in (150, 40))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    samples /= np.linalg.norm(samples, axis=1, keepdims=True)
    labels = np.arange(400) % 20
    points = rng.standard_normal((400, 8))
    matrix = rng.standard_normal((500, 403))
    for dtype in (np.float64, np.float32):
        jplrdl.sparse_encode(samples.astype(dtype), atoms.astype(dtype), 0.05)
        jplrdl.signed_knn_graph(points.astype(dtype), labels, 15, 19)
        for k in range(40):
            problem = atoms[k : k + 20], np.eye(20), atoms[60:80], atoms[80:]
            update_atoms(*(a.astype(dtype) for a in problem), lambda_rank=0.1, n_sweeps=4)
        V = matrix.astype(dtype)
        few = split_codes(np.where(V > 1.5, V, 0), np.zeros(len(V), dtype=int), np.arange(V.shape[1]) // 40)
        sparse_gram(few.all)
        adding_product(few.other, V[:403])(slice(0, few.own.shape[0]), sparse_product(few.own, V[:403]))
        for _ in range(4):
            jplrdl.prox_l1(V, 0.5)
            jplrdl.prox_l21(V, 20.0, 0)
            jplrdl.prox_l21(V, 20.0, 1)
        inverse_root(V.T @ V, 1e-5)
        jplrdl.robust_pca(V[:, :40].copy())


def build() -> str:
    """The compiler of the installed kernels and the vectors of this processor: what the numbers hold for."""
    file = importlib.import_module("jplrdl.cython_prox").__file__
    assert file is not None
    found = re.search(rb"GCC: \([^)]*\) (\d+)|clang version (\d+)", Path(file).read_bytes())
    compiler = "an unknown compiler" if found is None else f"GCC {found[1].decode()}" if found[1] else "clang"
    wide = "avx2" in Path("/proc/cpuinfo").read_text().split()
    return f"{compiler}, {platform.machine()}{' with AVX2' if wide else ''}"


def count() -> dict[str, int]:
    """Instructions of each compiled module under valgrind, which must be there."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", sys.executable, "-P", __file__, "run"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise RuntimeError(f"valgrind failed:\n{run.stderr[-2000:]}")
        return by_module(out.read_text())


def by_module(profile: str) -> dict[str, int]:
    """Callgrind's own costs, added up by object file. A line after "calls=" is the cost of the called, not our own."""
    names: dict[str, str] = {}
    totals: dict[str, int] = defaultdict(int)
    current, called = "", False
    for line in profile.splitlines():
        if match := re.match(r"(c?ob)=(\(\d+\))(?: (.*))?$", line):
            key, number, name = match.groups()
            if name:
                names[number] = name
            if key == "ob":
                current = number
        elif line.startswith("calls="):
            called = True
        elif line[:1] in "0123456789+-*" and line:
            if not called:
                totals[current] += int(line.split()[1])
            called = False
    files = {Path(names[number]): total for number, total in totals.items()}
    own = {file.name.split(".")[0]: total for file, total in files.items() if file.parent.name == "jplrdl"}
    return {module: own[module] for module in MODULES}


if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        workload()
    else:
        stored = json.loads(STORE.read_text()) if STORE.exists() else {}
        stored[build()] = count()
        STORE.write_text(json.dumps(stored, indent=2, sort_keys=True) + "\n")
        print(STORE.read_text())
