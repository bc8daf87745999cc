# Public C API, described in docs/c-api.md. d: double, s: float. Matrices are row-major, graphs CSR with int indices.

cdef size_t dsigned_knn_worksize(Py_ssize_t block) noexcept nogil
cdef size_t ssigned_knn_worksize(Py_ssize_t block) noexcept nogil
cdef int dsigned_knn(
    Py_ssize_t n_samples, Py_ssize_t n_features, const double *X, const double *squares, const int *labels,
    Py_ssize_t start, Py_ssize_t block, Py_ssize_t n_same, Py_ssize_t n_other,
    int *neighbors, double *distances, void *work) noexcept nogil
cdef int ssigned_knn(
    Py_ssize_t n_samples, Py_ssize_t n_features, const float *X, const float *squares, const int *labels,
    Py_ssize_t start, Py_ssize_t block, Py_ssize_t n_same, Py_ssize_t n_other,
    int *neighbors, float *distances, void *work) noexcept nogil

cdef int dsigned_csr(
    Py_ssize_t n_samples, Py_ssize_t n_same, Py_ssize_t n_other, const int *neighbors, const double *distances,
    double width, int *indptr, int *indices, double *data) noexcept nogil
cdef int ssigned_csr(
    Py_ssize_t n_samples, Py_ssize_t n_same, Py_ssize_t n_other, const int *neighbors, const float *distances,
    float width, int *indptr, int *indices, float *data) noexcept nogil

cdef int dlaplacian(
    Py_ssize_t n_samples, const int *indptr, const int *indices, const double *data,
    const double *degree, const double *scale, int *out_indptr, int *out_indices, double *out_data) noexcept nogil
cdef int slaplacian(
    Py_ssize_t n_samples, const int *indptr, const int *indices, const float *data,
    const float *degree, const float *scale, int *out_indptr, int *out_indices, float *out_data) noexcept nogil
