// SPDX-License-Identifier: MIT
//
// Robots on a graphics processor, by its program on the host: motions are those of robots stepped
// alone; a robot does not feel the others; robots that fail say why and stay; what the device does
// not compute is refused by name.
#include "sinew/sinew.h"

#include "base/alloc.h"
#include "gpu/device_cache.h"
#include "near.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATERIAL                                                                                   \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}\n"           \
    "robot:\n"
#define ARM "length: 0.3 m, section: {circle: {radius: 10 mm}}, material: rubber"

// a rod; a tree with a joint of each kind, springs, loads and active stress; tendons and a chamber;
// a loop, a driven joint and a spring between sites; a swimmer; a rod of variable length
static const char *const models[] = {
    MATERIAL "  arm: {on: world, rod: {" ARM ", nodes: 8, strain: kirchhoff legendre 3}}\n",
    MATERIAL
    "  base: {on: world, joint: free, body: {mass: 0.2, box: [5 cm, 5 cm, 5 cm]}}\n"
    "  hip: {on: base, joint: spherical, stiffness: 0.1 N*m, damping: 1 mN*m*s,\n"
    "        body: {mass: 0.1, box: [4 cm, 5 cm, 5 cm]}}\n"
    "  arm: {on: hip, rod: {" ARM ", nodes: 5, strain: kirchhoff legendre 2}}\n"
    "  knee: {on: arm.tip, joint: revolute, axis: y, stiffness: 0.1 N*m, damping: 1 mN*m*s,\n"
    "         body: {mass: 0.05, box: [3 cm, 3 cm, 3 cm]}}\n"
    "  nut: {on: base, joint: screw, axis: z, pitch: 5 mm, stiffness: 0.1 N*m, damping: 1 mN*m*s,\n"
    "        body: {mass: 0.05, box: [3 cm, 3 cm, 3 cm]}}\n"
    "loads:\n"
    "  push: {on: knee, force: [0, 0.1*sin(20*t), 0]}\n"
    "actuators: {muscle: {stress: {along: arm, bend_y: 5 mN*m*sin(50*t)}}}\n",
    MATERIAL "  arm: {on: world, rod: {" ARM ", nodes: 6, strain: kirchhoff legendre 2}}\n"
             "actuators:\n"
             "  pull: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.2 N*sin(30*t)}\n"
             "  other: {tendon: {along: arm, at: [0, 7 mm, 0]}, effort: 0}\n"
             "  air: {chamber: {along: arm, at: [0, 0, -5 mm], area: 20 mm^2}, pressure: 2 "
             "kPa*sin(20*t)}\n",
    MATERIAL
    "  crank: {on: world, joint: revolute, axis: y, body: {mass: 0.1, box: [20 cm, 2 cm, 2 "
    "cm]}}\n"
    "  arm: {on: crank, pose: {xyz: [0.2, 0, 0]}, joint: spherical, rod: {" ARM
    ", nodes: 6, strain: kirchhoff legendre 2}}\n"
    "  slider: {on: world, pose: {xyz: [0.5, 0, 0]}, joint: prismatic, axis: x,\n"
    "           body: {mass: 0.1, box: [5 cm, 5 cm, 5 cm]}}\n"
    "loops: {close: {join: [arm.tip, slider], as: spherical}}\n"
    "actuators: {motor: {joint: crank, position: 0.05*(1 - cos(10*t))}}\n"
    "springs: {one: {spring: [arm.tip, {xyz: [0, 0, 0.2 m]}], rest: 0.2 m,\n"
    "                stiffness: 3 N/m, damping: 0.1 N*s/m}}\n",
    MATERIAL
    "  arm: {on: world, joint: free, rod: {" ARM ", nodes: 6, strain: kirchhoff legendre 2}}\n"
    "fluid: {water: {on: arm, density: 1000, added: auto, drag: {normal: 1, tangent: 0.01}}}\n",
    MATERIAL "  arm: {on: world, rod: {" ARM ", nodes: 6, strain: kirchhoff legendre 2}}\n"
             "actuators: {feed: {feed: arm, position: 0.3 m + 2 cm*sin(10*t)}}\n"};
enum { MODELS = sizeof models / sizeof *models, N = 3 };

static snw_error err;

static void expect_ok(snw_status s) {
    if (s != SNW_OK) fail_msg("%s", err.text);
}

static snw_robot_model *open_model(const char *text) {
    snw_robot_model *m = NULL;
    expect_ok(snw_robot_model_parse("device", text, strlen(text), NULL, 0, NULL, &m, &err));
    return m;
}

// velocity k of robot i
static double number(int i, int k) { return 0.3 * sin(1.7 * i + 2.3 * k + 0.4 * i * k); }

static snw_device_batch *open_batch(snw_robot_model *m, int n) {
    snw_device_batch *b;
    expect_ok(snw_device_batch_create(m, n, "host", &b, &err));
    return b;
}

// On the device "host" arrays are those of this process.
static void set_velocities(snw_device_batch *b) {
    const int n = snw_device_batch_size(b);
    for (int k = 0; k < snw_device_batch_nv(b); k++) {
        for (int i = 0; i < n; i++) snw_device_batch_v(b)[k * n + i] = number(i, k);
    }
}

// ---- motion -------------------------------------------------------------------------------------

static void compare_motion(const char *text, const char *scheme) {
    const double h = 5e-3;
    const int steps = 60;
    snw_robot_model *m = open_model(text);
    snw_device_batch *b = open_batch(m, N);
    snw_robot_steps how = snw_robot_steps_defaults(h);
    how.scheme = scheme;
    const int nq = snw_device_batch_nq(b), nv = snw_device_batch_nv(b);
    set_velocities(b);
    expect_ok(snw_device_batch_start(b, &how, NULL, &err));
    expect_ok(snw_device_batch_step(b, h, steps / 2, &err));
    expect_ok(snw_device_batch_step(b, h, steps - steps / 2, &err));
    assert_near(snw_device_batch_time(b), steps * h, 1e-12);
    for (int i = 0; i < N; i++) {
        snw_robot *r;
        assert_int_equal(snw_device_batch_status(b)[i], 0);
        expect_ok(snw_robot_from_model(m, &r, &err));
        for (int k = 0; k < nv; k++) snw_robot_v(r)[k] = number(i, k);
        expect_ok(snw_robot_start(r, &how, &err));
        expect_ok(snw_robot_advance(r, h, steps, NULL, &err));
        // both solve each step to 1e-10 of typical forces; errors of 60 steps add up. Steps of
        // these models create no energy, where robots alone would shorten them
        for (int k = 0; k < nq; k++)
            assert_near(snw_device_batch_q(b)[k * N + i], snw_robot_q(r)[k], 1e-8);
        for (int k = 0; k < nv; k++)
            assert_near(snw_device_batch_v(b)[k * N + i], snw_robot_v(r)[k], 1e-6);
        snw_robot_close(r);
    }
    snw_device_batch_close(b);
    snw_robot_model_close(m);
}

// robots on the device move as robots stepped alone, by each family of schemes
static void motion_is_that_of_robots_alone(void **state) {
    (void)state;
    for (int i = 0; i < MODELS; i++) compare_motion(models[i], NULL);
    compare_motion(models[0], "bdf2");
    compare_motion(models[3], "trapezoidal");
}

// open loops are closed at a start, and driven coordinates become those of their laws
static void starts_close_loops(void **state) {
    (void)state;
    const snw_robot_steps how = snw_robot_steps_defaults(1e-3);
    snw_robot_model *m = open_model(models[3]);
    snw_device_batch *b = open_batch(m, N);
    const int nq = snw_device_batch_nq(b);
    double *q = snw_device_batch_q(b);
    double closed[40];
    assert_true(nq <= 40);
    for (int k = 0; k < nq; k++) closed[k] = q[k * N];
    q[(nq - 1) * N + 1] += 0.01; // the slider of robot 1
    q[1] += 0.05;                // the driven joint of robot 1
    expect_ok(snw_device_batch_start(b, &how, NULL, &err));
    assert_int_equal(snw_device_batch_status(b)[1], 0);
    assert_near(q[1], 0, 1e-12);
    double moved = 0;
    for (int k = 0; k < nq; k++) {
        assert_near(q[k * N], closed[k], 1e-9);
        moved = fmax(moved, fabs(q[k * N + 1] - closed[k]));
    }
    assert_true(moved > 1e-4 && moved < 0.5);
    snw_robot *r; // a robot alone, from the closed configuration, finds it closed
    expect_ok(snw_robot_from_model(m, &r, &err));
    for (int k = 0; k < nq; k++) snw_robot_q(r)[k] = q[k * N + 1];
    expect_ok(snw_robot_start(r, &how, &err));
    for (int k = 0; k < nq; k++) assert_near(snw_robot_q(r)[k], q[k * N + 1], 1e-9);
    snw_robot_close(r);
    snw_device_batch_close(b);
    snw_robot_model_close(m);
}

// a robot alone and among others has the same motion to the last bit
static void robots_do_not_feel_each_other(void **state) {
    (void)state;
    const double h = 5e-3;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    snw_robot_model *m = open_model(models[0]);
    snw_device_batch *many = open_batch(m, N), *one = open_batch(m, 1);
    const int nq = snw_device_batch_nq(one), nv = snw_device_batch_nv(one);
    set_velocities(many);
    snw_device_batch_v(many)[0] = NAN; // robot 0
    for (int k = 0; k < nv; k++) snw_device_batch_v(one)[k] = number(1, k);
    expect_ok(snw_device_batch_start(many, &how, NULL, &err));
    expect_ok(snw_device_batch_start(one, &how, NULL, &err));
    expect_ok(snw_device_batch_step(many, h, 20, &err));
    expect_ok(snw_device_batch_step(one, h, 20, &err));
    for (int k = 0; k < nq; k++)
        assert_true(snw_device_batch_q(many)[k * N + 1] == snw_device_batch_q(one)[k]);
    // the robot that is not a number says so, and steps again after a start
    assert_string_equal(snw_device_batch_status_text(snw_device_batch_status(many)[0]),
                        "a number of its state, or a force, is not finite");
    snw_device_batch_counts counts;
    expect_ok(snw_device_batch_count(many, &counts, &err));
    assert_int_equal(counts.failed, 1);
    assert_true(counts.iterations > 0 && counts.tangents > 0);
    for (int k = 0; k < nq; k++) snw_device_batch_q(many)[k * N] = 0;
    for (int k = 0; k < nv; k++) snw_device_batch_v(many)[k * N] = 0;
    const unsigned char at[N] = {1, 0, 0};
    expect_ok(snw_device_batch_restart(many, at, &err));
    expect_ok(snw_device_batch_step(many, h, 1, &err));
    assert_int_equal(snw_device_batch_status(many)[0], 0);
    snw_device_batch_close(one);
    snw_device_batch_close(many);
    snw_robot_model_close(m);
}

// inputs that the caller takes over act as those of robots alone, and others keep their laws
static void inputs_act_as_on_robots(void **state) {
    (void)state;
    const double h = 2e-3;
    const int steps = 40;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    snw_robot_model *m = open_model(models[2]);
    snw_device_batch *b = open_batch(m, N);
    const int nq = snw_device_batch_nq(b);
    expect_ok(snw_device_batch_take(b, 1, 1, &err));
    for (int i = 0; i < N; i++) snw_device_batch_u(b)[1 * N + i] = 0.2 * i;
    expect_ok(snw_device_batch_start(b, &how, NULL, &err));
    expect_ok(snw_device_batch_step(b, h, steps, &err));
    for (int i = 0; i < N; i++) {
        snw_robot *r;
        const double effort = 0.2 * i;
        expect_ok(snw_robot_from_model(m, &r, &err));
        expect_ok(snw_robot_set_effort(r, 1, &effort, &err));
        expect_ok(snw_robot_start(r, &how, &err));
        expect_ok(snw_robot_advance(r, h, steps, NULL, &err));
        assert_int_equal(snw_device_batch_status(b)[i], 0);
        for (int k = 0; k < nq; k++)
            assert_near(snw_device_batch_q(b)[k * N + i], snw_robot_q(r)[k], 1e-8);
        // and so are points
        double *point, want[3];
        const int node = snw_robot_nodes(r) - 1;
        expect_ok(snw_device_batch_set_points(b, 1, &node, NULL, &point, &err));
        expect_ok(snw_device_batch_update_points(b, &err));
        expect_ok(snw_robot_node(r, node, want));
        for (int k = 0; k < 3; k++) assert_near(point[k * N + i], want[k], 1e-8);
        snw_robot_close(r);
    }
    snw_device_batch_close(b);
    snw_robot_model_close(m);
}

// each robot moves as one alone with its numbers, also where laws and loads follow from them
static void robots_have_own_numbers(void **state) {
    (void)state;
    const double h = 2e-3;
    const int steps = 30;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    snw_robot_model *m = open_model(
        MATERIAL "  arm: {on: world, rod: {" ARM ", nodes: 6, strain: kirchhoff legendre "
                 "2}}\n"
                 "parameters: {a: 0.1, s: 0.2}\n"
                 "loads: {wind: {along: arm, force: [0, a*sin(30*t), 0]}}\n"
                 "actuators: {muscle: {stress: {along: arm, bend_y: s*sin(50*t)}}}\n");
    const char *const set[N][3] = {
        {"rubber.young=0.8 MPa", "arm.rod.length=0.28 m", "a=0.3 N/m"},
        {"rubber.young=1 MPa", "arm.rod.length=0.3 m", "s=5 mN*m"},
        {"rubber.young=1.4 MPa", "arm.rod.section.circle.radius=9 mm", "rubber.density=900"}};
    snw_device_batch *b = open_batch(m, N);
    const int nq = snw_device_batch_nq(b);
    for (int i = 0; i < N; i++) expect_ok(snw_device_batch_set_parameters(b, i, 3, set[i], &err));
    expect_ok(snw_device_batch_start(b, &how, NULL, &err));
    expect_ok(snw_device_batch_step(b, h, steps, &err));
    for (int i = 0; i < N; i++) {
        snw_robot *r;
        expect_ok(snw_robot_from_model(m, &r, &err));
        expect_ok(snw_robot_set_parameters(r, 3, set[i], &err));
        expect_ok(snw_robot_start(r, &how, &err));
        expect_ok(snw_robot_advance(r, h, steps, NULL, &err));
        assert_int_equal(snw_device_batch_status(b)[i], 0);
        for (int k = 0; k < nq; k++)
            assert_near(snw_device_batch_q(b)[k * N + i], snw_robot_q(r)[k], 1e-8);
        snw_robot_close(r);
    }
    const char *const other = "rubber.young=1.1 MPa", *const nodes = "arm.rod.nodes=7";
    expect_ok(snw_device_batch_set_parameters(b, 1, 1, &other, &err));
    assert_string_equal(snw_device_batch_status_text(snw_device_batch_status(b)[1]),
                        "it has not been started");
    assert_int_equal(snw_device_batch_status(b)[0], 0);
    assert_int_not_equal(snw_device_batch_set_parameters(b, 1, 1, &nodes, &err), SNW_OK);
    assert_int_not_equal(snw_device_batch_set_parameters(b, N, 1, &other, &err), SNW_OK);
    snw_device_batch_close(b);
    snw_robot_model_close(m);
}

// inputs of each step in one call act as those set before each of several calls; robots begin
// again where they began, or where the caller says
static void steps_have_own_inputs(void **state) {
    (void)state;
    enum { STEPS = 6 };
    const double h = 2e-3;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    snw_robot_model *m = open_model(models[2]);
    snw_device_batch *b = open_batch(m, N), *one = open_batch(m, N);
    const int nq = snw_device_batch_nq(b), nu = snw_device_batch_inputs(b);
    double *u = calloc((size_t)(STEPS * nu * N), sizeof *u);
    assert_non_null(u);
    for (int k = 0; k < STEPS; k++) {
        for (int i = 0; i < N; i++) u[(k * nu + 1) * N + i] = 0.1 * i + 0.02 * k * k;
    }
    snw_device_batch *const both[] = {b, one};
    for (int k = 0; k < 2; k++) {
        expect_ok(snw_device_batch_take(both[k], 1, 1, &err));
        expect_ok(snw_device_batch_start(both[k], &how, NULL, &err));
        expect_ok(snw_device_batch_set_stream(both[k], NULL, &err));
        expect_ok(snw_device_batch_order(both[k], NULL, 1, &err));
    }
    expect_ok(snw_device_batch_step_inputs(b, h, STEPS, u, &err));
    for (int k = 0; k < STEPS; k++) {
        memcpy(snw_device_batch_u(one), u + k * nu * N, (size_t)(nu * N) * sizeof *u);
        expect_ok(snw_device_batch_step(one, h, 1, &err));
    }
    for (int k = 0; k < nq * N; k++)
        assert_true(snw_device_batch_q(b)[k] == snw_device_batch_q(one)[k]);
    snw_device_batch_u(b)[1 * N + 2] = NAN;
    expect_ok(snw_device_batch_step(b, h, 1, &err));
    assert_string_equal(snw_device_batch_status_text(snw_device_batch_status(b)[2]),
                        "a number of its state, or a force, is not finite");
    snw_device_batch_u(b)[1 * N + 2] = 0;
    snw_device_batch_home(b)[2] = 0.125;
    expect_ok(snw_device_batch_reset(b, NULL, 1, &err));
    assert_true(snw_device_batch_q(b)[2] == 0.125);
    assert_true(snw_device_batch_q(b)[0] != 0); // it has not failed
    assert_int_equal(snw_device_batch_status(b)[2], 0);
    expect_ok(snw_device_batch_reset(b, NULL, 0, &err));
    for (int k = 0; k < nq * N; k++)
        assert_true(snw_device_batch_q(b)[k] == snw_device_batch_home(b)[k]);
    free(u);
    snw_device_batch_close(one);
    snw_device_batch_close(b);
    snw_robot_model_close(m);
}

// ---- laws ---------------------------------------------------------------------------------------

// a loaded joint, tendons and a muscle whose laws read poses, velocities, strains, coordinates,
// tendons, integrals and a state; and laws of time and of the place alone, a pose among them
#define FEEDBACK                                                                                   \
    "parameters: {k: 0.2 N*m}\n"                                                                   \
    "probes:\n"                                                                                    \
    "  turn: {angle: hub}\n"                                                                       \
    "  rate: {rate: hub}\n"                                                                        \
    "  tip: {position: arm.tip}\n"                                                                 \
    "  middle: {velocity: arm@40%, in: body}\n"                                                    \
    "  spin: {twist: arm.tip}\n"                                                                   \
    "  gauge: {strain: arm@30%}\n"                                                                 \
    "  cord: {length: pull}\n"                                                                     \
    "states: {p: {initial: 0.1, rate: (turn - p)/(20 ms)}}\n"                                      \
    "loads:\n"                                                                                     \
    "  push: {on: arm.tip, force: [0, -0.4 N*(tip.y/(1 m) + p), 0.05 N*sin(20*t)*spin.wz*(1 "      \
    "s)]}\n"                                                                                       \
    "  wind: {along: arm, force: [0, \"0.2 N/m*linear(t, 20 ms, 90 ms)*x/L\", -0.1 "               \
    "N*s/m^2*middle.vz]}\n"                                                                        \
    "actuators:\n"                                                                                 \
    "  motor: {joint: hub, effort: -k*turn - 5 mN*m*s*rate - 0.1 N*m/s*integral(turn)}\n"          \
    "  pull: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.2 N - 1 N/m*(cord - 0.3 m)}\n"     \
    "  muscle: {stress: {along: arm, bend_z: -2 mN*m^2*gauge.bend_z*(1 - x/L)}}\n"
static const char *const law_models[] = {
    MATERIAL "  hub: {on: world, joint: revolute, axis: z, body: {mass: 50 g, box: [4 cm, 4 cm, 4 "
             "cm]}}\n"
             "  arm: {on: hub, rod: {" ARM ", nodes: 6, strain: kirchhoff legendre 2}}\n" FEEDBACK,
    MATERIAL
    "  arm: {on: world, pose: {xyz: [0, 0.01 m*sin(30*t), 0], axis: y, angle: 0.2*sin(25*t)}"
    ", rod: {" ARM ", nodes: 6, strain: kirchhoff legendre 3}}\n"
    "parameters: {s: 6 mN*m}\n"
    "loads: {wind: {along: arm, force: [0, \"0.2 N/m*ramp(t, 20 ms, 0.1 s)*x/L\", 0]}}\n"
    "actuators: {muscle: {stress: {along: arm, bend_y: \"s*step(t, 52 ms)\"}}}\n",
    // rates that are given, one of them constant, which steps that a sudden load cuts integrate
    MATERIAL
    "  hub: {on: world, joint: revolute, axis: z, body: {mass: 50 g, box: [4 cm, 4 "
    "cm, 4 "
    "cm]}}\n"
    "  nut: {on: hub, joint: revolute, axis: x, body: {mass: 50 g, box: [4 cm, 4 cm, 4 cm]}}\n"
    "  arm: {on: nut, rod: {" ARM ", nodes: 6, strain: kirchhoff legendre 2}}\n"
    "initial: {hub: 0.2}\n"
    "loads: {push: {on: arm.tip, force: [0, \"0.3 N*step(t, 52 ms)\", 0]}}\n"
    "actuators: {turn: {joint: hub, rate: 3*sin(20*t)*exp(-t)}, spin: {joint: nut, rate: 1.5}}\n"};

// a motor that obeys a computer, which reads joints, poses, strains and a tendon every 20 ms, and a
// push that is let go for good when the tip has gone far enough
static const char *const memory_model =
    MATERIAL "  hub: {on: world, joint: revolute, axis: z, body: {mass: 50 g, box: [4 cm, 4 cm, 4 "
             "cm]}}\n"
             "  arm: {on: hub, rod: {" ARM ", nodes: 6, strain: kirchhoff legendre 2}}\n"
             "probes: {turn: {angle: hub}, tip: {position: arm.tip}, gauge: {strain: arm@30%},\n"
             "         cord: {length: pull}, spin: {rotation: arm@50%}}\n"
             "loads: {push: {on: arm.tip, force: [0, \"if(once(tip.y > 8 mm), -0.02 N, 0.1 N)\", "
             "0]}}\n"
             "actuators:\n"
             "  motor: {joint: hub, effort: \"sampled(-0.05 N*m*turn - 2 mN*m^2*gauge.bend_z + "
             "0.1 N*(cord - 0.3 m) - 5 mN*m*spin.rz, 20 ms)\"}\n"
             "  pull: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.1 N*sin(20*t)}\n";

// laws of time and laws that read signals, evaluated on the device, make the motion that they make
// alone, also where sudden ones need shorter steps
static void laws_act_as_on_robots(void **state) {
    (void)state;
    compare_motion(law_models[0], NULL);
    compare_motion(law_models[0], "bdf2");
    compare_motion(law_models[1], NULL);
    compare_motion(law_models[2], NULL);
}

// samples and latches change at the ends of steps, and the motion starts again where they do
static void samples_and_latches_act_as_on_robots(void **state) {
    (void)state;
    compare_motion(memory_model, NULL);
    compare_motion(memory_model, "trapezoidal");
}

// each robot has its own numbers in laws of both kinds; a law that loses its operations is refused
static void robots_have_own_numbers_in_laws(void **state) {
    (void)state;
    const double h = 2e-3;
    const int steps = 30;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    const char *const set[2][N] = {{"k=0.1 N*m", "k=0.25 N*m", "k=0.4 N*m"},
                                   {"s=2 mN*m", "s=4 mN*m", "s=9 mN*m"}};
    for (int k = 0; k < 2; k++) {
        snw_robot_model *m = open_model(law_models[k]);
        snw_device_batch *b = open_batch(m, N);
        const int nq = snw_device_batch_nq(b), nv = snw_device_batch_nv(b);
        for (int i = 0; i < N; i++)
            expect_ok(snw_device_batch_set_parameters(b, i, 1, &set[k][i], &err));
        set_velocities(b);
        expect_ok(snw_device_batch_start(b, &how, NULL, &err));
        expect_ok(snw_device_batch_step(b, h, steps, &err));
        for (int i = 0; i < N; i++) {
            snw_robot *r;
            expect_ok(snw_robot_from_model(m, &r, &err));
            expect_ok(snw_robot_set_parameters(r, 1, &set[k][i], &err));
            for (int j = 0; j < nv; j++) snw_robot_v(r)[j] = number(i, j);
            expect_ok(snw_robot_start(r, &how, &err));
            expect_ok(snw_robot_advance(r, h, steps, NULL, &err));
            assert_int_equal(snw_device_batch_status(b)[i], 0);
            for (int j = 0; j < nq; j++)
                assert_near(snw_device_batch_q(b)[j * N + i], snw_robot_q(r)[j], 1e-8);
            snw_robot_close(r);
        }
        snw_device_batch_close(b);
        snw_robot_model_close(m);
    }
    const char *const none = "s=0 N*m";
    snw_robot_model *m = open_model(law_models[1]);
    snw_device_batch *b = open_batch(m, 1);
    const snw_status s = snw_device_batch_set_parameters(b, 0, 1, &none, &err);
    if (s != SNW_OK) assert_non_null(strstr(err.text, "operations of a law"));
    snw_device_batch_close(b);
    snw_robot_model_close(m);
}

// an actuator whose law reads signals obeys the caller instead, and then its law again
static void laws_are_taken_over(void **state) {
    (void)state;
    const double h = 2e-3, effort = 0.03;
    const int steps = 20;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    snw_robot_model *m = open_model(law_models[0]);
    snw_device_batch *b = open_batch(m, 1);
    const int nq = snw_device_batch_nq(b);
    snw_robot *r;
    expect_ok(snw_device_batch_take(b, 0, 1, &err));
    snw_device_batch_u(b)[0] = effort;
    expect_ok(snw_device_batch_start(b, &how, NULL, &err));
    expect_ok(snw_device_batch_step(b, h, steps, &err));
    expect_ok(snw_robot_from_model(m, &r, &err));
    expect_ok(snw_robot_set_effort(r, 0, &effort, &err));
    expect_ok(snw_robot_start(r, &how, &err));
    expect_ok(snw_robot_advance(r, h, steps, NULL, &err));
    for (int k = 0; k < nq; k++) assert_near(snw_device_batch_q(b)[k], snw_robot_q(r)[k], 1e-8);
    snw_robot_close(r);
    snw_device_batch_close(b);
    b = open_batch(m, 1);
    snw_device_batch *never = open_batch(m, 1);
    expect_ok(snw_device_batch_take(b, 0, 1, &err));
    expect_ok(snw_device_batch_take(b, 0, 0, &err));
    expect_ok(snw_device_batch_start(b, &how, NULL, &err));
    expect_ok(snw_device_batch_start(never, &how, NULL, &err));
    expect_ok(snw_device_batch_step(b, h, steps, &err));
    expect_ok(snw_device_batch_step(never, h, steps, &err));
    for (int k = 0; k < nq; k++)
        assert_true(snw_device_batch_q(b)[k] == snw_device_batch_q(never)[k]);
    snw_device_batch_close(never);
    snw_device_batch_close(b);
    snw_robot_model_close(m);
}

// a law that asks for what is not possible, more than the whole length of a tendon, stops the robot
static void impossible_laws_are_told(void **state) {
    (void)state;
    const double h = 2e-3;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    snw_robot_model *m = open_model(
        MATERIAL "  arm: {on: world, rod: {" ARM ", nodes: 6, strain: cosserat legendre 2}}\n"
                 "actuators: {pull: {tendon: {along: arm, at: [0, 0, 7 mm]}, shortening: \"0.4 "
                 "m*step(t, 5 ms)\"}}\n");
    snw_device_batch *b = open_batch(m, 1);
    expect_ok(snw_device_batch_start(b, &how, NULL, &err));
    expect_ok(snw_device_batch_step(b, h, 2, &err));
    assert_int_equal(snw_device_batch_status(b)[0], 0);
    expect_ok(snw_device_batch_step(b, h, 1, &err));
    assert_string_equal(snw_device_batch_status_text(snw_device_batch_status(b)[0]),
                        "a number of its state, or a force, is not finite");
    snw_device_batch_close(b);
    snw_robot_model_close(m);
}

// ---- probes -------------------------------------------------------------------------------------

// probes on the device, also at the end of each of several steps in one call, are those of robots
static void probes_are_those_of_robots(void **state) {
    (void)state;
    enum { STEPS = 4, MOST = 40 };
    static const char *const all[] = {"turn", "tip",  "middle", "spin",  "gauge",
                                      "cord", "rate", "frame",  "shape", "own"};
    static const int size[] = {1, 3, 3, 6, 6, 1, 1, 4 + 3 + 9 + 3, 3 * 3, 1};
    const double h = 2e-3;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    snw_robot_model *m = open_model(
        MATERIAL "  hub: {on: world, joint: revolute, axis: z, body: {mass: 50 g, box: [4 cm, 4 "
                 "cm, 4 cm]}}\n"
                 "  arm: {on: hub, rod: {" ARM ", nodes: 6, strain: kirchhoff legendre 2}}\n"
                 "actuators: {pull: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.2 "
                 "N*(1 + t/(1 s))}}\n"
                 "probes:\n"
                 "  turn: {angle: hub}\n"
                 "  rate: {rate: hub}\n"
                 "  tip: {position: arm.tip}\n"
                 "  frame: {pose: arm@70%}\n"
                 "  shape: {position: arm, along: 3}\n"
                 "  middle: {velocity: arm@40%, in: body}\n"
                 "  spin: {twist: arm.tip}\n"
                 "  gauge: {strain: arm@30%}\n"
                 "  cord: {length: pull}\n"
                 "  own: {tension: pull}\n"
                 "  e: energy\n");
    enum { PROBES = sizeof all / sizeof *all };
    int columns = 0;
    for (int k = 0; k < PROBES; k++) columns += size[k];
    snw_device_batch *b = open_batch(m, N);
    const int nv = snw_device_batch_nv(b);
    double *now, *each = calloc((size_t)(STEPS * columns * N), sizeof *each), want[MOST];
    assert_non_null(each);
    const char *const energy = "e", *const absent = "no such";
    assert_int_equal(snw_device_batch_set_probes(b, 1, &energy, &now, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "probe 'e' is not read on a device"));
    assert_int_equal(snw_device_batch_set_probes(b, 1, &absent, &now, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_device_batch_update_points(b, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_device_batch_step_probes(b, h, 1, NULL, each, &err), SNW_E_ARGUMENT);
    expect_ok(snw_device_batch_set_probes(b, PROBES, all, &now, &err));
    assert_int_equal(snw_device_batch_columns(b), columns);
    set_velocities(b);
    snw_device_batch_v(b)[2] = NAN; // robot 2
    expect_ok(snw_device_batch_start(b, &how, NULL, &err));
    expect_ok(snw_device_batch_step_probes(b, h, STEPS, NULL, each, &err));
    expect_ok(snw_device_batch_update_points(b, &err));
    for (int i = 0; i < N - 1; i++) {
        snw_robot *r;
        expect_ok(snw_robot_from_model(m, &r, &err));
        for (int k = 0; k < nv; k++) snw_robot_v(r)[k] = number(i, k);
        expect_ok(snw_robot_start(r, &how, &err));
        for (int k = 0; k < STEPS; k++) {
            expect_ok(snw_robot_step(r, h, &err));
            int at = 0;
            for (int p = 0; p < PROBES; p++) {
                assert_int_equal(snw_robot_probe(r, all[p], MOST, want), size[p]);
                for (int c = 0; c < size[p]; c++, at++)
                    assert_near(each[(k * columns + at) * N + i], want[c], 1e-7);
            }
        }
        for (int c = 0; c < columns; c++)
            assert_true(now[c * N + i] == each[((STEPS - 1) * columns + c) * N + i]);
        snw_robot_close(r);
    }
    free(each);
    snw_device_batch_close(b);
    snw_robot_model_close(m);
}

// ---- single precision ---------------------------------------------------------------------------

static const snw_device_batch_options floats = {.single_precision = 1};

// trees of all parts that it serves move by single precision as by double, to its rounding errors
// times what the motion makes of them; the error is not that of doubles; others are refused
static void single_precision_is_near(void **state) {
    (void)state;
    static const char *const trees[] = {"rod", "tree", "tendons", "laws of time"};
    const char *const text[] = {models[0], models[1], models[2], law_models[1]};
    const double h = 5e-3;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    for (int t = 0; t < 4; t++) {
        snw_robot_model *m = open_model(text[t]);
        snw_device_batch *b = open_batch(m, N), *single;
        expect_ok(snw_device_batch_create_with(m, N, "host", &floats, &single, &err));
        const int nq = snw_device_batch_nq(b);
        set_velocities(b);
        set_velocities(single);
        expect_ok(snw_device_batch_start(b, &how, NULL, &err));
        expect_ok(snw_device_batch_start(single, &how, NULL, &err));
        expect_ok(snw_device_batch_step(b, h, 40, &err));
        expect_ok(snw_device_batch_step(single, h, 40, &err));
        double most = 0, size = 0;
        for (int i = 0; i < N; i++) {
            assert_int_equal(snw_device_batch_status(b)[i], 0);
            if (snw_device_batch_status(single)[i] != 0)
                fail_msg("%s: %s", trees[t],
                         snw_device_batch_status_text(snw_device_batch_status(single)[i]));
        }
        for (int k = 0; k < nq * N; k++) {
            most = fmax(most, fabs(snw_device_batch_q(b)[k] - snw_device_batch_q(single)[k]));
            size = fmax(size, fabs(snw_device_batch_q(b)[k]));
        }
        // 40 steps with errors of 1e-5 of typical forces, and of 2^-24 of the state
        if (!(most < 1e-3 * size)) fail_msg("%s: %g of %g", trees[t], most, size);
        assert_true(most > 1e-9 * size);
        snw_device_batch_close(single);
        snw_device_batch_close(b);
        snw_robot_model_close(m);
    }
    snw_robot_model *m = open_model(models[3]);
    snw_device_batch *b;
    assert_int_equal(snw_device_batch_create_with(m, N, "host", &floats, &b, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "single precision serves trees"));
    snw_robot_model_close(m);
}

// ---- refusals -----------------------------------------------------------------------------------

static void expect_refused(const char *text, const char *device, const char *word) {
    snw_robot_model *m = open_model(text);
    snw_device_batch *b;
    assert_int_not_equal(snw_device_batch_create(m, 2, device, &b, &err), SNW_OK);
    assert_null(b);
    if (!strstr(err.text, word)) fail_msg("'%s' does not say '%s'", err.text, word);
    snw_robot_model_close(m);
}

// models that the device does not compute, and devices that are not there, are refused by name
static void others_are_refused(void **state) {
    (void)state;
    expect_refused(models[0], "gpu", "there is no device 'gpu'");
    expect_refused(models[0], "cuda:x", "there is no device");
    expect_refused(MATERIAL "  arm: {on: world, rod: {" ARM ", strain: kirchhoff legendre 2,\n"
                            "                          integrator: fer 4}}\n",
                   "host", "rules other than magnus");
    expect_refused(MATERIAL "  arm: {on: world, rod: {" ARM ", strain: kirchhoff legendre 2}}\n"
                            "probes: {e: energy, tip: {position: arm.tip}}\n"
                            "loads: {push: {on: arm.tip, force: [0, \"sampled(e.kinetic, 1 ms)/(1 "
                            "m) - tip.y*1 N/(1 m)\", 0]}}\n",
                   "host", "conditions of other than poses");
    snw_robot_model *m = open_model(models[1]);
    snw_device_batch *b = NULL;
    assert_int_equal(snw_device_batch_create(m, INT_MAX, "host", &b, &err), SNW_E_MEMORY);
    assert_non_null(strstr(err.text, "robots of this model"));
    b = open_batch(m, 1);
    assert_int_not_equal(snw_device_batch_step(b, 1e-3, 1, &err), SNW_OK); // not started
    assert_int_not_equal(snw_device_batch_take(b, 0, 1, &err), SNW_OK);    // a muscle
    assert_non_null(strstr(err.text, "muscle"));
    snw_robot_steps how = snw_robot_steps_defaults(1e-3);
    how.scheme = "rk4";
    assert_int_not_equal(snw_device_batch_start(b, &how, NULL, &err), SNW_OK);
    snw_device_batch_close(b);
    snw_robot_model_close(m);
}

// without a driver, or where the driver shows no processor, a batch is refused with the reason
static void missing_processors_are_named(void **state) {
    (void)state;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    assert_int_equal(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0);
    expect_refused(models[0], "cuda",
                   driver ? "graphics processor" : "libcuda.so.1 cannot be loaded");
    expect_refused(models[0], "cuda:7", driver ? "graphics processor" : "the NVIDIA driver");
    if (driver) (void)dlclose(driver);
}

// kernels can be made without a processor; what is missing for it is named
static void kernels_need_no_processor(void **state) {
    (void)state;
    snw_robot_model *m = open_model(models[0]);
    assert_int_equal(snw_device_batch_compile(m, "hopper", NULL, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "there is no architecture 'hopper'"));
    const char *const given = getenv("SINEW_NVRTC");
    char before[PATH_MAX] = "", cache[] = "/tmp/sinew-cache-XXXXXX";
    if (given) (void)snprintf(before, sizeof before, "%s", given);
    assert_non_null(mkdtemp(cache));
    assert_int_equal(setenv("SINEW_NVRTC", "/tmp/no/libnvrtc.so", 1), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", cache, 1), 0);
    assert_int_equal(snw_device_batch_compile(m, "sm_90", NULL, &err), SNW_E_IO);
    assert_non_null(strstr(err.text, "/tmp/no/libnvrtc.so"));
    assert_int_equal(given ? setenv("SINEW_NVRTC", before, 1) : unsetenv("SINEW_NVRTC"), 0);
    char folder[100];
    (void)snprintf(folder, sizeof folder, "%s/sinew", cache);
    assert_true(remove(folder) == 0 && remove(cache) == 0);
    snw_robot_model_close(m);
    m = open_model(models[3]);
    assert_int_equal(snw_device_batch_compile(m, "sm_90", &floats, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "single precision serves trees"));
    snw_robot_model_close(m);
}

// kernels on disk come back as they were; damaged files and other keys do not
static void kernels_are_kept_whole(void **state) {
    (void)state;
    char top[] = "/tmp/sinew_cache_XXXXXX", middle[40], folder[60], path[200];
    assert_non_null(mkdtemp(top));
    (void)snprintf(middle, sizeof middle, "%s/of", top); // created with the folder in it
    (void)snprintf(folder, sizeof folder, "%s/kernels", middle);
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    char text[] = "kernels";
    const snw_device_image image = {text, sizeof text};
    const char *const option[] = {"-a", "-b"};
    const uint64_t key = snw_device_cache_key("text", 2, option);
    assert_true(key != snw_device_cache_key("text", 1, option));
    snw_device_image back = {0};
    assert_false(snw_device_cache_read(key, &back));
    snw_device_cache_write(key, &image);
    assert_true(snw_device_cache_read(key, &back));
    assert_int_equal(back.bytes, sizeof text);
    assert_memory_equal(back.image, text, sizeof text);
    snw_free(back.image);
    (void)snprintf(path, sizeof path, "%s/sinew/kernels-%016llx.cubin", folder,
                   (unsigned long long)key);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, -1, SEEK_END), 0);
    (void)fputc('x', f);
    assert_int_equal(fclose(f), 0);
    assert_false(snw_device_cache_read(key, &back));
    assert_int_equal(remove(path), 0);
    (void)snprintf(path, sizeof path, "%s/sinew", folder);
    assert_int_equal(remove(path), 0);
    assert_true(remove(folder) == 0 && remove(middle) == 0 && remove(top) == 0);
}

int main(void) {
    snw_robot_model *m = open_model(models[0]);
    snw_device_batch *b;
    const snw_status s = snw_device_batch_create(m, 1, "host", &b, &err);
    snw_robot_model_close(m);
    if (s != SNW_OK) { // a build without these batches
        assert_non_null(strstr(err.text, "this build"));
        return 0;
    }
    snw_device_batch_close(b);
    const struct CMUnitTest tests[] = {cmocka_unit_test(motion_is_that_of_robots_alone),
                                       cmocka_unit_test(starts_close_loops),
                                       cmocka_unit_test(robots_do_not_feel_each_other),
                                       cmocka_unit_test(inputs_act_as_on_robots),
                                       cmocka_unit_test(robots_have_own_numbers),
                                       cmocka_unit_test(steps_have_own_inputs),
                                       cmocka_unit_test(laws_act_as_on_robots),
                                       cmocka_unit_test(samples_and_latches_act_as_on_robots),
                                       cmocka_unit_test(robots_have_own_numbers_in_laws),
                                       cmocka_unit_test(laws_are_taken_over),
                                       cmocka_unit_test(impossible_laws_are_told),
                                       cmocka_unit_test(probes_are_those_of_robots),
                                       cmocka_unit_test(single_precision_is_near),
                                       cmocka_unit_test(others_are_refused),
                                       cmocka_unit_test(missing_processors_are_named),
                                       cmocka_unit_test(kernels_need_no_processor),
                                       cmocka_unit_test(kernels_are_kept_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
