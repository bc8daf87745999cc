"""Every function of jplrdl's C API as a downstream module calls it: from C loops, without the GIL."""

from cython cimport floating
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from jplrdl.cython_feature_sign cimport (
    FEATURE_SIGN_CONVERGED, FEATURE_SIGN_ITERATION_LIMIT, FEATURE_SIGN_NOT_POSITIVE_DEFINITE,
    dfeature_sign, dfeature_sign_worksize, sfeature_sign, sfeature_sign_worksize)
from jplrdl.cython_graph cimport (
    dlaplacian, dsigned_csr, dsigned_knn, dsigned_knn_worksize,
    slaplacian, ssigned_csr, ssigned_knn, ssigned_knn_worksize)
from jplrdl.cython_prox cimport (
    dprox_l1, dprox_l21, dprox_l21_worksize, dprox_nuclear, dprox_nuclear_worksize,
    sprox_l1, sprox_l21, sprox_l21_worksize, sprox_nuclear, sprox_nuclear_worksize)

STATUSES = (FEATURE_SIGN_CONVERGED, FEATURE_SIGN_ITERATION_LIMIT, FEATURE_SIGN_NOT_POSITIVE_DEFINITE)

cdef enum:
    GUARD = 64      # bytes behind a workspace that nobody may touch
    FILL = 0xff     # NaN as a float: a kernel that reads what it has not written shows it


cdef void *acquire(size_t size) except NULL nogil:
    work = malloc(size + GUARD)
    if work == NULL:
        with gil:
            raise MemoryError
    memset(work, FILL, size + GUARD)
    return work


cdef int release(void *work, size_t size) except -1 nogil:
    cdef size_t i
    cdef bint intact = True
    for i in range(size, size + GUARD):
        intact = intact and (<unsigned char *> work)[i] == FILL
    free(work)
    if not intact:
        with gil:
            raise AssertionError("a kernel wrote behind its workspace")
    return 0


def prox_l1(const floating[:, ::1] V, floating t, floating[:, ::1] out):
    """Row by row."""
    cdef Py_ssize_t i, n = V.shape[1]
    cdef int status = 0
    with nogil:
        for i in range(V.shape[0]):
            if floating is double:
                status |= dprox_l1(n, &V[i, 0], t, &out[i, 0])
            else:
                status |= sprox_l1(n, &V[i, 0], t, &out[i, 0])
    return status


def prox_l21(const floating[:, :, :, ::1] V, floating t, floating[:, :, :, ::1] out):
    """A stack of arrays, groups along axis 2."""
    cdef Py_ssize_t i, n_outer = V.shape[1], n = V.shape[2], n_inner = V.shape[3]
    cdef size_t size
    cdef int status = 0
    with nogil:
        if floating is double:
            size = dprox_l21_worksize(n_outer, n, n_inner)
        else:
            size = sprox_l21_worksize(n_outer, n, n_inner)
        work = acquire(size)
        for i in range(V.shape[0]):
            if floating is double:
                status |= dprox_l21(n_outer, n, n_inner, &V[i, 0, 0, 0], t, &out[i, 0, 0, 0], work)
            else:
                status |= sprox_l21(n_outer, n, n_inner, &V[i, 0, 0, 0], t, &out[i, 0, 0, 0], work)
        release(work, size)
    return status


def prox_nuclear(const floating[:, :, ::1] V, floating t, floating[:, :, ::1] out, floating[:, ::1] singular,
                 Py_ssize_t[::1] rank):
    """A stack of matrices."""
    cdef Py_ssize_t i, n_rows = V.shape[1], n_columns = V.shape[2]
    cdef size_t size
    cdef int status = 0
    with nogil:
        if floating is double:
            size = dprox_nuclear_worksize(n_rows, n_columns)
        else:
            size = sprox_nuclear_worksize(n_rows, n_columns)
        work = acquire(size)
        for i in range(V.shape[0]):
            if floating is double:
                status |= dprox_nuclear(n_rows, n_columns, &V[i, 0, 0], t, &out[i, 0, 0], &singular[i, 0],
                                        &rank[i], work)
            else:
                status |= sprox_nuclear(n_rows, n_columns, &V[i, 0, 0], t, &out[i, 0, 0], &singular[i, 0],
                                        &rank[i], work)
        release(work, size)
    return status


def feature_sign(const floating[:, :] gram, const floating[:, ::1] cov, floating penalty, floating shift, floating tol,
                 Py_ssize_t max_iter, floating[:, ::1] codes, Py_ssize_t[::1] n_iter, floating[::1] residual,
                 int[::1] status):
    """One search a row of cov; gram may be a block of a wider matrix."""
    cdef Py_ssize_t i, n = gram.shape[0], stride = gram.strides[0] // <Py_ssize_t> sizeof(floating)
    cdef size_t size
    with nogil:
        if floating is double:
            size = dfeature_sign_worksize(n)
        else:
            size = sfeature_sign_worksize(n)
        work = acquire(size)
        for i in range(cov.shape[0]):
            if floating is double:
                status[i] = dfeature_sign(n, &gram[0, 0], stride, &cov[i, 0], penalty, shift, tol, max_iter,
                                          &codes[i, 0], &n_iter[i], &residual[i], work)
            else:
                status[i] = sfeature_sign(n, &gram[0, 0], stride, &cov[i, 0], penalty, shift, tol, max_iter,
                                          &codes[i, 0], &n_iter[i], &residual[i], work)
        release(work, size)


def signed_knn(const floating[:, ::1] X, const floating[::1] squares, const int[::1] labels, Py_ssize_t block,
               Py_ssize_t n_same, int[:, ::1] neighbors, floating[:, ::1] distances):
    """Block by block."""
    cdef Py_ssize_t start = 0, n = X.shape[0], n_features = X.shape[1], n_other = neighbors.shape[1] - n_same
    cdef size_t size
    cdef int status = 0
    with nogil:
        if floating is double:
            size = dsigned_knn_worksize(block)
        else:
            size = ssigned_knn_worksize(block)
        work = acquire(size)
        while start < n:
            if floating is double:
                status |= dsigned_knn(n, n_features, &X[0, 0], &squares[0], &labels[0], start, block, n_same, n_other,
                                      &neighbors[0, 0], &distances[0, 0], work)
            else:
                status |= ssigned_knn(n, n_features, &X[0, 0], &squares[0], &labels[0], start, block, n_same, n_other,
                                      &neighbors[0, 0], &distances[0, 0], work)
            start += block
        release(work, size)
    return status


def signed_csr(const int[:, ::1] neighbors, const floating[:, ::1] distances, Py_ssize_t n_same, floating width,
               int[::1] indptr, int[::1] indices, floating[::1] data):
    """The lists as a graph."""
    cdef Py_ssize_t n = neighbors.shape[0], n_other = neighbors.shape[1] - n_same
    with nogil:
        if floating is double:
            status = dsigned_csr(n, n_same, n_other, &neighbors[0, 0], &distances[0, 0], width,
                                 &indptr[0], &indices[0], &data[0])
        else:
            status = ssigned_csr(n, n_same, n_other, &neighbors[0, 0], &distances[0, 0], width,
                                 &indptr[0], &indices[0], &data[0])
    return status


def laplacian(const int[::1] indptr, const int[::1] indices, const floating[::1] data, const floating[::1] degree,
              const floating[::1] scale, int[::1] out_indptr, int[::1] out_indices, floating[::1] out_data):
    """The Laplacian of a graph with at least one edge."""
    cdef Py_ssize_t n = degree.shape[0]
    with nogil:
        if floating is double:
            status = dlaplacian(n, &indptr[0], &indices[0], &data[0], &degree[0], &scale[0],
                                &out_indptr[0], &out_indices[0], &out_data[0])
        else:
            status = slaplacian(n, &indptr[0], &indices[0], &data[0], &degree[0], &scale[0],
                                &out_indptr[0], &out_indices[0], &out_data[0])
    return status
