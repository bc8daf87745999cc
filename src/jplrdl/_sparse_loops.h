/* Loops over the rows that a sparse row picks. */

#ifndef JPLRDL_SPARSE_LOOPS_H
#define JPLRDL_SPARSE_LOOPS_H

#include "_vectors.h"

/* add_row: y += s x.   add_rows: y += four rows, each times its number, so that y is read and written but once. */
#define JPLRDL_SPARSE_LOOPS(T, prefix)                                                                        \
    JPLRDL_WIDEST static void prefix##add_row(ptrdiff_t n, T s, const T *x, T *y) {                           \
        JPLRDL_INDEPENDENT                                                                                    \
        for (ptrdiff_t j = 0; j < n; j++)                                                                     \
            y[j] += s * x[j];                                                                                 \
    }                                                                                                         \
    JPLRDL_WIDEST static void prefix##add_rows(ptrdiff_t n, const T *s, const T *a, const T *b, const T *c,   \
                                               const T *d, T *y) {                                            \
        T s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3];                                                         \
        JPLRDL_INDEPENDENT                                                                                    \
        for (ptrdiff_t j = 0; j < n; j++)                                                                     \
            y[j] += (s0 * a[j] + s1 * b[j]) + (s2 * c[j] + s3 * d[j]);                                        \
    }

JPLRDL_SPARSE_LOOPS(double, d)
JPLRDL_SPARSE_LOOPS(float, s)

#endif
