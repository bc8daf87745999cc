"""The image sets as their authors distribute them, read into arrays at the paper's size.

A reader takes a folder and returns X (n_samples, height, width), y and what else is known, or None if the original is
not there. Files that are there but cannot be read are errors.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
Reader = Callable[[pathlib.Path], Arrays | None]

# The images of CroppedYale: subject, azimuth and elevation of the light. "Ambient" ones and .bad files have no part.
_YALE = re.compile(r"yaleB(\d+)_P00A([+-]\d+)E([+-]\d+)\.pgm$")
_COIL = re.compile(r"obj(\d+)__(\d+)\.png$")
# Rows and columns of the 250 x 250 images of LFW that show the face, and how many images a subject must have.
_LFW_FACE, _LFW_LEAST = (slice(68, 188), slice(71, 179)), 11


def read_cropped_yale(folder: pathlib.Path) -> Arrays | None:
    """CroppedYale/yaleBxx/yaleBxx_P00A±aaaE±ee.pgm at 55 x 48."""
    found = _matching(folder, "CroppedYale/yaleB*/*.pgm", _YALE)
    if not found:
        return None
    subjects = np.array([match[0] for _, match in found])
    return {
        "X": np.stack([shrink(read_pgm(path), (55, 48)) for path, _ in found]),
        "y": np.unique(subjects, return_inverse=True)[1],
        "subject_id": subjects,
        "azimuth": np.array([match[1] for _, match in found]),
        "elevation": np.array([match[2] for _, match in found]),
    }


def read_coil20(folder: pathlib.Path) -> Arrays | None:
    """coil-20-proc/obj*__*.png at 32 x 32; y counts objects and "view" views."""
    return _read_coil(folder / "coil-20-proc", "view")


def read_coil100(folder: pathlib.Path) -> Arrays | None:
    """coil-100/obj*__*.png, grey, at 32 x 32; "angle" is in degrees."""
    return _read_coil(folder / "coil-100", "angle")


def _read_coil(folder: pathlib.Path, name: str) -> Arrays | None:
    found = _matching(folder, "obj*.png", _COIL)
    if not found:
        return None
    return {
        "X": np.stack([shrink(_read_picture(path), (32, 32)) for path, _ in found]),
        "y": np.array([match[0] for _, match in found]) - 1,
        name: np.array([match[1] for _, match in found]),
    }


def read_lfw(folder: pathlib.Path) -> Arrays | None:
    """lfw_home/lfw_funneled/name/name_xxxx.jpg, scikit-learn's cache: faces at 60 x 54, subjects with 11 or more."""
    people = [path for path in sorted(folder.glob("lfw_home/lfw_funneled/*")) if path.is_dir()]
    images = {path.name: sorted(path.glob("*.jpg")) for path in people}
    kept = {name: paths for name, paths in images.items() if len(paths) >= _LFW_LEAST}
    if not kept:
        return None
    paths = [path for own in kept.values() for path in own]
    return {
        "X": np.stack([shrink(_read_picture(path)[_LFW_FACE], (60, 54)) for path in paths]),
        "y": np.repeat(np.arange(len(kept)), [len(own) for own in kept.values()]),
        "image_name": np.array([path.stem for path in paths]),
        "class_names": np.array(list(kept)),
    }


def _matching(folder: pathlib.Path, pattern: str, name: re.Pattern[str]) -> list[tuple[pathlib.Path, tuple[int, ...]]]:
    """Files whose names tell numbers, in the order of the numbers."""
    matches = ((path, name.match(path.name)) for path in folder.glob(pattern))
    found = [(path, tuple(int(number) for number in match.groups())) for path, match in matches if match]
    return sorted(found, key=lambda item: item[1])


def read_pgm(path: pathlib.Path) -> NDArray[np.uint8]:
    """A binary PGM file of bytes."""
    data = path.read_bytes()
    header = re.match(rb"P5(?:\s+|#[^\n]*\n)+(\d+)(?:\s+|#[^\n]*\n)+(\d+)(?:\s+|#[^\n]*\n)+(\d+)\s", data)
    if header is None or int(header[3]) > 255:
        raise ValueError(f"{path} must be a binary PGM file (P5) of bytes")
    width, height = int(header[1]), int(header[2])
    if len(data) - header.end() < width * height:
        raise ValueError(f"{path} must hold {width} x {height} pixels, got {len(data) - header.end()}")
    return np.frombuffer(data, np.uint8, width * height, header.end()).reshape(height, width)


def _read_picture(path: pathlib.Path) -> NDArray[np.uint8]:
    """A PNG or JPEG file, made grey."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(f'{path} needs Pillow to be read: pip install "jplrdl[experiments]"') from error
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L"))


def shrink(image: NDArray[np.uint8], shape: tuple[int, int]) -> NDArray[np.uint8]:
    """The mean over the area that each new pixel covers, rounded.

    Examples
    --------
    >>> import numpy as np
    >>> from jplrdl.datasets.originals import shrink
    >>> shrink(np.array([[0, 2, 8], [2, 4, 8]], dtype=np.uint8), (1, 2))
    array([[2, 6]], dtype=uint8)
    """
    rows, columns = (_overlaps(old, new) for old, new in zip(image.shape, shape, strict=True))
    return np.rint(rows @ image.astype(np.float64) @ columns.T).astype(np.uint8)


def _overlaps(old: int, new: int) -> NDArray[np.float64]:
    """What share of each new pixel each old one covers, along one side; shape (new, old)."""
    edges = np.arange(new + 1) * old / new
    pixels = np.arange(old)
    ends = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return np.maximum(ends, 0.0) * new / old
