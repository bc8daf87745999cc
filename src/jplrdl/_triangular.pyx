"""Triangular systems with many right sides, without the GIL, which SciPy's solvers keep: so threads can share them."""

from cython cimport floating

from jplrdl._blas cimport NO_TRANS, TRANS, trsm_right_upper


def solve_columns(const floating[::1, :] R, floating[:, ::1] B, bint transposed):
    """B = R^-1 B or R^-T B for an upper triangular R.

    BLAS reads the row-major B as B', which R^-T or R^-1 then multiplies from the right.
    """
    cdef Py_ssize_t n = B.shape[0], count = B.shape[1]
    if n > 0 and count > 0:
        with nogil:
            trsm_right_upper(NO_TRANS if transposed else TRANS, count, n, &R[0, 0], R.shape[0], &B[0, 0], count)
