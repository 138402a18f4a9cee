// SPDX-License-Identifier: MIT
//
// import.h: robots of other formats as models of our language. A reader of a format (urdf.c,
// mjcf.c, sdf.c) fills the parts of a robot, imported_text.c writes them as a model with comments.
// Parts that a model cannot express are listed with the reason, not left out silently.
#pragma once

#include "base/pool.h"
#include "math/se3_types.h"
#include "sinew/status.h"

#include <stdbool.h>

// Position and rotation, as the format gives it: angles about x, then y, then z of the parent, or
// a unit quaternion.
typedef struct snw_imported_pose {
    double xyz[3];
    double rpy[3];
    bool by_quat;
    snw_quat quat; // where by_quat
} snw_imported_pose;

typedef enum snw_imported_shape_kind {
    SNW_IMPORTED_BOX,
    SNW_IMPORTED_CYLINDER,
    SNW_IMPORTED_CAPSULE,
    SNW_IMPORTED_SPHERE,
    SNW_IMPORTED_MESH,
    SNW_IMPORTED_HULL // of the vertices of a mesh that touches and is not closed
} snw_imported_shape_kind;

typedef struct snw_imported_shape {
    snw_imported_shape_kind kind;
    snw_imported_pose pose; // in the link's frame
    double size[3];     // box: full widths; cylinder, capsule: radius, length; sphere: radius; m
    double scale;       // of a mesh
    const char *file;   // of a mesh, as the format names it
    const char *found;  // path of that file
    const char *beside; // its name beside the model
    bool collision;     // serves for contact, otherwise only for drawing
} snw_imported_shape;

typedef struct snw_imported_link {
    const char *name; // in the format
    const char *word; // in the model
    int line;
    bool has_mass;
    double mass;      // kg
    double com[3];    // centre of mass in the link's frame, m
    snw_mat3 inertia; // about it, in the axes of the link, kg m^2
    int joint;        // by which it moves relative to its parent; -1: none, fixed to the world
    int nshape;
    snw_imported_shape *shape;
} snw_imported_link;

typedef enum snw_imported_joint_kind {
    SNW_IMPORTED_FIXED,
    SNW_IMPORTED_REVOLUTE,
    SNW_IMPORTED_PRISMATIC,
    SNW_IMPORTED_SPHERICAL,
    SNW_IMPORTED_UNIVERSAL,
    SNW_IMPORTED_SCREW,
    SNW_IMPORTED_PLANAR,
    SNW_IMPORTED_FREE
} snw_imported_joint_kind;

typedef struct snw_imported_joint {
    const char *name, *word, *plain; // plain: the word for expressions
    int line;
    snw_imported_joint_kind kind;
    int parent, child;      // links; parent -1: the world
    snw_imported_pose pose; // in the parent link's frame
    double axis[3], axis2[3];
    double pitch; // of a screw, m per turn
    bool held;    // by an actuator, at zero or in the middle of its range
    bool limited; // by low and high, rad or m
    double low, high;
    double effort, velocity; // largest, N m or N, rad/s or m/s; 0: not given
    double stiffness, rest;  // of a spring
    double damping, friction;
    double armature; // inertia of the rotor as seen at the joint, kg m^2 or kg
    int mimics;      // joint whose coordinate it follows; -1: none
    double ratio, offset;
} snw_imported_joint;

// Effort of a joint: gain*u + bias[0] + bias[1]*q + bias[2]*v, where u is its control.
typedef struct snw_imported_actuator {
    const char *name, *word, *plain; // plain: the word for expressions
    int line;
    int joint;
    double gain, bias[3];
    bool ranged;
    double range[2]; // of the control
    bool bounded;
    double force[2]; // of the effort
} snw_imported_actuator;

// Two places that a joint holds together.
typedef struct snw_imported_loop {
    const char *name, *word;
    int line;
    int link[2]; // -1: the world
    snw_imported_pose pose[2];
    snw_imported_joint_kind kind;
    double axis[3], axis2[3];
    double pitch; // of a screw, m per turn
} snw_imported_loop;

typedef struct snw_import_remark {
    const char *path; // of the file, where it is not that of the robot; NULL: it is
    int line;         // 0: none
    const char *text;
} snw_import_remark;

typedef struct snw_imported_robot {
    snw_pool *pool;
    const char *path, *name;
    int nlink, njoint, nactuator, nloop, nnote;
    snw_imported_link *link;
    snw_imported_joint *joint;
    snw_imported_actuator *actuator;
    snw_imported_loop *loop;
    bool has_gravity;
    double gravity[3];
    snw_import_remark *note; // parts changed or not carried over, and why
    int most_notes;
} snw_imported_robot;

enum { SNW_IMPORT_PARTS = 5000 }; // most links of a robot, and most joints

// Shapes of a model.
typedef enum snw_import_shapes_kind {
    SNW_IMPORT_BOTH,      // those of collision touch, those for drawing are drawn
    SNW_IMPORT_COLLISION, // only those of collision; where there are none, the others instead
    SNW_IMPORT_VISUAL,    // those for drawing, also for contact; where there are none, the others
    SNW_IMPORT_NO_SHAPES
} snw_import_shapes_kind;

typedef struct snw_import_opts {
    bool free; // the root of a URDF file moves freely; otherwise it is fixed to the world
    snw_import_shapes_kind shapes;
    int npackage; // folders in which package://NAME is looked for: "NAME=FOLDER"
    const char *const *package;
} snw_import_opts;

// Options from words: which shapes (NULL: both), folders of packages.
SNW_NODISCARD snw_status snw_import_choose(const char *shapes, int npackages,
                                           const char *const *packages, snw_import_opts *out,
                                           snw_error *err);

// The robot of a URDF, MJCF or SDF file, from the pool. Errors have the file and the line.
SNW_NODISCARD snw_status snw_import_file(snw_pool *pool, const char *path,
                                         const snw_import_opts *opts, snw_imported_robot *out,
                                         snw_error *err);

// Parse only: the same from bytes that were read. They are NUL terminated.
SNW_NODISCARD snw_status snw_import_bytes(snw_pool *pool, const char *path, const char *bytes,
                                          size_t length, const snw_import_opts *opts,
                                          snw_imported_robot *out, snw_error *err);

// *text <- the model, from the pool. `folder`: that of the meshes, beside the model; NULL: meshes
// are named where they were found.
SNW_NODISCARD snw_status snw_imported_write(const snw_imported_robot *r,
                                            const snw_import_opts *opts, const char *folder,
                                            const char **text, snw_error *err);
