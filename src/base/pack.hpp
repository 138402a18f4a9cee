// SPDX-License-Identifier: MIT
//
// pack.hpp: a number that is a pack: SNW_LANES numbers, one of each of as many robots, in one
// vector register. It is included before everything else in a source that is then compiled as C++
// (integrate/pack_engine.cpp), with `double` its name from then on. The numbers of a pack are
// doubles, with SNW_SINGLE floats, of which a register holds twice as many.
//
// It is as trivial as a double: unions, tables and memory from the heap can hold it, zero bytes are
// zeros. Numbers become packs by themselves, packs never become numbers: a cast to int does not
// compile. A comparison gives a mask, which converts to nothing (base/number.h). Each operation is
// that of IEEE 754 in each lane, so that no lane depends on another one.
#pragma once

#include "base/number_class.hpp"

#include <immintrin.h>

#ifdef SNW_SINGLE
typedef float element;
typedef int element_bits;
#define ELEMENT_MAX      FLT_MAX
#define ELEMENT_BITS_MAX INT_MAX
#else
typedef narrow element;
typedef long long element_bits;
#define ELEMENT_MAX      DBL_MAX
#define ELEMENT_BITS_MAX LLONG_MAX
#endif
typedef element lanes __attribute__((vector_size(sizeof(element) * SNW_LANES)));
typedef element_bits lane_bits __attribute__((vector_size(sizeof(element) * SNW_LANES)));

#if SNW_LANES == 4
#define SNW_BROADCAST(a) (lanes{a, a, a, a})
#elif SNW_LANES == 8
#define SNW_BROADCAST(a) (lanes{a, a, a, a, a, a, a, a})
#else
#define SNW_BROADCAST(a) (lanes{a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a})
#endif
// Names of the engine of packs with these numbers, and of the namespace of its parts.
#define SNW_JOIN_(a, b) a##b
#define SNW_JOIN(a, b)  SNW_JOIN_(a, b)
#ifdef SNW_SINGLE
#define SNW_PACK_ENGINE SNW_JOIN(snw_singles, SNW_LANES)
#else
#define SNW_PACK_ENGINE SNW_JOIN(snw_packs, SNW_LANES)
#endif
#define SNW_PACK_PARTS SNW_JOIN(SNW_PACK_ENGINE, _parts)

#define PACK_INLINE static inline __attribute__((always_inline))

struct snw_mask {
    lane_bits m; // 0 or -1
};
PACK_INLINE snw_mask operator&(snw_mask a, snw_mask b) { return {a.m & b.m}; }
PACK_INLINE snw_mask operator|(snw_mask a, snw_mask b) { return {a.m | b.m}; }
PACK_INLINE snw_mask operator!(snw_mask a) { return {~a.m}; }

PACK_INLINE snw_mask snw_mask_from(bool c) { return {lane_bits{} - c}; }

// Bit l: is it true for lane l?
PACK_INLINE unsigned snw_mask_lanes(snw_mask a) {
#if SNW_LANES == 4
    return (unsigned)_mm256_movemask_pd((__m256d)a.m);
#elif SNW_LANES == 16
    return (unsigned)_mm512_movepi32_mask((__m512i)a.m);
#elif defined SNW_SINGLE
    return (unsigned)_mm256_movemask_ps((__m256)a.m);
#else
    return (unsigned)_mm512_movepi64_mask((__m512i)a.m);
#endif
}
PACK_INLINE bool snw_all(snw_mask a) { return snw_mask_lanes(a) == (1u << SNW_LANES) - 1; }
PACK_INLINE bool snw_any(snw_mask a) { return snw_mask_lanes(a) != 0; }
// Conditions of the model, not of the robots.
PACK_INLINE bool snw_all(bool a) { return a; }
PACK_INLINE bool snw_any(bool a) { return a; }

struct pack {
    lanes x;

    pack() = default;
    constexpr pack(lanes a) : x(a) {}
    template <arithmetic T> constexpr pack(T a) : x(SNW_BROADCAST((element)a)) {}

    pack operator+() const { return *this; }
    pack operator-() const { return -x; }
};

#define OPERATION(o)                                                                               \
    PACK_INLINE pack operator o(pack a, pack b) { return a.x o b.x; }                              \
    PACK_INLINE pack &operator o##=(pack &a, pack b) { return a = a.x o b.x; }
OPERATION(+)
OPERATION(-)
OPERATION(*)
OPERATION(/)
#undef OPERATION

#define ORDER(o)                                                                                   \
    PACK_INLINE snw_mask operator o(pack a, pack b) { return {a.x o b.x}; }
ORDER(<)
ORDER(>)
ORDER(<=)
ORDER(>=)
ORDER(==)
ORDER(!=)
#undef ORDER

PACK_INLINE pack snw_select(snw_mask c, pack a, pack b) { return c.m ? a.x : b.x; }

PACK_INLINE int snw_whole(pack a) { return (int)a.x[0]; }

PACK_INLINE pack fabs(pack a) { return (lanes)((lane_bits)a.x & ELEMENT_BITS_MAX); }
PACK_INLINE pack sqrt(pack a) {
#if SNW_LANES == 4
    return (lanes)_mm256_sqrt_pd((__m256d)a.x);
#elif SNW_LANES == 16
    return (lanes)_mm512_sqrt_ps((__m512)a.x);
#elif defined SNW_SINGLE
    return (lanes)_mm256_sqrt_ps((__m256)a.x);
#else
    return (lanes)_mm512_sqrt_pd((__m512d)a.x);
#endif
}
PACK_INLINE pack floor(pack a) {
#if SNW_LANES == 4
    return (lanes)_mm256_floor_pd((__m256d)a.x);
#elif SNW_LANES == 16
    return (lanes)_mm512_floor_ps((__m512)a.x);
#elif defined SNW_SINGLE
    return (lanes)_mm256_floor_ps((__m256)a.x);
#else
    return (lanes)_mm512_floor_pd((__m512d)a.x);
#endif
}
// The number wins over a NaN, as with doubles.
PACK_INLINE pack fmax(pack a, pack b) { return snw_select((a >= b) | (b != b), a, b); }
PACK_INLINE pack fmin(pack a, pack b) { return snw_select((a <= b) | (b != b), a, b); }

// Functions of the library of C, lane by lane.
#define FUNCTION(name)                                                                             \
    static __attribute__((noinline, unused)) pack name(pack a) {                                   \
        pack r;                                                                                    \
        for (int l = 0; l < SNW_LANES; l++) r.x[l] = (element)::name((narrow)a.x[l]);                       \
        return r;                                                                                  \
    }
#define FUNCTION_OF_TWO(name)                                                                      \
    static __attribute__((noinline, unused)) pack name(pack a, pack b) {                           \
        pack r;                                                                                    \
        for (int l = 0; l < SNW_LANES; l++) r.x[l] = (element)::name((narrow)a.x[l], (narrow)b.x[l]);       \
        return r;                                                                                  \
    }
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tan)
FUNCTION(exp)
FUNCTION(expm1)
FUNCTION(log)
FUNCTION(tanh)
FUNCTION(acos)
FUNCTION_OF_TWO(pow)
FUNCTION_OF_TWO(atan2)
FUNCTION_OF_TWO(hypot)
#undef FUNCTION
#undef FUNCTION_OF_TWO
PACK_INLINE snw_mask isfinite(pack a) { return fabs(a) <= ELEMENT_MAX; }
PACK_INLINE snw_mask isnan(pack a) { return a != a; }
PACK_INLINE snw_mask isinf(pack a) { return fabs(a) > ELEMENT_MAX; }
