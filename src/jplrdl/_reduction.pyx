"""A symmetric matrix to tridiagonal form, A = QTQ', by two threads, with the bits of one.

Householder's reflectors I - tau vv' turn the rows from the last on, a panel of them at a time. With v and w of those
before it in the panel, row i is what A and they make of it,

    x = A_i - sum_k (v_k[i] w_k + w_k[i] v_k),                  v, tau from x, so that x (I - tau vv') has one element,
    w = tau (Av - sum_k (v_k w_k'v + w_k v_k'v)),               w <- w - tau/2 (w'v) v,

and after the panel the rest of A is A - sum_k (v_k w_k' + w_k v_k'). Half of the work is in these last products, half
in Av, which reads all that is left of A for every row: what fits into the second-level caches of two processors, one
half each, does not fit into that of one.

Each step has two parts, made of the same numbers in the same order whoever takes them:

1. x, some of its elements each;
2. v; of Av what the rows above and below a bound have a part in; of w_k'v and v_k'v some of the sums;
3. w, some of its elements each, and with it a part of w'v;

and before the next the two threads meet. One leads, and begins alone. The other joins it at the next row, if it comes
at all: the leader asks whether it is there, and never waits for one that is not. If it has waited for half of the time,
because somebody else has the other's processor, alone it would have come as far: it sends the other away.
"""

from cython cimport floating
from libc.math cimport copysign, sqrt
from libc.string cimport memcpy, memset

from jplrdl._blas cimport NO_TRANS, TRANS, gemm, sytrd_upper

cdef extern from "_turns.h":
    bint told(int *sign, int least) noexcept nogil
    void tell(int *sign, int value) noexcept nogil
    long long moment() noexcept nogil
    long long wait_for(int *sign, int least) noexcept nogil

cdef extern from "_reduction_loops.h":
    void dsymmetric_rows(Py_ssize_t first, Py_ssize_t last, const double *A, Py_ssize_t lda, const double *v,
                         double *y) noexcept nogil
    void ssymmetric_rows(Py_ssize_t first, Py_ssize_t last, const float *A, Py_ssize_t lda, const float *v,
                         float *y) noexcept nogil
    void ddots(Py_ssize_t n, Py_ssize_t count, const double *A, Py_ssize_t lda, const double *x,
               double *out) noexcept nogil
    void sdots(Py_ssize_t n, Py_ssize_t count, const float *A, Py_ssize_t lda, const float *x,
               float *out) noexcept nogil
    void dscaled(Py_ssize_t n, double a, const double *x, double *y) noexcept nogil
    void sscaled(Py_ssize_t n, float a, const float *x, float *y) noexcept nogil
    void dplus(Py_ssize_t n, const double *x, double a, const double *z, double *y) noexcept nogil
    void splus(Py_ssize_t n, const float *x, float a, const float *z, float *y) noexcept nogil
    void dadd_columns(Py_ssize_t n, Py_ssize_t count, const double *x, const double *A, Py_ssize_t lda,
                      const int *which, double *y) noexcept nogil
    void sadd_columns(Py_ssize_t n, Py_ssize_t count, const float *x, const float *A, Py_ssize_t lda, const int *which,
                      float *y) noexcept nogil

cdef enum:
    PANEL = 32      # reflectors between two updates of the rest
    LEAST = 128     # rows that LAPACK reduces sooner than two threads
    STRIP = 24      # rows of the rest that are updated at once

# Rows of the workspace, each as long as the matrix and a cache line apart from the next: v_k, w_k and v_k once more, so
# that both orders of them stand in one piece; x; w before its last correction; and for each part its sum of Av, its v
# and its sums.
cdef enum:
    V = 0
    W = PANEL
    AGAIN = 2 * PANEL
    X = 3 * PANEL
    RAW = X + 1
    AV = X + 2
    OWN = X + 4
    SUMS = X + 6
    ROWS = X + 8

# In a row of sums: v_k'v, w_k'v, |x|^2 and w'v.
cdef enum:
    SQUARE = 2 * PANEL
    DOT = 2 * PANEL + 1

# Signs that the threads give each other, a cache line apart: how often each has come to a meeting, that the second is
# there, and at which row, counted from one, it begins, or that there is none left for it.
cdef enum:
    MET = 0
    THERE = 32
    BEGIN = 48
    SIGNS = 64
    APART = 16
    AWAY = 1 << 24      # more than meetings: with it, the leader sends the other away
    GRACE = 1000000     # nanoseconds that it waits at least before it does


cdef struct Bounds:
    Py_ssize_t i        # the row that is reduced
    Py_ssize_t start    # of the elements that are the part's own
    Py_ssize_t stop
    Py_ssize_t first    # of the rows of A that are
    Py_ssize_t last


cdef inline Bounds bounds_of(int part, Py_ssize_t m, Py_ssize_t i) noexcept nogil:
    """Half of the elements, and half of the triangle; the same for all rows of a panel that ends with m of them."""
    cdef Py_ssize_t half = m // 2 - m // 2 % 8, below = <Py_ssize_t> (0.72 * m)
    cdef Bounds b
    below -= below % 4
    b.i = i
    b.start = 0 if part == 0 else half
    b.stop = half if part == 0 else i
    b.first = 0 if part == 0 else below
    b.last = below if part == 0 else i
    return b


cdef void add_columns(Py_ssize_t n, Py_ssize_t count, const floating *x, const floating *A, Py_ssize_t lda,
                      floating *y) noexcept nogil:
    """y += sum_k x_k A_k"""
    if floating is double:
        dadd_columns(n, count, x, A, lda, NULL, y)
    else:
        sadd_columns(n, count, x, A, lda, NULL, y)


cdef floating dot(Py_ssize_t n, const floating *x, const floating *y) noexcept nogil:
    """x'y"""
    cdef floating found
    if floating is double:
        ddots(n, 1, x, 0, y, &found)
    else:
        sdots(n, 1, x, 0, y, &found)
    return found


cdef void scaled(Py_ssize_t n, floating a, const floating *x, floating *y) noexcept nogil:
    """y = ax"""
    if floating is double:
        dscaled(n, a, x, y)
    else:
        sscaled(n, a, x, y)


cdef void plus(Py_ssize_t n, const floating *x, floating a, const floating *z, floating *y) noexcept nogil:
    """y = x + az"""
    if floating is double:
        dplus(n, x, a, z, y)
    else:
        splus(n, x, a, z, y)


cdef floating half_dot(floating tau, const floating *work, Py_ssize_t ld) noexcept nogil:
    """tau/2 w'v"""
    return tau / 2 * (work[SUMS * ld + DOT] + work[(SUMS + 1) * ld + DOT])


cdef void end_w(Py_ssize_t start, Py_ssize_t stop, Py_ssize_t k, floating tau, floating *work,
                Py_ssize_t ld) noexcept nogil:
    """w_k = w - tau/2 (w'v) v, from start to stop."""
    plus(stop - start, work + RAW * ld + start, -half_dot(tau, work, ld), work + (V + k) * ld + start,
         work + (W + k) * ld + start)


cdef void next_x(Bounds b, Py_ssize_t k, floating last_tau, const floating *row, floating *work, Py_ssize_t ld,
                 floating *sums) noexcept nogil:
    """x, the part's own elements and, with the second part, that on the diagonal; the square of what v is made of.

    The last w is ended first. Of its element on the diagonal, where v is one, both parts make their own copy.
    """
    cdef floating *x = work + X * ld
    cdef Py_ssize_t j, n = b.stop - b.start + (b.stop == b.i)
    cdef floating[2 * PANEL] factors
    for j in range(k):
        factors[PANEL + j] = -work[(V + j) * ld + b.i]
    for j in range(k - 1):
        factors[j] = -work[(W + j) * ld + b.i]
    if k > 0:
        end_w(b.start, b.start + n, k - 1, last_tau, work, ld)
        factors[k - 1] = half_dot(last_tau, work, ld) - work[RAW * ld + b.i]
    memcpy(x + b.start, row + b.start, n * sizeof(floating))
    add_columns(n, k, factors, work + V * ld + b.start, ld, x + b.start)
    add_columns(n, k, factors + PANEL, work + W * ld + b.start, ld, x + b.start)
    n = min(b.stop, b.i - 1) - b.start
    sums[SQUARE] = dot(n, x + b.start, x + b.start)


cdef floating reflect(Bounds b, Py_ssize_t k, const floating *A, floating *row, floating *work, Py_ssize_t ld, int part,
                      floating *d, floating *e, floating *tau) noexcept nogil:
    """v, all of it for this part, and its own share of Av, w_k'v and v_k'v. Returns tau."""
    cdef const floating *x = work + X * ld
    cdef floating *v = work + (OWN + part) * ld
    cdef floating *y = work + (AV + part) * ld
    cdef floating *sums = work + (SUMS + part) * ld
    cdef floating square = work[SUMS * ld + SQUARE] + work[(SUMS + 1) * ld + SQUARE]
    cdef floating alpha = x[b.i - 1], beta = alpha, scale = 0, found = 0
    cdef Py_ssize_t n = b.stop - b.start
    if square > 0:
        beta = <floating> -copysign(sqrt(alpha * alpha + square), alpha)
        found = (beta - alpha) / beta
        scale = 1 / (alpha - beta)
    scaled(b.i - 1, scale, x, v)
    v[b.i - 1] = 1
    memcpy(work + (V + k) * ld + b.start, v + b.start, n * sizeof(floating))
    memcpy(work + (AGAIN + k) * ld + b.start, v + b.start, n * sizeof(floating))
    memcpy(row + b.start, v + b.start, n * sizeof(floating))
    if part == 0:
        d[b.i], e[b.i - 1], tau[b.i - 1] = x[b.i], beta, found
    memset(y, 0, b.last * sizeof(floating))
    if floating is double:
        dsymmetric_rows(b.first, b.last, A, ld, v, y)
        ddots(n, k, work + V * ld + b.start, ld, v + b.start, sums)
        ddots(n, k, work + W * ld + b.start, ld, v + b.start, sums + PANEL)
    else:
        ssymmetric_rows(b.first, b.last, A, ld, v, y)
        sdots(n, k, work + V * ld + b.start, ld, v + b.start, sums)
        sdots(n, k, work + W * ld + b.start, ld, v + b.start, sums + PANEL)
    return found


cdef void next_w(Bounds b, Py_ssize_t below, Py_ssize_t k, floating tau, floating *work, Py_ssize_t ld,
                 floating *sums) noexcept nogil:
    """w but for its last correction, the part's own elements, and their share of w'v. Rows of A end at `below`."""
    cdef const floating *one = work + AV * ld
    cdef const floating *two = work + (AV + 1) * ld
    cdef const floating *sums_one = work + SUMS * ld
    cdef const floating *sums_two = work + (SUMS + 1) * ld
    cdef floating *w = work + RAW * ld
    cdef floating[2 * PANEL] factors
    cdef Py_ssize_t j
    memcpy(w + b.start, two + b.start, (b.stop - b.start) * sizeof(floating))
    plus(min(b.stop, below) - b.start, w + b.start, 1, one + b.start, w + b.start)
    for j in range(k):
        factors[j] = -(sums_one[PANEL + j] + sums_two[PANEL + j])
        factors[PANEL + j] = -(sums_one[j] + sums_two[j])
    add_columns(b.stop - b.start, k, factors, work + V * ld + b.start, ld, w + b.start)
    add_columns(b.stop - b.start, k, factors + PANEL, work + W * ld + b.start, ld, w + b.start)
    scaled(b.stop - b.start, tau, w + b.start, w + b.start)
    sums[DOT] = dot(b.stop - b.start, w + b.start, work + (V + k) * ld + b.start)


cdef void update_rows(Py_ssize_t first, Py_ssize_t last, floating *A, floating *work, Py_ssize_t ld) noexcept nogil:
    """A - sum_k (v_k w_k' + w_k v_k'), rows of its lower triangle."""
    cdef Py_ssize_t i = first, n
    cdef floating one = 1
    while i < last:
        n = min(STRIP, last - i)
        gemm(NO_TRANS, TRANS, i + n, n, 2 * PANEL, -one, work + W * ld, ld, work + V * ld + i, ld, one, A + i * ld, ld)
        i += n


cdef long long meet(int role, bint alone, int *signs, int *meetings) noexcept nogil:
    """Until the other thread has come as far as this one. Returns how long it was, or 0 for a short while."""
    if alone:
        return 0
    meetings[0] += 1
    tell(signs + MET + role * APART, meetings[0])
    return wait_for(signs + MET + (1 - role) * APART, meetings[0] % AWAY)


cdef void reduce_rows(int role, Py_ssize_t begun, Py_ssize_t n, floating *A, floating *d, floating *e, floating *tau,
                      floating *work, int *signs) noexcept nogil:
    """Rows from the last but `begun` on, until LEAST or less are left: the role's part, or both if alone."""
    cdef bint alone = role == 0
    cdef int first = role, last = 2 if alone else role + 1, part, meetings = 0
    cdef long long joined = 0, waited = 0
    cdef Py_ssize_t k = begun % PANEL, left = n - begun + k - PANEL, i
    cdef floating last_tau = tau[left + PANEL - k - 1]
    cdef Bounds b
    while left + PANEL > LEAST:
        while k < PANEL:
            i = left + PANEL - 1 - k
            if alone and meetings == 0 and told(signs + THERE, 1):
                alone, last, joined = False, 1, moment()
                tell(signs + BEGIN, <int> (n - i))
            for part in range(first, last):
                b = bounds_of(part, left, i)
                next_x(b, k, last_tau, A + i * n, work, n, work + (SUMS + part) * n)
            waited += meet(role, alone, signs, &meetings)
            for part in range(first, last):
                b = bounds_of(part, left, i)
                last_tau = reflect(b, k, A, A + i * n, work, n, part, d, e, tau)
            waited += meet(role, alone, signs, &meetings)
            for part in range(first, last):
                b = bounds_of(part, left, i)
                next_w(b, bounds_of(0, left, i).last, k, last_tau, work, n, work + (SUMS + part) * n)
            if role == 0 and not alone and waited > GRACE and waited > (moment() - joined) // 2:
                meetings += AWAY
            waited += meet(role, alone, signs, &meetings)
            if told(signs + MET, AWAY):
                if role == 1:
                    return
                alone, last = True, 2
            k += 1
        for part in range(first, last):
            b = bounds_of(part, left, left)
            end_w(b.start, b.stop, PANEL - 1, last_tau, work, n)
        meet(role, alone, signs, &meetings)
        for part in range(first, last):
            b = bounds_of(part, left, left)
            update_rows(b.first, b.last, A, work, n)
        meet(role, alone, signs, &meetings)
        k = 0
        left -= PANEL


# ---------------------------------------------------------------------------------------------- called from Python

n_signs = SIGNS


def worksize(Py_ssize_t n):
    """Numbers of workspace for n rows."""
    return ROWS * n


def lead(floating[:, ::1] K, floating[::1] d, floating[::1] e, floating[::1] tau, floating[::1] work, int[::1] signs):
    """T's diagonal and off-diagonal, all of n numbers; Q's reflectors replace K. Returns LAPACK's info.

    As sytrd does with an upper triangle that begins with K's first element, read by columns. `signs` are zero before.
    """
    cdef Py_ssize_t n = K.shape[0], left = min(n, n - (n - LEAST + PANEL - 1) // PANEL * PANEL)
    cdef int info
    with nogil:
        reduce_rows(0, 0, n, &K[0, 0], &d[0], &e[0], &tau[0], &work[0], &signs[0])
        tell(&signs[BEGIN], max(signs[BEGIN], <int> (n - left + 1)))
        info = sytrd_upper(left, &K[0, 0], n, &d[0], &e[0], &tau[0], &work[0], work.shape[0])
    return info


def follow(floating[:, ::1] K, floating[::1] d, floating[::1] e, floating[::1] tau, floating[::1] work, int[::1] signs):
    """The second thread, for the arrays of the first: one part of each step of `lead`, if there are any left."""
    with nogil:
        tell(&signs[THERE], 1)
        wait_for(&signs[BEGIN], 1)
        reduce_rows(1, signs[BEGIN] - 1, K.shape[0], &K[0, 0], &d[0], &e[0], &tau[0], &work[0], &signs[0])
