// SPDX-License-Identifier: MIT
//
// vectorise.h: a promise to the compiler, before a loop, that its passes do not depend on each other.
#pragma once

#if defined(__clang__)
#define SNW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define SNW_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SNW_INDEPENDENT
#endif
