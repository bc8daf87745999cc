"""BLAS and LAPACK of SciPy for both precisions, sizes by value.

SciPy's prototypes take every argument by pointer and know no `const`; the casts live here and nowhere else.
"""

from _blas_int cimport blas_int
from cython cimport floating
from scipy.linalg cimport cython_blas as blas
from scipy.linalg cimport cython_lapack as lapack


cdef floating dot(Py_ssize_t n, const floating *x, const floating *y) noexcept nogil:
    """x'y"""
    cdef blas_int n_ = <blas_int> n, one = 1
    if floating is double:
        return blas.ddot(&n_, <double *> x, &one, <double *> y, &one)
    else:
        return blas.sdot(&n_, <float *> x, &one, <float *> y, &one)


cdef void axpy(Py_ssize_t n, floating alpha, const floating *x, floating *y) noexcept nogil:
    """y += alpha x"""
    cdef blas_int n_ = <blas_int> n, one = 1
    if floating is double:
        blas.daxpy(&n_, &alpha, <double *> x, &one, y, &one)
    else:
        blas.saxpy(&n_, &alpha, <float *> x, &one, y, &one)


cdef void gemm(Trans transa, Trans transb, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, floating alpha,
               const floating *A, Py_ssize_t lda, const floating *B, Py_ssize_t ldb,
               floating beta, floating *C, Py_ssize_t ldc) noexcept nogil:
    """C = alpha op(A) op(B) + beta C, C is m x n"""
    cdef char transa_ = <char> transa, transb_ = <char> transb
    cdef blas_int m_ = <blas_int> m, n_ = <blas_int> n, k_ = <blas_int> k
    cdef blas_int lda_ = <blas_int> lda, ldb_ = <blas_int> ldb, ldc_ = <blas_int> ldc
    if floating is double:
        blas.dgemm(&transa_, &transb_, &m_, &n_, &k_, &alpha, <double *> A, &lda_, <double *> B, &ldb_,
                   &beta, C, &ldc_)
    else:
        blas.sgemm(&transa_, &transb_, &m_, &n_, &k_, &alpha, <float *> A, &lda_, <float *> B, &ldb_,
                   &beta, C, &ldc_)


cdef void syrk_upper(Trans trans, Py_ssize_t n, Py_ssize_t k, floating alpha, const floating *A, Py_ssize_t lda,
                     floating beta, floating *C, Py_ssize_t ldc) noexcept nogil:
    """C = alpha op(A) op(A)' + beta C, upper triangle of the n x n matrix C"""
    cdef char uplo = b'U', trans_ = <char> trans
    cdef blas_int n_ = <blas_int> n, k_ = <blas_int> k, lda_ = <blas_int> lda, ldc_ = <blas_int> ldc
    if floating is double:
        blas.dsyrk(&uplo, &trans_, &n_, &k_, &alpha, <double *> A, &lda_, &beta, C, &ldc_)
    else:
        blas.ssyrk(&uplo, &trans_, &n_, &k_, &alpha, <float *> A, &lda_, &beta, C, &ldc_)


cdef int syevr_above(Py_ssize_t n, floating *A, Py_ssize_t lda, floating lower, floating upper, Py_ssize_t *n_found,
                     floating *w, floating *Z, Py_ssize_t ldz, void *isuppz,
                     floating *work, Py_ssize_t lwork, void *iwork, Py_ssize_t liwork) noexcept nogil:
    """A = Z diag(w) Z' for the eigenvalues in (lower, upper], ascending, from the upper triangle; LAPACK's info.

    A is overwritten. lwork = -1 asks for the size, answered in work[0].
    """
    cdef char jobz = b'V', range_ = b'V', uplo = b'U'
    cdef blas_int n_ = <blas_int> n, lda_ = <blas_int> lda, ldz_ = <blas_int> ldz
    cdef blas_int lwork_ = <blas_int> lwork, liwork_ = <blas_int> liwork, zero = 0, found = 0, info = 0
    cdef floating abstol = 0
    if floating is double:
        lapack.dsyevr(&jobz, &range_, &uplo, &n_, A, &lda_, &lower, &upper, &zero, &zero, &abstol, &found,
                      w, Z, &ldz_, <blas_int *> isuppz, work, &lwork_, <blas_int *> iwork, &liwork_, &info)
    else:
        lapack.ssyevr(&jobz, &range_, &uplo, &n_, A, &lda_, &lower, &upper, &zero, &zero, &abstol, &found,
                      w, Z, &ldz_, <blas_int *> isuppz, work, &lwork_, <blas_int *> iwork, &liwork_, &info)
    n_found[0] = found
    return <int> info


cdef int gesdd_thin(Py_ssize_t m, Py_ssize_t n, floating *A, Py_ssize_t lda, floating *s,
                    floating *U, Py_ssize_t ldu, floating *Vt, Py_ssize_t ldvt,
                    floating *work, Py_ssize_t lwork, void *iwork) noexcept nogil:
    """A = U diag(s) Vt with min(m, n) singular values; A is overwritten; returns LAPACK's info.

    lwork = -1 asks for the size, answered in work[0].
    """
    cdef char jobz = b'S'
    cdef blas_int m_ = <blas_int> m, n_ = <blas_int> n, lda_ = <blas_int> lda, ldu_ = <blas_int> ldu
    cdef blas_int ldvt_ = <blas_int> ldvt, lwork_ = <blas_int> lwork, info = 0
    if floating is double:
        lapack.dgesdd(&jobz, &m_, &n_, A, &lda_, s, U, &ldu_, Vt, &ldvt_, work, &lwork_, <blas_int *> iwork, &info)
    else:
        lapack.sgesdd(&jobz, &m_, &n_, A, &lda_, s, U, &ldu_, Vt, &ldvt_, work, &lwork_, <blas_int *> iwork, &info)
    return <int> info
