// SPDX-License-Identifier: MIT
//
// Expected values compared with recorded series: correct values pass, all others fail.
#include "language/expect.h"
#include "near.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

// Columns: tip.x = t, wave.v = sin(2 pi t/0.5), wire@1.my = t^2, s = 7.
static const snw_column columns[] = {
    {"tip", "x", -1}, {"wave", "v", -1}, {"wire", "my", 1}, {"s", "", -1}};
static const char *const stages[] = {"rest", "path", "never"};
static const snw_run_info info = {
    .run = "main", .nstage = 3, .stage = stages, .ncolumn = 4, .column = columns};

static void add(snw_series *s, int stage, double t) {
    const double value[] = {t, sin(2 * PI * t / 0.5), t * t, 7};
    const snw_frame f = {.stage = stage, .t = t, .column = value};
    const snw_recorder r = snw_series_recorder(s);
    snw_error err;
    assert_int_equal(r.frame(r.user, &f, &err), SNW_OK);
}

static void finish(snw_series *s, snw_status status) {
    const snw_recorder r = snw_series_recorder(s);
    snw_error err;
    assert_int_equal(r.end(r.user, status, "", &err), SNW_OK);
}

// A frame at rest, then a path of n steps up to t = 2.
static snw_series recorded(int n) {
    snw_series s;
    snw_series_init(&s, 4);
    add(&s, 0, 0);
    for (int k = 1; k <= n; k++) add(&s, 1, 2.0 * k / n);
    finish(&s, SNW_OK);
    return s;
}


static snw_expect_outcome check(const snw_expect *e, const snw_series *s) {
    snw_expect_outcome out;
    assert_int_equal(snw_expect_check(e, &info, s, &out), SNW_OK);
    return out;
}

// Does it pass? *got, unless NULL, is the number found, *reason the reason when there is none.
static bool passes(snw_expect e, const char *column, double value, const snw_series *s, double *got,
                   char *reason) {
    const char *const name[] = {column};
    e.ncolumn = e.nrow = 1;
    e.column = name;
    e.value = &value;
    snw_expect_outcome out = check(&e, s);
    if (got) *got = out.ncell ? out.cell[0].got : (double)NAN;
    if (reason) memcpy(reason, out.reason, sizeof out.reason);
    const bool ok = out.ok;
    assert_true(!ok || (out.ncell == 1 && out.cell[0].ok && !out.reason[0]));
    assert_true(out.ncell > 0 || out.reason[0]);
    snw_expect_outcome_clear(&out);
    return ok;
}

static void tolerances_are_kept(void **state) {
    (void)state;
    snw_series s = recorded(20);
    snw_expect e = {.when = SNW_EXPECT_AT, .t0 = 1, .how = SNW_EXPECT_WITHIN, .tolerance = 0.01};
    assert_true(passes(e, "tip.x", 1.009, &s, NULL, NULL));
    assert_false(passes(e, "tip.x", 1.011, &s, NULL, NULL));
    e.how = SNW_EXPECT_RELATIVE;
    e.t0 = 2;
    assert_true(passes(e, "tip.x", 2.019, &s, NULL, NULL));
    assert_false(passes(e, "tip.x", 2.021, &s, NULL, NULL));
    e.how = SNW_EXPECT_BELOW;
    assert_true(passes(e, "tip.x", 2.1, &s, NULL, NULL));
    assert_false(passes(e, "tip.x", 2, &s, NULL, NULL));
    e.how = SNW_EXPECT_ABOVE;
    assert_true(passes(e, "tip.x", 1.9, &s, NULL, NULL));
    assert_false(passes(e, "tip.x", 2, &s, NULL, NULL));
    snw_series_clear(&s);
}

static void cells_tell_how_far_off(void **state) {
    (void)state;
    snw_series s = recorded(20);
    const char *const name[] = {"tip.x", "wire@1.my", "s"};
    const double t[] = {0.5, 2}, value[] = {0.5, 0.25, 7, 2, 5, 7};
    const snw_expect e = {.ncolumn = 3,
                          .column = name,
                          .when = SNW_EXPECT_ROWS,
                          .nrow = 2,
                          .row_t = t,
                          .value = value,
                          .how = SNW_EXPECT_RELATIVE,
                          .tolerance = 0.1};
    snw_expect_outcome out = check(&e, &s);
    assert_false(out.ok);
    assert_int_equal(out.ncell, 6);
    for (int i = 0; i < 6; i++) assert_int_equal(out.cell[i].ok, i != 4);
    assert_string_equal(out.cell[4].column, "wire@1.my");
    assert_near(out.cell[4].t, 2, 0);
    assert_near(out.cell[4].got, 4, 1e-15);
    assert_near(out.cell[4].wanted, 5, 0);
    assert_near(out.cell[4].error, 1, 1e-15);
    assert_near(out.cell[4].allowed, 0.5, 1e-15);
    snw_expect_outcome_clear(&out);
    snw_expect_outcome_clear(&out); // a second call is allowed
    snw_series_clear(&s);
}

static void times_between_frames_are_linear(void **state) {
    (void)state;
    snw_series s = recorded(2); // frames at 0, 1, 2
    const snw_expect e = {.when = SNW_EXPECT_AT, .t0 = 1.5, .tolerance = 1e-12};
    assert_true(passes(e, "wire@1.my", 2.5, &s, NULL, NULL));
    snw_series_clear(&s);
}

static void ends_are_found(void **state) {
    (void)state;
    snw_series s = recorded(20);
    snw_expect e = {.when = SNW_EXPECT_END, .tolerance = 1e-12};
    assert_true(passes(e, "tip.x", 2, &s, NULL, NULL));
    e.when = SNW_EXPECT_AFTER;
    e.after = "rest";
    assert_true(passes(e, "tip.x", 0, &s, NULL, NULL));
    e.after = "path";
    assert_true(passes(e, "tip.x", 2, &s, NULL, NULL));
    snw_series_clear(&s);
}

static void missing_values_never_pass(void **state) {
    (void)state;
    char reason[200];
    snw_series s = recorded(20);
    const double huge = 1e9; // it would accept any value
    snw_expect e = {.when = SNW_EXPECT_AFTER, .after = "never", .tolerance = huge};
    assert_false(passes(e, "tip.x", 0, &s, NULL, reason));
    assert_non_null(strstr(reason, "'never' has no frame"));
    e.after = "other";
    assert_false(passes(e, "tip.x", 0, &s, NULL, reason));
    assert_non_null(strstr(reason, "no step 'other'"));
    e = (snw_expect){.when = SNW_EXPECT_AT, .t0 = 2.5, .tolerance = huge};
    assert_false(passes(e, "tip.x", 0, &s, NULL, reason));
    assert_non_null(strstr(reason, "at 2.5 s"));
    e = (snw_expect){.when = SNW_EXPECT_OVER, .t0 = 1, .t1 = 3, .tolerance = huge};
    assert_false(passes(e, "tip.x", 0, &s, NULL, reason));
    assert_non_null(strstr(reason, "from 0 s to 2 s"));
    e = (snw_expect){.when = SNW_EXPECT_END, .tolerance = huge};
    assert_false(passes(e, "tip.y", 0, &s, NULL, reason));
    assert_non_null(strstr(reason, "'tip.y' was not recorded"));
    snw_series_clear(&s);

    snw_series_init(&s, 4);
    assert_false(passes(e, "tip.x", 0, &s, NULL, reason));
    assert_non_null(strstr(reason, "nothing was recorded"));
    e.when = SNW_EXPECT_OVER;
    e.t0 = -INFINITY;
    e.t1 = INFINITY;
    assert_false(passes(e, "tip.x", 0, &s, NULL, reason));
    snw_series_clear(&s);
}

// a run that failed half way has no end value, and neither has its last step
static void incomplete_runs_never_pass(void **state) {
    (void)state;
    char reason[200];
    snw_series s = recorded(20);
    finish(&s, SNW_E_DIVERGED);
    snw_expect e = {.when = SNW_EXPECT_END, .tolerance = 1e9};
    assert_false(passes(e, "tip.x", 2, &s, NULL, reason));
    assert_non_null(strstr(reason, "did not reach its end"));
    e.when = SNW_EXPECT_AFTER;
    e.after = "path";
    assert_false(passes(e, "tip.x", 2, &s, NULL, NULL));
    e.after = "rest";
    assert_true(passes(e, "tip.x", 0, &s, NULL, NULL));
    e = (snw_expect){.when = SNW_EXPECT_OVER, .t0 = -INFINITY, .t1 = INFINITY, .tolerance = 1e9};
    assert_false(passes(e, "tip.x", 0, &s, NULL, NULL));
    e.t0 = 0;
    e.t1 = 1; // the run reached this time
    assert_true(passes(e, "tip.x", 0, &s, NULL, NULL));
    snw_series_clear(&s);
}

static void nan_never_passes(void **state) {
    (void)state;
    static const snw_expect_how hows[] = {SNW_EXPECT_WITHIN, SNW_EXPECT_RELATIVE, SNW_EXPECT_BELOW,
                                          SNW_EXPECT_ABOVE};
    for (int spoiled = 0; spoiled < 21; spoiled += 10) {
        snw_series s = recorded(20);
        s.value[4 * spoiled] = (double)NAN;
        for (int h = 0; h < 4; h++) {
            snw_expect e = {.how = hows[h], .tolerance = INFINITY};
            e.when = SNW_EXPECT_AT;
            e.t0 = s.t[spoiled];
            assert_false(passes(e, "tip.x", 1, &s, NULL, NULL));
            e.when = SNW_EXPECT_OVER;
            e.t0 = 0;
            e.t1 = 2;
            for (int is = SNW_EXPECT_MIN; is <= SNW_EXPECT_SIZE; is++) {
                e.is = (snw_expect_is)is;
                assert_false(passes(e, "tip.x", 1, &s, NULL, NULL));
            }
        }
        snw_series_clear(&s);
    }
    // no value satisfies an expected NaN
    snw_series s = recorded(20);
    const snw_expect e = {.when = SNW_EXPECT_END, .tolerance = INFINITY};
    assert_false(passes(e, "tip.x", (double)NAN, &s, NULL, NULL));
    snw_series_clear(&s);
}

static void statistics_are_right(void **state) {
    (void)state;
    snw_series s = recorded(2000);
    double v;
    // tip.x = t is linear, so intervals that end between frames are exact
    assert_true(snw_expect_statistic(&s, 0, SNW_EXPECT_MIN, 0.30005, 1.70005, &v));
    assert_near(v, 0.30005, 1e-12);
    assert_true(snw_expect_statistic(&s, 0, SNW_EXPECT_MAX, 0.30005, 1.70005, &v));
    assert_near(v, 1.70005, 1e-12);
    assert_true(snw_expect_statistic(&s, 0, SNW_EXPECT_MEAN, 0.30005, 1.70005, &v));
    assert_near(v, 1.00005, 1e-12);
    assert_true(snw_expect_statistic(&s, 0, SNW_EXPECT_RANGE, -INFINITY, INFINITY, &v));
    assert_near(v, 2, 1e-12);
    // t^2 by the trapezoidal rule with h = 1e-3: h^2/6 too large
    assert_true(snw_expect_statistic(&s, 2, SNW_EXPECT_MEAN, 0, 2, &v));
    assert_near(v, 4.0 / 3 + 1e-6 / 6, 1e-12);
    // four periods of a sine; crossings located by linear interpolation
    assert_true(snw_expect_statistic(&s, 1, SNW_EXPECT_PERIOD, 0, 2, &v));
    assert_near(v, 0.5, 1e-9);
    assert_true(snw_expect_statistic(&s, 1, SNW_EXPECT_SIZE, 0.3, 0.45, &v)); // its minimum
    assert_near(v, 1, 1e-4);
    assert_true(snw_expect_statistic(&s, 1, SNW_EXPECT_MAX, 0.3, 0.45, &v));
    assert_true(v < 0);
    snw_series_clear(&s);
}

static void a_period_needs_two_passages(void **state) {
    (void)state;
    char reason[200];
    snw_series s = recorded(20);
    const snw_expect e = {.when = SNW_EXPECT_OVER,
                          .t0 = -INFINITY,
                          .t1 = INFINITY,
                          .is = SNW_EXPECT_PERIOD,
                          .tolerance = 1e9};
    assert_false(passes(e, "tip.x", 0, &s, NULL, reason)); // crosses its mean once
    assert_non_null(strstr(reason, "no period"));
    assert_false(passes(e, "s", 0, &s, NULL, NULL)); // constant
    snw_series_clear(&s);
}

static void one_frame_has_statistics(void **state) {
    (void)state;
    snw_series s;
    snw_series_init(&s, 4);
    add(&s, 0, 0);
    finish(&s, SNW_OK);
    snw_expect e = {
        .when = SNW_EXPECT_OVER, .t0 = -INFINITY, .t1 = INFINITY, .is = SNW_EXPECT_MEAN};
    assert_true(passes(e, "s", 7, &s, NULL, NULL));
    e.is = SNW_EXPECT_SIZE;
    assert_true(passes(e, "s", 7, &s, NULL, NULL));
    e.is = SNW_EXPECT_RANGE;
    assert_true(passes(e, "s", 0, &s, NULL, NULL));
    snw_series_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerances_are_kept),
        cmocka_unit_test(cells_tell_how_far_off),
        cmocka_unit_test(times_between_frames_are_linear),
        cmocka_unit_test(ends_are_found),
        cmocka_unit_test(missing_values_never_pass),
        cmocka_unit_test(incomplete_runs_never_pass),
        cmocka_unit_test(nan_never_passes),
        cmocka_unit_test(statistics_are_right),
        cmocka_unit_test(a_period_needs_two_passages),
        cmocka_unit_test(one_frame_has_statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
