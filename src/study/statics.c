// SPDX-License-Identifier: MIT
//
// Static equilibrium of a model under the loads of a time: sets up the residual, its tangent and
// the bordering constraint rows for the solvers of src/solve, runs continuation or the damped
// march, and reports why a solve failed. theory.md 5
#include "study/statics_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/scratch.h"
#include "constraint/bordered_matrix.h"
#include "constraint/mechanism.h"
#include "dynamics/constraint.h"
#include "dynamics/nonlinear_law.h"
#include "dynamics/relaxation.h"
#include "dynamics/rod_contact.h"
#include "dynamics/tube_slide.h"
#include "solve/continuation.h"
#include "solve/dense.h"
#include "solve/pseudo_transient.h"
#include "solve/relax.h"

#include <math.h>
#include <string.h>

snw_statics_opts snw_statics_defaults(void) { return (snw_statics_opts){.tolerance = 1e-13}; }

static bool statics_driven(const snw_model *m, int dof) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row >= 0 && m->drive[i].condition < 0 && m->drive[i].dof == dof)
            return true;
    }
    return false;
}

// Has some joint a coordinate without spring or drive?
static bool has_unsupported_joint(const snw_model *m) {
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (m->seg[b->seg].kind == SNW_SEG_ROD || statics_driven(m, b->dof)) continue;
        if (b->spring < 0 || !(m->spring[b->spring].stiffness > 0)) return true;
    }
    return false;
}

// Residual, relative to typical forces, that is rounding where no step of Newton's method reduces
// it: ten times the default tolerance.
static const double STAGNANT = 1e-12;

// Fraction of typical stiffness that makes a tangent regular, theory.md (5.3).
static const double REGULARISATION = 1e-9;

// For a tangent, a residual and the count of negative eigenvalues.
static size_t count_scratch(int n) {
    const size_t pad = 64, N = (size_t)n;
    return (N * N + N) * sizeof(double) + 2 * pad + snw_negative_scratch(n);
}

// Is the model too large for dense matrices? Its tangent is then compressed, and there are no
// eigenvalues, no penalty, no damped march and no relaxation.
static bool is_large(const snw_statics *st) {
    return st->m->nv > SNW_MOST_DENSE && snw_sparse_is_compressed(st->sparse[0]);
}

static size_t statics_scratch_size(const snw_statics *st) {
    const snw_model *m = st->m;
    if (m->local) {
        const int n = m->nv + m->nconstraint, nx = m->nq + m->nconstraint;
        const size_t increments = snw_continuation_scratch_own(n, nx),
                     motion = snw_pseudo_transient_scratch_own(n, nx);
        return increments > motion ? increments : motion;
    }
    if (m->bare) return 0;
    if (is_large(st))
        return snw_continuation_scratch_own(m->nv + m->nconstraint, m->nq + m->nconstraint);
    const size_t parts[] = {
        snw_continuation_scratch(m->nv + m->nconstraint, m->nq + m->nconstraint),
        snw_relax_scratch(m->nv, m->nq),
        snw_eigen_symmetric_scratch(m->nv),
        snw_eigen_general_scratch(m->nv),
        snw_pseudo_transient_scratch(m->nv + m->nconstraint, m->nq + m->nconstraint),
        count_scratch(m->nv + m->nconstraint),
        snw_qr_scratch(m->nv, m->nconstraint),
        snw_statics_march_scratch(m),
        snw_statics_penalty_scratch(m)};
    size_t most = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        most = parts[i] > most ? parts[i] : most;
    return most + 3 * ((size_t)m->nv * sizeof(double) + 64); // eigenvalues
}

// Scales of the violations.
static void scale_rows(snw_statics *st) {
    const snw_model *m = st->m;
    for (int i = 0; i < m->nconstraint; i++)
        st->scale[m->nv + i] = snw_constraint_at(m, st->w, i).size;
}

static void statics_place(void *object, snw_fields *f) {
    snw_statics *o = object;
    const snw_model *m = o->m;
    const size_t nv = m->bare && !m->local ? 0 : (size_t)m->nv, nr = (size_t)m->nconstraint;
    const bool dense = !m->local && m->nv <= SNW_MOST_DENSE;
    const size_t square = dense ? nv * nv : 0, rectangle = dense ? nv * nr : 0; // for eigenvalues
    const size_t n = nv + nr, nx = (size_t)m->nq + nr;
    const size_t ncontact = snw_contact_has_curved(m) ? snw_contact_nplace(m) : 0;
    STATICS_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

// The two dense matrices are written before they are read; what is behind them begins as zero.
static void *create_arrays(snw_statics *st) {
    snw_fields all = {NULL, 0};
    statics_place(st, &all);
    unsigned char *block = snw_fields_create_scratch(statics_place, st);
    if (block) memset(st->x, 0, all.used - (size_t)((unsigned char *)st->x - block));
    return block;
}

snw_status snw_statics_create(const snw_model *m, snw_statics **out) {
    return snw_statics_create_like(m, NULL, out);
}

snw_status snw_statics_create_like(const snw_model *m, const snw_sparse *like, snw_statics **out) {
    *out = NULL;
    snw_statics *st = snw_alloc(sizeof *st);
    if (!st) return SNW_E_MEMORY;
    st->m = m;
    if (!m->bare && (snw_pattern_create_like(m, NULL, like, &st->sparse[0]) != SNW_OK ||
                     (st->sparse[0] &&
                      snw_sparse_create_like(st->sparse[0], NULL, &st->sparse[1]) != SNW_OK))) {
        snw_statics_destroy(st);
        return SNW_E_MEMORY;
    }
    const size_t size = statics_scratch_size(st);
    st->scratch = (snw_arena){.base = snw_alloc_scratch(size), .size = size};
    st->block = create_arrays(st);
    for (int k = 0; k < 2; k++) st->local[k].st = st;
    if (!st->scratch.base || !st->block ||
        (m->local && (snw_elimination_create(m, &st->local[0].elimination) != SNW_OK ||
                      snw_elimination_create(m, &st->local[1].elimination) != SNW_OK)) ||
        (m->nconstraint + m->ncondition > 0 &&
         snw_projection_create_like(m, st->sparse[0], &st->projection) != SNW_OK) ||
        (m->ncondition > 0 && snw_impacts_create(m, st->projection, &st->impacts) != SNW_OK) ||
        snw_work_create(m, &st->w) != SNW_OK || snw_inputs_create(m, &st->before) != SNW_OK ||
        snw_inputs_create(m, &st->after) != SNW_OK || snw_inputs_create(m, &st->now) != SNW_OK ||
        snw_state_create(m, &st->trial) != SNW_OK ||
        (!m->bare && snw_statics_friction_create(st) != SNW_OK)) {
        snw_statics_destroy(st);
        return SNW_E_MEMORY;
    }
    st->to = 1;
    st->least_energy = INFINITY;
    *out = st;
    if (m->bare && !m->local) return SNW_OK; // for evaluations only
    for (int i = 0; i < m->nv; i++) {
        st->scale[i] = m->scale[i];
        st->damping[i] = m->scale[i] / m->typical[i];
        st->least_energy = fmin(st->least_energy, m->scale[i] * m->typical[i]);
    }
    scale_rows(st);
    if (!m->local && has_unsupported_joint(m)) st->regularisation = st->soft;
    for (int k = 0; st->regularisation && k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (m->seg[b->seg].kind == SNW_SEG_ROD) continue;
        for (int i = b->dof; i < b->dof + b->n; i++) st->soft[i] = REGULARISATION * st->damping[i];
    }
    return SNW_OK;
}

const snw_sparse *snw_statics_pattern(const snw_statics *st) { return st->sparse[0]; }

void snw_statics_choose_rows(snw_statics *st, snw_closure_rows *rows) { st->closure_rows = rows; }

void snw_statics_use(snw_statics *st, const snw_model *m) {
    st->m = m;
    for (int k = 0; k < 2; k++) snw_elimination_use(st->local[k].elimination, m);
    if (st->projection) snw_projection_use(st->projection, m);
    if (st->impacts) snw_impacts_use(st->impacts, m);
}

void snw_statics_destroy(snw_statics *st) {
    if (!st) return;
    snw_free(st->scratch.base);
    snw_free(st->block);
    snw_impacts_destroy(st->impacts);
    snw_projection_destroy(st->projection);
    snw_work_destroy(st->w);
    snw_inputs_destroy(st->before);
    snw_inputs_destroy(st->after);
    snw_inputs_destroy(st->now);
    snw_state_destroy(st->trial);
    snw_sparse_destroy(st->sparse[0]);
    snw_sparse_destroy(st->sparse[1]);
    for (int k = 0; k < 2; k++) snw_elimination_destroy(st->local[k].elimination);
    snw_statics_friction_destroy(st);
    snw_free(st);
}

// Rates of given motion are zero, except in steady solves.
static void clear_rates(const snw_model *m, snw_inputs *in) {
    for (int i = 0; i < m->npose; i++) in->pose_u[i] = in->pose_du[i] = (snw_twist){0};
    for (int i = 0; i < m->ndrive; i++) in->drive[i].d = in->drive[i].dd = 0;
}

void snw_statics_reset(snw_statics *st) {
    snw_inputs_unload(st->m, st->before);
    clear_rates(st->m, st->before);
    snw_statics_hard_reset(st);
    snw_statics_friction_reset(st);
    st->negative = 0;
}

void snw_statics_copy_previous(snw_statics *st, const snw_statics *from) {
    if (st->before->bytes == from->before->bytes) snw_inputs_copy(from->before, st->before);
}

void snw_statics_set_manual(snw_statics *st, const snw_manual_inputs *manual) {
    st->before->manual = st->after->manual = st->now->manual = manual;
}

snw_inputs *snw_statics_previous_inputs(snw_statics *st) { return st->before; }

void snw_statics_assume(snw_statics *st, double t) { snw_inputs_at(st->m, t, st->before); }

// ---- equations for the solvers

static snw_twist statics_between(snw_twist a, snw_twist b, double load) {
    return snw_twist_axpy(load, b, snw_twist_scale(1 - load, a));
}

// Rates of given motion, blended between the previous and the new inputs.
static void blend_rates(snw_statics *st, double load) {
    const snw_model *m = st->m;
    for (int i = 0; i < m->npose; i++) {
        st->now->pose_u[i] = statics_between(st->before->pose_u[i], st->after->pose_u[i], load);
        st->now->pose_du[i] = statics_between(st->before->pose_du[i], st->after->pose_du[i], load);
    }
    for (int i = 0; i < m->ndrive; i++) {
        const snw_jet a = st->before->drive[i], b = st->after->drive[i];
        st->now->drive[i].d = (1 - load) * a.d + load * b.d;
        st->now->drive[i].dd = (1 - load) * a.dd + load * b.dd;
    }
    snw_constraints_impose(m, st->now, st->trial);
}

void snw_statics_evaluate(snw_statics *st, double load, const double *x) {
    if (load != st->blended) {
        snw_inputs_blend(st->m, st->before, st->after, load, st->now);
        st->blended = load;
        if (st->steady) blend_rates(st, load);
    }
    const snw_model *m = st->m;
    if (m->nq) memcpy(st->trial->q, x, (size_t)m->nq * sizeof *x);
    if (m->nconstraint) memcpy(st->trial->lambda, x + m->nq, (size_t)m->nconstraint * sizeof *x);
    snw_residual(m, st->now, st->trial, !st->steady, st->w);
}

// Loop of constraint row i that has a penalty; -1: none.
static int penalised_loop(const snw_model *m, int i) {
    for (int k = 0; k < m->nloop; k++) {
        const snw_loop *loop = &m->loop[k];
        if (i < loop->row || i >= loop->row + loop->nrow) continue;
        return loop->nonholonomic_index < 0 && loop->ncoupled == 0 && !loop->drive ? k : -1;
    }
    return -1;
}

double snw_statics_compliance(const snw_statics *st, int i) {
    const double size = st->scale[st->m->nv + i];
    const int k = st->penalty > 0 ? penalised_loop(st->m, i) : -1;
    if (k >= 0) {
        const snw_loop *loop = &st->m->loop[k];
        const bool turns = snw_loop_row_is_moment(loop, i - loop->row);
        const double length = turns ? st->penalty_length : 1;
        return 1 / (st->penalty * length * length);
    }
    return st->compliance > 0 ? st->compliance * size * size / st->least_energy : 0;
}

// r <- residual, then violations, with the sign that makes the tangent of conservative loads
// symmetric.
static void statics_gather(const snw_statics *st, double load, double *r) {
    const snw_model *m = st->m;
    memcpy(r, st->w->r, (size_t)m->nv * sizeof *r);
    for (int i = 0; i < m->nconstraint; i++) {
        r[m->nv + i] = (1 - load) * st->violation0[i] - st->w->violation[i] -
                       snw_statics_compliance(st, i) * (st->trial->lambda[i] - st->lambda0[i]);
    }
}

// Fraction of the whole change of load.
static double load_fraction(const snw_statics *st, double load) {
    return (1 - load) * st->from + load * st->to;
}

// Has the step from the point of the last tangent to the present one passed through an obstacle?
// Newton's method sees distances only and would go on behind it.
static bool has_passed(snw_statics *st) {
    if (!st->guarded || !st->has_places) return false;
    snw_touch where;
    const bool passed = snw_contact_too_deep(st->m, st->w) >= 0 ||
                        snw_contact_passed(st->m, st->w, st->contact_place) >= 0 ||
                        snw_rod_contacts_too_deep(st->m, st->w) >= 0 ||
                        snw_rod_contacts_passed(st->m, st->w, st->contact_place, &where);
    st->has_stepped_back |= passed;
    return passed;
}

static snw_status statics_residual(void *user, double fraction, const double *x, double *r) {
    snw_statics *st = user;
    const double load = load_fraction(st, fraction);
    snw_statics_evaluate(st, load, x);
    statics_gather(st, load, r);
    return has_passed(st) ? SNW_E_DIVERGED : SNW_OK;
}

// r, and what a tangent at x needs besides.
static snw_status statics_linearise(snw_statics *st, double fraction, const double *x, double *r) {
    const double load = load_fraction(st, fraction);
    if (snw_interrupted(st->interrupt)) return SNW_E_STOPPED; // once per iteration
    snw_statics_evaluate(st, load, x);
    statics_gather(st, load, r);
    if (has_passed(st)) return SNW_E_DIVERGED;
    if (st->guarded) snw_contact_places(st->m, st->w, st->contact_place);
    st->has_places = st->guarded;
    return SNW_OK;
}

static snw_status statics_tangent(void *user, double fraction, const double *x, double *r,
                                  double *J) {
    snw_statics *st = user;
    SNW_TRY(statics_linearise(st, fraction, x, r));
    if (!J) return SNW_OK; // local_factor does the rest
    snw_tangent_pass(st->m, NULL, st->w);
    snw_tangent_assemble(st->m, st->now, 1, 0, 0, st->w, J);
    snw_constraints_border(st->m, st->w, 1, J);
    const size_t nv = (size_t)st->m->nv, n = nv + (size_t)st->m->nconstraint;
    for (int i = 0; st->compliance + st->penalty > 0 && i < st->m->nconstraint; i++) {
        J[(nv + (size_t)i) * (n + 1)] -= snw_statics_compliance(st, i);
    }
    return SNW_OK;
}

// The same within the pattern, without soft rows.
static snw_status statics_sparse_tangent(void *user, double fraction, const double *x, double *r,
                                         snw_matrix J) {
    snw_statics *st = user;
    SNW_TRY(statics_linearise(st, fraction, x, r));
    snw_tangent_pass(st->m, NULL, st->w);
    snw_sparse_clear(st->sparse[0], J);
    snw_tangent_add(st->m, st->now, 1, 0, 0, st->w, J);
    snw_constraints_place(st->m, st->w, 1, J);
    return SNW_OK;
}

snw_status snw_statics_local_factor(snw_local_factors *f, const double *add, double shift,
                                    int *sign, int *negative) {
    snw_statics *st = f->st;
    const int nv = st->m->nv, n = nv + st->m->nconstraint;
    const bool soft = st->compliance + st->penalty > 0;
    for (int i = 0; i < n; i++) {
        st->added[i] = add ? add[i] : 0;
        if (soft && i >= nv) st->added[i] -= snw_statics_compliance(st, i - nv);
    }
    const snw_tangent_at at = {.in = st->now,
                               .cq = 1,
                               .rows = 1,
                               .shift = shift,
                               .inertia = negative != NULL,
                               .added = add || soft ? st->added : NULL};
    snw_status s = snw_elimination_make_room(f->elimination, st->w);
    if (s == SNW_OK) s = snw_elimination_factor(f->elimination, &at, st->w);
    *sign = snw_elimination_sign(f->elimination);
    if (negative) *negative = snw_elimination_negative(f->elimination);
    return s;
}

// Tangent at the last evaluation, of a local model.
static snw_status local_factor(void *user, const double *add, double *diagonal, int *sign,
                               int *negative) {
    snw_local_factors *f = user;
    const snw_model *m = f->st->m;
    if (diagonal)
        memcpy(diagonal, f->st->damping, (size_t)(m->nv + m->nconstraint) * sizeof *diagonal);
    const snw_status s = snw_statics_local_factor(f, add, 0, sign, negative);
    if (negative && !snw_statics_has_potential(f->st)) *negative = -1;
    return s;
}

static void local_solve(void *user, double *r) {
    snw_elimination_solve(((snw_local_factors *)user)->elimination, r);
}

static snw_own_factors local_factors(snw_local_factors *f) {
    if (!f->elimination) return (snw_own_factors){0};
    return (snw_own_factors){.user = f, .factor = local_factor, .solve = local_solve};
}

static void statics_move(void *user, const double *x, double step, const double *dx, double *out) {
    const snw_model *m = ((const snw_statics *)user)->m;
    snw_move(m, x, step, dx, out);
    for (int i = 0; i < m->nconstraint; i++) out[m->nq + i] = x[m->nq + i] + step * dx[m->nv + i];
}

snw_problem snw_statics_problem(snw_statics *st) {
    const snw_model *m = st->m;
    const bool soft = st->compliance + st->penalty > 0; // entries outside the pattern of rigid rows
    st->has_places = false;
    return (snw_problem){.n = m->nv + m->nconstraint,
                         .nx = m->nq + m->nconstraint,
                         .user = st,
                         .residual = statics_residual,
                         .tangent = statics_tangent,
                         .sparse_tangent = soft ? NULL : statics_sparse_tangent,
                         .move = m->nlie_block ? statics_move : NULL,
                         .scale = st->scale,
                         .regularisation = st->regularisation,
                         .typical = m->typical,
                         .sparse = {soft ? NULL : st->sparse[0], soft ? NULL : st->sparse[1]},
                         .own = {local_factors(&st->local[0]), local_factors(&st->local[1])}};
}

// ---- solving

snw_status snw_statics_newton(snw_statics *st, const snw_statics_opts *opts,
                              snw_statics_info *info) {
    const snw_problem p = snw_statics_problem(st);
    snw_continuation_opts c = snw_continuation_defaults();
    c.newton.tol = opts->tolerance;
    c.newton.stagnant = STAGNANT;
    if (opts->smallest > 0) c.smallest = opts->smallest;
    c.max_increments =
        info->increments < c.max_increments ? c.max_increments - info->increments : 0;
    snw_continuation_info ci = {0};
    const snw_status s =
        snw_continuation_solve(&p, &c, opts->stop, opts->user, &st->scratch, st->x, &ci);
    info->iterations += ci.iterations;
    info->increments += ci.increments;
    info->residual = ci.residual;
    info->reached = load_fraction(st, ci.reached);
    info->condition = ci.condition;
    return s;
}

snw_status snw_statics_close(snw_statics *st, bool *moved, snw_error *err) {
    const snw_model *m = st->m;
    *moved = false;
    if (!m->nconstraint) return SNW_OK;
    snw_statics_evaluate(st, st->to, st->x);
    *moved = snw_projection_violation(st->projection, st->now, st->trial, NULL) > 1e-12;
    if (!*moved) return SNW_OK;
    snw_projection_info ai;
    SNW_TRY(snw_projection_close(st->projection, st->now, st->trial, &ai, err));
    memcpy(st->x, st->trial->q, (size_t)m->nq * sizeof *st->x);
    for (int i = 0; i < m->nconstraint; i++) st->x[m->nq + i] = 0;
    for (int i = 0; i < m->nconstraint; i++) st->violation0[i] = 0;
    return SNW_OK;
}

void snw_statics_start(snw_statics *st, const snw_state *s) {
    const snw_model *m = st->m;
    if (m->nq) memcpy(st->x, s->q, (size_t)m->nq * sizeof *st->x);
    if (m->nconstraint) memcpy(st->x + m->nq, s->lambda, (size_t)m->nconstraint * sizeof *st->x);
    if (!m->nconstraint) return;
    snw_statics_evaluate(st, 1, st->x);
    memcpy(st->violation0, st->w->violation, (size_t)m->nconstraint * sizeof *st->violation0);
}

static bool statics_failed(snw_status s) { return s == SNW_E_SINGULAR || s == SNW_E_DIVERGED; }

// Selects the kept rows of redundant loop closures again at st->x under the fraction `load` and
// resets their multipliers. False: unchanged.
static bool statics_choose_rows(snw_statics *st, double load) {
    const snw_model *m = st->m;
    if (!st->closure_rows || !snw_projection_redundant(st->projection)) return false;
    snw_statics_evaluate(st, load, st->x);
    if (!snw_projection_choose(st->projection, st->closure_rows, st->now, st->trial)) return false;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int k = 0; loop->nredundant > 0 && k < loop->nrow; k++) {
            st->x[m->nq + loop->row + k] = st->violation0[loop->row + k] = 0;
        }
    }
    scale_rows(st);
    return true;
}

// Newton's method with load increments; where it fails because the kept rows of redundant loop
// closures lose rank, continues with others.
static snw_status statics_continue(snw_statics *st, const snw_statics_opts *opts,
                                   snw_statics_info *info) {
    enum { CHOICES = 20 };
    snw_status s = snw_statics_newton(st, opts, info);
    for (int n = 0; n < CHOICES && statics_failed(s) && statics_choose_rows(st, info->reached);
         n++) {
        st->from = info->reached;
        s = snw_statics_newton(st, opts, info);
        st->from = 0;
    }
    return s;
}

// Solves from the present configuration with loops closing as the load grows, so soft robots deform
// by their forces. If that fails without any equilibrium of the closed robot, starts from the robot
// with loops closed beforehand; if that fails too, or the branch ends, uses a damped motion
// (theory.md 5, order of attempts). *open: loops cannot be closed, and `err` tells which.
static snw_status statics_balance(snw_statics *st, const snw_statics_opts *opts, const snw_state *s,
                                  snw_statics_info *info, bool *open, snw_error *err) {
    snw_error why = {0};
    snw_status status = statics_continue(st, opts, info);
    const bool large = !st->m->local && st->m->nv > SNW_MOST_DENSE;
    if (!statics_failed(status) || large) return status;
    if (st->m->nconstraint && (info->reached == 0 || opts->assemble)) {
        bool moved;
        const double reached = info->reached, residual = info->residual;
        memcpy(st->kept, st->x, (size_t)(st->m->nq + st->m->nconstraint) * sizeof *st->x);
        snw_statics_start(st, s);
        *open = snw_statics_close(st, &moved, &why) != SNW_OK;
        if (!*open && moved) status = snw_statics_newton(st, opts, info);
        if (*open || !moved || (statics_failed(status) && info->reached <= reached)) {
            memcpy(st->x, st->kept, (size_t)(st->m->nq + st->m->nconstraint) * sizeof *st->x);
            info->reached = reached;
            info->residual = residual;
        }
    }
    if (statics_failed(status) && info->reached > 0) {
        const snw_status crossed = snw_branch_cross(st, opts, s, info);
        if (!statics_failed(crossed)) return crossed;
    }
    if (statics_failed(status) && !(opts->follow && info->reached > 0)) {
        const snw_status settled = snw_branch_settle(st, opts, s, info, &why);
        if (!statics_failed(settled)) return settled;
    }
    if (*open && status != SNW_OK && err) *err = why;
    return status;
}

// Closes the loops at s, takes the present poses of nonholonomic contacts as their reference (5.1),
// and drops redundant rows: st->trial->dropped.
static void start_contacts(snw_statics *st, snw_state *s) {
    const snw_model *m = st->m;
    snw_projection_info ignored;
    snw_error open = {0};
    snw_inputs_at(m, s->t, st->now);
    snw_state_copy(m, s, st->trial);
    // if loops cannot be closed they stay open, and the solver reports it
    if (snw_projection_violation(st->projection, st->now, st->trial, NULL) > 1e-12 &&
        snw_projection_close(st->projection, st->now, st->trial, &ignored, &open) != SNW_OK)
        snw_state_copy(m, s, st->trial);
    snw_redundancy *redundancy = snw_projection_redundancy(st->projection);
    (void)snw_redundancy_drop(redundancy, st->now, st->trial);
    memcpy(s->lambda, st->trial->lambda, (size_t)m->nconstraint * sizeof *s->lambda);
    snw_kinematics(m, st->now, st->trial, true, st->w);
    snw_contacts_freeze(m, st->w);
}

// Checks that dropped contacts have held to first order of their displacement, then recovers the
// multipliers of all rows by minimum norm.
static snw_status recover_contacts(snw_statics *st, double t, snw_state *s, snw_error *err) {
    const snw_model *m = st->m;
    if (!snw_redundancy_found(snw_projection_redundancy(st->projection))) return SNW_OK;
    snw_residual(m, st->after, s, true, st->w);
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        if (loop->nonholonomic_index < 0 || !snw_is_active(st->w, loop->condition)) continue;
        const double displacement = snw_loop_displacement(m, st->w, i);
        for (int r = 0; r < loop->nrow; r++) {
            const double size = m->length / snw_loop_kept_size(m, loop, r);
            const double left = fabs(st->w->violation[loop->row + r]) * size;
            if (left <= 0.01 * displacement + 1e-9 * m->length) continue;
            const snw_label *d = &m->label.loop[i];
            return snw_fail_at_location(
                err,
                snw_fail(err, SNW_E_MODEL,
                         "contact '%s' contradicts the other contacts and drives at t = %.9g s: it "
                         "would have to slip by %.3g m. Leave a coordinate free, remove contacts, "
                         "or change the laws",
                         d->name, t, left),
                d->location.file, d->location.line, d->location.column);
        }
    }
    memcpy(s->dropped, st->trial->dropped, (size_t)m->nnonholonomic * sizeof *s->dropped);
    return snw_redundancy_recover(snw_projection_redundancy(st->projection), st->after, s);
}

// Link of a joint that neither stiffness nor load supports at the last equilibrium; -1: none.
static int statics_mechanism(snw_statics *st) {
    const snw_model *m = st->m;
    if (m->nq) memcpy(st->trial->q, st->x, (size_t)m->nq * sizeof *st->x);
    if (m->nconstraint)
        memcpy(st->trial->lambda, st->x + m->nq, (size_t)m->nconstraint * sizeof *st->x);
    return snw_mechanism_find(m, st->after, st->trial, st->w);
}

// Link with a residual that is not finite at st->x, *coordinate <- number of its joint or strain
// coordinate; -1: none.
static int statics_not_finite(snw_statics *st, int *coordinate) {
    const snw_model *m = st->m;
    snw_statics_evaluate(st, 1, st->x);
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        for (int i = 0; i < b->n; i++) {
            *coordinate = i + 1;
            if (!isfinite(st->w->r[b->dof + i])) return m->seg[b->seg].link;
        }
    }
    return -1;
}

// A force that the whole load leaves unbalanced.
typedef struct unbalanced_force {
    double size;
    const char *unit, *part, *link; // "joint" or "strains" of a link
} unbalanced_force;

// Unit of the force of coordinate i of a block.
static const char *force_unit(const snw_model *m, const snw_block *b, int i) {
    if (m->seg[b->seg].kind == SNW_SEG_ROD) {
        bool turn = false;
        for (int k = 0; k < m->nrod; k++) {
            const snw_rod *rod = &m->rod[k];
            for (int a = 0; a < rod->na; a++)
                turn |= b->dof + i >= rod->dof[a] && b->dof + i < rod->dof[a] + rod->nfun[a] &&
                        snw_rod_is_curvature(rod, a);
        }
        return turn ? "N m^2" : "N m";
    }
    const bool screw_turns = snw_dot(b->S.w, b->S.w) > 0;
    const bool turns = b->space == SNW_SPACE_SO3 || (b->space == SNW_SPACE_SE3 && i < 3) ||
                       (b->space == SNW_SPACE_RN && screw_turns);
    return turns && !b->feed ? "N m" : "N";
}

// The largest at st->x, relative to typical forces; of the joint of this link unless -1.
static unbalanced_force largest_unbalanced(snw_statics *st, int of) {
    const snw_model *m = st->m;
    unbalanced_force most = {
        .unit = "N", .part = "joint", .link = of >= 0 ? m->label.link[of].name : "world"};
    double worst = 0;
    snw_statics_evaluate(st, 1, st->x);
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        const int link = m->seg[b->seg].link;
        const bool rod = m->seg[b->seg].kind == SNW_SEG_ROD;
        if (of >= 0 && (link != of || rod)) continue;
        for (int i = 0; i < b->n; i++) {
            const double r = fabs(st->w->r[b->dof + i]);
            if (!(r > worst * m->scale[b->dof + i])) continue;
            worst = r / m->scale[b->dof + i];
            most = (unbalanced_force){r, force_unit(m, b, i), rod ? "strains" : "joint",
                                      m->label.link[link].name};
        }
    }
    return most;
}

// why <- how the nonlinear law of a rod ends the path of equilibria: a strain outside its range, or
// a tangent that has nearly lost its definiteness; empty: it does not.
static void describe_law(snw_statics *st, char *why, size_t size) {
    static const double weak = 0.05; // of the stiffness without strain
    const snw_weakest_section w = snw_nonlinear_laws_weakest(st->m, st->x);
    if (w.eigenvalue < weak) {
        snw_weakest_section_describe(st->m, &w, why, size);
    } else {
        snw_law_fault_describe(st->m, &st->w->law_fault, why, size);
    }
}

static snw_status statics_explain(snw_statics *st, snw_status s, bool follow,
                                  const snw_statics_info *info, double t, snw_error *err) {
    int coordinate;
    const snw_model *m = st->m;
    int link = statics_failed(s) ? statics_not_finite(st, &coordinate) : -1;
    if (link >= 0) {
        return snw_fail(
            err, s,
            "static at t = %g s: the force on coordinate %d of '%s' is not finite at %.6g of the "
            "load; check the laws and dimensions that affect it, or start elsewhere (initial:)",
            t, coordinate, m->label.link[link].name, info->reached);
    }
    if (statics_failed(s) && m->nlaw_point) {
        char why[300];
        describe_law(st, why, sizeof why);
        if (why[0]) {
            return snw_fail(err, s,
                            "static at t = %g s: no equilibrium found beyond %.6g of the load, "
                            "where %s; the last equilibrium is kept",
                            t, info->reached, why);
        }
    }
    link = statics_failed(s) && !m->local && m->nv <= SNW_MOST_DENSE ? statics_mechanism(st) : -1;
    const unbalanced_force force =
        statics_failed(s) ? largest_unbalanced(st, link) : (unbalanced_force){0};
    if (link >= 0 && m->link_joint[link] == SNW_JOINT_FREE) {
        return snw_fail(err, s,
                        "static at t = %g s: nothing holds the free joint of '%s' against %.3g %s, "
                        "so the equilibrium is not determined; hold the robot or use a dynamic "
                        "step",
                        t, m->label.link[link].name, force.size, force.unit);
    }
    if (link >= 0) {
        return snw_fail(err, s,
                        "static at t = %g s: no equilibrium found beyond %.6g of the load, where "
                        "nothing holds the joint of '%s' against %.3g %s. Give it stiffness, start "
                        "elsewhere (initial:), or use a dynamic step with damping",
                        t, info->reached, m->label.link[link].name, force.size, force.unit);
    }
    if (statics_failed(s) && follow && info->reached > 0) {
        return snw_fail(err, s,
                        "static at t = %g s: the branch of equilibria ends at %.6g of the load (a "
                        "limit point); the last one is kept. Without 'branch: follow' the robot "
                        "goes to another stable one",
                        t, info->reached);
    }
    switch (s) {
    case SNW_E_SINGULAR:
        return snw_fail(
            err, s,
            "static at t = %g s: the tangent is singular at %.6g of the load (buckling, or a "
            "strain without stiffness); the last equilibrium is kept. Try a small lateral load, or "
            "the damped march",
            t, info->reached);
    case SNW_E_DIVERGED:
        return snw_fail(
            err, s,
            "static at t = %g s: no equilibrium found beyond %.6g of the load, neither by "
            "increments nor by damped relaxation: the whole load leaves %.3g %s on the %s of '%s' "
            "unbalanced there. It may be too large, or pull a contact open. The last equilibrium "
            "is kept. Try smaller steps, more functions, or the damped march",
            t, info->reached, force.size, force.unit, force.part, force.link);
    case SNW_E_STOPPED:
        return snw_fail(err, s, "stopped at t = %g s, %.3g of the load", t, info->reached);
    case SNW_OK:
    case SNW_E_ARGUMENT:
    case SNW_E_MEMORY:
    case SNW_E_IO:
    case SNW_E_PARSE:
    case SNW_E_MODEL:
        break;
    }
    return s;
}

static snw_status check_inputs(const snw_statics *st, double t, snw_error *err) {
    const snw_inputs *in = st->after;
    const double *numbers = (const double *)(const void *)in->pose;
    SNW_TRY(snw_tubes_check(st->m, in, t, err));
    bool finite = isfinite(snw_dot(in->gravity, in->gravity));
    for (size_t i = 0; finite && i < in->bytes / sizeof(double); i++) finite = isfinite(numbers[i]);
    if (finite) return SNW_OK;
    for (int k = 0; k < st->m->nload_point; k++) {
        for (int c = 0; c < 6; c++) {
            if (isfinite(in->load[k].e[c])) continue;
            const snw_label *load = &st->m->label.load[st->m->load_point[k].load];
            return snw_fail_at_location(
                err,
                snw_fail(err, SNW_E_DIVERGED, "load '%s' is not a number at t = %g s", load->name,
                         t),
                load->location.file, load->location.line, load->location.column);
        }
    }
    for (int i = 0; i < st->m->ndrive; i++) {
        if (isfinite(in->drive[i].v)) continue;
        const snw_label *motor = &st->m->label.motor[st->m->drive[i].motor];
        return snw_fail_at_location(
            err,
            snw_fail(err, SNW_E_DIVERGED, "actuator '%s' is not a number at t = %g s", motor->name,
                     t),
            motor->location.file, motor->location.line, motor->location.column);
    }
    SNW_TRY(snw_tendons_check(st->m, in, t, err));
    return snw_fail(err, SNW_E_DIVERGED, "gravity, a pose or a stress is not a number at t = %g s",
                    t);
}

// Checks that the rates of given motion keep the loops closed with all other velocities zero;
// otherwise the motion is not steady.
static snw_status check_steady(snw_statics *st, double t, const snw_state *s, snw_error *err) {
    const snw_model *m = st->m;
    snw_residual(m, st->now, s, false, st->w);
    snw_constraints_rates(m, st->now, s, st->w, st->tau, NULL);
    for (int k = 0; k < m->nconstraint; k++) {
        const int i = snw_projection_loop_of(st->projection, k);
        if (fabs(st->tau[k]) <= 1e-8 * snw_constraint_at(m, st->w, k).size || i >= m->nloop)
            continue;
        return snw_fail(
            err, SNW_E_MODEL,
            "static at t = %g s: the motion is not steady, loop '%s' would open at the given rates "
            "while all else is at rest; leave 'steady' out, or use a dynamic step",
            t, m->label.loop[i].name);
    }
    return SNW_OK;
}

// Largest violation at s, m or rad.
static double largest_violation(snw_statics *st, const snw_state *s) {
    int row;
    const double violation = snw_projection_violation(st->projection, st->after, s, &row);
    return violation * snw_projection_size(st->projection, row);
}

snw_status snw_statics_solve(snw_statics *st, double t, const snw_statics_opts *opts, snw_state *s,
                             snw_statics_info *info, snw_error *err) {
    const snw_model *m = st->m;
    const snw_statics_info none = {.reached = 1, .condition = NAN, .left = NAN, .unstable = -1};
    *info = none;
    const bool march = opts->march > 0 || opts->march_flow;
    if (m->hard && (opts->steady || march || opts->penalty > 0)) {
        return snw_fail(err, SNW_E_MODEL,
                        "a static step with hard contacts has neither 'steady', 'march' nor "
                        "'penalty'; leave it out, or give the contacts a stiffness instead of "
                        "'hard'");
    }
    if (is_large(st) && (march || opts->penalty > 0)) {
        return snw_fail(err, SNW_E_MODEL,
                        "a static step of a network with more than %d coordinates (%d) has neither "
                        "'march' nor 'penalty', which need dense matrices; leave it out",
                        SNW_MOST_DENSE, m->nv);
    }
    if (m->nbranch && opts->relaxation.kind == SNW_RELAXED_NOT_STATED) {
        return snw_fail(err, SNW_E_MODEL,
                        "an equilibrium of a material with 'relaxation' depends on how long it has "
                        "lasted; say 'relaxation: instant', 'relaxed' or a time in this step");
    }
    if (m->nbranch) {
        snw_relaxation_settle(m, opts->relaxation, s);
        memcpy(st->trial->relaxed, s->relaxed, (size_t)m->nbranch_coordinate * sizeof *s->relaxed);
        memcpy(st->trial->follow, s->follow, (size_t)m->nbranch * sizeof *s->follow);
    }
    snw_inputs_at(m, t, st->after);
    SNW_TRY(check_inputs(st, t, err));
    st->w->law_fault = (snw_law_fault){0};
    st->blended = NAN;
    st->from = 0;
    st->to = 1;
    st->compliance = 0;
    st->steady = opts->steady;
    st->interrupt = (snw_interrupt){.stop = opts->stop, .user = opts->user};
    if (st->steady && m->nnonholonomic) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "a steady static step does not support wheels, rings and anchors; use a "
                        "dynamic step with damping");
    }
    memset(st->trial->v, 0, (size_t)m->nv * sizeof *st->trial->v);
    memset(st->trial->a, 0, (size_t)m->nv * sizeof *st->trial->a);
    if (m->nsignal) memcpy(st->trial->z, s->z, (size_t)m->nsignal * sizeof *s->z);
    // contacts that hold identically have no rows
    const bool has_contacts = m->nnonholonomic > 0 && st->projection;
    if (has_contacts) start_contacts(st, s);
    snw_statics_start(st, s);
    (void)statics_choose_rows(st, 0);
    SNW_TRY(snw_statics_penalty_begin(st, opts, s, err));
    if (m->hard) snw_statics_hard_begin(st);
    snw_status status = SNW_OK;
    if (m->nv > 0 && opts->friction && st->friction) {
        st->guarded = snw_contact_has_curved(m);
        status = snw_statics_friction_solve(st, opts, t, s, info, err);
    } else if (m->nv > 0) {
        bool open = false;
        st->guarded = snw_contact_has_curved(m);
        st->has_stepped_back = false;
        status = march ? snw_statics_march(st, opts, t, s, info, err)
                       : statics_balance(st, opts, s, info, &open, err);
        if (statics_failed(status) && st->has_stepped_back) { // behind obstacles, if need be
            st->guarded = open = false;
            *info = none;
            snw_statics_start(st, s);
            status = statics_balance(st, opts, s, info, &open, err);
        }
        if (!open && !(march && statics_failed(status)))
            status = statics_explain(st, status, opts->follow, info, t, err);
        if (status == SNW_OK && m->hard) status = snw_statics_hard_finish(st, opts, t, info, err);
        if (status == SNW_OK && st->penalty > 0)
            status = snw_statics_penalty_finish(st, opts, info, err);
        if (status == SNW_OK && !march && !(st->penalty > 0)) {
            status = snw_branch_judge(st, opts, s, info);
            if (status == SNW_OK) status = snw_branch_of_start(st, opts, s, info);
            if (status == SNW_OK && m->hard)
                status = snw_statics_hard_finish(st, opts, t, info, err);
            if (status == SNW_E_STOPPED)
                status = statics_explain(st, status, opts->follow, info, t, err);
        }
    }
    st->interrupt = (snw_interrupt){0};
    if (m->nq) memcpy(s->q, st->x, (size_t)m->nq * sizeof *st->x);
    if (m->nconstraint) memcpy(s->lambda, st->x + m->nq, (size_t)m->nconstraint * sizeof *st->x);
    for (int i = 0; i < m->nv; i++) s->v[i] = s->a[i] = 0;
    if (st->steady) snw_constraints_impose(m, st->after, s);
    if (st->compliance > 0) info->violation = largest_violation(st, s);
    if (status == SNW_OK && has_contacts) status = recover_contacts(st, t, s, err);
    if (status == SNW_OK) s->t = t;
    // loads that hold at s: all, or the fraction reached
    snw_inputs_blend(m, st->before, st->after, info->reached, st->now);
    snw_inputs_copy(st->now, st->before);
    if (!st->steady) clear_rates(m, st->before);
    return status == SNW_OK && st->steady ? check_steady(st, t, s, err) : status;
}

const snw_work *snw_statics_work_at(snw_statics *st, const snw_state *s) {
    snw_residual(st->m, st->now, s, !st->steady, st->w);
    snw_observe(st->m, st->now, s, !st->steady, st->w);
    return st->w;
}

void snw_statics_count_rates(snw_statics *st, bool count) { st->steady = count; }

const snw_work *snw_statics_work_at_time(snw_statics *st, const snw_state *s, double t) {
    snw_inputs_at(st->m, t, st->now);
    return snw_statics_work_at(st, s);
}

const snw_inputs *snw_statics_inputs(const snw_statics *st) { return st->now; }
const snw_model *snw_statics_model(const snw_statics *st) { return st->m; }
snw_projection *snw_statics_projection(snw_statics *st) { return st->projection; }
snw_impacts *snw_statics_impacts(snw_statics *st) { return st->impacts; }
