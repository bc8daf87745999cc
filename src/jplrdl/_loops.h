/* Loops over memory, for the proximal maps. An output may be the input of the same index: nothing else overlaps. */

#ifndef JPLRDL_LOOPS_H
#define JPLRDL_LOOPS_H

#include "_vectors.h"

/* shrink: out = sign(v) max(|v| - t, 0); true if v is not finite, for x - x is then not zero.
   add_squares: s += squares of eight rows.
   multiply: out = s v, element by element.
   scale: out = s v for one number s; returns the sum of squares of the next row, so that one row is fetched while
   another is stored. Its lanes are added pair by pair: short rows must not wait for one sum after the other. */
#define JPLRDL_LOOPS(T, prefix)                                                                               \
    JPLRDL_WHOLE_LINES static int prefix##shrink(ptrdiff_t n, const T *v, T t, T *out) {                      \
        T lane[16] = {0}, sum = 0;                                                                            \
        ptrdiff_t i = 0;                                                                                      \
        for (; i + 16 <= n; i += 16) {                                                                        \
            JPLRDL_INDEPENDENT                                                                                \
            for (int j = 0; j < 16; j++) {                                                                    \
                T x = v[i + j], above = x - t, below = x + t;                                                 \
                out[i + j] = (above > 0 ? above : 0) + (below < 0 ? below : 0);                               \
                lane[j] += x - x;                                                                             \
            }                                                                                                 \
        }                                                                                                     \
        for (; i < n; i++) {                                                                                  \
            T x = v[i], above = x - t, below = x + t;                                                         \
            out[i] = (above > 0 ? above : 0) + (below < 0 ? below : 0);                                       \
            sum += x - x;                                                                                     \
        }                                                                                                     \
        for (int j = 0; j < 16; j++)                                                                          \
            sum += lane[j];                                                                                   \
        return !(sum == 0);                                                                                   \
    }                                                                                                         \
    JPLRDL_WIDEST static void prefix##add_squares(ptrdiff_t n, const T *a, T *s) {                            \
        const T *b = a + n, *c = b + n, *d = c + n, *e = d + n, *f = e + n, *g = f + n, *h = g + n;           \
        JPLRDL_INDEPENDENT                                                                                    \
        for (ptrdiff_t j = 0; j < n; j++)                                                                     \
            s[j] += ((a[j] * a[j] + b[j] * b[j]) + (c[j] * c[j] + d[j] * d[j]))                               \
                    + ((e[j] * e[j] + f[j] * f[j]) + (g[j] * g[j] + h[j] * h[j]));                            \
    }                                                                                                         \
    JPLRDL_WIDEST static void prefix##multiply(ptrdiff_t n, const T *s, const T *v, T *out) {                 \
        JPLRDL_INDEPENDENT                                                                                    \
        for (ptrdiff_t j = 0; j < n; j++)                                                                     \
            out[j] = s[j] * v[j];                                                                             \
    }                                                                                                         \
    JPLRDL_WIDEST static T prefix##scale(ptrdiff_t n, T s, const T *v, T *out, const T *next) {               \
        T lane[16] = {0}, rest = 0;                                                                           \
        ptrdiff_t i = 0;                                                                                      \
        for (; i + 16 <= n; i += 16) {                                                                        \
            JPLRDL_INDEPENDENT                                                                                \
            for (int j = 0; j < 16; j++) {                                                                    \
                lane[j] += next[i + j] * next[i + j];                                                         \
                out[i + j] = s * v[i + j];                                                                    \
            }                                                                                                 \
        }                                                                                                     \
        for (; i < n; i++) {                                                                                  \
            rest += next[i] * next[i];                                                                        \
            out[i] = s * v[i];                                                                                \
        }                                                                                                     \
        T even = ((lane[0] + lane[8]) + (lane[4] + lane[12])) + ((lane[2] + lane[10]) + (lane[6] + lane[14])); \
        T odd = ((lane[1] + lane[9]) + (lane[5] + lane[13])) + ((lane[3] + lane[11]) + (lane[7] + lane[15])); \
        return rest + (even + odd);                                                                           \
    }

JPLRDL_LOOPS(double, d)
JPLRDL_LOOPS(float, s)

#endif
