// SPDX-License-Identifier: MIT
//
// The conserving scheme: implicit, of order 2, symmetric in time.
//
// With the increment d over a step of length h, mid configuration q_m = q_0 d/2, mid velocity v = d/h, momenta
// p = M(q) q', the scheme asks for
//
//     p_1 + p_0 = 2 M(q_m) v                                         (velocity is the one of the mean momentum)
//     (p_1 - p_0)/h = dT/dq(q_m, v) - dU/dq(q_m) - D v + Q(q_m) - theta W d
//
// so d alone is unknown. theta is Gonzalez' correction: the number for which the step keeps H = T + U exactly but for
// heat and the work Q d of the loads.
//
// Free joints: p is taken in the frame of the body. In the second equation momenta of the beginning and the end are
// carried to the middle by the coadjoint action, so that the momentum about the world's origin changes by the impulse of
// what acts and nothing else; W is zero in these rows, the correction an internal force. In the first equation they are
// not carried: then a rigid body keeps its energy, for p_1 - p_0 does no work on d, and weight acts in the mean over the
// arc of its centre. So what theta has to make up for vanishes with the deformation in the step, and theta stays small
// also where a rod is too stiff to take up energy.
//
// Bases moved by a law: momenta include theirs, p = M q' + b(q, t). There theta is zero: what a base gives is not known
// but by the reaction at the middle, to order h^2, and the rod, which may hardly deform, cannot make up for that.
//
// Newton's matrix comes from two sweeps at the middle: the static tangent, and the tangent of the momenta P = M v, which
// are the inertia forces of a motion that starts from rest with acceleration v. What it lacks (second derivatives of T,
// theta) is of order h^2, so one matrix serves a step.
#include "study/mover_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/stumpff.h"
#include "solve/broyden.h"
#include "solve/dense.h"
#include "study/pieces.h"

#include <math.h>
#include <string.h>

enum { INCREMENTS = 12 }; // kept by Broyden's method

typedef struct conserving {
    const snw_model *m;
    double step, tolerance;
    snw_work *w;
    snw_inputs *in;    // at the middle of the step
    snw_inputs *empty; // nothing acts, velocities of poses are in the place of accelerations
    snw_inputs *last;  // at the end of the step
    bool moving;       // some pose depends on time
    snw_state *now, *mid, *end, *push;
    double *memory;
    double *d, *dx, *p0, *p1, *r, *P, *dT, *force, *weight, *mass;
    double *M, *T, *E;
    snw_broyden broyden;
    int *pivot;
    double *power, *work; // per load; power at the last instant
    double *power_mid;    // of the solver
    double heat, heat_power;
    double E0; // energy there should be at the last instant: at the start, plus work, less heat
    snw_vec3 gravity; // of that energy
} conserving;

static int npower(const snw_model *m) { return m->desc->nload + 2; }

// the f-th free joint
static const snw_block *base_of(const snw_model *m, int f) {
    const snw_block *b = m->block;
    while (b->space != SNW_SPACE_SE3 || f-- > 0) b++;
    return b;
}

// ---- momenta ---------------------------------------------------------------------------------------

static void add_columns(const snw_path *path, const double *J, const snw_wrench *F, double *out) {
    for (int j = 0; j < path->n; j++) {
        double sum = 0;
        for (int i = 0; i < 6; i++) sum += J[(size_t)i * (size_t)path->ld + (size_t)j] * F->e[i];
        out[path->dof[j]] += sum;
    }
}

// P <- dT/dv, dT <- dT/dq at the motion in w, after a sweep: sums of J' M V and (dJ + ad_V J)' M V
static void momenta(const snw_model *m, const snw_work *w, double *P, double *dT) {
    for (int i = 0; i < m->nv; i++) P[i] = dT[i] = 0;
    for (int s = 1; s < m->nseg; s++) {
        if (!m->seg[s].heavy) continue;
        const snw_path *path = &m->path[m->seg[s].path];
        const size_t at = (size_t)m->seg_store[s];
        const snw_wrench MV = snw_inertia_apply(&m->seg[s].M, w->V[s]);
        const snw_wrench turned = snw_ad_pull(w->V[s], MV);
        add_columns(path, w->J + at, &MV, P);
        add_columns(path, w->dJ + at, &MV, dT);
        add_columns(path, w->J + at, &turned, dT);
    }
}

// the momenta of free joints carried along half the increment, on from its beginning or back from its end
static void carry_half(const snw_model *m, const double *d, bool back, const double *from,
                       double *to) {
    memcpy(to, from, (size_t)m->nv * sizeof *to);
    for (int f = 0; f < m->nfree; f++) {
        const int i = base_of(m, f)->dof;
        snw_twist x;
        snw_wrench F;
        for (int k = 0; k < 6; k++) x.e[k] = (back ? -0.5 : 0.5) * d[i + k], F.e[k] = from[i + k];
        F = snw_wrench_to_child(snw_se3_exp(x), F);
        for (int k = 0; k < 6; k++) to[i + k] = F.e[k];
    }
}

static double potential(const conserving *c, const snw_state *s, snw_work *w) {
    return snw_elastic_energy(c->m, s->q) + snw_gravity_energy(c->m, c->in, w);
}

// out <- as `in`, but for what makes momenta into forces: no gravity, no loads, velocities of poses for accelerations
static void to_push(const snw_model *m, const snw_inputs *in, snw_inputs *out) {
    snw_inputs_copy(in, out);
    snw_inputs_unload(m, out);
    for (int i = 0; i < m->npose; i++) {
        out->pose_du[i] = in->pose_u[i];
        out->pose_u[i] = (snw_twist){0};
    }
}

// p <- momenta of the motion at s: the inertia forces of one that starts from rest with its velocities for accelerations
static void momenta_at(conserving *c, const snw_inputs *in, const snw_state *s, double *p) {
    const snw_model *m = c->m;
    to_push(m, in, c->empty);
    memcpy(c->push->q, s->q, (size_t)m->nq * sizeof(double));
    for (int i = 0; i < m->nv; i++) c->push->v[i] = 0, c->push->a[i] = s->v[i];
    snw_residual(m, c->empty, c->push, false, c->w);
    snw_elastic_forces(m, s->q, p);
    for (int i = 0; i < m->nv; i++) p[i] = c->w->r[i] - p[i];
}

// velocities of momenta p at s->q, at the end of the step; false when the mass matrix is singular
static bool velocities(conserving *c, const double *p, snw_state *s) {
    const size_t n = (size_t)c->m->nv;
    memset(s->v, 0, n * sizeof *s->v);
    if (c->moving) momenta_at(c, c->last, s, s->v);
    for (size_t i = 0; i < n; i++) s->v[i] = p[i] - s->v[i];
    snw_mass_matrix(c->m, c->last, s, c->w, c->M);
    if (snw_cholesky_factor(c->m->nv, c->M) != SNW_OK) return false;
    snw_cholesky_solve(c->m->nv, c->M, s->v);
    return true;
}

// ---- a step ----------------------------------------------------------------------------------------

static double dot(int n, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// The state at the end of the step, from d and the momenta of the middle, and Gonzalez' number: what the step
// without correction would gain, over the length of d. False when the mass matrix is singular.
static bool finish(conserving *c, double *theta) {
    const snw_model *m = c->m;
    const int n = m->nv;
    snw_move(m, c->now->q, 1, c->d, c->end->q);
    for (int i = 0; i < n; i++) c->p1[i] = 2 * c->P[i] - c->p0[i];
    // c->r <- change of the momenta, at the middle
    carry_half(m, c->d, true, c->p1, c->r);
    carry_half(m, c->d, false, c->p0, c->dx);
    for (int i = 0; i < n; i++) c->r[i] -= c->dx[i];
    // work of the momenta: T(p_1) - T(p_0) with the mass of the middle is v (p_1 - p_0)
    double gain = -dot(n, c->d, c->r), length = 0;
    if (!velocities(c, c->p1, c->end)) return false;
    *theta = 0;
    if (c->moving) return true;
    // c->w holds the poses of the end
    const double E1 = 0.5 * dot(n, c->p1, c->end->v) + potential(c, c->end, c->w);
    const double h = c->end->t - c->now->t;
    gain = E1 - c->E0 + gain / h + dot(n, c->dT, c->d) - dot(n, c->force, c->d);
    for (int i = 0; i <= m->desc->nload; i++) gain -= h * c->power_mid[i]; // loads, active stress
    for (int i = 0; i < n; i++) length += c->weight[i] * c->d[i] * c->d[i];
    // an increment this short gains nothing that could be seen
    const double least = 1e-12 * m->scale[m->nv - 1] * m->typical[m->nv - 1];
    if (length > least) *theta = gain / length;
    return true;
}

static snw_lower half_tangent(const conserving *c, int dof) {
    snw_twist x;
    for (int k = 0; k < 6; k++) x.e[k] = 0.5 * c->d[dof + k];
    return snw_se3_tangent(x);
}

// the base at the middle varies by T(d/2) times half the variation of d
static void turn_columns(conserving *c, int dof) {
    const size_t n = (size_t)c->m->nv;
    const snw_lower T = half_tangent(c, dof);
    for (size_t i = 0; i < n; i++) {
        double row[6];
        for (int k = 0; k < 6; k++) {
            snw_twist e = {0};
            e.e[k] = 1;
            const snw_twist z = snw_lower_apply(&T, e);
            row[k] = 0;
            for (int j = 0; j < 6; j++) row[k] += c->T[(size_t)(dof + j) * n + i] * z.e[j];
        }
        for (int k = 0; k < 6; k++) c->T[(size_t)(dof + k) * n + i] = row[k];
    }
}

// c->T <- factors of the derivative of the residual in d:
//   2/h^2 M + (Q - Q')/h + K/2 + D/h - coad((p_0 + p_1)/2)/h on the base,  Q = dP/dq
// with the rows of free joints in M and Q carried to the middle
static bool factor(conserving *c, double h) {
    const snw_model *m = c->m;
    const size_t n = (size_t)m->nv;
    snw_residual(m, c->in, c->mid, true, c->w);
    snw_tangent_sweep(m, NULL, c->w);
    snw_tangent_assemble(m, c->in, 0.5, 0, 0, c->w, c->T);
    for (int f = 0; f < m->nfree; f++) turn_columns(c, base_of(m, f)->dof);

    momenta_at(c, c->in, c->mid, c->P);
    snw_tangent_sweep(m, NULL, c->w);
    snw_tangent_assemble(m, c->empty, 1 / h, 0, 0, c->w, c->M);
    snw_elastic_matrices(m, c->E, NULL);
    for (size_t i = 0; i < n * n; i++) c->M[i] -= c->E[i] / h;
    for (int f = 0; f < m->nfree; f++) { // momenta do not depend on where the base is
        memset(c->M + (size_t)base_of(m, f)->dof * n, 0, 6 * n * sizeof(double));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) c->T[j * n + i] -= c->M[i * n + j];
    }
    snw_tangent_assemble(m, c->empty, 0, 0, 2 / (h * h), c->w, c->E);
    for (size_t i = 0; i < n * n; i++) c->M[i] += c->E[i];
    for (size_t j = 0; j < n; j++) {
        carry_half(m, c->d, true, c->M + j * n, c->r);
        for (size_t i = 0; i < n; i++) c->T[j * n + i] += c->r[i];
    }
    snw_elastic_matrices(m, NULL, c->E);
    snw_friction_matrix(m, c->mid->v, c->E);
    for (size_t i = 0; i < n * n; i++) c->T[i] += c->E[i] / h;
    for (size_t i = 0; i < n; i++) c->p1[i] = 2 * c->P[i] - c->p0[i];
    carry_half(m, c->d, true, c->p1, c->dT);
    carry_half(m, c->d, false, c->p0, c->r);
    for (size_t i = 0; i < n; i++) c->r[i] = 0.5 * (c->r[i] + c->dT[i]);
    for (int f = 0; f < m->nfree; f++) {
        const size_t b = (size_t)base_of(m, f)->dof;
        snw_wrench F;
        const snw_lower T = half_tangent(c, base_of(m, f)->dof);
        for (int k = 0; k < 6; k++) F.e[k] = c->r[b + (size_t)k];
        for (int k = 0; k < 6; k++) {
            snw_twist e = {0};
            e.e[k] = 1;
            const snw_wrench col = snw_coad(F, snw_lower_apply(&T, e));
            for (int i = 0; i < 6; i++) c->T[(b + (size_t)k) * n + b + (size_t)i] -= col.e[i] / h;
        }
    }
    return snw_lu_factor(m->nv, c->T, c->pivot) == SNW_OK;
}

// The weight of what flies acts where its centre of mass is in the mean over the arc of the step, not at the middle:
// beside it by d_w x u (1 - sinc(d_w/2))/d_w^2, u the way of the centre. So a turning rigid body gains by falling exactly
// what it loses of its potential. After the kinematics of the middle.
static void weigh_on_the_arc(conserving *c) {
    const snw_model *m = c->m;
    for (int f = 0; f < m->nfree; f++) {
        const int dof = base_of(m, f)->dof;
        double mass = 0;
        snw_vec3 moment = {{0}};
        for (int s = 1; s < m->nseg; s++) {
            const snw_path *path = &m->path[m->seg[s].path];
            if (!m->seg[s].heavy || path->n == 0 || path->dof[0] != dof) continue;
            const snw_inertia *M = &m->seg[s].M;
            const snw_se3 g = c->w->g[s];
            mass += M->m;
            moment = snw_add(moment, snw_add(snw_scale(M->m, g.p), snw_rotate(g.R, M->mc)));
        }
        if (mass == 0) continue;
        const snw_se3 g = c->w->g[base_of(m, f)->seg];
        const snw_vec3 center = snw_rotate_inv(g.R, snw_sub(snw_scale(1 / mass, moment), g.p));
        const snw_vec3 weight = snw_rotate_inv(g.R, snw_scale(mass, c->in->gravity));
        const snw_vec3 turn = {{c->d[dof], c->d[dof + 1], c->d[dof + 2]}};
        const snw_vec3 slide = {{c->d[dof + 3], c->d[dof + 4], c->d[dof + 5]}};
        const snw_vec3 way = snw_add(slide, snw_cross(turn, center));
        // (1 - sinc(x))/(4 x^2), x half the angle
        double stumpff[SNW_STUMPFF_MAX];
        snw_stumpff(0.25 * snw_dot(turn, turn), 3, stumpff);
        const snw_vec3 beside = snw_scale(0.25 * stumpff[3], snw_cross(turn, way));
        const snw_vec3 more = snw_cross(beside, weight);
        for (int k = 0; k < 3; k++) c->force[dof + k] -= more.e[k];
    }
}

// residual at d; its largest in typical forces. With `columns` also the factors of its derivative
static double evaluate(conserving *c, double h, bool columns) {
    const snw_model *m = c->m;
    const int n = m->nv;
    // forces at the middle, of potentials and loads
    for (int i = 0; i < n; i++) c->mid->v[i] = c->d[i] / h, c->mid->a[i] = 0;
    snw_move(m, c->now->q, 0.5, c->d, c->mid->q);
    if (columns && !factor(c, h)) return NAN;
    snw_residual(m, c->in, c->mid, true, c->w);
    memcpy(c->force, c->w->r, (size_t)n * sizeof *c->force);
    weigh_on_the_arc(c);
    // momenta at the middle
    snw_kinematics(m, c->in, c->mid, false, c->w);
    snw_columns_sweep(m, c->w);
    momenta(m, c->w, c->P, c->dT);
    snw_load_power(m, c->in, c->mid, c->w, c->power_mid);
    for (int f = 0; f < m->nfree;
         f++) { // the base has no dT/dq: the coadjoint action stands for it
        for (int k = 0; k < 6; k++) c->dT[base_of(m, f)->dof + k] = 0;
    }
    double theta;
    if (!finish(c, &theta)) return NAN;
    double *damping = c->dx;
    snw_damping_forces(m, c->mid->v, damping);
    double largest = 0;
    for (int i = 0; i < n; i++) {
        c->r[i] =
            c->r[i] / h - c->dT[i] + c->force[i] + damping[i] + theta * c->weight[i] * c->d[i];
        const double x =
            fabs(c->r[i]) / (m->scale[i] + 1e-3 * c->mass[i] * m->typical[i] / (h * h));
        if (!(x <= largest)) largest = x;
    }
    return largest;
}

// Broyden's method on the matrix of the start
static snw_status solve(conserving *c, double h, snw_stats *took) {
    const size_t n = (size_t)c->m->nv;
    for (size_t i = 0; i < n; i++) c->d[i] = h * (c->now->v[i] + 0.5 * h * c->now->a[i]);
    double norm = evaluate(c, h, true), before = INFINITY;
    int stuck = 0;
    snw_broyden_reset(&c->broyden);
    for (int k = 0; k < 60 && !(norm <= c->tolerance) && stuck < 3; k++) {
        if (!isfinite(norm)) return SNW_E_DIVERGED;
        for (size_t i = 0; i < n; i++) c->dx[i] = -c->r[i];
        snw_lu_solve(c->m->nv, c->T, c->pivot, c->dx);
        if (!snw_broyden_next(&c->broyden, c->dx)) { // begin anew with a new matrix
            snw_broyden_reset(&c->broyden);
            norm = evaluate(c, h, true);
            continue;
        }
        for (size_t i = 0; i < n; i++) c->d[i] += c->dx[i];
        before = norm;
        norm = evaluate(c, h, false);
        took->iterations++;
        if (!(norm < 1e3 * before)) return SNW_E_DIVERGED;
        // at the level of rounding it goes up and down
        if (norm <= 1e3 * c->tolerance && norm >= before) stuck++;
    }
    took->residual = norm;
    return norm <= 1e3 * c->tolerance ? SNW_OK : SNW_E_DIVERGED;
}

// power of each load at the middle, from the state left by evaluate
static void account(conserving *c, double h) {
    const snw_model *m = c->m;
    // the reaction of a moving pose carries the mean acceleration
    for (int i = 0; i < m->nv; i++) c->mid->a[i] = (c->end->v[i] - c->now->v[i]) / h;
    snw_residual(m, c->in, c->mid, false, c->w);
    snw_load_power(m, c->in, c->mid, c->w, c->power);
    for (int i = 0; i < npower(m); i++) c->work[i] += h * c->power[i];
    c->heat_power = snw_dissipation(m, c->mid->v);
    c->heat += h * c->heat_power;
}

// the energy there should be, under the gravity of this step: that it changed is no gain of the scheme
static void expect(conserving *c) {
    const snw_vec3 change = snw_sub(c->in->gravity, c->gravity);
    c->gravity = c->in->gravity;
    if (snw_dot(change, change) == 0) return;
    snw_vec3 center;
    snw_kinematics(c->m, c->in, c->now, true, c->w);
    const double mass = snw_center_of_mass(c->m, c->w, &center);
    c->E0 -= mass * snw_dot(change, center);
}

static snw_status one_step(conserving *c, double h, double t_laws, snw_stats *took) {
    const snw_model *m = c->m;
    // laws at the middle of what is left of them
    snw_inputs_at(m, 0.5 * (c->now->t + t_laws), c->in);
    snw_inputs_at(m, t_laws, c->last);
    expect(c);
    c->end->t = c->now->t + h;
    const snw_status s = solve(c, h, took);
    if (s != SNW_OK) return s;
    account(c, h);
    // accelerations as the mean over the step: only a start for the next one
    for (int i = 0; i < m->nv; i++) c->end->a[i] = (c->end->v[i] - c->now->v[i]) / h;
    memcpy(c->p0, c->p1, (size_t)m->nv * sizeof *c->p0);
    snw_state_copy(m, c->end, c->now);
    // the energy there should be, not the one there is: errors of Newton do not add up
    for (int i = 0; i < npower(m); i++) c->E0 += h * c->power[i];
    c->E0 -= h * c->heat_power;
    took->increments++;
    return SNW_OK;
}

// ---- the mover -------------------------------------------------------------------------------------

static snw_status restart(void *self, snw_error *err) {
    conserving *c = self;
    const snw_model *m = c->m;
    snw_inputs_at(m, c->now->t, c->in);
    snw_mass_matrix(m, c->in, c->now, c->w, c->M);
    for (int i = 0; i < m->nv; i++) {
        c->mass[i] = c->M[(size_t)i * (size_t)(m->nv + 1)];
        c->weight[i] = m->scale[i] / m->typical[i];
    }
    // forces on a free joint would change the momentum
    for (int f = 0; f < m->nfree; f++)
        memset(c->weight + base_of(m, f)->dof, 0, 6 * sizeof *c->weight);
    momenta_at(c, c->in, c->now, c->p0);
    const snw_status s = snw_accelerations(m, c->in, c->now, c->w, c->M, err);
    if (s != SNW_OK) return s;
    snw_residual(m, c->in, c->now, false, c->w);
    snw_load_power(m, c->in, c->now, c->w, c->power);
    c->heat_power = snw_dissipation(m, c->now->v);
    c->E0 = snw_kinetic_energy(m, c->w) + potential(c, c->now, c->w);
    c->gravity = c->in->gravity;
    return SNW_OK;
}

static snw_status start(void *self, const snw_state *s, snw_error *err) {
    conserving *c = self;
    snw_state_copy(c->m, s, c->now);
    for (int i = 0; i < npower(c->m); i++) c->work[i] = 0;
    c->heat = 0;
    return restart(c, err);
}

static snw_status advance(void *self, double to, double limit, snw_stats *took, snw_error *err) {
    const double t_laws = snw_before_jump(to, limit);
    conserving *c = self;
    double h = to - c->now->t;
    const double shortest = 1e-6 * h;
    for (;;) {
        const double rest = to - c->now->t;
        const bool last = h >= rest * (1 - 1e-9);
        if (last) h = rest;
        if (one_step(c, h, last ? t_laws : c->now->t + h, took) == SNW_OK) {
            if (last) c->now->t = to;
            if (last) return SNW_OK;
            continue;
        }
        h *= 0.5;
        if (h < shortest) {
            snw_error why = {0};
            if (snw_inputs_check(c->m, c->in, c->in->t, &why) != SNW_OK)
                return snw_fail(err, SNW_E_DIVERGED, SNW_NO_LAW, c->now->t, why.text);
            return snw_fail(
                err, SNW_E_DIVERGED,
                "no motion found beyond t = %g s (steps down to %.2g s); what was computed "
                "is kept. Try a smaller step, or scheme: generalized-alpha",
                c->now->t, h);
        }
    }
}

static const snw_state *state(const void *self) { return ((const conserving *)self)->now; }
static const snw_inputs *inputs(const void *self) { return ((const conserving *)self)->in; }

static void hold(void *self, const snw_hand *hand) { ((conserving *)self)->in->hand = hand; }

static const snw_work *look(void *self) {
    conserving *c = self;
    snw_error ignored;
    snw_inputs_at(c->m, c->now->t, c->in);
    // the mass matrix was regular when the step began; if it is not here, accelerations stay the step's mean
    if (snw_accelerations(c->m, c->in, c->now, c->w, c->M, &ignored) != SNW_OK) {
        snw_inputs_at(c->m, c->now->t, c->in);
    }
    snw_residual(c->m, c->in, c->now, false, c->w);
    snw_observe(c->m, c->in, c->now, false, c->w);
    return c->w;
}

static snw_work_done work(const void *self) {
    const conserving *c = self;
    return (snw_work_done){.n = npower(c->m),
                           .power = c->power,
                           .work = c->work,
                           .heat_power = c->heat_power,
                           .heat = c->heat};
}

enum { NPIECE = 11 };

// the inputs are made anew by whatever comes next, a look or a step
static void list_pieces(const conserving *c, snw_piece piece[NPIECE]) {
    const size_t nv = (size_t)c->m->nv, np = (size_t)npower(c->m);
    conserving *own = (conserving *)c;
    const snw_piece list[NPIECE] = {{&c->now->t, 1},    snw_piece_state(c->m, c->now),
                                    {c->p0, nv},        {c->weight, nv},
                                    {c->mass, nv},      {c->power, np},
                                    {c->work, np},      {&own->heat_power, 1},
                                    {&own->heat, 1},    {&own->E0, 1},
                                    {own->gravity.e, 3}};
    memcpy(piece, list, sizeof list);
}

size_t snw_mover_conserving_saves(const snw_model *m) {
    return 1 + snw_state_doubles(m) + 3 * (size_t)m->nv + 2 * (size_t)npower(m) + 6;
}

static void save(const void *self, double *out) {
    snw_piece piece[NPIECE];
    list_pieces(self, piece);
    (void)snw_pieces_save(NPIECE, piece, out);
}

static void load(void *self, const double *in) {
    snw_piece piece[NPIECE];
    list_pieces(self, piece);
    (void)snw_pieces_load(NPIECE, piece, in);
}

static void close(void *self) {
    conserving *c = self;
    if (!c) return;
    snw_work_destroy(c->w);
    snw_inputs_destroy(c->in);
    snw_inputs_destroy(c->empty);
    snw_inputs_destroy(c->last);
    snw_state_destroy(c->push);
    snw_state_destroy(c->now);
    snw_state_destroy(c->mid);
    snw_state_destroy(c->end);
    snw_free(c->memory);
    snw_free(c->pivot);
    snw_free(c);
}

snw_status snw_mover_conserving(const snw_model *m, const snw_step_desc *step, snw_mover *out,
                                snw_error *err) {
    bool moving = false;
    for (int i = 0; i < m->npose; i++) moving |= (snw_pose_desc_vars(&m->pose[i]) & SNW_VAR_T) != 0;
    bool inside = m->ncurved > m->nfree;
    for (int f = 0; f < m->nfree; f++) {
        inside = inside || m->path[m->seg[base_of(m, f)->seg].path].own > 0;
    }
    if (inside || m->nsignal || m->nrow || m->nfield) {
        return snw_fail_place(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "the conserving scheme does not know %s; use scheme: generalized-alpha",
                     inside                 ? "spherical joints, nor free ones on other links"
                     : m->nrow || m->nfield ? "loops, driven coordinates and given strains"
                                            : "laws and conditions that read probes"),
            step->place.file, step->place.line, step->place.column);
    }
    if (moving && m->nfree) {
        return snw_fail_place(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "the conserving scheme does not know free links beside bases moved by a law; "
                     "use scheme: generalized-alpha"),
            step->place.file, step->place.line, step->place.column);
    }
    conserving *c = snw_alloc(sizeof *c);
    if (!c) return SNW_E_MEMORY;
    c->m = m;
    c->moving = moving;
    c->step = step->step;
    c->tolerance = step->tolerance > 0 ? step->tolerance : 1e-12;
    const size_t nv = (size_t)m->nv, np = (size_t)npower(m);
    c->memory = snw_alloc(
        (10 * nv + 3 * nv * nv + 3 * np + snw_broyden_doubles(m->nv, INCREMENTS)) * sizeof(double));
    c->pivot = snw_alloc(nv * sizeof *c->pivot);
    if (!c->memory || !c->pivot || snw_work_create(m, &c->w) != SNW_OK ||
        snw_inputs_create(m, &c->in) != SNW_OK || snw_inputs_create(m, &c->empty) != SNW_OK ||
        snw_inputs_create(m, &c->last) != SNW_OK || snw_state_create(m, &c->push) != SNW_OK ||
        snw_state_create(m, &c->now) != SNW_OK || snw_state_create(m, &c->mid) != SNW_OK ||
        snw_state_create(m, &c->end) != SNW_OK) {
        close(c);
        return SNW_E_MEMORY;
    }
    double *at = c->memory;
    double **const vectors[] = {&c->d, &c->dx, &c->p0,    &c->p1,     &c->r,
                                &c->P, &c->dT, &c->force, &c->weight, &c->mass};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) *vectors[i] = at, at += nv;
    c->M = at;
    c->T = c->M + nv * nv;
    c->E = c->T + nv * nv;
    c->power = c->E + nv * nv;
    c->work = c->power + np;
    c->power_mid = c->work + np;
    c->broyden = snw_broyden_on(m->nv, INCREMENTS, m->typical, c->power_mid + np);
    *out = (snw_mover){.self = c,
                       .grid = step->step,
                       .start = start,
                       .advance = advance,
                       .restart = restart,
                       .hold = hold,
                       .state = state,
                       .inputs = inputs,
                       .look = look,
                       .work = work,
                       .save = save,
                       .load = load,
                       .close = close};
    return SNW_OK;
}
