"""The eigenvectors of a symmetric matrix K above a bound x, by a tridiagonal reduction that ends as soon as it may.

Householder reflectors turn K from its last column on, a panel at a time. After D columns

    Q'KQ = [ A       beta e ]       A is m x m and still full, e its last unit vector,
           [ beta e'  T     ]       T is D x D and tridiagonal, beta joins A's last row and T's first.

T is the matrix of Lanczos' method started at the last unit vector, with Q orthogonal to rounding: its eigenvalues above
x are those of K long before D = n if they are few. With TY = Y diag(w) for these, the reduction ends when

1. none is missed. By Sylvester's law of inertia K has as many eigenvalues above x as T and

       A + (beta^2 / p) e e',      p = 1 / ((xI - T)^-1)_11,

   together, and the latter has none if xI less it has a Cholesky factor. Rounding in that can hide an eigenvalue no
   further than n eps |K| above x, which is as far as it moves eigenvalues anyway.

2. those found are exact. The residual of the vectors Q [0; Y] is beta times the first row of Y, and its norm r at most

       eps sqrt(x |K|_F).

   It turns a vector with eigenvalue w > x towards those below x by r / (w - x) at most, so that a function of K which
   rises from 0 at x with slope a is wrong by a r. That of the nuclear map, 1 - t / s at w = s^2 and x = t^2, has
   a < 1 / 2t^2: an error r / 2t of the map, half an eps of its largest singular value.

Neither costs much, but to ask after every panel would. So a third question comes first: the solution of (T - xI) v = 0
from v_1 = 1 on, but for the last row, grows like the eigenvectors next to x from their first element to their largest;
while that is below beta / r there is no point in the others. If all n columns are reduced before the answer is yes,
this is the usual way to the eigenvectors, at its usual cost.
"""

from cython cimport floating
from libc.float cimport DBL_EPSILON, FLT_EPSILON
from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memmove, memset

from jplrdl._blas cimport (
    latrd_upper,
    ormql,
    potrf_upper,
    stein_above,
    stemr_last,
    syevd_upper,
    syr2k_upper,
    sytrd_upper,
)

cdef enum:
    PANEL = 32      # columns reduced between two looks
    FEW = 32        # of so few, all eigenvectors are found sooner than some


cdef double epsilon(const floating *precision) noexcept nogil:
    if floating is double:
        return DBL_EPSILON
    else:
        return FLT_EPSILON


cdef Py_ssize_t eigenvectors_lwork(Py_ssize_t n, const floating *precision) noexcept nogil:
    """Elements of workspace that eigenvectors_above wants."""
    cdef double space = 0
    cdef floating *unused = <floating *> &space
    cdef floating reduction = 0, product = 0
    sytrd_upper(n, unused, n, unused, unused, unused, &reduction, -1)
    ormql(n, n, n, unused, n, unused, unused, n, &product, -1)
    return max(<Py_ssize_t> reduction, <Py_ssize_t> product, PANEL * n, 1 + 6 * n + 2 * n * n if n <= FEW else 0)


# ------------------------------------------------------------------------------------------- tridiagonal matrices

cdef double step(double pivot, double next_diagonal, double off_diagonal) noexcept nogil:
    """The next pivot of a tridiagonal matrix; one that vanishes counts as negative."""
    cdef double next_pivot = next_diagonal - off_diagonal * off_diagonal / pivot
    return next_pivot if fabs(next_pivot) >= 1e-290 else -1e-290


cdef Py_ssize_t count_above(Py_ssize_t n, const floating *d, const floating *e, double x,
                            double *last_pivot) noexcept nogil:
    """How many eigenvalues of T are above x: the positive pivots of T - xI, from the last row to the first."""
    cdef Py_ssize_t i, count
    cdef double pivot = step(1, d[n - 1] - x, 0)
    count = pivot > 0
    for i in range(n - 2, -1, -1):
        pivot = step(pivot, d[i] - x, e[i])
        count += pivot > 0
    last_pivot[0] = pivot
    return count


cdef bint grows(Py_ssize_t n, const floating *d, const floating *e, double x, double limit) noexcept nogil:
    """Does |v_i| reach the limit, where (T - xI) v = 0 but for the last row, and v_1 = 1?"""
    cdef Py_ssize_t i
    cdef double v = 1, pivot = step(1, d[0] - x, 0)
    for i in range(n - 1):
        v *= fabs(pivot)
        if v >= limit * fabs(e[i]):
            return True
        v /= fabs(e[i])
        pivot = step(pivot, d[i + 1] - x, e[i])
    return False


cdef bint splits(Py_ssize_t n, const floating *d, const floating *e) noexcept nogil:
    """Would LAPACK take an off-diagonal element for zero? It does below eps |T|; well before that we say yes."""
    cdef Py_ssize_t i
    cdef double norm = 0, least = INFINITY
    for i in range(n):
        norm = max(norm, fabs(d[i]))
        if i < n - 1:
            norm = max(norm, fabs(e[i]))
            least = min(least, fabs(e[i]))
    return not least > 16 * epsilon(d) * norm


cdef void sort_pairs(Py_ssize_t k, Py_ssize_t n, floating *w, floating *Z, Py_ssize_t ldz) noexcept nogil:
    """Eigenvalues ascending, and their vectors with them; each vector moves once."""
    cdef Py_ssize_t i, j, least
    for i in range(k):
        least = i
        for j in range(i + 1, k):
            if w[j] < w[least]:
                least = j
        if least != i:
            w[i], w[least] = w[least], w[i]
            for j in range(n):
                Z[i * ldz + j], Z[least * ldz + j] = Z[least * ldz + j], Z[i * ldz + j]


cdef bint tridiagonal_above(Py_ssize_t n, const floating *d, const floating *e, double lower, double upper,
                            Py_ssize_t *k, floating *w, floating *Y, Py_ssize_t ldy, floating *scratch, floating *work,
                            void *iwork) noexcept nogil:
    """TY = Y diag(w) for the eigenvalues in (lower, upper]; False if it fails.

    Relatively robust representations (stemr), or bisection where they may not be used. The scratch holds 2 n numbers.
    """
    cdef int info = -1
    cdef double pivot
    if n > 1 and not splits(n, d, e):
        k[0] = count_above(n, d, e, lower, &pivot)
        if k[0] == 0:
            return True
        memcpy(scratch, d, n * sizeof(floating))
        memcpy(scratch + n, e, (n - 1) * sizeof(floating))
        info = stemr_last(n, k[0], scratch, scratch + n, w, Y, ldy, work, iwork)
    if info != 0:
        info = stein_above(n, d, e, <floating> lower, <floating> upper, k, w, Y, ldy, work, iwork)
        sort_pairs(k[0], n, w, Y, ldy)
    return info == 0


# ------------------------------------------------------------------------------------------------ the reduction

cdef void reduce_panel(Py_ssize_t m, floating *K, Py_ssize_t n, floating *d, floating *e, floating *tau,
                       floating *work) noexcept nogil:
    """The last PANEL of A's m columns become rows of T."""
    cdef Py_ssize_t left = m - PANEL, j
    cdef floating one = 1
    latrd_upper(m, PANEL, K, n, e, tau, work, n)
    syr2k_upper(left, PANEL, -one, K + left * n, n, work, n, one, K, n)
    for j in range(left, m):
        d[j] = K[j * n + j]


cdef bint all_found(Py_ssize_t m, Py_ssize_t n, const floating *K, const floating *d, const floating *e, double x,
                    floating *S) noexcept nogil:
    """Has T all of K's eigenvalues above x? By the Cholesky factor of xI - A - (beta^2 / p) e e', in S."""
    cdef Py_ssize_t i, j
    cdef double pivot, beta = e[m - 1]
    count_above(n - m, d + m, e + m, x, &pivot)
    for j in range(m):
        for i in range(j):
            S[j * m + i] = -K[j * n + i]
        S[j * m + j] = <floating> (x - K[j * n + j])
    S[m * m - 1] += <floating> (beta * beta / pivot)
    return potrf_upper(m, S, m) == 0


cdef bint vectors_of(Py_ssize_t m, Py_ssize_t n, const floating *K, double lower, double norm, Py_ssize_t *k,
                     floating *w, floating *Z, floating *work, Py_ssize_t lwork, void *iwork) noexcept nogil:
    """Z = Q [0; Y]; False if it fails or, for m > 0, if the residual is too large."""
    cdef const floating *d = w + n
    cdef const floating *e = d + n
    cdef const floating *tau = e + n
    cdef Py_ssize_t first = max(m, 1), j
    cdef double residual = 0
    if not tridiagonal_above(n - m, d + m, e + m, lower, 2 * norm, k, w, Z + m, n, w + 4 * n, work, iwork):
        return False
    for j in range(k[0]):
        memset(Z + j * n, 0, m * sizeof(floating))
        residual += (<double> Z[j * n + m]) * Z[j * n + m]
    if m > 0 and sqrt(residual) * fabs(e[m - 1]) > epsilon(d) * sqrt(lower * norm):
        return False
    return k[0] == 0 or ormql(n - 1, k[0], n - first, K + first * n, n, tau + first - 1, Z, n, work, lwork) == 0


cdef bint few_vectors(Py_ssize_t n, floating *K, double lower, Py_ssize_t *k, floating *w, floating *Z, floating *work,
                      void *iwork) noexcept nogil:
    """eigenvectors_above for a small matrix"""
    if syevd_upper(True, n, K, n, w, work, iwork) != 0:
        return False
    k[0] = n
    while k[0] > 0 and not w[n - k[0]] > lower:
        k[0] -= 1
    memmove(w, w + n - k[0], k[0] * sizeof(floating))
    memcpy(Z, K + (n - k[0]) * n, k[0] * n * sizeof(floating))
    return True


cdef bint eigenvectors_above(Py_ssize_t n, floating *K, double lower, double norm, Py_ssize_t *k, floating *w,
                             floating *Z, floating *work, Py_ssize_t lwork, void *iwork) noexcept nogil:
    """KZ = Z diag(w) for the eigenvalues above `lower`, ascending, from K's upper triangle, which is lost.

    Norm is |K|_F or more. Z has room for n x n numbers, w for 6 n, iwork for 12 n integers. False if LAPACK fails.
    """
    cdef floating *d = w + n
    cdef floating *e = d + n
    cdef floating *tau = e + n
    cdef Py_ssize_t m = n, wait = 0
    cdef double residual = epsilon(d) * sqrt(lower * norm)
    if n <= FEW:
        return few_vectors(n, K, lower, k, w, Z, work, iwork)
    while m > 2 * PANEL:
        reduce_panel(m, K, n, d, e, tau, work)
        m -= PANEL
        if n - m < wait or not grows(n - m, d + m, e + m, lower, fabs(e[m - 1]) / residual):
            continue
        if (all_found(m, n, K, d, e, lower, Z)
                and vectors_of(m, n, K, lower, norm, k, w, Z, work, lwork, iwork)):
            return True
        wait = 3 * (n - m)     # a bad start, or equal eigenvalues: what was asked in vain must not add up
    return (sytrd_upper(m, K, n, d, e, tau, work, lwork) == 0
            and vectors_of(0, n, K, lower, norm, k, w, Z, work, lwork, iwork))
