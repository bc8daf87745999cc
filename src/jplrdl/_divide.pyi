from typing import Any

from numpy.typing import NDArray

def eigenvectors(d: NDArray[Any], e: NDArray[Any], rows: NDArray[Any]) -> int: ...
