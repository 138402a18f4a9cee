// SPDX-License-Identifier: MIT
//
// vectorise.h: compiler hints for inner loops.
#pragma once

// Before a loop: its iterations are independent and may be vectorised.
#if defined(__clang__)
#define SNW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define SNW_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SNW_INDEPENDENT
#endif

// Before a loop: do not unroll.
#if defined(__clang__)
#define SNW_ROLLED _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define SNW_ROLLED _Pragma("GCC unroll 1")
#else
#define SNW_ROLLED
#endif

// Before a function with such loops: also compile it for AVX2; the loader selects the version that
// fits the processor. Neither version reorders sums or fuses multiplications and additions, so the
// results are identical to the last bit.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(SNW_NUMBERS) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SNW_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define SNW_CLONES
#endif

// Inline in all cases, so that constants of the caller propagate. With other number types, whose
// operations are calls, and under sanitizers the compiler decides: its time falls from a minute to
// seconds. So it does in browsers, where the marches of shooting would take 200 kB.
#if defined(__GNUC__) && !defined(SNW_NUMBERS) && !defined(__SANITIZE_ADDRESS__) &&                \
    !defined(__SANITIZE_THREAD__) && !defined(__wasm__)
#define SNW_INLINE static inline __attribute__((always_inline))
#else
#define SNW_INLINE static inline
#endif
