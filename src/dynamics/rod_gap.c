// SPDX-License-Identifier: MIT
//
// Gap of two rods, its minima, and the energy stored where they touch, with first and second
// derivatives, theory.md (3.20.1) to (3.20.6).

#include "dynamics/rod_gap.h"

#include "math/positive_part.h"

#include <math.h>
#include <string.h>

// ---- sections -------------------------------------------------------------------------------

snw_rod_side snw_rod_side_of(const snw_model *m, const snw_work *w, int slice) {
    const snw_touching_slice *s = &m->touching_slice[slice];
    snw_rod_side side = {.h = s->h};
    for (int k = 0; k < 2; k++) {
        const snw_se3 *g = &w->g[s->seg[k]];
        side.z[2 * k] = g->p;
        side.z[2 * k + 1] = (snw_vec3){{g->R.e[0][0], g->R.e[1][0], g->R.e[2][0]}};
        side.radius[2 * k] = s->radius[k];
        side.radius[2 * k + 1] = s->radius_d1[k];
    }
    return side;
}

snw_rod_side snw_rod_side_in(const snw_model *m, const snw_work *w, int contact, int slice) {
    const snw_contact *c = &m->contact[contact];
    snw_rod_side side = snw_rod_side_of(m, w, slice);
    if (!c->outer) return side;
    const bool outer = m->touching_slice[slice].rod == c->outer - 1;
    for (int i = 0; i < 4; i++) side.radius[i] = !outer ? -side.radius[i] : i % 2 ? 0 : c->bore;
    return side;
}

// weight, p, r (n) <- Hermite's cubics, and what they give, with n - 1 derivatives in the arc
// length
static void hermite_at(const snw_rod_side *s, double u, int n, double weight[][4], snw_vec3 *p,
                       double *r) {
    const double h = s->h, v = 1 - u;
    const double all[4][4] = {
        {(1 + 2 * u) * v * v, h * u * v * v, u * u * (3 - 2 * u), -h * u * u * v},
        {-6 * u * v / h, v * (1 - 3 * u), 6 * u * v / h, u * (3 * u - 2)},
        {(12 * u - 6) / (h * h), (6 * u - 4) / h, (6 - 12 * u) / (h * h), (6 * u - 2) / h},
        {12 / (h * h * h), 6 / (h * h), -12 / (h * h * h), 6 / (h * h)}};
    for (int k = 0; k < n; k++) {
        snw_vec3 sum = {{0}};
        double radius = 0;
        for (int i = 0; i < 4; i++) {
            weight[k][i] = all[k][i];
            sum = snw_add(sum, snw_scale(all[k][i], s->z[i]));
            radius += all[k][i] * s->radius[i];
        }
        p[k] = sum;
        r[k] = radius;
    }
}

void snw_rod_section_at(const snw_rod_side *s, double u, snw_rod_section *out) {
    const double h = s->h, v = 1 - u;
    hermite_at(s, u, 4, out->weight, out->p, out->r);
    const double turn[3] = {u * u * (3 - 2 * u), 6 * u * v / h, (6 - 12 * u) / (h * h)};
    const snw_vec3 change = snw_sub(s->z[3], s->z[1]);
    for (int k = 0; k < 3; k++) {
        out->turn[k] = turn[k];
        out->d[k] = snw_scale(turn[k], change);
    }
    out->d[0] = snw_add(s->z[1], out->d[0]);
}

// ---- gap ------------------------------------------------------------------------------------

// (3.20.2), (3.20.3)
void snw_rod_gap_at(const snw_rod_side side[2], const double u[2], snw_rod_gap *out) {
    for (int k = 0; k < 2; k++) snw_rod_section_at(&side[k], u[k], &out->at[k]);
    const snw_rod_section *A = &out->at[0], *B = &out->at[1];
    out->w = snw_sub(A->p[0], B->p[0]);
    out->rho = snw_norm(out->w);
    out->n = snw_scale(1 / out->rho, out->w);
    const snw_vec3 n = out->n;
    out->gap = out->rho - A->r[0] - B->r[0];
    out->Q = snw_mat3_scale(1 / out->rho,
                            snw_mat3_add(snw_mat3_identity(), snw_mat3_scale(-1, snw_outer(n, n))));
    out->first[0] = snw_dot(n, A->p[1]) - A->r[1];
    out->first[1] = -snw_dot(n, B->p[1]) - B->r[1];
    const snw_vec3 a = snw_rotate(out->Q, A->p[1]), b = snw_rotate(out->Q, B->p[1]);
    out->second[0] = snw_dot(n, A->p[2]) + snw_dot(A->p[1], a) - A->r[2];
    out->second[1] = -snw_dot(A->p[1], b);
    out->second[2] = -snw_dot(n, B->p[2]) + snw_dot(B->p[1], b) - B->r[2];
}

// ---- minima ---------------------------------------------------------------------------------

// Iterations of Newton's method after changes are below CLOSE, the error being squared by each
enum { MOST = 60, AFTER = 2 };
static const double CLOSE = 1e-9;

// Derivative of the distance of the point y from the surface in the arc length, at u; *second <-
// its second derivative. By symmetry it is the same for both sides. Square: of half the square of
// the distance from the centre line.
static double distance_slope(const snw_rod_side *s, snw_vec3 y, double u, bool square,
                             double *second) {
    double weight[3][4], r[3];
    snw_vec3 p[3];
    hermite_at(s, u, 3, weight, p, r);
    p[0] = snw_sub(p[0], y);
    if (square) {
        *second = snw_dot(p[0], p[2]) + snw_dot(p[1], p[1]);
        return snw_dot(p[0], p[1]);
    }
    const double rho = snw_norm(p[0]), slope = snw_dot(p[0], p[1]) / rho;
    *second = (snw_dot(p[0], p[2]) + snw_dot(p[1], p[1]) - slope * slope) / rho - r[2];
    return slope - r[1];
}

static bool find_foot(const snw_rod_side side[2], const snw_touching_slice *slice, int k,
                      bool square, double u[2], bool *is_free) {
    snw_rod_section given;
    snw_rod_section_at(&side[1 - k], u[1 - k], &given);
    const snw_vec3 y = given.p[0];
    double second;
    *is_free = false;
    // at a node shared by two slices both see the same slope
    const double start = distance_slope(&side[k], y, 0, square, &second),
                 end = distance_slope(&side[k], y, 1, square, &second);
    u[k] = start > 0 ? 0 : 1;
    if (start > 0) return slice->end[0];
    if (!(end > 0)) return slice->end[1];
    *is_free = true;
    double low = 0, high = 1, x = start / (start - end);
    for (int i = 0, left = AFTER; i < MOST && left > 0; i++) {
        const double slope = distance_slope(&side[k], y, x, square, &second);
        const double next = x - slope / (second * side[k].h);
        if (slope > 0) {
            high = x;
        } else {
            low = x;
        }
        const bool inside = second > 0 && next >= low && next <= high;
        const bool close = fabs(next - x) < CLOSE; // rounding may put it beyond the bounds
        left = close ? left - 1 : AFTER;
        x = inside || close ? next : 0.5 * (low + high);
    }
    u[k] = x;
    return true;
}

bool snw_rod_gap_foot(const snw_rod_side side[2], const snw_touching_slice *slice, int k,
                      double u[2], bool *is_free) {
    return find_foot(side, slice, k, false, u, is_free);
}

bool snw_rod_axis_foot(const snw_rod_side side[2], const snw_touching_slice *slice, int k,
                       double u[2], bool *is_free) {
    return find_foot(side, slice, k, true, u, is_free);
}

void snw_rod_gap_chords(const snw_rod_side side[2], double u[2]) {
    const snw_vec3 a = snw_sub(side[0].z[2], side[0].z[0]), b = snw_sub(side[1].z[2], side[1].z[0]),
                   c = snw_sub(side[0].z[0], side[1].z[0]);
    const double aa = snw_dot(a, a), ab = snw_dot(a, b), bb = snw_dot(b, b);
    const double ac = snw_dot(a, c), bc = snw_dot(b, c), det = aa * bb - ab * ab;
    u[0] = det > 1e-12 * aa * bb ? fmin(fmax((ab * bc - bb * ac) / det, 0), 1) : 0.5;
    u[1] = fmin(fmax((bc + ab * u[0]) / bb, 0), 1);
    u[0] = fmin(fmax((ab * u[1] - ac) / aa, 0), 1);
}

// Newton's method for both arc lengths, on the cubics also a little beyond their slices.
static bool pair_newton(const snw_rod_side side[2], double u[2]) {
    static const double BEYOND = 0.5, EDGE = 1e-9;
    for (int i = 0, left = AFTER; left > 0; i++) {
        snw_rod_gap g;
        snw_rod_gap_at(side, u, &g);
        double ss = g.second[0], tt = g.second[2];
        const double st = g.second[1];
        if (!(ss > 0) || !(tt > 0) || !(ss * tt > st * st)) { // without the curvature of the lines
            if (left < AFTER) return false;
            ss = 1.01 * snw_dot(g.at[0].p[1], g.at[0].p[1]) / g.rho;
            tt = 1.01 * snw_dot(g.at[1].p[1], g.at[1].p[1]) / g.rho;
        }
        const double det = ss * tt - st * st;
        const double step[2] = {(tt * g.first[0] - st * g.first[1]) / (det * side[0].h),
                                (ss * g.first[1] - st * g.first[0]) / (det * side[1].h)};
        if (i > MOST || !isfinite(step[0]) || !isfinite(step[1])) return false;
        if (left < AFTER || fmax(fabs(step[0]), fabs(step[1])) < CLOSE) left--;
        for (int k = 0; k < 2; k++) {
            u[k] -= step[k];
            if (left == AFTER) u[k] = fmin(fmax(u[k], -BEYOND), 1 + BEYOND);
        }
    }
    for (int k = 0; k < 2; k++) {
        if (u[k] < -EDGE || u[k] > 1 + EDGE) return false;
    }
    return true;
}

bool snw_rod_gap_pair(const snw_rod_side side[2], const snw_touching_slice *const slice[2],
                      double u[2], bool is_free[2]) {
    is_free[0] = is_free[1] = true;
    snw_rod_gap_chords(side, u);
    if (pair_newton(side, u)) return true;
    // at an end of one rod or of both, where the gap falls towards the end
    for (int k = 0; k < 2; k++) {
        for (int end = 0; end < 2; end++) {
            if (!slice[k]->end[end]) continue;
            const int other = 1 - k;
            snw_rod_gap g;
            u[k] = end;
            is_free[k] = false;
            if (!snw_rod_gap_foot(side, slice[other], other, u, &is_free[other])) continue;
            if (k == 1 && !is_free[other]) continue; // both ends: found with the first rod
            snw_rod_gap_at(side, u, &g);
            if (end ? g.first[k] < 0 : g.first[k] > 0) return true;
        }
    }
    return false;
}

// ---- energy ---------------------------------------------------------------------------------

// (3.20.4): z is a smooth step between 70 and 55 degrees.
void snw_rod_weight(bool crossing, double c, double z[3]) {
    static const double C1 = 0.34202014332566873304, C2 = 0.57357643635104609611;
    const double sign = crossing ? -1 : 1, width = C2 - C1, x = (c - C1) / width;
    z[0] = crossing, z[1] = z[2] = 0;
    if (x <= 0) return;
    z[0] = x >= 1 ? !crossing : crossing + sign * x * x * (3 - 2 * x);
    if (x >= 1) return;
    z[1] = sign * 6 * x * (1 - x) / width;
    z[2] = sign * 6 * (1 - 2 * x) / (width * width);
}

// |w| varies to third order: derivative of Q v along u is -(Q u (n.v) + n (u.Q v) + (n.u) Q v)/rho.
static snw_mat3 third(const snw_rod_gap *g, snw_vec3 v) {
    const snw_vec3 Qv = snw_rotate(g->Q, v);
    const snw_mat3 sum = snw_mat3_add(snw_mat3_scale(snw_dot(g->n, v), g->Q),
                                      snw_mat3_add(snw_outer(g->n, Qv), snw_outer(Qv, g->n)));
    return snw_mat3_scale(-1 / g->rho, sum);
}

// x <- Phi_xx^-1 x over the free arc lengths, zero for the others
static void solve_second(const snw_rod_gap *g, const bool is_free[2], double x[2]) {
    const double *h = g->second;
    if (is_free[0] && is_free[1]) {
        const double det = h[0] * h[2] - h[1] * h[1], a = x[0], b = x[1];
        x[0] = (h[2] * a - h[1] * b) / det;
        x[1] = (h[0] * b - h[1] * a) / det;
        return;
    }
    for (int k = 0; k < 2; k++) x[k] = is_free[k] ? x[k] / h[2 * k] : 0;
}

void snw_rod_gap_slide(const snw_rod_gap *g, const bool is_free[2], snw_vec3 dw, snw_vec3 da,
                       snw_vec3 db, double d[2]) {
    const snw_vec3 Qdw = snw_rotate(g->Q, dw);
    d[0] = -snw_dot(g->n, da) - snw_dot(g->at[0].p[1], Qdw);
    d[1] = snw_dot(g->n, db) + snw_dot(g->at[1].p[1], Qdw);
    solve_second(g, is_free, d);
}

// weight of node vector i of side k in each of the vectors; `order`: derivative in the arc length
static void vector_weights(const snw_rod_gap *g, int k, int i, int order,
                           double out[SNW_TOUCH_VECTORS]) {
    const snw_rod_section *s = &g->at[k];
    for (int j = 0; j < SNW_TOUCH_VECTORS; j++) out[j] = 0;
    out[SNW_OF_W] = k ? -s->weight[order][i] : s->weight[order][i];
    out[k ? SNW_OF_B : SNW_OF_A] = s->weight[order + 1][i];
    if (i % 2)
        out[k ? SNW_OF_DB : SNW_OF_DA] =
            i == 3 ? s->turn[order] : (order == 0 ? 1 : 0) - s->turn[order];
}

// phi(b) for a section whose foot is at an end of the other rod, with its derivatives.
static void fade_weight(const snw_touch *touch, double b, double phi[3]) {
    phi[0] = 1, phi[1] = phi[2] = 0;
    if (!(b > 0)) return;
    const double x = b / touch->fade;
    phi[0] = x < 1 ? 1 - x * x * (3 - 2 * x) : 0;
    phi[1] = x < 1 ? -6 * x * (1 - x) / touch->fade : 0;
    phi[2] = x < 1 ? -6 * (1 - 2 * x) / (touch->fade * touch->fade) : 0;
}

void snw_rod_potential_at(const snw_rod_gap *g, const snw_touch *touch, double smooth,
                          snw_rod_potential *out) {
    const snw_rod_section *A = &g->at[0], *B = &g->at[1];
    const double c = snw_dot(A->d[0], B->d[0]), k = touch->stiffness;
    double z[3] = {1, 0, 0}, phi[3] = {1, 0, 0};
    *out = (snw_rod_potential){.sign = c < 0 ? -1 : 1};
    if (!touch->inside) snw_rod_weight(touch->crossing, out->sign * c, z);
    out->by[SNW_BY_GAP][SNW_OF_W] = g->n;
    out->by[SNW_BY_ANGLE][SNW_OF_DA] = snw_scale(out->sign, B->d[0]);
    out->by[SNW_BY_ANGLE][SNW_OF_DB] = snw_scale(out->sign, A->d[0]);
    if (touch->fade > 0 && !touch->is_free[0] && !touch->is_free[1]) {
        // b = d.(p - p_end) away from the end, d the direction there
        const int end = touch->foot;
        out->way = (touch->u[end] > 0.5 ? 1 : -1) * (end ? 1 : -1);
        out->beyond = end ? SNW_OF_DB : SNW_OF_DA;
        fade_weight(touch, out->way * snw_dot(g->at[end].d[0], g->w), phi);
        out->by[SNW_BY_BEYOND][SNW_OF_W] = snw_scale(out->way, g->at[end].d[0]);
        out->by[SNW_BY_BEYOND][out->beyond] = snw_scale(out->way, g->w);
    }
    // the depth grows as the distance of the centre lines falls, in a bore as it grows
    const double way = touch->inside ? 1 : -1, depth = way * g->gap;
    const double I = k * snw_positive_part_integral(depth, smooth),
                 N = way * k * snw_positive_part(depth, smooth),
                 K = k * snw_positive_part_d1(depth, smooth);
    out->varies = z[1] != 0 || phi[1] != 0;
    out->energy = z[0] * phi[0] * I;
    const double d1[] = {z[0] * phi[0] * N, z[1] * phi[0] * I, z[0] * phi[1] * I};
    const double d2[][SNW_TOUCH_FUNCTIONS] = {
        {z[0] * phi[0] * K, z[1] * phi[0] * N, z[0] * phi[1] * N},
        {z[1] * phi[0] * N, z[2] * phi[0] * I, z[1] * phi[1] * I},
        {z[0] * phi[1] * N, z[1] * phi[1] * I, z[0] * phi[2] * I}};
    memcpy(out->d1, d1, sizeof d1);
    memcpy(out->d2, d2, sizeof d2);
    out->by_u[0] = out->sign * snw_dot(A->d[1], B->d[0]);
    out->by_u[1] = out->sign * snw_dot(A->d[0], B->d[1]);
    for (int i = 0; i < 2; i++) out->lambda[i] = d1[SNW_BY_ANGLE] * out->by_u[i];
    solve_second(g, touch->is_free, out->lambda);
    // gradient of the function (3.20.5)
    const snw_vec3 v =
        snw_sub(snw_scale(out->lambda[1], B->p[1]), snw_scale(out->lambda[0], A->p[1]));
    out->gradient[SNW_OF_W] = snw_rotate(g->Q, v);
    out->gradient[SNW_OF_A] = snw_scale(-out->lambda[0], g->n);
    out->gradient[SNW_OF_B] = snw_scale(out->lambda[1], g->n);
    for (int j = 0; j < SNW_TOUCH_VECTORS; j++) {
        for (int i = 0; i < SNW_TOUCH_FUNCTIONS; i++)
            out->gradient[j] = snw_add(out->gradient[j], snw_scale(d1[i], out->by[i][j]));
    }
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 4; i++) {
            double weight[SNW_TOUCH_VECTORS];
            snw_vec3 sum = {{0}};
            vector_weights(g, side, i, 0, weight);
            for (int j = 0; j < SNW_TOUCH_VECTORS; j++)
                sum = snw_add(sum, snw_scale(weight[j], out->gradient[j]));
            out->slope[side][i] = sum;
        }
    }
}

// L_yy of (3.20.5), y = (s, t, lambda_s, lambda_t)
static void second_by_lengths(const snw_rod_gap *g, const snw_rod_potential *e, double out[4][4]) {
    const snw_rod_section *A = &g->at[0], *B = &g->at[1];
    const snw_vec3 a = A->p[1], b = B->p[1];
    const snw_vec3 Qa = snw_rotate(g->Q, a), Qb = snw_rotate(g->Q, b);
    const snw_mat3 Ta = third(g, a), Tb = third(g, b);
    const double sss =
        snw_dot(g->n, A->p[3]) + 3 * snw_dot(Qa, A->p[2]) + snw_dot(a, snw_rotate(Ta, a)) - A->r[3];
    const double sst = -snw_dot(Qb, A->p[2]) - snw_dot(a, snw_rotate(Ta, b));
    const double stt = -snw_dot(Qa, B->p[2]) + snw_dot(b, snw_rotate(Tb, a));
    const double ttt = -snw_dot(g->n, B->p[3]) + 3 * snw_dot(Qb, B->p[2]) -
                       snw_dot(b, snw_rotate(Tb, b)) - B->r[3];
    const double css = e->sign * snw_dot(A->d[2], B->d[0]),
                 ctt = e->sign * snw_dot(A->d[0], B->d[2]),
                 cst = e->sign * snw_dot(A->d[1], B->d[1]);
    const double *x = g->second, *u = e->by_u, *l = e->lambda;
    memset(out, 0, 16 * sizeof(double));
    out[0][0] = e->d1[SNW_BY_GAP] * x[0] + e->d2[SNW_BY_ANGLE][SNW_BY_ANGLE] * u[0] * u[0] +
                e->d1[SNW_BY_ANGLE] * css - l[0] * sss - l[1] * sst;
    out[0][1] = e->d1[SNW_BY_GAP] * x[1] + e->d2[SNW_BY_ANGLE][SNW_BY_ANGLE] * u[0] * u[1] +
                e->d1[SNW_BY_ANGLE] * cst - l[0] * sst - l[1] * stt;
    out[1][1] = e->d1[SNW_BY_GAP] * x[2] + e->d2[SNW_BY_ANGLE][SNW_BY_ANGLE] * u[1] * u[1] +
                e->d1[SNW_BY_ANGLE] * ctt - l[0] * stt - l[1] * ttt;
    out[1][0] = out[0][1];
    out[0][2] = out[2][0] = -x[0];
    out[0][3] = out[3][0] = out[1][2] = out[2][1] = -x[1];
    out[1][3] = out[3][1] = -x[2];
}

// Derivatives of the gradient by the five vectors, in s, t, lambda_s and lambda_t.
static void mixed_derivatives(const snw_rod_gap *g, const snw_rod_potential *e, snw_mat3 by_ww,
                              snw_vec3 out[4][SNW_TOUCH_VECTORS]) {
    const snw_rod_section *A = &g->at[0], *B = &g->at[1];
    const double *u = e->by_u, *l = e->lambda, sign = e->sign;
    memset(out, 0, 4 * SNW_TOUCH_VECTORS * sizeof(snw_vec3));
    for (int k = 0; k < 2; k++) {
        // w moves by p_A' with s, by -p_B' with t
        const snw_vec3 move = k ? snw_scale(-1, B->p[1]) : A->p[1];
        const snw_vec3 Qm = snw_rotate(g->Q, move);
        const snw_vec3 bent = k ? snw_scale(l[1], B->p[2]) : snw_scale(-l[0], A->p[2]);
        // a stationary gap does not change: the part of by_ww along n does not count
        out[k][SNW_OF_W] = snw_add(snw_rotate(by_ww, move), snw_rotate(g->Q, bent));
        out[k][SNW_OF_W] = snw_add(
            out[k][SNW_OF_W], snw_scale(e->d2[SNW_BY_GAP][SNW_BY_ANGLE] * u[k] -
                                            e->d2[SNW_BY_GAP][SNW_BY_GAP] * snw_dot(g->n, move),
                                        g->n));
        out[k][SNW_OF_A] = snw_scale(-l[0], Qm);
        out[k][SNW_OF_B] = snw_scale(l[1], Qm);
        out[k][SNW_OF_DA] = snw_scale(sign * e->d2[SNW_BY_ANGLE][SNW_BY_ANGLE] * u[k], B->d[0]);
        out[k][SNW_OF_DB] = snw_scale(sign * e->d2[SNW_BY_ANGLE][SNW_BY_ANGLE] * u[k], A->d[0]);
    }
    out[1][SNW_OF_DA] = snw_add(out[1][SNW_OF_DA], snw_scale(sign * e->d1[SNW_BY_ANGLE], B->d[1]));
    out[0][SNW_OF_DB] = snw_add(out[0][SNW_OF_DB], snw_scale(sign * e->d1[SNW_BY_ANGLE], A->d[1]));
    out[2][SNW_OF_W] = snw_scale(-1, snw_rotate(g->Q, A->p[1]));
    out[2][SNW_OF_A] = snw_scale(-1, g->n);
    out[3][SNW_OF_W] = snw_rotate(g->Q, B->p[1]);
    out[3][SNW_OF_B] = g->n;
}

// Columns of X (n rows of 24) <- M^-1 X, M (4 x 4) restricted to n rows; Gaussian elimination
static void small_solve(int n, double M[4][4], double X[4][24]) {
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) {
            if (fabs(M[i][k]) > fabs(M[p][k])) p = i;
        }
        for (int j = 0; j < n; j++) {
            const double x = M[k][j];
            M[k][j] = M[p][j], M[p][j] = x;
        }
        for (int j = 0; j < 24; j++) {
            const double x = X[k][j];
            X[k][j] = X[p][j], X[p][j] = x;
        }
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            const double f = M[i][k] / M[k][k];
            for (int j = k; j < n; j++) M[i][j] -= f * M[k][j];
            for (int j = 0; j < 24; j++) X[i][j] -= f * X[k][j];
        }
    }
    for (int k = 0; k < n; k++) {
        for (int j = 0; j < 24; j++) X[k][j] /= M[k][k];
    }
}

// Second derivatives of the function (3.20.5) by the five vectors.
static void second_by_vectors(const snw_rod_gap *g, const snw_rod_potential *e,
                              snw_mat3 out[SNW_TOUCH_VECTORS][SNW_TOUCH_VECTORS]) {
    const snw_vec3 v =
        snw_sub(snw_scale(e->lambda[1], g->at[1].p[1]), snw_scale(e->lambda[0], g->at[0].p[1]));
    for (int i = 0; i < SNW_TOUCH_VECTORS; i++) {
        for (int j = 0; j < SNW_TOUCH_VECTORS; j++) {
            snw_mat3 sum = {0};
            for (int a = 0; a < SNW_TOUCH_FUNCTIONS; a++) {
                for (int b = 0; b < SNW_TOUCH_FUNCTIONS; b++) {
                    if (e->d2[a][b] == 0) continue;
                    const snw_mat3 ab = snw_outer(e->by[a][i], e->by[b][j]);
                    sum = snw_mat3_add(sum, snw_mat3_scale(e->d2[a][b], ab));
                }
            }
            out[i][j] = sum;
        }
    }
    // second derivatives of the gap, c = sign d_A.d_B and b = way d.w, and the conditions
    const snw_mat3 one = snw_mat3_identity();
    const struct {
        int i, j;
        snw_mat3 add;
    } more[] = {
        {SNW_OF_W, SNW_OF_W, snw_mat3_add(snw_mat3_scale(e->d1[SNW_BY_GAP], g->Q), third(g, v))},
        {SNW_OF_W, SNW_OF_A, snw_mat3_scale(-e->lambda[0], g->Q)},
        {SNW_OF_W, SNW_OF_B, snw_mat3_scale(e->lambda[1], g->Q)},
        {SNW_OF_DA, SNW_OF_DB, snw_mat3_scale(e->d1[SNW_BY_ANGLE] * e->sign, one)},
        {SNW_OF_W, e->beyond, snw_mat3_scale(e->d1[SNW_BY_BEYOND] * e->way, one)},
    };
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        const int i = more[k].i, j = more[k].j;
        out[i][j] = snw_mat3_add(out[i][j], more[k].add);
        if (i != j) out[j][i] = snw_mat3_add(out[j][i], more[k].add); // symmetric matrices
    }
}

void snw_rod_potential_hessian(const snw_rod_gap *g, const snw_rod_potential *e,
                               const snw_touch *touch, double *H) {
    snw_mat3 by[SNW_TOUCH_VECTORS][SNW_TOUCH_VECTORS];
    second_by_vectors(g, e, by);
    double weight[8][SNW_TOUCH_VECTORS], moved[8][SNW_TOUCH_VECTORS];
    for (int i = 0; i < 8; i++) {
        vector_weights(g, i / 4, i % 4, 0, weight[i]);
        vector_weights(g, i / 4, i % 4, 1, moved[i]);
    }
    const int count = e->varies ? SNW_TOUCH_VECTORS : 1; // only w matters with constant weights
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            snw_mat3 sum = {0};
            for (int k = 0; k < count; k++) {
                for (int l = 0; l < count; l++) {
                    const double f = weight[i][k] * weight[j][l];
                    if (f != 0) sum = snw_mat3_add(sum, snw_mat3_scale(f, by[k][l]));
                }
            }
            for (int r = 0; r < 3; r++) {
                for (int c = 0; c < 3; c++) H[24 * (3 * i + r) + 3 * j + c] = sum.e[r][c];
            }
        }
    }
    // H -= L_zy L_yy^-1 L_yz over the free arc lengths and their multipliers
    snw_vec3 mixed[4][SNW_TOUCH_VECTORS];
    double M[4][4], all[4][4], Z[4][24], X[4][24];
    mixed_derivatives(g, e, by[SNW_OF_W][SNW_OF_W], mixed);
    second_by_lengths(g, e, all);
    int row[4], n = 0;
    for (int y = 0; y < 4; y++) {
        if (touch->is_free[y % 2]) row[n++] = y;
    }
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) M[a][b] = all[row[a]][row[b]];
        for (int i = 0; i < 8; i++) {
            snw_vec3 sum = {{0}};
            for (int k = 0; k < SNW_TOUCH_VECTORS; k++) {
                sum = snw_add(sum, snw_scale(weight[i][k], mixed[row[a]][k]));
                if (row[a] == i / 4) sum = snw_add(sum, snw_scale(moved[i][k], e->gradient[k]));
            }
            for (int c = 0; c < 3; c++) Z[a][3 * i + c] = X[a][3 * i + c] = sum.e[c];
        }
    }
    small_solve(n, M, X);
    for (int a = 0; a < n; a++) {
        for (int i = 0; i < 24; i++) {
            for (int j = 0; j < 24; j++) H[24 * i + j] -= Z[a][i] * X[a][j];
        }
    }
}
