// SPDX-License-Identifier: MIT
//
// Length, forces and derivatives of a straight segment of a tendon, from poses and body Jacobians
// of its end segments.

#include "dynamics/tendon_segment.h"

// velocity of a segment's origin, world axes
static snw_vec3 origin_velocity(const snw_work *w, int s) {
    return snw_rotate(w->g[s].R, w->V[s].v);
}

// its acceleration, world axes; gravity cancels in differences
static snw_vec3 origin_acceleration(const snw_work *w, int s) {
    return snw_rotate(w->g[s].R, snw_add(w->A[s].v, snw_cross(w->V[s].w, w->V[s].v)));
}

void snw_tendon_segment_motion(const snw_tendon_segment *p, const snw_work *w,
                               snw_tendon_point_work *out) {
    const snw_vec3 d = snw_sub(w->g[p->b].p, w->g[p->a].p);
    out->f = snw_norm(d);
    out->n = snw_scale(1 / out->f, d);
    out->df = w->is_static
                  ? 0
                  : snw_dot(out->n, snw_sub(origin_velocity(w, p->b), origin_velocity(w, p->a)));
}

double snw_tendon_segment_d2(const snw_tendon_segment *p, const snw_work *w,
                             const snw_tendon_point_work *at) {
    const snw_vec3 v = snw_sub(origin_velocity(w, p->b), origin_velocity(w, p->a));
    const snw_vec3 a = snw_sub(origin_acceleration(w, p->b), origin_acceleration(w, p->a));
    return snw_dot(at->n, a) + (snw_dot(v, v) - at->df * at->df) / at->f;
}

void snw_tendon_segment_add(const snw_tendon_segment *p, const snw_tendon_point_work *at,
                            double tension, snw_work *w) {
    const snw_vec3 pull = snw_scale(tension, at->n); // force on a; opposite on b
    w->F[p->a].f = snw_sub(w->F[p->a].f, snw_rotate_inv(w->g[p->a].R, pull));
    w->F[p->b].f = snw_add(w->F[p->b].f, snw_rotate_inv(w->g[p->b].R, pull));
}

// ---- derivatives ------------------------------------------------------------

// One end: its body Jacobian, and the indices of its columns among the tendon's coordinates.
typedef struct segment_end {
    int seg, n, ld;
    const int *at;
    const double *J, *dJ;
    double sign; // of its position in p_b - p_a
} segment_end;

static segment_end tendon_segment_end_of(const snw_model *m, const snw_work *w, int seg,
                                         const int *at, double sign) {
    const snw_path *path = &m->path[m->seg[seg].path];
    return (segment_end){.seg = seg,
                         .n = path->n,
                         .ld = path->ld,
                         .at = at,
                         .J = w->J + m->seg_store[seg],
                         .dJ = w->dJ + m->seg_store[seg],
                         .sign = sign};
}

static snw_twist tendon_segment_column(const double *J, int ld, int j) {
    snw_twist x;
    for (int i = 0; i < 6; i++) x.e[i] = J[i * ld + j];
    return x;
}

// variation of the origin by coordinate j, world axes
static snw_vec3 tendon_segment_displacement(const snw_work *w, const segment_end *e, int j) {
    return snw_rotate(w->g[e->seg].R, tendon_segment_column(e->J, e->ld, j).v);
}

// variation of its velocity with q: d(R v) = R (dv + z x v), dv of dV = J' + ad_V J
static snw_vec3 velocity_variation(const snw_work *w, const segment_end *e, int j) {
    const snw_twist x = tendon_segment_column(e->J, e->ld, j), V = w->V[e->seg];
    const snw_twist dV = snw_twist_add(tendon_segment_column(e->dJ, e->ld, j), snw_ad(V, x));
    return snw_rotate(w->g[e->seg].R, snw_add(dV.v, snw_cross(x.w, V.v)));
}

// to += g . d(p_b - p_a)/dq
static void tendon_segment_scatter(const snw_model *m, const snw_tendon_segment *p,
                                   const snw_work *w, snw_vec3 g, double *to) {
    const segment_end ends[2] = {tendon_segment_end_of(m, w, p->a, p->of_a, -1),
                                 tendon_segment_end_of(m, w, p->b, p->of_b, 1)};
    for (int k = 0; k < 2; k++) {
        const segment_end *e = &ends[k];
        for (int j = 0; j < e->n; j++)
            to[e->at[j]] += e->sign * snw_dot(g, tendon_segment_displacement(w, e, j));
    }
}

void snw_tendon_segment_jacobian(const snw_model *m, const snw_tendon_segment *p, const snw_work *w,
                                 const snw_tendon_point_work *at, double factor, double *to) {
    tendon_segment_scatter(m, p, w, snw_scale(factor, at->n), to);
}

void snw_tendon_segment_direction_jacobian(const snw_model *m, const snw_tendon_segment *p,
                                           const snw_work *w, const snw_tendon_point_work *at,
                                           snw_vec3 g, double *to) {
    const snw_vec3 across = snw_sub(g, snw_scale(snw_dot(at->n, g), at->n));
    tendon_segment_scatter(m, p, w, snw_scale(1 / at->f, across), to);
}

// rate = n . v, v the difference of velocities; n varies by (1 - n n') dp/f
void snw_tendon_segment_rate_jacobian(const snw_model *m, const snw_tendon_segment *p,
                                      const snw_work *w, const snw_tendon_point_work *at,
                                      double factor, double *to) {
    const segment_end ends[2] = {tendon_segment_end_of(m, w, p->a, p->of_a, -1),
                                 tendon_segment_end_of(m, w, p->b, p->of_b, 1)};
    const snw_vec3 v = snw_sub(origin_velocity(w, p->b), origin_velocity(w, p->a));
    const snw_vec3 across = snw_scale(1 / at->f, snw_sub(v, snw_scale(at->df, at->n)));
    for (int k = 0; k < 2; k++) {
        const segment_end *e = &ends[k];
        for (int j = 0; j < e->n; j++) {
            const double d = snw_dot(at->n, velocity_variation(w, e, j)) +
                             snw_dot(across, tendon_segment_displacement(w, e, j));
            to[e->at[j]] += factor * e->sign * d;
        }
    }
}

// Per unit tension the force on b is -R_b' n in its own frame and varies by -R_b'(dn - w_b x n),
// w_b the rotation of b in world axes; that on a is R_a' n. Subtracted from r they give p_b.(dn -
// w_b x n) - p_a.(dn - w_a x n), p the displacement columns of the ends.
void snw_tendon_segment_curvature(const snw_model *m, const snw_tendon *x,
                                  const snw_tendon_segment *p, const snw_work *w,
                                  const snw_tendon_point_work *at, double f, snw_matrix T) {
    const segment_end ends[2] = {tendon_segment_end_of(m, w, p->a, p->of_a, -1),
                                 tendon_segment_end_of(m, w, p->b, p->of_b, 1)};
    for (int c = 0; c < 2; c++) {
        const segment_end *of = &ends[c];
        for (int j = 0; j < of->n; j++) {
            const snw_vec3 displacement =
                snw_scale(of->sign, tendon_segment_displacement(w, of, j));
            const snw_vec3 dn = snw_scale(
                1 / at->f, snw_sub(displacement, snw_scale(snw_dot(at->n, displacement), at->n)));
            const snw_vec3 turn =
                snw_rotate(w->g[of->seg].R, tendon_segment_column(of->J, of->ld, j).w);
            snw_column_entries to = snw_matrix_column(T, x->dof[of->at[j]]);
            for (int r = 0; r < 2; r++) {
                const segment_end *row = &ends[r];
                snw_vec3 force = dn; // variation of the force on the row's end
                if (r == c) force = snw_sub(force, snw_cross(turn, at->n));
                for (int i = 0; i < row->n; i++) {
                    *snw_column_at(&to, x->dof[row->at[i]]) +=
                        f * row->sign * snw_dot(tendon_segment_displacement(w, row, i), force);
                }
            }
        }
    }
}
