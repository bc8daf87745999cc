"""The element-wise half of an inexact ALM iteration for robust PCA (eq3), in one pass over memory.

    min |L|_* + eta |E|_1   s.t.  X = L + E,      multiplier Y, penalty mu.

After the step in L, with W = X - L + Y / mu:

    E   = shrink(W, eta / mu)                 the l1 proximal map
    Y+  = Y + mu (X - L - E) = mu clip(W, -eta / mu, eta / mu)
    V+  = X - E + Y+ / mu+                    what the next step in L shrinks

so that E itself need not be kept. Read: X, L, Y. Written: Y, V. The residual is X - L - E = (Y+ - Y) / mu.
"""

from cython cimport floating

cdef extern from "_alm_loops.h":
    double dalm_step(Py_ssize_t n, const double *X, const double *L, double *Y, double *V, double inverse,
                     double next_inverse, double threshold, double mu) noexcept nogil
    double salm_step(Py_ssize_t n, const float *X, const float *L, float *Y, float *V, float inverse,
                     float next_inverse, float threshold, float mu) noexcept nogil


def step(const floating[::1] X, const floating[::1] L, floating[::1] Y, floating[::1] V,
         double eta, double mu, double next_mu):
    """Update Y and V in place; returns |X - L - E|_F^2."""
    cdef double total
    with nogil:
        if floating is double:
            total = dalm_step(X.shape[0], &X[0], &L[0], &Y[0], &V[0], 1 / mu, 1 / next_mu, eta / mu, mu)
        else:
            total = salm_step(X.shape[0], &X[0], &L[0], &Y[0], &V[0], <float> (1 / mu), <float> (1 / next_mu),
                              <float> (eta / mu), <float> mu)
    return total
