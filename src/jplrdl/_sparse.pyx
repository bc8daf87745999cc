"""Sparse matrices as compressed rows: made of dense ones, multiplied with dense ones and with each other."""

from cython cimport floating

cdef extern from "_sparse_loops.h":
    void dadd_row(Py_ssize_t n, double s, const double *x, double *y) noexcept nogil
    void sadd_row(Py_ssize_t n, float s, const float *x, float *y) noexcept nogil
    void dadd_rows(Py_ssize_t n, const double *s, const double *a, const double *b, const double *c, const double *d,
                   double *y) noexcept nogil
    void sadd_rows(Py_ssize_t n, const float *s, const float *a, const float *b, const float *c, const float *d,
                   float *y) noexcept nogil
    Py_ssize_t dlist_nonzeros(Py_ssize_t n, const double *row, Py_ssize_t most, int *columns,
                              double *values) noexcept nogil
    Py_ssize_t slist_nonzeros(Py_ssize_t n, const float *row, Py_ssize_t most, int *columns,
                              float *values) noexcept nogil


cdef void gather(const int *columns, const floating *values, int count, Py_ssize_t d, const floating *B,
                 floating *y) noexcept nogil:
    """y += sum of the rows of B that are picked, each of d elements, times its value"""
    cdef int i = 0
    while i + 4 <= count:
        if floating is double:
            dadd_rows(d, values + i, B + columns[i] * d, B + columns[i + 1] * d, B + columns[i + 2] * d,
                      B + columns[i + 3] * d, y)
        else:
            sadd_rows(d, values + i, B + columns[i] * d, B + columns[i + 1] * d, B + columns[i + 2] * d,
                      B + columns[i + 3] * d, y)
        i += 4
    while i < count:
        if floating is double:
            dadd_row(d, values[i], B + columns[i] * d, y)
        else:
            sadd_row(d, values[i], B + columns[i] * d, y)
        i += 1


def add_product(const int[::1] ptr, const int[::1] columns, const floating[::1] values, const floating[:, ::1] B,
                Py_ssize_t start, Py_ssize_t stop, floating[:, ::1] out):
    """out += S B, the rows from start to stop of both; S is compressed."""
    cdef Py_ssize_t d = B.shape[1], p
    if values.shape[0] == 0:
        return
    with nogil:
        for p in range(start, stop):
            gather(&columns[0] + ptr[p], &values[0] + ptr[p], ptr[p + 1] - ptr[p], d, &B[0, 0], &out[p, 0])


def add_sparse_product(const int[::1] ptr, const int[::1] columns, const floating[::1] values, const int[::1] other_ptr,
                       const int[::1] other_columns, const floating[::1] other_values, Py_ssize_t start,
                       Py_ssize_t stop, floating[:, ::1] out):
    """out += S R, the rows from start to stop of out and S; S and R are compressed, out is dense."""
    cdef Py_ssize_t i, k, p
    cdef int row
    cdef floating value
    with nogil:
        for p in range(start, stop):
            for i in range(ptr[p], ptr[p + 1]):
                row, value = columns[i], values[i]
                for k in range(other_ptr[row], other_ptr[row + 1]):
                    out[p, other_columns[k]] += value * other_values[k]


def list_nonzeros(const floating[:, ::1] dense, int[::1] ptr, int[::1] columns, floating[::1] values):
    """The non-zeros of all rows, one after another, their columns, and where each row begins and the last one ends.

    Returns how many there are, or -1 if there is no room for them.
    """
    cdef Py_ssize_t p, count = 0, more, n = dense.shape[1], most = columns.shape[0]
    with nogil:
        ptr[0] = 0
        for p in range(dense.shape[0]):
            if floating is double:
                more = dlist_nonzeros(n, &dense[p, 0], most - count, &columns[0] + count, &values[0] + count)
            else:
                more = slist_nonzeros(n, &dense[p, 0], most - count, &columns[0] + count, &values[0] + count)
            if more < 0:
                count = -1
                break
            count += more
            ptr[p + 1] = <int> count
    return count


def split_columns(const int[::1] ptr, const int[::1] columns, const floating[::1] values,
                  const Py_ssize_t[::1] row_labels, const Py_ssize_t[::1] column_labels,
                  int[::1] own_ptr, int[::1] own_columns, floating[::1] own_values,
                  int[::1] other_ptr, int[::1] other_columns, floating[::1] other_values):
    """Compressed rows as the sum of two: of each row, the columns that have its label, and all others."""
    cdef Py_ssize_t p, i, own = 0, other = 0
    with nogil:
        own_ptr[0] = other_ptr[0] = 0
        for p in range(ptr.shape[0] - 1):
            for i in range(ptr[p], ptr[p + 1]):
                if column_labels[columns[i]] == row_labels[p]:
                    own_columns[own], own_values[own] = columns[i], values[i]
                    own += 1
                else:
                    other_columns[other], other_values[other] = columns[i], values[i]
                    other += 1
            own_ptr[p + 1], other_ptr[p + 1] = <int> own, <int> other
