# By what the 2,1 map multiplies a group: a row, or a column whose elements are `stride` apart.

from cython cimport floating
from libc.float cimport DBL_MAX, DBL_MIN, FLT_MAX, FLT_MIN
from libc.math cimport NAN, fabs, isfinite, sqrt


cdef inline double group_scale(Py_ssize_t n, Py_ssize_t stride, const floating *v, floating squares,
                               floating t) noexcept nogil:
    """max(1 - t / |v|, 0) from the sum of squares, taken again with care where it over- or underflowed; or NaN."""
    cdef double norm = sqrt(<double> squares), kept = norm - t, largest = 0, total = 0
    cdef double low, high
    cdef Py_ssize_t i
    if floating is double:
        low, high = DBL_MIN / 1e-32, DBL_MAX
    else:
        low, high = FLT_MIN / 1e-14, FLT_MAX
    if not low < squares < high:
        for i in range(n):
            if not fabs(v[i * stride]) <= largest:
                largest = fabs(v[i * stride])
                if not isfinite(largest):       # at once: nothing is larger than NaN, so that the next would hide it
                    return NAN
        if largest == 0:
            return 0
        for i in range(n):
            total += (v[i * stride] / largest) * (v[i * stride] / largest)
        norm = sqrt(total)
        if not t / largest < norm:      # it may be infinite
            return 0
        kept = norm - t / largest
    return (kept + fabs(kept)) / (2 * norm)     # without a branch: nothing tells beforehand which groups vanish
