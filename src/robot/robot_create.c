// SPDX-License-Identifier: MIT
//
// Creation, copy and end of the public robot, and the change of its model in place.

#include "robot/robot_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "model/probe_kind.h"
#include "model/tube_layout.h"

#include <string.h>

static int longest_probe(const snw_desc *d) {
    int longest = 1;
    for (int i = 0; i < d->nprobe; i++) {
        const int n = snw_probe_columns(&d->probe[i]);
        if (n > longest) longest = n;
    }
    return longest;
}

// memory of calls, so that they allocate nothing
static snw_status allocate_scratch(snw_robot *r) {
    const snw_model *m = r->m;
    const size_t nv = (size_t)m->nv, ns = (size_t)m->nsignal + 1;
    const size_t frames = (size_t)(m->nseg + m->nobs);
    size_t nodes = 1, cell = 1;
    for (int i = 0; i < m->nrod; i++) {
        if ((size_t)m->rod[i].nseg > nodes) nodes = (size_t)m->rod[i].nseg;
        if ((size_t)m->rod[i].per_cell > cell) cell = (size_t)m->rod[i].per_cell;
    }
    r->rotation = snw_alloc(frames * sizeof *r->rotation);
    r->rotation_now = snw_alloc(frames * sizeof *r->rotation_now);
    r->M = snw_alloc((nv * nv + 1) * sizeof *r->M);
    r->tau = snw_alloc((2 * nv + 1) * sizeof *r->tau);
    r->column = snw_alloc((size_t)longest_probe(r->desc) * sizeof *r->column);
    r->z = snw_alloc(ns * sizeof *r->z);
    r->unsampled = snw_alloc(ns * sizeof *r->unsampled);
    r->beyond = snw_alloc((nodes + 4 * cell) * sizeof *r->beyond);
    r->energy = snw_alloc(((size_t)r->desc->nlink + 1) * sizeof *r->energy);
    if (!r->rotation || !r->rotation_now || !r->M || !r->tau || !r->column || !r->z ||
        !r->unsampled || !r->beyond || !r->energy)
        return SNW_E_MEMORY;
    r->diagonal = r->tau + nv;
    r->scratch = r->beyond + nodes;
    return snw_observer_create(m, &r->observer);
}

static snw_status robot_prepare(snw_robot *r) {
    r->error = snw_alloc(sizeof *r->error);
    if (!r->error) return SNW_E_MEMORY;
    r->desc = r->model->desc;
    SNW_TRY(snw_closure_rows_create(r->model->compiled, &r->rows));
    r->m = snw_closure_rows_model(r->rows, r->model->compiled);
    SNW_TRY(snw_state_create(r->m, &r->s));
    SNW_TRY(snw_inputs_create(r->m, &r->in));
    SNW_TRY(snw_work_create(r->m, &r->w));
    SNW_TRY(snw_statics_create(r->m, &r->statics));
    snw_statics_choose_rows(r->statics, r->rows);
    SNW_TRY(allocate_scratch(r));
    SNW_TRY(snw_robot_manual_inputs(r));
    for (int i = 0; i < r->m->nsignal; i++) r->unsampled[i] = true;
    snw_inputs_at(r->m, 0, r->in);
    snw_robot_initialise_signals(r); // loops with `pose: at_closing` close as in the file
    return SNW_OK;
}

snw_status snw_robot_from_model(snw_robot_model *m, snw_robot **out, snw_error *err) {
    if (!m || !out) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", m ? "out" : "the model");
    *out = NULL;
    SNW_TRY(snw_check_sliding_tubes(m->desc, err));
    snw_robot *r = snw_alloc(sizeof *r);
    if (!r) return snw_fail_memory(err);
    r->model = snw_robot_model_share(m);
    const snw_status s = robot_prepare(r);
    if (s == SNW_OK) {
        *out = r;
        return s;
    }
    snw_robot_close(r);
    return s == SNW_E_MEMORY && !(err && err->text[0]) ? snw_fail(err, s, "out of memory") : s;
}

snw_status snw_robot_create(const snw_desc *desc, void (*release)(void *owner), void *owner,
                            snw_robot **out, snw_error *err) {
    *out = NULL;
    snw_robot_model *m = NULL;
    SNW_TRY(snw_robot_model_of_desc(desc, release, owner, &m, err));
    const snw_status s = snw_robot_from_model(m, out, err);
    snw_robot_model_close(m);
    return s;
}

void snw_robot_close(snw_robot *r) {
    if (!r) return;
    snw_observer_destroy(r->observer);
    snw_free(r->energy);
    snw_free(r->beyond);
    snw_free(r->column);
    snw_free(r->rotation_now);
    snw_free(r->z);
    snw_free(r->unsampled);
    snw_free(r->tau);
    snw_free(r->M);
    snw_free(r->rotation);
    if (r->integrator.close) r->integrator.close(r->integrator.self);
    snw_held_destroy(&r->held);
    snw_free(r->own_u);
    snw_statics_destroy(r->statics);
    snw_work_destroy(r->w);
    snw_inputs_destroy(r->in);
    snw_state_destroy(r->s);
    snw_closure_rows_destroy(r->rows);
    snw_robot_model_close(r->model);
    snw_free(r->error);
    snw_free(r);
}

snw_robot_model *snw_robot_model_of(const snw_robot *r) { return r ? r->model : NULL; }

// ---- copy ---------------------------------------------------------------------------------------

// integrator in the same state, by a checkpoint
static snw_status copy_motion(const snw_robot *from, snw_robot *to, snw_error *err) {
    if (!from->integrator.close) return SNW_OK;
    if (snw_robot_saves(from) == 0) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the scheme of the started motion has no states to copy; use another one");
    }
    double *row = snw_alloc(snw_robot_saves(from) * sizeof *row);
    if (!row) return snw_fail_memory(err);
    snw_status s = snw_robot_begin(to, &from->how, err);
    if (s == SNW_OK) {
        snw_robot_write_row(from, row);
        s = snw_robot_restore(to, row);
    }
    snw_free(row);
    return s;
}

snw_status snw_robot_copy(const snw_robot *r, snw_robot **out, snw_error *err) {
    if (!r || !out) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", r ? "out" : "the robot");
    *out = NULL;
    snw_robot *c = NULL;
    SNW_TRY(snw_robot_from_model(r->model, &c, err));
    if (r->rows) snw_closure_rows_copy(r->rows, c->rows);
    snw_robot_take_over(c, r);
    const snw_status s = copy_motion(r, c, err);
    if (s != SNW_OK) {
        snw_robot_close(c);
        return s;
    }
    const snw_model *m = r->m;
    snw_state_copy(m, r->s, c->s);
    snw_inputs_copy(r->in, c->in);
    c->inputs_stale = r->inputs_stale;
    memcpy(c->u, r->u, (size_t)r->ninput * sizeof *c->u);
    memcpy(c->rotation, r->rotation, (size_t)(m->nseg + m->nobs) * sizeof *c->rotation);
    memcpy(c->unsampled, r->unsampled, (size_t)m->nsignal * sizeof *c->unsampled);
    snw_statics_copy_previous(c->statics, r->statics);
    *out = c;
    return SNW_OK;
}

// ---- change of the model ------------------------------------------------------------------------

static snw_status check_same_sizes(const snw_model *a, const snw_model *b, snw_error *err) {
    const bool same = a->nq == b->nq && a->nv == b->nv && a->nseg == b->nseg &&
                      a->nobs == b->nobs && a->nsignal == b->nsignal && a->nbranch == b->nbranch &&
                      a->nbranch_coordinate == b->nbranch_coordinate &&
                      a->ncondition == b->ncondition && a->nconstraint == b->nconstraint &&
                      a->nnonholonomic == b->nnonholonomic;
    if (same) return SNW_OK;
    return snw_fail(err, SNW_E_MODEL,
                    "this changes the coordinates or nodes of the model; open it anew");
}

// state and inputs of `from` in a robot of another model
static snw_status continue_in(snw_robot *to, const snw_robot *from, snw_error *err) {
    SNW_TRY(check_same_sizes(to->m, from->m, err));
    snw_robot_take_over(to, from);
    memcpy(to->rotation, from->rotation,
           (size_t)(to->m->nseg + to->m->nobs) * sizeof *to->rotation);
    memcpy(to->unsampled, from->unsampled, (size_t)to->m->nsignal * sizeof *to->unsampled);
    snw_statics_copy_previous(to->statics, from->statics);
    return SNW_OK;
}

// Contents of two robots. Their errors stay; statics and integrators refer to the inputs of the
// robot in which they are.
static void exchange(snw_robot *a, snw_robot *b) {
    const snw_robot before = *a;
    *a = *b;
    *b = before;
    b->error = a->error;
    a->error = before.error;
    // the caller holds pointers to q, v, a and u of the robot: numbers move, memory stays
    double *const u[] = {a->u, a->u_applied, a->own_u};
    a->u = b->u, a->u_applied = b->u_applied, a->own_u = b->own_u;
    b->u = u[0], b->u_applied = u[1], b->own_u = u[2];
    snw_robot_read_inputs(a);
    snw_robot_read_inputs(b);
    snw_state *const s = a->s;
    a->s = b->s;
    b->s = s;
    const double t = a->s->t;
    a->s->t = b->s->t;
    b->s->t = t;
    for (size_t i = 0; i < snw_state_doubles(a->m); i++) {
        const double x = a->s->q[i];
        a->s->q[i] = b->s->q[i];
        b->s->q[i] = x;
    }
    snw_robot *const both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        snw_robot *r = both[i];
        r->in->manual = &r->held.manual;
        snw_statics_set_manual(r->statics, &r->held.manual);
        if (r->integrator.close) r->integrator.set_manual(r->integrator.self, &r->held.manual);
    }
}

snw_status snw_robot_set_parameters(snw_robot *r, int nset, const char *const *set,
                                    snw_error *err) {
    if (!r) return snw_fail(err, SNW_E_ARGUMENT, "the robot is NULL");
    SNW_TRY(snw_robot_check_state(r, err));
    snw_robot_model *m = NULL;
    snw_robot *changed = NULL;
    SNW_TRY(snw_robot_model_change(r->model, nset, set, &m, err));
    snw_status s = snw_robot_from_model(m, &changed, err);
    snw_robot_model_close(m);
    if (s == SNW_OK) s = continue_in(changed, r, err);
    if (s == SNW_OK) {
        exchange(r, changed);
        if (changed->integrator.close) s = snw_robot_begin(r, &changed->how, err);
        if (s != SNW_OK) exchange(r, changed);
    }
    snw_robot_close(changed);
    return s;
}
