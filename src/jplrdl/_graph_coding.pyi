from typing import Any

from numpy.typing import NDArray

def most_listed(n_atoms: int) -> int: ...
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
    start: int,
    stop: int,
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
