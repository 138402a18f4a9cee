// SPDX-License-Identifier: MIT
//
// wide.h: makes the numbers of a source 113 bits wide. It is included before everything else
// (-include). The library's own code, compiled that way, shows the rounding error of doubles.
#pragma once

#define _GNU_SOURCE
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNW_NUMBERS
#define SNW_WIDE
typedef double narrow;

#define acos      acosf128
#define asin      asinf128
#define atan      atanf128
#define atan2     atan2f128
#define cbrt      cbrtf128
#define ceil      ceilf128
#define copysign  copysignf128
#define cos       cosf128
#define cosh      coshf128
#define exp       expf128
#define fabs      fabsf128
#define floor     floorf128
#define fmax      fmaxf128
#define fmin      fminf128
#define fmod      fmodf128
#define hypot     hypotf128
#define ldexp     ldexpf128
#define log       logf128
#define log10     log10f128
#define log2      log2f128
#define nearbyint nearbyintf128
#define nextafter nextafterf128
#define pow       powf128
#define remainder remainderf128
#define round     roundf128
#define sin       sinf128
#define sinh      sinhf128
#define sqrt      sqrtf128
#define tan       tanf128
#define tanh      tanhf128
#define double _Float128
