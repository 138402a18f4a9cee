// SPDX-License-Identifier: MIT
//
// Gradients through events, theory.md (7.5.12): a load switched by place and a plastic pick-up
// against closed forms in time, motions that end by a condition, and conditions on trees, loops,
// given motions and free bodies against differences of whole runs, with all families of schemes;
// the sweep back equals sensitivities along the run; what is refused.
#include "asked_gradient.h"
#include "sanitized.h"

#include <stdio.h>

// ---- closed forms -------------------------------------------------------------------------------

// x'' = -w^2 x + F [x >= c]: derivative of the end by w, F, c, v_0
static void a_load_switched_by_place(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {w: 2, F: -3 N, c: 0.4 m, v0: 1.5 m/s}\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: w^2*1 N/m, body: {mass: 1 "
        "kg}}}\n"
        "initial: {cart: {rate: v0}}\n"
        "probes: {x: {position: cart}, v: {velocity: cart}}\n"
        "loads: {push: {on: cart, force: [F, 0, 0], when: x.x >= c}}\n"
        "study: [dynamic: {for: 0.7 s, step: 10 ms, scheme: gauss6}]\n";
    static const double x[4] = {-0.24671300404681, 0.082662681467899, 0.87828743075773,
                                0.25851488345883};
    static const double v[4] = {-0.86381536891461, 0.37147393893239, 1.5825633850475,
                                -0.25204975977911};
    static outcome got;
    for (int k = 0; k < 2; k++) {
        answer(&(question){.text = text,
                           .nby = 4,
                           .by = {"w", "F", "c", "v0"},
                           .nof = 2,
                           .of = {"x.x", "v.vx"},
                           .method = k ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT},
               &got);
        assert_near(got.J[0], 0.491099253087648, 1e-12);
        assert_near(got.J[1], -0.859471102446808, 1e-12);
        near_all(4, got.dJ, x, 2e-11);
        near_all(4, got.dJ + 4, v, 2e-11);
    }
}

// A body falls onto another that rests until then, and both go on as one on a spring.
static void a_plastic_pick_up(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {m: 1.5 kg, mb: 0.5 kg, H: 0.8 m, v0: 0.3 m/s, k: 200 N/m, g: 9.81 m/s^2}\n"
        "gravity: [0, 0, -g]\n"
        "robot:\n"
        "  upper: {on: world, joint: prismatic, axis: z, body: {mass: m}}\n"
        "  lower: {on: world, joint: prismatic, axis: z, body: {mass: mb}}\n"
        "initial: {upper: {position: H, rate: -v0}}\n"
        "probes: {y: {position: upper}}\n"
        "loads:\n"
        "  hold: {on: lower, force: [0, 0, mb*g], when: not once(y.z <= 0)}\n"
        "  spring: {on: upper, force: [0, 0, -k*y.z], when: once(y.z <= 0)}\n"
        "loops: {catch: {join: [upper, lower], as: fixed, when: once(y.z <= 0)}}\n"
        "study: [dynamic: {for: 1 s, step: %g ms, scheme: trapezoidal}]\n";
    static const double want[6] = {0.46503045875498,  0.45957063581001,    0.74802022512202,
                                   -0.27802007410305, -0.0046366550301874, -0.051667429163183};
    static outcome got, forward;
    double error[2] = {0};
    for (int i = 0; i < 2; i++) {
        char full[4000];
        (void)snprintf(full, sizeof full, text, i ? 0.5 : 1);
        question q = {.text = full,
                      .nby = 6,
                      .by = {"m", "mb", "H", "v0", "k", "g"},
                      .nof = 1,
                      .of = {"y.z"}};
        answer(&q, &got);
        for (int k = 0; k < 6; k++)
            error[i] = fmax(error[i], fabs(got.dJ[k] - want[k]) / fabs(want[k]));
        q.method = SNW_GRADIENT_FORWARD;
        answer(&q, &forward);
        near_all(6, got.dJ, forward.dJ, 1e-10); // second derivatives of rows are differences
    }
    assert_true(error[1] < 1e-3);
    assert_true(error[0] / error[1] > 3.8 && error[0] / error[1] < 4.2);
}

// ---- differences of whole runs ------------------------------------------------------------------

#define TREE                                                                                       \
    "sinew: 1\n"                                                                                   \
    "parameters: {k: 1.5 N*m, m: 0.5 kg, l: 0.6 m, tau: 2 N*m, level: 0.1 m, at: 0.35 s}\n"        \
    "gravity: [9.81 m/s^2, 0, 0]\n"                                                                \
    "robot:\n"                                                                                     \
    "  upper: {on: world, joint: revolute, axis: z, stiffness: k, damping: 0.05, body: {mass: "    \
    "0.8 "                                                                                         \
    "kg, com: [l, 0, 0]}}\n"                                                                       \
    "  lower: {on: upper, pose: {xyz: [l, 0, 0]}, joint: revolute, axis: z, stiffness: 0.7, "      \
    "damping: 0.02, body: {mass: m, com: [0.4 m, 0, 0]}}\n"                                        \
    "sites: {bob: {on: lower, pose: {xyz: [0.4 m, 0, 0]}}}\n"                                      \
    "initial: {upper: {position: 0.4, rate: 0.5}, lower: {position: -0.3}}\n"                      \
    "probes: {bob: {position: bob}, v: {velocity: bob}, r: {rate: upper}, e: energy}\n"

static const problem problems[] = {
    {"brake below a level, motor by time",
     TREE "actuators: {motor: {joint: upper, effort: tau*sin(5*t/(1 s))}}\n"
          "loads: {brake: {on: lower, torque: [0, 0, -0.3 N*m*s*r], when: bob.y < level}}\n"
          "study: [dynamic: {for: 0.6 s, step: 5 ms, scheme: %s}]\n",
     5,
     4,
     {"k", "m", "l", "tau", "level"},
     {"bob.y", "integral((bob.y - 0.3)^2)", "sum(v.vy^2) + mean(bob.x)", "at(0.3303, bob.y)"}},
    {"end by a condition",
     TREE "actuators: {motor: {joint: upper, effort: tau*sin(5*t/(1 s))}}\n"
          "study: [dynamic: {for: 2 s, step: 5 ms, scheme: %s, until: bob.y < level}]\n",
     5,
     4,
     {"k", "m", "l", "tau", "level"},
     {"v.vy", "integral(bob.x)", "t", "mean(v.vy)"}},
    {"a motion after it",
     TREE
     "actuators: {motor: {joint: upper, effort: tau*sin(5*t/(1 s))}}\n"
     "study: [dynamic: {for: 2 s, step: 5 ms, scheme: %s, until: bob.y < level}, dynamic: {for: "
     "0.2 s, step: 4 ms}]\n",
     5,
     4,
     {"k", "m", "l", "tau", "level"},
     {"v.vy", "integral(bob.x*t)", "t", "mean(v.vy)"}},
    {"condition on an energy",
     TREE "loads: {brake: {on: lower, torque: [0, 0, -0.3 N*m*s*r], when: e.kinetic > 2 J}}\n"
          "study: [dynamic: {for: 0.6 s, step: 5 ms, scheme: %s}]\n",
     3,
     2,
     {"k", "m", "l"},
     {"bob.y", "integral((bob.y - 0.3)^2)"}},
    {"given instant",
     TREE "loads: {brake: {on: lower, torque: [0, 0, -0.3 N*m*s*r], when: t > 0.3501 s and bob.x > "
          "0.2 m}}\n"
          "study: [dynamic: {for: 0.6 s, step: 5 ms, scheme: %s}]\n",
     3,
     2,
     {"k", "m", "l"},
     {"bob.y", "integral((bob.y - 0.3)^2)"}},
    {"latch and two conditions",
     TREE
     "loads: {brake: {on: lower, torque: [0, 0, -0.3 N*m*s*r], when: not once(bob.y < level)}, "
     "push: {on: lower, force: [0, 1 N, 0], when: once(bob.y < level) and bob.y < 0}}\n"
     "study: [dynamic: {for: 1 s, step: 5 ms, scheme: %s}]\n",
     4,
     2,
     {"k", "m", "l", "level"},
     {"bob.y", "integral((bob.y - 0.3)^2)"}},
    {"free body caught by a ball, turning",
     "sinew: 1\n"
     "parameters: {m: 0.7 kg, w: 9 1/s, c: 0.12 m, F: 6 N, u: 1.1 m/s}\n"
     "gravity: [0, 0, -9.81 m/s^2]\n"
     "robot:\n"
     "  body: {on: world, joint: free, body: {mass: m, com: [0.03 m, 0.02 m, 0], inertia: [2e-3, "
     "3e-3, 1e-3]}}\n"
     "sites: {nose: {on: body, pose: {xyz: [0.1 m, 0.02 m, 0.05 m]}}}\n"
     "initial: {body: {twist: [w, 3 1/s, -4 1/s, u, 0.2 m/s, 1 m/s]}}\n"
     "probes: {nose: {position: nose}, v: {velocity: nose}}\n"
     "loads: {jet: {on: nose, force: [0, F, -F], frame: body, when: nose.x > c}}\n"
     "study: [dynamic: {for: 0.25 s, step: 2 ms, scheme: %s}]\n",
     5,
     2,
     {"m", "w", "c", "F", "u"},
     {"nose.y", "integral(nose.z^2 + v.vx)"}},
    {"joint that locks, moving support",
     "sinew: 1\n"
     "parameters: {m: 0.7 kg, k: 3 N*m, c: 0.5, a: 0.05 m, u: 1.1 1/s}\n"
     "gravity: [0, 0, -9.81 m/s^2]\n"
     "robot:\n"
     "  base: {on: world, pose: {xyz: [a*sin(9*t/(1 s)), 0, 0]}}\n"
     "  one: {on: base, joint: revolute, axis: y, stiffness: k, body: {mass: m, com: [0.3 m, 0, "
     "0]}}\n"
     "  two: {on: one, pose: {xyz: [0.3 m, 0, 0]}, joint: revolute, axis: y, stiffness: 1, body: "
     "{mass: 0.4 kg, com: [0.2 m, 0, 0]}}\n"
     "sites: {nose: {on: two, pose: {xyz: [0.2 m, 0, 0]}}}\n"
     "initial: {two: {rate: u}}\n"
     "probes: {nose: {position: nose}, q: {angle: two}}\n"
     "actuators: {lock: {joint: two, position: c, when: once(q >= c)}}\n"
     "study: [dynamic: {for: 0.6 s, step: 2 ms, scheme: %s}]\n",
     5,
     2,
     {"m", "k", "c", "a", "u"},
     {"nose.x", "integral(nose.z^2)"}},
};

// Rows of velocities: two axles on a planar joint, one that locks; a turning free body on a wheel.
static const problem wheels[] = {
    {"two axles",
     "sinew: 1\n"
     "gravity: 0\n"
     "parameters: {l: 0.1 m, I: 1e-3 kg*m^2, tau: 20 mN*m, k: 0.05 N*m, u: 0.3 m/s, c: 0.05}\n"
     "robot:\n"
     "  a: {on: world, joint: planar, body: {mass: 1 kg, com: [0.02 m, 0, 0], inertia: [I, I, "
     "I]}}\n"
     "  b: {on: a, pose: {xyz: [l, 0, 0]}, joint: revolute, stiffness: k, body: {mass: 1.2 kg, "
     "com: "
     "[l, 0, 0], inertia: [I, I, I]}}\n"
     "sites: {second: {on: b, pose: {xyz: [l, 0, 0]}}}\n"
     "actuators: {front: {joint: b, effort: tau*sin(5*t/(1 s))}}\n"
     "loads: {brake: {on: a, force: [-0.2 N*s/m*v.vx, 0, 0], when: q > c}}\n"
     "contacts: {one: {wheel: {on: a, axis: y}}, two: {wheel: {on: second, axis: y}}}\n"
     "initial: {a: {rate: [u, 0, 0]}}\n"
     "study: [dynamic: {for: 0.6 s, step: 5 ms, scheme: %s}]\n"
     "probes: {p: {position: second}, v: {velocity: second}, q: {angle: b}}\n",
     6,
     2,
     {"l", "I", "tau", "k", "u", "c"},
     {"p.y", "integral(v.vx^2 + p.y)"}},
    {"free body on a wheel",
     "sinew: 1\n"
     "gravity: 0\n"
     "parameters: {l: 0.1 m, I: 1e-3 kg*m^2, F: 0.2 N, u: 0.3 m/s, w: 2 1/s}\n"
     "robot: {a: {on: world, joint: free, body: {mass: 1 kg, com: [0.02 m, 0.01 m, 0.03 m], "
     "inertia: "
     "[I, 1.2*I, 0.9*I]}}}\n"
     "sites: {axle: {on: a, pose: {xyz: [l, 0.02 m, 0]}}}\n"
     "loads: {push: {on: a, force: [0, F*cos(7*t/(1 s)), F], frame: body}}\n"
     "contacts: {one: {wheel: {on: axle, axis: y}}}\n"
     "initial: {a: {twist: [1 1/s, w, -1 1/s, u, 0.1 m/s, 0]}}\n"
     "study: [dynamic: {for: 0.4 s, step: 4 ms, scheme: %s}]\n"
     "probes: {p: {position: axle}, v: {velocity: a}}\n",
     5,
     2,
     {"l", "I", "F", "u", "w"},
     {"p.y", "integral(v.vx^2 + p.z)"}},
};

// The same at the stages of collocation, with a given angle and a law with memory.
static const problem driven_wheels = {
    "three axles, one joint given, one controlled",
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters: {l: 0.1 m, I: 1e-3 kg*m^2, amp: 0.4, k: 0.05 N*m, u: 0.3 m/s, ki: 0.6 N*m/s}\n"
    "robot:\n"
    "  a: {on: world, joint: planar, body: {mass: 1 kg, com: [0.02 m, 0, 0], inertia: [I, I, I]}}\n"
    "  b: {on: a, pose: {xyz: [l, 0, 0]}, joint: revolute, body: {mass: 1.2 kg, com: [l, 0, 0], "
    "inertia: [I, I, I]}}\n"
    "  c: {on: b, pose: {xyz: [l, 0, 0]}, joint: revolute, stiffness: k, damping: 2e-3, body: "
    "{mass: 0.8 kg, com: [l, 0, 0], inertia: [I, I, I]}}\n"
    "sites: {last: {on: c, pose: {xyz: [l, 0, 0]}}}\n"
    "actuators:\n"
    "  given: {joint: b, position: amp*(1 - cos(6*t/(1 s)))}\n"
    "  servo: {joint: c, effort: -ki*integral(q + 0.2)}\n"
    "contacts: {one: {wheel: {on: a, axis: y}}, three: {wheel: {on: last, axis: y}}}\n"
    "initial: {a: {rate: [u, 0, 0]}}\n"
    "study: [dynamic: {for: 0.16 s, step: 8 ms, scheme: %s}]\n"
    "probes: {p: {position: last}, v: {velocity: last}, q: {angle: c}}\n",
    6,
    2,
    {"l", "I", "amp", "k", "u", "ki"},
    {"p.y", "integral(v.vx^2 + p.x)"}};

// A loop whose velocities are projected at the ends of undamped steps.
static const problem loop = {
    "slider-crank",
    "sinew: 1\n"
    "parameters: {k: 30 N/m, c: 0.6 N*s/m, m: 0.6 kg, tau: 1.5 N*m, level: 0.6 m}\n"
    "gravity: [0, -9.81 m/s^2, 0]\n" SLIDER_CRANK
    "loads: {push: {on: slider, force: [-4 N, 0, 0], when: at > level}}\n"
    "study: [dynamic: {for: 0.6 s, step: 4 ms, scheme: %s}]\n",
    5,
    2,
    {"k", "c", "m", "tau", "level"},
    {"at", "integral(at^2 + 0.1*v)"}};

static void a_loop_follows_differences(void **state) {
    (void)state;
    // second derivatives of the rows are differences
    follow_differences(&loop, "bdf2", 1e-10);
    follow_differences(&loop, "trapezoidal", 1e-10);
    follow_differences(&loop, "conserving", 1e-10);
}

static void wheels_follow_differences(void **state) {
    (void)state;
    static const char *const scheme[] = {"euler", "bdf2", "generalized-alpha, rho: 0.5"};
    for (size_t i = 0; i < sizeof wheels / sizeof *wheels; i++) {
        for (size_t j = i; j < sizeof scheme / sizeof *scheme; j += AMONG(3, 1))
            follow_differences(&wheels[i], scheme[j], 1e-11);
        // its forces are known to the rounding of energies divided by increments
        follow_differences(&wheels[i], "conserving", 1e-9);
        follow_differences(&wheels[i], i ? "gauss4" : "radau5", 1e-10);
    }
    follow_differences(&driven_wheels, "gauss6", 1e-10);
    follow_differences(&driven_wheels, "radau3", 1e-10);
}

static void conditions_follow_differences(void **state) {
    (void)state;
    static const char *const scheme[] = {
        "euler",  "bdf2",  "trapezoidal", "hht, rho: 0.8", "generalized-alpha, rho: 0.5",
        "gauss4", "radau5"};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        for (size_t j = AMONG(i % 5, 0); j < sizeof scheme / sizeof *scheme; j += AMONG(6, 1)) {
            const problem *p = &problems[i];
            if ((i + j) % 2 == 0) follow_differences(p, scheme[j], 1e-11);
        }
    }
}

// ---- extremes -----------------------------------------------------------------------------------

// x = v_0 sin(w t)/w swings to v_0/w and back
static void extremes(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {w: 2, v0: 1.5 m/s, c: 0.3 m}\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: w^2*1 N/m, body: {mass: 1 "
        "kg}}}\n"
        "initial: {cart: {rate: v0}}\n"
        "probes: {x: {position: cart}, v: {velocity: cart}}\n"
        "study: [dynamic: {for: 1.1 s, step: 1 ms, scheme: gauss6}, dynamic: {for: 1 s, step: 3 "
        "ms, "
        "scheme: bdf2, until: x.x < c}]\n";
    static outcome got, other;
    question q = {.text = text,
                  .nby = 3,
                  .by = {"w", "v0", "c"},
                  .nof = 4,
                  .of = {"max(x.x)", "min(v.vx)^2", "max(x.x*t)", "max(max(x.x), 2)"}};
    answer(&q, &got);
    assert_near(got.J[0], 0.75, 1e-9);
    assert_near(got.dJ[0], -0.375, 1e-6);
    assert_near(got.dJ[1], 0.5, 1e-6);
    assert_near(got.dJ[2], 0, 1e-13);
    const double v = sqrt(1.5 * 1.5 - 4 * 0.3 * 0.3); // at the end, where x = c
    assert_near(got.J[1], v * v, 1e-4);
    assert_near(got.dJ[4], 3, 1e-4);
    assert_near(got.dJ[5], -8 * 0.3, 1e-4);
    assert_near(got.J[3], 2, 0);
    for (int k = 9; k < 12; k++) assert_near(got.dJ[k], 0, 0);
    differences(&q, 1e-5, &other);
    near_all(9, got.dJ, other.dJ, 1e-7);
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &other);
    near_all(12, got.dJ, other.dJ, 1e-10);
}

// ---- memory, refusals ---------------------------------------------------------------------------

static void checkpoints_give_the_same(void **state) {
    (void)state;
    static outcome kept, again;
    char text[6000];
    (void)snprintf(text, sizeof text, problems[2].text, "bdf2");
    question q = {
        .text = text, .nby = 3, .by = {"k", "m", "level"}, .nof = 1, .of = {"integral(bob.x*t)"}};
    answer(&q, &kept);
    q.memory = 20000;
    answer(&q, &again);
    assert_int_equal(kept.info.recomputed, 0);
    assert_true(again.info.recomputed > kept.info.steps / 2);
    assert_int_equal(again.info.steps, kept.info.steps);
    assert_memory_equal(kept.J, again.J, sizeof kept.J);
    for (int k = 0; k < 3; k++) assert_near(again.dJ[k], kept.dJ[k], 1e-12);
}

static void refuses(const char *more, const char *by, const char *message) {
    static outcome got;
    for (int k = 0; k < 2; k++) {
        char text[6000];
        (void)snprintf(text, sizeof text, "%s%s", TREE, more);
        ask(&(question){.text = text,
                        .nby = 1,
                        .by = {by},
                        .nof = 1,
                        .of = {"bob.y"},
                        .method = k ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT},
            &got);
        if (!strstr(got.err.text, message)) print_error("'%s', want '%s'\n", got.err.text, message);
        assert_int_not_equal(got.status, SNW_OK);
        assert_non_null(strstr(got.err.text, message));
    }
}

static void what_has_no_derivative_is_named(void **state) {
    (void)state;
    refuses(
        "loads: {a: {on: lower, force: [1 N, 0, 0], when: bob.y < level}, b: {on: lower, force: "
        "[0, 1 N, 0], when: 2*bob.y^2 < 2*level^2}}\n"
        "study: [dynamic: {for: 1 s, step: 5 ms, scheme: bdf2}]\n",
        "k", "change at the same time");
    refuses("loads: {a: {on: lower, force: [1 N, 0, 0], when: \"sampled(bob.y, 20 ms) < level\"}}\n"
            "study: [static, dynamic: {for: 1 s, step: 5 ms, scheme: bdf2}]\n",
            "k", "equilibria under laws with 'sampled'");
    refuses("loads: {a: {on: lower, force: [1 N, 0, 0], when: \"mod(bob.y, 0.2 m) < 0.1 m\"}}\n"
            "study: [dynamic: {for: 1 s, step: 5 ms, scheme: bdf2}]\n",
            "k", "without a comparison");
    refuses("loads: {a: {on: lower, force: [1 N, 0, 0], when: t > at}}\n"
            "study: [dynamic: {for: 1 s, step: 5 ms, scheme: bdf2}]\n",
            "at", "it moves the time t = 0.35 s at which a law jumps");
}

// A margin without a rate where it is zero: its time has no derivative.
static void grazing_is_named(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {v: 2 m/s, g: 10 m/s^2}\n"
        "gravity: [0, 0, -g]\n"
        "robot: {ball: {on: world, joint: prismatic, axis: z, body: {mass: 1 kg}}}\n"
        "initial: {ball: {rate: v}}\n"
        "probes: {z: {position: ball}}\n"
        "study: [dynamic: {for: 1 s, step: 8 ms, scheme: newmark, until: (z.z/(1 m) - 0.1)^3 >= 0}]"
        "\n";
    static outcome got;
    ask(&(question){.text = text, .nby = 1, .by = {"v"}, .nof = 1, .of = {"z.z"}}, &got);
    assert_int_not_equal(got.status, SNW_OK);
    assert_non_null(strstr(got.err.text, "grazes its limit at t = 0.058"));
}

// A condition exactly at its limit where the motion begins has two derivatives by what moves it,
// one for each side; what does not move it has one.
static void limits_at_the_start_are_named(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {w: 2, F: -3 N, c: 0.4 m, x0: 0.4 m, v0: %s m/s}\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: w^2*1 N/m, body: {mass: 1 "
        "kg}}}\n"
        "initial: {cart: {position: x0, rate: v0}}\n"
        "probes: {x: {position: cart}, v: {velocity: cart}}\n"
        "loads: {push: {on: cart, force: [F, 0, 0], when: %s}}\n"
        "study: [%sdynamic: {for: 2 s, step: 10 ms, scheme: %s%s}]\n";
    static const struct {
        const char *rate, *when, *before, *scheme, *until, *by, *message;
    } at[] = {
        {"1.5", "x.x > c", "", "gauss4", "", "c", "by 'c': the condition 'x.x > c' is exactly at"},
        {"1.5", "x.x >= c", "", "bdf2", "", "x0", "by 'x0': the condition 'x.x >= c' is exactly"},
        {"1.5", "once(x.x <= c)", "", "moreau", "", "c",
         "'once(x.x <= c)' is exactly at its limit"},
        {"1.5", "x.x < c", "", "rk4", "", "x0", "by 'x0': the condition 'x.x < c' is exactly"},
        {"1.5", "x.x < 0", "", "conserving", ", until: x.x >= c", "c", "'until' is exactly at its"},
        {"1.5", "x.x > c", "", "bdf2", "", "w",
         "exactly at its limit where the motion begins, and"},
        {"1.5", "x.x <= c - 10 m", "dynamic: {for: 1 s, step: 10 ms, until: x.x > c + 0.1 m}, ",
         "bdf2", ", until: x.x < c", "c", NULL},
        {"0", "x.x > 1 m", "", "gauss6", ", until: v.vx > 0", "x0", NULL},
    };
    static outcome got, other;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        char full[4000];
        (void)snprintf(full, sizeof full, text, at[i].rate, at[i].when, at[i].before, at[i].scheme,
                       at[i].until);
        question q = {.text = full, .nby = 1, .by = {at[i].by}, .nof = 1, .of = {"x.x"}};
        for (int k = 0; k < 2; k++) {
            q.method = k ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT;
            ask(&q, &got);
            if (!at[i].message) {
                differences(&q, 1e-3, &other);
                assert_int_equal(got.status, SNW_OK);
                assert_near(got.dJ[0], other.dJ[0], 1e-8);
                continue;
            }
            if (!strstr(got.err.text, at[i].message))
                print_error("'%s', want '%s'\n", got.err.text, at[i].message);
            assert_int_not_equal(got.status, SNW_OK);
            assert_non_null(strstr(got.err.text, at[i].message));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_switched_by_place),
        cmocka_unit_test(a_plastic_pick_up),
        cmocka_unit_test(conditions_follow_differences),
        cmocka_unit_test(a_loop_follows_differences),
        cmocka_unit_test(wheels_follow_differences),
        cmocka_unit_test(extremes),
        cmocka_unit_test(checkpoints_give_the_same),
        cmocka_unit_test(what_has_no_derivative_is_named),
        cmocka_unit_test(grazing_is_named),
        cmocka_unit_test(limits_at_the_start_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
