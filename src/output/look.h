// SPDX-License-Identifier: MIT
//
// look.h: the scene of a run (docs/results.md) as a struct, for whoever draws it: every node lies
// within the run's, whatever the file holds.
#pragma once

#include "language/node.h"
#include "math/se3.h"
#include "study/record.h"

typedef enum snw_look_section {
    SNW_LOOK_LINE, // of no known width
    SNW_LOOK_ROUND,
    SNW_LOOK_SQUARE
} snw_look_section;

typedef struct snw_look_rod {
    const char *link;
    int root;         // node of the root section, -1: the world
    int first, count; // nodes along it
    int condition;    // its place in `present`, -1: always there
    bool variable_length;
    snw_look_section section;
    bool elastic[6]; // strains whose forces are those of elasticity
    // by station, count + 1
    double *x;
    double (*half)[2]; // widths along y and z, halved
    double *hole;      // of a tube: the part of the widths that is hollow
    double (*rest)[6], (*stiffness)[6];
} snw_look_rod;

typedef enum snw_look_shape {
    SNW_LOOK_ANY, // nobody said
    SNW_LOOK_BOX,
    SNW_LOOK_CYLINDER,
    SNW_LOOK_SPHERE
} snw_look_shape;

typedef struct snw_look_body {
    const char *link;
    int node; // whose frame it lies in
    int condition;
    bool bare; // its link has no rod
    snw_look_shape shape;
    double size[3], mass, inertia[6];
    snw_vec3 axis, com;
} snw_look_body;

// A rigid piece between two nodes, or a rail that one moves along.
typedef struct snw_look_bar {
    const char *link;
    int from, to, condition;
    bool rail;
} snw_look_bar;

typedef struct snw_look_point {
    int node;
    snw_vec3 at; // in its frame
    double radius;
} snw_look_point;

typedef struct snw_look_tendon {
    const char *name;
    bool tendon; // else a chamber
    int n;
    snw_look_point *point;
} snw_look_tendon;

typedef struct snw_look_ground {
    const char *name;
    snw_vec3 at, normal;
} snw_look_ground;

typedef struct snw_look {
    snw_vec3 gravity;
    int nrod, nbody, nbar, ntendon, nground;
    snw_look_rod *rod;
    snw_look_body *body;
    snw_look_bar *bar;
    snw_look_tendon *tendon; // at most info->nmeasure
    snw_look_ground *ground;
} snw_look;

// *out <- the scene of the beginning as a tree in the pool, NULL when the run has none.
SNW_NODISCARD snw_status snw_scene_tree(snw_pool *pool, const snw_run_info *info, snw_node **out,
                                        snw_error *err);

// What a scene that is not NULL holds; all in the pool.
SNW_NODISCARD snw_status snw_look_read(snw_pool *pool, const snw_run_info *info,
                                       const snw_node *scene, snw_look *out, snw_error *err);

// A scene, and the stage from which on it holds.
typedef struct snw_look_phase {
    int stage;
    snw_look look;
} snw_look_phase;

// All scenes of a run, that of the beginning first; *n is 0 when the run has none. They have the
// same rods, on the same nodes, and the same tendons and chambers.
SNW_NODISCARD snw_status snw_look_phases(snw_pool *pool, const snw_run_info *info, int *n,
                                         snw_look_phase **out, snw_error *err);

// The value of a key that is a text, else "".
const char *snw_scene_text(const snw_node *map, const char *key);
// The item of a list with this `name`, NULL when there is none.
const snw_node *snw_scene_named(const snw_node *list, const char *name);
// The only component of a scalar probe has no name; this key stands for it.
extern const char SNW_SCENE_NAMELESS[];
