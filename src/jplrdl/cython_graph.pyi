from typing import Any

from numpy.typing import NDArray

def knn_products(X: NDArray[Any], start: int, left: int, block: int, tile: NDArray[Any]) -> None: ...
def knn_offer(
    tile: NDArray[Any],
    squares: NDArray[Any],
    labels: NDArray[Any],
    start: int,
    left: int,
    block: int,
    n_same: int,
    neighbors: NDArray[Any],
    distances: NDArray[Any],
) -> None: ...
def knn_csr(
    neighbors: NDArray[Any],
    distances: NDArray[Any],
    n_same: int,
    width: float,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
) -> None: ...
def laplacian_csr(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    degree: NDArray[Any],
    scale: NDArray[Any],
    out_indptr: NDArray[Any],
    out_indices: NDArray[Any],
    out_data: NDArray[Any],
) -> None: ...
