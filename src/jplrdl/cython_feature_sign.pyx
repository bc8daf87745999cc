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
from libc.math cimport INFINITY, fabs, isfinite
from libc.string cimport memcpy, memset

from jplrdl._active_set cimport (
    GIVEN_UP, INACTIVE, Search, append, complete_column, dadd_columns, dlargest, drop, dSearch, find_above,
    full_gradient, is_dependent, join, join_violators, keep_largest, lay_out, sadd_columns, slargest, solve_factor,
    solve_step, sSearch, take_in, violation, write_columns,
)

cdef enum:
    LOADED_AT_ONCE = 32             # atoms of a warm start

# Found by timing on faces, objects and synthetic data; only speed depends on them.
cdef double STAGE_RATIO = 0.25      # by which kappa falls from stage to stage
cdef double ACTIVATION_SHARE = 0.3  # violators with at least this share of the worst violation are activated with it

cdef enum Walk:
    WALK_WHOLE                      # to the minimum for the signs it began with
    WALK_CROSSED                    # to a lower point with other signs or a smaller support
    WALK_UNBOUNDED                  # nowhere: the objective falls for ever


# ------------------------------------------------------------------------------------------------------ one step

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
