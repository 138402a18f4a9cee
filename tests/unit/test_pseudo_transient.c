// SPDX-License-Identifier: MIT
#include "solve/pseudo_transient.h"

#include "near.h"

#include <string.h>

static _Alignas(64) unsigned char memory[1 << 14];

// a pendulum as a point on a circle: x^2 + y^2 = 1 by a multiplier, weight 2 along -y
typedef struct pendulum {
    int calls;
    bool broken;
} pendulum;

static snw_status residual(void *user, double load, const double *x, double *r) {
    const pendulum *p = user;
    r[0] = -x[2] * x[0];
    r[1] = 2 * load - x[2] * x[1];
    r[2] = -0.5 * (x[0] * x[0] + x[1] * x[1] - 1);
    if (p->broken) r[0] = NAN;
    return SNW_OK;
}

static snw_status tangent(void *user, double load, const double *x, double *r, double *J) {
    ((pendulum *)user)->calls++;
    const double rows[9] = {-x[2], 0, -x[0], 0, -x[2], -x[1], -x[0], -x[1], 0};
    memcpy(J, rows, sizeof rows);
    return residual(user, load, x, r);
}

static const double scale[3] = {1, 1, 1}, D[3] = {1, 1, 0};

static snw_status settle(pendulum *p, double *x, bool (*stop)(void *),
                         snw_pseudo_transient_info *info) {
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    const snw_problem problem = {
        .n = 3, .nx = 3, .user = p, .residual = residual, .tangent = tangent, .scale = scale};
    const snw_pseudo_transient_opts opts = {.tol = 1e-14, .max_iter = 200};
    const snw_status s = snw_pseudo_transient(&problem, D, &opts, stop, NULL, &scratch, x, info);
    assert_true(scratch.peak <= snw_pseudo_transient_scratch(3, 3));
    return s;
}

// from any start on the circle, also very near the top, it ends at the bottom
static void it_falls_to_the_bottom(void **state) {
    (void)state;
    for (int i = 1; i < 40; i++) {
        const double angle = i == 39 ? 1e-4 : 2 * M_PI * i / 39.0;
        double x[3] = {sin(angle), cos(angle), 0};
        pendulum p = {0};
        snw_pseudo_transient_info info;
        assert_int_equal(settle(&p, x, NULL, &info), SNW_OK);
        assert_near(x[0], 0, 1e-12);
        assert_near(x[1], -1, 1e-14);
        assert_near(x[2], -2, 1e-13); // force in the string
        assert_true(info.iterations < 80);
    }
}

static bool at_once(void *user) {
    (void)user;
    return true;
}

static void it_says_when_it_cannot(void **state) {
    (void)state;
    double x[3] = {1, 0, 0};
    pendulum p = {.broken = true};
    snw_pseudo_transient_info info;
    assert_int_equal(settle(&p, x, NULL, &info), SNW_E_DIVERGED);
    p.broken = false;
    assert_int_equal(settle(&p, x, at_once, &info), SNW_E_STOPPED);
    // no step along a constraint row that is zero
    double centre[3] = {0, 0, 0};
    assert_int_equal(settle(&p, centre, NULL, &info), SNW_E_SINGULAR);
}

// two equal double wells, r = (x^3 - x, y^3 - y): at the maximum both directions are unstable, and
// the determinant of the tangent has the sign of a minimum
static snw_status humps(void *user, double load, const double *x, double *r) {
    (void)user, (void)load;
    for (int i = 0; i < 2; i++) r[i] = x[i] * x[i] * x[i] - x[i];
    // undefined outside
    if (fabs(x[0]) > 1.2) r[0] = NAN;
    return SNW_OK;
}

static snw_status humps_tangent(void *user, double load, const double *x, double *r, double *J) {
    const double T[4] = {3 * x[0] * x[0] - 1, 0, 0, 3 * x[1] * x[1] - 1};
    memcpy(J, T, sizeof T);
    return humps(user, load, x, r);
}

static void it_never_ends_on_a_hump_nor_outside(void **state) {
    (void)state;
    static const double ones[2] = {1, 1};
    const snw_problem problem = {
        .n = 2, .nx = 2, .residual = humps, .tangent = humps_tangent, .scale = ones};
    const snw_pseudo_transient_opts opts = snw_pseudo_transient_defaults();
    for (int i = 0; i < 16; i++) {
        double x[2] = {1e-3 * cos(i + 0.1), 1e-3 * sin(i + 0.1)};
        const double want[2] = {x[0] > 0 ? 1 : -1, x[1] > 0 ? 1 : -1};
        snw_arena scratch = {.base = memory, .size = sizeof memory};
        snw_pseudo_transient_info info;
        assert_int_equal(
            snw_pseudo_transient(&problem, ones, &opts, NULL, NULL, &scratch, x, &info), SNW_OK);
        for (int c = 0; c < 2; c++) assert_near(x[c], want[c], 1e-9);
    }
}

// x^2 + y^2 = 1 twice: the rows are dependent, and the sum of the multipliers is determined
static snw_status twice(void *user, double load, const double *x, double *r) {
    (void)user;
    const double l = x[2] + x[3];
    r[0] = -l * x[0];
    r[1] = 2 * load - l * x[1];
    r[2] = r[3] = -0.5 * (x[0] * x[0] + x[1] * x[1] - 1);
    return SNW_OK;
}

static snw_status twice_tangent(void *user, double load, const double *x, double *r, double *J) {
    const double l = x[2] + x[3];
    const double T[16] = {-l,    0,     -x[0], -x[0], 0,     -l,    -x[1], -x[1],
                          -x[0], -x[1], 0,     0,     -x[0], -x[1], 0,     0};
    memcpy(J, T, sizeof T);
    return twice(user, load, x, r);
}

static void redundant_rows_have_minimum_norm_multipliers(void **state) {
    (void)state;
    static const double ones[4] = {1, 1, 1, 1}, damped[4] = {1, 1, 0, 0};
    const snw_problem problem = {
        .n = 4, .nx = 4, .residual = twice, .tangent = twice_tangent, .scale = ones};
    const snw_pseudo_transient_opts opts = snw_pseudo_transient_defaults();
    double x[4] = {0.8, 0.6, 0, 0};
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    snw_pseudo_transient_info info;
    assert_int_equal(snw_pseudo_transient(&problem, damped, &opts, NULL, NULL, &scratch, x, &info),
                     SNW_OK);
    assert_true(scratch.peak <= snw_pseudo_transient_scratch(4, 4));
    assert_near(x[1], -1, 1e-9);
    assert_near(x[2], -1, 1e-6);
    assert_near(x[3], -1, 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_falls_to_the_bottom),
        cmocka_unit_test(it_says_when_it_cannot),
        cmocka_unit_test(it_never_ends_on_a_hump_nor_outside),
        cmocka_unit_test(redundant_rows_have_minimum_norm_multipliers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
