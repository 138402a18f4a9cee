// SPDX-License-Identifier: MIT
//
// Dynamics of the public robot: bias forces, solutions with the mass matrix, accelerations with
// constraints, constraint forces, and energies by link.
#include "sinew/sinew.h"

#include "opened.h"
// after near.h: it asserts
#include "heap_calls.h"

#include "robot_texts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// soft rods in water above a ground, springs, a fluid, a contact, a tendon
#define IN_FLUID                                                                                   \
    SOFT_TREE                                                                                      \
    "  door: {on: side.tip, joint: revolute, stiffness: 0.3 N*m, damping: 0.01 N*m*s, body: "      \
    "{mass: 0.2, inertia: [1e-3, 1e-3, 1e-3]}}\n"                                                  \
    "actuators: {cord: {tendon: {along: upper, at: [0, 0, 7 mm]}, effort: 3 N}}\n"                 \
    "loads: {push: {on: lower.tip, force: [0.1 N, 0, 0.2 N]}}\n"                                   \
    "fluid: {water: {on: [upper, side], density: 1000, buoyancy: on, added: auto, drag: {normal: " \
    "1.1, tangent: 0.01}}}\n"                                                                      \
    "contacts: {floor: {ground: {on: lower, normal: z, at: [0, 0, -0.2], stiffness: "              \
    "1e4 N/m^2}}}\n"

static snw_robot *in_fluid(void) {
    char text[6000];
    (void)snprintf(text, sizeof text, IN_FLUID); // a format: %% for %
    return opened(text);
}

static void set_moving(snw_robot *r) {
    const int nv = snw_robot_nv(r);
    double *dx = calloc((size_t)nv, sizeof *dx);
    for (int i = 0; i < nv; i++) {
        dx[i] = 0.4 * sin(3 * i + 1);
        snw_robot_v(r)[i] = 0.7 * cos(2 * i);
        snw_robot_a(r)[i] = 1.3 * sin(5 * i + 2);
    }
    assert_int_equal(snw_robot_move(r, dx), SNW_OK);
    assert_int_equal(snw_robot_set_time(r, 0.3), SNW_OK);
    free(dx);
}

// a crank at 0.7 rad with the loop closed and velocities that keep it so
static snw_robot *four_bar(void) {
    snw_robot *r = opened("sinew: 1\n" FOUR_BAR);
    snw_error err = {0};
    const double q[3] = {0.7, 0.3, 1.2};
    memcpy(snw_robot_q(r), q, sizeof q);
    snw_robot_v(r)[0] = 2;
    snw_robot_steps how = snw_robot_steps_defaults(1e-3);
    if (snw_robot_start(r, &how, &err) != SNW_OK) fail_msg("%s", err.text); // closes the loop
    return r;
}

static void mass_times_acceleration_and_bias_are_the_inverse_dynamics(void **state) {
    (void)state;
    snw_robot *r = in_fluid();
    set_moving(r);
    const size_t n = (size_t)snw_robot_nv(r);
    double *M = calloc(n * n, sizeof *M), *h = calloc(n, sizeof *h), *tau = calloc(n, sizeof *tau);
    assert_int_equal(snw_robot_bias(r, h), SNW_OK);
    assert_int_equal(snw_robot_mass(r, M), SNW_OK);
    assert_int_equal(snw_robot_inverse_dynamics(r, tau), SNW_OK);
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(tau[i]));
    for (size_t i = 0; i < n; i++) {
        double sum = h[i];
        for (size_t j = 0; j < n; j++) sum += M[j * n + i] * snw_robot_a(r)[j];
        assert_near(sum / size, tau[i] / size, 1e-13);
    }
    free(M);
    free(h);
    free(tau);
    snw_robot_close(r);
}

static void mass_solve_inverts_the_mass_matrix(void **state) {
    (void)state;
    snw_robot *r = in_fluid();
    set_moving(r);
    snw_error err = {0};
    const size_t n = (size_t)snw_robot_nv(r);
    double *M = calloc(n * n, sizeof *M), *x = calloc(2 * n, sizeof *x),
           *b = calloc(2 * n, sizeof *b);
    assert_int_equal(snw_robot_mass(r, M), SNW_OK);
    for (size_t i = 0; i < 2 * n; i++) x[i] = sin(2. * (double)i + 1);
    for (size_t k = 0; k < 2; k++) {
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i < n; i++) b[k * n + i] += M[j * n + i] * x[k * n + j];
        }
    }
    assert_int_equal(snw_robot_mass_solve(r, 2, b, b, &err), SNW_OK); // in place
    // the forward error is the condition number of M, here about 1e6, times rounding
    for (size_t i = 0; i < 2 * n; i++) assert_near(b[i], x[i], 1e-8);
    assert_int_equal(snw_robot_mass_solve(r, 0, NULL, NULL, &err), SNW_OK);
    assert_int_equal(snw_robot_mass_solve(r, -1, b, b, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_mass_solve(r, 1, NULL, x, &err), SNW_E_ARGUMENT);
    b[0] = INFINITY;
    assert_int_equal(snw_robot_mass_solve(r, 1, b, x, &err), SNW_E_ARGUMENT);
    free(M);
    free(x);
    free(b);
    snw_robot_close(r);
}

static void a_coordinate_without_mass_is_singular(void **state) {
    (void)state;
    snw_robot *r =
        opened("sinew: 1\n"
               "robot:\n"
               "  a: {on: world, joint: revolute, stiffness: 1 N*m}\n"
               "  b: {on: world, joint: revolute, body: {mass: 1, inertia: [1, 1, 1]}}\n");
    snw_error err = {0};
    const double b[2] = {1, 1};
    double x[2];
    assert_int_equal(snw_robot_mass_solve(r, 1, b, x, &err), SNW_E_SINGULAR);
    assert_non_null(strstr(err.text, "mass"));
    snw_robot_close(r);
}

// forward dynamics under tau has tau as its inverse dynamics
static void accelerations_answer_applied_forces(void **state) {
    (void)state;
    snw_robot *r = in_fluid();
    set_moving(r);
    snw_error err = {0};
    const int n = snw_robot_nv(r);
    double *tau = calloc((size_t)n, sizeof *tau), *got = calloc((size_t)n, sizeof *got);
    for (int i = 0; i < n; i++) tau[i] = 0.1 * sin(7 * i);
    assert_int_equal(snw_robot_accelerate(r, tau, &err), SNW_OK);
    assert_int_equal(snw_robot_inverse_dynamics(r, got), SNW_OK);
    for (int i = 0; i < n; i++) assert_near(got[i], tau[i], 1e-9);
    // tau is not kept
    assert_int_equal(snw_robot_forward_dynamics(r, &err), SNW_OK);
    assert_int_equal(snw_robot_inverse_dynamics(r, got), SNW_OK);
    for (int i = 0; i < n; i++) assert_near(got[i], 0, 1e-9);
    tau[1] = NAN;
    assert_int_equal(snw_robot_accelerate(r, tau, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "tau[1]"));
    free(tau);
    free(got);
    snw_robot_close(r);
}

// ---- constraints --------------------------------------------------------------------------------

enum { BARS = 3, ROWS = 2 }; // hinges, and rows of the pin in the plane

static void constrained_accelerations_keep_the_loop_closed(void **state) {
    (void)state;
    snw_robot *r = four_bar();
    snw_error err = {0};
    assert_int_equal(snw_robot_nv(r), BARS);
    assert_int_equal(snw_robot_constraints(r), ROWS);
    double C[ROWS * BARS], C2[ROWS * BARS], e[ROWS], lambda[ROWS], f[BARS],
        tau[BARS] = {1, -2, 0.5};
    assert_int_equal(snw_robot_constraint_jacobian(r, C, e), SNW_OK);
    const double *v = snw_robot_v(r), *a = snw_robot_a(r);
    for (int i = 0; i < ROWS; i++) {
        double rate = 0;
        for (int j = 0; j < BARS; j++) rate += C[ROWS * j + i] * v[j];
        assert_near(e[i], 0, 1e-11);
        assert_near(rate, 0, 1e-11);
    }
    assert_int_equal(snw_robot_accelerate(r, tau, &err), SNW_OK);
    // M a + h = tau, h with the forces of the multipliers; these are C' lambda
    double got[BARS];
    assert_int_equal(snw_robot_inverse_dynamics(r, got), SNW_OK);
    for (int i = 0; i < BARS; i++) assert_near(got[i], tau[i], 1e-10);
    assert_int_equal(snw_robot_multipliers(r, lambda, f), SNW_OK);
    for (int j = 0; j < BARS; j++) {
        double sum = 0;
        for (int i = 0; i < ROWS; i++) sum += C[ROWS * j + i] * lambda[i];
        assert_near(f[j], sum, 1e-13);
    }
    // C a + dC/dt v = 0, dC/dt by differences along the motion
    const double h = 1e-5, q[BARS] = {snw_robot_q(r)[0], snw_robot_q(r)[1], snw_robot_q(r)[2]};
    double dC[ROWS * BARS] = {0};
    for (int k = -1; k <= 1; k += 2) {
        for (int j = 0; j < BARS; j++) snw_robot_q(r)[j] = q[j] + k * h * v[j];
        assert_int_equal(snw_robot_constraint_jacobian(r, C2, NULL), SNW_OK);
        for (int i = 0; i < ROWS * BARS; i++) dC[i] += k * C2[i] / (2 * h);
    }
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int j = 0; j < BARS; j++) sum += C[ROWS * j + i] * a[j] + dC[ROWS * j + i] * v[j];
        assert_near(sum, 0, 1e-8);
    }
    snw_robot_close(r);
}

// the accelerations of a step are those of forward dynamics at its end, to the order of the scheme
static void steps_have_the_accelerations_of_forward_dynamics(void **state) {
    (void)state;
    snw_error err = {0};
    double worst[2];
    for (int k = 0; k < 2; k++) {
        snw_robot *r = opened("sinew: 1\n" FOUR_BAR);
        const double q[3] = {0.7, 0.3, 1.2}, step = k ? 5e-4 : 1e-3;
        memcpy(snw_robot_q(r), q, sizeof q);
        snw_robot_steps how = snw_robot_steps_defaults(step);
        how.scheme = "newmark";
        if (snw_robot_start(r, &how, &err) != SNW_OK) fail_msg("%s", err.text);
        for (int i = 0; i < (k ? 100 : 50); i++) {
            if (snw_robot_step(r, step, &err) != SNW_OK) fail_msg("%s", err.text);
        }
        double a[BARS];
        memcpy(a, snw_robot_a(r), sizeof a);
        assert_int_equal(snw_robot_forward_dynamics(r, &err), SNW_OK);
        worst[k] = 0;
        for (int i = 0; i < BARS; i++) worst[k] = fmax(worst[k], fabs(a[i] - snw_robot_a(r)[i]));
        snw_robot_close(r);
    }
    assert_true(worst[0] < 1e-2);
    assert_true(worst[1] < 0.6 * worst[0] || worst[1] < 1e-9);
}

// the pin carries what the rocker's balance about its hinge needs
static void the_wrench_of_a_loop_balances_its_link(void **state) {
    (void)state;
    snw_robot *r = four_bar();
    snw_error err = {0};
    snw_place b;
    double F[6], pose[16], A[6];
    assert_int_equal(snw_robot_accelerate(r, NULL, &err), SNW_OK);
    assert_int_equal(snw_robot_loop_wrench(r, 0, F), SNW_OK);
    assert_int_equal(snw_robot_find_place(r, "b", &b), SNW_OK);
    assert_int_equal(snw_robot_pose(r, b, pose), SNW_OK);
    assert_int_equal(snw_robot_acceleration(r, b, SNW_AXES_WORLD, A), SNW_OK);
    // rocker: hinge at x = 0.45; mass 1.5 with centre at half the way to b, 1e-2 about it; gravity
    // is along the axis
    const double x = pose[12] - 0.45, y = pose[13];
    const double inertia = 1e-2 + 1.5 * 0.15 * 0.15;
    assert_near(x * F[4] - y * F[3], inertia * A[2], 1e-11);
    assert_near(F[2], 0, 1e-12); // a pin carries no moment about its axis
    assert_int_equal(snw_robot_loop_wrench(r, 1, F), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_loop_wrench(r, -1, F), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_loop_wrench(r, 0, NULL), SNW_E_ARGUMENT);
    snw_robot_close(r);
}

// ---- energies -----------------------------------------------------------------------------------

static void energies_of_links_add_up(void **state) {
    (void)state;
    snw_robot *r = in_fluid();
    set_moving(r);
    const int n = snw_robot_model_parts(snw_robot_model_of(r), SNW_PART_LINK);
    assert_int_equal(n, 5);
    double *part = calloc(3 * (size_t)n, sizeof *part), sum[3] = {0};
    snw_robot_energies all;
    assert_int_equal(snw_robot_link_energies(r, part), SNW_OK);
    assert_int_equal(snw_robot_energy(r, &all), SNW_OK);
    for (int i = 0; i < 3 * n; i++) sum[i % 3] += part[i];
    assert_near(sum[0], all.kinetic, 1e-13);
    assert_near(sum[1], all.elastic, 1e-13);
    assert_near(sum[2], all.gravity, 1e-13);
    for (int i = 0; i < n; i++) assert_true(part[3 * i] > 0);
    // the spring of the door: 0.3 q^2/2
    snw_part door;
    const snw_robot_model *m = snw_robot_model_of(r);
    assert_int_equal(snw_robot_model_part(m, SNW_PART_JOINT,
                                          snw_robot_model_find(m, SNW_PART_JOINT, "door"), &door),
                     SNW_OK);
    const double q = snw_robot_q(r)[door.q];
    assert_near(part[3 * door.link + 1], 0.15 * q * q, 1e-15);
    free(part);
    snw_robot_close(r);
}

static void dynamics_allocate_nothing(void **state) {
    (void)state;
    snw_robot *r = four_bar();
    snw_error err = {0};
    double x[64];
    const long before = heap_calls;
    bool good = snw_robot_bias(r, x) == SNW_OK;
    good &= snw_robot_mass_solve(r, 1, x, x, &err) == SNW_OK;
    good &= snw_robot_accelerate(r, x, &err) == SNW_OK;
    good &= snw_robot_constraint_jacobian(r, x, x + 32) == SNW_OK;
    good &= snw_robot_multipliers(r, x, x + 32) == SNW_OK;
    good &= snw_robot_loop_wrench(r, 0, x) == SNW_OK;
    good &= snw_robot_link_energies(r, x) == SNW_OK;
    const long after = heap_calls;
    assert_true(good);
    assert_int_equal(after, before);
    snw_robot_close(r);
}

static void missing_arrays_are_refused(void **state) {
    (void)state;
    snw_robot *r = four_bar();
    snw_error err = {0};
    double x[16];
    assert_int_equal(snw_robot_bias(r, NULL), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_bias(NULL, x), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_link_energies(r, NULL), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_constraint_jacobian(r, NULL, x), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_multipliers(r, NULL, NULL), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_accelerate(NULL, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_mass_solve(NULL, 1, x, x, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_constraints(NULL), 0);
    snw_robot_close(r);
}

// J q'' + d q' + k q = 0: f = sqrt(k/J)/(2 pi), damping d/(2 sqrt(k J)), shape 1/sqrt(J)
static void modes_of_a_spring_are_those_of_the_closed_form(void **state) {
    (void)state;
    snw_robot *r =
        opened("sinew: 1\ngravity: 0\nparameters: {k: 2 N*m}\n"
               "robot:\n"
               "  a: {on: world, joint: revolute, stiffness: k, damping: 0.1 N*m*s, body: "
               "{mass: 1, inertia: [1, 1, 0.5]}}\n");
    snw_error err = {0};
    double f[2], damping[2], shape[2];
    int n = -1;
    assert_int_equal(snw_robot_modes(r, 2, f, damping, shape, &n, &err), SNW_OK);
    assert_int_equal(n, 1);
    assert_near(f[0], 2 / (2 * acos(-1.0)), 1e-13);
    assert_near(damping[0], 0.1 / (2 * sqrt(2 * 0.5)), 1e-13);
    assert_near(fabs(shape[0]), 1 / sqrt(0.5), 1e-13);
    assert_int_equal(snw_robot_modes(r, 0, NULL, NULL, NULL, &n, &err), SNW_OK);
    assert_int_equal(n, 0);
    assert_int_equal(snw_robot_modes(r, -1, f, NULL, NULL, &n, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_modes(r, 1, NULL, NULL, NULL, &n, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_modes(r, 1, f, NULL, NULL, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_modes(NULL, 1, f, NULL, NULL, &n, &err), SNW_E_ARGUMENT);
    snw_robot_close(r);
}

int main(void) {
    count_heap_calls();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_times_acceleration_and_bias_are_the_inverse_dynamics),
        cmocka_unit_test(mass_solve_inverts_the_mass_matrix),
        cmocka_unit_test(a_coordinate_without_mass_is_singular),
        cmocka_unit_test(accelerations_answer_applied_forces),
        cmocka_unit_test(constrained_accelerations_keep_the_loop_closed),
        cmocka_unit_test(steps_have_the_accelerations_of_forward_dynamics),
        cmocka_unit_test(the_wrench_of_a_loop_balances_its_link),
        cmocka_unit_test(energies_of_links_add_up),
        cmocka_unit_test(dynamics_allocate_nothing),
        cmocka_unit_test(missing_arrays_are_refused),
        cmocka_unit_test(modes_of_a_spring_are_those_of_the_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
