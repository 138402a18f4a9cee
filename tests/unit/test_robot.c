// SPDX-License-Identifier: MIT
//
// The public robot: the API of the library as a user calls it.
#include "sinew/sinew.h"

#include "opened.h"
// after near.h: it asserts
#include "heap_calls.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char arm[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters: {C: 2 N*m}\n"
    "materials: {rubber: {young: 100 MPa, poisson: 0.5, density: 1000, damping: 1 ms}}\n"
    "robot:\n"
    "  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 10 mm}}, material: rubber,\n"
    "        strain: {bend_y: legendre 3}}}\n"
    "loads:\n"
    "  twist: {on: arm.tip, torque: [0, C, 0], frame: body}\n"
    "probes: {tip: {position: arm.tip}, e: energy}\n"
    "runs: {weak: {C: 1 N*m}, strong: {}}\n";

static snw_robot *open_arm(const char *run, int nset, const char *const *set) {
    return opened_run(arm, run, nset, set);
}

// an arc of a circle of curvature C/EI: references.md B4.1
static void equilibrium_is_the_arc(void **state) {
    (void)state;
    snw_robot *r = open_arm("strong", 0, NULL);
    snw_error err = {0};
    assert_int_equal(snw_robot_equilibrium(r, 0, &err), SNW_OK);
    double tip[3];
    assert_int_equal(snw_robot_probe(r, "tip", 3, tip), 3);
    const double k = 2 / (M_PI / 4);
    assert_near(tip[0], sin(k) / k, 1e-10);
    assert_near(tip[2], -(1 - cos(k)) / k, 1e-10);
    assert_near(snw_robot_stability(r), 1, 1e-9); // pure bending in a plane: no geometric stiffness
    assert_int_equal(snw_robot_probe(r, "tap", 3, tip), 0);
    snw_robot_close(r);
}

static void runs_and_overrides_are_chosen(void **state) {
    (void)state;
    const char *const set[] = {"C=0 N*m"};
    snw_robot *r = open_arm(NULL, 1, set);
    snw_error err = {0};
    assert_int_equal(snw_robot_equilibrium(r, 0, &err), SNW_OK);
    for (int i = 0; i < snw_robot_nq(r); i++) assert_near(snw_robot_q(r)[i], 0, 1e-14);
    snw_robot_close(r);

    assert_int_equal(snw_robot_parse("arm", arm, strlen(arm), "none", 0, NULL, &r, &err),
                     SNW_E_ARGUMENT);
    assert_null(r);
    assert_non_null(strstr(err.text, "'none'"));
}

// forward dynamics inverts inverse dynamics, and the power equals the rate of the energy
static void forward_dynamics_balances(void **state) {
    (void)state;
    snw_robot *r = open_arm("strong", 0, NULL);
    snw_error err = {0};
    const int n = snw_robot_nv(r);
    for (int i = 0; i < n; i++) {
        snw_robot_q(r)[i] = 0.3 * (i + 1);
        snw_robot_v(r)[i] = 1 - 0.4 * i;
    }
    assert_int_equal(snw_robot_forward_dynamics(r, &err), SNW_OK);
    double tau[3], M[9], K[9];
    snw_robot_inverse_dynamics(r, tau);
    for (int i = 0; i < n; i++) assert_near(tau[i], 0, 1e-12);
    snw_robot_mass(r, M);
    snw_robot_energies e;
    snw_robot_energy(r, &e);
    double twice = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) twice += snw_robot_v(r)[i] * M[i + n * j] * snw_robot_v(r)[j];
    }
    assert_near(e.kinetic, twice / 2, 1e-14);
    assert_true(e.dissipation > 0);
    snw_robot_tangent(r, K, NULL, M);
    assert_true(K[0] > 0);
    snw_robot_close(r);
}

// rotations about one axis add up: quaternions of half the angle; hinges are numbers
static void increments_move_a_configuration(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "robot:\n"
        "  ball: {on: world, joint: spherical, body: {mass: 1 kg, inertia: [1, 1, 1]}}\n"
        "  door: {on: ball, joint: revolute, body: {mass: 1 kg, inertia: [1, 1, 1]}}\n";
    snw_robot *r = opened(text);
    const double dx[4] = {0, 0.6, 0.8, 0.3}; // of length 1
    for (int i = 1; i <= 5; i++) {
        snw_robot_move(r, dx);
        const double half = 0.5 * i, way = cos(half) < 0 ? -1 : 1; // the quaternion with w >= 0
        const double s = way * sin(half), want[5] = {way * cos(half), 0, 0.6 * s, 0.8 * s, 0.3 * i};
        for (int k = 0; k < 5; k++) assert_near(snw_robot_q(r)[k], want[k], 4e-15);
    }
    snw_robot_close(r);
}

// ---- live ---------------------------------------------------------------------------------------

static void steps(snw_robot *r, int n) {
    snw_error err = {0};
    for (int i = 0; i < n; i++) {
        if (snw_robot_step(r, 5e-3, &err) != SNW_OK) fail_msg("%s", err.text);
    }
}

static snw_robot *started(const char *scheme) {
    snw_robot *r = open_arm("strong", 0, NULL);
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(5e-3);
    how.scheme = scheme;
    if (snw_robot_start(r, &how, &err) != SNW_OK) fail_msg("%s", err.text);
    return r;
}

static void assert_same(snw_robot *a, snw_robot *b) {
    assert_true(snw_robot_time(a) == snw_robot_time(b));
    assert_memory_equal(snw_robot_q(a), snw_robot_q(b), (size_t)snw_robot_nq(a) * sizeof(double));
    assert_memory_equal(snw_robot_v(a), snw_robot_v(b), (size_t)snw_robot_nv(a) * sizeof(double));
}

// a load set by the caller to the value of its law changes no bit; set to another value it does
static void numbers_stand_for_laws(void **state) {
    (void)state;
    static const char *const schemes[] = {"generalized-alpha", "bdf2", "conserving", "adaptive"};
    const double torque[3] = {0, 2, 0}, more[3] = {0, 3, 0};
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
        snw_robot *law = started(schemes[k]), *hand = started(schemes[k]);
        const int twist = snw_robot_load(hand, "twist");
        assert_int_equal(twist, 0);
        steps(law, 10);
        snw_robot_set_load(hand, twist, NULL, torque);
        steps(hand, 10);
        assert_same(law, hand);
        snw_robot_set_load(hand, twist, NULL, more);
        steps(law, 5);
        steps(hand, 5);
        assert_true(fabs(snw_robot_q(hand)[0] - snw_robot_q(law)[0]) > 1e-4);
        snw_robot_close(law);
        snw_robot_close(hand);
    }
    snw_robot *r = started(NULL);
    assert_int_equal(snw_robot_load(r, "none"), -1);
    snw_robot_close(r);
}

static snw_robot *shooting_case(double h) {
    snw_robot *r = open_arm("strong", 0, NULL);
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(h);
    how.scheme = "bdf2";
    how.engine = "shooting";
    how.points = 41;
    if (snw_robot_start(r, &how, &err) != SNW_OK) fail_msg("%s", err.text);
    return r;
}

// the shooting engine steps live, with laws or with values set by the caller, and agrees with the
// strain engine
static void the_other_engine_steps_live(void **state) {
    (void)state;
    const double torque[3] = {0, 2, 0};
    snw_robot *law = shooting_case(5e-3), *hand = shooting_case(5e-3), *strain = started("bdf2");
    snw_robot_set_load(hand, 0, NULL, torque);
    steps(law, 1); // the first step has no matrix yet
    const long before = heap_calls;
    steps(law, 9);
    assert_int_equal(heap_calls, before);
    steps(hand, 10);
    steps(strain, 10);
    assert_same(law, hand);
    double a[3], b[3];
    assert_int_equal(snw_robot_probe(law, "tip", 3, a), 3);
    assert_int_equal(snw_robot_probe(strain, "tip", 3, b), 3);
    for (int i = 0; i < 3; i++) assert_near(a[i], b[i], 0.02); // steps of 5 ms are long
    assert_true(fabs(a[2]) > 0.1);
    snw_robot_close(law);
    snw_robot_close(hand);
    snw_robot_close(strain);
    snw_robot *r = open_arm("strong", 0, NULL);
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(5e-3);
    how.engine = "shooting";
    assert_int_equal(snw_robot_start(r, &how, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no scheme 'generalized-alpha'"));
    how.engine = "guessing";
    assert_int_equal(snw_robot_start(r, &how, &err), SNW_E_ARGUMENT);
    how.engine = "shooting", how.scheme = "bdf2", how.points = 1;
    assert_int_equal(snw_robot_start(r, &how, &err), SNW_E_ARGUMENT);
    snw_robot_close(r);
}

// gravity set by the caller acts like gravity of the file
static void gravity_is_set_by_manual_inputs(void **state) {
    (void)state;
    const double down[3] = {0, 0, -9.81};
    const char *const set[] = {"gravity=[0, 0, -9.81]"};
    const snw_robot_steps how = snw_robot_steps_defaults(5e-3);
    snw_error err = {0};
    snw_robot *file = open_arm("strong", 1, set), *hand = open_arm("strong", 0, NULL);
    snw_robot_set_gravity(hand, down);
    assert_int_equal(snw_robot_start(file, &how, &err), SNW_OK);
    assert_int_equal(snw_robot_start(hand, &how, &err), SNW_OK);
    steps(file, 10);
    steps(hand, 10);
    assert_same(file, hand);
    snw_robot_set_gravity(hand, NULL);
    snw_robot_energies e;
    snw_robot_energy(hand, &e);
    assert_true(e.gravity == 0 && e.kinetic > 0);
    snw_robot_close(file);
    snw_robot_close(hand);
}

// ---- actuators set by the caller ----------------------------------------------------------------

// a pendulum on a driven cart, and an arm with a motor of prescribed torque
static const char driven[] =
    "sinew: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "robot:\n"
    "  cart: {on: world, joint: prismatic, axis: x, body: {mass: 1}}\n"
    "  bob: {on: cart, joint: revolute, body: {mass: 0.5, com: [0, -0.3, 0], inertia: [5e-4, 5e-4, "
    "1e-3]}}\n"
    "  elbow: {on: bob, pose: {xyz: [0, -0.6, 0]}, joint: universal, axes: [z, x], body: {mass: "
    "0.2, com: [0, -0.1, 0.01], inertia: [1e-4, 1e-4, 1e-4]}}\n"
    "actuators:\n"
    "  rail: {joint: cart, position: LAW}\n"
    "  motor: {joint: elbow, effort: [TORQUE, 0]}\n"
    "probes: {x: {value: cart}, f: {effort: rail}, tau: {effort: motor}, bob: {angle: bob}}\n";

static snw_robot *open_driven(const char *law, const char *torque, const char *scheme, double h) {
    char one[64], two[64];
    (void)snprintf(one, sizeof one, "rail.position=%s", law);
    (void)snprintf(two, sizeof two, "motor.effort=[%s, 0]", torque);
    const char *const set[] = {one, two};
    snw_robot_steps how = snw_robot_steps_defaults(h);
    how.scheme = scheme;
    snw_robot *r = NULL;
    snw_error err = {0};
    if (snw_robot_parse("driven", driven, strlen(driven), NULL, 2, set, &r, &err) != SNW_OK ||
        snw_robot_start(r, &how, &err) != SNW_OK) {
        fail_msg("%s", err.text);
    }
    return r;
}

// numbers set by the caller act like a law with the same value, rate and acceleration
static void motors_are_moved_by_manual_inputs(void **state) {
    (void)state;
    static const char *const schemes[] = {"generalized-alpha", "bdf2", "adaptive"};
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
        snw_robot *law = open_driven("0.1*t + 0.5*t^2", "0.02 - 0.1*t", schemes[k], 5e-3);
        snw_robot *hand = open_driven("0.1*t", "0", schemes[k], 5e-3);
        const int rail = snw_robot_actuator(hand, "rail"),
                  motor = snw_robot_actuator(hand, "motor");
        assert_int_equal(rail, 0);
        assert_int_equal(snw_robot_actuator_size(hand, motor), 2);
        assert_int_equal(snw_robot_actuator(hand, "none"), -1);
        const double a = 1, still = 0, slow = 0.1, pull[2] = {0.02, 0};
        snw_error err = {0};
        double f[2], g[2];
        // accelerations at the start follow from the values set then
        snw_robot_steps how = snw_robot_steps_defaults(5e-3);
        how.scheme = schemes[k];
        assert_int_equal(snw_robot_set_motion(hand, rail, &still, &slow, &a, &err), SNW_OK);
        assert_int_equal(snw_robot_set_effort(hand, motor, pull, &err), SNW_OK);
        assert_int_equal(snw_robot_start(hand, &how, &err), SNW_OK);
        for (int i = 0; i < 40; i++) {
            const double t = snw_robot_time(hand), x = 0.1 * t + 0.5 * t * t, v = 0.1 + t;
            // implicit schemes evaluate the torque at the end of the step; the others throughout
            // the step, with its mean value
            const double tau[2] = {0.02 - 0.1 * (t + (k < 2 ? 5e-3 : 2.5e-3)), 0};
            assert_int_equal(snw_robot_set_motion(hand, rail, &x, &v, &a, &err), SNW_OK);
            assert_int_equal(snw_robot_set_effort(hand, motor, tau, &err), SNW_OK);
            steps(law, 1);
            steps(hand, 1);
        }
        const double t = snw_robot_time(hand), rounding = k < 2 ? 1e-10 : 1e-5;
        assert_near(snw_robot_q(hand)[0], 0.1 * t + 0.5 * t * t, 1e-12);
        for (int i = 0; i < snw_robot_nq(law); i++) {
            assert_near(snw_robot_q(hand)[i], snw_robot_q(law)[i], rounding);
        }
        snw_robot_effort(law, rail, f);
        snw_robot_effort(hand, rail, g);
        // a constant torque differs by 0.25 mN m at the end of the step, and levers are a tenth of
        // a metre
        assert_near(g[0], f[0], k < 2 ? 1e-8 : 5e-3);
        // the same value by its probe; and of a prescribed effort
        assert_int_equal(snw_robot_probe(hand, "f", 1, f), 1);
        assert_true(f[0] == g[0]);
        const double now[2] = {0.7, -0.2};
        assert_int_equal(snw_robot_set_effort(hand, motor, now, &err), SNW_OK);
        snw_robot_effort(hand, motor, g);
        assert_true(g[0] == 0.7 && g[1] == -0.2);
        // back to the laws of the file
        snw_robot_unset_actuator(hand, motor);
        snw_robot_effort(hand, motor, g);
        assert_true(g[0] == 0);
        snw_robot_close(law);
        snw_robot_close(hand);
    }
}

// The effort of a drive is the force it applies. While only the cart moves nothing rotates, and
// gravity is perpendicular: the force is the first row of M a.
static void the_effort_of_a_drive_is_the_force_it_takes(void **state) {
    (void)state;
    snw_robot *r = open_driven("0.2*t^2", "0", "generalized-alpha", 5e-3);
    snw_error err = {0};
    steps(r, 50);
    double tau[8], M[64], f, again, want = 0;
    snw_robot_effort(r, 0, &f);
    snw_robot_inverse_dynamics(r, tau);
    assert_near(tau[0], 0, 1e-8); // with its multipliers the residual is zero
    const int nv = snw_robot_nv(r);
    assert_int_equal(snw_robot_forward_dynamics(r, &err), SNW_OK);
    assert_near(snw_robot_a(r)[0], 0.4, 1e-12);
    snw_robot_effort(r, 0, &again);
    assert_near(again, f, 1e-3); // accelerations of the scheme are of second order
    for (int j = 0; j < nv; j++) snw_robot_v(r)[j] = 0;
    snw_robot_v(r)[0] = 0.4 * snw_robot_time(r);
    assert_int_equal(snw_robot_forward_dynamics(r, &err), SNW_OK);
    snw_robot_effort(r, 0, &again);
    snw_robot_mass(r, M);
    for (int j = 0; j < nv; j++) want += M[j * nv] * snw_robot_a(r)[j];
    assert_near(again, want, 1e-12);
    snw_robot_close(r);
}

static void impossible_manual_inputs_are_refused(void **state) {
    (void)state;
    snw_robot *r = open_driven("0.2*t^2", "0", "generalized-alpha", 5e-3);
    snw_error err = {0};
    const double two[2] = {0};
    assert_int_equal(snw_robot_set_effort(r, 0, two, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "'rail'"));
    assert_int_equal(snw_robot_set_motion(r, 1, two, NULL, NULL, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "snw_robot_set_effort"));
    snw_robot_close(r);
}

// saved, restored in another robot, and without heap allocation
static void manual_inputs_are_saved(void **state) {
    (void)state;
    static const char *const schemes[] = {"generalized-alpha", "bdf-alpha"};
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
        snw_robot *a = open_driven("0", "0", schemes[k], 5e-3);
        snw_robot *b = open_driven("0", "0", schemes[k], 5e-3);
        double *save = malloc(snw_robot_saves(a) * sizeof *save), f;
        snw_error err = {0};
        const long before = heap_calls;
        for (int i = 0; i < 6; i++) {
            const double x = 0.01 * i * i, v = 0.1 * i, tau[2] = {0.1 * i, -0.01};
            assert_int_equal(snw_robot_set_motion(a, 0, &x, &v, NULL, &err), SNW_OK);
            assert_int_equal(snw_robot_set_effort(a, 1, tau, &err), SNW_OK);
            steps(a, 1);
            snw_robot_effort(a, 0, &f);
        }
        snw_robot_save(a, save);
        assert_int_equal(heap_calls - before, 0);
        steps(a, 5);
        steps(b, 3);
        snw_robot_restore(b, save);
        steps(b, 5);
        assert_same(a, b);
        assert_near(snw_robot_q(b)[0], 0.01 * 25 + 0.5 * 6 * 5e-3, 1e-12);
        free(save);
        snw_robot_close(a);
        snw_robot_close(b);
    }
}

// a saved state is complete: another robot continues with the same bits
static void saved_motion_goes_on_elsewhere(void **state) {
    (void)state;
    static const char *const schemes[] = {"generalized-alpha", "bdf-alpha", "conserving",
                                          NULL}; // NULL: the shooting engine
    const double torque[3] = {0, -1, 0};
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
        snw_robot *a = schemes[k] ? started(schemes[k]) : shooting_case(5e-3);
        snw_robot *b = schemes[k] ? started(schemes[k]) : shooting_case(5e-3);
        for (int i = 0; i < 7; i++) { // the inputs at which a matrix was computed are not saved
            const double first[3] = {0, 1 - 0.3 * i, 0};
            snw_robot_set_load(a, 0, NULL, first);
            steps(a, 1);
        }
        snw_robot_set_load(a, 0, NULL, torque);
        double *save = malloc(snw_robot_saves(a) * sizeof *save);
        snw_robot_save(a, save);
        steps(a, 5);
        steps(b, 3);
        snw_robot_restore(b, save);
        steps(b, 5);
        assert_same(a, b);
        snw_robot_restore(a, save); // back in time
        steps(a, 5);
        assert_same(a, b);
        free(save);
        snw_robot_close(a);
        snw_robot_close(b);
    }
    snw_robot *r = open_arm(NULL, 0, NULL);
    assert_int_equal(snw_robot_saves(r), 0);
    snw_robot_close(r);
}

static void take_steps_without_memory(snw_robot *r) {
    double *save = malloc(snw_robot_saves(r) * sizeof *save), tip[3];
    const double torque[3] = {0, 1, 0};
    snw_error err = {0};
    const long before = heap_calls;
    for (int i = 0; i < 20; i++) {
        snw_robot_set_load(r, 0, NULL, torque);
        assert_int_equal(snw_robot_step(r, 5e-3, &err), SNW_OK);
        (void)snw_robot_probe(r, "tip", 3, tip);
        snw_robot_save(r, save);
        snw_robot_restore(r, save);
    }
    assert_int_equal(heap_calls - before, 0);
    free(save);
    snw_robot_close(r);
}

static void steps_take_no_memory(void **state) {
    (void)state;
    take_steps_without_memory(started("generalized-alpha"));
    take_steps_without_memory(shooting_case(5e-3));
}

static void bad_steps_change_nothing(void **state) {
    (void)state;
    snw_robot *r = open_arm(NULL, 0, NULL);
    snw_error err = {0};
    assert_int_equal(snw_robot_step(r, 1e-3, &err), SNW_E_ARGUMENT);
    snw_robot_steps how = snw_robot_steps_defaults(0);
    assert_int_equal(snw_robot_start(r, &how, &err), SNW_E_ARGUMENT);
    how = snw_robot_steps_defaults(1e-3);
    how.scheme = "magic";
    assert_int_equal(snw_robot_start(r, &how, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "'magic'"));
    how.scheme = "newmark";
    assert_int_equal(snw_robot_start(r, &how, &err), SNW_OK);
    assert_int_equal(snw_robot_step(r, 1, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_step(r, NAN, &err), SNW_E_ARGUMENT);
    const double nan[3] = {0, NAN, 0}, huge[3] = {0, 1e300, 0};
    const double q0 = snw_robot_q(r)[0];
    assert_int_equal(snw_robot_set_load(r, 0, NULL, nan), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_set_load(r, 0, NULL, huge), SNW_OK);
    assert_int_not_equal(snw_robot_step(r, 1e-3, &err), SNW_OK);
    assert_true(snw_robot_q(r)[0] == q0 && snw_robot_time(r) == 0);
    snw_robot_unset_load(r, 0);
    assert_int_equal(snw_robot_step(r, 1e-3, &err), SNW_OK);
    snw_robot_close(r);
}

static void bad_files_leave_nothing(void **state) {
    (void)state;
    snw_robot *r = NULL;
    snw_error err = {0};
    assert_int_equal(snw_robot_open("no such file.yaml", NULL, 0, NULL, &r, &err), SNW_E_IO);
    assert_null(r);
    const char *const set[] = {"arm.rod.lenght=2 m"};
    assert_int_equal(snw_robot_parse("arm", arm, strlen(arm), NULL, 1, set, &r, &err), SNW_E_PARSE);
    assert_null(r);
    assert_non_null(strstr(err.text, "did you mean 'length'"));
}

// laws and conditions read the present state; they have no history
static void laws_and_conditions_read_the_present_state(void **state) {
    (void)state;
    static const char cart[] =
        "sinew: 1\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: free, body: {mass: 2, inertia: [1, 1, 1]}}}\n"
        "loads:\n"
        "  law: {on: cart, force: [-3*p.x - 4*v.vx - 100*integral(p.x), 0, 0]}\n"
        "  gate: {on: cart, force: [0, 5, 0], when: p.x > 1}\n"
        "  held: {on: cart, force: [0, 0, \"sampled(p.x, 1 s)\"], when: once(e.kinetic < 10)}\n"
        "probes: {p: {position: cart}, v: {velocity: cart}, e: energy}\n";
    snw_robot *r = NULL;
    snw_error err = {0};
    assert_int_equal(snw_robot_parse("c", cart, strlen(cart), NULL, 0, NULL, &r, &err), SNW_OK);
    const double x[] = {0.5, 2, 0.7}, v[] = {1, -1, 10};
    for (int i = 0; i < 3; i++) {
        snw_robot_q(r)[4] = x[i];
        snw_robot_v(r)[3] = v[i];
        assert_int_equal(snw_robot_forward_dynamics(r, &err), SNW_OK);
        const double *a = snw_robot_a(r);
        assert_near(a[3], (-3 * x[i] - 4 * v[i]) / 2, 1e-13);
        assert_near(a[4], x[i] > 1 ? 2.5 : 0, 1e-13);
        assert_near(a[5], v[i] * v[i] < 10 ? x[i] / 2 : 0, 1e-13);
        double K[36], C[36];
        snw_robot_tangent(r, K, C, NULL);
        assert_near(K[3 * 6 + 3], 3, 1e-13);
        assert_near(C[3 * 6 + 3], 4, 1e-13);
    }
    snw_robot_close(r);
}

// Efforts set by the caller are cut off at the limit of the file, and limits that are reached are
// told: a bar of 0.5 kg m^2 turns by 1 N m of 5, a slider of 2 kg is moved by 3 N where 4 N are
// meant.
static void limits_of_motors_hold_for_the_caller(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: 0\nrobot:\n"
        "  bar: {on: world, joint: revolute, body: {mass: 1, inertia: [0.5, 0.5, 0.5]}}\n"
        "  slider: {on: world, joint: prismatic, body: {mass: 2, inertia: [1, 1, 1]}}\n"
        "actuators:\n"
        "  turn: {joint: bar, effort: 0 N*m, effort_limit: 1 N*m, rate_limit: 0.3 rad/s}\n"
        "  push: {joint: slider, position: 0, effort_limit: 3 N}\n";
    snw_robot *r = opened_run(text, NULL, 0, NULL);
    snw_robot_steps how = snw_robot_steps_defaults(5e-3);
    snw_error err = {0};
    double f = 0;
    const double five = 5, zero = 0, one = 1, two = 2;
    const int turn = snw_robot_actuator(r, "turn"), push = snw_robot_actuator(r, "push");
    assert_int_equal(snw_robot_limits(r, turn), 0);
    assert_int_equal(snw_robot_set_effort(r, turn, &five, &err), SNW_OK);
    assert_int_equal(snw_robot_set_motion(r, push, &zero, &zero, &one, &err), SNW_OK);
    assert_int_equal(snw_robot_start(r, &how, &err), SNW_OK);
    steps(r, 20); // 0.1 s: 0.2 rad/s
    assert_int_equal(snw_robot_effort(r, turn, &f), SNW_OK);
    assert_true(f == 1 && snw_robot_u(r)[turn] == 1);
    assert_near(snw_robot_v(r)[0], 0.2, 1e-10);
    assert_int_equal(snw_robot_limits(r, turn), SNW_LIMIT_EFFORT);
    assert_int_equal(snw_robot_limits(r, push), 0); // 2 N
    steps(r, 12);
    assert_int_equal(snw_robot_limits(r, turn), SNW_LIMIT_EFFORT | SNW_LIMIT_RATE);
    // by the array, the other way; and within the limit
    snw_robot_u(r)[turn] = -7;
    steps(r, 1);
    assert_true(snw_robot_u(r)[turn] == -1);
    snw_robot_u(r)[turn] = 0.5;
    const double t = snw_robot_time(r), x = 0.5 * t * t;
    assert_int_equal(snw_robot_set_motion(r, push, &x, &t, &two, &err), SNW_OK); // 4 N
    steps(r, 2);
    assert_int_equal(snw_robot_limits(r, turn), SNW_LIMIT_RATE);
    assert_int_equal(snw_robot_limits(r, push), SNW_LIMIT_EFFORT);
    assert_int_equal(snw_robot_limits(r, 9), -1);
    assert_int_equal(snw_robot_limits(NULL, 0), -1);
    snw_robot_close(r);
}

int main(void) {
    count_heap_calls();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equilibrium_is_the_arc),
        cmocka_unit_test(runs_and_overrides_are_chosen),
        cmocka_unit_test(forward_dynamics_balances),
        cmocka_unit_test(increments_move_a_configuration),
        cmocka_unit_test(numbers_stand_for_laws),
        cmocka_unit_test(gravity_is_set_by_manual_inputs),
        cmocka_unit_test(motors_are_moved_by_manual_inputs),
        cmocka_unit_test(the_effort_of_a_drive_is_the_force_it_takes),
        cmocka_unit_test(limits_of_motors_hold_for_the_caller),
        cmocka_unit_test(impossible_manual_inputs_are_refused),
        cmocka_unit_test(manual_inputs_are_saved),
        cmocka_unit_test(saved_motion_goes_on_elsewhere),
        cmocka_unit_test(steps_take_no_memory),
        cmocka_unit_test(the_other_engine_steps_live),
        cmocka_unit_test(bad_steps_change_nothing),
        cmocka_unit_test(bad_files_leave_nothing),
        cmocka_unit_test(laws_and_conditions_read_the_present_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
