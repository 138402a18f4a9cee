// SPDX-License-Identifier: MIT
//
// segment_map.h: the linearised recursion segment by segment, theory.md 4.2, for eliminations along
// the tree (constraint/elimination.h) and, in columns of a whole path, for the tangent.
#pragma once

#include "dynamics/wrench_columns.h"

// Number of coordinates of the segment's own joint or rod.
int snw_segment_own_count(const snw_model *m, const snw_seg *seg);

// J, dJ, ddJ <- columns of a joint and their rates: its screw axis; for a spherical or free joint
// the identity, or the Jacobian of the local chart of a time step (NULL: none). They must be zero
// before.
void snw_joint_columns(const snw_block *b, const double *chart, bool is_static, int ld, double *J,
                       double *dJ, double *ddJ);

// Number of coordinates that move a segment relative to its parent: those of its joint, or of the
// functions with support on its slice; dof <- their velocity indices.
int snw_segment_map_count(const snw_model *m, int i);
void snw_segment_map_dofs(const snw_model *m, int i, int *dof);

// Columns S of segment i by these coordinates with their first and second rates (6 rows of n; rates
// unless w->is_static), and K (n x n, by rows) the second derivative of its map along the wrench
// that it transmits, zero without `curvature`. After snw_residual.
typedef struct snw_segment_map {
    double *S, *dS, *ddS, *K;
} snw_segment_map;
void snw_segment_map_at(const snw_model *m, const double *chart, int i, bool curvature, snw_work *w,
                        const snw_segment_map *to);

// WJ (6 x ld) <- variation of the wrench at segment i of a local model, P (c->nrow x ld) <- that of
// the forces of fluids on the strains of its rod.
void snw_segment_wrench_columns(const snw_model *m, const snw_inputs *in, const snw_work *w, int i,
                                const snw_columns *c, double cq, double cv, double ca, double *WJ,
                                double *P);

// T (n x n, column major) += cq df/dq + cv df/dv + ca df/da of spring, stops and armature of its
// joint.
void snw_segment_map_add_joint(const snw_model *m, int i, const snw_segment_map *of,
                               const snw_work *w, double cq, double cv, double ca, double *T);
