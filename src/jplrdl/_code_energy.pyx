"""Quadratic forms of sparse codes, one code after another, summed in double precision.

The codes A (samples by atoms) are a CSR array whose columns are in order; few elements of a row are not zero, and all
that is needed of a product with a matrix is its inner product with A: no product is ever written down.
"""

from cython cimport floating


def graph_energy(const int[::1] graph_ptr, const int[::1] neighbours, const floating[::1] weights,
                 const int[::1] ptr, const int[::1] columns, const floating[::1] codes, double[::1] row):
    """tr(A'LA) = sum_pq L_pq a_p'a_q, for a CSR array L; `row`, as long as a code, is zero before and after."""
    cdef Py_ssize_t p, q, e, i
    cdef double total = 0, product
    with nogil:
        for p in range(ptr.shape[0] - 1):
            for i in range(ptr[p], ptr[p + 1]):
                row[columns[i]] = codes[i]
            for e in range(graph_ptr[p], graph_ptr[p + 1]):
                q = neighbours[e]
                product = 0
                for i in range(ptr[q], ptr[q + 1]):
                    product += row[columns[i]] * codes[i]
                total += weights[e] * product
            for i in range(ptr[p], ptr[p + 1]):
                row[columns[i]] = 0
    return total


def class_energy(const int[::1] ptr, const int[::1] columns, const floating[::1] codes, const Py_ssize_t[::1] labels,
                 const floating[:, ::1] gram):
    """sum_p sum_j |a_p^j D_j|^2, the atoms of each class by themselves: `labels`, ascending, and `gram` = DD'."""
    cdef Py_ssize_t p, i, j
    cdef double total = 0, along
    with nogil:
        for p in range(ptr.shape[0] - 1):
            for i in range(ptr[p], ptr[p + 1]):
                along = 0.5 * gram[columns[i], columns[i]] * codes[i]
                j = i + 1
                while j < ptr[p + 1] and labels[columns[j]] == labels[columns[i]]:
                    along += gram[columns[i], columns[j]] * codes[j]
                    j += 1
                total += 2 * along * codes[i]
    return total
