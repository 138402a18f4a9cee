// SPDX-License-Identifier: MIT
//
// An inverse step: the inputs for which probes have their desired values in equilibrium, at one
// instant or at successive ones. The following steps hold the inputs; a change of an actuator or
// load releases it.
#include "study/run_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "study/directions.h"
#include "study/family.h"
#include "study/found_inputs.h"
#include "study/inverse.h"
#include "study/linear_view.h"
#include "study/run_held.h"
#include "study/run_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double number_move = 1e-3; // of a number of the file in a sample, relative

// ---- held inputs --------------------------------------------------------------------------------

snw_status snw_run_held_create(snw_run *r) {
    const snw_desc *d = r->desc;
    bool any = false;
    for (int i = 0; i < d->nstep; i++) any |= d->step[i].kind == SNW_STEP_INVERSE;
    if (!any) return SNW_OK;
    SNW_TRY(snw_held_create(d, &r->held));
    r->manual = &r->held.manual;
    r->nheld = snw_held_doubles(&r->held);
    r->end_held = snw_pool_array(r->pool, (size_t)d->nstep * r->nheld, sizeof *r->end_held);
    r->found = snw_pool_array(r->pool, (size_t)d->nstep, sizeof *r->found);
    if (!r->end_held || !r->found) return SNW_E_MEMORY;
    for (int i = 0; i < r->nphase; i++) snw_statics_set_manual(r->phase[i].statics, r->manual);
    for (int i = 0; i < d->nstep; i++) {
        if (r->modes[i]) snw_modes_set_manual(r->modes[i], r->manual);
    }
    return SNW_OK;
}

void snw_run_held_destroy(snw_run *r) {
    for (int i = 0; r->found && i < r->desc->nstep; i++) snw_inverse_close(r->found[i]);
    snw_held_destroy(&r->held);
}

void snw_run_held_reset(snw_run *r) {
    if (!r->manual) return;
    snw_held_clear(&r->held);
    for (int i = 0; i < r->desc->nstep; i++) {
        snw_inverse_close(r->found[i]);
        r->found[i] = NULL;
    }
}

void snw_run_held_keep(snw_run *r, int stage) {
    if (r->manual) (void)snw_held_save(&r->held, r->end_held + (size_t)stage * r->nheld);
}

void snw_run_held_resume(snw_run *r, int stage) {
    if (r->manual) (void)snw_held_load(&r->held, r->end_held + (size_t)stage * r->nheld);
}

void snw_run_held_release(snw_run *r, const snw_step_desc *change) {
    if (!r->manual || !change->releases) return;
    const int n = snw_actuators(r->desc);
    for (int i = 0; i < n; i++)
        if (change->releases[i]) snw_held_release(&r->held, i);
    for (int i = 0; i < r->desc->nload; i++)
        if (change->releases[n + i]) snw_held_release_load(&r->held, i);
}

size_t snw_run_held_size(const snw_run *r) {
    return r->manual ? (1 + (size_t)r->desc->nstep) * r->nheld : 0;
}

double *snw_run_held_save(const snw_run *r, double *row) {
    if (!r->manual) return row;
    row = snw_held_save(&r->held, row);
    const size_t n = (size_t)r->desc->nstep * r->nheld;
    memcpy(row, r->end_held, n * sizeof *row);
    return row + n;
}

const double *snw_run_held_load(snw_run *r, const double *row) {
    if (!r->manual) return row;
    row = snw_held_load(&r->held, row);
    const size_t n = (size_t)r->desc->nstep * r->nheld;
    memcpy(r->end_held, row, n * sizeof *row);
    return row + n;
}

const snw_held_inputs *snw_run_held(const snw_run *r) { return r->manual ? &r->held : NULL; }

const snw_inverse_result *snw_run_inverse_found(const snw_run *r, int stage) {
    return r->found ? r->found[stage] : NULL;
}

// ---- the problem --------------------------------------------------------------------------------

// An inverse step in execution.
typedef struct inverse_execution {
    snw_run *run;
    int stage;
    snw_pool *pool;
    int nunknown, naim;
    snw_inverse_unknown *unknown;
    snw_inverse_aim *aim;
    // numbers of the file among the unknowns
    bool varies;
    snw_linear_view view;          // their derivatives; inputs are these numbers
    double number[SNW_PARAMETERS]; // of the present model
    snw_vec3 *rotation;            // of samples
    double *before;                // held inputs before an instant
} inverse_execution;

static const char *kept_text(const inverse_execution *x, const char *text) {
    const char *copy = snw_pool_text(x->pool, text, strlen(text));
    return copy ? copy : "";
}

static snw_status refuse_input(const inverse_execution *x, const char *name, const char *why,
                               snw_error *err) {
    return snw_fail(err, SNW_E_MODEL, "step '%s': actuator '%s' %s, so its input cannot be found",
                    x->run->desc->step[x->stage].name, name, why);
}

// Is this input one of the unknowns? Of all actuators those that act, of named ones all.
static snw_status add_unknown(inverse_execution *x, const snw_inverse_input_desc *d, bool named,
                              snw_error *err) {
    const snw_model *m = x->run->now->model;
    const snw_input_of of = {d->actuator, d->load, d->component};
    snw_linear_input in;
    const snw_input_state state = snw_linear_input_of(m, &of, &in);
    if (!named && state != SNW_INPUT_ACTS) return SNW_OK;
    if (state == SNW_INPUT_SPHERICAL)
        return refuse_input(x, d->name, "gives the motion of a spherical joint", err);
    if (state == SNW_INPUT_IDLE) return refuse_input(x, d->name, "does not act", err);
    char unit[48] = "";
    if (d->actuator >= 0) {
        snw_actuator_unit(m->desc, d->actuator, d->component, unit);
    } else {
        (void)snprintf(unit, sizeof unit, "%s",
                       snw_load_unit(&m->desc->load[d->load], d->component));
    }
    x->unknown[x->nunknown++] = (snw_inverse_unknown){.of = of,
                                                      .name = d->name,
                                                      .unit = kept_text(x, unit),
                                                      .low = d->low,
                                                      .high = d->high,
                                                      .rate = d->rate,
                                                      .rest = d->rest,
                                                      .fixed = d->fixed};
    return SNW_OK;
}

// A number of the file as an unknown; its derivatives are those of input `parameter` - 1 of the
// view.
static void add_number(inverse_execution *x, const snw_inverse_input_desc *d) {
    const snw_desc_family *family = &x->run->desc->step[x->stage].inverse.family;
    const int k = d->parameter - 1;
    char unit[48];
    snw_dim_unit(family->parameter[k].dim, unit, sizeof unit);
    x->unknown[x->nunknown++] = (snw_inverse_unknown){.of = {.actuator = -1},
                                                      .parameter = &x->view.of_input[k],
                                                      .value = x->number[k],
                                                      .name = d->name,
                                                      .unit = kept_text(x, unit),
                                                      .low = d->low,
                                                      .high = d->high,
                                                      .rate = d->rate,
                                                      .rest = d->rest};
}

static snw_status add_all(inverse_execution *x, snw_error *err) {
    const snw_desc *d = x->run->desc;
    for (int i = 0; i < snw_actuators(d); i++) {
        const snw_actuator a = snw_actuator_at(d, i);
        for (int k = 0; k < a.n; k++) {
            const char *name = a.n == 1 ? a.name : snw_pool_format(x->pool, "%s.%d", a.name, k + 1);
            const snw_inverse_input_desc one = {.actuator = i,
                                                .component = k,
                                                .name = name ? name : "",
                                                .low = NAN,
                                                .high = NAN,
                                                .rate = NAN,
                                                .rest = NAN};
            SNW_TRY(add_unknown(x, &one, false, err));
        }
    }
    return SNW_OK;
}

static snw_status list_problem(inverse_execution *x, snw_error *err) {
    const snw_desc *desc = x->run->desc;
    const snw_inverse_desc *d = &desc->step[x->stage].inverse;
    size_t most = (size_t)d->ninput + 1;
    for (int i = 0; i < snw_actuators(desc); i++) most += (size_t)snw_actuator_at(desc, i).n;
    x->unknown = snw_pool_array(x->pool, most, sizeof *x->unknown);
    x->aim = snw_pool_array(x->pool, (size_t)d->ntarget + 1, sizeof *x->aim);
    if (!x->unknown || !x->aim) return snw_fail_memory(err);
    x->before = snw_pool_array(x->pool, x->run->nheld + 1, sizeof *x->before);
    if (!x->before) return snw_fail_memory(err);
    x->nunknown = 0;
    if (d->all) SNW_TRY(add_all(x, err));
    for (int i = 0; i < d->ninput; i++) {
        if (d->input[i].parameter) {
            add_number(x, &d->input[i]);
        } else {
            SNW_TRY(add_unknown(x, &d->input[i], true, err));
        }
    }
    if (x->nunknown == 0)
        return snw_fail(err, SNW_E_MODEL, "step '%s': no actuator acts; name inputs in 'actuators'",
                        desc->step[x->stage].name);
    x->naim = d->ntarget;
    for (int i = 0; i < d->ntarget; i++) {
        const snw_inverse_target_desc *t = &d->target[i];
        char unit[48];
        snw_dim_unit(t->dim, unit, sizeof unit);
        x->aim[i] = (snw_inverse_aim){.probe = t->probe,
                                      .column = t->column,
                                      .name = t->name,
                                      .unit = kept_text(x, unit),
                                      .weight = t->weight};
    }
    return SNW_OK;
}

// ---- numbers of the file ------------------------------------------------------------------------

// The view <- outputs and numbers of the step.
static snw_status prepare_numbers(inverse_execution *x, snw_error *err) {
    const snw_run *r = x->run;
    const snw_inverse_desc *d = &r->desc->step[x->stage].inverse;
    const snw_model *m = r->now->model;
    x->varies = d->family.nparameter > 0;
    if (!x->varies) return SNW_OK;
    const size_t points = (size_t)(m->nseg + m->nobs);
    SNW_TRY(snw_linear_view_open(m, SNW_PARAMETERS, (size_t)d->ntarget, &x->view, err));
    x->rotation = snw_pool_array(x->pool, points, sizeof *x->rotation);
    if (!x->rotation) return snw_fail_memory(err);
    for (int i = 0; i < d->ntarget; i++) {
        x->view.of_output[i] =
            (snw_linear_output){.probe = d->target[i].probe, .column = d->target[i].column};
        x->view.output_name[i] = d->target[i].name;
        x->view.output_unit[i] = "";
        x->view.noutput++;
    }
    for (int k = 0; k < d->family.nparameter; k++) {
        x->number[k] = r->numbers_found ? r->number[k] : d->family.parameter[k].value;
        SNW_TRY(snw_linear_view_add_parameter(&x->view, d->family.parameter[k].name, "", err));
    }
    return snw_linear_view_ready(&x->view, false, err);
}

// number of the file of unknown i; -1: an input
static int number_of(const inverse_execution *x, int i) {
    const snw_linear_input *of = x->unknown[i].parameter;
    return of ? (int)(of - x->view.of_input) : -1;
}

static snw_status set_numbers(void *user, const double *value, snw_error *err) {
    inverse_execution *x = user;
    double next[SNW_PARAMETERS];
    memcpy(next, x->number, sizeof next);
    for (int i = 0; i < x->nunknown; i++) {
        if (number_of(x, i) >= 0) next[number_of(x, i)] = value[i];
    }
    SNW_TRY(snw_run_numbers_set(x->run, x->stage, next, err));
    memcpy(x->number, next, sizeof next);
    x->view.m = x->run->now->model;
    return SNW_OK;
}

// out <- residual, violations and targets at the state with another value of number k
static snw_status sample_number(void *user, int k, double value, double *out, snw_error *err) {
    inverse_execution *x = user;
    snw_run *r = x->run;
    const snw_desc_family *family = &r->desc->step[x->stage].inverse.family;
    double next[SNW_PARAMETERS];
    int all[SNW_PARAMETERS];
    memcpy(next, x->number, sizeof next);
    next[k] = value;
    for (int i = 0; i < family->nparameter; i++) all[i] = i;
    snw_member other = {0};
    snw_inputs *in = NULL;
    snw_work *w = NULL;
    const snw_model *m = r->now->model;
    snw_status s = snw_member_compile(family, family->nparameter, all, next, m, &other, err);
    if (s == SNW_OK && (snw_inputs_create(other.model, &in) != SNW_OK ||
                        snw_work_create(other.model, &w) != SNW_OK))
        s = snw_fail_memory(err);
    if (s == SNW_OK) {
        in->manual = r->manual;
        snw_inputs_at(other.model, r->state->t, in);
        memcpy(x->rotation, r->rotation, (size_t)(m->nseg + m->nobs) * sizeof *x->rotation);
        snw_linear_view_sample(&x->view, other.model, in, r->state, x->rotation, w, r->column, out);
    }
    snw_inputs_destroy(in);
    snw_work_destroy(w);
    snw_member_free(&other);
    return s;
}

static snw_status derive_number(void *user, int i, snw_error *err) {
    inverse_execution *x = user;
    const int k = number_of(x, i);
    const double value = x->number[k], h = value != 0 ? number_move * fabs(value) : number_move;
    return snw_linear_view_differentiate(&x->view, k, value, h, sample_number, x, err);
}

// ---- instants -----------------------------------------------------------------------------------

static bool inverse_run_should_stop(void *user) {
    return snw_run_stopped(((inverse_execution *)user)->run);
}

// Tells those who watch the run what has been found.
static snw_status report_inputs(const inverse_execution *x, const snw_inverse_problem *p,
                                const snw_inverse_result *found, snw_error *err) {
    const snw_run *r = x->run;
    if (!r->hooks || !r->hooks->watch.note) return SNW_OK;
    snw_found_input *input = snw_pool_array(x->pool, (size_t)found->ninput + 1, sizeof *input);
    snw_found_target *target = snw_pool_array(x->pool, (size_t)found->noutput + 1, sizeof *target);
    int *turns = snw_pool_array(x->pool, (size_t)found->noutput + 1, sizeof *turns);
    if (!input || !target || !turns) return snw_fail_memory(err);
    snw_found_inputs what = {.stage = x->stage, .before = x->before};
    snw_found_inputs_describe(p, found, input, target, turns, &what);
    r->hooks->watch.note(r->hooks->watch.user, &(snw_step_report){.event = SNW_WATCH_INPUTS,
                                                                  .s = r->state,
                                                                  .t_laws = p->time,
                                                                  .stage = x->stage,
                                                                  .inputs = &what});
    return SNW_OK;
}

// Inputs and equilibrium for the targets at time t; `interval` since the inputs before.
static snw_status find_inputs(inverse_execution *x, double t, double interval,
                              snw_statics_info *info, snw_error *err) {
    snw_run *r = x->run;
    const snw_step_desc *step = &r->desc->step[x->stage];
    for (int i = 0; i < x->nunknown; i++) {
        if (number_of(x, i) >= 0) x->unknown[i].value = x->number[number_of(x, i)];
    }
    for (int i = 0; i < x->naim; i++) {
        x->aim[i].value = snw_expr_value(step->inverse.target[i].value, (snw_at){.t = t});
        if (!isfinite(x->aim[i].value))
            return snw_fail(err, SNW_E_MODEL, "target '%s' is not a number at t = %g s",
                            x->aim[i].name, t);
    }
    const snw_inverse_problem p = {.statics = r->now->statics,
                                   .s = r->state,
                                   .held = &r->held,
                                   .rotation = r->rotation,
                                   .nunknown = x->nunknown,
                                   .unknown = x->unknown,
                                   .naim = x->naim,
                                   .aim = x->aim,
                                   .time = t,
                                   .interval = interval,
                                   .tolerance = step->tolerance,
                                   .user = x,
                                   .set = set_numbers,
                                   .derive = derive_number,
                                   .stop = inverse_run_should_stop};
    snw_inverse_result *found;
    (void)snw_held_save(&r->held, x->before);
    SNW_TRY(snw_inverse_solve(&p, &found, err));
    snw_inverse_close(r->found[x->stage]);
    r->found[x->stage] = found;
    const snw_work *w = snw_statics_work_at(r->now->statics, r->state);
    *info = (snw_statics_info){.increments = found->equilibria,
                               .residual = snw_out_of_balance(r->now->model, w),
                               .reached = 1,
                               .condition = NAN,
                               .left = NAN};
    r->totals.increments += found->equilibria;
    if (!(info->residual <= r->totals.worst_residual)) r->totals.worst_residual = info->residual;
    return report_inputs(x, &p, found, err);
}

// A target that was not reached ends the step, or is a warning, given once.
static snw_status judge(const inverse_execution *x, double t, bool *warned, snw_error *err) {
    const snw_run *r = x->run;
    const snw_step_desc *step = &r->desc->step[x->stage];
    const snw_inverse_result *found = r->found[x->stage];
    if (found->reached) return SNW_OK;
    char why[600], text[900];
    snw_inverse_explain(found, why, sizeof why);
    (void)snprintf(text, sizeof text, "step '%.60s': the target is not reached at t = %g s: %s",
                   step->name, t, why);
    if (!step->inverse.nearest)
        return snw_fail(err, SNW_E_DIVERGED, "%.700s. 'unreachable: nearest' goes on from there",
                        text);
    if (!*warned) snw_run_warn(r, text);
    *warned = true;
    return SNW_OK;
}

static snw_status inverse_run_instants(inverse_execution *x, snw_error *err) {
    snw_run *r = x->run;
    const int stage = x->stage;
    const snw_step_desc *step = &r->desc->step[stage];
    const double t0 = r->cursor.t0;
    const long last = snw_run_instants(step);
    bool warned = false;
    for (long k = r->resuming ? (long)r->cursor.k + 1 : 0; k <= last; k++) {
        const double t = snw_run_instant(step, t0, k);
        if (snw_run_stopped(r))
            return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", r->state->t);
        SNW_TRY(snw_run_place_tubes(r, t, true, err));
        snw_statics_info info;
        bool changed = true;
        double interval = k == 0 ? step->inverse.interval : t - r->state->t;
        while (changed) { // until the mesh fits the shape found
            SNW_TRY(find_inputs(x, t, interval, &info, err));
            SNW_TRY(snw_run_mesh_adapt(r, r->state, true, false, &changed, err));
        }
        SNW_TRY(snw_run_check_limits(r, r->state, err));
        snw_run_report_progress(r, stage, t, t0, t0 + step->duration);
        const snw_status reached = judge(x, t, &warned, err);
        const bool due = snw_run_frame_due(r, t, k == last);
        if (due) r->cursor.k = (double)k;
        if (reached != SNW_OK) { // the nearest point is recorded
            snw_error ignored = {0};
            (void)snw_run_equilibrium_frame(r, stage, &info, true, &ignored);
            return reached;
        }
        if (!due) continue;
        SNW_TRY(snw_run_equilibrium_frame(r, stage, &info, k == last, err));
    }
    return SNW_OK;
}

snw_status snw_run_inverse(snw_run *r, int stage, snw_error *err) {
    const snw_step_desc *step = &r->desc->step[stage];
    SNW_TRY(snw_run_refuse_nonholonomic(r, step, err));
    if (!r->resuming) snw_run_remember(r);
    if (!r->loads_applied) SNW_TRY(snw_run_first_equilibrium(r, err));
    inverse_execution x = {.run = r, .stage = stage, .pool = snw_pool_create(1 << 24)};
    snw_status s = x.pool ? prepare_numbers(&x, err) : snw_fail_memory(err);
    if (s == SNW_OK) s = list_problem(&x, err);
    if (s == SNW_OK) s = inverse_run_instants(&x, err);
    snw_linear_view_close(&x.view);
    snw_pool_destroy(x.pool);
    return s;
}
