// SPDX-License-Identifier: MIT
//
// Laws over time: the instants at which they break, and measured tables.
#include "math/expr.h"

#include "base/fail.h"

#include "near.h"

#include <string.h>

static snw_pool *pool;
static snw_scope *scope;
static snw_error err;

static int set_up(void **state) {
    (void)state;
    pool = snw_pool_create((size_t)16 << 20);
    scope = snw_scope_create(pool, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    snw_pool_destroy(pool);
    return 0;
}

static const snw_expr *parse(const char *text, bool condition) {
    const snw_expr *e = NULL;
    const snw_expr_rules rules = {.vars = SNW_VAR_T | SNW_VAR_X | SNW_VAR_L,
                                  .condition = condition};
    if (snw_expr_parse(pool, scope, text, &rules, "m.yaml", 1, 1, &e, &err) != SNW_OK) {
        fail_msg("%s: %s", text, err.text);
    }
    return e;
}

// ---- breaks -------------------------------------------------------------------------------------

static void laws_break_at_jumps_and_corners(void **state) {
    (void)state;
    const double pi = 3.14159265358979323846;
    const struct {
        const char *text;
        bool condition;
        int n;
        double at[6];
    } cases[] = {
        {"sin(t)*t^2", false, 0, {0}},
        {"ramp(t, 1, 2) + poly5(t, 3, 4)", false, 0, {0}},
        {"step(t, 2 s)", false, 1, {2}},
        {"step(t, 0 s)", false, 0, {0}}, // at t0 already
        {"linear(t, 3.652 s, 3.967 s)", false, 2, {3.652, 3.967}},
        {"5 N*hat(t, 0 s, 16 ms)", false, 2, {8e-3, 16e-3}},
        {"hat(t, 1, 2)", false, 3, {1, 1.5, 2}},
        {"abs(t - 2.5)", false, 1, {2.5}},
        {"min(t/(2 s), 1)", false, 1, {2}},
        {"max(t - 3 s, 0 s)", false, 1, {3}},
        {"floor(t/2)", false, 2, {2, 4}},
        {"ceil(t/2)", false, 2, {2, 4}},
        {"mod(t, 2 s)", false, 2, {2, 4}},
        {"mod(-t, 2 s)", false, 2, {2, 4}},
        {"mod(t, 2 s) < 1 s", true, 5, {1, 2, 3, 4, 5}},
        {"t > 1 s and t <= 2.5 s", true, 2, {1, 2.5}},
        {"if(t < 2 s, 1, 3)", false, 1, {2}},
        {"if(t == 2 s, 1, 3)", false, 1, {2}},
        {"abs(abs(t - 2) - 1)", false, 3, {1, 2, 3}},
        {"abs(sin(t))", false, 1, {pi}},
        {"if(sin(2*t) > 0, 1, 0)", false, 3, {pi / 2, pi, 1.5 * pi}},
        {"t^2 < 4", true, 1, {2}},
        {"sign(x - t)", false, 0, {0}}, // no single time
        {"step(t, 6 s)", false, 0, {0}},
        {"step(t, 5 s)", false, 1, {5}},
        {"on", true, 0, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double got[8] = {0};
        const int n = snw_expr_breaks_t(parse(cases[i].text, cases[i].condition), 0, 5, got, 8);
        if (n != cases[i].n) fail_msg("%s: %d breaks, first %.17g", cases[i].text, n, got[0]);
        for (int k = 0; k < n; k++) assert_near(got[k], cases[i].at[k], 4e-16);
    }
}

static void breaks_are_the_first_ones_rising(void **state) {
    (void)state;
    double got[3];
    const snw_expr *e = parse("mod(t, 1e-6 s) + step(t, 1.5e-6 s)", false);
    assert_int_equal(snw_expr_breaks_t(e, 0, 10, got, 3), 3);
    assert_near(got[0] * 1e6, 1, 1e-15);
    assert_near(got[1] * 1e6, 1.5, 1e-15);
    assert_near(got[2] * 1e6, 2, 1e-15);
    assert_int_equal(snw_expr_breaks_t(e, 0, 10, got, 0), 0);
    assert_int_equal(snw_expr_breaks_t(e, 10, 0, got, 3), 0);
    assert_int_equal(snw_expr_breaks_t(e, NAN, 1, got, 3), 0);
    assert_int_equal(snw_expr_breaks_t(parse("step(t, 3)", false), -INFINITY, 1, got, 3), 0);
    assert_int_equal(snw_expr_breaks_t(parse("step(t, 3)", false), 1, INFINITY, got, 3), 1);
    assert_near(got[0], 3, 0);
}

// stepping from break to break finds each break exactly once
static void breaks_chain(void **state) {
    (void)state;
    const snw_expr *e = parse("if(mod(t, 0.7 s) < 0.3 s, 1, 2)", false);
    double all[40], t = 0;
    const int n = snw_expr_breaks_t(e, 0, 12, all, 40);
    assert_int_equal(n, 34);
    for (int i = 0; i < n; i++) {
        double next;
        assert_int_equal(snw_expr_breaks_t(e, t, 12, &next, 1), 1);
        assert_near(next, all[i], 4e-16);
        t = next;
    }
}

// ---- tables -------------------------------------------------------------------------------------

enum { ROWS = 41 };
static double rows_t[ROWS], rows_y[ROWS];

// A file "wave.csv" with columns "sin", "3" (a cubic); other columns are missing.
static snw_status read_table(void *user, const char *from, const char *file, const char *column,
                             snw_table *out, snw_error *e) {
    (void)user, (void)from;
    if (strcmp(file, "wave.csv") != 0) return snw_fail(e, SNW_E_IO, "no such file");
    const bool cubic = strcmp(column, "3") == 0, falls = strcmp(column, "falls") == 0;
    if (!cubic && !falls && strcmp(column, "sin") != 0) {
        return snw_fail(e, SNW_E_MODEL, "no such column");
    }
    for (int i = 0; i < ROWS; i++) {
        // uneven on purpose
        const double t = 0.1 * i + 0.03 * (i % 3);
        rows_t[i] = falls ? -t : t;
        rows_y[i] = cubic ? t * t * t - 2 * t : sin(t);
    }
    *out = (snw_table){ROWS, rows_t, rows_y};
    return SNW_OK;
}

static void a_cubic_is_interpolated_exactly(void **state) {
    (void)state;
    snw_scope_tables(scope, read_table, NULL);
    const snw_expr *e = parse("table(\"wave.csv\", 1 + 2)", false);
    const double end = rows_t[ROWS - 1];
    for (double at = 0; at < end + 0.036; at += 0.037) { // both ends included
        const double t = fmin(at, end);
        const snw_jet j = snw_expr_jet_t(e, (snw_at){.t = t});
        assert_near(j.v, t * t * t - 2 * t, 1e-13);
        assert_near(j.d, 3 * t * t - 2, 1e-12);
        assert_near(j.dd, 6 * t, 1e-10);
    }
}

static void smooth_data_are_interpolated_to_fourth_order(void **state) {
    (void)state;
    snw_scope_tables(scope, read_table, NULL);
    const snw_expr *e = parse("table('wave.csv', \"sin\") mm", false);
    for (double t = 0.01; t < 4; t += 0.037) {
        const snw_jet j = snw_expr_jet_t(e, (snw_at){.t = t});
        assert_near(1e3 * j.v, sin(t), 2e-6); // h^4/120 with h = 0.13
        assert_near(1e3 * j.d, cos(t), 1e-4);
        assert_near(1e3 * j.dd, -sin(t), 6e-3);
    }
}

static void outside_a_table_its_ends_hold(void **state) {
    (void)state;
    snw_scope_tables(scope, read_table, NULL);
    const snw_expr *e = parse("table(\"wave.csv\", \"sin\")", false);
    const double end = rows_t[ROWS - 1];
    const snw_jet before = snw_expr_jet_t(e, (snw_at){.t = -3}),
                  after = snw_expr_jet_t(e, (snw_at){.t = 99});
    assert_true(before.v == 0 && before.d == 0 && after.v == rows_y[ROWS - 1] && after.d == 0);
    assert_true(isnan(snw_expr_value(e, (snw_at){.t = NAN})));
    double got[4];
    assert_int_equal(snw_expr_breaks_t(e, -1, 9, got, 4), 2);
    assert_near(got[0], 0, 1e-15);
    assert_near(got[1], end, 1e-15);
    assert_int_equal(snw_expr_vars(e), SNW_VAR_T);
}

// shifted and stretched arguments and arguments of other quantities, with the derivatives of the
// composition
static void a_table_is_looked_at_anywhere(void **state) {
    (void)state;
    snw_scope_tables(scope, read_table, NULL);
    assert_int_equal(snw_scope_define(scope, "delay", "0.25 s", "m.yaml", 1, 1, &err), SNW_OK);
    const snw_expr *late = parse("2*table(\"wave.csv\", 3, (t - delay)/2) + 1", false);
    const snw_expr *bent = parse("table(\"wave.csv\", \"3\", (t/(1 s))^2)", false);
    const snw_expr *along = parse("table(\"wave.csv\", 3, 2*x)", false);
    for (double t = 0.3; t < 1.7; t += 0.11) {
        const double u = (t - 0.25) / 2, w = t * t;
        const snw_jet j = snw_expr_jet_t(late, (snw_at){.t = t});
        assert_near(j.v, 2 * (u * u * u - 2 * u) + 1, 1e-13);
        assert_near(j.d, 3 * u * u - 2, 1e-12);
        assert_near(j.dd, 3 * u, 1e-10);
        const snw_jet k = snw_expr_jet_t(bent, (snw_at){.t = t});
        assert_near(k.v, w * w * w - 2 * w, 1e-13);
        assert_near(k.d, (3 * w * w - 2) * 2 * t, 1e-12);
        assert_near(k.dd, 6 * w * 4 * w + (3 * w * w - 2) * 2, 1e-10);
        assert_near(snw_expr_value(along, (snw_at){.x = t / 2}), t * t * t - 2 * t, 1e-13);
    }
    double got[4];
    assert_int_equal(snw_expr_breaks_t(late, -1, 90, got, 4), 2);
    assert_near(got[0], 0.25, 1e-12);
    assert_near(got[1], 0.25 + 2 * rows_t[ROWS - 1], 1e-12);
    const snw_expr *fixed = parse("table(\"wave.csv\", 3, 2 s)", false);
    assert_int_equal(snw_expr_vars(fixed), 0);
    assert_near(snw_expr_value(fixed, (snw_at){.t = 9}), 4, 1e-13);
}

static void table_faults_are_reported(void **state) {
    (void)state;
    snw_scope_tables(scope, read_table, NULL);
    snw_scope *inner = snw_scope_create(pool, scope);
    const struct {
        const char *text;
        int vars, column;
        const char *says;
    } cases[] = {
        {"2*table(\"none.csv\", 1)", SNW_VAR_T, 3, "none.csv, column 1: no such file"},
        {"table(\"wave.csv\", \"cos\")", SNW_VAR_T, 1, "no such column"},
        {"table(\"wave.csv\", \"falls\")", SNW_VAR_T, 1, "the first column must increase"},
        {"table(\"wave.csv\", 1.5)", SNW_VAR_T, 19, "a column must be a whole number"},
        {"table(\"wave.csv\", t)", SNW_VAR_T, 19, "a column must be constant"},
        {"table(\"wave.csv\", 3)", 0, 1, "this number must be constant"},
        {"table(\"wave.csv\", 3, 4, 5)", SNW_VAR_T, 23, "optionally the argument"},
        {"table(\"wave.csv\", \"sin\", t - )", SNW_VAR_T, 30, "a value is missing"},
        {"table(\"wave.csv\", 3, t < 1)", SNW_VAR_T, 22, "a number is wanted"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const snw_expr *e = NULL;
        err = (snw_error){0};
        assert_int_equal(snw_expr_parse(pool, inner, cases[i].text,
                                        &(snw_expr_rules){.vars = cases[i].vars}, "m.yaml", 1, 1,
                                        &e, &err),
                         SNW_E_PARSE);
        if (err.column != cases[i].column || !strstr(err.text, cases[i].says)) {
            fail_msg("%s: column %d: %s", cases[i].text, err.column, err.text);
        }
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(laws_break_at_jumps_and_corners),
        TEST(breaks_are_the_first_ones_rising),
        TEST(breaks_chain),
        TEST(a_cubic_is_interpolated_exactly),
        TEST(smooth_data_are_interpolated_to_fourth_order),
        TEST(outside_a_table_its_ends_hold),
        TEST(a_table_is_looked_at_anywhere),
        TEST(table_faults_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
