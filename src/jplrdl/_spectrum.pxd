# The nuclear map; rough: through the Gram matrix wherever that can tell singular values from rounding errors.

from cython cimport floating

cdef size_t spectrum_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns, const floating *precision) noexcept nogil
cdef int shrink_spectrum(Py_ssize_t n_rows, Py_ssize_t n_columns, const floating *v, floating t, bint rough,
                         floating *out, floating *singular, Py_ssize_t *rank, void *work) noexcept nogil
