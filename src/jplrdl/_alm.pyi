from typing import Any

from numpy.typing import NDArray

def step(
    X: NDArray[Any], L: NDArray[Any], Y: NDArray[Any], V: NDArray[Any], eta: float, mu: float, next_mu: float
) -> float: ...
