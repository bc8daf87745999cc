from typing import Any

from numpy.typing import NDArray

def share(
    v: NDArray[Any], t: float, out: NDArray[Any], work: NDArray[Any], thread: int, n_threads: int
) -> bool: ...
def share_worksize(v: NDArray[Any]) -> int: ...
