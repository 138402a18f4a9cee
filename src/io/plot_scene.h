// SPDX-License-Identifier: MIT
//
// plot_scene.h: what figures need of the scene of a run (docs/results.md): quantities and units of its probes, and which
// nodes make its rods.
#pragma once

#include "io/node.h"
#include "study/record.h"

// What a column is, as it stands at an axis: "angular velocity" in "rad/s". Without a scene it is a "value" without unit.
// Texts live as long as the scene.
void snw_plot_quantity(const snw_node *scene, const snw_column *c, const char **quantity,
                       const char **unit);

// Nodes that a line runs through.
typedef struct snw_plot_rod {
    const char *link;
    bool rigid;       // a straight piece between two nodes: the first is `root`
    int root;         // -1: the origin of the world
    int first, count; // the nodes that follow
    int gate;         // its place in `present`, -1: always there
} snw_plot_rod;

// The rods of a scene, then its rigid pieces; nodes lie within nnode.
SNW_NODISCARD snw_status snw_plot_rods(const snw_node *scene, const snw_run_info *info,
                                       snw_pool *pool, int *n, snw_plot_rod **out, snw_error *err);
