// SPDX-License-Identifier: MIT
//
// Values, derivatives and dimensions of expressions.
#include "math/expr.h"

#include "expr_bench.h"
#include "math/expr_op.h"

// ---- values -------------------------------------------------------------------------------------

static void arithmetic_binds_as_on_paper(void **state) {
    bench *b = *state;
    const struct {
        const char *text;
        double want;
    } cases[] = {
        {"1 + 2*3", 7},     {"(1 + 2)*3", 9},   {"2 - 3 - 4", -5}, {"24/4/2", 3},
        {"-2^2", -4},       {"2^-1", 0.5},      {"2^3^2", 512},    {"(-2)^3", -8},
        {"-(-1)^3*2", 2},   {"2*-3", -6},       {"--2", 2},        {"+2 - +1", 1},
        {".5 + 5.", 5.5},   {"1e-3*1E3", 1},    {"pi/pi", 1},      {"2 * t", 0.6},
        {"x/L", 0.4},       {"(-1)^(2+1)", -1}, {"0^0", 1},        {"0^2", 0},
        {"-1^2 + 3", 2},    {"6/2*3", 9},       {"1 -1", 0},       {"1-1", 0},
        {"(((((1)))))", 1}, {"1\n + 2\t", 3},   {"4^0.5", 2},      {"2*t^2*10", 1.8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_near(value(b, cases[i].text), cases[i].want, 4e-16);
    }
}

static void functions_have_their_values(void **state) {
    bench *b = *state;
    const struct {
        const char *text;
        double want;
    } cases[] = {
        {"sin(pi/6)", 0.5},
        {"cos(60 deg)", 0.5},
        {"tan(pi/4)", 1},
        {"asin(0.5)/pi", 1 / 6.0},
        {"acos(0.5)/pi", 1 / 3.0},
        {"atan(1)/pi", 0.25},
        {"atan2(-1, -1)/pi", -0.75},
        {"atan2(1 m, 1 m)/pi", 0.25},
        {"sinh(1)^2 - cosh(1)^2", -1},
        {"tanh(1) - sinh(1)/cosh(1)", 0},
        {"log(exp(2))", 2},
        {"sqrt(16)", 4},
        {"abs(-3)", 3},
        {"min(3, 1, 2)", 1},
        {"max(3)", 3},
        {"max(1, 2, 3, 2)", 3},
        {"mod(7, 3)", 1},
        {"mod(-1, 3)", 2},
        {"mod(-3, 3)", 0},
        {"mod(-1e-30, 3)", 3 - 4.440892098500626e-16},
        {"mod(1, -3)", -2},
        {"floor(-0.5)", -1},
        {"ceil(0.2)", 1},
        {"sign(-2)", -1},
        {"sign(0)", 0},
        {"step(1, 1)", 1},
        {"step(0.999, 1)", 0},
        {"linear(2, 1, 3)", 0.5},
        {"linear(0, 1, 3)", 0},
        {"linear(3, 1, 3)", 1},
        {"linear(9, 1, 3)", 1},
        {"ramp(2, 1, 3)", 0.5},
        {"ramp(1.5, 1, 3)", 0.25 - 1 / 6.283185307179586},
        {"ramp(-1, 1, 3)", 0},
        {"ramp(3, 1, 3)", 1},
        {"poly5(2, 1, 3)", 0.5},
        {"poly5(1.5, 1, 3)", 10 / 64.0 - 15 / 256.0 + 6 / 1024.0},
        {"hat(2, 1, 3)", 1},
        {"hat(1.5, 1, 3)", 0.5},
        {"hat(2.5, 1, 3)", 0.5},
        {"hat(3, 1, 3)", 0},
        {"if(1 < 2, 5, 6)", 5},
        {"if(off, 5, 6)", 6},
        {"if(on and not off, 5, 6)", 5},
        {"if(t < 1 s, 5, 6)", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_near(value(b, cases[i].text), cases[i].want, 1e-15);
    }
}

static void conditions_follow_logic(void **state) {
    bench *b = *state;
    const struct {
        const char *text;
        int want;
    } cases[] = {
        {"on", 1},
        {"off", 0},
        {"not on", 0},
        {"1 < 2", 1},
        {"2 <= 2", 1},
        {"2 > 2", 0},
        {"2 >= 2", 1},
        {"1 == 2", 0},
        {"1 != 2", 1},
        {"not 1 < 2", 0},
        {"not off and off", 0},
        {"on or on and off", 1},
        {"t > 0.1 s and t <= 0.3 s", 1},
        {"mod(t, 2 s) >= 1 s", 0},
        {"if(t > 0, x < L, off)", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const snw_at at = {.t = 0.3, .x = 0.2, .L = 0.5};
        assert_int_equal((int)snw_expr_value(parse_condition(b, cases[i].text), at), cases[i].want);
    }
}

// ---- derivatives --------------------------------------------------------------------------------

// Differences of eighth order; rounding dominates: 1e-14 of the value over h and h^2.
static snw_jet differences(const snw_expr *e, snw_at at, bool in_x) {
    const double h = 0.005;
    const double c1[] = {0, 4 / 5.0, -1 / 5.0, 4 / 105.0, -1 / 280.0};
    const double c2[] = {-205 / 72.0, 8 / 5.0, -1 / 5.0, 8 / 315.0, -1 / 560.0};
    snw_jet r = {.v = snw_expr_value(e, at)};
    r.dd = c2[0] * r.v / (h * h);
    for (int k = 1; k <= 4; k++) {
        snw_at up = at, down = at;
        *(in_x ? &up.x : &up.t) += k * h;
        *(in_x ? &down.x : &down.t) -= k * h;
        const double fu = snw_expr_value(e, up), fd = snw_expr_value(e, down);
        r.d += c1[k] * (fu - fd) / h;
        r.dd += c2[k] * (fu + fd) / (h * h);
    }
    return r;
}

static void derivatives_equal_differences(void **state) {
    bench *b = *state;
    define(b, "f(u, w)", "sin(u)*w + u^2/w");
    const char *const cases[] = {
        "1.5*t - 2",
        "t*t*t",
        "t^3",
        "t^2",
        "t^1",
        "t^0",
        "t^-2",
        "(t + 0.5)^2.5",
        "2^t",
        "t^t",
        "(1 + t)^(2 - t)",
        "1/t",
        "sin(t)/(2 + cos(3*t))",
        "sin(2*t)",
        "cos(t^2)",
        "tan(t)",
        "asin(t/2)",
        "acos(t/2)",
        "atan(3*t)",
        "atan2(sin(t), 2 + t)",
        "atan2(-sin(t), -2 - t^2)",
        "sinh(t)",
        "cosh(t)",
        "tanh(t)",
        "exp(-t^2)",
        "log(1 + t)",
        "sqrt(1 + t)",
        "abs(t - 5)",
        "abs(5 - t)*t",
        "min(t^2, 50 - t)",
        "max(t^2, t - 50)",
        "mod(5*t + 0.5, 20)*t",
        "mod(-5*t - 0.5, 20 + t)",
        "mod(40 + t, 7 + t)",
        "floor(0.1*t)*t",
        "ceil(0.1*t)*t",
        "sign(t - 9)*t",
        "step(t, -1)*t + step(t, 9)",
        "linear(t, -1, 9)^2",
        "linear(t, 5, 9)",
        "ramp(t, -1, 3)",
        "ramp(t, -0.6, 2 + t^2)",
        "poly5(t, -1, 3)",
        "hat(t, -1, 5)",
        "hat(t, -9, 3)",
        "if(t < 9, sin(t), sqrt(t - 9))",
        "if(t > 9, sqrt(t - 9), t^3)",
        "-t^2",
        "f(t, 1 + t)*f(2*t, 3)",
        "ramp(t, 0, 1)*0 + t^2*ramp(t, -3, 4)",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const snw_expr *in_t = parse(b, cases[i], TIME);
        for (double u = 0.45; u < 1.2; u += 0.13) {
            const snw_at at = {.t = u, .x = 0.1, .L = 2};
            const snw_jet got = snw_expr_jet_t(in_t, at), want = differences(in_t, at, false);
            const bool near = fabs(got.d - want.d) <= 1e-9 * fmax(1, fabs(want.d)) &&
                              fabs(got.dd - want.dd) <= 1e-7 * fmax(1, fabs(want.dd)) &&
                              got.v == want.v;
            if (!near) {
                fail_msg("%s at %g: (%g %g) not (%g %g)", cases[i], u, got.d, got.dd, want.d,
                         want.dd);
            }
        }
    }
}

static void derivatives_in_x_leave_t_and_L_alone(void **state) {
    bench *b = *state;
    const snw_expr *e = parse(b, "sin(3*x/L - t)*exp(t*x) + L*x^3", ALL);
    const snw_at at = {.t = 0.4, .x = 0.7, .L = 1.3};
    const snw_jet got = snw_expr_jet_x(e, at), want = differences(e, at, true);
    assert_near(got.d, want.d, 1e-11);
    assert_near(got.dd, want.dd, 1e-9);
    assert_true(got.v == snw_expr_value(e, at));
    assert_int_equal(snw_expr_vars(e), ALL);
    const snw_jet none = snw_expr_jet_x(parse(b, "t^2", TIME), at);
    assert_true(none.d == 0 && none.dd == 0);
}

static void edges_take_the_right_hand_derivative(void **state) {
    bench *b = *state;
    const struct {
        const char *text;
        double d, dd;
    } cases[] = {
        {"abs(t)", 1, 0},
        {"linear(t, 0, 2)", 0.5, 0},
        {"linear(t, -2, 0)", 0, 0},
        {"hat(t, -1, 1)", -1, 0},
        {"ramp(t, 0, 1)", 0, 0},
        {"poly5(t, 0, 1)", 0, 0},
        {"t^2", 0, 2},
        {"t^1*3", 3, 0},
        {"t^3 + 0*t^0", 0, 0},
        {"mod(t, 1)", 1, 0},
        {"min(t, 2*t)", 1, 0},
        {"if(t > 0, sqrt(t), 3*t)", 3, 0}, // the derivative of the branch not taken is infinite
        {"if(t >= 0, t, 1/t)", 1, 0},
        {"sqrt(0*t)", 0, 0},
        {"step(t, 0)", 0, 0},
        {"(0*t)^2.5", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const snw_jet j = snw_expr_jet_t(parse(b, cases[i].text, TIME), (snw_at){0});
        if (!(j.d == cases[i].d && j.dd == cases[i].dd)) {
            fail_msg("%s: %g %g", cases[i].text, j.d, j.dd);
        }
    }
    assert_true(isinf(snw_expr_jet_t(parse(b, "sqrt(t)", TIME), (snw_at){0}).d));
}

static void ramp_is_smooth_across_its_series(void **state) {
    bench *b = *state;
    // at z = 0.2 series and closed form meet; (z - sin z)/(2 pi) in long double as the reference
    const snw_expr *e = parse(b, "ramp(t, 0, 1)", TIME);
    for (double z = 0.15; z < 0.25; z += 0.001) {
        const long double u = (long double)z / 6.283185307179586476925286766559L;
        const long double want =
            u - sinl(6.283185307179586476925286766559L * (long double)(double)u) /
                    6.283185307179586476925286766559L;
        const double got = snw_expr_value(e, (snw_at){.t = (double)u});
        assert_true(fabs(got - (double)want) < 2e-17 + 1e-14 * (double)want);
    }
}

// ---- units and dimensions -----------------------------------------------------------------------

static void units_scale_to_si(void **state) {
    bench *b = *state;
    define(b, "m", "3");
    define(b, "T", "0.25 s");
    const struct {
        const char *text;
        double want;
    } cases[] = {
        {"30 deg", 0.52359877559829887},
        {"207 GPa", 207e9},
        {"10 1/m", 10},
        {"(1/120) s", 1 / 120.0},
        {"2.3 N*m", 2.3},
        {"1000 kg/m^3", 1000},
        {"1.6e-3 1/N", 1.6e-3},
        {"2 m/s * max(t - 18 s, 0 s)", 0},
        {"8e-5 mol * min(t/(2 s), 1)", 1.2e-5},
        {"9.5 mm", 9.5e-3},
        {"9.5mm", 9.5e-3},
        {"5 m*m", 5},    // square metres
        {"5 m * m", 15}, // metres times the parameter
        {"5*m", 15},
        {"2*pi rad/s", 6.283185307179586},
        {"5*pi s", 15.707963267948966},
        {"2.5 mm^2", 2.5e-6},
        {"(2.5 mm)^2", 6.25e-6},
        {"1 min", 60},
        {"2 min(3, 4)", NAN}, // a function, which is refused below
        {"1 m/2", 0.5},
        {"(1 + 1) mm", 2e-3},
        {"sqrt(4) mm", 2e-3},
        {"60 rpm", 6.283185307179586},
        {"1 1/s/s", 1},
        {"1 km/h", 1 / 3.6},
        {"t/T", 1.2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (isnan(cases[i].want)) {
            refused(b, cases[i].text, 3, "an operator is missing before 'min'");
        } else {
            assert_near(value(b, cases[i].text), cases[i].want, 3e-16);
        }
    }
}

// Texts that have the required dimension, and texts that do not.
static void plain_numbers_fit_and_units_are_checked(void **state) {
    bench *b = *state;
    define(b, "C", "3");
    define(b, "V", "-0.5 m/s");
    define(b, "W", "2 s");
    define(b, "lam", "1 m");
    define(b, "mass", "2 kg");
    define(b, "h", "5 m");
    define(b, "drop", "9.81 m/s^2*h");
    define(b, "u", "t - 5 s + x/V");
    define(b, "B(w)", "if(abs(w) < W, exp(w^2/(w^2 - W^2)), 0)");
    const snw_dim length = SNW_DIM_LENGTH, speed = {.m = 1, .s = -1}, number = SNW_DIM_NONE,
                  curvature = SNW_DIM_CURVATURE, area = {.m = 2}, force = SNW_DIM_FORCE,
                  time = SNW_DIM_TIME;
    const struct {
        const char *text;
        snw_dim dim;
        const char *says; // NULL: fits
    } cases[] = {
        {"5", length, NULL},
        {"C*t", length, NULL},
        {"5 m", length, NULL},
        {"5 kg", length, "a length (m) is wanted here, got a mass (kg)"},
        {"5 m", SNW_DIM_MASS, "a mass (kg) is wanted here, got a length (m)"},
        {"C*1 m", length, NULL},
        {"2 m/s*t", length, NULL},
        {"2 m/s*t", speed, NULL},
        {"2 m/s*t", area, "got a length (m)"},
        {"2 m/s*t^2", length, NULL},
        {"20 m - 2*t", length, NULL},
        {"t - 18 s", time, NULL},
        {"2 m/s*(t - 18 s)", length, NULL},
        {"2 m/s*(t - 18 s)", speed, "a speed (m/s) is wanted here, got a length (m)"},
        {"2 m/s*(t - 18)", speed, NULL},
        {"x/lam", number, NULL},
        {"5 mm*(1 - x/L)", length, NULL},
        {"0.15*sin(2*pi*t)", length, NULL},
        {"sin(2*pi/lam*(x + V*t))*10 1/m", curvature, NULL},
        {"mod((2 - 0.5)*lam/5 - V*(t - 2 s), lam)", length, NULL},
        {"B(u)*2 1/m", curvature, NULL},
        {"pi*(2.5 mm)^2", area, NULL},
        {"sqrt(4 m^2)", length, NULL},
        {"sqrt(2*lam*x - x^2)", length, NULL},
        {"(8 m^3)^(1/3)", length, NULL},
        {"mass*9.81 m/s^2", force, NULL},
        {"mass*9.81", force, "a force (N) is wanted here, got a mass (kg)"},
        {"mass*V/W", force, NULL},
        {"30 deg", number, NULL},
        {"30 deg", length, "got a number or angle"},
        {"table", length, "table is a function"},
        {"(3 m)^2/1 m", length, NULL},
        {"max(1 m, 2)", length, NULL},
        {"if(t < 1 s, 1 m, 2)", length, NULL},
        {"sqrt(2 m)", length, "got m^0.5"},
        {"3 A*K*mol", length, "got A*K*mol"},
        {"5 m/s*t - 3 m/s", speed, NULL},
        {"x*(2 N/m)", force, NULL},
        {"hat(t, 0 s, 16 ms)*5 N", force, NULL},
        {"(t/W) mm", length, NULL},
        {"9.81 m/s^2*h", length, "'h' is a unit there, not the parameter"},
        {"drop", length, "'h' is a unit there"},
        {"(9.81 m/s^2)*h", length, "got m^2/s^2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const snw_expr_rules rules = {.dim = &cases[i].dim, .vars = ALL};
        const snw_expr *e = NULL;
        if (cases[i].says) {
            refused_as(b, cases[i].text, &rules, 1, cases[i].says);
        } else if (snw_expr_parse(b->pool, b->scope, cases[i].text, &rules, NULL, 1, 1, &e,
                                  &b->err) != SNW_OK) {
            fail_msg("%s: %s", cases[i].text, b->err.text);
        }
    }
}

static void mismatches_inside_are_found_where_they_stand(void **state) {
    bench *b = *state;
    define(b, "lam", "1 m");
    refused(b, "1 m + 2 kg", 7, "a length (m) is wanted here, got a mass (kg)");
    refused(b, "2 + 1 m - 2 s", 11, "a length (m) is wanted here, got a time (s)");
    refused(b, "1 m < 2 s", 7, "a length (m) is wanted here, got a time (s)");
    refused(b, "max(1, 1 m, 2 s)", 13, "a length (m) is wanted here");
    refused(b, "if(t < 1 s, 1 m, 2 kg)", 18, "a length (m) is wanted here, got a mass");
    refused(b, "sin(lam)", 5, "a number or angle is wanted here, got a length (m)");
    refused(b, "exp(2*lam*t)", 5, "a number or angle is wanted here");
    refused(b, "2^lam", 3, "a number or angle is wanted here");
    refused(b, "lam^t", 1, "a number or angle is wanted here, got a length (m)");
    refused(b, "ramp(t, 0 m, 1 s)", 14, "a length (m) is wanted here, got a time (s)");
    refused(b, "mod(t, 1 s) + mod(1 m, 1 s)", 24, "a length (m) is wanted here");
    refused(b, "1 + (t < 1)", 5, "a number is wanted here, got a condition");
    refused(b, "if(t, 1, 2)", 4, "a condition is wanted here");
    refused(b, "t and on", 1, "a condition is wanted here");
    refused(b, "not t", 5, "a condition is wanted here");
    refused(b, "-(t < 1)", 2, "a number is wanted here");
    refused(b, "on", 1, "a number is wanted here, got a condition");
    refused(b, "(2*lam) mm", 9, "a unit follows a number, but this is already a length (m)");
    refused_as(b, "t", &(snw_expr_rules){.vars = ALL, .condition = true}, 1,
               "a condition is wanted here");
}

static void a_constant_has_its_dimension(void **state) {
    bench *b = *state;
    define(b, "E", "2 MPa");
    define(b, "n", "3");
    const struct {
        const char *text, *unit;
        double want;
    } cases[] = {{"12 mm", "m", 12e-3},        {"n*E", "Pa", 6e6},
                 {"E*4 mm^2", "N", 8},         {"5", "", 5},
                 {"30 deg", "", M_PI / 6},     {"n", "", 3},
                 {"sqrt(4 m^2)", "m", 2},      {"sqrt(4 m)", "", 2}, // exponents are not integers
                 {"2 kg*m/s^3", "kg*m/s^3", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double got = NAN;
        snw_dim dim;
        char unit[48];
        assert_int_equal(snw_expr_parse_constant(b->pool, b->scope, cases[i].text, "--find", 1, 1,
                                                 &got, &dim, &b->err),
                         SNW_OK);
        snw_dim_unit(dim, unit, sizeof unit);
        assert_near(got / cases[i].want, 1, 4e-16);
        assert_string_equal(unit, cases[i].unit);
    }
    double got;
    snw_dim dim;
    assert_int_equal(
        snw_expr_parse_constant(b->pool, b->scope, "2*t", "--find", 1, 1, &got, &dim, &b->err),
        SNW_E_PARSE);
    assert_int_equal(
        snw_expr_parse_constant(b->pool, b->scope, "n < 2", "--find", 1, 1, &got, &dim, &b->err),
        SNW_E_PARSE);
}

// ---- numbers of an expression -------------------------------------------------------------------

// Derivatives by the numbers in closed form, found by the values of the numbers.
static void slopes_by_numbers_are_exact(void **state) {
    bench *b = *state;
    const double t = 0.3;
    const struct {
        const char *text;
        double number, want; // NaN: no such number
    } cases[] = {
        {"7", 7, 1},
        {"7*sin(3*t)", 7, sin(0.9)},
        {"7*sin(3*t)", 3, 7 * t * cos(0.9)},
        {"(5 + t)/(7 - t)", 5, 1 / 6.7},
        {"(5 + t)/(7 - t)", 7, -5.3 / (6.7 * 6.7)},
        {"exp(5*t)*exp(5*t)", 5, NAN}, // two of them
        {"max(5*t, 7*t)", 7, t},
        {"max(5*t, 7*t)", 5, 0},
        {"if(t < 1, 5*t, 7*t)", 5, t},
        {"poly5(t, 0, 5)", 5, -30 * 0.06 * 0.06 * 0.94 * 0.94 * 0.06 / 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const snw_expr *e = parse(b, cases[i].text, TIME);
        double numbers[32], bar[32] = {0}, scratch[300], sum = 0;
        int found = 0;
        assert_true(snw_expr_constants(e) <= 32 && snw_expr_slope_scratch(e) <= 300);
        snw_expr_read_constants(e, numbers);
        snw_expr_add_slopes(e, (snw_at){.t = t}, 2, scratch, bar);
        for (int k = 0; k < snw_expr_constants(e); k++) {
            if (numbers[k] == cases[i].number) found++, sum += bar[k];
        }
        if (isnan(cases[i].want)) {
            assert_int_equal(found, 2);
            assert_near(sum, 2 * 2 * t * exp(3.0), 1e-13);
        } else {
            assert_near(sum, 2 * cases[i].want, 1e-14);
        }
    }
}

// The same with the rates of the law: against differences of order 6 of its jets.
static void slopes_of_rates(void **state) {
    bench *b = *state;
    static const double weight[3] = {3.0 / 4, -3.0 / 20, 1.0 / 60}, w[3] = {0.7, -1.1, 0.4};
    static const struct {
        const char *before, *after; // the number
    } law[] = {{"sin(3*t)*t*", ""},      {"cos(t*", ")^3/(2 + t)"},  {"(2 + t)/(t^2 + ", ")"},
               {"(1 + t)^(t*", ")"},     {"(t + ", ")^2.5"},         {"tan(t*", ")"},
               {"asin(0.5*t*", ")"},     {"acos(0.5*t*", ")"},       {"atan(t*", ")"},
               {"atan2(t*", ", 1 + t)"}, {"sinh(t*", ")"},           {"cosh(t*", ")"},
               {"tanh(t*", ")"},         {"log(2 + t)*exp(t*", ")"}, {"log(t + ", ")"},
               {"sqrt(t + ", ")"},       {"abs(t^2*", ")"},          {"min(7*t, t*", ")"},
               {"max(t^2, t^2*", ")"},   {"linear(t*", ", 0, 2)^2"}, {"ramp(t*", ", 0, 2)"},
               {"poly5(t*", ", 0, 2)"},  {"if(t < 1, t^3*", ", 0)"}, {"", ""}};
    const double t = 0.3, c = 1.37, h = 1e-3;
    for (size_t i = 0; i < sizeof law / sizeof law[0]; i++) {
        char text[80];
        double want = 0, numbers[32], bar[32] = {0}, scratch[600], sum = 0;
        for (int j = -3; j <= 3; j++) {
            if (j == 0) continue;
            (void)snprintf(text, sizeof text, "%s%.17g%s", law[i].before, c + j * h, law[i].after);
            const snw_jet y = snw_expr_jet_t(parse(b, text, TIME), (snw_at){.t = t});
            want += (j < 0 ? -weight[-j - 1] : weight[j - 1]) / h *
                    (w[0] * y.v + w[1] * y.d + w[2] * y.dd);
        }
        (void)snprintf(text, sizeof text, "%s%.17g%s", law[i].before, c, law[i].after);
        const snw_expr *e = parse(b, text, TIME);
        assert_true(snw_expr_has_jet_slopes(e));
        assert_true(snw_expr_constants(e) <= 32 && snw_expr_slope_scratch(e) <= 600);
        snw_expr_read_constants(e, numbers);
        snw_expr_add_jet_slopes(e, (snw_at){.t = t}, w, scratch, bar);
        int found = 0;
        for (int k = 0; k < snw_expr_constants(e); k++) {
            if (numbers[k] == c) found++, sum += bar[k];
        }
        if (found != 1 || !(fabs(sum - want) <= 1e-9 * fmax(1, fabs(want))))
            print_error("%s: found %d\n", text, found);
        assert_int_equal(found, 1);
        assert_near(sum, want, 1e-9 * fmax(1, fabs(want)));
    }
}

// Another number is no other expression, unless it decides a jump or is an exponent.
static void alike_apart_from_numbers(void **state) {
    bench *b = *state;
    const struct {
        const char *a, *b;
        bool alike;
    } cases[] = {
        {"7*sin(3*t)", "5*sin(2*t)", true},
        {"7*sin(3*t)", "7*cos(3*t)", false},
        {"7", "8", true},
        {"7", "7*t", false},
        {"7*step(t, 3)", "5*step(t, 3)", true},
        {"7*step(t, 3)", "7*step(t, 4)", false},
        {"if(t < 3, 5, 6)*t", "if(t < 3, 7, 8)*t", true},
        {"if(t < 3, 5, 6)*t", "if(t < 4, 5, 6)*t", false},
        {"t^3", "t^5", false},
        {"linear(t, 2, 5)", "linear(t, 2, 4)", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(snw_expr_alike(parse(b, cases[i].a, TIME), parse(b, cases[i].b, TIME)),
                         cases[i].alike);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(arithmetic_binds_as_on_paper),
        TEST(functions_have_their_values),
        TEST(conditions_follow_logic),
        TEST(derivatives_equal_differences),
        TEST(derivatives_in_x_leave_t_and_L_alone),
        TEST(edges_take_the_right_hand_derivative),
        TEST(ramp_is_smooth_across_its_series),
        TEST(units_scale_to_si),
        TEST(plain_numbers_fit_and_units_are_checked),
        TEST(mismatches_inside_are_found_where_they_stand),
        TEST(a_constant_has_its_dimension),
        TEST(slopes_by_numbers_are_exact),
        TEST(slopes_of_rates),
        TEST(alike_apart_from_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
