// SPDX-License-Identifier: MIT
//
// Complex numbers of complex_step.h: their functions have the values of doubles and derivatives
// that agree with differences; their branches are those of the real part.
#include "near.h"

#define STEP 1e-100

typedef struct function {
    const char *name;
    double (*f)(double);
    double at[2];
} function;

static const function functions[] = {{"sqrt", sqrt, {0.3, 40}},
                                     {"cbrt", cbrt, {-0.3, 40}},
                                     {"exp", exp, {-2, 1.5}},
                                     {"expm1", expm1, {-2, 1.5}},
                                     {"log", log, {0.3, 40}},
                                     {"log2", log2, {0.3, 40}},
                                     {"log10", log10, {0.3, 40}},
                                     {"sin", sin, {-2, 4}},
                                     {"cos", cos, {-2, 4}},
                                     {"tan", tan, {-1, 4}},
                                     {"asin", asin, {-0.7, 0.4}},
                                     {"acos", acos, {-0.7, 0.4}},
                                     {"atan", atan, {-2, 0.4}},
                                     {"sinh", sinh, {-2, 1}},
                                     {"cosh", cosh, {-2, 1}},
                                     {"tanh", tanh, {-2, 1}},
                                     {"fabs", fabs, {-2, 1}},
                                     {"floor", floor, {-2.5, 1.5}},
                                     {"ceil", ceil, {-2.5, 1.5}},
                                     {"round", round, {-2.4, 1.6}},
                                     {"nearbyint", nearbyint, {-2.4, 1.6}}};

// Fourth order: error e^4 times the fifth derivative, and rounding over e.
static double difference(double (*f)(double, double), double x, double y) {
    static const double weight[] = {1, -8, 8, -1}, way[] = {-2, -1, 1, 2};
    const double e = 1e-3;
    double slope = 0;
    for (int k = 0; k < 4; k++) slope += weight[k] * f(x + way[k] * e, y) / (12 * e);
    return slope;
}

static double (*one)(double);
static double of_one(double x, double y) { return y * one(x); }

static double slope(double f) { return f.im / STEP; }

static void functions_have_their_derivatives(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        for (int k = 0; k < 2; k++) {
            const double x = functions[i].at[k];
            one = functions[i].f;
            const double got = slope(one(x + complex_number(0, STEP))),
                         want = difference(of_one, x, 1);
            if (fabs(got - want) <= 1e-8 * fmax(1, fabs(want))) continue;
            fail_msg("%s at %g: %.12g, differences %.12g", functions[i].name, (narrow)x,
                     (narrow)got, (narrow)want);
        }
    }
}

static double plus(double x, double y) { return x + 3 * y; }
static double less(double x, double y) { return 2 - x - y; }
static double times(double x, double y) { return x * y * x; }
static double over(double x, double y) { return (1 + x) / (x * y + 2); }
static double assigned(double x, double y) {
    double z = y;
    z += x, z *= x, z -= 3 * x, z /= 2 + x;
    return z;
}
static double wrapped(double x, double y) { return fmod(7 * x, y); }
static double modulus(double x, double y) { return fmod(y, x); }
static double turned(double x, double y) { return atan2(y, x); }
static double power(double x, double y) { return pow(x, y); }
static double exponent(double x, double y) { return pow(y, x); }
static double larger(double x, double y) { return fmax(x * x, y) + fmin(x, y * x); }

static void functions_of_two_have_their_derivatives(void **state) {
    (void)state;
    static double (*const two[])(double, double) = {plus,     less,    times,  over,  assigned,
                                                    wrapped,  modulus, turned, atan2, power,
                                                    exponent, larger,  hypot};
    static const double at[][2] = {{0.7, 1.3}, {1.9, 0.6}, {2.3, 2.9}};
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++) {
        for (int k = 0; k < 3; k++) {
            const double x = at[k][0], y = at[k][1];
            assert_near(slope(two[i](x + complex_number(0, STEP), y)), difference(two[i], x, y),
                        1e-8);
        }
    }
}

// A number without an imaginary part has no derivative, also where the function is not
// differentiable; a zero with an imaginary part is not equal to zero.
static void branches_are_those_of_the_real_part(void **state) {
    (void)state;
    const double zero = 0, moved = complex_number(0, STEP);
    assert_true(sqrt(zero) == 0 && hypot(zero, zero) == 0 && pow(zero, 2) == 0);
    assert_true(moved >= 0 && moved <= 0 && !(moved > 0) && moved != 0 && moved && !zero);
    assert_true(isinf(1 / zero) && isnan(zero / zero) && !isfinite(1 / zero) && isfinite(moved));
    assert_true(fmax(NAN, 2) == 2 && fmin(2, NAN) == 2);
    assert_int_equal((int)(2.7 + moved), 2);
    assert_int_equal(lround(2.7 + moved), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_their_derivatives),
        cmocka_unit_test(functions_of_two_have_their_derivatives),
        cmocka_unit_test(branches_are_those_of_the_real_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
