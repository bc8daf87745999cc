"""Models come back from files as they were; files that anybody has altered are refused, and never run anything."""

import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline

from jplrdl import JPLRDLClassifier, LowRankCleaner
from jplrdl.persistence import _check_members

DATA = Path(__file__).with_name("data")
LABELS = {
    "int": np.arange(4),
    "int8": np.arange(4, dtype=np.int8),
    "bool": np.array([False, True]),
    "float": np.array([-1.0, 0.0, 2.0, 1e6]),
    "str": np.array(["", "b", "köln", "日本"]),
    "object": np.array(["", "b", "köln", "日本"], dtype=object),
}
pytestmark = pytest.mark.filterwarnings("ignore:n_components = :UserWarning")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:60], y[:60], X[60:160]


def small(**parameters):
    return JPLRDLClassifier(**{"n_components": 8, "max_iter": 1, **parameters})


@pytest.fixture(scope="module")
def fitted(digits):
    return small().fit(*digits[:2])


@pytest.fixture(scope="module")
def saved(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.npz"
    fitted.save(path)
    return path


def assert_same_model(model, other):
    np.testing.assert_equal(model.get_params(), other.get_params())
    ours, theirs = vars(model), vars(other)
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == theirs[name].dtype, name
            np.testing.assert_array_equal(value, theirs[name])
    np.testing.assert_equal(getattr(model, "history_", None), getattr(other, "history_", None))


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, contents, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return path


def altered(saved, tmp_path, change):
    """The saved model with change(header) applied to its header."""
    contents = members(saved)
    header = json.loads(contents["header.json"])
    change(header)
    return write(tmp_path / "altered.npz", {**contents, "header.json": json.dumps(header)})


# ---------------------------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_classifier_comes_back_as_it_was(digits, tmp_path, labels, dtype):
    X, y = digits[0].astype(dtype), labels[digits[1] % len(labels)]
    model = small(random_state=3, n_atoms=np.int64(20), lambda_rank=np.float32(0.5)).fit(X, y)
    model.save(tmp_path / "model")
    again = JPLRDLClassifier.load(tmp_path / "model")
    assert_same_model(again, model)
    assert type(again.predict(digits[2])[0]) is type(model.predict(digits[2])[0])
    np.testing.assert_array_equal(again.decision_function(digits[2]), model.decision_function(digits[2]))
    np.testing.assert_array_equal(again.predict(digits[2]), model.predict(digits[2]))
    assert again.get_feature_names_out()[0] == "jplrdlclassifier0"


@pytest.mark.parametrize("parameters", [{"solver": "paper"}, {"max_iter": 0}, {"learn_projection": False, "n_jobs": 2}])
def test_every_kind_of_fit_comes_back(digits, tmp_path, parameters):
    model = small(**parameters).fit(*digits[:2])
    model.save(str(tmp_path / "model.npz"))
    assert_same_model(JPLRDLClassifier.load(str(tmp_path / "model.npz")), model)


@pytest.mark.parametrize(
    "parameters",
    [
        {}, {"mode": "class"}, {"image_shape": (8, 8)}, {"missing_values": float("nan")},
        {"missing_values": 16, "eta": 0.2},
    ],
)
def test_a_cleaner_comes_back_as_it_was(digits, tmp_path, parameters):
    cleaner = LowRankCleaner(**parameters).fit(*digits[:2])
    cleaner.save(tmp_path / "cleaner.npz")
    again = LowRankCleaner.load(tmp_path / "cleaner.npz")
    assert_same_model(again, cleaner)
    np.testing.assert_array_equal(again.transform(digits[2]), cleaner.transform(digits[2]))


def test_a_cleaner_of_nothing_comes_back(tmp_path):
    LowRankCleaner().fit(np.zeros((5, 4))).save(tmp_path / "cleaner.npz")
    again = LowRankCleaner.load(tmp_path / "cleaner.npz")
    np.testing.assert_array_equal(again.transform(np.ones((2, 4))), 0)


def test_the_steps_of_a_pipeline_are_saved_one_by_one(digits, tmp_path):
    pipeline = make_pipeline(LowRankCleaner(), small()).fit(*digits[:2])
    pipeline[0].save(tmp_path / "a")
    pipeline[1].save(tmp_path / "b")
    again = make_pipeline(LowRankCleaner.load(tmp_path / "a"), JPLRDLClassifier.load(tmp_path / "b"))
    np.testing.assert_array_equal(again.predict(digits[2]), pipeline.predict(digits[2]))


def test_feature_names_come_back(digits, tmp_path):
    model = small().fit(*digits[:2])
    model.feature_names_in_ = np.array([f"pixel {i}" for i in range(64)], dtype=object)
    model.save(tmp_path / "model.npz")
    assert_same_model(JPLRDLClassifier.load(tmp_path / "model.npz"), model)


def test_pickles_come_back(digits, fitted):
    assert_same_model(pickle.loads(pickle.dumps(fitted)), fitted)
    cleaner = LowRankCleaner(image_shape=(8, 8)).fit(digits[0])
    assert_same_model(pickle.loads(pickle.dumps(cleaner)), cleaner)


def test_skops_files_come_back(digits, fitted):
    skops = pytest.importorskip("skops.io")
    for model in (fitted, LowRankCleaner(image_shape=(8, 8)).fit(digits[0])):
        data = skops.dumps(model)
        untrusted = skops.get_untrusted_types(data=data)
        assert untrusted == [f"{type(model).__module__}.{type(model).__name__}"]
        assert_same_model(skops.loads(data, trusted=untrusted), model)


@pytest.mark.parametrize(("name", "kind"), [("classifier", JPLRDLClassifier), ("cleaner", LowRankCleaner)])
def test_files_of_every_version_load_for_ever(name, kind):
    # Written by tests/data/write.py of the version in their names. Never write them again: add those of a new format.
    files = sorted(DATA.glob(f"{name}-*.npz"))
    assert files
    for file in files:
        expected = json.loads(file.with_suffix(".json").read_text())
        model = kind.load(file)
        answer = model.decision_function if name == "classifier" else model.transform
        np.testing.assert_allclose(answer(np.array(expected["X"])), expected["answer"], rtol=1e-7, atol=1e-9)
        if name == "classifier":
            assert model.predict(np.array(expected["X"])).tolist() == expected["labels"]


def test_numpy_opens_the_file_and_the_same_model_makes_the_same_bytes(fitted, saved, tmp_path):
    with np.load(saved, allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["components_"], fitted.components_)
        assert json.loads(archive["header.json"])["format_version"] == 1
    fitted.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == saved.read_bytes()


# ------------------------------------------------------------------------------------------- what cannot be saved


def test_what_cannot_be_saved_is_named(digits, tmp_path):
    with pytest.raises(Exception, match="is not fitted yet"):
        small().save(tmp_path / "model.npz")
    with pytest.raises(TypeError, match=r"callback must be a number.*set_params\(callback=None\)"):
        small(callback=print).fit(*digits[:2]).save(tmp_path / "model.npz")
    with pytest.raises(TypeError, match="random_state must be a number"):
        small(random_state=np.random.RandomState(0)).fit(*digits[:2]).save(tmp_path / "model.npz")
    model = small().fit(*digits[:2])
    model.classes_ = np.array([1, "b", 2.0, "c"], dtype=object)
    with pytest.raises(TypeError, match="classes_ must hold numbers, booleans or strings"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------------------------------- altered files


def test_a_truncated_file_is_refused(saved, tmp_path):
    data = saved.read_bytes()
    for length in (0, 1, 21, 22, 100, len(data) // 2, len(data) - 100, len(data) - 1):
        (tmp_path / "short.npz").write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"path must be a file of JPLRDLClassifier.save, got '.*short.npz'"):
            JPLRDLClassifier.load(tmp_path / "short.npz")
    with pytest.raises(FileNotFoundError):
        JPLRDLClassifier.load(tmp_path / "none.npz")


@settings(max_examples=300)
@given(data=st.data())
def test_bytes_that_changed_are_refused_or_did_not_matter(saved, fitted, digits, tmp_path_factory, data):
    content = bytearray(saved.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1) | st.integers(len(content) - 900, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("changed") / "model.npz"
    path.write_bytes(content)
    try:
        model = JPLRDLClassifier.load(path)
    except ValueError as error:
        model, message = None, str(error)
    if model is None:
        assert message.startswith("path must be a file of JPLRDLClassifier.save, got ")
    else:
        assert_same_model(model, fitted)


def set_in(*keys, to):
    def change(header):
        for key in keys[:-1]:
            header = header[key]
        header[keys[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_in("format_version", to=2), "format version 2, written by jplrdl '.*', and this version .* use a later"),
        (set_in("format_version", to=0), "format version 0"),
        (set_in("format_version", to="1"), "format_version must be of type int, got '1'"),
        (set_in("format", to="something"), "its header is not one of a jplrdl model"),
        (set_in("estimator", to="LowRankCleaner"), "it holds a LowRankCleaner; use LowRankCleaner.load"),
        (set_in("parameters", "lambda_rank", to=-1.0), "The 'lambda_rank' parameter .* must be"),
        (set_in("parameters", "callback", to="print"), "The 'callback' parameter"),
        (set_in("parameters", "__class__", to="print"), "unexpected keyword argument '__class__'"),
        (set_in("parameters", to=[]), "parameters must be of type dict"),
        (set_in("facts", "n_iter_", to="1"), "n_iter_ must be of type int"),
        (set_in("facts", to={}), "n_iter_ is missing"),
        (set_in("arrays", "components_", "dtype", to="|O"), "components_ must not have dtype |O"),
        (set_in("arrays", "components_", "dtype", to="<i8"), "components_ must not have dtype <i8"),
        (set_in("arrays", "components_", "dtype", to="<f4"), "components_ of dtype <f4 .* does not fill"),
        (set_in("arrays", "components_", "dtype", to="(9999999,)f8"), "components_ must not have dtype"),
        (set_in("arrays", "components_", "shape", to=[10**12, 10**12]), "components_ .* does not fill"),
        (set_in("arrays", "components_", "shape", to=[-60, -8]), "components_ must not have shape"),
        (set_in("arrays", "components_", "shape", to=[8, 60]), "components_ has 60 components, other arrays have 8"),
        (set_in("arrays", "components_", "shape", to=[480]), "components_ must have 2 dimensions, got 1"),
        (set_in("arrays", "components_", to=None), "the header tells nothing of components_"),
        (set_in("arrays", to={}), "header and members disagree"),
    ],
)
def test_an_altered_header_is_refused(saved, tmp_path, change, message):
    path = altered(saved, tmp_path, change)
    with pytest.raises(ValueError, match=f"path must be a file of JPLRDLClassifier.save, got .*{message}"):
        JPLRDLClassifier.load(path)


def as_npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("components_", lambda a: np.full_like(a, np.nan), "components_ must be finite"),
        ("classes_", lambda a: a[::-1], "classes_ must be in order"),
        ("classes_", lambda a: 0 * a, "classes_ must be in order"),
        ("_atom_classes", lambda a: a + 1, "_atom_classes must name every class"),
        ("_atom_classes", lambda a: 0 * a, "_atom_classes must name every class"),
        ("_atom_classes", lambda a: a[::-1], "_atom_classes must be in order"),
        ("_gram", lambda a: a + np.triu(a, 1), "_gram must be symmetric"),
    ],
)
def test_altered_arrays_are_refused(fitted, saved, tmp_path, name, change, message):
    contents = members(saved)
    contents[f"{name}.npy"] = as_npy(change(getattr(fitted, name)))
    with pytest.raises(ValueError, match=message):
        JPLRDLClassifier.load(write(tmp_path / "altered.npz", contents))


def test_members_that_do_not_belong_are_refused(saved, tmp_path):
    contents = members(saved)
    del contents["codes_.npy"]
    with pytest.raises(ValueError, match="header and members disagree"):
        JPLRDLClassifier.load(write(tmp_path / "fewer.npz", contents))
    with pytest.raises(ValueError, match="header and members disagree"):
        JPLRDLClassifier.load(write(tmp_path / "more.npz", {**members(saved), "../evil.npy": b""}))
    np.savez(tmp_path / "plain.npz", a=np.ones(3))
    with pytest.raises(ValueError, match=r"it has no header\.json"):
        JPLRDLClassifier.load(tmp_path / "plain.npz")


def test_a_bomb_is_refused_before_it_is_unpacked(saved, tmp_path):
    contents = {**members(saved), "codes_.npy": bytes(50_000_000)}
    path = write(tmp_path / "bomb.npz", contents, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    script = f"""
import resource
from jplrdl import JPLRDLClassifier
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    JPLRDLClassifier.load({str(path)!r})
except ValueError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    pytest.importorskip("resource")
    out = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True).stdout
    message, grown = out.splitlines()
    assert "must be stored as it is, not compressed" in message
    assert int(grown) < 5_000


def test_members_that_share_bytes_are_refused(saved, tmp_path):
    # Many entries of the directory name the same bytes: as copies of an entry, or under names of their own.
    with zipfile.ZipFile(saved) as archive:
        entries = archive.infolist()
    data, size = saved.read_bytes(), saved.stat().st_size
    directory, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    tail = bytearray(data[end:])
    tail[8:12] = (2 * len(entries)).to_bytes(2, "little") * 2
    tail[12:16] = (2 * (end - directory)).to_bytes(4, "little")
    (tmp_path / "shared.npz").write_bytes(data[:end] + data[directory:end] + tail)
    with pytest.raises(ValueError, match=r"it has two members of one name|Overlapped entries"):
        JPLRDLClassifier.load(tmp_path / "shared.npz")
    for entry in entries[1:]:
        entry.file_size = entry.compress_size = size // 2
    with pytest.raises(ValueError, match=f"would unpack to .* bytes, more than its own {size}"):
        _check_members(entries, size)


class Evil:
    def __reduce__(self):
        return os.system, ("touch evil-was-run",)


def test_a_pickle_inside_is_never_opened(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    contents = members(saved)
    for data in (pickle.dumps(Evil()), as_npy(np.array([Evil()], dtype=object))):
        contents["components_.npy"] = data
        with pytest.raises(ValueError, match="components_"):
            JPLRDLClassifier.load(write(tmp_path / "evil.npz", contents))
    Path("evil.npz").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ValueError, match="path must be a file"):
        JPLRDLClassifier.load("evil.npz")
    assert not Path("evil-was-run").exists()


@pytest.mark.parametrize("header", [b"", b"[" * 100_000, b"1" * 100_000, b"\xff\xfe", b"null", b'{"format": NaN}'])
def test_a_header_that_is_none_is_refused(saved, tmp_path, header):
    with pytest.raises(ValueError, match="path must be a file"):
        JPLRDLClassifier.load(write(tmp_path / "header.npz", {**members(saved), "header.json": header}))


# --------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("fault", ["write", "fsync", "replace"])
def test_a_fault_while_writing_keeps_the_old_file(fitted, saved, tmp_path, monkeypatch, fault):
    path = tmp_path / "model.npz"
    path.write_bytes(saved.read_bytes())

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    if fault == "write":
        monkeypatch.setattr(zipfile._ZipWriteFile, "write", fail)
    else:
        monkeypatch.setattr(os, fault, fail)
    with pytest.raises(OSError, match="No space left"):
        fitted.save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]
    assert path.read_bytes() == saved.read_bytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_killed_while_saving_leaves_a_whole_file(saved, tmp_path):
    script = f"""
import os, signal, time
from jplrdl import JPLRDLClassifier
models = [JPLRDLClassifier.load({str(saved)!r}), JPLRDLClassifier.load({str(saved)!r})]
models[1].n_iter_ = 17
path = {str(tmp_path / "model.npz")!r}
models[0].save(path)
for k in range(30):
    child = os.fork()
    if child == 0:
        while True:
            for model in models:
                model.save(path)
    time.sleep(0.01 + 0.0007 * k)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert JPLRDLClassifier.load(path).n_iter_ in (models[0].n_iter_, 17)
print("whole every time")
"""
    run = [sys.executable, "-P", "-W", "ignore", "-c", script]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert done.stdout == "whole every time\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="this system has no symbolic links")
def test_a_link_to_a_file_stays_a_link(fitted, tmp_path):
    (tmp_path / "link.npz").symlink_to(tmp_path / "model.npz")
    fitted.save(tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert_same_model(JPLRDLClassifier.load(tmp_path / "model.npz"), fitted)
