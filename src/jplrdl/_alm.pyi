from typing import Any

from numpy.typing import NDArray

def iterate(
    X: NDArray[Any],
    missing: NDArray[Any] | None,
    L: NDArray[Any],
    Y: NDArray[Any],
    V: NDArray[Any],
    singular: NDArray[Any],
    work: NDArray[Any],
    eta: float,
    mu: float,
    rho: float,
    last_mu: float,
    size: float,
    tol: float,
    most: int,
) -> tuple[int, int, int, float, float, float]: ...
