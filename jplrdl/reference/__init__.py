"""The same functions in plain NumPy, equation by equation, up to the whole fit.

The oracle of the tests and the baseline of the benchmarks: made to be read, not to be fast. Nothing here calls a
kernel, and nothing checks its input. Samples, codes and atoms are rows, as in the public functions.
"""

from .classification import class_residuals, unit_rows
from .coding import coupled_codes, feature_sign_search, lasso_objective, optimality_residual, sparse_encode
from .dictionary import atoms_objective, initial_dictionary, low_rank_atoms, update_atoms
from .graphs import laplacian, shifted_laplacian, signed_knn_graph
from .model import Model, fit, predict
from .objective import terms
from .projection import initial_projection, span_basis, update_projection
from .prox import prox_l1, prox_l21, prox_nuclear
from .robust_pca import robust_pca

__all__ = [
    "Model",
    "atoms_objective",
    "class_residuals",
    "coupled_codes",
    "feature_sign_search",
    "fit",
    "initial_dictionary",
    "initial_projection",
    "laplacian",
    "lasso_objective",
    "low_rank_atoms",
    "optimality_residual",
    "predict",
    "prox_l1",
    "prox_l21",
    "prox_nuclear",
    "robust_pca",
    "shifted_laplacian",
    "signed_knn_graph",
    "span_basis",
    "sparse_encode",
    "terms",
    "unit_rows",
    "update_atoms",
    "update_projection",
]
