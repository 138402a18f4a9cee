// SPDX-License-Identifier: MIT
#include "dynamics/grip.h"

// from the segment's origin to where the hand is, in its frame
static snw_vec3 reach(const snw_grip *grip, const snw_work *w) {
    const snw_se3 *g = &w->g[grip->seg];
    return snw_rotate_inv(g->R, snw_sub(grip->to, g->p));
}

static snw_wrench at_point(const snw_grip *grip, snw_vec3 f) {
    return (snw_wrench){{.m = snw_cross(grip->at, f), .f = f}};
}

snw_wrench snw_grip_wrench(const snw_inputs *in, bool still, const snw_work *w) {
    const snw_grip *grip = &in->hand->grip;
    snw_vec3 f = snw_scale(grip->stiffness, snw_sub(reach(grip, w), grip->at));
    if (!still) {
        const snw_twist V = w->V[grip->seg];
        f = snw_sub(f, snw_scale(grip->damping, snw_add(V.v, snw_cross(V.w, grip->at))));
    }
    return at_point(grip, f);
}

// with dg = g zeta^ what the hand sees moves by -zeta.w x reach - zeta.v
void snw_grip_slope(const snw_inputs *in, const snw_work *w, double A[36], double B[36]) {
    const snw_grip *grip = &in->hand->grip;
    const snw_vec3 y = reach(grip, w);
    for (int j = 0; j < 6; j++) {
        snw_twist one = {0};
        one.e[j] = 1;
        const snw_vec3 moved = snw_add(snw_cross(one.w, y), one.v);
        const snw_vec3 faster = snw_add(snw_cross(one.w, grip->at), one.v);
        const snw_wrench a = at_point(grip, snw_scale(-grip->stiffness, moved));
        const snw_wrench b = at_point(grip, snw_scale(-grip->damping, faster));
        for (int i = 0; i < 6; i++) A[6 * i + j] = a.e[i], B[6 * i + j] = b.e[i];
    }
}
