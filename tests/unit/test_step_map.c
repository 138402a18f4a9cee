// SPDX-License-Identifier: MIT
//
// Step maps of the public robot: closed form of a step, points, arguments, no allocation.
// Derivatives are tested in tests/python/test_optimal.py.
#include "base/alloc.h"
#include "sinew/sinew.h"

#include "near.h"

#include <math.h>
#include <string.h>

// a mass on a spring, a ball
static const char text[] =
    "sinew: 1\ngravity: 0\nrobot:\n"
    "  a: {on: world, joint: prismatic, axis: x, stiffness: 3, damping: 0.5, body: {mass: 2}}\n"
    "  b: {on: world, joint: spherical, body: {mass: 1, inertia: [1, 2, 3]}}\n"
    "actuators: {push: {joint: a, effort: 1.5}}\n"
    "loads: {wind: {on: a, force: [2 N, 0, 0]}}\n"
    "probes: {x: {value: a}, turn: {rotation: b}}\n";

static snw_robot *robot(const char *model) {
    snw_robot *r = NULL;
    snw_error err = {0};
    if (snw_robot_parse("model", model, strlen(model), NULL, 0, NULL, &r, &err) != SNW_OK)
        fail_msg("%s", err.text);
    return r;
}

static snw_step_map *map_by(snw_robot *r, const char *scheme) {
    static const char *const input[] = {"push", "wind.fx"}, *const output[] = {"x", "turn"};
    snw_linear_options how = snw_linear_defaults();
    how.ninput = how.noutput = 2, how.input = input, how.output = output;
    how.step = 0.1;
    how.scheme = scheme;
    snw_step_map *map = NULL;
    snw_error err = {0};
    if (snw_robot_step_map(r, &how, &map, &err) != SNW_OK) fail_msg("%s", err.text);
    return map;
}

static snw_step_map *map_of(snw_robot *r) { return map_by(r, "euler"); }

enum { NX = 8, POINT = 2 + 5 + 5 * 4 };

static void a_step_is_backward_euler(void **state) {
    (void)state;
    snw_robot *r = robot(text);
    snw_robot_q(r)[0] = 0.2;
    snw_robot_v(r)[0] = -0.3;
    snw_robot_v(r)[3] = 2;
    snw_step_map *map = map_of(r);
    const snw_linear_model *m = snw_step_map_model(map);
    assert_int_equal(m->nx, NX);
    assert_int_equal(m->nu, 2);
    assert_int_equal(m->ny, 4);
    assert_int_equal(snw_step_map_points(map), POINT);
    double p[POINT], to[POINT], y[4], t, q[5], v[4];
    const double u[2] = {1, 0.5};
    snw_error err = {0};
    assert_int_equal(snw_step_map_begin(map, r, u, p, &err), SNW_OK);
    const size_t before = snw_alloc_count();
    assert_int_equal(snw_step_map_step(map, p, u, 1, to, y, &err), SNW_OK);
    assert_int_equal(snw_step_map_state(map, to, &t, q, v, &err), SNW_OK);
    // (m/h^2 + d/h + k) x = u + m (x0/h^2 + v0/h) + d x0/h
    const double h = 0.1, T = 2 / (h * h) + 0.5 / h + 3;
    const double x = (1.5 + 2 * (0.2 / (h * h) - 0.3 / h) + 0.5 * 0.2 / h) / T;
    assert_near(t, 0.1, 1e-15);
    assert_near(q[0], x, 1e-12);
    assert_near(v[0], (x - 0.2) / h, 1e-11);
    assert_near(y[0], x, 1e-12);
    assert_near(y[3], 0.2, 1e-9); // a turn about the axis z
    assert_near(m->B[0], 1 / T, 1e-12);
    assert_near(m->B[NX], 1 / T, 1e-12); // the load acts alike
    assert_near(m->A[4 * NX], 2 / h / T, 1e-12);
    // points, deviations and the change of axes
    double d[NX], e[NX], axes[NX * NX];
    assert_int_equal(snw_step_map_difference(map, p, to, d, &err), SNW_OK);
    assert_near(d[3], 0.2, 1e-9);
    assert_int_equal(snw_step_map_move(map, p, d, p, &err), SNW_OK);
    assert_int_equal(snw_step_map_difference(map, p, to, e, &err), SNW_OK);
    for (int i = 0; i < NX; i++) assert_near(e[i], 0, 1e-12);
    assert_int_equal(snw_step_map_reset(map, d, axes, &err), SNW_OK);
    assert_near(axes[0], 1, 0);
    assert_near(axes[1 * NX + 1], sin(0.2) / 0.2, 1e-9); // T = sin(w)/w about the axes across
    assert_int_equal(snw_step_map_project(map, to, p, NULL, &err), SNW_OK);
    assert_memory_equal(to, p, sizeof p); // no loops
    assert_int_equal(snw_step_map_outputs(map, to, u, 0, y, &err), SNW_OK);
    assert_near(y[0], x, 1e-12);
    assert_int_equal(snw_alloc_count(), before);
    assert_near(snw_robot_q(r)[0], 0.2, 0); // the robot stays
    snw_step_map_close(map);
    snw_robot_close(r);
}

// Of the schemes whose steps are maps of coordinates and velocities: the middle rule
// m (v1 - v0)/h + d (v1 + v0)/2 + k (x1 + x0)/2 = u; after a first one steps allocate nothing.
static void steps_of_the_middle_rule(void **state) {
    (void)state;
    static const char *const scheme[] = {"conserving", "moreau"};
    for (int n = 0; n < 2; n++) {
        snw_robot *r = robot(text);
        snw_robot_q(r)[0] = 0.2;
        snw_robot_v(r)[0] = -0.3;
        snw_robot_v(r)[3] = 2;
        snw_step_map *map = map_by(r, scheme[n]);
        const snw_linear_model *m = snw_step_map_model(map);
        assert_int_equal(m->nx, NX);
        double p[POINT], to[POINT], y[4], t, q[5], v[4];
        const double u[2] = {1, 0.5};
        snw_error err = {0};
        assert_int_equal(snw_step_map_begin(map, r, u, p, &err), SNW_OK);
        assert_int_equal(snw_step_map_step(map, p, u, 1, to, y, &err), SNW_OK);
        const size_t before = snw_alloc_count();
        assert_int_equal(snw_step_map_step(map, p, u, 1, to, y, &err), SNW_OK);
        assert_int_equal(snw_step_map_outputs(map, to, u, 1, y, &err), SNW_OK);
        assert_int_equal(snw_step_map_state(map, to, &t, q, v, &err), SNW_OK);
        assert_int_equal(snw_alloc_count(), before);
        const double h = 0.1, mass = 2, d = 0.5, k = 3, T = mass / h + d / 2 + k * h / 4;
        const double v1 = (1.5 + mass / h * -0.3 - d / 2 * -0.3 - k * (0.2 + h / 4 * -0.3)) / T;
        assert_near(v[0], v1, 1e-9);
        assert_near(q[0], 0.2 + h / 2 * (v1 - 0.3), 1e-9);
        assert_near(m->B[4], 1 / T, 1e-8);
        assert_near(m->B[0], h / 2 / T, 1e-9);
        assert_near(m->A[4], -k / T, 1e-8);
        assert_near(m->A[4 * NX], h / 2 * (1 + (mass / h - d / 2 - k * h / 4) / T), 1e-8);
        snw_step_map_close(map);
        snw_robot_close(r);
    }
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    snw_robot *r = robot(text);
    snw_step_map *map = map_of(r), *none = NULL;
    snw_error err = {0};
    double p[POINT], to[POINT], y[4];
    const double u[2] = {0}, bad[2] = {NAN, 0};
    assert_int_equal(snw_step_map_begin(map, r, u, p, &err), SNW_OK);
    assert_int_equal(snw_step_map_begin(map, NULL, u, p, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_step_map_begin(map, r, NULL, p, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_step_map_step(NULL, p, u, 0, to, y, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_step_map_step(map, p, bad, 0, to, y, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_step_map_step(map, p, u, 0, NULL, y, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_step_map_outputs(map, p, u, 0, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_step_map_move(map, p, NULL, to, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_step_map_difference(map, p, NULL, to, &err), SNW_E_ARGUMENT);
    p[3] = INFINITY;
    assert_int_equal(snw_step_map_step(map, p, u, 0, to, y, &err), SNW_E_ARGUMENT);
    assert_null(snw_step_map_model(NULL));
    assert_int_equal(snw_step_map_points(NULL), 0);
    snw_linear_options how = snw_linear_defaults();
    assert_int_equal(snw_robot_step_map(r, &how, &none, &err), SNW_E_ARGUMENT); // no step
    how.step = 0.1;
    assert_int_equal(snw_robot_step_map(NULL, &how, &none, &err), SNW_E_ARGUMENT);
    how.reduce = 1;
    assert_int_equal(snw_robot_step_map(r, &how, &none, &err), SNW_E_ARGUMENT);
    how.reduce = 0;
    how.scheme = "rk4"; // no implicit scheme
    assert_int_equal(snw_robot_step_map(r, &how, &none, &err), SNW_E_ARGUMENT);
    assert_null(none);
    snw_step_map_close(map);
    snw_step_map_close(NULL);
    snw_robot_close(r);
}

static void static_gains_need_no_mass(void **state) {
    (void)state;
    snw_robot *r = robot("sinew: 1\ngravity: 0\nrobot: {a: {on: world, joint: prismatic, axis: x, "
                         "stiffness: 4}}\nactuators: {push: {joint: a, effort: 1}}\n"
                         "probes: {x: {value: a}}\n");
    snw_error err = {0};
    snw_linear_options how = snw_linear_defaults();
    how.statics = 1;
    snw_linear_model *m = NULL;
    assert_int_equal(snw_robot_equilibrium(r, 0, &err), SNW_OK);
    if (snw_robot_linearize(r, &how, &m, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(m->nx, 0);
    assert_near(m->D[0], 0.25, 1e-12);
    assert_near(m->output[0].value, 0.25, 1e-9);
    snw_linear_close(m);
    how.step = 0.1;
    assert_int_equal(snw_robot_linearize(r, &how, &m, &err), SNW_E_ARGUMENT);
    snw_robot_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_backward_euler),
        cmocka_unit_test(steps_of_the_middle_rule),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(static_gains_need_no_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
