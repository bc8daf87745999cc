from typing import Any

from numpy.typing import NDArray

def turn_group(
    D: NDArray[Any],
    bounds: NDArray[Any],
    products: NDArray[Any],
    outside: NDArray[Any],
    double_incoherence: float,
    tangent: float,
    lambda_rank: float,
    n_sweeps: int,
    work: NDArray[Any],
) -> int: ...
def descend_atoms(
    D: NDArray[Any], Q: NDArray[Any], C: NDArray[Any], lambda_rank: float, n_sweeps: int, work: NDArray[Any]
) -> int: ...
def nuclear_norms(D: NDArray[Any], bounds: NDArray[Any], norms: NDArray[Any], work: NDArray[Any]) -> int: ...
def group_worksize(c: int, n: int, d: int) -> int: ...
