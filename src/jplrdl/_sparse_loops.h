/* Loops over the rows that a sparse row picks, and over dense rows of which little is not zero. */

#ifndef JPLRDL_SPARSE_LOOPS_H
#define JPLRDL_SPARSE_LOOPS_H

#include "_vectors.h"

/* add_row: y += s x.   add_rows: y += four rows, each times its number, so that y is read and written but once.
   list_nonzeros: where a row is not zero, and what it is there; how many, or -1 if they are more than `most`. Blocks of
   zeros are passed over whole. */
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
    }                                                                                                         \
    JPLRDL_WIDEST static ptrdiff_t prefix##list_nonzeros(ptrdiff_t n, const T *row, ptrdiff_t most,           \
                                                         int *columns, T *values) {                           \
        ptrdiff_t count = 0, whole = n - n % 16;                                                              \
        for (ptrdiff_t start = 0; start < n; start += 16) {                                                   \
            if (start < whole) {                                                                              \
                int some = 0;                                                                                 \
                for (int j = 0; j < 16; j++)                                                                  \
                    some |= row[start + j] != 0;                                                              \
                if (!some)                                                                                    \
                    continue;                                                                                 \
            }                                                                                                 \
            for (ptrdiff_t j = start; j < n && j < start + 16; j++) {                                         \
                if (row[j] == 0)                                                                              \
                    continue;                                                                                 \
                if (count == most)                                                                            \
                    return -1;                                                                                \
                columns[count] = (int) j;                                                                     \
                values[count++] = row[j];                                                                     \
            }                                                                                                 \
        }                                                                                                     \
        return count;                                                                                         \
    }

JPLRDL_SPARSE_LOOPS(double, d)
JPLRDL_SPARSE_LOOPS(float, s)

#endif
