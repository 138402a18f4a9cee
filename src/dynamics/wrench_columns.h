// SPDX-License-Identifier: MIT
//
// wrench_columns.h: variations of the wrench that acts at one segment, for any set of variations of
// its motion: the coordinates of its path (tangent.c), or its pose and rates themselves
// (segment_map.c).
#pragma once

#include "dynamics/dynamics.h"

// Variations of a segment: zeta of its pose, g^-1 delta g, and the first and second rates of zeta
// along the motion, one column for each unknown; six rows each, ld apart. The rates are not read
// where the motion is static. The columns from n to ld must be finite.
typedef struct snw_columns {
    int n, ld;
    int own; // column of the first strain coordinate of the segment's rod, for P below
    const double *J, *dJ, *ddJ;
    const int *row_dof; // nrow: coordinates of the rows of P; NULL: those of the rod from `own` on
    int nrow;
} snw_columns;

// WJ (6 x ld) += cq dW/dx + cv dW/dx' + ca dW/dx'' for the wrench W of inertia, load and gravity at
// segment i.
void snw_segment_columns(const snw_model *m, const snw_wrench *load, const snw_work *w, int i,
                         const snw_columns *c, double cq, double cv, double ca, double *WJ);

// The same for the fluid; P += its part on the strains of the rod, n rows of ld (NULL: the model
// has none).
void snw_fluid_columns(const snw_model *m, const snw_inputs *in, const snw_work *w, int i,
                       const snw_columns *c, double cq, double cv, double ca, double *WJ,
                       double *P);

// The same for contact points whose obstacles no coordinate moves, fields whose carriers none
// moves, and the drag spring.
void snw_contact_columns(const snw_model *m, const snw_inputs *in, const snw_work *w, int i,
                         const snw_columns *c, double cq, double cv, double *WJ);
