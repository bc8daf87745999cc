"""Signed neighbour graphs (eq4, eq7) and their Laplacians (eq6, eq9, eq10), in CSR.

Every sample has two lists: its nearest samples of the same class, and its nearest samples of all other classes. An
edge joins i and j if either is in a list of the other; it weighs +w inside a class and -w between classes, with
w = exp(-|x_i - x_j|^2 / 2 width^2), which is 1 for infinite width (eq4).

Distances come from |x_i - x_j|^2 = |x_i|^2 + |x_j|^2 - 2 x_i'x_j, the products tile by tile: syrk for the tiles on
the diagonal, gemm for those on one side of it. Each product is offered to the lists of both samples, so that half of
the flops suffice and no more than a tile is ever held. Lists are ordered by (distance, index): ties go to the lower
index, in whatever order the tiles come.
"""

from cython cimport floating
from libc.math cimport exp

from jplrdl._blas cimport NO_TRANS, TRANS, gemm, syrk_upper


# ---------------------------------------------------------------------------------------------------- neighbours

cdef inline void offer(int j, floating distance, Py_ssize_t length, int *list_, floating *ordered) noexcept nogil:
    """Insert sample j into a list ordered by (distance, index); -1 marks an empty place."""
    cdef Py_ssize_t k = length
    while k > 0 and (list_[k - 1] < 0 or distance < ordered[k - 1]
                     or (distance == ordered[k - 1] and j < list_[k - 1])):
        if k < length:
            list_[k], ordered[k] = list_[k - 1], ordered[k - 1]
        k -= 1
    if k < length:
        list_[k], ordered[k] = j, distance


cdef inline void offer_pair(int i, int j, floating distance, const int *labels, Py_ssize_t n_same, Py_ssize_t n_other,
                            int *neighbors, floating *distances) noexcept nogil:
    """Offer each of two samples to the other."""
    cdef Py_ssize_t both = n_same + n_other, of_i = i * both, of_j = j * both, length = n_same
    if labels[i] != labels[j]:
        of_i += n_same
        of_j += n_same
        length = n_other
    offer(j, distance, length, neighbors + of_i, distances + of_i)
    offer(i, distance, length, neighbors + of_j, distances + of_j)


cdef void multiply_tile(Py_ssize_t n_samples, Py_ssize_t n_features, const floating *X, Py_ssize_t start,
                        Py_ssize_t left, Py_ssize_t block, floating *tile) noexcept nogil:
    """The products of the samples start, ..., start + block - 1 with left, ..., left + block - 1, for left <= start."""
    cdef Py_ssize_t height = min(block, n_samples - start), width = min(block, n_samples - left)
    cdef floating one = 1, zero = 0
    if left == start:
        syrk_upper(TRANS, height, n_features, one, X + start * n_features, n_features, zero, tile, height)
    else:
        gemm(TRANS, NO_TRANS, width, height, n_features, one, X + left * n_features, n_features,
             X + start * n_features, n_features, zero, tile, width)


cdef void offer_tile(Py_ssize_t n_samples, const floating *tile, const floating *squares, const int *labels,
                     Py_ssize_t start, Py_ssize_t left, Py_ssize_t block, Py_ssize_t n_same, Py_ssize_t n_other,
                     int *neighbors, floating *distances) noexcept nogil:
    """Offer to each other all pairs of samples of a tile."""
    cdef Py_ssize_t i, j, width = min(block, n_samples - left)
    cdef floating distance
    for i in range(start, min(start + block, n_samples)):
        for j in range(left, min(left + width, i)):
            distance = squares[i] + squares[j] - 2 * tile[(i - start) * width + j - left]
            if distance < 0:
                distance = 0
            offer_pair(<int> i, <int> j, distance, labels, n_same, n_other, neighbors, distances)


cdef void scan_block(Py_ssize_t n_samples, Py_ssize_t n_features, const floating *X, const floating *squares,
                     const int *labels, Py_ssize_t start, Py_ssize_t block, Py_ssize_t n_same, Py_ssize_t n_other,
                     int *neighbors, floating *distances, floating *tile) noexcept nogil:
    """Offer to each other the samples start, ..., start + block - 1 and all samples up to them."""
    cdef Py_ssize_t k
    for k in range(start // block + 1):
        multiply_tile(n_samples, n_features, X, start, k * block, block, tile)
        offer_tile(n_samples, tile, squares, labels, start, k * block, block, n_same, n_other, neighbors, distances)


cdef size_t dsigned_knn_worksize(Py_ssize_t block) noexcept nogil:
    return block * block * sizeof(double)


cdef size_t ssigned_knn_worksize(Py_ssize_t block) noexcept nogil:
    return block * block * sizeof(float)


cdef int dsigned_knn(
        Py_ssize_t n_samples, Py_ssize_t n_features, const double *X, const double *squares, const int *labels,
        Py_ssize_t start, Py_ssize_t block, Py_ssize_t n_same, Py_ssize_t n_other,
        int *neighbors, double *distances, void *work) noexcept nogil:
    scan_block(n_samples, n_features, X, squares, labels, start, block, n_same, n_other,
               neighbors, distances, <double *> work)
    return 0


cdef int ssigned_knn(
        Py_ssize_t n_samples, Py_ssize_t n_features, const float *X, const float *squares, const int *labels,
        Py_ssize_t start, Py_ssize_t block, Py_ssize_t n_same, Py_ssize_t n_other,
        int *neighbors, float *distances, void *work) noexcept nogil:
    scan_block(n_samples, n_features, X, squares, labels, start, block, n_same, n_other,
               neighbors, distances, <float *> work)
    return 0


# ------------------------------------------------------------------------------------------------------- assembly

cdef inline bint lists(const int *list_, Py_ssize_t length, int sample) noexcept nogil:
    """Is the sample in the list?"""
    cdef Py_ssize_t k
    for k in range(length):
        if list_[k] == sample:
            return True
    return False


cdef void sort_row(Py_ssize_t n, int *indices, floating *data) noexcept nogil:
    """Order a row by its indices (Shell's sort: short, in place, good for some hundreds)."""
    cdef Py_ssize_t gap = n // 2, i, k
    cdef int index
    cdef floating value
    while gap > 0:
        for i in range(gap, n):
            index, value = indices[i], data[i]
            k = i
            while k >= gap and indices[k - gap] > index:
                indices[k], data[k] = indices[k - gap], data[k - gap]
                k -= gap
            indices[k], data[k] = index, value
        gap //= 2


cdef int assemble(Py_ssize_t n_samples, Py_ssize_t n_same, Py_ssize_t n_other, const int *neighbors,
                  const floating *distances, floating width, int *indptr, int *indices, floating *data) noexcept nogil:
    """The union of all lists as a symmetric CSR matrix: count the rows, fill them, order them."""
    cdef Py_ssize_t both = n_same + n_other, i, j, k
    cdef floating weight
    for i in range(n_samples + 1):
        indptr[i] = 0
    for i in range(n_samples):
        for k in range(both):
            j = neighbors[i * both + k]
            if j >= 0:
                indptr[i + 1] += 1
                indptr[j + 1] += not lists(neighbors + j * both, both, <int> i)
    for i in range(n_samples):
        indptr[i + 1] += indptr[i]
    # While rows are filled, indptr[i] is the next free place of row i; afterwards it is the end of it.
    for i in range(n_samples):
        for k in range(both):
            j = neighbors[i * both + k]
            if j >= 0:
                weight = <floating> exp(-distances[i * both + k] / (2. * width) / width)    # whose square may underflow
                if k >= n_same:
                    weight = -weight
                indices[indptr[i]], data[indptr[i]] = <int> j, weight
                indptr[i] += 1
                if not lists(neighbors + j * both, both, <int> i):
                    indices[indptr[j]], data[indptr[j]] = <int> i, weight
                    indptr[j] += 1
    for i in range(n_samples, 0, -1):
        indptr[i] = indptr[i - 1]
    indptr[0] = 0
    for i in range(n_samples):
        sort_row(indptr[i + 1] - indptr[i], indices + indptr[i], data + indptr[i])
    return 0


cdef int dsigned_csr(
        Py_ssize_t n_samples, Py_ssize_t n_same, Py_ssize_t n_other, const int *neighbors, const double *distances,
        double width, int *indptr, int *indices, double *data) noexcept nogil:
    return assemble(n_samples, n_same, n_other, neighbors, distances, width, indptr, indices, data)


cdef int ssigned_csr(
        Py_ssize_t n_samples, Py_ssize_t n_same, Py_ssize_t n_other, const int *neighbors, const float *distances,
        float width, int *indptr, int *indices, float *data) noexcept nogil:
    return assemble(n_samples, n_same, n_other, neighbors, distances, width, indptr, indices, data)


# ------------------------------------------------------------------------------------------------------ Laplacian

cdef int laplacian_rows(Py_ssize_t n_samples, const int *indptr, const int *indices, const floating *data,
                        const floating *degree, const floating *scale,
                        int *out_indptr, int *out_indices, floating *out_data) noexcept nogil:
    """L = S (diag(degree) - W) S, S = diag(scale); W has ordered rows, L has them too, and a full diagonal.

    A weight is multiplied by one scale, then by the other, because their product may overflow; always by that of the
    lower index first, so that L is as symmetric as W.
    """
    cdef Py_ssize_t i, j, k, filled = 0
    cdef bint met
    out_indptr[0] = 0
    for i in range(n_samples):
        met = False
        for k in range(indptr[i], indptr[i + 1]):
            if not met and indices[k] >= i:
                met = True
                out_indices[filled] = <int> i
                out_data[filled] = scale[i] * (degree[i] - (data[k] if indices[k] == i else 0)) * scale[i]
                filled += 1
            if indices[k] != i:
                out_indices[filled] = indices[k]
                j = indices[k]
                out_data[filled] = -scale[min(i, j)] * data[k] * scale[max(i, j)]
                filled += 1
        if not met:
            out_indices[filled] = <int> i
            out_data[filled] = scale[i] * degree[i] * scale[i]
            filled += 1
        out_indptr[i + 1] = <int> filled
    return 0


cdef int dlaplacian(
        Py_ssize_t n_samples, const int *indptr, const int *indices, const double *data,
        const double *degree, const double *scale, int *out_indptr, int *out_indices, double *out_data) noexcept nogil:
    return laplacian_rows(n_samples, indptr, indices, data, degree, scale, out_indptr, out_indices, out_data)


cdef int slaplacian(
        Py_ssize_t n_samples, const int *indptr, const int *indices, const float *data,
        const float *degree, const float *scale, int *out_indptr, int *out_indices, float *out_data) noexcept nogil:
    return laplacian_rows(n_samples, indptr, indices, data, degree, scale, out_indptr, out_indices, out_data)


# ---------------------------------------------------------------------------------------------- called from Python

def knn_products(const floating[:, ::1] X, Py_ssize_t start, Py_ssize_t left, Py_ssize_t block, floating[::1] tile):
    """The products of two blocks of samples; of one with itself only those that knn_offer reads."""
    with nogil:
        multiply_tile(X.shape[0], X.shape[1], &X[0, 0], start, left, block, &tile[0])


def knn_offer(const floating[::1] tile, const floating[::1] squares, const int[::1] labels, Py_ssize_t start,
              Py_ssize_t left, Py_ssize_t block, Py_ssize_t n_same, int[:, ::1] neighbors, floating[:, ::1] distances):
    """Offer to each other the samples whose products a tile holds; one tile at a time."""
    cdef Py_ssize_t n_other = neighbors.shape[1] - n_same
    with nogil:
        offer_tile(squares.shape[0], &tile[0], &squares[0], &labels[0], start, left, block, n_same, n_other,
                   &neighbors[0, 0], &distances[0, 0])


def knn_csr(const int[:, ::1] neighbors, const floating[:, ::1] distances, Py_ssize_t n_same, double width,
            int[::1] indptr, int[::1] indices, floating[::1] data):
    """Fill the CSR arrays of the graph; indices and data have room for both directions of every edge."""
    cdef Py_ssize_t n_other = neighbors.shape[1] - n_same
    with nogil:
        if floating is double:
            dsigned_csr(neighbors.shape[0], n_same, n_other, &neighbors[0, 0], &distances[0, 0], width,
                        &indptr[0], &indices[0], &data[0])
        else:
            ssigned_csr(neighbors.shape[0], n_same, n_other, &neighbors[0, 0], &distances[0, 0], <float> width,
                        &indptr[0], &indices[0], &data[0])


def laplacian_csr(const int[::1] indptr, const int[::1] indices, const floating[::1] data,
                  const floating[::1] degree, const floating[::1] scale,
                  int[::1] out_indptr, int[::1] out_indices, floating[::1] out_data):
    """Fill the CSR arrays of S (diag(degree) - W) S; the last two have room for W and a diagonal."""
    cdef Py_ssize_t n = degree.shape[0]
    cdef const int *indices_ = NULL
    cdef const floating *data_ = NULL
    if indices.shape[0] > 0:
        indices_, data_ = &indices[0], &data[0]
    with nogil:
        if floating is double:
            dlaplacian(n, &indptr[0], indices_, data_, &degree[0], &scale[0],
                       &out_indptr[0], &out_indices[0], &out_data[0])
        else:
            slaplacian(n, &indptr[0], indices_, data_, &degree[0], &scale[0],
                       &out_indptr[0], &out_indices[0], &out_data[0])
