"""Codes of samples that a graph couples (eq11 to eq14), in turns.

    min_A  sum_p [ a_p'H a_p - 2 b_p'a_p + penalty |a_p|_1 ] + weight tr(A'LA)

In one code a_p, with all others as they are, the coupling is weight (L_pp a_p'a_p + 2 a_p' sum_{q != p} L_pq a_q): a
diagonal shift and a change of b. Each search sees the newest codes of its neighbours (Gauss and Seidel), so that every
one of them lowers the objective. It begins at the sample's last code, unless that has many non-zeros: to take the wrong
ones out of a large support, one by one, costs more than to build it anew.

Samples that are no neighbours know nothing of each other, so threads may search for their codes at the same time. Each
takes the next sample of an order and waits for those neighbours that come before it; those that come after it wait for
it in their turn. So a search sees the new codes of the former and the old ones of the latter, the same bits whatever
the number of threads. No one waits for a sample that no thread has begun with, and who has begun with one ends it.
"""

from cython cimport floating
from libc.string cimport memcpy, memset

from jplrdl._blas cimport axpy
from jplrdl.cython_feature_sign cimport dfeature_sign, sfeature_sign


cdef extern from "_sparse_loops.h":
    Py_ssize_t dlist_nonzeros(Py_ssize_t n, const double *row, Py_ssize_t most, int *columns,
                              double *values) noexcept nogil
    Py_ssize_t slist_nonzeros(Py_ssize_t n, const float *row, Py_ssize_t most, int *columns,
                              float *values) noexcept nogil


cdef extern from "_turns.h":
    int next_turn(int *turn) noexcept nogil
    void tell(int *sign, int value) noexcept nogil
    long long wait_for(int *sign, int least) noexcept nogil


cdef enum:
    MOST_KEPT = 40      # non-zeros of a code to begin from; found by timing on faces and objects

cdef enum:
    TOO_MANY = -1       # to list, in the place of a number of non-zeros


cdef int list_nonzeros(Py_ssize_t n, const floating *code, Py_ssize_t most, int *columns,
                       floating *values) noexcept nogil:
    """Where a code is not zero, and what it is there; how many, or TOO_MANY."""
    if floating is double:
        return <int> dlist_nonzeros(n, code, most, columns, values)
    else:
        return <int> slist_nonzeros(n, code, most, columns, values)


def most_listed(Py_ssize_t n_atoms):
    """Non-zeros of a code that are worth a list: with more, whole codes are as fast."""
    return min(n_atoms, max(2 * MOST_KEPT, n_atoms // 8))


def list_rows(const floating[:, ::1] codes, int[::1] counts, int[:, ::1] columns, floating[:, ::1] values):
    """The non-zeros of all codes, most_listed of each at most."""
    cdef Py_ssize_t p, n = codes.shape[1], most = columns.shape[1]
    with nogil:
        for p in range(codes.shape[0]):
            counts[p] = list_nonzeros(n, &codes[p, 0], most, &columns[p, 0], &values[p, 0])


def colour_samples(const int[::1] indptr, const int[::1] indices, int[::1] colours, int[::1] taken):
    """To each sample the smallest colour that no neighbour of a lower index has. `taken`, as long, begins at -1."""
    cdef Py_ssize_t p, q, k
    cdef int colour
    with nogil:
        for p in range(colours.shape[0]):
            for k in range(indptr[p], indptr[p + 1]):
                q = indices[k]
                if q < p:
                    taken[colours[q]] = <int> p
            colour = 0
            while taken[colour] == p:
                colour += 1
            colours[p] = colour


cdef floating pull(Py_ssize_t p, const int[::1] indptr, const int[::1] indices, const floating[::1] data,
                   floating weight, const floating[:, ::1] codes, const int[::1] counts, const int[:, ::1] columns,
                   const floating[:, ::1] values, floating[::1] shifted) noexcept nogil:
    """Take what the neighbours of p pull off its b, and return the diagonal shift."""
    cdef Py_ssize_t q, k, i
    cdef floating strength, shift = 0
    for k in range(indptr[p], indptr[p + 1]):
        q = indices[k]
        strength = weight * data[k]
        if q == p:
            shift += strength
        elif counts[q] == TOO_MANY:
            axpy(shifted.shape[0], -strength, &codes[q, 0], &shifted[0])
        else:
            for i in range(counts[q]):
                shifted[columns[q, i]] -= strength * values[q, i]
    return shift


def sweep_rows(const floating[:, ::1] gram, const floating[:, ::1] cov, const int[::1] indptr, const int[::1] indices,
               const floating[::1] data, floating weight, floating penalty, double tol, Py_ssize_t max_iter,
               const int[::1] order, const int[::1] ptr, const int[::1] before, Py_ssize_t n_turns, int[::1] turn,
               int[::1] done, floating[:, ::1] codes, Py_ssize_t[::1] n_iter, floating[::1] residual, int[::1] status,
               int[::1] counts, int[:, ::1] columns, floating[:, ::1] values, floating[::1] shifted,
               unsigned char[::1] work):
    """Search for the codes of the next samples, `n_turns` at most, without the GIL; for several threads at once.

    `before[ptr[p]]`, ..., `before[ptr[p + 1] - 1]` are the neighbours of p that come before it in `order`. `turn` holds
    one number and `done` one for each sample, all zero before the first call. `counts`, `columns` and `values`, which
    list_rows has filled, are for the non-zeros of all codes: a sample reads those of its neighbours, and whole codes
    would be many times as much memory. `shifted`, for one row of cov, and `work` belong to the thread.
    """
    cdef Py_ssize_t p, k, place, n = gram.shape[0]
    cdef floating shift
    with nogil:
        for _ in range(n_turns):
            place = next_turn(&turn[0])
            if place >= order.shape[0]:
                break
            p = order[place]
            for k in range(ptr[p], ptr[p + 1]):
                wait_for(&done[before[k]], 1)
            memcpy(&shifted[0], &cov[p, 0], n * sizeof(floating))
            shift = pull(p, indptr, indices, data, weight, codes, counts, columns, values, shifted)
            if counts[p] == TOO_MANY or counts[p] > MOST_KEPT:
                memset(&codes[p, 0], 0, n * sizeof(floating))
            if floating is double:
                status[p] = dfeature_sign(n, &gram[0, 0], n, &shifted[0], penalty, shift, tol, max_iter,
                                          &codes[p, 0], &n_iter[p], &residual[p], &work[0])
            else:
                status[p] = sfeature_sign(n, &gram[0, 0], n, &shifted[0], penalty, shift, <float> tol, max_iter,
                                          &codes[p, 0], &n_iter[p], &residual[p], &work[0])
            counts[p] = list_nonzeros(n, &codes[p, 0], columns.shape[1], &columns[p, 0], &values[p, 0])
            tell(&done[p], 1)
