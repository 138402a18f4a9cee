// SPDX-License-Identifier: MIT
//
// clock.h: wall time for progress, flushing and the speed of a live simulation. Results do not
// depend on it.
#pragma once

// Seconds since some instant before the start of the program; never runs backwards.
double snw_clock_seconds(void);
