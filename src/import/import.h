// SPDX-License-Identifier: MIT
//
// import.h: robots of other formats as models of our language. A reader of a format (urdf.c) fills
// the parts of a robot, imported_text.c writes them as a model with comments. Parts that a model
// cannot express are listed with the reason, not left out silently.
#pragma once

#include "base/pool.h"
#include "math/se3_types.h"
#include "sinew/status.h"

#include <stdbool.h>

typedef enum snw_imported_shape_kind {
    SNW_IMPORTED_BOX,
    SNW_IMPORTED_CYLINDER,
    SNW_IMPORTED_SPHERE,
    SNW_IMPORTED_MESH
} snw_imported_shape_kind;

typedef struct snw_imported_shape {
    snw_imported_shape_kind kind;
    double xyz[3], rpy[3];  // pose in the link's frame
    double size[3];         // box: full widths; cylinder: radius, length; sphere: radius; m
    double scale;           // of a mesh
    const char *file;       // of a mesh, as the format names it
    const char *found;      // path of that file
    const char *beside;     // its name beside the model
    bool visual, collision; // what it serves for
} snw_imported_shape;

typedef struct snw_imported_link {
    const char *name; // in the format
    const char *word; // in the model
    int line;
    bool has_mass;
    double mass;      // kg
    double com[3];    // centre of mass in the link's frame, m
    snw_mat3 inertia; // about it, in the axes of the link, kg m^2
    int joint;        // by which it moves relative to its parent; -1: none
    int nshape;
    snw_imported_shape *shape;
} snw_imported_link;

typedef enum snw_imported_joint_kind {
    SNW_IMPORTED_FIXED,
    SNW_IMPORTED_REVOLUTE,
    SNW_IMPORTED_PRISMATIC,
    SNW_IMPORTED_PLANAR,
    SNW_IMPORTED_FREE
} snw_imported_joint_kind;

typedef struct snw_imported_joint {
    const char *name, *word;
    int line;
    snw_imported_joint_kind kind;
    int parent, child;     // links
    double xyz[3], rpy[3]; // pose in the parent link's frame
    double axis[3];
    bool limited; // by low and high, rad or m
    double low, high;
    double effort, velocity; // largest, N m or N, rad/s or m/s; 0: not given
    double damping, friction;
} snw_imported_joint;

typedef struct snw_imported_note {
    int line; // of the file, 0: none
    const char *text;
} snw_imported_note;

typedef struct snw_imported_robot {
    snw_pool *pool;
    const char *path, *name;
    int nlink, njoint, nnote;
    snw_imported_link *link;
    snw_imported_joint *joint;
    snw_imported_note *note; // what was changed or not carried over, and why
    int most_notes;
} snw_imported_robot;

typedef struct snw_import_opts {
    bool free;      // the root moves freely; otherwise it is fixed to the world
    bool visual;    // the shapes of the model are those for drawing, otherwise those of collision
    bool no_shapes; // none
    int npackage;   // folders in which package://NAME is looked for: "NAME=FOLDER"
    const char *const *package;
} snw_import_opts;

// The robot of a URDF file, from the pool. Errors have the file and the line.
SNW_NODISCARD snw_status snw_import_file(snw_pool *pool, const char *path,
                                         const snw_import_opts *opts, snw_imported_robot *out,
                                         snw_error *err);

// *text <- the model, from the pool. `source`: name of the file for its first comment; `folder`:
// that of the meshes, beside the model.
SNW_NODISCARD snw_status snw_imported_write(const snw_imported_robot *r,
                                            const snw_import_opts *opts, const char *folder,
                                            const char **text, snw_error *err);

// Adds a note, formatted as by printf; false when out of memory.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool snw_imported_note_add(snw_imported_robot *r, int line, const char *format, ...);
