// SPDX-License-Identifier: MIT
//
// probe_kind.h: quantities of probes, one line of a list each: key of the model language, object it
// refers to, axes, how laws read it, columns. Reader, help, checks, recording, laws, scene and
// viewer read these lines; study/probe.c evaluates the quantities.
#pragma once

#include "math/units.h"
#include "model/joint_kind.h"

#include <stdbool.h>

// Reading of a probe by a law. Functions of configuration and velocity enter the equations of
// motion with exact derivatives (theory.md 3.7). All others are known between steps only, to
// conditions and sampled signals (LATER), or to no law (NEVER).
typedef enum snw_reading {
    SNW_READ_LATER,
    SNW_READ_NEVER,
    SNW_READ_POSITION,
    SNW_READ_ROTATION,
    SNW_READ_POSE,
    SNW_READ_VELOCITY,
    SNW_READ_TWIST,
    SNW_READ_STRAIN,
    SNW_READ_COORDINATE,
    SNW_READ_RATE,
    SNW_READ_TENDON,       // length, shortening or volume
    SNW_READ_TENDON_RATE,  // its rate
    SNW_READ_TENDON_EFFORT // tension or pressure
} snw_reading;

// Object to which a quantity belongs.
typedef enum snw_subject {
    SNW_OF_SITE,
    SNW_OF_SITES,   // two: the second relative to the first
    SNW_OF_STATION, // of a rod
    SNW_OF_LINK,    // or a loop, a force element or a contact
    SNW_OF_CONTACT, // with the ground or an obstacle
    SNW_OF_JOINT,   // or an actuator, or a force element
    SNW_OF_ACTUATOR,
    SNW_OF_TENDON, // or a force element
    SNW_OF_CHAMBER,
    SNW_OF_TUBE,  // concentric
    SNW_OF_SHAPE, // a site and driven joints that move it
    SNW_OF_PROBES,
    SNW_OF_ROBOT
} snw_subject;

// Axes of its components.
typedef enum snw_probe_axes {
    SNW_PROBE_IN_NONE, // a number
    SNW_PROBE_IN_WORLD,
    SNW_PROBE_IN_SITE, // of the first of two sites
    SNW_PROBE_IN_SECTION,
    SNW_PROBE_IN_JOINT,
    SNW_PROBE_IN_EITHER // world or body, by `in`
} snw_probe_axes;

// Enumerator; name, value and meaning of the key; subject, axes, reading; name of the columns in
// probe_kind.c (of a joint quantity: those of one angle); how many of them the bare name denotes
// (0: all).
#define SNW_PROBE_LIST(X)                                                                          \
    X(SNW_PROBE_POSITION, "position", "a site", "x y z", SNW_OF_SITE, SNW_PROBE_IN_WORLD,          \
      SNW_READ_POSITION, point, 0)                                                                 \
    X(SNW_PROBE_ROTATION, "rotation", "a site",                                                    \
      "rx ry rz, continuous in time; also qw qx qy qz and the matrix xx xy .. zz", SNW_OF_SITE,    \
      SNW_PROBE_IN_WORLD, SNW_READ_ROTATION, rotation, 0)                                          \
    X(SNW_PROBE_POSE, "pose", "a site", "x y z qw qx qy qz; also as rotation", SNW_OF_SITE,        \
      SNW_PROBE_IN_WORLD, SNW_READ_POSE, pose, 7)                                                  \
    X(SNW_PROBE_RELATIVE, "relative", "two sites",                                                 \
      "pose of the second in the first: x y z qw qx qy qz; also as rotation, at most half a turn", \
      SNW_OF_SITES, SNW_PROBE_IN_SITE, SNW_READ_LATER, pose, 7)                                    \
    X(SNW_PROBE_VELOCITY, "velocity", "a site", "vx vy vz", SNW_OF_SITE, SNW_PROBE_IN_EITHER,      \
      SNW_READ_VELOCITY, velocity, 0)                                                              \
    X(SNW_PROBE_TWIST, "twist", "a site", "wx wy wz vx vy vz", SNW_OF_SITE, SNW_PROBE_IN_EITHER,   \
      SNW_READ_TWIST, twist, 0)                                                                    \
    X(SNW_PROBE_ACCELERATION, "acceleration", "a site", "ax ay az; also alx aly alz, angular",     \
      SNW_OF_SITE, SNW_PROBE_IN_EITHER, SNW_READ_LATER, acceleration, 3)                           \
    X(SNW_PROBE_STRAIN, "strain", "a rod's station",                                               \
      "twist bend_y bend_z stretch shear_y shear_z", SNW_OF_STATION, SNW_PROBE_IN_SECTION,         \
      SNW_READ_STRAIN, strain, 0)                                                                  \
    X(SNW_PROBE_WRENCH, "wrench", "a rod's station",                                               \
      "mx my mz fx fy fz, exerted by the tip side on the root side, section's frame",              \
      SNW_OF_STATION, SNW_PROBE_IN_SECTION, SNW_READ_LATER, wrench, 0)                             \
    X(SNW_PROBE_REACTION, "reaction", "a link, a loop, a spring or a contact",                     \
      "mx my mz fx fy fz, exerted by the joint on the link, or by the loop or spring on its "      \
      "second site; "                                                                              \
      "of a contact its resultant, about the origin of the world",                                 \
      SNW_OF_LINK, SNW_PROBE_IN_EITHER, SNW_READ_LATER, wrench, 0)                                 \
    X(SNW_PROBE_CONTACT, "contact", "a contact with a ground or an obstacle",                      \
      "fx fy fz, exerted on the links; gap: the smallest, negative: depth; touching: number of "   \
      "points in contact; x y z: their mean, weighted by forces, or the nearest point; slip: the " \
      "largest speed along the surface",                                                           \
      SNW_OF_CONTACT, SNW_PROBE_IN_WORLD, SNW_READ_LATER, contact, 3)                              \
    X(SNW_PROBE_ANGLE, "angle", "a joint's link or an actuator",                                   \
      "of a joint whose coordinates are angles, rad", SNW_OF_JOINT, SNW_PROBE_IN_JOINT,            \
      SNW_READ_COORDINATE, joint_angle, 0)                                                         \
    X(SNW_PROBE_VALUE, "value", "a joint's link or an actuator",                                   \
      "coordinates of the joint, rad and m, or of the actuator", SNW_OF_JOINT, SNW_PROBE_IN_JOINT, \
      SNW_READ_COORDINATE, joint_angle, 0)                                                         \
    X(SNW_PROBE_RATE, "rate", "a joint's link, an actuator or a spring",                           \
      "their rates; of a spring that of its length", SNW_OF_JOINT, SNW_PROBE_IN_JOINT,             \
      SNW_READ_RATE, joint_rate, 0)                                                                \
    X(SNW_PROBE_EFFORT, "effort", "a joint's link or an actuator",                                 \
      "effort of spring, damping, friction, stop and gear of the joint, N m and N; or of the "     \
      "actuator",                                                                                  \
      SNW_OF_JOINT, SNW_PROBE_IN_JOINT, SNW_READ_LATER, joint_effort, 0)                           \
    X(SNW_PROBE_POWER, "power", "an actuator", "power of the actuator, W", SNW_OF_ACTUATOR,        \
      SNW_PROBE_IN_NONE, SNW_READ_LATER, power, 0)                                                 \
    X(SNW_PROBE_LENGTH, "length", "a tendon, or a spring",                                         \
      "of its path along the robot, or between its ends, m", SNW_OF_TENDON, SNW_PROBE_IN_NONE,     \
      SNW_READ_TENDON, length, 0)                                                                  \
    X(SNW_PROBE_TENSION, "tension", "a tendon, or a place on its path; or a spring",               \
      "N, where it is pulled; 'cable@50%' half way along its path, 'cable.tip' where it is fixed", \
      SNW_OF_TENDON, SNW_PROBE_IN_NONE, SNW_READ_TENDON_EFFORT, tension, 0)                        \
    X(SNW_PROBE_PULL, "pull", "an end of a tendon, 'cable.root' or 'cable.tip'",                   \
      "mx my mz fx fy fz, exerted on the robot where it is pulled or fixed", SNW_OF_TENDON,        \
      SNW_PROBE_IN_EITHER, SNW_READ_LATER, wrench, 0)                                              \
    X(SNW_PROBE_VOLUME, "volume", "a chamber", "m^3", SNW_OF_CHAMBER, SNW_PROBE_IN_NONE,           \
      SNW_READ_TENDON, volume, 0)                                                                  \
    X(SNW_PROBE_PRESSURE, "pressure", "a chamber", "above ambient, Pa", SNW_OF_CHAMBER,            \
      SNW_PROBE_IN_NONE, SNW_READ_TENDON_EFFORT, pressure, 0)                                      \
    X(SNW_PROBE_TUBE, "tube", "a concentric tube, or its station",                                 \
      "angle about the common tangent, from a frame that does not turn about it; twist: its rate " \
      "along the tube; torque, that the tip side exerts on the root side",                         \
      SNW_OF_TUBE, SNW_PROBE_IN_NONE, SNW_READ_LATER, tube, 0)                                     \
    X(SNW_PROBE_ENERGY, "energy", "a bare word",                                                   \
      "kinetic elastic gravity dissipated work scheme balance total", SNW_OF_ROBOT,                \
      SNW_PROBE_IN_WORLD, SNW_READ_LATER, energy, 0)                                               \
    X(SNW_PROBE_MOMENTUM, "momentum", "a bare word",                                               \
      "lx ly lz, angular about the origin of the world, and px py pz", SNW_OF_ROBOT,               \
      SNW_PROBE_IN_WORLD, SNW_READ_LATER, momentum, 0)                                             \
    X(SNW_PROBE_CENTER_OF_MASS, "center_of_mass", "a bare word", "x y z", SNW_OF_ROBOT,            \
      SNW_PROBE_IN_WORLD, SNW_READ_LATER, point, 0)                                                \
    X(SNW_PROBE_STABILITY, "stability", "a bare word",                                             \
      "one number: smallest eigenvalue of the tangent, negative where unstable", SNW_OF_ROBOT,     \
      SNW_PROBE_IN_WORLD, SNW_READ_NEVER, scalar, 0)                                               \
    X(SNW_PROBE_FREQUENCY, "frequency", "a bare word",                                             \
      "1 2 .. 18, Hz: of the modes found last, 0 for null motions, negative where one grows",      \
      SNW_OF_ROBOT, SNW_PROBE_IN_WORLD, SNW_READ_NEVER, frequency, 0)                              \
    X(SNW_PROBE_POLE, "poles", "a bare word",                                                      \
      "re1 im1 .. re8 im8, 1/s: of the linear model found last, by rising modulus, one of each "   \
      "pair; of a discrete model log(z)/step, roots of the scheme left out",                       \
      SNW_OF_ROBOT, SNW_PROBE_IN_WORLD, SNW_READ_NEVER, poles, 0)                                  \
    X(SNW_PROBE_TRANSPORT, "transport", "a bare word",                                             \
      "total power of the actuators, W; speed of the centre of mass and its displacement from "    \
      "the initial configuration; cost: work over weight times displacement",                      \
      SNW_OF_ROBOT, SNW_PROBE_IN_WORLD, SNW_READ_LATER, transport, 0)                              \
    X(SNW_PROBE_CONNECTION, "connection", "a site and an actuator",                                \
      "wx wy wz vx vy vz: column A of the connection, per rad or per m of the driven joint: the "  \
      "twist of the site is -A times its rate, in the frame of the site",                          \
      SNW_OF_SHAPE, SNW_PROBE_IN_SITE, SNW_READ_NEVER, connection, 0)                              \
    X(SNW_PROBE_CURVATURE, "curvature", "a site and two actuators",                                \
      "wx wy wz vx vy vz: curvature of the connection, minus the motion per area of a small loop " \
      "of both shapes, from the first to the second",                                              \
      SNW_OF_SHAPE, SNW_PROBE_IN_SITE, SNW_READ_NEVER, connection, 0)                              \
    X(SNW_PROBE_LAW, "law", "an expression of other probes",                                       \
      "one number, with t and parameters: tip.x - base.x, sqrt(f.fx^2 + f.fy^2)", SNW_OF_PROBES,   \
      SNW_PROBE_IN_NONE, SNW_READ_NEVER, scalar, 0)

typedef enum snw_probe_kind {
#define X(code, name, form, meaning, subject, axes, reading, columns, bare) code,
    SNW_PROBE_LIST(X)
#undef X
} snw_probe_kind;

// NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum
#define X(code, name, form, meaning, subject, axes, reading, columns, bare) +1
enum { SNW_PROBE_COUNT = 0 SNW_PROBE_LIST(X) };
#undef X

enum {
    SNW_PROBE_FREQUENCIES = 18,
    SNW_PROBE_POLES = 16, // real and imaginary parts of eight
    SNW_PROBE_WIDTH = 19  // most components of a quantity
};

// Column of a probe at one station.
typedef struct snw_component {
    const char *name; // empty for a single column
    snw_dim dim;
    bool angle; // rad
} snw_component;

typedef struct snw_probe_type {
    const char *name; // in the model language
    snw_subject subject;
    snw_probe_axes axes;
    snw_reading reading;
    const snw_component *component;
    int ncomponent;
    int nbare; // leading components that the bare name denotes
} snw_probe_type;

extern const snw_probe_type snw_probe_table[SNW_PROBE_COUNT];

const char *snw_probe_name(snw_probe_kind kind); // "position", ...

// Is the quantity a function of the configuration?
bool snw_probe_is_configuration(snw_probe_kind kind);

// out <- components of a quantity at one station; returns their number. `joint` is used for joint
// quantities only; a fixed one stands for strain coordinates of a rod, one column each.
int snw_probe_components(snw_probe_kind kind, snw_joint_kind joint,
                         snw_component out[SNW_PROBE_WIDTH]);

// *first, *count <- components that the name of a probe without a component denotes where it is
// compared with `nvalue` numbers. Rotation: the rotation vector, the quaternion for four numbers,
// the matrix for nine. Frequency: the first nvalue. Others: nbare of them.
void snw_probe_primary(snw_probe_kind kind, snw_joint_kind joint, int nvalue, int *first,
                       int *count);
