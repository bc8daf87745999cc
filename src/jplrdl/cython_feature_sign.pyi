from typing import Any

from numpy.typing import NDArray

def worksize(n_atoms: int, single: bool) -> int: ...
def search_rows(
    gram: NDArray[Any],
    cov: NDArray[Any],
    penalty: NDArray[Any],
    shift: NDArray[Any],
    tol: float,
    max_iter: int,
    codes: NDArray[Any],
    n_iter: NDArray[Any],
    residual: NDArray[Any],
    status: NDArray[Any],
    work: NDArray[Any],
) -> None: ...
