// SPDX-License-Identifier: MIT
//
// Monotonic clock of the operating system.
#include "base/clock.h"

#include <time.h>

double snw_clock_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
