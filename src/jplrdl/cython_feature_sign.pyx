"""Feature-sign search: the exact minimum of a lasso in Gram form, by an active set.

    f(a) = a'Ha - 2 b'a + shift a'a + penalty |a|_1                  H symmetric, positive semi-definite

Halve it and write G = H + shift I, kappa = penalty / 2 and g = Ga - b, the gradient of the smooth half. Then a is
optimal if and only if

    g_j = -kappa sign(a_j)   where a_j != 0,         |g_j| <= kappa   where a_j = 0.

The idea (Lee, Battle, Raina, Ng, 2006): if the support S and the signs theta of the optimum were known, the optimum
would solve the linear system G_SS a_S = b_S - kappa theta_S. So guess them, solve, and correct the guess:

  activate   atoms off the support with |g_j| > kappa join S with the sign -sign(g_j) that lets them descend;
  solve      the system gives a step from a to the minimum for these signs;
  walk       along the step the objective is a convex piecewise quadratic: go to its exact minimum; a coefficient
             that stops at zero leaves S, one that crosses zero flips its sign.

Every step descends, there are finitely many sign patterns, so it ends. What makes it fast here:

  * The Cholesky factor R'R = G_SS is never computed afresh: a column is appended when an atom joins, Givens
    rotations close the gap when one leaves. Both cost O(s^2).
  * Many atoms join at once. Those whose step contradicts their sign leave again before the step is taken: at least
    one always stays, because v'M^-1 v > 0 for the positive definite Schur complement M and the vector v > 0 of
    violations.
  * Continuation. From a cold start kappa falls in a few stages from max |b_j|, where a = 0 is optimal, to its final
    value. The atoms that join a stage are then nearly those that it needs, and few ever leave.
  * Two levels. The search runs on a working set of atoms, and keeps their part of the columns of G that are on the
    support in a compact panel that stays in cache. The gradient over all atoms is computed only when that inner
    problem is solved: it opens the next stage, or shows the violators that must join the working set, or that there
    is none and a is optimal.
  * An atom that depends linearly on the support (a low-rank dictionary is full of them) has no Schur complement to
    divide by. Along the null direction the quadratic is flat and the l1 norm falls: walk until a coefficient of the
    support reaches zero, and exchange the two.
"""

from cython cimport floating
from libc.float cimport DBL_EPSILON, FLT_EPSILON
from libc.math cimport INFINITY, fabs, isfinite, sqrt
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
    LOADED_AT_ONCE = 32             # atoms of a warm start
    FIRST_LEADING_DIMENSION = 64    # room of the compact arrays at first; doubled when the working set outgrows it

# Found by timing on faces, objects and synthetic data; only speed depends on them.
cdef double STAGE_RATIO = 0.25      # by which kappa falls from stage to stage
cdef double ACTIVATION_SHARE = 0.3  # violators with at least this share of the worst violation are activated with it

cdef enum Place:                    # of an atom
    OUTSIDE = 0                     # the working set
    INACTIVE                        # in the working set, off the support
    ACTIVE                          # on the support
    GIVEN_UP                        # in the working set, but the objective has no minimum along it

cdef enum Walk:
    WALK_WHOLE                      # to the minimum for the signs it began with
    WALK_CROSSED                    # to a lower point with other signs or a smaller support
    WALK_UNBOUNDED                  # nowhere: the objective falls for ever


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


# ---------------------------------------------------------------------------------------------- the working set

cdef void widen(Search *q) noexcept nogil:
    """Double the leading dimension of the compact arrays, moving columns from the last to the first."""
    cdef Py_ssize_t j, last = 0, wider = min(2 * q.ld, q.n_atoms)
    for j in range(q.active):
        last = max(last, <Py_ssize_t> q.slot[j])
    for j in range(last, 0, -1):
        memmove(q.panel + j * wider, q.panel + j * q.ld, q.size * sizeof(q.panel[0]))
    for j in range(q.active - 1, 0, -1):
        memmove(q.factor + j * wider, q.factor + j * q.ld, (j + 1) * sizeof(q.factor[0]))
    q.ld = wider


cdef void join(Search *q, Py_ssize_t count, const int *atoms) noexcept nogil:
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


cdef Py_ssize_t keep_largest(Py_ssize_t most, Py_ssize_t count, int *found, const floating *g, floating low,
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


cdef Py_ssize_t find_above(Py_ssize_t n, const floating *g, floating cut, int *found) noexcept nogil:
    """Where |g| > cut; returns in how many places."""
    if floating is double:
        return dfind_above(n, g, cut, found)
    else:
        return sfind_above(n, g, cut, found)


cdef Py_ssize_t join_violators(Search *q) noexcept nogil:
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


cdef void full_gradient(Search *q) noexcept nogil:
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


cdef double violation(Search *q) noexcept nogil:
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

cdef void write_columns(Search *q, Py_ssize_t count, const int *positions) noexcept nogil:
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


cdef double complete_column(Search *q, Py_ssize_t position, Py_ssize_t known, Py_ssize_t k) noexcept nogil:
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


cdef double append(Search *q, Py_ssize_t position) noexcept nogil:
    """Write the columns of one member behind those of the support; returns its pivot."""
    cdef int member = <int> position
    write_columns(q, 1, &member)
    return complete_column(q, position, q.active, 0)


cdef bint is_dependent(Search *q, double pivot) noexcept nogil:
    """Is the pivot of the member behind the support no more than what rounding leaves of its diagonal?"""
    return not pivot > q.pivot_tol * q.panel[q.slot[q.active] * q.ld + q.support[q.active]]


cdef void take_in(Search *q, double code, double sign) noexcept nogil:
    """The member behind the support becomes the last one of it."""
    q.code[q.active] = code
    q.sign[q.active] = sign
    q.place[q.members[q.support[q.active]]] = ACTIVE
    q.active += 1


cdef void drop(Search *q, Py_ssize_t k) noexcept nogil:
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


cdef double solve_step(Search *q, Py_ssize_t first) noexcept nogil:
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


cdef void solve_factor(Search *q, Py_ssize_t n) noexcept nogil:
    """step = R^-1 step"""
    if Search is dSearch:
        dbackward(n, q.factor, q.ld, q.inverse, q.step)
    else:
        sbackward(n, q.factor, q.ld, q.inverse, q.step)


cdef Walk walk(Search *q, Py_ssize_t moving, double slope, double curvature) noexcept nogil:
    """a += t step for the first `moving` members, with the t > 0 that minimises f, and g with it.

    Along the step the derivative of f / 2 is -slope + t curvature, plus 2 kappa |step_i| for each coefficient i that
    has crossed zero. The walk ends between two crossings or at one, where that coefficient leaves the support.
    """
    cdef Py_ssize_t i, nearest, stop = -1
    cdef double t, when
    cdef Walk how = WALK_WHOLE
    while True:
        t = slope / curvature if curvature > 0 else INFINITY
        nearest = -1
        for i in range(q.active):
            if q.step[i] * q.sign[i] < 0:
                when = -q.code[i] / q.step[i]
                if when < t:
                    nearest, t = i, when
        if nearest < 0:
            break
        how = WALK_CROSSED
        slope -= 2 * q.kappa * fabs(q.step[nearest])
        if slope <= curvature * t:
            stop = nearest
            break
        q.sign[nearest] = -q.sign[nearest]
    if t == INFINITY:
        for i in range(q.active):
            q.sign[i] = 1 if q.code[i] > 0 else -1
        return WALK_UNBOUNDED
    for i in range(moving):
        q.step[i] = t * q.step[i]
        q.code[i] += q.step[i]
    if Search is dSearch:
        dadd_columns(q.size, moving, q.step, q.panel, q.ld, q.slot, q.grad)
    else:
        sadd_columns(q.size, moving, q.step, q.panel, q.ld, q.slot, q.grad)
    if stop >= 0:
        q.code[stop] = 0
    for i in range(q.active - 1, -1, -1):
        if not q.code[i] * q.sign[i] > 0:
            drop(q, i)
            how = WALK_CROSSED
    return how


cdef bint exchange(Search *q, double theta) noexcept nogil:
    """Let the member behind the support, which depends on it, into it in the place of another; False if none yields.

    The direction (-G_SS^-1 G_Sj, 1) theta_j leaves Da as it is and the l1 norm falls, so that some coefficient i must
    reach zero: unless G is not positive semi-definite, or b not in its range, and f has no minimum. Without i, which
    has a part in atom j, the rest of the support and j are independent.
    """
    cdef Py_ssize_t i, s = q.active, position = q.support[q.active]
    cdef double code = 0
    memcpy(q.step, q.factor + s * q.ld, s * sizeof(q.step[0]))
    solve_factor(q, s)
    for i in range(s):
        q.step[i] = -theta * q.step[i]
    q.step[s] = theta
    q.code[s] = 0
    if walk(q, s + 1, fabs(q.grad[position]) - q.kappa, 0) == WALK_CROSSED:
        code = q.code[s]
        if not is_dependent(q, append(q, position)):
            take_in(q, code, theta)
            return True
    for i in range(q.size):
        q.grad[i] -= code * q.panel[q.slot[q.active] * q.ld + i]
    q.place[q.members[position]] = GIVEN_UP
    return False


cdef Py_ssize_t find_violators(Search *q, Py_ssize_t *worst) noexcept nogil:
    """Write to `found` where |g| > kappa + tol in the working set, off the support, and which is worst.

    Returns in how many places.
    """
    cdef Py_ssize_t i, j, above, count = 0
    cdef double limit = q.kappa + q.tol, largest = 0
    above = find_above(q.size, q.grad, q.kappa + q.tol / 2, q.found)
    for i in range(above):
        j = q.found[i]
        if fabs(q.grad[j]) > limit and q.place[q.members[j]] == INACTIVE:
            q.found[count] = <int> j
            count += 1
            if fabs(q.grad[j]) > largest:
                worst[0], largest = j, fabs(q.grad[j])
    return count


cdef void activate_more(Search *q, Py_ssize_t violators, double cut) noexcept nogil:
    """Let the violators with the largest |g| > cut into the support, a few at a time, unless they depend on it."""
    cdef Py_ssize_t i, j, count = 0, known = q.active, most = 2 + q.active // 4
    for i in range(violators):
        j = q.found[i]
        q.found[count] = <int> j
        count += (fabs(q.grad[j]) > cut) & (q.place[q.members[j]] == INACTIVE)
    if count > most:
        count = keep_largest(most, count, q.found, q.grad, cut, q.step)
    write_columns(q, count, q.found)
    for i in range(count):
        if not is_dependent(q, complete_column(q, q.found[i], known, i)):
            take_in(q, 0, -1 if q.grad[q.found[i]] > 0 else 1)


cdef bint activate(Search *q, Py_ssize_t *first, Py_ssize_t *newcomers) noexcept nogil:
    """Let the worst violator of the working set into the support, and those nearly as bad; False if nothing changed.

    Afterwards members before `first` are stationary; those from `newcomers` on are still zero and may be rejected.
    """
    cdef Py_ssize_t worst = -1, violators
    cdef double theta, excess
    cdef bint exchanged
    first[0] = newcomers[0] = q.active
    while True:
        violators = find_violators(q, &worst)
        if violators == 0:
            return first[0] < q.active
        theta = -1 if q.grad[worst] > 0 else 1
        if not is_dependent(q, append(q, worst)):
            take_in(q, 0, theta)
            excess = fabs(q.grad[worst]) - q.kappa - q.tol
            activate_more(q, violators, q.kappa + q.tol + ACTIVATION_SHARE * excess)
            return True
        exchanged = exchange(q, theta)
        first[0], newcomers[0] = 0, q.active
        if exchanged:
            return True


cdef bint reject_contradicting(Search *q, Py_ssize_t newcomers) noexcept nogil:
    """Drop the members from position `newcomers` on whose step contradicts their sign; True if there were any."""
    cdef Py_ssize_t i, before = q.active
    for i in range(newcomers, q.active):
        if not q.step[i] * q.sign[i] > 0:
            q.sign[i] = 0
    for i in range(q.active - 1, newcomers - 1, -1):
        if q.sign[i] == 0:
            drop(q, i)
    return q.active < before


# --------------------------------------------------------------------------------------------------- the search

cdef bint minimise(Search *q, Py_ssize_t max_iter, Py_ssize_t *n_iter) noexcept nogil:
    """Make the codes optimal for kappa on the working set; False if the iteration limit came first."""
    cdef Py_ssize_t first = 0, newcomers = q.active
    cdef double curvature
    while True:
        while first < q.active:
            if n_iter[0] >= max_iter:
                return False
            n_iter[0] += 1
            curvature = solve_step(q, first)
            if reject_contradicting(q, newcomers):
                continue
            if curvature == 0 or walk(q, q.active, curvature, curvature) == WALK_WHOLE:
                break
            first, newcomers = 0, q.active
        if not activate(q, &first, &newcomers):
            return True


cdef int search(Search *q, Py_ssize_t max_iter, Py_ssize_t *n_iter, double *residual) noexcept nogil:
    """Stage after stage, alternate between the working set and all atoms until the conditions hold everywhere."""
    cdef Py_ssize_t joined
    cdef double before = INFINITY
    cdef bint within_limit = True
    full_gradient(q)
    while True:
        if q.kappa > q.target:
            q.kappa = STAGE_RATIO * q.kappa
            if q.kappa <= max(q.target, q.tol):
                q.kappa = q.target
            before = INFINITY
        residual[0] = violation(q)
        if q.kappa == q.target and residual[0] <= q.tol:
            return FEATURE_SIGN_CONVERGED
        if not within_limit:
            q.kappa = q.target
            residual[0] = violation(q)
            return FEATURE_SIGN_ITERATION_LIMIT
        joined = join_violators(q)
        if joined == 0 and not residual[0] < before / 2:
            return FEATURE_SIGN_NOT_POSITIVE_DEFINITE
        before = residual[0]
        within_limit = minimise(q, max_iter, n_iter)
        full_gradient(q)


cdef void load(Search *q) noexcept nogil:
    """Take the non-zeros of the warm start as the support; those that depend on the others start from zero."""
    cdef Py_ssize_t j, start = 0, stop, known, count = 0
    for j in range(q.n_atoms):
        q.found[count] = <int> j
        count += q.result[j] != 0
    join(q, count, q.found)
    for j in range(count):
        q.found[j] = <int> j
    while start < count:
        known, stop = q.active, min(start + LOADED_AT_ONCE, count)
        write_columns(q, stop - start, q.found + start)
        for j in range(start, stop):
            if not is_dependent(q, complete_column(q, j, known, j - start)):
                take_in(q, q.result[q.members[j]], 1 if q.result[q.members[j]] > 0 else -1)
        start = stop


cdef bint store(Search *q) noexcept nogil:
    """Write the codes back in the order of the atoms; False, and all zero, if one of them overflowed."""
    cdef Py_ssize_t i
    memset(q.result, 0, q.n_atoms * sizeof(q.result[0]))
    for i in range(q.active):
        if not isfinite(q.code[i]):
            memset(q.result, 0, q.n_atoms * sizeof(q.result[0]))
            return False
        q.result[q.members[q.support[i]]] = q.code[i]
    return True


cdef void lay_out(Search *q) noexcept nogil:
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


cdef int run(Search *q, double tol, Py_ssize_t max_iter, Py_ssize_t *n_iter, double *residual) noexcept nogil:
    """The whole search for one sample; the residual is that of the conditions for f, twice that of g."""
    cdef double largest
    cdef int status
    n_iter[0] = 0
    residual[0] = 0
    if Search is dSearch:
        largest = dlargest(q.n_atoms, q.cov)
    else:
        largest = slargest(q.n_atoms, q.cov)
    if largest <= q.target:
        memset(q.result, 0, q.n_atoms * sizeof(q.result[0]))
        return FEATURE_SIGN_CONVERGED
    q.tol = tol * largest
    load(q)
    q.kappa = q.target if q.active > 0 else largest
    status = search(q, max_iter, n_iter, residual)
    if not store(q):
        residual[0] = largest - q.target
        status = FEATURE_SIGN_NOT_POSITIVE_DEFINITE
    residual[0] *= 2
    return status


# ----------------------------------------------------------------------------------------------- the public C API

cdef size_t dfeature_sign_worksize(Py_ssize_t n_atoms) noexcept nogil:
    return (2 * <size_t> n_atoms + 6) * n_atoms * sizeof(double) + 5 * n_atoms * sizeof(int)


cdef size_t sfeature_sign_worksize(Py_ssize_t n_atoms) noexcept nogil:
    return (2 * <size_t> n_atoms + 6) * n_atoms * sizeof(float) + 5 * n_atoms * sizeof(int)


cdef int dfeature_sign(
        Py_ssize_t n_atoms, const double *gram, Py_ssize_t gram_stride, const double *cov,
        double penalty, double shift, double tol, Py_ssize_t max_iter,
        double *code, Py_ssize_t *n_iter, double *residual, void *work) noexcept nogil:
    """argmin_a a'Ha - 2 b'a + shift a'a + penalty |a|_1, from the warm start `code`, which the answer replaces"""
    cdef dSearch q
    q.n_atoms, q.gram_stride = n_atoms, gram_stride
    q.gram, q.cov, q.result = gram, cov, code
    q.target, q.shift, q.pivot_tol = penalty / 2, shift, 100 * DBL_EPSILON
    q.code = <double *> work
    lay_out(&q)
    return run(&q, tol, max_iter, n_iter, residual)


cdef int sfeature_sign(
        Py_ssize_t n_atoms, const float *gram, Py_ssize_t gram_stride, const float *cov,
        float penalty, float shift, float tol, Py_ssize_t max_iter,
        float *code, Py_ssize_t *n_iter, float *residual, void *work) noexcept nogil:
    """argmin_a a'Ha - 2 b'a + shift a'a + penalty |a|_1, from the warm start `code`, which the answer replaces"""
    cdef sSearch q
    cdef double reached
    q.n_atoms, q.gram_stride = n_atoms, gram_stride
    q.gram, q.cov, q.result = gram, cov, code
    q.target, q.shift, q.pivot_tol = penalty / 2, shift, 100 * FLT_EPSILON
    q.code = <float *> work
    lay_out(&q)
    status = run(&q, tol, max_iter, n_iter, &reached)
    residual[0] = <float> reached
    return status


# ---------------------------------------------------------------------------------------------- called from Python

def worksize(Py_ssize_t n_atoms, bint single):
    """Bytes of workspace for one search over n_atoms atoms."""
    return sfeature_sign_worksize(n_atoms) if single else dfeature_sign_worksize(n_atoms)


def search_rows(const floating[:, ::1] gram, const floating[:, ::1] cov, const floating[::1] penalty,
                const floating[::1] shift, double tol, Py_ssize_t max_iter, floating[:, ::1] codes,
                Py_ssize_t[::1] n_iter, floating[::1] residual, int[::1] status, unsigned char[::1] work):
    """One search for each row of cov, without the GIL. Rows of codes are the warm starts and become the codes."""
    cdef Py_ssize_t i, n = gram.shape[0]
    with nogil:
        for i in range(cov.shape[0]):
            if floating is double:
                status[i] = dfeature_sign(n, &gram[0, 0], n, &cov[i, 0], penalty[i], shift[i], tol, max_iter,
                                          &codes[i, 0], &n_iter[i], &residual[i], &work[0])
            else:
                status[i] = sfeature_sign(n, &gram[0, 0], n, &cov[i, 0], penalty[i], shift[i], <float> tol, max_iter,
                                          &codes[i, 0], &n_iter[i], &residual[i], &work[0])
