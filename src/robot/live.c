// SPDX-License-Identifier: MIT
//
// Live simulation: steps with filtered controls and a drag spring, frames with an energy account
// across changes of the model, and reset. Built on the public robot and on the frames of a study.

#include "robot/live.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "robot/live_private.h"

#include <math.h>
#include <string.h>

static const double MAX_STEP = 1.0 / 60;      // s: 60 frames a second
static const double MAX_SUBSTEPS = 64;        // step over smallest step: the caller waits
static const double DEFAULT_STEP = 1.0 / 120; // s: where the study gives none
// Angular frequency, 1/s, and damping ratio of the robot's mass on a drag spring of strength 1.
static const double DRAG_FREQUENCY = 2 * M_PI * 2.0, DRAG_DAMPING = 0.3;
static const double DRAG_LAG = 0.02; // s: time constant of the target's filter
// Limits of the strength, and of distances in robot lengths.
static const double MIN_STRENGTH = 1e-3, MAX_STRENGTH = 1e3, MAX_REACH = 3;
// Largest acceleration of the robot's mass by the drag spring, m/s^2.
static const double MAX_ACCELERATION = 100 * 9.81;

int snw_live_step_index(const snw_desc *d) {
    int i = 0;
    while (i < d->nstep && d->step[i].kind != SNW_STEP_DYNAMIC) i++;
    return i;
}

// ---- creation -----------------------------------------------------------------------------------

// step description: that of the study's dynamic step, with a step length that shows as motion
static void choose_step(snw_live *v, const snw_desc *d, const snw_live_opts *opts) {
    const int until = snw_live_step_index(d);
    v->how = snw_step_dynamic(SNW_SCHEME_BDF_ALPHA); // damps motions that such steps do not resolve
    const bool takes = until < d->nstep && (snw_scheme_table[d->step[until].scheme].works &
                                            SNW_SCHEME_ON_DRAG_SPRING) != 0;
    if (takes) v->how = d->step[until];
    v->how.kind = SNW_STEP_DYNAMIC;
    v->how.from = -1;
    v->how.until = NULL;
    const double own =
        until < d->nstep && d->step[until].step > 0 ? d->step[until].step : DEFAULT_STEP;
    v->how.step = fmin(opts->step > 0 ? opts->step : own, MAX_STEP);
    v->how.least = v->how.step / MAX_SUBSTEPS;
    v->how.patience = SNW_LIVE_PATIENCE;
}

// start the integrator from the robot's state; energies count from here, and a change of the model
// is booked as work
static snw_status live_begin(snw_live *v, snw_robot *r, bool changed, snw_error *err) {
    SNW_TRY(snw_robot_begin(r, &v->how, err));
    v->robot = r;
    v->phase = (snw_phase){.desc = r->desc, .rows = r->rows, .model = r->m, .statics = r->statics};
    v->run->now = &v->phase;
    const snw_energy e =
        snw_run_energies(v->run, &r->integrator, r->integrator.work_at(r->integrator.self));
    v->run->cursor.start = e.kinetic + e.elastic + e.gravity;
    if (changed) v->run->work += v->run->cursor.start - v->run->energy_before_change;
    return SNW_OK;
}

static snw_status run_preceding_steps(snw_live *v, const char *name, const snw_run_hooks *hooks,
                                      snw_error *err) {
    SNW_TRY(snw_run_create(&v->preceding, name, &v->run, err));
    const snw_run_hooks *asked = v->preceding.nstep > 0 ? hooks : NULL;
    SNW_TRY(snw_run_execute(v->run, 0, NULL, asked, NULL, err));
    v->run->hooks = v->hooks.warn ? &v->hooks : NULL;
    return SNW_OK;
}

// Replace the state after no step at all by the given one: t, q, v.
static snw_status set_state(snw_live *v, const double *state, int n, snw_error *err) {
    const snw_run *r = v->run;
    const int nq = r->now->model->nq, nv = r->now->model->nv;
    if (n != 1 + nq + nv) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the state of this robot has %d numbers, t, %d of q and %d of v, but %d "
                        "are given",
                        1 + nq + nv, nq, nv, n);
    }
    for (int i = 0; i < n; i++) {
        if (!isfinite(state[i])) {
            return snw_fail(err, SNW_E_ARGUMENT, "number %d of the state is not finite", i + 1);
        }
    }
    r->state->t = state[0];
    memcpy(r->state->q, state + 1, (size_t)nq * sizeof(double));
    memcpy(r->state->v, state + 1 + nq, (size_t)nv * sizeof(double));
    return SNW_OK;
}

// The robot holds the inputs that inverse steps before have found.
static void take_held_inputs(snw_live *v) {
    if (!v->run->manual) return;
    snw_held_copy(&v->run->held, &v->base->held);
    snw_robot_read_inputs(v->base);
    v->base->inputs_stale = true;
}

// save the initial state for snw_live_reset
static snw_status save_start(snw_live *v, snw_error *err) {
    const snw_run *r = v->run;
    SNW_TRY(snw_robot_create(r->now->desc, NULL, NULL, &v->base, err));
    if (snw_state_create(v->base->m, &v->start) != SNW_OK) {
        return snw_fail_memory(err);
    }
    const snw_model *m = v->base->m;
    snw_state_copy(m, v->base->s, v->start);
    v->start->t = r->state->t;
    memcpy(v->start->q, r->state->q, (size_t)m->nq * sizeof(double));
    memcpy(v->start->v, r->state->v, (size_t)m->nv * sizeof(double));
    memcpy(v->start->z, r->state->z, (size_t)m->nsignal * sizeof(double));
    memcpy(v->start->lambda, r->state->lambda, (size_t)m->nconstraint * sizeof(double));
    snw_state_copy(m, v->start, v->base->s);
    take_held_inputs(v);
    snw_robot_set_time(v->base, v->start->t);
    snw_vec3 c;
    snw_kinematics(m, v->base->in, v->base->s, true, v->base->w);
    v->mass = snw_center_of_mass(m, v->base->w, &c);
    return SNW_OK;
}

static snw_status live_make(snw_live *v, const snw_desc *desc, const char *name,
                            const snw_live_opts *opts, const snw_run_hooks *hooks, snw_error *err) {
    static const char *const stage[] = {"live"};
    v->preceding = *desc;
    v->preceding.nstep = opts->state ? 0 : snw_live_step_index(desc);
    if (hooks) v->hooks = (snw_run_hooks){.user = hooks->user, .warn = hooks->warn};
    choose_step(v, desc, opts);
    SNW_TRY(run_preceding_steps(v, name, hooks, err));
    if (opts->state) SNW_TRY(set_state(v, opts->state, opts->nstate, err));
    SNW_TRY(save_start(v, err));
    SNW_TRY(snw_live_make_controls(v, desc, err));
    v->info = v->run->info;
    v->info.nstage = 1;
    v->info.stage = stage;
    v->info.nsave = 0;
    v->info.nfold = 0;
    v->drag.node = -1;
    return live_begin(v, v->base, false, err);
}

snw_status snw_live_create(const snw_desc *desc, const char *name, const snw_live_opts *opts,
                           const snw_run_hooks *hooks, snw_live **out, snw_error *err) {
    *out = NULL;
    snw_live *v = snw_alloc(sizeof *v);
    if (!v) return snw_fail_memory(err);
    const snw_status s = live_make(v, desc, name, opts, hooks, err);
    if (s == SNW_OK) {
        *out = v;
        return s;
    }
    snw_live_destroy(v);
    return s;
}

void snw_live_destroy(snw_live *v) {
    if (!v) return;
    if (v->robot != v->base) snw_robot_close(v->robot);
    snw_robot_close(v->base);
    snw_state_destroy(v->start);
    snw_run_destroy(v->run);
    snw_free(v->control);
    snw_free(v);
}

// ---- frames -------------------------------------------------------------------------------------

const snw_run_info *snw_live_describe(const snw_live *v) { return &v->info; }
const snw_model *snw_live_model(const snw_live *v) { return v->base->m; }
double snw_live_time(const snw_live *v) { return v->robot->s->t; }
double snw_live_step_length(const snw_live *v) { return v->how.step; }

snw_status snw_live_frame(snw_live *v, const snw_recorder *recorder, snw_error *err) {
    const snw_integrator *it = &v->robot->integrator;
    const snw_work *w = it->work_at(it->self);
    const snw_frame_source view = {.state = it->state(it->self),
                                   .in = it->inputs(it->self),
                                   .w = w,
                                   .integrator = it,
                                   .energy = snw_run_energies(v->run, it, w),
                                   .stats = {.load = 1,
                                             .increments = v->steps,
                                             .stability = NAN,
                                             .truncation = NAN,
                                             .damping = NAN,
                                             .condition = NAN},
                                   .unsaved = true};
    v->steps = 0;
    v->run->nrecorder = 1;
    v->run->recorder = recorder;
    return snw_run_frame(v->run, 0, &view, err);
}

// ---- drag ---------------------------------------------------------------------------------------

static double live_within(double x, double low, double high) { return fmin(fmax(x, low), high); }

snw_status snw_live_pull(snw_live *v, int node, const double at[3], const double to[3],
                         double strength, snw_error *err) {
    const snw_robot *r = v->robot;
    const double size = r->m->length, M = v->mass > 0 ? v->mass : 1;
    double point[3], target[3];
    if (node < 0 || node >= snw_robot_nodes(r)) {
        return snw_fail(err, SNW_E_ARGUMENT, "there is no node %d", node);
    }
    const snw_vec3 origin = r->integrator.work_at(r->integrator.self)->g[node + 1].p;
    for (int i = 0; i < 3; i++) {
        if (!isfinite(at[i]) || !isfinite(to[i]) || !isfinite(strength)) {
            return snw_fail(err, SNW_E_ARGUMENT, "the mouse spring needs finite numbers");
        }
        point[i] = live_within(at[i], -MAX_REACH * size, MAX_REACH * size);
        target[i] =
            live_within(to[i], origin.e[i] - MAX_REACH * size, origin.e[i] + MAX_REACH * size);
    }
    snw_live_drag *g = &v->drag;
    const bool again = g->node == node;
    *g = (snw_live_drag){.node = node, .target = {g->target[0], g->target[1], g->target[2]}};
    const double k =
        live_within(strength, MIN_STRENGTH, MAX_STRENGTH) * M * DRAG_FREQUENCY * DRAG_FREQUENCY;
    g->stiffness = k;
    g->damping = 2 * DRAG_DAMPING * sqrt(k * M);
    for (int i = 0; i < 3; i++) {
        g->at.e[i] = point[i];
        g->target[i].wanted = target[i];
    }
    if (again) return SNW_OK;
    // a new drag starts with the target at the point, at rest
    const snw_se3 *pose = &r->integrator.work_at(r->integrator.self)->g[node + 1];
    const snw_vec3 p = snw_add(pose->p, snw_rotate(pose->R, g->at));
    for (int i = 0; i < 3; i++) g->target[i].x = p.e[i], g->target[i].v = 0;
    return SNW_OK;
}

void snw_live_release(snw_live *v) {
    v->drag.node = -1;
    snw_robot_let_go(v->robot);
}

bool snw_live_pulled(const snw_live *v, int *node, double point[3], double target[3]) {
    *node = v->drag.node;
    if (*node < 0) return false;
    const snw_se3 *pose = &v->robot->integrator.work_at(v->robot->integrator.self)->g[*node + 1];
    const snw_vec3 p = snw_add(pose->p, snw_rotate(pose->R, v->drag.at));
    for (int i = 0; i < 3; i++) point[i] = p.e[i], target[i] = v->drag.target[i].x;
    return true;
}

static snw_status move_drag_target(snw_live *v, double h, snw_error *err) {
    snw_live_drag *g = &v->drag;
    double to[3], point[3], target[3], distance2 = 0;
    int node;
    if (!snw_live_pulled(v, &node, point, target)) return SNW_OK;
    for (int i = 0; i < 3; i++) {
        snw_live_filter(&g->target[i], h, DRAG_LAG);
        distance2 += (g->target[i].x - point[i]) * (g->target[i].x - point[i]);
    }
    // limit the force
    const double reach = MAX_ACCELERATION * (v->mass > 0 ? v->mass : 1) / g->stiffness;
    const double fraction = distance2 > reach * reach ? reach / sqrt(distance2) : 1;
    for (int i = 0; i < 3; i++) to[i] = point[i] + fraction * (g->target[i].x - point[i]);
    return snw_robot_pull(v->robot, g->node, g->at.e, to, g->stiffness, g->damping, err);
}

// ---- steps --------------------------------------------------------------------------------------

snw_status snw_live_step(snw_live *v, snw_error *err) {
    const double h = v->how.step;
    SNW_TRY(snw_live_move_controls(v, h, err));
    SNW_TRY(move_drag_target(v, h, err));
    SNW_TRY(snw_robot_step(v->robot, h, err));
    v->steps++;
    return snw_run_check_limits(v->run, v->robot->s, err);
}

// add the energies up to now to the account before the integrator is replaced
static void live_accumulate_energies(snw_live *v) {
    const snw_integrator *it = &v->robot->integrator;
    const snw_energy e = snw_run_energies(v->run, it, it->work_at(it->self));
    snw_run_accumulate_energies(v->run, &e);
    v->run->energy_before_change = e.kinetic + e.elastic + e.gravity;
}

snw_status snw_live_change(snw_live *v, const snw_desc *desc, void (*release)(void *owner),
                           void *owner, snw_error *err) {
    snw_robot *replacement = NULL, *old = v->robot;
    const snw_run before = *v->run;
    SNW_TRY(snw_robot_create(desc, release, owner, &replacement, err));
    const snw_model *m = replacement->m, *base = v->base->m;
    snw_status s = SNW_OK;
    if (m->nq != base->nq || m->nseg != base->nseg || m->nobs != base->nobs ||
        m->ncondition != base->ncondition) {
        s = snw_fail(err, SNW_E_MODEL, "this changes the coordinates or nodes of the model");
    } else {
        snw_robot_take_over(replacement, old);
        live_accumulate_energies(v);
        s = live_begin(v, replacement, true, err);
    }
    if (s != SNW_OK) {
        *v->run = before;
        snw_robot_close(replacement);
        return s;
    }
    if (old != v->base) snw_robot_close(old);
    return SNW_OK;
}

snw_status snw_live_reset(snw_live *v, snw_error *err) {
    snw_robot *old = v->robot, *r = v->base;
    snw_live_release(v);
    for (int i = 0; i < r->desc->nload; i++) snw_robot_unset_load(r, i);
    snw_live_free_controls(v);
    snw_robot_let_go(r);
    take_held_inputs(v);
    snw_state_copy(r->m, v->start, r->s);
    snw_robot_set_time(r, v->start->t);
    v->run->work = v->run->heat = v->run->scheme = v->run->balance = 0;
    SNW_TRY(live_begin(v, r, false, err));
    if (old != r) snw_robot_close(old);
    return SNW_OK;
}
