// SPDX-License-Identifier: MIT
//
// The public robot with invalid arguments: each is refused by name, in every build, and the state
// does not change.
#include "sinew/sinew.h"

#include "opened.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char arm[] =
    "sinew: 1\n"
    "parameters: {E: 1 MPa}\n"
    "materials: {rubber: {young: E, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: free, body: {mass: 1 kg, inertia: [1, 1, 1]}}\n"
    "  arm: {on: base, rod: {length: 0.5 m, section: {circle: {radius: 10 mm}}, material: rubber,\n"
    "        strain: {bend_y: legendre 3, bend_z: legendre 2}}}\n"
    "  hand: {on: arm.tip, joint: revolute, body: {mass: 0.1 kg, inertia: [1e-3, 1e-3, 1e-3]}}\n"
    "actuators:\n"
    "  wrist: {joint: hand, effort: 0 N*m}\n"
    "  cord: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0 N}\n"
    "loads: {push: {on: arm.tip, force: [0, 0, 0]}}\n"
    "probes: {tip: {position: arm.tip}}\n";

enum { WRIST, TENDON, ACTUATORS };

static snw_robot *opened_arm(const char *override) {
    return opened_run(arm, NULL, override != NULL, &override);
}

static snw_robot *started(const char *override, const char *scheme) {
    snw_robot *r = opened_arm(override);
    snw_robot_steps how = snw_robot_steps_defaults(5e-3);
    how.scheme = scheme;
    snw_error err = {0};
    if (snw_robot_start(r, &how, &err) != SNW_OK) fail_msg("%s", err.text);
    return r;
}

// refused by a call without an error argument
static void assert_refused(const snw_robot *r, snw_status s, const char *name) {
    assert_int_equal(s, SNW_E_ARGUMENT);
    const snw_error *e = snw_robot_error(r);
    assert_int_equal(e->status, SNW_E_ARGUMENT);
    if (!strstr(e->text, name)) fail_msg("'%s' does not name '%s'", e->text, name);
}

// refused by a call with an error argument
static void assert_told(snw_error *err, snw_status s, const char *name) {
    assert_int_equal(s, SNW_E_ARGUMENT);
    if (!strstr(err->text, name)) fail_msg("'%s' does not name '%s'", err->text, name);
    *err = (snw_error){0};
}

static void numbers_beyond_the_last_are_refused(void **state) {
    (void)state;
    snw_robot *r = started(NULL, "generalized-alpha");
    snw_error err = {0};
    double x[6] = {0};
    assert_int_equal(snw_robot_error(r)->status, SNW_OK);
    const int nodes[] = {-1, snw_robot_nodes(r), 9999, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        assert_refused(r, snw_robot_node(r, nodes[i], x), "node");
        assert_told(&err, snw_robot_pull(r, nodes[i], NULL, x, 1, 1, &err), "node");
    }
    const int others[] = {-1, ACTUATORS, 9999, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_refused(r, snw_robot_set_load(r, others[i] ? others[i] : 1, x, x), "load");
        assert_refused(r, snw_robot_unset_load(r, others[i]), "load");
        assert_refused(r, snw_robot_unset_actuator(r, others[i]), "actuator");
        assert_refused(r, snw_robot_effort(r, others[i], x), "actuator");
        assert_int_equal(snw_robot_actuator_size(r, others[i]), 0);
        assert_told(&err, snw_robot_set_effort(r, others[i], x, &err), "actuator");
        assert_told(&err, snw_robot_set_motion(r, others[i], x, x, x, &err), "actuator");
        assert_told(&err, snw_robot_set_gas(r, others[i], 1, &err), "actuator");
        assert_told(&err, snw_robot_set_activation(r, others[i], 1, &err), "actuator");
    }
    assert_int_equal(snw_robot_node(r, snw_robot_nodes(r) - 1, x), SNW_OK);
    assert_int_equal(snw_robot_effort(r, TENDON, x), SNW_OK);
    snw_robot_close(r);
}

static void missing_pointers_are_refused(void **state) {
    (void)state;
    snw_robot *r = started(NULL, "generalized-alpha"), *none = NULL;
    snw_error err = {0};
    const double x[6] = {0};
    const char *const holes[] = {NULL};
    const size_t n = strlen(arm);
    assert_told(&err, snw_robot_open(NULL, NULL, 0, NULL, &none, &err), "path");
    assert_told(&err, snw_robot_open("arm.yaml", NULL, 0, NULL, NULL, &err), "out");
    assert_told(&err, snw_robot_parse(NULL, arm, n, NULL, 0, NULL, &none, &err), "name");
    assert_told(&err, snw_robot_parse("arm", NULL, n, NULL, 0, NULL, &none, &err), "text");
    assert_told(&err, snw_robot_parse("arm", arm, n, NULL, 2, NULL, &none, &err), "set");
    assert_told(&err, snw_robot_parse("arm", arm, n, NULL, -1, holes, &none, &err), "nset");
    assert_told(&err, snw_robot_parse("arm", arm, n, NULL, 1, holes, &none, &err), "set[0]");
    assert_null(none);
    assert_refused(r, snw_robot_move(r, NULL), "dx");
    assert_refused(r, snw_robot_inverse_dynamics(r, NULL), "tau");
    assert_refused(r, snw_robot_mass(r, NULL), "M");
    assert_refused(r, snw_robot_energy(r, NULL), "out");
    assert_refused(r, snw_robot_node(r, 0, NULL), "position");
    assert_refused(r, snw_robot_effort(r, WRIST, NULL), "effort");
    assert_refused(r, snw_robot_save(r, NULL), "out");
    assert_refused(r, snw_robot_restore(r, NULL), "in");
    assert_told(&err, snw_robot_set_effort(r, WRIST, NULL, &err), "effort");
    assert_told(&err, snw_robot_set_motion(r, TENDON, NULL, x, x, &err), "position");
    assert_told(&err, snw_robot_pull(r, 0, x, NULL, 1, 1, &err), "to");
    assert_told(&err, snw_robot_start(r, NULL, &err), "how");
    assert_int_equal(snw_robot_probe(r, NULL, 3, NULL), 0);
    assert_int_equal(snw_robot_probe(r, "tip", 3, NULL), 0);
    assert_int_equal(snw_robot_probe(r, "tip", 0, NULL), 3); // query of the number
    assert_int_equal(snw_robot_load(r, NULL), -1);
    assert_int_equal(snw_robot_actuator(r, NULL), -1);
    assert_int_equal(snw_robot_step(r, 5e-3, NULL), SNW_OK); // a NULL error is allowed
    snw_robot_close(r);
}

static void no_robot_is_refused(void **state) {
    (void)state;
    double x[6] = {0};
    snw_error err = {0};
    snw_robot_energies e;
    const snw_robot_steps how = snw_robot_steps_defaults(1e-3);
    assert_int_equal(snw_robot_error(NULL)->status, SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_nq(NULL) + snw_robot_nv(NULL) + snw_robot_nodes(NULL), 0);
    assert_true(!snw_robot_q(NULL) && !snw_robot_v(NULL) && !snw_robot_a(NULL));
    assert_true(isnan(snw_robot_time(NULL)) && isnan(snw_robot_stability(NULL)));
    assert_true(isnan(snw_robot_scheme_energy(NULL)));
    assert_int_equal(snw_robot_set_time(NULL, 0), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_move(NULL, x), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_inverse_dynamics(NULL, x), SNW_E_ARGUMENT);
    assert_told(&err, snw_robot_forward_dynamics(NULL, &err), "robot");
    assert_int_equal(snw_robot_tangent(NULL, x, x, x), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_mass(NULL, x), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_energy(NULL, &e), SNW_E_ARGUMENT);
    assert_told(&err, snw_robot_equilibrium(NULL, 0, &err), "robot");
    assert_told(&err, snw_robot_start(NULL, &how, &err), "robot");
    assert_int_equal(snw_robot_step(NULL, 1e-3, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_load(NULL, "push"), -1);
    assert_int_equal(snw_robot_set_load(NULL, 0, x, x), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_unset_load(NULL, 0), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_set_gravity(NULL, x), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_actuator(NULL, "cord"), -1);
    assert_int_equal(snw_robot_actuator_size(NULL, 0), 0);
    assert_told(&err, snw_robot_set_effort(NULL, 0, x, &err), "robot");
    assert_told(&err, snw_robot_set_motion(NULL, 0, x, x, x, &err), "robot");
    assert_told(&err, snw_robot_set_gas(NULL, 0, 1, &err), "robot");
    assert_told(&err, snw_robot_set_activation(NULL, 0, 1, &err), "robot");
    assert_int_equal(snw_robot_unset_actuator(NULL, 0), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_effort(NULL, 0, x), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_node(NULL, 0, x), SNW_E_ARGUMENT);
    assert_told(&err, snw_robot_pull(NULL, 0, x, x, 1, 1, &err), "robot");
    snw_robot_let_go(NULL);
    assert_int_equal(snw_robot_saves(NULL), 0);
    assert_int_equal(snw_robot_save(NULL, x), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_restore(NULL, x), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_probe(NULL, "tip", 3, x), 0);
}

static void what_is_not_finite_is_refused(void **state) {
    (void)state;
    snw_robot *r = started(NULL, "generalized-alpha");
    snw_error err = {0};
    const double bad[] = {NAN, INFINITY, -INFINITY}, good[6] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const double x[3] = {0, 0, bad[i]}, first = bad[i];
        assert_refused(r, snw_robot_set_time(r, bad[i]), "t");
        assert_refused(r, snw_robot_set_load(r, 0, x, NULL), "force[2]");
        assert_refused(r, snw_robot_set_load(r, 0, NULL, x), "torque[2]");
        assert_refused(r, snw_robot_set_gravity(r, x), "gravity[2]");
        assert_told(&err, snw_robot_set_effort(r, WRIST, &first, &err), "effort[0]");
        assert_told(&err, snw_robot_set_effort(r, TENDON, &first, &err), "effort[0]");
        assert_told(&err, snw_robot_pull(r, 0, x, good, 1, 1, &err), "at[2]");
        assert_told(&err, snw_robot_pull(r, 0, good, x, 1, 1, &err), "to[2]");
        assert_told(&err, snw_robot_pull(r, 0, good, good, bad[i], 1, &err), "stiffness");
        assert_told(&err, snw_robot_equilibrium(r, bad[i], &err), "t");
        assert_int_equal(snw_robot_step(r, bad[i], &err), SNW_E_ARGUMENT);
        snw_robot_steps how = snw_robot_steps_defaults(bad[i]);
        assert_told(&err, snw_robot_start(r, &how, &err), "step");
        how = snw_robot_steps_defaults(1e-3);
        how.tolerance = bad[i];
        assert_told(&err, snw_robot_start(r, &how, &err), "tolerance");
        if (isnan(bad[i])) continue; // NAN is allowed, as in the language
        how = snw_robot_steps_defaults(1e-3);
        how.rho = bad[i];
        assert_told(&err, snw_robot_start(r, &how, &err), "rho");
        how.rho = NAN, how.alpha = bad[i], how.scheme = "bdf-alpha";
        assert_told(&err, snw_robot_start(r, &how, &err), "alpha must be from -0.5 to 0");
    }
    // the robot is unchanged
    assert_int_equal(snw_robot_step(r, 5e-3, &err), SNW_OK);
    assert_near(snw_robot_time(r), 5e-3, 1e-15);
    snw_robot_close(r);
}

// What a motion would not use is refused, and what there is instead is named.
static void options_without_effect_are_refused(void **state) {
    (void)state;
    snw_robot *r = opened_arm(NULL);
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(5e-3);
    how.alpha = -0.1;
    assert_told(&err, snw_robot_start(r, &how, &err), "takes no alpha; it is for bdf-alpha");
    how = snw_robot_steps_defaults(5e-3);
    how.scheme = "euler", how.rho = 0.5;
    assert_told(&err, snw_robot_start(r, &how, &err), "takes no rho; it is for generalized-alpha");
    how = snw_robot_steps_defaults(5e-3);
    how.points = 50;
    assert_told(&err, snw_robot_start(r, &how, &err), "shooting engine");
    how = snw_robot_steps_defaults(5e-3);
    how.scheme = "eular";
    assert_told(&err, snw_robot_start(r, &how, &err), "there are generalized-alpha, ");
    how = snw_robot_steps_defaults(5e-3);
    how.engine = "steam";
    assert_told(&err, snw_robot_start(r, &how, &err), "strain and shooting");
    snw_robot_close(r);
}

// Steps go on from the end of the last one, so that a state written since must not be lost
// silently.
static void a_state_written_after_the_start_is_refused_by_steps(void **state) {
    (void)state;
    snw_robot *r = started(NULL, "generalized-alpha");
    snw_error err = {0};
    double *const written[] = {snw_robot_q(r), snw_robot_v(r)};
    const char *const named[] = {"q is not that", "v is not that"};
    for (int i = 0; i < 2; i++) {
        const double old = *written[i];
        *written[i] += 0.1;
        assert_told(&err, snw_robot_step(r, 5e-3, &err), named[i]);
        *written[i] = old;
    }
    assert_int_equal(snw_robot_step(r, 5e-3, &err), SNW_OK);
    assert_int_equal(snw_robot_set_time(r, 1), SNW_OK);
    assert_told(&err, snw_robot_step(r, 5e-3, &err), "t is not that");
    const snw_robot_steps how = snw_robot_steps_defaults(5e-3);
    assert_int_equal(snw_robot_start(r, &how, &err), SNW_OK);
    assert_int_equal(snw_robot_step(r, 5e-3, &err), SNW_OK);
    assert_near(snw_robot_time(r), 1.005, 1e-14);
    snw_robot_close(r);
}

static void an_invalid_state_is_refused(void **state) {
    (void)state;
    snw_robot *r = opened_arm(NULL);
    snw_error err = {0};
    const int n = snw_robot_nv(r);
    double *tau = malloc((size_t)n * sizeof *tau), *M = malloc((size_t)(n * n) * sizeof *M), x[3];
    const snw_robot_steps how = snw_robot_steps_defaults(5e-3);
    snw_robot_a(r)[1] = NAN;
    assert_refused(r, snw_robot_inverse_dynamics(r, tau), "a[1]");
    assert_refused(r, snw_robot_tangent(r, M, NULL, NULL), "a[1]");
    snw_robot_a(r)[1] = 0;
    snw_robot_v(r)[2] = INFINITY;
    assert_refused(r, snw_robot_mass(r, M), "v[2]");
    assert_told(&err, snw_robot_start(r, &how, &err), "v[2]");
    assert_told(&err, snw_robot_forward_dynamics(r, &err), "v[2]");
    snw_robot_v(r)[2] = 0;
    snw_robot_q(r)[8] = NAN;
    assert_told(&err, snw_robot_equilibrium(r, 0, &err), "q[8]");
    assert_refused(r, snw_robot_node(r, 0, x), "q[8]");
    assert_int_equal(snw_robot_probe(r, "tip", 3, x), 0);
    snw_robot_q(r)[8] = 0;
    snw_robot_q(r)[0] = 2; // of a quaternion
    assert_refused(r, snw_robot_inverse_dynamics(r, tau), "unit quaternion");
    snw_robot_q(r)[0] = 1;
    assert_int_equal(snw_robot_inverse_dynamics(r, tau), SNW_OK);
    free(tau);
    free(M);
    snw_robot_close(r);
}

// ---- saved states -------------------------------------------------------------------------------

static void refuse_state(snw_robot *r, const double *row, const char *why) {
    double *q = malloc((size_t)snw_robot_nq(r) * sizeof *q);
    memcpy(q, snw_robot_q(r), (size_t)snw_robot_nq(r) * sizeof *q);
    assert_refused(r, snw_robot_restore(r, row), why);
    assert_memory_equal(q, snw_robot_q(r), (size_t)snw_robot_nq(r) * sizeof *q);
    free(q);
}

static void foreign_states_are_refused(void **state) {
    (void)state;
    snw_robot *r = started(NULL, "generalized-alpha"), *twin = started(NULL, "generalized-alpha");
    snw_robot *soft = started("E=2 MPa", "generalized-alpha"), *other = started(NULL, "bdf2");
    const size_t n = snw_robot_saves(r);
    const size_t room = snw_robot_saves(other) > n ? snw_robot_saves(other) : n;
    double *row = calloc(room, sizeof *row);
    refuse_state(r, row, "this version of Sinew did not save it");
    for (size_t i = 0; i < room; i++) row[i] = 1e6 * sin((double)i);
    refuse_state(r, row, "this version of Sinew did not save it");
    assert_int_equal(snw_robot_save(soft, row), SNW_OK);
    refuse_state(r, row, "another file, run or override");
    assert_int_equal(snw_robot_save(other, row), SNW_OK);
    refuse_state(r, row, "another scheme");
    assert_int_equal(snw_robot_save(twin, row), SNW_OK);
    assert_int_equal(snw_robot_restore(r, row), SNW_OK); // another robot of the same file
    for (size_t i = 5; i < n; i += 7) {
        const double was = row[i];
        row[i] += 1 + fabs(was);
        refuse_state(r, row, "changed");
        row[i] = was;
    }
    assert_int_equal(snw_robot_restore(r, row), SNW_OK);
    free(row);
    snw_robot_close(r);
    snw_robot_close(twin);
    snw_robot_close(soft);
    snw_robot_close(other);
}

static void saving_without_a_state_is_reported(void **state) {
    (void)state;
    snw_robot *r = opened_arm(NULL);
    double row[1];
    assert_int_equal(snw_robot_saves(r), 0);
    assert_refused(r, snw_robot_save(r, row), "snw_robot_start");
    assert_refused(r, snw_robot_restore(r, row), "snw_robot_start");
    snw_robot_close(r);
    r = started(NULL, "adaptive"); // SUNDIALS has a state of its own
    if (snw_robot_saves(r) == 0) assert_refused(r, snw_robot_save(r, row), "scheme");
    snw_robot_close(r);
}

// a row stored as text with seventeen digits is the same row
static void states_survive_as_text(void **state) {
    (void)state;
    snw_robot *r = started(NULL, "generalized-alpha");
    snw_error err = {0};
    for (int i = 0; i < 3; i++) assert_int_equal(snw_robot_step(r, 5e-3, &err), SNW_OK);
    const size_t n = snw_robot_saves(r);
    double *row = malloc(n * sizeof *row);
    assert_int_equal(snw_robot_save(r, row), SNW_OK);
    for (size_t i = 0; i < n; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%.17g", row[i]);
        row[i] = strtod(text, NULL);
    }
    assert_int_equal(snw_robot_restore(r, row), SNW_OK);
    free(row);
    snw_robot_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_beyond_the_last_are_refused),
        cmocka_unit_test(missing_pointers_are_refused),
        cmocka_unit_test(no_robot_is_refused),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(options_without_effect_are_refused),
        cmocka_unit_test(a_state_written_after_the_start_is_refused_by_steps),
        cmocka_unit_test(an_invalid_state_is_refused),
        cmocka_unit_test(foreign_states_are_refused),
        cmocka_unit_test(saving_without_a_state_is_reported),
        cmocka_unit_test(states_survive_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
