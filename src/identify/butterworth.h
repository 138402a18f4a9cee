// SPDX-License-Identifier: MIT
//
// butterworth.h: a low-pass filter for measured series that shifts nothing in time: a Butterworth
// filter of order 4 passed over them forwards, then backwards. A sinusoid of frequency f leaves
// with 1/(1 + (tan(pi f h)/tan(pi fc h))^8) of its size.
#pragma once

#include "base/arena.h"

// Scratch taken from the arena for n samples, in bytes.
size_t snw_butterworth_scratch(int n);

// Smooth y (n samples, h apart) in place; 0 < cutoff < 1/(2 h). The ends are continued by turning
// the series about its first and last sample.
void snw_butterworth(int n, double h, double cutoff, snw_arena *scratch, double *y);
