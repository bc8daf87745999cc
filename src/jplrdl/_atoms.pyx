"""The atoms of one class after another, each a descent (eq15, exact form); jplrdl.dictionary has the mathematics.

    tr(Q DD') - 2 tr(C D') + lambda_rank |D|_*        over the D of unit rows

Q gains lambda_rank N^-1 / 2, N = (DD')^1/2, which bounds the nuclear norm from above; then each atom in turn goes to
its minimum on the sphere, d_k = w / |w|, w = c_k - sum_{j != k} Q_kj d_j. What decides whether a sweep is taken is
summed in double precision, whatever the atoms are.
"""

from cython cimport floating
from libc.math cimport sqrt
from libc.string cimport memcpy, memset

from jplrdl._blas cimport NO_TRANS, TRANS, dot, gemm, gemv, gesdd_values, syevd_upper

cdef double SMALLEST = 1e-8     # share of the largest eigenvalue of DD' below which squaring has lost a singular value
cdef double[2] FLOORS = [0.1, 0.01]


cdef struct Room:
    # Workspace for a class of c atoms of d elements, all of it in double precision.
    Py_ssize_t c, d
    double *wide        # c x d
    double *gram        # c x c
    double *scaled      # c x c
    double *lapack      # 1 + 16 c + 2 c^2 + d
    void *integers      # 3 + 8 c


cdef struct State:
    # What is known of atoms: the objective, and the eigenvalues (ascending) and eigenvectors (as rows) of DD'.
    double value
    double *values
    double *vectors


cdef size_t descent_worksize(Py_ssize_t c, Py_ssize_t d, size_t size) noexcept nogil:
    """Bytes for `descend`, `size` of them a number."""
    return (c * (d + c) + d) * size + 8 * (c * d + 6 * c * c + 26 * c + d + 4)


cdef void *lay_out(Py_ssize_t c, Py_ssize_t d, void *work, Room *room, State *one, State *other) noexcept nogil:
    """Divide the workspace; returns where it goes on."""
    room.c, room.d = c, d
    room.wide = <double *> work
    room.gram = room.wide + c * d
    room.scaled = room.gram + c * c
    room.lapack = room.scaled + c * c
    one.vectors = room.lapack + 1 + 16 * c + 2 * c * c + d
    one.values = one.vectors + c * c
    other.vectors = one.values + c
    other.values = other.vectors + c * c
    room.integers = other.values + c
    return <double *> room.integers + 3 + 8 * c


cdef void as_double(Py_ssize_t n, const floating *x, double *y) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        y[i] = x[i]


cdef double inner(Py_ssize_t n, const floating *x, const floating *y) noexcept nogil:
    """x'y, summed in double precision."""
    cdef Py_ssize_t i
    cdef double total = 0
    if floating is double:
        return dot(n, x, y)
    for i in range(n):
        total += (<double> x[i]) * y[i]
    return total


cdef double nuclear_norm(Room *room, const floating *D, const double *values) noexcept nogil:
    """|D|_*, through the eigenvalues of DD' unless one of them is lost to squaring."""
    cdef Py_ssize_t k
    cdef double total = 0
    cdef double *singular = room.lapack + 10 * room.c + room.d
    if values[0] > SMALLEST * values[room.c - 1]:
        for k in range(room.c):
            total += sqrt(values[k])
        return total
    as_double(room.c * room.d, D, room.wide)
    gesdd_values(room.d, room.c, room.wide, room.d, singular, room.lapack, room.integers)
    for k in range(min(room.c, room.d)):
        total += singular[k]
    return total


cdef void squares(Room *room, const floating *D) noexcept nogil:
    """gram = DD'"""
    cdef Py_ssize_t c = room.c, d = room.d
    if floating is double:
        gemm(TRANS, NO_TRANS, c, c, d, 1., D, d, D, d, 0., room.gram, c)
    else:
        as_double(c * d, D, room.wide)
        gemm(TRANS, NO_TRANS, c, c, d, 1., room.wide, d, room.wide, d, 0., room.gram, c)


cdef int evaluate(Room *room, const floating *D, const floating *Q, const floating *C, double lambda_rank, bint vectors,
                  State *state) noexcept nogil:
    """The objective, and the eigenvalues, with eigenvectors if wanted, of DD'; LAPACK's info."""
    cdef Py_ssize_t c = room.c, d = room.d, k
    cdef int info
    squares(room, D)
    state.value = -2 * inner(c * d, C, D)
    for k in range(c * c):
        state.value += Q[k] * room.gram[k]
    if lambda_rank == 0:
        return 0
    memcpy(state.vectors, room.gram, c * c * sizeof(double))
    info = syevd_upper(vectors, c, state.vectors, c, state.values, room.lapack, room.integers)
    if info == 0:
        state.value += lambda_rank * nuclear_norm(room, D, state.values)
    return info


cdef void majorise(Room *room, const State *state, const floating *Q, double lambda_rank, double floor,
                   floating *majorant) noexcept nogil:
    """Q + lambda_rank N^-1 / 2, the eigenvalues of N raised to a share of the largest."""
    cdef Py_ssize_t c = room.c, i, k
    cdef double least = floor * sqrt(max(state.values[c - 1], 0)), root
    for k in range(c):
        root = max(sqrt(max(state.values[k], 0)), least)
        for i in range(c):
            room.scaled[k * c + i] = state.vectors[k * c + i] / root
    gemm(NO_TRANS, TRANS, c, c, c, lambda_rank / 2, room.scaled, c, state.vectors, c, 0., room.gram, c)
    for k in range(c * c):
        majorant[k] = Q[k] + <floating> room.gram[k]


cdef void sweep(Py_ssize_t c, Py_ssize_t d, floating *D, floating *Q, const floating *C, floating *row) noexcept nogil:
    """Atom after atom to its minimum on the sphere; Q loses its diagonal."""
    cdef Py_ssize_t i, k
    cdef floating length, one = 1, minus = -1
    for k in range(c):
        Q[k * c + k] = 0
        memcpy(row, C + k * d, d * sizeof(floating))
        gemv(NO_TRANS, d, c, minus, D, d, Q + k * c, one, row)
        length = <floating> sqrt(dot(d, row, row))
        if length > 0:
            for i in range(d):
                D[k * d + i] = row[i] / length


cdef int descend(Py_ssize_t c, Py_ssize_t d, floating *D, const floating *Q, const floating *C, double lambda_rank,
                 int n_sweeps, void *work) noexcept nogil:
    """Sweeps over the atoms, each taken if it descends; if not, N is raised less. Returns LAPACK's info."""
    cdef Room room
    cdef State best, other
    cdef floating *candidate = <floating *> lay_out(c, d, work, &room, &best, &other)
    cdef floating *majorant = candidate + c * d
    cdef floating *row = majorant + c * c
    cdef int k, floor = 0, info
    info = evaluate(&room, D, Q, C, lambda_rank, True, &best)
    for k in range(n_sweeps):
        if info != 0:
            break
        if lambda_rank > 0:
            majorise(&room, &best, Q, lambda_rank, FLOORS[floor], majorant)
        else:
            memcpy(majorant, Q, c * c * sizeof(floating))
        memcpy(candidate, D, c * d * sizeof(floating))
        sweep(c, d, candidate, majorant, C, row)
        info = evaluate(&room, candidate, Q, C, lambda_rank, k + 1 < n_sweeps, &other)
        if info == 0 and other.value < best.value:
            memcpy(D, candidate, c * d * sizeof(floating))
            best, other = other, best
        elif lambda_rank == 0 or floor == 1:
            break
        else:
            floor += 1
    return info


cdef int turn(Py_ssize_t d, Py_ssize_t n, floating *D, Py_ssize_t first, Py_ssize_t last, const floating *products,
              const floating *outside, floating double_incoherence, floating tangent, double lambda_rank, int n_sweeps,
              void *work) noexcept nogil:
    """The atoms of one class, those from first to last of the n of a group, D; LAPACK's info."""
    cdef Py_ssize_t c = last - first, j, k
    cdef floating *atoms = D + first * d
    cdef floating *C = <floating *> work
    cdef floating *Q = C + c * d
    cdef floating *inside = Q + c * c
    cdef floating one = 1, minus = -1
    # The descent's room begins behind these, where a double may.
    cdef void *room = <char *> work + room_for_class(c, n, d, sizeof(floating))
    for k in range(c):
        for j in range(c):
            Q[k * c + j] = 2 * products[(first + k) * n + first + j]
        memcpy(inside + k * n, products + (first + k) * n, n * sizeof(floating))
        for j in range(d):
            C[k * d + j] = outside[(first + k) * d + j] + tangent * atoms[k * d + j]
    gemm(TRANS, NO_TRANS, n, c, d, double_incoherence, D, d, atoms, d, one, inside, n)
    for k in range(c):
        memset(inside + k * n + first, 0, c * sizeof(floating))
    gemm(NO_TRANS, NO_TRANS, d, c, n, minus, D, d, inside, n, one, C, d)
    return descend(c, d, atoms, Q, C, lambda_rank, n_sweeps, room)


cdef size_t room_for_class(Py_ssize_t c, Py_ssize_t n, Py_ssize_t d, size_t size) noexcept nogil:
    """Bytes for what `turn` itself needs, a multiple of eight."""
    return 8 * ((c * (d + c + n) * size + 7) // 8)


# ---------------------------------------------------------------------------------------------- called from Python

def turn_group(floating[:, ::1] D, const Py_ssize_t[::1] bounds, const floating[:, ::1] products,
               const floating[:, ::1] outside, double double_incoherence, double tangent, double lambda_rank,
               int n_sweeps, unsigned char[::1] work):
    """The atoms D of neighbouring classes, class i those from bounds[i] to bounds[i + 1], one class after another.

    `products` are those of the codes of these atoms, `outside` is C without what atoms of the group have a part in.
    Returns LAPACK's info.
    """
    cdef Py_ssize_t d = D.shape[1], n = D.shape[0], i
    cdef int info = 0
    with nogil:
        for i in range(bounds.shape[0] - 1):
            info = turn(d, n, &D[0, 0], bounds[i], bounds[i + 1], &products[0, 0], &outside[0, 0],
                        <floating> double_incoherence, <floating> tangent, lambda_rank, n_sweeps, &work[0])
            if info != 0:
                break
    return info


def descend_atoms(floating[:, ::1] D, const floating[:, ::1] Q, const floating[:, ::1] C, double lambda_rank,
                  int n_sweeps, unsigned char[::1] work):
    """The atoms of one class, in place; returns LAPACK's info."""
    cdef int info
    with nogil:
        info = descend(D.shape[0], D.shape[1], &D[0, 0], &Q[0, 0], &C[0, 0], lambda_rank, n_sweeps, &work[0])
    return info


def nuclear_norms(const floating[:, ::1] D, const Py_ssize_t[::1] bounds, double[::1] norms, unsigned char[::1] work):
    """|D_i|_* of each class, i's atoms being those from bounds[i] to bounds[i + 1]; returns LAPACK's info."""
    cdef Py_ssize_t i, c, d = D.shape[1]
    cdef Room room
    cdef State state
    cdef int info = 0
    with nogil:
        for i in range(norms.shape[0]):
            c = bounds[i + 1] - bounds[i]
            lay_out(c, d, &work[0], &room, &state, &state)
            squares(&room, &D[bounds[i], 0])
            info = syevd_upper(False, c, room.gram, c, state.values, room.lapack, room.integers)
            if info != 0:
                break
            norms[i] = nuclear_norm(&room, &D[bounds[i], 0], state.values)
    return info


def group_worksize(Py_ssize_t c, Py_ssize_t n, Py_ssize_t d):
    """Bytes of workspace for classes of at most c atoms in groups of at most n, of d elements each."""
    return room_for_class(c, n, d, sizeof(double)) + descent_worksize(c, d, sizeof(double))
