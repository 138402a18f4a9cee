// SPDX-License-Identifier: MIT
//
// gradient_arm.h: a swinging soft arm with n numbers f0, f1, .. of a kind, as the text of a file,
// for the benchmark of gradients and the test of their costs.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum arm_numbers {
    ARM_LOADS,
    ARM_MODULI,   // coefficients of Young's modulus along the arm
    ARM_TENSIONS, // of a tension over time
    ARM_RESTS,    // of the rest strain along the arm
    ARM_PLACES,   // of bodies at the tip
    ARM_DRAGS,
    ARM_GROUNDS,        // stiffness of grounds that it touches
    ARM_MOTIONS,        // coefficients of the given angle of its base over time
    ARM_STRAINS,        // of a given strain over time and along the arm
    ARM_CHANGES,        // loads, with a change of the arm in the middle
    ARM_FORCES,         // places of bodies; the result is the reaction at the base, at the end
    ARM_INTEGRALS,      // moduli; the result is an integral of forces, energies, accelerations, the
                        // tension of a spring and a law of probes
    ARM_RELAXING,       // moduli of an arm that relaxes
    ARM_HARD_GROUNDS,   // friction of hard grounds, scheme moreau
    ARM_HARD_MODULI,    // moduli of an arm on a hard ground, likewise
    ARM_CONSERVED,      // moduli, conserving scheme
    ARM_CONSERVED_FREE, // the same of an arm on a free body
    ARM_CONSERVED_LOOP, // the same of an arm whose tip is held by a ball joint on a lever
    ARM_CONSERVED_WHEEL, // the same of an arm on a body with a wheel
    ARM_CONSERVED_CABLE, // of an arm that a cable holds
    ARM_CONSERVED_BASE,  // of an arm on a base that moves by a law
    ARM_CONSERVED_LINK,  // of an arm that loses a body and a loop in the middle
    ARM_EXPLICIT,        // moduli, rk4
    ARM_EXPLICIT_FREE,   // the same of an arm on a free body
    ARM_EXPLICIT_LOOP,   // the same of an arm in a loop
    ARM_TOUCHED,         // moduli of an arm that lies across another, conserving scheme
    ARM_SWIMMER,         // coefficients of the gait of a swimmer of three links, kinematic steps
    ARM_BOARD,           // of a board on wheels, likewise
    ARM_HELD,            // moduli; an inverse step finds the tension that the motion holds
    ARM_KINDS
} arm_numbers;

typedef struct arm_page {
    char *text;
    size_t used, room;
} arm_page;

static inline void arm_put(arm_page *p, const char *format, ...) {
    va_list list;
    va_start(list, format);
    p->used += (size_t)vsnprintf(p->text + p->used, p->room - p->used, format, list);
    va_end(list);
}

static inline bool arm_is_hard(arm_numbers kind) {
    return kind == ARM_HARD_GROUNDS || kind == ARM_HARD_MODULI;
}

static inline bool arm_is_explicit(arm_numbers kind) {
    return kind >= ARM_EXPLICIT && kind <= ARM_EXPLICIT_LOOP;
}

static inline bool arm_is_on_free_body(arm_numbers kind) {
    return kind == ARM_CONSERVED_FREE || kind == ARM_EXPLICIT_FREE || kind == ARM_CONSERVED_WHEEL;
}

static inline bool arm_is_gait(arm_numbers kind) {
    return kind == ARM_SWIMMER || kind == ARM_BOARD;
}

static inline bool arm_is_conserved(arm_numbers kind) {
    return kind == ARM_TOUCHED || (kind >= ARM_CONSERVED && kind <= ARM_CONSERVED_LINK);
}

// The result whose derivatives are asked for.
static inline const char *arm_result(arm_numbers kind) {
    if (kind == ARM_FORCES) return "f.fx + f.my";
    return kind == ARM_INTEGRALS ? "integral(f.fx^2 + w.my + e.total + a.ax^2 + p.pz^2 + l + s^2)"
                                 : "integral(tip.x^2 + tip.y)";
}

// A robot that swims, or rolls, by the angles of its joints; law: 1 + a sum of the numbers.
static inline void arm_gait(arm_page *p, arm_numbers kind, const char *law) {
    if (kind == ARM_SWIMMER) {
        arm_put(p,
                "robot:\n  middle: {on: world, joint: planar, body: {mass: 6, inertia: [0.1, 0.1, "
                "0.1]}}\n");
        for (int i = 0; i < 2; i++)
            arm_put(p,
                    "  l%d: {on: middle, pose: {xyz: [%g, 0, 0]}, joint: revolute, body: {mass: 6, "
                    "com: [%g, 0, 0], inertia: [0.1, 0.1, 0.1]}}\n",
                    i, i ? -0.11 : 0.11, i ? -0.11 : 0.11);
        arm_put(p, "fluid: {water: {on: [middle, l0, l1], added: [0, 0, 0.03, 1, 31, 0]}}\n");
    } else {
        arm_put(p,
                "robot:\n  middle: {on: world, joint: planar, body: {mass: 4.6, inertia: [0.1, "
                "0.1, 0.15]}}\n"
                "  l0: {on: middle, joint: revolute, body: {mass: 1, inertia: [0.05, 0.05, "
                "0.07]}}\n"
                "  l1: {on: middle, pose: {xyz: [0.2, 0, 0]}, joint: revolute, body: {mass: 0.2, "
                "inertia: [1e-3, 1e-3, 1e-3]}}\n"
                "contacts: {front: {wheel: {on: l1, axis: y}}, rear: {wheel: {on: middle, axis: "
                "y}}}\n");
    }
    arm_put(p,
            "actuators: {a0: {joint: l0, position: 0.3*sin(t/(1 s))*%s}, a1: {joint: l1, position: "
            "0.5*cos(t/(1 s))}}\n"
            "probes: {tip: {position: middle}}\n",
            law);
}

// Robot and actuators; law: 1 + a sum of the numbers.
static inline void arm_robot(arm_page *p, arm_numbers kind, int n, const char *law) {
    const bool moduli = kind == ARM_MODULI || kind == ARM_INTEGRALS || kind == ARM_HARD_MODULI ||
                        kind == ARM_RELAXING || kind == ARM_HELD || arm_is_conserved(kind) ||
                        arm_is_explicit(kind);
    arm_put(p, "materials: {soft: {young: E*%s, poisson: 0.45, density: 1100, damping: 8 ms%s}}\n",
            moduli ? law : "1",
            kind == ARM_RELAXING ? ", relaxation: {of: instant, ratios: [0.3, 0.2], times: [20 ms, "
                                   "0.2 s]}"
                                 : "");
    arm_put(p, "robot:\n");
    if (arm_is_on_free_body(kind))
        arm_put(p, "  hub: {on: world, joint: free, body: {mass: 0.1, inertia: [1e-4, 1e-4, "
                   "2e-4]}}\n");
    arm_put(p,
            "  arm: {on: %s, pose: {xyz: [0, %s, 0], axis: y, angle: 0.1*%s}, rod: {length: 0.3, "
            "section: {circle: "
            "{radius: 1 cm}}, material: soft, strain: {bend_y: legendre 4, bend_z: %s%s, twist: "
            "legendre 3}, rest: {bend_y: 0.1*%s}, nodes: 12}}\n",
            arm_is_on_free_body(kind) ? "hub" : "world",
            kind == ARM_CONSERVED_BASE ? "(2 cm)*sin(20*t/(1 s))" : "0",
            kind == ARM_MOTIONS ? law : "0", kind == ARM_STRAINS ? "x/L*" : "legendre 4",
            kind == ARM_STRAINS ? law : "", kind == ARM_RESTS ? law : "1");
    for (int i = 0; i < n && (kind == ARM_PLACES || kind == ARM_FORCES); i++)
        arm_put(p, "  b%d: {on: arm.tip, pose: {xyz: [1 cm, f%d, 0]}, body: {mass: 1 mg}}\n", i, i);
    if (kind == ARM_CONSERVED_LOOP || kind == ARM_EXPLICIT_LOOP)
        arm_put(p,
                "  lever: {on: world, pose: {xyz: [0.3, 0.2, 0]}, joint: spherical, body: {mass: "
                "20 g, com: [0, -0.1, 0], inertia: [1e-4, 1e-5, 1e-4]}}\n"
                "sites: {end: {on: lever, pose: {xyz: [0, -0.2, 0]}}}\n"
                "loops: {ball: {join: [end, arm.tip], as: spherical}}\n");
    if (kind == ARM_CONSERVED_WHEEL)
        arm_put(p, "contacts: {rear: {wheel: {on: hub, axis: y}}}\n"
                   "initial: {hub: {twist: [0, 0, 1, 0.5, 0, 0]}}\n");
    if (kind == ARM_CONSERVED_CABLE)
        arm_put(p, "springs: {line: {cable: [{xyz: [0.1, 0.05, 0.2]}, arm.tip], rest: 0.25, "
                   "stiffness: 30, damping: 0.1}}\n");
    if (kind == ARM_CONSERVED_LINK)
        arm_put(p,
                "  load: {on: arm.tip, joint: revolute, axis: y, stiffness: 0.1, when: t < 2 ms, "
                "body: {mass: 20 g, com: [1 cm, 0, 0], inertia: [1e-5, 1e-5, 1e-5]}}\n"
                "  lever: {on: world, pose: {xyz: [0.3, 0.2, 0]}, joint: spherical, body: {mass: "
                "20 g, com: [0, -0.1, 0], inertia: [1e-4, 1e-5, 1e-4]}}\n"
                "sites: {end: {on: lever, pose: {xyz: [0, -0.2, 0]}}}\n"
                "loops: {ball: {join: [end, arm.tip], as: spherical, when: t < 3 ms}}\n");
    if (kind == ARM_TOUCHED)
        arm_put(p, "  other: {on: world, pose: {xyz: [0.2, -0.15, -0.021], axis: z, angle: pi/2}, "
                   "rod: {length: 0.3, section: {circle: {radius: 1 cm}}, material: soft, strain: "
                   "{bend_y: legendre 3}, nodes: 10}}\n"
                   "contacts: {touch: {rods: {between: [arm, other], radius: 1 cm, stiffness: 1e5, "
                   "crossing: 300, smooth: 1 mm, friction: 0.2}}}\n");
    if (!arm_is_conserved(kind) && kind != ARM_STRAINS) // that scheme has no tendons
        arm_put(p,
                "actuators: {cable: {tendon: {along: arm, at: [0, 5 mm, 2 mm]}, effort: 1 N*%s}}\n",
                kind == ARM_TENSIONS ? law : "1");
}

static inline void arm_loads(arm_page *p, arm_numbers kind, int n) {
    arm_put(p, "loads:\n  none: {on: arm.tip, force: [0, %s, 0]}\n",
            arm_is_conserved(kind) ? "0.1" : "0");
    for (int i = 0; i < n && (kind == ARM_LOADS || kind == ARM_CHANGES); i++)
        arm_put(p, "  l%d: {on: arm.tip, force: [0, f%d, 0]}\n", i, i);
    if (kind == ARM_DRAGS) arm_put(p, "fluid:\n");
    for (int i = 0; i < n && kind == ARM_DRAGS; i++)
        arm_put(p, "  w%d: {on: arm, drag: {linear: f%d}}\n", i, i);
    if (kind == ARM_GROUNDS || arm_is_hard(kind)) arm_put(p, "contacts:\n");
    if (kind == ARM_HARD_MODULI)
        arm_put(p, "  c0: {ground: {on: arm, at: [0, 0, -0.05], hard: true, friction: 0.3}}\n");
    for (int i = 0; i < n && kind == ARM_HARD_GROUNDS; i++)
        arm_put(p, "  c%d: {ground: {on: arm, at: [0, 0, -%.4f], hard: true, friction: f%d}}\n", i,
                0.05 + 0.002 * i, i);
    for (int i = 0; i < n && kind == ARM_GROUNDS; i++)
        arm_put(p,
                "  c%d: {ground: {on: arm, normal: z, at: [0, 0, -%.4f], stiffness: f%d, friction: "
                "0.2}}\n",
                i, 0.02 + 0.1 * i / n, i);
}

// text (room) <- the file, with this many steps of 1 ms; sum (room) is scratch. Returns its length.
static inline size_t arm_write(arm_numbers kind, int n, int steps, size_t room, char *text,
                               char *sum) {
    static const char *const start[ARM_KINDS] = {
        [ARM_LOADS] = "10 uN",
        [ARM_MODULI] = "0.001",
        [ARM_TENSIONS] = "0.001",
        [ARM_RESTS] = "0.001",
        [ARM_PLACES] = "0.1 mm",
        [ARM_DRAGS] = "0.01",
        [ARM_GROUNDS] = "100 N/m^2",
        [ARM_MOTIONS] = "0.0001",
        [ARM_STRAINS] = "0.001",
        [ARM_CHANGES] = "10 uN",
        [ARM_FORCES] = "0.1 mm",
        [ARM_RELAXING] = "0.001",
        [ARM_HARD_GROUNDS] = "0.3",
        [ARM_HARD_MODULI] = "0.001",
        [ARM_CONSERVED] = "0.001",
        [ARM_CONSERVED_FREE] = "0.001",
        [ARM_CONSERVED_LOOP] = "0.001",
        [ARM_INTEGRALS] = "0.001",
        [ARM_EXPLICIT] = "0.001",
        [ARM_EXPLICIT_LOOP] = "0.001",
        [ARM_EXPLICIT_FREE] = "0.001",
        [ARM_TOUCHED] = "0.001",
        [ARM_SWIMMER] = "0.001",
        [ARM_BOARD] = "0.001",
        [ARM_CONSERVED_WHEEL] = "0.001",
        [ARM_CONSERVED_CABLE] = "0.001",
        [ARM_CONSERVED_BASE] = "0.001",
        [ARM_CONSERVED_LINK] = "0.001",
        [ARM_HELD] = "0.001",
    };
    const char *scheme = arm_is_hard(kind)        ? "scheme: moreau"
                         : arm_is_conserved(kind) ? "scheme: conserving"
                         : arm_is_explicit(kind)  ? "scheme: rk4"
                                                  : "shorten: off, scheme: bdf2";
    const bool of_time =
        arm_is_gait(kind) || kind == ARM_TENSIONS || kind == ARM_MOTIONS || kind == ARM_STRAINS;
    arm_page p = {text, 0, room}, law = {sum, 0, room};
    arm_put(&law, "(1");
    for (int i = 0; i < n; i++)
        arm_put(&law, of_time ? "+f%d*cos(%d*t/(1 s))" : "+f%d*cos(%d*x/L)", i, i + 1);
    arm_put(&law, ")");
    arm_put(&p, "sinew: 1\nparameters: {E: 0.5 MPa");
    for (int i = 0; i < n; i++) arm_put(&p, ", f%d: %s", i, start[kind]);
    arm_put(&p, "}\n");
    if (arm_is_gait(kind)) {
        arm_gait(&p, kind, sum);
        arm_put(&p, "gravity: 0\nstudy: [kinematic: {for: %d ms, step: 1 ms}]\n", steps);
        return p.used;
    }
    arm_robot(&p, kind, n, sum);
    arm_put(&p, "study:\n");
    if (kind == ARM_HELD)
        arm_put(&p, "  - inverse: {target: {tip.y: 2 cm}, actuators: {cable: {}}}\n"
                    "  - change: {arm.rod.rest.bend_y: 0.3}\n");
    arm_put(&p, "  - dynamic: {for: %d ms, step: 1 ms, %s}\n",
            kind == ARM_CHANGES ? steps / 2 : steps, scheme);
    if (kind == ARM_CHANGES)
        arm_put(&p,
                "  - change: {soft.young: 2*E}\n"
                "  - dynamic: {for: %d ms, step: 1 ms, %s}\n",
                steps - steps / 2, scheme);
    arm_put(&p, "probes: {tip: {position: arm.tip}, f: {reaction: arm}%s}\n",
            kind == ARM_INTEGRALS
                ? ", w: {wrench: arm@40%}, e: energy, a: {acceleration: arm.tip}, p: momentum, l: "
                  "{law: sqrt(tip.x^2 + 0.1*tip.z^2)}, s: {tension: line}"
                : "");
    if (kind == ARM_INTEGRALS)
        arm_put(&p, "springs: {line: {spring: [{xyz: [0.2, 0.2, 0]}, arm.tip], rest: 0.2, "
                    "stiffness: 1}}\n");
    arm_loads(&p, kind, n);
    return p.used;
}
