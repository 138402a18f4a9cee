// SPDX-License-Identifier: MIT
//
// The public robot: factors of fields set by the caller, and the fields at a place.
#include "sinew/sinew.h"

#include "opened.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char finger[] =
    "sinew: 1\ngravity: 0\nparameters: {I: 1}\n"
    "materials: {silicone: {young: 1 MPa, poisson: 0.5, density: 1800, damping: 10 ms}}\n"
    "robot:\n"
    "  finger: {on: world, rod: {length: 30 mm, section: {circle: {radius: 1 mm}}, material: "
    "silicone, strain: {bend_z: legendre 4}}, magnetic_moment: [0.2 A*m, 0 A*m, 0 A*m]}\n"
    "fields:\n"
    "  coils: {magnetic: [\"1 T/m*I*x\", \"10 mT*I - 1 T/m*I*y\", 0 T]}\n"
    "  magnet: {dipole: [0, 0, 0.1 A*m^2], at: [10 mm, 40 mm, 0 mm]}\n"
    "probes: {tip: {position: finger.tip}}\n";

// three steps with the coils at 0.4 of their current
static void move(snw_robot *r, bool by_hand) {
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(2e-3);
    if (by_hand) assert_int_equal(snw_robot_set_field(r, "coils", 0.4, &err), SNW_OK);
    if (snw_robot_start(r, &how, &err) != SNW_OK) fail_msg("%s", err.text);
    for (int i = 0; i < 3; i++) assert_int_equal(snw_robot_step(r, 2e-3, &err), SNW_OK);
}

// a factor acts as the same factor in the law does, also in equilibria
static void a_factor_acts_as_in_the_law(void **state) {
    (void)state;
    static const char *const weak[] = {"I=0.4"};
    snw_robot *law = opened_run(finger, NULL, 1, weak), *hand = opened(finger);
    snw_error err = {0};
    move(law, false);
    move(hand, true);
    double most = 0;
    for (int i = 0; i < snw_robot_nq(law); i++) {
        most = fmax(most, fabs(snw_robot_q(law)[i]));
        assert_near(snw_robot_q(law)[i], snw_robot_q(hand)[i], 1e-12);
    }
    assert_true(most > 0.1); // 1/m
    snw_robot_close(law);
    snw_robot_close(hand);
    law = opened_run(finger, NULL, 1, weak), hand = opened(finger);
    assert_int_equal(snw_robot_set_field(hand, "coils", 0.4, &err), SNW_OK);
    assert_int_equal(snw_robot_equilibrium(law, 0, &err), SNW_OK);
    assert_int_equal(snw_robot_equilibrium(hand, 0, &err), SNW_OK);
    for (int i = 0; i < snw_robot_nq(law); i++)
        assert_near(snw_robot_q(law)[i], snw_robot_q(hand)[i], 1e-9);
    snw_robot_close(law);
    snw_robot_close(hand);
}

// values at a place: the law, and the closed form of a dipole on its axis and beside it
static void fields_have_values_at_places(void **state) {
    (void)state;
    snw_robot *r = opened(finger);
    snw_error err = {0};
    const double place[3] = {0.02, 0.03, 0.05}, above[3] = {0.01, 0.04, 0.05};
    const double beside[3] = {0.06, 0.04, 0};
    double B[3], factor = 0;
    assert_int_equal(snw_robot_set_field(r, "coils", -2, &err), SNW_OK);
    assert_int_equal(snw_robot_field(r, "coils", place, &factor, B, &err), SNW_OK);
    assert_near(factor, -2, 0);
    assert_near(B[0], -2 * 0.02, 1e-16);
    assert_near(B[1], -2 * (0.01 - 0.03), 1e-16);
    assert_near(B[2], 0, 0);
    assert_int_equal(snw_robot_field(r, "magnet", above, &factor, B, &err), SNW_OK);
    assert_near(factor, 1, 0);
    assert_near(B[2], 2 * 1e-7 * 0.1 / pow(0.05, 3), 1e-17);
    assert_int_equal(snw_robot_field(r, "magnet", beside, NULL, B, &err), SNW_OK);
    assert_near(B[2], -1e-7 * 0.1 / pow(0.05, 3), 1e-17);
    assert_near(B[0], 0, 1e-20);
    assert_int_equal(snw_robot_field(r, "magnet", NULL, &factor, NULL, &err), SNW_OK);
    snw_robot_close(r);
}

static void mistakes_are_refused_by_name(void **state) {
    (void)state;
    snw_robot *r = opened(finger);
    snw_error err = {0};
    double B[3];
    snw_robot_steps how = snw_robot_steps_defaults(2e-3);
    assert_int_equal(snw_robot_set_field(r, "coil", 1, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no field 'coil', the robot has 2"));
    assert_int_equal(snw_robot_set_field(r, "coils", NAN, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_field(r, "coils", NULL, NULL, B, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_set_field(NULL, "coils", 1, &err), SNW_E_ARGUMENT);
    how.scheme = "conserving";
    if (snw_robot_start(r, &how, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_robot_set_field(r, "coils", 2, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "scheme 'conserving' keeps the energy of field 'coils'"));
    snw_robot_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_factor_acts_as_in_the_law),
        cmocka_unit_test(fields_have_values_at_places),
        cmocka_unit_test(mistakes_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
