// SPDX-License-Identifier: MIT
//
// Compliant contacts in the conserving scheme, theory.md 6.3: the elastic force over a step is the
// discrete gradient of its potential, -(W_1 - W_0)/(g_1 - g_0), along the gap at the middle;
// damping and friction act at the middle, in proportion to it. Contacts whose touching points are
// searched along rods (`nearest`, rods with rods) act by their forces at the middle.
#include "integrate/conserving.h"

#include "dynamics/contact.h"
#include "dynamics/rod_contact.h"
#include "math/positive_part.h"

#include <math.h>
#include <string.h>

// Has contact point k the same touching material at the start and at the end of a step?
static bool is_followed(const snw_model *m, int k) { return m->contact_point[k].span == 0; }

// Mean elastic force over the gaps a to b, N, and its derivative by b
static double mean_force(double stiffness, double smooth, double a, double b, double *slope) {
    const double change = b - a, middle = -0.5 * (a + b);
    // below this the quotient is rounding, and the force at the mean gap as exact
    if (fabs(change) < 1e-6 * fmax(smooth, fabs(middle))) {
        *slope = -0.5 * stiffness * snw_positive_part_d1(middle, smooth);
        return stiffness * snw_positive_part(middle, smooth);
    }
    const double before = snw_positive_part_integral(-a, smooth),
                 after = snw_positive_part_integral(-b, smooth),
                 mean = stiffness * (before - after) / change;
    *slope = (stiffness * snw_positive_part(-b, smooth) - mean) / change;
    return mean;
}

double snw_conserving_contact_slope(const snw_model *m, int k, double other, double by) {
    const snw_contact_point *p = &m->contact_point[k];
    double slope;
    (void)mean_force(p->stiffness, m->contact[p->contact].smooth, other, by, &slope);
    return slope;
}

// Force of a linear spring that stores the energy W, N
static double spring_force(double stiffness, double W) { return sqrt(2 * stiffness * W); }

// pair <- nodes of the two rods that touch most, if any do; returns the sum of the forces of all
// that touch, N
static double choose_pair(const snw_conserving *c, int pair[2]) {
    const snw_model *m = c->m;
    double most = 0, sum = 0;
    for (int i = 0; i < snw_ntouch(m, c->w); i++) {
        const snw_touch *touch = &c->w->touch[i];
        sum += spring_force(touch->stiffness, touch->energy);
        if (!(touch->energy > most)) continue;
        most = touch->energy;
        for (int k = 0; k < 2; k++) pair[k] = m->touching_slice[touch->slice[k]].seg[0];
    }
    return sum;
}

static double piece_force(const snw_conserving *c, int k) {
    return spring_force(c->m->contact_point[k].stiffness, snw_contact_point_energy(c->m, c->w, k));
}

void snw_conserving_contacts_begin(snw_conserving *c) {
    const snw_model *m = c->m;
    c->pair_force0 = 0;
    if (m->ncontact_point + m->ntouching_rod == 0) return;
    snw_kinematics(m, c->in, c->now, true, c->w);
    for (int k = 0; k < m->ncontact_point; k++)
        c->gap[k] = is_followed(m, k) ? c->w->contact_point[k].gap : piece_force(c, k);
    if (m->ntouching_rod) c->pair_force0 = choose_pair(c, c->pair0);
}

void snw_conserving_contacts_mean(snw_conserving *c) {
    const snw_model *m = c->m;
    c->pair_force = 0;
    if (m->ncontact_point + m->ntouching_rod == 0) return;
    snw_move(m, c->now->q, 1, c->d, c->end->q);
    snw_kinematics(m, c->last, c->end, true, c->w);
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        c->mean[k] = c->slope[k] = 0;
        if (!snw_contact_exists(m, c->w, k)) continue;
        if (!is_followed(m, k)) {
            c->mean[k] = c->gap[k] + piece_force(c, k);
            continue;
        }
        c->mean[k] = mean_force(p->stiffness, m->contact[p->contact].smooth, c->gap[k],
                                c->w->contact_point[k].gap, &c->slope[k]);
    }
    if (m->ntouching_rod == 0) return;
    memcpy(c->pair, c->pair0, sizeof c->pair);
    c->pair_force = c->pair_force0 + choose_pair(c, c->pair);
}

void snw_conserving_contacts_apply(const snw_conserving *c) {
    for (int k = 0; k < c->m->ncontact_point; k++) {
        if (is_followed(c->m, k)) snw_contact_set_elastic(c->m, c->w, k, c->mean[k]);
    }
}

// f <- components of the force of contact point k along its axes
static void force_along_axes(const snw_conserving *c, int k, double f[3]) {
    snw_vec3 axis[3];
    snw_contact_axes(c->w, k, axis);
    for (int i = 0; i < 3; i++) f[i] = snw_dot(axis[i], c->w->contact_point[k].f);
}

void snw_conserving_contacts_forces(snw_conserving *c, bool elastic, double *out) {
    const snw_model *m = c->m;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point_work *at = &c->w->contact_point[k];
        if (!at->in_contact) continue;
        const double along_gap = at->elastic_force * at->gradient;
        double f[3] = {along_gap, 0, 0};
        if (!elastic) {
            force_along_axes(c, k, f);
            f[0] -= along_gap;
        }
        snw_contact_rows(m, c->w, k, c->rows);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < m->nv; j++) out[j] -= f[i] * c->rows[i * m->nv + j];
        }
    }
}

// out += force against the motion of segment a relative to b, about the point s of a: force over a
// typical length, times the increment over the step; returns its work
static double against_motion(const snw_conserving *c, double h, int a, int b, snw_vec3 s,
                             double force, double *out) {
    const snw_model *m = c->m;
    const snw_work *w = c->w;
    const double arm = m->length, weight = force / arm;
    const snw_se3 G = snw_se3_mul(snw_se3_inv(w->g[b]), w->g[a]);
    const snw_twist moves = snw_twist_sub(w->V[a], snw_twist_to_child(G, w->V[b]));
    const snw_vec3 turn = snw_scale(h, moves.w),
                   way = snw_scale(h, snw_add(moves.v, snw_cross(moves.w, s)));
    const snw_vec3 f = snw_scale(weight, way), t = snw_scale(weight * arm * arm, turn);
    const snw_wrench F = {{.m = snw_add(t, snw_cross(s, f)), .f = f}};
    snw_add_generalised(m, w, a, F, out);
    snw_add_generalised(m, w, b, snw_wrench_scale(-1, snw_wrench_to_parent(G, F)), out);
    return snw_dot(f, way) + snw_dot(t, turn);
}

double snw_conserving_contact_correction(const snw_conserving *c, int k, double h, double force,
                                         double *out) {
    const snw_contact_point *p = &c->m->contact_point[k];
    return against_motion(c, h, p->seg, c->m->contact[p->contact].seg, c->w->contact_point[k].s,
                          force, out);
}

double snw_conserving_pair_correction(const snw_conserving *c, double h, double force,
                                      double *out) {
    return against_motion(c, h, c->pair[0], c->pair[1], (snw_vec3){{0}}, force, out);
}

double snw_conserving_contacts_correction(snw_conserving *c, double h, double *out) {
    const snw_model *m = c->m;
    double length = 0;
    for (int k = 0; k < m->ncontact_point; k++) {
        if (c->mean[k] > 0) length += snw_conserving_contact_correction(c, k, h, c->mean[k], out);
    }
    if (c->pair_force > 0) length += snw_conserving_pair_correction(c, h, c->pair_force, out);
    return length;
}

double snw_conserving_contacts_force(const snw_conserving *c) {
    double sum = c->pair_force;
    for (int k = 0; k < c->m->ncontact_point; k++) sum += c->mean[k];
    return sum;
}

// Derivatives of force components by velocities along the axes, N s/m: damping and friction
static void velocity_slopes(const snw_contact *law, const snw_contact_point_work *at,
                            const double u[3], double D[3][3]) {
    const double z = 1 - law->damping * at->rate, N = at->elastic_force * at->gradient;
    const double size = sqrt(u[1] * u[1] + u[2] * u[2] + law->creep * law->creep);
    const double friction = law->across * N * snw_positive_part(z, SNW_HUNT_CROSSLEY_WIDTH) / size;
    D[0][0] = N * law->damping * at->gradient * snw_positive_part_d1(z, SNW_HUNT_CROSSLEY_WIDTH);
    for (int i = 1; i < 3; i++) {
        for (int j = 1; j < 3; j++) D[i][j] = friction * ((i == j) - u[i] * u[j] / (size * size));
    }
}

// out (nv) += factor times the generalised forces of rods on rods, after snw_jacobian_pass
static void add_rods(const snw_conserving *c, double factor, double *out) {
    const snw_model *m = c->m;
    const snw_work *w = c->w;
    for (int i = 0; i < snw_ntouch(m, w); i++) {
        const snw_touch *touch = &w->touch[i];
        for (int k = 0; k < 4; k++) {
            const int seg = m->touching_slice[touch->slice[k / 2]].seg[k % 2];
            snw_add_generalised(m, w, seg, snw_wrench_scale(factor, touch->on[k]), out);
        }
    }
}

void snw_conserving_rods_elastic(snw_conserving *c) {
    const snw_model *m = c->m;
    if (m->ntouching_rod == 0) return;
    for (int i = 0; i < m->nv; i++) c->rods[i] = 0;
    snw_kinematics(m, c->in, c->mid, true, c->w);
    snw_jacobian_pass(m, c->w);
    add_rods(c, 1, c->rods);
}

void snw_conserving_rods_forces(const snw_conserving *c, bool elastic, double *out) {
    const snw_model *m = c->m;
    if (m->ntouching_rod == 0) return;
    for (int i = 0; i < m->nv; i++) out[i] += elastic ? -c->rods[i] : c->rods[i];
    if (!elastic) add_rods(c, -1, out);
}

void snw_conserving_contacts_forget(snw_conserving *c) {
    for (int k = 0; k < c->m->ncontact_point; k++) {
        if (is_followed(c->m, k)) c->w->contact_point[k].in_contact = false;
    }
}

void snw_conserving_contacts_matrix(snw_conserving *c, double h, double *T) {
    const snw_model *m = c->m;
    const size_t n = (size_t)m->nv;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point_work *at = &c->w->contact_point[k];
        if (!at->in_contact) continue;
        const snw_contact *law = &m->contact[m->contact_point[k].contact];
        double f[3], u[3], D[3][3] = {{0}};
        force_along_axes(c, k, f);
        snw_contact_velocity(m, c->w, k, u);
        velocity_slopes(law, at, u, D);
        snw_contact_rows(m, c->w, k, c->rows);
        const double by_gap =
            c->slope[k] * at->gradient / at->elastic_force; // zero if at the middle
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                const double x = D[i][j] / h - (j == 0 ? f[i] * by_gap : 0);
                if (x == 0) continue;
                const double *row = c->rows + (size_t)i * n, *column = c->rows + (size_t)j * n;
                for (size_t b = 0; b < n; b++) {
                    for (size_t a = 0; a < n && column[b] != 0; a++)
                        T[b * n + a] += x * row[a] * column[b];
                }
            }
        }
    }
}
