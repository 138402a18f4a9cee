// SPDX-License-Identifier: MIT
//
// The drag spring, a spring and a damper between a point of the robot and a target: its tangent
// against differences, motions and equilibria against closed forms, stability, refused arguments
// and checkpoints.
#include "random_tree.h"

#include "sinew/sinew.h"
#include "tangent_rig.h"

#include "opened.h"

// every column of the tangent, for any point the spring is attached to
static void tangent_equals_differences(void **state) {
    (void)state;
    dice d = {41};
    for (int i = 0; i < 12; i++) {
        tree t;
        rig g;
        tree_random(&t, &d, (tree_opts){.nlink = 2 + i % 3, .kind = (tree_kind)(i % 3)});
        rig_open(&g, &t.r.desc);
        bool load_given[8] = {false};
        double activation[8];
        for (int k = 0; k < 8; k++) activation[k] = 1;
        const snw_manual_inputs manual = {.load_given = load_given,
                                          .activation = activation,
                                          .drag_spring = {.seg = 1 + (i * 7) % (g.m->nseg - 1),
                                                          .at = roll_vec3(&d, 0.2),
                                                          .to = roll_vec3(&d, 2),
                                                          .stiffness = roll(&d, 1, 1000),
                                                          .damping = roll(&d, 0, 50)}};
        state_random(g.m, &d, g.s);
        g.in->manual = &manual;
        snw_inputs_at(g.m, g.s->t, g.in);
        rig_check(&g);
        rig_close(&g);
        robot_free(&t.r);
    }
}

// ---- one body -----------------------------------------------------------------------------------

enum { BALL = 1 }; // its node, after that of the joint's frame

static snw_robot *open_body(const char *gravity, const char *scheme, double h) {
    char text[400];
    (void)snprintf(text, sizeof text,
                   "sinew: 1\ngravity: %s\nrobot:\n  ball: {on: world, joint: free, body: {sphere: "
                   "{radius: 0.1}, mass: 2}}\nprobes: {p: {position: ball}, e: energy}\n",
                   gravity);
    snw_robot *r = opened(text);
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(h);
    how.scheme = scheme;
    if (snw_robot_start(r, &how, &err) != SNW_OK) fail_msg("%s", err.text);
    return r;
}

static void go_on(snw_robot *r, int n, double h) {
    snw_error err = {0};
    for (int i = 0; i < n; i++) {
        if (snw_robot_step(r, h, &err) != SNW_OK) fail_msg("%s", err.text);
    }
}

// x = X (1 - exp(-d t) (cos w t + d/w sin w t)), d = c/2m, w^2 = k/m - d^2
static void a_body_oscillates_about_the_target_of_the_drag_spring(void **state) {
    (void)state;
    const double k = 50, c = 3, m = 2, h = 1e-3, X = 0.3;
    const double d = c / (2 * m), w = sqrt(k / m - d * d);
    snw_robot *r = open_body("0", "rk4", h);
    snw_error err = {0};
    const double to[3] = {X, 0, 0};
    assert_int_equal(snw_robot_pull(r, BALL, NULL, to, k, c, &err), SNW_OK);
    for (int i = 1; i <= 8; i++) {
        go_on(r, 100, h);
        const double t = 0.1 * i;
        double p[3];
        snw_robot_node(r, BALL, p);
        assert_near(p[0], X * (1 - exp(-d * t) * (cos(w * t) + d / w * sin(w * t))), 1e-9);
        assert_near(p[1], 0, 1e-12);
    }
    snw_robot_let_go(r); // free motion from here on
    const double v = snw_robot_v(r)[3];
    go_on(r, 100, h);
    assert_near(snw_robot_v(r)[3], v, 1e-12);
    snw_robot_close(r);
}

// m g/k below the target, hanging from a point of its rim
static void a_body_hangs_below_the_target_of_the_drag_spring(void **state) {
    (void)state;
    snw_robot *r = open_body("[0, 0, -9.81]", "generalized-alpha", 1e-2);
    snw_error err = {0};
    const double at[3] = {0.1, 0, 0}, to[3] = {0, 0, 1};
    assert_int_equal(snw_robot_pull(r, BALL, at, to, 100, 20, &err), SNW_OK);
    go_on(r, 6000, 1e-2); // only the damper of the spring dissipates: slow
    double p[3];
    snw_robot_node(r, BALL, p);
    assert_near(p[2], 1 - 0.1 - 2 * 9.81 / 100, 1e-6);
    snw_robot_close(r);
}

// A spring a thousand times faster than the steps resolve is still integrated stably.
static void a_stiff_drag_spring_is_stable(void **state) {
    (void)state;
    static const char *const schemes[] = {"generalized-alpha", "bdf2", "euler"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        snw_robot *r = open_body("0", schemes[i], 1e-2);
        snw_error err = {0};
        const double to[3] = {0.2, -0.1, 0};
        double p[3];
        assert_int_equal(snw_robot_pull(r, BALL, NULL, to, 2e10, 0, &err), SNW_OK);
        go_on(r, 400, 1e-2);
        snw_robot_node(r, BALL, p);
        assert_near(p[0], 0.2, 1e-6);
        assert_near(p[1], -0.1, 1e-6);
        snw_robot_close(r);
    }
}

static void invalid_drag_springs_are_refused(void **state) {
    (void)state;
    snw_robot *r = open_body("0", "generalized-alpha", 1e-2);
    snw_error err = {0};
    const double to[3] = {1, 0, 0}, nowhere[3] = {0, NAN, 0};
    assert_int_equal(snw_robot_pull(r, BALL + 1, NULL, to, 1, 1, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_pull(r, -1, NULL, to, 1, 1, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_pull(r, BALL, nowhere, to, 1, 1, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_pull(r, BALL, NULL, nowhere, 1, 1, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_pull(r, BALL, NULL, to, -1, 1, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_pull(r, BALL, NULL, to, 1, INFINITY, &err), SNW_E_ARGUMENT);
    go_on(r, 3, 1e-2);
    assert_near(snw_robot_v(r)[3], 0, 0); // no force acts
    snw_robot_close(r);
}

// The drag spring is part of the checkpoint: another robot continues from it with the same bits.
static void a_drag_spring_is_saved(void **state) {
    (void)state;
    snw_robot *a = open_body("0", "generalized-alpha", 1e-2);
    snw_robot *b = open_body("0", "generalized-alpha", 1e-2);
    snw_error err = {0};
    const double at[3] = {0, 0.1, 0}, to[3] = {1, 2, 3};
    double *save = malloc(snw_robot_saves(a) * sizeof *save);
    assert_int_equal(snw_robot_pull(a, BALL, at, to, 30, 2, &err), SNW_OK);
    go_on(a, 5, 1e-2);
    snw_robot_save(a, save);
    go_on(a, 5, 1e-2);
    snw_robot_restore(b, save);
    go_on(b, 5, 1e-2);
    for (int i = 0; i < 7; i++) assert_true(snw_robot_q(a)[i] == snw_robot_q(b)[i]);
    free(save);
    snw_robot_close(a);
    snw_robot_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangent_equals_differences),
        cmocka_unit_test(a_body_oscillates_about_the_target_of_the_drag_spring),
        cmocka_unit_test(a_body_hangs_below_the_target_of_the_drag_spring),
        cmocka_unit_test(a_stiff_drag_spring_is_stable),
        cmocka_unit_test(invalid_drag_springs_are_refused),
        cmocka_unit_test(a_drag_spring_is_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
