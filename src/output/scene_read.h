// SPDX-License-Identifier: MIT
//
// scene_read.h: reads the scene of a run (docs/results.md) into structs for drawing. All node
// indices are checked against the run, whatever the file contains.
#pragma once

#include "language/node.h"
#include "math/se3.h"
#include "study/record.h"

typedef enum snw_scene_section {
    SNW_SCENE_LINE, // width not known
    SNW_SCENE_ROUND,
    SNW_SCENE_SQUARE
} snw_scene_section;

typedef struct snw_scene_rod {
    const char *link;
    int root;         // node of the root section, -1: the world
    int first, count; // nodes along it
    int condition;    // index of its condition in `present`, -1: always active
    bool variable_length;
    snw_scene_section section;
    bool elastic[6]; // strain components with an elastic internal force
    // per station, count + 1
    double *x;
    double (*half)[2]; // half widths along y and z, m
    double *hole;      // of a tube: inner over outer width
    double (*rest)[6], (*stiffness)[6];
} snw_scene_rod;

typedef enum snw_scene_shape {
    SNW_SCENE_ANY,      // not given
    SNW_SCENE_BOX,      // size: its widths
    SNW_SCENE_CYLINDER, // size: radius, length
    SNW_SCENE_SPHERE,   // size: radius
    SNW_SCENE_CAPSULE,  // size: radius, length of the straight part
    SNW_SCENE_TORUS,    // size: radius, radius of the section
    SNW_SCENE_SURFACE   // triangles
} snw_scene_shape;

// Triangles in the axes of a shape; a smooth surface has no edges.
typedef struct snw_scene_triangles {
    bool smooth;
    int nvertex, nface;
    snw_vec3 *vertex;
    int (*face)[3];
} snw_scene_triangles;

typedef struct snw_scene_body {
    const char *link;
    int node; // frame of its coordinates
    int condition;
    bool bare; // its link has no rod
    snw_scene_shape shape;
    double size[3], mass, inertia[6];
    snw_vec3 com;
    snw_se3 pose; // of its shape, whose axis is z, in the frame of the node
    snw_scene_triangles surface;
} snw_scene_body;

// A rigid connection between two nodes, or the rail of a sliding joint.
typedef struct snw_scene_bar {
    const char *link;
    int from, to, condition;
    bool rail;
} snw_scene_bar;

typedef struct snw_scene_point {
    int node;
    snw_vec3 at; // in the frame of the node
    double radius;
} snw_scene_point;

typedef struct snw_scene_tendon {
    const char *name;
    bool line;    // drawn as a line, else as a tube with the radius at its points
    bool tension; // its effort is a tension, else a pressure
    int n;
    snw_scene_point *point;
} snw_scene_tendon;

typedef struct snw_scene_ground {
    const char *name;
    snw_vec3 at, normal;
} snw_scene_ground;

typedef struct snw_scene_geometry {
    snw_vec3 gravity;
    int nrod, nbody, nbar, ntendon, nground;
    snw_scene_rod *rod;
    snw_scene_body *body;
    snw_scene_bar *bar;
    snw_scene_tendon *tendon; // at most info->ntendon
    snw_scene_ground *ground;
} snw_scene_geometry;

// *out <- initial scene as a tree in the pool; NULL: the run has none.
SNW_NODISCARD snw_status snw_scene_tree(snw_pool *pool, const snw_run_info *info, snw_node **out,
                                        snw_error *err);

// *out <- geometry of a scene (not NULL); allocated in the pool.
SNW_NODISCARD snw_status snw_scene_read(snw_pool *pool, const snw_run_info *info,
                                        const snw_node *scene, snw_scene_geometry *out,
                                        snw_error *err);

// Geometry of a phase, valid from stage `stage` on.
typedef struct snw_scene_phase {
    int stage;
    snw_scene_geometry geometry;
} snw_scene_phase;

// Scenes of all phases of a run, the initial one first; *n is 0 when the run has none. All have the
// same rods, on the same nodes, and the same tendons and chambers.
SNW_NODISCARD snw_status snw_scene_phases(snw_pool *pool, const snw_run_info *info, int *n,
                                          snw_scene_phase **out, snw_error *err);

// Text value of a key, "" when it is missing or not a text.
const char *snw_scene_text(const snw_node *map, const char *key);
// Item of a list with this `name`; NULL: none.
const snw_node *snw_scene_named(const snw_node *list, const char *name);
// Key that stands for the nameless component of a scalar probe.
extern const char SNW_SCENE_NAMELESS[];
