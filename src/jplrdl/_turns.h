/* Turns that threads take: the next one, and the wait for a sign that another has come as far.

   What a thread has written before it tells a sign, another that has waited for the sign reads. A wait is short, mostly
   some microseconds; where it is not, because more threads than processors run, the processor goes to them. */

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
#include <time.h>
#define JPLRDL_YIELD() sched_yield()
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define JPLRDL_NEXT(turn) _InterlockedExchangeAdd((volatile long *)(turn), 1)
#define JPLRDL_TELL(sign, value) _InterlockedExchange((volatile long *)(sign), value)
#define JPLRDL_TOLD(sign) _InterlockedOr((volatile long *)(sign), 0)
#define JPLRDL_PAUSE() YieldProcessor()
#else
#define JPLRDL_NEXT(turn) __atomic_fetch_add(turn, 1, __ATOMIC_RELAXED)
#define JPLRDL_TELL(sign, value) __atomic_store_n(sign, value, __ATOMIC_RELEASE)
#define JPLRDL_TOLD(sign) __atomic_load_n(sign, __ATOMIC_ACQUIRE)
#if defined(__x86_64__) || defined(__i386__)
#define JPLRDL_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define JPLRDL_PAUSE() __asm__ __volatile__("yield")
#else
#define JPLRDL_PAUSE() ((void)0)
#endif
#endif

enum { JPLRDL_LOOKS = 500 }; /* before the processor is given away: some ten microseconds */

static inline int next_turn(int *turn) { return (int)JPLRDL_NEXT(turn); }

static inline void tell(int *sign, int value) { (void)JPLRDL_TELL(sign, value); }

static inline int told(int *sign, int least) { return JPLRDL_TOLD(sign) >= least; }

/* Nanoseconds, by a clock that nobody sets. */
static inline long long moment(void) {
#if defined(_WIN32)
    LARGE_INTEGER count, rate;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&rate);
    return (long long)(1e9 * (double)count.QuadPart / (double)rate.QuadPart);
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1000000000LL * now.tv_sec + now.tv_nsec;
#endif
}

/* Returns the nanoseconds since the processor was first given away; none, if it was not. */
static inline long long wait_for(int *sign, int least) {
    long long given;
    for (int looks = 0; looks < JPLRDL_LOOKS; looks++) {
        if (told(sign, least))
            return 0;
        JPLRDL_PAUSE();
    }
    given = moment();
    while (!told(sign, least))
        JPLRDL_YIELD();
    return moment() - given;
}

#endif
