"""A step along a line for many Huber fits at once, each row a problem of its own.

    phi(a) = sum_j h(r_j - a d_j) + linear a + quadratic a^2 / 2,      h(r) = r^2 / 2 for |r| <= 1, |r| - 1/2 beyond.

-phi'(a) = sum_j clip(r_j - a d_j, -1, 1) d_j - linear - quadratic a falls from slope > 0 at a = 0 and is linear in
pieces: Newton's method finds its zero in a few passes over a row, which stays in the cache, held between the last
points on either side. The first point, slope / ceiling with ceiling >= phi'', cannot lie beyond the zero.
"""

from cython cimport floating
from libc.math cimport INFINITY, fabs

cdef extern from "_huber_loops.h":
    void dslope(Py_ssize_t n, const double *r, const double *d, double a, double *first, double *second) noexcept nogil
    void sslope(Py_ssize_t n, const float *r, const float *d, float a, double *first, double *second) noexcept nogil
    double dmove(Py_ssize_t n, double *r, const double *d, double a, double *u) noexcept nogil
    double smove(Py_ssize_t n, float *r, const float *d, float a, float *u) noexcept nogil

cdef enum:
    MOST_PASSES = 30

# The next direction forgives a line that was not followed to the last digit.
cdef double SLOPE_LEFT = 0.01


cdef double _zero(Py_ssize_t n, const floating *r, const floating *d, double slope, double ceiling,
                  double linear, double quadratic) noexcept nogil:
    """Where phi' vanishes, or nearly"""
    cdef double low = 0, high = INFINITY, here = slope / ceiling, first, second
    cdef int _
    for _ in range(MOST_PASSES):
        if floating is double:
            dslope(n, r, d, here, &first, &second)
        else:
            sslope(n, r, d, <float> here, &first, &second)
        first -= linear + quadratic * here
        second += quadratic
        if fabs(first) <= SLOPE_LEFT * slope:
            return here
        if first > 0:
            low = here
        else:
            high = here
        here = here + first / second if second > 0 else 2 * here
        if not low < here < high:
            here = (low + high) / 2
    return low


def descend(floating[:, ::1] R, const floating[:, ::1] D, const double[::1] slope, const double[::1] ceiling,
            const double[::1] linear, const double[::1] quadratic,
            floating[:, ::1] U, double[::1] step, double[::1] loss):
    """The step of each row with slope > 0 (0 for the others), R and its clipped U there, and the Huber loss."""
    cdef Py_ssize_t i, n = R.shape[1]
    with nogil:
        for i in range(R.shape[0]):
            step[i] = 0
            if slope[i] > 0:
                step[i] = _zero(n, &R[i, 0], &D[i, 0], slope[i], ceiling[i], linear[i], quadratic[i])
            if floating is double:
                loss[i] = dmove(n, &R[i, 0], &D[i, 0], step[i], &U[i, 0])
            else:
                loss[i] = smove(n, &R[i, 0], &D[i, 0], <float> step[i], &U[i, 0])
