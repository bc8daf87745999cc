"""Arrays that take long to compute, kept on disk for other columns, experiments and processes that need them again."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from .._validation import FloatArray

Arrays = tuple[FloatArray, ...]


def kept(
    folder: str | os.PathLike[str] | None,
    compute: Callable[..., Arrays],
    parameters: dict[str, Any],
    *given: FloatArray,
) -> Arrays:
    """``compute(parameters, *given)``, from its file in `folder` if there is one, else computed and written there.

    A file's name is a hash of all that its content follows from: the function's name, the version of the library,
    `parameters` and every element of `given`. So what cell, split, fold or corruption an image comes from need not be
    told, and cannot be forgotten. A file appears whole or not at all; one that cannot be read to the end, checksums
    and all, is computed anew. It may be deleted at any time.

    Parameters
    ----------
    folder : path, optional
        Made if it is not there; None to compute and keep nothing.
    compute : callable
        A pure function.
    parameters : dict
        Of what JSON can hold.
    given : ndarrays

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from jplrdl.experiments.kept import kept
    >>> def double(parameters, X):
    ...     print("computed")
    ...     return (2 * X,)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = kept(folder, double, {}, np.ones(2))
    ...     again = kept(folder, double, {}, np.ones(2))
    computed
    >>> again
    (array([2., 2.]),)
    """
    if folder is None:
        return compute(parameters, *given)
    path = Path(folder, f"{_key(compute, parameters, given)}.npz")
    found = _read(path)
    if found is None:
        found = compute(parameters, *given)
        _write(path, found)
    return found


def _key(compute: Callable[..., Arrays], parameters: dict[str, Any], given: Arrays) -> str:
    digest = hashlib.blake2b(digest_size=16)
    named = [compute.__module__, compute.__qualname__, __version__, parameters]
    digest.update(json.dumps([*named, *([X.shape, X.dtype.str] for X in given)], sort_keys=True).encode())
    for X in given:
        digest.update(np.ascontiguousarray(X).data)
    return digest.hexdigest()


def _read(path: Path) -> Arrays | None:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            return tuple(found[f"arr_{k}"] for k in range(len(found.files)))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _write(path: Path, arrays: Arrays) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Under a name of its own first: others may be writing the same.
    handle, temporary = tempfile.mkstemp(suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, *arrays)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
