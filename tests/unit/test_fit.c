// SPDX-License-Identifier: MIT
#include "base/alloc.h"
#include "identify/fit.h"
#include "near.h"
#include "solve/levenberg.h"

#include <math.h>

// ---- the search ---------------------------------------------------------------------------------

typedef struct counted {
    int calls, stop_at;
} counted;

// Rosenbrock's valley
static snw_status valley(void *user, const double *x, double *r) {
    counted *c = user;
    if (++c->calls == c->stop_at) return SNW_E_STOPPED;
    r[0] = 10 * (x[1] - x[0] * x[0]);
    r[1] = 1 - x[0];
    return SNW_OK;
}

static snw_status valley_slope(void *user, const double *x, double *J) {
    (void)user;
    J[0] = -20 * x[0], J[1] = -1;
    J[2] = 10, J[3] = 0;
    return SNW_OK;
}

// a root; the first steps leave the domain: sqrt(x) = 0.1, from far above
static snw_status root(void *user, const double *x, double *r) {
    (void)user;
    if (x[0] < 0) return SNW_E_MODEL;
    r[0] = sqrt(x[0]) - 0.1;
    return SNW_OK;
}

static snw_status nan_at(void *user, const double *x, double *r) {
    (void)user;
    r[0] = NAN * x[0];
    return SNW_OK;
}

static snw_status minimise(const snw_least_squares *p, double *x, double *r, double *J,
                           snw_levenberg_info *info) {
    const snw_levenberg_opts opts = snw_levenberg_defaults();
    snw_arena scratch = {.size = snw_levenberg_scratch(p->n, p->m)};
    scratch.base = snw_alloc(scratch.size);
    const snw_status s = snw_levenberg(p, &opts, &scratch, x, r, J, info);
    assert_int_equal(scratch.used, 0);
    snw_free(scratch.base);
    return s;
}

static void the_valley_is_followed_to_its_end(void **state) {
    (void)state;
    double r[2], J[4];
    snw_levenberg_info info;
    for (int exact = 0; exact < 2; exact++) {
        counted c = {0};
        double x[2] = {-1.2, 1};
        const snw_least_squares p = {2, 2, &c, valley, exact ? valley_slope : NULL};
        assert_int_equal(minimise(&p, x, r, J, &info), SNW_OK);
        assert_near(x[0], 1, 1e-7);
        assert_near(x[1], 1, 1e-7);
        assert_int_equal(info.evaluations, c.calls);
    }
}

static void a_trial_that_fails_shortens_the_step(void **state) {
    (void)state;
    double x = 4, r, J;
    snw_levenberg_info info;
    const snw_least_squares p = {1, 1, NULL, root, NULL};
    assert_int_equal(minimise(&p, &x, &r, &J, &info), SNW_OK);
    assert_near(x, 0.01, 1e-9);
    assert_true(info.failures > 0);
}

static void failures_at_the_start_and_stops_are_passed_up(void **state) {
    (void)state;
    double x = -1, r[2], J[4];
    snw_levenberg_info info;
    const snw_least_squares outside = {1, 1, NULL, root, NULL}, bad = {1, 1, NULL, nan_at, NULL};
    assert_int_equal(minimise(&outside, &x, r, J, &info), SNW_E_MODEL);
    assert_int_equal(minimise(&bad, &x, r, J, &info), SNW_E_DIVERGED);
    // wherever the search is stopped, x is the best point found
    for (int at = 2; at < 40; at++) {
        counted c = {.stop_at = at};
        double y[2] = {-1.2, 1}, again[2];
        const snw_least_squares p = {2, 2, &c, valley, NULL};
        assert_int_equal(minimise(&p, y, r, J, &info), SNW_E_STOPPED);
        assert_int_equal(info.evaluations, at);
        c = (counted){0};
        assert_int_equal(valley(&c, y, again), SNW_OK);
        assert_true(again[0] == r[0] && again[1] == r[1]);
    }
}

// ---- a fit with certified answers ---------------------------------------------------------------

// Misra1a of NIST's Statistical Reference Datasets (www.itl.nist.gov/div898/strd): y = b1 (1 -
// exp(-b2 x)), with values, standard deviations and residual sum of squares certified to eleven
// digits
static const double misra_y[] = {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02,
                                 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78};
static const double misra_x[] = {77.6,  114.9, 141.1, 190.8, 239.9, 289.0, 332.8,
                                 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0};
enum { MISRA = sizeof misra_x / sizeof *misra_x };

static snw_status put(snw_series *s, double t, double value) {
    const snw_recorder recorder = snw_series_recorder(s);
    const snw_frame f = {.t = t, .column = &value};
    snw_error err;
    return recorder.frame(recorder.user, &f, &err);
}

static snw_status misra(void *user, const double *x, snw_series *series, snw_error *err) {
    (void)user, (void)err;
    snw_series_init(series, 1);
    for (int i = 0; i < MISRA; i++) {
        const snw_status s = put(series, misra_x[i], x[0] * (1 - exp(-x[1] * misra_x[i])));
        if (s != SNW_OK) return s;
    }
    return SNW_OK;
}

static void measure(snw_fit_value *value) {
    for (int i = 0; i < MISRA; i++) {
        value[i] = (snw_fit_value){.t = misra_x[i], .value = misra_y[i], .error = 2.5};
    }
}

static void certified_values_and_errors_are_found(void **state) {
    (void)state;
    const double start[2][2] = {{500, 1e-4}, {250, 5e-4}}; // as in the source
    const snw_levenberg_opts opts = snw_levenberg_defaults();
    snw_fit_value value[MISRA];
    measure(value);
    for (int k = 0; k < 2; k++) {
        const snw_fit_problem p = {
            .nfind = 2, .nrun = 1, .nvalue = MISRA, .value = value, .run = misra};
        double x[2] = {start[k][0], start[k][1]}, error[2], correlation[4], before[MISRA],
               after[MISRA];
        snw_fit_info info;
        snw_error err = {0};
        assert_int_equal(snw_fit(&p, &opts, x, error, correlation, before, after, &info, &err),
                         SNW_OK);
        assert_near(x[0] / 2.3894212918e2, 1, 1e-7);
        assert_near(x[1] / 5.5015643181e-4, 1, 1e-7);
        // second derivatives and the finite-difference step of 1e-3: 1e-6
        assert_near(error[0] / 2.7070075241, 1, 1e-5);
        assert_near(error[1] / 7.2668688436e-6, 1, 1e-5);
        double sum = 0;
        for (int i = 0; i < MISRA; i++) sum += after[i] * after[i];
        assert_near(sum / 1.2455138894e-1, 1, 1e-9);
        assert_true(correlation[1] < -0.99 && correlation[1] == correlation[2]);
        assert_true(correlation[0] == 1 && correlation[3] == 1);
    }
}

// the same function, with a parameter that has no effect
static snw_status idle(void *user, const double *x, snw_series *series, snw_error *err) {
    const double both[2] = {x[0], 5e-4};
    return misra(user, both, series, err);
}

static void undetermined_values_are_named(void **state) {
    (void)state;
    const snw_levenberg_opts opts = snw_levenberg_defaults();
    snw_fit_value value[MISRA];
    measure(value);
    double x[2] = {250, 5e-4}, error[2], correlation[4], before[MISRA], after[MISRA];
    snw_fit_info info;
    snw_error err = {0};
    snw_fit_problem p = {.nfind = 2, .nrun = 1, .nvalue = MISRA, .value = value, .run = idle};
    assert_int_equal(snw_fit(&p, &opts, x, error, correlation, before, after, &info, &err),
                     SNW_E_SINGULAR);
    assert_int_equal(info.idle, 1);
    // a time that the run does not reach
    value[5].t = 1000;
    p.run = misra;
    assert_int_equal(snw_fit(&p, &opts, x, error, correlation, before, after, &info, &err),
                     SNW_E_ARGUMENT);
    assert_int_equal(info.misplaced, 5);
    assert_true(isnan(before[0]) && isnan(error[0]));
    // as many values as parameters: no error can be given
    p.nvalue = 2;
    assert_int_equal(snw_fit(&p, &opts, x, error, correlation, before, after, &info, &err), SNW_OK);
    assert_true(isnan(error[0]) && isnan(error[1]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_valley_is_followed_to_its_end),
        cmocka_unit_test(a_trial_that_fails_shortens_the_step),
        cmocka_unit_test(failures_at_the_start_and_stops_are_passed_up),
        cmocka_unit_test(certified_values_and_errors_are_found),
        cmocka_unit_test(undetermined_values_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
