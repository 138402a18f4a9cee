// SPDX-License-Identifier: MIT
//
// Gradients by many numbers of the file at the cost of one sweep, theory.md (7.5.11) to (7.5.19):
// arms with springs, bushings, tendons, chambers, feedback, laws with memory, events and contacts,
// drawn at random; closed loops of soft and rigid links; energies, tensions and reactions as
// results. All numbers, lengths and places included, are gathered along the run, and equal forward
// sensitivities, which take each by itself, and differences of whole runs.
#include "asked_gradient.h"
#include "random_rod.h"
#include "sanitized.h"

#include <stdlib.h>

static const char *const schemes[] = {"shorten: off, scheme: bdf2",
                                      "shorten: off, scheme: generalized-alpha, rho: 0.7",
                                      "shorten: off, scheme: newmark", "scheme: gauss4"};

// ---- open robots --------------------------------------------------------------------------------

// Hub, soft arm and head; springs, actuators, contacts, study and scheme are left open.
static const char arm[] =
    "sinew: 1\n"
    "parameters: {len: 0.25 m, dx: 3 cm, tilt: 0.3, lean: 0.2, reach: 2 cm, m: 50 g, ks: 30, cs: "
    "0.3, l0: 0.1 m, g: 5, ref: 0.2, s: 5 mm}\n"
    "gravity: [0, 0, -9.81 m/s^2]\n"
    "materials: {soft: {young: 0.4 MPa, poisson: 0.45, density: 1100, damping: 8 ms}}\n"
    "robot:\n"
    "  hub: {on: world, pose: {xyz: [dx, 1 cm, 0], rpy: [tilt, 0.2, -0.1]}, joint: revolute, axis: "
    "[lean, 1, 0.3], stiffness: 2, damping: 0.01, body: {mass: m, com: [2 cm, 0, 0], inertia: "
    "[2e-6, 3e-6, 4e-6]}}\n"
    "  arm: {on: hub, pose: {xyz: [0, 0, dx/2], axis: x, angle: lean}, rod: {length: len, section: "
    "{circle: {radius: 1 cm}}, material: soft, strain: {bend_y: legendre 2, bend_z: legendre 2, "
    "twist: legendre 1, stretch: legendre 1}, nodes: 5}}\n"
    "  head: {on: arm.tip, pose: {xyz: [reach, 0, 0]}, joint: spherical, stiffness: 0.5, damping: "
    "0.002, body: {mass: 30 g, com: [1 cm, 2 mm, 0], inertia: [2e-6, 3e-6, 4e-6]}}\n"
    "sites: {nose: {on: head, pose: {xyz: [3 cm, reach/3, 5 mm]}}, hook: {on: world, pose: {xyz: "
    "[ref, 10 cm, 20 cm]}}}\n"
    "initial: {hub: {rate: 3 rad/s}, head: {rate: [1, -2, 1.5]}}\n"
    "probes: {nose: {position: nose}, speed: {velocity: nose}, mid: {position: arm@37%%}, bent: "
    "{strain: arm@40%%}, turn: {value: hub}, e: energy%s}\n"
    "springs: {%s}\n"
    "actuators: {%s}\n"
    "loads: {kick: {on: nose, force: [0.1, 0, \"0.3*sin(200*t/(1 s))\"]%s}}\n"
    "contacts: {%s}\n"
    "study:\n%s  - dynamic: {for: 15 ms, step: 1 ms, %s}\n";

static const char *const springs[] = {
    "", "line: {spring: [hook, nose], stiffness: ks, rest: l0, damping: cs}",
    "line: {cable: [hook, nose], stiffness: ks, rest: l0, damping: cs}",
    ("pad: {bushing: [hook, nose], stiffness: [ks/1000, ks/900, 0.02, ks, ks, 9], damping: [1e-4, "
     "cs/1000, 0, cs, cs, cs]}, damp: {damper: [hook, arm.tip], damping: cs}")};
static const char *const motors[] = {
    "",
    "motor: {joint: hub, effort: \"-g*(nose.z - ref)*0.2 - 0.1*g*speed.vz + 0.01*bent.bend_y\"}",
    ("motor: {joint: hub, effort: \"-g*(nose.z - ref)*0.2 - 4*g*integral(nose.z*ref - 0.1*speed.vz)"
     "\"}"),
    "motor: {joint: hub, effort: \"-sampled(g*(nose.z - ref)*0.2 + 0.4*g*speed.vz, 5 ms)\"}"};
static const char *const pulls[] = {
    "", "cable: {tendon: {along: arm, at: [0, s, 2 mm]}, effort: \"g*sin(100*t/(1 s))\"}",
    "cable: {tendon: {along: arm, at: [0, s, 2 mm], compliance: 0.002 1/N}, shortening: 3 mm}",
    "cell: {chamber: {along: arm, at: [0, s, 0], area: s*5 mm}, effort: 20 kPa}"};

static void random_arms(void **state) {
    (void)state;
    dice d = {5};
    static const char *const of[] = {"integral(nose.z^2 + 0.1*nose.x + mid.y)", "speed.vy",
                                     "at(0.01, bent.bend_z)"};
    for (int n = 0; n < AMONG(2, 8); n++) {
        char text[TEXT], acts[600];
        // each kind at least twice in eight
        const int spring = n % 4, motor = (n + 1 + n / 4) % 4, pull = pick_int(&d, 0, 3);
        const bool event = pick_int(&d, 0, 2) == 0, floor = n % 4 == 1,
                   rests = !event && motor < 2 && pick_int(&d, 0, 1) == 0;
        (void)snprintf(acts, sizeof acts, "%s%s%s", motors[motor],
                       motors[motor][0] && pulls[pull][0] ? ", " : "", pulls[pull]);
        (void)snprintf(text, sizeof text, arm, "", springs[spring], acts,
                       event ? ", when: turn > 0.01" : "",
                       floor ? "floor: {ground: {on: arm, normal: [0.1, 0, 1], at: [0, 0, 2 cm], "
                               "stiffness: 20 kN/m^2, damping: 1 s/m, friction: 0.3}}"
                             : "",
                       rests ? "  - static: {tolerance: 1e-14}\n" : "", schemes[n % 4]);
        question q = {
            .text = text,
            .nby = 12,
            .by = {"len", "dx", "tilt", "lean", "reach", "m", "ks", "cs", "l0", "g", "ref", "s"},
            .nof = 3};
        memcpy(q.of, of, sizeof of);
        gathers(&q, 0, 1e-10);
        static outcome got, want;
        if (n != 3) continue; // with memory and a bushing: also differences of whole runs
        answer(&q, &got);
        differences(&q, 1e-4, &want);
        for (int k = 0; k < 12; k++)
            assert_true(fabs((got.dJ[k] - want.dJ[k]) * got.p[k]) <= 1e-8 * fabs(got.J[0]));
    }
}

// Energies of masses, rods, joints, springs and bushings; tensions, lengths, accelerations,
// relative poses, reactions and wrenches within rods, which depend on places themselves.
static void results_that_read_the_model(void **state) {
    (void)state;
    char text[TEXT];
    for (int i = 0; i < AMONG(1, 2); i++) {
        (void)snprintf(text, sizeof text, arm, ", mom: momentum, cm: center_of_mass",
                       springs[i ? 3 : 1], pulls[1], "", "", "", schemes[i ? 3 : 0]);
        gathers(&(question){.text = text,
                            .nby = 12,
                            .by = {"len", "dx", "tilt", "lean", "reach", "m", "ks", "cs", "l0", "g",
                                   "ref", "s"},
                            .nof = 6,
                            .of = {"e.kinetic", "integral(e.elastic)", "e.gravity", "e.total^2",
                                   "integral(mom.pz) + mom.lx", "cm.x + cm.z^2"}},
                0, 2e-10);
    }
    // the tension of a cable that may become slack has an exact row: differences crossed it
    (void)snprintf(text, sizeof text, arm, ", f: {tension: cable}, l: {length: cable}", springs[1],
                   pulls[2], "", "", "", schemes[0]);
    gathers(&(question){.text = text,
                        .nby = 8,
                        .by = {"len", "dx", "tilt", "lean", "m", "ks", "g", "s"},
                        .nof = 2,
                        .of = {"integral(f^2)", "l"}},
            0, 1e-10);
    (void)snprintf(text, sizeof text, arm,
                   ", r: {rate: cable}, f: {tension: cable}, sl: {length: line}, sr: {rate: line}, "
                   "at: {relative: [hub, nose]}, a: {acceleration: nose}, b: {acceleration: "
                   "arm@50%, in: body}, w: {wrench: arm@40%}",
                   springs[1], pulls[1], "", "", "", schemes[1]);
    gathers(&(question){.text = text,
                        .nby = 10,
                        .by = {"len", "dx", "tilt", "lean", "reach", "m", "ks", "g", "ref", "s"},
                        .nof = 6,
                        .of = {"r + f", "sl + sr", "integral(at.rx + at.y^2)", "a.ay + b.alx",
                               "integral(b.az + a.alz)", "w.my + w.fz"}},
            0, 1e-9);
    // reactions of joints, with springs and feedback of places
    (void)snprintf(text, sizeof text, arm, ", f: {reaction: arm}, b: {reaction: head, in: body}",
                   springs[3], motors[1], "", "", "", schemes[1]);
    gathers(&(question){.text = text,
                        .nby = 8,
                        .by = {"len", "dx", "tilt", "lean", "m", "ks", "cs", "g"},
                        .nof = 2,
                        .of = {"integral(f.my + f.fz)", "b.fx"}},
            0, 1e-8); // rounding of the differences of forces along the coordinates
}

// Fields of force: numbers that do not reach them are gathered, places are not.
static void robots_in_fields(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {E: 0.4 MPa, rho: 1100, m: 20 g, F: 0.1 N, ks: 2, c: 3 N/m^2, len: 0.2 "
        "m}\n"
        "materials: {soft: {young: E, poisson: 0.45, density: rho, damping: 8 ms}}\n"
        "robot:\n"
        "  hub: {on: world, joint: revolute, axis: y, stiffness: ks, body: {mass: m, com: [2 cm, "
        "0, "
        "0], inertia: [2e-5, 3e-5, 2e-5]}}\n"
        "  arm: {on: hub, rod: {length: len, section: {circle: {radius: 1 cm}}, material: soft, "
        "strain: {bend_y: legendre 2, bend_z: legendre 2}, nodes: 5}}\n"
        "loads: {push: {on: arm.tip, force: [0, F*cos(9*t/(1 s)), F]}}\n"
        "fields: {wind: {force: [0 N/m, \"-c*y\", \"-c*(z + 2 cm)\"], links: arm}}\n"
        "probes: {tip: {position: arm.tip}, v: {velocity: arm.tip}}\n"
        "study: [dynamic: {for: 0.1 s, step: 2 ms, scheme: bdf2}]\n";
    gathers(&(question){.text = text,
                        .nby = 7,
                        .by = {"E", "rho", "m", "F", "ks", "c", "len"},
                        .nof = 2,
                        .of = {"integral(tip.y^2 + tip.z)", "v.vz"}},
            2, 1e-10);
}

// Stops at limits of a hinge and of a ball joint, with one limit and with two.
static void stops_with_their_limits(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {k: 20, d: 0.4, low: -0.1, high: 0.15, tilt: 0.2, kb: 15, m: 0.3 kg, l: 0.2 "
        "m}\n"
        "gravity: [0, 0, -9.81 m/s^2]\n"
        "robot:\n"
        "  upper: {on: world, joint: revolute, axis: y, limits: [low, high], stop: {stiffness: k, "
        "damping: d}, body: {mass: m, com: [l, 0, 0]}}\n"
        "  lower: {on: upper, pose: {xyz: [l, 0, 0]}, joint: spherical, limits: tilt, stop: "
        "{stiffness: kb}, stiffness: 0.5, damping: 0.01, body: {mass: 0.2 kg, com: [0.1 m, 0, 0], "
        "inertia: [1e-3, 1e-3, 1e-3]}}\n"
        "sites: {nose: {on: lower, pose: {xyz: [0.2 m, 0, 0]}}}\n"
        "initial: {upper: {rate: -1.5}, lower: {rate: [0, 0, 2]}}\n"
        "probes: {nose: {position: nose}, v: {velocity: nose}}\n"
        "study: [dynamic: {for: 0.4 s, step: 2 ms, %s}]\n";
    static outcome got, forward, want;
    for (int i = 0; i < 2; i++) {
        char full[TEXT];
        (void)snprintf(full, sizeof full, text, schemes[i]);
        question q = {.text = full,
                      .nby = 8,
                      .by = {"k", "d", "low", "high", "tilt", "kb", "m", "l"},
                      .nof = 2,
                      .of = {"integral(nose.y^2 + nose.z)", "v.vz"},
                      .method = SNW_GRADIENT_ADJOINT};
        answer(&q, &got);
        assert_int_equal(got.info.gathered, 8);
        q.method = SNW_GRADIENT_FORWARD;
        answer(&q, &forward);
        // limits: whole runs with small moves, since samples at a state cross the onset of the
        // force
        differences(&q, 1e-5, &want);
        for (int k = 0; k < 16; k++) {
            double size = 0;
            for (int n = 0; n < 8; n++) size = fmax(size, fabs(want.dJ[k / 8 * 8 + n] * want.p[n]));
            const bool limit = k % 8 >= 2 && k % 8 <= 4;
            const double other = limit ? want.dJ[k] : forward.dJ[k];
            const bool right =
                fabs((got.dJ[k] - other) * got.p[k % 8]) <= (limit ? 1e-8 : 1e-10) * size;
            if (!right)
                print_error("%s by %s: %.13g, want %.13g\n", q.of[k / 8], q.by[k % 8], got.dJ[k],
                            other);
            assert_true(right);
        }
    }
}

// Contacts with a ball that hangs on a spring, of the points of a body and of pieces of the arm.
static void obstacles_that_move(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {len: 0.25 m, dx: 1 cm, tilt: 0.1, m: 50 g, up: 3.9 cm, kc: 2 kN/m^2, out: 1 "
        "cm, ksp: 4}\n"
        "gravity: [0, 0, -9.81 m/s^2]\n"
        "materials: {soft: {young: 0.4 MPa, poisson: 0.45, density: 1100, damping: 8 ms}}\n"
        "robot:\n"
        "  arm: {on: world, pose: {xyz: [dx, 0, 0], rpy: [0, tilt, 0]}, rod: {length: len, "
        "section: "
        "{circle: {radius: 1 cm}}, material: soft, strain: {bend_y: legendre 3, bend_z: legendre "
        "2}, nodes: 8}}\n"
        "  ball: {on: world, pose: {xyz: [20 cm, out/4, -up]}, joint: prismatic, axis: z, "
        "stiffness: ksp, damping: 0.1, body: {mass: m}}\n"
        "contacts: {touch: {obstacle: {on: ball, links: arm, shape: sphere, radius: 3 cm, "
        "stiffness: kc, damping: 1 s/m, friction: 0.3}}}\n"
        "probes: {tip: {position: arm.tip}, at: {value: ball}}\n"
        "study: [dynamic: {for: 20 ms, step: 1 ms, shorten: off, scheme: bdf2}]\n";
    gathers(&(question){.text = text,
                        .nby = 7,
                        .by = {"dx", "tilt", "m", "up", "kc", "out", "ksp"},
                        .nof = 2,
                        .of = {"integral(tip.z + at)", "at"}},
            0, 1e-9);
}

// ---- closed loops -------------------------------------------------------------------------------

// Two soft arms that hold a plate.
static const char pair[] =
    "sinew: 1\n"
    "parameters: {len: 0.3 m, gap: 0.1 m, E: 0.5 MPa, th: 0.2, r: 5 mm, ax: 0.1 m, g: 2}\n"
    "gravity: [0, 0, -9.81 m/s^2]\n"
    "materials: {soft: {young: E, poisson: 0.45, density: 1100, damping: 8 ms}}\n"
    "robot:\n"
    "  left: {on: world, pose: {axis: y, angle: th}, rod: {length: len, section: {circle: {radius: "
    "r}}, material: soft, strain: {bend_y: legendre 3, bend_z: legendre 2, twist: legendre 1, "
    "stretch: legendre 1, shear_y: legendre 1, shear_z: legendre 1}, nodes: 6}}\n"
    "  right: {on: world, pose: {xyz: [gap, 0, 0], axis: y, angle: th/2}, rod: {length: len, "
    "section: {circle: {radius: r}}, material: soft, strain: {bend_y: legendre 3, bend_z: legendre "
    "2, twist: legendre 1, stretch: legendre 1, shear_y: legendre 1, shear_z: legendre 1}, nodes: "
    "6}}\n"
    "  plate: {on: left.tip, body: {mass: 20 g, com: [1 mm, 0, 0], inertia: [1e-6, 1e-6, 1e-6]}}\n"
    "sites: {grip: {on: plate, pose: {xyz: [0, 0, -ax]}}}\n"
    "loops: {hold: {join: [right.tip, grip], as: %s}}\n"
    "loads: {kick: {on: plate, force: [\"-g*p.x*0.1\", 0.1, \"0.05*sin(100*t/(1 s))\"]}}\n"
    "probes: {p: {position: plate}, v: {velocity: right@50%%}, s: {strain: left@40%%}, f: "
    "{reaction: hold}}\n"
    "study:\n%s  - dynamic: {for: 12 ms, step: 1 ms, %s}\n";

// Rows in steps and equilibria, in starts that close the loop and in projected velocities.
static void loops_with_their_geometry(void **state) {
    (void)state;
    static const char *const joint[] = {"fixed", "spherical", "revolute, axis: y",
                                        "universal, axes: [x, y]"};
    for (int i = 0; i < AMONG(2, 4); i++) {
        char text[TEXT];
        (void)snprintf(text, sizeof text, pair, joint[i],
                       i % 2 ? "  - static: {tolerance: 1e-14}\n" : "", schemes[i % 3]);
        question q = {.text = text,
                      .nby = 7,
                      .by = {"len", "gap", "E", "th", "r", "ax", "g"},
                      .nof = 2,
                      .of = {"integral(p.z^2 + p.x)", "v.vx + s.bend_y"}};
        gathers(&q, 0, 1e-9); // rounding of the samples of rows over that of the steps squared
        if (i > 0) continue;
        q.nof = 1, q.of[0] = "f.fx";
        gathers(&q, 0, 1e-9);
    }
}

// Tensions of a spring, a cable and a damper over a motion: by what they are made of and where
// their ends are, also as differences of whole runs.
static void tensions_of_lines(void **state) {
    (void)state;
    static const char *const probes[] = {"", ", f: {tension: line}", ", f: {tension: line}",
                                         ", f: {tension: damp}, r: {rate: damp}"};
    static outcome got, want;
    for (int i = 1; i < 4; i++) {
        char text[TEXT];
        (void)snprintf(text, sizeof text, arm, probes[i], springs[i], pulls[1], "", "", "",
                       schemes[i]);
        question q = {.text = text,
                      .nby = 9,
                      .by = {"len", "dx", "tilt", "lean", "reach", "m", "ks", "cs", "l0"},
                      .nof = i == 3 ? 3 : 2,
                      .of = {"integral(f^2)", "f", "mean(r)"}};
        gathers(&q, 0, 2e-10);
        answer(&q, &got);
        differences(&q, 1e-4, &want);
        for (int k = 0; k < 18; k++) {
            const double size = fmax(fabs(got.J[k / 9]), 1e-3);
            assert_near(got.dJ[k] * got.p[k % 9], want.dJ[k] * got.p[k % 9], 1e-6 * size);
        }
        assert_int_equal(got.info.differenced_results, 0);
    }
}

// Forces of a compliant contact as results: what is no number of the contact nor of places is
// gathered, and the base that moves, the coefficients and the length are seen.
static void forces_of_contacts(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {len: 0.25 m, E: 0.4 MPa, rho: 1100, m: 30 g, f: 0.2 N, k: 20 kN/m^2, mu: "
        "0.3, "
        "z0: 2 cm, h: 0.01}\n"
        "materials: {soft: {young: E, poisson: 0.45, density: rho, damping: 8 ms}}\n"
        "robot:\n"
        "  arm: {on: world, pose: {xyz: [0, 0, \"h*sin(20*t/(1 s))*1 cm\"]}, rod: {length: len, "
        "section: {circle: {radius: 1 cm}}, material: soft, strain: {bend_y: legendre 3, bend_z: "
        "legendre 2}, nodes: 6}}\n"
        "  head: {on: arm.tip, body: {mass: m, com: [1 cm, 0, 0]}}\n"
        "loads: {kick: {on: head, force: [0, f, f*sin(30*t/(1 s))]}}\n"
        "contacts: {floor: {ground: {on: arm, at: [0, 0, -z0], stiffness: k, damping: 1 s/m, "
        "friction: mu, smooth: 2 mm}}}\n"
        "probes: {n: {contact: floor}, w: {reaction: floor}}\n"
        "study: [dynamic: {for: 60 ms, step: 2 ms, shorten: off, scheme: bdf2}]\n";
    static outcome back, along, runs;
    question q = {.text = text,
                  .nby = 9,
                  .by = {"E", "rho", "m", "f", "k", "mu", "len", "z0", "h"},
                  .nof = 1,
                  .method = SNW_GRADIENT_ADJOINT,
                  .of = {"integral(n.fz^2 + n.fx) + w.my"}};
    answer(&q, &back);
    assert_int_equal(back.info.gathered, 4);
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &along);
    q.method = SNW_GRADIENT_DIFFERENCES;
    answer(&q, &runs);
    double size = 0;
    for (int k = 0; k < 9; k++) size = fmax(size, fabs(along.dJ[k] * along.p[k]));
    for (int k = 0; k < 9; k++) {
        assert_near(back.dJ[k] * back.p[k], along.dJ[k] * along.p[k], 1e-10 * size);
        assert_near(back.dJ[k] * back.p[k], runs.dJ[k] * runs.p[k], 1e-6 * size);
    }
}

// ---- laws of probes -----------------------------------------------------------------------------

// A result by a law of probes is that of what the law reads: all numbers but those of the law
// itself are gathered, those in both are seen; over a run, at the end and as an extreme, after a
// change.
static void laws_of_probes_are_results_of_what_they_read(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {len: 0.25 m, E: 0.4 MPa, rho: 1100 kg/m^3, m: 30 g, f: 0.2 N, c: 0.1 m, w: "
        "2}\n"
        "materials: {soft: {young: E, poisson: 0.45, density: rho, damping: 8 ms}}\n"
        "robot:\n"
        "  arm: {on: world, rod: {length: len, section: {circle: {radius: 1 cm}}, material: soft, "
        "strain: {bend_y: legendre 3, bend_z: legendre 2}, nodes: 6}}\n"
        "  head: {on: arm.tip, body: {mass: m, com: [1 cm, 0, 0]}}\n"
        "loads: {kick: {on: head, force: [0, f, f*sin(30*t/(1 s))]}}\n"
        "probes: {tip: {position: head}, v: {velocity: head}, e: energy, foot: {reaction: arm}, "
        "far: {law: \"sqrt((tip.x - c)^2 + w*tip.z^2) + 0.1*e.kinetic*cos(t/(30 ms))\"}, "
        "work: {law: \"foot.mz*v.vy + len*tip.y\"}}\n"
        "study: [static, dynamic: {for: 20 ms, step: 2 ms, shorten: off, scheme: bdf2}, change: "
        "{kick.force: [0, 0, f]}, static: {tolerance: 1e-14}, dynamic: {name: on, for: 20 ms, "
        "step: 2 ms, shorten: off, scheme: "
        "bdf2}]\n";
    static outcome back, along, runs;
    question q = {.text = text,
                  .nby = 7,
                  .by = {"E", "rho", "m", "f", "len", "c", "w"},
                  .nof = 3,
                  .method = SNW_GRADIENT_ADJOINT,
                  .of = {"integral(far + 2*tip.y)", "max(far)", "mean(work) + end(far)*end(work)"}};
    answer(&q, &back);
    assert_int_equal(back.info.gathered, 4); // c, w and len are numbers of laws, too
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &along);
    q.method = SNW_GRADIENT_DIFFERENCES;
    answer(&q, &runs);
    for (int i = 0; i < 3; i++) {
        double size = 0;
        for (int k = 0; k < 7; k++) size = fmax(size, fabs(along.dJ[7 * i + k] * along.p[k]));
        for (int k = 0; k < 7; k++) {
            const double got = back.dJ[7 * i + k] * back.p[k];
            assert_near(got, along.dJ[7 * i + k] * along.p[k], 1e-10 * size);
            assert_near(got, runs.dJ[7 * i + k] * runs.p[k], 1e-7 * size);
        }
    }
    // without the length, and with fewer laws: one sweep, three models
    q = (question){.text = text,
                   .nby = 4,
                   .by = {"E", "rho", "m", "f"},
                   .nof = 1,
                   .method = SNW_GRADIENT_ADJOINT,
                   .of = {"integral(far)"}};
    answer(&q, &back);
    assert_int_equal(back.info.gathered, 4);
    assert_int_equal(back.info.sweeps, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_arms),
        cmocka_unit_test(results_that_read_the_model),
        cmocka_unit_test(robots_in_fields),
        cmocka_unit_test(stops_with_their_limits),
        cmocka_unit_test(obstacles_that_move),
        cmocka_unit_test(loops_with_their_geometry),
        cmocka_unit_test(laws_of_probes_are_results_of_what_they_read),
        cmocka_unit_test(tensions_of_lines),
        cmocka_unit_test(forces_of_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
