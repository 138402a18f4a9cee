// SPDX-License-Identifier: MIT
//
// Robots stepped in packs: residual and tangent of each lane are those of the robot alone to the
// last bit; motions are those of robots alone to the tolerance of the solver, and to the last bit
// the same wherever a robot is in the batch, whatever the others do, and with packs of 4 or of 8.
// Single precision moves robots nearly so, and keeps the digits of their states.
#include "sinew/sinew.h"

#include "dynamics/constraint.h"
#include "dynamics/dynamics.h"
#include "near.h"
#include "robot/robot_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MATERIAL                                                                                   \
    "sinew: 1\n"                                                                                   \
    "parameters: {E: 1 MPa}\n"                                                                     \
    "materials:\n"                                                                                 \
    "  rubber: {young: E, poisson: 0.5, density: 1000, damping: 10 ms}\n"                          \
    "  gel: {young: E, poisson: 0.5, density: 1000, damping: 5 ms,\n"                              \
    "        relaxation: {of: instant, ratios: [0.3, 0.2], times: [5 ms, 100 ms]}}\n"              \
    "robot:\n"
#define ARM "length: 0.3 m, section: {circle: {radius: 10 mm}}, material: rubber"

// A plate on three legs that motors turn, closed by fixed and spherical joints.
#define LOOPED_LEGS                                                                                \
    "  leg(k=1..3):\n"                                                                             \
    "    on: world\n"                                                                              \
    "    pose: {xyz: [4 cm*cos(120*k), 4 cm*sin(120*k), 0], x: z}\n"                               \
    "    joint: revolute\n"                                                                        \
    "    axis: y\n"                                                                                \
    "    rod: {" ARM ", nodes: 6, strain: kirchhoff legendre 2}\n"                                 \
    "  plate: {on: world, pose: {xyz: [0, 0, 0.3 m]}, joint: free,\n"                              \
    "          body: {mass: 0.05, inertia: [2e-5, 2e-5, 3e-5]}}\n"                                 \
    "sites:\n"                                                                                     \
    "  hole(k=1..3): {on: plate, pose: {xyz: [4 cm*cos(120*k), 4 cm*sin(120*k), 0], x: z}}\n"      \
    "loops:\n"                                                                                     \
    "  first: {join: [leg(1).tip, hole(1)], as: fixed}\n"                                          \
    "  second: {join: [leg(2).tip, hole(2)], as: fixed}\n"                                         \
    "  third: {join: [leg(3).tip, hole(3)], as: spherical}\n"                                      \
    "actuators: {motor(k=1..3): {joint: leg(k), position: 0.05*k*(1 - cos(20*t))}}\n"
// A plate on two rods whose free lengths are driven.
#define DRIVEN_LEGS                                                                                \
    "  leg(k=1..2):\n"                                                                             \
    "    on: world\n"                                                                              \
    "    pose: {xyz: [0, 3 cm*k, 0], x: z}\n"                                                      \
    "    rod: {" ARM ", nodes: 8, strain: cosserat legendre 6}\n"                                  \
    "  plate: {on: world, pose: {xyz: [0, 4.5 cm, 0.3 m]}, joint: free,\n"                         \
    "          body: {mass: 0.05, inertia: [2e-5, 2e-5, 3e-5]}}\n"                                 \
    "sites: {hole(k=1..2): {on: plate, pose: {xyz: [0, 3 cm*k - 4.5 cm, 0], x: z}}}\n"             \
    "loops: {clamp(k=1..2): {join: [leg(k).tip, hole(k)], as: fixed}}\n"                           \
    "actuators: {feed(k=1..2): {feed: leg(k), position: 0.3 m + 5 mm*k*(1 - cos(10*t))}}\n"

// A rod and a pendulum in water with a current, between them springs, a cable that is slack at
// times, a bushing and a damper; the pendulum has stops.
#define FORCES                                                                                     \
    "  arm: {on: world, rod: {" ARM ", nodes: 8, strain: cosserat legendre 2}}\n"                  \
    "  hand: {on: arm.tip, joint: revolute, axis: y, limits: [-10 deg, 10 deg],\n"                 \
    "         stop: {stiffness: 0.5 N*m, smooth: 2 deg, restitution: {ratio: 0.5, speed: 1 "       \
    "rad/s}},\n"                                                                                   \
    "         body: {mass: 0.02, box: [3 cm, 2 cm, 2 cm]}}\n"                                      \
    "  other: {on: world, pose: {xyz: [0, 0.1 m, 0.2 m]}, joint: free,\n"                          \
    "          body: {mass: 0.1, box: [4 cm, 3 cm, 2 cm]}}\n"                                      \
    "springs:\n"                                                                                   \
    "  one: {spring: [arm.tip, other], rest: 0.2 m, stiffness: 3 N/m}\n"                           \
    "  two: {cable: [{xyz: [0, 0, 0.2 m]}, other], rest: 0.1 m, stiffness: 20 N/m, smooth: 5 "     \
    "mm}\n"                                                                                        \
    "  three: {damper: [hand, other], damping: 0.1 N*s/m}\n"                                       \
    "  four: {bushing: [{xyz: [0, 0.1 m, 0.2 m]}, other],\n"                                       \
    "         stiffness: [0.01, 0.01, 0.01, 5, 5, 5], damping: [1e-4, 1e-4, 1e-4, 0.1, 0.1, "      \
    "0.1]}\n"                                                                                      \
    "fluid: {stream: {on: arm, density: 1000, added: auto, buoyancy: on, current: [0.1, 0.05, "    \
    "0]}}\n"

// A rod, a ball and a brick on two half-spaces, with friction; a cart on wheels that slip.
#define GROUND                                                                                     \
    "  arm: {on: world, pose: {xyz: [0, 0, 12 mm], axis: y, angle: 3 deg}, rod: {" ARM             \
    ", nodes: 6,\n"                                                                                \
    "        strain: cosserat legendre 2}}\n"                                                      \
    "  ball: {on: world, pose: {xyz: [2 cm, 0.2 m, 19 mm]}, joint: free,\n"                        \
    "         body: {mass: 0.05, sphere: {radius: 2 cm}}}\n"                                       \
    "  cart: {on: world, joint: planar, body: {mass: 0.1, box: [4 cm, 3 cm, 2 cm]}}\n"             \
    "  brick: {on: world, pose: {xyz: [0, 0.3 m, 9.5 mm]}, joint: free,\n"                         \
    "          body: {mass: 0.1, box: [4 cm, 3 cm, 2 cm]}}\n"                                      \
    "contacts:\n"                                                                                  \
    "  floor: {ground: {on: arm, stiffness: 2e3 N/m^2, smooth: 4 mm, friction: {along: 0.2, "      \
    "across: 0.5},\n"                                                                              \
    "          creep: 5 mm/s, damping: 0.5 s/m}}\n"                                                \
    "  wheels: {wheel: {on: cart, axis: y, lateral: 2 N*s/m}}\n"                                   \
    "  table: {ground: {on: [ball, brick], normal: [0, 0.1, 1], stiffness: 200 N/m, smooth: 2 "    \
    "mm,\n"                                                                                        \
    "          friction: 0.4, creep: 5 mm/s}}\n"
// A rod against obstacles of each shape, at points and where it is nearest to them; a ball in a
// bowl and on a tray that it moves, and a ball that moves by a law.
#define OBSTACLES                                                                                  \
    "  arm: {on: world, rod: {" ARM ", nodes: 6, strain: cosserat legendre 2}}\n"                  \
    "  tray: {on: world, pose: {xyz: [0, 0.15 m, 0]}, joint: revolute, axis: y, stiffness: 2 "     \
    "N*m,\n"                                                                                       \
    "         damping: 0.02 N*m*s, body: {mass: 0.1, box: [20 cm, 10 cm, 1 cm]}}\n"                \
    "  ball: {on: world, pose: {xyz: [2 cm, 0.15 m, 44 mm]}, joint: free,\n"                       \
    "         body: {mass: 0.05, sphere: {radius: 2 cm}}}\n"                                       \
    "contacts:\n"                                                                                  \
    "  ring: {obstacle: {links: arm, shape: torus, radius: 3 cm, section: 1 cm, at: [25 cm, 0, "   \
    "-12 mm],\n"                                                                                   \
    "         stiffness: 300 N/m, smooth: 8 mm, friction: 0.3, creep: 5 mm/s, nearest: true}}\n"   \
    "  post: {obstacle: {links: arm, shape: cylinder, radius: 1 cm, length: 6 cm, rounding: 4 "    \
    "mm,\n"                                                                                        \
    "         at: [15 cm, 16 mm, 0], stiffness: 5e3 N/m^2, smooth: 8 mm, friction: 0.3, creep: 5 " \
    "mm/s}}\n"                                                                                     \
    "  pill: {obstacle: {links: arm, shape: capsule, radius: 1 cm, length: 2 cm, axis: y,\n"       \
    "         at: [5 cm, 0, -16 mm], stiffness: 300 N/m, smooth: 8 mm, nearest: true}}\n"          \
    "  cube: {obstacle: {links: arm, shape: box, size: [4 cm, 2 cm, 2 cm], rounding: 6 mm,\n"      \
    "         at: [20 cm, -16 mm, 5 mm], stiffness: 5e3 N/m^2, smooth: 8 mm, damping: 1 s/m}}\n"   \
    "  deck: {obstacle: {links: ball, on: tray, shape: box, size: [20 cm, 10 cm, 5 cm], "          \
    "rounding: 4 mm,\n"                                                                            \
    "         stiffness: 400 N/m, smooth: 2 mm, friction: 0.5, creep: 5 mm/s}}\n"                  \
    "  bowl: {obstacle: {links: ball, shape: sphere, inside: true, radius: 4 cm, at: [2 cm, 0.15 " \
    "m, 6 cm],\n"                                                                                  \
    "         stiffness: 400 N/m, smooth: 4 mm, friction: 0.2, creep: 5 mm/s}}\n"                  \
    "  lid: {obstacle: {links: tray, shape: sphere, radius: 3 cm, at: [5 cm, 0.15 m, 4 cm + 2 "    \
    "mm*sin(30*t)],\n"                                                                             \
    "        stiffness: 400 N/m, smooth: 5 mm}}\n"

// Rods that bend in a plane, about y and about z, one with stretch and shear.
#define PLANE                                                                                      \
    "  arm: {on: world, joint: revolute, axis: z, rod: {" ARM                                      \
    ", nodes: 6, strain: {bend_z: legendre 3}}}\n"                                                 \
    "  hand: {on: arm.tip, joint: revolute, axis: y, stiffness: 0.1 N*m, rod: {" ARM               \
    ", nodes: 6,\n"                                                                                \
    "         strain: {bend_y: legendre 3, stretch: legendre 1, shear_z: legendre 1}}}\n"

// A rod of a material that relaxes in two branches, and one that does not.
#define RELAXING                                                                                   \
    "  arm: {on: world, rod: {length: 0.3 m, section: {circle: {radius: 10 mm}}, material: gel,\n" \
    "        nodes: 6, strain: kirchhoff legendre 2}}\n"                                           \
    "  hand: {on: arm.tip, rod: {" ARM ", nodes: 4, strain: kirchhoff legendre 1}}\n"              \
    "loads: {push: {on: hand.tip, force: [0, 0.1*sin(20*t), 0]}}\n"

// A cart and a trailer on wheels without slip; a rod whose root rolls on a wheel.
#define WHEELS                                                                                     \
    "  cart: {on: world, joint: planar, body: {mass: 0.1, box: [4 cm, 3 cm, 2 cm]}}\n"             \
    "  trailer: {on: cart, pose: {xyz: [-5 cm, 0, 0]}, joint: revolute, axis: z, damping: 1 "      \
    "mN*m*s,\n"                                                                                    \
    "            body: {mass: 0.05, box: [9 cm, 1 cm, 1 cm]}}\n"                                   \
    "  tail: {on: trailer, rod: {" ARM ", nodes: 6, strain: {bend_z: legendre 3}}}\n"              \
    "contacts:\n"                                                                                  \
    "  front: {wheel: {on: cart, axis: y}}\n"                                                      \
    "  back: {wheel: {on: trailer, axis: y}}\n"                                                    \
    "actuators: {motor: {joint: trailer, effort: 5 mN*m*sin(20*t)}}\n"

// Tendons of given length, one compliant and slack at times; chambers of given volume and with gas.
#define GIVEN                                                                                      \
    "  arm: {on: world, rod: {" ARM ", nodes: 6, strain: cosserat legendre 2}}\n"                  \
    "actuators:\n"                                                                                 \
    "  pull: {tendon: {along: arm, at: [0, 0, 7 mm]}, shortening: 1 mm*(1 - cos(20*t))}\n"         \
    "  side: {tendon: {along: arm, at: [0, 7 mm, 0], extra: 2 cm, compliance: 1e-3 1/N},\n"        \
    "         shortening: 1 mm*(1 - cos(30*t))}\n"                                                 \
    "  air: {chamber: {along: arm, at: [0, 0, -5 mm], area: 20 mm^2},\n"                           \
    "        gas: {moles: 2.5e-4*(1 + 0.02*sin(20*t))}}\n"                                         \
    "  oil: {chamber: {along: arm, at: [0, -5 mm, 0], area: 20 mm^2},\n"                           \
    "        volume: 0.3 m*20 mm^2*(1 + 0.005*(1 - cos(10*t)))}\n"

// A rod between joints whose motors hold angles, one by a law with a branch and by time, one by
// values sampled and an integral; the stress of a muscle follows a joint's rate.
#define CONTROLLED                                                                                 \
    "  base: {on: world, joint: revolute, axis: y, body: {mass: 0.1, box: [5 cm, 5 cm, 5 cm]}}\n"  \
    "  arm: {on: base, rod: {" ARM ", nodes: 6, strain: kirchhoff legendre 2}}\n"                  \
    "  hand: {on: arm.tip, joint: revolute, axis: y, damping: 1 mN*m*s,\n"                         \
    "         body: {mass: 0.02, box: [3 cm, 2 cm, 2 cm]}}\n"                                      \
    "probes: {turn: {angle: base}, speed: {rate: base}, grip: {angle: hand}}\n"                    \
    "actuators:\n"                                                                                 \
    "  motor: {joint: base, effort: \"1 N*m*(0.3 rad*sin(20*t) - turn) - 20 mN*m*s*max(speed, 0 "  \
    "rad/s)\"}\n"                                                                                  \
    "  wrist: {joint: hand, effort: \"-0.1 N*m*sampled(grip, 8 ms) - 3 N*m/s*integral(grip)\"}\n"  \
    "  muscle: {stress: {along: arm, bend_y: \"1 mN*m*s*speed\"}}\n"

// A rod whose tendons follow its tip, a place beside it, strains, tendons and a filter of them;
// wind against its tip, which pushes as it moves.
#define FOLLOWED                                                                                   \
    "  arm: {on: world, joint: revolute, axis: z, stiffness: 1 N*m, damping: 10 mN*m*s,\n"         \
    "        rod: {" ARM ", nodes: 6, strain: kirchhoff legendre 2}}\n"                            \
    "sites: {eye: {on: arm.tip, pose: {xyz: [1 cm, 5 mm, 0], axis: y, angle: 20 deg}}}\n"          \
    "probes:\n"                                                                                    \
    "  tip: {position: arm.tip}\n"                                                                 \
    "  speed: {velocity: arm.tip}\n"                                                               \
    "  eye: {position: eye}\n"                                                                     \
    "  turn: {rotation: eye}\n"                                                                    \
    "  bend: {strain: arm@50%}\n"                                                                  \
    "  pulled: {length: low}\n"                                                                    \
    "states: {slow: {rate: \"(tip.z - slow)/(30 ms)\", initial: 0 m}}\n"                           \
    "loads: {wind: {on: arm.tip, force: [0, -0.1 N*s/m*speed.vy, -0.1 N*s/m*speed.vz], torque: "   \
    "[0, "                                                                                         \
    "0.1 N*eye.z, 0]}}\n"                                                                          \
    "actuators:\n"                                                                                 \
    "  low: {tendon: {along: arm, at: [0, 0, -7 mm]}, effort: \"0.3 N + 3 N/m*(0.02 m - tip.z) - " \
    "1 "                                                                                           \
    "N*s/m*speed.vz\"}\n"                                                                          \
    "  side: {tendon: {along: arm, at: [0, 7 mm, 0]}, effort: \"20 N/m*eye.y + 0.2 N*turn.rz + 2 " \
    "N/m*slow\"}\n"                                                                                \
    "  other: {tendon: {along: arm, at: [0, -7 mm, 0]}, effort: \"0.5 N + 5 N/m*(0.3 m - pulled) " \
    "+ 0.02 N*m*bend.bend_z\"}\n"

// a rod; one with all strains and few nodes, whose slices turn far; a tree with joints of each
// kind, springs, loads and active stress; a rigid arm; tendons, one slack at times, and a chamber
static const char *const models[] = {
    MATERIAL "  arm: {on: world, rod: {" ARM ", strain: kirchhoff legendre 3}}\n",
    MATERIAL "  arm: {on: world, rod: {" ARM ", nodes: 3, strain: cosserat legendre 2}}\n"
             "actuators: {muscle: {stress: {along: arm, bend_y: 5 mN*m*sin(50*t)}}}\n",
    MATERIAL
    "  base: {on: world, joint: free, body: {mass: 0.2, box: [5 cm, 5 cm, 5 cm]}}\n"
    "  hip: {on: base, joint: spherical, stiffness: 0.1 N*m, damping: 1 mN*m*s,\n"
    "        body: {mass: 0.1, box: [4 cm, 5 cm, 5 cm]}}\n"
    "  arm: {on: hip, rod: {" ARM ", strain: kirchhoff legendre 2}}\n"
    "  knee: {on: arm.tip, joint: revolute, axis: y, stiffness: 0.1 N*m, damping: 1 mN*m*s,\n"
    "         armature: 1e-5 kg*m^2,\n"
    "         body: {mass: 0.05, box: [3 cm, 3 cm, 3 cm]}}\n"
    "  slide: {on: base, joint: prismatic, axis: z, stiffness: 10 N/m, body: {mass: 0.1}}\n"
    "loads:\n"
    "  push: {on: knee, force: [0, 0.1*sin(20*t), 0]}\n"
    "  twist: {on: arm.tip, torque: [1 mN*m, 0, 0], frame: body}\n",
    MATERIAL
    "  one: {on: world, joint: revolute, axis: y, body: {mass: 1, box: [5 cm, 5 cm, 30 cm]}}\n"
    "  two: {on: one, pose: {xyz: [0, 0, -0.3 m]}, joint: revolute, axis: x,\n"
    "        body: {mass: 1, box: [5 cm, 5 cm, 30 cm]}}\n"
    "actuators: {motor: {joint: one, effort: 0}}\n",
    MATERIAL
    "  arm: {on: world, rod: {" ARM ", strain: cosserat legendre 2}}\n"
    "  hand: {on: arm.tip, rod: {" ARM ", strain: kirchhoff legendre 1}}\n"
    "actuators:\n"
    "  pull: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.5 N + 1 N*sin(100*t)}\n"
    "  far: {tendon: {along: [arm, hand], at: [0, 7 mm - 10*x*1 mm, 0]}, effort: 0.3 N}\n"
    "  discs: {tendon: {along: arm, at: [0, -7 mm, 0], discs: 30 mm}, effort: 0.2 N}\n"
    "  air: {chamber: {along: hand, at: [0, 0, -5 mm], area: 20 mm^2}, pressure: 10 kPa}\n",
    MATERIAL LOOPED_LEGS,
    MATERIAL DRIVEN_LEGS,
    MATERIAL FORCES,
    MATERIAL GROUND,
    MATERIAL OBSTACLES,
    MATERIAL PLANE,
    MATERIAL GIVEN,
    MATERIAL WHEELS,
    MATERIAL RELAXING,
    MATERIAL CONTROLLED,
    MATERIAL FOLLOWED};
enum { MODELS = sizeof models / sizeof *models, WITHOUT_LAWS = MODELS - 2 };

static snw_robot_model *open_model(const char *text) {
    snw_robot_model *m = NULL;
    snw_error err = {0};
    if (snw_robot_model_parse("packs", text, strlen(text), NULL, 0, NULL, &m, &err) != SNW_OK)
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    return m;
}

static void expect_ok(snw_status s, const snw_error *err) {
    if (s != SNW_OK) fail_msg("%s", err->text);
}

// number k of robot i, between -1 and 1
static double number(int i, int k) { return sin(1.7 * i + 2.3 * k + 0.4 * i * k); }

// robot i somewhere: x <- displacement from the reference configuration, then velocities
static void displace(snw_robot *r, int i, double far) {
    const snw_model *m = r->m;
    double x[100];
    for (int k = 0; k < m->nv; k++) {
        x[k] = far * m->typical[k] * number(i, k);
        snw_robot_v(r)[k] = m->typical[k] * number(i, k + 100);
        snw_robot_a(r)[k] = 10 * m->typical[k] * number(i, k + 200);
    }
    snw_move(m, m->q0, 1, x, snw_robot_q(r));
}

// ---- residual and tangent -----------------------------------------------------------------------

static void compare_bits(const snw_pack_engine *e, const char *text, double far) {
    enum { MOST = 100 };
    static double r[SNW_LANES_MOST][MOST], T[SNW_LANES_MOST][MOST * MOST], want[MOST * MOST];
    snw_robot_model *model = open_model(text);
    snw_robot *robot[SNW_LANES_MOST];
    snw_model_stream *stream[SNW_LANES_MOST];
    snw_pack_lane lane[SNW_LANES_MOST] = {{0}};
    double *residual[SNW_LANES_MOST], *tangent[SNW_LANES_MOST];
    snw_error err = {0};
    for (int l = 0; l < e->lanes; l++) {
        char young[40];
        (void)snprintf(young, sizeof young, "E=%d", 1000000 + 10000 * l);
        const char *const set[] = {young};
        expect_ok(snw_robot_from_model(model, &robot[l], &err), &err);
        expect_ok(snw_robot_set_parameters(robot[l], 1, set, &err), &err);
        displace(robot[l], l, l == 2 ? 10 * far : far);
        snw_inputs_at(robot[l]->m, 0.1 * l, robot[l]->in);
        assert_int_equal(snw_model_stream_create(robot[l]->m, &stream[l]), SNW_OK);
        assert_true(snw_model_stream_alike(stream[l], stream[0]));
        for (int k = 0; k < robot[l]->m->nbranch_coordinate; k++)
            robot[l]->s->relaxed[k] = number(l, k + 400);
        for (int k = 0; k < robot[l]->m->nbranch; k++) robot[l]->s->follow[k] = 0.2 * (k + 1);
        const int rows = robot[l]->m->nconstraint;
        for (int k = 0; k < rows; k++) robot[l]->s->lambda[k] = number(l, k + 300);
        assert_true(robot[l]->m->nv + rows <= MOST);
        const double a = 100.0 / (l + 1); // of rows of velocities
        robot[l]->w->velocity_time = 1 / a;
        lane[l] = (snw_pack_lane){.active = true,
                                  .a = a,
                                  .trial_q = snw_robot_q(robot[l]),
                                  .trial_v = snw_robot_v(robot[l]),
                                  .trial_a = snw_robot_a(robot[l]),
                                  .lambda = robot[l]->s->lambda,
                                  .relaxed = robot[l]->s->relaxed,
                                  .follow = robot[l]->s->follow,
                                  .gravity = robot[l]->in->gravity.e,
                                  .inputs = robot[l]->in->block};
        residual[l] = r[l], tangent[l] = T[l];
    }
    const double c[3] = {1, 30, 2000};
    snw_pack_order *order = NULL;
    assert_int_equal(snw_pack_order_create(robot[0]->m, &order), SNW_OK);
    snw_pack_model *m = e->model_create((const snw_model_stream *const *)stream, order);
    snw_pack_work *w = e->work_create(m);
    e->evaluate(m, w, lane, c, residual, tangent);
    for (int l = 0; l < e->lanes; l++) {
        const snw_robot *o = robot[l];
        const size_t nv = (size_t)o->m->nv, n = nv + (size_t)o->m->nconstraint;
        snw_residual(o->m, o->in, o->s, false, o->w);
        assert_memory_equal(r[l], o->w->r, nv * sizeof(double));
        assert_memory_equal(r[l] + nv, o->w->violation, (n - nv) * sizeof(double));
        snw_tangent_pass(o->m, NULL, o->w);
        memset(want, 0, sizeof want);
        snw_tangent_add(o->m, o->in, c[0], c[1], c[2], o->w, snw_matrix_dense(n, want));
        if (n > nv) snw_constraints_place(o->m, o->w, 1, snw_matrix_dense(n, want));
        for (size_t k = 0; k < n * n; k++) {
            if (T[l][k] != want[k])
                fail_msg("lane %d, row %zu, column %zu: %.17g, not %.17g", l, k % n, k / n, T[l][k],
                         want[k]);
        }
        snw_model_stream_destroy(stream[l]);
        snw_robot_close(robot[l]);
    }
    e->work_destroy(w);
    e->model_destroy(m);
    snw_pack_order_destroy(order);
    snw_robot_model_close(model);
}

static void each_lane_has_the_bits_of_the_robot_alone(void **state) {
    (void)state;
    for (int lanes = 4; lanes <= 8; lanes += 4) {
        const snw_pack_engine *e = snw_packs(lanes, false);
        if (!e) skip();
        for (int k = 0; k < WITHOUT_LAWS; k++) compare_bits(e, models[k], k == 1 ? 3 : 0.7);
    }
}

// ---- motions ------------------------------------------------------------------------------------

enum { N = 11, STEPS = 12, MOST_Q = 100 };
static const double h = 4e-3;

// A batch of n robots, robot p at place[p] of a family, with its own stiffness and motion.
static snw_batch *moving_so(snw_robot_model *m, int n, const char *precision, int lanes,
                            int threads, const int *place, bool gentle) {
    snw_batch *b = NULL;
    snw_error err = {0};
    expect_ok(snw_batch_create(m, n, threads, &b, &err), &err);
    expect_ok(snw_batch_set_precision(b, precision, &err), &err);
    expect_ok(snw_batch_set_lanes(b, lanes, &err), &err);
    for (int p = 0; p < n; p++) {
        snw_robot *r = snw_batch_robot(b, p);
        char young[40];
        (void)snprintf(young, sizeof young, "E=%d", 1000000 + 50000 * place[p]);
        const char *const set[] = {young};
        if (place[p] % 2) expect_ok(snw_robot_set_parameters(r, 1, set, &err), &err);
        // robots with loops near their closed shape, those with contacts at the surface: far from
        // it their first steps are many and short, and done alone
        const bool near = r->m->nconstraint > 0 || r->m->ncontact_point > 0 || gentle;
        // single precision begins in the reference configuration: whether a step after a jump is
        // cut is judged by energies, with its rounding errors, and another cut is another motion
        const double far = gentle ? 0 : near ? 0.02 : 0.3;
        // one far away, but not with forces on one side, whose steps would be cut into parts by
        // comparisons that rounding errors decide
        const double times = snw_touches(r->m) || gentle ? 1 : 7;
        displace(r, place[p], place[p] == 3 ? times * far : far);
        for (int k = 0; near && k < snw_robot_nv(r); k++) snw_robot_v(r)[k] *= 0.1;
        const size_t nq = (size_t)snw_robot_nq(r), nv = (size_t)snw_robot_nv(r);
        memcpy(snw_batch_q(b) + (size_t)p * nq, snw_robot_q(r), nq * sizeof(double));
        memcpy(snw_batch_v(b) + (size_t)p * nv, snw_robot_v(r), nv * sizeof(double));
    }
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    expect_ok(snw_batch_start(b, &how, NULL, &err), &err);
    return b;
}

static snw_batch *moving(snw_robot_model *m, int n, const char *precision, int lanes, int threads,
                         const int *place) {
    return moving_so(m, n, precision, lanes, threads, place, false);
}

static void step(snw_batch *b) {
    snw_error err = {0};
    expect_ok(snw_batch_step(b, h, STEPS, NULL, &err), &err);
}

static const struct {
    const char *precision;
    int narrow, wide; // lanes
    // largest differences from robots alone, of robots without and with loops, and with contacts
    struct {
        double motion, energy;
    } bound[3];
} precisions[] = {{"double", 4, 8, {{1e-7, 1e-6}, {1e-7, 1e-6}, {1e-7, 1e-6}}},
                  // forces far stiffer than typical ones decide how far a loop is from closed and
                  // which steps are cut at a contact
                  {"single", 8, 16, {{1e-4, 5e-6}, {2e-3, 1e-4}, {0.1, 1e-3}}}};

static void compare_motions(int p) {
    int place[N];
    for (int i = 0; i < N; i++) place[i] = i;
    for (int k = 0; k < MODELS; k++) {
        snw_robot_model *m = open_model(models[k]);
        snw_batch *alone = moving_so(m, N, "double", 1, 1, place, p == 1),
                  *packs = moving_so(m, N, precisions[p].precision, precisions[p].wide, 2, place,
                                     p == 1);
        const size_t nq = (size_t)snw_robot_nq(snw_batch_robot(alone, 0));
        const double *typical = snw_batch_robot(alone, 0)->m->typical;
        const snw_model *compiled = snw_batch_robot(alone, 0)->m;
        const int kind = compiled->ncontact_point ? 2 : compiled->nloop ? 1 : 0;
        step(alone), step(packs);
        // a step in a pack has another matrix: without a bit of difference nothing was in a pack
        if (snw_packs(0, false) && (p == 1 || k != 3))
            assert_memory_not_equal(snw_batch_q(packs), snw_batch_q(alone),
                                    N * nq * sizeof(double));
        for (size_t i = 0; i < N * nq; i++) {
            // a residual of 1e-10 typical forces in each of a dozen steps, of 5e-6 with single
            // precision; a quaternion has a coordinate more than velocities, whose typical values
            // are 1
            const double size =
                nq == (size_t)snw_batch_robot(alone, 0)->m->nv ? typical[i % nq] : 1;
            assert_near(snw_batch_q(packs)[i] / size, snw_batch_q(alone)[i] / size,
                        precisions[p].bound[kind].motion);
        }
        for (int i = 0; i < N; i++) {
            assert_near(snw_batch_time(packs)[i], snw_batch_time(alone)[i], 0);
            const double e = snw_robot_scheme_energy(snw_batch_robot(alone, i));
            assert_near(snw_robot_scheme_energy(snw_batch_robot(packs, i)), e,
                        precisions[p].bound[kind].energy * (1 + fabs(e)));
        }
        snw_batch_close(alone);
        snw_batch_close(packs);
        snw_robot_model_close(m);
    }
}

static void motions_are_those_of_robots_alone(void **state) {
    (void)state;
    compare_motions(0);
}

static void motions_of_single_precision_are_near_those_of_robots_alone(void **state) {
    (void)state;
    compare_motions(1);
}

static void compare_places(int p) {
    if (!snw_packs(0, false)) skip();
    static const int rising[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                     mixed[N] = {10, 3, 3, 7, 0, 9, 5, 5, 5, 2, 8};
    for (int k = 0; k < MODELS; k++) {
        snw_robot_model *m = open_model(models[k]);
        snw_batch *b = moving(m, N, precisions[p].precision, precisions[p].wide, 1, rising);
        const char *why;
        assert_memory_equal(snw_batch_engine(b, 0, &why), "packs", 5);
        assert_string_equal(why, "");
        const size_t nq = (size_t)snw_robot_nq(snw_batch_robot(b, 0));
        step(b);
        for (int lanes = precisions[p].narrow; lanes <= precisions[p].wide; lanes *= 2) {
            snw_batch *other = moving(m, N, precisions[p].precision, lanes, 1 + lanes / 4, mixed);
            step(other);
            for (int i = 0; i < N; i++)
                assert_memory_equal(snw_batch_q(other) + (size_t)i * nq,
                                    snw_batch_q(b) + (size_t)mixed[i] * nq, nq * sizeof(double));
            snw_batch_close(other);
        }
        snw_batch *single =
            moving(m, 1, precisions[p].precision, precisions[p].wide, 1, rising + 4);
        step(single);
        assert_memory_equal(snw_batch_q(single), snw_batch_q(b) + 4 * nq, nq * sizeof(double));
        snw_batch_close(single);
        snw_batch_close(b);
        snw_robot_model_close(m);
    }
}

static void a_robot_does_not_feel_its_neighbours_nor_its_place(void **state) {
    (void)state;
    compare_places(0);
}

static void a_robot_of_single_precision_does_not_either(void **state) {
    (void)state;
    compare_places(1);
}

// One robot fails at once; a second one later, since its inputs are not finite.
static void fail_robots(int p) {
    static const int rising[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    snw_robot_model *m = open_model(models[3]);
    snw_batch *b = moving(m, N, precisions[p].precision, precisions[p].wide, 2, rising),
              *other = moving(m, N, precisions[p].precision, precisions[p].wide, 2, rising);
    const size_t nq = (size_t)snw_robot_nq(snw_batch_robot(b, 0));
    snw_error err = {0};
    snw_batch_u(b)[2] = 1e300;
    assert_int_equal(snw_batch_step(b, h, 1, NULL, &err), SNW_E_DIVERGED);
    snw_batch_u(b)[5] = NAN;
    assert_int_equal(snw_batch_step(b, h, STEPS - 1, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_batch_failures(b), 2);
    step(other);
    for (int i = 0; i < N; i++) {
        if (i == 2 || i == 5) continue;
        assert_memory_equal(snw_batch_q(b) + (size_t)i * nq, snw_batch_q(other) + (size_t)i * nq,
                            nq * sizeof(double));
    }
    snw_batch_close(b);
    snw_batch_close(other);
    snw_robot_model_close(m);
}

static void a_robot_that_fails_leaves_the_others_of_its_pack_alone(void **state) {
    (void)state;
    fail_robots(0);
    fail_robots(1);
}

// In single precision only the equations of a step are solved: a rod at rest stays there, and a
// free body keeps its velocity to the rounding errors of doubles however many steps there are.
static void states_of_single_precision_have_all_digits(void **state) {
    (void)state;
    snw_robot_model *m =
        open_model("sinew: 1\n"
                   "gravity: 0\n"
                   "robot: {body: {on: world, joint: prismatic, axis: z, body: {mass: 0.3}}}\n");
    snw_batch *b = NULL;
    snw_error err = {0};
    const double v = 1.0 / 3;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    expect_ok(snw_batch_create(m, 2, 1, &b, &err), &err);
    expect_ok(snw_batch_set_precision(b, "single", &err), &err);
    snw_batch_v(b)[0] = v;
    expect_ok(snw_batch_start(b, &how, NULL, &err), &err);
    expect_ok(snw_batch_step(b, h, 1000, NULL, &err), &err);
    assert_near(snw_batch_q(b)[0], v * 1000 * h, 1e-12);
    assert_near(snw_batch_v(b)[0], v, 1e-12);
    assert_near(snw_batch_q(b)[1], 0, 0);
    snw_batch_close(b);
    snw_robot_model_close(m);
}

static void a_batch_says_why_robots_step_alone(void **state) {
    (void)state;
    static const int place[2] = {0, 1};
    snw_robot_model *m = open_model(models[0]);
    snw_batch *b = moving(m, 2, "double", 1, 1, place);
    const char *why;
    assert_string_equal(snw_batch_engine(b, 0, &why), "alone");
    assert_string_equal(why, "packs are switched off");
    assert_string_equal(snw_batch_engine(b, 2, &why), "alone");
    assert_string_equal(why, "there is no such robot");
    snw_error err = {0};
    assert_int_equal(snw_batch_set_lanes(b, 3, &err), SNW_E_ARGUMENT);
    expect_ok(snw_batch_set_lanes(b, 8, &err), &err);
    assert_int_equal(snw_batch_set_precision(b, "half", &err), SNW_E_ARGUMENT);
    assert_string_equal(err.text, "precision is 'double' or 'single', not 'half'");
    expect_ok(snw_batch_set_lanes(b, 4, &err), &err);
    assert_int_equal(snw_batch_set_precision(b, "single", &err), SNW_E_ARGUMENT);
    assert_string_equal(err.text, "a pack of single precision has 16, 8 or 1 robots, not 4");
    expect_ok(snw_batch_set_lanes(b, 8, &err), &err);
    snw_robot_steps how = snw_robot_steps_defaults(h);
    how.scheme = "rk4";
    if (snw_packs(0, false) && snw_batch_start(b, &how, NULL, &err) == SNW_OK) {
        assert_string_equal(snw_batch_engine(b, 0, &why), "alone");
        assert_string_equal(why, "the scheme is not one of one implicit step");
    }
    snw_batch_close(b);
    snw_robot_model_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_lane_has_the_bits_of_the_robot_alone),
        cmocka_unit_test(motions_are_those_of_robots_alone),
        cmocka_unit_test(motions_of_single_precision_are_near_those_of_robots_alone),
        cmocka_unit_test(a_robot_does_not_feel_its_neighbours_nor_its_place),
        cmocka_unit_test(a_robot_of_single_precision_does_not_either),
        cmocka_unit_test(a_robot_that_fails_leaves_the_others_of_its_pack_alone),
        cmocka_unit_test(states_of_single_precision_have_all_digits),
        cmocka_unit_test(a_batch_says_why_robots_step_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
