"""What is kept on disk is found by all that it follows from, and only if it is whole."""

import numpy as np
import pytest

from jplrdl.experiments.kept import kept


def add(parameters, *arrays):
    return (sum(arrays) + parameters.get("more", 0.0),)


def subtract(parameters, first, second):
    return (first - second,)


def test_what_is_kept_is_found_by_all_that_it_follows_from(tmp_path, rng):
    X, Y = rng.standard_normal((2, 4, 3))
    calls = [
        (add, {}, X, Y), (subtract, {}, X, Y), (subtract, {}, Y, X), (add, {"more": 1.0}, X, Y), (add, {}, X),
        (add, {}, X.T.copy(), Y.T.copy()), (add, {}, X.astype(np.float32), Y), (add, {}, np.nextafter(X, 9), Y),
    ]  # fmt: skip
    for k, (compute, *given) in enumerate(calls, 1):
        for _ in range(2):
            np.testing.assert_array_equal(kept(tmp_path, compute, *given)[0], compute(*given)[0])
            assert len(list(tmp_path.iterdir())) == k
    # The same in another order in memory is the same.
    np.testing.assert_array_equal(kept(tmp_path, add, {}, np.asfortranarray(X), Y)[0], X + Y)
    assert len(list(tmp_path.iterdir())) == len(calls)


@pytest.mark.parametrize(
    "harm", [lambda data: data[:-30], lambda data: b"", lambda data: data.replace(b"\x40", b"\x41")],
    ids=["its end is missing", "empty", "other numbers"],
)  # fmt: skip
def test_a_torn_file_is_not_trusted(tmp_path, harm):
    X = np.full((50, 4), 2.0)
    kept(tmp_path, add, {}, X)
    (path,) = tmp_path.iterdir()
    path.write_bytes(harm(path.read_bytes()))
    np.testing.assert_array_equal(kept(tmp_path, add, {}, X)[0], X)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with np.load(path) as file:
        np.testing.assert_array_equal(file["arr_0"], X)


def test_nothing_is_left_of_a_write_that_fails(tmp_path, monkeypatch):
    def torn(file, *arrays):
        file.write(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr(np, "savez", torn)
    with pytest.raises(OSError, match="the disk is full"):
        kept(tmp_path, add, {}, np.ones(3))
    assert not list(tmp_path.iterdir())
