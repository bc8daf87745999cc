/* Scaling of rows: out = s v, for a number s or element by element, the second half of the 2,1 map.

   Stores that cross the end of a cache line take twice as long. So stores begin with a whole vector of the result, with
   the vectors of AVX where the processor has them; all versions multiply, and nothing else, and give the same bits.

   Streaming stores go past the cache: they write a line without reading it first, and leave the cache to the matrix that
   is read a second time. That is for matrices that no cache holds; others would have to fetch their result from memory. */

#ifndef JPLRDL_SCALING_H
#define JPLRDL_SCALING_H

#include <stdint.h>

#include "_vectors.h"

#define JPLRDL_NUMBER(i) s
#define JPLRDL_ELEMENT(i) s[i]

#define JPLRDL_PLAIN(T, name, argument, factor)                                                               \
    JPLRDL_WIDEST static void name(ptrdiff_t n, argument, const T *v, T *out) {                               \
        JPLRDL_INDEPENDENT                                                                                    \
        for (ptrdiff_t i = 0; i < n; i++)                                                                     \
            out[i] = factor(i) * v[i];                                                                        \
    }
JPLRDL_PLAIN(double, dscale_plain, double s, JPLRDL_NUMBER)
JPLRDL_PLAIN(float, sscale_plain, float s, JPLRDL_NUMBER)
JPLRDL_PLAIN(double, dmultiply_plain, const double *s, JPLRDL_ELEMENT)
JPLRDL_PLAIN(float, smultiply_plain, const float *s, JPLRDL_ELEMENT)

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define JPLRDL_HAS_AVX __builtin_cpu_supports("avx")
#define JPLRDL_FENCE() _mm_sfence()

#define JPLRDL_VECTOR(i, factor, suffix, store)                                                               \
    store(out + (i), _mm256_mul_##suffix(factor(i, suffix), _mm256_loadu_##suffix(v + (i))))
#define JPLRDL_NUMBERS(i, suffix) _mm256_set1_##suffix(s)
#define JPLRDL_ELEMENTS(i, suffix) _mm256_loadu_##suffix(s + (i))

/* The first and the last vector overlap with others: in place these elements would be scaled twice. */
#define JPLRDL_LINES(T, name, argument, factor, suffix)                                                       \
    __attribute__((target("avx"))) static void name(ptrdiff_t n, argument, const T *v, T *out) {              \
        const ptrdiff_t width = 32 / sizeof(T);                                                               \
        if (n < width || out == v) {                                                                          \
            name##_plain(n, s, v, out);                                                                       \
            return;                                                                                           \
        }                                                                                                     \
        JPLRDL_VECTOR(0, factor, suffix, _mm256_storeu_##suffix);                                             \
        for (ptrdiff_t i = (32 - (uintptr_t) out % 32) / sizeof(T); i + width <= n; i += width)               \
            JPLRDL_VECTOR(i, factor, suffix, _mm256_storeu_##suffix);                                         \
        JPLRDL_VECTOR(n - width, factor, suffix, _mm256_storeu_##suffix);                                     \
    }
JPLRDL_LINES(double, dscale, double s, JPLRDL_NUMBERS, pd)
JPLRDL_LINES(float, sscale, float s, JPLRDL_NUMBERS, ps)
JPLRDL_LINES(double, dmultiply, const double *s, JPLRDL_ELEMENTS, pd)
JPLRDL_LINES(float, smultiply, const float *s, JPLRDL_ELEMENTS, ps)

#define JPLRDL_STREAM(T, name, suffix)                                                                        \
    __attribute__((target("avx"))) static void name(ptrdiff_t n, const T *s, const T *v, T *out) {            \
        const ptrdiff_t width = 32 / sizeof(T);                                                               \
        ptrdiff_t i = 0;                                                                                      \
        for (; i < n && (uintptr_t) (out + i) % 64; i++)                                                      \
            out[i] = s[i] * v[i];                                                                             \
        for (; i + 2 * width <= n; i += 2 * width) {                                                          \
            JPLRDL_VECTOR(i, JPLRDL_ELEMENTS, suffix, _mm256_stream_##suffix);                                \
            JPLRDL_VECTOR(i + width, JPLRDL_ELEMENTS, suffix, _mm256_stream_##suffix);                        \
        }                                                                                                     \
        for (; i < n; i++)                                                                                    \
            out[i] = s[i] * v[i];                                                                             \
    }
JPLRDL_STREAM(double, dstream, pd)
JPLRDL_STREAM(float, sstream, ps)
#else
#define JPLRDL_HAS_AVX 0
#define dscale dscale_plain
#define sscale sscale_plain
#define dmultiply dmultiply_plain
#define smultiply smultiply_plain
#define dstream dmultiply_plain
#define sstream smultiply_plain
#define JPLRDL_FENCE()
#endif

/* scale_row: out = s v for one number s.
   multiply_rows: out = s v, element by element, for each of n rows of k elements, of every four of which the first
   past_cache ones are streamed; a fence lets other threads see them. */
#define JPLRDL_SCALING(T, prefix)                                                                             \
    static void prefix##scale_row(ptrdiff_t n, T s, const T *v, T *out) {                                     \
        (JPLRDL_HAS_AVX ? prefix##scale : prefix##scale_plain)(n, s, v, out);                                 \
    }                                                                                                         \
    static void prefix##multiply_rows(ptrdiff_t n, ptrdiff_t k, const T *s, const T *v, T *out,               \
                                      int past_cache) {                                                       \
        void (*multiply[4])(ptrdiff_t, const T *, const T *, T *);                                            \
        for (int i = 0; i < 4; i++)                                                                           \
            multiply[i] = !JPLRDL_HAS_AVX ? prefix##multiply_plain                                            \
                          : i < past_cache ? prefix##stream : prefix##multiply;                               \
        for (ptrdiff_t i = 0; i < n; i++)                                                                     \
            multiply[i % 4](k, s, v + i * k, out + i * k);                                                    \
        JPLRDL_FENCE();                                                                                       \
    }
JPLRDL_SCALING(double, d)
JPLRDL_SCALING(float, s)

#endif
