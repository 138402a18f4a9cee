// SPDX-License-Identifier: MIT
//
// Inverse statics of the public robot: values and multipliers of a small robot, inputs of an
// actuator of several, arguments, what stays on failure, memory.
#include "base/alloc.h"
#include "sinew/sinew.h"

#include "opened.h"

#include <string.h>

// two springs; a rate, which an equilibrium does not have
static const char text[] =
    "sinew: 1\ngravity: 0\nrobot:\n"
    "  a: {on: world, joint: prismatic, axis: x, stiffness: 3, body: {mass: 1}}\n"
    "  b: {on: a, joint: spherical, stiffness: 2, body: {mass: 1, inertia: [1, 2, 3]}}\n"
    "  c: {on: world, joint: revolute, body: {mass: 1, inertia: [1, 1, 1]}}\n"
    "actuators: {push: {joint: a, effort: 1.5}, twist: {joint: b, effort: [0, 0, 0]}, "
    "turn: {joint: c, rate: 1}}\n"
    "probes: {x: {value: a}, frame: {pose: b}}\n";

static const snw_inverse_actuator
    push = {.name = "push", .low = NAN, .high = 2, .rate = NAN, .rest = NAN},
    twist = {.name = "twist", .low = NAN, .high = NAN, .rate = NAN, .rest = NAN};

static void a_slide_and_a_ball_are_posed(void **state) {
    (void)state;
    snw_robot *r = opened(text);
    snw_error err = {0};
    const double half = 0.35, to[7] = {0.5, 0, 0, cos(half), 0, 0, sin(half)};
    const snw_inverse_target frame = {.output = "frame", .n = 7, .value = to, .weight = NAN};
    const snw_inverse_actuator actuator[] = {push, twist};
    snw_inverse_options how = snw_inverse_defaults();
    how.ntarget = 1, how.target = &frame, how.nactuator = 2, how.actuator = actuator;
    snw_inverse_result *found;
    if (snw_robot_solve_inverse(r, &how, &found, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(found->reached, 1);
    assert_int_equal(found->ninput, 4);
    assert_string_equal(found->input[0].name, "push");
    assert_near(found->input[0].value, 1.5, 1e-10);
    assert_near(found->input[0].before, 1.5, 0);
    assert_near(found->input[3].value, 2 * 2 * half, 1e-9);
    assert_near(found->input[1].value, 0, 1e-9);
    assert_near(snw_robot_u(r)[0], 1.5, 1e-10); // the robot has them, and is there
    assert_near(snw_robot_q(r)[0], 0.5, 1e-10);
    assert_near(found->dexterity, 0, 0); // y and z of the frame cannot be changed
    snw_inverse_close(found);
    // beyond a limit: x = 2/3; the distance falls by 1/3 m per N, in lengths of the robot
    const double far[1] = {1};
    const snw_inverse_target x = {.output = "x", .n = 1, .value = far, .weight = 1};
    how.target = &x, how.nactuator = 1;
    assert_int_equal(snw_robot_solve_inverse(r, &how, &found, &err), SNW_OK);
    assert_int_equal(found->reached, 0);
    assert_int_equal(found->input[0].limit, SNW_LIMIT_HIGH);
    assert_near(found->input[0].value, 2, 0);
    assert_near(found->output[0].value, 2.0 / 3, 1e-12);
    assert_near(found->input[0].multiplier, 1.0 / 3, 1e-10);
    assert_near(found->gain[0], 1.0 / 3, 1e-12);
    snw_inverse_close(found);
    // one input of the ball; the others stay
    snw_part part;
    assert_int_equal(snw_robot_model_part(snw_robot_model_of(r), SNW_PART_INPUT, 2, &part), SNW_OK);
    snw_inverse_actuator one = twist;
    one.name = part.name;
    how.actuator = &one;
    const double turned[7] = {2.0 / 3, 0, 0, 1, 0, 0, 0};
    const snw_inverse_target back = {.output = "frame", .n = 7, .value = turned, .weight = NAN};
    how.target = &back;
    assert_int_equal(snw_robot_solve_inverse(r, &how, &found, &err), SNW_OK);
    assert_int_equal(found->ninput, 3);
    assert_near(found->input[2].value, 2 * 2 * half, 1e-9);
    assert_int_equal(found->reached, 0);
    snw_inverse_close(found);
    snw_robot_close(r);
}

static void wrong_arguments_change_nothing(void **state) {
    (void)state;
    snw_robot *r = opened(text);
    snw_error err = {0};
    snw_inverse_result *found = NULL;
    const double value[8] = {0.3, 0, 0, 1, 1, 0, 0, 0}, bad[1] = {NAN};
    snw_inverse_target x = {.output = "x", .n = 1, .value = value, .weight = NAN};
    snw_inverse_actuator a = push;
    snw_inverse_options how = snw_inverse_defaults();
    assert_int_equal(snw_robot_solve_inverse(r, &how, &found, &err), SNW_E_ARGUMENT);
    how.ntarget = 1, how.target = &x, how.nactuator = 1, how.actuator = &a;
    assert_int_equal(snw_robot_solve_inverse(NULL, &how, &found, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_solve_inverse(r, NULL, &found, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_solve_inverse(r, &how, NULL, &err), SNW_E_ARGUMENT);
    const struct {
        const char *output;
        int n;
        const double *value;
        const char *actuator;
        double low, rate;
    } row[] = {{"x", 1, bad, "push", NAN, NAN},       {"x", 2, value, "push", NAN, NAN},
               {"x", 0, value, "push", NAN, NAN},     {"y", 1, value, "push", NAN, NAN},
               {NULL, 1, value, "push", NAN, NAN},    {"x", 1, NULL, "push", NAN, NAN},
               {"x", 1, value, "pull", NAN, NAN},     {"x", 1, value, NULL, NAN, NAN},
               {"x", 1, value, "push", 3, NAN},       {"x", 1, value, "push", NAN, -1},
               {"x", 1, value, "turn", NAN, NAN},     {"frame", 6, value, "push", NAN, NAN},
               {"frame", 7, value, "push", NAN, NAN}, // no unit quaternion
               {"x", 1, value, "push", INFINITY, NAN}};
    const double before = snw_robot_q(r)[0];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        x = (snw_inverse_target){
            .output = row[i].output, .n = row[i].n, .value = row[i].value, .weight = NAN};
        a.name = row[i].actuator, a.low = row[i].low, a.rate = row[i].rate;
        assert_int_equal(snw_robot_solve_inverse(r, &how, &found, &err), SNW_E_ARGUMENT);
        assert_null(found);
        assert_near(snw_robot_q(r)[0], before, 0);
        assert_true(isnan(snw_robot_u(r)[0]));
    }
    snw_inverse_close(NULL);
    snw_robot_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slide_and_a_ball_are_posed),
        cmocka_unit_test(wrong_arguments_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
