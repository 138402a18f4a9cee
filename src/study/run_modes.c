// SPDX-License-Identifier: MIT
//
// A modes step: small motions about the present configuration. Its frames show the shapes, the last
// one the configuration itself, so that whoever asks for values at the end or at that time gets
// those; the state goes on as it was.
#include "study/run_private.h"

#include "base/fail.h"
#include "dynamics/closure.h"

#include <math.h>
#include <stdio.h>

// what a frame shows of s: k = 0 the configuration itself, else mode k
static snw_status modes_run_frame(snw_run *r, int stage, int k, double quadrature, snw_state *s,
                                  snw_error *err) {
    const snw_model *m = r->now->model;
    const bool steady = r->desc->step[stage].steady;
    const snw_mode_table *table = snw_modes_table(r->modes[stage]);
    const snw_work *w = snw_statics_work_at_time(r->now->statics, s, s->t);
    const snw_inputs *in = snw_statics_inputs(r->now->statics);
    if (steady) snw_constraints_impose(m, in, s);
    snw_view view = {.state = s,
                     .in = in,
                     .energy = {.elastic = snw_stored_energy(m, s->q, w),
                                .gravity = snw_gravity_energy(m, in, w),
                                .dissipated = r->heat,
                                .work = r->work,
                                .scheme = r->scheme,
                                .balance = r->balance},
                     .stats = {.load = 1,
                               .residual = table->residual,
                               .stability = NAN,
                               .geometry = snw_geometry_error(m, r->state->q, r->state->t),
                               .quadrature = k > 0 ? 0 : quadrature,
                               .truncation = k > 0 ? table->mode[k - 1].truncation : NAN,
                               .mode = k,
                               .condition = NAN}};
    if (k > 0) {
        view.stats.frequency = table->mode[k - 1].frequency;
        view.stats.damping = table->mode[k - 1].damping;
    }
    if (r->reads_stability) {
        view.stats.stability = snw_statics_stability(r->now->statics, s).value;
    }
    view.w = snw_statics_work_at(r->now->statics, s);
    if (steady) view.energy.kinetic = snw_kinetic_energy(m, view.w);
    return snw_run_frame(r, stage, &view, err);
}

// does anything go on by itself or by its law?
static bool modes_run_moves(const snw_run *r) {
    const snw_model *m = r->now->model;
    const snw_inputs *in = snw_statics_inputs(r->now->statics);
    bool any = false;
    for (int i = 0; i < m->nv; i++) any |= r->state->v[i] != 0;
    for (int i = 0; i < m->ndrive; i++) any |= m->drive[i].row >= 0 && in->drive[i].d != 0;
    return any;
}

static void warn(const snw_run *r, const snw_mode_table *table, bool steady) {
    char text[240];
    if (!(table->residual <= SNW_UNBALANCED)) {
        (void)snprintf(text, sizeof text,
                       "run '%s': modes at t = %g s: not %s, forces or gaps of %.2g of typical "
                       "ones are left; let a static step%s find one before",
                       r->info.run, r->state->t, steady ? "a steady motion" : "an equilibrium",
                       table->residual, steady ? ", steady too," : "");
        snw_run_warn(r, text);
    }
    if (!steady && modes_run_moves(r)) {
        (void)snprintf(text, sizeof text,
                       "run '%s': modes at t = %g s: the robot moves; they are those of its "
                       "configuration at rest, 'steady: on' has those of the motion",
                       r->info.run, r->state->t);
        snw_run_warn(r, text);
    }
}

snw_status snw_run_modes(snw_run *r, int stage, snw_error *err) {
    const snw_model *m = r->now->model;
    SNW_TRY(snw_run_refuse_nonholonomic(r, &r->desc->step[stage], err));
    snw_modes *modes = r->modes[stage];
    if (!r->resuming && m->ncondition) {
        snw_run_set_conditions(r);
        snw_impacts_compare(snw_statics_impacts(r->now->statics),
                            snw_statics_inputs(r->now->statics), r->state);
        snw_run_remark(r, r->state);
    }
    SNW_TRY(snw_modes_solve(modes, r->state, err));
    const snw_mode_table *table = snw_modes_table(modes);
    r->found[stage] = true;
    if (!r->resuming) warn(r, table, r->desc->step[stage].steady);
    snw_stats errors = {0};
    snw_run_accuracy_of_modes(r, stage, &errors);
    for (int i = 0; i < SNW_PROBE_FREQUENCIES; i++) {
        r->frequency[i] = i < table->n ? table->mode[i].frequency : NAN;
    }
    const bool steady = r->desc->step[stage].steady;
    snw_statics_count_rates(r->now->statics, steady);
    for (int i = r->resuming ? (int)r->here.k + 1 : 0; i <= table->n; i++) {
        const int k = i < table->n ? i + 1 : 0;
        if (snw_run_stopped(r)) {
            return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", r->state->t);
        }
        snw_state_copy(r->phase[0].model, r->state, r->shape);
        if (k > 0) snw_modes_shape(modes, k - 1, r->shape->q);
        for (int j = 0; j < m->nv; j++) {
            r->shape->a[j] = 0;
            if (!steady) r->shape->v[j] = 0;
        }
        r->here.k = i;
        SNW_TRY(modes_run_frame(r, stage, k, errors.quadrature, r->shape, err));
    }
    snw_run_report(r, stage, r->state->t, r->state->t, r->state->t);
    return SNW_OK;
}
