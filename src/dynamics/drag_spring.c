// SPDX-License-Identifier: MIT
//
// Wrench of the drag spring and its derivatives, from pose and velocity of its segment.

#include "dynamics/drag_spring.h"

// from the segment's origin to the target, in the segment's frame
static snw_vec3 drag_spring_reach(const snw_drag_spring *spring, const snw_work *w) {
    const snw_se3 *g = &w->g[spring->seg];
    return snw_rotate_inv(g->R, snw_sub(spring->to, g->p));
}

static snw_wrench at_point(const snw_drag_spring *spring, snw_vec3 f) {
    return (snw_wrench){{.m = snw_cross(spring->at, f), .f = f}};
}

snw_wrench snw_drag_spring_wrench(const snw_inputs *in, bool is_static, const snw_work *w) {
    const snw_drag_spring *spring = &in->manual->drag_spring;
    snw_vec3 f = snw_scale(spring->stiffness, snw_sub(drag_spring_reach(spring, w), spring->at));
    if (!is_static) {
        const snw_twist V = w->V[spring->seg];
        f = snw_sub(f, snw_scale(spring->damping, snw_add(V.v, snw_cross(V.w, spring->at))));
    }
    return at_point(spring, f);
}

// under dg = g zeta^ the target moves by -zeta.w x reach - zeta.v in the segment's frame
void snw_drag_spring_jacobian(const snw_inputs *in, const snw_work *w, double A[36], double B[36]) {
    const snw_drag_spring *spring = &in->manual->drag_spring;
    const snw_vec3 y = drag_spring_reach(spring, w);
    for (int j = 0; j < 6; j++) {
        snw_twist one = {0};
        one.e[j] = 1;
        const snw_vec3 moved = snw_add(snw_cross(one.w, y), one.v);
        const snw_vec3 faster = snw_add(snw_cross(one.w, spring->at), one.v);
        const snw_wrench a = at_point(spring, snw_scale(-spring->stiffness, moved));
        const snw_wrench b = at_point(spring, snw_scale(-spring->damping, faster));
        for (int i = 0; i < 6; i++) A[6 * i + j] = a.e[i], B[6 * i + j] = b.e[i];
    }
}
