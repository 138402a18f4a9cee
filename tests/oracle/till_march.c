// SPDX-License-Identifier: MIT
//
// Equations along the rod in the form of Till 2019: Runge-Kutta on (p, h, n, m, q, w, z) with a
// quaternion h, p' = R v, h' =
// (-u.hv, h1 u + hv x u)/2. R(h) does not depend on the length of h, and h' is linear in h, so that
// a start with a unit quaternion at any node changes nothing.
//
// F is the wrench of rod, tendons and fluids together, and F' its derivative by field.h. With the
// part c(e, z, s) of tendons and fluids,
//   rod, chambers   n = R (F - c), so that n' = R (F' - c' + u x (F - c)), and likewise m, with
//                   c' = dc/ds + dc/dz z'
//   tendons         the strain e replaces n and m: F = K e + B e_t + c, so that
//                   e' = (K + c0 B + dc/de)^-1 (F' - B (e^h)' - dc/ds - dc/dz z');
//                   without stretch and shear it replaces m only, and n' is as above with
//                   c' = dc/ds + dc/dz z' + dc/de e'.

#include "oracle/till_march.h"

#include "base/fail.h"
#include "shoot/field.h"

#include <math.h>
#include <string.h>

typedef struct world {
    snw_vec3 p, n,
        m; // with tendons m is the angular elastic strain, n the linear one where it is active
    snw_quat h;
    snw_twist V;
    double z[SNW_SHOOT_Z];
} world;

enum { NUMBERS = sizeof(world) / sizeof(double) };

static snw_law_in law_input(const snw_shoot_rod *r, int point, snw_wrench F, const double *z) {
    return (snw_law_in){.point = point,
                        .c0 = r->formula.c[0],
                        .F = F,
                        .eh = r->history[point].e,
                        .z = z,
                        .zh = r->zh + (size_t)point * (size_t)snw_shoot_nz(r),
                        .section = r->uniform ? r->section : r->section + point};
}

// does the march integrate angular strains and, for lack of stretch and shear, the force?
static bool integrates_force(const snw_shoot_rod *r) {
    return snw_shoot_integrates_strain(r) && !r->active[3];
}

// With tendons the march needs all six strains, or the three angular ones, and a constant K, since
// the derivative of K e is taken as K e'.
static bool has_strain_form(const snw_shoot_rod *r) {
    bool angular = true, linear_alike = true;
    for (int i = 0; i < 3; i++) {
        angular = angular && r->active[i];
        linear_alike = linear_alike && r->active[3 + i] == r->active[3];
    }
    return angular && linear_alike && r->uniform;
}

// wrench of the law, and its derivative along the rod where strain and z have the derivatives es
// and zs (NULL: zero)
static snw_wrench law_wrench(const snw_shoot_rod *r, int point, snw_twist e, snw_twist es,
                             const double *z, const double *zs, snw_wrench *along) {
    snw_wrench W = snw_wrench_zero();
    *along = W;
    if (!r->law) return W;
    const snw_law_in in = law_input(r, point, W, z);
    r->law->wrench(r->law->user, &in, e, es, zs, &W, along);
    return W;
}

// K e + B e_t
static snw_wrench elastic(const snw_shoot_rod *r, int point, snw_twist e) {
    const double *K = r->K + (r->uniform ? 0 : 36 * (ptrdiff_t)point);
    const double *B = (r->uniform ? r->section : r->section + point)->B;
    const snw_twist et = snw_twist_axpy(r->formula.c[0], e, r->history[point].e);
    snw_wrench F = snw_wrench_zero();
    for (int i = 0; i < 36; i++) F.e[i / 6] += K[i] * e.e[i % 6] + B[i] * et.e[i % 6];
    return F;
}

static snw_twist till_strain(const snw_shoot_rod *r, const world *y) {
    snw_twist e = snw_twist_zero();
    e.w = y->m;
    if (!integrates_force(r)) e.v = y->n;
    return e;
}

static world to_world(const snw_shoot_rod *r, int point, const snw_shoot_state *b) {
    world y = {.p = b->g.p, .h = snw_quat_from_mat3(b->g.R), .V = b->V};
    memcpy(y.z, b->z, (size_t)snw_shoot_nz(r) * sizeof *y.z);
    snw_twist e = snw_twist_zero();
    if (snw_shoot_integrates_strain(r)) {
        const snw_law_in in = law_input(r, point, b->F, b->z);
        snw_law_out law;
        r->law->strain(r->law->user, &in, false, &law);
        e = law.e;
        y.n = e.v, y.m = e.w;
        if (!integrates_force(r)) return y;
    }
    snw_wrench along;
    const snw_wrench W = law_wrench(r, point, e, snw_twist_zero(), b->z, NULL, &along),
                     F = snw_wrench_sub(b->F, W);
    y.n = snw_rotate(b->g.R, F.f);
    if (!integrates_force(r)) y.m = snw_rotate(b->g.R, F.m);
    return y;
}

// *along: derivative of the wrench of the law, as above
static snw_shoot_state to_body(const snw_shoot_rod *r, int point, const world *y,
                               snw_wrench *along) {
    snw_shoot_state b = {.g = {snw_quat_to_mat3(y->h), y->p}, .V = y->V};
    memcpy(b.z, y->z, sizeof b.z);
    const snw_twist none = snw_twist_zero();
    snw_twist e = none;
    b.F.f = snw_rotate_inv(b.g.R, y->n);
    if (snw_shoot_integrates_strain(r)) {
        e = till_strain(r, y);
        const snw_wrench K = elastic(r, point, e);
        b.F.m = K.m;
        if (!integrates_force(r)) b.F.f = K.f;
    } else {
        b.F.m = snw_rotate_inv(b.g.R, y->m);
    }
    b.F = snw_wrench_add(b.F, law_wrench(r, point, e, none, y->z, NULL, along));
    return b;
}

// e'; D of the law is (K + c0 B + dc/de)^-1, and for z that times -dc/dz
static snw_twist till_strain_derivative(const snw_shoot_rod *r, int point, const snw_law_out *law,
                                        snw_wrench Fs, snw_wrench along, snw_twist ehs) {
    const double *B = (r->uniform ? r->section : r->section + point)->B;
    snw_wrench x = snw_wrench_sub(Fs, along);
    for (int i = 0; i < 36; i++) x.e[i / 6] -= B[i] * ehs.e[i % 6];
    snw_twist es = snw_twist_zero();
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) es.e[i] += law->D[i][k] * x.e[k];
        for (int k = 0; k < r->law->nz; k++) es.e[i] += law->D[i][6 + k] * law->zs[k];
    }
    return es;
}

// derivative of the rod's own wrench in world axes; the effort of a chamber is constant along it
static snw_wrench wrench_d1(const snw_shoot_state *b, const world *y, snw_vec3 u, snw_wrench Fs,
                            snw_wrench along) {
    const snw_mat3 R = b->g.R;
    const snw_vec3 f = snw_sub(Fs.f, along.f), m = snw_sub(Fs.m, along.m);
    snw_wrench s;
    s.m = snw_rotate(R, snw_add(m, snw_cross(u, snw_rotate_inv(R, y->m))));
    s.f = snw_rotate(R, snw_add(f, snw_cross(u, snw_rotate_inv(R, y->n))));
    return s;
}

static world till_derivative(const snw_shoot_rod *r, int point, const world *y) {
    snw_wrench along;
    const snw_shoot_state b = to_body(r, point, y, &along);
    const snw_mat3 R = b.g.R;
    const snw_vec3 weight = snw_rotate_inv(R, r->gravity);
    snw_flow x = {.w = snw_pack_load(b.V.w.e),
                  .v = snw_pack_load(b.V.v.e),
                  .m = snw_pack_load(b.F.m.e),
                  .f = snw_pack_load(b.F.f.e),
                  .weight = snw_pack_load(weight.e)};
    int flags = SNW_FIELD_WORLD | (r->law ? SNW_FIELD_LAW : 0);
    if (r->density) {
        const snw_vec3 f = snw_rotate_inv(R, r->density[point].force);
        const snw_vec3 t = snw_rotate_inv(R, r->density[point].torque);
        x.force = snw_pack_load(f.e), x.torque = snw_pack_load(t.e);
        flags |= SNW_FIELD_LOADS;
    }
    const snw_field_section q = snw_field_section_of(r->uniform ? r->section : r->section + point);
    snw_law_out law;
    memcpy(x.z, y->z, sizeof x.z);
    memset(law.zs, 0, sizeof law.zs);
    snw_field_at(flags, r, &q, point, snw_shoot_integrates_strain(r), &law, &x);
    snw_twist xi, Vs;
    snw_wrench Fs;
    snw_pack_store(x.k, xi.w.e), snw_pack_store(x.l, xi.v.e);
    snw_pack_store(x.ws, Vs.w.e), snw_pack_store(x.vs, Vs.v.e);
    snw_pack_store(x.ms, Fs.m.e), snw_pack_store(x.fs, Fs.f.e);
    const snw_vec3 u = xi.w, hv = {{y->h.x, y->h.y, y->h.z}};
    const snw_vec3 hs = snw_scale(0.5, snw_add(snw_scale(y->h.w, u), snw_cross(hv, u)));
    world s = {.p = snw_rotate(R, xi.v), .h = {{-0.5 * snw_dot(u, hv), hs.x, hs.y, hs.z}}, .V = Vs};
    memcpy(s.z, law.zs, sizeof s.z);
    if (snw_shoot_integrates_strain(r)) {
        const snw_twist es =
            till_strain_derivative(r, point, &law, Fs, along, r->strain_d1_history[point]);
        s.n = es.v, s.m = es.w;
        if (integrates_force(r)) {
            (void)law_wrench(r, point, till_strain(r, y), es, y->z, law.zs, &along);
            s.n = wrench_d1(&b, y, u, Fs, along).f;
        }
    } else {
        const snw_wrench own = wrench_d1(&b, y, u, Fs, along);
        s.n = own.f, s.m = own.m;
    }
    return s;
}

static void axpy(double s, const world *x, world *y) {
    const double *a = (const double *)(const void *)x;
    double *b = (double *)(void *)y;
    for (int i = 0; i < NUMBERS; i++) b[i] += s * a[i];
}

static void till_march(snw_shoot_rod *r, int node, int n, const snw_shoot_state *start,
                       snw_shoot_state *end) {
    SNW_ASSERT(!snw_shoot_integrates_strain(r) || has_strain_form(r));
    const snw_along *m = r->method;
    const snw_shoot_piece *piece = &r->piece[snw_shoot_piece_of(r, node)];
    const int nz = snw_shoot_nz(r);
    int point = piece->point + (node - piece->node) * m->np;
    world y = to_world(r, point, start);
    snw_se3 g = start->g;
    for (int j = 0; j < n; j++, point += m->np) {
        world k[SNW_SHOOT_STAGES], next = y;
        snw_wrench along;
        for (int i = 0; i < m->stages; i++) {
            world stage = y;
            for (int l = 0; l < i; l++) axpy(piece->h * m->a[i][l], &k[l], &stage);
            k[i] = till_derivative(r, point + m->at[i], &stage);
            axpy(piece->h * m->b[i], &k[i], &next);
        }
        y = next;
        *end = to_body(r, point + m->np, &y, &along);
        r->W[node + j] = snw_se3_log(snw_se3_mul(snw_se3_inv(g), end->g));
        g = end->g;
        if (j + 1 == n) return;
        r->g[node + j + 1] = end->g;
        r->V[node + j + 1] = end->V;
        r->F[node + j + 1] = end->F;
        for (int c = 0; c < nz; c++) r->z[(node + j + 1) * nz + c] = end->z[c];
    }
}

static snw_twist till_strain_d1(const snw_shoot_rod *r, int point, int node) {
    const int nz = snw_shoot_nz(r);
    snw_shoot_state b = {.g = r->g[node], .V = r->V[node], .F = r->F[node]};
    memcpy(b.z, r->z + (ptrdiff_t)node * nz, (size_t)nz * sizeof *b.z);
    const world y = to_world(r, point, &b), s = till_derivative(r, point, &y);
    return till_strain(r, &s);
}

// ---- variations ---------------------------------------------------------------------------------

// scale of a row of a variation
static double till_typical(const snw_shoot_rod *r, int row) {
    if (row >= SNW_ROW_Z) return r->law->typical[row - SNW_ROW_Z];
    const double c0 = r->formula.c[0] > 0 ? r->formula.c[0] : 1;
    const double turn[] = {1, c0, r->force * r->length},
                 shift[] = {r->length, c0 * r->length, r->force};
    return row % 6 < 3 ? turn[row / 6] : shift[row / 6];
}

static snw_shoot_state till_moved(const snw_shoot_state *y, double step, int nz, int ld,
                                  const double *column) {
    snw_shoot_state out = *y;
    snw_vec3 w, v;
    for (int i = 0; i < 3; i++) {
        w.e[i] = step * column[i * ld];
        v.e[i] = step * column[(3 + i) * ld];
    }
    out.g.R = snw_mat3_mul(y->g.R, snw_so3_exp(w));
    out.g.p = snw_add(y->g.p, snw_rotate(y->g.R, v));
    for (int i = 0; i < 6; i++) {
        out.V.e[i] += step * column[(SNW_ROW_V + i) * ld];
        out.F.e[i] += step * column[(SNW_ROW_F + i) * ld];
    }
    for (int i = 0; i < nz; i++) out.z[i] += step * column[(SNW_ROW_Z + i) * ld];
    return out;
}

// d <- end of the march from the displaced start, relative to `from` and in its frame
static void till_displaced(snw_shoot_rod *r, int node, int n, const snw_shoot_state *start,
                           double step, int columns, const double *column,
                           const snw_shoot_state *from, double *d) {
    const int nz = snw_shoot_nz(r);
    snw_shoot_state y = till_moved(start, step, nz, columns, column);
    till_march(r, node, n, &y, &y);
    const snw_vec3 w = snw_so3_log(snw_mat3_mul(snw_mat3_transpose(from->g.R), y.g.R));
    const snw_vec3 v = snw_rotate_inv(from->g.R, snw_sub(y.g.p, from->g.p));
    for (int i = 0; i < 6; i++) {
        d[i] = i < 3 ? w.e[i] : v.e[i - 3];
        d[SNW_ROW_V + i] = y.V.e[i] - from->V.e[i];
        d[SNW_ROW_F + i] = y.F.e[i] - from->F.e[i];
    }
    for (int i = 0; i < nz; i++) d[SNW_ROW_Z + i] = y.z[i] - from->z[i];
}

// Differences of fourth order: a slender leg under load has third derivatives of 1e4.
static void till_march_vary(snw_shoot_rod *r, int node, int n, const snw_shoot_state *start,
                            int columns, double *S, snw_shoot_state *end) {
    static const double at[] = {-2, -1, 1, 2}, weight[] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12};
    till_march(r, node, n, start, end);
    const int rows = SNW_ROW_Z + snw_shoot_nz(r);
    for (int c = 0; c < columns; c++) {
        double size = 0, difference[SNW_SHOOT_ROWS] = {0}, d[SNW_SHOOT_ROWS];
        for (int i = 0; i < rows; i++) {
            size = fmax(size, fabs(S[i * columns + c]) / till_typical(r, i));
        }
        if (size == 0) continue; // padding column
        const double step = 2e-5 / size;
        for (int k = 0; k < 4; k++) {
            till_displaced(r, node, n, start, at[k] * step, columns, S + c, end, d);
            for (int i = 0; i < rows; i++) difference[i] += weight[k] / step * d[i];
        }
        for (int i = 0; i < rows; i++) S[i * columns + c] = difference[i];
    }
    till_march(r, node, n, start, end); // restore the nodes in between
}

// ---- plates -------------------------------------------------------------------------------------

static snw_vec3 add_scaled(snw_vec3 a, double s, snw_vec3 b) { return snw_add(a, snw_scale(s, b)); }

// V <- the formula in world axes on positions and on the nine entries of rotations
static snw_twist till_pose_rate(const snw_time_formula *f, snw_se3 g, const snw_se3 *past,
                                const snw_twist *V_past) {
    const snw_twist last = V_past[0];
    const snw_mat3 R_rate = snw_mat3_mul(past[0].R, snw_hat(last.w));
    snw_vec3 v = add_scaled(snw_scale(f->c[0], g.p), f->d, snw_rotate(past[0].R, last.v));
    snw_mat3 R = snw_mat3_add(snw_mat3_scale(f->c[0], g.R), snw_mat3_scale(f->d, R_rate));
    for (int k = 1; k <= SNW_TIME_LEVELS; k++) {
        v = add_scaled(v, f->c[k], past[k - 1].p);
        R = snw_mat3_add(R, snw_mat3_scale(f->c[k], past[k - 1].R));
    }
    // skew part of R_t R', rotated to body axes: that of R' R_t
    const snw_mat3 W = snw_mat3_mul(snw_mat3_transpose(g.R), R);
    snw_twist V;
    V.w = (snw_vec3){{0.5 * (W.e[2][1] - W.e[1][2]), 0.5 * (W.e[0][2] - W.e[2][0]),
                      0.5 * (W.e[1][0] - W.e[0][1])}};
    V.v = snw_rotate_inv(g.R, v);
    return V;
}

// rate of V <- the formula in world axes
static snw_twist till_velocity_rate(const snw_time_formula *f, snw_se3 g, snw_twist V,
                                    const snw_se3 *past, const snw_twist *V_past, snw_twist rate) {
    const snw_twist last = V_past[0];
    const snw_vec3 acceleration = snw_add(rate.v, snw_cross(last.w, last.v));
    snw_vec3 a = snw_scale(f->d, snw_rotate(past[0].R, acceleration));
    snw_vec3 wt = snw_scale(f->d, snw_rotate(past[0].R, rate.w));
    a = add_scaled(a, f->c[0], snw_rotate(g.R, V.v));
    wt = add_scaled(wt, f->c[0], snw_rotate(g.R, V.w));
    for (int k = 1; k <= SNW_TIME_LEVELS; k++) {
        a = add_scaled(a, f->c[k], snw_rotate(past[k - 1].R, V_past[k - 1].v));
        wt = add_scaled(wt, f->c[k], snw_rotate(past[k - 1].R, V_past[k - 1].w));
    }
    snw_twist Vt;
    Vt.w = snw_rotate_inv(g.R, wt);
    Vt.v = snw_sub(snw_rotate_inv(g.R, a), snw_cross(V.w, V.v));
    return Vt;
}

const snw_shoot_form oracle_till_form = {.march = till_march,
                                         .march_vary = till_march_vary,
                                         .strain_d1 = till_strain_d1,
                                         .pose_rate = till_pose_rate,
                                         .velocity_rate = till_velocity_rate};
