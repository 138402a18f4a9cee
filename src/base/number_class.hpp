// SPDX-License-Identifier: MIT
//
// number_class.hpp: common beginning of the classes that replace `double` in sources compiled as
// C++: packs (base/pack.hpp) and the complex numbers of the tests. Headers of the system come
// first, while `double` is still a keyword.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNW_NUMBERS
typedef double narrow;

// Arithmetic types of C, enumerations included.
template <class T> concept arithmetic = !__is_class(T) && requires { static_cast<narrow>(T()); };

#undef isfinite
#undef isinf
#undef isnan
#undef signbit

// Keywords that C++ names differently.
#define _Static_assert static_assert
#define _Noreturn [[noreturn]]
#define restrict __restrict

// Without its library C++ has no atomics of C; what is compiled this way counts in one thread.
#define _STDATOMIC_H
typedef size_t atomic_size_t;
static inline void atomic_fetch_add(atomic_size_t *n, size_t by) { *n += by; }
static inline size_t atomic_load(const atomic_size_t *n) { return *n; }
