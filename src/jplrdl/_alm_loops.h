/* The element-wise half of an ALM iteration; jplrdl._alm has the mathematics. Sums go to lanes, and those of a block to
   the total in double precision: accurate in float32, and the same whatever the machine's vectors are. */

#ifndef JPLRDL_ALM_LOOPS_H
#define JPLRDL_ALM_LOOPS_H

#include "_vectors.h"

#define JPLRDL_ALM_ELEMENT(i, sum)                                                                            \
    {                                                                                                         \
        T scaled = inverse * Y[i], w = X[i] - L[i] + scaled;                                                  \
        T clipped = w < threshold ? w : threshold;                                                            \
        clipped = clipped > -threshold ? clipped : -threshold;                                                \
        T residual = clipped - scaled, y = mu * clipped;                                                      \
        sum += residual * residual;                                                                           \
        Y[i] = y;                                                                                             \
        V[i] = X[i] - w + clipped + next_inverse * y;                                                         \
    }

#define JPLRDL_ALM_LOOPS(type, prefix)                                                                        \
    JPLRDL_WIDEST static double prefix##alm_step(ptrdiff_t n, const type *restrict X, const type *restrict L, \
                                                 type *restrict Y, type *restrict V, type inverse,            \
                                                 type next_inverse, type threshold, type mu) {                \
        typedef type T;                                                                                       \
        double total = 0;                                                                                     \
        ptrdiff_t i = 0;                                                                                      \
        while (i < n) {                                                                                       \
            T lane[16] = {0}, sum = 0;                                                                        \
            ptrdiff_t stop = n - i > 1024 ? i + 1024 : n;                                                     \
            for (; i + 16 <= stop; i += 16) {                                                                 \
                JPLRDL_INDEPENDENT                                                                            \
                for (int j = 0; j < 16; j++)                                                                  \
                    JPLRDL_ALM_ELEMENT(i + j, lane[j])                                                        \
            }                                                                                                 \
            for (; i < stop; i++)                                                                             \
                JPLRDL_ALM_ELEMENT(i, sum)                                                                    \
            for (int j = 0; j < 16; j++)                                                                      \
                sum += lane[j];                                                                               \
            total += sum;                                                                                     \
        }                                                                                                     \
        return total;                                                                                         \
    }

JPLRDL_ALM_LOOPS(double, d)
JPLRDL_ALM_LOOPS(float, s)

#endif
