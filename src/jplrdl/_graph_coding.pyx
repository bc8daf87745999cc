"""Codes of samples that a graph couples (eq11 to eq14), one after another.

    min_A  sum_p [ a_p'H a_p - 2 b_p'a_p + penalty |a_p|_1 ] + weight tr(A'LA)

In one code a_p, with all others as they are, the coupling is weight (L_pp a_p'a_p + 2 a_p' sum_{q != p} L_pq a_q): a
diagonal shift and a change of b. Each search sees the newest codes of its neighbours (Gauss and Seidel), so that every
one of them lowers the objective. It begins at the sample's last code, unless that has many non-zeros: to take the wrong
ones out of a large support, one by one, costs more than to build it anew.
"""

from cython cimport floating
from libc.string cimport memcpy, memset

from jplrdl._blas cimport axpy
from jplrdl.cython_feature_sign cimport dfeature_sign, sfeature_sign


cdef enum:
    MOST_KEPT = 40      # non-zeros of a code to begin from; found by timing on faces and objects


cdef Py_ssize_t count_nonzeros(Py_ssize_t n, const floating *v) noexcept nogil:
    cdef Py_ssize_t i, count = 0
    for i in range(n):
        count += v[i] != 0
    return count


def sweep_rows(const floating[:, ::1] gram, const floating[:, ::1] cov, const int[::1] indptr, const int[::1] indices,
               const floating[::1] data, floating weight, floating penalty, double tol, Py_ssize_t max_iter,
               Py_ssize_t start, Py_ssize_t stop, floating[:, ::1] codes, Py_ssize_t[::1] n_iter,
               floating[::1] residual, int[::1] status, floating[::1] shifted, unsigned char[::1] work):
    """Search for the codes of the samples start, ..., stop - 1, without the GIL; `shifted` holds one row of cov."""
    cdef Py_ssize_t p, k, n = gram.shape[0]
    cdef floating shift
    with nogil:
        for p in range(start, stop):
            memcpy(&shifted[0], &cov[p, 0], n * sizeof(floating))
            if count_nonzeros(n, &codes[p, 0]) > MOST_KEPT:
                memset(&codes[p, 0], 0, n * sizeof(floating))
            shift = 0
            for k in range(indptr[p], indptr[p + 1]):
                if indices[k] == p:
                    shift += weight * data[k]
                else:
                    axpy(n, -weight * data[k], &codes[indices[k], 0], &shifted[0])
            if floating is double:
                status[p] = dfeature_sign(n, &gram[0, 0], n, &shifted[0], penalty, shift, tol, max_iter,
                                          &codes[p, 0], &n_iter[p], &residual[p], &work[0])
            else:
                status[p] = sfeature_sign(n, &gram[0, 0], n, &shifted[0], penalty, shift, <float> tol, max_iter,
                                          &codes[p, 0], &n_iter[p], &residual[p], &work[0])
