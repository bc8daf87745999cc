from typing import Any

from numpy.typing import NDArray

block: int

def join(V: NDArray[Any], tau: NDArray[Any], start: int, stop: int, U: NDArray[Any]) -> None: ...
def turn(V: NDArray[Any], U: NDArray[Any], rows: NDArray[Any], work: NDArray[Any]) -> None: ...
