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


cdef void gemv(Trans trans, Py_ssize_t m, Py_ssize_t n, floating alpha, const floating *A, Py_ssize_t lda,
               const floating *x, floating beta, floating *y) noexcept nogil:
    """y = alpha op(A) x + beta y, A is m x n"""
    cdef char trans_ = <char> trans
    cdef blas_int m_ = <blas_int> m, n_ = <blas_int> n, lda_ = <blas_int> lda, one = 1
    if floating is double:
        blas.dgemv(&trans_, &m_, &n_, &alpha, <double *> A, &lda_, <double *> x, &one, &beta, y, &one)
    else:
        blas.sgemv(&trans_, &m_, &n_, &alpha, <float *> A, &lda_, <float *> x, &one, &beta, y, &one)


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


cdef void syr2k_upper(Py_ssize_t n, Py_ssize_t k, floating alpha, const floating *A, Py_ssize_t lda, const floating *B,
                      Py_ssize_t ldb, floating beta, floating *C, Py_ssize_t ldc) noexcept nogil:
    """C = alpha (AB' + BA') + beta C, upper triangle of the n x n matrix C"""
    cdef char uplo = b'U', trans = b'N'
    cdef blas_int n_ = <blas_int> n, k_ = <blas_int> k, lda_ = <blas_int> lda, ldb_ = <blas_int> ldb
    cdef blas_int ldc_ = <blas_int> ldc
    if floating is double:
        blas.dsyr2k(&uplo, &trans, &n_, &k_, &alpha, <double *> A, &lda_, <double *> B, &ldb_, &beta, C, &ldc_)
    else:
        blas.ssyr2k(&uplo, &trans, &n_, &k_, &alpha, <float *> A, &lda_, <float *> B, &ldb_, &beta, C, &ldc_)


cdef void trsm_right_upper(Trans trans, Py_ssize_t m, Py_ssize_t n, const floating *A, Py_ssize_t lda, floating *B,
                           Py_ssize_t ldb) noexcept nogil:
    """B = B op(A)^-1 for the upper triangle of A, B is m x n"""
    cdef char side = b'R', uplo = b'U', diagonal = b'N', trans_ = <char> trans
    cdef blas_int m_ = <blas_int> m, n_ = <blas_int> n, lda_ = <blas_int> lda, ldb_ = <blas_int> ldb
    cdef floating one = 1
    if floating is double:
        blas.dtrsm(&side, &uplo, &trans_, &diagonal, &m_, &n_, &one, <double *> A, &lda_, B, &ldb_)
    else:
        blas.strsm(&side, &uplo, &trans_, &diagonal, &m_, &n_, &one, <float *> A, &lda_, B, &ldb_)


cdef int syevd_upper(bint vectors, Py_ssize_t n, floating *A, Py_ssize_t lda, floating *w, floating *work,
                     void *iwork) noexcept nogil:
    """The eigenvalues of a symmetric matrix, ascending, and its eigenvectors in place of it; LAPACK's info.

    Its upper triangle is read. work holds 1 + 6 n + 2 n^2 numbers, iwork 3 + 5 n integers.
    """
    cdef char jobz = b'V' if vectors else b'N', uplo = b'U'
    cdef blas_int n_ = <blas_int> n, lda_ = <blas_int> lda, lwork = <blas_int> (1 + 6 * n + 2 * n * n)
    cdef blas_int liwork = <blas_int> (3 + 5 * n), info = 0
    if floating is double:
        lapack.dsyevd(&jobz, &uplo, &n_, A, &lda_, w, work, &lwork, <blas_int *> iwork, &liwork, &info)
    else:
        lapack.ssyevd(&jobz, &uplo, &n_, A, &lda_, w, work, &lwork, <blas_int *> iwork, &liwork, &info)
    return <int> info


cdef int gesdd_values(Py_ssize_t m, Py_ssize_t n, double *A, Py_ssize_t lda, double *s, double *work,
                      void *iwork) noexcept nogil:
    """The min(m, n) singular values of A, which is lost; LAPACK's info.

    work holds 10 min(m, n) + max(m, n) numbers, iwork 8 min(m, n) integers.
    """
    cdef char jobz = b'N'
    cdef blas_int m_ = <blas_int> m, n_ = <blas_int> n, lda_ = <blas_int> lda, one = 1, info = 0
    cdef blas_int lwork = <blas_int> (10 * min(m, n) + max(m, n))
    cdef double unused = 0
    lapack.dgesdd(&jobz, &m_, &n_, A, &lda_, s, &unused, &one, &unused, &one, work, &lwork, <blas_int *> iwork, &info)
    return <int> info


cdef int sytrd_upper(Py_ssize_t n, floating *A, Py_ssize_t lda, floating *d, floating *e, floating *tau,
                     floating *work, Py_ssize_t lwork) noexcept nogil:
    """Q'AQ = T, tridiagonal with diagonal d and off-diagonal e, from the upper triangle; Q's reflectors replace it.

    lwork = -1 asks for the size, answered in work[0]. LAPACK's info, as below.
    """
    cdef char uplo = b'U'
    cdef blas_int n_ = <blas_int> n, lda_ = <blas_int> lda, lwork_ = <blas_int> lwork, info = 0
    if floating is double:
        lapack.dsytrd(&uplo, &n_, A, &lda_, d, e, tau, work, &lwork_, &info)
    else:
        lapack.ssytrd(&uplo, &n_, A, &lda_, d, e, tau, work, &lwork_, &info)
    return <int> info


cdef void latrd_upper(Py_ssize_t n, Py_ssize_t k, floating *A, Py_ssize_t lda, floating *e, floating *tau, floating *W,
                      Py_ssize_t ldw) noexcept nogil:
    """The last k steps of sytrd_upper's n; the reflectors P and W, n x k, leave A - PW' - WP' for the others"""
    cdef char uplo = b'U'
    cdef blas_int n_ = <blas_int> n, k_ = <blas_int> k, lda_ = <blas_int> lda, ldw_ = <blas_int> ldw
    if floating is double:
        lapack.dlatrd(&uplo, &n_, &k_, A, &lda_, e, tau, W, &ldw_)
    else:
        lapack.slatrd(&uplo, &n_, &k_, A, &lda_, e, tau, W, &ldw_)


cdef void larft_backward(Py_ssize_t n, Py_ssize_t k, const floating *V, Py_ssize_t ldv, const floating *tau,
                         floating *T, Py_ssize_t ldt) noexcept nogil:
    """H_k ... H_1 = I - VTV' of k reflectors, the columns of V, n x k; T's lower triangle is written"""
    cdef char direct = b'B', stored = b'C'
    cdef blas_int n_ = <blas_int> n, k_ = <blas_int> k, ldv_ = <blas_int> ldv, ldt_ = <blas_int> ldt
    if floating is double:
        lapack.dlarft(&direct, &stored, &n_, &k_, <double *> V, &ldv_, <double *> tau, T, &ldt_)
    else:
        lapack.slarft(&direct, &stored, &n_, &k_, <float *> V, &ldv_, <float *> tau, T, &ldt_)


cdef int ormql(Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const floating *A, Py_ssize_t lda, const floating *tau,
               floating *C, Py_ssize_t ldc, floating *work, Py_ssize_t lwork) noexcept nogil:
    """C = QC, C is m x n, Q the product of k reflectors in A's columns; lwork = -1 asks for the size"""
    cdef char side = b'L', trans = b'N'
    cdef blas_int m_ = <blas_int> m, n_ = <blas_int> n, k_ = <blas_int> k, lda_ = <blas_int> lda
    cdef blas_int ldc_ = <blas_int> ldc, lwork_ = <blas_int> lwork, info = 0
    if floating is double:
        lapack.dormql(&side, &trans, &m_, &n_, &k_, <double *> A, &lda_, <double *> tau, C, &ldc_, work, &lwork_, &info)
    else:
        lapack.sormql(&side, &trans, &m_, &n_, &k_, <float *> A, &lda_, <float *> tau, C, &ldc_, work, &lwork_, &info)
    return <int> info


cdef int potrf_upper(Py_ssize_t n, floating *A, Py_ssize_t lda) noexcept nogil:
    """A = R'R in the upper triangle; above 0 if A is not positive definite"""
    cdef char uplo = b'U'
    cdef blas_int n_ = <blas_int> n, lda_ = <blas_int> lda, info = 0
    if floating is double:
        lapack.dpotrf(&uplo, &n_, A, &lda_, &info)
    else:
        lapack.spotrf(&uplo, &n_, A, &lda_, &info)
    return <int> info


cdef int stevd(Py_ssize_t n, floating *d, floating *e, floating *Z, floating *work, void *iwork) noexcept nogil:
    """TZ = Z diag(d) for all eigenvalues of a tridiagonal matrix, ascending, by divide and conquer; e is lost.

    work holds n^2 + 4 n + 1 numbers, iwork 5 n + 3 integers.
    """
    cdef char jobz = b'V'
    cdef blas_int n_ = <blas_int> n, lwork = <blas_int> (n * n + 4 * n + 1), liwork = <blas_int> (5 * n + 3), info = 0
    if floating is double:
        lapack.dstevd(&jobz, &n_, d, e, Z, &n_, work, &lwork, <blas_int *> iwork, &liwork, &info)
    else:
        lapack.sstevd(&jobz, &n_, d, e, Z, &n_, work, &lwork, <blas_int *> iwork, &liwork, &info)
    return <int> info


cdef int stemr_last(Py_ssize_t n, Py_ssize_t k, floating *d, floating *e, floating *w, floating *Z, Py_ssize_t ldz,
                    floating *work, void *iwork) noexcept nogil:
    """TZ = Z diag(w) for the k largest eigenvalues of a tridiagonal matrix, ascending; d and e, of length n, are lost.

    work holds 18 n numbers, iwork 12 n integers. Only for a matrix that does not split: where it does, LAPACK reads
    an index that nobody has written.
    """
    cdef char jobz = b'V', range_ = b'I'
    cdef blas_int n_ = <blas_int> n, first = <blas_int> (n - k + 1), ldz_ = <blas_int> ldz, columns = <blas_int> k
    cdef blas_int lwork = <blas_int> (18 * n), liwork = <blas_int> (10 * n), found = 0, info = 0
    cdef bint relative = False
    cdef blas_int *integers = <blas_int *> iwork
    cdef floating unused = 0
    if floating is double:
        lapack.dstemr(&jobz, &range_, &n_, d, e, &unused, &unused, &first, &n_, &found, w, Z, &ldz_, &columns,
                      integers, &relative, work, &lwork, integers + 2 * n, &liwork, &info)
    else:
        lapack.sstemr(&jobz, &range_, &n_, d, e, &unused, &unused, &first, &n_, &found, w, Z, &ldz_, &columns,
                      integers, &relative, work, &lwork, integers + 2 * n, &liwork, &info)
    return <int> info if info != 0 or found == k else -1


cdef int stein_above(Py_ssize_t n, const floating *d, const floating *e, floating lower, floating upper,
                     Py_ssize_t *n_found, floating *w, floating *Z, Py_ssize_t ldz, floating *work,
                     void *iwork) noexcept nogil:
    """TZ = Z diag(w) for the eigenvalues in (lower, upper] of any tridiagonal matrix, by bisection, block by block.

    work holds 5 n numbers, iwork 6 n integers.
    """
    cdef char range_ = b'V', order = b'B'
    cdef blas_int n_ = <blas_int> n, ldz_ = <blas_int> ldz, unused = 0, found = 0, n_blocks = 0, info = 0
    cdef blas_int *block = <blas_int *> iwork
    cdef blas_int *split = block + n
    cdef blas_int *scratch = split + n
    cdef floating abstol = 0
    if floating is double:
        lapack.dstebz(&range_, &order, &n_, &lower, &upper, &unused, &unused, &abstol, <double *> d, <double *> e,
                      &found, &n_blocks, w, block, split, work, scratch, &info)
    else:
        lapack.sstebz(&range_, &order, &n_, &lower, &upper, &unused, &unused, &abstol, <float *> d, <float *> e,
                      &found, &n_blocks, w, block, split, work, scratch, &info)
    n_found[0] = found
    if info != 0 or found == 0:
        return <int> info
    if floating is double:
        lapack.dstein(&n_, <double *> d, <double *> e, &found, w, block, split, Z, &ldz_, work, scratch,
                      scratch + n, &info)
    else:
        lapack.sstein(&n_, <float *> d, <float *> e, &found, w, block, split, Z, &ldz_, work, scratch,
                      scratch + n, &info)
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
