// SPDX-License-Identifier: MIT
//
// Steps of the shooting engine: equilibria, and the fields that go on from one step to the next.
#include "study/run_private.h"

#include "base/fail.h"
#include "shoot/shooter.h"

#include <math.h>

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

static snw_status frame(snw_run *r, int stage, const snw_shooter *e, const snw_stats *stats,
                        snw_work *w, snw_error *err) {
    const snw_shoot_energy E = snw_shooter_energy(e);
    snw_shooter_show(e, r->state, w);
    for (int i = 0; i < r->now->model->nv; i++) r->state->v[i] = 0;
    const snw_view view = {.state = r->state,
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

// one equilibrium after the other, as t goes on
static snw_status path(snw_run *r, int stage, snw_shooter *e, snw_work *w, snw_error *err) {
    const snw_step_desc *step = &r->desc->step[stage];
    const double t0 = r->here.t0;
    const long n = step->duration > 0 ? (long)ceil(step->duration / step->step - 1e-9) : 0;
    snw_stats sum = {.stability = NAN, .condition = NAN, .truncation = NAN};
    for (long k = r->resuming ? (long)r->here.k + 1 : 0; k <= n; k++) {
        const double t = k < n ? t0 + (double)k * step->step : t0 + step->duration;
        if (snw_run_stopped(r)) return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", t);
        snw_boundary_info info;
        const snw_status s = snw_shooter_static(e, t, &info, &sum.load);
        sum.iterations += info.iterations;
        sum.tangents += info.tangents;
        sum.increments++;
        sum.residual = info.residual;
        r->totals.iterations += info.iterations;
        r->totals.increments++;
        if (!(info.residual <= r->totals.worst_residual)) r->totals.worst_residual = info.residual;
        if (s != SNW_OK) {
            snw_error ignored = {0};
            if (sum.load > 0) (void)frame(r, stage, e, &sum, w, &ignored);
            return snw_fail(err, s,
                            "no equilibrium found at t = %g s beyond %.3g of the load (residual "
                            "%.2g of a typical force); what was computed is kept. Try more points, "
                            "solver: levenberg, or loads that grow in a path of equilibria",
                            t, sum.load, info.residual);
        }
        snw_run_report(r, stage, t, t0, t0 + step->duration);
        if (!snw_run_due(r, t, k == n)) continue;
        r->here.k = (double)k;
        if (r->reads_stability) sum.stability = snw_shooter_stability(e);
        SNW_TRY(frame(r, stage, e, &sum, w, err));
        sum = (snw_stats){.stability = NAN, .condition = NAN, .truncation = NAN};
    }
    return SNW_OK;
}

snw_status snw_run_shoot(snw_run *r, int stage, snw_error *err) {
    const snw_model *m = r->now->model;
    snw_shooter *e = NULL;
    snw_work *w = NULL;
    snw_status s = snw_shooter_create(m, &r->desc->step[stage], &e, err);
    if (s == SNW_OK) s = snw_work_create(m, &w);
    if (s == SNW_OK && r->resuming) {
        s = snw_shooter_restore(e, snw_run_save_mover(r), err);
    } else if (s == SNW_OK && r->current) {
        s = snw_shooter_follow(e, r->current, err);
    } else if (s == SNW_OK) {
        snw_shooter_take(e, r->state);
    }
    if (s == SNW_OK) s = path(r, stage, e, w, err);
    if (s == SNW_OK) s = snw_run_keep_fields(r, stage, e, err);
    if (s == SNW_OK) snw_statics_assume(r->now->statics, r->state->t);
    snw_work_destroy(w);
    snw_shooter_destroy(e);
    return s == SNW_E_MEMORY ? snw_fail(err, s, "out of memory") : s;
}
