// SPDX-License-Identifier: MIT
//
// Rolling direction of a wheel, and viscous slip force of wheels with its derivative, for contact.c
// and closure.c.

#include "dynamics/wheel.h"

snw_vec3 snw_wheel_forward(snw_vec3 a, snw_vec3 d, const snw_vec3 *w) {
    const snw_vec3 across = snw_cross(a, d);
    const double size = snw_norm(across);
    const snw_vec3 f = snw_scale(1 / size, across);
    if (!w) return f;
    const snw_vec3 turn = snw_scale(1 / size, snw_cross(a, snw_cross(d, *w)));
    return snw_sub(turn, snw_scale(snw_dot(f, turn), f));
}

// A wheel at the motion in w, in the axes of its segment: axle, ground normal, rolling direction
// and touching point.
typedef struct wheel {
    const snw_loop *loop;
    snw_vec3 a, d, f, p;
} wheel;

static wheel wheel_of(const snw_model *m, const snw_contact_point *p, const snw_work *w) {
    const snw_loop *loop = &m->loop[p->wheel - 1];
    wheel x = {.loop = loop, .a = {{loop->Q.e[0][2], loop->Q.e[1][2], loop->Q.e[2][2]}}};
    const snw_vec3 n = snw_rotate(w->g[loop->a].R, snw_rotate(loop->Q, loop->normal));
    x.d = snw_rotate_inv(w->g[p->seg].R, n);
    x.f = snw_wheel_forward(x.a, x.d, NULL);
    x.p = snw_scale(-loop->radius, snw_cross(x.f, x.a));
    return x;
}

void snw_wheel_motion(const snw_model *m, const snw_contact_point *p, bool is_static,
                      const snw_work *w, snw_contact_point_work *at) {
    *at = (snw_contact_point_work){0};
    if (is_static || !snw_is_active(w, p->condition)) return;
    const wheel x = wheel_of(m, p, w);
    const snw_twist *V = &w->V[p->seg];
    const double *c = x.loop->slip;
    const snw_vec3 u = snw_add(V->v, snw_cross(V->w, x.p));
    *at = (snw_contact_point_work){.in_contact = snw_mask_from(true), .d = x.d, .s = x.p, .v = u};
    at->f =
        snw_add(snw_scale(-c[0] * snw_dot(x.a, u), x.a), snw_scale(-c[1] * snw_dot(x.f, u), x.f));
}

// Variation of the wrench with those of the pose (zeta) and velocity (dV); the axle is fixed in the
// segment.
static snw_wrench wheel_wrench_variation(const wheel *x, const snw_contact_point_work *at,
                                         const snw_twist *V, snw_twist zeta, snw_twist dV) {
    const double *c = x->loop->slip;
    const snw_vec3 u = at->v, a = x->a, f = x->f, df = snw_wheel_forward(a, x->d, &zeta.w);
    const snw_vec3 dp = snw_scale(-x->loop->radius, snw_cross(df, a));
    const snw_vec3 du = snw_add(dV.v, snw_add(snw_cross(dV.w, x->p), snw_cross(V->w, dp)));
    snw_vec3 dF = snw_scale(-c[0] * snw_dot(a, du), a);
    dF = snw_sub(dF, snw_scale(c[1] * (snw_dot(df, u) + snw_dot(f, du)), f));
    dF = snw_sub(dF, snw_scale(c[1] * snw_dot(f, u), df));
    return (snw_wrench){{.m = snw_add(snw_cross(dp, at->f), snw_cross(x->p, dF)), .f = dF}};
}

void snw_wheel_jacobian(const snw_model *m, const snw_contact_point *p, const snw_work *w,
                        double A[36], double B[36]) {
    const wheel x = wheel_of(m, p, w);
    const snw_contact_point_work *at = &w->contact_point[p - m->contact_point];
    for (int j = 0; j < 6; j++) {
        const snw_twist none = {0};
        snw_twist one = {0};
        one.e[j] = 1;
        const snw_wrench da = wheel_wrench_variation(&x, at, &w->V[p->seg], one, none);
        const snw_wrench db = wheel_wrench_variation(&x, at, &w->V[p->seg], none, one);
        for (int i = 0; i < 6; i++) A[6 * i + j] = da.e[i], B[6 * i + j] = db.e[i];
    }
}
