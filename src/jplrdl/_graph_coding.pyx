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

cdef enum:              # in the place of a number of non-zeros
    TOO_MANY = -1       # to list
    UNKNOWN = -2


cdef int list_nonzeros(Py_ssize_t n, const floating *code, Py_ssize_t most, int *columns,
                       floating *values) noexcept nogil:
    """Where a code is not zero, and what it is there; how many, or TOO_MANY."""
    cdef Py_ssize_t i
    cdef int count = 0
    for i in range(n):
        if code[i] != 0:
            if count == most:
                return TOO_MANY
            columns[count] = <int> i
            values[count] = code[i]
            count += 1
    return count


def most_listed(Py_ssize_t n_atoms):
    """Non-zeros of a code that are worth a list: with more, whole codes are as fast."""
    return min(n_atoms, max(2 * MOST_KEPT, n_atoms // 8))


def sweep_rows(const floating[:, ::1] gram, const floating[:, ::1] cov, const int[::1] indptr, const int[::1] indices,
               const floating[::1] data, floating weight, floating penalty, double tol, Py_ssize_t max_iter,
               Py_ssize_t start, Py_ssize_t stop, floating[:, ::1] codes, Py_ssize_t[::1] n_iter,
               floating[::1] residual, int[::1] status, int[::1] counts, int[:, ::1] columns, floating[:, ::1] values,
               floating[::1] shifted, unsigned char[::1] work):
    """Search for the codes of the samples start, ..., stop - 1, without the GIL.

    `counts`, `columns` and `values` are for the non-zeros of all codes, most_listed of each at most: a sample reads
    those of its neighbours, and whole codes would be many times as much memory. Before the first call all counts are
    -2. `shifted` holds one row of cov.
    """
    cdef Py_ssize_t p, q, k, i, n = gram.shape[0], most = columns.shape[1]
    cdef floating shift, pull
    with nogil:
        for p in range(start, stop):
            memcpy(&shifted[0], &cov[p, 0], n * sizeof(floating))
            shift = 0
            if counts[p] == UNKNOWN:
                counts[p] = list_nonzeros(n, &codes[p, 0], most, &columns[p, 0], &values[p, 0])
            for k in range(indptr[p], indptr[p + 1]):
                q = indices[k]
                if counts[q] == UNKNOWN:
                    counts[q] = list_nonzeros(n, &codes[q, 0], most, &columns[q, 0], &values[q, 0])
                pull = weight * data[k]
                if q == p:
                    shift += pull
                elif counts[q] == TOO_MANY:
                    axpy(n, -pull, &codes[q, 0], &shifted[0])
                else:
                    for i in range(counts[q]):
                        shifted[columns[q, i]] -= pull * values[q, i]
            if counts[p] == TOO_MANY or counts[p] > MOST_KEPT:
                memset(&codes[p, 0], 0, n * sizeof(floating))
            if floating is double:
                status[p] = dfeature_sign(n, &gram[0, 0], n, &shifted[0], penalty, shift, tol, max_iter,
                                          &codes[p, 0], &n_iter[p], &residual[p], &work[0])
            else:
                status[p] = sfeature_sign(n, &gram[0, 0], n, &shifted[0], penalty, shift, <float> tol, max_iter,
                                          &codes[p, 0], &n_iter[p], &residual[p], &work[0])
            counts[p] = list_nonzeros(n, &codes[p, 0], most, &columns[p, 0], &values[p, 0])
