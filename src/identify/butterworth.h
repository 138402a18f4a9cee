// SPDX-License-Identifier: MIT
//
// butterworth.h: low-pass filter without phase shift for measured series: a Butterworth filter of
// order 4, forwards and then backwards. Its gain at the frequency f is
//   1/(1 + (tan(pi f h)/tan(pi fc h))^8).
#pragma once

#include "base/arena.h"

// Scratch taken from the arena for n samples, in bytes.
size_t snw_butterworth_scratch(int n);

// Filter y (n samples, h seconds apart) in place; 0 < cutoff < 1/(2 h), Hz. The series is padded by
// point reflection about its first and last sample.
void snw_butterworth(int n, double h, double cutoff, snw_arena *scratch, double *y);
