"""Proximal maps: prox_t(V) = argmin_U |U - V|_F^2 / 2 + t |U| for the l1, the 2,1 and the nuclear norm.

    l1        U_ij = sign(V_ij) max(|V_ij| - t, 0)
    2,1       every group v (a row or a column) becomes max(1 - t / |v|_2, 0) v
    nuclear   every singular value s of V becomes max(s - t, 0)

The first two move memory and little else: each element is read and written once. `_spectrum` has the third.
"""

from cython cimport floating
from libc.math cimport isnan
from libc.stdlib cimport free, malloc

from jplrdl._group_scale cimport group_scale
from jplrdl._shrink_columns cimport columns_worksize, shrink_columns
from jplrdl._spectrum cimport shrink_spectrum, spectrum_worksize

cdef enum:
    BLOCK_BYTES = 8192          # of rows, with their results half of a first-level cache
    MOST_ROWS = 64


cdef extern from "_shrink.h":
    int dshrink(Py_ssize_t n, const double *v, double t, double *out) noexcept nogil
    int sshrink(Py_ssize_t n, const float *v, float t, float *out) noexcept nogil


cdef extern from "_squares.h":
    double dsquares(Py_ssize_t n, const double *v) noexcept nogil
    float ssquares(Py_ssize_t n, const float *v) noexcept nogil


cdef extern from "_scaling.h":
    void dscale_row(Py_ssize_t n, double s, const double *v, double *out) noexcept nogil
    void sscale_row(Py_ssize_t n, float s, const float *v, float *out) noexcept nogil


# ------------------------------------------------------------------------------------------------------------- l1

cdef int dprox_l1(Py_ssize_t n, const double *v, double t, double *out) noexcept nogil:
    return PROX_NOT_FINITE if dshrink(n, v, t, out) else PROX_DONE


cdef int sprox_l1(Py_ssize_t n, const float *v, float t, float *out) noexcept nogil:
    return PROX_NOT_FINITE if sshrink(n, v, t, out) else PROX_DONE


# ------------------------------------------------------------------------------------------------------------ 2,1

cdef int shrink_rows(Py_ssize_t n_rows, Py_ssize_t n, const floating *v, floating t, floating *out) noexcept nogil:
    """As many rows at a time as a part of the first-level cache holds: first their squares, then their scaling.

    So memory is read in one go and written in another, and the roots and divisions of several rows overlap. From the
    last element on: both directions are the same work, and that is the faster one.
    """
    cdef floating[MOST_ROWS] squares
    cdef Py_ssize_t block = max(1, min(BLOCK_BYTES // (n * sizeof(floating)), MOST_ROWS)), left = n_rows, i
    cdef double scale
    v += n_rows * n
    out += n_rows * n
    while left > 0:
        block = min(block, left)
        for i in range(block):
            if floating is double:
                squares[i] = dsquares(n, v - (i + 1) * n)
            else:
                squares[i] = ssquares(n, v - (i + 1) * n)
        for i in range(block):
            v -= n
            out -= n
            scale = group_scale(n, 1, v, squares[i], t)
            if isnan(scale):
                return PROX_NOT_FINITE
            if floating is double:
                dscale_row(n, scale, v, out)
            else:
                sscale_row(n, <float> scale, v, out)
        left -= block
    return PROX_DONE


cdef int shrink_groups(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner, const floating *v, floating t,
                       floating *out, void *work) noexcept nogil:
    cdef Py_ssize_t i
    if n_inner == 1:
        return shrink_rows(n_outer, n, v, t, out)
    for i in range(n_outer):
        if not shrink_columns(n, n_inner, v + i * n * n_inner, t, out + i * n * n_inner, work):
            return PROX_NOT_FINITE
    return PROX_DONE


cdef size_t dprox_l21_worksize(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner) noexcept nogil:
    return columns_worksize(n_inner, <double *> NULL)


cdef size_t sprox_l21_worksize(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner) noexcept nogil:
    return columns_worksize(n_inner, <float *> NULL)


cdef int dprox_l21(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner, const double *v, double t,
                   double *out, void *work) noexcept nogil:
    return shrink_groups(n_outer, n, n_inner, v, t, out, work)


cdef int sprox_l21(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner, const float *v, float t,
                   float *out, void *work) noexcept nogil:
    return shrink_groups(n_outer, n, n_inner, v, t, out, work)


# -------------------------------------------------------------------------------------------------------- nuclear

cdef size_t dprox_nuclear_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns) noexcept nogil:
    return spectrum_worksize(n_rows, n_columns, <double *> NULL)


cdef size_t sprox_nuclear_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns) noexcept nogil:
    return spectrum_worksize(n_rows, n_columns, <float *> NULL)


cdef int dprox_nuclear(Py_ssize_t n_rows, Py_ssize_t n_columns, const double *v, double t,
                       double *out, double *singular, Py_ssize_t *rank, void *work) noexcept nogil:
    return shrink_spectrum(n_rows, n_columns, v, t, False, out, singular, rank, work)


cdef int sprox_nuclear(Py_ssize_t n_rows, Py_ssize_t n_columns, const float *v, float t,
                       float *out, float *singular, Py_ssize_t *rank, void *work) noexcept nogil:
    return shrink_spectrum(n_rows, n_columns, v, t, False, out, singular, rank, work)


# ---------------------------------------------------------------------------------------------- called from Python

def l1(const floating[::1] v, floating t, floating[::1] out):
    """out = prox_t(v); out may be v. Returns the status."""
    cdef int status
    with nogil:
        if floating is double:
            status = dprox_l1(v.shape[0], &v[0], t, &out[0])
        else:
            status = sprox_l1(v.shape[0], &v[0], t, &out[0])
    return status


def l21(const floating[:, :, ::1] v, floating t, floating[:, :, ::1] out):
    """out = prox_t(v), groups along the middle axis; out may be v. Returns the status."""
    cdef void *work = malloc(columns_worksize(v.shape[2], &v[0, 0, 0]))
    cdef int status
    if work == NULL:
        raise MemoryError
    with nogil:
        status = shrink_groups(v.shape[0], v.shape[1], v.shape[2], &v[0, 0, 0], t, &out[0, 0, 0], work)
        free(work)
    return status
