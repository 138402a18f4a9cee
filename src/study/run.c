// SPDX-License-Identifier: MIT
#include "study/run.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "model/probe_columns.h"
#include "study/probe.h"
#include "study/statics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { POOL_LIMIT = 1 << 28, MOST_EIGEN = 800 };

// How well the shape must be resolved before it is worth a word, relative to the rod's length.
static const double coarse = 1e-5;

struct snw_run {
    const snw_desc *desc;
    snw_pool *pool;
    snw_model *model;
    snw_run_info info;
    snw_statics *statics;
    snw_state *state;
    snw_state **ended; // state at the end of each step done
    snw_vec3 *rotation;
    double *column;
    int *column_first; // of each recorded probe
    bool reads_stability;
    // of one execution
    int nrecorder;
    const snw_recorder *recorder;
    const snw_run_hooks *hooks;
    snw_run_totals totals;
    double next_frame; // time from which the next frame is due
};

// ---- what will be recorded -------------------------------------------------------------------------

static bool recorded(const snw_desc *d, int probe) {
    if (d->nrecord < 0) return true;
    for (int i = 0; i < d->nrecord; i++) {
        if (d->record[i] == probe) return true;
    }
    return false;
}

static snw_status describe_columns(snw_run *r) {
    const snw_desc *d = r->desc;
    int total = 0;
    for (int i = 0; i < d->nprobe; i++)
        total += recorded(d, i) ? snw_probe_columns(&d->probe[i]) : 0;
    snw_column *column = snw_pool_array(r->pool, (size_t)total + 1, sizeof *column);
    r->column_first = snw_pool_array(r->pool, (size_t)d->nprobe + 1, sizeof(int));
    r->column = snw_pool_array(r->pool, (size_t)total + 1, sizeof(double));
    if (!column || !r->column_first || !r->column) return SNW_E_MEMORY;
    int n = 0;
    for (int i = 0; i < d->nprobe; i++) {
        const snw_probe_desc *p = &d->probe[i];
        r->column_first[i] = -1;
        if (!recorded(d, i)) continue;
        r->column_first[i] = n;
        r->reads_stability |= p->kind == SNW_PROBE_STABILITY;
        int count;
        const snw_component *c = snw_probe_components(p->kind, &count);
        for (int k = 0; k < (p->along > 0 ? p->along : 1); k++) {
            for (int j = 0; j < count; j++) {
                column[n++] = (snw_column){
                    .probe = p->name, .component = c[j].name, .station = p->along > 0 ? k : -1};
            }
        }
    }
    r->info.ncolumn = n;
    r->info.column = column;
    return SNW_OK;
}

static snw_status describe_coordinates(snw_run *r) {
    const snw_model *m = r->model;
    static const char *const pose[7] = {"qw", "qx", "qy", "qz", "x", "y", "z"};
    const char **name = snw_pool_array(r->pool, (size_t)m->nq + 1, sizeof *name);
    if (!name) return SNW_E_MEMORY;
    for (int f = 0; f < m->nfree; f++) {
        const char *link = r->desc->link[m->seg[m->floating[f].seg].link].name;
        for (int k = 0; k < 7; k++) {
            name[m->floating[f].q + k] = snw_pool_format(r->pool, "%s.%s", link, pose[k]);
        }
    }
    for (int i = 0; i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        for (int a = 0; a < rod->na; a++) {
            for (int k = 0; k < rod->nfun[a]; k++) {
                name[rod->dof[a] + rod->shift + k] =
                    snw_pool_format(r->pool, "%s.%s.%d", r->desc->link[rod->link].name,
                                    snw_strain_name[rod->comp[a]], k);
            }
        }
    }
    for (int i = 0; i < m->nq; i++) {
        if (!name[i]) return SNW_E_MEMORY;
    }
    r->info.q_name = name;
    return SNW_OK;
}

static snw_status describe_rest(snw_run *r, const char *name) {
    const snw_desc *d = r->desc;
    const snw_model *m = r->model;
    const char **stage = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *stage);
    const char **link = snw_pool_array(r->pool, (size_t)m->nseg, sizeof *link);
    if (!stage || !link) return SNW_E_MEMORY;
    for (int i = 0; i < d->nstep; i++) stage[i] = d->step[i].name;
    for (int i = 1; i < m->nseg; i++)
        link[i - 1] = m->seg[i].link >= 0 ? d->link[m->seg[i].link].name : "world";
    r->info.run = snw_pool_text(r->pool, name, strlen(name));
    r->info.title = d->title ? d->title : "";
    r->info.nstage = d->nstep;
    r->info.stage = stage;
    r->info.nq = m->nq;
    r->info.nv = m->nv;
    r->info.nnode = m->nseg - 1;
    r->info.node_link = link;
    r->info.node_x = m->seg_x + 1;
    return r->info.run ? SNW_OK : SNW_E_MEMORY;
}

static snw_status prepare(snw_run *r, const char *name, snw_error *err) {
    const snw_desc *d = r->desc;
    r->pool = snw_pool_create(POOL_LIMIT);
    if (!r->pool) return SNW_E_MEMORY;
    SNW_TRY(snw_model_compile(d, &r->model, err));
    SNW_TRY(describe_columns(r));
    SNW_TRY(describe_coordinates(r));
    SNW_TRY(describe_rest(r, name));
    SNW_TRY(snw_statics_create(r->model, &r->statics));
    SNW_TRY(snw_state_create(r->model, &r->state));
    r->rotation =
        snw_pool_array(r->pool, (size_t)(r->model->nseg + r->model->nobs), sizeof *r->rotation);
    r->ended = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *r->ended);
    if (!r->rotation || !r->ended) return SNW_E_MEMORY;
    for (int i = 0; i < d->nstep; i++) SNW_TRY(snw_state_create(r->model, &r->ended[i]));
    return SNW_OK;
}

snw_status snw_run_create(const snw_desc *desc, const char *name, snw_run **out, snw_error *err) {
    *out = NULL;
    snw_run *r = snw_alloc(sizeof *r);
    if (!r) return snw_fail(err, SNW_E_MEMORY, "out of memory");
    r->desc = desc;
    const snw_status s = prepare(r, name, err);
    if (s == SNW_OK) {
        *out = r;
        return s;
    }
    snw_run_destroy(r);
    return s == SNW_E_MEMORY ? snw_fail(err, s, "out of memory") : s;
}

void snw_run_destroy(snw_run *r) {
    if (!r) return;
    for (int i = 0; r->ended && i < r->desc->nstep; i++) snw_state_destroy(r->ended[i]);
    snw_state_destroy(r->state);
    snw_statics_destroy(r->statics);
    snw_model_destroy(r->model);
    snw_pool_destroy(r->pool);
    snw_free(r);
}

const snw_run_info *snw_run_describe(const snw_run *r) { return &r->info; }
const snw_model *snw_run_model(const snw_run *r) { return r->model; }

// ---- frames ----------------------------------------------------------------------------------------

static void warn(const snw_run *r, const char *message) {
    if (r->hooks && r->hooks->warn) r->hooks->warn(r->hooks->user, message);
}

static snw_status hand_out(snw_run *r, int stage, const snw_statics_info *info, snw_error *err) {
    const snw_model *m = r->model;
    const bool eigen = r->reads_stability || m->nv <= MOST_EIGEN;
    const snw_stability st =
        eigen ? snw_statics_stability(r->statics, r->state) : (snw_stability){.value = NAN};
    const double geometry = snw_geometry_error(m, r->state->q);
    const snw_work *w = snw_statics_look(r->statics, r->state);
    const snw_inputs *in = snw_statics_inputs(r->statics);
    snw_rotations_update(m, w, r->rotation);
    const snw_readings more = {.energy = {.elastic = snw_elastic_energy(m, r->state->q),
                                          .gravity = snw_gravity_energy(m, in, w)},
                               .stability = st.value,
                               .rotation = r->rotation};
    for (int i = 0; i < r->desc->nprobe; i++) {
        if (r->column_first[i] < 0) continue;
        snw_probe_read(m, i, in, r->state, w, &more, r->column + r->column_first[i]);
    }
    const snw_frame f = {.stage = stage,
                         .t = r->state->t,
                         .partial = info->reached < 1,
                         .q = r->state->q,
                         .v = r->state->v,
                         .pose = w->g + 1,
                         .column = r->column,
                         .energy = more.energy,
                         .stats = {.iterations = info->iterations,
                                   .increments = info->increments,
                                   .load = info->reached,
                                   .residual = info->residual,
                                   .stability = st.value,
                                   .geometry = geometry}};
    for (int i = 0; i < r->nrecorder; i++)
        SNW_TRY(r->recorder[i].frame(r->recorder[i].user, &f, err));
    r->totals.frames++;
    r->totals.stability = st.value;
    r->totals.follower = !st.symmetric;
    if (!(geometry <= r->totals.worst_geometry)) r->totals.worst_geometry = geometry;
    return SNW_OK;
}

static bool due(snw_run *r, double t, bool last) {
    const double every = r->desc->record_every;
    if (!(every > 0) || last || t >= r->next_frame - 1e-9 * every) {
        if (every > 0) r->next_frame = (floor(t / every + 1e-9) + 1) * every;
        return true;
    }
    return false;
}

static void report(const snw_run *r, int stage, double t, double t0, double t1) {
    if (!r->hooks || !r->hooks->progress) return;
    const double part = t1 > t0 ? (t - t0) / (t1 - t0) : 1;
    const snw_progress p = {.stage = stage,
                            .nstage = r->desc->nstep,
                            .stage_name = r->desc->step[stage].name,
                            .t = t,
                            .t_end = t1,
                            .fraction = (stage + part) / r->desc->nstep};
    r->hooks->progress(r->hooks->user, &p);
}

// ---- steps -----------------------------------------------------------------------------------------

static snw_status do_static(snw_run *r, int stage, snw_error *err) {
    const snw_step_desc *step = &r->desc->step[stage];
    snw_statics_opts opts = snw_statics_defaults();
    if (step->tolerance > 0) opts.tolerance = step->tolerance;
    opts.march = step->march;
    opts.march_step = step->march_step;
    if (r->hooks) opts.stop = r->hooks->stop, opts.user = r->hooks->user;
    const double t0 = r->state->t;
    const double path = step->duration > 0 ? ceil(step->duration / step->step - 1e-9) : 0;
    snw_statics_info sum = {0};
    for (double k = 0; k <= path; k++) {
        const double t = k < path ? t0 + k * step->step : t0 + step->duration;
        if (opts.stop && opts.stop(opts.user)) {
            return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", r->state->t);
        }
        snw_statics_info info;
        const snw_status s = snw_statics_solve(r->statics, t, &opts, r->state, &info, err);
        sum.iterations += info.iterations;
        sum.increments += info.increments;
        sum.residual = info.residual;
        sum.reached = info.reached;
        r->totals.iterations += info.iterations;
        r->totals.increments += info.increments;
        if (!(info.residual <= r->totals.worst_residual)) r->totals.worst_residual = info.residual;
        if (s != SNW_OK) {
            // the last equilibrium on the way is a result too, marked by its share of the load
            snw_error ignored = {0};
            if (info.reached > 0 && info.reached < 1) (void)hand_out(r, stage, &sum, &ignored);
            return s;
        }
        report(r, stage, t, t0, t0 + step->duration);
        if (!due(r, t, k == path)) continue;
        SNW_TRY(hand_out(r, stage, &sum, err));
        sum = (snw_statics_info){0};
    }
    return SNW_OK;
}

static snw_status do_steps(snw_run *r, snw_error *err) {
    const snw_desc *d = r->desc;
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].from >= 0) {
            snw_state_copy(r->model, r->ended[d->step[i].from], r->state);
            snw_statics_assume(r->statics, r->state->t);
        }
        r->next_frame = -INFINITY;
        switch (d->step[i].kind) {
        case SNW_STEP_STATIC:
            SNW_TRY(do_static(r, i, err));
            break;
        case SNW_STEP_DYNAMIC:
        case SNW_STEP_CHANGE:
            break;
        }
        snw_state_copy(r->model, r->state, r->ended[i]);
    }
    return SNW_OK;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

snw_status snw_run_execute(snw_run *r, int nrecorder, const snw_recorder *recorder,
                           const snw_run_hooks *hooks, snw_run_totals *totals, snw_error *err) {
    const double start = seconds();
    snw_error local = {0};
    if (!err) err = &local;
    r->nrecorder = nrecorder;
    r->recorder = recorder;
    r->hooks = hooks;
    r->totals = (snw_run_totals){.stability = NAN};
    // start anew: the initial state, no loads
    r->state->t = 0;
    memcpy(r->state->q, r->model->q0, (size_t)r->model->nq * sizeof(double));
    memcpy(r->state->v, r->model->v0, (size_t)r->model->nv * sizeof(double));
    for (int i = 0; i < r->model->nseg + r->model->nobs; i++) r->rotation[i] = (snw_vec3){{0}};
    snw_statics_reset(r->statics);

    if (r->desc->nstep == 0)
        warn(r, "there is no study, so nothing was computed; add study: [static:]");
    snw_status s = do_steps(r, err);
    if (r->totals.worst_geometry > coarse) {
        char text[200];
        (void)snprintf(
            text, sizeof text,
            "run '%s': the nodes resolve the shape only to %.1g of the length; raise nodes: or "
            "magnus: of the rod",
            r->info.run, r->totals.worst_geometry);
        warn(r, text);
    }
    for (int i = 0; i < nrecorder; i++) {
        const snw_status e =
            recorder[i].end(recorder[i].user, s, s == SNW_OK ? "" : err->text, err);
        if (s == SNW_OK) s = e;
    }
    r->totals.seconds = seconds() - start;
    if (totals) *totals = r->totals;
    return s;
}
