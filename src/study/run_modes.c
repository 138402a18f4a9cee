// SPDX-License-Identifier: MIT
//
// A modes step: small vibrations about the present configuration. One frame shows each mode shape;
// the last frame shows the configuration itself, so that values at the end of the step or at its
// time are those of the configuration. The state is unchanged.
#include "study/run_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/hard_contact.h"

#include <math.h>
#include <stdio.h>

// Frame at s: k = 0 the configuration itself, else the shape of mode k.
static snw_status modes_run_frame(snw_run *r, int stage, int k, double quadrature, snw_state *s,
                                  snw_error *err) {
    const snw_model *m = r->now->model;
    const bool steady = r->desc->step[stage].steady;
    const snw_mode_table *table = snw_modes_table(r->modes[stage]);
    const snw_work *w = snw_statics_work_at_time(r->now->statics, s, s->t);
    const snw_inputs *in = snw_statics_inputs(r->now->statics);
    if (steady) snw_constraints_impose(m, in, s);
    snw_frame_source view = {.state = s,
                             .in = in,
                             .energy = {.elastic = snw_stored_energy(m, s, w),
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

// Does the state have velocities, or a driven coordinate a rate?
static bool modes_run_moves(const snw_run *r) {
    const snw_model *m = r->now->model;
    const snw_inputs *in = snw_statics_inputs(r->now->statics);
    bool any = false;
    for (int i = 0; i < m->nv; i++) any |= r->state->v[i] != 0;
    for (int i = 0; i < m->ndrive; i++) any |= m->drive[i].row >= 0 && in->drive[i].d != 0;
    return any;
}

static void modes_run_warn(const snw_run *r, const snw_mode_table *table, bool steady) {
    char text[240];
    if (!(table->residual <= SNW_UNBALANCED)) {
        (void)snprintf(text, sizeof text,
                       "run '%s': modes at t = %g s: not %s, residual forces or constraint "
                       "violations are %.2g of typical ones; put a static step%s before",
                       r->info.run, r->state->t, steady ? "a steady motion" : "an equilibrium",
                       table->residual, steady ? " with 'steady: on'" : "");
        snw_run_warn(r, text);
    }
    if (table->nhidden > 0) {
        (void)snprintf(text, sizeof text,
                       "run '%s': modes at t = %g s: %d of the null motions %s stiffness, which "
                       "rounding hides beside that of the fastest mode; fix strains that hardly "
                       "deform (strain: kirchhoff)",
                       r->info.run, r->state->t, table->nhidden,
                       table->nhidden > 1 ? "have" : "has");
        snw_run_warn(r, text);
    }
    if (table->ngrazing > 0) {
        (void)snprintf(text, sizeof text,
                       "run '%s': modes at t = %g s: %d point%s of hard contacts, the first of "
                       "'%.60s', touch%s without force and count as open, though they let nothing "
                       "move into the surface",
                       r->info.run, r->state->t, table->ngrazing, table->ngrazing > 1 ? "s" : "",
                       snw_hard_law_name(r->now->model, table->grazing),
                       table->ngrazing > 1 ? "" : "es");
        snw_run_warn(r, text);
    }
    if (!steady && modes_run_moves(r)) {
        (void)snprintf(text, sizeof text,
                       "run '%s': modes at t = %g s: the robot moves; these are modes of its "
                       "configuration at rest, 'steady: on' gives those of the motion",
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
        snw_impacts_drop_redundant(snw_statics_impacts(r->now->statics),
                                   snw_statics_inputs(r->now->statics), r->state);
        snw_run_warn_dropped_rows(r, r->state);
    }
    SNW_TRY(snw_modes_solve(modes, r->state, err));
    const snw_mode_table *table = snw_modes_table(modes);
    r->modes_found[stage] = true;
    if (!r->resuming) modes_run_warn(r, table, r->desc->step[stage].steady);
    snw_stats errors = {0};
    snw_run_estimate_mode_errors(r, stage, &errors);
    for (int i = 0; i < SNW_PROBE_FREQUENCIES; i++) {
        r->frequency[i] = i < table->n ? table->mode[i].frequency : NAN;
    }
    const bool steady = r->desc->step[stage].steady;
    snw_statics_count_rates(r->now->statics, steady);
    for (int i = r->resuming ? (int)r->cursor.k + 1 : 0; i <= table->n; i++) {
        const int k = i < table->n ? i + 1 : 0;
        if (snw_run_stopped(r)) {
            return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", r->state->t);
        }
        snw_state_copy(r->phase[0].model, r->state, r->mode_state);
        if (k > 0) snw_modes_shape(modes, k - 1, r->mode_state->q);
        for (int j = 0; j < m->nv; j++) {
            r->mode_state->a[j] = 0;
            if (!steady) r->mode_state->v[j] = 0;
        }
        r->cursor.k = i;
        SNW_TRY(modes_run_frame(r, stage, k, errors.quadrature, r->mode_state, err));
    }
    snw_run_report_progress(r, stage, r->state->t, r->state->t, r->state->t);
    return SNW_OK;
}
