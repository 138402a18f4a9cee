// SPDX-License-Identifier: MIT
//
// Newton's matrix of the conserving scheme: static tangent and tangent of the momenta at the middle
// of the step, bordered by the constraint rows. theory.md 6.3
#include "integrate/conserving.h"

#include "dynamics/constraint.h"
#include "dynamics/force_element.h"
#include "dynamics/joint.h"
#include "dynamics/nonlinear_law.h"
#include "dynamics/rod_contact.h"
#include "dynamics/stop.h"
#include "dynamics/tube.h"
#include "integrate/lie_block.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// T(d/2): body-frame variation of the middle pose per half a variation of d.
static snw_lower half_tangent(const snw_conserving *c, const snw_block *b) {
    return snw_se3_tangent(snw_lie_block_twist(b, 0.5, c->d));
}

static void apply_half_tangent(const snw_conserving *c, double *A) {
    for (int f = 0; f < c->m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(c->m, f);
        snw_lie_block_turn_columns(b, half_tangent(c, b), c->m->nv, c->m->nv, A);
    }
}

// Q <- Q - M ad_u on the columns of a ball or free joint: from variations that rotate the body
// velocities u with the frame to variations that keep them.
static void conserving_matrix_untwist(const snw_conserving *c, const snw_block *b, const double *M,
                                      double *Q) {
    const size_t n = (size_t)c->m->nv;
    const snw_twist u = snw_lie_block_twist(b, 1, c->mid->v);
    for (int k = 0; k < b->n; k++) {
        const snw_twist z = snw_ad(u, snw_twist_unit(k));
        double *to = Q + (size_t)(b->dof + k) * n;
        for (int j = 0; j < b->n; j++) {
            const double *from = M + (size_t)(b->dof + j) * n;
            for (size_t i = 0; i < n; i++) to[i] -= z.e[j] * from[i];
        }
    }
}

// K <- derivative of the elastic forces at q, after a residual there.
static void elastic_tangent(const snw_model *m, const double *q, const snw_work *w, double *K) {
    const size_t n = (size_t)m->nv;
    snw_elastic_matrices(m, K, NULL);
    if (m->nlaw_point) snw_nonlinear_laws_tangent(m, 1, w, snw_matrix_dense(n, K));
    for (int i = 0; i < m->nspring; i++) {
        const snw_spring *s = &m->spring[i];
        const snw_block *b = &m->block[s->block];
        if (b->lie_block < 0 || s->stiffness == 0) continue;
        snw_vec3 e;
        snw_spring_force(m, s, q, NULL, e.e);
        const snw_mat3 d1 = snw_so3_tangent_inv(snw_scale(1 / s->stiffness, e));
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                K[(size_t)(b->dof + k) * n + (size_t)(b->dof + j)] = s->stiffness * d1.e[j][k];
            }
        }
    }
}

// c->A <- nonholonomic rows: h C(q_m) v varies by C dd and by the derivative of C along half of dd.
// Body velocities v of ball and free joints do not rotate with their frame.
static void border_contacts(snw_conserving *c, double h) {
    const snw_model *m = c->m;
    const size_t n = (size_t)m->nv, all = (size_t)c->n;
    snw_kinematics(m, c->in, c->mid, false, c->w);
    snw_tangent_pass(m, NULL, c->w);
    c->w->velocity_time = h;
    memset(c->E, 0, n * n * sizeof *c->E);
    snw_constraints_add_tangent(m, 1, 0, c->w, snw_matrix_dense(n, c->E));
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int r = 0; r < loop->nrow && loop->nonholonomic; r++) {
            const snw_constraint row = snw_constraint_at(m, c->w, loop->row + r);
            double *to = c->A + n + (size_t)(loop->row + r), *C = c->dx, *R = c->r;
            for (size_t j = 0; j < n; j++) C[j] = R[j] = 0;
            for (int j = 0; j < row.n; j++) C[row.dof[j]] = row.C[j], R[row.dof[j]] = row.R[j];
            for (size_t j = 0; j < n; j++) to[j * all] = C[j] + 0.5 * R[j];
            for (int f = 0; f < m->nlie_block; f++) {
                const snw_block *b = snw_lie_block(m, f);
                const snw_lower T = half_tangent(c, b);
                const snw_twist d = snw_lie_block_twist(b, 1, c->d);
                for (int k = 0; k < b->n; k++) {
                    const snw_twist x = snw_lower_apply(&T, snw_twist_unit(k)), y = snw_ad(d, x);
                    double sum = C[b->dof + k];
                    for (int j = 0; j < b->n; j++) {
                        sum += 0.5 * (R[b->dof + j] * x.e[j] - C[b->dof + j] * y.e[j]);
                    }
                    to[(size_t)(b->dof + k) * all] = sum;
                }
            }
        }
    }
}

// c->A <- c->T bordered by the constraints: forces -C' lambda at the middle, violations with
// derivative C T(d) at the end. Call after the Jacobian pass at the middle.
static void border(snw_conserving *c, double h) {
    const snw_model *m = c->m;
    const size_t n = (size_t)m->nv, all = (size_t)c->n;
    memset(c->A, 0, all * all * sizeof *c->A);
    for (size_t j = 0; j < n; j++) memcpy(c->A + j * all, c->T + j * n, n * sizeof *c->A);
    for (int k = 0; k < m->nconstraint; k++) {
        double *to = c->A + (n + (size_t)k) * all;
        for (int i = 0; i < m->nconstraint; i++) c->dx[i] = i == k ? -1 : 0;
        snw_constraints_apply_transpose(m, c->w, c->dx, to);
        if (snw_constraint_at(m, c->w, k).inactive)
            to[n + (size_t)k] = 1; // inactive: its multiplier stays zero
    }
    snw_move(m, c->now->q, 1, c->d, c->end->q);
    snw_kinematics(m, c->last, c->end, true, c->w);
    snw_jacobian_pass(m, c->w);
    snw_constraints_jacobian(m, c->w);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) c->dx[i] = i == j;
        snw_constraints_apply(m, c->w, c->dx, c->A + j * all + n);
    }
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        snw_lie_block_turn_columns(b, snw_se3_tangent(snw_lie_block_twist(b, 1, c->d)),
                                   m->nconstraint, c->n, c->A + n);
    }
    if (m->nnonholonomic) border_contacts(c, h);
}

// c->A <- factors of the derivative of the residual in d:
//     2/h^2 M + (Q - Q')/h + K/2 + D/h - coad((p_0 + p_1)/2)/h,  Q = dP/dq
// with the rows of ball and free joints in M and Q transported to the middle, coad in their blocks.
bool snw_conserving_factor(snw_conserving *c, double h) {
    const snw_model *m = c->m;
    const size_t n = (size_t)m->nv;
    const bool is_static = m->nlive == 0; // laws that read signals need the velocities
    snw_residual(m, c->in, c->mid, is_static, c->w);
    snw_conserving_contacts_forget(c); // they act by their mean forces
    snw_tangent_pass(m, NULL, c->w);
    snw_tangent_assemble(m, c->in, 0.5, 0, 0, c->w, c->T);
    if (m->ncontact_point) {
        snw_conserving_contacts_mean(c);
        snw_kinematics(m, c->in, c->mid, false, c->w);
        snw_jacobian_pass(m, c->w);
        snw_conserving_contacts_apply(c);
        snw_conserving_contacts_matrix(c, h, c->T);
    }
    apply_half_tangent(c, c->T);
    if (m->nlive) snw_feedback_tangent(m, c->in, 0, 1 / h, c->w, n, c->T);
    if (m->nstop || m->nforce_element || m->ntube_point || m->ntouching_rod) {
        snw_kinematics(m, c->in, c->mid, false, c->w);
        snw_tangent_pass(m, NULL, c->w);
        snw_stops_tangent(m, 0, 1 / h, c->w, snw_matrix_dense(n, c->T));
        snw_tubes_tangent(m, 0, 1 / h, c->w, n, c->T);
        if (m->ntouching_rod)
            snw_rod_contacts_tangent(m, 0, 1 / h, c->w, snw_matrix_dense(n, c->T));
        snw_force_elements_tangent(m, 0, 1 / h, c->w, snw_matrix_dense(n, c->T));
    }

    snw_conserving_momenta(c, c->in, c->mid, c->P);
    snw_tangent_pass(m, NULL, c->w);
    snw_tangent_assemble(m, c->unloaded, 1, 0, 0, c->w, c->M);
    elastic_tangent(m, c->mid->q, c->w, c->E);
    for (size_t i = 0; i < n * n; i++) c->M[i] -= c->E[i];
    snw_tangent_assemble(m, c->unloaded, 0, 0, 1, c->w, c->E);
    for (int f = 0; f < m->nlie_block; f++)
        conserving_matrix_untwist(c, snw_lie_block(m, f), c->E, c->M);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) c->T[j * n + i] -= c->M[i * n + j] / h;
    }
    apply_half_tangent(c, c->M);
    for (size_t i = 0; i < n * n; i++) c->M[i] = c->M[i] / h + 2 / (h * h) * c->E[i];
    for (size_t j = 0; j < n; j++) {
        snw_transport_half(m, c->d, true, c->M + j * n, c->r);
        for (size_t i = 0; i < n; i++) c->T[j * n + i] += c->r[i];
    }
    snw_elastic_matrices(m, NULL, c->E);
    snw_friction_matrix(m, c->mid->v, c->E);
    for (size_t i = 0; i < n * n; i++) c->T[i] += c->E[i] / h;
    for (size_t i = 0; i < n; i++) c->p1[i] = 2 * c->P[i] - c->p0[i];
    snw_transport_half(m, c->d, true, c->p1, c->dT);
    snw_transport_half(m, c->d, false, c->p0, c->r);
    for (size_t i = 0; i < n; i++) c->r[i] = 0.5 * (c->r[i] + c->dT[i]);
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        const snw_lower T = half_tangent(c, b);
        for (int k = 0; k < b->n; k++) {
            const snw_wrench col =
                snw_coad(snw_lie_block_wrench(b, c->r), snw_lower_apply(&T, snw_twist_unit(k)));
            double *to = c->T + (size_t)(b->dof + k) * n + (size_t)b->dof;
            for (int i = 0; i < b->n; i++) to[i] -= col.e[i] / h;
        }
    }
    if (m->nconditional) snw_clear_inactive_matrix(m, c->w, n, c->T);
    if (m->nconstraint) border(c, h);
    snw_equilibration_take(&c->equilibration, snw_matrix_dense((size_t)c->equilibration.n, c->A),
                           NULL);
    c->condition = NAN;
    c->factored = snw_lu_factor(c->n, c->A, c->pivot) == SNW_OK;
    return c->factored;
}
