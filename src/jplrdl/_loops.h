/* Loops over memory, for the proximal maps. An output may be the input of the same index: nothing else overlaps. */

#ifndef JPLRDL_LOOPS_H
#define JPLRDL_LOOPS_H

#include <stdint.h>

#include "_vectors.h"

/* shrink: out = sign(v) max(|v| - t, 0); true if v is not finite, for x - x is then not zero. A load waits for an earlier
   store if the last twelve bits of their addresses agree: the direction is the one in which loads run ahead of no store.
   squares: the sum of v's. Its lanes are added pair by pair, and what is left over goes to four of them: short rows must
   not wait for one sum after the other.
   add_squares: s += squares of eight rows. Loads that cross the end of a cache line take twice as long, so they begin with
   a whole vector of the first row. */
#define JPLRDL_EIGHT_SQUARES(j)                                                                               \
    ((a[j] * a[j] + b[j] * b[j]) + (c[j] * c[j] + d[j] * d[j]))                                               \
    + ((e[j] * e[j] + f[j] * f[j]) + (g[j] * g[j] + h[j] * h[j]))
#define JPLRDL_LOOPS(T, prefix)                                                                               \
    JPLRDL_WHOLE_LINES static int prefix##shrink(ptrdiff_t n, const T *v, T t, T *out) {                      \
        T lane[16] = {0}, sum = 0;                                                                            \
        int backwards = ((uintptr_t) out - (uintptr_t) v) % 4096 < 2048 && out != v;                          \
        ptrdiff_t whole = n - n % 16, i = backwards ? whole - 16 : 0, step = backwards ? -16 : 16;            \
        for (ptrdiff_t left = whole; left > 0; left -= 16, i += step) {                                       \
            JPLRDL_INDEPENDENT                                                                                \
            for (int j = 0; j < 16; j++) {                                                                    \
                T x = v[i + j], above = x - t, below = x + t;                                                 \
                out[i + j] = (above > 0 ? above : 0) + (below < 0 ? below : 0);                               \
                lane[j] += x - x;                                                                             \
            }                                                                                                 \
        }                                                                                                     \
        for (i = whole; i < n; i++) {                                                                         \
            T x = v[i], above = x - t, below = x + t;                                                         \
            out[i] = (above > 0 ? above : 0) + (below < 0 ? below : 0);                                       \
            sum += x - x;                                                                                     \
        }                                                                                                     \
        for (int j = 0; j < 16; j++)                                                                          \
            sum += lane[j];                                                                                   \
        return !(sum == 0);                                                                                   \
    }                                                                                                         \
    JPLRDL_WIDEST static T prefix##squares(ptrdiff_t n, const T *v) {                                         \
        T lane[16] = {0}, rest = 0;                                                                           \
        ptrdiff_t i = 0;                                                                                      \
        for (; i + 16 <= n; i += 16) {                                                                        \
            JPLRDL_INDEPENDENT                                                                                \
            for (int j = 0; j < 16; j++)                                                                      \
                lane[j] += v[i + j] * v[i + j];                                                               \
        }                                                                                                     \
        for (; i + 4 <= n; i += 4) {                                                                          \
            JPLRDL_INDEPENDENT                                                                                \
            for (int j = 0; j < 4; j++)                                                                       \
                lane[j] += v[i + j] * v[i + j];                                                               \
        }                                                                                                     \
        for (; i < n; i++)                                                                                    \
            rest += v[i] * v[i];                                                                              \
        T even = ((lane[0] + lane[8]) + (lane[4] + lane[12])) + ((lane[2] + lane[10]) + (lane[6] + lane[14]));\
        T odd = ((lane[1] + lane[9]) + (lane[5] + lane[13])) + ((lane[3] + lane[11]) + (lane[7] + lane[15])); \
        return rest + (even + odd);                                                                           \
    }                                                                                                         \
    JPLRDL_WIDEST static void prefix##add_squares(ptrdiff_t n, const T *a, T *s) {                            \
        const T *b = a + n, *c = b + n, *d = c + n, *e = d + n, *f = e + n, *g = f + n, *h = g + n;           \
        ptrdiff_t whole = (ptrdiff_t) (-(uintptr_t) a % 32 / sizeof(T)), j = 0;                               \
        for (; j < n && j < whole; j++)                                                                       \
            s[j] += JPLRDL_EIGHT_SQUARES(j);                                                                  \
        JPLRDL_INDEPENDENT                                                                                    \
        for (; j < n; j++)                                                                                    \
            s[j] += JPLRDL_EIGHT_SQUARES(j);                                                                  \
    }

JPLRDL_LOOPS(double, d)
JPLRDL_LOOPS(float, s)

#endif
