"""Models in files that hold numbers and words and nothing that runs.

A file is an npz archive, uncompressed: `header.json`, which says what the model is, and an array a member. Since
nothing in it is compressed, and no two members may share bytes, the arrays of a model take no more memory than its file
has bytes. The header tells dtype and shape of every array; nothing is unpickled or evaluated, and what does not fit is
refused.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

FORMAT, VERSION = "jplrdl model", 1
_HEADER = "header.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_DTYPE = re.compile(r"<[fiu][248]|<[U][1-9][0-9]{0,5}|\|[biu]1")
_KINDS = {"float": "f", "double": "f", "index": "i", "mask": "b", "label": "biufU", "name": "U"}
# What the readers of archives and of JSON raise for bytes that are neither.
_MALFORMED = (
    zipfile.BadZipFile, ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RuntimeError,
    TypeError, ValueError, struct.error,
)  # fmt: skip


@dataclass(frozen=True)
class Field:
    """An array of a model.

    Attributes
    ----------
    sides : tuple of str
        A name for each dimension; the same name means the same length in all arrays.
    kind : str
        "float": of the model's precision, finite; "double": any float64; "index": integers; "mask": booleans; "label":
        numbers, booleans or words; "name": words.
    optional : bool
    """

    sides: tuple[str, ...]
    kind: Literal["float", "double", "index", "mask", "label", "name"] = "float"
    optional: bool = False


class Saved:
    """An estimator that can be saved: it names its arrays, and the facts that JSON can hold."""

    _saved_arrays: ClassVar[dict[str, Field]]
    _saved_facts: ClassVar[dict[str, type]]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, from which :meth:`load` makes the same model again.

        The file replaces another of that name in one step: whatever happens meanwhile, there is the old one or the
        new one. Two models that are the same make the same bytes.

        Parameters
        ----------
        path : str or path
            Taken as it is; ".npz" is customary.
        """
        from sklearn.utils.validation import check_is_fitted

        from . import __version__

        check_is_fitted(self)
        arrays, told = {}, {}
        for name, field in self._saved_arrays.items():
            if hasattr(self, name) or not field.optional:
                arrays[name], told[name] = _plain_array(getattr(self, name), name)
        header = {
            "format": FORMAT,
            "format_version": VERSION,
            "jplrdl_version": __version__,
            "estimator": type(self).__name__,
            "parameters": {name: _plain(value, name) for name, value in self.get_params(deep=False).items()},  # type: ignore[attr-defined]
            "facts": {name: getattr(self, name) for name in self._saved_facts},
            "arrays": told,
        }
        text = json.dumps(header, indent=1, default=_listed)
        with _replacing(os.path.realpath(os.fspath(path))) as file:
            _write(file, text.encode(), arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The model that :meth:`save` wrote.

        A file may come from anybody: it is read as numbers and words, and checked. A file that is truncated, altered,
        of another estimator or of a later format raises a ValueError that says so.

        Parameters
        ----------
        path : str or path
        """
        with open(path, "rb") as file:
            try:
                return cls._restored(*_read(file, cls.__name__, cls._saved_arrays))
            except _MALFORMED as error:
                message = f"path must be a file of {cls.__name__}.save, got {os.fspath(path)!r}: {error}"
                raise ValueError(message) from error

    @classmethod
    def _restored(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        parameters = _of_type(header, "parameters", dict)
        model = cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in parameters.items()})
        model._validate_params()  # type: ignore[attr-defined]
        facts = _of_type(header, "facts", dict)
        for name, kind in cls._saved_facts.items():
            setattr(model, name, _of_type(facts, name, kind))
        for name, array in arrays.items():
            setattr(model, name, array)
        model._complete()
        return model

    def _complete(self) -> None:
        """What follows from the arrays, and checks of what they hold."""
        raise NotImplementedError


def require(condition: Any, message: str) -> None:
    """Raise a ValueError unless a file says what it must."""
    if not condition:
        raise ValueError(message)


def _of_type(values: dict[str, Any], name: str, kind: type) -> Any:
    require(name in values, f"{name} is missing")
    require(type(values[name]) is kind, f"{name} must be of type {kind.__name__}, got {values[name]!r:.80}")
    return values[name]


# ------------------------------------------------------------------------------------------------------- to JSON


def _plain(value: Any, name: str) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [_plain(part, name) for part in value]
    raise TypeError(
        f"{name} must be a number, a word or None to be saved, got {value!r}; "
        f"set_params({name}=None) if the model need not keep it"
    )


def _listed(value: Any) -> Any:
    """For json: arrays and numbers of NumPy inside facts."""
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be saved")


def _delisted(value: dict[str, Any]) -> Any:
    return np.array(value["array"], dtype=np.float64) if value.keys() == {"array"} else value


# ------------------------------------------------------------------------------------------------------ to bytes


def _plain_array(array: NDArray[Any], name: str) -> tuple[NDArray[Any], dict[str, Any]]:
    """An array in C order and little-endian, words instead of objects, and what the header tells of it."""
    plain, is_object = array, array.dtype == object
    if is_object:
        if not all(isinstance(word, str) for word in array.flat):
            raise TypeError(f"{name} must hold numbers, booleans or strings to be saved, got {array!r}")
        plain = array.astype(str)
        if (plain.astype(object) != array).any():
            raise ValueError(f"{name} must not hold strings that end with a NUL character to be saved")
    plain = np.ascontiguousarray(plain, dtype=plain.dtype.newbyteorder("<"))
    if not _DTYPE.fullmatch(plain.dtype.str):
        raise TypeError(f"{name} must hold numbers, booleans or strings to be saved, got dtype {array.dtype}")
    told = {"dtype": plain.dtype.str, "shape": list(plain.shape)}
    return plain, {**told, "object": True} if is_object else told


def _write(file: IO[bytes], header: bytes, arrays: dict[str, NDArray[Any]]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, _HEADER, header)
        for name, array in arrays.items():
            head = BytesIO()
            np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
            _add(archive, f"{name}.npy", head.getvalue(), array)


def _add(archive: zipfile.ZipFile, name: str, head: bytes, array: NDArray[Any] | None = None) -> None:
    member = zipfile.ZipInfo(name, _EPOCH)
    member.file_size = len(head) + (0 if array is None else array.nbytes)
    with archive.open(member, "w") as file:
        file.write(head)
        if array is not None and array.size:
            file.write(array.reshape(-1).view(np.uint8).data)


@contextmanager
def _replacing(path: str) -> Iterator[IO[bytes]]:
    """A new file that takes the place of another when it is complete and on the disk, and never before."""
    part = f"{path}.{secrets.token_hex(8)}.part"
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise


# ---------------------------------------------------------------------------------------------------- from bytes


def _read(file: IO[bytes], estimator: str, fields: dict[str, Field]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header, and the arrays that it and `fields` agree on."""
    size = os.fstat(file.fileno()).st_size
    with zipfile.ZipFile(file) as archive:
        members = {member.filename: member for member in archive.infolist()}
        require(_HEADER in members, f"it has no {_HEADER}")
        _check_members([members[_HEADER]], size)
        header = json.loads(archive.read(_HEADER), object_hook=_delisted)
        _check_header(header, estimator)
        _check_members(archive.infolist(), size)
        told = _of_type(header, "arrays", dict)
        require(members.keys() == {_HEADER, *(f"{name}.npy" for name in told)}, "header and members disagree")
        require(told.keys() <= fields.keys(), f"no model has the arrays {sorted(told.keys() - fields.keys())}")
        missing = [name for name, field in fields.items() if name not in told and not field.optional]
        require(not missing, f"the arrays {missing} are missing")
        arrays = {name: _array(archive.read(f"{name}.npy"), told[name], name, fields[name].kind) for name in told}
    _check_sides(arrays, fields)
    return header, arrays


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    """From the archive's directory, before anything is read: nothing unpacks to more than the file's own bytes."""
    require(len({member.filename for member in members}) == len(members), "it has two members of one name")
    for member in members:
        stored = member.compress_type == zipfile.ZIP_STORED and member.compress_size == member.file_size
        require(stored and not member.flag_bits & 1, f"{member.filename} must be stored as it is, not compressed")
    unpacked = sum(member.file_size for member in members)
    require(unpacked <= size, f"it would unpack to {unpacked} bytes, more than its own {size}")


def _check_header(header: Any, estimator: str) -> None:
    require(isinstance(header, dict) and header.get("format") == FORMAT, f"its header is not one of a {FORMAT}")
    version = _of_type(header, "format_version", int)
    require(
        1 <= version <= VERSION,
        f"it has format version {version}, written by jplrdl {header.get('jplrdl_version')!r:.40}, and this version of "
        f"jplrdl reads up to {VERSION}; use a later jplrdl",
    )
    found = _of_type(header, "estimator", str)
    require(found == estimator, f"it holds a {found:.40}; use {found:.40}.load")


def _array(data: bytes, told: Any, name: str, kind: str) -> NDArray[Any]:
    """The array in a member, as the header tells it: of the member's own head only the length is looked at."""
    require(isinstance(told, dict), f"the header tells nothing of {name}")
    dtype, shape = _of_type(told, "dtype", str), _of_type(told, "shape", list)
    require(_DTYPE.fullmatch(dtype) and np.dtype(dtype).kind in _KINDS[kind], f"{name} must not have dtype {dtype:.40}")
    require(all(type(side) is int and side >= 0 for side in shape), f"{name} must not have shape {shape!r:.80}")
    require(data[:8] == b"\x93NUMPY\x01\x00", f"{name} is not an array")
    begin = 10 + int.from_bytes(data[8:10], "little")
    count = math.prod(shape)
    require(
        len(data) - begin == count * np.dtype(dtype).itemsize,
        f"{name} of dtype {dtype} and shape {shape!r:.80} does not fill {len(data) - begin} bytes",
    )
    array = np.frombuffer(data, dtype, count, begin) if count else np.empty(0, dtype)
    array = array.reshape(shape).astype(object if told.get("object") is True else array.dtype.newbyteorder("="))
    if kind in ("float", "label") and array.dtype.kind == "f":
        require(np.isfinite(array).all(), f"{name} must be finite")
    return array


def _check_sides(arrays: dict[str, NDArray[Any]], fields: dict[str, Field]) -> None:
    lengths: dict[str, int] = {}
    precisions = set()
    for name, array in arrays.items():
        field = fields[name]
        require(array.ndim == len(field.sides), f"{name} must have {len(field.sides)} dimensions, got {array.ndim}")
        for side, length in zip(field.sides, array.shape, strict=True):
            expected = lengths.setdefault(side, length)
            require(length == expected, f"{name} has {length} {side}, other arrays have {expected}")
        if field.kind == "float":
            precisions.add(array.dtype)
        require(field.kind != "double" or array.dtype == np.float64, f"{name} must have dtype float64")
    require(precisions <= {np.dtype(np.float64)} or precisions <= {np.dtype(np.float32)}, "its precision is mixed")
