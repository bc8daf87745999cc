/* The loops of _reduction.pyx. */

#ifndef JPLRDL_REDUCTION_LOOPS_H
#define JPLRDL_REDUCTION_LOOPS_H

#include "_columns.h"

/* symmetric_rows: y += Av, as far as the rows from `first`, a multiple of four, to `last` of A's lower triangle have a
   part in it: each of its elements is read once for both sides of the diagonal, those of four rows at a time.
   single_rows: the same, row by row.
   dots: the products of the first rows of A with x.
   scaled: y = ax.     plus: y = x + az. */
#define JPLRDL_REDUCTION(T, prefix)                                                                             \
    static void prefix##single_rows(ptrdiff_t first, ptrdiff_t last, const T *A, ptrdiff_t lda, const T *v,     \
                                    T *y) {                                                                     \
        for (ptrdiff_t i = first; i < last; i++) {                                                              \
            const T *a = A + i * lda;                                                                           \
            T sum = a[i] * v[i];                                                                                \
            for (ptrdiff_t j = 0; j < i; j++) {                                                                 \
                sum += a[j] * v[j];                                                                             \
                y[j] += a[j] * v[i];                                                                            \
            }                                                                                                   \
            y[i] += sum;                                                                                        \
        }                                                                                                       \
    }                                                                                                           \
    JPLRDL_WIDEST static void prefix##dots(ptrdiff_t n, ptrdiff_t count, const T *A, ptrdiff_t lda, const T *x, \
                                           T *out) {                                                            \
        ptrdiff_t whole = n - n % 4;                                                                            \
        for (ptrdiff_t k = 0; k < count; k += 4) {                                                              \
            const T *row[4];                                                                                    \
            for (ptrdiff_t j = 0; j < 4; j++)                                                                   \
                row[j] = A + lda * (k + j < count ? k + j : k);                                                 \
            T sums[4];                                                                                          \
            prefix##four_products(whole, x, row, sums);                                                         \
            for (ptrdiff_t j = 0; j < 4 && k + j < count; j++) {                                                \
                for (ptrdiff_t i = whole; i < n; i++)                                                           \
                    sums[j] += row[j][i] * x[i];                                                                \
                out[k + j] = sums[j];                                                                           \
            }                                                                                                   \
        }                                                                                                       \
    }                                                                                                           \
    JPLRDL_WIDEST static void prefix##scaled(ptrdiff_t n, T a, const T *x, T *y) {                              \
        JPLRDL_INDEPENDENT                                                                                      \
        for (ptrdiff_t i = 0; i < n; i++)                                                                       \
            y[i] = a * x[i];                                                                                    \
    }                                                                                                           \
    JPLRDL_WIDEST static void prefix##plus(ptrdiff_t n, const T *x, T a, const T *z, T *y) {                    \
        JPLRDL_INDEPENDENT                                                                                      \
        for (ptrdiff_t i = 0; i < n; i++)                                                                       \
            y[i] = x[i] + a * z[i];                                                                             \
    }

JPLRDL_REDUCTION(double, d)
JPLRDL_REDUCTION(float, s)

#if defined(__GNUC__)
#define JPLRDL_AT(vector, p) (*(vector *)(p))
/* Of each of four rows a sum, and what they add to y, for as many columns as a vector has elements. */
#define JPLRDL_FOUR_ROWS(vector, j, e, f, g, h)                                                               \
    do {                                                                                                      \
        vector x_ = JPLRDL_AT(const vector, v + j), k_ = JPLRDL_AT(const vector, a + j),                      \
               l_ = JPLRDL_AT(const vector, b + j), m_ = JPLRDL_AT(const vector, c + j),                      \
               n_ = JPLRDL_AT(const vector, d + j);                                                           \
        e += k_ * x_, f += l_ * x_, g += m_ * x_, h += n_ * x_;                                               \
        JPLRDL_AT(vector, y + j) += (k_ * p + l_ * q) + (m_ * r + n_ * s);                                    \
    } while (0)
/* `wide` has `lanes` elements, four or eight; `sum` adds what a wide vector has beyond four to the first four. */
#define JPLRDL_SYMMETRIC_ROWS(T, prefix, wide, lanes, sum)                                                    \
    JPLRDL_WIDEST static void prefix##symmetric_rows(ptrdiff_t first, ptrdiff_t last, const T *A,             \
                                                     ptrdiff_t lda, const T *v, T *y) {                       \
        ptrdiff_t i = first;                                                                                  \
        for (; i + 4 <= last; i += 4) {                                                                       \
            const T *a = A + i * lda, *b = a + lda, *c = b + lda, *d = c + lda;                               \
            T p = v[i], q = v[i + 1], r = v[i + 2], s = v[i + 3];                                             \
            wide we = {0}, wf = {0}, wg = {0}, wh = {0};                                                      \
            ptrdiff_t j = 0;                                                                                  \
            for (; j + lanes <= i; j += lanes)                                                                \
                JPLRDL_FOUR_ROWS(wide, j, we, wf, wg, wh);                                                    \
            prefix##four e = sum(we), f = sum(wf), g = sum(wg), h = sum(wh);                                  \
            if (j < i)                                                                                        \
                JPLRDL_FOUR_ROWS(prefix##four, j, e, f, g, h);                                                \
            y[i] += JPLRDL_TOTAL(e) + ((a[i] * p + b[i] * q) + (c[i] * r + d[i] * s));                        \
            y[i + 1] += JPLRDL_TOTAL(f) + ((b[i] * p + b[i + 1] * q) + (c[i + 1] * r + d[i + 1] * s));        \
            y[i + 2] += JPLRDL_TOTAL(g) + ((c[i] * p + c[i + 1] * q) + (c[i + 2] * r + d[i + 2] * s));        \
            y[i + 3] += JPLRDL_TOTAL(h) + ((d[i] * p + d[i + 1] * q) + (d[i + 2] * r + d[i + 3] * s));        \
        }                                                                                                     \
        prefix##single_rows(i, last, A, lda, v, y);                                                           \
    }

#define JPLRDL_AS_IT_IS(w) w

JPLRDL_SYMMETRIC_ROWS(double, d, dfour, 4, JPLRDL_AS_IT_IS)
JPLRDL_SYMMETRIC_ROWS(float, s, seight, 8, four_of)
#else
#define dsymmetric_rows dsingle_rows
#define ssymmetric_rows ssingle_rows
#endif

#endif
