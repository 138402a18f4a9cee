// SPDX-License-Identifier: MIT
//
// chamber.h: chambers whose area depends on stretch and pressure, theory.md (3.11.14) to (3.11.17).
// The volume V(q, p) = int A l dx depends on the pressure too; the generalised force is
// int F dl/dq dx. Part of tendon.h; these functions are for tendon.c.
#pragma once

#include "dynamics/dynamics.h"

// w->tendon[i].value, rate, by_effort, w->G and the points of w <- volume, its rate at fixed
// pressure, derivatives and forces at the pressure p and the strains in w.
void snw_chamber_gather(const snw_model *m, int i, double p, snw_work *w);
// out->effort, stiffness, gain <- pressure for a given gas (given: n R T) or a given volume, of
// which load steps apply a fraction; area that depends on the pressure.
void snw_chamber_pressure(const snw_model *m, int i, double given, double ambient, double fraction,
                          const snw_work *w, snw_tendon_work *out);
// w->r -= generalised forces.
void snw_chamber_add_forces(const snw_model *m, int i, snw_work *w);
// T -= f times the derivative of the generalised forces by the strains at fixed pressure.
void snw_chamber_curvature(const snw_model *m, int i, double f, const snw_work *w, snw_matrix T);
// Power of the forces on the rods, W; given: on given strains only.
double snw_chamber_power(const snw_model *m, int i, bool given, const snw_work *w);
// Derivatives of the density at point k by the strain at fixed pressure: d1 <- df/dxi, d2 <-
// d2f/dxi2 xi'.
void snw_chamber_derivatives(const snw_model *m, int i, int k, const snw_work *w, double d1[6],
                             double d2[6]);
// Stretch of the centre line, e_x . (Gamma + K x D); of rates of strains its rate.
static inline double snw_chamber_stretch(const snw_tendon_point *p, snw_twist xi) {
    return xi.v.x + xi.w.y * p->z - xi.w.z * p->y;
}
// gradient <- derivative of the stretch of the centre line by the strain.
void snw_chamber_stretch_gradient(const snw_tendon_point *p, double gradient[6]);
