# Public C API, described in docs/c-api.md. d: double, s: float.

cdef enum FeatureSignStatus:
    FEATURE_SIGN_CONVERGED = 0
    FEATURE_SIGN_ITERATION_LIMIT = 1
    FEATURE_SIGN_NOT_POSITIVE_DEFINITE = 2

cdef size_t dfeature_sign_worksize(Py_ssize_t n_atoms) noexcept nogil
cdef size_t sfeature_sign_worksize(Py_ssize_t n_atoms) noexcept nogil

cdef int dfeature_sign(
    Py_ssize_t n_atoms, const double *gram, Py_ssize_t gram_stride, const double *cov,
    double penalty, double shift, double tol, Py_ssize_t max_iter,
    double *code, Py_ssize_t *n_iter, double *residual, void *work) noexcept nogil

cdef int sfeature_sign(
    Py_ssize_t n_atoms, const float *gram, Py_ssize_t gram_stride, const float *cov,
    float penalty, float shift, float tol, Py_ssize_t max_iter,
    float *code, Py_ssize_t *n_iter, float *residual, void *work) noexcept nogil
