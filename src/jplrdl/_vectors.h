/* Loops in C because only a C compiler can be asked for several versions of one function: wheels are built for the
   oldest processor, whose narrow vectors would leave half of the memory's speed unused. Without fused multiply-add all
   versions give the same bits; sums go to as many lanes as the widest vectors have. Vectors of a whole cache line are
   for loops that only move memory, and multiply nothing: with them comes fused multiply-add. */

#ifndef JPLRDL_VECTORS_H
#define JPLRDL_VECTORS_H

#include <stddef.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute) && !defined(__SANITIZE_ADDRESS__)
#if __has_attribute(target_clones)
#define JPLRDL_WIDEST __attribute__((target_clones("avx2", "default")))
#define JPLRDL_WHOLE_LINES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif
#ifndef JPLRDL_WIDEST
#define JPLRDL_WIDEST
#define JPLRDL_WHOLE_LINES
#endif

#if defined(__clang__)
#define JPLRDL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define JPLRDL_INDEPENDENT _Pragma("GCC ivdep")
#else
#define JPLRDL_INDEPENDENT
#endif

#endif
