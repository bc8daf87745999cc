"""What a user meets first: the import, its cost, the examples in the docstrings, the types."""

import doctest
import importlib
import importlib.metadata
import pathlib
import subprocess
import sys

import pytest

import jplrdl

MODULES = [
    "classification", "classifier", "cleaner", "coding", "coupled_least_squares", "datasets.corruption",
    "datasets.images", "datasets.lbp",
    "datasets.originals", "datasets.synthetic", "dictionary", "experiments.cells", "experiments.collaborative",
    "experiments.methods", "experiments.progress", "experiments.results", "experiments.sparse_representation",
    "graphs", "huber", "low_rank_dictionary", "occlusion", "paper", "problem",
    "projection", "prox", "robust_pca", "saturation", "selection",
]


def run(code):
    return subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_does_not_load_scikit_learn_or_plotting():
    loaded = run("import jplrdl, sys; print([m for m in ('sklearn', 'matplotlib', 'joblib') if m in sys.modules])")
    assert loaded == "[]"


def test_import_costs_little_more_than_scipy_linalg():
    # The processor's time: that of the clock is also the time of whatever else the machine does.
    timed = "import scipy.linalg, time; t = time.process_time(); import jplrdl; print(time.process_time() - t)"
    assert min(float(run(timed)) for _ in range(5)) <= 0.05


def test_version_is_the_distributions():
    assert jplrdl.__version__ == importlib.metadata.version("jplrdl")
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = jplrdl.nonsense


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    result = doctest.testmod(importlib.import_module(f"jplrdl.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", jplrdl.__all__)
def test_everything_public_is_documented(name):
    assert len(getattr(jplrdl, name).__doc__) > 80


def test_types_and_c_declarations_are_installed():
    folder = pathlib.Path(jplrdl.__file__).parent
    for file in ["py.typed", "cython_prox.pyi", "cython_prox.pxd", "cython_graph.pxd", "cython_feature_sign.pxd"]:
        assert (folder / file).exists()


def test_the_reference_calls_no_kernel():
    loaded = run(
        "import sys, types; sys.modules['jplrdl'] = p = types.ModuleType('jplrdl');"
        f"p.__path__ = [{str(pathlib.Path(jplrdl.__file__).parent)!r}];"
        "import jplrdl.reference; names = [m for m in sys.modules if m.startswith('jplrdl.')];"
        "print(sorted(m for m in names if not m.startswith('jplrdl.reference')))"
    )
    assert loaded == "['jplrdl._validation', 'jplrdl.weights']"
