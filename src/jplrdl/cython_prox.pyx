"""Proximal maps: prox_t(V) = argmin_U |U - V|_F^2 / 2 + t |U| for the l1, the 2,1 and the nuclear norm.

    l1        U_ij = sign(V_ij) max(|V_ij| - t, 0)
    2,1       every group v (a row or a column) becomes max(1 - t / |v|_2, 0) v
    nuclear   every singular value s of V becomes max(s - t, 0)

The first two move memory and little else: each element is read and written once.

The nuclear map has two routes. With K = V'V = Z diag(s^2) Z' (or VV', whichever is smaller),

    U = V Z h Z',     h = 1 - t / s for the s > t:

one syrk, only those eigenvectors of K with s^2 > t^2, two gemms. Squaring costs accuracy: an
error eps |K| in s^2 is an error eps s_max^2 / (2 s) in s, at worst eps s_max (s_max / 2t). That route is taken only if

    t >= 2^-10 sqrt(|K|_F)                                            (|K|_F >= s_max^2)

which bounds the error by 2^9 eps s_max; a smaller t goes through the singular value decomposition of V itself.
"""

from cython cimport floating
from libc.float cimport DBL_MAX, DBL_MIN, FLT_MAX, FLT_MIN
from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memset

from jplrdl._blas cimport NO_TRANS, TRANS, dot, gemm, gesdd_thin, syevr_above, syrk_upper

cdef double GRAM_LIMIT = 2.0 ** -10


# ------------------------------------------------------------------------------------------------------------- l1

cdef inline floating shrink(floating x, floating t) noexcept nogil:
    """sign(x) max(|x| - t, 0) without a branch"""
    cdef floating above = x - t, below = x + t
    return (above if above > 0 else 0) + (below if below < 0 else 0)


cdef void shrink_array(Py_ssize_t n, const floating *v, floating t, floating *out) noexcept nogil:
    cdef Py_ssize_t i
    # Two loops, because the compiler vectorises each only where it sees that nothing overlaps.
    if v == out:
        for i in range(n):
            out[i] = shrink(out[i], t)
    else:
        for i in range(n):
            out[i] = shrink(v[i], t)


cdef int dprox_l1(Py_ssize_t n, const double *v, double t, double *out) noexcept nogil:
    shrink_array(n, v, t, out)
    return 0


cdef int sprox_l1(Py_ssize_t n, const float *v, float t, float *out) noexcept nogil:
    shrink_array(n, v, t, out)
    return 0


# ------------------------------------------------------------------------------------------------------------ 2,1

cdef double group_scale(Py_ssize_t n, Py_ssize_t stride, const floating *v, floating squares,
                        floating t) noexcept nogil:
    """max(1 - t / |v|, 0), given the sum of squares, which is taken again with care where it over- or underflowed."""
    cdef double norm = sqrt(<double> squares), largest = 0, total = 0
    cdef double low, high
    cdef Py_ssize_t i
    if floating is double:
        low, high = DBL_MIN / 1e-32, DBL_MAX
    else:
        low, high = FLT_MIN / 1e-14, FLT_MAX
    if not low < squares < high:
        for i in range(n):
            largest = max(largest, fabs(v[i * stride]))
        if largest == 0:
            return 0
        for i in range(n):
            total += (v[i * stride] / largest) * (v[i * stride] / largest)
        norm = largest * sqrt(total)
        if not t < norm:
            return 0
        return 1 - (t / largest) / sqrt(total)
    return 1 - t / norm if t < norm else 0


cdef void shrink_rows(Py_ssize_t n_rows, Py_ssize_t n, const floating *v, floating t, floating *out) noexcept nogil:
    """Each row of length n is read twice, the second time from cache."""
    cdef Py_ssize_t i
    cdef floating scale
    for i in range(n_rows):
        row = v + i * n
        scale = <floating> group_scale(n, 1, row, dot(n, row, row), t)
        scale_row(n, scale, row, out + i * n)


cdef void scale_row(Py_ssize_t n, floating scale, const floating *v, floating *out) noexcept nogil:
    cdef Py_ssize_t j
    if v == out:
        for j in range(n):
            out[j] = scale * out[j]
    else:
        for j in range(n):
            out[j] = scale * v[j]


cdef void shrink_columns(Py_ssize_t n, Py_ssize_t n_columns, const floating *v, floating t, floating *out,
                         floating *scale) noexcept nogil:
    """Row by row, as memory lies: first the sums of squares of all columns, then the scaling."""
    cdef Py_ssize_t i, j
    memset(scale, 0, n_columns * sizeof(floating))
    for i in range(n):
        row = v + i * n_columns
        for j in range(n_columns):
            scale[j] += row[j] * row[j]
    for j in range(n_columns):
        scale[j] = <floating> group_scale(n, n_columns, v + j, scale[j], t)
    for i in range(n):
        multiply_row(n_columns, scale, v + i * n_columns, out + i * n_columns)


cdef void multiply_row(Py_ssize_t n, const floating *scale, const floating *v, floating *out) noexcept nogil:
    cdef Py_ssize_t j
    if v == out:
        for j in range(n):
            out[j] = scale[j] * out[j]
    else:
        for j in range(n):
            out[j] = scale[j] * v[j]


cdef void shrink_groups(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner, const floating *v, floating t,
                        floating *out, floating *scale) noexcept nogil:
    cdef Py_ssize_t i
    if n_inner == 1:
        shrink_rows(n_outer, n, v, t, out)
    else:
        for i in range(n_outer):
            shrink_columns(n, n_inner, v + i * n * n_inner, t, out + i * n * n_inner, scale)


cdef size_t dprox_l21_worksize(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner) noexcept nogil:
    return n_inner * sizeof(double)


cdef size_t sprox_l21_worksize(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner) noexcept nogil:
    return n_inner * sizeof(float)


cdef int dprox_l21(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner, const double *v, double t,
                   double *out, void *work) noexcept nogil:
    shrink_groups(n_outer, n, n_inner, v, t, out, <double *> work)
    return 0


cdef int sprox_l21(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner, const float *v, float t,
                   float *out, void *work) noexcept nogil:
    shrink_groups(n_outer, n, n_inner, v, t, out, <float *> work)
    return 0


# -------------------------------------------------------------------------------------------------------- nuclear
# LAPACK reads a row-major n_rows x n_columns matrix as its transpose M, n_columns x n_rows.

cdef Py_ssize_t lapack_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns, const floating *precision) noexcept nogil:
    """Elements of LAPACK's own workspace: the larger of what the two calls below ask for."""
    cdef Py_ssize_t small = min(n_rows, n_columns), found, most
    cdef double space = 0
    cdef floating *unused = <floating *> &space
    cdef floating answer = 0, zero = 0, one = 1
    gesdd_thin(n_columns, n_rows, unused, n_columns, unused, unused, n_columns, unused, small, &answer, -1, unused)
    most = <Py_ssize_t> answer
    syevr_above(small, unused, small, zero, one, &found, unused, unused, small, unused, &answer, -1, unused, 10 * small)
    return max(most, <Py_ssize_t> answer)


cdef size_t spectrum_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns, const floating *precision) noexcept nogil:
    cdef size_t small = min(n_rows, n_columns), large = max(n_rows, n_columns)
    cdef size_t gram_route = 2 * small * small + small * large + small
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


cdef bint gram_route(Py_ssize_t n_rows, Py_ssize_t n_columns, const floating *v, floating t, floating *out,
                     floating *singular, floating *work, Py_ssize_t lwork, void *iwork) noexcept nogil:
    """U = V Z h Z' and the singular values above t; False, with nothing written, where t is too small for it."""
    cdef Py_ssize_t small = min(n_rows, n_columns), large = max(n_rows, n_columns), i, j, k
    cdef bint tall = n_columns <= n_rows
    cdef floating *K = work
    cdef floating *Z = K + small * small
    cdef floating *T = Z + small * small
    cdef floating *w = T + small * large
    cdef floating one = 1, zero = 0
    cdef double size, h, limit = DBL_MAX if floating is double else FLT_MAX
    syrk_upper(NO_TRANS if tall else TRANS, small, large, one, v, n_columns, zero, K, small)
    size = frobenius_of_upper(small, K)
    if not t >= GRAM_LIMIT * sqrt(size) or not 1e8 / limit < size < 1e-8 * limit:
        return False
    if (<double> t) * t >= size:        # nothing is left
        memset(out, 0, n_rows * n_columns * sizeof(floating))
        memset(singular, 0, small * sizeof(floating))
        return True
    if syevr_above(small, K, small, t * t, <floating> (2 * size), &k, w, Z, small, iwork,
                   w + small, lwork, <Py_ssize_t *> iwork + 2 * small, 10 * small) != 0:
        return False
    for i in range(k):
        singular[k - 1 - i] = sqrt(w[i])
        h = 1 - t / sqrt(w[i])
        for j in range(small):
            K[i * small + j] = <floating> (h * Z[i * small + j])
    for i in range(k, small):
        singular[i] = 0
    if tall:                            # T = h Z'M, k x n_rows; then Z T
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


cdef int shrink_spectrum(Py_ssize_t n_rows, Py_ssize_t n_columns, const floating *v, floating t, floating *out,
                         floating *singular, Py_ssize_t *rank, void *work) noexcept nogil:
    """Either route, then the shrunk singular values and how many of them are left."""
    cdef Py_ssize_t small = min(n_rows, n_columns), lwork = lapack_worksize(n_rows, n_columns, v), i
    cdef floating *arrays = <floating *> (<Py_ssize_t *> work + 12 * small)
    cdef int info = 0
    if not gram_route(n_rows, n_columns, v, t, out, singular, arrays, lwork, work):
        info = svd_route(n_rows, n_columns, v, t, out, singular, arrays, lwork, work)
    rank[0] = 0
    for i in range(small):
        singular[i] = singular[i] - t if singular[i] > t else 0
        rank[0] += singular[i] > 0
    return info


cdef size_t dprox_nuclear_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns) noexcept nogil:
    return spectrum_worksize(n_rows, n_columns, <double *> NULL)


cdef size_t sprox_nuclear_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns) noexcept nogil:
    return spectrum_worksize(n_rows, n_columns, <float *> NULL)


cdef int dprox_nuclear(Py_ssize_t n_rows, Py_ssize_t n_columns, const double *v, double t,
                       double *out, double *singular, Py_ssize_t *rank, void *work) noexcept nogil:
    return shrink_spectrum(n_rows, n_columns, v, t, out, singular, rank, work)


cdef int sprox_nuclear(Py_ssize_t n_rows, Py_ssize_t n_columns, const float *v, float t,
                       float *out, float *singular, Py_ssize_t *rank, void *work) noexcept nogil:
    return shrink_spectrum(n_rows, n_columns, v, t, out, singular, rank, work)


# ---------------------------------------------------------------------------------------------- called from Python

def l1(const floating[::1] v, floating t, floating[::1] out):
    """out = prox_t(v); out may be v."""
    with nogil:
        if floating is double:
            dprox_l1(v.shape[0], &v[0], t, &out[0])
        else:
            sprox_l1(v.shape[0], &v[0], t, &out[0])


def l21(const floating[:, :, ::1] v, floating t, floating[:, :, ::1] out, unsigned char[::1] work):
    """out = prox_t(v), groups along the middle axis; out may be v."""
    with nogil:
        if floating is double:
            dprox_l21(v.shape[0], v.shape[1], v.shape[2], &v[0, 0, 0], t, &out[0, 0, 0], &work[0])
        else:
            sprox_l21(v.shape[0], v.shape[1], v.shape[2], &v[0, 0, 0], t, &out[0, 0, 0], &work[0])


def nuclear(const floating[:, ::1] v, floating t, floating[:, ::1] out, floating[::1] singular,
            unsigned char[::1] work):
    """out = prox_t(v) and its singular values; returns LAPACK's info and the rank."""
    cdef Py_ssize_t rank
    cdef int info
    with nogil:
        if floating is double:
            info = dprox_nuclear(v.shape[0], v.shape[1], &v[0, 0], t, &out[0, 0], &singular[0], &rank, &work[0])
        else:
            info = sprox_nuclear(v.shape[0], v.shape[1], &v[0, 0], t, &out[0, 0], &singular[0], &rank, &work[0])
    return info, rank


def l21_worksize(Py_ssize_t n_outer, Py_ssize_t n, Py_ssize_t n_inner, bint single):
    """Bytes of workspace for l21."""
    return sprox_l21_worksize(n_outer, n, n_inner) if single else dprox_l21_worksize(n_outer, n, n_inner)


def nuclear_worksize(Py_ssize_t n_rows, Py_ssize_t n_columns, bint single):
    """Bytes of workspace for nuclear."""
    return sprox_nuclear_worksize(n_rows, n_columns) if single else dprox_nuclear_worksize(n_rows, n_columns)
