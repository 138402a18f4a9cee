// SPDX-License-Identifier: MIT
//
// A path step: an equilibrium at the present t, then the path of equilibria through it. One frame
// shows each point; the state at the end is the last point of the first path.
#include "study/run_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/relaxation.h"
#include "study/special_table.h"

#include <math.h>
#include <stdio.h>

enum { MOST_SPECIAL = 512 };

typedef struct snw_path_record {
    snw_equilibria *equilibria;
    snw_special_point *special; // MOST_SPECIAL
    snw_special_table table;
    bool found;
} snw_path_record;

int snw_run_fold_parameters(const snw_path_desc *path) {
    return path->of < 0 ? path->family.nparameter : 0;
}

snw_status snw_run_path_create(snw_run *r, int stage, snw_path_record **out) {
    snw_path_record *path = *out = snw_alloc(sizeof *path);
    if (!path) return SNW_E_MEMORY;
    path->special = snw_alloc(MOST_SPECIAL * sizeof *path->special);
    if (!path->special) return SNW_E_MEMORY;
    path->table.point = path->special;
    const snw_path_desc *desc = &r->desc->step[stage].path;
    path->table.name = desc->of < 0 ? "t" : desc->family.parameter[desc->of].name;
    path->table.nparameter = snw_run_fold_parameters(desc);
    path->table.parameter = desc->family.parameter;
    return snw_equilibria_create(r->phase[r->phase_of_step[stage]].statics, &path->equilibria);
}

void snw_run_path_destroy(snw_path_record *path) {
    if (!path) return;
    snw_equilibria_destroy(path->equilibria);
    snw_free(path->special);
    snw_free(path);
}

const snw_special_table *snw_run_special_points(const snw_run *r, int stage) {
    const snw_path_record *path = r->path[stage];
    return path && path->found ? &path->table : NULL;
}

// ---- checkpoints

// Numbers of a special point beside its derivatives and its coordinate: type, field.
#define SPECIAL_NUMBERS(X)                                                                         \
    X(snw_special, kind)                                                                           \
    X(int, number)                                                                                 \
    X(int, path)                                                                                   \
    X(double, t)                                                                                   \
    X(double, arc)                                                                                 \
    X(int, multiplicity)                                                                           \
    X(int, negative)                                                                               \
    X(double, frequency)

enum {
#define X(type, field) +1
    NSPECIAL_NUMBER = SPECIAL_NUMBERS(X) + SNW_PARAMETERS + 1
#undef X
};

size_t snw_run_path_saves(const snw_run *r, int stage) {
    return 1 + (size_t)MOST_SPECIAL * NSPECIAL_NUMBER +
           snw_equilibria_saves(r->path[stage]->equilibria);
}

// number of a coordinate by its name, one of the run's; -1: none
static int coordinate_of(const snw_run *r, const char *name) {
    for (int i = 0; name && i < r->info.nq; i++) {
        if (r->info.q_name[i] == name) return i;
    }
    return -1;
}

void snw_run_path_save(const snw_run *r, int stage, double *row) {
    const snw_path_record *path = r->path[stage];
    double *at = row + 1;
    *row = path->table.n;
    for (int i = 0; i < path->table.n; i++) {
        const snw_special_point *p = &path->special[i];
#define X(type, field) *at++ = (double)p->field;
        SPECIAL_NUMBERS(X)
#undef X
        for (int k = 0; k < SNW_PARAMETERS; k++) *at++ = p->derivative[k];
        *at++ = coordinate_of(r, p->moves);
    }
    snw_equilibria_save(path->equilibria, row + 1 + (size_t)MOST_SPECIAL * NSPECIAL_NUMBER);
}

// The special points found so far; returns the numbers of the path.
static const double *path_run_load(snw_run *r, snw_path_record *path, const double *row) {
    const double *at = row + 1;
    path->table.n = (int)*row;
    for (int i = 0; i < path->table.n && i < MOST_SPECIAL; i++) {
        snw_special_point *p = &path->special[i];
#define X(type, field) p->field = (type)*at++;
        SPECIAL_NUMBERS(X)
#undef X
        for (int k = 0; k < SNW_PARAMETERS; k++) p->derivative[k] = *at++;
        const int q = (int)*at++;
        p->moves = q >= 0 && q < r->info.nq ? r->info.q_name[q] : NULL;
    }
    return row + 1 + (size_t)MOST_SPECIAL * NSPECIAL_NUMBER;
}

// Name of the coordinate that moves most in a mode.
static const char *largest_coordinate(const snw_run *r, const double *mode) {
    const snw_model *m = r->now->model;
    double most = 0;
    int q = 0;
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        for (int i = 0; i < b->n; i++) {
            const double size = fabs(mode[b->dof + i]) / m->typical[b->dof + i];
            if (!(size > (1 + 1e-6) * most)) continue;
            most = size;
            q = b->q + i; // of a quaternion the first numbers
        }
    }
    return r->info.q_name[q];
}

// The present execution.
typedef struct path_execution {
    snw_run *run;
    int stage;
} path_execution;

static void keep_special(snw_run *r, snw_path_record *path, const snw_equilibrium *e) {
    if (e->special == SNW_SPECIAL_NONE || path->table.n == MOST_SPECIAL) return;
    snw_special_point *to = &path->special[path->table.n++];
    *to = (snw_special_point){.kind = e->special,
                              .number = e->number,
                              .path = e->path + 1,
                              .t = e->parameter,
                              .arc = e->arc,
                              .multiplicity = e->multiplicity,
                              .negative = e->negative,
                              .frequency = e->special == SNW_SPECIAL_FLUTTER ? e->frequency : NAN,
                              .moves = e->mode ? largest_coordinate(r, e->mode) : NULL};
    for (int k = 0; k < path->table.nparameter; k++)
        to->derivative[k] = e->derivative ? e->derivative[k] : NAN;
}

// Place of a point on its path.
static snw_path_place place_of(const snw_path_desc *path, const snw_equilibrium *e) {
    if (e->special == SNW_SPECIAL_FOLD) return SNW_PLACE_FOLD;
    if (e->special != SNW_SPECIAL_NONE) return SNW_PLACE_BRANCH;
    if (e->parameter == path->low || e->parameter == path->high) return SNW_PLACE_GIVEN;
    return e->path == 0 && e->arc == 0 ? SNW_PLACE_START : SNW_PLACE_CHOSEN;
}

static snw_status record_point(const path_execution *x, const snw_equilibrium *e, snw_error *err) {
    snw_run *r = x->run;
    const snw_model *m = r->now->model;
    keep_special(r, r->path[x->stage], e);
    r->totals.iterations += e->iterations;
    r->totals.increments++;
    if (!(e->residual <= r->totals.worst_residual)) r->totals.worst_residual = e->residual;
    r->totals.stability = e->stability;
    r->totals.follower = !e->symmetric;
    SNW_TRY(snw_run_check_limits(r, e->state, err));
    snw_stats stats = {.iterations = e->iterations,
                       .increments = 1,
                       .load = 1,
                       .residual = e->residual,
                       .condition = NAN,
                       .stability = e->stability,
                       .geometry = snw_geometry_error(m, e->state->q, e->state->t),
                       .truncation = NAN,
                       .path = e->path + 1,
                       .arc = e->arc,
                       .parameter = e->parameter,
                       .special = e->special,
                       .multiplicity = e->special ? e->multiplicity : 0,
                       .negative = e->negative,
                       .frequency = e->special == SNW_SPECIAL_FLUTTER ? e->frequency : 0};
    if (e->special == SNW_SPECIAL_NONE && !e->statics && snw_run_error_estimate_due(r, false))
        snw_run_estimate_errors(r, e->state, SNW_TRUNCATION_REST, &stats);
    const snw_work *w = snw_statics_work_at_time(r->now->statics, e->state, e->state->t);
    const snw_inputs *in = snw_statics_inputs(r->now->statics);
    const snw_frame_source view = {.state = e->state,
                                   .in = in,
                                   .w = w,
                                   .unsaved = !e->saves,
                                   .of_path = true,
                                   .place = place_of(&r->desc->step[x->stage].path, e),
                                   .mode = e->mode,
                                   .fold = e->derivative,
                                   .energy = {.elastic = snw_stored_energy(m, e->state, w),
                                              .gravity = snw_gravity_energy(m, in, w),
                                              .dissipated = r->heat,
                                              .work = r->work,
                                              .scheme = r->scheme,
                                              .balance = r->balance},
                                   .stats = stats};
    snw_run_report_progress(r, x->stage, e->parameter, r->desc->step[x->stage].path.low,
                            r->desc->step[x->stage].path.high);
    return snw_run_frame(r, x->stage, &view, err);
}

// A point of a curve of folds has a model of its own, as after a change.
static snw_status path_run_frame(void *user, const snw_equilibrium *e, snw_error *err) {
    const path_execution *x = user;
    snw_run *r = x->run;
    snw_phase *phase = r->now, own = *phase;
    if (e->statics) {
        own.statics = e->statics;
        own.model = snw_statics_model(e->statics);
        own.desc = own.model->desc;
        r->now = &own;
    }
    const snw_status s = record_point(x, e, err);
    r->now = phase;
    return s;
}

static bool path_run_should_stop(void *user) { return snw_run_stopped(user); }

// Note of what was found, for a closing line; warn of a path that did not reach its end.
static void path_run_note(const snw_run *r, const snw_step_desc *step,
                          const snw_equilibria_info *info) {
    char text[300];
    if (info->unjudged) {
        (void)snprintf(
            text, sizeof text,
            "run '%s': step '%s' has follower loads, whose stability depends on the mass, "
            "and the robot has none; give its materials a density to see flutter",
            r->info.run, step->name);
        snw_run_warn(r, text);
    }
    if (info->left) return;
    (void)snprintf(text, sizeof text,
                   "run '%s': the path of step '%s' ended after its %d points within its range; "
                   "give it more 'points' or a longer 'step'",
                   r->info.run, step->name, info->points);
    snw_run_warn(r, text);
}

snw_status snw_run_path(snw_run *r, int stage, snw_error *err) {
    const snw_step_desc *step = &r->desc->step[stage];
    snw_path_record *path = r->path[stage];
    SNW_TRY(snw_run_refuse_nonholonomic(r, step, err));
    if (step->path.of >= 0 || step->path.curve >= 0 || step->path.family.nparameter > 0)
        SNW_TRY(snw_run_refuse_relaxation(r, step, "paths of a constant, 'by' and 'folds'", err));
    snw_statics *st = r->now->statics;
    snw_statics_opts equilibrium = snw_statics_defaults();
    equilibrium.follow = true;
    equilibrium.relaxation = step->relaxation;
    equilibrium.assemble = !r->loads_applied;
    equilibrium.stop = path_run_should_stop, equilibrium.user = r;
    if (step->tolerance > 0) equilibrium.tolerance = step->tolerance;
    if (!r->resuming) snw_run_set_conditions(r);
    snw_statics_info first;
    if (!r->resuming)
        SNW_TRY(snw_statics_solve(st, r->cursor.t0, &equilibrium, r->state, &first, err));
    r->loads_applied = true;

    snw_equilibria_opts opts = snw_equilibria_defaults();
    opts.low = step->path.low;
    opts.high = step->path.high;
    opts.down = step->path.down;
    opts.branches = step->path.branches;
    opts.tolerance = equilibrium.tolerance;
    opts.folds = &step->path;
    opts.stop = path_run_should_stop, opts.user = r;
    if (step->path.arc > 0) opts.step = step->path.arc;
    if (step->path.points > 0) opts.points = step->path.points;
    path_execution x = {.run = r, .stage = stage};
    snw_equilibria_info info = {0};
    path->table.n = 0;
    path->found = true;
    if (r->resuming) opts.from = path_run_load(r, path, snw_run_checkpoint_integrator(r));
    const snw_model *m = r->now->model;
    if (m->nbranch) snw_relaxation_settle(m, step->relaxation, r->state);
    const snw_status s =
        snw_equilibria_follow(path->equilibria, &opts, path_run_frame, &x, r->state, &info, err);
    path->table.points = info.points;
    path->table.paths = info.paths;
    if (s == SNW_OK && r->hooks && r->hooks->watch.note)
        r->hooks->watch.note(r->hooks->watch.user, &(snw_step_report){.event = SNW_WATCH_PATH,
                                                                      .s = r->state,
                                                                      .t_laws = r->state->t,
                                                                      .stage = stage});
    if (m->nbranch) snw_relaxation_fix(m, r->state);
    snw_statics_assume(st, r->state->t);
    if (s == SNW_OK) path_run_note(r, step, &info);
    return s;
}
