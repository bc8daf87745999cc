from typing import Any

from numpy.typing import NDArray

most_columns: int

def eigenvalues_below(d: NDArray[Any], e: NDArray[Any], x: float) -> int: ...
def prepare(
    d: NDArray[Any],
    e: NDArray[Any],
    shifts: NDArray[Any],
    weights: NDArray[Any],
    ratios: NDArray[Any],
    diagonals: NDArray[Any],
) -> None: ...
def inverse_root(
    ratios: NDArray[Any],
    diagonals: NDArray[Any],
    start: int,
    stop: int,
    inverses: NDArray[Any],
    out: NDArray[Any],
) -> None: ...
