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

void snw_conserving_contacts_begin(snw_conserving *c) {
    const snw_model *m = c->m;
    if (m->ncontact_point == 0) return;
    snw_kinematics(m, c->in, c->now, true, c->w);
    for (int k = 0; k < m->ncontact_point; k++) c->gap[k] = c->w->contact_point[k].gap;
}

void snw_conserving_contacts_mean(snw_conserving *c) {
    const snw_model *m = c->m;
    if (m->ncontact_point == 0) return;
    snw_move(m, c->now->q, 1, c->d, c->end->q);
    snw_kinematics(m, c->last, c->end, true, c->w);
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        c->mean[k] = c->slope[k] = 0;
        if (!is_followed(m, k) || !snw_contact_exists(m, c->w, k)) continue;
        c->mean[k] = mean_force(p->stiffness, m->contact[p->contact].smooth, c->gap[k],
                                c->w->contact_point[k].gap, &c->slope[k]);
    }
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

double snw_conserving_contacts_correction(snw_conserving *c, double h, double *out) {
    const snw_model *m = c->m;
    const double arm = m->length;
    double length = 0;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point_work *at = &c->w->contact_point[k];
        if (!at->in_contact || !is_followed(m, k)) continue;
        // increment of the segment relative to the obstacle, at the touching point
        snw_twist turn = snw_twist_scale(
            h, snw_twist_sub(c->w->V[m->contact_point[k].seg], at->carried));
        const snw_vec3 way = snw_add(turn.v, snw_cross(turn.w, at->s));
        const double weight = at->elastic_force / arm;
        const snw_vec3 f = snw_scale(weight, way), t = snw_scale(weight * arm * arm, turn.w);
        const snw_wrench F = {.m = snw_add(t, snw_cross(at->s, f)), .f = f};
        snw_contact_add_wrench(m, c->w, k, F, out);
        length += snw_dot(f, way) + snw_dot(t, turn.w);
    }
    return length;
}

// Derivatives of force components by velocities along the axes, N s/m: damping and friction
static void velocity_slopes(const snw_contact *law, const snw_contact_point_work *at,
                            const double u[3], double D[3][3]) {
    const double z = 1 - law->damping * at->rate, N = at->elastic_force * at->gradient;
    const double size = sqrt(u[1] * u[1] + u[2] * u[2] + law->creep * law->creep);
    const double friction =
        law->across * N * snw_positive_part(z, SNW_HUNT_CROSSLEY_WIDTH) / size;
    D[0][0] = N * law->damping * at->gradient * snw_positive_part_d1(z, SNW_HUNT_CROSSLEY_WIDTH);
    for (int i = 1; i < 3; i++) {
        for (int j = 1; j < 3; j++)
            D[i][j] = friction * ((i == j) - u[i] * u[j] / (size * size));
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
        const double by_gap = c->slope[k] * at->gradient / at->elastic_force;
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
