// SPDX-License-Identifier: MIT
//
// The public robot in motion: spring of the mouse, the choice of an integrator, and steps.

#include "robot/robot_private.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

// ---- drag spring --------------------------------------------------------------------------------

int snw_robot_nodes(const snw_robot *r) { return r ? r->m->nseg - 1 : 0; }

static snw_status find_node(const snw_robot *r, int node, snw_error *err) {
    if (node >= 0 && node < r->m->nseg - 1) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "there is no node number %d, the robot has %d", node,
                    r->m->nseg - 1);
}

snw_status snw_robot_node(snw_robot *r, int node, double position[3]) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(find_node(r, node, r->error));
    if (!position) return SNW_ROBOT_REFUSE(r, "position is NULL");
    SNW_TRY(snw_robot_check_state(r, r->error));
    snw_kinematics(r->m, r->in, r->s, true, r->w);
    for (int k = 0; k < 3; k++) position[k] = r->w->g[node + 1].p.e[k];
    return SNW_OK;
}

snw_status snw_robot_pull(snw_robot *r, int node, const double at[3], const double to[3],
                          double stiffness, double damping, snw_error *err) {
    static const double origin[3] = {0};
    if (!r) return snw_fail(err, SNW_E_ARGUMENT, "the robot is NULL");
    if (!at) at = origin;
    SNW_TRY(find_node(r, node, err));
    SNW_TRY(snw_robot_check_numbers("at", 3, at, err));
    SNW_TRY(snw_robot_check_numbers("to", 3, to, err));
    if (!(stiffness >= 0 && isfinite(stiffness) && damping >= 0 && isfinite(damping))) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the mouse spring needs a stiffness and damping that are finite and not "
                        "negative, got %g N/m and %g N s/m",
                        stiffness, damping);
    }
    const snw_scheme_info *scheme = &snw_scheme_table[r->how.scheme];
    if (r->integrator.close && !(scheme->works & SNW_SCHEME_ON_DRAG_SPRING)) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the %s scheme does not support the mouse spring; use generalized-alpha",
                        scheme->name);
    }
    snw_drag_spring *drag_spring = &r->held.manual.drag_spring;
    *drag_spring = (snw_drag_spring){.seg = node + 1, .stiffness = stiffness, .damping = damping};
    for (int k = 0; k < 3; k++) drag_spring->at.e[k] = at[k], drag_spring->to.e[k] = to[k];
    return SNW_OK;
}

void snw_robot_let_go(snw_robot *r) {
    if (r) r->held.manual.drag_spring = (snw_drag_spring){0};
}

// ---- steps --------------------------------------------------------------------------------------

snw_robot_steps snw_robot_steps_defaults(double step) {
    return (snw_robot_steps){.scheme = "generalized-alpha", .step = step, .rho = NAN, .alpha = NAN};
}

// engine, and check that it has the scheme
static snw_status set_engine(const snw_robot_steps *how, snw_step_desc *out, snw_error *err) {
    if (!how->engine || strcmp(how->engine, "strain") == 0) {
        if (how->points == 0) return SNW_OK;
        return snw_fail(err, SNW_E_ARGUMENT,
                        "points are those of the shooting engine; leave them "
                        "out, or give the engine");
    }
    if (strcmp(how->engine, "shooting") != 0) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "there is no engine '%.40s'; there are strain and shooting", how->engine);
    }
    const snw_scheme_info *scheme = &snw_scheme_table[out->scheme];
    if (!(scheme->works & SNW_SCHEME_ON_SHOOTING)) {
        char names[100];
        snw_scheme_names(0, SNW_SCHEME_ON_SHOOTING, names, sizeof names);
        return snw_fail(err, SNW_E_ARGUMENT, "the shooting engine has no scheme '%s'; it has %s",
                        scheme->name, names);
    }
    if (how->points != 0 && (how->points < 4 || how->points > 100000)) {
        return snw_fail(err, SNW_E_ARGUMENT, "points along a rod must be from 4 to 100000, got %d",
                        how->points);
    }
    out->engine = SNW_ENGINE_SHOOTING;
    out->shooting.points = how->points ? how->points : SNW_SHOOT_POINTS;
    return SNW_OK;
}

// parameter of a scheme within the limits of the language; NaN: default
static snw_status take_parameter(const snw_step_desc *step, int option, const char *name,
                                 double given, double low, double high, double *out,
                                 snw_error *err) {
    if (isnan(given)) return SNW_OK;
    const snw_scheme_info *scheme = &snw_scheme_table[step->scheme];
    if (!(scheme->options & option)) {
        char names[200];
        snw_scheme_names(option, 0, names, sizeof names);
        return snw_fail(err, SNW_E_ARGUMENT, "scheme '%s' takes no %s; it is for %s", scheme->name,
                        name, names);
    }
    if (!(given >= low && given <= high)) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s must be from %g to %g, got %g", name, low, high,
                        given);
    }
    *out = given;
    return SNW_OK;
}

static snw_status choose_scheme(const snw_robot_steps *how, snw_step_desc *out, snw_error *err) {
    if (how->tolerance < 0 || !isfinite(how->tolerance)) {
        return snw_fail(err, SNW_E_ARGUMENT, "tolerance must be positive, or 0, got %g",
                        how->tolerance);
    }
    if (!(how->step > 0 && isfinite(how->step))) {
        return snw_fail(err, SNW_E_ARGUMENT, "the longest step must be positive, got %g s",
                        how->step);
    }
    const char *name = how->scheme ? how->scheme : "generalized-alpha";
    const int kind = snw_scheme_find(name);
    if (kind < 0) {
        char names[300];
        snw_scheme_names(0, SNW_SCHEME_ON_STRAIN, names, sizeof names);
        return snw_fail(err, SNW_E_ARGUMENT, "there is no scheme '%.40s'; there are %s", name,
                        names);
    }
    *out = snw_step_dynamic((snw_scheme_kind)kind);
    out->step = how->step;
    out->patience = SNW_LIVE_PATIENCE;
    if (how->tolerance > 0) out->tolerance = how->tolerance;
    const double least = snw_scheme_table[kind].rho_min;
    SNW_TRY(take_parameter(out, SNW_SCHEME_TAKES_RHO, "rho", how->rho, least, 1, &out->rho, err));
    SNW_TRY(take_parameter(out, SNW_SCHEME_TAKES_ALPHA, "alpha", how->alpha, -0.5, 0, &out->alpha,
                           err));
    return set_engine(how, out, err);
}

void snw_robot_copy_motion(snw_robot *r) {
    if (r->integrator.shooter)
        (void)r->integrator.work_at(r->integrator.self); // fills the coordinates of its fields
    snw_state_copy(r->m, r->integrator.state(r->integrator.self), r->s);
    snw_inputs_copy(r->integrator.inputs(r->integrator.self), r->in);
    r->inputs_stale = false;
}

// samples and conditions at the present time
static snw_status update_signals(snw_robot *r, snw_error *err) {
    const snw_model *m = r->m;
    if (!snw_memory_has_events(m)) return SNW_OK;
    snw_work *w = (snw_work *)r->integrator.work_at(r->integrator.self);
    const snw_state *s = r->integrator.state(r->integrator.self);
    const snw_inputs *in = r->integrator.inputs(r->integrator.self);
    const snw_energy e = {.kinetic = snw_kinetic_energy(m, w),
                          .elastic = snw_stored_energy(m, s, w),
                          .gravity = snw_gravity_energy(m, in, w)};
    const bool changed = snw_memory_update(m, in, s, &e, r->unsampled, r->rotation_now, w, r->z);
    for (int i = 0; i < m->nsignal; i++) r->unsampled[i] = false;
    return changed ? r->integrator.restart(r->integrator.self, r->z, err) : SNW_OK;
}

snw_status snw_robot_begin(snw_robot *r, const snw_step_desc *how, snw_error *err) {
    r->how = *how;
    if (r->integrator.close) r->integrator.close(r->integrator.self);
    r->integrator = (snw_integrator){0};
    if (r->how.engine == SNW_ENGINE_SHOOTING) {
        SNW_TRY(snw_integrator_shooting(r->m, &r->how, NULL, &r->integrator, err));
    } else {
        SNW_TRY(snw_integrator_open(r->m, &r->how, how->step, &r->integrator, err));
    }
    r->saves = snw_integrator_saves(r->m, &r->how);
    r->integrator.set_manual(r->integrator.self, &r->held.manual);
    SNW_TRY(snw_robot_project(r, err));
    SNW_TRY(r->integrator.start(r->integrator.self, r->s, err));
    SNW_TRY(snw_integrator_choose_rows(&r->integrator, snw_statics_projection(r->statics), r->rows,
                                       err));
    for (int i = 0; i < r->m->nsignal; i++) r->unsampled[i] = true;
    SNW_TRY(update_signals(r, err));
    snw_robot_copy_motion(r);
    return SNW_OK;
}

snw_status snw_robot_start(snw_robot *r, const snw_robot_steps *how, snw_error *err) {
    snw_step_desc step;
    if (!r || !how) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", r ? "how" : "the robot");
    }
    SNW_TRY(choose_scheme(how, &step, err));
    SNW_TRY(snw_robot_check_state(r, err));
    return snw_robot_begin(r, &step, err);
}

double snw_robot_scheme_energy(const snw_robot *r) {
    if (!r) return NAN;
    return r->integrator.close ? r->integrator.work(r->integrator.self).scheme : 0;
}

void snw_robot_take_over(snw_robot *r, const snw_robot *from) {
    const snw_model *m = r->m, *old = from->m;
    SNW_ASSERT(m->nq == old->nq && m->nv == old->nv && m->nsignal == old->nsignal);
    const size_t nv = (size_t)m->nv * sizeof(double);
    r->s->t = from->s->t;
    memcpy(r->s->q, from->s->q, (size_t)m->nq * sizeof(double));
    memcpy(r->s->v, from->s->v, nv);
    memcpy(r->s->a, from->s->a, nv);
    memcpy(r->s->z, from->s->z, (size_t)m->nsignal * sizeof(double));
    if (m->nconstraint == old->nconstraint)
        memcpy(r->s->lambda, from->s->lambda, (size_t)m->nconstraint * sizeof(double));
    snw_held_copy(&from->held, &r->held);
    snw_robot_read_inputs(r);
    r->inputs_stale = true;
}

// Advance to the time `end`; rows of redundant loops are chosen again where they lose rank.
static snw_status advance_to(snw_robot *r, double end, snw_stats *stats, snw_error *err) {
    enum { PARTS = 100 };
    snw_projection *pr = snw_statics_projection(r->statics);
    for (int n = 0; n < PARTS; n++) {
        double to = end;
        SNW_TRY(snw_integrator_advance(&r->integrator, pr, r->rows, &to, INFINITY, stats, err));
        SNW_TRY(snw_integrator_choose_rows(&r->integrator, pr, r->rows, err));
        if (to == end) return SNW_OK;
    }
    return snw_fail(
        err, SNW_E_SINGULAR,
        "the rank of redundant loops changes repeatedly before t = %g s; use shorter steps", end);
}

snw_status snw_robot_check_step(const snw_robot *r, double h, snw_error *err) {
    if (h > 0 && h <= r->how.step * (1 + 1e-9)) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "a step must be positive and at most %g s, got %g s",
                    r->how.step, h);
}

const char *snw_robot_written(const snw_robot *r) {
    const snw_state *s = r->integrator.state(r->integrator.self);
    const size_t nq = (size_t)r->m->nq * sizeof(double), nv = (size_t)r->m->nv * sizeof(double);
    if (r->s->t != s->t) return "t";
    if (memcmp(r->s->q, s->q, nq) != 0) return "q";
    return memcmp(r->s->v, s->v, nv) != 0 ? "v" : NULL;
}

static snw_status check_unwritten(const snw_robot *r, snw_error *err) {
    const char *written = snw_robot_written(r);
    if (!written) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "%s is not that of the end of the last step; to go on from another state call "
                    "snw_robot_start, or else restore %s",
                    written, written);
}

snw_status snw_robot_begin_step(snw_robot *r, double h, snw_robot_lane *of, snw_error *err) {
    SNW_TRY(check_unwritten(r, err));
    SNW_TRY(snw_robot_apply_inputs(r, err));
    *of = (snw_robot_lane){.end = r->integrator.state(r->integrator.self)->t + h,
                           .h = h,
                           .patience = {.most = r->how.patience}};
    return SNW_OK;
}

// At the end of a step: samples and conditions, or the state before it.
static snw_status finish_signals(snw_robot *r, snw_error *err) {
    const snw_status s = update_signals(r, err);
    if (s == SNW_OK) {
        snw_robot_copy_motion(r);
    } else {
        r->integrator.undo(r->integrator.self);
    }
    return s;
}

snw_status snw_robot_finish_step(snw_robot *r, double end, snw_error *err) {
    snw_stats stats = {0};
    SNW_TRY(advance_to(r, end, &stats, err));
    return finish_signals(r, err);
}

snw_status snw_robot_step(snw_robot *r, double h, snw_error *err) {
    if (!r || !r->integrator.close) {
        return snw_fail(err, SNW_E_ARGUMENT, "call snw_robot_start before the first step");
    }
    SNW_TRY(snw_robot_check_step(r, h, err));
    snw_robot_lane whole;
    SNW_TRY(snw_robot_begin_step(r, h, &whole, err));
    return snw_robot_finish_step(r, whole.end, err);
}

// ---- in packs -----------------------------------------------------------------------------------

void snw_robot_open_lane(snw_robot *r, snw_robot_lane *of, bool single, double *memory,
                         snw_pack_lane *lane) {
    snw_implicit *im = r->integrator.implicit;
    const double t = snw_implicit_state(im)->t, left = of->end - t;
    *lane = (snw_pack_lane){0};
    of->h = snw_implicit_lane_length(im, fmin(of->h, left), r->how.step);
    of->alone =
        !(of->h > SNW_SHORTEST_STEP * r->how.step) || of->patience.spent > of->patience.most;
    if (of->alone) return;
    of->whole = of->h >= left * (1 - 1e-9);
    if (of->whole) of->h = left;
    of->to = of->whole ? of->end : t + of->h;
    snw_implicit_open_lane(im, of->h, of->to, single, memory, lane);
}

snw_status snw_robot_close_lane(snw_robot *r, snw_robot_lane *of, const snw_pack_lane *lane,
                                bool *last, snw_error *err) {
    snw_implicit *im = r->integrator.implicit;
    const double shorter =
        snw_implicit_close_lane(im, of->h, r->how.step, of->to, lane, &of->patience);
    of->h = shorter > 0 ? shorter : fmin(2 * of->h, r->how.step);
    *last = shorter == 0 && of->whole;
    return *last ? finish_signals(r, err) : SNW_OK;
}

snw_status snw_robot_advance(snw_robot *r, double h, int count, int *done, snw_error *err) {
    if (done) *done = 0;
    if (count < 0)
        return snw_fail(err, SNW_E_ARGUMENT, "count must not be negative, got %d", count);
    for (int i = 0; i < count; i++) {
        SNW_TRY(snw_robot_step(r, h, err));
        if (done) *done = i + 1;
    }
    return SNW_OK;
}
