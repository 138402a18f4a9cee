// SPDX-License-Identifier: MIT
//
// inertia.h: inertia of a rigid body or of a rod node, about the origin of its frame:
// M = [ I  mc^ ; -mc^  m 1 ], angular part first.
#pragma once

#include "math/se3.h"

#include <stdbool.h>

typedef struct snw_inertia {
    double m;    // mass, kg
    snw_vec3 mc; // first moment: mass times centre of mass, kg m
    double I[6]; // xx yy zz yz zx xy, about the origin, kg m^2
} snw_inertia;

// Angular momentum I w of a rotation about the origin.
static inline snw_vec3 snw_inertia_rotate(const snw_inertia *M, snw_vec3 w) {
    const double *I = M->I;
    return (snw_vec3){{I[0] * w.x + I[5] * w.y + I[4] * w.z, I[5] * w.x + I[1] * w.y + I[3] * w.z,
                       I[4] * w.x + I[3] * w.y + I[2] * w.z}};
}

// Momentum M V.
static inline snw_wrench snw_inertia_apply(const snw_inertia *M, snw_twist V) {
    snw_wrench P;
    P.m = snw_add(snw_inertia_rotate(M, V.w), snw_cross(M->mc, V.v));
    P.f = snw_add(snw_scale(M->m, V.v), snw_cross(V.w, M->mc));
    return P;
}

// M <- M + N.
static inline void snw_inertia_add(snw_inertia *M, const snw_inertia *N) {
    M->m += N->m;
    M->mc = snw_add(M->mc, N->mc);
    for (int i = 0; i < 6; i++) M->I[i] += N->I[i];
}

static inline snw_inertia snw_inertia_scale(double s, snw_inertia M) {
    M.m *= s;
    M.mc = snw_scale(s, M.mc);
    for (int i = 0; i < 6; i++) M.I[i] *= s;
    return M;
}

// Is a symmetric matrix positive semidefinite: are all principal minors at least -slack times
// powers of the sum of the magnitudes of its diagonal?
bool snw_mat3_semidefinite(const snw_mat3 *A, double slack);

// The nearest inertia that a body can have, by the squares of the second moments tr(I)/2 - I: their
// negative eigenvalues become zero. p <- principal moments of I in ascending order.
snw_mat3 snw_inertia_nearest(const snw_mat3 *I, double p[3]);

// Inertia from mass, centre of mass and inertia about the centre of mass (parallel-axis theorem).
snw_inertia snw_inertia_of_body(double mass, snw_vec3 com, snw_mat3 central);

// Inertia in a frame in which the frame of M has the pose g.
snw_inertia snw_inertia_seen(snw_se3 g, const snw_inertia *M);
