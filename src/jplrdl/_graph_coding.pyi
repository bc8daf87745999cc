from typing import Any

from numpy.typing import NDArray

def most_listed(n_atoms: int) -> int: ...
def list_rows(codes: NDArray[Any], counts: NDArray[Any], columns: NDArray[Any], values: NDArray[Any]) -> None: ...
def colour_samples(
    indptr: NDArray[Any], indices: NDArray[Any], colours: NDArray[Any], taken: NDArray[Any]
) -> None: ...
def sweep_rows(
    gram: NDArray[Any],
    cov: NDArray[Any],
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    weight: float,
    penalty: float,
    tol: float,
    max_iter: int,
    order: NDArray[Any],
    ptr: NDArray[Any],
    before: NDArray[Any],
    n_turns: int,
    turn: NDArray[Any],
    done: NDArray[Any],
    codes: NDArray[Any],
    n_iter: NDArray[Any],
    residual: NDArray[Any],
    status: NDArray[Any],
    counts: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
    shifted: NDArray[Any],
    work: NDArray[Any],
) -> None: ...
