"""Inexact ALM for robust PCA (eq3).

    min |L|_* + eta |E|_1   s.t.  X = L + E,      multiplier Y, penalty mu, V = X - E + Y / mu.

    L   = argmin |L|_* + mu / 2 |L - V|_F^2   the nuclear proximal map

and then, with W = X - L + Y / mu, element by element and in one pass over memory:

    E   = shrink(W, eta / mu)                 the l1 proximal map
    Y+  = Y + mu (X - L - E) = mu clip(W, -eta / mu, eta / mu)
    V+  = X - E + Y+ / mu+                    what the next step in L shrinks

so that E itself need not be kept. Read: X, L, Y. Written: Y, V. The residual is X - L - E = (Y+ - Y) / mu.

Iterations of small matrices, which take some microseconds, follow each other without Python in between: threads that
separate one matrix each would spend their time waiting for its lock.
"""

from cython cimport floating
from libc.math cimport INFINITY, sqrt

from jplrdl._spectrum cimport shrink_spectrum

cdef extern from "_alm_loops.h":
    double dalm_step(Py_ssize_t n, const double *X, const double *L, double *Y, double *V, double inverse,
                     double next_inverse, double threshold, double mu) noexcept nogil
    double salm_step(Py_ssize_t n, const float *X, const float *L, float *Y, float *V, float inverse,
                     float next_inverse, float threshold, float mu) noexcept nogil


cdef double step(Py_ssize_t n, const floating *X, const floating *L, floating *Y, floating *V, double eta, double mu,
                 double next_mu) noexcept nogil:
    """Y+ and V+ in place of Y and V; |X - L - E|_F^2"""
    if floating is double:
        return dalm_step(n, X, L, Y, V, 1 / mu, 1 / next_mu, eta / mu, mu)
    else:
        return salm_step(n, X, L, Y, V, <float> (1 / mu), <float> (1 / next_mu), <float> (eta / mu), <float> mu)


cdef void fill_missing(Py_ssize_t n, const unsigned char *missing, const floating *L, floating *X) noexcept nogil:
    """A free error takes all of X - L and leaves no multiplier: as if L had been observed there."""
    cdef Py_ssize_t i
    for i in range(n):
        if missing[i]:
            X[i] = L[i]


def iterate(floating[:, ::1] X, const unsigned char[:, ::1] missing, floating[:, ::1] L, floating[:, ::1] Y,
            floating[:, ::1] V, floating[::1] singular, unsigned char[::1] work, double eta, double mu, double rho,
            double last_mu, double size, double tol, Py_ssize_t most):
    """Some iterations, `most` of them or until |X - L - E|_F <= tol size; X is overwritten where it is missing.

    Returns LAPACK's info, how many iterations it took, the rank of L, its nuclear norm, |X - L - E|_F / size, and mu.
    """
    cdef Py_ssize_t n_rows = X.shape[0], n_columns = X.shape[1], n = n_rows * n_columns, taken = 0, rank = 0, i
    cdef const unsigned char *unseen = NULL if missing is None else &missing[0, 0]
    cdef double next_mu, nuclear = 0, feasibility = INFINITY
    cdef int info = 0
    with nogil:
        while taken < most and feasibility > tol:
            info = shrink_spectrum(n_rows, n_columns, &V[0, 0], <floating> (1 / mu), True, &L[0, 0], &singular[0],
                                   &rank, &work[0])
            if info != 0:
                break
            taken += 1
            if unseen != NULL:
                fill_missing(n, unseen, &L[0, 0], &X[0, 0])
            next_mu = min(rho * mu, last_mu)
            feasibility = sqrt(step(n, &X[0, 0], &L[0, 0], &Y[0, 0], &V[0, 0], eta, mu, next_mu)) / size
            mu = next_mu
        for i in range(singular.shape[0]):
            nuclear += singular[i]
    return info, taken, rank, nuclear, feasibility, mu
