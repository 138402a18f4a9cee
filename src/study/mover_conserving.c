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
// Balls and free joints: p is taken in the frame of the body. In the second equation momenta of the beginning and the end
// are carried to the middle by the coadjoint action, dT/dq is that at given body rates. So the momentum about the world's
// origin, or about a ball on the world, changes by the impulse of what acts and nothing else; W is zero in the rows of
// such roots, the correction an internal force. In the first equation they are not carried: then a rigid body keeps its
// energy, for p_1 - p_0 does no work on d, and weight acts in the mean over the arc of its centre. So what theta has to
// make up for vanishes with the motion of links against each other, and theta W d stays small also where a rod is too
// stiff to take up energy, or a joint comes to rest.
//
// Loops: forces C(q_m)' l with multipliers l, loops closed at the end; there an impulse C(q_1)' x, of order h^2, makes
// velocities that keep them closed. What these forces do on d is of order h^3, since loops are closed at both ends, and
// theta takes it off the energy.
//
// Laws that read probes are asked at the middle, velocities v: integrals go on by the midpoint rule.
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
#include "dynamics/joint.h"
#include "dynamics/loop.h"
#include "math/stumpff.h"
#include "solve/broyden.h"
#include "solve/condition.h"
#include "solve/dense.h"
#include "study/curved.h"
#include "study/pieces.h"
#include "study/switch.h"

#include <math.h>
#include <string.h>

enum { INCREMENTS = 12 }; // kept by Broyden's method

typedef struct conserving {
    const snw_model *m;
    double step, tolerance;
    snw_work *w;
    snw_assembly *as;       // NULL: no loops
    snw_switches *switches; // of bodies that come and go; NULL: none
    snw_inputs *in;         // at the middle of the step
    snw_inputs *empty;      // nothing acts, velocities of poses are in the place of accelerations
    snw_inputs *last;       // at the end of the step
    bool moving;            // some pose depends on time
    snw_state *now, *mid, *end, *push;
    double *memory;
    double *saved; // before the last advance; NULL for models without signals
    int n;         // unknowns: increments, then multipliers of loops
    double *d, *dx, *best, *typical, *p0, *p1, *r, *P, *dT, *force, *weight, *mass;
    double *spare; // 2 n
    double *M, *T, *E;
    double *A;     // n x n: T bordered by the rows of loops; T itself without
    double *Z, *S; // of loops: nv x nrow; nrow x (nrow + 1)
    snw_broyden broyden;
    int *pivot;
    snw_gauge gauge;      // of A before it was factorised,
    bool factored;        // which it is
    double condition;     // asked for since; NaN: not yet
    double *power, *work; // per load; power at the last instant
    double *power_mid;    // of the solver
    double heat, heat_power;
    double least; // square of an increment, by `weight`, that is short
    double E0;    // energy there should be at the last instant: at the start, plus work, less heat
    snw_vec3 gravity; // of that energy
} conserving;

static int npower(const snw_model *m) { return m->desc->nload + 2; }

// ---- momenta ---------------------------------------------------------------------------------------

static void add_columns(const snw_path *path, const double *J, const snw_wrench *F, double *out) {
    for (int j = 0; j < path->n; j++) {
        double sum = 0;
        for (int i = 0; i < 6; i++) sum += J[(size_t)i * (size_t)path->ld + (size_t)j] * F->e[i];
        out[path->dof[j]] += sum;
    }
}

// What acts on a segment at the motion in w, in its frame: loads and weight.
static snw_wrench push_of(const conserving *c, int i) {
    const snw_model *m = c->m;
    const snw_wrench *load = snw_loads(m, c->in, c->w);
    const snw_mat3 R = c->w->g[i].R;
    snw_wrench F = {0};
    if (!snw_is_here(m, c->w, i)) return F;
    if (snw_is_heavy(m, c->w, i)) {
        const snw_twist g = {.v = snw_rotate_inv(R, c->in->gravity)};
        F = snw_inertia_apply(&m->seg[i].M, g);
    }
    for (int k = m->act_of_seg[i]; k < m->act_of_seg[i + 1]; k++) {
        snw_wrench L = load[k];
        if (!m->desc->load[m->act[k].load].body) {
            L = (snw_wrench){.m = snw_rotate_inv(R, L.m), .f = snw_rotate_inv(R, L.f)};
        }
        F = snw_wrench_add(F, L);
    }
    return F;
}

// At the middle: P <- dT/dv, dT <- dT/dq, sums of J' M V and (dJ + ad_V J)' M V; force <- what elasticity, weight and
// loads need to be held, the loads with the velocities of the middle.
static void weigh(conserving *c) {
    const snw_model *m = c->m;
    snw_work *w = c->w;
    snw_kinematics(m, c->in, c->mid, false, w);
    snw_columns_sweep(m, w);
    for (int i = 0; i < m->nv; i++) c->P[i] = c->dT[i] = w->r[i] = 0;
    if (m->nlive) { // w->r <- minus the stress that follows signals
        snw_observe_read(m, c->in, c->mid, false, w);
        snw_feedback(m, c->in, c->mid, w);
    }
    snw_elastic_forces(m, c->mid->q, c->force);
    for (int i = 0; i < m->nv; i++) c->force[i] += w->r[i] - c->in->stress[i];
    snw_rest_vector(m, w, c->force);
    for (int s = 1; s < m->nseg; s++) {
        const bool heavy = snw_is_heavy(m, w, s);
        if (!heavy && m->act_of_seg[s] == m->act_of_seg[s + 1]) continue;
        const snw_path *path = &m->path[m->seg[s].path];
        const size_t at = (size_t)m->seg_store[s];
        const snw_wrench held = snw_wrench_scale(-1, push_of(c, s));
        add_columns(path, w->J + at, &held, c->force);
        if (!heavy) continue;
        const snw_wrench MV = snw_inertia_apply(&m->seg[s].M, w->V[s]);
        const snw_wrench turned = snw_ad_pull(w->V[s], MV);
        add_columns(path, w->J + at, &MV, c->P);
        add_columns(path, w->dJ + at, &MV, c->dT);
        add_columns(path, w->J + at, &turned, c->dT);
    }
    if (m->nrow) {
        for (int i = 0; i < m->nv; i++) w->r[i] = 0;
        snw_rows_columns(m, 0, w, NULL);
        snw_rows_pull(m, w, c->mid->l, w->r);
        for (int i = 0; i < m->nv; i++) c->force[i] -= w->r[i];
    }
}

// dT/dq of balls and free joints at given body rates u: less ad_u' P, for which the coadjoint action stands. Where
// nothing moves what they hang on none is left.
static void trivialise(conserving *c) {
    const snw_model *m = c->m;
    for (int f = 0; f < m->ncurved; f++) {
        const snw_block *b = snw_curved(m, f);
        const snw_wrench turn =
            snw_ad_pull(snw_curved_twist(b, 1, c->mid->v), snw_curved_wrench(b, c->P));
        const bool none = snw_curved_root(m, b) && !c->moving;
        for (int k = 0; k < b->n; k++) {
            c->dT[b->dof + k] = none ? 0 : c->dT[b->dof + k] - turn.e[k];
        }
    }
}

static double potential(const conserving *c, const snw_state *s, snw_work *w) {
    return snw_stored_energy(c->m, s->q, w) + snw_gravity_energy(c->m, c->in, w);
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
    memcpy(c->push->z, s->z, (size_t)m->nsignal * sizeof(double));
    for (int i = 0; i < m->nv; i++) c->push->v[i] = 0, c->push->a[i] = s->v[i];
    snw_residual(m, c->empty, c->push, false, c->w);
    snw_elastic_forces(m, s->q, p);
    for (int i = 0; i < m->nv; i++) p[i] = c->w->r[i] - p[i];
    snw_rest_vector(m, c->w, p);
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

// Gaps at the end of the step, and an impulse C' x there after which the velocities keep the loops closed. Without it
// momenta that loops do not allow would change their sign from step to step, and grow. After `velocities`; false when
// rows depend on each other.
static bool keep_closed(conserving *c) {
    const snw_model *m = c->m;
    const size_t n = (size_t)m->nv, rows = (size_t)m->nrow;
    double *rate = c->S + rows * rows;
    snw_kinematics(m, c->last, c->end, false, c->w);
    snw_rows_columns(m, 0, c->w, NULL);
    snw_rows_rates(m, c->last, c->end, c->w, rate, NULL);
    memset(c->Z, 0, n * rows * sizeof *c->Z);
    memset(c->S, 0, rows * rows * sizeof *c->S);
    for (size_t k = 0; k < rows; k++) { // columns of M^-1 C' and of C M^-1 C'
        double *z = c->Z + k * n;
        for (size_t i = 0; i < rows; i++) c->dx[i] = i == k;
        snw_rows_pull(m, c->w, c->dx, z);
        snw_cholesky_solve(m->nv, c->M, z);
        snw_rows_push(m, c->w, z, c->S + k * rows);
    }
    if (snw_cholesky_factor(m->nrow, c->S) != SNW_OK) return false;
    snw_cholesky_solve(m->nrow, c->S, rate);
    for (size_t k = 0; k < rows; k++) {
        for (size_t i = 0; i < n; i++) c->end->v[i] -= rate[k] * c->Z[k * n + i];
        rate[k] = -rate[k];
    }
    snw_rows_pull(m, c->w, rate, c->p1);
    memcpy(c->end->l, c->mid->l, rows * sizeof *c->end->l);
    snw_rows_add(m, c->last, c->end, c->w);
    return true;
}

// The state at the end of the step, from d and the momenta of the middle, and Gonzalez' number: what the step
// without correction would gain, over the length of d. False when the mass matrix is singular.
static bool finish(conserving *c, double *theta) {
    const snw_model *m = c->m;
    const int n = m->nv;
    snw_move(m, c->now->q, 1, c->d, c->end->q);
    for (int i = 0; i < n; i++) c->p1[i] = 2 * c->P[i] - c->p0[i];
    // c->r <- change of the momenta, at the middle
    snw_carry_half(m, c->d, true, c->p1, c->r);
    snw_carry_half(m, c->d, false, c->p0, c->dx);
    for (int i = 0; i < n; i++) c->r[i] -= c->dx[i];
    // work of the momenta: T(p_1) - T(p_0) with the mass of the middle is v (p_1 - p_0)
    double gain = -dot(n, c->d, c->r), length = 0;
    if (!velocities(c, c->p1, c->end)) return false;
    if (m->nrow && !keep_closed(c)) return false;
    *theta = 0;
    if (c->moving) return true;
    // c->w holds the poses of the end
    const double E1 = 0.5 * dot(n, c->p1, c->end->v) + potential(c, c->end, c->w);
    const double h = c->end->t - c->now->t;
    gain = E1 - c->E0 + gain / h + dot(n, c->dT, c->d) - dot(n, c->force, c->d);
    for (int i = 0; i <= m->desc->nload; i++) gain -= h * c->power_mid[i]; // loads, active stress
    for (int i = 0; i < n; i++) length += c->weight[i] * c->d[i] * c->d[i];
    // an increment this short gains nothing that could be seen
    if (length > c->least) *theta = gain / length;
    return true;
}

// T(d/2): half a variation of d turns the middle by that much
static snw_lower half_tangent(const conserving *c, const snw_block *b) {
    return snw_se3_tangent(snw_curved_twist(b, 0.5, c->d));
}

static void turn_half(const conserving *c, double *A) {
    for (int f = 0; f < c->m->ncurved; f++) {
        const snw_block *b = snw_curved(c->m, f);
        snw_turn_columns(b, half_tangent(c, b), c->m->nv, c->m->nv, A);
    }
}

// Q <- Q - M ad_u on the columns of a ball or free joint: from variations that turn the body rates u with the frame to
// such that leave them
static void untwist(const conserving *c, const snw_block *b, const double *M, double *Q) {
    const size_t n = (size_t)c->m->nv;
    const snw_twist u = snw_curved_twist(b, 1, c->mid->v);
    for (int k = 0; k < b->n; k++) {
        const snw_twist z = snw_ad(u, snw_twist_unit(k));
        double *to = Q + (size_t)(b->dof + k) * n;
        for (int j = 0; j < b->n; j++) {
            const double *from = M + (size_t)(b->dof + j) * n;
            for (size_t i = 0; i < n; i++) to[i] -= z.e[j] * from[i];
        }
    }
}

// K <- derivative of the elastic forces at q
static void elastic_slope(const snw_model *m, const double *q, double *K) {
    const size_t n = (size_t)m->nv;
    snw_elastic_matrices(m, K, NULL);
    for (int i = 0; i < m->nspring; i++) {
        const snw_spring *s = &m->spring[i];
        const snw_block *b = &m->block[s->block];
        if (b->curved < 0 || s->stiffness == 0) continue;
        snw_vec3 e;
        snw_spring_force(m, s, q, NULL, e.e);
        const snw_mat3 slope = snw_so3_tangent_inv(snw_scale(1 / s->stiffness, e));
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                K[(size_t)(b->dof + k) * n + (size_t)(b->dof + j)] = s->stiffness * slope.e[j][k];
            }
        }
    }
}

// c->A <- c->T with the loops: forces -C' l at the middle, gaps that vary by C T(d) at the end. After the sweep at the
// middle.
static void border(conserving *c) {
    const snw_model *m = c->m;
    const size_t n = (size_t)m->nv, all = (size_t)c->n;
    memset(c->A, 0, all * all * sizeof *c->A);
    for (size_t j = 0; j < n; j++) memcpy(c->A + j * all, c->T + j * n, n * sizeof *c->A);
    for (int k = 0; k < m->nrow; k++) {
        double *to = c->A + (n + (size_t)k) * all;
        for (int i = 0; i < m->nrow; i++) c->dx[i] = i == k ? -1 : 0;
        snw_rows_pull(m, c->w, c->dx, to);
    }
    snw_move(m, c->now->q, 1, c->d, c->end->q);
    snw_kinematics(m, c->last, c->end, true, c->w);
    snw_columns_sweep(m, c->w);
    snw_rows_columns(m, 0, c->w, NULL);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) c->dx[i] = i == j;
        snw_rows_push(m, c->w, c->dx, c->A + j * all + n);
    }
    for (int f = 0; f < m->ncurved; f++) {
        const snw_block *b = snw_curved(m, f);
        snw_turn_columns(b, snw_se3_tangent(snw_curved_twist(b, 1, c->d)), m->nrow, c->n, c->A + n);
    }
}

// c->A <- factors of the derivative of the residual in d:
//   2/h^2 M + (Q - Q')/h + K/2 + D/h - coad((p_0 + p_1)/2)/h,  Q = dP/dq
// with the rows of balls and free joints in M and Q carried to the middle, coad in their blocks
static bool factor(conserving *c, double h) {
    const snw_model *m = c->m;
    const size_t n = (size_t)m->nv;
    const bool still = m->nlive == 0; // laws have to see the velocities
    snw_residual(m, c->in, c->mid, still, c->w);
    snw_tangent_sweep(m, NULL, c->w);
    snw_tangent_assemble(m, c->in, 0.5, 0, 0, c->w, c->T);
    turn_half(c, c->T);
    if (m->nlive) snw_feedback_tangent(m, c->in, 0, 1 / h, c->w, n, c->T);

    momenta_at(c, c->in, c->mid, c->P);
    snw_tangent_sweep(m, NULL, c->w);
    snw_tangent_assemble(m, c->empty, 1, 0, 0, c->w, c->M);
    elastic_slope(m, c->mid->q, c->E);
    for (size_t i = 0; i < n * n; i++) c->M[i] -= c->E[i];
    snw_tangent_assemble(m, c->empty, 0, 0, 1, c->w, c->E);
    for (int f = 0; f < m->ncurved; f++) untwist(c, snw_curved(m, f), c->E, c->M);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) c->T[j * n + i] -= c->M[i * n + j] / h;
    }
    turn_half(c, c->M);
    for (size_t i = 0; i < n * n; i++) c->M[i] = c->M[i] / h + 2 / (h * h) * c->E[i];
    for (size_t j = 0; j < n; j++) {
        snw_carry_half(m, c->d, true, c->M + j * n, c->r);
        for (size_t i = 0; i < n; i++) c->T[j * n + i] += c->r[i];
    }
    snw_elastic_matrices(m, NULL, c->E);
    snw_friction_matrix(m, c->mid->v, c->E);
    for (size_t i = 0; i < n * n; i++) c->T[i] += c->E[i] / h;
    for (size_t i = 0; i < n; i++) c->p1[i] = 2 * c->P[i] - c->p0[i];
    snw_carry_half(m, c->d, true, c->p1, c->dT);
    snw_carry_half(m, c->d, false, c->p0, c->r);
    for (size_t i = 0; i < n; i++) c->r[i] = 0.5 * (c->r[i] + c->dT[i]);
    for (int f = 0; f < m->ncurved; f++) {
        const snw_block *b = snw_curved(m, f);
        const snw_lower T = half_tangent(c, b);
        for (int k = 0; k < b->n; k++) {
            const snw_wrench col =
                snw_coad(snw_curved_wrench(b, c->r), snw_lower_apply(&T, snw_twist_unit(k)));
            double *to = c->T + (size_t)(b->dof + k) * n + (size_t)b->dof;
            for (int i = 0; i < b->n; i++) to[i] -= col.e[i] / h;
        }
    }
    if (m->nfleeting) snw_rest_matrix(m, c->w, n, c->T);
    if (m->nrow) border(c);
    snw_gauge_take(&c->gauge, c->A, NULL);
    c->condition = NAN;
    c->factored = snw_lu_factor(c->n, c->A, c->pivot) == SNW_OK;
    return c->factored;
}

// The weight of what hangs on nothing or on a ball acts where its centre of mass is in the mean over the arc of the step, not at the middle:
// beside it by d_w x u (1 - sinc(d_w/2))/d_w^2, u the way of the centre. So a turning rigid body gains by falling exactly
// what it loses of its potential. After the kinematics of the middle.
static void weigh_on_the_arc(conserving *c) {
    const snw_model *m = c->m;
    for (int f = 0; f < m->ncurved; f++) {
        const snw_block *b = snw_curved(m, f);
        if (!snw_curved_root(m, b)) continue;
        const int dof = b->dof;
        double mass = 0;
        snw_vec3 moment = {{0}};
        for (int s = 1; s < m->nseg; s++) {
            const snw_path *path = &m->path[m->seg[s].path];
            if (!snw_is_heavy(m, c->w, s) || path->n == 0 || path->dof[0] != dof) continue;
            const snw_inertia *M = &m->seg[s].M;
            const snw_se3 g = c->w->g[s];
            mass += M->m;
            moment = snw_add(moment, snw_add(snw_scale(M->m, g.p), snw_rotate(g.R, M->mc)));
        }
        if (mass == 0) continue;
        const snw_se3 g = c->w->g[b->seg];
        const snw_vec3 center = snw_rotate_inv(g.R, snw_sub(snw_scale(1 / mass, moment), g.p));
        const snw_vec3 weight = snw_rotate_inv(g.R, snw_scale(mass, c->in->gravity));
        const snw_twist d = snw_curved_twist(b, 1, c->d);
        const snw_vec3 turn = d.w, way = snw_add(d.v, snw_cross(turn, center));
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
    for (int i = 0; i < n; i++) c->mid->v[i] = c->d[i] / h, c->mid->a[i] = 0;
    memcpy(c->mid->l, c->d + n, (size_t)m->nrow * sizeof(double));
    snw_move(m, c->now->q, 0.5, c->d, c->mid->q);
    if (columns && !factor(c, h)) return NAN;
    weigh(c);
    weigh_on_the_arc(c);
    trivialise(c);
    snw_load_power(m, c->in, c->mid, c->w, c->power_mid);
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
    for (int i = n; i < c->n; i++) {
        c->r[i] = c->w->gap[i - n];
        const double x = fabs(c->r[i]) / fmin(1, m->length);
        if (!(x <= largest)) largest = x;
    }
    return largest;
}

// Broyden's method on the matrix of the start
static snw_status solve(conserving *c, double h, snw_stats *took) {
    const size_t n = (size_t)c->n, nv = (size_t)c->m->nv;
    for (size_t i = 0; i < nv; i++) c->d[i] = h * (c->now->v[i] + 0.5 * h * c->now->a[i]);
    for (size_t i = nv; i < n; i++) c->d[i] = c->now->l[i - nv];
    double norm = evaluate(c, h, true), before = INFINITY, least = INFINITY;
    int stuck = 0;
    snw_broyden_reset(&c->broyden);
    for (int k = 0; k < 60 && !(norm <= c->tolerance) && stuck < 3; k++) {
        if (!isfinite(norm)) return SNW_E_DIVERGED;
        for (size_t i = 0; i < n; i++) c->dx[i] = -c->r[i];
        snw_lu_solve(c->n, c->A, c->pivot, c->dx);
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
        // at the level of rounding it goes up and down; the best is kept
        if (norm > 1e3 * c->tolerance) continue;
        if (norm >= before) stuck++;
        if (norm >= least) continue;
        least = norm;
        memcpy(c->best, c->d, n * sizeof *c->best);
    }
    if (norm > least) {
        memcpy(c->d, c->best, n * sizeof *c->best);
        norm = evaluate(c, h, false);
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
    // laws read an integral as it is at the middle, with what it grows by there
    c->in->lead = 0.5 * h;
    memcpy(c->mid->z, c->now->z, (size_t)m->nsignal * sizeof(double));
    memcpy(c->end->z, c->now->z, (size_t)m->nsignal * sizeof(double));
    c->end->t = c->now->t + h;
    const snw_status s = solve(c, h, took);
    if (s != SNW_OK) return s;
    account(c, h);
    for (int i = 0; i < m->nsignal; i++) { // as far beyond the middle as up to it
        const snw_signal_desc *signal = &m->desc->signal[i];
        const bool grows = signal->kind == SNW_SIGNAL_INTEGRAL && signal->source;
        c->end->z[i] = grows ? 2 * c->w->signal[i] - c->now->z[i] : c->now->z[i];
    }
    // accelerations as the mean over the step: only a start for the next one
    for (int i = 0; i < m->nv; i++) c->end->a[i] = (c->end->v[i] - c->now->v[i]) / h;
    memcpy(c->end->l, c->mid->l, (size_t)m->nrow * sizeof(double));
    memcpy(c->p0, c->p1, (size_t)m->nv * sizeof *c->p0);
    snw_state_copy(m, c->end, c->now);
    // the energy there should be, not the one there is: errors of Newton do not add up
    for (int i = 0; i < npower(m); i++) c->E0 += h * c->power[i];
    c->E0 -= h * c->heat_power;
    took->increments++;
    return SNW_OK;
}

// which coordinates take part in the correction of the energy; by what unknowns are measured
static void set_weights(conserving *c) {
    const snw_model *m = c->m;
    memcpy(c->typical, m->typical, (size_t)m->nv * sizeof *c->typical);
    for (int i = m->nv; i < c->n; i++) {
        c->typical[i] = m->scale[0] * m->typical[0] / m->length;
    }
    for (int i = 0; i < m->nv; i++) c->weight[i] = m->scale[i] / m->typical[i];
    // forces between the world and what it does not hold would change the momentum
    for (int f = 0; f < m->ncurved; f++) {
        const snw_block *b = snw_curved(m, f);
        if (!snw_curved_root(m, b) || b->spring >= 0) continue;
        memset(c->weight + b->dof, 0, (size_t)b->n * sizeof *c->weight);
    }
    c->least = INFINITY;
    for (int i = 0; i < m->nv; i++) {
        const double one = 1e-6 * m->typical[i];
        if (c->weight[i] > 0) c->least = fmin(c->least, c->weight[i] * one * one);
    }
}

// ---- the mover -------------------------------------------------------------------------------------

enum { NPIECE = 10 };

// the inputs are made anew by whatever comes next, a look or a step
static void list_pieces(const conserving *c, snw_piece piece[NPIECE]) {
    const size_t nv = (size_t)c->m->nv, np = (size_t)npower(c->m);
    conserving *own = (conserving *)c;
    const snw_piece list[NPIECE] = {{&c->now->t, 1},       snw_piece_state(c->m, c->now),
                                    {c->p0, nv},           {c->mass, nv},
                                    {c->power, np},        {c->work, np},
                                    {&own->heat_power, 1}, {&own->heat, 1},
                                    {&own->E0, 1},         {own->gravity.e, 3}};
    memcpy(piece, list, sizeof list);
}

size_t snw_mover_conserving_saves(const snw_model *m) {
    return 1 + snw_state_doubles(m) + 2 * (size_t)m->nv + 2 * (size_t)npower(m) + 6;
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

static void back(void *self) { load(self, ((conserving *)self)->saved); }
static snw_status accelerations(conserving *c, snw_error *err) {
    if (c->as) return snw_assembly_accelerations(c->as, c->in, c->now, err);
    return snw_accelerations(c->m, c->in, c->now, c->w, c->M, err);
}

static snw_status restart(void *self, const double *z, snw_error *err) {
    conserving *c = self;
    const snw_model *m = c->m;
    snw_inputs_at(m, c->now->t + snw_grain(c->now->t), c->in);
    if (c->switches) {
        snw_blow blow;
        SNW_TRY(snw_switches_throw(c->switches, c->in, z, c->now, &blow, err));
        c->work[npower(m) - 1] += blow.work;
        c->heat += blow.heat;
    } else if (z) {
        memcpy(c->now->z, z, (size_t)m->nsignal * sizeof *z);
    }
    snw_mass_matrix(m, c->in, c->now, c->w, c->M);
    for (int i = 0; i < m->nv; i++) c->mass[i] = c->M[(size_t)i * (size_t)(m->nv + 1)];
    momenta_at(c, c->in, c->now, c->p0);
    SNW_TRY(accelerations(c, err));
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
    snw_state_rest(c->m, c->now);
    snw_inputs_at(c->m, c->now->t, c->in);
    if (c->as) SNW_TRY(snw_assembly_velocities(c->as, c->in, c->now, err));
    for (int i = 0; i < npower(c->m); i++) c->work[i] = 0;
    c->heat = 0;
    return restart(c, NULL, err);
}

static snw_status advance(void *self, double to, double limit, snw_stats *took, snw_error *err) {
    const double t_laws = snw_before_jump(to, limit);
    conserving *c = self;
    if (c->saved) save(c, c->saved);
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

static void hold(void *self, const snw_hand *hand) {
    conserving *c = self;
    c->in->hand = c->last->hand = hand;
}

static const snw_work *look(void *self) {
    conserving *c = self;
    snw_error ignored;
    snw_inputs_at(c->m, c->now->t, c->in);
    // the mass matrix was regular when the step began; if it is not here, accelerations stay the step's mean
    if (accelerations(c, &ignored) != SNW_OK) {
        snw_inputs_at(c->m, c->now->t, c->in);
    }
    snw_residual(c->m, c->in, c->now, false, c->w);
    snw_observe(c->m, c->in, c->now, false, c->w);
    return c->w;
}

static double condition(void *self) {
    conserving *c = self;
    if (c->factored && isnan(c->condition)) {
        c->condition = snw_gauge_condition(&c->gauge, c->A, c->pivot, NULL, c->spare);
    }
    return c->factored ? c->condition : NAN;
}

static snw_work_done work(const void *self) {
    const conserving *c = self;
    return (snw_work_done){.n = npower(c->m),
                           .power = c->power,
                           .work = c->work,
                           .heat_power = c->heat_power,
                           .heat = c->heat};
}

static void close(void *self) {
    conserving *c = self;
    if (!c) return;
    snw_work_destroy(c->w);
    snw_switches_destroy(c->switches);
    snw_assembly_destroy(c->as);
    snw_inputs_destroy(c->in);
    snw_inputs_destroy(c->empty);
    snw_inputs_destroy(c->last);
    snw_state_destroy(c->push);
    snw_state_destroy(c->now);
    snw_state_destroy(c->mid);
    snw_state_destroy(c->end);
    snw_free(c->memory);
    snw_free(c->saved);
    snw_free(c->pivot);
    snw_free(c);
}

snw_status snw_mover_conserving(const snw_model *m, const snw_step_desc *step, snw_mover *out) {
    bool moving = false;
    for (int i = 0; i < m->npose; i++) moving |= (snw_pose_desc_vars(&m->pose[i]) & SNW_VAR_T) != 0;
    conserving *c = snw_alloc(sizeof *c);
    if (!c) return SNW_E_MEMORY;
    c->m = m;
    c->moving = moving;
    c->step = step->step;
    c->tolerance = step->tolerance > 0 ? step->tolerance : 1e-12;
    c->n = m->nv + m->nrow;
    const size_t nv = (size_t)m->nv, np = (size_t)npower(m), n = (size_t)c->n;
    const size_t rows = (size_t)m->nrow, loops = rows ? n * n + rows * (n + 1) : 0;
    c->memory =
        snw_alloc((16 * n + 3 * nv * nv + loops + 3 * np + snw_broyden_doubles(c->n, INCREMENTS)) *
                  sizeof(double));
    c->pivot = snw_alloc(n * sizeof *c->pivot);
    c->saved = m->nsignal ? snw_alloc(snw_mover_conserving_saves(m) * sizeof(double)) : NULL;
    if (!c->memory || !c->pivot || (m->nsignal && !c->saved) ||
        (m->nloop + m->nswitch && snw_assembly_create(m, &c->as) != SNW_OK) ||
        (m->nswitch && snw_switches_create(m, c->as, &c->switches) != SNW_OK) ||
        snw_work_create(m, &c->w) != SNW_OK || snw_inputs_create(m, &c->in) != SNW_OK ||
        snw_inputs_create(m, &c->empty) != SNW_OK || snw_inputs_create(m, &c->last) != SNW_OK ||
        snw_state_create(m, &c->push) != SNW_OK || snw_state_create(m, &c->now) != SNW_OK ||
        snw_state_create(m, &c->mid) != SNW_OK || snw_state_create(m, &c->end) != SNW_OK) {
        close(c);
        return SNW_E_MEMORY;
    }
    double *at = c->memory;
    double **const vectors[] = {&c->d, &c->dx, &c->best, &c->typical, &c->p0,     &c->p1,
                                &c->r, &c->P,  &c->dT,   &c->force,   &c->weight, &c->mass};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) *vectors[i] = at, at += n;
    c->gauge = (snw_gauge){.n = c->n, .row = at, .column = at + n};
    c->spare = at + 2 * n;
    c->M = at + 4 * n;
    c->T = c->M + nv * nv;
    c->E = c->T + nv * nv;
    c->A = rows ? c->E + nv * nv : c->T;
    c->Z = c->E + nv * nv + (rows ? n * n : 0);
    c->S = c->Z + nv * rows;
    c->power = c->E + nv * nv + loops;
    c->work = c->power + np;
    c->power_mid = c->work + np;
    c->broyden = snw_broyden_on(c->n, INCREMENTS, c->typical, c->power_mid + np);
    set_weights(c);
    *out = (snw_mover){.self = c,
                       .grid = step->step,
                       .start = start,
                       .advance = advance,
                       .restart = restart,
                       .back = back,
                       .hold = hold,
                       .state = state,
                       .inputs = inputs,
                       .look = look,
                       .condition = condition,
                       .work = work,
                       .save = save,
                       .load = load,
                       .close = close};
    return SNW_OK;
}
