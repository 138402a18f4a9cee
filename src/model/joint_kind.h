// SPDX-License-Identifier: MIT
//
// joint_kind.h: kinds of joints and of nonholonomic constraints, one row of a table each. Reader,
// help, compilation, constraint rows, probes, engines and scene read these rows; a new joint made
// of screws is an enumerator here and a row in joint_kind.c.
#pragma once

#include <stdbool.h>

// ---- constraint rows

// Scalar constraint on the pose h = (R, p) of frame b in frame a, both in the axes of the joint.
// Nonholonomic (theory.md 3.15): on the velocity of b relative to a, in the axes of b.
typedef enum snw_row_kind {
    SNW_ROW_LOG,    // component i of log R
    SNW_ROW_TILT,   // e_i R e_j
    SNW_ROW_MOVE,   // component i of p
    SNW_ROW_SCREW,  // p_z less the advance by the rotation about z, theory.md (3.8.6)
    SNW_ROW_SPIN,   // component i of the angular velocity
    SNW_ROW_SLIP,   // component i of the velocity
    SNW_ROW_AXLE,   // velocity of the touching point of a wheel along its axle
    SNW_ROW_ROLL,   // and across it
    SNW_ROW_COUPLED // linear constraint on coordinates, theory.md (3.8.5)
} snw_row_kind;

typedef struct snw_row {
    snw_row_kind kind;
    int i, j;
} snw_row;

enum { SNW_ROWS_MOST = 6 };

// ---- joints

typedef enum snw_joint_kind {
    SNW_JOINT_FIXED,
    SNW_JOINT_REVOLUTE,
    SNW_JOINT_PRISMATIC,
    SNW_JOINT_CYLINDRICAL,
    SNW_JOINT_UNIVERSAL,
    SNW_JOINT_SPHERICAL,
    SNW_JOINT_PLANAR,
    SNW_JOINT_FREE,
    SNW_JOINT_SCREW,
    SNW_JOINT_PIN_SLOT,
    SNW_JOINT_COUNT
} snw_joint_kind;

enum { SNW_JOINT_MOST = 3 }; // largest number of coordinates of a joint, free joints excepted

// Configuration space of a block of coordinates.
typedef enum snw_space {
    SNW_SPACE_RN,  // vector; velocities are its rates
    SNW_SPACE_SO3, // unit quaternion w x y z; body angular velocity
    SNW_SPACE_SE3  // unit quaternion, position; body twist
} snw_space;

// Axes of a joint: the given one, one across it (given by `axes`, or snw_joint_across), and their
// cross product.
typedef enum snw_joint_axis { SNW_AXIS_FIRST, SNW_AXIS_SECOND, SNW_AXIS_THIRD } snw_joint_axis;

// Coordinate of a joint. On RN it is that of a screw about or along an axis; those of a spherical
// joint are components of its rotation vector.
typedef struct snw_joint_coordinate {
    const char *name; // "angle", "slide", ...
    bool turn;        // true: angle, false: length
    snw_joint_axis axis;
    bool pitched; // it turns about its axis and moves along it by the pitch of the joint
} snw_joint_coordinate;

// Options of a joint in the model language.
enum {
    SNW_JOINT_TAKES_AXIS = 1,
    SNW_JOINT_TAKES_AXES = 2,   // two axes, at a right angle
    SNW_JOINT_TAKES_PITCH = 4,  // required
    SNW_JOINT_TAKES_SPRING = 8, // stiffness, rest, damping, friction, creep
    SNW_JOINT_TAKES_LIMITS = 16
};

typedef struct snw_joint_type {
    const char *name, *meaning; // in the model language
    int options;                // bitwise or of those above
    snw_space space;            // of its coordinates; RN: screws in series, one for each coordinate
    int dof;
    snw_joint_coordinate coordinate[SNW_JOINT_MOST]; // RN and SO(3)
    bool group;                                      // its motions form a Lie group
    // as a loop joint: frame b in frame a
    bool axis_is_x;             // its three axes are x y z in the rows; else z x y
    snw_row row[SNW_ROWS_MOST]; // 6 - dof rows
    bool at_tip;                // the shooting engine may join the tip of a rod by it,
    bool tip_turns[3];          // with rotations about these axes of the rows free
    // drawing
    const char *symbol; // "pin", "rail" (both along the first axis), "ball", "clamp" or ""
    bool slides;        // a bar is drawn along its displacement
    bool roams;         // moves in a plane or in space: a base by it is not drawn
} snw_joint_type;

extern const snw_joint_type snw_joint_table[SNW_JOINT_COUNT];

const char *snw_joint_name(snw_joint_kind kind); // "fixed", ...
int snw_joint_dof(snw_joint_kind kind);
// Coordinates of a joint in order; *n <- their number, 0 for fixed and free joints.
const snw_joint_coordinate *snw_joint_coordinates(snw_joint_kind kind, int *n);
// Are all coordinates of a joint angles about its axes?
bool snw_joint_is_rotary(snw_joint_kind kind);

// ---- nonholonomic constraints

// Velocity-level constraints on site b relative to site a, theory.md 3.15. The contact point of a
// wheel with a radius is the lowest point of its rim.
typedef enum snw_nonholonomic_kind {
    SNW_NONHOLONOMIC_NONE,   // none: the loop is a holonomic closure
    SNW_NONHOLONOMIC_WHEEL,  // no velocity along the axle
    SNW_NONHOLONOMIC_ROLL,   // rolling: the contact point is at rest
    SNW_NONHOLONOMIC_TREAD,  // the contact point may slip along the axle only
    SNW_NONHOLONOMIC_EDGE,   // the contact point may slip along the rolling direction only
    SNW_NONHOLONOMIC_SLIP,   // the contact point may slip in both directions
    SNW_NONHOLONOMIC_RING,   // a section moves along its tangent only, without spin
    SNW_NONHOLONOMIC_ANCHOR, // a section is at rest
    SNW_NONHOLONOMIC_FOOT,   // its point is at rest, and it does not spin about its tangent
    SNW_NONHOLONOMIC_PIVOT,  // its point is at rest
    SNW_NONHOLONOMIC_COUNT
} snw_nonholonomic_kind;

typedef struct snw_nonholonomic_type {
    const char *name;   // for people
    const char *symbol; // in scenes
    int nrow;
    snw_row row[SNW_ROWS_MOST];
    bool rolls;   // its contact point is that of a rim, across the rolling direction
    bool section; // its rows are in the axes of a section, not in those of an axle
} snw_nonholonomic_type;

extern const snw_nonholonomic_type snw_nonholonomic_table[SNW_NONHOLONOMIC_COUNT];
