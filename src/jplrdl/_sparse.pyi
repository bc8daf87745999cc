from typing import Any

from numpy.typing import NDArray

def add_product(
    ptr: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
    B: NDArray[Any],
    start: int,
    stop: int,
    out: NDArray[Any],
) -> None: ...
def add_sparse_product(
    ptr: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
    other_ptr: NDArray[Any],
    other_columns: NDArray[Any],
    other_values: NDArray[Any],
    start: int,
    stop: int,
    out: NDArray[Any],
) -> None: ...
def list_nonzeros(
    dense: NDArray[Any], ptr: NDArray[Any], columns: NDArray[Any], values: NDArray[Any]
) -> int: ...
def split_columns(
    ptr: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
    row_labels: NDArray[Any],
    column_labels: NDArray[Any],
    own_ptr: NDArray[Any],
    own_columns: NDArray[Any],
    own_values: NDArray[Any],
    other_ptr: NDArray[Any],
    other_columns: NDArray[Any],
    other_values: NDArray[Any],
) -> None: ...
