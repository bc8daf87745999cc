# The only door to BLAS and LAPACK. Sizes by value, column-major, both precisions.
# A row-major matrix is the column-major one of its transpose.

from cython cimport floating

cdef enum Trans:
    NO_TRANS = 110   # c'n'
    TRANS = 116      # c't'

cdef floating dot(Py_ssize_t n, const floating *x, const floating *y) noexcept nogil
cdef void axpy(Py_ssize_t n, floating alpha, const floating *x, floating *y) noexcept nogil
cdef void gemv(Trans trans, Py_ssize_t m, Py_ssize_t n, floating alpha, const floating *A, Py_ssize_t lda,
               const floating *x, floating beta, floating *y) noexcept nogil
cdef void gemm(Trans transa, Trans transb, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, floating alpha,
               const floating *A, Py_ssize_t lda, const floating *B, Py_ssize_t ldb,
               floating beta, floating *C, Py_ssize_t ldc) noexcept nogil
cdef void syrk_upper(Trans trans, Py_ssize_t n, Py_ssize_t k, floating alpha, const floating *A, Py_ssize_t lda,
                     floating beta, floating *C, Py_ssize_t ldc) noexcept nogil
cdef void syr2k_upper(Py_ssize_t n, Py_ssize_t k, floating alpha, const floating *A, Py_ssize_t lda, const floating *B,
                      Py_ssize_t ldb, floating beta, floating *C, Py_ssize_t ldc) noexcept nogil
cdef void trsm_right_upper(Trans trans, Py_ssize_t m, Py_ssize_t n, const floating *A, Py_ssize_t lda, floating *B,
                           Py_ssize_t ldb) noexcept nogil
cdef int syevd_upper(bint vectors, Py_ssize_t n, floating *A, Py_ssize_t lda, floating *w, floating *work,
                     void *iwork) noexcept nogil
cdef int gesdd_values(Py_ssize_t m, Py_ssize_t n, double *A, Py_ssize_t lda, double *s, double *work,
                      void *iwork) noexcept nogil
cdef int sytrd_upper(Py_ssize_t n, floating *A, Py_ssize_t lda, floating *d, floating *e, floating *tau,
                     floating *work, Py_ssize_t lwork) noexcept nogil
cdef void latrd_upper(Py_ssize_t n, Py_ssize_t k, floating *A, Py_ssize_t lda, floating *e, floating *tau, floating *W,
                      Py_ssize_t ldw) noexcept nogil
cdef void larft_backward(Py_ssize_t n, Py_ssize_t k, const floating *V, Py_ssize_t ldv, const floating *tau,
                         floating *T, Py_ssize_t ldt) noexcept nogil
cdef int ormql(Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const floating *A, Py_ssize_t lda, const floating *tau,
               floating *C, Py_ssize_t ldc, floating *work, Py_ssize_t lwork) noexcept nogil
cdef int potrf_upper(Py_ssize_t n, floating *A, Py_ssize_t lda) noexcept nogil
cdef int stevd(Py_ssize_t n, floating *d, floating *e, floating *Z, floating *work, void *iwork) noexcept nogil
cdef int stemr_last(Py_ssize_t n, Py_ssize_t k, floating *d, floating *e, floating *w, floating *Z, Py_ssize_t ldz,
                    floating *work, void *iwork) noexcept nogil
cdef int stein_above(Py_ssize_t n, const floating *d, const floating *e, floating lower, floating upper,
                     Py_ssize_t *n_found, floating *w, floating *Z, Py_ssize_t ldz, floating *work,
                     void *iwork) noexcept nogil
cdef int gesdd_thin(Py_ssize_t m, Py_ssize_t n, floating *A, Py_ssize_t lda, floating *s,
                    floating *U, Py_ssize_t ldu, floating *Vt, Py_ssize_t ldvt,
                    floating *work, Py_ssize_t lwork, void *iwork) noexcept nogil
