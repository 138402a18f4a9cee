// SPDX-License-Identifier: MIT
//
// Stops at the limits of joints: force, derivatives and energy, theory.md (3.4a); reactions of hard
// stops, (3.4d).

#include "dynamics/stop.h"

#include "math/positive_part.h"

#include <math.h>

static double damping_factor(const snw_stop *stop, double rate) {
    return snw_positive_part(1 - stop->damping * rate, SNW_HUNT_CROSSLEY_WIDTH);
}

static bool is_cone(const snw_block *b) { return b->space == SNW_SPACE_SO3; }

// With a = e_x and b = R'a the angle f has cos f = a.b, and varies by n zeta, n = -a x b/|a x b|.
static void cone_motion(const snw_stop *stop, const snw_block *b, bool is_static, const snw_work *w,
                        snw_stop_work *at) {
    const snw_mat3 *R = &w->h[b->seg].R;
    const snw_vec3 across = {{0, -R->e[0][2], R->e[0][1]}}; // a x b
    at->across = snw_norm(across);
    at->way = -1;
    at->gap = stop->high - atan2(at->across, R->e[0][0]);
    at->n = snw_scale(snw_select(at->across > 0, -1 / at->across, 0), across);
    if (!is_static) at->rate = -snw_dot(at->n, w->u[b->seg].w);
}

// The nearer limit acts; between limits closer than `smooth` both would, which the reader refuses.
// P: forces of a hard stop at its limits; one that carries a force acts.
static void coordinate_motion(const snw_stop *stop, const snw_block *b, const snw_state *s,
                              bool is_static, const double P[2], snw_stop_work *at) {
    const double q = s->q[b->q], low = q - stop->low, high = stop->high - q;
    const snw_mask at_low = (P[0] > 0) | (!(P[1] > 0) & (low < high));
    at->gap = snw_select(at_low, low, high);
    at->way = snw_select(at_low, 1, -1);
    at->n.x = 1;
    if (!is_static) at->rate = at->way * s->v[b->dof];
}

// Depth of a hard stop in equilibria, m: that of its limit and that by which P is carried.
static double hard_depth(const snw_stop *stop, double P, const snw_work *w,
                         const snw_stop_work *at) {
    return -stop->arm * at->gap + P / w->hard_stiffness;
}

// Reaction of a hard stop with the force P on its coordinate, N m or N.
static double hard_reaction(const snw_stop *stop, double P, const snw_work *w,
                            const snw_stop_work *at) {
    if (w->hard_is_given) return stop->arm * P;
    if (!snw_any(w->hard_stiffness > 0)) return 0;
    return stop->arm * w->hard_stiffness *
           snw_positive_part(hard_depth(stop, P, w, at), w->hard_smooth);
}

// Its derivative by the depth of the coordinate.
static double hard_reaction_d1(const snw_stop *stop, double P, const snw_work *w,
                               const snw_stop_work *at) {
    if (w->hard_is_given || !snw_any(w->hard_stiffness > 0)) return 0;
    return stop->arm * stop->arm * w->hard_stiffness *
           snw_positive_part_d1(hard_depth(stop, P, w, at), w->hard_smooth);
}

void snw_stops_motion(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                      snw_work *w) {
    for (int i = 0; i < m->nstop; i++) {
        const snw_stop *stop = &m->stop[i];
        const snw_block *b = &m->block[stop->block];
        snw_stop_work *at = &w->stop[i];
        const double *P = w->hard_stop + 2 * (ptrdiff_t)i;
        *at = (snw_stop_work){0};
        if (is_cone(b)) {
            cone_motion(stop, b, is_static, w, at);
        } else {
            coordinate_motion(stop, b, s, is_static, P, at);
        }
        if (in->inertia_only || !snw_seg_is_active(m, w, b->seg)) continue;
        if (stop->hard) {
            at->elastic_force = at->force = hard_reaction(stop, P[snw_any(at->way < 0)], w, at);
            continue;
        }
        at->elastic_force = stop->stiffness * snw_positive_part(-at->gap, stop->smooth);
        at->force = at->elastic_force;
        if (!is_static) at->force *= damping_factor(stop, at->rate);
    }
}

void snw_stops_add(const snw_model *m, const snw_work *w, double elastic, double damping,
                   double *r) {
    for (int i = 0; i < m->nstop; i++) {
        const snw_stop_work *at = &w->stop[i];
        const snw_block *b = &m->block[m->stop[i].block];
        const double f = elastic * at->elastic_force + damping * (at->force - at->elastic_force);
        for (int k = 0; k < b->n; k++) r[b->dof + k] -= at->way * f * at->n.e[k];
    }
}

// Spherical joint with variations S x, as for its spring (joint.c): the rotation varies by S x, the
// angular velocity by (S' + w^ S) x + S x', rows are multiplied by S'. n varies by
// -(1 - n n') a x (b x zeta)/|a x b|.
static void cone_tangent(const snw_block *b, const snw_stop_work *at, const snw_columns *own,
                         double by_gap, double by_rate, double cq, double cv, const snw_work *w,
                         size_t ld, double *T) {
    const snw_mat3 *R = &w->h[b->seg].R;
    const snw_vec3 a = {{1, 0, 0}}, c = {{R->e[0][0], R->e[0][1], R->e[0][2]}};
    snw_vec3 spin = {{0}}, S[3], dr[3];
    if (!w->is_static) spin = w->u[b->seg].w;
    for (int j = 0; j < 3; j++) {
        snw_vec3 dS = {{0}};
        for (int i = 0; i < 3; i++) {
            const int k = i * own->ld + j;
            S[j].e[i] = own->J[k];
            if (!w->is_static) dS.e[i] = own->dJ[k];
        }
        const snw_vec3 zeta = snw_scale(cq, S[j]);
        const snw_vec3 turn = snw_cross(a, snw_cross(c, zeta));
        const snw_vec3 dn =
            snw_scale(-1 / at->across, snw_sub(turn, snw_scale(snw_dot(at->n, turn), at->n)));
        const snw_vec3 dspin =
            snw_add(snw_scale(cq, snw_add(dS, snw_cross(spin, S[j]))), snw_scale(cv, S[j]));
        const double dN =
            by_gap * snw_dot(at->n, zeta) + by_rate * (snw_dot(dn, spin) + snw_dot(at->n, dspin));
        dr[j] = snw_add(snw_scale(dN, at->n), snw_scale(at->force, dn));
    }
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) T[j * ld + i] += snw_dot(S[i], dr[j]);
    }
}

void snw_stop_tangent(const snw_model *m, int i, const snw_columns *own, double cq, double cv,
                      const snw_work *w, size_t ld, double *T) {
    const snw_stop *stop = &m->stop[i];
    const snw_block *b = &m->block[stop->block];
    const snw_stop_work *at = &w->stop[i];
    if (snw_all(at->elastic_force == 0)) return;
    // both limits: the force varies by -way df/dg dg, dg = way dq
    double by_gap = stop->hard
                        ? hard_reaction_d1(stop, w->hard_stop[2 * i + snw_any(at->way < 0)], w, at)
                        : stop->stiffness * snw_positive_part_d1(-at->gap, stop->smooth);
    double by_rate = 0;
    if (!w->is_static && !stop->hard) {
        by_gap *= damping_factor(stop, at->rate);
        by_rate = at->elastic_force * stop->damping *
                  snw_positive_part_d1(1 - stop->damping * at->rate, SNW_HUNT_CROSSLEY_WIDTH);
    }
    if (is_cone(b)) {
        cone_tangent(b, at, own, by_gap, by_rate, cq, cv, w, ld, T);
    } else {
        *T += cq * by_gap + cv * by_rate;
    }
}

void snw_stops_tangent(const snw_model *m, double cq, double cv, const snw_work *w, snw_matrix T) {
    for (int i = 0; i < m->nstop; i++) {
        const snw_block *b = &m->block[m->stop[i].block];
        const snw_path *path = &m->path[m->seg[b->seg].path];
        const size_t store = (size_t)m->seg_store[b->seg] + (size_t)path->own;
        const snw_columns own = {.n = b->n, .ld = path->ld, .J = w->J + store, .dJ = w->dJ + store};
        double part[9] = {0};
        if (snw_all(w->stop[i].elastic_force == 0)) continue;
        snw_stop_tangent(m, i, &own, cq, cv, w, (size_t)b->n, part);
        for (int k = 0; k < b->n * b->n; k++)
            *snw_matrix_at(T, b->dof + k % b->n, b->dof + k / b->n) += part[k];
    }
}

double snw_stop_energy(const snw_model *m, const snw_work *w, int i) {
    const snw_stop *stop = &m->stop[i];
    if (snw_all(w->stop[i].elastic_force == 0) || stop->hard) return 0;
    return stop->stiffness * snw_positive_part_integral(-w->stop[i].gap, stop->smooth);
}

double snw_stops_energy(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < m->nstop; i++) sum += snw_stop_energy(m, w, i);
    return sum;
}

double snw_stops_energy_rate(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < m->nstop; i++) {
        if (!m->stop[i].hard) sum -= w->stop[i].elastic_force * w->stop[i].rate;
    }
    return sum;
}

double snw_stops_heat(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < m->nstop; i++)
        sum -= (w->stop[i].force - w->stop[i].elastic_force) * w->stop[i].rate;
    return sum;
}
