// SPDX-License-Identifier: MIT
//
// subtree.h: what the mass matrix by composite bodies and forward dynamics by articulated bodies
// share (theory.md 4.1): vectors along the axes of the world, each segment about its own origin,
// so that from a segment to its carrier there is a translation only. Private to src/dynamics.
#pragma once

#include "dynamics/dynamics.h"
#include "dynamics/jacobian_column.h"

// w->arm <- for each segment the vector to its origin from that of its carrier, world axes. After
// snw_kinematics.
void snw_subtree_arms(const snw_model *m, snw_work *w);

// Columns S of the joint of segment i, along the axes of the world about its own origin, rows ld
// apart.
void snw_subtree_columns(const snw_model *m, const snw_work *w, int i, int ld, double *S);

// Inertia along the axes of the world of a segment with the orientation R.
static inline snw_inertia subtree_inertia(const snw_mat3 *R, const snw_inertia *M) {
    const double *I = M->I;
    const snw_mat3 A = {{{I[0], I[5], I[4]}, {I[5], I[1], I[3]}, {I[4], I[3], I[2]}}},
                   B = snw_mat3_mul(*R, A);
    snw_inertia out = {.m = M->m};
    out.mc = snw_rotate(*R, M->mc);
    for (int k = 0; k < 6; k++) {
        const int i = k < 3 ? k : (k + 1) % 3, j = k < 3 ? k : (k + 2) % 3; // xx yy zz yz zx xy
        out.I[k] = B.e[i][0] * R->e[j][0] + B.e[i][1] * R->e[j][1] + B.e[i][2] * R->e[j][2];
    }
    return out;
}

// M about a point from which its origin has the distance d.
static inline snw_inertia subtree_move(snw_vec3 d, const snw_inertia *M) {
    // first moment about the new point, and twice the sum of those about both
    const snw_vec3 c = snw_add(M->mc, snw_scale(M->m, d));
    const snw_vec3 s = snw_add(M->mc, c);
    snw_inertia out = {.m = M->m};
    out.mc = c;
    out.I[0] = M->I[0] + d.y * s.y + d.z * s.z;
    out.I[1] = M->I[1] + d.z * s.z + d.x * s.x;
    out.I[2] = M->I[2] + d.x * s.x + d.y * s.y;
    out.I[3] = M->I[3] - (d.y * M->mc.z + d.z * c.y);
    out.I[4] = M->I[4] - (d.z * M->mc.x + d.x * c.z);
    out.I[5] = M->I[5] - (d.x * M->mc.y + d.y * c.x);
    return out;
}

// A wrench about a point from which its own has the distance d.
static inline snw_wrench subtree_wrench(snw_vec3 d, snw_wrench F) {
    F.m = snw_add(F.m, snw_cross(d, F.f));
    return F;
}
