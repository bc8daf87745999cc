/* Turns that threads take: the next one, and the wait for a sample whose turn was before.

   What a thread has written before it tells of a sample, another that has waited for the sample reads. A wait is short,
   mostly less than one search; where it is not, because more threads than processors run, the processor goes to them. */

#ifndef JPLRDL_TURNS_H
#define JPLRDL_TURNS_H

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#define JPLRDL_YIELD() SwitchToThread()
#else
#include <sched.h>
#define JPLRDL_YIELD() sched_yield()
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define JPLRDL_NEXT(turn) _InterlockedExchangeAdd((volatile long *)(turn), 1)
#define JPLRDL_TELL(done) _InterlockedExchange((volatile long *)(done), 1)
#define JPLRDL_TOLD(done) _InterlockedOr((volatile long *)(done), 0)
#define JPLRDL_PAUSE() YieldProcessor()
#else
#define JPLRDL_NEXT(turn) __atomic_fetch_add(turn, 1, __ATOMIC_RELAXED)
#define JPLRDL_TELL(done) __atomic_store_n(done, 1, __ATOMIC_RELEASE)
#define JPLRDL_TOLD(done) __atomic_load_n(done, __ATOMIC_ACQUIRE)
#if defined(__x86_64__) || defined(__i386__)
#define JPLRDL_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define JPLRDL_PAUSE() __asm__ __volatile__("yield")
#else
#define JPLRDL_PAUSE() ((void)0)
#endif
#endif

enum { JPLRDL_LOOKS = 500 }; /* before the processor is given away: some ten microseconds, a search or two */

static inline int next_turn(int *turn) { return (int)JPLRDL_NEXT(turn); }

static inline void tell(int *done) { (void)JPLRDL_TELL(done); }

static inline void wait_for(int *done) {
    for (int looks = 0; !JPLRDL_TOLD(done); looks++) {
        if (looks < JPLRDL_LOOKS)
            JPLRDL_PAUSE();
        else
            JPLRDL_YIELD();
    }
}

#endif
