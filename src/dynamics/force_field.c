// SPDX-License-Identifier: MIT
//
// Magnetic fields and fields of force at points of segments: wrenches, their derivatives, energy
// and power, theory.md 3.21.
#include "dynamics/force_field.h"

#include "model/place_law.h"

#include <string.h>

// mu_0/(4 pi), T m/A, with mu_0 = 4e-7 pi.
static const double DIPOLE_CONSTANT = 1e-7;

// A magnetic field at a place for the moment m: B, its gradient dB_i/dx_j, and the second
// derivatives of m.B; world axes.
typedef struct magnetic_field {
    snw_vec3 B;
    snw_mat3 G, H;
} magnetic_field;

static snw_field_place place_of(const snw_model *m, const snw_work *w,
                                const snw_force_field_point *p) {
    return (snw_field_place){.t = w->force_field_time[0],
                             .g = w->g[p->seg],
                             .carrier = w->g[m->force_field[p->field].carrier]};
}

static snw_vec3 field_place(const snw_force_field_point *p, const snw_field_place *at) {
    return snw_se3_point(at->g, p->centre);
}

static snw_vec3 transposed_times(const snw_mat3 *A, snw_vec3 x) { return snw_rotate_inv(*A, x); }

// R' A R
static snw_mat3 in_body_axes(snw_mat3 R, snw_mat3 A) {
    return snw_mat3_mul(snw_mat3_transpose(R), snw_mat3_mul(A, R));
}

// ---- magnetic fields ---------------------------------------------------------------------------

// Field of the dipole a at r from it. With u = 1/|r|: B = k (3 (a.r) r u^5 - a u^3).
static void dipole_field(snw_vec3 a, snw_vec3 r, snw_vec3 m, magnetic_field *out) {
    const double uu = 1 / snw_dot(r, r), u3 = DIPOLE_CONSTANT * uu * sqrt(uu), u5 = 3 * u3 * uu;
    const double ar = snw_dot(a, r), mr = snw_dot(m, r), am = snw_dot(a, m);
    const snw_mat3 one = snw_mat3_identity(), rr = snw_outer(r, r);
    out->B = snw_sub(snw_scale(u5 * ar, r), snw_scale(u3, a));
    out->G = snw_mat3_add(snw_outer(a, r), snw_outer(r, a));
    out->G = snw_mat3_add(out->G, snw_mat3_scale(ar, one));
    out->G = snw_mat3_scale(u5, snw_mat3_add(out->G, snw_mat3_scale(-5 * ar * uu, rr)));
    const snw_vec3 s = snw_add(snw_scale(mr, a), snw_scale(ar, m));
    const snw_mat3 ends = snw_mat3_add(snw_outer(a, m), snw_outer(m, a)),
                   mixed = snw_mat3_add(snw_outer(s, r), snw_outer(r, s));
    out->H = snw_mat3_add(ends, snw_mat3_scale(am - 5 * ar * mr * uu, one));
    out->H = snw_mat3_add(out->H, snw_mat3_scale(-5 * uu, mixed));
    out->H = snw_mat3_add(out->H, snw_mat3_scale(5 * uu * (7 * ar * mr * uu - am), rr));
    out->H = snw_mat3_scale(u5, out->H);
}

// Moment of a dipole, world axes; or its rate.
static snw_vec3 dipole_moment(const snw_force_field *f, const snw_field_place *at, bool rate) {
    snw_vec3 a = {{0}};
    for (int i = 0; i < 3; i++) {
        if (!f->law[i]) continue;
        const snw_jet j = snw_expr_jet_t(f->law[i], (snw_at){.t = at->t});
        a.e[i] = rate ? j.d : j.v;
    }
    return snw_rotate(at->carrier.R, a);
}

// order: 1 for B and G, 2 for H too
static void magnetic_at(const snw_force_field *f, const snw_force_field_point *p,
                        const snw_field_place *at, int order, magnetic_field *out) {
    const snw_vec3 place = field_place(p, at), moment = snw_rotate(at->g.R, p->moment);
    *out = (magnetic_field){0};
    if (f->kind == SNW_FORCE_FIELD_DIPOLE) {
        dipole_field(dipole_moment(f, at, false), snw_sub(place, at->carrier.p), moment, out);
        return;
    }
    for (int i = 0; i < 3; i++) {
        snw_place_jet j;
        snw_place_law_at(f->law[i], at->t, place, order, &j);
        out->B.e[i] = j.v;
        for (int k = 0; k < 3; k++) out->G.e[i][k] = j.d1.e[k];
        out->H = snw_mat3_add(out->H, snw_mat3_scale(moment.e[i], j.d2));
    }
}

// Fraction and factor of a field.
static double field_scale(const snw_work *w, int field) {
    return w->force_field_time[1] * w->force_field_time[2 + field];
}

static bool is_magnetic(const snw_force_field *f) {
    return f->kind == SNW_FORCE_FIELD_MAGNETIC || f->kind == SNW_FORCE_FIELD_DIPOLE;
}

// ---- fields of force ---------------------------------------------------------------------------

// f <- force at the point, world axes; K <- its derivative by the place (NULL: not wanted)
static void force_at(const snw_force_field *field, const snw_force_field_point *p,
                     const snw_field_place *at, snw_vec3 *f, snw_mat3 *K) {
    const snw_vec3 place = field_place(p, at);
    snw_place_jet j;
    if (field->kind == SNW_FORCE_FIELD_POTENTIAL) {
        snw_place_law_at(field->law[0], at->t, place, K ? 2 : 1, &j);
        *f = snw_scale(-p->w, j.d1);
        if (K) *K = snw_mat3_scale(-p->w, j.d2);
        return;
    }
    for (int i = 0; i < 3; i++) {
        snw_place_law_at(field->law[i], at->t, place, K ? 1 : 0, &j);
        f->e[i] = p->w * j.v;
        for (int k = 0; K && k < 3; k++) K->e[i][k] = p->w * j.d1.e[k];
    }
}

// ---- values ------------------------------------------------------------------------------------

snw_vec3 snw_force_field_at_place(const snw_model *m, const snw_work *w, int i, snw_vec3 place) {
    const snw_force_field *f = &m->force_field[i];
    const double scale = field_scale(w, i);
    snw_vec3 value = {{0}};
    snw_place_jet j;
    if (!snw_is_active(w, f->condition) || !snw_seg_is_active(m, w, f->carrier)) return value;
    if (f->kind == SNW_FORCE_FIELD_DIPOLE) {
        magnetic_field at;
        const snw_field_place seen = {.t = w->force_field_time[0], .carrier = w->g[f->carrier]};
        dipole_field(dipole_moment(f, &seen, false), snw_sub(place, seen.carrier.p), value, &at);
        return snw_scale(scale, at.B);
    }
    if (f->kind == SNW_FORCE_FIELD_POTENTIAL) {
        snw_place_law_at(f->law[0], w->force_field_time[0], place, 1, &j);
        return snw_scale(-scale, j.d1);
    }
    for (int k = 0; k < 3; k++) {
        snw_place_law_at(f->law[k], w->force_field_time[0], place, 0, &j);
        value.e[k] = scale * j.v;
    }
    return value;
}

snw_vec3 snw_force_field_value(const snw_model *m, const snw_work *w, int k) {
    const snw_force_field_point *p = &m->force_field_point[k];
    if (!w->force_field[k].acts) return (snw_vec3){{0}};
    const snw_field_place at = place_of(m, w, p);
    return snw_force_field_at_place(m, w, p->field, field_place(p, &at));
}

// ---- wrenches ----------------------------------------------------------------------------------

snw_wrench snw_force_field_wrench(const snw_force_field *f, const snw_force_field_point *p,
                                  const snw_field_place *at) {
    const snw_mat3 R = at->g.R;
    snw_wrench F = {0};
    if (is_magnetic(f)) {
        magnetic_field B;
        magnetic_at(f, p, at, 1, &B);
        F.m = snw_cross(p->moment, snw_rotate_inv(R, B.B));
        F.f = snw_rotate_inv(R, transposed_times(&B.G, snw_rotate(R, p->moment)));
    } else {
        snw_vec3 force;
        force_at(f, p, at, &force, NULL);
        F.f = snw_rotate_inv(R, force);
    }
    F.m = snw_add(F.m, snw_cross(p->centre, F.f));
    return F;
}

// Pose of the segment of a point in the frame of its dipole.
static snw_se3 from_carrier(const snw_model *m, const snw_work *w, const snw_force_field_point *p) {
    return snw_se3_mul(snw_se3_inv(w->g[m->force_field[p->field].carrier]), w->g[p->seg]);
}

void snw_force_fields_motion(const snw_model *m, const snw_inputs *in, snw_work *w) {
    w->force_field_time[0] = in->force_field[0];
    w->force_field_time[1] = in->inertia_only ? 0 : in->force_field[1];
    for (int i = 0; i < m->nforce_field; i++) w->force_field_time[2 + i] = in->force_field[2 + i];
    for (int k = 0; k < m->nforce_field_point; k++) {
        const snw_force_field_point *p = &m->force_field_point[k];
        const snw_force_field *f = &m->force_field[p->field];
        snw_force_field_work *at = &w->force_field[k];
        *at = (snw_force_field_work){0};
        at->acts = w->force_field_time[1] != 0 && snw_is_active(w, f->condition) &&
                   snw_seg_is_active(m, w, p->seg) && snw_seg_is_active(m, w, f->carrier);
        if (!at->acts) continue;
        const snw_field_place place = place_of(m, w, p);
        at->on[0] =
            snw_wrench_scale(field_scale(w, p->field), snw_force_field_wrench(f, p, &place));
        if (f->carrier)
            at->on[1] =
                snw_wrench_scale(-1, snw_wrench_to_parent(from_carrier(m, w, p), at->on[0]));
    }
}

void snw_force_fields_add(const snw_model *m, snw_work *w) {
    for (int k = 0; k < m->nforce_field_point; k++) {
        const snw_force_field_point *p = &m->force_field_point[k];
        const snw_force_field_work *at = &w->force_field[k];
        const int carrier = m->force_field[p->field].carrier;
        if (!at->acts) continue;
        w->F[p->seg] = snw_wrench_sub(w->F[p->seg], at->on[0]);
        if (carrier) w->F[carrier] = snw_wrench_sub(w->F[carrier], at->on[1]);
    }
}

// ---- derivatives -------------------------------------------------------------------------------

static void put_block(const snw_mat3 *B, double scale, double A[36], int row, int column) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) A[6 * (row + i) + column + j] = scale * B->e[i][j];
    }
}

// The wrench (mu, f) about the centre c varies by [X Y; Z W] with rotation and displacement there.
// About the origin of the segment the moment is mu + c x f, and the displacement of the centre that
// of the origin less c x rotation.
void snw_force_field_derivative(const snw_force_field *f, const snw_force_field_point *p,
                                const snw_field_place *place, double scale, double A[36]) {
    const snw_mat3 R = place->g.R, c = snw_hat(p->centre);
    snw_mat3 X = {0}, Y = {0}, Z, W;
    if (is_magnetic(f)) {
        magnetic_field at;
        magnetic_at(f, p, place, 2, &at);
        const snw_mat3 G = in_body_axes(R, at.G), moment = snw_hat(p->moment),
                       Gt = snw_mat3_transpose(G);
        X = snw_mat3_mul(moment, snw_hat(snw_rotate_inv(R, at.B)));
        Y = snw_mat3_mul(moment, G);
        Z = snw_mat3_add(snw_hat(snw_rotate(Gt, p->moment)),
                         snw_mat3_scale(-1, snw_mat3_mul(Gt, moment)));
        W = in_body_axes(R, at.H);
    } else {
        snw_vec3 force;
        snw_mat3 K;
        force_at(f, p, place, &force, &K);
        Z = snw_hat(snw_rotate_inv(R, force));
        W = in_body_axes(R, K);
    }
    X = snw_mat3_add(X, snw_mat3_mul(c, Z));
    Y = snw_mat3_add(Y, snw_mat3_mul(c, W));
    X = snw_mat3_add(X, snw_mat3_scale(-1, snw_mat3_mul(Y, c)));
    Z = snw_mat3_add(Z, snw_mat3_scale(-1, snw_mat3_mul(W, c)));
    put_block(&X, scale, A, 0, 0);
    put_block(&Y, scale, A, 0, 3);
    put_block(&Z, scale, A, 3, 0);
    put_block(&W, scale, A, 3, 3);
}

bool snw_force_field_jacobian(const snw_model *m, const snw_work *w, int k, double A[36]) {
    const snw_force_field_point *p = &m->force_field_point[k];
    if (!w->force_field[k].acts) return false;
    const snw_field_place place = place_of(m, w, p);
    snw_force_field_derivative(&m->force_field[p->field], p, &place, field_scale(w, p->field), A);
    return true;
}

// column[dof] -= J' d of a segment
static void field_scatter(const snw_model *m, const snw_work *w, int seg, snw_wrench d,
                          snw_column_entries *column) {
    const snw_path *path = &m->path[m->seg[seg].path];
    const double *J = w->J + m->seg_store[seg];
    for (int i = 0; i < path->n; i++) {
        double sum = 0;
        for (int c = 0; c < 6; c++) sum += J[c * path->ld + i] * d.e[c];
        *snw_column_at(column, path->dof[i]) -= sum;
    }
}

// The wrench on the segment depends on its pose h in the frame of the dipole alone, which varies by
// delta = zeta - Ad(h^-1) zeta_c; that on the carrier is the opposite one, seen from there.
void snw_force_field_pairs_tangent(const snw_model *m, double cq, const snw_work *w, snw_matrix T) {
    for (int k = 0; k < m->nforce_field_point; k++) {
        const snw_force_field_point *p = &m->force_field_point[k];
        const snw_force_field *f = &m->force_field[p->field];
        double A[36];
        if (!f->coupled || !snw_force_field_jacobian(m, w, k, A)) continue;
        const snw_se3 h = from_carrier(m, w, p);
        const int end[2] = {p->seg, f->carrier};
        for (int e = 0; e < 2; e++) {
            const snw_path *path = &m->path[m->seg[end[e]].path];
            const double *J = w->J + m->seg_store[end[e]];
            for (int j = 0; j < path->n; j++) {
                snw_twist x;
                snw_wrench d = {0};
                for (int i = 0; i < 6; i++) x.e[i] = cq * J[i * path->ld + j];
                const snw_twist delta = e ? snw_twist_scale(-1, snw_twist_to_child(h, x)) : x;
                for (int i = 0; i < 36; i++) d.e[i / 6] += A[i] * delta.e[i % 6];
                const snw_wrench seen =
                    snw_wrench_sub(d, snw_ad_pull(delta, w->force_field[k].on[0]));
                snw_column_entries column = snw_matrix_column(T, path->dof[j]);
                field_scatter(m, w, p->seg, d, &column);
                field_scatter(m, w, f->carrier, snw_wrench_scale(-1, snw_wrench_to_parent(h, seen)),
                              &column);
            }
        }
    }
}

// ---- energy ------------------------------------------------------------------------------------

double snw_force_field_potential(const snw_force_field *f, const snw_force_field_point *p,
                                 const snw_field_place *at) {
    if (!f->has_energy) return 0;
    if (is_magnetic(f)) {
        magnetic_field B;
        magnetic_at(f, p, at, 1, &B);
        return -snw_dot(snw_rotate(at->g.R, p->moment), B.B);
    }
    if (f->kind == SNW_FORCE_FIELD_POTENTIAL) {
        snw_place_jet j;
        snw_place_law_at(f->law[0], at->t, field_place(p, at), 0, &j);
        return p->w * j.v;
    }
    return p->w * snw_place_potential(f->law, at->t, field_place(p, at));
}

double snw_force_field_energy(const snw_model *m, const snw_work *w, int k) {
    const snw_force_field_point *p = &m->force_field_point[k];
    if (!w->force_field[k].acts) return 0;
    const snw_field_place place = place_of(m, w, p);
    return field_scale(w, p->field) *
           snw_force_field_potential(&m->force_field[p->field], p, &place);
}

double snw_force_fields_energy(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->nforce_field_point; k++) sum += snw_force_field_energy(m, w, k);
    return sum;
}

// Power of the wrenches at a point on the motion of its segment and of the carrier.
static double point_power(const snw_model *m, const snw_work *w, int k) {
    const snw_force_field_point *p = &m->force_field_point[k];
    const snw_force_field_work *at = &w->force_field[k];
    return snw_power(at->on[0], w->V[p->seg]) +
           snw_power(at->on[1], w->V[m->force_field[p->field].carrier]);
}

double snw_force_field_potential_rate(const snw_force_field *f, const snw_force_field_point *p,
                                      const snw_field_place *at) {
    const snw_vec3 place = field_place(p, at), moment = snw_rotate(at->g.R, p->moment);
    double sum = 0;
    if (!f->has_energy || !f->varies) return 0;
    switch (f->kind) {
    case SNW_FORCE_FIELD_MAGNETIC:
        for (int i = 0; i < 3; i++)
            sum -= moment.e[i] * snw_place_law_rate(f->law[i], at->t, place);
        return sum;
    case SNW_FORCE_FIELD_DIPOLE: {
        magnetic_field B;
        dipole_field(dipole_moment(f, at, true), snw_sub(place, at->carrier.p), moment, &B);
        return -snw_dot(moment, B.B);
    }
    case SNW_FORCE_FIELD_POTENTIAL:
        return p->w * snw_place_law_rate(f->law[0], at->t, place);
    case SNW_FORCE_FIELD_FORCE:
    case SNW_FORCE_FIELD_ACCELERATION:
        return p->w * snw_place_potential_rate(f->law, at->t, place);
    case SNW_FORCE_FIELD_KINDS:
        break;
    }
    return 0;
}

// Rate at which laws of t change the potential energy at point k.
static double law_power(const snw_model *m, const snw_work *w, int k) {
    const snw_force_field_point *p = &m->force_field_point[k];
    if (!w->force_field[k].acts) return 0;
    const snw_field_place place = place_of(m, w, p);
    return field_scale(w, p->field) *
           snw_force_field_potential_rate(&m->force_field[p->field], p, &place);
}

double snw_force_fields_energy_rate(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->nforce_field_point; k++) {
        if (!m->force_field[m->force_field_point[k].field].has_energy) continue;
        sum += law_power(m, w, k) - point_power(m, w, k);
    }
    return sum;
}

double snw_force_fields_power(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->nforce_field_point; k++) {
        const bool has_energy = m->force_field[m->force_field_point[k].field].has_energy;
        sum += has_energy ? law_power(m, w, k) : point_power(m, w, k);
    }
    return sum;
}
