/* Scaling of rows: out = s v, for a number s or element by element, the second half of the 2,1 map.

   Stores that cross the end of a cache line take twice as long. So stores begin with a whole vector of the result, with
   the vectors of AVX where the processor has them, or of a whole line, for one number; all versions multiply, and nothing
   else, and give the same bits. They go from the last element to the first, which is the faster direction.

   Streaming stores go past the cache, whole lines at a time: they write a line without reading it first, and leave the
   cache to the matrix that is read a second time. That is for results that no cache holds; others would have to be fetched
   from memory by whoever reads them. */

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

#if JPLRDL_INTRINSICS
#define JPLRDL_FENCE() _mm_sfence()

#define JPLRDL_NUMBERS(i, suffix, mm) mm##_set1_##suffix(s)
#define JPLRDL_ELEMENTS(i, suffix, mm) mm##_loadu_##suffix(s + (i))
#define JPLRDL_VECTOR(i, factor, suffix, mm, store) \
    mm##_##store##_##suffix(out + (i), mm##_mul_##suffix(factor(i, suffix, mm), mm##_loadu_##suffix(v + (i))))

/* The first and the last vector overlap with others: in place these elements would be scaled twice. */
#define JPLRDL_WHOLE_VECTORS(T, name, plain, argument, factor, suffix, mm, bytes, instructions)               \
    __attribute__((target(instructions))) static void name(ptrdiff_t n, argument, const T *v, T *out) {       \
        const ptrdiff_t width = bytes / sizeof(T);                                                            \
        if (n < width || out == v) {                                                                          \
            plain(n, s, v, out);                                                                              \
            return;                                                                                           \
        }                                                                                                     \
        JPLRDL_VECTOR(n - width, factor, suffix, mm, storeu);                                                 \
        ptrdiff_t i = n - (ptrdiff_t) ((uintptr_t) (out + n) % bytes / sizeof(T)) - width;                    \
        for (; i >= 0; i -= width)                                                                            \
            JPLRDL_VECTOR(i, factor, suffix, mm, storeu);                                                     \
        JPLRDL_VECTOR(0, factor, suffix, mm, storeu);                                                         \
    }
#define JPLRDL_BY_NUMBER(T, name, plain, suffix, mm, bytes, instructions) \
    JPLRDL_WHOLE_VECTORS(T, name, plain, T s, JPLRDL_NUMBERS, suffix, mm, bytes, instructions)
#define JPLRDL_BY_ELEMENT(T, name, plain, suffix, mm, bytes, instructions) \
    JPLRDL_WHOLE_VECTORS(T, name, plain, const T *s, JPLRDL_ELEMENTS, suffix, mm, bytes, instructions)
JPLRDL_BY_NUMBER(double, dscale, dscale_plain, pd, _mm256, 32, "avx")
JPLRDL_BY_NUMBER(float, sscale, sscale_plain, ps, _mm256, 32, "avx")
JPLRDL_BY_NUMBER(double, dscale_lines, dscale_plain, pd, _mm512, 64, "avx512f")
JPLRDL_BY_NUMBER(float, sscale_lines, sscale_plain, ps, _mm512, 64, "avx512f")
JPLRDL_BY_ELEMENT(double, dmultiply, dmultiply_plain, pd, _mm256, 32, "avx")
JPLRDL_BY_ELEMENT(float, smultiply, smultiply_plain, ps, _mm256, 32, "avx")

/* See below. The same piece eight rows further on is asked for: of pieces the processor does not see what comes next. */
#define JPLRDL_STREAM(T, prefix, suffix)                                                                      \
    __attribute__((target("avx"), always_inline)) static inline void prefix##stream_row(                      \
        ptrdiff_t k, ptrdiff_t from, ptrdiff_t to, const T *s, const T *v, T *out, const T *end) {            \
        const ptrdiff_t width = 32 / sizeof(T), stop = to < end - out ? to : end - out;                       \
        ptrdiff_t i = from + (ptrdiff_t) (-(uintptr_t) (out + from) % 64 / sizeof(T));                        \
        for (; i < stop; i += 2 * width) {                                                                    \
            _mm_prefetch((const char *) (v + 8 * k + i), _MM_HINT_T0);                                        \
            JPLRDL_VECTOR(i, JPLRDL_ELEMENTS, suffix, _mm256, stream);                                        \
            JPLRDL_VECTOR(i + width, JPLRDL_ELEMENTS, suffix, _mm256, stream);                                \
        }                                                                                                     \
    }                                                                                                         \
    __attribute__((target("avx"))) static void prefix##stream_rows(                                           \
        ptrdiff_t n, ptrdiff_t k, ptrdiff_t from, ptrdiff_t to, const T *s, const T *v, T *out,               \
        const T *end) {                                                                                       \
        for (; n > 0; n--, v += k, out += k)                                                                  \
            prefix##stream_row(k, from, to, s, v, out, end);                                                  \
    }
JPLRDL_STREAM(double, d, pd)
JPLRDL_STREAM(float, s, ps)
#else
#define dscale dscale_plain
#define sscale sscale_plain
#define dscale_lines dscale_plain
#define sscale_lines sscale_plain
#define dmultiply dmultiply_plain
#define smultiply smultiply_plain
#define dstream_rows(n, k, from, to, s, v, out, end)
#define sstream_rows(n, k, from, to, s, v, out, end)
#define JPLRDL_FENCE()
#endif

/* scale_row: out = s v for one number s.
   multiply_rows: out = s v, element by element, for each of n rows of k elements, from the last row to the first.
   stream_rows: the same past the cache, for the lines of the result that begin in the columns from, ..., to - 1 of their
   row and before `end`, where a line ends. The last line of a row reaches into the next one: s goes on with its first
   elements. Only with AVX, and before a fence others may not see it. */
#define JPLRDL_SCALING(T, prefix)                                                                             \
    static void prefix##scale_row(ptrdiff_t n, T s, const T *v, T *out) {                                     \
        (JPLRDL_HAS_LINES ? prefix##scale_lines : JPLRDL_HAS_AVX ? prefix##scale : prefix##scale_plain)       \
        (n, s, v, out);                                                                                       \
    }                                                                                                         \
    static void prefix##multiply_rows(ptrdiff_t n, ptrdiff_t k, const T *s, const T *v, T *out) {             \
        while (n-- > 0)                                                                                       \
            (JPLRDL_HAS_AVX ? prefix##multiply : prefix##multiply_plain)(k, s, v + n * k, out + n * k);       \
    }
JPLRDL_SCALING(double, d)
JPLRDL_SCALING(float, s)

#endif
