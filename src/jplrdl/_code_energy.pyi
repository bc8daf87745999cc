from typing import Any

from numpy.typing import NDArray

def graph_energy(
    graph_ptr: NDArray[Any],
    neighbours: NDArray[Any],
    weights: NDArray[Any],
    ptr: NDArray[Any],
    columns: NDArray[Any],
    codes: NDArray[Any],
    row: NDArray[Any],
) -> float: ...
def class_energy(
    ptr: NDArray[Any], columns: NDArray[Any], codes: NDArray[Any], labels: NDArray[Any], gram: NDArray[Any]
) -> float: ...
