// SPDX-License-Identifier: MIT
//
// Estimators: the Kalman filter of a mass on a spring with an unknown force, written down by hand;
// arguments; no allocation. Compared with Python's in tests/python/test_estimate.py.
#include "base/alloc.h"
#include "sinew/sinew.h"

#include "near.h"

#include <math.h>
#include <string.h>

static const char text[] =
    "sinew: 1\ngravity: 0\nrobot: {a: {on: world, joint: prismatic, axis: x, stiffness: 3, "
    "damping: 0.5, body: {mass: 2}}}\nactuators: {push: {joint: a, effort: 0}}\n"
    "loads: {wind: {on: a, force: [0 N, 0, 0]}}\nprobes: {x: {value: a}, v: {rate: a}}\n";

typedef struct rig {
    snw_robot *r;
    snw_step_map *map;
    snw_estimator *e;
} rig;

static const double noise[2] = {0.04, 0.09}, first[2] = {0.25, 0.5}, process[2] = {0.001, 0.02};
static const snw_estimate_input wind = {"wind.fx", 0.3, 2, 0.1};

static void rig_open(rig *k) {
    static const char *const input[] = {"push", "wind.fx"}, *const output[] = {"x", "v"};
    snw_error err = {0};
    snw_linear_options how = snw_linear_defaults();
    how.ninput = how.noutput = 2, how.input = input, how.output = output;
    how.step = 0.1;
    how.scheme = "euler";
    if (snw_robot_parse("model", text, strlen(text), NULL, 0, NULL, &k->r, &err) != SNW_OK)
        fail_msg("%s", err.text);
    if (snw_robot_step_map(k->r, &how, &k->map, &err) != SNW_OK) fail_msg("%s", err.text);
    const snw_estimate_options o = {
        .nunknown = 1, .unknown = &wind, .first = first, .process = process, .noise = noise};
    if (snw_estimator_open(k->map, &o, &k->e, &err) != SNW_OK) fail_msg("%s", err.text);
}

static void rig_close(rig *k) {
    snw_estimator_close(k->e);
    snw_step_map_close(k->map);
    snw_robot_close(k->r);
}

enum { N = 3, POINT = 2 + 1 + 5 };

// P <- A P A' + diag(add)
static void carry(double A[N][N], double P[N][N], const double add[N]) {
    double X[N][N] = {{0}};
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            for (int k = 0; k < N; k++) X[i][j] += A[i][k] * P[k][j];
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            P[i][j] = i == j ? add[i] : 0;
            for (int k = 0; k < N; k++) P[i][j] += X[i][k] * A[j][k];
        }
    }
}

static void a_mass_and_a_force_are_estimated(void **state) {
    (void)state;
    rig k;
    rig_open(&k);
    double p[POINT];
    const double u[2] = {0.7, NAN}; // unknown inputs are not read
    const double begin[2] = {0.7, 0.3};
    snw_error err = {0};
    assert_int_equal(snw_step_map_begin(k.map, k.r, begin, p, &err), SNW_OK);
    const size_t before = snw_alloc_count();
    assert_int_equal(snw_estimator_begin(k.e, p, &err), SNW_OK);
    // by hand: (x, v, f), v+ = (m v + h (u + f - k x))/(m + h d + h^2 k), x+ = x + h v+
    const double h = 0.1, T = 2 + h * 0.5 + h * h * 3;
    double A[N][N] = {
        {1 - h * h * 3 / T, h * 2 / T, h * h / T}, {-h * 3 / T, 2 / T, h / T}, {0, 0, 1}};
    double P[N][N] = {{first[0], 0, 0}, {0, first[1], 0}, {0, 0, 4}};
    double x[N] = {0, 0, 0.3};
    const double add[N] = {process[0], process[1], 0.01};
    for (int n = 0; n < 6; n++) {
        const double y[2] = {0.1 * n, n == 3 ? NAN : 0.4 - 0.05 * n};
        assert_int_equal(snw_estimator_predict(k.e, u, &err), SNW_OK);
        assert_int_equal(snw_estimator_correct(k.e, u, y, &err), SNW_OK);
        const double v = (2 * x[1] + h * (0.7 + x[2] - 3 * x[0])) / T;
        x[0] += h * v, x[1] = v;
        carry(A, P, add);
        for (int a = 0; a < 2; a++) { // one number after the other is the same
            if (isnan(y[a])) continue;
            const double S = P[a][a] + noise[a], e = y[a] - x[a];
            double K[N];
            for (int i = 0; i < N; i++) K[i] = P[i][a] / S;
            double row[N];
            memcpy(row, P[a], sizeof row);
            for (int i = 0; i < N; i++) {
                x[i] += K[i] * e;
                for (int j = 0; j < N; j++) P[i][j] -= K[i] * row[j];
            }
        }
        const snw_estimate *view = snw_estimator_view(k.e);
        double q, rate;
        assert_int_equal(snw_step_map_state(k.map, view->point, NULL, &q, &rate, &err), SNW_OK);
        assert_int_equal(view->nmeasured, n == 3 ? 1 : 2);
        assert_near(q, x[0], 1e-11);
        assert_near(rate, x[1], 1e-10);
        assert_near(view->unknown[0], x[2], 1e-10);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) assert_near(view->covariance[j * N + i], P[i][j], 1e-11);
        }
        assert_near(view->spread[1], P[1][1], 1e-11);
        assert_true(view->surprise >= 0);
    }
    assert_int_equal(snw_alloc_count(), before);
    rig_close(&k);
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    rig k;
    rig_open(&k);
    snw_error err = {0};
    snw_estimator *e = NULL;
    const double zero[2] = {0}, bad[2] = {INFINITY, 0}, u[2] = {0};
    const snw_estimate_input nobody = {"nobody", 0, 1, 1}, wild = {"push", NAN, 1, 1};
    snw_estimate_options o = {.noise = zero};
    assert_int_equal(snw_estimator_open(k.map, &o, &e, &err), SNW_E_ARGUMENT);
    o.noise = NULL;
    assert_int_equal(snw_estimator_open(k.map, &o, &e, &err), SNW_E_ARGUMENT);
    o = (snw_estimate_options){.noise = noise, .nunknown = 1};
    assert_int_equal(snw_estimator_open(k.map, &o, &e, &err), SNW_E_ARGUMENT);
    o.unknown = &nobody;
    assert_int_equal(snw_estimator_open(k.map, &o, &e, &err), SNW_E_ARGUMENT);
    o.unknown = &wild;
    assert_int_equal(snw_estimator_open(k.map, &o, &e, &err), SNW_E_ARGUMENT);
    assert_null(e);
    assert_int_equal(snw_estimator_open(NULL, &o, &e, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_estimator_begin(k.e, NULL, &err), SNW_E_ARGUMENT);
    double p[POINT];
    assert_int_equal(snw_step_map_rest(k.map, 0, u, p, &err), SNW_OK);
    assert_int_equal(snw_estimator_begin(k.e, p, &err), SNW_OK);
    assert_int_equal(snw_estimator_predict(k.e, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_estimator_correct(k.e, u, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_estimator_correct(k.e, u, bad, &err), SNW_E_ARGUMENT);
    assert_null(snw_estimator_view(NULL));
    snw_estimator_close(NULL);
    rig_close(&k);
}

// At rest the unknown force f has displaced the mass by f/k.
static void a_settled_robot_is_displaced(void **state) {
    (void)state;
    rig k;
    rig_open(&k);
    snw_error err = {0};
    double p[POINT];
    const double u[2] = {0.7, 0.3};
    assert_int_equal(snw_step_map_rest(k.map, 0, u, p, &err), SNW_OK);
    const size_t before = snw_alloc_count();
    assert_int_equal(snw_estimator_begin_settled(k.e, p, u, &err), SNW_OK);
    const snw_estimate *view = snw_estimator_view(k.e);
    const double want[N][N] = {{first[0] + 4.0 / 9, 0, 4.0 / 3}, {0, first[1], 0}, {4.0 / 3, 0, 4}};
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) assert_near(view->covariance[j * N + i], want[i][j], 1e-11);
    }
    double q;
    assert_int_equal(snw_step_map_state(k.map, view->point, NULL, &q, NULL, &err), SNW_OK);
    assert_near(q, 1.0 / 3, 1e-11);
    assert_int_equal(snw_alloc_count(), before);
    assert_int_equal(snw_estimator_begin_settled(k.e, NULL, u, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_estimator_begin_settled(NULL, p, u, &err), SNW_E_ARGUMENT);
    rig_close(&k);
}

static void rest_is_an_equilibrium(void **state) {
    (void)state;
    rig k;
    rig_open(&k);
    snw_error err = {0};
    double p[POINT], t, q, v;
    const double u[2] = {1, 0.5};
    assert_int_equal(snw_step_map_rest(k.map, 0.5, u, p, &err), SNW_OK);
    assert_int_equal(snw_step_map_state(k.map, p, &t, &q, &v, &err), SNW_OK);
    assert_near(t, 0.5, 0);
    assert_near(q, 0.5, 1e-9);
    assert_near(v, 0, 1e-12);
    rig_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mass_and_a_force_are_estimated),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(a_settled_robot_is_displaced),
        cmocka_unit_test(rest_is_an_equilibrium),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
