// SPDX-License-Identifier: MIT
//
// plot_scene.h: what figures need of the scene of a run (docs/results.md): quantities and units of
// its probes, which nodes make its rods, and where its bodies and tendons are.
#pragma once

#include "output/look.h"
#include "study/record.h"

// What a column is, as it stands at an axis: "angular velocity" in "rad/s". Without a scene it is a
// "value" without unit. Texts live as long as the scene.
void snw_plot_quantity(const snw_node *scene, const snw_column *c, const char **quantity,
                       const char **unit);

// Nodes that a line runs through.
typedef struct snw_plot_rod {
    const char *link;
    bool rigid;       // a straight piece between two nodes: the first is `root`
    int root;         // -1: the origin of the world
    int first, count; // the nodes that follow
    int condition;    // its place in `present`, -1: always there
} snw_plot_rod;

// The rods of a scene, then its rigid pieces; nodes lie within those of the run.
SNW_NODISCARD snw_status snw_plot_rods(const snw_look *look, snw_pool *pool, int *n,
                                       snw_plot_rod **out, snw_error *err);

// A body by points of its surface, of which the outline is drawn, or a tendon by those of its path.
typedef struct snw_plot_part {
    const char *link; // NULL: a tendon
    int condition;    // its place in `present`, -1: always there
    int n;
    snw_look_point *point; // of a ball its centre, with a radius
} snw_plot_part;

// The bodies of a scene that have a shape, then its tendons.
SNW_NODISCARD snw_status snw_plot_parts(const snw_look *look, snw_pool *pool, int *n,
                                        snw_plot_part **out, snw_error *err);
