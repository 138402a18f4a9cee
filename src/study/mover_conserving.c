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
// heat and the work Q d of the loads. Momenta of a free joint are carried to the middle of the step and on by the
// coadjoint action, so that the momentum about the world's origin changes by the impulse of the loads and nothing
// else; there theta is zero, the energy error is bounded by symmetry.
//
// Newton's matrix comes from two sweeps at the middle: the static tangent, and the tangent of the momenta P = M v, which
// are the inertia forces of a motion that starts from rest with acceleration v. What it lacks (second derivatives of T,
// theta) is of order h^2, so one matrix serves a step.
#include "study/mover_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"
#include "study/pieces.h"

#include <math.h>
#include <string.h>

enum { INCREMENTS = 12 }; // kept by Broyden's method

typedef struct conserving {
    const snw_model *m;
    double step, tolerance;
    snw_work *w;
    snw_inputs *in, *bare, *empty; // at the middle of the step; without loads; without gravity too
    snw_state *now, *mid, *end, *push;
    double *memory;
    double *d, *dx, *p0, *p1, *r, *P, *dT, *pot, *load, *weight, *mass;
    double *M, *T, *E;
    double *s; // increments of the solver
    int *pivot;
    double *power, *work; // per load; power at the last instant
    double heat, heat_power;
    double E0; // energy there should be at the last instant: at the start, plus work, less heat
    double t_laws;
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

// the momenta of free joints carried along half the increment
static void carry_half(const snw_model *m, const double *d, const double *from, double *to) {
    memcpy(to, from, (size_t)m->nv * sizeof *to);
    for (int f = 0; f < m->nfree; f++) {
        const int i = m->floating[f].dof;
        snw_twist x;
        snw_wrench F;
        for (int k = 0; k < 6; k++) x.e[k] = 0.5 * d[i + k], F.e[k] = from[i + k];
        F = snw_wrench_to_child(snw_se3_exp(x), F);
        for (int k = 0; k < 6; k++) to[i + k] = F.e[k];
    }
}

static double potential(const conserving *c, const snw_state *s, snw_work *w) {
    return snw_elastic_energy(c->m, s->q) + snw_gravity_energy(c->m, c->in, w);
}

// velocities of momenta p at s->q; false when the mass matrix is singular
static bool velocities(conserving *c, const double *p, snw_state *s) {
    snw_mass_matrix(c->m, c->in, s, c->w, c->M);
    if (snw_cholesky_factor(c->m->nv, c->M) != SNW_OK) return false;
    memcpy(s->v, p, (size_t)c->m->nv * sizeof *p);
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
    carry_half(m, c->d, c->p0, c->r); // p_0 at the middle
    for (int i = 0; i < n; i++) c->p1[i] = 2 * c->P[i] - c->r[i];
    // work of the momenta: T(p_1) - T(p_0) with the mass of the middle is v (p_1 - p_0)
    double gain = 0, length = 0;
    for (int i = 0; i < n; i++) gain -= c->d[i] * (c->p1[i] - c->r[i]);
    carry_half(m, c->d, c->p1, c->p1);
    if (!velocities(c, c->p1, c->end)) return false;
    *theta = 0;
    if (m->nfree) return true;
    snw_kinematics(m, c->in, c->end, true, c->w);
    const double E1 = 0.5 * dot(n, c->p1, c->end->v) + potential(c, c->end, c->w);
    const double h = c->end->t - c->now->t;
    gain = E1 - c->E0 + gain / h + dot(n, c->dT, c->d) - dot(n, c->pot, c->d);
    for (int i = 0; i < n; i++) length += c->weight[i] * c->d[i] * c->d[i];
    // an increment this short gains nothing that could be seen
    const double least = 1e-12 * m->scale[0] * m->typical[0];
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
//   2/h^2 M + (Q - Q')/h + K/2 + D/h - coad(p_0)/h on the base,  Q = dP/dq
static bool factor(conserving *c, double h) {
    const snw_model *m = c->m;
    const size_t n = (size_t)m->nv;
    snw_residual(m, c->in, c->mid, true, c->w);
    snw_tangent_sweep(m, NULL, c->w);
    snw_tangent_assemble(m, c->in, 0.5, 0, 0, c->w, c->T);
    for (int f = 0; f < m->nfree; f++) turn_columns(c, m->floating[f].dof);

    memcpy(c->push->q, c->mid->q, (size_t)m->nq * sizeof(double));
    for (size_t i = 0; i < n; i++) c->push->v[i] = 0, c->push->a[i] = c->mid->v[i];
    snw_residual(m, c->empty, c->push, false, c->w);
    snw_tangent_sweep(m, NULL, c->w);
    snw_tangent_assemble(m, c->empty, 1 / h, 0, 0, c->w, c->M);
    snw_elastic_matrices(m, c->E, NULL);
    for (size_t i = 0; i < n * n; i++) c->M[i] -= c->E[i] / h;
    for (int f = 0; f < m->nfree; f++) { // momenta do not depend on where the base is
        memset(c->M + (size_t)m->floating[f].dof * n, 0, 6 * n * sizeof(double));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) c->T[j * n + i] += c->M[j * n + i] - c->M[i * n + j];
    }
    snw_tangent_assemble(m, c->empty, 0, 0, 2 / (h * h), c->w, c->M);
    snw_elastic_matrices(m, NULL, c->E);
    for (size_t i = 0; i < n * n; i++) c->T[i] += c->M[i] + c->E[i] / h;
    carry_half(m, c->d, c->p0, c->r);
    for (int f = 0; f < m->nfree; f++) {
        const size_t b = (size_t)m->floating[f].dof;
        snw_wrench F;
        const snw_lower T = half_tangent(c, m->floating[f].dof);
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

// residual at d; its largest in typical forces. With `columns` also the factors of its derivative
static double evaluate(conserving *c, double h, bool columns) {
    const snw_model *m = c->m;
    const int n = m->nv;
    // forces at the middle: of potentials, then of loads besides
    for (int i = 0; i < n; i++) c->mid->v[i] = c->d[i] / h, c->mid->a[i] = 0;
    snw_move(m, c->now->q, 0.5, c->d, c->mid->q);
    if (columns && !factor(c, h)) return NAN;
    snw_residual(m, c->bare, c->mid, true, c->w);
    memcpy(c->pot, c->w->r, (size_t)n * sizeof *c->pot);
    snw_residual(m, c->in, c->mid, true, c->w);
    for (int i = 0; i < n; i++) c->load[i] = c->pot[i] - c->w->r[i];
    // momenta at the middle
    snw_residual(m, c->in, c->mid, false, c->w);
    snw_tangent_sweep(m, NULL, c->w);
    momenta(m, c->w, c->P, c->dT);
    for (int f = 0; f < m->nfree;
         f++) { // the base has no dT/dq: the coadjoint action stands for it
        for (int k = 0; k < 6; k++) c->dT[m->floating[f].dof + k] = 0;
    }
    double theta;
    if (!finish(c, &theta)) return NAN;
    double *damping = c->dx;
    snw_damping_forces(m, c->mid->v, damping);
    double largest = 0;
    for (int i = 0; i < n; i++) {
        // c->r holds p_0 at the middle
        c->r[i] = 2 * (c->P[i] - c->r[i]) / h - c->dT[i] + c->pot[i] + damping[i] - c->load[i] +
                  theta * c->weight[i] * c->d[i];
        const double x =
            fabs(c->r[i]) / (m->scale[i] + 1e-3 * c->mass[i] * m->typical[i] / (h * h));
        if (!(x <= largest)) largest = x;
    }
    return largest;
}

static double inner(const conserving *c, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < c->m->nv; i++) sum += a[i] * b[i] / (c->m->typical[i] * c->m->typical[i]);
    return sum;
}

// Broyden's method on the factorised matrix: every increment teaches it what it lacks. The increments s_j are kept;
// the inverse of the updated matrix is applied through them.
static snw_status solve(conserving *c, double h, snw_stats *took) {
    const size_t n = (size_t)c->m->nv;
    for (size_t i = 0; i < n; i++) c->d[i] = h * (c->now->v[i] + 0.5 * h * c->now->a[i]);
    double norm = evaluate(c, h, true), before = INFINITY;
    int stuck = 0, kept = 0;
    for (int k = 0; k < 60 && !(norm <= c->tolerance) && stuck < 3; k++) {
        if (!isfinite(norm)) return SNW_E_DIVERGED;
        if (kept == INCREMENTS) { // begin anew with a new matrix
            kept = 0;
            norm = evaluate(c, h, true);
            if (!isfinite(norm)) return SNW_E_DIVERGED;
        }
        double *z = c->s + (size_t)kept * n;
        for (size_t i = 0; i < n; i++) z[i] = -c->r[i];
        snw_lu_solve(c->m->nv, c->T, c->pivot, z);
        for (int j = 0; j + 1 < kept; j++) {
            const double *s = c->s + (size_t)j * n, w = inner(c, s, z) / inner(c, s, s);
            for (size_t i = 0; i < n; i++) z[i] += w * s[n + i];
        }
        if (kept > 0) {
            const double *s = c->s + (size_t)(kept - 1) * n,
                         w = 1 - inner(c, s, z) / inner(c, s, s);
            if (!(fabs(w) > 1e-3)) return SNW_E_DIVERGED;
            for (size_t i = 0; i < n; i++) z[i] /= w;
        }
        for (size_t i = 0; i < n; i++) c->d[i] += z[i];
        kept++;
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
    snw_residual(m, c->in, c->mid, false, c->w);
    snw_load_power(m, c->in, c->mid, c->w, c->power);
    for (int i = 0; i < npower(m); i++) c->work[i] += h * c->power[i];
    c->heat_power = snw_dissipation(m, c->mid->v);
    c->heat += h * c->heat_power;
}

static snw_status one_step(conserving *c, double h, double t_laws, snw_stats *took) {
    const snw_model *m = c->m;
    // laws at the middle of what is left of them
    snw_inputs_at(m, 0.5 * (c->now->t + t_laws), c->in);
    snw_inputs_copy(c->in, c->bare);
    for (int i = 0; i < m->nact; i++) c->bare->load[i] = (snw_wrench){0};
    for (int i = 0; i < m->nv; i++) c->bare->stress[i] = 0;
    snw_inputs_copy(c->bare, c->empty);
    c->empty->gravity = (snw_vec3){{0}};
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
        c->p0[i] = 0;
        for (int j = 0; j < m->nv; j++)
            c->p0[i] += c->M[(size_t)j * (size_t)m->nv + (size_t)i] * c->now->v[j];
    }
    const snw_status s = snw_accelerations(m, c->in, c->now, c->w, c->M, err);
    if (s != SNW_OK) return s;
    snw_residual(m, c->in, c->now, false, c->w);
    snw_load_power(m, c->in, c->now, c->w, c->power);
    c->heat_power = snw_dissipation(m, c->now->v);
    c->E0 = snw_kinetic_energy(m, c->w) + potential(c, c->now, c->w);
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

enum { NPIECE = 10 };

// the inputs are made anew by whatever comes next, a look or a step
static void list_pieces(const conserving *c, snw_piece piece[NPIECE]) {
    const size_t nv = (size_t)c->m->nv, np = (size_t)npower(c->m);
    conserving *own = (conserving *)c;
    const snw_piece list[NPIECE] = {{&c->now->t, 1}, snw_piece_state(c->m, c->now),
                                    {c->p0, nv},     {c->weight, nv},
                                    {c->mass, nv},   {c->power, np},
                                    {c->work, np},   {&own->heat_power, 1},
                                    {&own->heat, 1}, {&own->E0, 1}};
    memcpy(piece, list, sizeof list);
}

size_t snw_mover_conserving_saves(const snw_model *m) {
    return 1 + snw_state_doubles(m) + 3 * (size_t)m->nv + 2 * (size_t)npower(m) + 3;
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
    snw_inputs_destroy(c->bare);
    snw_inputs_destroy(c->empty);
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
    if (m->nsignal) {
        return snw_fail_place(err,
                              snw_fail(err, SNW_E_MODEL,
                                       "the conserving scheme does not know laws and conditions "
                                       "that read probes; use scheme: generalized-alpha"),
                              step->place.file, step->place.line, step->place.column);
    }
    for (int i = 0; i < m->npose; i++) {
        if (snw_pose_desc_vars(&m->pose[i]) == 0) continue;
        return snw_fail_place(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "the conserving scheme does not know bases moved by a law; use "
                     "scheme: generalized-alpha"),
            step->place.file, step->place.line, step->place.column);
    }
    conserving *c = snw_alloc(sizeof *c);
    if (!c) return SNW_E_MEMORY;
    c->m = m;
    c->step = step->step;
    c->tolerance = step->tolerance > 0 ? step->tolerance : 1e-12;
    const size_t nv = (size_t)m->nv, np = (size_t)npower(m);
    c->memory = snw_alloc(((11 + INCREMENTS) * nv + 3 * nv * nv + 2 * np) * sizeof(double));
    c->pivot = snw_alloc(nv * sizeof *c->pivot);
    if (!c->memory || !c->pivot || snw_work_create(m, &c->w) != SNW_OK ||
        snw_inputs_create(m, &c->in) != SNW_OK || snw_inputs_create(m, &c->bare) != SNW_OK ||
        snw_inputs_create(m, &c->empty) != SNW_OK || snw_state_create(m, &c->push) != SNW_OK ||
        snw_state_create(m, &c->now) != SNW_OK || snw_state_create(m, &c->mid) != SNW_OK ||
        snw_state_create(m, &c->end) != SNW_OK) {
        close(c);
        return SNW_E_MEMORY;
    }
    double *at = c->memory;
    double **const vectors[] = {&c->d,  &c->dx,  &c->p0,   &c->p1,     &c->r,   &c->P,
                                &c->dT, &c->pot, &c->load, &c->weight, &c->mass};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) *vectors[i] = at, at += nv;
    c->M = at;
    c->T = c->M + nv * nv;
    c->E = c->T + nv * nv;
    c->power = c->E + nv * nv;
    c->work = c->power + np;
    c->s = c->work + np;
    *out = (snw_mover){.self = c,
                       .grid = step->step,
                       .start = start,
                       .advance = advance,
                       .restart = restart,
                       .state = state,
                       .inputs = inputs,
                       .look = look,
                       .work = work,
                       .save = save,
                       .load = load,
                       .close = close};
    return SNW_OK;
}
