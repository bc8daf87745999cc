/* The 2,1 map down the columns, past the cache: squares of one panel of columns while the one before is written.

   The stores wait in a queue for memory. It must not run dry while squares are taken, and what comes behind a full queue
   must not be other stores: row by row, and the squares of eight rows in registers. */

#ifndef JPLRDL_PANELS_H
#define JPLRDL_PANELS_H

#include "_scaling.h"

/* Lines of a panel: as many vectors as leave registers for the rest. */
#define JPLRDL_PANEL 16

/* square_and_stream: squares += those of eight rows of a panel, each followed by stream_rows for its row of v. In the
   order of additions of add_squares. */
#if JPLRDL_INTRINSICS
#define JPLRDL_TURNS(T, prefix, suffix)                                                                       \
    __attribute__((target("avx512f"))) static void prefix##square_and_stream(                                 \
        ptrdiff_t k, const T *panel, T *squares, ptrdiff_t from, ptrdiff_t to, const T *s, const T *v,        \
        T *out, const T *end) {                                                                               \
        enum { WIDTH = 64 / sizeof(T) };                                                                      \
        __typeof__(_mm512_setzero_##suffix()) sums[JPLRDL_PANEL], x;                                          \
        for (int j = 0; j < JPLRDL_PANEL; j++)                                                                \
            sums[j] = _mm512_setzero_##suffix();                                                              \
        for (int i = 0; i < 8; i++, panel += k, v += k, out += k) {                                           \
            _Pragma("GCC unroll 16") for (int j = 0; j < JPLRDL_PANEL; j++) {                                 \
                _mm_prefetch((const char *) (panel + 8 * k + WIDTH * j), _MM_HINT_T0);                        \
                x = _mm512_loadu_##suffix(panel + WIDTH * j);                                                 \
                sums[j] = _mm512_add_##suffix(sums[j], _mm512_mul_##suffix(x, x));                            \
            }                                                                                                 \
            prefix##stream_row(k, from, to, s, v, out, end);                                                  \
        }                                                                                                     \
        for (int j = 0; j < JPLRDL_PANEL; j++)                                                                \
            _mm512_storeu_##suffix(squares + WIDTH * j,                                                       \
                                   _mm512_add_##suffix(_mm512_loadu_##suffix(squares + WIDTH * j), sums[j])); \
    }
JPLRDL_TURNS(double, d, pd)
JPLRDL_TURNS(float, s, ps)
#else
#define dsquare_and_stream(k, panel, squares, from, to, s, v, out, end)
#define ssquare_and_stream(k, panel, squares, from, to, s, v, out, end)
#endif

#endif
