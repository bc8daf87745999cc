/* Loops over the columns of small matrices, for feature-sign search, where a call of BLAS costs as much as its work. */

#ifndef JPLRDL_COLUMNS_H
#define JPLRDL_COLUMNS_H

#include <stdint.h>
#include <string.h>

#include "_vectors.h"

/* Four sums at once, as one vector where the compiler has such types. */
#if defined(__GNUC__)
#define JPLRDL_INLINE static inline __attribute__((always_inline))
#define JPLRDL_SAME_MEMORY __attribute__((may_alias))
#define JPLRDL_FOUR(T, name) \
    typedef T name __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
#define JPLRDL_ADD_PRODUCTS(name, sums, a, x) sums += *(const name *)(a) * *(const name *)(x)
#else
#define JPLRDL_INLINE static inline
#define JPLRDL_SAME_MEMORY
#define JPLRDL_FOUR(T, name) typedef T name[4];
#define JPLRDL_ADD_PRODUCTS(name, sums, a, x) \
    for (int j_ = 0; j_ < 4; j_++)            \
        sums[j_] += (a)[j_] * (x)[j_]
#endif
#define JPLRDL_TOTAL(sums) ((sums[0] + sums[2]) + (sums[1] + sums[3]))

/* The totals of four such sums, as a matrix is transposed; the same bits. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define JPLRDL_TOTALS(name, f, totals)                                                                        \
    do {                                                                                                      \
        name p_ = __builtin_shufflevector(f[0], f[1], 0, 4, 1, 5) + __builtin_shufflevector(f[0], f[1], 2, 6, 3, 7); \
        name q_ = __builtin_shufflevector(f[2], f[3], 0, 4, 1, 5) + __builtin_shufflevector(f[2], f[3], 2, 6, 3, 7); \
        *(name *)(totals) =                                                                                   \
            __builtin_shufflevector(p_, q_, 0, 1, 4, 5) + __builtin_shufflevector(p_, q_, 2, 3, 6, 7);        \
    } while (0)
#endif
#endif
#ifndef JPLRDL_TOTALS
#define JPLRDL_TOTALS(name, f, totals) \
    for (int j_ = 0; j_ < 4; j_++)     \
        (totals)[j_] = JPLRDL_TOTAL(f[j_])
#endif

JPLRDL_FOUR(double, dfour)
JPLRDL_FOUR(float, sfour)

/* The products of four rows with x, the first columns, as many as vectors of eight have; returns how many these are. A
   vector of eight doubles would be too long. */
#define JPLRDL_NO_EIGHT(T, prefix)                                                                            \
    JPLRDL_INLINE ptrdiff_t prefix##eight_products(ptrdiff_t n, const T *x, const T *const row[4],            \
                                                   prefix##four sums[4]) {                                    \
        (void)n, (void)x, (void)row, (void)sums;                                                              \
        return 0;                                                                                             \
    }
JPLRDL_NO_EIGHT(double, d)
#if defined(__GNUC__)
typedef float seight __attribute__((vector_size(8 * sizeof(float)), aligned(sizeof(float)), may_alias));
/* The sum of both halves. */
JPLRDL_INLINE sfour four_of(seight w) {
    sfour half[2];
    memcpy(half, &w, sizeof w);
    return half[0] + half[1];
}
JPLRDL_INLINE ptrdiff_t seight_products(ptrdiff_t n, const float *x, const float *const row[4], sfour sums[4]) {
    seight a = {0}, b = {0}, c = {0}, d = {0};
    ptrdiff_t k = 0;
    for (; k + 8 <= n; k += 8) {
        JPLRDL_ADD_PRODUCTS(seight, a, row[0] + k, x + k);
        JPLRDL_ADD_PRODUCTS(seight, b, row[1] + k, x + k);
        JPLRDL_ADD_PRODUCTS(seight, c, row[2] + k, x + k);
        JPLRDL_ADD_PRODUCTS(seight, d, row[3] + k, x + k);
    }
    sums[0] = four_of(a), sums[1] = four_of(b), sums[2] = four_of(c), sums[3] = four_of(d);
    return k;
}
#else
JPLRDL_NO_EIGHT(float, s)
#endif

/* The same, all columns, of which there is a multiple of four: the sums of each row. */
#define JPLRDL_PRODUCTS(T, prefix)                                                                            \
    JPLRDL_INLINE void prefix##four_products(ptrdiff_t n, const T *x, const T *const row[4], T *sums) {       \
        prefix##four f[4] = {{0}, {0}, {0}, {0}};                                                             \
        for (ptrdiff_t k = prefix##eight_products(n, x, row, f); k < n; k += 4) {                             \
            JPLRDL_ADD_PRODUCTS(prefix##four, f[0], row[0] + k, x + k);                                       \
            JPLRDL_ADD_PRODUCTS(prefix##four, f[1], row[1] + k, x + k);                                       \
            JPLRDL_ADD_PRODUCTS(prefix##four, f[2], row[2] + k, x + k);                                       \
            JPLRDL_ADD_PRODUCTS(prefix##four, f[3], row[3] + k, x + k);                                       \
        }                                                                                                     \
        JPLRDL_TOTALS(prefix##four, f, sums);                                                                 \
    }

JPLRDL_PRODUCTS(double, d)
JPLRDL_PRODUCTS(float, s)

/* add_columns: y += Ax over the columns `which` of A, or over the first ones; four at a time.
   forward: X = R^-T X for the upper triangular R with leading dimension ldr; inverse holds 1 / R_ii. The rows of X before
   `first`, a multiple of four, are those of the answer already. Four columns of R stay in the first cache for all of X.
   backward: x = R^-1 x.
   rotate: n Givens rotations, one after the other, of neighbours in x.
   largest: max |v_i|.
   count_above: how many |v_i| > cut >= 0.
   find_above: the places of |v_i| > cut >= 0, in order; returns how many. Most blocks have none.
   These compare the bits of |v_i|, integers in the same order, because a compiler may take their maximum in any order. */
#define JPLRDL_COLUMNS(T, prefix, integer, signless)                                                          \
    typedef integer prefix##bits JPLRDL_SAME_MEMORY;                                                          \
    JPLRDL_WIDEST static void prefix##add_columns(ptrdiff_t n, ptrdiff_t count, const T *x, const T *A,       \
                                                  ptrdiff_t lda, const int *which, T *y) {                    \
        for (ptrdiff_t k = 0; k < count; k += 4) {                                                            \
            T w[4] = {0};                                                                                     \
            const T *column[4];                                                                               \
            for (ptrdiff_t j = 0; j < 4; j++) {                                                               \
                ptrdiff_t i = k + j < count ? k + j : k;                                                      \
                w[j] = k + j < count ? x[i] : 0;                                                              \
                column[j] = A + lda * (which ? which[i] : i);                                                 \
            }                                                                                                 \
            const T *a = column[0], *b = column[1], *c = column[2], *d = column[3];                           \
            T p = w[0], q = w[1], r = w[2], s = w[3];                                                         \
            JPLRDL_INDEPENDENT                                                                                \
            for (ptrdiff_t i = 0; i < n; i++)                                                                 \
                y[i] += (p * a[i] + q * b[i]) + (r * c[i] + s * d[i]);                                        \
        }                                                                                                     \
    }                                                                                                         \
    JPLRDL_WIDEST static void prefix##forward(ptrdiff_t first, ptrdiff_t n, const T *R, ptrdiff_t ldr,        \
                                              const T *inverse, ptrdiff_t count, T *X, ptrdiff_t ldx) {       \
        ptrdiff_t i = first;                                                                                  \
        T *end = X + count * ldx;                                                                             \
        for (; i + 4 <= n; i += 4) {                                                                          \
            const T *r = R + i * ldr, *s = r + ldr, *t = s + ldr, *u = t + ldr;                               \
            const T *rows[4] = {r, s, t, u};                                                                  \
            for (T *x = X; x < end; x += ldx) {                                                               \
                T sums[4];                                                                                    \
                prefix##four_products(i, x, rows, sums);                                                      \
                x[i] = (x[i] - sums[0]) * inverse[i];                                                         \
                x[i + 1] = (x[i + 1] - sums[1] - s[i] * x[i]) * inverse[i + 1];                               \
                x[i + 2] = (x[i + 2] - sums[2] - t[i] * x[i] - t[i + 1] * x[i + 1]) * inverse[i + 2];         \
                x[i + 3] = (x[i + 3] - sums[3] - u[i] * x[i] - u[i + 1] * x[i + 1]                            \
                            - u[i + 2] * x[i + 2]) * inverse[i + 3];                                          \
            }                                                                                                 \
        }                                                                                                     \
        for (; i < n; i++) {                                                                                  \
            const T *r = R + i * ldr;                                                                         \
            for (T *x = X; x < end; x += ldx) {                                                               \
                prefix##four a = {0};                                                                         \
                ptrdiff_t k = 0;                                                                              \
                for (; k + 4 <= i; k += 4)                                                                    \
                    JPLRDL_ADD_PRODUCTS(prefix##four, a, r + k, x + k);                                       \
                T rest = x[i] - JPLRDL_TOTAL(a);                                                              \
                for (; k < i; k++)                                                                            \
                    rest -= r[k] * x[k];                                                                      \
                x[i] = rest * inverse[i];                                                                     \
            }                                                                                                 \
        }                                                                                                     \
    }                                                                                                         \
    JPLRDL_WIDEST static void prefix##backward(ptrdiff_t n, const T *R, ptrdiff_t ldr, const T *inverse,      \
                                               T *x) {                                                        \
        ptrdiff_t i = n, k;                                                                                   \
        while (i % 4 != 0) {                                                                                  \
            const T *r = R + --i * ldr;                                                                       \
            T e = x[i] * inverse[i];                                                                          \
            x[i] = e;                                                                                         \
            JPLRDL_INDEPENDENT                                                                                \
            for (k = 0; k < i; k++)                                                                           \
                x[k] -= e * r[k];                                                                             \
        }                                                                                                     \
        while (i > 0) {                                                                                       \
            i -= 4;                                                                                           \
            const T *r = R + i * ldr, *s = r + ldr, *t = s + ldr, *u = t + ldr;                               \
            T h = x[i + 3] * inverse[i + 3];                                                                  \
            T g = (x[i + 2] - u[i + 2] * h) * inverse[i + 2];                                                 \
            T f = (x[i + 1] - u[i + 1] * h - t[i + 1] * g) * inverse[i + 1];                                  \
            T e = (x[i] - u[i] * h - t[i] * g - s[i] * f) * inverse[i];                                       \
            x[i] = e, x[i + 1] = f, x[i + 2] = g, x[i + 3] = h;                                               \
            JPLRDL_INDEPENDENT                                                                                \
            for (k = 0; k < i; k++)                                                                           \
                x[k] -= (r[k] * e + s[k] * f) + (t[k] * g + u[k] * h);                                        \
        }                                                                                                     \
    }                                                                                                         \
    JPLRDL_WIDEST static void prefix##rotate(ptrdiff_t n, const T *cosine, const T *sine, T *x) {             \
        T above = x[0];                                                                                       \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                   \
            T below = x[i + 1];                                                                               \
            x[i] = cosine[i] * above + sine[i] * below;                                                       \
            above = cosine[i] * below - sine[i] * above;                                                      \
        }                                                                                                     \
        x[n] = above;                                                                                         \
    }                                                                                                         \
    JPLRDL_INLINE integer prefix##largest_bits(ptrdiff_t n, const T *v) {                                     \
        const prefix##bits *bits = (const prefix##bits *) v;                                                  \
        integer worst = 0;                                                                                    \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                   \
            integer size = bits[i] & signless;                                                                \
            worst = size > worst ? size : worst;                                                              \
        }                                                                                                     \
        return worst;                                                                                         \
    }                                                                                                         \
    JPLRDL_WIDEST static T prefix##largest(ptrdiff_t n, const T *v) {                                         \
        integer worst = prefix##largest_bits(n, v);                                                           \
        T value;                                                                                              \
        memcpy(&value, &worst, sizeof value);                                                                 \
        return value;                                                                                         \
    }                                                                                                         \
    JPLRDL_WIDEST static ptrdiff_t prefix##count_above(ptrdiff_t n, const T *v, T cut) {                      \
        const prefix##bits *bits = (const prefix##bits *) v;                                                  \
        integer limit, count = 0;                                                                             \
        memcpy(&limit, &cut, sizeof limit);                                                                   \
        for (ptrdiff_t i = 0; i < n; i++)                                                                     \
            count += (bits[i] & signless) > limit;                                                            \
        return (ptrdiff_t) count;                                                                             \
    }                                                                                                         \
    JPLRDL_WIDEST static ptrdiff_t prefix##find_above(ptrdiff_t n, const T *v, T cut, int *found) {           \
        const prefix##bits *bits = (const prefix##bits *) v;                                                  \
        ptrdiff_t count = 0;                                                                                  \
        integer limit;                                                                                        \
        memcpy(&limit, &cut, sizeof limit);                                                                   \
        for (ptrdiff_t start = 0; start < n; start += 64) {                                                   \
            ptrdiff_t stop = start + 64 < n ? start + 64 : n;                                                 \
            if (prefix##largest_bits(stop - start, v + start) <= limit)                                       \
                continue;                                                                                     \
            for (ptrdiff_t i = start; i < stop; i++) {                                                        \
                found[count] = (int) i;                                                                       \
                count += (bits[i] & signless) > limit;                                                        \
            }                                                                                                 \
        }                                                                                                     \
        return count;                                                                                         \
    }

JPLRDL_COLUMNS(double, d, int64_t, INT64_MAX)
JPLRDL_COLUMNS(float, s, int32_t, INT32_MAX)

#endif
