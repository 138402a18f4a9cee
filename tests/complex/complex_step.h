// SPDX-License-Identifier: MIT
//
// complex_step.h: makes the numbers of a source complex. It is included before everything else
// (-include) in a source that is then compiled as C++. The library's own code, compiled that way,
// gives derivatives by complex steps: f(x + i h) = f(x) + i h f'(x) + O(h^2). No difference is
// taken, and h is so small that O(h^2) is below rounding.
//
// Comparisons < and > use the real parts, which are the values that doubles would have. So the
// branches taken are those of doubles, and functions that are not analytic (an absolute value, the
// larger of two) continue on their present branch. Two numbers are equal if both parts are equal: a
// shortcut for zero is not taken for a zero with an imaginary part.
#pragma once

#include "base/number_class.hpp"

#define SNW_COMPLEX

// A trivial type like a double, so that unions, tables and memory from the heap can hold it.
// Conversion from numbers is implicit, to numbers explicit.
struct complex_number {
    narrow re, im;

    complex_number() = default;
    constexpr complex_number(narrow a, narrow b) : re(a), im(b) {}
    template <arithmetic T> constexpr complex_number(T a) : re((narrow)a), im(0) {}
    template <arithmetic T> explicit constexpr operator T() const { return (T)re; }
    explicit constexpr operator bool() const { return re != 0 || im != 0; }

    constexpr complex_number operator+() const { return *this; }
    constexpr complex_number operator-() const { return {-re, -im}; }
};

constexpr complex_number operator+(complex_number x, complex_number y) {
    return {x.re + y.re, x.im + y.im};
}
constexpr complex_number operator-(complex_number x, complex_number y) {
    return {x.re - y.re, x.im - y.im};
}
constexpr complex_number operator*(complex_number x, complex_number y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
// Smith's form: without an imaginary part it is the division of doubles, also by zero.
constexpr complex_number operator/(complex_number x, complex_number y) {
    if (y.im == 0) return {x.re / y.re, x.im / y.re};
    const narrow s = y.im / y.re, d = y.re + y.im * s;
    return {(x.re + x.im * s) / d, (x.im - x.re * s) / d};
}
#define ASSIGNING(o)                                                                               \
    constexpr complex_number &operator o##=(complex_number &x, complex_number y) {                 \
        return x = x o y;                                                                          \
    }
ASSIGNING(+)
ASSIGNING(-)
ASSIGNING(*)
ASSIGNING(/)
#undef ASSIGNING

#define ORDER(o)                                                                                   \
    constexpr bool operator o(complex_number x, complex_number y) { return x.re o y.re; }
ORDER(<)
ORDER(>)
ORDER(<=)
ORDER(>=)
#undef ORDER
constexpr bool operator==(complex_number x, complex_number y) {
    return x.re == y.re && x.im == y.im;
}

// f(a + i b) = f(a) + i b f'(a); the next term is below rounding. Without an
// imaginary part of the argument the result has none, also where f is not differentiable.
static inline complex_number along(narrow value, narrow slope, narrow b) {
    return {value, b == 0 ? 0 : slope * b};
}
#define FUNCTION(name, slope)                                                                      \
    static inline complex_number name(complex_number x) {                                          \
        const narrow a = x.re, f = name(a);                                                        \
        return along(f, slope, x.im);                                                              \
    }
FUNCTION(sqrt, 0.5 / f)
FUNCTION(cbrt, 1 / (3 * f * f))
FUNCTION(exp, f)
FUNCTION(expm1, f + 1)
FUNCTION(log, 1 / a)
FUNCTION(log2, M_LOG2E / a)
FUNCTION(log10, M_LOG10E / a)
FUNCTION(sin, cos(a))
FUNCTION(cos, -sin(a))
FUNCTION(tan, 1 + f * f)
FUNCTION(asin, 1 / sqrt((1 - a) * (1 + a)))
FUNCTION(acos, -1 / sqrt((1 - a) * (1 + a)))
FUNCTION(atan, 1 / (1 + a * a))
FUNCTION(sinh, cosh(a))
FUNCTION(cosh, sinh(a))
FUNCTION(tanh, 1 - f * f)
FUNCTION(floor, 0 * f)
FUNCTION(ceil, 0 * f)
FUNCTION(round, 0 * f)
FUNCTION(nearbyint, 0 * f)
FUNCTION(fabs, __builtin_signbit(a) ? -1 : 1)
#undef FUNCTION

static inline complex_number atan2(complex_number y, complex_number x) {
    const narrow r = x.re * x.re + y.re * y.re;
    return along(atan2(y.re, x.re), 1 / r, x.re * y.im - y.re * x.im);
}
static inline complex_number hypot(complex_number x, complex_number y) {
    const narrow r = hypot(x.re, y.re);
    return along(r, 1 / r, x.re * x.im + y.re * y.im);
}
static inline complex_number pow(complex_number x, complex_number y) {
    const narrow f = pow(x.re, y.re);
    return along(f, y.re * pow(x.re, y.re - 1), x.im) + along(0, f * log(x.re), y.im);
}
static inline complex_number fmod(complex_number x, complex_number y) {
    const narrow f = fmod(x.re, y.re);
    return {f, x.im - (x.re - f) / y.re * y.im};
}
static inline complex_number nextafter(complex_number x, complex_number y) {
    return {nextafter(x.re, y.re), x.im};
}
// The number wins over a NaN, as with doubles.
static inline complex_number fmax(complex_number x, complex_number y) {
    return x.re >= y.re || __builtin_isnan(y.re) ? x : y;
}
static inline complex_number fmin(complex_number x, complex_number y) {
    return x.re <= y.re || __builtin_isnan(y.re) ? x : y;
}
static inline long lround(complex_number x) { return lround(x.re); }

static inline bool isfinite(complex_number x) {
    return __builtin_isfinite(x.re) && __builtin_isfinite(x.im);
}
static inline bool isinf(complex_number x) { return __builtin_isinf(x.re); }
static inline bool isnan(complex_number x) {
    return __builtin_isnan(x.re) || __builtin_isnan(x.im);
}

#define double complex_number
