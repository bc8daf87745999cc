from typing import Any

from numpy.typing import NDArray

def descend(
    R: NDArray[Any],
    D: NDArray[Any],
    slope: NDArray[Any],
    ceiling: NDArray[Any],
    linear: NDArray[Any],
    quadratic: NDArray[Any],
    U: NDArray[Any],
    step: NDArray[Any],
    loss: NDArray[Any],
) -> None: ...
