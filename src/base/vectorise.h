// SPDX-License-Identifier: MIT
//
// vectorise.h: what the compiler is told of hot loops: a promise, before one, that its passes do
// not depend on each other; and that a small function is part of its caller, whose constants it
// then sees.
#pragma once

#if defined(__clang__)
#define SNW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define SNW_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SNW_INDEPENDENT
#endif

// Before a loop: as it is written, not unrolled.
#if defined(__clang__)
#define SNW_ROLLED _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define SNW_ROLLED _Pragma("GCC unroll 1")
#else
#define SNW_ROLLED
#endif

// Before a function with such loops: compiled once more for processors with vectors of four, and
// the one that fits is taken when the program is loaded. No sum changes its order and nothing is
// fused: the same bits on all of them.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(SNW_NUMBERS) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SNW_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define SNW_CLONES
#endif

#if defined(__GNUC__)
#define SNW_INLINE static inline __attribute__((always_inline))
#else
#define SNW_INLINE static inline
#endif
