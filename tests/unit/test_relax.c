// SPDX-License-Identifier: MIT
#include "solve/relax.h"

#include "base/alloc.h"

#include "near.h"

static _Alignas(64) unsigned char memory[4096];

// ---- problems ----------------------------------------------------------------------------------

// r = K x - load b: two springs, coupled
static const double K[4] = {3, 1, 1, 2}, b[2] = {1, -4};

static snw_status springs(void *user, double load, const double *x, double *r) {
    (void)user;
    r[0] = K[0] * x[0] + K[2] * x[1] - load * b[0];
    r[1] = K[1] * x[0] + K[3] * x[1] - load * b[1];
    return SNW_OK;
}

static const snw_problem spring_problem = {.n = 2, .nx = 2, .residual = springs};

// r = x^3 - x: stable at 1 and -1, unstable at 0
static snw_status pitchfork(void *user, double load, const double *x, double *r) {
    (void)user, (void)load;
    r[0] = x[0] * x[0] * x[0] - x[0];
    return SNW_OK;
}

static const snw_problem pitchfork_problem = {.n = 1, .nx = 1, .residual = pitchfork};

static snw_status march(const snw_problem *p, const double *D, double duration, double step,
                        double *x, snw_relax_info *info) {
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    snw_relax_opts opts = snw_relax_defaults();
    opts.duration = duration;
    opts.step = step;
    return snw_relax(p, D, &opts, NULL, NULL, &scratch, x, info);
}

// ---- accuracy ----------------------------------------------------------------------------------

// with D = mu K every mode decays by the same factor, that of Runge-Kutta on x' = -x / mu
static void a_step_multiplies_the_distance_by_the_known_factor(void **state) {
    (void)state;
    const double mu = 0.01, z = 0.5;
    double D[4], x[2] = {5, 7};
    for (int i = 0; i < 4; i++) D[i] = mu * K[i];
    snw_relax_info info;
    assert_int_equal(march(&spring_problem, D, 10 * z * mu, z * mu, x, &info), SNW_OK);
    assert_int_equal(info.steps, 10);
    const double factor = pow(1 - z + z * z / 2 - z * z * z / 6 + z * z * z * z / 24, 10);
    const double x0 = 6.0 / 5, x1 = -13.0 / 5; // K x = b
    assert_near(x[0], x0 + factor * (5 - x0), 1e-14);
    assert_near(x[1], x1 + factor * (7 - x1), 1e-14);
    assert_near(info.time, 0.05, 1e-15);
}

static void the_march_is_of_fourth_order(void **state) {
    (void)state;
    // x' = x - x^3 has x^2 = 1 / (1 + (1/x0^2 - 1) exp(-2 t))
    const double one = 1, x0 = 0.2, t = 2;
    const double want = 1 / sqrt(1 + (1 / (x0 * x0) - 1) * exp(-2 * t));
    double error[2];
    for (int k = 0; k < 2; k++) {
        snw_relax_info info;
        double x = x0;
        assert_int_equal(march(&pitchfork_problem, &one, t, k ? 0.02 : 0.04, &x, &info), SNW_OK);
        error[k] = fabs(x - want);
    }
    assert_near(log2(error[0] / error[1]), 4, 0.05); // the next term is smaller by a factor h
}

static void it_ends_at_the_duration_whatever_the_step(void **state) {
    (void)state;
    const double one = 1, steps[3] = {0.3, 0.1, 5};
    const int count[3] = {4, 10, 1};
    for (int k = 0; k < 3; k++) {
        snw_relax_info info;
        double x = 0.2;
        assert_int_equal(march(&pitchfork_problem, &one, 1, steps[k], &x, &info), SNW_OK);
        assert_int_equal(info.steps, count[k]);
        assert_near(info.time, 1, 1e-15);
    }
}

// ---- attractors ---------------------------------------------------------------------------------

static void it_leaves_an_unstable_equilibrium(void **state) {
    (void)state;
    const double one = 1;
    for (int k = 0; k < 2; k++) {
        snw_relax_info info;
        double x = k ? 1e-6 : -1e-6;
        assert_int_equal(march(&pitchfork_problem, &one, 40, 0.1, &x, &info), SNW_OK);
        assert_near(x, k ? 1 : -1, 1e-12);
        assert_true(info.residual < 1e-12);
    }
}

static void it_stops_early_at_the_tolerance(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    const snw_relax_opts opts = {.duration = 1e3, .step = 0.1, .tol = 1e-6};
    const double one = 1;
    snw_relax_info info;
    double x = 0.2;
    assert_int_equal(snw_relax(&pitchfork_problem, &one, &opts, NULL, NULL, &scratch, &x, &info),
                     SNW_OK);
    assert_true(info.residual <= 1e-6 && info.time < 20);
    assert_near(x, 1, 1e-6);
}

// x is a unit complex number, attracted to the direction `load`
static void turn(void *user, const double *x, double step, const double *dx, double *out) {
    (void)user;
    const double c = cos(step * dx[0]), s = sin(step * dx[0]), re = x[0], im = x[1];
    out[0] = c * re - s * im, out[1] = s * re + c * im;
}

static snw_status compass(void *user, double load, const double *x, double *r) {
    (void)user;
    r[0] = cos(load) * x[1] - sin(load) * x[0];
    return SNW_OK;
}

static void it_moves_on_a_group(void **state) {
    (void)state;
    const snw_problem p = {.n = 1, .nx = 2, .residual = compass, .move = turn};
    const double one = 1;
    snw_relax_info info;
    double x[2] = {-1, 0};
    assert_int_equal(march(&p, &one, 40, 0.1, x, &info), SNW_OK);
    assert_near(x[0], cos(1), 1e-12);
    assert_near(x[1], sin(1), 1e-12);
}

// ---- failures ----------------------------------------------------------------------------------

// beyond 2.785 mu the method is unstable; numbers grow until the cube overflows
static void too_long_a_step_is_divergence_with_a_finite_x(void **state) {
    (void)state;
    const double one = 1;
    snw_relax_info info;
    double x = 3, r;
    assert_int_equal(march(&pitchfork_problem, &one, 100, 1, &x, &info), SNW_E_DIVERGED);
    assert_true(isfinite(x) && isfinite(info.residual) && info.steps < 100);
    assert_int_equal(pitchfork(NULL, 1, &x, &r), SNW_OK);
    assert_near(info.residual, fabs(r), 0);
}

static snw_status edge(void *user, double load, const double *x, double *r) {
    const snw_status *outside = user;
    r[0] = x[0] < 2 ? -load : NAN; // driven to the edge at constant speed
    return x[0] < 2 ? SNW_OK : *outside;
}

static void nan_ends_the_march_at_the_last_finite_x(void **state) {
    (void)state;
    const double one = 1;
    snw_status outside[3] = {SNW_OK, SNW_E_MODEL, SNW_E_STOPPED};
    const snw_status want[3] = {SNW_E_DIVERGED, SNW_E_MODEL, SNW_E_STOPPED};
    for (int k = 0; k < 3; k++) {
        const snw_problem p = {.n = 1, .nx = 1, .user = &outside[k], .residual = edge};
        snw_relax_info info;
        double x = 0;
        assert_int_equal(march(&p, &one, 10, 0.25, &x, &info), want[k]);
        assert_true(x == 1.75 && info.residual == 1 && info.time == 1.75);
        x = 3;
        assert_int_equal(march(&p, &one, 10, 0.25, &x, &info), want[k]);
        assert_true(x == 3 && info.steps == 0 && isnan(info.residual));
    }
}

static void damping_must_be_positive_definite(void **state) {
    (void)state;
    const double indefinite[4] = {1, 2, 2, 1}, broken[4] = {1, NAN, NAN, 1};
    snw_relax_info info;
    double x[2] = {0};
    assert_int_equal(march(&spring_problem, indefinite, 1, 0.1, x, &info), SNW_E_SINGULAR);
    assert_int_equal(march(&spring_problem, broken, 1, 0.1, x, &info), SNW_E_SINGULAR);
}

static void nonsense_options_are_refused(void **state) {
    (void)state;
    const double bad[][2] = {{-1, 0.1}, {1, 0},        {1, -1},    {NAN, 1},
                             {1, NAN},  {INFINITY, 1}, {1, 1e-300}};
    for (int k = 0; k < 7; k++) {
        snw_relax_info info;
        double x[2] = {0};
        assert_int_equal(march(&spring_problem, K, bad[k][0], bad[k][1], x, &info), SNW_E_ARGUMENT);
    }
}

static bool count_down(void *user) {
    int *left = user;
    return (*left)-- == 0;
}

static void it_stops_on_request(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    const snw_relax_opts opts = {.duration = 1, .step = 0.1};
    snw_relax_info info;
    double x[2] = {5, 7};
    int left = 3;
    assert_int_equal(snw_relax(&spring_problem, K, &opts, count_down, &left, &scratch, x, &info),
                     SNW_E_STOPPED);
    assert_int_equal(info.steps, 3);
    assert_near(info.time, 0.3, 1e-15);
}

static void uses_the_scratch_announced_and_no_heap(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .used = 8}; // not aligned: the worst case
    scratch.size = scratch.used + snw_relax_scratch(2, 2);
    const snw_relax_opts opts = {.duration = 1, .step = 0.1};
    const size_t allocations = snw_alloc_count();
    snw_relax_info info;
    double x[2] = {5, 7};
    assert_int_equal(snw_relax(&spring_problem, K, &opts, NULL, NULL, &scratch, x, &info), SNW_OK);
    assert_true(snw_alloc_count() == allocations);
    assert_true(scratch.used == 8 && scratch.peak <= scratch.size);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_multiplies_the_distance_by_the_known_factor),
        cmocka_unit_test(the_march_is_of_fourth_order),
        cmocka_unit_test(it_ends_at_the_duration_whatever_the_step),
        cmocka_unit_test(it_leaves_an_unstable_equilibrium),
        cmocka_unit_test(it_stops_early_at_the_tolerance),
        cmocka_unit_test(it_moves_on_a_group),
        cmocka_unit_test(too_long_a_step_is_divergence_with_a_finite_x),
        cmocka_unit_test(nan_ends_the_march_at_the_last_finite_x),
        cmocka_unit_test(damping_must_be_positive_definite),
        cmocka_unit_test(nonsense_options_are_refused),
        cmocka_unit_test(it_stops_on_request),
        cmocka_unit_test(uses_the_scratch_announced_and_no_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
