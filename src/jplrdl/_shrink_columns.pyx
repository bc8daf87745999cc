"""The 2,1 map down the columns of a row-major matrix, by several threads with the bits of one.

Every column v becomes max(1 - t / |v|, 0) v. All norms come before the first scaling, so that memory is read twice, and
as it lies: in parts of some rows, which do not depend on the number of threads.

1. Of every part, the sums of squares down its columns. One thread, the leader, adds those of the parts in their order.
2. Every part times the scales, once the leader has told that they are there.

In both steps a thread first takes parts of its own, one after another, and then, from the last on, those that others
have not come to. So it scales what it has just read, which its caches still hold, and finds in them, when the map is
called again, what it has read and written before. Nobody waits for a thread that does not come: others take its parts.

One thread writes a large result past the cache. It could read twice as much in the time that this takes, and does: the
columns are cut into panels, and one is squared while the one before is written, row after row (`_panels.h`). That is
for matrices that the cache holds; from memory they would have to be read in short pieces.
"""

from cython cimport floating
from libc.math cimport isnan
from libc.string cimport memcpy, memset

from jplrdl._group_scale cimport group_scale

cdef extern from "_squares.h":
    void dadd_squares(Py_ssize_t n, Py_ssize_t k, const double *v, double *s) noexcept nogil
    void sadd_squares(Py_ssize_t n, Py_ssize_t k, const float *v, float *s) noexcept nogil

cdef extern from "_scaling.h":
    int JPLRDL_HAS_AVX, JPLRDL_HAS_LINES
    void JPLRDL_FENCE() noexcept nogil
    void dmultiply_rows(Py_ssize_t n, Py_ssize_t k, const double *s, const double *v, double *out) noexcept nogil
    void smultiply_rows(Py_ssize_t n, Py_ssize_t k, const float *s, const float *v, float *out) noexcept nogil
    void dstream_rows(Py_ssize_t n, Py_ssize_t k, Py_ssize_t first, Py_ssize_t stop, const double *s, const double *v,
                      double *out, const double *end) noexcept nogil
    void sstream_rows(Py_ssize_t n, Py_ssize_t k, Py_ssize_t first, Py_ssize_t stop, const float *s, const float *v,
                      float *out, const float *end) noexcept nogil

cdef extern from "_panels.h":
    enum:
        JPLRDL_PANEL
    void dsquare_and_stream(Py_ssize_t k, const double *panel, double *squares, Py_ssize_t first, Py_ssize_t stop,
                            const double *s, const double *v, double *out, const double *end) noexcept nogil
    void ssquare_and_stream(Py_ssize_t k, const float *panel, float *squares, Py_ssize_t first, Py_ssize_t stop,
                            const float *s, const float *v, float *out, const float *end) noexcept nogil

cdef extern from "_turns.h":
    int next_turn(int *turn) noexcept nogil
    bint told(int *sign, int least) noexcept nogil
    void tell(int *sign, int value) noexcept nogil
    long long wait_for(int *sign, int least) noexcept nogil

cdef enum:
    ROWS = 8                    # whose squares are added at once
    PART_BYTES = 512 << 10
    MOST_PARTS = 16
    LINE_BYTES = 64
    LARGE = 12 << 20            # bytes that, with their result, leave a last-level cache
    HELD = 28 << 20             # and that stay there while the result goes past it
    READY = 1, NOT_FINITE = 2   # what the leader tells


# ---------------------------------------------------------------------------------------------------- parts of rows

cdef Py_ssize_t rows_of_part(Py_ssize_t n, Py_ssize_t k, const floating *precision) noexcept nogil:
    cdef Py_ssize_t parts = max(1, min(<Py_ssize_t> MOST_PARTS, n * k * <Py_ssize_t> sizeof(floating) // PART_BYTES))
    cdef Py_ssize_t rows = (n + parts - 1) // parts
    return max(1, (rows + ROWS - 1) // ROWS) * ROWS


cdef void square_rows(Py_ssize_t n, Py_ssize_t k, Py_ssize_t width, const floating *v,
                      floating *squares) noexcept nogil:
    """Of up to ROWS rows of k elements, their first ones"""
    cdef Py_ssize_t i, j
    if n == ROWS:
        if floating is double:
            dadd_squares(k, width, v, squares)
        else:
            sadd_squares(k, width, v, squares)
        return
    for i in range(n):
        for j in range(width):
            squares[j] += v[i * k + j] * v[i * k + j]


cdef void square_part(Py_ssize_t n, Py_ssize_t k, const floating *v, floating *squares) noexcept nogil:
    memset(squares, 0, k * sizeof(floating))
    while n > 0:
        square_rows(min(<Py_ssize_t> ROWS, n), k, k, v, squares)
        v += ROWS * k
        n -= ROWS


cdef void add_part(Py_ssize_t k, const floating *squares, floating *total) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(k):
        total[j] += squares[j]


cdef bint find_scales(Py_ssize_t n, Py_ssize_t k, Py_ssize_t width, const floating *v, floating t,
                      floating *scale) noexcept nogil:
    """From the sums of squares of the first columns, which they replace; False where v is not finite."""
    cdef Py_ssize_t j
    for j in range(width):
        scale[j] = <floating> group_scale(n, k, v + j, scale[j], t)
        if isnan(scale[j]):
            return False
    return True


cdef void scale_part(Py_ssize_t n, Py_ssize_t k, const floating *scale, const floating *v,
                     floating *out) noexcept nogil:
    if floating is double:
        dmultiply_rows(n, k, scale, v, out)
    else:
        smultiply_rows(n, k, scale, v, out)


# -------------------------------------------------------------------------------------------------------- one thread

cdef size_t columns_worksize(Py_ssize_t k, const floating *precision) noexcept nogil:
    """Bytes: the scales, the first of them once more, and the sums of a part."""
    return 2 * k * sizeof(floating) + LINE_BYTES


cdef bint goes_past_cache(Py_ssize_t n, Py_ssize_t k, const floating *v, const floating *out) noexcept nogil:
    """A large result, with rows of at least a line; several threads together would write more than memory takes."""
    return (JPLRDL_HAS_AVX and out != v and n * k * <Py_ssize_t> sizeof(floating) >= LARGE
            and k * <Py_ssize_t> sizeof(floating) >= LINE_BYTES and <size_t> out % sizeof(floating) == 0)


cdef void square_and_stream(Py_ssize_t n, Py_ssize_t k, Py_ssize_t width, const floating *panel, floating *squares,
                            Py_ssize_t first, Py_ssize_t stop, const floating *scale, const floating *v,
                            floating *out, const floating *end) noexcept nogil:
    """Of up to ROWS rows, the squares of a panel and the lines of the result that begin in some columns"""
    if n == ROWS and width * <Py_ssize_t> sizeof(floating) == JPLRDL_PANEL * LINE_BYTES and JPLRDL_HAS_LINES:
        if floating is double:
            dsquare_and_stream(k, panel, squares, first, stop, scale, v, out, end)
        else:
            ssquare_and_stream(k, panel, squares, first, stop, scale, v, out, end)
        return
    square_rows(n, k, width, panel, squares)
    if floating is double:
        dstream_rows(n, k, first, stop, scale, v, out, end)
    else:
        sstream_rows(n, k, first, stop, scale, v, out, end)


cdef bint shrink_panels(Py_ssize_t n, Py_ssize_t k, const floating *v, floating t, floating *out, floating *scale,
                        floating *squares) noexcept nogil:
    """The map past the cache: squares of a panel and, in turns with them, the lines of the one before."""
    cdef Py_ssize_t line = LINE_BYTES // sizeof(floating), rows = rows_of_part(n, k, v)
    cdef Py_ssize_t panel = k if n * k * <Py_ssize_t> sizeof(floating) > HELD else JPLRDL_PANEL * line
    # Nothing is written beside the first panel: what is left over goes there.
    cdef Py_ssize_t width = k % panel if k % panel >= line else min(panel + k % panel, k)
    cdef Py_ssize_t start = 0, written = 0, known, i, count
    cdef const floating *end = out + n * k - <size_t> (out + n * k) % LINE_BYTES // sizeof(floating)
    while written < k:
        # Lines that end before the column `start`, whose scale is not known yet; then all that are left.
        known = max(start - line + 1, <Py_ssize_t> 0) if start < k else k
        memset(scale + start, 0, width * sizeof(floating))
        i = 0
        while i < n:
            if i % rows == 0:
                memset(squares, 0, width * sizeof(floating))
            count = min(<Py_ssize_t> ROWS, n - i)
            square_and_stream(count, k, width, v + i * k + start, squares, written, known, scale, v + i * k,
                              out + i * k, end)
            i += count
            if i % rows == 0 or i == n:
                add_part(width, squares, scale + start)
        if not find_scales(n, k, width, v + start, t, scale + start):
            return False
        if start == 0:          # the last line of a row has the first columns of the next one
            memcpy(scale + k, scale, line * sizeof(floating))
        written = known
        start += width
        width = min(panel, k - start)
    for i in range((-<size_t> out) % LINE_BYTES // sizeof(floating)):
        out[i] = scale[i] * v[i]
    for i in range(end - out, n * k):
        out[i] = scale[i - (n - 1) * k] * v[i]
    JPLRDL_FENCE()
    return True


cdef bint shrink_columns(Py_ssize_t n, Py_ssize_t k, const floating *v, floating t, floating *out,
                         void *work) noexcept nogil:
    """The map by one thread; False where v is not finite."""
    cdef floating *scale = <floating *> work
    cdef floating *squares = <floating *> (<char *> work + LINE_BYTES) + k
    cdef Py_ssize_t rows = rows_of_part(n, k, v), start = 0
    if goes_past_cache(n, k, v, out):
        return shrink_panels(n, k, v, t, out, scale, squares)
    memset(scale, 0, k * sizeof(floating))
    while start < n:
        square_part(min(rows, n - start), k, v + start * k, squares)
        add_part(k, squares, scale)
        start += rows
    if not find_scales(n, k, k, v, t, scale):
        return False
    scale_part(n, k, scale, v, out)
    return True


# ----------------------------------------------------------------------------------------------------------- threads

cdef struct Signs:      # zero at first
    int[MOST_PARTS] square_turns    # who is first to ask has the part
    int[MOST_PARTS] squared
    int[MOST_PARTS] scale_turns
    int[MOST_PARTS] ready           # the first of them; what comes after them begins with a cache line


cdef Py_ssize_t part_in_order(Py_ssize_t i, Py_ssize_t n_parts, Py_ssize_t thread, Py_ssize_t n_threads) noexcept nogil:
    """The i-th part that a thread asks for: its own ones, then all from the last on."""
    cdef Py_ssize_t first = thread * n_parts // n_threads, own = (thread + 1) * n_parts // n_threads - first
    return first + i if i < own else n_parts - 1 - (i - own)


cdef bint share_columns(Py_ssize_t n, Py_ssize_t k, const floating *v, floating t, floating *out, void *work,
                        Py_ssize_t thread, Py_ssize_t n_threads) noexcept nogil:
    """A thread's part in the map, of which thread 0 leads; False where v is not finite."""
    cdef Signs *signs = <Signs *> work
    cdef floating *scale = <floating *> (signs + 1)
    cdef floating *squares = scale + k
    cdef Py_ssize_t rows = rows_of_part(n, k, v), n_parts = (n + rows - 1) // rows, i, part, start
    for i in range(2 * n_parts):
        part = part_in_order(i, n_parts, thread, n_threads)
        if part >= 0 and next_turn(&signs.square_turns[part]) == 0:
            start = part * rows
            square_part(min(rows, n - start), k, v + start * k, squares + part * k)
            tell(&signs.squared[part], 1)
    if thread == 0:
        memset(scale, 0, k * sizeof(floating))
        for i in range(n_parts):
            wait_for(&signs.squared[i], 1)
            add_part(k, squares + i * k, scale)
        tell(&signs.ready[0], READY if find_scales(n, k, k, v, t, scale) else NOT_FINITE)
    else:
        wait_for(&signs.ready[0], READY)
    if told(&signs.ready[0], NOT_FINITE):
        return False
    for i in range(2 * n_parts):
        part = part_in_order(i, n_parts, thread, n_threads)
        if part >= 0 and next_turn(&signs.scale_turns[part]) == 0:
            start = part * rows
            scale_part(min(rows, n - start), k, scale, v + start * k, out + start * k)
    return True


def share(const floating[:, ::1] v, floating t, floating[:, ::1] out, unsigned char[::1] work, Py_ssize_t thread,
          Py_ssize_t n_threads):
    """A thread's part in out = prox_t(v); out may be v, and work is zero at first. False where v is not finite."""
    cdef bint finite
    with nogil:
        finite = share_columns(v.shape[0], v.shape[1], &v[0, 0], t, &out[0, 0], &work[0], thread, n_threads)
    return finite


def share_worksize(const floating[:, ::1] v):
    """Bytes of workspace for share: the signs, the scales, and the sums of every part."""
    cdef Py_ssize_t n = v.shape[0], rows = rows_of_part(n, v.shape[1], &v[0, 0])
    return sizeof(Signs) + (1 + (n + rows - 1) // rows) * v.shape[1] * sizeof(floating)
