// SPDX-License-Identifier: MIT
//
// rod_grid.h: rods whose poses are collocated on one Chebyshev grid (integrator: chebyshev),
// theory.md (3.1d), (3.1e). All nodes of such a rod are children of its root section; the slice of
// a node is the whole part of the rod up to it, with one strain, at its end.
#pragma once

#include "dynamics/slice.h"

// w->grid_point <- shape of all grids from the strains w->slice of their points, with rates unless
// is_static.
void snw_rod_grids_motion(const snw_model *m, bool is_static, snw_work *w);

// h, u, du <- pose of slice i in the root section of its rod and its rates; w->grid_node[i] <- the
// same before it is normalised.
void snw_rod_grid_node(const snw_model *m, int i, bool is_static, snw_work *w, snw_se3 *h,
                       snw_twist *u, snw_twist *du);

// w->grid_point: pull <- generalised wrench on the strain at each point by the wrenches w->F on the
// nodes of grid k, (3.1f).
void snw_rod_grid_pull(const snw_model *m, int k, snw_work *w);
// r += its part on the coordinates of all such rods.
void snw_rod_grids_project(const snw_model *m, snw_work *w, double *r);
// Power of these wrenches on the given strains of all such rods, W.
double snw_rod_grids_given_power(const snw_model *m, const snw_inputs *in, const snw_work *w);

// w->grid_column <- variation of the shape of all grids by the coordinates, with rates unless
// w->is_static; with `curvature` w->K += the part of the points in the second derivative.
void snw_rod_grids_columns(const snw_model *m, bool curvature, snw_work *w);
// As snw_slice_jacobian_columns, for a slice of such a rod.
void snw_rod_grid_jacobian(const snw_model *m, int i, int ld, const snw_wrench *F, snw_work *w,
                           snw_slice_jacobian to);
