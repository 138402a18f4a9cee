// SPDX-License-Identifier: MIT
//
// device_prelude.hpp: declarations that the recursion needs from the library of C where it is
// compiled for a graphics processor (NVRTC, no headers), or on the host by the same text.
//
// SNW_FLOATS: `double` is float from here on, `narrow` is double. Literals become float by a switch
// of the compiler, on the device by tools/device_source.py, which also writes the limits there.
#pragma once

#ifdef SNW_DEVICE
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;
#define NULL        0
#define DBL_MAX     SNW_DBL_MAX
#define DBL_MIN     SNW_DBL_MIN
#define DBL_EPSILON SNW_DBL_EPSILON
#define INFINITY    (2 * SNW_DBL_MAX)
#define NAN         (INFINITY - INFINITY)
#define INT_MAX     2147483647
#define M_PI        3.14159265358979323846
#define alignof(x)  __alignof__(x)
typedef struct FILE FILE;
#define SNW_NUMBERS
typedef double narrow; // device_source.py puts the type of `double` behind this line
template <class T> concept arithmetic = !__is_class(T) && requires { static_cast<narrow>(T()); };
#define _Static_assert static_assert
#define _Noreturn
#define __builtin_trap __trap
#define restrict __restrict
typedef size_t atomic_size_t;
static inline int memcmp(const void *a, const void *b, size_t bytes) {
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    for (size_t i = 0; i < bytes; i++) {
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}
static inline void memmove(void *to, const void *from, size_t bytes) {
    unsigned char *x = (unsigned char *)to;
    const unsigned char *y = (const unsigned char *)from;
    if (x < y) {
        for (size_t i = 0; i < bytes; i++) x[i] = y[i];
    } else {
        for (size_t i = bytes; i-- > 0;) x[i] = y[i];
    }
}
#else
#include "base/number_class.hpp"
#ifdef SNW_FLOATS
#undef DBL_MAX
#undef DBL_MIN
#undef DBL_EPSILON
#define DBL_MAX     FLT_MAX
#define DBL_MIN     FLT_MIN
#define DBL_EPSILON FLT_EPSILON
#define FUNCTION(name)                                                                             \
    static inline float name(float x) { return name##f(x); }
FUNCTION(fabs)
FUNCTION(sqrt)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tan)
FUNCTION(asin)
FUNCTION(acos)
FUNCTION(atan)
FUNCTION(sinh)
FUNCTION(cosh)
FUNCTION(tanh)
FUNCTION(exp)
FUNCTION(log)
FUNCTION(floor)
FUNCTION(ceil)
FUNCTION(nearbyint)
#undef FUNCTION
#define FUNCTION(name)                                                                             \
    static inline float name(float x, float y) { return name##f(x, y); }
FUNCTION(fmax)
FUNCTION(fmin)
FUNCTION(pow)
FUNCTION(atan2)
FUNCTION(fmod)
FUNCTION(hypot)
FUNCTION(nextafter)
FUNCTION(copysign)
#undef FUNCTION
#define double float
#endif
static inline bool isnan(double x) { return x != x; }
static inline bool isfinite(double x) { return fabs(x) <= DBL_MAX; }
static inline bool isinf(double x) { return fabs(x) > DBL_MAX; }
#endif
