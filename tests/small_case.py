"""Every kernel once, on small arrays, in both precisions: what `.ci/checked valgrind` watches."""

import numpy as np

import jplrdl
from jplrdl._products import adding_product, sparse_gram, sparse_product, triangular_solve
from jplrdl.coding import coupled_codes
from jplrdl.dictionary import update_atoms
from jplrdl.huber import huber_fit
from jplrdl.inverse_root import inverse_root
from jplrdl.objective import split_codes
from jplrdl.occlusion import find_blocks, typical_steps


def main():
    rng = np.random.default_rng(0)
    for dtype in (np.float64, np.float32):
        X, D = rng.standard_normal((7, 9)).astype(dtype), rng.standard_normal((70, 9)).astype(dtype)
        y = np.arange(7) % 2
        codes = jplrdl.sparse_encode(X, D, 0.1)
        W = jplrdl.signed_knn_graph(X, y, 2, 2, weights="heat")
        coupled_codes(D @ D.T, X @ D.T, jplrdl.laplacian(W, signed=True), 0.1, 0.1, init=codes)
        for rank in (4, 2):
            atoms = D[:rank].repeat(4 // rank, axis=0)
            update_atoms(atoms, np.eye(4, dtype=dtype), D[4:8], D[8:], lambda_incoherence=0.1, lambda_rank=0.1)
        jplrdl.prox_l1(X, 0.5)
        for axis in (0, 1):
            jplrdl.prox_l21(X, 0.5, axis=axis)
        for t in (1.0, 1e-6):
            jplrdl.prox_nuclear(X, t)
            jplrdl.prox_nuclear(X.T, t)
        jplrdl.prox_nuclear(rng.standard_normal((110, 100)).astype(dtype), 18.0)  # a reduction that ends early
        jplrdl.prox_nuclear(rng.standard_normal((40, 50)).astype(dtype), 3.0)  # and one that does not
        jplrdl.prox_nuclear(rng.standard_normal((5, 900)).astype(dtype), 1.0)  # strip by strip
        wide = D.reshape(210, 3)
        inverse_root((wide @ wide.T + np.eye(210)).astype(dtype), 1e-5)
        split = split_codes(codes * (codes > 0.1), y, np.arange(70) // 35)
        adding_product(split.other, D)(slice(0, len(codes)), sparse_product(split.own, D))
        sparse_gram(split.all)
        triangular_solve(np.triu(wide[:3] + 9 * np.eye(3, dtype=dtype)), X[:3].copy(), transposed=True)
        jplrdl.robust_pca(X, tol=1e-3)
        huber_fit(X, np.linalg.qr(X.T)[0].T[:3].astype(dtype), 0.1, [0.1, 0.1, 0.1])
        images = rng.random((3, 64)).astype(dtype)
        find_blocks(images, (8, 8), typical_steps(images, (8, 8)))
    print("every kernel was called")


if __name__ == "__main__":
    main()
