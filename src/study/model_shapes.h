// SPDX-License-Identifier: MIT
//
// model_shapes.h: sizes and places of what touches: of contact points their centres and surfaces,
// of grounds their place and normal, of obstacles their sizes. Derivatives of a scalar by them are
// gathered over a run, theory.md (7.5.31). Part of model_geometry.h.
#pragma once

#include "dynamics/contact.h"

size_t snw_shapes_size(const snw_model *m);
void snw_shapes_read(const snw_model *m, double *out);
// Without these numbers, to compare two models.
snw_contact snw_shapes_bare_contact(snw_contact c);
snw_contact_point snw_shapes_bare_point(snw_contact_point p);

// A product with the motion of contact point k in w: gap times its gap; the power of the force f
// along its axes at the twists V (by segment); the force g along the axes times a vector of the
// world; minus the power of its own, compliant force at the twists eta. NULL: none of these.
typedef struct snw_shape_product {
    int point;
    double gap;
    const double *f;
    const snw_twist *V;
    const double *g;
    snw_vec3 along;
    const snw_twist *eta;
} snw_shape_product;
// bar (size) -= its derivatives by the numbers, by differences of order 6 of gap, axes and
// velocities of that point alone.
void snw_shapes_subtract(const snw_model *m, const snw_work *w, const snw_shape_product *x,
                         double *bar);
