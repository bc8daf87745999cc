"""Joint projection and low-rank dictionary learning (JP-LRDL), and the kernels it stands on."""

from typing import TYPE_CHECKING, Any

from .coding import CodingInfo, feature_sign_search, sparse_encode
from .graphs import laplacian, signed_knn_graph
from .prox import prox_l1, prox_l21, prox_nuclear
from .robust_pca import RobustPCAResult, robust_pca

if TYPE_CHECKING:
    from .cleaner import LowRankCleaner

__all__ = [
    "CodingInfo",
    "LowRankCleaner",
    "RobustPCAResult",
    "feature_sign_search",
    "laplacian",
    "prox_l1",
    "prox_l21",
    "prox_nuclear",
    "robust_pca",
    "signed_knn_graph",
    "sparse_encode",
]


def __getattr__(name: str) -> Any:
    if name == "LowRankCleaner":
        # Estimators need scikit-learn, which takes longer to import than all else here.
        from .cleaner import LowRankCleaner

        return LowRankCleaner
    if name == "__version__":
        from importlib.metadata import version

        return version("jplrdl")
    raise AttributeError(f"module 'jplrdl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
