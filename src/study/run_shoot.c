// SPDX-License-Identifier: MIT
//
// Static steps by the shooting engine: equilibria and paths of equilibria, their stability, and the
// fields passed from one step to the next.
#include "study/run_private.h"

#include "base/fail.h"
#include "shoot/shooter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

snw_status snw_run_keep_fields(snw_run *r, int stage, const snw_shooter *fields, snw_error *err) {
    if (fields == r->fields[stage] && fields) return SNW_OK;
    snw_shooter_destroy(r->fields[stage]);
    r->fields[stage] = NULL;
    r->current = NULL;
    if (!fields) return SNW_OK;
    SNW_TRY(snw_shooter_copy(fields, &r->fields[stage], err));
    r->current = r->fields[stage];
    return SNW_OK;
}

static snw_status shooting_run_frame(snw_run *r, int stage, const snw_shooter *e,
                                     const snw_stats *stats, snw_work *w, snw_error *err) {
    const snw_shoot_energy E = snw_shooter_energy(e);
    snw_shooter_get_state(e, r->state, w);
    for (int i = 0; i < r->now->model->nv; i++) r->state->v[i] = 0;
    const snw_frame_source view = {.state = r->state,
                                   .in = snw_shooter_inputs(e),
                                   .w = w,
                                   .fields = e,
                                   .partial = stats->load < 1,
                                   .energy = {.elastic = E.elastic,
                                              .gravity = E.gravity,
                                              .dissipated = r->heat,
                                              .work = r->work,
                                              .scheme = r->scheme,
                                              .balance = r->balance},
                                   .stats = *stats};
    return snw_run_frame(r, stage, &view, err);
}

// ---- stability ---------------------------------------------------------------------------------

// Are the multipliers of drives the only ones? Then the coordinates nearest to the fields determine
// the tangent.
static bool has_tangent(const snw_model *m) {
    bool complete = m->nloop == 0;
    for (int i = 0; i < m->ntendon; i++) complete = complete && m->tendon[i].row < 0;
    return complete;
}

// Is the equilibrium at t unstable? By the Jacobi test of the fields (theory.md 10.7) where it
// applies, else by the tangent of the strain engine at the coordinates nearest to the fields.
static bool is_unstable(snw_run *r, snw_shooter *e, double t, snw_work *w) {
    const int n = snw_shooter_unstable(e);
    if (n >= 0) return n > 0;
    if (!has_tangent(r->now->model)) return snw_shooter_stability(e) < SNW_SHOOTER_UNSTABLE;
    snw_shooter_get_state(e, r->state, w);
    (void)snw_statics_work_at_time(r->now->statics, r->state, t);
    return snw_statics_stability(r->now->statics, r->state).value < SNW_SHOOTER_UNSTABLE;
}

// Equilibrium at t from an initial guess by the strain engine, which steps the load from zero at
// the initial shape.
static bool guess_from_strains(snw_run *r, snw_shooter *e, double t, snw_boundary_info *info) {
    const snw_model *m = r->now->model;
    snw_statics_opts opts = snw_statics_defaults();
    snw_statics_info how;
    snw_state *s;
    snw_error ignored = {0};
    double reached = 0;
    if (m->bare || snw_state_create(m, &s) != SNW_OK) return false;
    memcpy(s->q, m->q0, (size_t)m->nq * sizeof *s->q);
    memcpy(s->z, r->state->z, (size_t)m->nsignal * sizeof *s->z);
    if (r->hooks) opts.stop = r->hooks->stop, opts.user = r->hooks->user;
    snw_statics_reset(r->now->statics);
    bool found = snw_statics_solve(r->now->statics, t, &opts, s, &how, &ignored) == SNW_OK;
    if (found) {
        s->t = t;
        snw_shooter_guess(e, s, snw_statics_work_at(r->now->statics, s));
        found = snw_shooter_static(e, t, info, &reached) == SNW_OK && reached == 1;
    }
    snw_state_destroy(s);
    return found;
}

// Warn once, unless the study records the stability.
static void shooting_run_warn_unstable(snw_run *r, double t) {
    char text[240];
    if (r->warned_unstable || r->reads_stability) return;
    r->warned_unstable = true;
    (void)snprintf(text, sizeof text,
                   "run '%s': the equilibrium at t = %g s is unstable; see the probe 'stability', "
                   "or start elsewhere (initial:)",
                   r->info.run, t);
    snw_run_warn(r, text);
}

static void warn_branch_left(snw_run *r, double t) {
    char text[240];
    if (r->nbranch_left) return;
    r->nbranch_left = 1;
    (void)snprintf(text, sizeof text,
                   "run '%s': the equilibrium found first at t = %g s is unstable; it was left for "
                   "a stable one, of which there may be others",
                   r->info.run, t);
    snw_run_warn(r, text);
}

// Replace an unstable equilibrium by a stable one if one is found; warn otherwise.
static snw_status prefer_stable(snw_run *r, int stage, snw_shooter *e, double t, snw_work *w,
                                snw_boundary_info *info, snw_error *err) {
    if (!is_unstable(r, e, t, w)) return SNW_OK;
    const bool conserves = snw_shooter_unstable(e) > 0, joined = r->now->model->nloop > 0;
    if (r->desc->step[stage].follow || (!conserves && !joined && !has_tangent(r->now->model))) {
        shooting_run_warn_unstable(r, t);
        return SNW_OK;
    }
    snw_shooter *first;
    SNW_TRY(snw_shooter_copy(e, &first, err));
    bool found = guess_from_strains(r, e, t, info) && !is_unstable(r, e, t, w);
    snw_status s = SNW_OK;
    if (!found) {
        s = snw_shooter_copy_fields(e, first, err);
        if (s == SNW_OK && conserves) found = snw_shooter_settle(e, t, info) == SNW_OK;
    }
    snw_shooter_destroy(first);
    if (found) {
        warn_branch_left(r, t);
    } else {
        shooting_run_warn_unstable(r, t);
    }
    return s;
}

// Equilibrium at t by the shooting engine alone; if that fails, and unless a branch is followed,
// from the guess of the strain engine. On failure the fields are those at the fraction `reached` of
// the load that the shooting engine attained alone.
static snw_status equilibrium(snw_run *r, int stage, snw_shooter *e, double t,
                              snw_boundary_info *info, double *reached, snw_error *err) {
    const snw_status s = snw_shooter_static(e, t, info, reached);
    if ((s != SNW_E_DIVERGED && s != SNW_E_SINGULAR) || r->desc->step[stage].follow) return s;
    snw_shooter *first;
    snw_boundary_info more = {0};
    SNW_TRY(snw_shooter_copy(e, &first, err));
    snw_status found = guess_from_strains(r, e, t, &more) ? SNW_OK : s;
    if (found != SNW_OK && snw_shooter_copy_fields(e, first, err) != SNW_OK) found = SNW_E_MEMORY;
    snw_shooter_destroy(first);
    if (found != SNW_OK) return found;
    info->iterations += more.iterations;
    info->tangents += more.tangents;
    info->residual = more.residual;
    *reached = 1;
    return SNW_OK;
}

// ---- paths -------------------------------------------------------------------------------------

// Equilibria at the successive times of the step.
static snw_status shooting_run_path(snw_run *r, int stage, snw_shooter *e, snw_work *w,
                                    snw_error *err) {
    const snw_step_desc *step = &r->desc->step[stage];
    const double t0 = r->cursor.t0;
    const long n = step->duration > 0 ? (long)ceil(step->duration / step->step - 1e-9) : 0;
    snw_stats sum = {.stability = NAN, .condition = NAN, .truncation = NAN};
    for (long k = r->resuming ? (long)r->cursor.k + 1 : 0; k <= n; k++) {
        const double t = k < n ? t0 + (double)k * step->step : t0 + step->duration;
        if (snw_run_stopped(r)) return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", t);
        snw_boundary_info info;
        snw_status s = equilibrium(r, stage, e, t, &info, &sum.load, err);
        if (s == SNW_OK) {
            snw_boundary_info more = {.residual = info.residual};
            s = prefer_stable(r, stage, e, t, w, &more, err);
            if (s != SNW_OK) return s;
            info.iterations += more.iterations;
            info.tangents += more.tangents;
            info.residual = more.residual;
        }
        sum.iterations += info.iterations;
        sum.tangents += info.tangents;
        sum.increments++;
        sum.residual = info.residual;
        r->totals.iterations += info.iterations;
        r->totals.increments++;
        if (!(info.residual <= r->totals.worst_residual)) r->totals.worst_residual = info.residual;
        if (s != SNW_OK) {
            snw_error ignored = {0};
            if (sum.load > 0) (void)shooting_run_frame(r, stage, e, &sum, w, &ignored);
            return snw_fail(err, s,
                            "no equilibrium found at t = %g s beyond %.3g of the load (residual "
                            "%.2g of a typical force); the results so far are kept. Try more "
                            "points, solver: levenberg, or loads that grow in a path of equilibria",
                            t, sum.load, info.residual);
        }
        snw_run_report_progress(r, stage, t, t0, t0 + step->duration);
        if (!snw_run_frame_due(r, t, k == n)) continue;
        r->cursor.k = (double)k;
        if (r->reads_stability) sum.stability = snw_shooter_stability(e);
        SNW_TRY(shooting_run_frame(r, stage, e, &sum, w, err));
        sum = (snw_stats){.stability = NAN, .condition = NAN, .truncation = NAN};
    }
    return SNW_OK;
}

snw_status snw_run_shooting(snw_run *r, int stage, snw_error *err) {
    const snw_model *m = r->now->model;
    snw_shooter *e = NULL;
    snw_work *w = NULL;
    snw_status s = snw_shooter_create(m, &r->desc->step[stage], &e, err);
    if (s == SNW_OK) snw_shooter_set_manual_inputs(e, r->manual);
    if (s == SNW_OK) s = snw_work_create(m, &w);
    if (s == SNW_OK && r->resuming) {
        s = snw_shooter_restore(e, snw_run_checkpoint_integrator(r), err);
    } else if (s == SNW_OK && r->current) {
        s = snw_shooter_copy_fields(e, r->current, err);
    } else if (s == SNW_OK) {
        snw_shooter_set_state(e, r->state);
    }
    if (s == SNW_OK) s = shooting_run_path(r, stage, e, w, err);
    if (s == SNW_OK) s = snw_run_keep_fields(r, stage, e, err);
    if (s == SNW_OK) snw_statics_assume(r->now->statics, r->state->t);
    snw_work_destroy(w);
    snw_shooter_destroy(e);
    return s == SNW_E_MEMORY ? snw_fail(err, s, "out of memory") : s;
}
