"""Joint projection and low-rank dictionary learning (JP-LRDL), and the kernels it stands on."""

from typing import TYPE_CHECKING, Any

from .coding import CodingInfo, feature_sign_search, sparse_encode
from .graphs import laplacian, signed_knn_graph
from .prox import prox_l1, prox_l21, prox_nuclear
from .robust_pca import RobustPCAResult, robust_pca

if TYPE_CHECKING:
    from .classifier import JPLRDLClassifier
    from .cleaner import LowRankCleaner
    from .selection import JPLRDLClassifierCV

__all__ = [
    "CodingInfo",
    "JPLRDLClassifier",
    "JPLRDLClassifierCV",
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

# What needs scikit-learn is imported when it is first touched.
_ESTIMATORS = {"JPLRDLClassifier": "classifier", "JPLRDLClassifierCV": "selection", "LowRankCleaner": "cleaner"}


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        from importlib import import_module

        return getattr(import_module(f"jplrdl.{_ESTIMATORS[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("jplrdl")
    raise AttributeError(f"module 'jplrdl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
