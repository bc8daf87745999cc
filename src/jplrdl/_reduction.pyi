from typing import Any

from numpy.typing import NDArray

n_signs: int

def worksize(n: int) -> int: ...
def lead(
    K: NDArray[Any], d: NDArray[Any], e: NDArray[Any], tau: NDArray[Any], work: NDArray[Any], signs: NDArray[Any]
) -> int: ...
def follow(
    K: NDArray[Any], d: NDArray[Any], e: NDArray[Any], tau: NDArray[Any], work: NDArray[Any], signs: NDArray[Any]
) -> None: ...
