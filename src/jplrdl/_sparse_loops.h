/* Loops over the rows that a sparse row picks, and over dense rows of which little is not zero. */

#ifndef JPLRDL_SPARSE_LOOPS_H
#define JPLRDL_SPARSE_LOOPS_H

#include <stdint.h>
#include <string.h>

#include "_vectors.h"

#define JPLRDL_BITS 1, 2, 4, 8, 16, 32, 64, 128
static const unsigned char jplrdl_bits[64] = {
    JPLRDL_BITS, JPLRDL_BITS, JPLRDL_BITS, JPLRDL_BITS, JPLRDL_BITS, JPLRDL_BITS, JPLRDL_BITS, JPLRDL_BITS
};

/* 64 bytes with one bit each, of which every eighth has the same, as a number of 64 bits. */
static inline uint64_t jplrdl_mask(const unsigned char *set) {
    uint64_t mask = 0, eight;
    for (int k = 0; k < 8; k++) {
        memcpy(&eight, set + 8 * k, sizeof eight);
        mask |= ((eight * 0x0101010101010101u) >> 56) << 8 * k; /* the sum of all bytes, in the last of them */
    }
    return mask;
}

static inline int jplrdl_lowest_bit(uint64_t mask) {
#if defined(__GNUC__)
    return __builtin_ctzll(mask);
#else
    int j = 0;
    while (!(mask >> j & 1))
        j++;
    return j;
#endif
}

/* add_row: y += s x.   add_rows: y += four rows, each times its number, so that y is read and written but once.
   list_nonzeros: where a row is not zero, and what it is there; how many, or -1 if they are more than `most`. 64 at a time
   become bits, without a branch: one for each element would be guessed wrongly for every non-zero. */
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
        ptrdiff_t count = 0;                                                                                  \
        unsigned char set[64];                                                                                \
        for (ptrdiff_t start = 0; start < n; start += 64) {                                                   \
            const T *some = row + start;                                                                      \
            if (n - start >= 64) {                                                                            \
                for (int j = 0; j < 64; j++)                                                                  \
                    set[j] = some[j] != 0 ? jplrdl_bits[j] : 0;                                               \
            } else {                                                                                          \
                memset(set, 0, sizeof set);                                                                   \
                for (int j = 0; j < n - start; j++)                                                           \
                    set[j] = some[j] != 0 ? jplrdl_bits[j] : 0;                                               \
            }                                                                                                 \
            for (uint64_t left = jplrdl_mask(set); left != 0; left &= left - 1) {                             \
                int j = jplrdl_lowest_bit(left);                                                              \
                if (count == most)                                                                            \
                    return -1;                                                                                \
                columns[count] = (int) start + j;                                                             \
                values[count++] = some[j];                                                                    \
            }                                                                                                 \
        }                                                                                                     \
        return count;                                                                                         \
    }

JPLRDL_SPARSE_LOOPS(double, d)
JPLRDL_SPARSE_LOOPS(float, s)

#endif
