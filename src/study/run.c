// SPDX-License-Identifier: MIT
//
// Creation and execution of a run: compiles one model per phase of the study, describes the columns
// and coordinates to the recorders, and carries out the steps in order.
#include "study/run_private.h"

#include "base/clock.h"
#include "constraint/locomotion.h"
#include "constraint/locomotion_connection.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "constraint/massless.h"
#include "dynamics/nonlinear_law.h"
#include "dynamics/rod_contact.h"
#include "integrate/integrator.h"
#include "shoot/shooter.h"
#include "solve/blas_buffer.h"
#include "study/memory.h"
#include "study/run_held.h"
#include "study/run_numbers.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POOL_LIMIT = 1 << 28 };

// Fraction of the exchanged energy above which an unaccounted balance is reported.
static const double BALANCE_LIMIT = 0.1;

// Initial violation of a loop above which it is reported, in radians or relative to the robot's
// size.
static const double OPEN_LIMIT = 1e-3;

// ---- description of the snw_desc_records quantities
// ----------------------------------------------------

static snw_status describe_columns(snw_run *r) {
    const snw_desc *d = r->desc;
    int total = 0;
    for (int i = 0; i < d->nprobe; i++)
        total += snw_desc_records(d, i) ? snw_probe_columns(&d->probe[i]) : 0;
    snw_column *column = snw_pool_array(r->pool, (size_t)total + 1, sizeof *column);
    r->column_first = snw_pool_array(r->pool, (size_t)d->nprobe + 1, sizeof(int));
    r->column = snw_pool_array(r->pool, (size_t)total + 1, sizeof(double));
    if (!column || !r->column_first || !r->column) return SNW_E_MEMORY;
    int n = 0;
    for (int i = 0; i < d->nprobe; i++) {
        const snw_probe_desc *p = &d->probe[i];
        r->column_first[i] = -1;
        if (!snw_desc_records(d, i)) continue;
        r->column_first[i] = n;
        r->reads_stability |= p->kind == SNW_PROBE_STABILITY;
        snw_component c[SNW_PROBE_WIDTH];
        const int count = snw_probe_components(p->kind, p->joint, c);
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

// Class of locomotion of the first kinematic step, at the initial configuration.
static snw_status describe_locomotion(snw_run *r) {
    const snw_model *m = r->phase[0].model;
    int i = 0;
    while (i < r->desc->nstep && !r->desc->step[i].kinematic) i++;
    if (i == r->desc->nstep) return SNW_OK;
    const snw_locomotion_opts opts = {.torque = r->desc->step[i].torque};
    snw_locomotion *lo = NULL;
    snw_inputs *in = NULL;
    snw_state *s = NULL;
    snw_error err = {0};
    char text[200] = "";
    snw_status status = snw_locomotion_create(m, &opts, &lo, &err);
    if (status == SNW_OK) status = snw_inputs_create(m, &in);
    if (status == SNW_OK) status = snw_state_create(m, &s);
    for (int k = 0; status == SNW_OK && k < m->ncondition; k++) s->z[m->condition_signal[k]] = 1;
    if (status == SNW_OK) {
        status = snw_locomotion_start(lo, in, s, r->desc->step[i].duration, &err);
    }
    if (status == SNW_OK) snw_locomotion_describe(lo, text, sizeof text);
    if (text[0]) r->info.locomotion = snw_pool_text(r->pool, text, strlen(text));
    snw_locomotion_destroy(lo);
    snw_inputs_destroy(in);
    snw_state_destroy(s);
    return status == SNW_E_MEMORY ? status : SNW_OK; // the step itself reports other faults
}

// r->start <- initial centre of mass
static snw_status find_initial_centre(snw_run *r) {
    const snw_phase *e = &r->phase[0];
    snw_state *s = NULL;
    SNW_TRY(snw_state_create(e->model, &s));
    const snw_work *w = snw_statics_work_at_time(e->statics, s, 0);
    (void)snw_center_of_mass(e->model, w, &r->start);
    snw_state_destroy(s);
    return SNW_OK;
}

// Derivatives of folds, of all path steps in order.
static snw_status describe_folds(snw_run *r) {
    const snw_desc *d = r->desc;
    size_t most = 1;
    for (int i = 0; i < d->nstep; i++)
        if (d->step[i].kind == SNW_STEP_PATH) most += SNW_PARAMETERS;
    snw_fold_column *fold = snw_pool_array(r->pool, most, sizeof *fold);
    r->fold = snw_pool_array(r->pool, most, sizeof *r->fold);
    if (!fold || !r->fold) return SNW_E_MEMORY;
    for (int i = 0; i < d->nstep; i++) {
        const snw_path_desc *path = &d->step[i].path;
        if (d->step[i].kind != SNW_STEP_PATH) continue;
        for (int k = 0; k < snw_run_fold_parameters(path); k++)
            fold[r->info.nfold++] =
                (snw_fold_column){.by = path->family.parameter[k].name, .stage = i};
    }
    r->info.fold = fold;
    return SNW_OK;
}

static snw_status describe_model(snw_run *r, const char *name) {
    const snw_desc *d = r->desc;
    const snw_model *m = r->phase[0].model;
    const char **stage = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *stage);
    const char **link = snw_pool_array(r->pool, (size_t)m->nseg, sizeof *link);
    if (!stage || !link) return SNW_E_MEMORY;
    for (int i = 0; i < d->nstep; i++) stage[i] = d->step[i].name;
    double *node_x = snw_pool_array(r->pool, (size_t)m->nnode + 1, sizeof *node_x);
    if (!node_x) return SNW_E_MEMORY;
    for (int k = 0; k < m->nnode; k++) {
        const int of = m->seg[m->node_seg[k]].link;
        link[k] = of >= 0 ? d->link[of].name : "world";
        node_x[k] = m->seg_x[m->node_seg[k]];
    }
    const char **note = snw_pool_array(r->pool, (size_t)m->nloop + 1, sizeof *note);
    const char **warning = snw_pool_array(r->pool, (size_t)m->nloop + 1, sizeof *warning);
    if (!note || !warning) return SNW_E_MEMORY;
    for (int i = 0; i < m->nloop; i++) {
        char text[900];
        snw_projection_describe(m, i, text, 300);
        note[i] = snw_pool_text(r->pool, text, strlen(text));
        snw_projection_describe_redundant(m, i, text, 300);
        const size_t n = strlen(text), separator = n > 0 ? 2 : 0;
        snw_projection_describe_singular(m, i, text + n + separator, sizeof text - n - separator);
        if (n > 0 && text[n + separator]) memcpy(text + n, "; ", 2);
        warning[i] = snw_pool_text(r->pool, text, strlen(text));
        if (!note[i] || !warning[i]) return SNW_E_MEMORY;
    }
    const char **spacing = snw_pool_array(r->pool, (size_t)d->ncontact + 1, sizeof *spacing);
    if (!spacing) return SNW_E_MEMORY;
    for (int i = 0; i < d->ncontact; i++) {
        char text[500];
        snw_contact_describe_spacing(m, i, text, sizeof text);
        spacing[i] = snw_pool_text(r->pool, text, strlen(text));
        if (!spacing[i]) return SNW_E_MEMORY;
    }
    r->info.contact_warning = spacing;
    const char **field = snw_pool_array(r->pool, (size_t)d->nforce_field + 1, sizeof *field);
    if (!field) return SNW_E_MEMORY;
    for (int i = 0; i < d->nforce_field; i++) {
        char text[500];
        snw_force_field_describe(m, i, text, sizeof text);
        field[i] = snw_pool_text(r->pool, text, strlen(text));
        if (!field[i]) return SNW_E_MEMORY;
    }
    r->info.field_warning = field;
    bool *has_energy = snw_pool_array(r->pool, (size_t)d->nforce_field + 1, sizeof *has_energy);
    if (!has_energy) return SNW_E_MEMORY;
    for (int i = 0; i < d->nforce_field; i++) has_energy[i] = m->force_field[i].has_energy;
    r->info.field_has_energy = has_energy;
    double *error = snw_pool_array(r->pool, 2 * (size_t)d->nlink + 1, sizeof *error);
    if (!error) return SNW_E_MEMORY;
    for (int i = 0; i < m->nrod; i++) {
        error[2 * m->rod[i].link] = m->rod[i].geometry;
        error[2 * m->rod[i].link + 1] = m->rod[i].quadrature;
    }
    r->info.rod_error = error;
    snw_step_bound *step = snw_pool_array(r->pool, (size_t)d->nlink + 1, sizeof *step);
    double *rest = snw_pool_array(r->pool, (size_t)m->nq + 1, sizeof *rest);
    if (!step || !rest) return SNW_E_MEMORY;
    for (int i = 0; i < m->nrod && !r->one_of_many; i++) {
        step[m->rod[i].link] = snw_rod_step_bound(m, &m->rod[i], rest, 0);
    }
    r->info.rod_step = step;
    for (int i = 0; i < m->ndrive; i++) {
        r->info.driven += m->drive[i].row >= 0 && !m->drive[i].passive;
    }
    for (int i = 0; i < m->ntendon; i++) r->info.driven += m->tendon[i].row >= 0;
    for (int i = 0; i < m->nloop; i++) r->info.driven += d->loop[i].drive ? m->loop[i].nrow : 0;
    SNW_TRY(describe_locomotion(r));
    SNW_TRY(find_initial_centre(r));
    r->info.loop_note = note;
    r->info.loop_warning = warning;
    r->info.freedom = m->freedom;
    r->info.run = snw_pool_text(r->pool, name, strlen(name));
    r->info.title = d->title ? d->title : "";
    r->info.nstage = d->nstep;
    r->info.stage = stage;
    r->info.nq = m->nq;
    r->info.nv = m->nv;
    r->info.noverride = d->noverride;
    r->info.override = d->override;
    r->info.nload = d->nload;
    r->info.nloop = d->nloop;
    r->info.ncontact = d->ncontact;
    r->info.ntendon = d->ntendon;
    r->info.ncondition = m->ncondition;
    r->info.nforce_field_point = m->nforce_field_point;
    r->info.nnode = m->nnode;
    r->info.node_link = link;
    r->info.node_x = node_x;
    return r->info.run ? SNW_OK : SNW_E_MEMORY;
}

// Does the study consist of kinematic steps and changes only?
static bool only_kinematic(const snw_desc *d) {
    bool all = d->nstep > 0;
    for (int i = 0; i < d->nstep; i++) {
        all &= d->step[i].kinematic || d->step[i].kind == SNW_STEP_CHANGE;
    }
    return all;
}

// The connection of a phase, if probes read it.
static snw_status create_connection(snw_phase *e, snw_error *err) {
    for (int i = 0; i < e->desc->nprobe; i++) {
        const snw_probe_desc *p = &e->desc->probe[i];
        if (snw_probe_table[p->kind].subject != SNW_OF_SHAPE) continue;
        const snw_source_location at = p->location;
        snw_status s = SNW_OK;
        if (!e->connection) s = snw_connection_create(e->model, &e->connection, err);
        if (s == SNW_OK && p->kind == SNW_PROBE_CURVATURE &&
            !snw_connection_has_curvature(e->connection)) {
            s = snw_fail(err, SNW_E_MODEL,
                         "probe '%s': the curvature of a connection needs a robot whose joints are "
                         "all driven, except that of its base; drive the others",
                         p->name);
        }
        if (s == SNW_E_MODEL) return snw_fail_at_location(err, s, at.file, at.line, at.column);
        SNW_TRY(s);
    }
    return SNW_OK;
}

static snw_status create_statics(snw_run *r, snw_phase *e) {
    const snw_sparse *like = snw_closure_choice_pattern(r->choice, e->model);
    SNW_TRY(snw_statics_create_like(e->model, like, &e->statics));
    if (!r->one_of_many || e != r->phase) return SNW_OK;
    return snw_closure_choice_keep_pattern(r->choice, e->model, snw_statics_pattern(e->statics));
}

// Compile one model for the start and one for each change. All have the same coordinates and nodes.
static snw_status compile_phases(snw_run *r, snw_error *err) {
    const snw_desc *d = r->desc;
    r->phase = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *r->phase);
    r->phase_of_step = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *r->phase_of_step);
    if (!r->phase || !r->phase_of_step) return SNW_E_MEMORY;
    const bool given = only_kinematic(d) && !r->whole;
    for (int i = -1; i < d->nstep; i++) {
        if (i < 0 || d->step[i].kind == SNW_STEP_CHANGE) {
            snw_phase *e = &r->phase[r->nphase++];
            SNW_TRY(snw_run_mesh_own_desc(r, i < 0 ? d : d->step[i].changed, e));
            SNW_TRY(snw_run_mesh_compile(r, e, given, err));
        }
        if (i >= 0) r->phase_of_step[i] = r->nphase - 1;
    }
    SNW_TRY(snw_run_mesh_equal_nodes(r, given, err));
    for (int i = -1; i < d->nstep; i++) {
        if (i >= 0 && d->step[i].kind != SNW_STEP_CHANGE) continue;
        snw_phase *e = &r->phase[i < 0 ? 0 : r->phase_of_step[i]];
        SNW_TRY(snw_closure_rows_create(e->compiled, &e->rows));
        e->model = snw_closure_rows_model(e->rows, e->compiled);
        SNW_TRY(create_statics(r, e));
        snw_statics_choose_rows(e->statics, e->rows);
        SNW_TRY(create_connection(e, err));
        const snw_model *first = r->phase[0].compiled, *m = e->compiled;
        if (!r->largest || m->nconstraint > r->largest->nconstraint) r->largest = m;
        if (m->nq != first->nq || m->nseg != first->nseg || m->nobs != first->nobs) {
            const snw_source_location at = d->step[i].location;
            const snw_status s =
                snw_fail(err, SNW_E_MODEL,
                         "'%s' changes the coordinates or the nodes of the model; a change may "
                         "alter values, not strains, bases, nodes, stations or joints of loops",
                         d->step[i].name);
            return snw_fail_at_location(err, s, at.file, at.line, at.column);
        }
    }
    return SNW_OK;
}

// Dynamic steps need inertia on every coordinate; in kinematic ones resistance may replace it.
static snw_status check_masses(const snw_run *r, snw_error *err) {
    const snw_desc *d = r->desc;
    const snw_model *checked = NULL;
    for (int i = 0; i < d->nstep; i++) {
        const snw_model *m = r->phase[r->phase_of_step[i]].model;
        if (d->step[i].kind != SNW_STEP_DYNAMIC || m == checked) continue;
        if (d->step[i].kinematic && m->nfluid_point > 0) continue;
        SNW_TRY(snw_massless_check(m, err));
        checked = m;
    }
    return SNW_OK;
}

// Refuse features that the shooting engine does not support before anything is computed.
static snw_status check_shooting(const snw_run *r, snw_error *err) {
    for (int i = 0; i < r->desc->nstep; i++) {
        if (r->desc->step[i].engine != SNW_ENGINE_SHOOTING) continue;
        snw_shooter *e;
        const snw_model *m = r->phase[r->phase_of_step[i]].model;
        const snw_source_location at = r->desc->step[i].location;
        const snw_status s = snw_shooter_create(m, &r->desc->step[i], &e, err);
        if (s == SNW_E_SINGULAR) {
            (void)snw_fail(
                err, s,
                "the stiffness or length of a rod is zero or not a number, and the shooting engine "
                "divides by them: check its length, section and material");
            return snw_fail_at_location(err, s, at.file, at.line, at.column);
        }
        SNW_TRY(s);
        snw_shooter_destroy(e);
    }
    return SNW_OK;
}

// Preferred reactions are taken into account by kinematic steps only.
static snw_status check_preload(const snw_model *m, const snw_step_desc *step, snw_error *err) {
    if (step->kind == SNW_STEP_CHANGE || step->kinematic) return SNW_OK;
    for (int i = 0; i < m->nloop; i++) {
        if (m->loop[i].preload == 0) continue;
        const snw_source_location at = step->location;
        const snw_status s =
            snw_fail(err, SNW_E_MODEL,
                     "contact '%s' has a 'preload', which kinematic steps know only; leave it out, "
                     "or use 'weight'",
                     m->desc->loop[i].name);
        return snw_fail_at_location(err, s, at.file, at.line, at.column);
    }
    return SNW_OK;
}

// Report models that a time integrator cannot handle before anything is computed.
static snw_status check_schemes(const snw_run *r, snw_error *err) {
    for (int i = 0; i < r->desc->nstep; i++) {
        const snw_step_desc *step = &r->desc->step[i];
        SNW_TRY(check_preload(r->phase[r->phase_of_step[i]].model, step, err));
        if (step->kind != SNW_STEP_DYNAMIC || step->kinematic) continue;
        if (step->engine == SNW_ENGINE_SHOOTING) continue;
        SNW_TRY(snw_integrator_check(r->phase[r->phase_of_step[i]].model, step, err));
    }
    return SNW_OK;
}

static snw_status prepare_modes(snw_run *r) {
    const snw_desc *d = r->desc;
    r->modes = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *r->modes);
    r->modes_found = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *r->modes_found);
    if (!r->modes || !r->modes_found) return SNW_E_MEMORY;
    bool any = false;
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].kind != SNW_STEP_MODES) continue;
        any = true;
        const snw_model *m = r->phase[r->phase_of_step[i]].model;
        SNW_TRY(snw_modes_create(m, d->step[i].count, d->step[i].steady, &r->modes[i]));
    }
    return any ? snw_state_create(r->phase[0].model, &r->mode_state) : SNW_OK;
}

// A curve of folds begins at the value that its parameter has in the file.
static snw_status check_curve(const snw_step_desc *step, snw_error *err) {
    const snw_path_desc *path = &step->path;
    if (path->curve < 0) return SNW_OK;
    const snw_parameter_desc *p = &path->family.parameter[path->curve];
    if (p->value >= path->curve_low && p->value <= path->curve_high) return SNW_OK;
    return snw_fail_at_location(
        err,
        snw_fail(err, SNW_E_MODEL,
                 "the range of 'folds' must contain the value of '%s', %g: the curve begins there",
                 p->name, p->value),
        step->location.file, step->location.line, step->location.column);
}

static snw_status prepare_paths(snw_run *r, snw_error *err) {
    const snw_desc *d = r->desc;
    r->path = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *r->path);
    if (!r->path) return SNW_E_MEMORY;
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].kind != SNW_STEP_PATH) continue;
        SNW_TRY(check_curve(&d->step[i], err));
        SNW_TRY(snw_run_path_create(r, i, &r->path[i]));
    }
    return SNW_OK;
}

// The first equilibrium closes the loops as the compilation did, from the same configuration.
static snw_status pass_closed(snw_run *r) {
    const snw_phase *e = &r->phase[0];
    const double *closed = snw_closure_choice_closed(r->choice);
    snw_projection *pr = snw_statics_projection(e->statics);
    if (!closed || !pr) return SNW_OK;
    double *q = snw_pool_array(r->pool, (size_t)e->model->nq + 1, sizeof *q);
    if (!q) return SNW_E_MEMORY;
    memcpy(q, closed, (size_t)e->model->nq * sizeof *q);
    snw_projection_know_closed(pr, q);
    return SNW_OK;
}

static snw_status run_prepare(snw_run *r, const char *name, snw_error *err) {
    const snw_desc *d = r->desc;
    r->pool = snw_pool_create(POOL_LIMIT);
    if (!r->pool) return SNW_E_MEMORY;
    SNW_TRY(compile_phases(r, err));
    SNW_TRY(pass_closed(r));
    SNW_TRY(check_masses(r, err));
    SNW_TRY(check_shooting(r, err));
    SNW_TRY(check_schemes(r, err));
    const snw_model *m = r->phase[0].model;
    SNW_TRY(describe_columns(r));
    r->info.q_name = snw_coordinate_names(r->phase[0].model, r->pool);
    if (!r->info.q_name) return SNW_E_MEMORY;
    SNW_TRY(describe_model(r, name));
    SNW_TRY(describe_folds(r));
    SNW_TRY(snw_run_mesh_alloc(r));
    SNW_TRY(snw_run_rows_alloc(r));
    SNW_TRY(snw_state_create(r->largest, &r->state));
    SNW_TRY(prepare_modes(r));
    SNW_TRY(prepare_paths(r, err));
    SNW_TRY(snw_run_linear_create(r, err));
    r->rotation = snw_pool_array(r->pool, (size_t)(m->nseg + m->nobs), sizeof *r->rotation);
    r->rotation_scratch =
        snw_pool_array(r->pool, (size_t)(m->nseg + m->nobs), sizeof *r->rotation_scratch);
    r->declared_q = snw_pool_array(r->pool, (size_t)m->nq + 1, sizeof *r->declared_q);
    r->declared_v = snw_pool_array(r->pool, (size_t)m->nv + 1, sizeof *r->declared_v);
    r->lambda = snw_pool_array(r->pool, (size_t)r->largest->nconstraint + 1, sizeof *r->lambda);
    r->z = snw_pool_array(r->pool, (size_t)m->nsignal + 1, sizeof *r->z);
    r->signals_before = snw_pool_array(r->pool, (size_t)m->nsignal + 1, sizeof *r->signals_before);
    r->never_sampled = snw_pool_array(r->pool, (size_t)m->nsignal + 1, sizeof *r->never_sampled);
    r->end_state = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *r->end_state);
    r->warned_limit =
        snw_pool_array(r->pool, (size_t)(d->nlink + d->ntendon + d->nforce_element + 2 * d->nmotor),
                       sizeof *r->warned_limit);
    r->spring_rotation = snw_pool_array(r->pool, (size_t)m->nblock + 1, sizeof *r->spring_rotation);
    r->warned_half_turn =
        snw_pool_array(r->pool, (size_t)m->nblock + 1, sizeof *r->warned_half_turn);
    r->warned_rows = snw_pool_array(r->pool, (size_t)d->nloop + 1, sizeof *r->warned_rows);
    r->fields = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *r->fields);
    r->field_save_size = snw_pool_array(r->pool, (size_t)d->nstep + 1, sizeof *r->field_save_size);
    if (!r->rotation || !r->rotation_scratch || !r->declared_q || !r->declared_v || !r->lambda ||
        !r->z || !r->signals_before || !r->never_sampled || !r->end_state || !r->warned_limit ||
        !r->spring_rotation || !r->warned_half_turn || !r->warned_rows || !r->fields ||
        !r->field_save_size)
        return SNW_E_MEMORY;
    size_t most = 0; // places of models with curved obstacles or rods that touch
    for (int i = 0; i < r->nphase; i++) {
        const snw_model *of = r->phase[i].model;
        if (snw_contact_has_curved(of) && snw_contact_nplace(of) > most)
            most = snw_contact_nplace(of);
    }
    if (most > 0) {
        r->contact_place = snw_pool_array(r->pool, most, sizeof *r->contact_place);
        if (!r->contact_place) return SNW_E_MEMORY;
    }
    for (int i = 0; i < d->nstep; i++) SNW_TRY(snw_state_create(r->largest, &r->end_state[i]));
    const size_t wrenches = (size_t)(d->nload + d->nloop + d->ncontact);
    r->forces = snw_pool_array(r->pool,
                               6 * wrenches + (size_t)(d->ntendon + m->ncondition) +
                                   3 * (size_t)m->nforce_field_point + 1,
                               sizeof *r->forces);
    if (!r->forces) return SNW_E_MEMORY;
    SNW_TRY(snw_run_held_create(r));
    SNW_TRY(snw_run_numbers_create(r));
    const size_t nsave = snw_run_checkpoint_size(r);
    if (nsave > INT_MAX) return SNW_E_MEMORY;
    r->info.nsave = (int)nsave;
    r->checkpoint = snw_pool_array(r->pool, nsave + 1, sizeof *r->checkpoint);
    return r->checkpoint ? SNW_OK : SNW_E_MEMORY;
}

static snw_status run_create(const snw_desc *desc, const char *name, bool whole, bool one_of_many,
                             snw_closure_choice *choice, snw_run **out, snw_error *err) {
    *out = NULL;
    SNW_TRY(snw_blas_ready(err));
    snw_run *r = snw_alloc(sizeof *r);
    if (!r) return snw_fail_memory(err);
    r->desc = desc;
    r->whole = whole;
    r->choice = choice;
    r->one_of_many = one_of_many;
    const snw_status s = run_prepare(r, name, err);
    r->choice = NULL;
    if (s == SNW_OK) {
        *out = r;
        return s;
    }
    snw_run_destroy(r);
    if (s != SNW_E_MEMORY) return s;
    return snw_fail(
        err, s,
        "no memory for a robot of %d links: use fewer of them, or fewer nodes, functions "
        "or steps",
        desc->nlink);
}

static snw_status create_alone(const snw_desc *desc, const char *name, bool whole, snw_run **out,
                               snw_error *err) {
    snw_closure_choice *choice;
    *out = NULL;
    if (snw_closure_choice_create(&choice) != SNW_OK) return snw_fail_memory(err);
    const snw_status s = run_create(desc, name, whole, false, choice, out, err);
    snw_closure_choice_destroy(choice);
    return s;
}

snw_status snw_run_create(const snw_desc *desc, const char *name, snw_run **out, snw_error *err) {
    return create_alone(desc, name, false, out, err);
}

snw_status snw_run_create_whole(const snw_desc *desc, const char *name, snw_run **out,
                                snw_error *err) {
    return create_alone(desc, name, true, out, err);
}

snw_status snw_run_loops_create(snw_run_loops **out) { return snw_closure_choice_create(out); }
void snw_run_loops_destroy(snw_run_loops *loops) { snw_closure_choice_destroy(loops); }

snw_status snw_run_create_like(const snw_desc *desc, const char *name, snw_run_loops *loops,
                               snw_run **out, snw_error *err) {
    return run_create(desc, name, false, true, loops, out, err);
}

void snw_run_destroy(snw_run *r) {
    if (!r) return;
    for (int i = 0; r->end_state && i < r->desc->nstep; i++) snw_state_destroy(r->end_state[i]);
    for (int i = 0; r->fields && i < r->desc->nstep; i++) snw_shooter_destroy(r->fields[i]);
    for (int i = 0; r->modes && i < r->desc->nstep; i++) snw_modes_destroy(r->modes[i]);
    for (int i = 0; r->path && i < r->desc->nstep; i++) snw_run_path_destroy(r->path[i]);
    snw_run_held_destroy(r);
    snw_run_linear_destroy(r);
    snw_state_destroy(r->mode_state);
    snw_state_destroy(r->state);
    for (int i = 0; r->phase && i <= r->desc->nstep; i++) {
        snw_truncation_destroy(r->phase[i].truncation);
        snw_connection_destroy(r->phase[i].connection);
        snw_statics_destroy(r->phase[i].statics);
        snw_closure_rows_destroy(r->phase[i].rows);
        snw_model_destroy(r->phase[i].remeshed);
        snw_pool_destroy(r->phase[i].tube_pool);
        if (r->phase[i].number_desc) snw_pool_destroy(r->phase[i].number_desc->pool);
        snw_model_destroy(r->phase[i].compiled);
    }
    snw_pool_destroy(r->pool);
    snw_free(r);
}

const snw_run_info *snw_run_describe(const snw_run *r) { return &r->info; }
const snw_model *snw_run_model(const snw_run *r) { return r->phase[0].compiled; }

const snw_model *snw_run_model_at(const snw_run *r, int stage) {
    return r->phase[r->phase_of_step[stage]].compiled;
}

const snw_mode_table *snw_run_modes_found(const snw_run *r, int stage) {
    return r->modes[stage] && r->modes_found[stage] ? snw_modes_table(r->modes[stage]) : NULL;
}

snw_status snw_run_idle_joints(const snw_run *r, bool *idle, snw_error *err) {
    snw_model *whole = NULL; // with its Jacobian columns
    if (r->phase[0].model->bare) SNW_TRY(snw_projection_compile(r->phase[0].desc, &whole, err));
    const snw_model *m = whole ? whole : r->phase[0].compiled;
    snw_projection *pr = NULL;
    snw_state *state = NULL;
    snw_inputs *in = NULL;
    snw_projection_info info;
    snw_status s = SNW_E_MEMORY;
    if (snw_projection_create(m, &pr) == SNW_OK && snw_state_create(m, &state) == SNW_OK &&
        snw_inputs_create(m, &in) == SNW_OK) {
        snw_inputs_at(m, 0, in);
        memcpy(state->q, m->q0, (size_t)m->nq * sizeof *m->q0);
        s = m->nconstraint ? snw_projection_close(pr, in, state, &info, err) : SNW_OK;
        if (s == SNW_OK) s = snw_projection_idle(pr, in, state, idle);
    }
    snw_projection_destroy(pr);
    snw_state_destroy(state);
    snw_inputs_destroy(in);
    snw_model_destroy(whole);
    return s == SNW_E_MEMORY ? snw_fail(err, s, "out of memory") : s;
}

// ---- steps -------------------------------------------------------------------------------------

void snw_run_warn(const snw_run *r, const char *message) {
    if (r->hooks && r->hooks->warn) r->hooks->warn(r->hooks->user, message);
}

// Poses of long rods are not recorded at all their slices.
static void note_nodes(const snw_run *r) {
    const snw_model *m = r->now->model;
    char text[300];
    if (m->nnode == m->nseg - 1) return;
    (void)snprintf(text, sizeof text,
                   "run '%s': frames have the poses of %d of %d sections and bodies, and all %d "
                   "coordinates",
                   r->info.run, m->nnode, m->nseg - 1, m->nv);
    snw_run_note(r, text);
}

void snw_run_note(const snw_run *r, const char *message) {
    if (r->hooks && r->hooks->note) r->hooks->note(r->hooks->user, message);
}

bool snw_run_stopped(const snw_run *r) {
    if (!r->hooks) return false;
    const int made = r->totals.increments - r->increments_before;
    if (r->hooks->increments > 0 && made >= r->hooks->increments) return true;
    return r->hooks->stop && r->hooks->stop(r->hooks->user);
}

void snw_run_report_progress(const snw_run *r, int stage, double t, double t0, double t1) {
    if (!r->hooks || !r->hooks->progress) return;
    const double part = t1 > t0 ? (t - t0) / (t1 - t0) : 1;
    const snw_progress p = {.stage_name = r->desc->step[stage].name,
                            .t = t,
                            .fraction = (stage + part) / r->desc->nstep};
    r->hooks->progress(r->hooks->user, &p);
}

void snw_run_set_conditions(snw_run *r) {
    const snw_model *m = r->now->model;
    if (m->ncondition == 0) return;
    snw_work *w = (snw_work *)snw_statics_work_at_time(r->now->statics, r->state, r->state->t);
    const snw_inputs *in = snw_statics_inputs(r->now->statics);
    snw_residual(m, in, r->state, false, w);
    snw_observe(m, in, r->state, false, w);
    const snw_energy e = {.kinetic = snw_kinetic_energy(m, w),
                          .elastic = snw_stored_energy(m, r->state, w),
                          .gravity = snw_gravity_energy(m, in, w)};
    snw_memory_read(m, in, r->state, &e, r->rotation_scratch, w);
    (void)snw_memory_switch(m, r->state, w, r->z);
    snw_impacts_set_conditions(snw_statics_impacts(r->now->statics), in, r->z, r->state);
}

void snw_run_warn_indefinite(snw_run *r, const snw_state *s) {
    const snw_model *m = r->now->model;
    if (m->nlaw_point == 0 || r->warned_indefinite) return;
    const snw_weakest_section w = snw_nonlinear_laws_weakest(m, s->q);
    if (!(w.eigenvalue <= 0)) return;
    char why[300], text[480];
    r->warned_indefinite = true;
    snw_weakest_section_describe(m, &w, why, sizeof why);
    (void)snprintf(text, sizeof text,
                   "run '%.60s': at t = %g s %s; the material has lost its definiteness",
                   r->info.run, s->t, why);
    snw_run_warn(r, text);
}

void snw_run_warn_dropped_rows(snw_run *r, const snw_state *s) {
    const snw_model *m = r->now->model;
    char text[400];
    for (int i = 0; i < m->nloop && m->ncondition > 0; i++) {
        const int rows = snw_impacts_describe_dropped(m, s, i, text, sizeof text);
        if (!text[0] || r->warned_rows[i] >> rows & 1) continue;
        r->warned_rows[i] |= 1ULL << rows;
        snw_run_warn(r, text);
    }
}

// r->state->lambda <- multipliers of the rows of model `from` in the row numbers of model `to`.
// Rows that only `to` has start from zero.
static void transfer_multipliers(snw_run *r, const snw_model *from, const snw_model *to) {
    double *lambda = r->state->lambda;
    if (from == to) return;
    for (int i = 0; i < from->nconstraint; i++) r->lambda[i] = lambda[i];
    for (int i = 0; i < r->largest->nconstraint; i++) lambda[i] = 0;
    for (int i = 0; i < to->nloop && i < from->nloop; i++) {
        const snw_loop *a = &from->loop[i], *b = &to->loop[i];
        for (int k = 0; a->nrow == b->nrow && k < b->nrow; k++)
            lambda[b->row + k] = r->lambda[a->row + k];
    }
    for (int i = 0; i < to->ndrive; i++) {
        const snw_drive *b = &to->drive[i];
        for (int j = 0; b->row >= 0 && j < from->ndrive; j++) {
            const snw_drive *a = &from->drive[j];
            if (a->row >= 0 && a->motor == b->motor && a->dof == b->dof)
                lambda[b->row] = r->lambda[a->row];
        }
    }
    for (int i = 0; i < to->ntendon && i < from->ntendon; i++) {
        const int a = from->tendon[i].row, b = to->tendon[i].row;
        if (a >= 0 && b >= 0) lambda[b] = r->lambda[a];
    }
}

// A condition without a source in the present phase is inactive; it starts from inactive when a
// later change restores it.
static void reset_removed_conditions(snw_run *r) {
    const snw_desc *d = r->now->desc;
    for (int i = 0; i < d->nsignal; i++) {
        if (d->signal[i].kind == SNW_SIGNAL_CONDITION && !d->signal[i].source) r->state->z[i] = 0;
    }
}

// Reports for derivatives: step `stage` begins from the end of step `from`, or (-1) has ended.
static void report_step(const snw_run *r, int stage, int from) {
    if (!r->hooks || !r->hooks->watch.note) return;
    bool taken = from >= 0;
    for (int i = stage + 1; i < r->desc->nstep; i++) taken |= r->desc->step[i].from == stage;
    if (!taken) return;
    r->hooks->watch.note(r->hooks->watch.user,
                         &(snw_step_report){.event = from >= 0 ? SNW_WATCH_FROM : SNW_WATCH_KEEP,
                                            .s = r->state,
                                            .stage = stage,
                                            .from = from});
}

static snw_status execute_steps(snw_run *r, snw_error *err) {
    const snw_desc *d = r->desc;
    for (int i = r->resuming ? r->cursor.stage : 0; i < d->nstep; i++) {
        const bool is_static = d->step[i].kind != SNW_STEP_DYNAMIC;
        if (!r->resuming) {
            bool changed;
            if (d->step[i].from >= 0) {
                const int from = d->step[i].from;
                snw_state_copy(r->largest, r->end_state[from], r->state);
                snw_run_held_resume(r, from);
                r->current = r->fields[from];
                r->energy_before_change = NAN;
                transfer_multipliers(r, r->phase[r->phase_of_step[from]].model, r->now->model);
                snw_statics_assume(r->now->statics, r->state->t);
                report_step(r, i, from);
            }
            reset_removed_conditions(r);
            r->next_frame = -INFINITY;
            r->cursor = (snw_run_cursor){.stage = i, .t0 = r->state->t};
            // not after a change: the loads carried over are stored by node
            if (i == 0 || d->step[i - 1].kind != SNW_STEP_CHANGE)
                SNW_TRY(snw_run_mesh_adapt(r, r->state, is_static, true, &changed, err));
        }
        SNW_TRY(snw_run_place_tubes(r, r->state->t, is_static, err));
        switch (d->step[i].kind) {
        case SNW_STEP_STATIC:
            if (!d->step[i].steady) snw_run_warn_static_friction(r, &d->step[i]);
            if (d->step[i].engine == SNW_ENGINE_SHOOTING) {
                SNW_TRY(snw_run_shooting(r, i, err));
                break;
            }
            r->current = NULL;
            SNW_TRY(snw_run_static(r, i, err));
            break;
        case SNW_STEP_DYNAMIC: {
            const double clock = snw_clock_seconds(), began = r->state->t;
            const snw_status s = snw_run_dynamic(r, i, err);
            r->totals.wall += snw_clock_seconds() - clock;
            r->totals.simulated += r->state->t - began;
            SNW_TRY(s);
            break;
        }
        case SNW_STEP_MODES:
            SNW_TRY(snw_run_modes(r, i, err));
            break;
        case SNW_STEP_PATH:
            snw_run_warn_static_friction(r, &d->step[i]);
            r->current = NULL;
            SNW_TRY(snw_run_path(r, i, err));
            break;
        case SNW_STEP_INVERSE:
            snw_run_warn_static_friction(r, &d->step[i]);
            r->current = NULL;
            SNW_TRY(snw_run_inverse(r, i, err));
            break;
        case SNW_STEP_LINEARIZE:
            SNW_TRY(snw_run_linearize(r, i, err));
            break;
        case SNW_STEP_CHANGE:
            if (isnan(r->energy_before_change) && r->loads_applied)
                r->energy_before_change = snw_run_mechanical_energy(r);
            SNW_TRY(snw_run_mesh_apply(r, &r->phase[r->phase_of_step[i]], err));
            // statics continues from the present loads
            snw_statics_copy_previous(r->phase[r->phase_of_step[i]].statics, r->now->statics);
            transfer_multipliers(r, r->now->model, r->phase[r->phase_of_step[i]].model);
            snw_run_held_release(r, &d->step[i]);
            r->now = &r->phase[r->phase_of_step[i]];
            SNW_TRY(snw_run_numbers_apply(r, err));
            break;
        }
        r->resuming = false;
        const bool stays = d->step[i].kind == SNW_STEP_CHANGE ||
                           d->step[i].kind == SNW_STEP_MODES ||
                           d->step[i].kind == SNW_STEP_LINEARIZE;
        if (stays) SNW_TRY(snw_run_keep_fields(r, i, r->current, err));
        if (!stays) r->energy_before_change = NAN;
        r->loads_applied |= !stays;
        snw_run_held_keep(r, i);
        snw_state_copy(r->largest, r->state, r->end_state[i]);
        report_step(r, i, -1);
    }
    return SNW_OK;
}

void snw_run_warn_violations(snw_run *r) {
    if (r->now->model->nconstraint == 0) return;
    char text[300], by[64];
    (void)snw_statics_work_at_time(r->now->statics, r->state, r->state->t);
    snw_projection *pr = snw_statics_projection(r->now->statics);
    int row;
    const double violation =
        snw_projection_violation(pr, snw_statics_inputs(r->now->statics), r->state, &row);
    if (violation <= OPEN_LIMIT) return;
    // a chamber of given volume starts from any volume: not reported
    for (int i = 0; i < r->now->model->ntendon; i++) {
        if (r->now->model->tendon[i].row == row) return;
    }
    snw_projection_explain_violation(pr, row, violation, by, sizeof by);
    const char *kind, *name;
    (void)snw_projection_location_of(pr, row, &kind, &name);
    (void)snprintf(text, sizeof text,
                   "%s '%.100s' was open by %s; the initial configuration was changed to close it",
                   kind, name, by);
    snw_run_warn(r, text);
}

// Warn of redundant rows left out, of singular loops, and of loops open in the initial pose.
static void warn_loops(snw_run *r) {
    const snw_model *m = r->now->model;
    char text[600];
    for (int i = 0; i < m->nloop; i++) {
        snw_projection_describe_redundant(m, i, text, sizeof text);
        if (text[0]) snw_run_warn(r, text);
        snw_projection_describe_singular(m, i, text, sizeof text);
        if (text[0]) snw_run_warn(r, text);
    }
    if (r->desc->nstep > 0 && !r->resuming) snw_run_warn_violations(r);
}

// Warn of strain functions that are nearly dependent.
static void warn_functions(const snw_run *r) {
    const snw_desc *d = r->desc;
    for (int k = 0; k < d->nlink && !r->resuming; k++) {
        for (int i = 0; d->link[k].has_rod && i < 6; i++) {
            char text[400];
            snw_rod_describe_functions(&d->link[k].rod, d->link[k].name, i, text, sizeof text);
            if (text[0]) snw_run_warn(r, text);
        }
    }
}

// Warn of rods that begin deep in each other: a motion is thrown apart, an equilibrium may be found
// on the other side.
static void warn_rods(snw_run *r) {
    const snw_model *m = r->now->model;
    const snw_desc *d = m->desc;
    if (!m->ntouching_rod || d->nstep == 0 || r->resuming) return;
    const double deep = d->step[0].kind == SNW_STEP_DYNAMIC ? 0.02 : 0.5; // of the sum of the radii
    const snw_work *w = snw_statics_work_at_time(r->now->statics, r->state, r->state->t);
    for (int i = 0; i < d->ncontact; i++) {
        snw_touch at;
        if (!d->contact[i].is_rods) continue;
        if (!(snw_rod_contact_nearest(m, w, i, &at) < 0)) continue;
        const snw_touching_slice *s = m->touching_slice;
        const double radii = s[at.slice[0]].radius[0] + s[at.slice[1]].radius[0];
        if (!(-at.gap > deep * radii)) continue;
        char text[400];
        (void)snprintf(text, sizeof text,
                       "rods '%.60s' and '%.60s' begin %.3g m deep in each other at x = %.4g m and "
                       "%.4g m along them (contact '%.60s', which stores %.3g J); move them apart, "
                       "or leave the pair out by 'except'",
                       snw_touch_link(m, &at, 0), snw_touch_link(m, &at, 1), -at.gap,
                       s[at.slice[0]].x + at.u[0] * s[at.slice[0]].h,
                       s[at.slice[1]].x + at.u[1] * s[at.slice[1]].h, d->contact[i].name,
                       snw_contact_summarise(m, w, i).energy);
        snw_run_warn(r, text);
    }
}

// Warn of contact points too far apart, of magnetic fields that do not exist, and of obstacles that
// hold links with forces of many times the robot's weight before anything moves.
static void warn_contacts(snw_run *r) {
    const snw_model *m = r->now->model;
    const snw_desc *d = m->desc;
    static const double MANY = 10, DEEP = 1e-3; // of the robot's length
    for (int i = 0; i < d->ncontact && i < r->info.ncontact; i++) {
        if (r->info.contact_warning[i][0]) snw_run_warn(r, r->info.contact_warning[i]);
    }
    for (int i = 0; i < d->nforce_field; i++) {
        if (r->info.field_warning[i][0]) snw_run_warn(r, r->info.field_warning[i]);
    }
    warn_rods(r);
    bool any = false;
    for (int i = 0; i < d->ncontact; i++) any |= d->contact[i].is_obstacle;
    if (!any || d->nstep == 0 || d->step[0].kind != SNW_STEP_DYNAMIC || r->resuming) return;
    const snw_work *w = snw_statics_work_at_time(r->now->statics, r->state, r->state->t);
    const snw_inputs *in = snw_statics_inputs(r->now->statics);
    snw_vec3 center;
    const double weight = snw_center_of_mass(m, w, &center) * snw_norm(in->gravity);
    for (int i = 0; i < d->ncontact; i++) {
        if (!d->contact[i].is_obstacle) continue;
        const snw_contact_summary c = snw_contact_summarise(m, w, i);
        if (!(c.force > MANY * weight) || !(-c.gap > DEEP * m->length)) continue;
        char text[400];
        (void)snprintf(
            text, sizeof text,
            "link '%.60s' begins %.3g m deep in obstacle '%.60s', which stores %.3g J and "
            "pushes with %.3g N at %d points; move one of them apart, or begin with a "
            "static step",
            d->link[m->contact_point[c.nearest].link].name, -c.gap, d->contact[i].name, c.energy,
            c.force, c.touching);
        snw_run_warn(r, text);
    }
}

// Warn, at the end, of discretisation errors and of energy that is not accounted for.
static void warn_errors(const snw_run *r) {
    char text[280];
    snw_run_warn_accuracy(r);
    if (fabs(r->totals.balance) > fmax(BALANCE_LIMIT * r->totals.exchanged, snw_energy_noise(r))) {
        (void)snprintf(text, sizeof text,
                       "run '%s': of %.3g J exchanged, %.3g J are missing in the energy balance: "
                       "the steps are too long for this motion; shorten them, or let 'adapt' or "
                       "scheme: adaptive choose them",
                       r->info.run, r->totals.exchanged, fabs(r->totals.balance));
        snw_run_warn(r, text);
    }
}

snw_status snw_run_start_from(snw_run *r, const double *q, const double *v, snw_error *err) {
    const size_t nq = (size_t)r->phase[0].model->nq, nv = (size_t)r->phase[0].model->nv;
    double *start = snw_pool_array(r->pool, nq + nv + 1, sizeof *start);
    if (!start) return snw_fail_memory(err);
    memcpy(start, q, nq * sizeof *start);
    memcpy(start + nq, v, nv * sizeof *start);
    r->start_q = start;
    r->start_v = start + nq;
    return SNW_OK;
}

snw_status snw_run_execute(snw_run *r, int nrecorder, const snw_recorder *recorder,
                           const snw_run_hooks *hooks, snw_run_totals *totals, snw_error *err) {
    const double start = snw_clock_seconds();
    snw_error local = {0};
    if (!err) err = &local;
    r->nrecorder = nrecorder;
    r->recorder = recorder;
    r->hooks = hooks;
    r->totals = (snw_run_totals){.stability = NAN, .worst_truncation = NAN};
    r->truncation_desc = NULL;
    r->warned_unstable = r->warned_violation = r->warned_friction = r->noted_local = false;
    r->warned_indefinite = false;
    r->warned_penalty = r->warned_push = r->warned_dependent = false;
    r->nbranch_left = 0;
    r->now = &r->phase[0];
    r->loads_applied = r->resuming;
    SNW_TRY(snw_run_mesh_reset(r, err));
    SNW_TRY(snw_run_numbers_reset(r, err));
    snw_run_rows_reset(r);
    r->work = r->heat = r->scheme = r->balance = 0;
    r->energy_before_change = NAN;
    const snw_model *m = r->now->model;
    // initial state, no loads
    r->state->t = 0;
    memcpy(r->state->q, r->start_q ? r->start_q : m->q0, (size_t)m->nq * sizeof(double));
    memcpy(r->state->v, r->start_v ? r->start_v : m->v0, (size_t)m->nv * sizeof(double));
    snw_state_forget(m, r->state);
    for (int i = 0; i < r->largest->nconstraint; i++) r->state->lambda[i] = 0;
    for (int i = 0; i < m->nseg + m->nobs; i++) r->rotation[i] = (snw_vec3){{0}};
    const int nlimit =
        r->desc->nlink + r->desc->ntendon + r->desc->nforce_element + 2 * r->desc->nmotor;
    for (int i = 0; i < nlimit; i++) r->warned_limit[i] = false;
    r->warned_open = false;
    for (int i = 0; i < r->desc->nloop; i++) r->warned_rows[i] = 0;
    for (int i = 0; i < SNW_PROBE_FREQUENCIES; i++) r->frequency[i] = NAN;
    for (int i = 0; i < SNW_PROBE_POLES; i++) r->pole[i] = NAN;
    for (int i = 0; i < r->desc->nstep; i++) r->modes_found[i] = r->linear_found[i] = false;
    r->current = NULL;
    snw_run_spring_turns_begin(r);
    snw_statics_reset(r->now->statics);
    snw_run_held_reset(r);
    if (r->resuming) SNW_TRY(snw_run_checkpoint_load(r, err));
    r->increments_before = r->totals.increments;
    if (!r->resuming) snw_run_set_conditions(r);
    warn_functions(r);
    warn_loops(r);
    warn_contacts(r);
    note_nodes(r);
    if (r->desc->nstep == 0)
        snw_run_warn(r, "there is no study, so nothing was computed; add study: [static:]");
    snw_status s = execute_steps(r, err);
    // report the failure of a step at its source location, which may be in an included file
    const bool of_step = s == SNW_E_DIVERGED || s == SNW_E_SINGULAR || s == SNW_E_MODEL;
    if (of_step && !err->line && r->cursor.stage >= 0 && r->cursor.stage < r->desc->nstep) {
        const snw_source_location at = r->desc->step[r->cursor.stage].location;
        (void)snw_fail_at_location(err, s, at.file, at.line, at.column);
    }
    r->resuming = false;
    warn_errors(r);
    for (int i = 0; i < nrecorder; i++) {
        const snw_status e =
            recorder[i].end(recorder[i].user, s, s == SNW_OK ? "" : err->text, err);
        if (s == SNW_OK) s = e;
    }
    r->totals.seconds = snw_clock_seconds() - start;
    if (totals) *totals = r->totals;
    return s;
}
