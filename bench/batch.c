// SPDX-License-Identifier: MIT
//
// Implicit steps per second of processor time of a batch on one thread: robots one by one, and in
// packs of 4 and 8, of 8 and 16 with single precision. Steps of 5 ms, generalized-alpha, robots in
// different motions.
#include "sinew/sinew.h"

#include "bench.h"

#include <math.h>

enum { N = 32, SECONDS = 1 };

#define HEAD                                                                                       \
    "sinew: 1\n"                                                                                   \
    "parameters: {phase: 0}\n"                                                                     \
    "materials:\n"                                                                                 \
    "  rubber: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 10 ms}\n"                      \
    "  steel: {young: 207 GPa, poisson: 0.3, density: 8000, damping: 1 ms}\n"                      \
    "robot:\n"
#define ARM                                                                                        \
    HEAD "  arm: {on: world, rod: {length: 0.3 m, section: {circle: {radius: 10 mm}},\n"           \
         "        material: rubber, "

// A robot; `moved`: displaced at random at the start, else moved by laws with a phase of its own.
static const struct {
    const char *name, *text;
    bool moved;
} robots[] = {
    {"rod, 9 coordinates, 8 nodes", ARM "nodes: 8, strain: kirchhoff legendre 3}}\n", true},
    {"rod, 36 coordinates, 20 nodes", ARM "nodes: 20, strain: kirchhoff legendre 12}}\n", true},
    {"rod, 9 coordinates, two tendons",
     ARM "nodes: 8, strain: kirchhoff legendre 3}}\n"
         "actuators:\n"
         "  a: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.5 N}\n"
         "  b: {tendon: {along: arm, at: [0, 7 mm, 0]}, effort: 0.2 N}\n",
     true},
    {"rod, 9 coordinates, controlled joint",
     HEAD "  base: {on: world, joint: revolute, axis: y, body: {mass: 0.1, box: [5 cm, 5 cm, 5 "
          "cm]}}\n"
          "  arm: {on: base, rod: {length: 0.3 m, section: {circle: {radius: 10 mm}}, material: "
          "rubber, nodes: 8,\n"
          "        strain: kirchhoff legendre 3}}\n"
          "probes: {turn: {angle: base}, speed: {rate: base}}\n"
          "actuators: {motor: {joint: base, effort: \"-1 N*m*turn - 20 mN*m*s*speed\"}}\n",
     true},
    {"rod, 9 coordinates, tendons that follow the tip",
     ARM "nodes: 8, strain: kirchhoff legendre 3}}\n"
         "probes: {tip: {position: arm.tip}, speed: {velocity: arm.tip}}\n"
         "actuators:\n"
         "  a: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: \"1 N - 5 N/m*tip.z - 0.1 "
         "N*s/m*speed.vz\"}\n"
         "  b: {tendon: {along: arm, at: [0, 7 mm, 0]}, effort: \"1 N - 5 N/m*tip.y - 0.1 "
         "N*s/m*speed.vy\"}\n",
     true},
    {"rod, 9 coordinates, a tendon of given length",
     ARM
     "nodes: 8, strain: kirchhoff legendre 3}}\n"
     "actuators: {a: {tendon: {along: arm, at: [0, 0, 7 mm], extra: 1 cm, compliance: 1e-3 1/N},"
     "\n"
     "               shortening: 2 mm*(1 - cos(5*t + phase))}}\n",
     false},
    // as examples/parallel/stewart_gough.yaml and examples/workspace/three_rfr.yaml
    {"Stewart-Gough, 228 coordinates",
     "sinew: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "parameters:\n"
     "  phase: 0\n"
     "  C: 87 mm\n"
     "  A: [-10 deg, 10 deg, 110 deg, 130 deg, 230 deg, 250 deg]\n"
     "  B: [-50 deg, 50 deg, 70 deg, 170 deg, 190 deg, 290 deg]\n"
     "  l: 0.504237999 m\n"
     "materials: {steel: {young: 207 GPa, poisson: 0.3, density: 8000, damping: 1 ms}}\n"
     "robot:\n"
     "  leg(k=1..6):\n"
     "    on: world\n"
     "    pose: {xyz: [C*cos(A(k)), C*sin(A(k)), 0], x: z}\n"
     "    rod: {length: l, section: {circle: {radius: 1 mm}}, material: steel,\n"
     "          strain: cosserat legendre 6, magnus: 6}\n"
     "  plate: {on: world, pose: {xyz: [0, 0, 0.5 m]}, joint: free,\n"
     "          body: {mass: 92.1 g, inertia: [1.91e-4, 1.91e-4, 3.81e-4]}}\n"
     "sites: {hole(k=1..6): {on: plate, pose: {xyz: [C*cos(B(k)), C*sin(B(k)), 0], x: z}}}\n"
     "loops: {clamp(k=1..6): {join: [leg(k).tip, hole(k)], as: fixed}}\n"
     "actuators:\n"
     "  feed(k=1..6): {feed: leg(k), position: l + 5 mm*sin(k + phase)*(1 - cos(3*t))}\n",
     false},
    {"3-RFR, 21 coordinates",
     "sinew: 1\n"
     "gravity: 0\n"
     "parameters:\n"
     "  phase: 0\n"
     "  R: 25 cm\n"
     "  r: 6 cm\n"
     "  span: 22 cm\n"
     "  around: [90 deg, 210 deg, 330 deg]\n"
     "materials: {steel: {young: 200 GPa, poisson: 0.3, density: 7800, damping: 1 ms}}\n"
     "robot:\n"
     "  leg(k=1..3):\n"
     "    on: world\n"
     "    pose: {xyz: [R*cos(around(k)), R*sin(around(k)), 0], axis: z, angle: around(k) + 180 "
     "deg}\n"
     "    joint: revolute\n"
     "    rod: {length: span, section: {circle: {radius: 0.5 mm}}, material: steel,\n"
     "          strain: {bend_z: legendre 5}}\n"
     "  platform: {on: world, joint: planar,\n"
     "             body: {mass: 0.1 kg, cylinder: {radius: r, length: 5 mm}}}\n"
     "sites: {pin(k=1..3): {on: platform, pose: {xyz: [r*cos(around(k)), r*sin(around(k)), 0]}}}\n"
     "loops: {hinge(k=1..3): {join: [leg(k).tip, pin(k)], as: revolute}}\n"
     "actuators: {motor(k=1..3): {joint: leg(k), position: 30 deg + 5 deg*sin(k + phase)*(1 - "
     "cos(5*t))}}\n",
     false},
    // as examples/locomotion/snake_ground.yaml, with actuated instead of given bending
    {"snake on the ground, 15 coordinates",
     HEAD
     "  snake: {on: world, joint: planar, rod: {length: 1, section: {circle: {radius: 20 mm}},\n"
     "          material: rubber, nodes: 30, strain: {bend_z: legendre 12}}}\n"
     "contacts:\n"
     "  floor: {ground: {on: snake, at: [0, 0, -19 mm], stiffness: 1.2e4 N/m^2, ends: 0,\n"
     "          friction: {along: 0.1, across: 0.6}, creep: 1 cm/s}}\n"
     "actuators: {muscle: {stress: {along: snake, bend_z: 0.3 N*m*sin(6.28*x/1 m - 6*t + "
     "phase)}}}\n",
     true},
    {"arm that lies on the ground, 15 coordinates",
     HEAD
     "  arm: {on: world, pose: {xyz: [0, 0, 12 mm]}, joint: planar,\n"
     "        rod: {length: 0.3 m, section: {circle: {radius: 10 mm}}, material: rubber, nodes: "
     "12,\n"
     "        strain: kirchhoff legendre 4}}\n"
     "contacts: {floor: {ground: {on: arm, stiffness: 5e3 N/m^2, friction: 0.5, creep: 1 cm/s,\n"
     "           smooth: 2 mm, damping: 1 s/m}}}\n",
     true}};

// steps per second of processor time, the best of several runs
static double rate(snw_robot_model *m, bool moved, int lanes, const char *precision,
                   const char **engine, const char **why) {
    static const double h = 5e-3;
    snw_batch *b = NULL;
    snw_error err = {0};
    double best = 0;
    snw_robot *start = NULL;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    if (snw_robot_from_model(m, &start, &err) != SNW_OK ||
        (!moved && snw_robot_equilibrium(start, 0, &err) != SNW_OK) ||
        snw_batch_create(m, N, 1, &b, &err) != SNW_OK ||
        snw_batch_set_lanes(b, lanes, &err) != SNW_OK ||
        snw_batch_set_precision(b, precision, &err) != SNW_OK)
        goto failed;
    const int nq = snw_robot_nq(snw_batch_robot(b, 0)), nv = snw_robot_nv(snw_batch_robot(b, 0));
    for (int i = 0; !moved && i < N; i++) {
        char phase[40];
        (void)snprintf(phase, sizeof phase, "phase=%.17g", 0.7 * i);
        const char *const set[] = {phase};
        if (snw_robot_set_parameters(snw_batch_robot(b, i), 1, set, &err) != SNW_OK) goto failed;
    }
    for (double end = bench_now() + SECONDS; bench_now() < end;) {
        for (int i = 0; moved && i < N * nq; i++)
            snw_batch_q(b)[i] = (i % nq < 6 ? 3 : 0.2) * sin(1.7 * (i / nq) + 2.3 * (i % nq));
        for (int i = 0; !moved && i < N; i++)
            (void)memcpy(snw_batch_q(b) + (size_t)i * (size_t)nq, snw_robot_q(start),
                         (size_t)nq * sizeof(double));
        for (int i = 0; i < N * nv; i++) snw_batch_v(b)[i] = 0;
        for (int i = 0; i < N; i++) // laws begin with the motion
            if (snw_robot_set_time(snw_batch_robot(b, i), 0) != SNW_OK) goto failed;
        if (snw_batch_start(b, &how, NULL, &err) != SNW_OK ||
            snw_batch_step(b, h, 10, NULL, &err) != SNW_OK) // short steps after the start
            goto failed;
        const double since = bench_processor();
        if (snw_batch_step(b, h, 40, NULL, &err) != SNW_OK) goto failed;
        best = fmax(best, 40 * N / (bench_processor() - since));
    }
    *engine = snw_batch_engine(b, 0, why);
    snw_batch_close(b);
    snw_robot_close(start);
    return best;
failed:
    fprintf(stderr, "%s\n", err.text);
    snw_batch_close(b);
    snw_robot_close(start);
    return NAN;
}

// With an argument only robots whose name contains it.
int main(int argc, char **argv) {
    (void)setvbuf(stdout, NULL, _IOLBF, 0); // rows appear as they are measured
    printf("%-45s %-42s %9s %8s\n", "robot", "engine", "steps/s", "ratio");
    for (size_t k = 0; k < sizeof robots / sizeof *robots; k++) {
        const char *text = robots[k].text;
        if (argc > 1 && !strstr(robots[k].name, argv[1])) continue;
        snw_robot_model *m = NULL;
        snw_error err = {0};
        if (snw_robot_model_parse("rod", text, strlen(text), NULL, 0, NULL, &m, &err) != SNW_OK) {
            fprintf(stderr, "%d:%d: %s\n", err.line, err.column, err.text);
            return 1;
        }
        static const struct {
            int lanes;
            const char *precision;
        } packs[] = {{1, "double"}, {4, "double"}, {8, "double"}, {8, "single"}, {16, "single"}};
        double alone = 0;
        for (size_t p = 0; p < sizeof packs / sizeof *packs; p++) {
            const char *engine = "", *why = "";
            const double r =
                rate(m, robots[k].moved, packs[p].lanes, packs[p].precision, &engine, &why);
            if (p == 0) alone = r;
            printf("%-45s %-42s %9.0f %8.2f %s\n", robots[k].name, engine, r, r / alone,
                   p > 0 ? why : "");
        }
        snw_robot_model_close(m);
    }
    return 0;
}
