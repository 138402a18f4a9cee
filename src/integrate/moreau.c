// SPDX-License-Identifier: MIT
//
// Steps with hard contacts (integrate/moreau.h, theory.md 6.9), and the snw_integrator built on
// them.
#include "integrate/integrator_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/chart.h"
#include "dynamics/constraint.h"
#include "integrate/checkpoint.h"
#include "integrate/lie_block.h"
#include "integrate/moreau.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ITERATIONS = 40,   // most in a step
    RENEW = 8,         // iterations after which Newton's matrix is made anew
    CUTS = 8,          // steps of one advance that may end at an impact
    IMPACT_SEARCH = 10 // patience of one that searches impacts, times that of another
};

static const double GAP = 1e-10;     // of the length of the robot: a gap that counts as closed
static const double SLOWEST = 1e-3;  // m/s: slower impacts are plastic
static const double COULOMB = 1e-12; // tolerance of contact forces
static const double ACCEPTED = 1e-3; // where many contacts hold one another

// ---- contacts that may act ----------------------------------------------------------------------

static double closed_gap(const snw_moreau *c) { return GAP * fmin(1, c->m->length); }

// c->found <- hard contacts in w with gaps below these, of contact points and of rods. False: no
// room.
static bool find_near(snw_moreau *c, const snw_work *w, double points, double rods) {
    const bool all = snw_hard_near(c->m, w, points, rods, c->near, c->found, &c->nfound);
    if (!all) c->full = true;
    return all;
}

static bool is_candidate(const snw_moreau *c, const snw_hard_contact *of) {
    for (int i = 0; i < c->nc; i++) {
        if (snw_hard_is_same(c->m, &c->candidate[i], of)) return true;
    }
    return false;
}

// Adds a contact; false: no room
static bool add_candidate(snw_moreau *c, const snw_hard_contact *from, double gap,
                          double approach) {
    if (c->nc == c->most) {
        c->full = true;
        return false;
    }
    const int i = c->nc++;
    c->candidate[i] = *from;
    c->approach[i] = approach;
    c->gap[i] = gap;
    snw_hard_friction(c->m, from, c->mu + 2 * (ptrdiff_t)i);
    for (int j = 0; j < 3; j++) c->force[3 * i + j] = 0;
    return true;
}

// Candidate `to` <- candidate `from`
static void move_candidate(snw_moreau *c, int from, int to) {
    c->candidate[to] = c->candidate[from];
    c->approach[to] = c->approach[from];
    c->gap[to] = c->gap[from];
    for (int j = 0; j < 2; j++) c->mu[2 * to + j] = c->mu[2 * from + j];
    for (int j = 0; j < 3; j++) c->force[3 * to + j] = c->force[3 * from + j];
    for (int j = 0; j < 3; j++) c->u[3 * to + j] = c->u[3 * from + j];
}

// Gap below which a contact with the velocities u may close in a step of length h
static double margin_of(const snw_moreau *c, double h, const double u[3]) {
    const double speed = fmax(fabs(u[0]), 0.1 * hypot(u[1], u[2]));
    return 2 * h * speed + 1e-6 * c->m->length + 10 * h * h;
}

// Contacts whose gap may close in a step of length h; *closes <- one of them is open and reaches
// the surface at its present speed. False: too many, or rods may pass through each other.
static bool choose_candidates(snw_moreau *c, double h, bool *closes) {
    const snw_model *m = c->m;
    snw_work *w = c->end_work;
    snw_kinematics(m, c->in, c->now, false, w);
    c->nc = 0;
    *closes = false;
    if (m->ntouching_rod) {
        if (snw_rod_contacts_step_limit(m, w, h) < h) return false;
        const double fastest[3] = {snw_touching_speed(m, w), 0, 0};
        c->reach = margin_of(c, h, fastest);
    }
    if (!find_near(c, w, INFINITY, c->reach)) return false;
    for (int k = 0; k < c->nfound; k++) {
        double u[3];
        const double gap = snw_hard_gap(m, w, &c->found[k]);
        snw_hard_velocity(m, w, &c->found[k], u);
        if (gap > margin_of(c, h, u)) continue;
        if (!add_candidate(c, &c->found[k], gap, u[0])) return false;
        if (gap + h * u[0] < -closed_gap(c) && gap > closed_gap(c)) *closes = true;
        if (u[0] < -SLOWEST && gap <= closed_gap(c)) *closes = true;
    }
    return true;
}

// ---- equations of a step ------------------------------------------------------------------------

// States of the middle and the end <- from d
static void place_states(snw_moreau *c, double h) {
    const snw_model *m = c->m;
    double *x = c->part, *rate = c->rate, *acc = c->acc;
    for (int i = 0; i < m->nv; i++) {
        x[i] = c->theta * c->d[i];
        rate[i] = c->d[i] / h;
        acc[i] = (rate[i] - c->rate0[i]) / (c->theta * h);
    }
    snw_chart_to_state(m, SNW_CHART_SO3R3, c->now->q, x, rate, acc, c->mid);
    if (m->nlie_block) {
        const double a = 1 / (c->theta * h);
        snw_chart_jacobian(m, SNW_CHART_SO3R3, x, a, a * a, c->mid, c->chart_jacobian);
    }
    for (int i = 0; i < m->nv; i++) rate[i] = c->rate0[i] + h * acc[i];
    snw_chart_to_state(m, SNW_CHART_SO3R3, c->now->q, c->d, rate, acc, c->end);
    for (int i = 0; i < m->nconstraint; i++)
        c->mid->lambda[i] = c->end->lambda[i] = c->scale * c->d[m->nv + i];
}

// f (nv) <- generalised forces by increments in the chart at the middle of the step
static void to_chart(const snw_moreau *c, double *f) {
    for (int k = 0; k < c->m->nlie_block; k++) {
        const snw_block *b = snw_lie_block(c->m, k);
        const double *S = c->chart_jacobian + 108 * (ptrdiff_t)k;
        double sum[6] = {0};
        for (int i = 0; i < b->n; i++) {
            for (int j = 0; j < b->n; j++) sum[j] += S[6 * i + j] * f[b->dof + i];
        }
        memcpy(f + b->dof, sum, (size_t)b->n * sizeof *f);
    }
}

// Residual, violations, gaps and slips at d; contact Jacobian G. factor: also Newton's matrix.
static bool evaluate(snw_moreau *c, double h, bool factor) {
    const snw_model *m = c->m;
    place_states(c, h);
    snw_residual(m, c->in, c->mid, false, c->w);
    memcpy(c->r, c->w->r, (size_t)m->nv * sizeof *c->r);
    to_chart(c, c->r);
    if (factor) {
        const double a = 1 / (c->theta * h);
        snw_tangent_pass(m, m->nlie_block ? c->chart_jacobian : NULL, c->w);
        snw_tangent_assemble(m, c->in, 1, a, a * a, c->w, c->A);
        for (size_t i = 0; i < (size_t)m->nv * (size_t)m->nv; i++) c->A[i] *= c->theta;
        snw_constraints_border(m, c->w, c->scale, c->A);
        if (snw_lu_factor(c->n, c->A, c->pivot) != SNW_OK) return false;
    }
    if (c->nc > 0) snw_jacobian_pass(m, c->w);
    for (int i = 0; i < c->nc; i++) {
        double *G = c->G + 3 * (size_t)i * (size_t)m->nv;
        (void)snw_hard_gap(m, c->w, &c->candidate[i]);
        snw_hard_rows(m, c->w, &c->candidate[i], G);
        for (int j = 0; j < 3; j++) to_chart(c, G + (size_t)j * (size_t)m->nv);
        snw_hard_velocity(m, c->w, &c->candidate[i], c->u + 3 * i);
        for (int j = 1; j < 3; j++) c->u[3 * i + j] *= h;
    }
    snw_kinematics(m, c->last, c->end, true, c->end_work);
    for (int i = 0; i < c->nc; i++) c->u[3 * i] = snw_hard_gap(m, c->end_work, &c->candidate[i]);
    if (m->nconstraint) {
        snw_constraints_add_forces(m, c->last, c->end, c->end_work);
        memcpy(c->violation, c->end_work->violation, (size_t)m->nconstraint * sizeof *c->violation);
    }
    return true;
}

// r <- residual with the contact forces; returns its largest entry relative to typical forces, or
// the largest violation
static double out_of_balance(snw_moreau *c, double h) {
    const snw_model *m = c->m;
    double worst = 0;
    for (int i = 0; i < 3 * c->nc; i++) {
        const double *G = c->G + (size_t)i * (size_t)m->nv;
        for (int j = 0; j < m->nv; j++) c->r[j] -= c->force[i] * G[j];
    }
    for (int i = 0; i < m->nv; i++) {
        const double x =
            fabs(c->r[i]) / (m->scale[i] + 1e-3 * c->mass[i] * m->typical[i] / (h * h));
        worst = snw_larger(worst, x);
    }
    for (int i = 0; i < m->nconstraint; i++) {
        const double x = fabs(c->violation[i]) / fmin(1, m->length);
        worst = snw_larger(worst, x);
    }
    return worst;
}

// Largest violation of the contact law at the end of the step, relative to the length of the robot
static double contact_violation(const snw_moreau *c) {
    double worst = 0;
    for (int i = 0; i < c->nc; i++) {
        const double g = c->u[3 * i];
        const double x = c->force[3 * i] > 0 ? fabs(g) : fmax(-g, 0);
        worst = snw_larger(worst, x);
    }
    return worst / fmin(1, c->m->length);
}

// W <- the symmetric part of G X with X = A^-1 G'; b <- u - G y, the displacements or velocities
// that the contact impulses start from, with what the antisymmetric part gives by the last ones
static void contact_matrix(snw_moreau *c, const double *impulses) {
    const size_t nv = (size_t)c->m->nv, n = (size_t)c->n, k = 3 * (size_t)c->nc;
    for (size_t j = 0; j < k; j++) {
        double *x = c->X + j * n;
        memset(x, 0, n * sizeof *x);
        memcpy(x, c->G + j * nv, nv * sizeof *x);
        snw_lu_solve(c->n, c->A, c->pivot, x);
    }
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < k; i++) {
            double sum = 0;
            for (size_t l = 0; l < nv; l++) sum += c->G[i * nv + l] * c->X[j * n + l];
            c->W[j * k + i] = sum;
        }
    }
    for (size_t i = 0; i < k; i++) {
        c->b[i] = c->u[i];
        for (size_t l = 0; l < nv; l++) c->b[i] -= c->G[i * nv + l] * c->y[l];
    }
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < j; i++) {
            const double up = c->W[j * k + i], down = c->W[i * k + j];
            c->W[j * k + i] = c->W[i * k + j] = 0.5 * (up + down);
            c->b[i] += 0.5 * (up - down) * impulses[j];
            c->b[j] -= 0.5 * (up - down) * impulses[i];
        }
    }
}

// out <- forces or impulses for W and b, near those given (NULL: none are known)
static snw_status contact_forces(snw_moreau *c, const double *near, double *out) {
    snw_coulomb_info info;
    c->violated = 0;
    if (c->nc == 0) return SNW_OK;
    const snw_coulomb_problem problem = {
        .n = c->nc, .W = c->W, .b = c->b, .mu = c->mu, .near = near};
    const snw_status s = snw_coulomb_solve(&problem, COULOMB, &c->scratch, out, c->u, &info);
    c->violated = info.residual;
    c->violator = snw_hard_law(c->m, &c->candidate[info.worst]);
    return info.residual <= ACCEPTED ? SNW_OK : s;
}

// Forces of a contact in the last step, by contact points and stops; NULL: of rods
static double *force_of(const snw_moreau *c, const snw_hard_contact *at) {
    if (at->point >= 0) return c->point_force + 3 * (ptrdiff_t)at->point;
    return at->limit >= 0 ? c->stop_force + 3 * (ptrdiff_t)at->limit : NULL;
}

// Contact forces of the last step, with which the search begins; NULL: there were none
static const double *last_forces(snw_moreau *c) {
    bool any = false;
    for (int i = 0; i < c->nc; i++) {
        // of rods none: their axes move along them
        const double *last = force_of(c, &c->candidate[i]);
        for (int j = 0; j < 3; j++) c->impulse[3 * i + j] = last ? last[j] : 0;
        any = any || c->impulse[3 * i] > 0;
    }
    return any ? c->impulse : NULL;
}

// One Newton iteration: contact forces and increments of the linearised step. r is the residual
// without contact forces. Returns the status of the contact problem.
static snw_status iterate(snw_moreau *c, bool first) {
    const size_t n = (size_t)c->n, nv = (size_t)c->m->nv;
    for (size_t i = 0; i < nv; i++) c->y[i] = c->r[i];
    for (size_t i = nv; i < n; i++) c->y[i] = -c->scale * c->violation[i - nv];
    snw_lu_solve(c->n, c->A, c->pivot, c->y);
    contact_matrix(c, c->force);
    SNW_TRY(contact_forces(c, first ? last_forces(c) : c->force, c->force));
    for (size_t i = 0; i < n; i++) c->d[i] -= c->y[i];
    for (size_t j = 0; j < 3 * (size_t)c->nc; j++) {
        for (size_t i = 0; i < n; i++) c->d[i] += c->force[j] * c->X[j * n + i];
    }
    return SNW_OK;
}

// Contacts that are no candidates and penetrate at the end of the step become candidates; returns
// their number, -1: no room.
static int add_penetrating(snw_moreau *c) {
    const snw_model *m = c->m;
    const int before = c->nc;
    if (!find_near(c, c->end_work, -closed_gap(c), -closed_gap(c))) return -1;
    for (int k = 0; k < c->nfound; k++) {
        if (is_candidate(c, &c->found[k])) continue;
        if (!add_candidate(c, &c->found[k], NAN, NAN)) return -1;
    }
    if (c->nc == before) return 0;
    snw_inputs_at(m, c->now->t, c->last); // their gaps at the start of the step
    snw_kinematics(m, c->last, c->now, true, c->end_work);
    for (int i = before; i < c->nc; i++) c->gap[i] = snw_hard_gap(m, c->end_work, &c->candidate[i]);
    snw_inputs_at(m, c->t_laws, c->last);
    return c->nc - before;
}

// The violation by the forces of the step, which are its last ones, or by those of its impulse
static void note_violation(snw_moreau *c) {
    if (c->nc == 0 || !(c->violated > c->step_violated)) return;
    c->step_violated = c->violated;
    c->step_violator = c->violator;
}

static snw_status solve(snw_moreau *c, double h, snw_stats *took) {
    const snw_model *m = c->m;
    for (int i = 0; i < m->nv; i++) c->d[i] = h * c->rate0[i];
    for (int i = 0; i < m->nconstraint; i++) c->d[m->nv + i] = c->now->lambda[i] / c->scale;
    for (int i = 0; i < 3 * c->nc; i++) c->force[i] = 0;
    double least = INFINITY;
    int stuck = 0;
    for (int k = 0; k < ITERATIONS; k++) {
        if (!evaluate(c, h, k % RENEW == 0)) return SNW_E_DIVERGED;
        const int added = k > 0 && !c->closed_only ? add_penetrating(c) : 0;
        if (added < 0) return SNW_E_DIVERGED;
        if (added > 0 && !evaluate(c, h, true)) return SNW_E_DIVERGED; // with their rows
        double *r = c->y; // residual without contact forces, for the iteration
        memcpy(r, c->r, (size_t)m->nv * sizeof *r);
        const double norm = out_of_balance(c, h), gaps = contact_violation(c);
        memcpy(c->r, r, (size_t)m->nv * sizeof *r);
        if (!isfinite(norm) || !isfinite(gaps)) return SNW_E_DIVERGED;
        took->residual = fmax(norm, c->violated);
        if (k > 0 && norm <= c->tolerance && gaps <= GAP && added == 0) return SNW_OK;
        if (k > 0 && norm >= 0.5 * least && norm <= 1e3 * c->tolerance && gaps <= GAP &&
            added == 0 && ++stuck == 3)
            return SNW_OK; // rounding
        least = fmin(least, norm);
        took->iterations++;
        if (iterate(c, k == 0) != SNW_OK) return SNW_E_DIVERGED;
    }
    return SNW_E_DIVERGED;
}

// ---- velocities at the end ----------------------------------------------------------------------

// Does contact i act in the step, or close at its end?
static bool acts(const snw_moreau *c, int i) {
    snw_hard_contact at = c->candidate[i];
    return c->force[3 * i] > 0 || snw_hard_gap(c->m, c->end_work, &at) <= closed_gap(c);
}

// Did contact i close in the step?
static bool closed_now(const snw_moreau *c, int i) {
    if (!acts(c, i)) return false;
    return c->gap[i] > 10 * closed_gap(c) || c->approach[i] < -SLOWEST;
}

static void keep_acting(snw_moreau *c) {
    int n = 0;
    for (int i = 0; i < c->nc; i++) {
        if (acts(c, i)) move_candidate(c, i, n++);
    }
    c->nc = n;
}

// Tangential contact forces, along the axes at the middle of the step <- along those at its end
static void turn_forces(snw_moreau *c) {
    for (int i = 0; i < c->nc; i++) {
        snw_hard_contact *at = &c->candidate[i];
        double *f = c->force + 3 * i;
        snw_vec3 axis[3], slip = {{0, 0, 0}};
        const double size = hypot(f[1], f[2]);
        if (!(size > 0)) continue;
        (void)snw_hard_gap(c->m, c->w, at);
        const int seg = snw_hard_axes(c->m, c->w, at, axis);
        for (int j = 1; j < 3; j++) slip = snw_add(slip, snw_scale(f[j], axis[j]));
        slip = snw_rotate_inv(c->end_work->g[seg].R, snw_rotate(c->w->g[seg].R, slip));
        (void)snw_hard_gap(c->m, c->end_work, at);
        (void)snw_hard_axes(c->m, c->end_work, at, axis);
        for (int j = 1; j < 3; j++) f[j] = snw_dot(axis[j], slip);
        const double turned = hypot(f[1], f[2]);
        for (int j = 1; j < 3 && turned > 0; j++) f[j] *= size / turned;
    }
}

// Velocities at the end <- those that contacts and constraints allow, (6.52); `bounce`: with
// restitution. On entry c->end->v are those of the step, and `force` its contact forces.
static snw_status impact(snw_moreau *c, double h, bool bounce) {
    const snw_model *m = c->m;
    const size_t n = (size_t)c->n, nv = (size_t)m->nv;
    snw_mass_matrix(m, c->last, c->end, c->end_work, c->A);
    snw_kinematics(m, c->last, c->end, false, c->end_work);
    snw_jacobian_pass(m, c->end_work);
    memset(c->y, 0, n * sizeof *c->y);
    if (m->nconstraint) {
        snw_constraints_jacobian(m, c->end_work);
        snw_constraints_rates(m, c->last, c->end, c->end_work, c->violation, NULL);
        for (size_t i = nv; i < n; i++) c->y[i] = -c->scale * c->violation[i - nv];
    }
    snw_constraints_border(m, c->end_work, c->scale, c->A);
    if (snw_lu_factor(c->n, c->A, c->pivot) != SNW_OK) return SNW_E_SINGULAR;
    snw_lu_solve(c->n, c->A, c->pivot, c->y);
    for (int i = 0; i < c->nc; i++) {
        snw_hard_contact *at = &c->candidate[i];
        (void)snw_hard_gap(m, c->end_work, at);
        snw_hard_rows(m, c->end_work, at, c->G + 3 * (size_t)i * nv);
        snw_hard_velocity(m, c->end_work, at, c->u + 3 * i);
    }
    const size_t rows = 3 * (size_t)c->nc;
    for (size_t i = 0; i < rows; i++) c->impulse[i] = 0;
    contact_matrix(c, c->impulse);
    for (size_t i = 0; i < rows; i++) c->impulse[i] = h * c->force[i];
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < rows; j++) c->b[i] -= c->W[j * rows + i] * h * c->force[j];
    }
    for (int i = 0; i < c->nc && bounce; i++) {
        const double e = snw_hard_restitution(m, &c->candidate[i]);
        if (c->approach[i] < -SLOWEST) c->b[3 * i] += e * c->approach[i];
    }
    SNW_TRY(contact_forces(c, c->impulse, c->impulse));
    for (size_t i = 0; i < nv; i++) c->end->v[i] -= c->y[i];
    for (size_t i = nv; i < n; i++) c->row_impulse[i - nv] = -c->scale * c->y[i];
    for (size_t j = 0; j < rows; j++) {
        const double p = c->impulse[j] - h * c->force[j];
        for (size_t i = 0; i < nv; i++) c->end->v[i] += p * c->X[j * n + i];
        for (size_t i = nv; i < n; i++) c->row_impulse[i - nv] += p * c->scale * c->X[j * n + i];
    }
    return SNW_OK;
}

// ---- a step -------------------------------------------------------------------------------------

static void forget_forces(snw_moreau *c) {
    memset(c->point_force, 0, 3 * (size_t)c->m->ncontact_point * sizeof *c->point_force);
    memset(c->stop_force, 0, 6 * (size_t)c->m->nstop * sizeof *c->stop_force);
    c->ntouch = 0;
}

static void store_forces(snw_moreau *c, double h, bool impulses) {
    forget_forces(c);
    for (int i = 0; i < c->nc; i++) {
        const snw_hard_contact *at = &c->candidate[i];
        double *to = force_of(c, at);
        if (!to) {
            c->touch[c->ntouch] = at->touch;
            to = c->touch[c->ntouch++].held;
        }
        for (int j = 0; j < 3; j++)
            to[j] = impulses ? c->impulse[3 * i + j] / h : c->force[3 * i + j];
    }
}

// One solution with the present theta; *landed <- a contact closed in it
static snw_status attempt(snw_moreau *c, double h, double t_laws, double theta, snw_stats *took,
                          bool *landed) {
    c->theta = theta;
    c->t_laws = t_laws;
    snw_inputs_at(c->m, c->now->t + theta * (t_laws - c->now->t), c->in);
    snw_inputs_at(c->m, t_laws, c->last);
    *landed = false;
    SNW_TRY(solve(c, h, took));
    for (int i = 0; i < c->nc; i++) *landed = *landed || closed_now(c, i);
    return SNW_OK;
}

// ---- impacts as instants ------------------------------------------------------------------------

// Candidates <- those that are closed and do not approach
static void keep_closed(snw_moreau *c) {
    int n = 0;
    for (int i = 0; i < c->nc; i++) {
        if (c->gap[i] > closed_gap(c) || c->approach[i] < -SLOWEST) continue;
        move_candidate(c, i, n++);
    }
    c->nc = n;
}

// Smallest gap at the end of the step of contacts that are no candidates
static double smallest_gap(snw_moreau *c) {
    double least = INFINITY;
    (void)find_near(c, c->end_work, INFINITY, c->reach);
    for (int k = 0; k < c->nfound; k++) {
        if (is_candidate(c, &c->found[k])) continue;
        least = fmin(least, snw_hard_gap(c->m, c->end_work, &c->found[k]));
    }
    return least;
}

// A step of at most *h that ends where the first contact closes; *h <- its length. False: none
// closes, or the instant was not found.
static bool step_to_touch(snw_moreau *c, double *h, double t_laws, snw_stats *took) {
    enum { SEARCH = 30, WATCHED = 60 };
    double low = 0, high = *h, length = *h, at_low = NAN, at_high = NAN;
    const double t0 = c->now->t;
    // of motions with derivatives to rounding: the way of the instant with a parameter must be seen
    const bool watched = c->watch.note != NULL;
    const double enough = (watched ? 1e-6 : 0.5) * closed_gap(c);
    bool landed;
    keep_closed(c);
    c->closed_only = true;
    for (int k = 0; k < (watched ? WATCHED : SEARCH); k++) {
        const double laws = t0 + (t_laws - t0) * (length / *h);
        if (attempt(c, length, laws, 0.5, took, &landed) != SNW_OK) break;
        const double gap = smallest_gap(c);
        if (k == 0 && gap > 0) break;
        const bool exhausted = watched && high - low <= 4e-16 * (t0 + *h);
        if (fabs(gap) <= enough || (exhausted && fabs(gap) <= 0.5 * closed_gap(c))) {
            *h = length;
            c->closed_only = false;
            return true;
        }
        // regula falsi, with bisection where one end stays
        if (gap > 0) {
            low = length, at_low = gap;
        } else {
            high = length, at_high = gap;
        }
        const bool known = isfinite(at_low) && isfinite(at_high);
        length = known && k % 3 != 2 ? low + (high - low) * at_low / (at_low - at_high)
                                     : 0.5 * (low + high);
    }
    c->closed_only = false;
    return false;
}

// Contacts that close at the end of the step become candidates, with their approach there.
static void add_touching(snw_moreau *c) {
    snw_kinematics(c->m, c->last, c->end, false, c->end_work);
    (void)find_near(c, c->end_work, closed_gap(c), closed_gap(c));
    for (int k = 0; k < c->nfound; k++) {
        if (is_candidate(c, &c->found[k])) continue;
        double u[3];
        const double gap = snw_hard_gap(c->m, c->end_work, &c->found[k]);
        snw_hard_velocity(c->m, c->end_work, &c->found[k], u);
        if (!add_candidate(c, &c->found[k], gap, u[0])) return;
    }
}

// One step of length *h, or shorter where a contact closes.
static snw_status step(snw_moreau *c, double *length, double t_laws, snw_stats *took) {
    const snw_model *m = c->m;
    bool closes, landed;
    snw_inputs_at(m, c->now->t, c->in);
    if (!choose_candidates(c, *length, &closes)) return SNW_E_DIVERGED;
    snw_chart_from_state(m, SNW_CHART_SO3R3, c->now, c->rate0, c->acc);
    memcpy(c->mid->z, c->now->z, (size_t)m->nsignal * sizeof(double));
    memcpy(c->end->z, c->now->z, (size_t)m->nsignal * sizeof(double));
    const bool cut = closes && c->cuts < CUTS && step_to_touch(c, length, t_laws, took);
    const double h = *length;
    if (cut) {
        c->cuts++;
        landed = true;
    } else {
        if (closes && !choose_candidates(c, h, &closes)) return SNW_E_DIVERGED;
        SNW_TRY(attempt(c, h, t_laws, closes ? 1 : 0.5, took, &landed));
        if (landed != closes) SNW_TRY(attempt(c, h, t_laws, landed ? 1 : 0.5, took, &landed));
    }
    c->end->t = c->now->t + h;
    c->impact = landed;
    c->step_violated = 0;
    note_violation(c);
    const double done = snw_moreau_contact_work(c);
    snw_moreau_smooth_work(c, h);
    const double smooth = c->energy + c->given - c->warmed;
    const double created = snw_moreau_energy(c, c->last, c->end, c->end_work) - (smooth + done);
    keep_acting(c);
    snw_hard_step report = {0};
    if (c->watch.note) snw_moreau_note_forces(c, h);
    // theta = 1 takes energy, which is not given back
    const double before = snw_moreau_conserve(c, smooth + done, landed && !cut, &report.scaling[0]);
    turn_forces(c);
    if (cut) add_touching(c);
    const bool velocities = c->nc > 0 || m->nconstraint > 0;
    double after = before;
    bool bounced = true;
    double *v = c->v_step;
    memcpy(v, c->end->v, (size_t)m->nv * sizeof *v);
    if (velocities) {
        SNW_TRY(impact(c, h, true));
        after = snw_moreau_energy(c, c->last, c->end, c->end_work);
        if (landed && after > c->energy) {
            memcpy(c->end->v, v, (size_t)m->nv * sizeof *v);
            bounced = false;
            SNW_TRY(impact(c, h, bounced));
            after = snw_moreau_energy(c, c->last, c->end, c->end_work);
        }
        note_violation(c);
    }
    // contacts take energy; constraints alone take none
    const double taken = c->nc > 0 ? fmax(before - after - done, 0) : 0;
    memcpy(c->v_impulse, c->end->v, (size_t)m->nv * sizeof *v);
    after = snw_moreau_conserve(c, smooth - taken, c->nc > 0, &report.scaling[1]);
    if (!snw_moreau_is_resolved(c, created, after)) return SNW_E_DIVERGED;
    snw_moreau_account(c, h, taken, after);
    if (c->step_violated > c->worst[0]) {
        c->worst[0] = c->step_violated;
        c->worst[1] = c->end->t;
        c->worst[2] = c->step_violator;
    }
    store_forces(c, h, velocities);
    if (c->watch.note) {
        report.velocities = velocities;
        report.taken = taken > 0;
        snw_moreau_note_impulses(c, bounced);
        snw_moreau_report(c, h, &report);
    }
    snw_state_copy(m, c->end, c->now);
    took->increments++;
    return SNW_OK;
}

// ---- integrator ---------------------------------------------------------------------------------

enum { NBLOCK = 11 };

static void list_blocks(const snw_moreau *c, snw_checkpoint_block block[NBLOCK]) {
    snw_moreau *own = (snw_moreau *)c;
    const snw_checkpoint_block list[NBLOCK] = {{&c->now->t, 1},
                                               snw_checkpoint_state(c->m, c->now),
                                               {c->mass, (size_t)c->m->nv},
                                               {c->work, (size_t)snw_npower(c->m)},
                                               {&own->heat, 1},
                                               {&own->scheme, 1},
                                               {&own->energy, 1},
                                               {own->gravity.e, 3},
                                               {own->worst, 3},
                                               {c->point_force, 3 * (size_t)c->m->ncontact_point},
                                               {c->stop_force, 6 * (size_t)c->m->nstop}};
    memcpy(block, list, sizeof list);
}

static int room(const snw_model *m) {
    const int n = snw_hard_most(m);
    return n < SNW_MOREAU_CONTACTS ? n : SNW_MOREAU_CONTACTS;
}

enum { SAVED_TOUCH = 8 }; // numbers of a contact of rods: what it is, and its forces

size_t snw_integrator_moreau_saves(const snw_model *m) {
    const size_t rods = m->ntouching_rod ? (size_t)room(m) : 0;
    return 10 + snw_state_doubles(m) + (size_t)m->nv + (size_t)snw_npower(m) +
           3 * (size_t)m->ncontact_point + 6 * (size_t)m->nstop + 1 + SAVED_TOUCH * rods;
}

static void moreau_save(const void *self, double *out) {
    const snw_moreau *c = self;
    snw_checkpoint_block block[NBLOCK];
    list_blocks(c, block);
    double *to = snw_checkpoint_save(NBLOCK, block, out);
    *to++ = c->ntouch;
    const int rods = c->m->ntouching_rod ? c->most : 0;
    for (int i = 0; i < rods; i++, to += SAVED_TOUCH) {
        const snw_touch none = {0}, *t = i < c->ntouch ? &c->touch[i] : &none;
        const double numbers[SAVED_TOUCH] = {t->contact, t->slice[0], t->slice[1], t->station,
                                             t->foot,    t->held[0],  t->held[1],  t->held[2]};
        memcpy(to, numbers, sizeof numbers);
    }
}

static snw_status moreau_load(void *self, const double *in, snw_error *err) {
    snw_moreau *c = self;
    (void)err;
    snw_checkpoint_block block[NBLOCK];
    list_blocks(c, block);
    const double *from = snw_checkpoint_load(NBLOCK, block, in);
    c->t_laws = c->now->t;
    c->ntouch = (int)*from++;
    for (int i = 0; i < c->ntouch; i++, from += SAVED_TOUCH) {
        c->touch[i] = (snw_touch){.contact = (int)from[0],
                                  .slice = {(int)from[1], (int)from[2]},
                                  .station = (int)from[3],
                                  .foot = (int)from[4],
                                  .hard = true,
                                  .held = {from[5], from[6], from[7]}};
    }
    return SNW_OK;
}

static void moreau_undo(void *self) { (void)moreau_load(self, ((snw_moreau *)self)->saved, NULL); }

// Reports the deepest penetration: of the initial state, or of a contact that becomes active.
static snw_status check_penetration(snw_moreau *c, snw_error *err) {
    const snw_model *m = c->m;
    const double deep = -1e-8 * fmin(1, m->length);
    double least = 0;
    int worst = -1;
    snw_kinematics(m, c->in, c->now, true, c->w);
    (void)find_near(c, c->w, deep, deep);
    for (int k = 0; k < c->nfound; k++) {
        const double gap = snw_hard_gap(m, c->w, &c->found[k]);
        if (gap < least) least = gap, worst = k;
    }
    if (worst < 0) return SNW_OK;
    const snw_hard_contact *at = &c->found[worst];
    const char *other = snw_hard_link(m, at, 1);
    if (at->limit >= 0)
        return snw_fail(err, SNW_E_MODEL,
                        "the hard stop of link '%s': at t = %g s its coordinate starts %.3g beyond "
                        "the %s limit; give it another 'initial' position, or other 'limits'",
                        snw_hard_link(m, at, 0), c->now->t, -least / m->stop[at->limit / 2].arm,
                        at->limit % 2 ? "upper" : "lower");
    char surface[100] = "the surface";
    if (other) (void)snprintf(surface, sizeof surface, "'%.60s'", other);
    return snw_fail(err, SNW_E_MODEL,
                    "hard contact '%s': at t = %g s link '%s' starts %.3g m inside %s, "
                    "and %d contact points in all do; move it out, or let it settle in a static "
                    "step first",
                    snw_hard_law_name(m, snw_hard_law(m, at)), c->now->t, snw_hard_link(m, at, 0),
                    -least, surface, c->nfound);
}

static snw_status moreau_restart(void *self, const double *z, snw_error *err) {
    snw_moreau *c = self;
    const snw_model *m = c->m;
    c->t_laws = c->now->t + snw_time_resolution(c->now->t);
    snw_inputs_at(m, c->t_laws, c->in);
    memcpy(c->v_step, c->now->v, (size_t)m->nv * sizeof *c->v_step);
    if (c->impacts) {
        snw_impact_energy impact;
        SNW_TRY(snw_impacts_apply(c->impacts, c->in, z, c->now, &impact, err));
        c->work[m->nload + 1] += impact.work;
        c->heat += impact.heat;
        SNW_TRY(check_penetration(c, err));
    } else if (z) {
        memcpy(c->now->z, z, (size_t)m->nsignal * sizeof *z);
    }
    snw_mass_matrix(m, c->in, c->now, c->w, c->A);
    for (int i = 0; i < m->nv; i++) c->mass[i] = c->A[(size_t)i * (size_t)(m->nv + 1)];
    c->energy = snw_moreau_energy(c, c->in, c->now, c->w);
    c->gravity = c->in->gravity;
    const snw_step_report report = {
        .event = SNW_WATCH_RESTART, .s = c->now, .t_laws = c->in->t, .before = c->v_step};
    if (c->watch.note) c->watch.note(c->watch.user, &report);
    return SNW_OK;
}

static snw_status moreau_jump(void *self, const double *z, snw_error *err) {
    snw_moreau *c = self;
    double work;
    bool jumped;
    snw_inputs_at(c->m, c->now->t + snw_time_resolution(c->now->t), c->in);
    SNW_TRY(snw_law_jump_apply(c->law_jump, c->in, c->now, &work, &jumped, err));
    c->work[c->m->nload + 1] += work;
    const snw_step_report report = {.event = SNW_WATCH_OTHER, .s = c->now, .t_laws = c->in->t};
    if (jumped && c->watch.note) c->watch.note(c->watch.user, &report);
    return moreau_restart(c, z, err);
}

static snw_status moreau_start(void *self, const snw_state *s, snw_error *err) {
    snw_moreau *c = self;
    snw_state_copy(c->m, s, c->now);
    snw_state_clear_inactive(c->m, c->now);
    snw_inputs_at(c->m, c->now->t, c->in);
    SNW_TRY(check_penetration(c, err));
    if (c->projection) SNW_TRY(snw_projection_velocities(c->projection, c->in, c->now, err));
    for (int i = 0; i < snw_npower(c->m); i++) c->work[i] = 0;
    forget_forces(c);
    c->heat = c->scheme = 0;
    c->worst[0] = 0;
    return moreau_restart(c, NULL, err);
}

static snw_status give_up(const snw_moreau *c, double h, snw_error *err) {
    snw_error why = {0};
    if (snw_inputs_check(c->m, c->in, c->in->t, &why) != SNW_OK)
        return snw_fail(err, SNW_E_DIVERGED, SNW_NO_LAW, c->now->t, why.text);
    if (c->full) {
        return snw_fail(err, SNW_E_DIVERGED,
                        "more than %d contact points touch at t = %g s; the results so far are "
                        "kept. Give rods fewer nodes, or the contacts a stiffness instead of "
                        "'hard'",
                        SNW_MOREAU_CONTACTS, c->now->t);
    }
    return snw_fail(err, SNW_E_DIVERGED,
                    "no motion found beyond t = %g s (steps down to %.2g s); the results so far "
                    "are kept. Try a smaller step, or a compliant contact",
                    c->now->t, h);
}

static snw_status moreau_advance(void *self, double to, double limit, snw_stats *took,
                                 snw_error *err) {
    const double t_laws = snw_before_jump(to, limit);
    snw_moreau *c = self;
    if (c->saved) moreau_save(c, c->saved);
    c->cuts = 0;
    c->full = false;
    double h = to - c->now->t;
    const double shortest = 1e-6 * h;
    for (;;) {
        const double remaining = to - c->now->t;
        if (snw_interrupted(c->interrupt))
            return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", c->now->t);
        if (c->patience > 0 && took->iterations > c->patience) return give_up(c, h, err);
        bool last = h >= remaining * (1 - 1e-9);
        if (last) h = remaining;
        const double wanted = h;
        if (step(c, &h, last ? t_laws : c->now->t + h, took) == SNW_OK) {
            last = last && h == wanted;
            if (last) c->now->t = to;
            if (last || snw_monitor_stops(c->monitor)) return SNW_OK;
            h = 2 * wanted;
            continue;
        }
        h = 0.5 * wanted;
        if (h < shortest) return give_up(c, h, err);
    }
}

static const snw_work *moreau_work_at(void *self) {
    snw_moreau *c = self;
    snw_inputs_at(c->m, c->t_laws, c->in); // those before a jump until the restart
    // with the contact forces, so that wrenches along the robot contain them
    c->w->hard_is_given = c->m->hard;
    if (c->m->hard)
        memcpy(c->w->hard_given, c->point_force,
               3 * (size_t)c->m->ncontact_point * sizeof *c->point_force);
    for (int k = 0; k < 2 * c->m->nstop; k++) c->w->hard_stop[k] = c->stop_force[3 * k];
    c->w->nhard_touch = c->ntouch;
    for (int i = 0; i < c->ntouch; i++) c->w->hard_touch[i] = c->touch[i];
    snw_residual(c->m, c->in, c->now, false, c->w);
    snw_observe(c->m, c->in, c->now, false, c->w);
    c->w->hard_is_given = false;
    for (int k = 0; k < 2 * c->m->nstop; k++) c->w->hard_stop[k] = 0;
    c->w->nhard_touch = 0;
    return c->w;
}

static const snw_state *moreau_state(const void *self) { return ((const snw_moreau *)self)->now; }
static const snw_inputs *moreau_inputs(const void *self) { return ((const snw_moreau *)self)->in; }

static void moreau_set_interrupt(void *self, snw_interrupt interrupt) {
    ((snw_moreau *)self)->interrupt = interrupt;
}

static void moreau_set_monitor(void *self, snw_step_monitor monitor) {
    ((snw_moreau *)self)->monitor = monitor;
}

static void moreau_set_watch(void *self, snw_step_watch watch) {
    ((snw_moreau *)self)->watch = watch;
}

static void moreau_use(void *self, const snw_model *m) {
    snw_moreau *c = self;
    c->m = m;
    if (c->projection) snw_projection_use(c->projection, m);
    if (c->impacts) snw_impacts_use(c->impacts, m);
    snw_law_jump_use(c->law_jump, m);
}

static void moreau_set_manual(void *self, const snw_manual_inputs *manual) {
    snw_moreau *c = self;
    c->in->manual = c->last->manual = manual;
}

static snw_work_done moreau_work(const void *self) {
    const snw_moreau *c = self;
    return (snw_work_done){
        .n = snw_npower(c->m), .work = c->work, .heat = c->heat, .scheme = c->scheme};
}

static double moreau_contact_violation(const void *self, double *t, int *contact) {
    const snw_moreau *c = self;
    *t = c->worst[1];
    *contact = (int)c->worst[2];
    return c->worst[0];
}

static void moreau_close(void *self) {
    snw_moreau *c = self;
    if (!c) return;
    snw_work_destroy(c->w);
    snw_work_destroy(c->end_work);
    snw_law_jump_destroy(c->law_jump);
    snw_impacts_destroy(c->impacts);
    snw_projection_destroy(c->projection);
    snw_inputs_destroy(c->in);
    snw_inputs_destroy(c->last);
    snw_state_destroy(c->now);
    snw_state_destroy(c->mid);
    snw_state_destroy(c->end);
    snw_free(c->scratch.base);
    snw_free(c->block);
    snw_free(c->saved);
    snw_free(c);
}

static void moreau_place(void *object, snw_fields *f) {
    snw_moreau *o = object;
    const snw_model *m = o->m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint, n = nv + nr;
    const size_t np = (size_t)snw_npower(m), nc = (size_t)o->most,
                 points = (size_t)m->ncontact_point, stops = (size_t)m->nstop,
                 rods = m->ntouching_rod ? nc : 0;
    MOREAU_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

// Coordinates whose motion is given: their rates may jump.
static int given_rows(const snw_model *m) {
    int n = 0;
    for (int i = 0; i < m->ndrive; i++) n += m->drive[i].row >= 0;
    return n;
}

snw_status snw_integrator_moreau(const snw_model *m, const snw_step_desc *step,
                                 snw_integrator *out) {
    snw_moreau *c = snw_alloc(sizeof *c);
    if (!c) return SNW_E_MEMORY;
    c->m = m;
    c->patience = IMPACT_SEARCH * step->patience;
    c->tolerance = step->tolerance > 0 ? step->tolerance : 1e-10;
    c->n = m->nv + m->nconstraint;
    c->most = room(m);
    c->scale = m->scale[0] * m->typical[0] / m->length;
    c->slowest = SLOWEST;
    for (int i = 0; i < m->nv; i++)
        c->typical_energy = fmax(c->typical_energy, m->scale[i] * m->typical[i]);
    snw_moreau_prepare_energy(c);
    c->block = snw_fields_create(moreau_place, c);
    c->scratch.size = snw_coulomb_scratch(c->most);
    c->scratch.base = snw_alloc(c->scratch.size);
    c->saved = m->nsignal ? snw_alloc(snw_integrator_moreau_saves(m) * sizeof(double)) : NULL;
    if (!c->block || !c->scratch.base || (m->nsignal && !c->saved) ||
        (m->nloop + m->ncondition + given_rows(m) > 0 &&
         snw_projection_create(m, &c->projection) != SNW_OK) ||
        (m->ncondition + given_rows(m) > 0 &&
         snw_impacts_create(m, c->projection, &c->impacts) != SNW_OK) ||
        snw_law_jump_create(m, c->projection, &c->law_jump) != SNW_OK ||
        snw_work_create(m, &c->w) != SNW_OK || snw_work_create(m, &c->end_work) != SNW_OK ||
        snw_inputs_create(m, &c->in) != SNW_OK || snw_inputs_create(m, &c->last) != SNW_OK ||
        snw_state_create(m, &c->now) != SNW_OK || snw_state_create(m, &c->mid) != SNW_OK ||
        snw_state_create(m, &c->end) != SNW_OK) {
        moreau_close(c);
        return SNW_E_MEMORY;
    }
    *out = (snw_integrator){.self = c,
                            .grid = step->step,
                            .set_interrupt = moreau_set_interrupt,
                            .set_watch = moreau_set_watch,
                            .set_monitor = moreau_set_monitor,
                            .start = moreau_start,
                            .advance = moreau_advance,
                            .restart = moreau_jump,
                            .undo = moreau_undo,
                            .use = moreau_use,
                            .set_manual = moreau_set_manual,
                            .state = moreau_state,
                            .inputs = moreau_inputs,
                            .work_at = moreau_work_at,
                            .work = moreau_work,
                            .contact_violation = moreau_contact_violation,
                            .save = moreau_save,
                            .load = moreau_load,
                            .close = moreau_close};
    return SNW_OK;
}
