from typing import Any

from numpy.typing import NDArray

def solve_columns(R: NDArray[Any], B: NDArray[Any], transposed: bool) -> None: ...
