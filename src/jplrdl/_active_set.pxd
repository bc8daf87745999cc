# The active set of a search: the working set with its panel of G, and the support with its Cholesky factor.
#
# cython_feature_sign.pyx has the algorithm and its symbols. Everything here is inline, for both precisions.

from cython cimport floating
from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memmove, memset

from jplrdl._blas cimport dot

cdef extern from "_columns.h":
    void dadd_columns(Py_ssize_t n, Py_ssize_t count, const double *x, const double *A, Py_ssize_t lda,
                      const int *which, double *y) noexcept nogil
    void sadd_columns(Py_ssize_t n, Py_ssize_t count, const float *x, const float *A, Py_ssize_t lda,
                      const int *which, float *y) noexcept nogil
    void dforward(Py_ssize_t first, Py_ssize_t n, const double *R, Py_ssize_t ldr, const double *inverse,
                  Py_ssize_t count, double *X, Py_ssize_t ldx) noexcept nogil
    void sforward(Py_ssize_t first, Py_ssize_t n, const float *R, Py_ssize_t ldr, const float *inverse,
                  Py_ssize_t count, float *X, Py_ssize_t ldx) noexcept nogil
    void dbackward(Py_ssize_t n, const double *R, Py_ssize_t ldr, const double *inverse, double *x) noexcept nogil
    void sbackward(Py_ssize_t n, const float *R, Py_ssize_t ldr, const float *inverse, float *x) noexcept nogil
    void drotate(Py_ssize_t n, const double *cosine, const double *sine, double *x) noexcept nogil
    void srotate(Py_ssize_t n, const float *cosine, const float *sine, float *x) noexcept nogil
    double dlargest(Py_ssize_t n, const double *v) noexcept nogil
    float slargest(Py_ssize_t n, const float *v) noexcept nogil
    Py_ssize_t dcount_above(Py_ssize_t n, const double *v, double cut) noexcept nogil
    Py_ssize_t scount_above(Py_ssize_t n, const float *v, float cut) noexcept nogil
    Py_ssize_t dfind_above(Py_ssize_t n, const double *v, double cut, int *found) noexcept nogil
    Py_ssize_t sfind_above(Py_ssize_t n, const float *v, float cut, int *found) noexcept nogil

cdef enum:
    FIRST_LEADING_DIMENSION = 64    # room of the compact arrays at first; doubled when the working set outgrows it

cdef enum Place:                    # of an atom
    OUTSIDE = 0                     # the working set
    INACTIVE                        # in the working set, off the support
    ACTIVE                          # on the support
    GIVEN_UP                        # in the working set, but the objective has no minimum along it

# One search. Arrays of length `size` follow the working set, those of length `active` the support, in R's order.
cdef struct dSearch:
    Py_ssize_t n_atoms, gram_stride
    const double *gram
    const double *cov
    double *result
    double target, kappa, shift, tol, pivot_tol     # kappa falls to target
    Py_ssize_t size, active, ld
    int *place                      # of every atom
    int *members                    # atoms of the working set
    int *support                    # positions in the working set
    int *slot                       # columns of the panel; those behind the support are free
    int *found                      # scratch
    double *code                    # a_S
    double *sign                    # theta_S
    double *step
    double *grad                    # g over the working set
    double *full_grad               # g over all atoms
    double *panel                   # G, rows of the working set, columns of the support in slots; leading dimension ld
    double *factor                  # R, upper triangular, leading dimension ld
    double *inverse                 # 1 / R_ii

cdef struct sSearch:
    Py_ssize_t n_atoms, gram_stride
    const float *gram
    const float *cov
    float *result
    float target, kappa, shift, tol, pivot_tol
    Py_ssize_t size, active, ld
    int *place
    int *members
    int *support
    int *slot
    int *found
    float *code
    float *sign
    float *step
    float *grad
    float *full_grad
    float *panel
    float *factor
    float *inverse

ctypedef fused Search:
    dSearch
    sSearch


cdef inline void lay_out(Search *q) noexcept nogil:
    """Divide the workspace, which begins with the codes, and empty the working set."""
    cdef Py_ssize_t i, n = q.n_atoms
    q.sign = q.code + n
    q.step = q.sign + n
    q.grad = q.step + n
    q.full_grad = q.grad + n
    q.inverse = q.full_grad + n
    q.panel = q.inverse + n
    q.factor = q.panel + n * n
    q.place = <int *> (q.factor + n * n)
    q.members = q.place + n
    q.support = q.members + n
    q.slot = q.support + n
    q.found = q.slot + n
    q.size = q.active = 0
    q.ld = min(FIRST_LEADING_DIMENSION, n)
    memset(q.place, OUTSIDE, n * sizeof(int))
    for i in range(n):
        q.slot[i] = <int> i


# ---------------------------------------------------------------------------------------------- the working set

cdef inline void widen(Search *q) noexcept nogil:
    """Double the leading dimension of the compact arrays, moving columns from the last to the first."""
    cdef Py_ssize_t j, last = 0, wider = min(2 * q.ld, q.n_atoms)
    for j in range(q.active):
        last = max(last, <Py_ssize_t> q.slot[j])
    for j in range(last, 0, -1):
        memmove(q.panel + j * wider, q.panel + j * q.ld, q.size * sizeof(q.panel[0]))
    for j in range(q.active - 1, 0, -1):
        memmove(q.factor + j * wider, q.factor + j * q.ld, (j + 1) * sizeof(q.factor[0]))
    q.ld = wider


cdef inline void join(Search *q, Py_ssize_t count, const int *atoms) noexcept nogil:
    """Take atoms into the working set: their rows of G, restricted to the support, become rows of the panel.

    They are read from the columns of the support, which are the same by symmetry and still in cache.
    """
    cdef Py_ssize_t i, k
    while q.size + count > q.ld:
        widen(q)
    for i in range(q.active):
        row = q.gram + q.members[q.support[i]] * q.gram_stride
        column = q.panel + q.slot[i] * q.ld + q.size
        for k in range(count):
            column[k] = row[atoms[k]]
    for k in range(count):
        q.grad[q.size + k] = q.full_grad[atoms[k]]
        q.members[q.size + k] = atoms[k]
        q.place[atoms[k]] = INACTIVE
    q.size += count


cdef inline Py_ssize_t keep_largest(Py_ssize_t most, Py_ssize_t count, int *found, const floating *g, floating low,
                                    floating *sizes) noexcept nogil:
    """Reduce found[:count], all with |g| > low, to the largest, at most `most` and at least half as many, unless too
    many are equal.

    The cut is found by halving: counting is so much faster than ordering that nine passes pay. Returns the new count.
    """
    cdef Py_ssize_t i, _pass, kept = 0, above
    cdef floating high, cut
    for i in range(count):
        sizes[i] = abs(g[found[i]])
    if floating is double:
        high = dlargest(count, sizes)
    else:
        high = slargest(count, sizes)
    for _pass in range(9):
        cut = (low + high) / 2
        if floating is double:
            above = dcount_above(count, sizes, cut)
        else:
            above = scount_above(count, sizes, cut)
        if above > most:
            low = cut
        else:
            high = cut
            if above >= most // 2:
                break
    for i in range(count):
        if sizes[i] >= high and kept < most:
            found[kept] = found[i]
            kept += 1
    return kept


cdef inline Py_ssize_t find_above(Py_ssize_t n, const floating *g, floating cut, int *found) noexcept nogil:
    """Where |g| > cut; returns in how many places."""
    if floating is double:
        return dfind_above(n, g, cut, found)
    else:
        return sfind_above(n, g, cut, found)


cdef inline Py_ssize_t join_violators(Search *q) noexcept nogil:
    """Take the worst violators outside the working set into it; returns how many."""
    cdef Py_ssize_t i, j, above, count = 0, most = 8 + q.active // 2
    cdef double limit = q.kappa + q.tol
    above = find_above(q.n_atoms, q.full_grad, q.kappa + q.tol / 2, q.found)
    for i in range(above):
        j = q.found[i]
        q.found[count] = <int> j
        count += (fabs(q.full_grad[j]) > limit) & (q.place[j] == OUTSIDE)
    if count > most:
        count = keep_largest(most, count, q.found, q.full_grad, q.kappa, q.step)
    join(q, count, q.found)
    return count


cdef inline void full_gradient(Search *q) noexcept nogil:
    """g = Ga - b over all atoms, from scratch, and its part on the working set."""
    cdef Py_ssize_t i
    for i in range(q.n_atoms):
        q.full_grad[i] = -q.cov[i]
    for i in range(q.active):
        q.found[i] = q.members[q.support[i]]
    if Search is dSearch:
        dadd_columns(q.n_atoms, q.active, q.code, q.gram, q.gram_stride, q.found, q.full_grad)
    else:
        sadd_columns(q.n_atoms, q.active, q.code, q.gram, q.gram_stride, q.found, q.full_grad)
    for i in range(q.active):
        q.full_grad[q.found[i]] += q.shift * q.code[i]
    for i in range(q.size):
        q.grad[i] = q.full_grad[q.members[i]]


cdef inline double violation(Search *q) noexcept nogil:
    """How far the optimality conditions are from holding: max |g_j + kappa theta_j| on S, max(|g_j| - kappa) off it."""
    cdef Py_ssize_t i
    cdef double worst = 0, on_support = 0
    if Search is dSearch:
        worst = dlargest(q.n_atoms, q.full_grad)
    else:
        worst = slargest(q.n_atoms, q.full_grad)
    worst -= q.kappa
    for i in range(q.active):
        on_support = max(on_support, fabs(q.grad[q.support[i]] + q.kappa * q.sign[i]))
    return max(worst, on_support, 0.)


# -------------------------------------------------------------------------------------------------- the support

cdef inline void write_columns(Search *q, Py_ssize_t count, const int *positions) noexcept nogil:
    """Write the columns of members behind those of the support: of G, and of R as far as the support goes, R^-T G_Sj.

    Many at a time, because the factor of a large support is far away in memory. The last rows of R, if they are not
    four, are left to complete_column.
    """
    cdef Py_ssize_t i, k, s = q.active
    for k in range(count):
        row = q.gram + q.members[positions[k]] * q.gram_stride
        entries = q.panel + q.slot[s + k] * q.ld
        for i in range(q.size):
            entries[i] = row[q.members[i]]
        column = q.factor + (s + k) * q.ld
        for i in range(s):
            column[i] = entries[q.support[i]]
        entries[positions[k]] += q.shift
    if Search is dSearch:
        dforward(0, s - s % 4, q.factor, q.ld, q.inverse, count, q.factor + s * q.ld, q.ld)
    else:
        sforward(0, s - s % 4, q.factor, q.ld, q.inverse, count, q.factor + s * q.ld, q.ld)


cdef inline double complete_column(Search *q, Py_ssize_t position, Py_ssize_t known, Py_ssize_t k) noexcept nogil:
    """Complete the column of R of member k of those written when the support had `known` members; returns its pivot.

    Those of them that have been taken in are still missing in it. The pivot, the squared diagonal of R, is
    G_jj - |R^-T G_Sj|^2. The caller takes the member in by q.active += 1.
    """
    cdef Py_ssize_t i, s = q.active
    cdef double pivot
    column = q.factor + s * q.ld
    if known + k > s:
        memcpy(column, q.factor + (known + k) * q.ld, known * sizeof(column[0]))
        q.slot[s], q.slot[known + k] = q.slot[known + k], q.slot[s]
    entries = q.panel + q.slot[s] * q.ld
    for i in range(known, s):
        column[i] = entries[q.support[i]]
    if Search is dSearch:
        dforward(known - known % 4, s, q.factor, q.ld, q.inverse, 1, column, q.ld)
    else:
        sforward(known - known % 4, s, q.factor, q.ld, q.inverse, 1, column, q.ld)
    pivot = entries[position] - dot(s, column, column)
    column[s] = sqrt(max(pivot, 0.))
    q.inverse[s] = 1 / column[s]
    q.support[s] = <int> position
    return pivot


cdef inline double append(Search *q, Py_ssize_t position) noexcept nogil:
    """Write the columns of one member behind those of the support; returns its pivot."""
    cdef int member = <int> position
    write_columns(q, 1, &member)
    return complete_column(q, position, q.active, 0)


cdef inline bint is_dependent(Search *q, double pivot) noexcept nogil:
    """Is the pivot of the member behind the support no more than what rounding leaves of its diagonal?"""
    return not pivot > q.pivot_tol * q.panel[q.slot[q.active] * q.ld + q.support[q.active]]


cdef inline void take_in(Search *q, double code, double sign) noexcept nogil:
    """The member behind the support becomes the last one of it."""
    q.code[q.active] = code
    q.sign[q.active] = sign
    q.place[q.members[q.support[q.active]]] = ACTIVE
    q.active += 1


cdef inline void drop(Search *q, Py_ssize_t k) noexcept nogil:
    """Remove member k from the support.

    Without column k, R is upper Hessenberg from there on; a Givens rotation of rows i, i+1 removes each sub-diagonal
    element. Column after column, so that memory is read in order. The panel stays as it is: a slot of it becomes free.
    """
    cdef Py_ssize_t j, s = q.active
    cdef int free = q.slot[k]
    cdef double length, inverse
    cosine = q.step                         # free between two solves
    sine = q.full_grad                      # free while the working set is searched
    q.place[q.members[q.support[k]]] = INACTIVE
    for j in range(k + 1, s):
        column = q.factor + (j - 1) * q.ld
        memcpy(column, q.factor + j * q.ld, (j + 1) * sizeof(column[0]))
        if Search is dSearch:
            drotate(j - 1 - k, cosine + k, sine + k, column + k)
        else:
            srotate(j - 1 - k, cosine + k, sine + k, column + k)
        length = sqrt(column[j - 1] * column[j - 1] + column[j] * column[j])
        inverse = 1 / length
        cosine[j - 1] = column[j - 1] * inverse
        sine[j - 1] = column[j] * inverse
        column[j - 1] = length
        q.inverse[j - 1] = inverse
        q.code[j - 1], q.sign[j - 1] = q.code[j], q.sign[j]
        q.support[j - 1], q.slot[j - 1] = q.support[j], q.slot[j]
    q.slot[s - 1] = free
    q.active = s - 1


cdef inline double solve_step(Search *q, Py_ssize_t first) noexcept nogil:
    """step = -G_SS^-1 (g_S + kappa theta_S), given that the bracket vanishes before `first`; returns step'G_SS step."""
    cdef Py_ssize_t i
    cdef double curvature
    for i in range(first):
        q.step[i] = 0
    for i in range(first, q.active):
        q.step[i] = -(q.grad[q.support[i]] + q.kappa * q.sign[i])
    block = q.factor + first * q.ld + first
    if Search is dSearch:
        dforward(0, q.active - first, block, q.ld, q.inverse + first, 1, q.step + first, q.ld)
    else:
        sforward(0, q.active - first, block, q.ld, q.inverse + first, 1, q.step + first, q.ld)
    curvature = dot(q.active - first, q.step + first, q.step + first)
    solve_factor(q, q.active)
    return curvature


cdef inline void solve_factor(Search *q, Py_ssize_t n) noexcept nogil:
    """step = R^-1 step"""
    if Search is dSearch:
        dbackward(n, q.factor, q.ld, q.inverse, q.step)
    else:
        sbackward(n, q.factor, q.ld, q.inverse, q.step)
