"""The rectangle whose sides score most, in each of many images.

Sides lie on lines between pixels: a horizontal piece above row i at column j has the score h_ij, a vertical one left of
column j at row i the score v_ij. With H the sums of h along rows and V those of v down columns, a rectangle scores

    H[top, right] - H[top, left] + H[bottom, right] - H[bottom, left]
    + V[bottom, left] - V[top, left] + V[bottom, right] - V[top, right],

a function of right minus a function of left for given top and bottom: the best left side of all is known on the way to
the right, and height^2 width steps see every rectangle.
"""

from libc.math cimport INFINITY


cdef double _best(const double[:, ::1] H, const double[:, ::1] V, Py_ssize_t least, Py_ssize_t *found) noexcept nogil:
    cdef Py_ssize_t height = H.shape[0] - 1, width = H.shape[1] - 1, top, bottom, left, right, lowest_left
    cdef double best = -INFINITY, lowest, value
    for top in range(height - least + 1):
        for bottom in range(top + least, height + 1):
            lowest, lowest_left = INFINITY, 0
            for right in range(least, width + 1):
                left = right - least
                value = H[top, left] + H[bottom, left] - (V[bottom, left] - V[top, left])
                if value < lowest:
                    lowest, lowest_left = value, left
                value = H[top, right] + H[bottom, right] + (V[bottom, right] - V[top, right]) - lowest
                if value > best:
                    best = value
                    found[0], found[1], found[2], found[3] = top, bottom, lowest_left, right
    return best


def find(const double[:, :, ::1] H, const double[:, :, ::1] V, Py_ssize_t least,
         Py_ssize_t[:, ::1] rectangles, double[::1] scores):
    """Top, bottom, left and right (half-open) of the best rectangle with sides >= least, and its score."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(H.shape[0]):
            scores[i] = _best(H[i], V[i], least, &rectangles[i, 0])
