// SPDX-License-Identifier: MIT
//
// The public robot: tendons and chambers set by the caller.
#include "sinew/sinew.h"

#include "opened.h"
// after near.h: it asserts
#include "heap_calls.h"

#include <stdlib.h>
#include <string.h>

// every kind of input of a tendon or a chamber
static const char arm[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 0.5 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
    "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 12 mm}}, material: "
    "rubber, strain: cosserat legendre 2}}}\n"
    "parameters: {pull: 0 N, wind: 0 m, press: 0 Pa, fill: 7.9e-6 m^3, blow: 3.3e-4 mol, grip: "
    "0.01 N*m}\n"
    "actuators:\n"
    "  turn: {rod: arm, effort: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}\n"
    "  cord: {tendon: {along: arm, at: [0, 8 mm, 0]}, effort: pull}\n"
    "  winch: {tendon: {along: arm, at: [0, 0, 8 mm], extra: 30 mm, compliance: 2e-3 1/N}, "
    "shortening: wind}\n"
    "  bellows: {chamber: {along: arm, at: [0, -6 mm, 0], area: 3e-5 m^2}, effort: press}\n"
    "  water: {chamber: {along: arm, at: [0, 0, -6 mm], area: 2.6e-5 m^2}, volume: fill}\n"
    "  air: {chamber: {along: arm, at: [0, 4 mm, 4 mm], area: 2.7e-5 m^2}, gas: {moles: blow, "
    "temperature: 300 K}}\n"
    "  muscle: {stress: {along: arm, bend_y: \"grip*(1 + x/L + 0.1*tip.x*1 1/m)\", stretch: "
    "-20*grip*1 1/m}}\n"
    "probes: {tip: {position: arm.tip}, T: {tension: winch}}\n";

enum { TURN, TENDON, WINCH, BELLOWS, WATER, AIR, MUSCLE };

// laws, and their values at time t set by the caller
static const char *const laws[] = {"grip=0.015 N*m",
                                   "pull=1.5 N",
                                   "wind=4 mm + 3 mm*t/(1 s)",
                                   "press=4 kPa",
                                   "fill=7.9e-6 m^3 + 4e-7*t^2",
                                   "blow=3.3e-4 mol + 1e-5 mol*0.5"};

static void set_by_hand(snw_robot *r, double t) {
    snw_error err = {0};
    const double pull = 1.5, press = 4000, moles = 3.3e-4 + 1e-5 * 0.5;
    const double wind = 4e-3 + 3e-3 * t, winding = 3e-3;
    const double fill = 7.9e-6 + 4e-7 * t * t, filling = 8e-7 * t, faster = 8e-7;
    assert_int_equal(snw_robot_set_effort(r, TENDON, &pull, &err), SNW_OK);
    assert_int_equal(snw_robot_set_motion(r, WINCH, &wind, &winding, NULL, &err), SNW_OK);
    assert_int_equal(snw_robot_set_effort(r, BELLOWS, &press, &err), SNW_OK);
    assert_int_equal(snw_robot_set_motion(r, WATER, &fill, &filling, &faster, &err), SNW_OK);
    assert_int_equal(snw_robot_set_gas(r, AIR, moles, &err), SNW_OK);
    assert_int_equal(snw_robot_set_activation(r, MUSCLE, 1.5, &err), SNW_OK);
}

static void start(snw_robot *r, const char *scheme) {
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(2e-3);
    how.scheme = scheme;
    // adaptive step lengths depend on rounding: two runs agree to within their errors
    if (strcmp(scheme, "adaptive") == 0) how.tolerance = 1e-9;
    if (snw_robot_start(r, &how, &err) != SNW_OK) fail_msg("%s", err.text);
}

static void step(snw_robot *r) {
    snw_error err = {0};
    if (snw_robot_step(r, 2e-3, &err) != SNW_OK) fail_msg("%s", err.text);
}

static void assert_close(snw_robot *a, snw_robot *b, double tol) {
    for (int i = 0; i < snw_robot_nq(a); i++) {
        assert_near(snw_robot_q(a)[i], snw_robot_q(b)[i], tol);
        assert_near(snw_robot_v(a)[i], snw_robot_v(b)[i], 100 * tol);
    }
    for (int k = TENDON; k <= AIR; k++) {
        double x, y;
        snw_robot_effort(a, k, &x);
        snw_robot_effort(b, k, &y);
        assert_near(x, y, 1e4 * tol);
    }
}

static void names_are_numbers(void **state) {
    (void)state;
    static const char *const names[] = {"turn",  "cord", "winch", "bellows",
                                        "water", "air",  "muscle"};
    snw_robot *r = opened(arm);
    for (int i = TURN; i <= MUSCLE; i++) {
        assert_int_equal(snw_robot_actuator(r, names[i]), i);
        assert_int_equal(snw_robot_actuator_size(r, i), i == TURN ? 12 : 1);
    }
    assert_int_equal(snw_robot_actuator(r, "rope"), -1);
    snw_robot_close(r);
}

// set every step to the values of the laws, in motion, without heap allocation
static void manual_inputs_act_as_laws_do(void **state) {
    (void)state;
    static const char *const schemes[] = {"generalized-alpha", "bdf2", "adaptive"};
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
        snw_robot *law = opened_run(arm, NULL, 6, laws), *hand = opened(arm);
        set_by_hand(hand, 0);
        start(law, schemes[k]);
        start(hand, schemes[k]);
        const long before = heap_calls;
        for (int i = 0; i < 20; i++) {
            set_by_hand(hand, snw_robot_time(hand));
            step(hand);
        }
        assert_int_equal(heap_calls - before, 0);
        for (int i = 0; i < 20; i++) step(law);
        assert_close(law, hand, 1e-8);
        double f;
        snw_robot_effort(hand, TENDON, &f);
        assert_near(f, 1.5, 0);
        snw_robot_effort(hand, WATER, &f);
        assert_true(fabs(f) > 100); // its volume is held
        snw_robot_close(law);
        snw_robot_close(hand);
    }
}

// an equilibrium is that of the values set by the caller, loads and gravity as well
static void equilibria_include_manual_inputs(void **state) {
    (void)state;
    const char *const heavy[] = {
        laws[0], laws[1], laws[2], laws[3], laws[4], laws[5], "gravity=[0, 3, 0]"};
    snw_robot *law = opened_run(arm, NULL, 7, heavy), *hand = opened(arm), *none = opened(arm);
    const double gravity[3] = {0, 3, 0};
    snw_error err = {0};
    set_by_hand(hand, 0);
    snw_robot_set_gravity(hand, gravity);
    snw_robot *all[] = {law, hand, none};
    for (int i = 0; i < 3; i++) {
        if (snw_robot_equilibrium(all[i], 0, &err) != SNW_OK) fail_msg("%s", err.text);
    }
    assert_close(law, hand, 1e-9);
    assert_true(fabs(snw_robot_q(none)[2] - snw_robot_q(hand)[2]) > 0.1);
    // back to the laws of the file
    for (int k = TENDON; k <= MUSCLE; k++) snw_robot_unset_actuator(hand, k);
    snw_robot_set_gravity(hand, NULL);
    if (snw_robot_equilibrium(hand, 0, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_close(none, hand, 1e-9);
    for (int i = 0; i < 3; i++) snw_robot_close(all[i]);
}

static void manual_inputs_are_saved(void **state) {
    (void)state;
    snw_robot *a = opened(arm), *b = opened(arm);
    start(a, "generalized-alpha");
    start(b, "generalized-alpha");
    double *save = malloc(snw_robot_saves(a) * sizeof *save);
    set_by_hand(a, 0);
    step(a);
    snw_robot_save(a, save);
    for (int i = 0; i < 3; i++) step(a);
    snw_robot_restore(b, save);
    for (int i = 0; i < 3; i++) step(b);
    assert_memory_equal(snw_robot_q(a), snw_robot_q(b), (size_t)snw_robot_nq(a) * sizeof(double));
    free(save);
    snw_robot_close(a);
    snw_robot_close(b);
}

static void only_given_quantities_can_be_set(void **state) {
    (void)state;
    snw_robot *r = opened(arm);
    snw_error err = {0};
    const double x = 1, nothing = NAN;
    assert_int_equal(snw_robot_set_effort(r, WINCH, &x, &err), SNW_E_ARGUMENT);
    assert_string_equal(err.text,
                        "actuator 'winch' has its coordinate given; use snw_robot_set_motion");
    assert_int_equal(snw_robot_set_motion(r, TENDON, &x, NULL, NULL, &err), SNW_E_ARGUMENT);
    assert_string_equal(err.text, "actuator 'cord' has its effort given; use snw_robot_set_effort");
    assert_int_equal(snw_robot_set_effort(r, AIR, &x, &err), SNW_E_ARGUMENT);
    assert_string_equal(err.text, "actuator 'air' has its gas given; use snw_robot_set_gas");
    assert_int_equal(snw_robot_set_gas(r, TURN, x, &err), SNW_E_ARGUMENT);
    assert_string_equal(err.text, "actuator 'turn' is not a chamber");
    assert_int_equal(snw_robot_set_effort(r, TENDON, &nothing, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_set_effort(r, MUSCLE, &x, &err), SNW_E_ARGUMENT);
    assert_string_equal(err.text, "actuator 'muscle' is a muscle; use snw_robot_set_activation");
    assert_int_equal(snw_robot_set_activation(r, TENDON, 1, &err), SNW_E_ARGUMENT);
    assert_string_equal(err.text, "actuator 'cord' is not a muscle");
    assert_int_equal(snw_robot_set_effort(r, snw_robot_actuator(r, "rope"), &x, &err),
                     SNW_E_ARGUMENT);
    assert_string_equal(err.text, "there is no actuator number -1, the robot has 7");
    assert_int_equal(snw_robot_set_motion(r, 7, &x, NULL, NULL, &err), SNW_E_ARGUMENT);
    snw_robot_close(r);
}

// A winch set by the caller that starts abruptly, 50 mm/s from one step to the next: the fastest
// motions of a steel rod, which no step resolves, do not prevent Gauss collocation from converging;
// the result is that of a scheme that damps them.
static void a_winch_that_starts_at_once_is_followed_by_every_scheme(void **state) {
    (void)state;
    static const char steel[] =
        "sinew: 1\n"
        "gravity: [-9.81, 0, 0]\n"
        "materials: {steel: {young: 207 GPa, shear: 80 GPa, density: 33253}}\n"
        "robot: {arm: {on: world, pose: {x: z, y: x}, rod: {length: 0.7144 m, section: {circle: "
        "{diameter: 1.35 mm}, damping: {twist: 5e-4, bend_y: 5e-4, bend_z: 5e-4}}, material: "
        "steel, "
        "strain: cosserat legendre 6, nodes: 16}}}\n"
        "actuators: {pull: {tendon: {along: arm, at: [0, 15 mm, 0], discs: 15.1 mm, extra: 51.8 "
        "mm, "
        "compliance: 1e-4 1/N}, shortening: 0 m}}\n"
        "probes: {tip: {position: arm.tip}}\n";
    static const char *const schemes[] = {"generalized-alpha", "gauss4", "gauss6", "bdf2"};
    double first = 0;
    for (int k = 0; k < 4; k++) {
        snw_robot *r = NULL;
        snw_error err = {0};
        if (snw_robot_parse("arm", steel, strlen(steel), NULL, 0, NULL, &r, &err) != SNW_OK ||
            snw_robot_equilibrium(r, 0, &err) != SNW_OK) {
            fail_msg("%s:%d: %s", err.file, err.line, err.text);
        }
        snw_robot_steps how = snw_robot_steps_defaults(5e-3);
        how.scheme = schemes[k];
        assert_int_equal(snw_robot_start(r, &how, &err), SNW_OK);
        for (int i = 0; i < 40; i++) {
            const double t = 5e-3 * (i < 3 ? 0 : i - 3), way = 0.05 * t, rate = i < 3 ? 0 : 0.05;
            assert_int_equal(snw_robot_set_motion(r, 0, &way, &rate, NULL, &err), SNW_OK);
            if (snw_robot_step(r, 5e-3, &err) != SNW_OK) fail_msg("%s: %s", schemes[k], err.text);
        }
        double tip[3];
        snw_robot_probe(r, "tip", 3, tip);
        if (k == 0) first = tip[0];
        assert_near(tip[0], first, 2e-3);
        snw_robot_close(r);
    }
}

// The pressure of a McKibben muscle is set; its effort is the tension, here the weight.
static void the_pressure_of_a_braid_is_set(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "gravity: [0, 0, -10]\n"
        "robot: {weight: {on: world, pose: {xyz: [0, 0, -0.3]}, joint: prismatic, axis: z, body: "
        "{mass: 50}}}\n"
        "actuators: {braid: {mckibben: {path: [world, weight], radius: 1 cm, angle: 20 deg}, "
        "pressure: 3 bar}}\n";
    snw_robot *r = opened(text);
    snw_error err = {0};
    const double p = 2e5, area = acos(-1.0) * 1e-4, sine = sin(acos(-1.0) / 9);
    double tension = 0;
    assert_int_equal(snw_robot_set_effort(r, 0, &p, &err), SNW_E_ARGUMENT);
    assert_string_equal(err.text, "actuator 'braid' has its pressure given; use "
                                  "snw_robot_set_actuator");
    assert_int_equal(snw_robot_set_actuator(r, 0, &p, &err), SNW_OK);
    assert_int_equal(snw_robot_equilibrium(r, 0, &err), SNW_OK);
    assert_int_equal(snw_robot_effort(r, 0, &tension), SNW_OK);
    assert_near(tension, 500, 1e-9);
    // p area (3 s^2 cos^2 - 1)/sin^2 = m g
    const double s = sqrt((500 / (p * area) * sine * sine + 1) / (3 * (1 - sine * sine)));
    assert_near(snw_robot_q(r)[0], 0.3 * (1 - s), 1e-10);
    snw_robot_close(r);
}

int main(void) {
    count_heap_calls();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_numbers),
        cmocka_unit_test(manual_inputs_act_as_laws_do),
        cmocka_unit_test(equilibria_include_manual_inputs),
        cmocka_unit_test(manual_inputs_are_saved),
        cmocka_unit_test(only_given_quantities_can_be_set),
        cmocka_unit_test(the_pressure_of_a_braid_is_set),
        cmocka_unit_test(a_winch_that_starts_at_once_is_followed_by_every_scheme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
