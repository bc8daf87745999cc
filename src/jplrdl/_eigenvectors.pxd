# The eigenvectors of a symmetric matrix above a bound.

from cython cimport floating

cdef Py_ssize_t count_above(Py_ssize_t n, const floating *d, const floating *e, double x,
                            double *last_pivot) noexcept nogil
cdef Py_ssize_t eigenvectors_lwork(Py_ssize_t n, const floating *precision) noexcept nogil
cdef bint eigenvectors_above(Py_ssize_t n, floating *K, double lower, double norm, Py_ssize_t *k, floating *w,
                             floating *Z, floating *work, Py_ssize_t lwork, void *iwork) noexcept nogil
