// SPDX-License-Identifier: MIT
//
// Truncation error of strain bases: compiles the model with richer bases (study/nested.h), solves
// its equilibrium, its linear response at an instant of a motion, or its modes, and compares node
// positions or frequencies. theory.md 5.1, 7.2
#include "study/truncation.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fail.h"
#include "constraint/elimination.h"
#include "dynamics/constraint.h"
#include "dynamics/rod_contact.h"
#include "solve/continuation.h"
#include "solve/dense.h"
#include "solve/pseudo_transient.h"
#include "study/nested.h"
#include "study/nested_bands.h"
#include "study/statics.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_COORDINATES = 600, // of the richer model
    MAX_LOCAL = 30000,     // the same of local models
    CORRECTIONS = 4,       // of their equilibrium, with one tangent
    GENEROUS_UP_TO = 200,  // coordinates up to which it gets more functions than necessary
    MAX_STEADY = 300,      // the same for frequencies about a steady motion
    MAX_INCREMENTS = 12,   // on the path to its equilibrium
    MAX_ITERATIONS = 10,   // of Newton's method in each
    MAX_SETTLE = 80,       // of the damped motion, if the path ends before
    ROUNDS = 3             // unstable equilibria left
};

// Displacement out of an unstable equilibrium, in typical coordinates.
static const double LEAVE = 0.05;

// Coordinates of one strain component in both bases.
typedef struct pair {
    int rod, a;        // active component of a rod
    int n, rich;       // numbers of functions
    const double *up;  // rich x n: coordinates of the same field
    const double *cut; // rich x rich: projector onto the part of a richer field that the basis
                       // cannot represent
    const snw_nested_bands *bands; // both in local models, which have no such matrices; else NULL
} pair;

struct snw_truncation {
    const snw_model *m; // original model
    snw_desc desc;      // copy with its own links
    snw_model *rich;
    snw_pool *pool;
    int npair;
    pair *pair;
    snw_work *w;
    snw_inputs *in;
    snw_state *s;
    bool *is_joint; // nv of the richer model: coordinate of a joint
    double *x, *q0, *r0, *scale, *regularisation, *damping, *field;
    snw_vec3 *position0; // nseg: initial positions of nodes
    snw_vec3 *place0;    // snw_contact_nplace: initial places of contact points and touching rods
    double *J;           // n x n, for instants of a motion
    int *pivot;          // n
    snw_elimination *local; // in place of both in local models; else NULL
    snw_arena scratch;
    bool rates;           // velocities count in equilibria
    snw_statics *statics; // of the richer model, created when an equilibrium is left; else NULL
    snw_modes *modes;     // of the richer model, created when frequencies are asked for
    bool steady;          // kind of `modes`
};

// ---- richer bases

// Do actuators act on single strain coordinates of the rod?
static bool is_actuated(const snw_desc *d, int link) {
    for (int i = 0; i < d->nmotor; i++) {
        if (d->motor[i].rod && d->motor[i].link == link) return true;
    }
    return false;
}

// t->desc <- links with richer bases; *n <- number of coordinates then. *gap <- why these bases are
// of no use: none is richer because all rods are actuated, or one has too many functions.
static snw_status enrich_links(snw_truncation *t, bool generous, int *n, snw_truncation_gap *gap) {
    const snw_desc *d = t->m->desc;
    snw_link_desc *link = snw_pool_array(t->pool, (size_t)d->nlink, sizeof *link);
    if (!link) return SNW_E_MEMORY;
    memcpy(link, d->link, (size_t)d->nlink * sizeof *link);
    t->desc = *d;
    t->desc.link = link;
    *n = t->m->nv;
    *gap = SNW_TRUNCATION_NO_GAP;
    bool actuated = false;
    for (int l = 0; l < d->nlink; l++) {
        if (!link[l].has_rod || !snw_rod_together(&link[l].rod)) continue;
        *gap = SNW_TRUNCATION_TOGETHER;
        return SNW_OK;
    }
    for (int l = 0; l < d->nlink; l++) {
        actuated |= link[l].has_rod && is_actuated(d, l);
        if (!link[l].has_rod || is_actuated(d, l)) continue;
        snw_rod_desc *rod = &link[l].rod;
        for (int i = 0; i < 6; i++) {
            if (!rod->active[i]) continue;
            const snw_basis valid = snw_basis_well_conditioned(&rod->basis[i]);
            *n -= rod->basis[i].nfun;
            SNW_TRY(snw_nested_enrich(t->pool, &valid, generous, &rod->basis[i]));
            *n += rod->basis[i].nfun;
            if (t->m->local || rod->basis[i].nfun <= SNW_BASIS_MAX_FUNCTIONS) continue;
            *gap = SNW_TRUNCATION_LARGE;
            return SNW_OK;
        }
        rod->nodes = 0;                              // as many as the richer fields need
        if (rod->integrator == SNW_RULE_CHEBYSHEV) { // its points do not resolve them
            rod->integrator = SNW_RULE_MAGNUS;
            rod->magnus = 6;
        }
        rod->ncell = 0;
        rod->cell = NULL;
    }
    if (*n > (t->m->local ? MAX_LOCAL : MAX_COORDINATES)) *gap = SNW_TRUNCATION_LARGE;
    if (*n == t->m->nv && actuated) *gap = SNW_TRUNCATION_ACTUATED;
    return SNW_OK;
}

// As rich as the size of the robot allows; *any <- whether at all, *gap <- why not.
static snw_status truncation_choose(snw_truncation *t, bool *any, snw_truncation_gap *gap) {
    int n;
    const bool small = t->m->nv <= GENEROUS_UP_TO;
    SNW_TRY(enrich_links(t, small, &n, gap));
    if (small && (n > GENEROUS_UP_TO || *gap == SNW_TRUNCATION_LARGE))
        SNW_TRY(enrich_links(t, false, &n, gap));
    *any = n > t->m->nv && *gap == SNW_TRUNCATION_NO_GAP;
    return SNW_OK;
}

// ---- projections between the bases

static snw_status make_pairs(snw_truncation *t) {
    int n = 0;
    for (int i = 0; i < t->m->nrod; i++) n += t->m->rod[i].na;
    t->pair = snw_pool_array(t->pool, (size_t)n, sizeof *t->pair);
    if (!t->pair) return SNW_E_MEMORY;
    for (int i = 0; i < t->m->nrod; i++) {
        const snw_rod *a = &t->m->rod[i], *b = &t->rich->rod[i];
        for (int k = 0; k < a->na; k++) {
            double *up, *down, *cut;
            if (t->m->local) {
                snw_nested_bands *bands;
                SNW_TRY(snw_nested_bands_create(t->pool, &b->basis[k], &a->basis[k], &bands));
                t->pair[t->npair++] =
                    (pair){.rod = i, .a = k, .n = a->nfun[k], .rich = b->nfun[k], .bands = bands};
                continue;
            }
            const snw_basis *fine = b->basis[k].nelem > 1 ? &b->basis[k] : &a->basis[k];
            SNW_TRY(snw_nested_projection(t->pool, &b->basis[k], &a->basis[k], fine, &up));
            SNW_TRY(snw_nested_projection(t->pool, &a->basis[k], &b->basis[k], fine, &down));
            SNW_TRY(snw_nested_remainder(t->pool, up, down, a->nfun[k], b->nfun[k], &cut));
            t->pair[t->npair++] =
                (pair){.rod = i, .a = k, .n = a->nfun[k], .rich = b->nfun[k], .up = up, .cut = cut};
        }
    }
    return SNW_OK;
}

// ---- the richer model

// Copies the selection of constraint rows from the original model; false if the models do not
// match.
static bool copy_rows(const snw_model *from, snw_model *to) {
    snw_model_rows rows;
    if (snw_model_edit_rows(to, &rows) != SNW_OK) return false;
    if (from->nloop != to->nloop || from->ndrive != to->ndrive || from->ntendon != to->ntendon)
        return false;
    for (int i = 0; i < from->nloop; i++) {
        const snw_loop *a = &from->loop[i];
        snw_loop *b = &rows.loop[i];
        if (a->nraw != b->nraw) return false;
        b->row = a->row, b->nrow = a->nrow;
        b->ntrivial = a->ntrivial, b->nredundant = a->nredundant,
        b->nkept_redundant = a->nkept_redundant;
        memcpy(b->trivial, a->trivial, sizeof b->trivial);
        memcpy(b->coefficient, a->coefficient, sizeof b->coefficient);
    }
    for (int i = 0; i < from->ndrive; i++) rows.drive[i].row = from->drive[i].row;
    for (int i = 0; i < from->ntendon; i++) rows.tendon[i].row = from->tendon[i].row;
    to->nconstraint = from->nconstraint;
    to->freedom = from->freedom;
    return true;
}

static size_t truncation_scratch_size(const snw_model *m) {
    const size_t a = snw_continuation_scratch(m->nv + m->nconstraint, m->nq + m->nconstraint);
    const size_t b = snw_pseudo_transient_scratch(m->nv + m->nconstraint, m->nq + m->nconstraint);
    const size_t c = snw_negative_scratch(m->nv + m->nconstraint);
    return a > b ? (a > c ? a : c) : (b > c ? b : c);
}

static snw_status truncation_prepare(snw_truncation *t) {
    const snw_model *m = t->rich;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint, n = nv + nr;
    SNW_TRY(snw_work_create(m, &t->w));
    SNW_TRY(snw_inputs_create(m, &t->in));
    SNW_TRY(snw_state_create(m, &t->s));
    t->is_joint = snw_pool_array(t->pool, nv, sizeof *t->is_joint);
    t->x = snw_pool_array(t->pool, (size_t)m->nq + nr, sizeof *t->x);
    t->q0 = snw_pool_array(t->pool, (size_t)m->nq + nr, sizeof *t->q0);
    t->r0 = snw_pool_array(t->pool, n, sizeof *t->r0);
    t->scale = snw_pool_array(t->pool, n, sizeof *t->scale);
    t->regularisation = snw_pool_array(t->pool, n, sizeof *t->regularisation);
    t->damping = snw_pool_array(t->pool, n, sizeof *t->damping);
    t->field = snw_pool_array(t->pool, nv, sizeof *t->field);
    t->position0 = snw_pool_array(t->pool, (size_t)m->nseg, sizeof *t->position0);
    t->place0 = snw_pool_array(t->pool, snw_contact_nplace(m) + 1, sizeof *t->place0);
    if (m->local) {
        SNW_TRY(snw_elimination_create(m, &t->local));
    } else {
        t->J = snw_pool_array(t->pool, n * n, sizeof *t->J);
        t->pivot = snw_pool_array(t->pool, n, sizeof *t->pivot);
        t->scratch.size = truncation_scratch_size(m);
        t->scratch.base = snw_alloc(t->scratch.size);
        if (!t->J || !t->pivot || !t->scratch.base) return SNW_E_MEMORY;
    }
    if (!t->is_joint || !t->x || !t->q0 || !t->r0 || !t->scale || !t->regularisation ||
        !t->damping || !t->field || !t->position0 || !t->place0)
        return SNW_E_MEMORY;
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        for (int i = b->dof; i < b->dof + b->n; i++) {
            t->scale[i] = m->scale[i];
            t->is_joint[i] = snw_is_joint(m, b);
            t->damping[i] = m->scale[i] / m->typical[i];
            if (t->is_joint[i]) t->regularisation[i] = 1e-9 * t->damping[i];
        }
    }
    for (int i = 0; i < m->nconstraint; i++) {
        t->scale[m->nv + i] = snw_constraint_at(m, t->w, i).size;
        t->regularisation[m->nv + i] = -1e-9 * t->scale[m->nv + i];
    }
    return SNW_OK;
}

snw_status snw_truncation_create(const snw_model *m, snw_truncation **out,
                                 snw_truncation_gap *gap) {
    *out = NULL;
    *gap = SNW_TRUNCATION_NO_GAP;
    // the strains of Maxwell branches have no counterpart in richer bases
    if ((m->bare && !m->local) || m->nnonholonomic > 0 || m->hard || m->nrod == 0 || m->nbranch > 0)
        return SNW_OK;
    snw_truncation *t = snw_alloc(sizeof *t);
    if (!t) return SNW_E_MEMORY;
    *t = (snw_truncation){.m = m, .pool = snw_pool_create(1 << 28)};
    bool any = false;
    snw_error ignored = {0};
    snw_status s = t->pool ? truncation_choose(t, &any, gap) : SNW_E_MEMORY;
    // no estimate for a model that cannot be compiled with the richer bases
    if (any && s == SNW_OK) *gap = SNW_TRUNCATION_FAILED;
    const snw_model_use use = m->local ? SNW_USE_LOCAL : SNW_USE_ANY;
    if (s == SNW_OK && any)
        any = snw_model_compile_for(&t->desc, use, &t->rich, &ignored) == SNW_OK;
    if (any) any = t->rich->local == m->local && (m->local || !t->rich->bare);
    if (any) any = copy_rows(m, t->rich);
    if (s == SNW_OK && any) s = make_pairs(t);
    if (s == SNW_OK && any) s = truncation_prepare(t);
    if (s == SNW_OK && any) {
        *out = t;
        *gap = SNW_TRUNCATION_NO_GAP;
        return SNW_OK;
    }
    if (s != SNW_OK) *gap = SNW_TRUNCATION_FAILED;
    snw_truncation_destroy(t);
    return s == SNW_E_MEMORY ? s : SNW_OK;
}

void snw_truncation_set_manual(snw_truncation *t, const snw_manual_inputs *manual) {
    t->in->manual = manual;
}

void snw_truncation_use(snw_truncation *t, const snw_model *m) { t->m = m; }

void snw_truncation_destroy(snw_truncation *t) {
    if (!t) return;
    snw_free(t->scratch.base);
    snw_elimination_destroy(t->local);
    snw_modes_destroy(t->modes);
    snw_statics_destroy(t->statics);
    snw_state_destroy(t->s);
    snw_inputs_destroy(t->in);
    snw_work_destroy(t->w);
    snw_model_destroy(t->rich);
    snw_pool_destroy(t->pool);
    snw_free(t);
}

// ---- equilibrium

// r <- residual, then violations, minus the remaining fraction of their initial values.
static void truncation_gather(const snw_truncation *t, double load, double *r) {
    const snw_model *m = t->rich;
    for (int i = 0; i < m->nv; i++) r[i] = t->w->r[i] - (1 - load) * t->r0[i];
    for (int i = 0; i < m->nconstraint; i++)
        r[m->nv + i] = -t->w->violation[i] - (1 - load) * t->r0[m->nv + i];
}

static snw_status truncation_residual(void *user, double load, const double *x, double *r) {
    snw_truncation *t = user;
    const snw_model *m = t->rich;
    memcpy(t->s->q, x, (size_t)m->nq * sizeof *x);
    if (m->nconstraint) memcpy(t->s->lambda, x + m->nq, (size_t)m->nconstraint * sizeof *x);
    snw_residual(m, t->in, t->s, !t->rates, t->w);
    truncation_gather(t, load, r);
    return SNW_OK;
}

static snw_status truncation_tangent(void *user, double load, const double *x, double *r,
                                     double *J) {
    snw_truncation *t = user;
    const snw_model *m = t->rich;
    SNW_TRY(truncation_residual(user, load, x, r));
    snw_tangent_pass(m, NULL, t->w);
    snw_tangent_assemble(m, t->in, 1, 0, 0, t->w, J);
    snw_constraints_border(m, t->w, 1, J);
    return SNW_OK;
}

static void truncation_move(void *user, const double *x, double step, const double *dx,
                            double *out) {
    const snw_model *m = ((const snw_truncation *)user)->rich;
    snw_move(m, x, step, dx, out);
    for (int i = 0; i < m->nconstraint; i++) out[m->nq + i] = x[m->nq + i] + step * dx[m->nv + i];
}

// Entries of a block in q.
static int truncation_numbers(const snw_block *b) {
    return b->space == SNW_SPACE_RN ? b->n : b->n + 1;
}

static void embed_component(const pair *p, const double *from, double *to) {
    if (p->bands) {
        snw_nested_bands_embed(p->bands, from, to);
        return;
    }
    for (int i = 0; i < p->rich; i++) to[i] = 0;
    for (int j = 0; j < p->n; j++) {
        for (int i = 0; i < p->rich; i++) to[i] += p->up[j * p->rich + i] * from[j];
    }
}

// t->s, t->q0, t->w <- s in the richer bases.
static void truncation_begin(snw_truncation *t, const snw_state *s, snw_truncation_state kind) {
    const snw_model *a = t->m, *b = t->rich;
    const bool is_static = kind == SNW_TRUNCATION_REST;
    snw_state *to = t->s;
    to->t = s->t;
    for (int k = 0; k < a->nblock; k++) {
        const snw_block *f = &a->block[k], *g = &b->block[k];
        if (!snw_is_joint(a, f)) continue;
        for (int i = 0; i < truncation_numbers(f); i++) to->q[g->q + i] = s->q[f->q + i];
        for (int i = 0; i < f->n; i++) to->v[g->dof + i] = is_static ? 0 : s->v[f->dof + i];
        for (int i = 0; i < f->n; i++) to->a[g->dof + i] = is_static ? 0 : s->a[f->dof + i];
    }
    for (int k = 0; k < t->npair; k++) {
        const pair *p = &t->pair[k];
        const snw_rod *f = &a->rod[p->rod], *g = &b->rod[p->rod];
        embed_component(p, s->q + f->dof[p->a] + f->shift, to->q + g->dof[p->a] + g->shift);
        embed_component(p, s->v + f->dof[p->a], to->v + g->dof[p->a]);
        embed_component(p, s->a + f->dof[p->a], to->a + g->dof[p->a]);
    }
    for (int i = 0; is_static && i < b->nv; i++) to->v[i] = 0;
    for (int i = 0; kind != SNW_TRUNCATION_MOTION && i < b->nv; i++) to->a[i] = 0;
    for (int i = 0; i < a->nsignal; i++) to->z[i] = s->z[i];
    for (int i = 0; i < a->nconstraint; i++) to->lambda[i] = s->lambda[i];
    snw_inputs_at(b, s->t, t->in);
    t->rates = !is_static;
    if (kind == SNW_TRUNCATION_STEADY) snw_constraints_impose(b, t->in, to);
    memcpy(t->q0, to->q, (size_t)b->nq * sizeof *t->q0);
    if (b->nconstraint) memcpy(t->q0 + b->nq, to->lambda, (size_t)b->nconstraint * sizeof *t->q0);
    snw_residual(b, t->in, to, is_static, t->w);
}

// ---- truncated part

// Bound on the displacement of a rod by one strain component with the coordinates d, m.
static double truncation_bound(const snw_truncation *t, const pair *p, const double *d) {
    const snw_rod *rod = &t->rich->rod[p->rod];
    enum { STATIONS = 40 };
    double sum = 0, phi[SNW_BASIS_MAX_FUNCTIONS];
    for (int k = 0; k < STATIONS; k++) {
        const double x = (k + 0.5) / STATIONS;
        const snw_basis *basis = &rod->basis[p->a];
        const int e = snw_nested_element(basis, x);
        int first, count;
        snw_basis_support(basis, e, &first, &count);
        snw_basis_eval(basis, e, x, phi);
        double v = 0;
        for (int i = 0; i < count; i++) v += phi[i] * d[first + i];
        sum += v * v / STATIONS;
    }
    return sqrt(sum) * rod->L * (rod->comp[p->a] < 3 ? rod->L : 1);
}

// The same bound for the part of a component that its basis cannot represent, of the difference dq
// (nv).
static double cut_off(snw_truncation *t, const pair *p, const double *dq) {
    const double *d = dq + t->rich->rod[p->rod].dof[p->a];
    if (p->bands) {
        snw_nested_bands_cut(p->bands, d, t->field);
        return truncation_bound(t, p, t->field);
    }
    for (int i = 0; i < p->rich; i++) t->field[i] = 0;
    for (int j = 0; j < p->rich; j++) {
        for (int i = 0; i < p->rich; i++) t->field[i] += p->cut[j * p->rich + i] * d[j];
    }
    return truncation_bound(t, p, t->field);
}

// Truncated part of dq relative to the largest strain in it.
static double missing_fraction(snw_truncation *t, const double *dq) {
    double lost = 0, whole = 0;
    for (int k = 0; k < t->npair; k++) {
        const pair *p = &t->pair[k];
        lost = fmax(lost, cut_off(t, p, dq));
        whole = fmax(whole, truncation_bound(t, p, dq + t->rich->rod[p->rod].dof[p->a]));
    }
    return whole > 0 ? lost / whole : 0;
}

// Finds the rod and the strains with the largest truncated part of dq.
static void truncation_locate(snw_truncation *t, const double *dq, snw_truncation_info *out) {
    double worst = 0;
    memset(out->strain, 0, sizeof out->strain);
    for (int k = 0; k < t->npair; k++) {
        const double c = cut_off(t, &t->pair[k], dq);
        if (c > worst) worst = c, out->rod = t->pair[k].rod;
    }
    for (int k = 0; k < t->npair; k++) {
        const pair *p = &t->pair[k];
        if (p->rod != out->rod || !(worst > 0)) continue;
        out->strain[t->m->rod[p->rod].comp[p->a]] = cut_off(t, p, dq) > 0.3 * worst;
    }
}

// Fraction of the error that the richer bases reveal. With elements of constant functions the error
// decreases only with the square of their number, so after splitting each in k parts 1/k^2 of it
// remains (theory.md (5.5)); with all other bases little remains.
static double detected_fraction(const snw_truncation *t, const snw_truncation_info *cut) {
    if (cut->rod < 0) return 1;
    const snw_rod *a = &t->m->rod[cut->rod], *b = &t->rich->rod[cut->rod];
    for (int k = 0; k < a->na; k++) {
        const bool constant =
            snw_basis_piecewise(a->basis[k].kind) && snw_basis_degree(&a->basis[k]) == 0;
        if (!cut->strain[a->comp[k]] || !constant) continue;
        const double parts = (double)b->basis[k].nelem / a->basis[k].nelem;
        return 1 - 1 / (parts * parts);
    }
    return 1;
}

static snw_problem problem_of(snw_truncation *t) {
    const snw_model *m = t->rich;
    return (snw_problem){.n = m->nv + m->nconstraint,
                         .nx = m->nq + m->nconstraint,
                         .user = t,
                         .residual = truncation_residual,
                         .tangent = truncation_tangent,
                         .move = truncation_move,
                         .scale = t->scale,
                         .regularisation = t->regularisation,
                         .typical = m->typical};
}

// t->x <- richer equilibrium along the path (5.6) of theory.md 5.1; if that ends early, by a damped
// motion. Whether one was found.
static bool truncation_solve(snw_truncation *t) {
    const size_t nq = (size_t)t->rich->nq, nr = (size_t)t->rich->nconstraint;
    const snw_problem p = problem_of(t);
    memset(t->r0, 0, (size_t)p.n * sizeof *t->r0);
    truncation_gather(t, 1, t->r0);
    memcpy(t->x, t->q0, (nq + nr) * sizeof *t->x);
    snw_continuation_opts c = snw_continuation_defaults();
    c.newton = (snw_newton_opts){.tol = 1e-9, .max_iter = MAX_ITERATIONS};
    c.max_increments = MAX_INCREMENTS;
    snw_continuation_info info = {0};
    if (snw_continuation_solve(&p, &c, NULL, NULL, &t->scratch, t->x, &info) == SNW_OK) return true;
    memcpy(t->x, t->q0, (nq + nr) * sizeof *t->x);
    const snw_pseudo_transient_opts o = {.tol = 1e-9, .max_iter = MAX_SETTLE};
    snw_pseudo_transient_info settled = {0};
    return snw_pseudo_transient(&p, t->damping, &o, NULL, NULL, &t->scratch, t->x, &settled) ==
           SNW_OK;
}

// Do the factors of the tangent at t->x show that it is stable?
static bool truncation_plainly_stable(snw_truncation *t) {
    const snw_model *m = t->rich;
    int negative;
    return truncation_tangent(t, 1, t->x, t->r0, t->J) == SNW_OK &&
           snw_count_negative(m->nv + m->nconstraint, t->J, &t->scratch, &negative) == SNW_OK &&
           negative == m->nconstraint;
}

// t->x <- stable equilibrium nearby, if it is unstable. False: unstable, and none was found.
static bool truncation_leave_unstable(snw_truncation *t) {
    const snw_model *m = t->rich;
    const snw_problem p = problem_of(t);
    for (int n = 0; !truncation_plainly_stable(t); n++) {
        if (!t->statics && snw_statics_create(m, &t->statics) != SNW_OK) return false;
        snw_statics_set_manual(t->statics, t->in->manual);
        (void)snw_statics_work_at_time(t->statics, t->s, t->s->t);
        if (!(snw_statics_direction(t->statics, t->s, t->field).negative > 0)) return true;
        if (n == ROUNDS) return false;
        snw_move(m, t->x, LEAVE, t->field, t->x);
        const snw_pseudo_transient_opts o = {.tol = 1e-9, .max_iter = MAX_SETTLE};
        snw_pseudo_transient_info settled = {0};
        if (snw_pseudo_transient(&p, t->damping, &o, NULL, NULL, &t->scratch, t->x, &settled) !=
            SNW_OK)
            return false;
    }
    return true;
}

// ---- instants of a motion

// Squared rate omega^2 of (5.4), 1/s^2: a'M a over twice the sum of kinetic and elastic energy.
static double squared_rate(snw_truncation *t) {
    const snw_model *m = t->rich;
    const double energy = snw_kinetic_energy(m, t->w) + snw_elastic_energy(m, t->s);
    double *v = t->s->v;
    t->s->v = t->s->a; // accelerations in place of velocities
    snw_kinematics(m, t->in, t->s, false, t->w);
    const double acceleration_energy = snw_kinetic_energy(m, t->w);
    t->s->v = v;
    const double most = 1e12; // limit for a release from rest, without energy yet
    return acceleration_energy > 0 ? fmin(acceleration_energy / energy, most) : 0;
}

// Rows of A (n x n) at one component <- C'A, or its columns <- A C if `right`.
static void truncation_project(const pair *p, int at, size_t n, bool right, double *scratch,
                               double *A) {
    const size_t k = (size_t)p->rich, a = (size_t)at;
    for (size_t line = 0; line < n; line++) {
        for (size_t i = 0; i < k; i++) {
            scratch[i] = 0;
            for (size_t j = 0; j < k; j++) {
                const double v = right ? A[(a + j) * n + line] : A[line * n + a + j];
                scratch[i] += p->cut[i * k + j] * v;
            }
        }
        for (size_t i = 0; i < k; i++)
            A[right ? (a + i) * n + line : line * n + a + i] = scratch[i];
    }
}

// Fixes the coordinates of the original model: J <- C'J C + (1 - C)'(1 - C) stiffness, r <- C'r for
// the truncated part; joints are fixed.
static void constrain_present(snw_truncation *t, double *r) {
    const snw_model *m = t->rich;
    const size_t n = (size_t)(m->nv + m->nconstraint);
    for (size_t i = 0; i < (size_t)m->nv; i++) {
        if (!t->is_joint[i]) continue;
        for (size_t k = 0; k < n; k++) t->J[k * n + i] = t->J[i * n + k] = 0;
        t->J[i * n + i] = t->damping[i];
        r[i] = 0;
    }
    for (int l = 0; l < t->npair; l++) {
        const pair *p = &t->pair[l];
        const int at = m->rod[p->rod].dof[p->a];
        const size_t k = (size_t)p->rich, a = (size_t)at;
        truncation_project(p, at, n, true, t->field, t->J);
        truncation_project(p, at, n, false, t->field, t->J);
        for (size_t i = 0; i < k; i++) {
            t->field[i] = 0;
            for (size_t j = 0; j < k; j++) t->field[i] += p->cut[i * k + j] * r[a + j];
        }
        memcpy(r + a, t->field, k * sizeof *r);
        for (size_t i = 0; i < k; i++) {
            for (size_t j = 0; j < k; j++) {
                double sum = 0;
                for (size_t e = 0; e < k; e++) {
                    sum += ((e == i) - p->cut[i * k + e]) * ((e == j) - p->cut[j * k + e]);
                }
                t->J[(a + i) * n + a + j] += t->damping[a] * sum;
            }
        }
    }
}

// r <- C'r: in the coordinates of the original model the residual is zero up to errors of the time
// scheme.
static void project_residual(snw_truncation *t, double *r) {
    const snw_model *m = t->rich;
    for (int i = 0; i < m->nv; i++) {
        if (t->is_joint[i]) r[i] = 0;
    }
    for (int l = 0; l < t->npair; l++) {
        const pair *p = &t->pair[l];
        double *of = r + m->rod[p->rod].dof[p->a];
        if (p->bands) {
            snw_nested_bands_cut_transposed(p->bands, of);
            continue;
        }
        for (int i = 0; i < p->rich; i++) {
            t->field[i] = 0;
            for (int j = 0; j < p->rich; j++) t->field[i] += p->cut[i * p->rich + j] * of[j];
        }
        memcpy(of, t->field, (size_t)p->rich * sizeof *of);
    }
}

// Do loop closures constrain the rods?
static bool has_loops(const snw_model *m) {
    bool any = false;
    for (int i = 0; i < m->nloop; i++) any |= m->loop[i].nrow > 0;
    return any;
}

// t->x <- linear response of the truncated part to the forces of this instant (5.4); all else keeps
// its motion.
static bool solve_instant(snw_truncation *t) {
    const snw_model *m = t->rich;
    const int n = m->nv + m->nconstraint;
    double *r = t->r0;
    memset(r, 0, (size_t)n * sizeof *r);
    const double fast = squared_rate(t);
    snw_residual(m, t->in, t->s, false, t->w);
    memcpy(r, t->w->r, (size_t)m->nv * sizeof *r);
    snw_tangent_pass(m, NULL, t->w);
    snw_tangent_assemble(m, t->in, 1, 0, fast, t->w, t->J);
    snw_constraints_border(m, t->w, 1, t->J);
    if (has_loops(m)) {
        project_residual(t, r);
    } else {
        constrain_present(t, r);
    }
    for (int i = m->nv; i < n; i++) t->J[(size_t)i * (size_t)(n + 1)] += t->regularisation[i];
    if (snw_lu_factor(n, t->J, t->pivot) != SNW_OK) return false;
    snw_lu_solve(n, t->J, t->pivot, r);
    snw_move(m, t->q0, -1, r, t->x);
    return true;
}

// ---- local models -------------------------------------------------------------------------------

// Sum of squares of a residual relative to typical forces.
static double relative_square(const snw_truncation *t, const double *r) {
    double sum = 0;
    for (int i = 0; i < t->rich->nv + t->rich->nconstraint; i++)
        sum += r[i] / t->scale[i] * (r[i] / t->scale[i]);
    return sum;
}

// t->x <- richer equilibrium by Newton's method with the tangent at the start, whose factors are
// those of an elimination. *reached: each correction has made the residual smaller.
static bool local_equilibrium(snw_truncation *t, bool *reached) {
    const snw_model *m = t->rich;
    const size_t nx = (size_t)(m->nq + m->nconstraint);
    double *r = t->r0;
    const snw_tangent_at at = {.in = t->in, .cq = 1, .rows = 1, .added = t->regularisation};
    memset(r, 0, (size_t)(m->nv + m->nconstraint) * sizeof *r);
    truncation_gather(t, 1, r);
    if (snw_elimination_make_room(t->local, t->w) != SNW_OK ||
        snw_elimination_factor(t->local, &at, t->w) != SNW_OK)
        return false;
    memcpy(t->x, t->q0, nx * sizeof *t->x);
    double square = relative_square(t, r);
    *reached = true;
    for (int k = 0; k < CORRECTIONS && *reached; k++) {
        snw_elimination_solve(t->local, r);
        truncation_move(t, t->x, -1, r, t->x);
        (void)truncation_residual(t, 1, t->x, r);
        const double now = relative_square(t, r);
        *reached = now < square || now <= 1e-18 * t->rich->nv; // rounding
        square = now;
    }
    return isfinite(square);
}

// t->x <- linear response of all coordinates to the forces of this instant on the truncated part.
static bool local_instant(snw_truncation *t) {
    const snw_model *m = t->rich;
    double *r = t->r0;
    const double fast = squared_rate(t);
    snw_residual(m, t->in, t->s, false, t->w);
    memset(r, 0, (size_t)(m->nv + m->nconstraint) * sizeof *r);
    memcpy(r, t->w->r, (size_t)m->nv * sizeof *r);
    project_residual(t, r);
    const snw_tangent_at at = {
        .in = t->in, .cq = 1, .ca = fast, .rows = 1, .added = t->regularisation};
    if (snw_elimination_make_room(t->local, t->w) != SNW_OK ||
        snw_elimination_factor(t->local, &at, t->w) != SNW_OK)
        return false;
    snw_elimination_solve(t->local, r);
    snw_move(m, t->q0, -1, r, t->x);
    return true;
}

// t->x <- state with the richer bases; false: none.
static bool truncation_find(snw_truncation *t, snw_truncation_state kind, bool leave,
                            snw_truncation_info *out) {
    const bool moves = kind == SNW_TRUNCATION_MOTION;
    if (t->local && moves) return local_instant(t);
    if (t->local) {
        bool reached = false;
        const bool found = local_equilibrium(t, &reached);
        out->lower_bound = !reached;
        return found;
    }
    if (moves) return solve_instant(t);
    out->lower_bound = !truncation_solve(t);
    if (leave && kind == SNW_TRUNCATION_REST && !out->lower_bound)
        out->lower_bound = !truncation_leave_unstable(t);
    return true;
}

void snw_truncation_estimate(snw_truncation *t, const snw_state *s, snw_truncation_state kind,
                             bool leave, snw_truncation_info *out) {
    const snw_model *m = t->rich;
    *out = (snw_truncation_info){.displacement = NAN, .relative = NAN, .rod = -1};
    truncation_begin(t, s, kind);
    for (int i = 0; i < m->nseg; i++) t->position0[i] = t->w->g[i].p;
    snw_contact_places(m, t->w, t->place0);
    if (!truncation_find(t, kind, leave, out)) return;
    double *dq = t->r0;
    for (int k = 0; k < t->npair; k++) {
        const snw_rod *rod = &m->rod[t->pair[k].rod];
        const int at = rod->dof[t->pair[k].a];
        for (int i = at; i < at + t->pair[k].rich; i++)
            dq[i] = t->x[i + rod->shift] - t->q0[i + rod->shift];
    }
    truncation_locate(t, dq, out);
    memcpy(t->s->q, t->x, (size_t)m->nq * sizeof *t->x);
    snw_kinematics(m, t->in, t->s, true, t->w);
    // an equilibrium on the other side of an obstacle says nothing about the basis
    snw_touch where;
    if (snw_contact_passed(m, t->w, t->place0) >= 0 ||
        snw_rod_contacts_passed(m, t->w, t->place0, &where)) {
        *out = (snw_truncation_info){.displacement = NAN, .relative = NAN, .rod = -1};
        return;
    }
    double largest = 0;
    for (int i = 0; i < m->nseg; i++) {
        const double d = snw_norm(snw_sub(t->w->g[i].p, t->position0[i]));
        if (!(d <= largest)) largest = d;
    }
    out->displacement = largest / detected_fraction(t, out);
    out->relative = out->rod >= 0 ? out->displacement / t->m->rod[out->rod].L : 0;
}

// ---- frequencies

// Classes of modes, ranked separately about a steady motion: there each overdamped mode has two
// roots, and those of fast modes come close to slow ones.
typedef enum mode_class { NULL_MOTION, GROWS, VIBRATES, DECAYS } mode_class;

static mode_class class_of(const snw_mode *a) {
    if (a->null) return NULL_MOTION;
    if (a->frequency < 0) return GROWS;
    return a->damping < 1 - 1e-9 ? VIBRATES : DECAYS;
}

// Mode of b that corresponds to mode i of a; -1: none. Frequencies correspond by rank: none rises
// with more functions (Courant's minimum principle).
static int counterpart(const snw_mode_table *a, const snw_mode_table *b, int i, bool steady) {
    if (!steady) return i < b->n ? i : -1;
    const mode_class wanted = class_of(&a->mode[i]);
    int rank = 0, nearest = -1;
    for (int k = 0; k < i; k++) rank += class_of(&a->mode[k]) == wanted;
    for (int k = 0; k < b->n; k++) {
        if (class_of(&b->mode[k]) != wanted) continue;
        if (wanted != DECAYS && rank-- == 0) return k;
        const double f = a->mode[i].frequency;
        const bool nearer =
            nearest < 0 || fabs(b->mode[k].frequency - f) < fabs(b->mode[nearest].frequency - f);
        if (wanted == DECAYS && nearer) nearest = k;
    }
    return nearest;
}

// *error <- relative error of the frequency of mode i of a by mode k of b. Returns why it is not
// known, if it is not: no counterpart, or rounding, relative to the fastest root and at rest to its
// square, hides it.
static snw_truncation_gap frequency_error(const snw_mode_table *a, const snw_mode_table *b, int i,
                                          int k, bool steady, double *error) {
    if (k < 0 || b->mode[k].null) return SNW_TRUNCATION_ALONE;
    const double f = fabs(a->mode[i].frequency), g = fabs(b->mode[k].frequency), least = 1e-3;
    const double times = fabs(b->mode[b->n - 1].frequency) / fmin(f, g);
    const double noise = 16 * DBL_EPSILON * (steady ? times : 0.5 * times * times);
    if (!(noise < least)) return SNW_TRUNCATION_ROUNDING;
    *error = fabs(a->mode[i].frequency - b->mode[k].frequency) / fmax(f, g);
    return SNW_TRUNCATION_NO_GAP;
}

// Finds the rod and the strains with the largest truncated part of one of the modes up to `last`: a
// mode that the bases hardly represent shifts the ranks of those above it.
static void locate_in_modes(snw_truncation *t, int last, snw_truncation_info *out) {
    double most = 0;
    for (int k = 0; k <= last; k++) {
        const double *x = snw_modes_vector(t->modes, k), lost = missing_fraction(t, x);
        if (snw_modes_table(t->modes)->mode[k].null || !(lost > most)) continue;
        most = lost;
        truncation_locate(t, x, out);
    }
}

void snw_truncation_no_frequencies(snw_truncation_gap gap, snw_modes *modes) {
    const snw_mode_table *own = snw_modes_table(modes);
    for (int i = 0; i < own->n; i++) {
        if (!own->mode[i].null) snw_modes_set_truncation(modes, i, NAN, gap);
    }
}

snw_status snw_truncation_frequencies(snw_truncation *t, const snw_state *s, bool steady,
                                      bool balanced, bool leave, snw_modes *modes,
                                      snw_truncation_info *out) {
    const snw_model *m = t->rich;
    const snw_mode_table *own = snw_modes_table(modes);
    *out = (snw_truncation_info){.displacement = NAN, .relative = NAN, .rod = -1};
    snw_truncation_no_frequencies(SNW_TRUNCATION_LARGE, modes);
    if (steady && m->nv > MAX_STEADY) return SNW_OK;
    snw_truncation_no_frequencies(SNW_TRUNCATION_FAILED, modes);
    if (t->modes && t->steady != steady) snw_modes_destroy(t->modes), t->modes = NULL;
    if (!t->modes) SNW_TRY(snw_modes_create(m, 2 * m->nv, steady, &t->modes));
    t->steady = steady;
    truncation_begin(t, s, steady ? SNW_TRUNCATION_STEADY : SNW_TRUNCATION_REST);
    bool found = balanced && truncation_solve(t);
    if (found && leave && !steady) found = truncation_leave_unstable(t);
    const double *x = found ? t->x : t->q0;
    memcpy(t->s->q, x, (size_t)m->nq * sizeof *x);
    if (m->nconstraint) memcpy(t->s->lambda, x + m->nq, (size_t)m->nconstraint * sizeof *x);
    snw_error ignored = {0};
    if (snw_modes_solve(t->modes, t->s, &ignored) != SNW_OK) return SNW_OK;
    const snw_mode_table *rich = snw_modes_table(t->modes);
    int last = -1;
    for (int i = 0; i < own->n; i++) {
        const int k = counterpart(own, rich, i, steady || own->coupled);
        double error = NAN;
        snw_truncation_info cut = {.rod = -1};
        if (own->mode[i].null) continue;
        const snw_truncation_gap gap =
            frequency_error(own, rich, i, k, steady || own->coupled, &error);
        snw_modes_set_truncation(modes, i, NAN, gap);
        if (gap != SNW_TRUNCATION_NO_GAP) continue;
        truncation_locate(t, snw_modes_vector(t->modes, k), &cut);
        const double whole = fmin(error / detected_fraction(t, &cut), 1);
        snw_modes_set_truncation(modes, i, whole, SNW_TRUNCATION_NO_GAP);
        if (!(whole <= out->relative)) out->relative = whole, last = k;
    }
    locate_in_modes(t, last, out);
    return SNW_OK;
}

void snw_truncation_remedy(const snw_rod_desc *rod, int strain, char *out, size_t size) {
    const snw_basis *b = &rod->basis[strain];
    if (b->set) {
        (void)snprintf(out, size, "more functions");
    } else if (snw_basis_piecewise(b->kind)) {
        (void)snprintf(out, size, "elements: %d", 2 * b->nelem);
    } else {
        (void)snprintf(out, size, "%s %d", snw_basis_name(b->kind), b->nfun + 2);
    }
}
