// SPDX-License-Identifier: MIT
//
// Gradients through the energy-momentum scheme, theory.md (7.5.21): a pendulum against the complex
// step of the same recursion, trees, rods, free bodies, loops, wheels, contacts, feedback, events
// and moving bases against differences of whole runs; the sweep back equals sensitivities along the
// run, and numbers of random robots are all gathered, (7.5.40).
#include "asked_gradient.h"
#include "random_rod.h"
#include "sanitized.h"

#include <complex.h>

// ---- complex step -------------------------------------------------------------------------------

// A pendulum of mass m and length l with a spring k and damping c. Of one coordinate the discrete
// gradient is a quotient: (p_1 - p_0)/h = -(U_1 - U_0)/d - c d/h, p_1 + p_0 = 2 J d/h. Angle after
// n steps, by Newton's method in d.
static double complex conserved_pendulum(const double complex *at, double h, int n) {
    const double complex m = at[0], l = at[1], k = at[2], c = at[3], g = 9.81, J = m * l * l;
    double complex q = at[4], p = J * at[5];
    for (int step = 0; step < n; step++) {
        double complex d = h * p / J;
        for (int i = 0; i < 30; i++) {
            const double complex U0 = -m * g * l * ccos(q) + k * q * q / 2;
            const double complex U1 = -m * g * l * ccos(q + d) + k * (q + d) * (q + d) / 2;
            const double complex F1 = m * g * l * csin(q + d) + k * (q + d);
            const double complex p1 = 2 * J * d / h - p;
            const double complex r = (p1 - p) / h + (U1 - U0) / d + c * d / h;
            d -= r / (2 * J / (h * h) + (F1 - (U1 - U0) / d) / d + c / h);
        }
        p = 2 * J * d / h - p;
        q += d;
    }
    return q;
}

// It swings for 100 steps, then turns over for 1000: where it reverses, energies are rounded over a
// small increment.
static void a_pendulum(void **state) {
    (void)state;
    static const struct {
        double at[6], h;
        int n;
    } run[] = {{{0.8, 0.4, 0.7, 0.02, 0.4, 2.5}, 10e-3, 100},
               {{0.8, 0.4, 1e-4, 2e-4, 0.4, 15}, 5e-3, 1000}};
    static outcome got;
    for (int k = 0; k < 4; k++) {
        const double *at = run[k / 2].at, h = run[k / 2].h;
        const int n = run[k / 2].n;
        char text[TEXT];
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "parameters: {m: %g kg, l: %g m, k: %g, c: %g, a: %g, w: %g 1/s}\n"
            "gravity: [9.81 m/s^2, 0, 0]\n"
            "robot: {arm: {on: world, joint: revolute, axis: z, stiffness: k, damping: c, "
            "body: {mass: m, com: [l, 0, 0], inertia: [0, 0, 0]}}}\n"
            "initial: {arm: {position: a, rate: w}}\n"
            "probes: {q: {angle: arm}}\n"
            "study: [dynamic: {for: %g s, step: %g s, scheme: conserving}]\n",
            at[0], at[1], at[2], at[3], at[4], at[5], n * h, h);
        answer(&(question){.text = text,
                           .nby = 6,
                           .by = {"m", "l", "k", "c", "a", "w"},
                           .nof = 1,
                           .of = {"q"},
                           .method = k % 2 ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT},
               &got);
        double want[6];
        for (int i = 0; i < 6; i++) {
            double complex moved[6];
            for (int j = 0; j < 6; j++) moved[j] = at[j] + (i == j ? 1e-100 * I : 0);
            const double complex q = conserved_pendulum(moved, h, n);
            assert_near(got.J[0], creal(q), 1e-10 * fmax(1, fabs(creal(q))));
            want[i] = cimag(q) / 1e-100;
        }
        near_all(6, got.dJ, want, k < 2 ? 1e-9 : 1e-10);
    }
}

// ---- differences of whole runs ------------------------------------------------------------------

#define ARM TWO_LINK_ARM("E: energy")

static const problem problems[] = {
    {"arm that is switched by place, energies, accelerations",
     ARM "loads: {brake: {on: lower, torque: [0, 0, -0.3 N*m*s*r], when: bob.y < 3.1*level}}\n"
         "study: [dynamic: {for: 0.4 s, step: 5 ms, scheme: %s}]\n",
     4,
     4,
     {"k", "m", "l", "level"},
     {"bob.y", "integral((bob.y - 0.3)^2)", "E.kinetic", "a.ay"}},
    {"integral, sample, end by place, two motions",
     ARM "actuators: {motor: {joint: upper, effort: \"-30*(q - ref) - sampled(2*r, 20 ms) - "
         "ki*integral(q - ref)\"}}\n"
         "study: [dynamic: {for: 0.2 s, step: 5 ms, scheme: %s}, dynamic: {for: 1 s, step: "
         "4 ms, until: q > 0.9*ref}]\n",
     5,
     3,
     {"k", "m", "l", "ref", "ki"},
     {"bob.y", "integral(bob.y^2 + v.vx)", "t"}},
    {"free body with a joint, turning; gravity that changes",
     "sinew: 1\n"
     "parameters: {m: 0.7 kg, w: 9 1/s, c: 0.12 m, k: 0.4, u: 1.1 m/s}\n"
     "gravity: [0, \"3*sin(9*t/(1 s))\", -9.81 m/s^2]\n"
     "robot:\n"
     "  body: {on: world, joint: free, body: {mass: m, com: [0.03 m, 0.02 m, 0], inertia: [2e-3, "
     "3e-3, 1e-3]}}\n"
     "  wing: {on: body, pose: {xyz: [c, 0, 0]}, joint: revolute, axis: y, stiffness: k, body: "
     "{mass: 0.2 kg, com: [0.1 m, 0, 0.02 m]}}\n"
     "sites: {nose: {on: wing, pose: {xyz: [0.1 m, 0.02 m, 0.05 m]}}}\n"
     "initial: {body: {twist: [w, 3 1/s, -4 1/s, u, 0.2 m/s, 1 m/s]}, wing: 0.3}\n"
     "probes: {nose: {position: nose}, v: {velocity: nose}}\n"
     "study: [dynamic: {for: 0.2 s, step: 4 ms, scheme: %s}]\n",
     5,
     2,
     {"m", "w", "c", "k", "u"},
     {"nose.y", "integral(nose.z^2 + v.vx)"}},
    {"slider-crank",
     "sinew: 1\n"
     "parameters: {k: 30 N/m, c: 0.6 N*s/m, m: 0.6 kg, tau: 1.5 N*m}\n"
     "gravity: [0, -9.81 m/s^2, 0]\n" SLIDER_CRANK
     "study: [dynamic: {for: 0.3 s, step: 4 ms, scheme: %s}]\n",
     4,
     2,
     {"k", "c", "m", "tau"},
     {"at", "integral(at^2 + 0.1*v)"}},
    {"ball on a floor with friction",
     "sinew: 1\n"
     "parameters: {k: 3e4 N/m, mu: 0.3, m: 0.2 kg, u: 1.2 m/s, r: 30 mm}\n"
     "gravity: [0, 0, -9.81 m/s^2]\n"
     "robot: {ball: {on: world, joint: free, body: {sphere: {radius: r}, mass: m}}}\n"
     "initial: {ball: {pose: {xyz: [0, 0, 32 mm]}, twist: [0, 5 1/s, 0, u, 0.1 m/s, 0]}}\n"
     "contacts: {floor: {ground: {on: ball, stiffness: k, friction: mu, damping: 0.2 "
     "s/m}}}\n"
     "probes: {p: {position: ball}, v: {velocity: ball}}\n"
     "study: [dynamic: {for: 0.1 s, step: 1 ms, scheme: %s}]\n",
     5,
     3,
     {"k", "mu", "m", "u", "r"},
     {"p.x", "integral(p.z)", "v.vx"}},
    {"rod on a joint, loads of the world and of the body", // written tangents
     "sinew: 1\n"
     "parameters: {E: 0.5 MPa, m: 0.3 kg, k: 2 N*m, F: 0.2 N, l: 0.3 m, damp: 8 ms}\n"
     "gravity: [0, 0, -9.81 m/s^2]\n"
     "materials: {soft: {young: E, poisson: 0.45, density: 1100, damping: damp}}\n"
     "robot:\n"
     "  base: {on: world, joint: revolute, axis: y, stiffness: k, damping: 0.02, body: {mass: m, "
     "com: [0.1, 0, 0.02], inertia: [0.01, 0.02, 0.03]}}\n"
     "  arm: {on: base, pose: {xyz: [0.2, 0, 0]}, rod: {length: l, section: {circle: {radius: 1 "
     "cm}}, material: soft, strain: {bend_y: legendre 1, bend_z: legendre 1, twist: constant}, "
     "nodes: 8}}\n"
     "loads: {tip: {on: arm.tip, force: [0, F, 0]}, follow: {on: arm.tip, force: [0.1, 0, 0.2], "
     "frame: body}}\n"
     "probes: {tip: {position: arm.tip}, H: energy}\n"
     "study: [dynamic: {for: 0.2 s, step: 4 ms, scheme: %s}]\n",
     6,
     3,
     {"E", "m", "k", "F", "l", "damp"},
     {"tip.z", "integral(tip.y)", "H.kinetic"}},
    {"rod on a base that moves",
     "sinew: 1\n"
     "parameters: {E: 2 MPa, rho: 1100 kg/m^3, R: 8 mm, l: 0.3 m, A: 30 mm}\n"
     "gravity: [0, 0, -9.81 m/s^2]\n"
     "materials: {soft: {young: E, poisson: 0.45, density: rho, damping: 5 ms}}\n"
     "robot: {arm: {on: world, pose: {xyz: [0, \"A*sin(20*t/(1 s))\", 0]}, rod: {length: l, "
     "section: {circle: {radius: R}}, material: soft, strain: {bend_y: legendre 2, bend_z: "
     "legendre "
     "2}}}}\n"
     "probes: {tip: {position: arm}}\n"
     "study: [dynamic: {for: 0.2 s, step: 5 ms, scheme: %s}]\n",
     5,
     2,
     {"E", "rho", "R", "l", "A"},
     {"tip.y", "integral(tip.z)"}},
};

static void conserving_follows_differences(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        follow_differences(&problems[i], "conserving", 1e-10);
}

static const problem with_touches = {
    "rods that cross, with friction",
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "parameters: {E: 1 MPa, kc: 300 N/m, F: 0.02 N, damp: 5 ms, d: 17 mm}\n"
    "materials: {soft: {young: E, poisson: 0.4, density: 1000, damping: damp}, other: {young: 1 "
    "MPa, poisson: 0.4, density: 1000, damping: 5 ms}}\n"
    "robot:\n"
    "  a: {on: world, rod: {length: 0.3, section: {circle: {radius: 8 mm}}, material: soft, "
    "strain: "
    "{bend_y: legendre 2, bend_z: legendre 1}, nodes: 8}}\n"
    "  b: {on: world, pose: {xyz: [0.2, -0.15, -d], axis: z, angle: pi/2}, rod: {length: 0.3, "
    "section: {circle: {radius: 8 mm}}, material: other, strain: {bend_y: legendre 2}, nodes: 8}}\n"
    "contacts: {touch: {rods: {between: [a, b], radius: 8 mm, stiffness: 1e5 N/m^2, crossing: kc, "
    "smooth: 1 mm, friction: 0.2}}}\n"
    "loads: {push: {on: a.tip, force: [0, F, -F]}}\n"
    "probes: {t: {position: a.tip}, e: energy}\n"
    "study: [dynamic: {for: 60 ms, step: 2 ms, scheme: %s}]\n",
    4,
    2,
    {"E", "kc", "F", "damp"},
    {"integral(t.z^2) + t.y", "e.elastic"}};

// Rods that touch rods have written tangents, and numbers beside them are gathered.
static void touches_have_written_tangents(void **state) {
    (void)state;
    static outcome got;
    char text[TEXT];
    follow_differences(&with_touches, "conserving", 1e-9); // samples of forward: energies
    (void)snprintf(text, sizeof text, with_touches.text, "conserving");
    answer(&(question){.text = text, .nby = 3, .by = {"E", "F", "damp"}, .nof = 1, .of = {"t.z"}},
           &got);
    assert_int_equal(got.info.differenced_steps, 0);
    assert_int_equal(got.info.gathered, 3);
    answer(&(question){.text = text, .nby = 1, .by = {"kc"}, .nof = 1, .of = {"t.z"}}, &got);
    assert_true(fabs(got.dJ[0] * got.p[0]) > 1e-5 * fabs(got.J[0])); // they touch
}

static const problem with_memory = {
    "integral and states on a ball joint",
    "sinew: 1\n"
    "parameters: {m: 0.3 kg, k: 0.5, ki: 8, T: 0.05, ref: 0.1}\n"
    "gravity: [0, 0, -9.81 m/s^2]\n"
    "robot:\n"
    "  ball: {on: world, joint: spherical, stiffness: k, damping: 0.01, body: {mass: m, com: "
    "[0.05, 0.02, 0.01], inertia: [1e-3, 2e-3, 2e-3]}}\n"
    "  hand: {on: ball, pose: {xyz: [0.1, 0, 0]}, joint: revolute, axis: y, damping: 1e-3, body: "
    "{mass: 0.1, com: [0.05, 0, 0], inertia: [1e-4, 1e-4, 1e-4]}}\n"
    "initial: {ball: {rate: [3, 1, 2]}}\n"
    "probes: {q: {value: hand}, r: {rate: hand}, tip: {position: hand}, s: {law: slow}}\n"
    "states: {slow: {initial: 0, rate: (r - slow + tip.y)/T}}\n"
    "actuators: {motor: {joint: hand, effort: \"(1 N*m)*(0.3*(ref - q) + 0.1*ki*integral(ref - "
    "q + tip.z) - 0.02*slow)\"}}\n"
    "study: [dynamic: {for: 0.2 s, step: 4 ms, scheme: %s}]\n",
    5,
    3,
    {"m", "k", "ki", "T", "ref"},
    {"tip.z", "integral(tip.y)", "q"}};

// Integrals and states of laws have written tangents: no step is differentiated along all
// coordinates.
static void memory_has_written_tangents(void **state) {
    (void)state;
    static outcome got;
    char text[TEXT];
    follow_differences(&with_memory, "conserving", 5e-11);
    (void)snprintf(text, sizeof text, with_memory.text, "conserving");
    answer(&(question){.text = text, .nby = 2, .by = {"m", "ki"}, .nof = 1, .of = {"q"}}, &got);
    assert_int_equal(got.info.differenced_steps, 0);
    assert_int_equal(got.info.gathered, 2);
}

// Robots whose numbers are all gathered: an arm on a free body that turns, in gravity; one on a
// ball joint, which holds another by a ball joint; a loop of a soft rod and a lever with two ball
// joints; random numbers.
static const char *const robots[] = {
    "  hub: {on: world, joint: free, body: {mass: m, com: [d, 0, 1 cm], inertia: [1e-4, 2e-4, "
    "3e-4]}}\n"
    "  arm: {on: hub, pose: {xyz: [d, 0, 2 cm], axis: y, angle: th}, rod: {length: l, section: "
    "{circle: {radius: r}}, material: soft, strain: {bend_y: legendre 1, bend_z: legendre 1, "
    "twist: "
    "constant}, rest: {bend_y: 0.5}, nodes: 4}}\n"
    "initial: {hub: {twist: [w, 1, 2, 0.1, 0, 0.2]}}\n",
    "  hub: {on: world, joint: spherical, stiffness: k, damping: 0.001, body: {mass: m, com: [d, "
    "0, "
    "1 cm], inertia: [1e-4, 2e-4, 3e-4]}}\n"
    "  arm: {on: hub, pose: {xyz: [d, 0, 2 cm], axis: y, angle: th}, rod: {length: l, section: "
    "{circle: {radius: r}}, material: soft, strain: {bend_y: legendre 1, bend_z: constant}, nodes: "
    "4}}\n"
    "  head: {on: arm.tip, joint: spherical, stiffness: 0.2*k, body: {mass: 0.2*m, com: [1 cm, d, "
    "0], inertia: [1e-5, 2e-5, 2e-5]}}\n"
    "initial: {hub: {rate: [w, 1, 2]}, head: {rate: [1, -w, 2]}}\n",
    "  arm: {on: world, pose: {axis: y, angle: th}, rod: {length: l, section: {circle: {radius: "
    "r}}, "
    "material: soft, strain: {bend_y: legendre 1, bend_z: legendre 1, twist: constant, stretch: "
    "constant}, nodes: 4}}\n"
    "  ball: {on: arm.tip, joint: spherical, stiffness: k, body: {mass: m, com: [1 cm, 2 mm, 0], "
    "inertia: [1e-5, 1e-5, 1e-5]}}\n"
    "  lever: {on: world, pose: {xyz: [d, 0, 0], axis: y, angle: th/2}, joint: spherical, body: "
    "{mass: 10 g, com: [0.1, 0, 0], inertia: [1e-5, 1e-4, 1e-4]}}\n"
    "sites: {grip: {on: ball, pose: {xyz: [0, 0, -d]}}, top: {on: lever, pose: {xyz: [l, 0, 0]}}}\n"
    "loops: {hold: {join: [top, grip], as: spherical}}\n"
    "initial: {ball: {rate: [0.2, -0.5, w]}}\n"};

static void random_robots_are_gathered(void **state) {
    (void)state;
    dice draw = {7};
    for (int n = 0; n < AMONG(1, 3); n++) {
        char text[TEXT];
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "parameters: {E: %.3f MPa, l: %.3f m, r: %.2f mm, m: %.3f kg, d: %.3f m, th: "
            "%.3f, k: %.3f, w: %.2f, F: 0.05 N, rho: 1100 kg/m^3}\n"
            "gravity: [0.5, 0, -9.81 m/s^2]\n"
            "materials: {soft: {young: E, poisson: 0.45, density: rho, damping: 8 ms}}\n"
            "robot:\n%s"
            "loads: {push: {on: arm.tip, force: [0, F, \"F*sin(30*t/(1 s))\"]}}\n"
            "probes: {tip: {position: arm.tip}, v: {velocity: arm.tip}, e: energy}\n"
            "study: [dynamic: {for: 60 ms, step: 3 ms, scheme: conserving}]\n",
            roll(&draw, 0.3, 0.8), roll(&draw, 0.2, 0.3), roll(&draw, 6, 10),
            roll(&draw, 0.05, 0.1), roll(&draw, 0.04, 0.08), roll(&draw, -0.3, 0.3),
            roll(&draw, 0.2, 0.5), roll(&draw, 1, 5), robots[n]);
        question q = {.text = text,
                      .nby = 10,
                      .by = {"E", "l", "r", "m", "d", "th", "k", "w", "F", "rho"},
                      .nof = 3,
                      .of = {"integral(tip.z^2 + v.vy)", "tip.x + v.vx", "e.elastic"}};
        if (n == 0) q.nby = 9, q.by[6] = "rho"; // no spring
        gathers(&q, 0, 2e-9); // rounding of energies in the samples of sensitivities
        static outcome got, want;
        if (n == 0) continue;
        answer(&q, &got);
        differences(&q, 1e-4, &want);
        for (int k = 0; k < q.nby; k++) {
            const double error = fabs((got.dJ[k] - want.dJ[k]) * got.p[k]);
            if (error > 1e-8 * fabs(got.J[0]))
                print_error("by %s: %.12g, want %.12g\n", q.by[k], got.dJ[k], want.dJ[k]);
            assert_true(error <= 1e-8 * fabs(got.J[0]));
        }
    }
}

// A soft arm on a free body that falls on a floor and slides: all numbers but those of the floor.
static void numbers_are_gathered_beside_contact_points(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {E: 0.5 MPa, rho: 1100 kg/m^3, m: 20 g, push: 0.02 N, g: 9 m/s^2, damp: 8 ms, "
        "k: 300 N/m}\n"
        "gravity: [0, 0, -g]\n"
        "materials: {soft: {young: E, poisson: 0.45, density: rho, damping: damp}}\n"
        "robot:\n"
        "  hub: {on: world, joint: free, body: {mass: m, inertia: [1e-5, 1e-5, 2e-5], sphere: "
        "{radius: 2 cm}}}\n"
        "  arm: {on: hub, rod: {length: 0.3, section: {circle: {radius: 1 cm}}, material: soft, "
        "strain: {bend_y: legendre 2, bend_z: legendre 1}, nodes: 4}}\n"
        "  tip: {on: arm.tip, body: {sphere: {radius: 2 cm}, mass: 10 g}}\n"
        "initial: {hub: {pose: {xyz: [0, 0, 2.2 cm]}, twist: [0, 0, 1, 0.2, 0, 0]}}\n"
        "contacts: {floor: {ground: {on: [hub, tip], stiffness: k, damping: 0.1, friction: "
        "0.3}}}\n"
        "loads: {p: {on: tip, force: [0, push, 0]}}\n"
        "study: [dynamic: {for: 0.12, step: 2 ms, scheme: conserving}]\n"
        "probes: {tip: {position: tip}, v: {velocity: tip}}\n";
    static outcome got, want;
    question q = {.text = text,
                  .nby = 7,
                  .by = {"E", "rho", "m", "push", "g", "damp", "k"},
                  .nof = 2,
                  .of = {"integral(tip.z^2 + tip.y)", "tip.x + v.vz"},
                  .method = SNW_GRADIENT_ADJOINT};
    answer(&q, &got);
    assert_int_equal(got.info.gathered, 6);
    differences(&q, 1e-4, &want);
    assert_true(fabs(want.dJ[6] * got.p[6]) > 1e-3 * fabs(got.J[0])); // it touches the floor
    for (int k = 0; k < 14; k++) {
        // rounding of whole runs over their moves
        const double error = fabs((got.dJ[k] - want.dJ[k]) * got.p[k % 7]);
        if (error > 1e-8 * fabs(got.J[k / 7]))
            print_error("%s by %s: %.12g, want %.12g\n", q.of[k / 7], q.by[k % 7], got.dJ[k],
                        want.dJ[k]);
        assert_true(error <= 1e-8 * fabs(got.J[k / 7]));
    }
}

// Robots whose velocities other bodies share: bases that turn and move, also within the tree, with
// numbers of their laws; a loop on such a base; a wheel, a loop, a cable and a link that goes.
static const struct {
    const char *text, *of;
    int nby;
    const char *by[12];
} held[] = {
    {"sinew: 1\n"
     "parameters: {E: 0.5 MPa, l: 0.25 m, r: 8 mm, m: 0.08 kg, d: 0.05 m, th: 0.2, k: 0.3, "
     "w: 2, F: 0.05 N, rho: 1100 kg/m^3, A: 2 cm, om: 20 1/s, B: 0.3}\n"
     "gravity: [0.5, 0, -9.81 m/s^2]\n"
     "materials: {soft: {young: E, poisson: 0.45, density: rho, damping: 8 ms}}\n"
     "robot:\n"
     "  hub: {on: world, pose: {xyz: [\"A*sin(om*t)\", 0, \"0.5*A*cos(om*t)\"], axis: z, "
     "angle: \"B*sin(15*t/(1 s))\"}, joint: spherical, stiffness: k, damping: 0.001, body: "
     "{mass: m, com: [d, 0, 1 cm], inertia: [1e-4, 2e-4, 3e-4]}}\n"
     "  arm: {on: hub, pose: {xyz: [d, 0, 2 cm], axis: y, angle: th}, rod: {length: l, "
     "section: {circle: {radius: r}}, material: soft, strain: {bend_y: legendre 1, bend_z: "
     "constant}, nodes: 4}}\n"
     "  head: {on: arm.tip, pose: {xyz: [1 cm, \"0.3*A*sin(30*t/(1 s))\", 0], axis: x, "
     "angle: \"B*sin(12*t/(1 s))\"}, joint: spherical, stiffness: 0.2*k, body: {mass: "
     "0.2*m, com: [1 cm, d, 0], inertia: [1e-5, 2e-5, 2e-5]}}\n"
     "initial: {hub: {rate: [w, 1, 2]}, head: {rate: [1, -w, 2]}}\n"
     "loads: {push: {on: arm.tip, force: [0, F, \"F*sin(30*t/(1 s))\"]}}\n"
     "probes: {tip: {position: arm.tip}, v: {velocity: head}}\n"
     "study: [dynamic: {for: 60 ms, step: 3 ms, scheme: conserving}]\n",
     "tip.x + v.vx",
     12,
     {"E", "l", "r", "m", "d", "th", "k", "w", "rho", "A", "om", "B"}},
    {"sinew: 1\n"
     "parameters: {E: 0.4 MPa, l: 0.25 m, r: 8 mm, m: 0.05 kg, d: 0.2 m, th: 0.1, k: 0.3, "
     "w: 2, F: 0.05 N, rho: 1100 kg/m^3, A: 1 cm, om: 20 1/s}\n"
     "gravity: [0.5, 0, -9.81 m/s^2]\n"
     "materials: {soft: {young: E, poisson: 0.45, density: rho, damping: 8 ms}}\n"
     "robot:\n"
     "  arm: {on: world, pose: {xyz: [0, \"A*sin(om*t)\", 0], axis: y, angle: th}, rod: "
     "{length: l, section: {circle: {radius: r}}, material: soft, strain: {bend_y: legendre "
     "1, bend_z: legendre 1, twist: constant, stretch: constant}, nodes: 4}}\n"
     "  ball: {on: arm.tip, joint: spherical, stiffness: k, body: {mass: m, com: [1 cm, 2 "
     "mm, 0], inertia: [1e-5, 1e-5, 1e-5]}}\n"
     "  lever: {on: world, pose: {xyz: [d, 0, 0], axis: y, angle: th/2}, joint: spherical, "
     "body: {mass: 10 g, com: [0.1, 0, 0], inertia: [1e-5, 1e-4, 1e-4]}}\n"
     "sites: {grip: {on: ball, pose: {xyz: [0, 0, -d]}}, top: {on: lever, pose: {xyz: [l, "
     "0, 0]}}}\n"
     "loops: {hold: {join: [top, grip], as: spherical}}\n"
     "initial: {ball: {rate: [0.2, -0.5, w]}}\n"
     "loads: {push: {on: arm.tip, force: [0, F, \"F*sin(30*t/(1 s))\"]}}\n"
     "probes: {tip: {position: arm.tip}, v: {velocity: ball}, a: {acceleration: ball}}\n"
     "study: [dynamic: {for: 60 ms, step: 3 ms, scheme: conserving}]\n",
     "tip.x + v.vx + 1e-3*a.ax",
     11,
     {"E", "l", "r", "m", "d", "th", "k", "F", "rho", "A", "om"}},
    {"sinew: 1\n"
     "parameters: {E: 0.4 MPa, m: 0.5 kg, k: 0.3, w: 2, F: 0.5 N, rho: 1100 kg/m^3, u: 0.4 "
     "m/s, kc: 40 N/m, rest: 0.1 m}\n"
     "gravity: [0.5, 0, -9.81 m/s^2]\n"
     "materials: {soft: {young: E, poisson: 0.45, density: rho, damping: 8 ms}}\n"
     "robot:\n"
     "  car: {on: world, joint: free, body: {mass: m, com: [1 cm, 0, 2 cm], inertia: [1e-3, "
     "2e-3, 2e-3]}}\n"
     "  arm: {on: car, pose: {xyz: [0, 0.05, 0.02]}, rod: {length: 0.15, section: {circle: "
     "{radius: 8 mm}}, material: soft, strain: {bend_y: legendre 1, bend_z: legendre 1, "
     "twist: constant, stretch: constant}, nodes: 4}}\n"
     "  ball: {on: arm.tip, joint: spherical, stiffness: k, body: {mass: 0.05, com: [1 cm, "
     "2 mm, 0], inertia: [1e-5, 1e-5, 1e-5]}}\n"
     "  lever: {on: car, pose: {xyz: [0.15, -0.05, 0.02]}, joint: revolute, axis: z, body: "
     "{mass: 10 g, com: [0.05, 0, 0], inertia: [1e-5, 1e-4, 1e-4]}}\n"
     "  extra: {on: ball, joint: spherical, stiffness: 0.1*k, when: t < 30 ms, body: {mass: "
     "10 g, com: [0, 1 cm, 0], inertia: [1e-5, 1e-5, 1e-5]}}\n"
     "sites: {axle: {on: car, pose: {xyz: [-0.1, 0, 0]}}, grip: {on: ball, pose: {xyz: [0, "
     "-0.05, 0]}}, top: {on: lever, pose: {xyz: [0, 0.05, 0]}}}\n"
     "loops: {hold: {join: [top, grip], as: spherical}}\n"
     "contacts: {rear: {wheel: {on: axle, axis: y}}}\n"
     "springs: {c: {cable: [{xyz: [0.1, 0.05, 0.2]}, arm.tip], rest: rest, stiffness: kc, "
     "damping: 0.1}}\n"
     "initial: {car: {twist: [0.3, 0.2, 1, u, 0.1, 0.2]}, extra: {rate: [w, 0, 1]}}\n"
     "loads: {push: {on: arm.tip, force: [0, F, \"F*sin(30*t/(1 s))\"]}}\n"
     "probes: {tip: {position: arm.tip}, v: {velocity: ball}}\n"
     "study: [dynamic: {for: 60 ms, step: 3 ms, scheme: conserving}]\n",
     "tip.x + v.vx",
     9,
     {"E", "m", "k", "w", "F", "rho", "u", "kc", "rest"}}};

static void held_robots_are_gathered(void **state) {
    (void)state;
    static outcome got, want;
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        question q = {.text = held[i].text,
                      .nby = held[i].nby,
                      .nof = 2,
                      .of = {"integral(tip.z^2 + v.vy)", held[i].of}};
        memcpy(q.by, held[i].by, sizeof q.by);
        gathers(&q, 0, i < 2 ? 1e-10 : 2e-9); // rounding of energies in samples, as above
        answer(&q, &got);
        assert_int_equal(got.info.differenced_steps, 0);
        differences(&q, 1e-4, &want);
        for (int k = 0; k < q.nof * q.nby; k++) {
            const double error = fabs((got.dJ[k] - want.dJ[k]) * got.p[k % q.nby]);
            if (error > 1e-8 * fabs(got.J[k / q.nby]))
                print_error("%s by %s: %.12g, want %.12g\n", q.of[k / q.nby], q.by[k % q.nby],
                            got.dJ[k], want.dJ[k]);
            assert_true(error <= 1e-8 * fabs(got.J[k / q.nby])); // rounding of runs
        }
    }
}

static void checkpoints_give_the_same(void **state) {
    (void)state;
    static outcome kept, again;
    char text[6000];
    (void)snprintf(text, sizeof text, problems[0].text, "conserving");
    question q = {
        .text = text, .nby = 3, .by = {"k", "m", "l"}, .nof = 1, .of = {"integral(bob.x*t)"}};
    answer(&q, &kept);
    q.memory = 20000;
    answer(&q, &again);
    assert_true(again.info.recomputed > kept.info.steps / 2);
    assert_memory_equal(kept.J, again.J, sizeof kept.J);
    for (int k = 0; k < 3; k++) assert_near(again.dJ[k], kept.dJ[k], 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pendulum),
        cmocka_unit_test(conserving_follows_differences),
        cmocka_unit_test(touches_have_written_tangents),
        cmocka_unit_test(memory_has_written_tangents),
        cmocka_unit_test(random_robots_are_gathered),
        cmocka_unit_test(numbers_are_gathered_beside_contact_points),
        cmocka_unit_test(held_robots_are_gathered),
        cmocka_unit_test(checkpoints_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
