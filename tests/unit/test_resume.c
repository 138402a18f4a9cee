// SPDX-License-Identifier: MIT
//
// A run resumed after any of its frames has the same bits as one that was never interrupted.
#include "base/alloc.h"
#include "language/document.h"
#include "study/run.h"

#include "near.h"
#include "oracle/till_march.h"
#include "sanitized.h"

#include <string.h>

static void assert_status_ok(snw_status s, const snw_error *err) {
    if (s != SNW_OK) fail_msg("%d:%d: %s", err->line, err->column, err->text);
}

// ---- complete frames ----------------------------------------------------------------------------

enum { MOST = 400 };

typedef struct diary {
    const snw_run_info *info;
    int n, enough;      // number of frames, and number after which the run is stopped; 0: all
    double *row[MOST];  // all data of a frame, in one row
    double *save[MOST]; // its checkpoint, NULL: none
} diary;

static size_t frame_size(const snw_run_info *i) {
    return 2 + (size_t)i->nq + (size_t)i->nv + (size_t)i->ncolumn +
           (size_t)i->nnode * (sizeof(snw_se3) / sizeof(double)) +
           (sizeof(snw_energy) + sizeof(snw_stats)) / sizeof(double);
}

static double *put(double *to, const void *from, size_t n) {
    if (n) memcpy(to, from, n * sizeof *to);
    return to + n;
}

static snw_status note(void *user, const snw_frame *f, snw_error *err) {
    (void)err;
    diary *d = user;
    const snw_run_info *i = d->info;
    assert_true(d->n < MOST);
    double *row = d->row[d->n] = snw_alloc(frame_size(i) * sizeof *row);
    *row++ = f->t;
    *row++ = f->stage;
    row = put(row, f->q, (size_t)i->nq);
    row = put(row, f->v, (size_t)i->nv);
    row = put(row, f->column, (size_t)i->ncolumn);
    row = put(row, f->pose, (size_t)i->nnode * (sizeof(snw_se3) / sizeof(double)));
    row = put(row, &f->energy, sizeof f->energy / sizeof(double));
    (void)put(row, &f->stats, sizeof f->stats / sizeof(double));
    if (f->save) {
        d->save[d->n] = snw_alloc((size_t)i->nsave * sizeof(double));
        (void)put(d->save[d->n], f->save, (size_t)i->nsave);
    }
    d->n++;
    return SNW_OK;
}

static snw_status end(void *user, snw_status status, const char *message, snw_error *err) {
    (void)user, (void)status, (void)message, (void)err;
    return SNW_OK;
}

static void clear(diary *d) {
    for (int i = 0; i < d->n; i++) {
        snw_free(d->row[i]);
        snw_free(d->save[i]);
    }
}

static bool full(void *user) {
    const diary *d = user;
    return d->enough > 0 && d->n >= d->enough;
}

// a newly compiled run, from the beginning (save NULL) or from a checkpoint, to its end or for some
// frames
static snw_run_totals keep_diary(const snw_desc *desc, const double *save, int enough, diary *d,
                                 snw_run **run) {
    snw_error err = {0};
    snw_run_totals totals;
    assert_status_ok(snw_run_create(desc, "main", run, &err), &err);
    *d = (diary){.info = snw_run_describe(*run), .enough = enough};
    if (save) assert_status_ok(snw_run_resume(*run, save, &err), &err);
    const snw_recorder recorder = {d, note, end};
    const snw_run_hooks hooks = {.user = d, .stop = full};
    const snw_status s = snw_run_execute(*run, 1, &recorder, &hooks, &totals, &err);
    if (!full(d)) assert_status_ok(s, &err);
    return totals;
}

// ---- studies ------------------------------------------------------------------------------------

#define CLAMPED                                                                                    \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3, damping: 10 ms}}\n"    \
    "robot:\n"                                                                                     \
    "  arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 10 mm}},\n"                \
    "    material: rubber, strain: {bend_y: legendre 3, twist: legendre 2}}}\n"                    \
    "loads:\n"                                                                                     \
    "  push: {on: arm.tip, force: [0, 0.02 N*sin(2*pi*t/(0.3 s)), \"0.02 N*step(t, 0.0317 "        \
    "s)\"]}\n"                                                                                     \
    "probes: {tip: {position: arm.tip}, turn: {rotation: arm.tip}, e: energy, f: frequency}\n"

// a material that relaxes, states of laws that read each other; a change adds a row
#define REMEMBERING                                                                                \
    "sinew: 1\n"                                                                                   \
    "materials: {gel: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3, relaxation: {of: "        \
    "relaxed, ratios: [0.5, 0.2], times: [10 ms, 200 ms]}}}\n"                                     \
    "robot:\n"                                                                                     \
    "  base: {on: world, joint: revolute, axis: y, stiffness: 2, body: {mass: 0.2 kg, inertia: "   \
    "[1e-3, 1e-3, 1e-3]}}\n"                                                                       \
    "  arm: {on: base, rod: {length: 0.3 m, section: {circle: {radius: 10 mm}}, material: gel, "   \
    "strain: {bend_y: legendre 3, bend_z: legendre 1}}}\n"                                         \
    "actuators:\n"                                                                                 \
    "  cell: {chamber: {along: arm, at: [0, 4 mm, 0], area: 30 mm^2}, pressure: 2400 J/mol*n/V}\n" \
    "  hold: {joint: base, effort: 0.1 N*m*lag}\n"                                                 \
    "states:\n"                                                                                    \
    "  n: {initial: 2e-4 mol, rate: \"(1e-3 mol - n)/(20 ms) + 1e-3 mol/s*lag\"}\n"                \
    "  lag: {initial: 0, rate: (tip.z/(1 m) - lag)/(5 ms) - n/(1 mol*s)}\n"                        \
    "probes: {tip: {position: arm.tip}, V: {volume: cell}, p: {law: n}, e: energy}\n"

#define FREE                                                                                       \
    "sinew: 1\n"                                                                                   \
    "gravity: 0\n"                                                                                 \
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3}}\n"                    \
    "robot:\n"                                                                                     \
    "  arm: {on: world, joint: free, rod: {length: 0.5 m, section: {circle: {radius: 10 mm}},\n"   \
    "    material: rubber, strain: {bend_y: legendre 3, bend_z: legendre 2}}}\n"                   \
    "loads:\n"                                                                                     \
    "  push: {on: arm.tip, force: [0, 0.02 N, 0.01 N], when: t < 30 ms}\n"                         \
    "probes: {tip: {position: arm.tip}, turn: {rotation: arm.tip}, e: energy}\n"

#define DROPPED                                                                                    \
    "sinew: 1\n"                                                                                   \
    "robot:\n"                                                                                     \
    "  box: {on: world, joint: free, body: {box: [0.1, 0.08, 0.06], mass: 1 kg}}\n"                \
    "  ball: {on: world, joint: free, body: {sphere: {radius: 30 mm}, mass: 1 kg}}\n"              \
    "contacts:\n"                                                                                  \
    "  floor: {ground: {on: [box, ball], hard: true, restitution: 0.4, friction: 0.3}}\n"          \
    "initial:\n"                                                                                   \
    "  box: {pose: {xyz: [0, 0, 0.15], rpy: [0.4, 0.3, 0]}, twist: [1, 0, 2, 0.5, 0, 0]}\n"        \
    "  ball: {pose: {xyz: [0.3, 0, 0.1]}, twist: [0, 9, 0, 0.5, 0, 0]}\n"                          \
    "probes: {box: {position: box}, ball: {position: ball}, c: {contact: floor}, e: energy}\n"

#define BOUNCING                                                                                   \
    "sinew: 1\n"                                                                                   \
    "robot:\n"                                                                                     \
    "  box: {on: world, joint: free, body: {box: [0.1, 0.08, 0.06], mass: 1 kg}}\n"                \
    "contacts:\n"                                                                                  \
    "  floor: {ground: {on: box, stiffness: 20 kN/m, damping: 0.2, friction: 0.3}}\n"              \
    "initial:\n"                                                                                   \
    "  box: {pose: {xyz: [0, 0, 0.15], rpy: [0.4, 0.3, 0]}, twist: [1, 0, 2, 0.5, 0, 0]}\n"        \
    "probes: {box: {position: box}, c: {contact: floor}, e: energy}\n"

#define JOINTS                                                                                     \
    "sinew: 1\n"                                                                                   \
    "robot:\n"                                                                                     \
    "  hull: {on: world, joint: planar, axis: y, damping: [1, 1, 0.1], body: {box: [0.2, 0.1, "    \
    "0.1], "                                                                                       \
    "mass: 1 kg}}\n"                                                                               \
    "  ball: {on: hull, joint: spherical, stiffness: 1 N*m, friction: 0.1 N*m, body: {mass: 0.5, " \
    "com: [0.1, 0, 0.2], inertia: [0.01, 0.02, 0.02]}}\n"                                          \
    "  slide: {on: ball, joint: cylindrical, axis: x, stiffness: [1, 20], body: {mass: 0.3, "      \
    "com: [0, 0.1, 0]}}\n"                                                                         \
    "initial: {hull: {rate: [1, 0, 2]}, ball: {rate: [1, 2, 3]}, slide: [0.3, 0.05]}\n"            \
    "probes: {b: {value: ball}, s: {rate: slide}, f: {effort: slide}, e: energy}\n"
// integrals, samples, latches and conditions; a change in between, a step that ends by a probe, one
// that starts from an earlier step
#define CONTROLLED                                                                                 \
    "sinew: 1\n"                                                                                   \
    "parameters: {T: 7 ms, r: 0.02}\n"                                                             \
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3, damping: 10 ms}}\n"    \
    "robot:\n"                                                                                     \
    "  arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 10 mm}},\n"                \
    "    material: rubber, strain: {bend_y: legendre 3, twist: legendre 2}}}\n"                    \
    "loads:\n"                                                                                     \
    "  pi: {on: arm.tip, force: [0, 0, -0.5*(tip.z + r) - 3*integral(tip.z + r)]}\n"               \
    "  held: {on: arm.tip, force: [0, \"-0.2*sampled(speed.vz, T)\", 0]}\n"                        \
    "  late: {on: arm.tip, force: [0.1, 0, 0], when: once(tip.z < -0.01)}\n"                       \
    "  gate: {on: arm.tip, force: [0, 0, -0.03], when: speed.vz < -0.3}\n"                         \
    "actuators: {muscle: {stress: {along: arm, bend_y: 0.01*turn.ry}, when: tip.z < -0.02}}\n"     \
    "probes: {tip: {position: arm.tip}, turn: {rotation: arm.tip}, speed: {velocity: arm.tip}, "   \
    "e: energy}\n"

// feet that are fixed at the pose of contact, a clutch, a load that is picked up; the stored poses
// persist through a change
#define CRAWLING                                                                                   \
    "sinew: 1\n"                                                                                   \
    "gravity: 0\n"                                                                                 \
    "parameters: {T: 20 ms, F: 20 N}\n"                                                            \
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3, damping: 5 ms}}\n"     \
    "robot:\n"                                                                                     \
    "  body: {on: world, joint: prismatic, axis: x, rod: {length: 0.2 m, section: {circle: "       \
    "{radius: 10 mm}}, material: rubber, strain: {stretch: legendre 2}}}\n"                        \
    "  wheel: {on: body.tip, joint: revolute, body: {mass: 0.1, com: [0, 0.01, 0], inertia: "      \
    "[1, 1, 1e-4]}}\n"                                                                             \
    "  load: {on: wheel, body: {mass: 0.05}, when: \"tip.x > 0.2002 m\"}\n"                        \
    "actuators:\n"                                                                                 \
    "  muscle: {stress: {along: body, stretch: \"F*sin(pi*t/T)^2\"}}\n"                            \
    "  clutch: {joint: wheel, rate: 3 rad/s, when: \"mod(t, 1.7*T) > T\"}\n"                       \
    "loops:\n"                                                                                     \
    "  rear: {join: [world, body.root], as: fixed, pose: at_closing, when: \"mod(t, T) >= "        \
    "T/2\"}\n"                                                                                     \
    "  front: {join: [world, body.tip], as: fixed, pose: at_closing, when: \"mod(t, T) < T/2\"}\n" \
    "probes: {root: {position: body.root}, tip: {position: body.tip}, r: {reaction: rear}, "       \
    "m: {effort: clutch}, e: energy}\n"

// a branch with a rod that is conditional, on time and on a probe of its tip
#define SHEDDING                                                                                   \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3, damping: 5 ms}}\n"     \
    "robot:\n"                                                                                     \
    "  arm: {on: world, joint: revolute, axis: y, body: {mass: 0.2, com: [0.1, 0, 0], inertia: "   \
    "[1e-3, 1e-3, 1e-3]}}\n"                                                                       \
    "  tip: {on: arm, pose: {xyz: [0.2, 0, 0]}, joint: spherical, stiffness: 0.1, rod: {length: "  \
    "0.1 m, section: {circle: {radius: 5 mm}}, material: rubber, strain: {bend_y: legendre 2}}, "  \
    "when: \"t < 23 ms or once(end.z < -0.055)\"}\n"                                               \
    "  bob: {on: tip, joint: revolute, body: {mass: 0.02, com: [0, 0.01, 0], inertia: [1, 1, 1e-5" \
    "]}, when: \"mod(t, 19 ms) > 7 ms\"}\n"                                                        \
    "initial: {arm: {rate: 2}, tip: {rate: [1, 2, 3]}, bob: {rate: 5}}\n"                          \
    "probes: {end: {position: tip.tip}, b: {value: bob}, e: energy}\n"

// nodes adapted to the shape, with parts attached to them
#define FOLLOWING                                                                                  \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 0.5 MPa, poisson: 0.4, density: 1000, damping: 5 ms}}\n"          \
    "robot:\n"                                                                                     \
    "  arm: {on: world, joint: revolute, axis: y, stiffness: 0.5, rod: {length: 0.4, section: "    \
    "{circle: {radius: "                                                                           \
    "8 mm}}, material: rubber, strain: {bend_y: legendre 3, twist: legendre 2}, integrator: "      \
    "rk45, tolerance: 1e-8}}\n"                                                                    \
    "  bob: {on: arm@60%, body: {mass: 10 g}}\n"                                                   \
    "loads:\n"                                                                                     \
    "  wind: {along: arm, force: [0, \"1 N/m*x/L\", 0]}\n"                                         \
    "  kick: {on: arm.tip, torque: [10 mN*m, 30 mN*m, 0], when: \"tip.z < -0.02 and t < 80 "       \
    "ms\"}\n"                                                                                      \
    "probes: {tip: {position: arm.tip}, turn: {rotation: bob}, mid: {wrench: arm@30%}, e: "        \
    "energy}\n"

// the boundary-value engine: loads, a conditional body, tendons with friction and a gas
#define SHOT                                                                                       \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3, damping: 10 ms}}\n"    \
    "robot:\n"                                                                                     \
    "  arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 10 mm}},\n"                \
    "    material: rubber, strain: {bend_y: legendre 3, twist: legendre 2}}}\n"                    \
    "  bob: {on: arm@60%, body: {mass: 20 g}, when: t < 31 ms}\n"                                  \
    "loads:\n"                                                                                     \
    "  push: {on: arm.tip, force: [0, 0.02 N*sin(2*pi*t/(0.3 s)), \"0.02 N*step(t, 0.0317 "        \
    "s)\"]}\n"                                                                                     \
    "probes: {tip: {position: arm.tip}, turn: {rotation: arm.tip}, mid: {wrench: arm@30%}, e: "    \
    "energy, f: frequency}\n"
#define TENDONS                                                                                    \
    "actuators:\n"                                                                                 \
    "  pull: {tendon: {along: arm, at: [0, 8 mm, 0]}, effort: 0.2 N*sin(2*pi*t/(0.1 s))^2}\n"      \
    "  winch: {tendon: {along: arm, at: [0, -4 mm, 4 mm], compliance: 1e-3 1/N, friction: 0.2}, "  \
    "shortening: 1 mm*sin(2*pi*t/(0.2 s))}\n"                                                      \
    "  air: {chamber: {along: arm, at: [0, 0, -6 mm], area: 20 mm^2}, gas: {moles: 4e-4 mol*(1 + " \
    "t/(1 s))}}\n"

#define BENT                                                                                       \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3, damping: 10 ms}}\n"    \
    "robot:\n"                                                                                     \
    "  arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 10 mm}},\n"                \
    "    material: rubber, strain: cosserat legendre 2}}\n"                                        \
    "actuators:\n"                                                                                 \
    "  winch: {tendon: {along: arm, at: [0, -4 mm, 4 mm], compliance: 1e-3 1/N}, "                 \
    "shortening: 1 mm*sin(2*pi*t/(0.2 s))}\n"                                                      \
    "probes: {tip: {position: arm.tip}}\n"

// legs joined by a plate: one of variable length, one turned by a motor
#define PLATE                                                                                      \
    "sinew: 1\n"                                                                                   \
    "parameters: {A: [0, 120 deg, -120 deg], R: 20 cm, r: 10 cm, l: 40 cm, up: -asin((R - "        \
    "r)/l)}\n"                                                                                     \
    "materials: {glass: {young: 40 GPa, poisson: 0.3, density: 1900, damping: 5 ms}}\n"            \
    "robot:\n"                                                                                     \
    "  leg(k=1..3): {on: world, pose: {xyz: [R*cos(A(k)), R*sin(A(k)), 0], rpy: [0, -90 deg, "     \
    "A(k)]}, joint: revolute, axis: y, rod: {length: l, section: {circle: {radius: 2 mm}}, "       \
    "material: glass, strain: kirchhoff legendre 3}}\n"                                            \
    "  plate: {on: world, pose: {xyz: [0, 0, 39 cm]}, joint: free, body: {mass: 0.5 kg, "          \
    "cylinder: "                                                                                   \
    "{radius: 12 cm, length: 1 cm}}}\n"                                                            \
    "sites: {\"pin(k=1..3)\": {on: plate, pose: {xyz: [r*cos(A(k)), r*sin(A(k)), 0]}}}\n"          \
    "loops: {\"ball(k=1..3)\": {join: [leg(k).tip, pin(k)], as: spherical}}\n"                     \
    "actuators:\n"                                                                                 \
    "  motor(k=1..3): {joint: leg(k), position: \"up + k*20 deg*poly5(t, 0 s, 0.1 s)\"}\n"         \
    "probes: {top: {pose: plate}, e: energy}\n"

// wheels with redundant constraint rows, in motion and at rest
#define CAR                                                                                        \
    "sinew: 1\n"                                                                                   \
    "gravity: 0\n"                                                                                 \
    "robot:\n"                                                                                     \
    "  car: {on: world, joint: planar, stiffness: [1, 1, 0.2], body: {mass: 2, com: [0.1, 0, 0], " \
    "inertia: [1, 1, 1]}}\n"                                                                       \
    "  arm: {on: car, joint: revolute, stiffness: 3, body: {mass: 1, com: [0.5, 0, 0], inertia: "  \
    "[1, 1, 0.2]}}\n"                                                                              \
    "sites: {l: {on: car, pose: {xyz: [0, 0.3, 0]}}, r: {on: car, pose: {xyz: [0, -0.3, 0]}}}\n"   \
    "initial: {car: {rate: [1, 0, 0.5]}}\n"                                                        \
    "contacts: {a: {wheel: {on: l, axis: y}}, b: {wheel: {on: r, axis: y}}}\n"                     \
    "loads: {push: {on: car, force: [0.2*t, 0.5*t, 0], torque: [0, 0, t]}}\n"                      \
    "probes: {p: {pose: car}, a: {reaction: a}, b: {reaction: b}}\n"

// Bricard's chain, whose dropped rows change as it turns inside out
// (tests/physics/test_redundant.c)
#define BRICARD_LINK(name, on, a, turn)                                                            \
    "  " name ": {on: " on ", pose: {xyz: [" a ", 0, 0], rpy: [" turn " deg, 0, 0]}, joint: "      \
    "revolute, axis: z, body: {mass: 1, com: [0.05, 0, 0], inertia: [2e-4, 1e-3, 1e-3]}}\n"
#define BRICARD                                                                                    \
    "sinew: 1\n"                                                                                   \
    "robot:\n" BRICARD_LINK("l1", "world", "0", "0") BRICARD_LINK("l2", "l1", "0.1", "90")         \
        BRICARD_LINK("l3", "l2", "0.1", "-90") BRICARD_LINK("l4", "l3", "0.1", "90") BRICARD_LINK( \
            "l5", "l4", "0.1",                                                                     \
            "-90") "sites:\n"                                                                      \
                   "  e: {on: l5, pose: {xyz: [0.1, 0, 0], rpy: [90 deg, 0, 0]}}\n"                \
                   "  g: {on: world, pose: {xyz: [-0.1, 0, 0], rpy: [90 deg, 0, 0]}}\n"            \
                   "loops: {ring: {join: [e, g], as: revolute}}\n"                                 \
                   "initial: {l1: {position: 60 deg, rate: 3}, l2: acos(-1/3), l3: 60 deg, l4: "   \
                   "acos(-1/3), l5: "                                                              \
                   "60 deg}\n"                                                                     \
                   "probes: {p: {angle: l1}, q: {angle: l2}, ring: {reaction: ring}}\n"

static const char *const studies[] = {
    PLATE
    "study:\n"
    "  - static: {name: home, engine: shooting, shooting: {points: 15}}\n"
    "  - dynamic: {for: 50 ms, step: 5 ms, engine: shooting, shooting: {points: 15}}\n"
    "  - static: {name: path, for: 10 ms, step: 5 ms, engine: shooting, shooting: {points: "
    "15}}\n"
    "  - dynamic: {from: home, for: 40 ms, step: 4 ms, scheme: bdf-alpha, alpha: -0.2, engine: "
    "shooting, shooting: {points: 21, along: euler}}\n",
    CRAWLING "study:\n"
             "  - dynamic: {for: 55 ms, step: 1 ms}\n"
             "  - change: {F: 30 N, rear.when: off}\n"
             "  - dynamic: {for: 20 ms, step: 1 ms, scheme: bdf2}\n"
             "  - change: {clutch: off}\n"
             "  - static: {name: rest}\n"
             "  - dynamic: {for: 20 ms, step: 1 ms}\n"
             "  - dynamic: {for: 60 ms, step: 1 ms, scheme: conserving}\n",
    // every kind of step, a change in between, one that starts from an earlier step
    CLAMPED "study:\n"
            "  - static: {name: path, for: 20 ms, step: 5 ms}\n"
            "  - dynamic: {name: alpha, for: 60 ms, step: 2 ms}\n"
            "  - change: {name: cured, rubber.young: 2 MPa}\n"
            "  - static: {name: settled}\n"
            "  - dynamic: {name: levels, for: 20 ms, scheme: bdf2, step: 2 ms}\n"
            "  - dynamic: {name: chosen, from: alpha, for: 60 ms, adapt: on, step: 10 ms, "
            "tolerance: 1e-4}\n"
            "  - dynamic: {name: kept, for: 20 ms, scheme: conserving, step: 2 ms}\n"
            "  - dynamic: {name: reference, for: 10 ms, scheme: adaptive}\n"
            "  - dynamic: {name: last, for: 20 ms, scheme: wbz, step: 2 ms, until: t > 0.155 s}\n"
            "  - static: {name: end}\n",
    BRICARD "study: [dynamic: {for: 1.6 s, step: 20 ms}]\n",
    CLAMPED "study:\n"
            "  - dynamic: {for: 60 ms, adapt: on}\n"
            "  - dynamic: {for: 60 ms, adapt: on, scheme: gauss4}\n"
            "  - dynamic: {for: 60 ms, adapt: on, scheme: radau5}\n"
            "  - dynamic: {for: 20 ms, step: 2 ms, scheme: radau3}\n"
            "record: {every: 3 ms}\n",
    // frames between steps, steps without frames
    CLAMPED "study:\n"
            "  - dynamic: {for: 90 ms, step: 3 ms}\n"
            "  - dynamic: {for: 0.1 s, scheme: bdf-alpha, step: 3 ms}\n"
            "record: {every: 7 ms}\n",
    CONTROLLED "study:\n"
               "  - dynamic: {name: first, for: 60 ms, step: 2 ms}\n"
               "  - change: {T: 5 ms, r: 0.03}\n"
               "  - dynamic: {name: second, for: 60 ms, scheme: bdf2, step: 3 ms, until: tip.z < "
               "-0.05 and integral(t) > 1e-4}\n"
               "  - dynamic: {from: first, for: 40 ms, adapt: on, step: 4 ms, tolerance: 1e-4}\n"
               "  - dynamic: {from: first, for: 30 ms, scheme: conserving, step: 2 ms}\n"
               "  - static: {name: end}\n",
    // after the mode shapes the state is that before them, and the frequencies are kept
    CLAMPED "study:\n"
            "  - static:\n"
            "  - modes: {count: 4}\n"
            "  - dynamic: {for: 20 ms, step: 2 ms}\n"
            "  - change: {rubber.young: 2 MPa}\n"
            "  - modes: {name: moving}\n"
            "  - dynamic: {for: 20 ms, step: 2 ms, scheme: bdf2}\n",
    SHOT "study:\n"
         "  - static: {name: path, for: 20 ms, step: 5 ms, engine: shooting, shooting: {points: "
         "15}}\n"
         "  - dynamic: {name: levels, for: 30 ms, step: 3 ms, scheme: bdf2, engine: shooting, "
         "shooting: {points: 21}}\n"
         "  - modes: {count: 2}\n"
         "  - dynamic: {for: 10 ms, step: 2 ms, scheme: bdf3, engine: shooting, shooting: "
         "{points: 21, along: euler, history: linear}}\n"
         "  - change: {name: cured, rubber.young: 2 MPa}\n"
         "  - modes: {name: stiffer, count: 2}\n"
         "  - dynamic: {name: short, for: 1 ms, step: 0.2 ms, scheme: trapezoidal, engine: "
         "shooting, shooting: {points: 40}}\n"
         "  - dynamic: {for: 4 ms, step: 2 ms}\n"
         "  - dynamic: {from: cured, for: 6 ms, step: 2 ms, scheme: bdf-alpha, alpha: -0.3, "
         "engine: shooting, shooting: {points: 21}}\n"
         "  - dynamic: {from: levels, for: 8 ms, step: 2 ms, scheme: euler, engine: shooting, "
         "shooting: {points: 13, along: dormand-prince, error: 1e-8}}\n"
         "  - static: {from: path, engine: shooting, shooting: {solver: dogleg}}\n",
    SHOT TENDONS
    "study:\n"
    "  - static: {name: path, for: 20 ms, step: 5 ms, engine: shooting, shooting: "
    "{points: 21}}\n"
    "  - dynamic: {name: first, for: 48 ms, step: 3 ms, scheme: bdf2, engine: shooting, "
    "shooting: {points: 21}}\n"
    "  - dynamic: {from: path, for: 8 ms, step: 2 ms, scheme: bdf-alpha, engine: "
    "shooting, shooting: {points: 15}}\n"
    "  - dynamic: {for: 8 ms, step: 2 ms, scheme: bdf2, engine: shooting, shooting: "
    "{points: 15, along: dormand-prince, error: 1e-7}}\n",
    // derivatives of strains along the rod have histories of their own
    BENT "study:\n"
         "  - static: {name: path, engine: shooting, shooting: {points: 21}}\n"
         "  - dynamic: {name: till, for: 32 ms, step: 2 ms, scheme: bdf-alpha, engine: shooting, "
         "shooting: {points: 21}}\n"
         "  - dynamic: {name: till_on, for: 14 ms, step: 2 ms, scheme: bdf3, engine: shooting, "
         "shooting: {points: 21}}\n",
    FREE "study: [modes, dynamic: {for: 60 ms, step: 2 ms}]\n",
    FREE "study: [dynamic: {for: 60 ms, step: 2 ms}]\n",
    FREE "study: [dynamic: {for: 60 ms, step: 2 ms, base: split, scheme: trapezoidal}]\n",
    FREE "study: [dynamic: {for: 60 ms, step: 2 ms, scheme: euler, start: rest}]\n",
    FREE "study: [dynamic: {for: 60 ms, step: 2 ms, scheme: conserving}]\n",
    DROPPED "study: [dynamic: {for: 300 ms, step: 5 ms}]\n",
    BOUNCING "study: [dynamic: {for: 300 ms, step: 5 ms, scheme: conserving}]\n",
    CAR "study: [dynamic: {for: 300 ms, step: 10 ms}, dynamic: {for: 300 ms, step: 10 ms, scheme: "
        "conserving}, static: {for: 1 s, step: 0.2 s}, dynamic: {for: 300 ms, step: 20 ms, scheme: "
        "gauss4}]\n",
    JOINTS "study:\n"
           "  - dynamic: {for: 60 ms, step: 2 ms, scheme: generalized-alpha}\n"
           "  - change: {slide.stiffness: [2, 10], ball.friction: 0}\n"
           "  - dynamic: {for: 30 ms, step: 2 ms, scheme: conserving}\n",
    SHEDDING "study:\n"
             "  - dynamic: {for: 60 ms, step: 1 ms}\n"
             "  - change: {bob.when: on}\n"
             "  - dynamic: {for: 25 ms, step: 1 ms, scheme: conserving}\n"
             "  - change: {tip: off}\n"
             "  - dynamic: {for: 25 ms, step: 1 ms, scheme: bdf2}\n"
             "  - change: {tip.when: on}\n"
             "  - dynamic: {for: 25 ms, step: 1 ms, scheme: conserving}\n",
    REMEMBERING "study:\n"
                "  - static: {relaxation: 20 ms}\n"
                "  - dynamic: {name: first, for: 40 ms, step: 2 ms}\n"
                "  - modes: {count: 2}\n"
                "  - change: {hold: {joint: base, position: 0.1 rad}}\n"
                "  - dynamic: {for: 20 ms, step: 2 ms, scheme: bdf2}\n"
                "  - static: {relaxation: instant}\n"
                "  - dynamic: {for: 20 ms, step: 2 ms, scheme: euler}\n"
                "  - dynamic: {for: 20 ms, step: 2 ms, scheme: gauss4}\n"
                "  - dynamic: {for: 20 ms, step: 2 ms, scheme: radau5, adapt: on}\n"
                "  - dynamic: {from: first, for: 10 ms, step: 1 ms, adapt: on}\n",
    CLAMPED "study:\n"
            "  - static: {for: 60 ms, step: 2 ms, march: {flow: on}}\n"
            "  - dynamic: {for: 20 ms, step: 2 ms}\n"
            "  - static: {for: 20 ms, step: 2 ms, march: {flow: on, step: 0.3 ms}}\n",
    FOLLOWING "study:\n"
              "  - static: {for: 10 ms, step: 5 ms}\n"
              "  - dynamic: {name: first, for: 24 ms, step: 2 ms}\n"
              "  - dynamic: {for: 20 ms, step: 5 ms, scheme: gauss6}\n"
              "  - change: {wind.force: [0, 0, 1 N/m]}\n"
              "  - dynamic: {for: 6 ms, step: 2 ms, scheme: conserving}\n"
              "  - dynamic: {for: 2 ms, scheme: adaptive, tolerance: 1e-4}\n"
              "  - dynamic: {from: first, for: 6 ms, step: 2 ms, scheme: bdf2}\n"
              "record: {every: 2 ms}\n",
};

static snw_document *parse(const char *text) {
    snw_document *d;
    snw_error err = {0};
    assert_status_ok(snw_document_parse("test", text, strlen(text), 0, NULL, &d, &err), &err);
    return d;
}

static snw_desc *described(const char *text, snw_document **document) {
    snw_error err = {0};
    snw_desc *desc;
    *document = parse(text);
    assert_status_ok(snw_document_describe(*document, 0, &desc, &err), &err);
    // steps `till` have the paper's form of the rod equations, which has histories of its own
    for (int i = 0; i < desc->nstep; i++) {
        if (strncmp(desc->step[i].name, "till", 4) == 0)
            desc->step[i].shooting.form = &oracle_till_form;
    }
    return desc;
}

// Sanitized builds are slow and reach the same lines with few frames. From every second frame a
// run is resumed for some frames; from the first and some others to its end, where its totals are
// compared as well.
enum { EVERY = AMONG(23, 2), TO_THE_END = AMONG(1, 16), SOME = 8 };

static void continued_after_any_frame_it_has_the_same_bits(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof studies / sizeof *studies; s++) {
        snw_document *document;
        snw_desc *desc = described(studies[s], &document);
        diary whole;
        snw_run *run;
        const snw_run_totals expected = keep_diary(desc, NULL, 0, &whole, &run);
        assert_true(whole.n > 10);
        // nodes adapted to the shape
        if (s + 1 == sizeof studies / sizeof *studies) assert_true(expected.meshes > 3);
        int saved = 0;
        for (int k = 0; k < whole.n; k++) {
            if (!whole.save[k]) continue;
            if (saved++ % EVERY) continue;
            diary rest;
            snw_run *again;
            const bool ends = (saved - 1) / EVERY % TO_THE_END == 0 || whole.n - k - 1 <= SOME;
            const snw_run_totals got =
                keep_diary(desc, whole.save[k], ends ? 0 : SOME, &rest, &again);
            assert_true(ends ? rest.n == whole.n - k - 1 : rest.n >= SOME);
            const size_t bytes = frame_size(whole.info) * sizeof(double);
            for (int i = 0; i < rest.n; i++) {
                if (memcmp(rest.row[i], whole.row[k + 1 + i], bytes) == 0) continue;
                fail_msg("study %d: frame %d differs after a restart from %d", (int)s, k + 1 + i,
                         k);
            }
            if (!ends) {
                clear(&rest);
                snw_run_destroy(again);
                continue;
            }
            assert_int_equal(got.frames, expected.frames);
            assert_int_equal(got.iterations, expected.iterations);
            assert_int_equal(got.increments, expected.increments);
            assert_int_equal(got.meshes, expected.meshes);
            assert_true(got.worst_residual == expected.worst_residual);
            assert_true(got.balance == expected.balance && got.exchanged == expected.exchanged);
            assert_true(got.time_error == expected.time_error);
            clear(&rest);
            snw_run_destroy(again);
        }
        assert_true(saved > 20); // adaptive steps have no checkpoints
        clear(&whole);
        snw_run_destroy(run);
        snw_desc_destroy(desc);
        snw_document_destroy(document);
    }
}

// a checkpoint of a step that this study does not have
static void a_strange_checkpoint_is_refused(void **state) {
    (void)state;
    snw_error err = {0};
    snw_document *document;
    snw_desc *desc = described(studies[2], &document);
    snw_run *run;
    assert_status_ok(snw_run_create(desc, "main", &run, &err), &err);
    double *save = snw_alloc((size_t)snw_run_describe(run)->nsave * sizeof *save);
    const double strange[] = {-1, 0.5, 2, 7, 10, 1e300, NAN}; // 2: the change, 7: adaptive
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        save[0] = strange[i];
        assert_int_equal(snw_run_resume(run, save, &err), SNW_E_ARGUMENT);
    }
    snw_free(save);
    snw_run_destroy(run);
    snw_desc_destroy(desc);
    snw_document_destroy(document);
}

static snw_status forget(void *user, const snw_frame *f, snw_error *err) {
    (void)user, (void)f, (void)err;
    return SNW_OK;
}

static bool enough(void *user) { return ++*(int *)user > 20; }

static uint32_t scramble(uint32_t *seed, size_t below) {
    *seed = *seed * 1664525U + 1013904223U;
    return (*seed >> 8) % (uint32_t)below;
}

// resume from a checkpoint with some numbers replaced; any outcome but a crash is allowed
static void go_on(const snw_desc *desc, const double *save, uint32_t *seed) {
    static const double strange[] = {NAN, INFINITY, -1,    0,   1,         2,
                                     1e9, -1e18,    1e308, 0.5, 4294967297};
    snw_error err = {0};
    snw_run_totals totals;
    snw_run *run;
    assert_status_ok(snw_run_create(desc, "main", &run, &err), &err);
    const size_t n = (size_t)snw_run_describe(run)->nsave;
    double *row = snw_alloc(n * sizeof *row);
    memcpy(row, save, n * sizeof *row);
    for (uint32_t i = 0; i <= scramble(seed, 4); i++) {
        row[scramble(seed, n)] = strange[scramble(seed, sizeof strange / sizeof *strange)];
    }
    int asked = 0;
    const snw_recorder recorder = {NULL, forget, end};
    const snw_run_hooks hooks = {.user = &asked, .stop = enough};
    snw_status status = snw_run_resume(run, row, &err);
    if (status == SNW_OK) status = snw_run_execute(run, 1, &recorder, &hooks, &totals, &err);
    assert_true(status == SNW_OK || err.text[0]);
    snw_free(row);
    snw_run_destroy(run);
}

// A row of a file may hold anything, with a valid checksum: counts and indices are checked before
// use.
static void strange_numbers_in_a_checkpoint_do_no_harm(void **state) {
    (void)state;
    uint32_t seed = 1;
    for (size_t s = 0; s < sizeof studies / sizeof *studies; s++) {
        if (!strstr(studies[s], "engine: shooting")) continue;
        snw_document *document;
        snw_desc *desc = described(studies[s], &document);
        diary whole;
        snw_run *run;
        (void)keep_diary(desc, NULL, 0, &whole, &run);
        for (int i = 0; i < AMONG(5, 30); i++) {
            const double *save = whole.save[scramble(&seed, (size_t)whole.n)];
            if (save) go_on(desc, save, &seed);
        }
        clear(&whole);
        snw_run_destroy(run);
        snw_desc_destroy(desc);
        snw_document_destroy(document);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(continued_after_any_frame_it_has_the_same_bits),
        cmocka_unit_test(a_strange_checkpoint_is_refused),
        cmocka_unit_test(strange_numbers_in_a_checkpoint_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
