/* Loops in C because only a C compiler can be asked for several versions of one function: wheels are built for the
   oldest processor, whose narrow vectors would leave half of the memory's speed unused. Without fused multiply-add all
   versions give the same bits; sums go to a fixed number of lanes. Where a compiler does not find the vectors by itself
   they are written out, those of a whole cache line (AVX-512) too, for loops that only move memory. */

#ifndef JPLRDL_VECTORS_H
#define JPLRDL_VECTORS_H

#include <stddef.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute) && !defined(__SANITIZE_ADDRESS__)
#if __has_attribute(target_clones)
#define JPLRDL_WIDEST __attribute__((target_clones("avx2", "default")))
#endif
#endif
#ifndef JPLRDL_WIDEST
#define JPLRDL_WIDEST
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define JPLRDL_INTRINSICS 1
#define JPLRDL_HAS_AVX __builtin_cpu_supports("avx")
#define JPLRDL_HAS_LINES __builtin_cpu_supports("avx512f")
#else
#define JPLRDL_INTRINSICS 0
#define JPLRDL_HAS_AVX 0
#define JPLRDL_HAS_LINES 0
#endif

#if defined(__clang__)
#define JPLRDL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define JPLRDL_INDEPENDENT _Pragma("GCC ivdep")
#else
#define JPLRDL_INDEPENDENT
#endif

#endif
