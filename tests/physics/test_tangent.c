// SPDX-License-Identifier: MIT
//
// The tangent is the derivative of the residual, on random rods.
#include "random_rod.h"
#include "tangent_rig.h"

enum { ROBOTS = 24 };

// a robot, its state and its inputs at random; checked
static void check_random(dice *d, snw_joint_kind joint, bool moving) {
    robot r;
    rig g;
    robot_random(&r, d, joint, moving);
    rig_open(&g, &r.desc);
    state_random(g.m, d, g.s);
    snw_inputs_at(g.m, g.s->t, g.in);
    rig_check(&g);
    rig_close(&g);
    robot_free(&r);
}

static void tangent_equals_differences_clamped(void **state) {
    (void)state;
    dice d = {1};
    for (int i = 0; i < ROBOTS; i++) check_random(&d, SNW_JOINT_FIXED, false);
}

static void tangent_equals_differences_on_a_moving_base(void **state) {
    (void)state;
    dice d = {2};
    for (int i = 0; i < ROBOTS; i++) check_random(&d, SNW_JOINT_FIXED, true);
}

static void tangent_equals_differences_free(void **state) {
    (void)state;
    dice d = {3};
    for (int i = 0; i < ROBOTS; i++) check_random(&d, SNW_JOINT_FREE, i % 2 == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangent_equals_differences_clamped),
        cmocka_unit_test(tangent_equals_differences_on_a_moving_base),
        cmocka_unit_test(tangent_equals_differences_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
