// SPDX-License-Identifier: MIT
//
// Contact at the smallest gap of a piece of rod, theory.md (3.13.15) to (3.13.18). All vectors of
// this file are in the axes of the obstacle unless a comment says otherwise.
#include "dynamics/contact_span.h"

#include "dynamics/contact_law.h"

#include <math.h>

// The piece at one place: weights of both nodes for places, directions and rotations, with their
// derivatives in arc length; centreline, radius, distance, and the derivatives of the gap.
typedef struct span {
    snw_se3 G[2];  // poses of the nodes
    snw_vec3 t[2]; // directions of the rod there
    double h[2], m[2], w[2], h1[2], m1[2], w1[2];
    snw_vec3 p, p1, p2;
    double r, r1, gap;
    snw_vec3 n;
    snw_mat3 H;
    double slope, curvature; // of the gap along the rod
} span;

static snw_vec3 blend(const double a[2], const snw_vec3 x[2], const double b[2],
                      const snw_vec3 y[2]) {
    return snw_add(snw_add(snw_scale(a[0], x[0]), snw_scale(a[1], x[1])),
                   snw_add(snw_scale(b[0], y[0]), snw_scale(b[1], y[1])));
}

static double blend_radius(const double a[2], const double b[2], const snw_contact_point *p) {
    return a[0] * p->end_radius[0] + a[1] * p->end_radius[1] + b[0] * p->end_slope[0] +
           b[1] * p->end_slope[1];
}

static void span_nodes(const snw_contact *c, const snw_contact_point *p, const snw_work *w,
                       span *s) {
    const snw_se3 in_obstacle = snw_se3_inv(w->g[c->seg]);
    const int node[2] = {p->from, p->seg};
    for (int k = 0; k < 2; k++) {
        s->G[k] = snw_se3_mul(in_obstacle, w->g[node[k]]);
        s->t[k] = (snw_vec3){{s->G[k].R.e[0][0], s->G[k].R.e[1][0], s->G[k].R.e[2][0]}};
    }
}

// s <- at the fraction x of the piece
static void span_place(const snw_contact *c, const snw_contact_point *p, double x, span *s) {
    const double l = p->span, y = 1 - x;
    const double h2[2] = {(12 * x - 6) / (l * l), (6 - 12 * x) / (l * l)};
    const double m2[2] = {(6 * x - 4) / l, (6 * x - 2) / l};
    s->h[0] = (1 + 2 * x) * y * y, s->h[1] = x * x * (3 - 2 * x);
    s->h1[0] = -6 * x * y / l, s->h1[1] = 6 * x * y / l;
    s->m[0] = l * x * y * y, s->m[1] = -l * x * x * y;
    s->m1[0] = y * (1 - 3 * x), s->m1[1] = x * (3 * x - 2);
    s->w[0] = y, s->w[1] = x;
    s->w1[0] = -1 / l, s->w1[1] = 1 / l;
    const snw_vec3 node[2] = {s->G[0].p, s->G[1].p};
    s->p = blend(s->h, node, s->m, s->t);
    s->p1 = blend(s->h1, node, s->m1, s->t);
    s->p2 = blend(h2, node, m2, s->t);
    s->r = blend_radius(s->h, s->m, p);
    s->r1 = blend_radius(s->h1, s->m1, p);
    s->gap = snw_obstacle_distance(&c->obstacle, s->p, &s->n, &s->H) - s->r;
    s->slope = snw_dot(s->n, s->p1) - s->r1;
    s->curvature =
        snw_dot(s->n, s->p2) + snw_dot(s->p1, snw_rotate(s->H, s->p1)) - blend_radius(h2, m2, p);
}

// Place of the smallest gap: a zero of its slope, by Newton's method within the bracket, or an end.
static double span_search(const snw_contact *c, const snw_contact_point *p, span *s) {
    enum { SEARCH = 60, FINISH = 2 };
    static const double NEAR = 1e-8; // Newton's method then squares it
    double low = 0, high = 1;
    span_place(c, p, 1, s);
    const double end_slope = s->slope, end_gap = s->gap;
    span_place(c, p, 0, s);
    const snw_mask between = (s->slope < 0) & (end_slope > 0),
                   at_start = (s->slope >= 0) & ((end_slope >= 0) | (s->gap <= end_gap));
    double x = snw_select(between, -s->slope / (end_slope - s->slope), snw_select(at_start, 0, 1));
    snw_mask searched = between;
    double near = 0;
    for (int k = 0; k < SEARCH && snw_any(searched); k++) {
        span_place(c, p, x, s);
        low = snw_select(s->slope < 0, x, low);
        high = snw_select(s->slope < 0, high, x);
        double next = x - s->slope / (p->span * s->curvature);
        const snw_mask inside = (s->curvature > 0) & (next > low) & (next < high);
        next = snw_select((near == 0) & !inside, 0.5 * (low + high), next);
        near = snw_select(fabs(next - x) < NEAR, near + 1, 0);
        x = snw_select(searched, next, x);
        searched = searched & (near < FINISH);
    }
    return x;
}

// The place near `held` where the slope is zero, also beyond the nodes
static double span_follow(const snw_contact *c, const snw_contact_point *p, double held, span *s) {
    enum { FOLLOW = 20, FINISH = 2 };
    static const double NEAR = 1e-8;
    double x = held, near = 0;
    snw_mask followed = (held > 0) & (held < 1);
    for (int k = 0; k < FOLLOW && snw_any(followed); k++) {
        span_place(c, p, x, s);
        const double change = s->slope / (p->span * s->curvature);
        near = snw_select(fabs(change) < NEAR, near + 1, 0);
        x = snw_select(followed, x - change, x);
        followed = followed & (near < FINISH);
    }
    return x;
}

void snw_contact_span_gap(const snw_contact *c, const snw_contact_point *p, const snw_work *w,
                          double held, snw_contact_point_work *at) {
    span s;
    span_nodes(c, p, w, &s);
    at->place = snw_all(isnan(held)) ? span_search(c, p, &s) : span_follow(c, p, held, &s);
    span_place(c, p, at->place, &s);
    at->slope = s.slope;
    at->free = (at->place > 0) & (at->place < 1) & (s.curvature > 0);
    at->gap = s.gap;
    const snw_se3 *G = &s.G[1];
    at->d = snw_rotate_inv(G->R, s.n);
    at->axis = snw_rotate_inv(G->R, snw_scale(1 / snw_norm(s.p1), s.p1));
    at->s = snw_rotate_inv(G->R, snw_sub(snw_sub(s.p, snw_scale(s.r, s.n)), G->p));
}

snw_mask snw_contact_span_is_minimum(const snw_contact_point *p, const snw_contact_point_work *at) {
    const snw_mask begins = snw_mask_from(p->ends_rod[0]), ends = snw_mask_from(p->ends_rod[1]),
                   beyond = at->place > 0;
    return (beyond & ((at->place < 1) | ends)) | ((!beyond) & (begins | (at->slope == 0)));
}

// velocities of both nodes relative to the obstacle, own axes
static void span_twists(const snw_contact *c, const snw_contact_point *p, const snw_work *w,
                        const span *s, snw_twist carried[2], snw_twist V[2]) {
    const int node[2] = {p->from, p->seg};
    for (int k = 0; k < 2; k++) {
        carried[k] = snw_twist_to_child(s->G[k], w->V[c->seg]);
        V[k] = snw_twist_sub(w->V[node[k]], carried[k]);
    }
}

// velocity of the material at the touching point
static snw_vec3 span_velocity(const span *s, const snw_twist V[2]) {
    const snw_vec3 lever = snw_scale(-s->r, s->n);
    snw_vec3 v = {{0}};
    for (int k = 0; k < 2; k++) {
        const snw_vec3 u = snw_rotate(s->G[k].R, V[k].v), o = snw_rotate(s->G[k].R, V[k].w);
        const snw_vec3 arm = snw_add(snw_scale(s->m[k], s->t[k]), snw_scale(s->w[k], lever));
        v = snw_add(v, snw_add(snw_scale(s->h[k], u), snw_cross(o, arm)));
    }
    return v;
}

snw_vec3 snw_contact_span_velocity(const snw_contact *c, const snw_contact_point *p,
                                   const snw_contact_point_work *at, const snw_work *w) {
    span s;
    snw_twist carried[2], V[2];
    span_nodes(c, p, w, &s);
    span_place(c, p, at->place, &s);
    span_twists(c, p, w, &s, carried, V);
    return snw_rotate_inv(s.G[1].R, span_velocity(&s, V));
}

void snw_contact_span_wrenches(const snw_contact *c, const snw_contact_point *p,
                               const snw_contact_point_work *at, const snw_work *w, snw_vec3 f,
                               snw_wrench F[SNW_SPAN_NODES]) {
    span s;
    span_nodes(c, p, w, &s);
    span_place(c, p, at->place, &s);
    const snw_vec3 force = snw_rotate(s.G[1].R, f), lever = snw_scale(-s.r, s.n);
    for (int k = 0; k < 2; k++) {
        const snw_vec3 arm = snw_add(snw_scale(s.m[k], s.t[k]), snw_scale(s.w[k], lever));
        F[k].f = snw_rotate_inv(s.G[k].R, snw_scale(s.h[k], force));
        F[k].m = snw_rotate_inv(s.G[k].R, snw_cross(arm, force));
    }
}

// ---- derivatives --------------------------------------------------------------------------------

// The contact in the axes of the obstacle, as the law and its variation need it.
typedef struct span_contact {
    const snw_contact *c;
    bool is_static;
    span s;
    snw_contact_point_work at;
    snw_mask free;
    bool given;
    snw_twist carried[2], V[2];
} span_contact;

// dF <- variations of the wrenches on the nodes with those of their poses and velocities
static void span_variation(const span_contact *x, const snw_twist zeta[2], const snw_twist dV[2],
                           snw_wrench dF[2]) {
    const span *s = &x->s;
    const snw_vec3 lever = snw_scale(-s->r, s->n), f = x->at.f;
    snw_vec3 dP[2], turn[2], dt[2];
    for (int k = 0; k < 2; k++) {
        dP[k] = snw_rotate(s->G[k].R, zeta[k].v);
        turn[k] = snw_rotate(s->G[k].R, zeta[k].w);
        dt[k] = snw_cross(turn[k], s->t[k]);
    }
    // at a given place, then with the shift dx of the place
    const snw_vec3 dp = blend(s->h, dP, s->m, dt), dp1 = blend(s->h1, dP, s->m1, dt);
    const double shift = -(snw_dot(s->n, dp1) + snw_dot(s->p1, snw_rotate(s->H, dp)));
    const double dx = snw_select(x->free, shift / s->curvature, 0);
    const snw_vec3 dn = snw_rotate(s->H, snw_add(dp, snw_scale(dx, s->p1)));
    const snw_vec3 dlever = snw_sub(snw_scale(-s->r1 * dx, s->n), snw_scale(s->r, dn));
    const snw_vec3 axis = x->at.axis,
                   more = snw_scale(1 / snw_norm(s->p1), snw_add(dp1, snw_scale(dx, s->p2)));
    snw_contact_variation by = {.gap = snw_dot(s->n, dp),
                                .d = dn,
                                .axis = snw_sub(more, snw_scale(snw_dot(axis, more), axis))};
    snw_vec3 arm[2], darm[2];
    for (int k = 0; k < 2; k++) {
        arm[k] = snw_add(snw_scale(s->m[k], s->t[k]), snw_scale(s->w[k], lever));
        darm[k] = snw_add(snw_scale(s->m1[k] * dx, s->t[k]), snw_scale(s->m[k], dt[k]));
        darm[k] =
            snw_add(darm[k], snw_add(snw_scale(s->w1[k] * dx, lever), snw_scale(s->w[k], dlever)));
        if (x->is_static) continue;
        const snw_vec3 u = snw_rotate(s->G[k].R, x->V[k].v), o = snw_rotate(s->G[k].R, x->V[k].w);
        const snw_vec3 du = snw_add(snw_cross(turn[k], u), snw_rotate(s->G[k].R, dV[k].v));
        const snw_vec3 dturn = snw_add(snw_cross(turn[k], o), snw_rotate(s->G[k].R, dV[k].w));
        by.v = snw_add(by.v, snw_add(snw_scale(s->h1[k] * dx, u), snw_scale(s->h[k], du)));
        by.v = snw_add(by.v, snw_add(snw_cross(dturn, arm[k]), snw_cross(o, darm[k])));
    }
    snw_vec3 df;
    if (x->given) {
        const snw_mat3 R = s->G[1].R; // y axis of the segment
        const snw_vec3 y = {{R.e[0][1], R.e[1][1], R.e[2][1]}};
        const snw_vec3 e = snw_contact_direction(&x->at, y);
        const snw_mask own = snw_dot(snw_sub(e, axis), snw_sub(e, axis)) > 0;
        const snw_vec3 de = snw_vec3_select(own, snw_cross(turn[1], e), by.axis);
        df = snw_contact_given_variation(s->n, e, f, dn, de);
    } else {
        df = snw_contact_law_variation(x->c, x->is_static, &x->at, &by);
    }
    for (int k = 0; k < 2; k++) {
        const snw_vec3 force = snw_scale(s->h[k], f), moment = snw_cross(arm[k], f);
        const snw_vec3 dforce = snw_add(snw_scale(s->h1[k] * dx, f), snw_scale(s->h[k], df));
        const snw_vec3 dmoment = snw_add(snw_cross(darm[k], f), snw_cross(arm[k], df));
        dF[k].f = snw_rotate_inv(s->G[k].R, snw_sub(dforce, snw_cross(turn[k], force)));
        dF[k].m = snw_rotate_inv(s->G[k].R, snw_sub(dmoment, snw_cross(turn[k], moment)));
    }
}

void snw_contact_span_jacobian(const snw_contact *c, const snw_contact_point *p,
                               const snw_contact_point_work *at, const snw_work *w, bool given,
                               double A[144], double B[144]) {
    const bool is_static = w->is_static || c->hard;
    span_contact x = {.c = c, .is_static = is_static, .at = *at, .free = at->free, .given = given};
    span_nodes(c, p, w, &x.s);
    span_place(c, p, at->place, &x.s);
    if (!is_static) span_twists(c, p, w, &x.s, x.carried, x.V);
    const snw_mat3 R = x.s.G[1].R;
    x.at.d = x.s.n;
    x.at.axis = snw_rotate(R, at->axis);
    x.at.v = snw_rotate(R, at->v);
    x.at.f = snw_rotate(R, at->f);
    for (int j = 0; j < 12; j++) {
        const snw_twist none[2] = {snw_twist_zero(), snw_twist_zero()};
        snw_twist one[2] = {none[0], none[0]}, turned[2] = {none[0], none[0]};
        snw_wrench a[2], b[2] = {snw_wrench_zero(), snw_wrench_zero()};
        one[j / 6].e[j % 6] = 1;
        // the twist of the obstacle, in the axes of a node, turns with the node
        if (!is_static) turned[j / 6] = snw_ad(one[j / 6], x.carried[j / 6]);
        span_variation(&x, one, turned, a);
        if (!is_static) span_variation(&x, none, one, b);
        for (int i = 0; i < 12; i++) {
            A[12 * i + j] = a[i / 6].e[i % 6];
            B[12 * i + j] = b[i / 6].e[i % 6];
        }
    }
}
