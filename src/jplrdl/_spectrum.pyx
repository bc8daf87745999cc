"""The nuclear map: every singular value s of V becomes max(s - t, 0).

It has two routes. With K = V'V = Z diag(s^2) Z' (or VV', whichever is smaller),

    U = V Z h Z',     h = 1 - t / s for the s > t:

one syrk, only those eigenvectors of K with s^2 > t^2, two gemms. Squaring costs accuracy: an
error eps |K| in s^2 is an error eps s_max^2 / (2 s) in s, the largest for the smallest s that is kept. The result is
taken only if

    s >= 2^-10 sqrt(|K|_F)  for all s > t                             (|K|_F >= s_max^2)

which bounds the error by 2^9 eps s_max; otherwise the singular value decomposition of V itself decides. Where t is so
small that rounding in K could pass for a singular value above it, below 2^-20 sqrt(|K|_F) in double and 2^-10 in
single precision, the Gram matrix is not even asked.

A rough map takes every s > t from the Gram matrix, down to that limit: in double precision an error of 2^19 eps s_max,
1e-10 s_max, is too much for a map that others build on, and nothing to an iteration that sees it and goes on.
"""

from cython cimport floating
from libc.float cimport DBL_MAX, FLT_MAX
from libc.math cimport frexp, ldexp, sqrt
from libc.string cimport memcpy, memset

from jplrdl._blas cimport NO_TRANS, TRANS, dot, gemm, gesdd_thin, syrk_upper
from jplrdl._eigenvectors cimport eigenvectors_above, eigenvectors_lwork

cdef double KEPT_LIMIT = 2.0 ** -20         # of s^2 / |K|_F for the values kept
cdef double THRESHOLD_LIMIT = 2.0 ** -40    # of t^2 / |K|_F, in double precision

# LAPACK reads a row-major n_rows x n_columns matrix as its transpose M, n_columns x n_rows.

cdef Py_ssize_t lapack_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns, const floating *precision) noexcept nogil:
    """Elements of LAPACK's own workspace: the larger of what the two routes ask for."""
    cdef Py_ssize_t small = min(n_rows, n_columns)
    cdef double space = 0
    cdef floating *unused = <floating *> &space
    cdef floating answer = 0
    gesdd_thin(n_columns, n_rows, unused, n_columns, unused, unused, n_columns, unused, small, &answer, -1, unused)
    return max(<Py_ssize_t> answer, eigenvectors_lwork(small, precision))


cdef size_t spectrum_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns, const floating *precision) noexcept nogil:
    cdef size_t small = min(n_rows, n_columns), large = max(n_rows, n_columns)
    cdef size_t gram_route = 3 * small * small + small * large + 6 * small
    cdef size_t svd_route = 2 * small * large + small * small
    return ((max(gram_route, svd_route) + lapack_worksize(n_rows, n_columns, precision)) * sizeof(floating)
            + 12 * small * sizeof(Py_ssize_t))          # LAPACK's integers come first


cdef double frobenius_of_upper(Py_ssize_t n, const floating *K) noexcept nogil:
    """|K|_F from the upper triangle of a symmetric matrix"""
    cdef Py_ssize_t j
    cdef double total = 0
    for j in range(n):
        total += 2. * dot(j, K + j * n, K + j * n) + (<double> K[j * n + j]) * K[j * n + j]
    return sqrt(total)


cdef enum:
    # BLAS is made for matrices whose sides are long. Of a few vectors it takes some hundred elements at a time faster
    # than all at once: the product is then small enough not to be rearranged in memory first.
    FEW = 32, STRIP = 448


cdef void inner_products(bint tall, Py_ssize_t small, Py_ssize_t large, const floating *v, floating *K) noexcept nogil:
    """The upper triangle of K = MM' if M is small x large, of M'M if it is large x small"""
    cdef Py_ssize_t ld = small if tall else large, start = 0
    cdef const floating *strip
    cdef floating one = 1, zero = 0
    if small > FEW:
        syrk_upper(NO_TRANS if tall else TRANS, small, large, one, v, ld, zero, K, small)
        return
    while start < large:
        strip = v + start * (ld if tall else 1)
        gemm(NO_TRANS if tall else TRANS, TRANS if tall else NO_TRANS, small, small,
             min(<Py_ssize_t> STRIP, large - start), one, strip, ld, strip, ld, zero if start == 0 else one, K, small)
        start += STRIP


cdef void multiply(bint tall, Py_ssize_t small, Py_ssize_t large, const floating *S, const floating *v,
                   floating *out) noexcept nogil:
    """out = SM or MS, for a symmetric S of a few rows"""
    cdef Py_ssize_t ld = small if tall else large, start = 0, width
    cdef floating one = 1, zero = 0
    while start < large:
        width = min(<Py_ssize_t> STRIP, large - start)
        if tall:
            gemm(NO_TRANS, NO_TRANS, small, width, small, one, S, small, v + start * ld, ld, zero, out + start * ld, ld)
        else:
            gemm(NO_TRANS, NO_TRANS, width, small, small, one, v + start, ld, S, small, zero, out + start, ld)
        start += STRIP


cdef bint gram_route(Py_ssize_t n_rows, Py_ssize_t n_columns, const floating *v, floating t, bint rough, floating *out,
                     floating *singular, floating *work, Py_ssize_t lwork, void *iwork) noexcept nogil:
    """U = V Z h Z' and the singular values above t; False, with V as it was, where t is too small for it.

    Where out is not V, K is held in it: fresh pages of the workspace would cost more.
    """
    cdef Py_ssize_t small = min(n_rows, n_columns), large = max(n_rows, n_columns), i, j, k
    cdef bint tall = n_columns <= n_rows
    cdef floating *K = work if out == v else out
    cdef floating *Z = work + small * small
    cdef floating *T = Z + small * small
    cdef floating *S = T + small * large
    cdef floating *w = S + small * small
    cdef floating one = 1, zero = 0
    cdef double size, unit, h, limit, threshold_limit
    cdef int exponent
    if floating is double:
        limit, threshold_limit = DBL_MAX, THRESHOLD_LIMIT
    else:
        limit, threshold_limit = FLT_MAX, KEPT_LIMIT
    inner_products(tall, small, large, v, K)
    size = frobenius_of_upper(small, K)
    if not (<double> t) * t >= threshold_limit * size:
        return False
    if not 1e8 / limit < size < 1e-8 * limit:
        return False
    if (<double> t) * t >= size:        # nothing is left
        memset(out, 0, n_rows * n_columns * sizeof(floating))
        memset(singular, 0, small * sizeof(floating))
        return True
    # LAPACK's drivers scale a matrix to a safe size, but not the parts of them that are called here.
    frexp(size, &exponent)
    unit = ldexp(1, -exponent)
    for j in range(small):
        for i in range(j + 1):
            K[j * small + i] *= <floating> unit
    if not eigenvectors_above(small, K, t * unit * t, size * unit, &k, w, Z, w + 6 * small, lwork, iwork):
        return False
    for i in range(k):
        w[i] = <floating> (w[i] / unit)
    if k > 0 and w[0] < (threshold_limit if rough else KEPT_LIMIT) * size:
        return False
    for i in range(k):
        singular[k - 1 - i] = sqrt(w[i])
        h = 1 - t / sqrt(w[i])
        for j in range(small):
            K[i * small + j] = <floating> (h * Z[i * small + j])
    for i in range(k, small):
        singular[i] = 0
    if small <= FEW and 2 * k > small:  # S = Z h Z': one product with it is cheaper than two thin ones
        gemm(NO_TRANS, TRANS, small, small, k, one, K, small, Z, small, zero, S, small)
        if out == v:
            memcpy(T, v, small * large * sizeof(floating))
        multiply(tall, small, large, S, T if out == v else v, out)
    elif tall:                          # T = h Z'M, k x n_rows; then Z T
        gemm(TRANS, NO_TRANS, k, n_rows, small, one, K, small, v, n_columns, zero, T, max(k, 1))
        gemm(NO_TRANS, NO_TRANS, n_columns, n_rows, k, one, Z, small, T, max(k, 1), zero, out, n_columns)
    else:                               # T = M Z h, n_columns x k; then T Z'
        gemm(NO_TRANS, NO_TRANS, n_columns, k, small, one, v, n_columns, K, small, zero, T, n_columns)
        gemm(NO_TRANS, TRANS, n_columns, n_rows, k, one, T, n_columns, Z, small, zero, out, n_columns)
    return True


cdef int svd_route(Py_ssize_t n_rows, Py_ssize_t n_columns, const floating *v, floating t, floating *out,
                   floating *singular, floating *work, Py_ssize_t lwork, void *iwork) noexcept nogil:
    """M = Q s W', U' = Q (s - t) W' for the s > t, and all singular values; returns LAPACK's info."""
    cdef Py_ssize_t small = min(n_rows, n_columns), j, k = 0
    cdef floating *M = work
    cdef floating *Q = M + n_rows * n_columns
    cdef floating *Wt = Q + n_columns * small
    cdef floating one = 1, zero = 0
    cdef int info
    memcpy(M, v, n_rows * n_columns * sizeof(floating))
    info = gesdd_thin(n_columns, n_rows, M, n_columns, singular, Q, n_columns, Wt, small,
                      Wt + small * n_rows, lwork, iwork)
    if info != 0:
        return info
    while k < small and singular[k] > t:
        for j in range(n_columns):
            Q[k * n_columns + j] *= singular[k] - t
        k += 1
    gemm(NO_TRANS, NO_TRANS, n_columns, n_rows, k, one, Q, n_columns, Wt, small, zero, out, n_columns)
    return 0


cdef int shrink_spectrum(Py_ssize_t n_rows, Py_ssize_t n_columns, const floating *v, floating t, bint rough,
                         floating *out, floating *singular, Py_ssize_t *rank, void *work) noexcept nogil:
    """Either route, then the shrunk singular values and how many of them are left."""
    cdef Py_ssize_t small = min(n_rows, n_columns), lwork = lapack_worksize(n_rows, n_columns, v), i
    cdef floating *arrays = <floating *> (<Py_ssize_t *> work + 12 * small)
    cdef int info = 0
    if not gram_route(n_rows, n_columns, v, t, rough, out, singular, arrays, lwork, work):
        info = svd_route(n_rows, n_columns, v, t, out, singular, arrays, lwork, work)
    rank[0] = 0
    for i in range(small):
        singular[i] = singular[i] - t if singular[i] > t else 0
        rank[0] += singular[i] > 0
    return info


def shrink(const floating[:, ::1] v, floating t, floating[:, ::1] out, floating[::1] singular,
           unsigned char[::1] work, bint rough=False):
    """out = prox_t(v) and its singular values; returns LAPACK's info and the rank."""
    cdef Py_ssize_t rank
    cdef int info
    with nogil:
        info = shrink_spectrum(v.shape[0], v.shape[1], &v[0, 0], t, rough, &out[0, 0], &singular[0], &rank, &work[0])
    return info, rank


def worksize(const floating[:, ::1] v):
    """Bytes of workspace for shrink."""
    return spectrum_worksize(v.shape[0], v.shape[1], &v[0, 0])
