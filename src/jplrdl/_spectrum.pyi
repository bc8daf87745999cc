from typing import Any

from numpy.typing import NDArray

def shrink(
    v: NDArray[Any], t: float, out: NDArray[Any], singular: NDArray[Any], work: NDArray[Any], rough: bool = False
) -> tuple[int, int]: ...
def worksize(v: NDArray[Any]) -> int: ...
