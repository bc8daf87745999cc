"""The element-wise half of an inexact ALM iteration for robust PCA (eq3), in one pass over memory.

    min |L|_* + eta |E|_1   s.t.  X = L + E,      multiplier Y, penalty mu.

After the step in L, with W = X - L + Y / mu:

    E   = shrink(W, eta / mu)                 the l1 proximal map
    Y+  = Y + mu (X - L - E) = mu clip(W, -eta / mu, eta / mu)
    V+  = X - E + Y+ / mu+                    what the next step in L shrinks

so that E itself need not be kept. Read: X, L, Y. Written: Y, V. The residual is X - L - E = (Y+ - Y) / mu.
"""

from cython cimport floating


def step(const floating[::1] X, const floating[::1] L, floating[::1] Y, floating[::1] V,
         double eta, double mu, double next_mu):
    """Update Y and V in place; returns |X - L - E|_F^2."""
    cdef Py_ssize_t i, start, stop, n = X.shape[0]
    cdef floating inverse = <floating> (1 / mu), next_inverse = <floating> (1 / next_mu)
    cdef floating threshold = <floating> (eta / mu), mu_ = <floating> mu
    cdef floating w, clipped, residual, partial
    cdef double total = 0
    with nogil:
        # Partial sums of blocks: accurate in float32, and the same whatever the machine's vector width.
        for start in range(0, n, 256):
            stop = min(start + 256, n)
            partial = 0
            for i in range(start, stop):
                w = X[i] - L[i] + inverse * Y[i]
                clipped = w if w < threshold else threshold
                clipped = clipped if clipped > -threshold else -threshold
                residual = clipped - inverse * Y[i]
                partial += residual * residual
                Y[i] = mu_ * clipped
                V[i] = X[i] - w + clipped + next_inverse * Y[i]
            total += partial
    return total
