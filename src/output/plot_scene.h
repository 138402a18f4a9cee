// SPDX-License-Identifier: MIT
//
// plot_scene.h: data for figures from the scene of a run (docs/results.md): quantities and units of
// probes, nodes of rods, points of bodies and tendons.
#pragma once

#include "output/scene_read.h"
#include "study/record.h"

// Quantity and unit of a column for an axis title, e.g. "angular velocity" in "rad/s"; without a
// scene "value" and "". Texts live as long as the scene.
void snw_plot_quantity(const snw_node *scene, const snw_column *c, const char **quantity,
                       const char **unit);

// Nodes of a line.
typedef struct snw_plot_rod {
    const char *link;
    bool rigid;       // a straight line from `root` to one node
    int root;         // -1: the origin of the world
    int first, count; // the following nodes
    int condition;    // index of its condition in `present`, -1: always active
} snw_plot_rod;

// Rods of a scene, then its rigid connections; node indices are within those of the run.
SNW_NODISCARD snw_status snw_plot_rods(const snw_scene_geometry *geometry, snw_pool *pool, int *n,
                                       snw_plot_rod **out, snw_error *err);

// A body by surface points, of which the convex outline is drawn, or a tendon by points of its
// routing.
typedef struct snw_plot_part {
    const char *link; // NULL: a tendon
    int condition;    // index of its condition in `present`, -1: always active
    int n;
    snw_scene_point *point; // of a sphere its centre, with a radius
} snw_plot_part;

// Bodies of a scene that have a shape, then its tendons.
SNW_NODISCARD snw_status snw_plot_parts(const snw_scene_geometry *geometry, snw_pool *pool, int *n,
                                        snw_plot_part **out, snw_error *err);
