# Public C API, described in docs/c-api.md. d: double, s: float. Arrays are row-major and contiguous; out may be v.

cdef enum ProxStatus:
    PROX_DONE = 0
    PROX_NOT_FINITE = 1     # v holds NaN or infinity; out is undefined

cdef int dprox_l1(Py_ssize_t n, const double *v, double t, double *out) noexcept nogil
cdef int sprox_l1(Py_ssize_t n, const float *v, float t, float *out) noexcept nogil

cdef size_t dprox_l21_worksize(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner) noexcept nogil
cdef size_t sprox_l21_worksize(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner) noexcept nogil
cdef int dprox_l21(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner, const double *v, double t,
                   double *out, void *work) noexcept nogil
cdef int sprox_l21(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner, const float *v, float t,
                   float *out, void *work) noexcept nogil

cdef size_t dprox_nuclear_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns) noexcept nogil
cdef size_t sprox_nuclear_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns) noexcept nogil
cdef int dprox_nuclear(Py_ssize_t n_rows, Py_ssize_t n_columns, const double *v, double t,
                       double *out, double *singular, Py_ssize_t *rank, void *work) noexcept nogil
cdef int sprox_nuclear(Py_ssize_t n_rows, Py_ssize_t n_columns, const float *v, float t,
                       float *out, float *singular, Py_ssize_t *rank, void *work) noexcept nogil
