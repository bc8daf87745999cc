"""Q of a tridiagonal reduction K = QTQ', applied to vectors.

It is a product of reflectors, some of them at a time I - V'U with thin V and U = a small triangular matrix times V.
"""

from cython cimport floating
from libc.string cimport memset

from jplrdl._blas cimport NO_TRANS, TRANS, gemm, larft_backward

cdef enum:
    BLOCK = 64      # reflectors that are applied at once

block = BLOCK


def join(floating[:, ::1] V, const floating[::1] tau, Py_ssize_t start, Py_ssize_t stop, floating[:, ::1] U):
    """Of the reflectors I - tau vv' those from start to stop, `block` at most, as I - V'U.

    The rows of V are as reduce_symmetric left them in K, after its first, and get the elements that it did not write,
    one and zeros. The rows of U are written.
    """
    cdef Py_ssize_t n = V.shape[1], count = stop - start, j
    cdef floating[BLOCK * BLOCK] factor
    cdef floating one = 1, zero = 0
    with nogil:
        memset(factor, 0, sizeof(factor))
        for j in range(start, stop):
            memset(&V[j, j], 0, (n - j) * sizeof(floating))
            V[j, j] = 1
        larft_backward(stop, count, &V[start, 0], n, &tau[start], factor, BLOCK)
        gemm(NO_TRANS, NO_TRANS, stop, count, count, one, &V[start, 0], n, factor, BLOCK, zero, &U[start, 0], n)


def turn(const floating[:, ::1] V, const floating[:, ::1] U, floating[:, ::1] rows, floating[::1] work):
    """Q times each row, in place. The workspace holds `block` numbers a row."""
    cdef Py_ssize_t n = V.shape[1], count = rows.shape[0], k, start, stop
    cdef floating one = 1, zero = 0
    with nogil:
        for k in range((V.shape[0] + BLOCK - 1) // BLOCK):
            start = k * BLOCK
            stop = min(start + BLOCK, V.shape[0])
            gemm(TRANS, NO_TRANS, stop - start, count, stop, one, &V[start, 0], n, &rows[0, 0], n, zero, &work[0],
                 BLOCK)
            gemm(NO_TRANS, NO_TRANS, stop, count, stop - start, -one, &U[start, 0], n, &work[0], BLOCK, one,
                 &rows[0, 0], n)
