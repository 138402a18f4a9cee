// SPDX-License-Identifier: MIT
//
// Robots on a graphics processor, by its program on the host, whose steps are cut for contacts,
// stops or cables, which begin far from equilibrium, or which have tendons and chambers of given
// length, volume or gas: their motions are those of robots stepped alone, to 1e-10 over a second
// where both solve tightly.
#include "device_motion.h"

#include <stdlib.h>

#define HEAD                                                                                       \
    "sinew: 1\n"                                                                                   \
    "gravity: [0, 0, -9.81]\n"                                                                     \
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}\n"           \
    "robot:\n"
#define ARM "length: 0.3 m, section: {circle: {radius: 10 mm}}, material: rubber, nodes: 6"

// a rod and a ball that slide on a half-space, with friction; a sphere that moves by a law in front
// of an arm, and a ball in a bowl; a cart with wheels that slip; a stop and a cable; tendons of
// given length, one compliant; a chamber of given volume, and one with gas; a wheel without slip;
// an arm turned by a given rate onto a floor; a train of wheels whose rows are redundant;
// wheels without mass
static const char *const models[] = {
    HEAD "  arm: {on: world, pose: {xyz: [0, 0, 12 mm]}, rod: {" ARM
         ", strain: kirchhoff legendre 2}}\n"
         "  ball: {on: world, pose: {xyz: [2 cm, 0.2 m, 25 mm]}, joint: free,\n"
         "         body: {mass: 0.05, sphere: {radius: 2 cm}}}\n"
         "contacts:\n"
         "  floor: {ground: {on: arm, stiffness: 2e3 N/m^2, smooth: 4 mm, friction: 0.4,\n"
         "          creep: 5 mm/s, damping: 0.5 s/m}}\n"
         "  table: {ground: {on: ball, stiffness: 200 N/m, smooth: 2 mm, friction: 0.4,\n"
         "          creep: 5 mm/s}}\n",
    HEAD "  arm: {on: world, rod: {" ARM ", strain: kirchhoff legendre 2}}\n"
         "  ball: {on: world, pose: {xyz: [2 cm, 0.2 m, 25 mm]}, joint: free,\n"
         "         body: {mass: 0.05, sphere: {radius: 2 cm}}}\n"
         "contacts:\n"
         "  lid: {obstacle: {links: arm, shape: sphere, radius: 3 cm, stiffness: 2e3 N/m^2,\n"
         "        smooth: 5 mm, at: [0.2 m, 0, -45 mm + 2 mm*sin(30*t)]}}\n"
         "  bowl: {obstacle: {links: ball, shape: sphere, inside: true, radius: 6 cm,\n"
         "         at: [2 cm, 0.2 m, 5 cm], stiffness: 400 N/m, smooth: 4 mm, friction: 0.2,\n"
         "         creep: 5 mm/s}}\n",
    HEAD "  cart: {on: world, joint: planar, body: {mass: 0.1, box: [4 cm, 3 cm, 2 cm]}}\n"
         "  arm: {on: cart, joint: revolute, axis: z, stiffness: 0.1 N*m,\n"
         "        body: {mass: 0.05, box: [9 cm, 1 cm, 1 cm]}}\n"
         "contacts: {wheels: {wheel: {on: cart, axis: y, lateral: 2 N*s/m}}}\n"
         "actuators: {motor: {joint: arm, effort: 5 mN*m*sin(20*t)}}\n",
    HEAD "  hand: {on: world, joint: revolute, axis: y, limits: [-10 deg, 10 deg],\n"
         "         stop: {stiffness: 5 N*m, damping: 10 ms, smooth: 2 deg},\n"
         "         body: {mass: 0.2, box: [9 cm, 2 cm, 2 cm]}}\n"
         "  arm: {on: hand, rod: {" ARM ", strain: kirchhoff legendre 2}}\n"
         "springs: {rope: {cable: [arm.tip, {xyz: [0.2 m, 0, 0.2 m]}], rest: 0.25 m,\n"
         "                 stiffness: 20 N/m}}\n",
    HEAD
    "  arm: {on: world, rod: {" ARM ", strain: cosserat legendre 2}}\n"
    "actuators:\n"
    "  pull: {tendon: {along: arm, at: [0, 0, 7 mm]}, shortening: \"4 mm*poly5(t, 0 s, 0.5 s)\"}\n"
    "  side: {tendon: {along: arm, at: [0, 7 mm, 0], extra: 2 cm, compliance: 1e-3 1/N},\n"
    "         shortening: \"3 mm*poly5(t, 0 s, 0.4 s)\"}\n",
    HEAD "  arm: {on: world, rod: {" ARM ", strain: cosserat legendre 2}}\n"
         "actuators:\n"
         "  air: {chamber: {along: arm, at: [0, 0, 5 mm], area: 20 mm^2},\n"
         "        gas: {moles: \"2.5e-4*(1 + 0.2*poly5(t, 0 s, 0.5 s))\"}}\n"
         "  oil: {chamber: {along: arm, at: [0, 5 mm, 0], area: 20 mm^2},\n"
         "        volume: \"0.3 m*20 mm^2*(1 + 0.01*poly5(t, 0 s, 0.5 s))\"}\n",
    HEAD "  cart: {on: world, joint: planar, body: {mass: 0.1, box: [4 cm, 3 cm, 2 cm]}}\n"
         "  arm: {on: cart, joint: revolute, axis: z, stiffness: 0.1 N*m,\n"
         "        body: {mass: 0.05, box: [9 cm, 1 cm, 1 cm]}}\n"
         "contacts: {blade: {wheel: {on: cart, axis: y}}}\n"
         "actuators: {motor: {joint: arm, effort: 5 mN*m*sin(20*t)}}\n",
    HEAD "  hub: {on: world, pose: {xyz: [0, 0, 2 cm]}, joint: revolute, axis: y,\n"
         "        body: {mass: 0.1, box: [2 cm, 2 cm, 2 cm]}}\n"
         "  arm: {on: hub, rod: {" ARM ", strain: kirchhoff legendre 2}}\n"
         "contacts:\n"
         "  floor: {ground: {on: arm, stiffness: 2e3 N/m^2, smooth: 4 mm, friction: 0.4,\n"
         "          creep: 5 mm/s, damping: 0.5 s/m}}\n"
         "actuators: {turn: {joint: hub, rate: 1.5*sin(10*t)}}\n",
    HEAD "  cart: {on: world, joint: planar, body: {mass: 0.1, box: [4 cm, 3 cm, 2 cm]}}\n"
         "  tail: {on: cart, pose: {xyz: [-0.1, 0, 0]}, joint: revolute, axis: z,\n"
         "         body: {mass: 0.05, box: [9 cm, 1 cm, 1 cm]}}\n"
         "  end: {on: tail, pose: {xyz: [-0.1, 0, 0]}, joint: revolute, axis: z,\n"
         "        stiffness: 0.01 N*m, body: {mass: 0.05, box: [9 cm, 1 cm, 1 cm]}}\n"
         "contacts: {left: {wheel: {on: cart, axis: y}},\n"
         "  right: {wheel: {on: cart, axis: y}},\n"
         "  middle: {wheel: {on: tail, axis: y}}, other: {wheel: {on: tail, axis: y}}}\n"
         "actuators: {bend: {joint: tail, position: 0.4*sin(5*t) + 0.3}}\n",
    HEAD "  frame: {on: world, joint: planar, body: {mass: 1, box: [0.3, 0.25, 0.08]}}\n"
         "  right: {on: frame, pose: {xyz: [0, -0.2, 0]}, joint: revolute, axis: y}\n"
         "  left: {on: frame, pose: {xyz: [0, 0.2, 0]}, joint: revolute, axis: y}\n"
         "actuators: {motor: {joint: right, rate: 3*sin(4*t)}}\n"
         "contacts: {one: {wheel: {on: right, axis: y, radius: 0.1}},\n"
         "           two: {wheel: {on: left, axis: y, radius: 0.1}}}\n"};
enum { MODELS = sizeof models / sizeof *models };

// motions over a second are those of robots alone, where both solve to the rounding error
static void motion_is_that_of_robots_alone(void **state) {
    (void)state;
    snw_robot_steps how = snw_robot_steps_defaults(10e-3);
    how.tolerance = 1e-14;
    for (int i = 0; i < MODELS; i++) {
        const double most = motion_difference(models[i], &how, 100);
        assert_near(most, 0, 1e-10);
    }
}

// starts far from equilibrium and without damping: a chamber that widens a light finger; drag on
// links without mass to speak of; a heavy platform on light legs; tendons on a thin rod
static const char *const sudden[] = {
    "sinew: 1\n"
    "gravity: 0\n"
    "robot: {finger: {on: world, rod: {length: 0.1 m, section: {stiffness: {stretch: 12 N,\n"
    "  bend_z: 6e-4 N*m^2}, inertia: [0, 0, 1e-6, 0.05, 0.05, 0.05]},\n"
    "  strain: {stretch: legendre 2, bend_z: legendre 4}}}}\n"
    "actuators: {air: {chamber: {along: finger, at: [0, -10 mm, 0], area: 20 mm^2},\n"
    "  pressure: 40 kPa}}\n",
    "sinew: 1\n"
    "gravity: 0\n"
    "robot:\n"
    "  middle: {on: world, joint: planar, body: {mass: 1e-7 kg, inertia: [1e-7, 1e-7, 1e-7]}}\n"
    "  front: {on: middle, pose: {xyz: [0.5 m, 0, 0]}, joint: revolute, axis: z,\n"
    "    body: {mass: 1e-7 kg, com: [0.5 m, 0, 0], inertia: [1e-7, 1e-7, 1e-7]}}\n"
    "fluid: {water: {on: [middle, front], drag: {linear: [0, 0, 1/6, 1, 2, 0]}}}\n"
    "actuators: {bow: {joint: front, position: \"cos(t - pi/4)\"}}\n",
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters: {around: [90 deg, 210 deg, 330 deg]}\n"
    "materials: {steel: {young: 200 GPa, poisson: 0.3, density: 7800 kg/m^3}}\n"
    "robot:\n"
    "  leg(k=1..3): {on: world, joint: revolute, pose: {xyz: [25 cm*cos(around(k)),\n"
    "    25 cm*sin(around(k)), 0], axis: z, angle: around(k) + 180 deg},\n"
    "    rod: {length: 22 cm, section: {circle: {radius: 0.5 mm}}, material: steel,\n"
    "          strain: {bend_z: legendre 5}}}\n"
    "  platform: {on: world, joint: planar,\n"
    "    body: {mass: 0.1 kg, cylinder: {radius: 6 cm, length: 5 mm}}}\n"
    "sites: {pin(k=1..3): {on: platform, pose: {xyz: [6 cm*cos(around(k)),\n"
    "  6 cm*sin(around(k)), 0]}}}\n"
    "loops: {hinge(k=1..3): {join: [leg(k).tip, pin(k)], as: revolute}}\n"
    "actuators: {motor(k=1..3): {joint: leg(k), position: 30 deg}}\n",
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters: {T: [15 N, 0 N, 0 N, 0 N], d: 15 mm}\n"
    "materials: {steel: {young: 200 GPa, shear: 80 GPa, density: 8000}}\n"
    "robot: {arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 1 mm}},\n"
    "  material: steel, strain: cosserat legendre 10, nodes: 50, magnus: 6}}}\n"
    "actuators:\n"
    "  cord(k=1..4): {tendon: {along: arm, discs: d,\n"
    "    at: [0, d*cos(2*pi*(k - 1)/4), d*sin(2*pi*(k - 1)/4)]}, effort: T(k)}\n"};

// the decisions of a start, and of Newton's method in short parts of steps, are those of robots
// alone, and accelerations have their digits
static void sudden_starts_are_those_of_robots_alone(void **state) {
    (void)state;
    snw_robot_steps how = snw_robot_steps_defaults(2e-3);
    how.tolerance = 1e-14;
    for (size_t i = 0; i < sizeof sudden / sizeof *sudden; i++)
        assert_near(motion_difference(sudden[i], &how, 2), 0, 2e-11);
}

// links that come out of an obstacle on another side are named
static void others_are_named(void **state) {
    (void)state;
    snw_device_batch *b = NULL;
    snw_robot_model *m = open_model(
        HEAD "  ball: {on: world, pose: {xyz: [0, 0, 5 cm]}, joint: prismatic, axis: z,\n"
             "         body: {mass: 0.05, sphere: {radius: 2 cm}}}\n"
             "contacts: {stone: {obstacle: {links: ball, shape: sphere, radius: 2 cm,\n"
             "           stiffness: 0.1 N/m, smooth: 1 mm}}}\n");
    expect_ok(snw_device_batch_create(m, 1, "host", &b, &err));
    const snw_robot_steps how = snw_robot_steps_defaults(10e-3);
    expect_ok(snw_device_batch_start(b, &how, NULL, &err));
    expect_ok(snw_device_batch_step(b, 10e-3, 30, &err));
    const char *why = snw_device_batch_status_text(snw_device_batch_status(b)[0]);
    if (!strstr(why, "another side")) fail_msg("'%s'", why);
    snw_device_batch_close(b);
    snw_robot_model_close(m);
}

int main(void) {
    if (!has_devices(models[0])) return 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(motion_is_that_of_robots_alone),
                                       cmocka_unit_test(sudden_starts_are_those_of_robots_alone),
                                       cmocka_unit_test(others_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
