// SPDX-License-Identifier: MIT
//
// Linear models of the public robot: names and units of inputs, states and outputs, the operating
// point, derivatives by parameters of the file, poles. theory.md 7.3
#include "robot/robot_linear.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/relaxation.h"
#include "language/node.h"
#include "model/probe_kind.h"
#include "study/directions.h"
#include "study/linear_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double balanced = 1e-9, // residual of accelerations that are kept, typical forces
    parameter_move = 1e-3;           // of a parameter in a sample, relative

// A linear model with what it needs to be computed again.
typedef struct linear_robot {
    snw_linear_view view; // first: the public part
    snw_robot *r;
    const snw_model *m;     // of the robot when it was made
    const char **parameter; // path of a parameter; NULL: none
    snw_state *s;
    snw_vec3 *rotation;
    bool statics;
} linear_robot;

// ---- names --------------------------------------------------------------------------------------

static const char *text_of(linear_robot *l, const char *format, const char *a, const char *b) {
    const char *text = snw_pool_format(l->view.pool, format, a, b);
    return text ? text : "";
}

// inputs `first` to `first` + n of the model's table of inputs
static snw_status add_actuator_inputs(linear_robot *l, int first, int n, bool named,
                                      snw_error *err) {
    const snw_robot *r = l->r;
    for (int i = first; i < first + n; i++) {
        const snw_part *part = &r->model->part[SNW_PART_INPUT][i];
        const snw_actuator a = snw_actuator_at(r->desc, part->first);
        const snw_input_of of = {.actuator = part->first,
                                 .component =
                                     i - r->model->part[SNW_PART_ACTUATOR][part->first].first};
        snw_linear_input in;
        const snw_input_state state = snw_linear_input_of(r->m, &of, &in);
        if (state != SNW_INPUT_ACTS && !named) continue;
        in.optional = !named;
        if (!named && in.kind == SNW_LINEAR_GIVEN && l->view.discrete &&
            snw_step_tangent_always(l->view.step.scheme)) {
            l->view.nleft++; // no input of a step that is a map of its own
            continue;
        }
        if (state == SNW_INPUT_SPHERICAL || state == SNW_INPUT_IDLE)
            return snw_fail(err, SNW_E_ARGUMENT,
                            "actuator '%s' %s, so it is no input of a linear model", a.name,
                            state == SNW_INPUT_SPHERICAL ? "gives the motion of a spherical joint"
                                                         : "does not act");
        // a given rate is integrated: its coordinate is the given one
        const bool rate = a.motor && snw_gives_rate(a.motor->given);
        const char *unit = part->unit;
        if (rate) unit = strcmp(unit, "rad/s") == 0 ? "rad" : "m";
        snw_linear_view_add(&l->view, in, part->name, unit);
    }
    return SNW_OK;
}

// components of load `i`: all that the file gives, or the one of this name
static snw_status add_load_inputs(linear_robot *l, int i, const char *component, snw_error *err) {
    const snw_load_desc *d = &l->r->desc->load[i];
    int found = 0;
    for (int k = 0; k < 6; k++) {
        const snw_law law = k < 3 ? d->torque[k] : d->force[k - 3];
        if (component ? strcmp(component, snw_load_component[k]) != 0 : law == NULL) continue;
        snw_linear_view_add(
            &l->view, (snw_linear_input){.kind = SNW_LINEAR_LOAD, .item = i, .component = k},
            text_of(l, "%s.%s", d->name, snw_load_component[k]), snw_load_unit(d, k));
        found++;
    }
    if (found) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "load '%s' has no component '%s'; components are tx, ty, tz, fx, fy and fz",
                    d->name, component ? component : "");
}

// Is an input the time at which laws are evaluated?
static bool is_time(const char *path) { return strcmp(path, "t") == 0; }

// value and SI unit of a parameter of the file, or the time
static snw_status parameter_value(const linear_robot *l, const char *path, double *value,
                                  char unit[48], snw_error *err) {
    if (!is_time(path)) return snw_robot_model_value(l->r->model, path, value, unit, err);
    *value = l->s ? l->s->t : 0;
    memcpy(unit, "s", 2);
    return SNW_OK;
}

static snw_status add_parameter(linear_robot *l, const char *path, snw_error *err) {
    double value;
    char unit[48];
    snw_error found = {0};
    if (parameter_value(l, path, &value, unit, &found) != SNW_OK) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%.200s' is no input: no actuator, no load, not the time t, and as a "
                        "number of the file: %.200s",
                        path, found.text);
    }
    const char *name = l->parameter[l->view.ninput] = text_of(l, "%s%s", path, "");
    return snw_linear_view_add_parameter(&l->view, name, text_of(l, "%s%s", unit, ""), err);
}

static snw_status add_named_input(linear_robot *l, const char *name, snw_error *err) {
    const snw_robot_model *model = l->r->model;
    const int actuator = snw_robot_model_find(model, SNW_PART_ACTUATOR, name);
    if (actuator >= 0) {
        const snw_part *part = &model->part[SNW_PART_ACTUATOR][actuator];
        return add_actuator_inputs(l, part->first, part->size, true, err);
    }
    const int input = snw_robot_model_find(model, SNW_PART_INPUT, name);
    if (input >= 0) return add_actuator_inputs(l, input, 1, true, err);
    const int load = snw_robot_load(l->r, name);
    if (load >= 0) return add_load_inputs(l, load, NULL, err);
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && i < l->r->desc->nload; i++) {
        const char *own = l->r->desc->load[i].name;
        if (strlen(own) != (size_t)(dot - name) || strncmp(own, name, strlen(own)) != 0) continue;
        return add_load_inputs(l, i, dot + 1, err);
    }
    return add_parameter(l, name, err);
}

static snw_status add_outputs(linear_robot *l, int probe, int first, int count, bool named,
                              snw_error *err) {
    const snw_probe_desc *p = &l->r->desc->probe[probe];
    for (int k = first; k < first + count; k++) {
        if (!snw_linear_is_output(p, k)) {
            if (!named) continue;
            return snw_fail(err, SNW_E_ARGUMENT,
                            "probe '%s' is not a function of the state, so it is no output of a "
                            "linear model",
                            p->name);
        }
        const snw_robot_model *model = l->r->model;
        const snw_part *column =
            &model->part[SNW_PART_COLUMN][model->part[SNW_PART_PROBE][probe].first + k];
        l->view.output_name[l->view.noutput] = column->name;
        l->view.output_unit[l->view.noutput] = column->unit;
        l->view.of_output[l->view.noutput++] = (snw_linear_output){.probe = probe, .column = k};
    }
    return SNW_OK;
}

// the columns that the name of a probe denotes
static snw_status add_probe(linear_robot *l, int probe, bool named, snw_error *err) {
    const snw_probe_desc *p = &l->r->desc->probe[probe];
    int first = 0, count = 1;
    if (p->kind != SNW_PROBE_LAW) snw_probe_primary(p->kind, p->joint, 0, &first, &count);
    const int stations = l->r->m->probe_count[probe] > 0 ? l->r->m->probe_count[probe] : 1;
    const int width = snw_probe_columns(p) / stations;
    if (count == 0) count = width;
    const int before = l->view.noutput;
    for (int k = 0; k < stations; k++)
        SNW_TRY(add_outputs(l, probe, k * width + first, count, false, err));
    return named && l->view.noutput == before ? add_outputs(l, probe, first, 1, true, err) : SNW_OK;
}

// error: no probe or column has this name; one like it is suggested
static snw_status fail_no_output(const snw_robot_model *model, const char *name, snw_error *err) {
    const snw_part_kind kind[] = {SNW_PART_PROBE, SNW_PART_COLUMN};
    const size_t room = (size_t)(model->npart[kind[0]] + model->npart[kind[1]]);
    const char **known = snw_alloc(room * sizeof *known);
    if (!known) return snw_fail_memory(err);
    int n = 0;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < model->npart[kind[k]]; i++) known[n++] = model->part[kind[k]][i].name;
    }
    const char *near = snw_nearest(name, n, known);
    snw_free(known);
    return snw_fail(err, SNW_E_ARGUMENT,
                    "'%.200s' is no output: there is no such probe or column%s", name,
                    snw_hint_text(near).text);
}

static snw_status add_named_output(linear_robot *l, const char *name, snw_error *err) {
    const snw_robot_model *model = l->r->model;
    const int probe = snw_robot_model_find(model, SNW_PART_PROBE, name);
    if (probe >= 0) return add_probe(l, probe, true, err);
    const int column = snw_robot_model_find(model, SNW_PART_COLUMN, name);
    if (column >= 0) {
        const int of = model->part[SNW_PART_COLUMN][column].first;
        return add_outputs(l, of, column - model->part[SNW_PART_PROBE][of].first, 1, true, err);
    }
    return fail_no_output(model, name, err);
}

// ---- derivatives by parameters ------------------------------------------------------------------

// out <- sample of a model with another value of a parameter, at the same state
static snw_status sample_parameter(void *user, int i, double value, double *out, snw_error *err) {
    linear_robot *l = user;
    const char *path = l->parameter[i];
    char set[400];
    (void)snprintf(set, sizeof set, "%s=%.17g %s", path, value, l->view.input_unit[i]);
    const char *const sets[] = {set};
    snw_robot_model *model = NULL;
    snw_robot *r = NULL;
    if (!is_time(path)) SNW_TRY(snw_robot_model_change(l->r->model, 1, sets, &model, err));
    snw_status s = snw_robot_from_model(model ? model : l->r->model, &r, err);
    if (model) snw_robot_model_close(model);
    if (s != SNW_OK) return s;
    const snw_model *m = r->m;
    if (m->nv != l->r->m->nv || m->nconstraint != l->r->m->nconstraint ||
        m->nseg != l->r->m->nseg || m->nsignal != l->r->m->nsignal ||
        m->nbranch_coordinate != l->r->m->nbranch_coordinate) {
        snw_robot_close(r);
        return snw_fail(err, SNW_E_MODEL,
                        "'%s' changes the coordinates or nodes of the robot, so it is no input",
                        path);
    }
    snw_robot_take_over(r, l->r);
    snw_state_copy(m, l->s, r->s);
    if (is_time(path)) r->s->t = value;
    r->inputs_stale = true;
    snw_robot_refresh_inputs(r);
    memcpy(r->rotation, l->rotation, (size_t)(m->nseg + m->nobs) * sizeof *r->rotation);
    snw_linear_view_sample(&l->view, m, r->in, r->s, r->rotation, r->w, r->column, out);
    snw_robot_close(r);
    return SNW_OK;
}

// derivatives by input i, a parameter
static snw_status differentiate(linear_robot *l, int i, snw_error *err) {
    double value;
    char unit[48];
    SNW_TRY(parameter_value(l, l->parameter[i], &value, unit, err));
    l->view.parameter[i] = value;
    const double h =
        value != 0 && !is_time(l->parameter[i]) ? parameter_move * fabs(value) : parameter_move;
    return snw_linear_view_differentiate(&l->view, i, value, h, sample_parameter, l, err);
}

// ---- the operating point ------------------------------------------------------------------------

// l->s <- state of the robot with accelerations and multipliers that balance
static snw_status operating_point(linear_robot *l, snw_error *err) {
    snw_robot *r = l->r;
    const snw_model *m = r->m;
    SNW_TRY(snw_robot_check_forces(r, err));
    snw_robot_initialise_signals(r);
    snw_residual(m, r->in, r->s, false, r->w);
    const bool keep = snw_out_of_balance(m, r->w) <= balanced;
    snw_state_copy(m, r->s, l->s);
    snw_relaxation_fix(m, l->s);
    if (keep) return SNW_OK;
    const snw_status s = snw_robot_forward_dynamics(r, err);
    // the caller's state stays
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint;
    double *const state[] = {l->s->a, r->s->a, l->s->lambda, r->s->lambda};
    for (size_t i = 0; i < nv; i++) {
        const double before = state[0][i];
        state[0][i] = state[1][i];
        state[1][i] = before;
    }
    for (size_t i = 0; i < nr; i++) {
        const double before = state[2][i];
        state[2][i] = state[3][i];
        state[3][i] = before;
    }
    return s;
}

static bool is_moving(const snw_robot *r) {
    for (int i = 0; i < r->m->nv; i++) {
        if (r->s->v[i] != 0) return true;
    }
    return false;
}

snw_status snw_linear_stepper(const snw_linear_model *model, snw_robot *r, snw_implicit **out,
                              snw_error *err) {
    return snw_linear_view_stepper(&((const linear_robot *)model)->view, r->m, &r->held.manual, out,
                                   err);
}

double snw_linear_step_length(const snw_linear_model *model) {
    return ((const linear_robot *)model)->view.step.h;
}

snw_status snw_linear_do_step(const snw_linear_model *model, snw_robot *r, snw_implicit *im,
                              snw_error *err) {
    SNW_TRY(snw_linear_view_do_step(&((const linear_robot *)model)->view, im, err));
    snw_state_copy(r->m, snw_implicit_state(im), r->s);
    snw_inputs_copy(snw_implicit_inputs(im), r->in);
    r->inputs_stale = false;
    return SNW_OK;
}

// The end of a step from the present state: l->s, the increment; the inputs of the copy c that
// did it.
static snw_status do_step(linear_robot *l, snw_robot *c, snw_error *err) {
    if (l->view.tangent) {
        SNW_TRY(snw_robot_check_state(c, err));
        SNW_TRY(snw_robot_project(c, err));
        SNW_TRY(snw_linear_view_step(&l->view, &c->held.manual, c->s, err));
        if (l->view.step.d) snw_state_copy(c->m, c->s, l->s);
        c->inputs_stale = true;
        return SNW_OK;
    }
    snw_implicit *im = NULL;
    snw_status s = snw_linear_stepper(&l->view.model, c, &im, err);
    if (s == SNW_OK) s = snw_robot_check_state(c, err);
    if (s == SNW_OK) s = snw_robot_project(c, err);
    if (s == SNW_OK) s = snw_implicit_start(im, c->s, err);
    if (s == SNW_OK) s = snw_linear_do_step(&l->view.model, c, im, err);
    if (s == SNW_OK) {
        snw_state_copy(c->m, c->s, l->s);
        memcpy(l->view.increment, snw_implicit_increment(im), (size_t)c->m->nv * sizeof(double));
    }
    snw_implicit_destroy(im);
    return s;
}

// ---- the model ----------------------------------------------------------------------------------

// the kinematics and rotation vectors at l->s, under the inputs of `at`
static void show_point(linear_robot *l, snw_robot *at) {
    const snw_model *m = l->r->m;
    snw_robot_refresh_inputs(at);
    snw_residual(m, at->in, l->s, false, at->w);
    snw_observe(m, at->in, l->s, false, at->w);
    memcpy(l->rotation, l->r->rotation, (size_t)(m->nseg + m->nobs) * sizeof *l->rotation);
    snw_rotations_update(m, at->w, l->rotation);
}

static snw_status linear_compute(linear_robot *l, snw_robot *at, snw_error *err) {
    show_point(l, at);
    l->view.difference = 0;
    for (int i = 0; i < l->view.ninput; i++) {
        if (l->parameter[i]) SNW_TRY(differentiate(l, i, err));
    }
    return snw_linear_view_compute(&l->view, at->in, l->s, l->rotation, is_moving(l->r), at->w,
                                   err);
}

snw_status snw_linear_derive(snw_linear_model *model, int input, snw_error *err) {
    linear_robot *l = (linear_robot *)model;
    l->m = l->view.m = l->r->m;
    snw_state_copy(l->m, l->r->s, l->s);
    show_point(l, l->r);
    return differentiate(l, input, err);
}

// the robot is the one of the model, and in the strain engine
static snw_status check_model(const linear_robot *l, snw_error *err) {
    if (l->r->m != l->m)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the robot has another model since; linearise it anew");
    if (l->r->integrator.shooter)
        return snw_fail(err, SNW_E_MODEL,
                        "linear models are those of the strain engine; start the motion with it");
    return SNW_OK;
}

snw_status snw_linear_static(snw_linear_model *model, snw_error *err) {
    linear_robot *l = (linear_robot *)model;
    snw_robot *r = l->r;
    SNW_TRY(check_model(l, err));
    SNW_TRY(snw_robot_check_forces(r, err));
    snw_robot_initialise_signals(r);
    snw_state_copy(r->m, r->s, l->s);
    show_point(l, r);
    SNW_TRY(snw_linear_gain(l->view.linear, r->in, l->s, l->rotation, r->w, err));
    snw_residual(r->m, r->in, l->s, false, r->w);
    snw_linear_view_publish(&l->view, r->in, l->s, is_moving(r), r->w);
    return SNW_OK;
}

snw_status snw_linear_of_step(snw_linear_model *model, const double *d, snw_error *err) {
    linear_robot *l = (linear_robot *)model;
    snw_robot *r = l->r;
    snw_state_copy(r->m, r->s, l->s);
    show_point(l, r);
    l->view.step.d = d;
    if (l->view.tangent) {
        SNW_TRY(snw_linear_map_outputs(l->view.linear, r->in, l->s, l->rotation, r->w, err));
        if (d) {
            SNW_TRY(snw_step_tangent_prepare(l->view.tangent, err));
            SNW_TRY(snw_linear_map_matrices(l->view.linear, l->view.tangent, r->w, err));
        }
        snw_residual(r->m, r->in, l->s, false, r->w);
        snw_linear_view_publish(&l->view, r->in, l->s, is_moving(r), r->w);
        return SNW_OK;
    }
    SNW_TRY(
        snw_linear_solve_step(l->view.linear, &l->view.step, r->in, l->s, l->rotation, r->w, err));
    snw_residual(r->m, r->in, l->s, false, r->w);
    snw_linear_view_publish(&l->view, r->in, l->s, is_moving(r), r->w);
    return SNW_OK;
}

snw_step_tangent *snw_linear_tangent(const snw_linear_model *model) {
    return ((const linear_robot *)model)->view.tangent;
}

void snw_linear_values(snw_linear_model *model, double *y) {
    linear_robot *l = (linear_robot *)model;
    snw_robot *r = l->r;
    snw_residual(r->m, r->in, r->s, false, r->w);
    snw_observe(r->m, r->in, r->s, false, r->w);
    snw_linear_read(l->view.linear, r->in, r->s, r->rotation, r->w, y);
}

const snw_linear_state *snw_linear_states(const snw_linear_model *model) {
    return snw_linear_result(((const linear_robot *)model)->view.linear)->state;
}

snw_linear_names snw_linear_named(const snw_linear_model *model) {
    const linear_robot *l = (const linear_robot *)model;
    return (snw_linear_names){.ninput = l->view.ninput,
                              .noutput = l->view.noutput,
                              .of_input = l->view.of_input,
                              .input = l->view.rate_of_input[0],
                              .of_output = l->view.of_output,
                              .output = l->view.output};
}

const snw_linear_input *snw_linear_input_at(const snw_linear_model *model, int column,
                                            int *derivative) {
    const snw_linear_view *v = &((const linear_robot *)model)->view;
    const snw_linear_system *x = snw_linear_result(v->linear);
    *derivative = x->derivative[column];
    return &v->of_input[x->of_input[column]];
}

double snw_linear_motion(const snw_linear_model *model, int input) {
    return snw_linear_result(((const linear_robot *)model)->view.linear)->motion[input];
}

snw_status snw_linear_update(snw_linear_model *model, snw_error *err) {
    linear_robot *l = (linear_robot *)model;
    if (!l) return snw_fail(err, SNW_E_ARGUMENT, "the linear model is NULL");
    if (l->statics) return snw_linear_static(model, err);
    SNW_TRY(check_model(l, err));
    SNW_TRY(operating_point(l, err));
    l->view.step.d = NULL;
    const bool steps =
        l->view.discrete && is_moving(l->r) && snw_linear_has_increments(l->view.step.scheme);
    if (!steps && !snw_linear_view_maps(&l->view, is_moving(l->r)))
        return linear_compute(l, l->r, err);
    snw_robot *copy = NULL;
    SNW_TRY(snw_robot_from_model(l->r->model, &copy, err));
    snw_robot_take_over(copy, l->r);
    l->view.step.d = l->view.increment;
    snw_status s = do_step(l, copy, err);
    if (s == SNW_OK) s = linear_compute(l, copy, err);
    snw_robot_close(copy);
    return s;
}

static snw_status linear_names(linear_robot *l, const snw_linear_options *how, snw_error *err) {
    const snw_robot_model *model = l->r->model;
    for (int i = 0; i < how->noutput; i++) SNW_TRY(add_named_output(l, how->output[i], err));
    for (int i = 0; how->noutput == 0 && i < l->r->desc->nprobe; i++)
        SNW_TRY(add_probe(l, i, false, err));
    for (int i = 0; how->noutput == 0 && i < l->view.noutput; i++)
        l->view.of_output[i].optional = true;
    for (int i = 0; i < how->ninput; i++) SNW_TRY(add_named_input(l, how->input[i], err));
    if (how->ninput == 0)
        SNW_TRY(add_actuator_inputs(l, 0, model->npart[SNW_PART_INPUT], false, err));
    return SNW_OK;
}

static snw_status linear_open(linear_robot *l, const snw_linear_options *how, snw_error *err) {
    snw_robot *r = l->r;
    const snw_model *m = r->m;
    const size_t actuators = (size_t)r->model->npart[SNW_PART_INPUT];
    const size_t inputs = how->ninput > 0 ? (size_t)how->ninput : 0;
    const size_t most = 6 * inputs + (inputs + 1) * actuators + 1;
    const size_t columns = (size_t)r->model->npart[SNW_PART_COLUMN];
    SNW_TRY(snw_linear_view_open(m, most, columns * ((size_t)how->noutput + 1), &l->view, err));
    l->parameter = snw_pool_array(l->view.pool, most, sizeof *l->parameter);
    l->rotation = snw_pool_array(l->view.pool, (size_t)(m->nseg + m->nobs), sizeof *l->rotation);
    if (!l->parameter || !l->rotation || snw_state_create(m, &l->s) != SNW_OK)
        return snw_fail_memory(err);
    l->statics = how->statics != 0;
    SNW_TRY(snw_linear_view_choose_step(how, &l->view, err));
    SNW_TRY(linear_names(l, how, err));
    for (int i = 0; l->statics && i < l->view.ninput; i++) {
        if (l->parameter[i])
            return snw_fail(err, SNW_E_ARGUMENT,
                            "'%s': numbers of the file are no inputs of static gains",
                            l->parameter[i]);
    }
    return snw_linear_view_ready(&l->view, how->three_inputs, err);
}

snw_status snw_linear_prepare(snw_robot *r, const snw_linear_options *how, snw_linear_model **out,
                              snw_error *err) {
    if (!r || !out) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", r ? "out" : "the robot");
    *out = NULL;
    const snw_linear_options defaults = snw_linear_defaults();
    if (!how) how = &defaults;
    const bool named = how->ninput == -1 || how->ninput == 0 || (how->ninput > 0 && how->input);
    if (!named || how->noutput < 0 || (how->noutput && !how->output))
        return snw_fail(err, SNW_E_ARGUMENT, "the names of %s are missing",
                        named ? "outputs" : "inputs");
    for (int i = 0; i < how->ninput; i++) {
        if (!how->input[i]) return snw_fail(err, SNW_E_ARGUMENT, "input %d is NULL", i);
    }
    for (int i = 0; i < how->noutput; i++) {
        if (!how->output[i]) return snw_fail(err, SNW_E_ARGUMENT, "output %d is NULL", i);
    }
    if (r->m->nbranch && how->statics) {
        return snw_fail(err, SNW_E_MODEL,
                        "static gains of a material that relaxes depend on the time that has "
                        "passed; take those of the linear model, at once or after a long time");
    }
    linear_robot *l = snw_alloc(sizeof *l);
    if (!l) return snw_fail_memory(err);
    l->r = r;
    l->m = r->m;
    const snw_status s = linear_open(l, how, err);
    if (s != SNW_OK) {
        snw_linear_close(&l->view.model);
        return s;
    }
    *out = &l->view.model;
    return SNW_OK;
}

snw_status snw_robot_linearize(snw_robot *r, const snw_linear_options *how, snw_linear_model **out,
                               snw_error *err) {
    SNW_TRY(snw_linear_prepare(r, how, out, err));
    const snw_status s = snw_linear_update(*out, err);
    if (s == SNW_OK) return SNW_OK;
    snw_linear_close(*out);
    *out = NULL;
    return s;
}

void snw_linear_close(snw_linear_model *model) {
    linear_robot *l = (linear_robot *)model;
    if (!l) return;
    snw_state_destroy(l->s);
    snw_linear_view_close(&l->view);
    snw_free(l);
}

snw_status snw_linear_analyse(snw_linear_model *model, snw_error *err) {
    if (!model) return snw_fail(err, SNW_E_ARGUMENT, "the linear model is NULL");
    return snw_linear_view_analyse(&((linear_robot *)model)->view, err);
}
