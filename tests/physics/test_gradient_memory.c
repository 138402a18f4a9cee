// SPDX-License-Identifier: MIT
//
// Gradients of laws with memory, theory.md (7.5.18): a mass with PI control against the complex
// step of the same recursion, one with a sampled controller against the exact one, controllers with
// integrals and samples on trees, loops and free bodies against
// differences of whole runs, with all families of schemes; the sweep back equals sensitivities
// along the run.
#include "asked_gradient.h"

#include <complex.h>

// ---- complex step -------------------------------------------------------------------------------

// m x'' = -k x - d v - p (x - r) - i z, z' = x - r, by the trapezoidal rule from rest; x after n
// steps. The step solves for v: x_1 = x + h/2 (v + v_1), z_1 = z + h/2 (x + x_1 - 2 r).
static double complex controlled_mass(const double complex *at, double h, int n) {
    const double complex m = at[0], k = at[1], p = at[2], i = at[3], r = at[4], d = 0.3;
    double complex x = 0, v = 0, z = 0;
    for (int step = 0; step < n; step++) {
        const double complex a = (-k * x - d * v - p * (x - r) - i * z) / m;
        const double complex x_still = x + h / 2 * v, z_still = z + h / 2 * (x + x_still - 2 * r);
        // a_1 = c - b v_1
        const double complex c = (-(k + p) * x_still + p * r - i * z_still) / m;
        const double complex b = ((k + p) * h / 2 + i * h * h / 4 + d) / m;
        const double complex v_1 = (v + h / 2 * (a + c)) / (1 + h / 2 * b);
        z = z_still + h * h / 4 * v_1;
        x = x_still + h / 2 * v_1;
        v = v_1;
    }
    return x;
}

static void a_mass_with_pi_control(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {m: 0.8 kg, k: 5 N/m, p: 12 N/m, i: 30 N/m/s, r: 0.2 m}\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: k, damping: 0.3 N*s/m, "
        "body: {mass: m}}}\n"
        "probes: {at: {value: cart}}\n"
        "actuators: {motor: {joint: cart, effort: \"-p*(at - r) - i*integral(at - r)\"}}\n"
        "study: [dynamic: {for: 1 s, step: 5 ms, scheme: trapezoidal}]\n";
    static outcome got;
    for (int method = 0; method < 2; method++) {
        answer(&(question){.text = text,
                           .nby = 5,
                           .by = {"m", "k", "p", "i", "r"},
                           .nof = 1,
                           .of = {"at"},
                           .method = method ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT},
               &got);
        double want[5];
        for (int k = 0; k < 5; k++) {
            double complex at[5] = {0.8, 5, 12, 30, 0.2};
            at[k] += 1e-100 * I;
            const double complex x = controlled_mass(at, 5e-3, 200);
            assert_near(got.J[0], creal(x), 1e-11);
            want[k] = cimag(x) / 1e-100;
        }
        near_all(5, got.dJ, want, 1e-9);
    }
}

// m x'' = F, F = -p (x - r) - d v held from each sample: x = x + v T + F T^2/2m, v = v + F T/m
static double complex sampled_mass(const double complex *at, double T, int n) {
    double complex x = 0, v = at[4];
    for (int step = 0; step < n; step++) {
        const double complex a = (-at[1] * (x - at[3]) - at[2] * v) / at[0];
        x += v * T + a * T * T / 2;
        v += a * T;
    }
    return x;
}

static void a_mass_with_sampled_control(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {m: 0.8 kg, p: 12 N/m, d: 2 N*s/m, r: 0.2 m, v0: 0.5 m/s}\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: prismatic, axis: x, body: {mass: m}}}\n"
        "initial: {cart: {rate: v0}}\n"
        "probes: {at: {value: cart}, v: {rate: cart}}\n"
        "actuators: {motor: {joint: cart, effort: \"-sampled(p*(at - r) + d*v, 20 ms)\"}}\n"
        "study: [dynamic: {for: 0.8 s, step: 5 ms, scheme: %s}]\n";
    static const char *const scheme[] = {"trapezoidal", "gauss4"};
    static outcome got;
    for (int k = 0; k < 4; k++) {
        char full[TEXT];
        (void)snprintf(full, sizeof full, text, scheme[k / 2]);
        answer(&(question){.text = full,
                           .nby = 5,
                           .by = {"m", "p", "d", "r", "v0"},
                           .nof = 1,
                           .of = {"at"},
                           .method = k % 2 ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT},
               &got);
        double want[5];
        for (int i = 0; i < 5; i++) {
            double complex at[5] = {0.8, 12, 2, 0.2, 0.5};
            at[i] += 1e-100 * I;
            const double complex x = sampled_mass(at, 20e-3, 40);
            assert_near(got.J[0], creal(x), 1e-11);
            want[i] = cimag(x) / 1e-100;
        }
        near_all(5, got.dJ, want, 1e-9);
    }
}

// ---- differences of whole runs ------------------------------------------------------------------

#define ARM TWO_LINK_ARM("u: {effort: motor}")

static const problem problems[] = {
    {"PID of an angle",
     ARM "actuators: {motor: {joint: upper, effort: \"-30*(q - ref) - 2*r - ki*integral(q - "
         "ref)\"}}\n"
         "study: [dynamic: {for: 0.4 s, step: 5 ms, scheme: %s}]\n",
     5,
     4,
     {"k", "m", "l", "ref", "ki"},
     {"bob.y", "integral((bob.y - 0.3)^2)", "mean(u^2)", "a.ay"}},
    {"integral of a place, its integral, and a rate; two motions",
     ARM "actuators: {motor: {joint: upper, effort: \"-ki*integral(bob.y - level)*1 1/m - "
         "3*ki*integral(integral(sin(q)*r) - ref*t/(1 s)) - 0.5*integral(r*q)\"}}\n"
         "study: [static, dynamic: {for: 0.2 s, step: 5 ms, scheme: %s}, dynamic: {for: 0.2 s, "
         "step: 4 ms}]\n",
     6,
     2,
     {"k", "m", "l", "ref", "ki", "level"},
     {"bob.y", "integral(bob.y^2 + v.vx)"}},
    {"end by an integral, load switched by place",
     ARM "actuators: {motor: {joint: upper, effort: \"-30*(q - ref) - 2*r - ki*integral(q - "
         "ref)\"}}\n"
         "loads: {brake: {on: lower, torque: [0, 0, -0.3 N*m*s*r], when: bob.y < 3.1*level}}\n"
         "study: [dynamic: {for: 2 s, step: 5 ms, scheme: %s, until: \"integral(bob.y + 0.1*v.vy*1 "
         "s) "
         "> level*1 s\"}]\n",
     6,
     3,
     {"k", "m", "l", "ref", "ki", "level"},
     {"v.vy", "integral(bob.x)", "t"}},
    {"samples of places, energies, integrals and samples",
     ARM "actuators: {motor: {joint: upper, effort: \"-sampled(30*(q - ref) + 2*r, 20 ms) - "
         "ki*sampled(integral(q - ref) + 0.01*sampled(bob.y/(1 m), 35 ms)^2*1 s, 20 ms)\"}}\n"
         "study: [dynamic: {for: 0.2 s, step: 5 ms, scheme: %s}, dynamic: {for: 0.1 s, step: 4 "
         "ms}]\n",
     5,
     4,
     {"k", "m", "l", "ref", "ki"},
     {"bob.y", "integral((bob.y - 0.3)^2)", "mean(u^2)", "a.ay"}},
    {"integral of a sample, condition on a sample, event",
     ARM "actuators: {motor: {joint: upper, effort: \"-3*r - ki*integral(sampled(q, 15 ms) - "
         "ref)\"}}\n"
         "loads: {push: {on: lower, force: [0, 2 N, 0], when: \"sampled(bob.y, 20 ms) < "
         "3*level\"}, brake: {on: lower, torque: [0, 0, -0.3 N*m*s*r], when: bob.y < 3.1*level}}\n"
         "study: [dynamic: {for: 0.4 s, step: 5 ms, scheme: %s}]\n",
     6,
     3,
     {"k", "m", "l", "ref", "ki", "level"},
     {"v.vy", "integral(bob.x)", "bob.y"}},
    {"free body, turning",
     "sinew: 1\n"
     "parameters: {m: 0.7 kg, w: 9 1/s, c: 0.12 m, F: 60 N/m/s, u: 1.1 m/s}\n"
     "gravity: [0, 0, -9.81 m/s^2]\n"
     "robot:\n"
     "  body: {on: world, joint: free, body: {mass: m, com: [0.03 m, 0.02 m, 0], inertia: [2e-3, "
     "3e-3, 1e-3]}}\n"
     "sites: {nose: {on: body, pose: {xyz: [0.1 m, 0.02 m, 0.05 m]}}}\n"
     "initial: {body: {twist: [w, 3 1/s, -4 1/s, u, 0.2 m/s, 1 m/s]}}\n"
     "probes: {nose: {position: nose}, v: {velocity: nose}}\n"
     "loads: {jet: {on: nose, force: [\"-F*integral(nose.x - c)\", 0, \"-3*integral(v.vz*v.vx)*1 "
     "N*s/m^2\"], frame: body}}\n"
     "study: [dynamic: {for: 0.25 s, step: 2.5 ms, scheme: %s}]\n",
     5,
     2,
     {"m", "w", "c", "F", "u"},
     {"nose.y", "integral(nose.z^2 + v.vx)"}},
};

static const problem loop = {
    "slider-crank",
    "sinew: 1\n"
    "parameters: {k: 30 N/m, c: 0.6 N*s/m, m: 0.6 kg, tau: 1.5 N*m, ki: 25 N/m}\n"
    "gravity: [0, -9.81 m/s^2, 0]\n" SLIDER_CRANK
    "loads: {push: {on: slider, force: [\"-ki*integral(v*at)*1 1/m - 8 N/m/s*integral(at)\", 0, "
    "0], "
    "when: at > 0.6 m}}\n"
    "study: [dynamic: {for: 0.5 s, step: 4 ms, scheme: %s}]\n",
    5,
    2,
    {"k", "c", "m", "tau", "ki"},
    {"at", "integral(at^2 + 0.1*v)"}};

// A driven joint between a turning ball joint and a hinge with integral control; the law moves with
// parameters.
static const problem driven = {
    "driven joint",
    "sinew: 1\n"
    "parameters: {A: 0.4, w: 7 1/s, m: 0.3 kg, l: 0.2 m, ki: 3 N*m/s, level: 0.12 m}\n"
    "gravity: [0, 0, -9.81 m/s^2]\n"
    "robot:\n"
    "  ball: {on: world, joint: spherical, stiffness: 2, damping: 0.05, body: {mass: 0.5 kg, com: "
    "[l, "
    "0, 0], inertia: [1e-3, 2e-3, 2e-3]}}\n"
    "  arm: {on: ball, pose: {xyz: [l, 0, 0]}, joint: revolute, axis: z, body: {mass: m, com: [0.1 "
    "m, "
    "0, 0], inertia: [1e-3, 1e-3, 1e-3]}}\n"
    "  hand: {on: arm, pose: {xyz: [0.2 m, 0, 0]}, joint: revolute, axis: y, stiffness: 0.5, "
    "damping: "
    "0.01, body: {mass: 0.1 kg, com: [0.1 m, 0, 0], inertia: [1e-4, 1e-4, 1e-4]}}\n"
    "sites: {nose: {on: hand, pose: {xyz: [0.1 m, 0, 0]}}}\n"
    "initial: {ball: {rate: [2, 1, -1]}}\n"
    "probes: {nose: {position: nose}, v: {velocity: nose}, q: {angle: arm}, b: {angle: hand}}\n"
    "actuators: {drive: {joint: arm, position: A*sin(w*t) + 0.2*sin(3*t/(1 s))}, motor: {joint: "
    "hand, "
    "effort: \"-ki*integral(b + 0.3*q)\"}}\n"
    "loads: {push: {on: hand, force: [0, 0.5 N, 0], when: nose.y > level}}\n"
    "study: [dynamic: {for: 0.2 s, step: 5 ms, scheme: %s}]\n",
    6,
    3,
    {"A", "w", "m", "l", "ki", "level"},
    {"nose.y", "integral(v.vz^2 + nose.x)", "q"}};

static void memory_follows_differences(void **state) {
    (void)state;
    static const char *const scheme[] = {
        "bdf2",         "generalized-alpha, rho: 0.5", "trapezoidal", "euler", "gauss4", "radau5",
        "hht, rho: 0.8"};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        for (size_t j = 0; j < sizeof scheme / sizeof *scheme; j++) {
            if ((i + j) % 2 == 0) follow_differences(&problems[i], scheme[j], 1e-10);
        }
    }
}

static void a_loop_follows_differences(void **state) {
    (void)state;
    // second derivatives of the rows are differences
    follow_differences(&loop, "bdf2", 1e-10);
    follow_differences(&loop, "trapezoidal", 1e-10);
}

static void a_driven_joint_follows_differences(void **state) {
    (void)state;
    static const char *const scheme[] = {"gauss4", "radau5", "bdf2"};
    for (size_t j = 0; j < sizeof scheme / sizeof *scheme; j++)
        follow_differences(&driven, scheme[j], 1e-10);
}

// Memory in pascals and in cubic metres: water pumped into a finger, whose pressure reads an
// integral of a sample of itself and, behind a valve, a state. Sensitivities and the sweep back
// move neither by a size in another unit; a wrench reads both by differences.
static const problem pressures = {
    "a finger with a pump",
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters: {len: 0.1 m, E: 1 MPa, V_0: 3e-6 m^3, K: 500 MPa, Q: 0.2 ml/s, leak: 2e-12 "
    "m^3/s/Pa, pumped: \"V_0 + integral(Q - leak*sampled(gauge, 1 ms)) - filled\", lag: 10 1/s}\n"
    "materials: {rubber: {young: E, poisson: 0.5, density: 1100, damping: 20 ms}}\n"
    "robot: {finger: {on: world, rod: {length: len, section: {circle: {radius: 8 mm}}, material: "
    "rubber, strain: {bend_y: legendre 1, stretch: legendre 1}}}}\n"
    "states: {valve: {initial: 0 Pa, rate: \"lag*(sampled(gauge, 6 ms) - valve)\"}}\n"
    "actuators: {water: {chamber: {along: finger, at: [0, 0, 4 mm], area: 30 mm^2}, effort: "
    "\"K*pumped/V_0 + 0.1*valve\"}}\n"
    "probes: {gauge: {pressure: water}, filled: {volume: water}, bend: {strain: finger@50%%}, "
    "cut: {wrench: finger@50%%}}\n"
    "study: [dynamic: {for: 0.06 s, step: 3 ms, scheme: %s}]\n",
    4,
    4,
    {"len", "K", "Q", "lag"},
    {"bend.bend_y", "mean(gauge^2)", "cut.my", "integral(filled)"}};

static void pressures_follow_differences(void **state) {
    (void)state;
    follow_differences(&pressures, "bdf2, shorten: off", 1e-10);
}

// Parameters that read probes: as the same laws written out, also in the law of a probe.
static void parameters_that_read_probes(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {m: 0.8 kg, kp: 12, ref: 0.2, lag: 1 s%s}\n"
        "gravity: [9.81 m/s^2, 0, 0]\n"
        "robot: {arm: {on: world, joint: revolute, axis: z, body: {mass: m, com: [0.5 m, 0, 0]}}}\n"
        "probes: {q: {angle: arm}, r: {rate: arm}, seen: {law: %s}}\n"
        "actuators: {motor: {joint: arm, effort: %s}}\n"
        "study: [dynamic: {for: 0.3 s, step: 5 ms, scheme: bdf2}]\n";
    static const char *const part[2][3] = {
        {"", "\"2*(q - ref) + lag*r\"", "\"-kp*(q - ref) - 2*r\""},
        {", error: q - ref, slow: lag*r, u: -kp*error - 2*r", "\"2*error + slow\"", "u"}};
    static outcome got[2];
    for (int k = 0; k < 2; k++) {
        char full[TEXT];
        (void)snprintf(full, sizeof full, text, part[k][0], part[k][1], part[k][2]);
        answer(&(question){.text = full,
                           .nby = 4,
                           .by = {"m", "kp", "ref", "lag"},
                           .nof = 2,
                           .of = {"q", "end(seen) + integral(seen)"}},
               &got[k]);
    }
    for (int i = 0; i < 2; i++) assert_near(got[1].J[i], got[0].J[i], 1e-14);
    near_all(8, got[1].dJ, got[0].dJ, 1e-11);
}

static void checkpoints_give_the_same(void **state) {
    (void)state;
    static outcome kept, again;
    char text[6000];
    (void)snprintf(text, sizeof text, problems[3].text, "bdf2");
    question q = {
        .text = text, .nby = 3, .by = {"k", "m", "ki"}, .nof = 1, .of = {"integral(bob.x*t)"}};
    answer(&q, &kept);
    q.memory = 8000;
    answer(&q, &again);
    assert_true(again.info.recomputed > kept.info.steps / 2);
    assert_memory_equal(kept.J, again.J, sizeof kept.J);
    for (int k = 0; k < 3; k++) assert_near(again.dJ[k], kept.dJ[k], 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mass_with_pi_control),
        cmocka_unit_test(a_mass_with_sampled_control),
        cmocka_unit_test(memory_follows_differences),
        cmocka_unit_test(pressures_follow_differences),
        cmocka_unit_test(a_loop_follows_differences),
        cmocka_unit_test(a_driven_joint_follows_differences),
        cmocka_unit_test(parameters_that_read_probes),
        cmocka_unit_test(checkpoints_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
