// SPDX-License-Identifier: MIT
//
// The expressions of the example robots parse, with the dimension required by their key.
#include "math/expr.h"

#include "near.h"

#include <stdio.h>
#include <string.h>

enum { T = SNW_VAR_T, ROD = SNW_VAR_T | SNW_VAR_X | SNW_VAR_L, MOST = 12 };

// `name: text`, or a list `name: [a, b]`.
static void define(snw_scope *s, const char *entry) {
    char copy[400];
    snw_error err = {0};
    (void)snprintf(copy, sizeof copy, "%s", entry);
    char *text = strstr(copy, ": ");
    assert_non_null(text);
    *text = '\0';
    text += 2;
    snw_status status;
    if (*text == '[') {
        const char *items[MOST], *const file[MOST] = {0};
        const int line[MOST] = {0}, column[MOST] = {0};
        int n = 0;
        for (char *p = text + 1; p;) {
            char *end = strpbrk(p, ",]");
            items[n++] = p;
            p = *end == ',' ? end + 1 : NULL;
            *end = '\0';
        }
        status = snw_scope_define_list(s, copy, n, items, file, line, column, &err);
    } else {
        status = snw_scope_define(s, copy, text, NULL, 1, 1, &err);
    }
    if (status != SNW_OK) fail_msg("%s: %s", entry, err.text);
}

static snw_status read_table(void *user, const char *from, const char *file, const char *column,
                             snw_table *out, snw_error *err) {
    static const double x[] = {0, 1, 2}, y[] = {1, 2, 5};
    (void)user, (void)from, (void)file, (void)column, (void)err;
    *out = (snw_table){3, x, y};
    return SNW_OK;
}

typedef struct law {
    const char *text;
    const char *unit; // required dimension; NULL: a condition
    int vars;
} law;

typedef struct robot {
    const char *name;
    const char *parameters[MOST + 1];
    law laws[MOST + 1];
} robot;

static const robot robots[] = {
    {"boyer3",
     {"Len: 20 m", "turn: 2*pi * min(t/(18 s), 1)", "x1: Len - 2 m/s * max(t - 18 s, 0 s)"},
     {{"Len", "m", 0}, {"turn", "rad", T}, {"x1", "m", T}, {"9.81 N/m", "N/m", ROD}}},
    {"boyer5",
     {"a: 0.15 m", "w: 2*pi rad/s", "mu: 7.85e-5 kg/m"},
     {{"a*sin(w*t)", "m", T}, {"mu", "kg/m", 0}}},
    {"boyer6",
     {"A: 0.2 N*m", "lam: [1 m, 0.5 m]", "T: [1 s, 0.25 s]"},
     {{"A*ramp(t, 0, 0.25 s)*sin(2*pi*(x/lam(2) - t/T(2)))", "N*m", ROD}}},
    {"earthworm",
     {"eps: 0.5", "lam: 1 m", "c: 0.05 m/s", "C: mod(c*t + lam/4, lam)"},
     {{"C", "m", T}, {"eps*sin(2*pi/lam*(c*t - x))", "rad", ROD}}},
    {"finger",
     {"Ac: pi*(2.5 mm)^2", "V0: Ac*0.1 m", "rise: min(t/(2 s), 1)", "n0: 8.1629396e-5 mol"},
     {{"Ac", "m^2", 0},
      {"n0 + (2e-4 mol - n0)*rise", "mol", T},
      {"V0 + (2.65e-6 m^3 - V0)*rise", "m^3", T},
      {"-10.2857 mm", "m", 0}}},
    // pi/2 rad/s would be pi/(2 rad/s), a time
    {"inchworm",
     {"alpha: 2", "w: (pi/2) rad/s", "l: 1 m"},
     {{"alpha*sin(w*t)^2*2*pi/l*cos(2*pi/l*(x - l))", "1/m", ROD},
      {"mod(t, 2 s) >= 1 s", NULL, T}}},
    {"mobile manipulator",
     {"l: 1 m", "W: 0.5 m", "beta: sin(t)",
      "b(k): atan(tan(beta)/(1 - (-1)^k * W/(2*l)*tan(beta)))", "alpha: [0, pi/2, 0, -pi/2]",
      "m: [20, 15, 8]", "rho: [0.42, 0, 0]", "xi: 1 m/s"},
     {{"b(k)", "rad", T},
      {"-rho(j)*sin(alpha(j))", "m", 0},
      {"m(j)", "kg", 0},
      {"(-1)^k*W/2", "m", 0},
      {"xi", "m/s", T}}},
    {"rfrfr",
     {"reach: 30 deg", "span: 60 deg"},
     {{"-(-1)^k * (reach - span*poly5(t, 1 s, 3 s))", "rad", T}}},
    {"satellite",
     {"a: [20, 15, 10]", "w: [0.5, 0.8, 1.1]"},
     {{"a(k)*(1 - cos(w(k)*t))", "rad", T}, {"20*pi*poly5(t, 0 s, 10 s)", "rad", T}}},
    {"snake",
     {"V: -0.5 m/s", "A: 10 1/m", "lam: 1 m", "len: 1.25 m", "W: 2 s", "b: 2 1/m",
      "B(u): if(abs(u) < W, exp(u^2/(u^2 - W^2)), 0)", "u: t - 5 s + x/V"},
     {{"A*cos(2*pi/lam*(x + V*t)) + b*B(t - 5 s + x/V)", "1/m", ROD},
      {"0*B(u) + b*B(u)", "1/m", ROD},
      {"mod((k - 0.5)*len/5 - V*(t - 2 s), len)", "m", T}}},
    {"snakeboard",
     {"l: 0.2 m", "w: 2 rad/s", "phi: 0.5*sin(w*t)"},
     {{"(-1)^k*phi", "rad", T}, {"-(-1)^k*l", "m", 0}, {"5*pi s", "s", 0}}},
    {"stewart",
     {"angle: [-10 deg, 10 deg, 110 deg]", "R: 87 mm", "goal: -0.2 m * min(t/(2.5 s), 1)"},
     {{"R*cos(angle(k))", "m", 0},
      {"goal", "m", T},
      {"(1/120) s", "s", 0},
      {"table(\"lengths.csv\", k + 1)", "m", T}}},
    {"swimmer",
     {"w: 0.05 m", "wt: 0.01 m", "st: 0.95 m",
      "ay(s): if(s < w, sqrt(2*w*s - s^2), if(s < st, w - (w - wt)*((s - w)/(st - w))^2, "
      "wt*(1 m - s)/(1 m - st)))",
      "az(s): 0.08 m * sqrt(1 - ((s - 0.51 m)/(0.51 m))^2)",
      "T(k): 20 N + 20 N*sin(5*pi*t + (-1)^k*pi/2)"},
     {{"2*ay(x)", "m", ROD},
      {"2*ay(x + 0.6 m)", "m", ROD},
      {"2*az(x + 0.2 m)", "m", ROD},
      {"T(k)", "N", T},
      {"4.9e-2 N*m^2", "N*m^2", ROD}}},
    {"tdcpr",
     {"v0: 1 mm/s"},
     {{"table(\"shapes.csv\", 2*k + 1)", "rad", T},
      {"table(\"joints.csv\", k + 1)*1 deg", "rad", T},
      {"0.435 m*(k - 1)", "m", 0},
      {"11 mm*(-1)^j", "m", 0},
      {"ceil(j/2)", "rad", 0},
      {"0.005 N*m*s", "N*m*s", 0}}},
    {"tendon",
     {"z: -16.19 mm * (linear(t, 3.652 s, 3.967 s) - linear(t, 17.63 s, 17.94 s))"},
     {{"-z", "m", T},
      {"1.6e-3 1/N", "1/N", 0},
      {"5 s/m", "s/m", 0},
      {"1 N*min(max(t - 1, 0), 1)", "N", T},
      {"t > 1 s and t <= 2.5 s", NULL, T},
      {"9.5 mm*cos(90 deg*(k - 1))", "m", 0},
      {"0.03 kg/m^2", "kg/m^2", 0},
      {"5 N * hat(t, 0 s, 16 ms)", "N", T},
      {"5 mm*(1 - x/L)", "m", ROD},
      {"20 m - 2*t", "m", T}}},
    {"wheeled snake",
     {"a: [0.2, 0.6, -0.2]", "phase: [pi/16, 9*pi/16, 0]", "r(j): a(j)*sin(t + phase(j))"},
     {{"r(2*k - 1)", "rad", T}}},
};

static void expressions_of_the_examples_parse(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof robots / sizeof robots[0]; i++) {
        const robot *r = &robots[i];
        snw_error err = {0};
        snw_pool *pool = snw_pool_create((size_t)8 << 20);
        snw_scope *outer = snw_scope_create(pool, NULL), *scope = snw_scope_create(pool, outer);
        snw_scope_tables(outer, read_table, NULL);
        for (int k = 0; r->parameters[k]; k++) define(outer, r->parameters[k]);
        if (snw_scope_check(outer, &err) != SNW_OK) fail_msg("%s: %s", r->name, err.text);
        assert_int_equal(snw_scope_index(scope, "k", 1, &err), SNW_OK);
        assert_int_equal(snw_scope_index(scope, "j", 2, &err), SNW_OK);
        for (const law *l = r->laws; l->text; l++) {
            snw_unit_value unit = {0};
            if (l->unit) assert_int_equal(snw_unit_read(l->unit, &unit), strlen(l->unit));
            const snw_expr_rules rules = {&unit.dim, l->vars, !l->unit};
            const snw_expr *e = NULL;
            if (snw_expr_parse(pool, scope, l->text, &rules, NULL, 1, 1, &e, &err) != SNW_OK) {
                fail_msg("%s: %s: %d: %s", r->name, l->text, err.column, err.text);
            }
            const snw_jet at = snw_expr_jet_t(e, (snw_at){.t = 0.7, .x = 0.1, .L = 0.4});
            assert_true(isfinite(at.v) && isfinite(at.d) && isfinite(at.dd));
        }
        snw_pool_destroy(pool);
    }
}

// an error in a draft that the check of dimensions finds
static void a_unit_binds_to_the_divisor(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create((size_t)1 << 20);
    snw_scope *scope = snw_scope_create(pool, NULL);
    define(scope, "w: pi/2 rad/s");
    snw_error err = {0};
    const snw_expr *e = NULL;
    assert_int_equal(snw_expr_parse(pool, scope, "sin(w*t)^2", &(snw_expr_rules){.vars = T}, NULL,
                                    1, 1, &e, &err),
                     SNW_E_PARSE);
    assert_non_null(strstr(err.text, "a number or angle is wanted here, got"));
    snw_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_of_the_examples_parse),
        cmocka_unit_test(a_unit_binds_to_the_divisor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
