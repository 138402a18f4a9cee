// SPDX-License-Identifier: MIT
//
// layout.h: positions of the nodes of a rod. Private to src/model.
//
// Nodes are the quadrature points of the inertia, the breaks of the strain bases, the stations at
// which something is attached, and the tip (theory.md 3). Hence no segment contains a break.
#pragma once

#include "model/model.h"

typedef struct snw_node_at {
    double x, w; // arc length and quadrature weight, m; weight 0: not a quadrature point
    double c;    // index among the quadrature points of its cell; -1: other nodes
    int element; // cell of a quadrature point
} snw_node_at;

typedef struct snw_layout {
    int nnode;
    snw_node_at *node;  // nnode, rising x, without the root; the last is the tip
    int nelem;          // elements between breaks
    double *breaks;     // nelem + 1, m: union of the breaks of all strain components
    bool global;        // no basis is piecewise
    int ncell;          // cells, each with a Gauss rule for the inertia
    const double *cell; // ncell + 1, m: ends of the cells: elements, the whole rod when global, or
                        // chosen by a tolerance
    int per_cell;       // Gauss points per cell
    int room, least;    // with a tolerance: most cells in all, fewest cells per element
    int nodes;          // quadrature points in all, including those in reserve at the root
    double geometry;    // predicted error of the tip, relative to the length
    double quadrature;  // predicted relative error of integrals (rod_quadrature.h); 0: unknown
    int strain_points;  // per element, of the rule for functions of the strain
} snw_layout;

// Relative error of integrals at which `nodes: auto` stops.
#define SNW_QUADRATURE_AIM 1e-5

// *out <- layout of a rod; arrays belong to the pool. `station`: arc lengths of nstation
// attachments, in any order. rod->link, na, comp, basis, nfun, L and rule must be set. Fails with
// SNW_E_MODEL (too many nodes) or SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_layout_rod(const snw_desc *desc, const snw_rod *rod, int nstation,
                                        const double *station, snw_pool *pool, snw_layout *out,
                                        snw_error *err);
