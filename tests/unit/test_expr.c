// SPDX-License-Identifier: MIT
#include "math/expr.h"

#include "base/alloc.h"

#include "near.h"

#include <stdio.h>
#include <string.h>

enum { TIME = SNW_VAR_T, ALL = SNW_VAR_T | SNW_VAR_X | SNW_VAR_L };

// A pool, a scope and the latest error, for one test each.
typedef struct bench {
    snw_pool *pool;
    snw_scope *scope;
    snw_error err;
} bench;

static int set_up(void **state) {
    bench *b = snw_alloc(sizeof *b);
    b->pool = snw_pool_create((size_t)256 << 20);
    b->scope = snw_scope_create(b->pool, NULL);
    *state = b;
    return 0;
}

static int tear_down(void **state) {
    bench *b = *state;
    snw_pool_destroy(b->pool);
    snw_free(b);
    return 0;
}

static void define(bench *b, const char *head, const char *text) {
    if (snw_scope_define(b->scope, head, text, "model.yaml", 3, 10, &b->err) != SNW_OK) {
        fail_msg("%s: %s: %s", head, text, b->err.text);
    }
}

static const snw_expr *parse(bench *b, const char *text, int vars) {
    const snw_expr *e = NULL;
    const snw_expr_rules rules = {.vars = vars};
    if (snw_expr_parse(b->pool, b->scope, text, &rules, "model.yaml", 7, 5, &e, &b->err) !=
        SNW_OK) {
        fail_msg("%s: column %d: %s", text, b->err.column, b->err.text);
    }
    return e;
}

static const snw_expr *parse_condition(bench *b, const char *text) {
    const snw_expr *e = NULL;
    const snw_expr_rules rules = {.vars = ALL, .condition = true};
    if (snw_expr_parse(b->pool, b->scope, text, &rules, NULL, 1, 1, &e, &b->err) != SNW_OK) {
        fail_msg("%s: %s", text, b->err.text);
    }
    return e;
}

static double value(bench *b, const char *text) {
    return snw_expr_value(parse(b, text, ALL), (snw_at){.t = 0.3, .x = 0.2, .L = 0.5});
}

// The text is refused at a column, counted from 1 (0: wherever), with a message that contains
// `says`.
static void refused_as(bench *b, const char *text, const snw_expr_rules *rules, int column,
                       const char *says) {
    const snw_expr *e = NULL;
    b->err = (snw_error){0};
    const snw_status s =
        snw_expr_parse(b->pool, b->scope, text, rules, "model.yaml", 7, 1, &e, &b->err);
    if (s != SNW_E_PARSE) fail_msg("'%.60s' was accepted", text);
    if ((column && b->err.column != column) || !strstr(b->err.text, says)) {
        fail_msg("'%.60s': column %d: %s; wanted %d: %s", text, b->err.column, b->err.text, column,
                 says);
    }
}

static void refused(bench *b, const char *text, int column, const char *says) {
    refused_as(b, text, &(snw_expr_rules){.vars = ALL}, column, says);
}

// ---- values
// -----------------------------------------------------------------------------------------

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

// ---- derivatives
// ------------------------------------------------------------------------------------

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

static void edges_take_the_right_hand_slope(void **state) {
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
        {"if(t > 0, sqrt(t), 3*t)", 3, 0}, // the branch not taken has an infinite slope
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
    // z = 0.2 is the seam; (z - sin z)/(2 pi) in long double as the reference
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

// ---- units and dimensions
// ---------------------------------------------------------------------------

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
        {"2 min(3, 4)", NAN}, // a function, refused below
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

// What fits a wanted dimension and what does not.
static void plain_numbers_fit_and_units_are_checked(void **state) {
    bench *b = *state;
    define(b, "C", "3");
    define(b, "V", "-0.5 m/s");
    define(b, "W", "2 s");
    define(b, "lam", "1 m");
    define(b, "mass", "2 kg");
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

// ---- names
// ------------------------------------------------------------------------------------------

static void variables_are_allowed_or_not(void **state) {
    bench *b = *state;
    define(b, "law", "sin(t)*x");
    refused_as(b, "2*t", &(snw_expr_rules){0}, 3,
               "'t' cannot be used here: this number must be constant");
    refused_as(b, "1 + x", &(snw_expr_rules){.vars = TIME}, 5,
               "'x' cannot be used here: only t may vary");
    refused_as(b, "1 + t", &(snw_expr_rules){.vars = SNW_VAR_X | SNW_VAR_L}, 5,
               "'t' cannot be used here: only x and L may vary");
    refused_as(b, "3*law", &(snw_expr_rules){.vars = TIME}, 3,
               "'law' depends on t and x and cannot be used here: only t may vary");
    assert_int_equal(snw_expr_vars(parse(b, "3*law", ALL)), SNW_VAR_T | SNW_VAR_X);
    assert_int_equal(snw_expr_vars(parse(b, "3*2", ALL)), 0);
}

static void parameters_come_in_any_order(void **state) {
    bench *b = *state;
    define(b, "a", "2*c");
    define(b, "c", "d + 1");
    define(b, "d", "3 m");
    assert_near(value(b, "a"), 8, 0);
    assert_true(snw_scope_has(b->scope, "c") && !snw_scope_has(b->scope, "e"));
    assert_int_equal(snw_scope_check(b->scope, &b->err), SNW_OK);
}

static void lists_and_functions_take_arguments(void **state) {
    bench *b = *state;
    const char *const text[] = {"0.2", "0.6 + t", "2*a(1)"};
    const int line[] = {4, 4, 4}, column[] = {5, 10, 20};
    assert_int_equal(
        snw_scope_define_list(b->scope, "a", 3, text, "model.yaml", line, column, &b->err), SNW_OK);
    define(b, "r(j)", "a(j)*sin(t + j)");
    define(b, "g(p, q)", "p - q");
    define(b, "twice(u)", "2*u");
    snw_scope *inner = snw_scope_create(b->pool, b->scope);
    assert_int_equal(snw_scope_index(inner, "k", 2, &b->err), SNW_OK);
    b->scope = inner;
    assert_near(value(b, "a(1) + a(k) + a(k + 1)"), 0.2 + 0.9 + 0.4, 1e-15);
    assert_near(value(b, "r(2*k - 1)"), 0.4 * sin(3.3), 1e-15);
    assert_near(value(b, "g(k, g(1, 5))"), 6, 0);
    assert_near(value(b, "twice(twice(twice(k)))"), 16, 0);
    assert_near(value(b, "-(-1)^k * 50 mm"), -0.05, 1e-16);
    refused(b, "a(4)", 3, "'a' has entries 1 to 3, not 4");
    refused(b, "a(0)", 3, "'a' has entries 1 to 3, not 0");
    refused(b, "a(1.5)", 3, "an index must be a whole number, got 1.5");
    refused(b, "a(t)", 3, "an index must be constant");
    refused(b, "a", 1, "'a' is a list, write a(1)");
    refused(b, "r", 1, "'r' is a function, write r(..)");
    refused(b, "k(1)", 1, "'k' is neither a list nor a function");
    refused(b, "g(1)", 1, "'g' takes 2 arguments, got 1");
    refused(b, "twice(1, 2)", 1, "'twice' takes 1 argument, got 2");
    refused(b, "a(1, 2)", 1, "takes one index");
}

static void inner_scopes_hide_outer_ones(void **state) {
    bench *b = *state;
    define(b, "k", "10");
    define(b, "p", "k + 1");
    snw_scope *inner = snw_scope_create(b->pool, b->scope);
    assert_int_equal(snw_scope_index(inner, "k", 2, &b->err), SNW_OK);
    b->scope = inner;
    assert_near(value(b, "k"), 2, 0);
    assert_near(value(b, "p"), 11, 0); // means what it meant where it was written
}

static void names_of_the_language_are_refused(void **state) {
    bench *b = *state;
    const char *const bad[] = {"t",   "x",     "L",    "pi",     "sin", "and", "or", "not", "on",
                               "off", "table", "f(t)", "f(a,a)", "f()", "1a",  "",   "a b", "f(a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (snw_scope_define(b->scope, bad[i], "1", NULL, 1, 1, &b->err) != SNW_E_PARSE) {
            fail_msg("'%s' was accepted", bad[i]);
        }
    }
    define(b, "m", "3"); // units are free
    define(b, "N", "4");
    assert_near(value(b, "2 N*m"), 2, 0);
    assert_near(value(b, "2*N*m"), 24, 0);
    assert_int_equal(snw_scope_define(b->scope, "m", "4", "f", 9, 2, &b->err), SNW_E_PARSE);
    assert_non_null(strstr(b->err.text, "'m' is defined twice"));
    assert_int_equal(b->err.line, 9);
}

static void cycles_name_the_way_round(void **state) {
    bench *b = *state;
    define(b, "a", "b0 + 1");
    define(b, "b0", "2*f(3)");
    define(b, "f(u)", "u*a");
    define(b, "self", "1 + self");
    define(b, "g(u)", "g(u - 1)");
    refused(b, "1 + a", 12, "'a' needs itself: a -> b0 -> f -> a (in f, called at 3:12)");
    assert_string_equal(b->err.file, "model.yaml");
    assert_int_equal(b->err.line, 3);
    refused(b, "self", 14, "'self' needs itself: self -> self");
    refused(b, "g(1)", 10, "'g' needs itself: g -> g");
    assert_int_equal(snw_scope_check(b->scope, &b->err), SNW_E_PARSE);
}

static void unused_parameters_are_checked(void **state) {
    bench *b = *state;
    define(b, "good(u)", "if(abs(u) < 2 s, exp(u^2/(u^2 - (2 s)^2)), 0)");
    define(b, "fine(k, c)", "if(c, (-1)^k*3 m, 2 m)");
    define(b, "at(k)", "good(t - k)");
    if (snw_scope_check(b->scope, &b->err) != SNW_OK) fail_msg("%s", b->err.text);
    define(b, "bad(u)", "u + 1 m + 2 s");
    assert_int_equal(snw_scope_check(b->scope, &b->err), SNW_E_PARSE);
    assert_int_equal(b->err.column, 10 + 10);
}

static void an_unused_constant_is_checked(void **state) {
    bench *b = *state;
    define(b, "a", "0");
    define(b, "c", "2 + 1/a");
    assert_int_equal(snw_scope_check(b->scope, &b->err), SNW_E_PARSE);
    assert_int_equal(b->err.column, 10 + 5);
    assert_non_null(strstr(b->err.text, "not a finite number"));
}

// ---- errors
// -----------------------------------------------------------------------------------------

static void bad_texts_are_refused_where_they_go_wrong(void **state) {
    bench *b = *state;
    define(b, "stiffness", "3 N/m");
    define(b, "len", "1 m");
    const struct {
        const char *text;
        int column;
        const char *says;
    } cases[] = {
        {"", 1, "an expression is missing"},
        {"  ", 1, "an expression is missing"},
        {"1 +", 4, "a value is missing before the end"},
        {"* 2", 1, "a value is missing before '*'"},
        {"2 ** 3", 4, "a value is missing before '*'"},
        {"1 + )", 5, "a value is missing before ')'"},
        {"(1 + 2", 7, "')' is missing before the end"},
        {"1 + 2)", 6, "this ')' closes nothing"},
        {"1 2", 3, "an operator is missing before '2'"},
        {"2 t", 3, "an operator is missing before 't'"},
        {"2 len", 3, "an operator is missing before 'len'"},
        {"2 sin(t)", 3, "an operator is missing before 'sin'"},
        {"(1)(2)", 4, "an operator is missing before '('"},
        {"x 1/m", 3, "an operator is missing before '1'"},
        {"1 = 2", 3, "write '=='"},
        {"1 < 2 < 3", 7, "comparisons do not chain"},
        {"1e999", 1, "'1e999' is too large"},
        {"1e-999", 1, "'1e-999' is too small"},
        {"3 + 1..2", 5, "'1..2' is not a number"},
        {"1.2.3", 1, "'1.2.3' is not a number"},
        {"0x", 1, "'0x' is not a number"},
        {"0x10", 1, "'0x10' is not a number"},
        {"1e", 1, "'1e' is not a number"},
        {"1e+", 1, "'1e' is not a number"},
        {"2e3.5", 1, "'2e3.5' is not a number"},
        {"5 Nm", 3, "'Nm' is not a unit (did you mean 'N*m'?)"},
        {"5 MPA", 3, "'MPA' is not a unit (did you mean 'MPa'?)"},
        {"5 furlong", 3, "'furlong' is not a unit"},
        {"5 m^2.5", 4, "the exponent of a unit is a whole number"},
        {"5 s^(-1)", 4, "the exponent of a unit is a whole number"},
        {"5 m ^ 2", 5, "as in (5 m)^2"},
        {"5 m s", 5, "an operator is missing before 's'"},
        {"stifness*2", 1, "unknown name 'stifness' (did you mean 'stiffness'?)"},
        {"2*sinn(t)", 3, "unknown function 'sinn' (did you mean 'sin'?)"},
        {"2*T", 3, "unknown name 'T' (did you mean 't'?)"},
        {"3*kg", 3, "a unit only follows a number"},
        {"sin", 1, "sin is a function: sin(a)"},
        {"sin()", 5, "a value is missing before ')'"},
        {"sin(1, 2)", 1, "sin takes 1 argument, sin(a), got 2"},
        {"ramp(t, 0)", 1, "ramp takes 3 arguments, ramp(t, a, b), got 2"},
        {"ramp(t, 2 s, 1 s)", 14, "must lie above"},
        {"linear(t, 1, 1)", 14, "must lie above"},
        {"min()", 5, "a value is missing"},
        {"1/0", 2, "not a finite number"},
        {"3 + log(0)", 5, "not a finite number"},
        {"sqrt(-1)*t", 1, "not a finite number"},
        {"if(t < 1 s, 1/0, 2)", 14, "not a finite number"},
        {"1e308*1e308", 6, "not a finite number"},
        {"\"text\"", 1, "a text can only be an argument of table"},
        {"1 + $", 5, "a value is missing before '$'"},
        {"1 # 2", 3, "'#' cannot be used here"},
        {"len.x", 4, "names have no parts here"},
        {"len and", 8, "a value is missing before the end"},
        {"on(1)", 1, "unknown function 'on'"},
        {"table(\"f.csv\", 2)", 1, "tables cannot be read here"},
        {"table(f, 2)", 7, "a file name in quotes"},
        {"table(\"f.csv)", 7, "the closing quote is missing"},
        {"table(\"f.csv\")", 14, "a file and a column"},
        {"table(\"f.csv\", 0)", 16, "counted from 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refused(b, cases[i].text, cases[i].column, cases[i].says);
    }
}

static void places_count_lines_and_letters(void **state) {
    bench *b = *state;
    define(b, "\xce\xbb", "2 m"); // lambda
    refused(b, "1 +\n  foo", 3, "unknown name 'foo'");
    assert_int_equal(b->err.line, 8);
    refused(b, "\xce\xbb + foo", 5, "unknown name 'foo'");
    assert_near(value(b, "3*\xce\xbb"), 6, 0);
    assert_string_equal(b->err.file, "model.yaml");
    assert_int_equal(b->err.status, SNW_E_PARSE);
}

static void faults_in_a_function_name_the_call(void **state) {
    bench *b = *state;
    define(b, "f(u)", "u + 1 m");
    refused(b, "2 m + f(3 s)", 14, "(in f, called at 7:7)");
    assert_int_equal(b->err.line, 3);
}

// a branch that is never taken may hold what has no value
static void the_branch_not_taken_does_no_harm(void **state) {
    bench *b = *state;
    define(b, "f(k)", "if(k > 1, 1/(k - 1), 0)");
    assert_near(value(b, "f(1) + f(3)"), 0.5, 0);
}

// ---- limits
// -----------------------------------------------------------------------------------------

static void doubling_functions_end_quickly(void **state) {
    bench *b = *state;
    define(b, "f0(u)", "u + t");
    define(b, "g0(u)", "u");
    for (int i = 1; i < 60; i++) {
        char head[16], text[64];
        (void)snprintf(head, sizeof head, "f%d(u)", i);
        (void)snprintf(text, sizeof text, "f%d(u) + f%d(u)", i - 1, i - 1);
        define(b, head, text);
        (void)snprintf(head, sizeof head, "g%d(u)", i);
        (void)snprintf(text, sizeof text, "g%d(g%d(u))", i - 1, i - 1);
        define(b, head, text);
    }
    refused(b, "1 + f59(2)", 5, "more than 20000 operations");
    refused(b, "1 + g59(2)", 5, "more than 20000 operations");
    assert_near(value(b, "f5(1)"), 32 * 1.3, 1e-15);
}

// parameters are shared, so doubling them is cheap
static void doubling_parameters_is_cheap(void **state) {
    bench *b = *state;
    define(b, "p0", "t");
    for (int i = 1; i < 60; i++) {
        char head[16], text[64];
        (void)snprintf(head, sizeof head, "p%d", i);
        (void)snprintf(text, sizeof text, "p%d + p%d", i - 1, i - 1);
        define(b, head, text);
    }
    const snw_expr *e = parse(b, "p59", TIME);
    assert_near(snw_expr_value(e, (snw_at){.t = 0.5}), ldexp(1, 58), 0);
    assert_near(snw_expr_jet_t(e, (snw_at){.t = 0.5}).d, ldexp(1, 59), 0);
}

static char *repeat(bench *b, const char *open, const char *mid, const char *close, int n) {
    const size_t lo = strlen(open), lm = strlen(mid), lc = strlen(close);
    char *text = snw_pool_take(b->pool, (lo + lc) * (size_t)n + lm + 1);
    char *p = text;
    for (int i = 0; i < n; i++, p += lo) memcpy(p, open, lo);
    memcpy(p, mid, lm);
    p += lm;
    for (int i = 0; i < n; i++, p += lc) memcpy(p, close, lc);
    return text;
}

static void depth_and_length_have_limits(void **state) {
    bench *b = *state;
    define(b, "f(u)", "u");
    assert_near(value(b, repeat(b, "(", "1", ")", 190)), 1, 0);
    assert_near(value(b, repeat(b, "t+(", "1", ")", 190)), 58, 1e-13);
    assert_near(value(b, repeat(b, "t+", "1", "", 9000)), 2701, 1e-11);
    assert_near(value(b, repeat(b, "", "1", "-t", 9000)), -2699, 1e-11);
    refused(b, repeat(b, "(", "1", ")", 300), 201, "nested more than 200 deep");
    refused(b, repeat(b, "-", "1", "", 5000), 201, "nested more than 200 deep");
    refused(b, repeat(b, "2^", "1", "", 5000), 401, "nested more than 200 deep");
    refused(b, repeat(b, "not ", "on", "", 5000), 801, "nested more than 200 deep");
    refused(b, repeat(b, "sin(", "1", ")", 5000), 801, "nested more than 200 deep");
    refused(b, repeat(b, "f(", "1", ")", 5000), 401, "nested more than 200 deep");
    refused(b, repeat(b, "if(t<", "1", ",1,1)", 5000), 999, "nested more than 200 deep");
    refused(b, repeat(b, " ", "1", "", 70000), 1, "longer than 65536");
    refused(b, repeat(b, "t+", "1", "", 30000), 0, "more than 20000 operations");
}

static void a_long_chain_of_parameters_ends(void **state) {
    bench *b = *state;
    define(b, "c0", "t");
    for (int i = 1; i < 1000; i++) {
        char head[16], text[64];
        (void)snprintf(head, sizeof head, "c%d", i);
        (void)snprintf(text, sizeof text, "(c%d + 1)", i - 1);
        define(b, head, text);
    }
    const snw_expr *e = NULL;
    assert_int_equal(snw_expr_parse(b->pool, b->scope, "c999", &(snw_expr_rules){.vars = ALL}, NULL,
                                    1, 1, &e, &b->err),
                     SNW_E_PARSE);
    assert_non_null(strstr(b->err.text, "nested more than 200 deep"));
    assert_near(value(b, "c60"), 60.3, 1e-15);
}

static void a_small_pool_is_not_overrun(void **state) {
    bench *b = *state;
    snw_pool *tight = snw_pool_create(70000);
    snw_scope *scope = snw_scope_create(tight, NULL);
    const snw_expr *e = NULL;
    assert_int_equal(snw_expr_parse(tight, scope, repeat(b, "t+", "1", "", 9000),
                                    &(snw_expr_rules){.vars = ALL}, NULL, 1, 1, &e, &b->err),
                     SNW_E_MEMORY);
    snw_pool_destroy(tight);
}

static void evaluation_allocates_nothing(void **state) {
    bench *b = *state;
    const snw_expr *e = parse(b, "2 N*ramp(t, 0 s, 1 s)*sin(2*pi*(x/L - t))", ALL);
    const size_t before = snw_alloc_count();
    double out[4];
    (void)snw_expr_value(e, (snw_at){0.1, 0.2, 1});
    (void)snw_expr_jet_t(e, (snw_at){0.1, 0.2, 1});
    (void)snw_expr_breaks_t(e, 0, 1, out, 4);
    assert_int_equal(snw_alloc_count(), before);
}

static void constants_are_expressions_too(void **state) {
    bench *b = *state;
    const snw_expr *e = snw_expr_constant(b->pool, 2.5);
    assert_true(snw_expr_value(e, (snw_at){0}) == 2.5);
    assert_true(snw_expr_jet_t(e, (snw_at){0}).d == 0 && snw_expr_vars(e) == 0);
    assert_int_equal(snw_expr_breaks_t(e, 0, 1, NULL, 0), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(arithmetic_binds_as_on_paper),
        TEST(functions_have_their_values),
        TEST(conditions_follow_logic),
        TEST(derivatives_equal_differences),
        TEST(derivatives_in_x_leave_t_and_L_alone),
        TEST(edges_take_the_right_hand_slope),
        TEST(ramp_is_smooth_across_its_series),
        TEST(units_scale_to_si),
        TEST(plain_numbers_fit_and_units_are_checked),
        TEST(mismatches_inside_are_found_where_they_stand),
        TEST(variables_are_allowed_or_not),
        TEST(parameters_come_in_any_order),
        TEST(lists_and_functions_take_arguments),
        TEST(inner_scopes_hide_outer_ones),
        TEST(names_of_the_language_are_refused),
        TEST(cycles_name_the_way_round),
        TEST(unused_parameters_are_checked),
        TEST(an_unused_constant_is_checked),
        TEST(bad_texts_are_refused_where_they_go_wrong),
        TEST(places_count_lines_and_letters),
        TEST(faults_in_a_function_name_the_call),
        TEST(the_branch_not_taken_does_no_harm),
        TEST(doubling_functions_end_quickly),
        TEST(doubling_parameters_is_cheap),
        TEST(depth_and_length_have_limits),
        TEST(a_long_chain_of_parameters_ends),
        TEST(a_small_pool_is_not_overrun),
        TEST(evaluation_allocates_nothing),
        TEST(constants_are_expressions_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
