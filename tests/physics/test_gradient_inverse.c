// SPDX-License-Identifier: MIT
//
// Gradients through inverse steps and paths of equilibria, theory.md (7.5.55) to (7.5.58): inputs
// that are found and held, folds, ends of paths; against closed forms, differences of whole runs
// and each other.
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

// ---- inputs in closed form ----------------------------------------------------------------------

// A mass on a spring that the force u holds at z = u/k, then with the spring b k and the mass m,
// which swings about u/(b k): place and rate at time t.
static double complex swing(int rate, double complex k, double complex b, double complex m,
                            double complex z, double t) {
    const double complex w = csqrt(b * k / m), rest = z / b;
    return rate ? -w * (z - rest) * csin(w * t) : rest + (z - rest) * ccos(w * t);
}

static void a_mass_is_held_and_swings(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {k: 30 N/m, b: 1.4, m: 0.7 kg, z: 0.2 m}\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: k, body: {mass: m}}}\n"
        "actuators: {push: {joint: cart, effort: 1 N}}\n"
        "probes: {place: {value: cart}, v: {rate: cart}, u: {effort: push}}\n"
        "study:\n"
        "  - inverse: {target: {place: z}, actuators: {push: {}}}\n"
        "  - change: {cart.stiffness: b*k}\n"
        "  - dynamic: {for: 0.3 s, step: 5 ms, scheme: gauss6}\n"
        "  - change: {push.effort: 2 N}\n"
        "  - static: {}\n";
    const double h = 1e-30;
    double want[16] = {0};
    for (int i = 0; i < 4; i++) {
        const double complex k = 30 + h * I * (i == 0), b = 1.4 + h * I * (i == 1);
        const double complex m = 0.7 + h * I * (i == 2), z = 0.2 + h * I * (i == 3);
        want[i] = cimag(swing(0, k, b, m, z, 0.25)) / h;
        want[4 + i] = cimag(swing(1, k, b, m, z, 0.25)) / h;
        want[8 + i] = cimag(k * z) / h;
        want[12 + i] = cimag(2 / (b * k)) / h; // it is released
    }
    near_both(&(question){.text = text,
                          .nby = 4,
                          .by = {"k", "b", "m", "z"},
                          .nof = 4,
                          .of = {"at(0.25, place)", "at(0.25, v)", "at(0, u)", "end(place)"}},
              16, want, 2e-9);
}

// Two forces on a mass, u_1 + u_2 = k z: those next to rest, each in units of the range of its
// limits, or the second one at its low limit.
static double complex two_forces(int of, bool held, const double complex p[6]) {
    const double complex f = p[0] * p[1], rest = p[2], unit = p[3] - 1, other = 8 - p[4];
    const double complex a = unit * unit, b = other * other, second = b * (f - rest) / (a + b);
    const double complex two = held ? p[4] : second;
    return of ? two : f - two;
}

static void forces_share_a_load(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {k: 30 N/m, z: 0.2 m, rest: 1.5 N, high: 6 N, low: %s, m: 1 kg}\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: k, body: {mass: m}}}\n"
        "loads: {one: {on: cart, force: [0, 0, 0]}, two: {on: cart, force: [0, 0, 0]}}\n"
        "probes: {place: {value: cart}}\n"
        "study:\n"
        "  - inverse: {target: {place: z}, actuators: {one.fx: {low: 1 N, high: high, rest: rest}, "
        "two.fx: {low: low, high: 8 N}}}\n"
        "  - change: {%s.force: [0, 0, 0]}\n"
        "  - static: {}\n";
    const double h = 1e-30;
    for (int held = 0; held < 2; held++) {
        const double low = held ? 3.6 : 0.5;
        for (int of = 0; of < 2; of++) { // the force that stays, by the place where it holds
            char own[TEXT];
            double want[6];
            (void)snprintf(own, sizeof own, text, held ? "3.6 N" : "0.5 N", of ? "one" : "two");
            for (int i = 0; i < 6; i++) {
                const double complex p[6] = {30 + h * I * (i == 0),  0.2 + h * I * (i == 1),
                                             1.5 + h * I * (i == 2), 6 + h * I * (i == 3),
                                             low + h * I * (i == 4), 1};
                want[i] = cimag(two_forces(of, held, p) / p[0]) / h;
            }
            near_both(&(question){.text = own,
                                  .nby = 6,
                                  .by = {"k", "z", "rest", "high", "low", "m"},
                                  .nof = 1,
                                  .of = {"place"}},
                      6, want, 1e-9);
        }
    }
}

// The nearest point of a circle of radius l to a target out of reach.
static void a_link_points_to_its_target(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {l: 0.3 m, px: 0.5 m, py: 0.2 m}\n"
        "gravity: 0\n"
        "robot: {link: {on: world, joint: revolute, axis: z, stiffness: 2, body: {mass: 1 kg}}}\n"
        "sites: {end: {on: link, pose: {xyz: [l, 0, 0]}}}\n"
        "actuators: {motor: {joint: link, position: 0 rad}}\n"
        "probes: {end: {position: end}, M: {effort: motor}}\n"
        "study: [inverse: {target: {end.x: px, end.y: py}, actuators: {motor: {}}, unreachable: "
        "nearest}]\n";
    const double h = 1e-30;
    double want[6];
    for (int i = 0; i < 3; i++) {
        const double complex l = 0.3 + h * I * (i == 0), x = 0.5 + h * I * (i == 1);
        const double complex y = 0.2 + h * I * (i == 2);
        want[i] = cimag(l * y / csqrt(x * x + y * y)) / h;
        want[3 + i] = cimag(2 * catan(y / x)) / h;
    }
    near_both(
        &(question){
            .text = text, .nby = 3, .by = {"l", "px", "py"}, .nof = 2, .of = {"end.y", "M"}},
        6, want, 2e-8);
}

// ---- random robots ------------------------------------------------------------------------------

#define FINGER                                                                                     \
    "sinew: 1\n"                                                                                   \
    "gravity: [0.3, 0, -9.81]\n"                                                                   \
    "parameters: {E: 0.4 MPa, d: 15 mm, z: 0.03 m, F: 0.05 N, tau: 20 ms, l: 0.2 m}\n"             \
    "materials: {silicone: {young: E, poisson: 0.45, density: 1100, damping: tau}}\n"              \
    "robot: {arm: {on: world, pose: {x: -z, y: y}, rod: {length: l, section: {circle: {diameter: " \
    "40 mm}}, material: silicone, strain: {twist: legendre 1, bend_y: legendre 2, bend_z: "        \
    "legendre 2}, nodes: 8}}}\n"                                                                   \
    "loads: {wind: {on: arm.tip, force: [F, 0, 0.02 N*sin(3*t/(1 s))]}}\n"                         \
    "probes: {tip: {position: arm.tip}, turn: {rotation: arm.tip}, v: {velocity: arm.tip}, T: "    \
    "{effort: cord(1)}}\n"                                                                         \
    "actuators: {cord(i=1..3): {tendon: {along: arm, at: [0, \"d*cos(120 deg*i)\", "               \
    "\"d*sin(120 deg*i)\"]}, %s}}\n"

#define BY                                                                                         \
    6, 3, {"E", "d", "z", "F", "tau", "l"}, { "tip.z+end(tip.y)", "v.vx", "at(0, T)" }

static const problem robots[] = {
    {"two cords for two places",
     FINGER
     "study: [inverse: {target: {tip.x: z, tip.y: -20 mm}, actuators: {cord(1): {}, cord(2): "
     "{}}}, dynamic: {for: 20 ms, step: 5 ms, scheme: SCHEME}]\n",
     BY},
    {"three cords for a place, next to rest",
     FINGER
     "study: [inverse: {target: {tip.x: z + 10 mm, tip.y: -5 mm}, actuators: {cord(1): {rest: "
     "3 N}, cord(2): {}, cord(3): {rest: 2 N}}}, dynamic: {for: 20 ms, step: 5 ms, scheme: "
     "SCHEME}]\n",
     BY},
    {"a place out of reach, along a way",
     FINGER "study: [inverse: {target: {tip.x: z, tip.y: -20 mm - 0.1 m/s*t, tip.z: -0.1 m}, "
            "actuators: {cord(1): {}, wind.fy: [-1 N, 1 N]}, for: 20 ms, step: 10 ms, "
            "unreachable: nearest}, change: {cord(3).effort: 0.8 N}, dynamic: {for: 20 ms, step: "
            "5 ms, scheme: SCHEME}]\n",
     BY},
    {"a rotation, from a motion, and steps from others",
     FINGER
     "study: [dynamic: {name: first, for: 20 ms, step: 5 ms, scheme: SCHEME}, inverse: {name: "
     "turned, target: {turn: [0.1, z/(0.1 m), 0]}, actuators: {cord(1): {}, cord(2): {}, "
     "cord(3): {}}, unreachable: nearest}, static: {}, dynamic: {for: 10 ms, step: 5 ms}, "
     "dynamic: {from: turned, for: 10 ms, step: 5 ms, scheme: SCHEME}, change: "
     "{cord(2).effort: 0.2 N}, dynamic: {from: first, for: 10 ms, step: 5 ms}]\n",
     BY},
};

static const problem pushed[] = {
    {"forces of a load beside one that it keeps",
     "sinew: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "parameters: {EI: 0.05 N*m^2, m: 0.1, z: 0.12 m, F: 0.2 N, c: 0.002, l: 0.4 m}\n"
     "robot: {base: {on: world, joint: spherical, body: {mass: 0.2 kg, com: [0, 0, -0.1], inertia: "
     "[1e-3, 2e-3, 1e-3]}, stiffness: 0.4}, arm: {on: base, rod: {length: l, section: {stiffness: "
     "{bend_y: EI, bend_z: EI}, damping: {bend_y: c, bend_z: c}, inertia: [1e-5, 1e-5, 1e-5, m, m, "
     "m]}, strain: {bend_y: legendre 2, bend_z: legendre 2}, nodes: 8}}}\n"
     "loads: {push: {on: arm.tip, force: [F, F*sin(5*t/(1 s)), 0]}}\n"
     "probes: {tip: {position: arm.tip}, v: {velocity: arm.tip}, e: energy}\n"
     "study: [dynamic: {for: 20 ms, step: 10 ms}, inverse: {target: {tip.y: z, tip.z: 0.05 m}, "
     "actuators: {push.fy: {}, push.fz: {}}}, static: {}, dynamic: {for: 40 ms, step: 10 ms, "
     "scheme: "
     "SCHEME}, change: {push.force: [F, 0, 0]}, dynamic: {for: 20 ms, step: 10 ms, scheme: "
     "SCHEME}]\n",
     6,
     3,
     {"EI", "m", "z", "F", "c", "l"},
     {"tip.x+end(tip.y)", "v.vz", "at(0.04, e.elastic)"}},
    {"a joint that is turned, in a loop",
     "sinew: 1\n"
     "gravity: [0, -9.81, 0]\n"
     "parameters: {k: 3 N/m, m: 0.5 kg, s: 0.62 m, c: 1, l: 0.5 m, q: 0.1}\n"
     "robot:\n"
     "  crank: {on: world, joint: revolute, axis: z, body: {mass: 0.4 kg, com: [0.3, 0, 0], "
     "inertia: "
     "[0, 0, 0]}}\n"
     "  rod: {on: crank, pose: {xyz: [0.3, 0, 0]}, joint: revolute, axis: z, body: {mass: m, com: "
     "[l/2, 0, 0], inertia: [0, 0, 0]}}\n"
     "  slider: {on: world, joint: prismatic, axis: x, stiffness: k, damping: c, body: {mass: 0.8 "
     "kg}}\n"
     "  bob: {on: rod, pose: {xyz: [l, 0, 0]}, joint: revolute, axis: z, stiffness: 2, damping: "
     "0.05, body: {mass: 0.2 kg, com: [0.2, 0, 0]}}\n"
     "sites: {end: {on: rod, pose: {xyz: [l, 0, 0]}}}\n"
     "loops: {pin: {join: [end, slider], as: revolute, axis: z}}\n"
     "initial: {crank: 1, rod: -1.53, slider: 0.59}\n"
     "actuators: {motor: {joint: crank, position: 1 rad}}\n"
     "loads: {kick: {on: bob, force: [0, 0.8 N*sin(20*t/(1 s)), 0]}}\n"
     "probes: {at: {value: slider}, M: {effort: motor}, b: {value: bob}}\n"
     "study: [inverse: {target: {at: s}, actuators: {motor: {}}}, dynamic: {for: 60 ms, step: 10 "
     "ms, scheme: SCHEME}]\n",
     5,
     3,
     {"k", "m", "s", "c", "l"},
     {"at+b", "end(M)", "integral(b)"}},
    {"a held joint beside one that moves, until a place is reached",
     "sinew: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "parameters: {E: 0.5 MPa, z: 0.08 m, F: 0.1 N, l: 0.3 m}\n"
     "materials: {soft: {young: E, poisson: 0.45, density: 1100, damping: 10 ms}}\n"
     "robot:\n"
     "  hub: {on: world, joint: revolute, axis: y, body: {mass: 0.1, inertia: [1e-3, 1e-3, "
     "1e-3]}}\n"
     "  slide: {on: hub, joint: prismatic, axis: x, body: {mass: 0.1, inertia: [1e-3, 1e-3, "
     "1e-3]}}\n"
     "  arm: {on: slide, rod: {length: l, section: {circle: {radius: 1.5 cm}}, material: soft, "
     "strain: {bend_y: legendre 3}, nodes: 8}}\n"
     "actuators: {turn: {joint: hub, position: 0.1 rad}, move: {joint: slide, position: \"0.02 m + "
     "0.01 m*t/(1 s)\"}}\n"
     "loads: {kick: {on: arm.tip, force: [0, 0, F*sin(20*t/(1 s))]}}\n"
     "probes: {tip: {position: arm.tip}}\n"
     "study: [inverse: {target: {tip.z: z}, actuators: {turn: {}}}, dynamic: {for: 60 ms, step: 5 "
     "ms, scheme: SCHEME, until: tip.z > z + 0.1 mm}, dynamic: {for: 10 ms, step: 5 ms}]\n",
     4,
     2,
     {"E", "z", "F", "l"},
     {"tip.x+end(tip.z)", "at(5e-3, tip.x)"}},
};

// The text of a problem with a scheme and the inputs of its cords.
static problem posed(const problem *p, const char *scheme, const char *inputs, char *text) {
    problem out = *p;
    size_t used = 0;
    for (const char *c = p->text; *c;) {
        const bool here = strncmp(c, "SCHEME", 6) == 0, inputs_here = strncmp(c, "%s", 2) == 0;
        if (here || inputs_here)
            used += (size_t)snprintf(text + used, TEXT - used, "%s", here ? scheme : inputs);
        if (!here && !inputs_here) text[used++] = *c;
        c += here ? 6 : inputs_here ? 2 : 1;
    }
    text[used] = 0;
    out.text = text;
    return out;
}

static void found_inputs_follow_differences(void **state) {
    (void)state;
    static const char *const scheme[] = {"generalized-alpha", "gauss4", "bdf2", "rk4"};
    static char text[TEXT];
    const int n = AMONG(1, (int)(sizeof robots / sizeof *robots));
    for (int i = 0; i < n; i++) {
        const problem p = posed(&robots[i], scheme[i], "effort: 0.5 N", text);
        follow_moves(&p, scheme[i], 1e-9, 1e-3);
    }
    for (int i = 0; i < AMONG(1, 3); i++) {
        static const char *const by[] = {"conserving", "moreau", "hht"};
        const problem p = posed(&pushed[i == 2], by[i], "", text);
        follow_moves(&p, by[i], i == 2 ? 1e-9 : 1e-8, 1e-3);
    }
    const problem until = posed(&pushed[2], "bdf2", "", text);
    follow_differences(&until, "bdf2", 1e-9);
}

static void the_cost_does_not_grow(void **state) {
    (void)state;
    static outcome got;
    static char text[TEXT];
    const problem p = posed(&robots[1], "bdf2", "effort: 0.5 N", text);
    question q = {.text = p.text,
                  .nby = 6,
                  .by = {"E", "d", "F", "tau", "l", "silicone.density"},
                  .nof = 2,
                  .of = {"tip.z", "v.vx"}};
    answer(&q, &got);
    assert_int_equal(got.info.method, SNW_GRADIENT_ADJOINT);
    assert_int_equal(got.info.sweeps, 1);
    assert_int_equal(got.info.gathered, 6);
    q.memory = 2000;
    static outcome again;
    answer(&q, &again);
    assert_true(again.info.recomputed > 0);
    for (int k = 0; k < 12; k++) assert_near(again.dJ[k], got.dJ[k], 1e-12);
}

static void refuses(const char *text, const char *by, const char *of, const char *why) {
    static outcome got;
    ask(&(question){.text = text, .nby = 1, .by = {by}, .nof = 1, .of = {of}}, &got);
    if (got.status != SNW_E_MODEL || !strstr(got.err.text, why))
        print_error("%s\nwanted: %s\n", got.err.text, why);
    assert_int_equal(got.status, SNW_E_MODEL);
    assert_non_null(strstr(got.err.text, why));
}

static void what_has_two_derivatives_is_named(void **state) {
    (void)state;
    // the limit is just where the target is
    refuses("sinew: 1\n"
            "parameters: {k: 30 N/m, z: 0.2 m}\n"
            "gravity: 0\n"
            "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: k, body: {mass: 1 "
            "kg}}}\n"
            "actuators: {push: {joint: cart, effort: 1 N}}\n"
            "probes: {place: {value: cart}}\n"
            "study: [inverse: {target: {place: z}, actuators: {push: [0 N*1, 6 N]}}]\n",
            "k", "place", "is at a limit and not pressed onto it");
    // units of a force and of a motion decide
    refuses("sinew: 1\n"
            "parameters: {k: 30 N/m, z: 0.2 m}\n"
            "gravity: 0\n"
            "robot: {slide: {on: world, joint: prismatic, axis: x, body: {mass: 1 kg}}, cart: {on: "
            "slide, joint: prismatic, axis: x, stiffness: k, body: {mass: 1 kg}}}\n"
            "actuators: {push: {joint: cart, effort: 1 N}, move: {joint: slide, position: 0.1 m}}\n"
            "probes: {tip: {position: cart}}\n"
            "study: [inverse: {target: {tip.x: z}, actuators: {push: {}, move: {}}}]\n",
            "k", "tip.x", "depends on their units of motion");
}

// ---- paths --------------------------------------------------------------------------------------

#define TRUSS                                                                                      \
    "sinew: 1\n"                                                                                   \
    "gravity: 0\n"                                                                                 \
    "parameters: {rise: 0.2 m, k: 1000 N/m, top: 4 s, P: 1 N/s*t, m: 1 kg}\n"                      \
    "robot: {apex: {on: world, pose: {xyz: [0, rise, 0]}, joint: prismatic, axis: y, damping: 2, " \
    "body: {mass: m}}}\n"                                                                          \
    "springs: {bar(i=1..2): {spring: [{xyz: [2*i - 3, 0, 0]}, apex], rest: \"sqrt(1 m^2 + "        \
    "rise^2)\", stiffness: k}}\n"                                                                  \
    "loads: {press: {on: apex, force: [0, -P, 0]}}\n"                                              \
    "probes: {apex: {position: apex}, load: {law: P}}\n"

// Height of the apex at the first fold, load there, and height under the load 4 N, snapped through.
static double complex truss(int of, double complex rise, double complex k) {
    const double complex l = csqrt(1 + rise * rise), y = csqrt(cpow(l, 2.0 / 3) - 1);
    if (of == 0) return y;
    if (of == 1) return 2 * k * cpow(cpow(l, 2.0 / 3) - 1, 1.5);
    double complex end = -0.24;
    for (int i = 0; i < 50; i++) {
        const double complex d = csqrt(1 + end * end);
        end -= (k * 2 * end * (l / d - 1) - 4) / (2 * k * (l / (d * d * d) - 1));
    }
    return end;
}

static void a_truss_snaps_through(void **state) {
    (void)state;
    const double h = 1e-30;
    double want[12];
    for (int i = 0; i < 2; i++) {
        const double complex rise = 0.2 + h * I * (i == 0), k = 1000 + h * I * (i == 1);
        for (int of = 0; of < 3; of++) want[2 * of + i] = cimag(truss(of, rise, k)) / h;
        want[6 + i] = -want[2 + i], want[8 + i] = -want[i];
        want[10 + i] = 2 * creal(truss(1, 0.2, 1000)) * want[2 + i]; // by t itself
    }
    near_both(&(question){.text = TRUSS "study: [path: {range: [-4 s, 4 s]}]\n",
                          .nby = 2,
                          .by = {"rise", "k"},
                          .nof = 6,
                          .of = {"fold(apex.y)", "fold(1, load)", "end(apex.y)", "fold(2, load)",
                                 "fold(2, apex.y)", "fold(t^2)"}},
              12, want, 2e-9);
}

// A link on a spherical joint, pushed by a spring, snaps through aslant; an arch of two rods with a
// hinge at each end snaps through.
static const problem paths[] = {
    {"a link in space",
     "sinew: 1\n"
     "gravity: 0\n"
     "parameters: {P: 1 N/s*t, side: 0.3 N, k: 40 N/m, r: 0.36 m, c: 0.5, a: 1.2 m}\n"
     "robot: {link: {on: world, joint: spherical, stiffness: c, body: {mass: 1 kg, com: [0.5, 0, "
     "0], inertia: [0.1, 0.2, 0.3]}}}\n"
     "sites: {tip: {on: link, pose: {xyz: [1, 0.05, 0.02]}}}\n"
     "springs: {push: {spring: [{xyz: [a, 0, -0.03]}, tip], rest: r, stiffness: k}}\n"
     "loads: {press: {on: tip, force: [0, side, -P]}}\n"
     "probes: {tip: {position: tip}, load: {law: P}, turn: {rotation: link}}\n"
     "study: [path: {range: [0 s, 8 s]}]\n",
     5,
     3,
     {"side", "k", "r", "c", "a"},
     {"fold(load)", "fold(tip.y + turn.rz)", "tip.z"}},
    {"an arch under its end, then in motion",
     "sinew: 1\n"
     "gravity: 0\n"
     "parameters: {half: 30 deg, P: 1 N/s*t, R: 1 m, EI: 1 N*m^2, side: 0.2 N}\n"
     "robot:\n"
     "  foot: {on: world, pose: {xyz: [-R*sin(half), -R*(1 - cos(half)), 0], axis: z, angle: "
     "half}, "
     "joint: revolute, body: {mass: 1 g}}\n"
     "  left: {on: foot, rod: &rod {length: R*half, section: {stiffness: {bend_z: EI}, inertia: "
     "[0, "
     "0, 0, 0.1, 0.1, 0.1], damping: {bend_z: 0.05}}, rest: {bend_z: -1/R}, strain: {bend_z: "
     "legendre 3}, nodes: 8}}\n"
     "  right: {on: left, rod: *rod}\n"
     "loops: {hinge: {join: [world, right.tip], as: revolute, axis: z, pose: {xyz: [R*sin(half), "
     "-R*(1 - cos(half)), 0]}}}\n"
     "loads: {press: {on: left.tip, force: [side, -P, 0]}}\n"
     "probes: {crown: {position: left.tip}, load: {law: P}, v: {velocity: left.tip}}\n"
     "study: [path: {range: [-90 s, 30 s]}, change: {left.rod.section.stiffness.bend_z: 0.9*EI}, "
     "static: {}, dynamic: {for: 20 ms, step: 5 ms}]\n",
     4,
     2,
     {"half", "R", "EI", "side"},
     {"fold(load)", "end(crown.x) + fold(2, crown.y)"}},
};

// As follow_moves, to `within` of differences.
static void follow_path(const problem *p, double same, double within) {
    static outcome got, forward, want;
    question q = {.text = p->text, .nby = p->nby, .nof = p->nof};
    memcpy(q.by, p->by, sizeof p->by);
    memcpy(q.of, p->of, sizeof p->of);
    q.method = SNW_GRADIENT_ADJOINT;
    answer(&q, &got);
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &forward);
    differences(&q, 1e-3, &want);
    near_all(p->nby * p->nof, got.dJ, forward.dJ, same);
    near_all(p->nby * p->nof, got.dJ, want.dJ, within);
}

static void folds_and_ends_follow_differences(void **state) {
    (void)state;
    // places of folds are found to 1e-11 of the arc length by the runs
    follow_path(&paths[0], 1e-10, 1e-6);
    if (AMONG(1, 0)) return;
    follow_path(&paths[1], 1e-8, 1e-6);
}

static void paths_without_derivatives_are_named(void **state) {
    (void)state;
    static outcome got; // a number that moves the range has differences
    question moved = {.text = TRUSS "study: [path: {range: [-4 s, top]}]\n",
                      .nby = 1,
                      .by = {"top"},
                      .nof = 1,
                      .of = {"apex.y"}};
    answer(&moved, &got);
    assert_int_equal(got.info.method, SNW_GRADIENT_DIFFERENCES);
    moved.method = SNW_GRADIENT_ADJOINT;
    ask(&moved, &got);
    assert_int_equal(got.status, SNW_E_MODEL);
    assert_non_null(strstr(got.err.text, "it changes 'range' of 'path'"));
    refuses(TRUSS "study: [path: {range: [-4 s, 4 s], points: 5}]\n", "k", "apex.y",
            "depends on the lengths of its steps");
    refuses(TRUSS "study: [path: {range: [-4 s, 4 s], points: 5}, dynamic: {for: 10 ms, step: 5 "
                  "ms}]\n",
            "k", "apex.y", "depends on the lengths of its steps");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mass_is_held_and_swings),
        cmocka_unit_test(forces_share_a_load),
        cmocka_unit_test(a_link_points_to_its_target),
        cmocka_unit_test(found_inputs_follow_differences),
        cmocka_unit_test(the_cost_does_not_grow),
        cmocka_unit_test(what_has_two_derivatives_is_named),
        cmocka_unit_test(a_truss_snaps_through),
        cmocka_unit_test(folds_and_ends_follow_differences),
        cmocka_unit_test(paths_without_derivatives_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
