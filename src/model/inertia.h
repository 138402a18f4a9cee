// SPDX-License-Identifier: MIT
//
// inertia.h: mass, first moment and rotational inertia of a body or of a rod's slice, about the
// origin of its frame:  M = [ I  mc^ ; -mc^  m 1 ].
#pragma once

#include "math/se3.h"

#include <stdbool.h>

typedef struct snw_inertia {
    double m;    // mass
    snw_vec3 mc; // mass times centre of mass
    double I[6]; // xx yy zz yz zx xy, about the origin
} snw_inertia;

static inline snw_vec3 snw_inertia_rotate(const snw_inertia *M, snw_vec3 w) {
    const double *I = M->I;
    return (snw_vec3){{I[0] * w.x + I[5] * w.y + I[4] * w.z, I[5] * w.x + I[1] * w.y + I[3] * w.z,
                       I[4] * w.x + I[3] * w.y + I[2] * w.z}};
}

// Momentum M V
static inline snw_wrench snw_inertia_apply(const snw_inertia *M, snw_twist V) {
    snw_wrench P;
    P.m = snw_add(snw_inertia_rotate(M, V.w), snw_cross(M->mc, V.v));
    P.f = snw_add(snw_scale(M->m, V.v), snw_cross(V.w, M->mc));
    return P;
}

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

// Are all principal minors of a symmetric matrix not negative, to `slack` of its trace?
bool snw_mat3_semidefinite(const snw_mat3 *A, double slack);

// From mass, centre of mass and inertia about it (theorem of Steiner).
snw_inertia snw_inertia_of_body(double mass, snw_vec3 com, snw_mat3 central);

// The same body seen from a frame in which its own is at g.
snw_inertia snw_inertia_seen(snw_se3 g, const snw_inertia *M);
