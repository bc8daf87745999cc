/* Sums of squares, for the 2,1 map: of a row, and down the columns of eight rows. */

#ifndef JPLRDL_SQUARES_H
#define JPLRDL_SQUARES_H

#include <stdint.h>
#include <string.h>

#include "_vectors.h"

/* Vectors of AVX's size, which GCC does not always find by itself; one number where a compiler has no such types. */
#if defined(__GNUC__)
#define JPLRDL_WIDE(T, name) typedef T name __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
#else
#define JPLRDL_WIDE(T, name) typedef T name;
#endif
JPLRDL_WIDE(double, dwide)
JPLRDL_WIDE(float, swide)

/* squares: the sum of v's, from the last one on, which is the faster direction for a map that writes, too. Four vectors of
   sums are added in the end; what is left over goes to one of them: short rows must not wait for one sum after the other.
   add_squares: s += squares of eight rows of n, their first k elements. Loads that cross the end of a cache line take twice
   as long, so they begin with a whole vector of the first row. */
#define JPLRDL_EIGHT_SQUARES(j)                                                                               \
    (((((((a[j] * a[j] + b[j] * b[j]) + c[j] * c[j]) + d[j] * d[j]) + e[j] * e[j]) + f[j] * f[j]) +           \
      g[j] * g[j]) + h[j] * h[j])
#define JPLRDL_SQUARES(T, prefix)                                                                             \
    JPLRDL_WIDEST static T prefix##squares(ptrdiff_t n, const T *v) {                                         \
        enum { WIDTH = sizeof(prefix##wide) / sizeof(T) };                                                    \
        prefix##wide sums[4];                                                                                 \
        T lane[WIDTH], rest = 0;                                                                              \
        memset(sums, 0, sizeof sums);                                                                         \
        for (; n >= 4 * WIDTH; n -= 4 * WIDTH) {                                                              \
            const prefix##wide *x = (const prefix##wide *) (v + n - 4 * WIDTH);                               \
            sums[3] += x[3] * x[3];                                                                           \
            sums[2] += x[2] * x[2];                                                                           \
            sums[1] += x[1] * x[1];                                                                           \
            sums[0] += x[0] * x[0];                                                                           \
        }                                                                                                     \
        for (; n >= WIDTH; n -= WIDTH) {                                                                      \
            const prefix##wide *x = (const prefix##wide *) (v + n - WIDTH);                                   \
            sums[0] += *x * *x;                                                                               \
        }                                                                                                     \
        while (n-- > 0)                                                                                       \
            rest += v[n] * v[n];                                                                              \
        sums[0] = (sums[0] + sums[2]) + (sums[1] + sums[3]);                                                  \
        memcpy(lane, &sums[0], sizeof lane);                                                                  \
        for (int half = WIDTH / 2; half > 0; half /= 2)                                                       \
            for (int j = 0; j < half; j++)                                                                    \
                lane[j] += lane[j + half];                                                                    \
        return rest + lane[0];                                                                                \
    }                                                                                                         \
    JPLRDL_WIDEST static void prefix##add_squares(ptrdiff_t n, ptrdiff_t k, const T *a, T *s) {               \
        const T *b = a + n, *c = b + n, *d = c + n, *e = d + n, *f = e + n, *g = f + n, *h = g + n;           \
        ptrdiff_t whole = (ptrdiff_t) (-(uintptr_t) a % 32 / sizeof(T)), j = 0;                               \
        for (; j < k && j < whole; j++)                                                                       \
            s[j] += JPLRDL_EIGHT_SQUARES(j);                                                                  \
        JPLRDL_INDEPENDENT                                                                                    \
        for (; j < k; j++)                                                                                    \
            s[j] += JPLRDL_EIGHT_SQUARES(j);                                                                  \
    }

JPLRDL_SQUARES(double, d)
JPLRDL_SQUARES(float, s)

#endif
