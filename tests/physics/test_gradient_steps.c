// SPDX-License-Identifier: MIT
//
// Gradients through steps of other kinds, theory.md 7.5: steps that begin from the end of others,
// steady equilibria, equilibria with hard contacts, kinematic steps and rk4, free joints on SO(3) x
// R^3, concentric tubes, hard contacts with conditions and samples; against closed forms, complex
// steps of the same recursion and differences of whole runs; the sweep back equals sensitivities
// along the run.
#include "asked_gradient.h"
#include "sanitized.h"

#include <complex.h>

static void near_both(question *q, int n, const double *want, double tol) {
    static outcome got;
    for (int k = 0; k < 2; k++) {
        q->method = k ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT;
        answer(q, &got);
        near_all(n, got.dJ, want, tol);
    }
}

// ---- steps from the end of others ---------------------------------------------------------------

// x'' = -w^2 x for 0.4 s; from there with b w for 0.5 s
static double complex branch(double complex w, double complex b, double complex v0, double t) {
    const double complex x = v0 * csin(0.4 * w) / w, v = v0 * ccos(0.4 * w), W = b * w;
    return x * ccos(W * t) + v * csin(W * t) / W;
}

// Both branches count: the second one by its end, the first one by a later place.
static double complex both_branches(double complex w, double complex b, double complex v0) {
    return branch(w, b, v0, 0.5) * branch(w, 1, v0, 0.6);
}

static void two_branches_of_an_oscillator(void **state) {
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
        "  - dynamic: {name: before, for: 0.4 s, step: 10 ms, scheme: gauss6}\n"
        "  - dynamic: {for: 0.7 s, step: 10 ms, scheme: gauss6}\n"
        "  - change: {cart.stiffness: (b*w)^2*1 N/m}\n"
        "  - modes: {from: before, count: 1}\n"
        "  - dynamic: {for: 0.5 s, step: 10 ms, scheme: gauss6}\n";
    const double h = 1e-30;
    const double want[3] = {cimag(both_branches(2 + h * I, 1.7, 1.5)) / h,
                            cimag(both_branches(2, 1.7 + h * I, 1.5)) / h,
                            cimag(both_branches(2, 1.7, 1.5 + h * I)) / h};
    near_both(&(question){.text = text,
                          .nby = 3,
                          .by = {"w", "b", "v0"},
                          .nof = 1,
                          .of = {"end(x.x)*at(1, x.x)"}},
              3, want, 1e-10);
}

#define ARM_FROM                                                                                   \
    "sinew: 1\n"                                                                                   \
    "gravity: 0\n"                                                                                 \
    "parameters: {F: 1 N, EI: 1 N*m^2, c: 0.02, f: 0.5, level: -0.02 m}\n"                         \
    "robot: {arm: {on: world, rod: {length: 0.8 m, section: {stiffness: {bend_y: EI}, damping: "   \
    "{bend_y: c}, inertia: [0, 0, 0, 0.1, 0.1, 0.1]}, strain: {bend_y: legendre 3}, nodes: 8}}}\n" \
    "loads: {push: {on: arm.tip, force: [0, 0, F*(1 + sin(5*t/(1 s)))]}}\n"                        \
    "probes: {tip: {position: arm.tip}, v: {velocity: arm.tip}}\n"

static const problem from[] = {
    {"equilibria, changes and motions",
     ARM_FROM "study: [static: {name: rest}, dynamic: {name: first, for: 0.05 s, step: 5 ms, "
              "scheme: %s}, change: {push.force: [0, 0, -f*F]}, dynamic: {for: 0.1 s, step: 5 ms}, "
              "dynamic: {for: 0.1 s, step: 4 ms, from: first, scheme: bdf2}, static: {from: rest}, "
              "dynamic: {for: 0.1 s, step: 5 ms, from: rest}]\n",
     4,
     2,
     {"F", "EI", "c", "f"},
     {"integral(tip.z^2)", "v.vz"}},
    {"from an event",
     ARM_FROM "study: [dynamic: {name: first, for: 0.2 s, step: 5 ms, scheme: %s, until: tip.z < "
              "level}, dynamic: {for: 20 ms, step: 5 ms}, dynamic: {for: 30 ms, step: 4 ms, from: "
              "first}]\n",
     4,
     2,
     {"F", "EI", "c", "level"},
     {"integral(tip.z^2)", "v.vz"}},
};

static void branches_follow_differences(void **state) {
    (void)state;
    follow_differences(&from[0], "generalized-alpha", 1e-10);
    follow_differences(&from[1], "bdf2", 1e-10);
}

static void checkpoints_give_the_same(void **state) {
    (void)state;
    static outcome kept, again;
    char text[TEXT];
    (void)snprintf(text, sizeof text, from[0].text, "bdf2");
    question q = {
        .text = text, .nby = 3, .by = {"F", "EI", "f"}, .nof = 1, .of = {"integral(tip.z)"}};
    answer(&q, &kept);
    q.memory = 4000;
    answer(&q, &again);
    assert_int_equal(kept.info.recomputed, 0);
    assert_true(again.info.recomputed > kept.info.steps / 2);
    for (int k = 0; k < 3; k++) assert_near(again.dJ[k], kept.dJ[k], 1e-12);
}

// ---- steady equilibria --------------------------------------------------------------------------

// k (r - l) = m w^2 r: radius and kinetic energy
static double complex turning(int of, double complex k, double complex m, double complex l,
                              double complex w) {
    const double complex r = k * l / (k - m * w * w);
    return of ? m * w * w * r * r / 2 : r;
}

static void a_bob_turns(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {k: 50 N/m, m: 0.5 kg, l: 0.4 m, w: 3 rad/s}\n"
        "gravity: 0\n"
        "robot:\n"
        "  hub: {on: world, joint: revolute, axis: z, body: {mass: 1, inertia: [0, 0, 0]}}\n"
        "  bob: {on: hub, pose: {xyz: [l, 0, 0]}, joint: prismatic, axis: x, stiffness: k, body: "
        "{mass: m, inertia: [0, 0, 0]}}\n"
        "actuators: {turn: {joint: hub, position: w*t}}\n"
        "probes: {at: {position: bob}, e: energy}\n"
        "study: [static: {steady: true}]\n";
    const double h = 1e-30;
    double want[8];
    for (int i = 0; i < 8; i++) {
        const int of = i / 4;
        const double complex x[4] = {50 + h * I * (i % 4 == 0), 0.5 + h * I * (i % 4 == 1),
                                     0.4 + h * I * (i % 4 == 2), 3 + h * I * (i % 4 == 3)};
        want[i] = cimag(turning(of, x[0], x[1], x[2], x[3])) / h;
    }
    near_both(&(question){.text = text,
                          .nby = 4,
                          .by = {"k", "m", "l", "w"},
                          .nof = 2,
                          .of = {"at.x", "e.kinetic"}},
              8, want, 1e-10);
}

static const problem steady = {
    "a rod on a hub, then let go",
    "sinew: 1\n"
    "parameters: {EI: 1 N*m^2, w: 3 rad/s, len: 0.8 m, m: 0.2}\n"
    "gravity: 0\n"
    "robot:\n"
    "  hub: {on: world, joint: revolute, axis: x, body: {mass: 1}}\n"
    "  arm: {on: hub, pose: {xyz: [0, 0.1, 0]}, rod: {length: len, section: {stiffness: {bend_y: "
    "EI, stretch: 100 N}, damping: {bend_y: 0.1}, inertia: [0, 0, 0, 0.1, 0.1, 0.1]}, strain: "
    "{bend_y: legendre 3, stretch: constant}, nodes: 8}}\n"
    "  bob: {on: arm.tip, joint: fixed, body: {mass: m}}\n"
    "actuators: {turn: {joint: hub, position: w*t}}\n"
    "loads: {push: {on: arm.tip, force: [0, 0, 0.5 N], frame: body}}\n"
    "probes: {tip: {position: arm.tip}, v: {velocity: arm.tip}, e: energy}\n"
    "study: [static: {steady: true}, dynamic: {for: 0.05 s, step: 5 ms, scheme: %s}]\n",
    4,
    2,
    {"w", "EI", "len", "m"},
    {"at(0, e.kinetic)", "end(v.vz) + integral(tip.y)"}};

// All numbers of a problem are gathered.
static void gathers_all(const problem *p, const char *scheme, double same) {
    char text[TEXT];
    (void)snprintf(text, sizeof text, p->text, scheme);
    question q = {.text = text, .nby = p->nby, .nof = p->nof};
    memcpy(q.by, p->by, sizeof p->by);
    memcpy(q.of, p->of, sizeof p->of);
    gathers(&q, 0, same);
}

static void steady_motions_follow_differences(void **state) {
    (void)state;
    follow_differences(&steady, "bdf2", 1e-10);
    gathers_all(&steady, "bdf2", 1e-10);
}

// ---- equilibria with hard contacts --------------------------------------------------------------

#define PRESSED(basis, nodes)                                                                      \
    "sinew: 1\n"                                                                                   \
    "gravity: 0\n"                                                                                 \
    "parameters: {deep: 0.2 m, EI: 1, len: 1, F: 0.1 N, tilt: 45 deg}\n"                           \
    "robot:\n"                                                                                     \
    "  rod: {on: world, pose: {xyz: [0, 0, 1 m*sin(45 deg)], rpy: [0, tilt, 0]}, rod: {length: "   \
    "len, section: {stiffness: {bend_y: EI}, damping: {bend_y: 0.05}, inertia: [0, 0, 0, 0.1, "    \
    "0.1, 0.1]}, strain: {bend_y: legendre " basis "}, nodes: " nodes "}}\n"                       \
    "contacts: {plane: {obstacle: {links: rod, shape: plane, at: [0, 0, deep], hard: true}}}\n"    \
    "probes: {tip: {position: rod.tip}, e: energy, clamp: {wrench: rod.root}}\n"

// The energy grows by the force of the contact times its way: 0.8494258472 N, by shooting
// (examples/contact/hard_press.yaml).
static void the_energy_of_a_pressed_rod(void **state) {
    (void)state;
    const double want[2] = {0.8494258472, 1};
    near_both(&(question){.text = PRESSED("12", "40") "study: [static: {}]\n",
                          .nby = 1,
                          .by = {"deep"},
                          .nof = 2,
                          .of = {"e.elastic", "tip.z"}},
              2, want, 2e-8);
    // the moment at the clamp, with the force of the contact
    static const char clamped[] = PRESSED("3", "5") "study: [static: {}]\n";
    static outcome runs;
    question q = {.text = clamped, .nby = 2, .by = {"deep", "EI"}, .nof = 1, .of = {"clamp.my"}};
    differences(&q, 1e-4, &runs);
    near_both(&q, 2, runs.dJ, 1e-7);
}

static const problem rest[] = {
    {"a rod, then in motion",
     PRESSED("5", "10") "loads: {push: {on: rod.tip, force: [F*(1 + t/(50 ms)), 0, 0]}}\n"
                        "study: [static: {}, dynamic: {for: 50 ms, step: 5 ms, scheme: %s}]\n",
     5,
     2,
     {"deep", "EI", "len", "F", "tilt"},
     {"at(0, e.elastic + tip.x)", "integral(tip.x^2)"}},
    {"a ball on a slope, held by a loop",
     "sinew: 1\n"
     "parameters: {m: 1, r: 50 mm, k: 400 N/m, s: 0.3, h: 0.2 m}\n"
     "gravity: [1, 0.5, -9.81]\n"
     "robot:\n"
     "  ball: {on: world, joint: free, stiffness: [1, 1, 1, 0, 0, 0], body: {sphere: {radius: r}, "
     "mass: m}}\n"
     "  post: {on: world, pose: {xyz: [-0.1, 0, h]}, joint: prismatic, axis: x, stiffness: k, "
     "body: "
     "{mass: 0.1}}\n"
     "  bar: {on: post, joint: spherical, stiffness: 0.05, body: {mass: 0.05, com: [0, 0, -0.1]}}\n"
     "sites: {low: {on: bar, pose: {xyz: [0, 0, -0.15]}}}\n"
     "initial: {ball: {pose: {xyz: [-0.1, 0, r]}}}\n"
     "loops: {pin: {join: [low, ball], as: spherical}}\n"
     "contacts:\n"
     "  floor: {obstacle: {links: ball, shape: plane, axis: [s, 0, 1], hard: true}}\n"
     "study: [static: {}] # %s\n"
     "probes: {at: {position: ball}, p: {value: post}}\n",
     4,
     2,
     {"m", "r", "k", "s"},
     {"at.x + 2*at.y", "p"}},
    {"a rod on a ball, bent by a tendon",
     "sinew: 1\n"
     "gravity: [0.3, 0.2, -9.81]\n"
     "parameters: {R: 0.1 m, X: 0.3 m, EI: 1, q: 0.3, F: 1 N}\n"
     "robot: {rod: {on: world, rod: {length: 0.6, section: {stiffness: {bend_y: EI, bend_z: 1, "
     "twist: 1}, inertia: [1e-4, 0, 0, q, q, q]}, strain: kirchhoff legendre 2, nodes: 8}}}\n"
     "contacts: {peg: {obstacle: {links: rod, shape: sphere, radius: R, at: [X, 0.02, -0.12], "
     "hard: true}}}\n"
     "actuators: {c: {tendon: {along: rod, at: [0, 0, 5 mm]}, effort: 3*F}}\n"
     "probes: {tip: {position: rod.tip}, e: energy}\n"
     "study: [static: {}] # %s\n",
     5,
     2,
     {"R", "X", "EI", "q", "F"},
     {"tip.z + tip.y", "e.total"}},
};

static void resting_contacts_follow_differences(void **state) {
    (void)state;
    follow_differences(&rest[0], "moreau", 1e-9);
    follow_differences(&rest[1], "", 1e-9);
    follow_differences(&rest[2], "", 1e-9);
    gathers_all(&rest[0], "moreau", 1e-9);
    gathers_all(&rest[1], "", 1e-9);
    gathers_all(&rest[2], "", 1e-9);
}

// A block on four corners: forces are not unique, places are. It sinks with the floor; forward
// only.
static void four_corners_rest(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {m: 1, low: -0.1 m, k: 100}\n"
        "robot: {block: {on: world, joint: free, stiffness: [k, k, k, k, k, k], body: {box: [0.2, "
        "0.1, 0.1], mass: "
        "m}}}\n"
        "initial: {block: {pose: {xyz: [0, 0, 0.05]}}}\n"
        "contacts: {floor: {ground: {on: block, at: [0, 0, low], hard: true}}}\n"
        "study: [static: {}]\n"
        "probes: {at: {position: block}}\n";
    static outcome got;
    question q = {.text = text, .nby = 2, .by = {"low", "m"}, .nof = 1, .of = {"at.z"}};
    answer(&q, &got); // chosen: forward
    assert_int_equal(got.info.method, SNW_GRADIENT_FORWARD);
    assert_near(got.dJ[0], 1, 1e-8);
    assert_near(got.dJ[1], 0, 1e-8);
    q.method = SNW_GRADIENT_ADJOINT;
    ask(&q, &got);
    assert_int_equal(got.status, SNW_E_SINGULAR);
    assert_non_null(strstr(got.err.text, "hold the robot more than once"));
}

// A spring that just touches the floor has two derivatives.
static void a_contact_without_force_is_named(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {k: 10 N/m, m: 1}\n"
        "gravity: [0, 0, -10]\n"
        "robot: {bob: {on: world, joint: prismatic, axis: z, stiffness: k, body: {mass: m}}}\n"
        "contacts: {floor: {ground: {on: bob, points: [[0, 0, 0]], at: [0, 0, -1], hard: true}}}\n"
        "study: [static: {}]\n"
        "probes: {at: {position: bob}}\n";
    static outcome got;
    ask(&(question){.text = text, .nby = 1, .by = {"k"}, .nof = 1, .of = {"at.z"}}, &got);
    assert_int_equal(got.status, SNW_E_SINGULAR);
    assert_non_null(strstr(got.err.text, "the hard contact 'floor' of link 'bob' touches without"));
}

// ---- explicit steps -----------------------------------------------------------------------------

// 60 steps of rk4 of x'' = -k x + F cos(7 t)
static double complex rk4_end(double complex k, double complex F, double complex x) {
    const double h = 0.02;
    double complex v = 0;
    for (int n = 0; n < 60; n++) {
        double complex a[4], u[4], y = x, s = v;
        for (int i = 0; i < 4; i++) {
            static const double c[4] = {0, 0.5, 0.5, 1};
            if (i > 0) y = x + c[i] * h * u[i - 1], s = v + c[i] * h * a[i - 1];
            u[i] = s, a[i] = -k * y + F * ccos(7 * (n + c[i]) * h);
        }
        x += h / 6 * (u[0] + 2 * u[1] + 2 * u[2] + u[3]);
        v += h / 6 * (a[0] + 2 * a[1] + 2 * a[2] + a[3]);
    }
    return x;
}

static void rk4_is_its_recursion(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {k: 9 N/m, F: 2 N, x0: 0.4 m}\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: k, body: {mass: 1}}}\n"
        "initial: {cart: x0}\n"
        "loads: {push: {on: cart, force: [F*cos(7*t/(1 s)), 0, 0]}}\n"
        "probes: {x: {position: cart}}\n"
        "study: [dynamic: {for: 1.2 s, step: 20 ms, scheme: rk4}]\n";
    const double h = 1e-30;
    const double want[3] = {cimag(rk4_end(9 + h * I, 2, 0.4)) / h,
                            cimag(rk4_end(9, 2 + h * I, 0.4)) / h,
                            cimag(rk4_end(9, 2, 0.4 + h * I)) / h};
    near_both(&(question){.text = text, .nby = 3, .by = {"k", "F", "x0"}, .nof = 1, .of = {"x.x"}},
              3, want, 1e-10);
}

static const problem explicit_steps[] = {
    {"rod and ball on a free body",
     "sinew: 1\n"
     "gravity: [0, 0, -3]\n"
     "parameters: {E: 0.5, F: 0.3 N, m: 0.4 kg, l: 0.3 m, c: 0.01, spin: 0.3}\n"
     "robot:\n"
     "  base: {on: world, joint: free, body: {mass: 1, com: [0.02, 0, 0.01], inertia: [0.02, 0.03, "
     "0.04]}}\n"
     "  arm: {on: base, rod: {length: l, section: {stiffness: {bend_y: E, bend_z: 0.4, twist: "
     "0.3}, "
     "damping: {bend_y: c, bend_z: c}, inertia: [1e-3, 1e-3, 1e-3, 0.1, 0.1, 0.1]}, strain: "
     "{bend_y: legendre 3, bend_z: legendre 2, twist: constant}, nodes: 8}}\n"
     "  ball: {on: arm.tip, joint: spherical, stiffness: 0.2, damping: 0.02, body: {mass: m, com: "
     "[0.05, 0, 0], inertia: [1e-3, 2e-3, 2e-3]}}\n"
     "initial: {base: {twist: [spin, -0.2, 0.5, 0.1, 0.2, -0.1]}, ball: {rate: [3, 2, -1]}}\n"
     "loads: {push: {on: arm.tip, force: [0, F*sin(90*t/(1 s)), 0]}}\n"
     "probes: {tip: {position: arm.tip}, e: energy, acc: {acceleration: ball}}\n"
     "study: [dynamic: {for: 4 ms, step: 0.125 ms, scheme: rk4}] # %s\n",
     6,
     2,
     {"E", "F", "m", "l", "c", "spin"},
     {"end(tip.x) + integral(tip.z^2)", "1000*integral(acc.ax*acc.ay) + e.kinetic"}},
    {"control with an integral and a sample, until a place",
     TWO_LINK_ARM("z: {law: bob.x}") "actuators: {motor: {joint: upper, effort: \"-ki*integral(q - "
                                     "ref) - sampled(2*r, 20 ms)\"}}\n"
                                     "study: [dynamic: {for: 0.3 s, step: 5 ms, scheme: rk4, "
                                     "until: bob.y < 0.2 m}] # %s\n",
     5,
     2,
     {"k", "m", "l", "ref", "ki"},
     {"integral(bob.y^2) + a.ax", "r"}},
    // quaternions lose their length in long steps
    {"a heavy top",
     "sinew: 1\n"
     "parameters: {m: 0.5 kg, w: 9, c: 0.1 m}\n"
     "robot: {top: {on: world, joint: spherical, body: {mass: m, com: [0.02 m, 0, c], inertia: "
     "[0.01, 0.011, 0.02]}}}\n"
     "initial: {top: {rate: [2, 1, w]}}\n"
     "probes: {r: {rotation: top}, e: energy}\n"
     "study: [dynamic: {for: 0.2 s, step: 20 ms, scheme: rk4}] # %s\n",
     3,
     2,
     {"m", "w", "c"},
     {"r.rx + 2*r.ry", "integral(e.kinetic)"}},
    {"a soft arm, on a base that moves, in a loop with a lever",
     "sinew: 1\n"
     "parameters: {E: 0.4 MPa, l: 0.25 m, d: 0.2 m, k: 0.3, A: 1 cm, w: 2}\n"
     "gravity: [0.5, 0, -9.81 m/s^2]\n"
     "materials: {soft: {young: E, poisson: 0.45, density: 1100, damping: 8 ms}}\n"
     "robot:\n"
     "  arm: {on: world, pose: {xyz: [0, \"A*sin(20*t/(1 s))\", 0], axis: y, angle: 0.1}, rod: "
     "{length: l, section: {circle: {radius: 8 mm}}, material: soft, strain: {bend_y: legendre 1, "
     "bend_z: legendre 1, twist: constant, stretch: constant}, nodes: 4}}\n"
     "  ball: {on: arm.tip, joint: spherical, stiffness: k, body: {mass: 0.05, com: [1 cm, 2 mm, "
     "0], inertia: [1e-5, 1e-5, 1e-5]}}\n"
     "  lever: {on: world, pose: {xyz: [d, 0, 0]}, joint: spherical, body: {mass: 10 g, com: [0.1, "
     "0, 0], inertia: [1e-5, 1e-4, 1e-4]}}\n"
     "sites: {grip: {on: ball, pose: {xyz: [0, 0, -d]}}, top: {on: lever, pose: {xyz: [l, 0, "
     "0]}}}\n"
     "loops: {hold: {join: [top, grip], as: spherical}}\n"
     "initial: {ball: {rate: [0.2, -0.5, w]}}\n"
     "probes: {tip: {position: arm.tip}, v: {velocity: ball}, a: {acceleration: ball}}\n"
     "study: [dynamic: {for: 10 ms, step: 0.5 ms, scheme: rk4}] # %s\n",
     6,
     2,
     {"E", "l", "d", "k", "A", "w"},
     {"integral(tip.z^2 + v.vy)", "v.vx + 1e-3*a.ax"}},
};

static void rk4_follows_differences(void **state) {
    (void)state;
    static outcome got;
    follow_differences(&explicit_steps[2], "", 1e-9);
    if (AMONG(1, 0)) return;
    follow_differences(&explicit_steps[0], "", 1e-9);
    follow_differences(&explicit_steps[1], "", 1e-9);
    follow_differences(&explicit_steps[3], "", 1e-9);
    question q = {.text = explicit_steps[3].text, .nby = 1, .by = {"d"}, .nof = 1, .of = {"v.vx"}};
    answer(&q, &got);
    assert_int_equal(got.info.differenced_steps, 0); // the loop is closed by written tangents
}

#define SWIMMER                                                                                    \
    "sinew: 1\n"                                                                                   \
    "gravity: 0\n"                                                                                 \
    "parameters: {A: 1.506395, psi: pi/2, a: 0.1 m, b: 0.02 m, gap: 0.01 m, rho: 1000 kg/m^2, "    \
    "mass: pi*rho*a*b, J: mass*(a^2 + b^2)/4, turn: 0.3}\n"                                        \
    "robot:\n"                                                                                     \
    "  middle: {on: world, joint: planar, body: {box: [2*a, 2*b, 2*b], mass: mass, inertia: [J, "  \
    "J, J]}}\n"                                                                                    \
    "  front: {on: middle, pose: {xyz: [a + gap, 0, 0]}, joint: revolute, body: {box: [2*a, 2*b, " \
    "2*b], mass: mass, com: [a + gap, 0, 0], inertia: [J, J, J]}}\n"                               \
    "  rear: {on: middle, pose: {xyz: [-a - gap, 0, 0]}, joint: revolute, body: {box: [2*a, 2*b, " \
    "2*b], mass: mass, com: [-a - gap, 0, 0], inertia: [J, J, J]}}\n"                              \
    "fluid: {water: {on: [middle, front, rear], added: [0, 0, pi*rho*(a^2 - b^2)^2/8, "            \
    "pi*rho*b^2, pi*rho*a^2, 0]}}\n"                                                               \
    "probes: {middle: {position: middle}, tau: {effort: bow}, e: energy}\n"

// The stroke of three ellipses that carries them farthest
// (examples/optimal/three_links_stroke.yaml, an independent program): A = 1.506395.
static void the_best_stroke_is_stationary(void **state) {
    (void)state;
    static outcome got;
    question q = {.text = SWIMMER
                  "actuators: {bow: {joint: front, position: -A*cos(t)}, stern: {joint: rear, "
                  "position: \"-A*cos(t + psi)\"}}\n"
                  "study: [kinematic: {for: 2*pi s, step: 40*pi ms}]\n",
                  .nby = 1,
                  .by = {"A"},
                  .nof = 1,
                  .of = {"sqrt(end(middle.x)^2 + end(middle.y)^2)"}};
    answer(&q, &got);
    assert_int_equal(got.info.method, SNW_GRADIENT_ADJOINT);
    assert_int_equal(got.info.differenced_steps, 0);
    assert_near(got.dJ[0], 0, 1e-6);
    q.method = SNW_GRADIENT_ADJOINT;
    answer(&q, &got);
    assert_near(got.J[0], 0.139731568, 1e-6);
    assert_near(got.dJ[0], 0, 1e-6); // 0.12 for A = 1
}

static const problem kinematic[] = {
    {"conserved momentum, an effort",
     SWIMMER "actuators: {bow: {joint: front, position: -A*cos(t)}, stern: {joint: rear, position: "
             "\"-A*cos(t + psi)\"}}\n"
             "initial: {middle: {rate: [0, 0, 0.1]}}\n"
             "study: [kinematic: {for: 1 s, step: 50 ms}] # %s\n",
     4,
     2,
     {"A", "psi", "a", "gap"},
     {"middle.x + 2*middle.y", "integral(e.kinetic) + end(tau)"}},
    {"anchors that change",
     "sinew: 1\n"
     "gravity: 0\n"
     "parameters: {A: 2, l: 1 m, w: 1 rad/s}\n"
     "materials: {flesh: {young: 1, poisson: 0.5, density: 1000 kg/m^3}}\n"
     "robot: {worm: {on: world, joint: planar, rod: {length: l, nodes: 12, section: {circle: "
     "{radius: 20 mm}}, material: flesh, strain: {bend_z: "
     "\"A*sin(w*pi/2*t)^2*2*pi/l*cos(2*pi/l*(x - l))\"}}}}\n"
     "contacts: {head: {anchor: {on: worm.root}, when: \"mod(t, 2 s) < 1 s\"}, tail: {anchor: {on: "
     "worm.tip}, when: \"mod(t, 2 s) >= 1 s\"}}\n"
     "study: [kinematic: {for: 2 s, step: 0.1 s}] # %s\n"
     "probes: {head: {position: worm.root}}\n",
     2,
     1,
     {"A", "l"},
     {"head.x"}},
    {"wheels, ended by a place",
     "sinew: 1\n"
     "gravity: 0\n"
     "parameters: {v: 1, s: 0.4, l: 0.3 m, end: 0.25 m}\n"
     "robot:\n"
     "  car: {on: world, joint: planar, body: {mass: 1}}\n"
     "  fork: {on: car, pose: {xyz: [l, 0, 0]}, joint: revolute, axis: z, body: {mass: 0.1}}\n"
     "  motor: {on: car, joint: revolute, axis: y, body: {mass: 0.1}}\n"
     "actuators: {steer: {joint: fork, position: s*sin(3*t/(1 s))}, spin: {joint: motor, position: "
     "v*t*10/(1 s)}}\n"
     "contacts: {rear: {wheel: {on: motor, axis: y, radius: 0.05}}, front: {wheel: {on: fork, "
     "axis: y}}}\n"
     "study: [kinematic: {for: 2 s, step: 20 ms, until: at.x > end}] # %s\n"
     "probes: {at: {position: car}}\n",
     4,
     1,
     {"v", "s", "l", "end"},
     {"at.y"}},
};

// Classes of locomotion, with the transposes of their stages
static const problem gaits[] = {
    {"wheels that leave a motion, and a rotor that turns at the start", // a snakeboard
     "sinew: 1\n"
     "gravity: 0\n"
     "parameters: {l: 0.2 m, w: 2, A: 0.5, m: 1 kg}\n"
     "robot:\n"
     "  board: {on: world, joint: planar, body: {mass: 4.6, inertia: [0.1, 0.1, 0.15]}}\n"
     "  rotor: {on: board, joint: revolute, body: {mass: m, inertia: [0.05, 0.05, 0.072]}}\n"
     "  axle(k=1..2): {on: board, pose: {xyz: [-(-1)^k*l, 0, 0]}, joint: revolute, body: {mass: "
     "0.2, inertia: [1e-3, 1e-3, 1.3e-3]}}\n"
     "actuators: {spin: {joint: rotor, position: sin(w*t/(1 s))}, steer(k=1..2): {joint: axle(k), "
     "position: (-1)^k*A*sin(2*t/(1 s))}}\n"
     "contacts: {wheels(k=1..2): {wheel: {on: axle(k), axis: y}}}\n"
     "study: [kinematic: {for: 0.2 s, step: 20 ms}] # %s\n"
     "probes: {at: {position: board}, a: {acceleration: board}}\n",
     4,
     2,
     {"l", "w", "A", "m"},
     {"at.x", "at.y + a.ax"}},
    {"a free body under its weight",
     "sinew: 1\n"
     "gravity: [0, 0, -1]\n"
     "parameters: {A: 1, m: 0.5, F: 0.1 N, r: 0.2 m, v0: 0.3}\n"
     "robot:\n"
     "  base: {on: world, joint: free, body: {mass: 1, inertia: [0.02, 0.03, 0.04]}}\n"
     "  arm: {on: base, pose: {xyz: [r, 0, 0]}, joint: revolute, axis: z, body: {mass: m, com: "
     "[0.3, 0, 0], inertia: [0.01, 0.02, 0.03]}}\n"
     "  ball: {on: arm, pose: {xyz: [0.3, 0, 0]}, joint: spherical, body: {mass: 0.1, com: [0, "
     "0.1, "
     "0], inertia: [1e-3, 1e-3, 1e-3]}}\n"
     "initial: {base: {twist: [0.1, 0.2, v0, 0, 0, 0]}}\n"
     "actuators: {turn: {joint: arm, position: A*sin(5*t/(1 s))}}\n"
     "loads: {push: {on: base, force: [0, F, 0]}}\n"
     "study: [kinematic: {for: 0.4 s, step: 40 ms}] # %s\n"
     "probes: {p: {position: base}, b: {position: ball}, tau: {effort: turn}}\n",
     5,
     2,
     {"A", "m", "F", "r", "v0"},
     {"p.x + 2*b.y", "integral(tau^2)"}},
    {"resistance alone",
     "sinew: 1\n"
     "parameters: {a: 0.3, w: 1, l: 1 m, c: 2}\n"
     "materials: {weightless: {young: 1, poisson: 0.5, density: 0}}\n"
     "robot:\n"
     "  middle: {on: world, joint: planar, rod: {length: l, nodes: 2, section: {circle: {radius: "
     "20 "
     "mm}}, material: weightless, strain: rigid}}\n"
     "  bow: {on: middle, joint: revolute, rod: {length: 1 m, nodes: 2, section: {circle: {radius: "
     "20 mm}}, material: weightless, strain: rigid}}\n"
     "fluid: {honey: {on: [middle, bow], drag: {linear: [1, c, c]}}}\n"
     "loads: {pull: {on: bow.tip, force: [0.01, 0.02, 0]}}\n"
     "actuators: {turn: {joint: bow, position: 0.5 + a*sin(w*t/(1 s))}}\n"
     "study: [kinematic: {for: 1 s, step: 0.1 s}] # %s\n"
     "probes: {at: {position: middle.tip}, tau: {effort: turn}}\n",
     4,
     2,
     {"a", "w", "l", "c"},
     {"at.x + 2*at.y", "integral(tau^2)"}},
    {"a conserved momentum in space",
     "sinew: 1\n"
     "gravity: 0\n"
     "parameters: {A: 1, m: 0.5, d: 0.2 m, spin: 0.4}\n"
     "robot:\n"
     "  base: {on: world, joint: free, body: {mass: 1, inertia: [0.02, 0.03, 0.04]}}\n"
     "  arm: {on: base, pose: {xyz: [d, 0, 0]}, joint: revolute, axis: z, body: {mass: m, com: "
     "[0.3, 0, 0], inertia: [0.01, 0.02, 0.03]}}\n"
     "initial: {base: {twist: [0.1, spin, 0.3, 0.2, 0, 0.1]}}\n"
     "actuators: {turn: {joint: arm, position: A*sin(5*t/(1 s))}}\n"
     "study: [kinematic: {for: 0.4 s, step: 40 ms}] # %s\n"
     "probes: {p: {position: base}, r: {rotation: base}, tau: {effort: turn}}\n",
     4,
     2,
     {"A", "m", "d", "spin"},
     {"p.x + 2*r.rz", "integral(tau^2)"}},
};

// Differences of whole runs do not resolve more; the sweep back has no differences of states.
static void gaits_have_their_transposes(void **state) {
    (void)state;
    static outcome got;
    for (size_t i = 0; i < AMONG(1, sizeof gaits / sizeof *gaits); i++) {
        follow_differences(&gaits[i], "", 1e-9);
        question q = {.text = gaits[i].text, .nby = gaits[i].nby, .nof = 1, .of = {gaits[i].of[0]}};
        memcpy(q.by, gaits[i].by, sizeof q.by[0] * 6);
        answer(&q, &got);
        assert_int_equal(got.info.method, SNW_GRADIENT_ADJOINT);
        assert_int_equal(got.info.differenced_steps, 0);
    }
}

static void kinematic_steps_follow_differences(void **state) {
    (void)state;
    follow_differences(&kinematic[0], "", 1e-9);
    if (AMONG(1, 0)) return;
    follow_differences(&kinematic[1], "", 1e-9);
    follow_differences(&kinematic[2], "", 1e-9);
}

// The momentum that a link takes when it becomes active is not differentiated.
static void a_link_that_becomes_active_is_named(void **state) {
    (void)state;
    static outcome got;
    char text[TEXT];
    static const char *const scheme[] = {"bdf2", "conserving"};
    for (int k = 0; k < 4; k++) {
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "parameters: {m: 0.5 kg}\n"
            "robot:\n"
            "  arm: {on: world, joint: revolute, axis: y, body: {mass: m, com: [0.4 m, 0, 0]}}\n"
            "  bag: {on: arm, pose: {xyz: [0.4 m, 0, 0]}, body: {mass: 0.3, com: [0.1, 0, 0]}, "
            "when: t %s 0.1 s}\n"
            "probes: {q: {angle: arm}}\n"
            "study: [dynamic: {for: 0.2 s, step: 5 ms, scheme: %s}]\n",
            k < 2 ? ">" : "<", scheme[k % 2]);
        ask(&(question){.text = text, .nby = 1, .by = {"m"}, .nof = 1, .of = {"q"}}, &got);
        assert_int_equal(got.status, k < 2 ? SNW_E_MODEL : SNW_OK);
        if (k < 2) assert_non_null(strstr(got.err.text, "'bag' becomes active"));
    }
}

// Angles of a swimmer through knots
static void gaits_through_knots(void **state) {
    (void)state;
    static const double knot[5] = {0, 0.25, 0.5, 0.75, 1}, at[5] = {0.1, 0.9, -0.3, 0.4, 0.2};
    const snw_gradient_variable law = {
        .name = "bow.position", .nknot = 5, .knot = knot, .rule = SNW_KNOTS_SMOOTH, .unit = "rad"};
    question q = {.text = SWIMMER
                  "actuators: {bow: {joint: front, position: 0.1}, stern: {joint: rear, position: "
                  "\"-A*cos(t + psi)\"}}\n"
                  "study: [kinematic: {for: 1 s, step: 50 ms}]\n",
                  .nby = 5,
                  .law = &law,
                  .at = at,
                  .nof = 1,
                  .of = {"end(middle.x) + 0.01*integral(tau^2)"}};
    static outcome got, forward, want;
    q.method = SNW_GRADIENT_ADJOINT;
    answer(&q, &got);
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &forward);
    q.method = SNW_GRADIENT_DIFFERENCES;
    answer(&q, &want);
    near_all(5, got.dJ, forward.dJ, 5e-9); // forward, maps are differences
    near_all(5, got.dJ, want.dJ, 1e-7);
}

static void chosen_steps_are_refused(void **state) {
    (void)state;
    static outcome got;
    ask(&(question){.text = SWIMMER
                    "actuators: {bow: {joint: front, position: -A*cos(t)}, stern: {joint: rear, "
                    "position: 0}}\n"
                    "study: [kinematic: {for: 1 s, tolerance: 1e-6}]\n",
                    .nby = 1,
                    .by = {"A"},
                    .nof = 1,
                    .of = {"middle.x"}},
        &got);
    assert_int_equal(got.status, SNW_E_MODEL);
    assert_non_null(strstr(got.err.text, "give it a 'step'"));
}

// ---- free joints on SO(3) x R^3 -----------------------------------------------------------------

#define SPLIT(study, more)                                                                         \
    "sinew: 1\n"                                                                                   \
    "parameters: {m: 1.2, J: 0.02, k: 3, F: 0.7 N, c: 0.1, level: 0.03 m}\n"                       \
    "gravity: [0, 0, -2]\n"                                                                        \
    "robot:\n"                                                                                     \
    "  body: {on: world, joint: free, body: {mass: m, com: [0.05, 0.02, 0.1], inertia: [J, 0.03, " \
    "0.015]}}\n"                                                                                   \
    "  arm: {on: body, pose: {xyz: [0.1, 0, 0]}, joint: revolute, axis: y, stiffness: k, "         \
    "damping: c, body: {mass: 0.4, com: [0.2, 0, 0.05], inertia: [0.01, 0.02, 0.02]}}\n"           \
    "initial: {body: {twist: [1, 0.5, 3, 0.2, 0.1, 0.4]}, arm: {position: 0.3}}\n"                 \
    "probes: {at: {position: arm}, u: {velocity: arm}}\n"                                          \
    "study: [" study "]\n" more

static const problem split[] = {
    {"a body with an arm, at rest, changed, and its velocity fed back",
     SPLIT("dynamic: {name: first, for: 0.1 s, step: 10 ms, scheme: %s, base: split}, change: {c: "
           "0.2}, dynamic: {for: 0.1 s, step: 10 ms, base: split, scheme: euler, from: first}",
           "loads: {push: {on: arm, force: [0, \"F*sin(5*t/(1 s)) - F*integral(u.vy)/(1 m)\", "
           "0.3]}}\n"),
     4,
     2,
     {"m", "J", "k", "F"},
     {"at.x", "integral(u.vz^2)"}},
    {"a change between steps whose start reads no accelerations",
     SPLIT("dynamic: {for: 50 ms, step: 10 ms, scheme: %s, base: split}, change: {c: 0.2}, "
           "dynamic: {for: 50 ms, step: 10 ms, base: split, scheme: euler}",
           "loads: {push: {on: arm, force: [0, F, 0.3]}}\n"),
     4,
     1,
     {"m", "J", "k", "F"},
     {"at.x"}},
    {"an event",
     SPLIT("dynamic: {for: 0.2 s, step: 10 ms, scheme: %s, base: split}",
           "loads: {push: {on: arm, force: [0, F, 0.3], when: at.y < level}}\n"),
     5,
     2,
     {"m", "J", "k", "F", "level"},
     {"at.x", "integral(u.vz^2)"}},
    {"a loop whose velocities are projected",
     SPLIT("dynamic: {for: 0.1 s, step: 10 ms, scheme: %s, base: split}",
           "sites: {eye: {on: arm, pose: {xyz: [0.3, 0, 0]}}}\n"
           "loops: {pin: {join: [world, eye], as: spherical, pose: {xyz: [0.3866, 0, "
           "-0.0887]}}}\n"),
     3,
     2,
     {"m", "J", "k"},
     {"at.x", "integral(u.vz^2)"}},
};

static void split_bases_follow_differences(void **state) {
    (void)state;
    follow_differences(&split[0], "bdf2", 1e-10);
    follow_differences(&split[0], "generalized-alpha", 1e-10);
    follow_differences(&split[1], "euler", 1e-10);
    follow_differences(&split[2], "bdf-alpha", 1e-10);
    follow_differences(&split[3], "trapezoidal", 1e-9);
}

// ---- concentric tubes ---------------------------------------------------------------------------

static const problem tubes[] = {
    {"tubes that turn each other",
     "sinew: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "parameters: {E: 58 GPa, F: 0.05 N, k: 8 1/m, base: -10 cm, turn: 60 deg, tau: 1 ms}\n"
     "materials: {nitinol: {young: E, poisson: 0.3, density: 6450, damping: tau}}\n"
     "robot:\n"
     "  cannula:\n"
     "    on: world\n"
     "    degree: 2\n"
     "    tubes:\n"
     "      inner: {diameter: 1.2 mm, inner: 0.8 mm, material: nitinol, straight: 20 cm, curved: "
     "10 "
     "cm, curvature: k, translation: base, rotation: \"turn + 0.2*sin(30*t/(1 s))^2\"}\n"
     "      outer: {diameter: 1.8 mm, inner: 1.4 mm, material: nitinol, straight: 12 cm, curved: 8 "
     "cm, curvature: 10 1/m, translation: -7 cm}\n"
     "loads: {touch: {on: cannula.tip, force: [0, F*(1 + sin(20*t/(1 s))), F]}}\n"
     "probes: {tip: {position: cannula}, v: {velocity: cannula}, torque: {effort: "
     "inner_rotation}}\n"
     "study: [static: {}, dynamic: {for: 6 ms, step: 2 ms, scheme: %s}]\n",
     3,
     3,
     {"E", "base", "turn"},
     {"tip.y", "v.vz", "end(torque)"}},
};

static void tubes_follow_differences(void **state) {
    (void)state;
    static const char *const scheme[] = {"gauss4", "radau5"};
    for (int i = 0; i < AMONG(1, 2); i++) follow_moves(&tubes[0], scheme[i], 1e-9, 1e-3);
}

static void sliding_tubes_are_refused(void **state) {
    (void)state;
    char text[TEXT], scheme[] = "bdf2";
    static outcome got;
    (void)snprintf(text, sizeof text, tubes[0].text, scheme);
    char *base = strstr(text, "translation: base");
    assert_non_null(base);
    memcpy(base, "translation: t*0.1 m/s - 10 cm, rotation: turn} #", 49);
    ask(&(question){.text = text, .nby = 1, .by = {"E"}, .nof = 1, .of = {"tip.y"}}, &got);
    if (got.status != SNW_E_MODEL) print_error("%s\n", got.err.text);
    assert_int_equal(got.status, SNW_E_MODEL);
    assert_non_null(strstr(got.err.text, "concentric tubes whose 'translation' is a law of t"));
}

// ---- hard contacts with conditions and samples --------------------------------------------------

static const problem hard[] = {
    {"sampled control, a brake",
     "sinew: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "parameters: {k: 20, c: 3, mu: 0.3, brake: 2, level: 0.102 m, m: 1}\n"
     "robot: {ball: {on: world, joint: free, body: {sphere: {radius: 50 mm}, mass: m}}}\n"
     "initial: {ball: {pose: {xyz: [0, 0, 50 mm]}, twist: [0, 0, 0, 1, 0, 0]}}\n"
     "contacts: {floor: {ground: {on: ball, hard: true, friction: mu}}}\n"
     "loads:\n"
     "  pull: {on: ball, force: [\"-k*sampled(at.x, 20 ms) - c*sampled(u.vx, 20 ms)\", 0, 0]}\n"
     "  stop: {on: ball, force: [-brake, 0, 0], when: at.x > level}\n"
     "study: [dynamic: {for: 0.2 s, step: 5 ms}] # %s\n"
     "probes: {at: {position: ball}, u: {velocity: ball}}\n",
     6,
     2,
     {"k", "c", "mu", "brake", "level", "m"},
     {"at.x", "integral(at.x^2)"}},
};

static void controlled_contacts_follow_differences(void **state) {
    (void)state;
    follow_differences(&hard[0], "", 1e-9);
}

// A ball that rolls, 1.4 m in all, takes up a slide, until it has come to a place:
// v = m v0/(1.4 m + mb + 0.2).
static void a_rolling_ball_takes_up_a_slide(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "gravity: [0, 0, -9.81]\n"
        "parameters: {v: 1, level: 0.12 m, m: 1, mb: 0.5, mu: 0.3}\n"
        "robot:\n"
        "  slide: {on: world, joint: prismatic, axis: x, body: {mass: mb}}\n"
        "  lift: {on: slide, joint: prismatic, axis: z, body: {mass: 0.2}}\n"
        "  ball: {on: world, joint: free, body: {sphere: {radius: 50 mm}, mass: m}}\n"
        "initial: {ball: {pose: {xyz: [0, 0, 0.05]}, twist: [0, 0, 0, v, 0, 0]}, slide: level, "
        "lift: 0.05 m}\n"
        "contacts: {floor: {ground: {on: ball, hard: true, friction: mu}}}\n"
        "loops: {catch: {join: [lift, ball], as: spherical, when: at.x > level}}\n"
        "loads: {hold: {on: lift, force: [0, 0, 1.962 N]}}\n"
        "study: [dynamic: {for: 0.3 s, step: 5 ms, until: at.x > 0.2 m}, dynamic: {for: 50 ms, "
        "step: 5 ms}]\n"
        "probes: {at: {position: ball}, u: {velocity: ball}}\n";
    const double all = 2.1;
    const double want[5] = {1 / all, 1 / all - 1.4 / (all * all), -1 / (all * all), 0, 0};
    near_both(&(question){.text = text,
                          .nby = 5,
                          .by = {"v", "m", "mb", "mu", "level"},
                          .nof = 1,
                          .of = {"u.vx"}},
              5, want, 1e-8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_branches_of_an_oscillator),
        cmocka_unit_test(branches_follow_differences),
        cmocka_unit_test(checkpoints_give_the_same),
        cmocka_unit_test(a_bob_turns),
        cmocka_unit_test(steady_motions_follow_differences),
        cmocka_unit_test(the_energy_of_a_pressed_rod),
        cmocka_unit_test(resting_contacts_follow_differences),
        cmocka_unit_test(four_corners_rest),
        cmocka_unit_test(a_contact_without_force_is_named),
        cmocka_unit_test(rk4_is_its_recursion),
        cmocka_unit_test(rk4_follows_differences),
        cmocka_unit_test(the_best_stroke_is_stationary),
        cmocka_unit_test(kinematic_steps_follow_differences),
        cmocka_unit_test(gaits_have_their_transposes),
        cmocka_unit_test(a_link_that_becomes_active_is_named),
        cmocka_unit_test(gaits_through_knots),
        cmocka_unit_test(chosen_steps_are_refused),
        cmocka_unit_test(split_bases_follow_differences),
        cmocka_unit_test(tubes_follow_differences),
        cmocka_unit_test(sliding_tubes_are_refused),
        cmocka_unit_test(controlled_contacts_follow_differences),
        cmocka_unit_test(a_rolling_ball_takes_up_a_slide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
