// SPDX-License-Identifier: MIT
//
// Gradients through changes of the model, theory.md 7.5: an oscillator whose spring is exchanged
// against its closed form, and changes of loads, masses, laws, springs, events and memory on trees,
// rods and loops against differences of whole runs; the sweep back equals sensitivities along the
// run; steps that show states do not count; what is refused.
#include "asked_gradient.h"
#include "sanitized.h"

#include <complex.h>

// ---- closed form --------------------------------------------------------------------------------

// x'' = -w^2 x for 0.4 s, then x'' = -(b w)^2 x for 0.5 s
static double complex oscillator(double complex w, double complex b, double complex v0) {
    const double complex x = v0 * csin(0.4 * w) / w, v = v0 * ccos(0.4 * w), W = b * w;
    return x * ccos(0.5 * W) + v * csin(0.5 * W) / W;
}

static void an_oscillator_with_another_spring(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {w: 2, b: 1.7, v0: 1.5 m/s}\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: w^2*1 N/m, body: {mass: 1 "
        "kg}}}\n"
        "initial: {cart: {rate: v0}}\n"
        "probes: {x: {position: cart}}\n"
        "study:\n"
        "  - dynamic: {for: 0.4 s, step: 10 ms, scheme: gauss6}\n"
        "  - modes: {count: 1}\n"
        "  - linearize:\n"
        "  - change: {cart.stiffness: (b*w)^2*1 N/m}\n"
        "  - dynamic: {for: 0.5 s, step: 10 ms, scheme: gauss6}\n";
    static outcome got;
    const double h = 1e-30;
    const double want[3] = {cimag(oscillator(2 + h * I, 1.7, 1.5)) / h,
                            cimag(oscillator(2, 1.7 + h * I, 1.5)) / h,
                            cimag(oscillator(2, 1.7, 1.5 + h * I)) / h};
    for (int k = 0; k < 2; k++) {
        answer(&(question){.text = text,
                           .nby = 3,
                           .by = {"w", "b", "v0"},
                           .nof = 1,
                           .of = {"x.x"},
                           .method = k ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT},
               &got);
        assert_near(got.J[0], creal(oscillator(2, 1.7, 1.5)), 1e-11);
        near_all(3, got.dJ, want, 1e-10);
    }
}

// ---- differences of whole runs ------------------------------------------------------------------

#define TREE                                                                                       \
    "sinew: 1\n"                                                                                   \
    "parameters: {k: 1.5 N*m, m: 0.5 kg, l: 0.6 m, tau: 2 N*m, f: 0.7, level: 0.1 m}\n"            \
    "gravity: [9.81 m/s^2, 0, 0]\n"                                                                \
    "robot:\n"                                                                                     \
    "  upper: {on: world, joint: revolute, axis: z, stiffness: k, damping: 0.05, body: {mass: "    \
    "0.8 kg, com: [l, 0, 0]}}\n"                                                                   \
    "  lower: {on: upper, pose: {xyz: [l, 0, 0]}, joint: revolute, axis: z, stiffness: 0.7, "      \
    "damping: 0.02, body: {mass: m, com: [0.4 m, 0, 0]}}\n"                                        \
    "sites: {bob: {on: lower, pose: {xyz: [0.4 m, 0, 0]}}}\n"                                      \
    "initial: {upper: {position: 0.4, rate: 0.5}, lower: {position: -0.3}}\n"                      \
    "actuators: {motor: {joint: upper, effort: tau*sin(5*t/(1 s))}}\n"                             \
    "probes: {bob: {position: bob}, v: {velocity: bob}, r: {rate: upper}, e: energy}\n"

static const problem problems[] = {
    {"another mass and another torque",
     TREE
     "study: [dynamic: {for: 0.2 s, step: 5 ms, scheme: %s}, change: {m: 2*f*1 kg, "
     "motor.effort: f*tau}, dynamic: {for: 0.2 s, step: 4 ms}, change: {lower.damping: f*0.1}, "
     "dynamic: {for: 0.1 s, step: 5 ms, scheme: bdf2}]\n",
     5,
     4,
     {"k", "l", "tau", "f", "m"},
     {"bob.y", "integral((bob.y - 0.3)^2)", "sum(v.vy^2) + mean(e.kinetic)", "at(0.203, bob.y)"}},
    {"an equilibrium between",
     TREE "study: [dynamic: {for: 0.1 s, step: 5 ms, scheme: %s}, change: {motor.effort: f*tau}, "
          "static: {}, change: {motor.effort: -tau}, dynamic: {for: 0.2 s, step: 4 ms}]\n",
     4,
     2,
     {"k", "l", "tau", "f"},
     {"bob.y", "integral(bob.y^2 + 0.1*v.vy)"}},
    {"an event after a change",
     TREE "loads: {brake: {on: lower, torque: [0, 0, -0.3 N*m*s*r], when: bob.y < level}}\n"
          "study: [dynamic: {for: 0.2 s, step: 5 ms, scheme: %s}, change: {motor.effort: f*tau}, "
          "dynamic: {for: 0.4 s, step: 5 ms}]\n",
     5,
     2,
     {"k", "m", "tau", "f", "level"},
     {"bob.y", "integral((bob.y - 0.3)^2)"}},
    {"integral control through a change",
     TREE "loads: {hold: {on: upper, torque: [0, 0, -1 N*m*integral(bob.y/(1 m))/(1 s)]}}\n"
          "study: [dynamic: {for: 0.2 s, step: 5 ms, scheme: %s}, change: {m: 2*f*1 kg}, dynamic: "
          "{for: 0.2 s, step: 5 ms}]\n",
     4,
     2,
     {"k", "l", "tau", "f"},
     {"bob.y", "integral((bob.y - 0.3)^2)"}},
    {"a rod and its load",
     "sinew: 1\n"
     "gravity: 0\n"
     "parameters: {F: 1 N, EI: 1 N*m^2, c: 0.02, f: 0.5}\n"
     "robot: {arm: {on: world, rod: {length: 0.8 m, section: {stiffness: {bend_y: EI}, damping: "
     "{bend_y: c}, inertia: [0, 0, 0, 0.1, 0.1, 0.1]}, strain: {bend_y: legendre 4}, nodes: 8}}}\n"
     "loads: {push: {on: arm.tip, force: [0, 0, F]}}\n"
     "probes: {tip: {position: arm.tip}, v: {velocity: arm.tip}}\n"
     "study: [static: {}, dynamic: {for: 0.05 s, step: 5 ms, scheme: %s}, change: {push.force: [0, "
     "0, -f*F]}, dynamic: {for: 0.1 s, step: 5 ms}, change: {arm.rod.length: 0.9 m}, static: {}]\n",
     4,
     3,
     {"F", "EI", "c", "f"},
     {"tip.z", "integral(tip.z^2)", "at(0.1, v.vz)"}},
};

static void changes_follow_differences(void **state) {
    (void)state;
    static const char *const scheme[] = {"trapezoidal", "generalized-alpha, rho: 0.5", "gauss4"};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        follow_differences(&problems[i], scheme[i % 3], 1e-11);
}

// An equilibrium closes the loop of another crank.
static const problem loop = {
    "slider-crank",
    "sinew: 1\n"
    "parameters: {k: 30 N/m, c: 0.6 N*s/m, m: 0.6 kg, tau: 1.5 N*m, f: 1.2}\n"
    "gravity: [0, -9.81 m/s^2, 0]\n" SLIDER_CRANK
    "study: [dynamic: {for: 0.1 s, step: 4 ms, scheme: %s}, change: {k: 400 N/m*f}, static: {}, "
    "change: {motor.effort: 2*tau}, static: {}, dynamic: {for: 0.1 s, step: 4 ms}]\n",
    5,
    2,
    {"k", "c", "m", "tau", "f"},
    {"at", "integral(at^2 + 0.1*v)"}};

static void a_loop_follows_differences(void **state) {
    (void)state;
    follow_differences(&loop, "bdf2", 1e-10); // second derivatives of the rows are differences
}

// ---- memory, refusals ---------------------------------------------------------------------------

static void checkpoints_give_the_same(void **state) {
    (void)state;
    static outcome kept, again;
    char text[TEXT];
    (void)snprintf(text, sizeof text, problems[0].text, "bdf2");
    question q = {
        .text = text, .nby = 3, .by = {"k", "f", "tau"}, .nof = 1, .of = {"integral(bob.x*t)"}};
    answer(&q, &kept);
    q.memory = 4000;
    answer(&q, &again);
    assert_int_equal(kept.info.recomputed, 0);
    assert_true(again.info.recomputed > kept.info.steps / 2);
    assert_memory_equal(kept.J, again.J, sizeof kept.J);
    for (int k = 0; k < 3; k++) assert_near(again.dJ[k], kept.dJ[k], 1e-12);
}

static void what_has_none_is_named(void **state) {
    (void)state;
    static outcome got;
    char text[TEXT];
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\n"
        "parameters: {k: 30 N/m, c: 0.6 N*s/m, m: 0.6 kg, tau: 1.5 N*m}\n"
        "gravity: [0, -9.81 m/s^2, 0]\n" SLIDER_CRANK
        "study: [dynamic: {for: 20 ms, step: 4 ms}, change: {m: 1 kg}, dynamic: {for: 20 "
        "ms, step: 4 ms}]\n");
    const question q = {.text = text, .nby = 1, .by = {"k"}, .nof = 1, .of = {"at"}};
    ask(&q, &got);
    assert_int_equal(got.status, SNW_E_MODEL);
    assert_non_null(strstr(got.err.text, "put a static step between"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_oscillator_with_another_spring),
        cmocka_unit_test(changes_follow_differences),
        cmocka_unit_test(a_loop_follows_differences),
        cmocka_unit_test(checkpoints_give_the_same),
        cmocka_unit_test(what_has_none_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
