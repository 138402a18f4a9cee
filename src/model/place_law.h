// SPDX-License-Identifier: MIT
//
// place_law.h: laws of a place in the world and of time (fields), with derivatives in the place,
// and the potential of a field of force.
#pragma once

#include "model/desc.h"

// Value of a law with its gradient and its matrix of second derivatives.
typedef struct snw_place_jet {
    double v;
    snw_vec3 d1;
    snw_mat3 d2;
} snw_place_jet;

// out <- law at time t and place p (m), with derivatives up to `order`, 0 to 2; the others are not
// set. NULL is the law 0.
void snw_place_law_at(snw_law law, double t, snw_vec3 p, int order, snw_place_jet *out);

// Derivative of the law by t.
double snw_place_law_rate(snw_law law, double t, snw_vec3 p);

// Potential at p of the field of force f that has one: the integral of -f along the straight line
// from the origin; and its derivative by t.
double snw_place_potential(const snw_law f[3], double t, snw_vec3 p);
double snw_place_potential_rate(const snw_law f[3], double t, snw_vec3 p);
