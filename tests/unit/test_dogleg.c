// SPDX-License-Identifier: MIT
#include "solve/dogleg.h"

#include "near.h"

static double memory[2000];

// Powell's function, singular at its root (0, 0, 0, 0): four equations
static snw_status powell(void *user, const double *x, double *r) {
    (void)user;
    r[0] = x[0] + 10 * x[1];
    r[1] = sqrt(5) * (x[2] - x[3]);
    r[2] = (x[1] - 2 * x[2]) * (x[1] - 2 * x[2]);
    r[3] = sqrt(10) * (x[0] - x[3]) * (x[0] - x[3]);
    return isfinite(r[0] + r[3]) ? SNW_OK : SNW_E_DIVERGED;
}
static snw_status powell_slope(void *user, const double *x, double *J) {
    (void)user;
    for (int i = 0; i < 16; i++) J[i] = 0;
    J[0] = 1, J[4] = 10;
    J[9] = sqrt(5), J[13] = -sqrt(5);
    J[6] = 2 * (x[1] - 2 * x[2]), J[10] = -4 * (x[1] - 2 * x[2]);
    J[3] = 2 * sqrt(10) * (x[0] - x[3]), J[15] = -J[3];
    return SNW_OK;
}

// Rosenbrock's valley as two equations, whose Newton step from a far start is much too long
static snw_status valley(void *user, const double *x, double *r) {
    (void)user;
    if (fabs(x[0]) > 5) return SNW_E_DIVERGED;
    r[0] = 10 * (x[1] - x[0] * x[0]);
    r[1] = 1 - x[0];
    return SNW_OK;
}
static snw_status valley_slope(void *user, const double *x, double *J) {
    (void)user;
    J[0] = -20 * x[0], J[1] = -1, J[2] = 10, J[3] = 0;
    return SNW_OK;
}

static snw_status nowhere(void *user, const double *x, double *r) {
    (void)user;
    r[0] = 1 + x[0] * x[0];
    return SNW_OK;
}
static snw_status nowhere_slope(void *user, const double *x, double *J) {
    (void)user;
    J[0] = 2 * x[0];
    return SNW_OK;
}
static snw_status no_number(void *user, const double *x, double *r) {
    (void)user, (void)x;
    r[0] = NAN;
    return SNW_OK;
}

static snw_status solve(int n, snw_status (*f)(void *, const double *, double *),
                        snw_status (*df)(void *, const double *, double *), double *x,
                        snw_dogleg_info *info) {
    snw_arena arena = {(unsigned char *)memory, sizeof memory, 0, 0};
    assert_true(snw_dogleg_scratch(n) <= sizeof memory);
    const snw_dogleg_problem p = {n, NULL, f, df};
    const snw_dogleg_opts opts = snw_dogleg_defaults();
    return snw_dogleg(&p, &opts, &arena, x, info);
}

static void finds_roots(void **state) {
    (void)state;
    snw_dogleg_info info;
    double a[2] = {-1.2, 1};
    assert_int_equal(solve(2, valley, valley_slope, a, &info), SNW_OK);
    assert_near(a[0], 1, 1e-9);
    assert_near(a[1], 1, 1e-9);
    double b[4] = {3, -1, 0, 1};
    assert_int_equal(solve(4, powell, powell_slope, b, &info), SNW_OK);
    assert_true(info.residual <= 1e-10);
    for (int i = 0; i < 4; i++) assert_near(b[i], 0, 1e-4); // singular: half of the digits
}

static void says_when_there_is_none(void **state) {
    (void)state;
    snw_dogleg_info info;
    double x[1] = {2};
    assert_int_equal(solve(1, nowhere, nowhere_slope, x, &info), SNW_E_DIVERGED);
    assert_near(x[0], 0, 1e-3); // the minimum of the norm
    assert_int_equal(solve(1, no_number, nowhere_slope, x, &info), SNW_E_DIVERGED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_roots),
        cmocka_unit_test(says_when_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
