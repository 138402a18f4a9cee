// SPDX-License-Identifier: MIT
//
// Rods that bend in a plane: their strains are one bending, the stretch and the shear in its plane,
// so that the relative pose of a slice, the tangent map and all rates have zeros elsewhere. The
// functions for any rod are inlined here with these zeros written as constants. The build lets the
// compiler drop products with zero and sums of zero in this file (-fno-signed-zeros and
// -ffinite-math-only), which changes no number but the sign of a zero.
#include "dynamics/plane_motion.h"

#include "base/vectorise.h"
#include "math/magnus_fourth.h"
#include "math/se3_tangent_dual.h"

// the parts of a twist in the plane; the others are constants
SNW_INLINE snw_twist twist_in_plane(int plane, const snw_twist *x) {
    const snw_twist y = {{{{0, x->w.y, 0}}, {{x->v.x, 0, x->v.z}}}},
                    z = {{{{0, 0, x->w.z}}, {{x->v.x, x->v.y, 0}}}};
    return plane == SNW_BEND_Y ? y : z;
}

SNW_INLINE snw_se3 pose_in_plane(int plane, const snw_se3 *h) {
    const snw_mat3 *R = &h->R;
    const snw_se3 y = {{{{R->e[0][0], 0, R->e[0][2]}, {0, 1, 0}, {R->e[2][0], 0, R->e[2][2]}}},
                       {{h->p.x, 0, h->p.z}}},
                  z = {{{{R->e[0][0], R->e[0][1], 0}, {R->e[1][0], R->e[1][1], 0}, {0, 0, 1}}},
                       {{h->p.x, h->p.y, 0}}};
    return plane == SNW_BEND_Y ? y : z;
}

// theory.md (3.2)
SNW_INLINE void advance(int plane, int parent, int i, bool is_static, double length,
                        snw_slice_work *sw, snw_work *w) {
    const snw_twist xi[2] = {twist_in_plane(plane, &sw->xi[0]), twist_in_plane(plane, &sw->xi[1])};
    if (is_static) {
        const snw_twist W = fourth_value(length, xi[0], xi[1]);
        coef k;
        coef_tangent(dual_dot(W, W), 0, &k);
        lower_about(k, W, &sw->T);
        const snw_se3 h = snw_se3_exp(W);
        sw->W = W;
        w->h[i] = h;
        w->g[i] = snw_se3_mul(w->g[parent], h);
        w->A[i] = snw_twist_to_child(h, w->A[parent]);
        w->u[i] = w->du[i] = w->V[i] = (snw_twist){0};
        return;
    }
    const snw_twist dxi[2] = {twist_in_plane(plane, &sw->dxi[0]),
                              twist_in_plane(plane, &sw->dxi[1])},
                    ddxi[2] = {twist_in_plane(plane, &sw->ddxi[0]),
                               twist_in_plane(plane, &sw->ddxi[1])};
    snw_twist W, dW, ddW, u, du;
    fourth_rates(length, xi, dxi, ddxi, &W, &dW, &ddW);
    const snw_se3 h = snw_se3_exp(W);
    exp_rates(W, dW, ddW, &sw->T, &u, &du);
    sw->W = W, sw->dW = dW, sw->ddW = ddW;
    w->h[i] = h;
    w->u[i] = u, w->du[i] = du;
    w->g[i] = snw_se3_mul(w->g[parent], h);
    const snw_twist carried = snw_twist_to_child(h, w->V[parent]),
                    rate = snw_twist_to_child(h, w->A[parent]);
    w->V[i] = snw_twist_add(carried, u);
    w->A[i] = snw_twist_add(snw_twist_sub(rate, snw_ad(u, carried)), du);
}

void snw_plane_motion(const snw_model *m, int i, bool is_static, snw_work *w) {
    const snw_seg *seg = &m->seg[i];
    const snw_slice *sl = &m->slice[seg->item];
    snw_slice_work *sw = &w->slice[seg->item];
    if (m->rod[sl->rod].plane == SNW_BEND_Y) {
        advance(SNW_BEND_Y, seg->parent, i, is_static, sl->h, sw, w);
    } else {
        advance(SNW_BEND_Z, seg->parent, i, is_static, sl->h, sw, w);
    }
}

// p (2 points x 3) <- generalised forces on bending, stretch and shear; returns F in the frame of
// the parent
SNW_INLINE snw_wrench pull(int plane, double length, const snw_slice_work *sw, snw_wrench F,
                           const snw_se3 *pose, double p[2][3]) {
    const snw_twist xi[2] = {twist_in_plane(plane, &sw->xi[0]), twist_in_plane(plane, &sw->xi[1])};
    snw_wrench strain[2];
    fourth_pull(length, xi, snw_lower_pull(&sw->T, F), strain);
    for (int k = 0; k < 2; k++) {
        p[k][0] = plane == SNW_BEND_Y ? strain[k].m.y : strain[k].m.z;
        p[k][1] = strain[k].f.x;
        p[k][2] = plane == SNW_BEND_Y ? strain[k].f.z : strain[k].f.y;
    }
    return snw_wrench_to_parent(pose_in_plane(plane, pose), F);
}

void snw_plane_project(const snw_model *m, int i, snw_work *w, double *r) {
    const snw_seg *seg = &m->seg[i];
    const snw_slice *sl = &m->slice[seg->item];
    const snw_slice_work *sw = &w->slice[seg->item];
    const snw_rod *rod = &m->rod[sl->rod];
    const bool about_y = rod->plane == SNW_BEND_Y;
    double p[2][3];
    const snw_wrench F = about_y ? pull(SNW_BEND_Y, sl->h, sw, w->F[i], &w->h[i], p)
                                 : pull(SNW_BEND_Z, sl->h, sw, w->F[i], &w->h[i], p);
    w->F[seg->parent] = snw_wrench_add(w->F[seg->parent], F);
    const double *phi = m->phi + sl->phi;
    for (int k = 0; k < 2; k++) {
        for (int a = 0; a < rod->na; a++) {
            const double f = p[k][rod->comp[a] == rod->plane    ? 0
                                  : rod->comp[a] == SNW_STRETCH ? 1
                                                                : 2];
            double *to = r + rod->dof[a] + sl->first[a];
            for (int j = 0; j < sl->count[a]; j++) to[j] += phi[j] * f;
            phi += sl->count[a];
        }
    }
}
