// SPDX-License-Identifier: MIT
//
// layout.h: where a rod has its nodes. Private to the compiler of models.
//
// Nodes are the union of the tip, the breaks of the strain bases, the stations where something is
// attached, and the quadrature points of the inertia (rods.md 3.1). No segment contains a break.
#pragma once

#include "model/model.h"

typedef struct snw_node_at {
    double x, w; // station and quadrature weight, m; weight 0 where the rule has no point
    double c;    // for interpolation inside a cell: its index there, -1 for other nodes
    int element; // cell of the inertia rule
} snw_node_at;

typedef struct snw_layout {
    int nnode;
    snw_node_at *node; // rising x; the root is not among them, the last is the tip
    int nelem;
    double *breaks; // nelem + 1, m: union of the breaks of all components
    bool global;    // functions that reach over the whole rod
    int ncell;      // parts with a rule of the inertia each:
    const double
        *cell;    // ncell + 1, m: elements, the whole rod when global, or what a tolerance asks for
    int per_cell; // points of the rule
    int room, least;   // of a rod with a tolerance: cells there may be, and must be in an element
    int nodes;         // points of the rule in all, and those in reserve at the root
    double geometry;   // predicted relative error of the tip,
    double quadrature; // and of what is integrated along the rod (rod_quadrature.h); 0: not known
    int strain_points; // of the rule for functions of the strain, in an element
} snw_layout;

// What nodes: auto aims at, relative error of any of the integrals.
#define SNW_QUADRATURE_AIM 1e-5

// `station`: nstation attachments, any order. rod->link, na, comp, basis, nfun, L, rule must be
// set.
SNW_NODISCARD snw_status snw_layout_rod(const snw_desc *desc, const snw_rod *rod, int nstation,
                                        const double *station, snw_pool *pool, snw_layout *out,
                                        snw_error *err);
