/* The l1 map: out = sign(v) max(|v| - t, 0), as v - max(min(v, t), -t), which has the same bits.

   A map that moves memory and little else. Stores that cross the end of a cache line take twice as long, so vectors begin
   with a line of the result; and a load waits for an earlier store if the last twelve bits of their addresses agree, so
   the direction is the one in which loads run ahead of no store. All versions give the same bits. */

#ifndef JPLRDL_SHRINK_H
#define JPLRDL_SHRINK_H

#include <stdint.h>

#include "_vectors.h"

/* shrink_each: element by element; 0, or NaN if v is not finite, for x - x is then not zero.
   shrink_lines: two vectors at a time, between what comes before the first whole line of the result and after the last
   two vectors. An array that has no two vectors there goes element by element. */
#define JPLRDL_SHRINK_EACH(T, name)                                                                           \
    JPLRDL_WIDEST static T name(ptrdiff_t n, const T *v, T t, T *out) {                                       \
        T lane[16] = {0}, sum = 0;                                                                            \
        ptrdiff_t i = 0;                                                                                      \
        for (; i + 16 <= n; i += 16) {                                                                        \
            JPLRDL_INDEPENDENT                                                                                \
            for (int j = 0; j < 16; j++) {                                                                    \
                T x = v[i + j], inside = x < t ? x : t;                                                       \
                out[i + j] = x - (inside > -t ? inside : -t);                                                 \
                lane[j] += x - x;                                                                             \
            }                                                                                                 \
        }                                                                                                     \
        for (; i < n; i++) {                                                                                  \
            T x = v[i], inside = x < t ? x : t;                                                               \
            out[i] = x - (inside > -t ? inside : -t);                                                         \
            sum += x - x;                                                                                     \
        }                                                                                                     \
        for (int j = 0; j < 16; j++)                                                                          \
            sum += lane[j];                                                                                   \
        return sum;                                                                                           \
    }
JPLRDL_SHRINK_EACH(double, dshrink_each)
JPLRDL_SHRINK_EACH(float, sshrink_each)

#if JPLRDL_INTRINSICS
#define JPLRDL_SHRUNK(mm, suffix, x) \
    mm##_sub_##suffix(x, mm##_max_##suffix(mm##_min_##suffix(x, high), low))
#define JPLRDL_SHRINK_LINES(T, name, each, suffix, mm, vector, bytes, instructions)                           \
    __attribute__((target(instructions))) static T name(ptrdiff_t n, const T *v, T t, T *out) {               \
        const ptrdiff_t width = bytes / sizeof(T);                                                            \
        const int backwards = ((uintptr_t) out - (uintptr_t) v) % 4096 < 2048 && out != v;                    \
        ptrdiff_t head = (ptrdiff_t) (-(uintptr_t) out % 64 / sizeof(T)), left = (n - head) / (2 * width);    \
        if (left <= 0)                                                                                        \
            return each(n, v, t, out);                                                                        \
        const vector high = mm##_set1_##suffix(t), low = mm##_set1_##suffix(-t);                              \
        vector first = mm##_setzero_##suffix(), second = mm##_setzero_##suffix();                             \
        const ptrdiff_t tail = head + left * 2 * width, step = backwards ? -2 * width : 2 * width;            \
        for (ptrdiff_t i = backwards ? tail + step : head; left > 0; left--, i += step) {                     \
            vector x = mm##_loadu_##suffix(v + i), y = mm##_loadu_##suffix(v + i + width);                    \
            mm##_storeu_##suffix(out + i, JPLRDL_SHRUNK(mm, suffix, x));                                      \
            mm##_storeu_##suffix(out + i + width, JPLRDL_SHRUNK(mm, suffix, y));                              \
            first = mm##_add_##suffix(first, mm##_sub_##suffix(x, x));                                        \
            second = mm##_add_##suffix(second, mm##_sub_##suffix(y, y));                                      \
        }                                                                                                     \
        T lane[bytes / sizeof(T)], sum = each(head, v, t, out) + each(n - tail, v + tail, t, out + tail);     \
        mm##_storeu_##suffix(lane, mm##_add_##suffix(first, second));                                         \
        for (ptrdiff_t j = 0; j < width; j++)                                                                 \
            sum += lane[j];                                                                                   \
        return sum;                                                                                           \
    }
JPLRDL_SHRINK_LINES(double, dshrink_lines, dshrink_each, pd, _mm512, __m512d, 64, "avx512f")
JPLRDL_SHRINK_LINES(float, sshrink_lines, sshrink_each, ps, _mm512, __m512, 64, "avx512f")
JPLRDL_SHRINK_LINES(double, dshrink_halves, dshrink_each, pd, _mm256, __m256d, 32, "avx")
JPLRDL_SHRINK_LINES(float, sshrink_halves, sshrink_each, ps, _mm256, __m256, 32, "avx")
#else
#define dshrink_lines dshrink_each
#define sshrink_lines sshrink_each
#define dshrink_halves dshrink_each
#define sshrink_halves sshrink_each
#endif

/* True if v is not finite. */
#define JPLRDL_SHRINK(T, prefix)                                                                              \
    static int prefix##shrink(ptrdiff_t n, const T *v, T t, T *out) {                                         \
        T sum = (JPLRDL_HAS_LINES ? prefix##shrink_lines : JPLRDL_HAS_AVX ? prefix##shrink_halves             \
                 : prefix##shrink_each)(n, v, t, out);                                                        \
        return !(sum == 0);                                                                                   \
    }
JPLRDL_SHRINK(double, d)
JPLRDL_SHRINK(float, s)

#endif
