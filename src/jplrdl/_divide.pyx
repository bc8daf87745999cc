"""All eigenvectors of a tridiagonal matrix by LAPACK's divide and conquer, without the GIL."""

from cython cimport floating
from libc.stdlib cimport free, malloc

from _blas_int cimport blas_int
from jplrdl._blas cimport stevd


def eigenvectors(floating[::1] d, floating[::1] e, floating[:, ::1] rows):
    """The eigenvalues, ascending, replace the diagonal d; e, the elements beside it, are lost. Returns LAPACK's info.

    The row i becomes the eigenvector of the i-th eigenvalue; d is as long as the rows.
    """
    cdef Py_ssize_t n = rows.shape[0]
    cdef floating *work = <floating *> malloc((n * n + 4 * n + 1) * sizeof(floating))
    cdef void *iwork = malloc((5 * n + 3) * sizeof(blas_int))
    cdef int info = 0
    try:
        if work == NULL or iwork == NULL:
            raise MemoryError
        with nogil:
            info = stevd(n, &d[0], &e[0], &rows[0, 0], work, iwork)
    finally:
        free(work)
        free(iwork)
    return info
