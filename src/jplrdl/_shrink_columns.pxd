# The 2,1 map down the columns of a row-major matrix.

from cython cimport floating

cdef size_t columns_worksize(Py_ssize_t k, const floating *precision) noexcept nogil
cdef bint shrink_columns(Py_ssize_t n, Py_ssize_t k, const floating *v, floating t, floating *out,
                         void *work) noexcept nogil
