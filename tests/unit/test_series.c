// SPDX-License-Identifier: MIT
#include "study/series.h"

#include "near.h"

static void add(snw_series *s, int stage, double t, double a, double b) {
    const snw_recorder r = snw_series_recorder(s);
    const double column[] = {a, b};
    const snw_frame f = {.stage = stage, .t = t, .column = column};
    assert_int_equal(r.frame(r.user, &f, NULL), SNW_OK);
}

static void frames_are_kept_in_order(void **state) {
    (void)state;
    snw_series s;
    snw_series_init(&s, 2);
    for (int i = 0; i < 1000; i++) add(&s, i / 100, 0.5 * i, i, -i);
    assert_int_equal(s.nframe, 1000);
    for (size_t n = 0; n < 1000; n++) {
        const int i = (int)n;
        assert_true(s.t[i] == 0.5 * i && s.stage[i] == i / 100);
        assert_true(s.value[2 * n] == i && s.value[2 * n + 1] == -i);
    }
    snw_series_clear(&s);
    assert_int_equal(s.nframe, 0);
    assert_int_equal(s.ncolumn, 2);
    add(&s, 0, 1, 2, 3);
    assert_int_equal(s.nframe, 1);
    snw_series_clear(&s);
}

static void the_end_is_remembered(void **state) {
    (void)state;
    snw_series s;
    snw_series_init(&s, 0);
    const snw_recorder r = snw_series_recorder(&s);
    const snw_frame f = {.t = 1};
    assert_int_equal(r.frame(r.user, &f, NULL), SNW_OK);
    assert_int_equal(s.status, SNW_OK);
    assert_int_equal(r.end(r.user, SNW_E_DIVERGED, "no", NULL), SNW_OK);
    assert_int_equal(s.status, SNW_E_DIVERGED);
    assert_int_equal(s.nframe, 1);
    snw_series_clear(&s);
}

static void a_time_between_frames_is_interpolated(void **state) {
    (void)state;
    snw_series s;
    snw_series_init(&s, 2);
    add(&s, 0, 1, 10, 0);
    add(&s, 0, 2, 20, 1);
    add(&s, 1, 4, 40, 5);
    double v = 0;
    assert_true(snw_series_at(&s, 0, 1.25, &v));
    assert_near(v, 12.5, 1e-15);
    assert_true(snw_series_at(&s, 1, 3, &v));
    assert_near(v, 3, 1e-15);
    assert_true(snw_series_at(&s, 1, 4, &v));
    assert_near(v, 5, 0);
    assert_false(snw_series_at(&s, 0, 0.999, &v));
    assert_false(snw_series_at(&s, 0, 4.001, &v));
    assert_false(snw_series_at(&s, 0, NAN, &v));
    snw_series_clear(&s);
    assert_false(snw_series_at(&s, 0, 0, &v));
}

// steps add up to 0.3 only to rounding; interpolation must not include the neighbouring frame
static void a_frame_is_met_in_spite_of_rounding(void **state) {
    (void)state;
    snw_series s;
    snw_series_init(&s, 2);
    double t = 0;
    for (int i = 0; i <= 10; i++) {
        add(&s, 0, t, i == 3 ? 1 : 0, 0);
        t += 0.1;
    }
    double v = 0;
    assert_true(snw_series_at(&s, 0, 0.3, &v));
    assert_true(v == 1);
    // also slightly outside of the recorded times
    assert_true(snw_series_at(&s, 0, 1.0, &v));
    snw_series_clear(&s);
}

// a static step at t = 0 precedes the dynamic one; a step `from` an earlier one goes back in time
static void the_later_of_two_frames_counts(void **state) {
    (void)state;
    snw_series s;
    snw_series_init(&s, 2);
    add(&s, 0, 0, 1, 0);
    add(&s, 1, 0, 2, 0);
    add(&s, 1, 1, 3, 0);
    add(&s, 2, 0, 5, 0);
    add(&s, 2, 0.5, 6, 0);
    double v = 0;
    assert_true(snw_series_at(&s, 0, 0, &v));
    assert_true(v == 5);
    assert_true(snw_series_at(&s, 0, 0.25, &v));
    assert_near(v, 5.5, 1e-15);
    assert_true(snw_series_at(&s, 0, 0.75, &v));
    assert_near(v, 2.75, 1e-15);
    assert_int_equal(snw_series_last(&s, 0), 0);
    assert_int_equal(snw_series_last(&s, 1), 2);
    assert_int_equal(snw_series_last(&s, 2), 4);
    assert_int_equal(snw_series_last(&s, 3), -1);
    snw_series_clear(&s);
}

static void columns_have_names(void **state) {
    (void)state;
    char name[32];
    snw_column_name(&(snw_column){"tip", "x", -1}, name, sizeof name);
    assert_string_equal(name, "tip.x");
    snw_column_name(&(snw_column){"load(2)", "", -1}, name, sizeof name);
    assert_string_equal(name, "load(2)");
    snw_column_name(&(snw_column){"wire", "my", 12}, name, sizeof name);
    assert_string_equal(name, "wire@12.my");
    snw_column_name(&(snw_column){"wire", "my", 0}, name, 6);
    assert_string_equal(name, "wire@");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_kept_in_order),
        cmocka_unit_test(the_end_is_remembered),
        cmocka_unit_test(a_time_between_frames_is_interpolated),
        cmocka_unit_test(a_frame_is_met_in_spite_of_rounding),
        cmocka_unit_test(the_later_of_two_frames_counts),
        cmocka_unit_test(columns_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
