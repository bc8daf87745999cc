from typing import Any

from numpy.typing import NDArray

def find(
    H: NDArray[Any], V: NDArray[Any], least: int, rectangles: NDArray[Any], scores: NDArray[Any]
) -> None: ...
