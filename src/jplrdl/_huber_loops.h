/* Loops over one row of a Huber fit, r being its residual and d a direction. */

#ifndef JPLRDL_HUBER_LOOPS_H
#define JPLRDL_HUBER_LOOPS_H

#include "_vectors.h"

#define JPLRDL_LANES 16

/* slope: at r - a d, the sum of clip(r - a d, -1, 1) d, and of d^2 over the elements that are not clipped.
   move: r -= a d and u = clip(r, -1, 1); returns the sum of the Huber loss u (r - u / 2). */
#define JPLRDL_HUBER(T, prefix)                                                                               \
    static inline T prefix##clip(T x) {                                                                       \
        T below = x < 1 ? x : 1;                                                                              \
        return below > -1 ? below : -1;                                                                       \
    }                                                                                                         \
    JPLRDL_WIDEST static void prefix##slope(ptrdiff_t n, const T *r, const T *d, T a, double *first,          \
                                            double *second) {                                                 \
        T one[JPLRDL_LANES] = {0}, two[JPLRDL_LANES] = {0};                                                   \
        ptrdiff_t i = 0;                                                                                      \
        *first = *second = 0;                                                                                 \
        for (; i + JPLRDL_LANES <= n; i += JPLRDL_LANES) {                                                    \
            JPLRDL_INDEPENDENT                                                                                \
            for (int j = 0; j < JPLRDL_LANES; j++) {                                                          \
                T x = r[i + j] - a * d[i + j], u = prefix##clip(x), square = d[i + j] * d[i + j];             \
                one[j] += u * d[i + j];                                                                       \
                two[j] += u == x ? square : 0;                                                                \
            }                                                                                                 \
        }                                                                                                     \
        for (; i < n; i++) {                                                                                  \
            T x = r[i] - a * d[i], u = prefix##clip(x);                                                       \
            *first += u * d[i];                                                                               \
            *second += u == x ? d[i] * d[i] : 0;                                                              \
        }                                                                                                     \
        for (int j = 0; j < JPLRDL_LANES; j++) {                                                              \
            *first += one[j];                                                                                 \
            *second += two[j];                                                                                \
        }                                                                                                     \
    }                                                                                                         \
    JPLRDL_WIDEST static double prefix##move(ptrdiff_t n, T *r, const T *d, T a, T *u) {                      \
        T lane[JPLRDL_LANES] = {0};                                                                           \
        double loss = 0;                                                                                      \
        ptrdiff_t i = 0;                                                                                      \
        for (; i + JPLRDL_LANES <= n; i += JPLRDL_LANES) {                                                    \
            JPLRDL_INDEPENDENT                                                                                \
            for (int j = 0; j < JPLRDL_LANES; j++) {                                                          \
                T x = r[i + j] - a * d[i + j], c = prefix##clip(x);                                           \
                r[i + j] = x;                                                                                 \
                u[i + j] = c;                                                                                 \
                lane[j] += c * (x - c / 2);                                                                   \
            }                                                                                                 \
        }                                                                                                     \
        for (; i < n; i++) {                                                                                  \
            r[i] -= a * d[i];                                                                                 \
            u[i] = prefix##clip(r[i]);                                                                        \
            loss += u[i] * (r[i] - u[i] / 2);                                                                 \
        }                                                                                                     \
        for (int j = 0; j < JPLRDL_LANES; j++)                                                                \
            loss += lane[j];                                                                                  \
        return loss;                                                                                          \
    }

JPLRDL_HUBER(double, d)
JPLRDL_HUBER(float, s)

#endif
