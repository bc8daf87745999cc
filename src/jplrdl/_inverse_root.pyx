"""K^-1/2 of a symmetric positive definite matrix, from its tridiagonal form; jplrdl.inverse_root has the mathematics.

    K = Q T Q',     T^-1/2 = sum_s weight_s (T + shift_s I)^-1

Inverses of tridiagonal matrices cost no more than to write them down. With the pivots p of T + shift I, from its first
row on, and r_i = -T_i,i+1 / p_i,

    G = (T + shift I)^-1:       G_jj = 1 / p_j + r_j^2 G_j+1,j+1,       G_ij = r_i G_i+1,j   for i < j,

so that going up a column is one multiplication an element, for many columns and all shifts at once. Nothing cancels:
each element of G has as many digits as the pivots.
"""

from cython cimport floating
from libc.string cimport memset

from jplrdl._eigenvectors cimport count_above

cdef extern from "_inverse_root_loops.h":
    void climb(Py_ssize_t n_shifts, const double *ratios, double *inverses, double *sums) noexcept nogil
    enum:
        COLUMNS "JPLRDL_INVERSE_COLUMNS"

cdef void invert(Py_ssize_t n, const double *d, const double *e, double shift, double weight, double *ratios,
                 double *diagonal, Py_ssize_t step) noexcept nogil:
    """r_i and weight G_ii, each `step` numbers after the one before"""
    cdef Py_ssize_t i
    cdef double pivot = 0, above = 0
    for i in range(n):
        pivot = d[i] + shift - (e[i - 1] * e[i - 1] / pivot if i > 0 else 0)
        diagonal[i * step] = weight / pivot
        ratios[i * step] = -e[i] / pivot if i < n - 1 else 0
    for i in range(n - 1, -1, -1):
        above = diagonal[i * step] + ratios[i * step] * ratios[i * step] * above
        diagonal[i * step] = above


# ---------------------------------------------------------------------------------------------- called from Python

most_columns = COLUMNS


def eigenvalues_below(const double[::1] d, const double[::1] e, double x):
    """How many eigenvalues of T are below x."""
    cdef double last_pivot
    return d.shape[0] - count_above(d.shape[0], &d[0], &e[0], x, &last_pivot)


def prepare(const double[::1] d, const double[::1] e, const double[::1] shifts, const double[::1] weights,
            double[:, ::1] ratios, double[:, ::1] diagonals):
    """What `inverse_root` climbs by, a column a shift."""
    cdef Py_ssize_t s
    with nogil:
        for s in range(shifts.shape[0]):
            invert(d.shape[0], &d[0], &e[0], shifts[s], weights[s], &ratios[0, s], &diagonals[0, s],
                   shifts.shape[0])


def inverse_root(const double[:, ::1] ratios, const double[:, ::1] diagonals, Py_ssize_t start, Py_ssize_t stop,
                 double[:, ::1] inverses, floating[:, ::1] out):
    """The columns from start to stop, most_columns at most, of T^-1/2 down to the diagonal, and its rows up to it.

    `inverses` holds a row of most_columns for each shift.
    """
    cdef Py_ssize_t n_shifts = ratios.shape[1], i, j, s
    cdef double[COLUMNS] sums
    with nogil:
        memset(&inverses[0, 0], 0, n_shifts * COLUMNS * sizeof(double))
        for i in range(stop - 1, -1, -1):
            climb(n_shifts, &ratios[i, 0], &inverses[0, 0], sums)
            if i >= start:
                sums[i - start] = 0
                for s in range(n_shifts):
                    inverses[s, i - start] = diagonals[i, s]
                    sums[i - start] += diagonals[i, s]
            for j in range(max(i, start), stop):
                out[i, j] = <floating> sums[j - start]
                out[j, i] = <floating> sums[j - start]
