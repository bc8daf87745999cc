/* gcc calls a function at every edge of what it compiles with -fsanitize-coverage=trace-pc; libFuzzer wants counters. */

#include <stdint.h>

enum { COUNTERS = 1 << 14 };

uint8_t jplrdl_counters[COUNTERS];

void __sanitizer_cov_trace_pc(void) {
    uintptr_t pc = (uintptr_t) __builtin_return_address(0);
    jplrdl_counters[(pc ^ (pc >> 14)) % COUNTERS]++;
}
