// SPDX-License-Identifier: MIT
//
// Linear models of the public robot: names and units of inputs, states and outputs, the operating
// point, derivatives by parameters of the file, poles. theory.md 7.3
#include "robot/robot_linear.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/pool.h"
#include "language/node.h"
#include "model/probe_kind.h"
#include "solve/linear_system.h"
#include "study/directions.h"
#include "study/linear_inputs.h"
#include "study/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POOL_LIMIT = 1 << 26, SAMPLES = 3, ROLES = SNW_STATE_RATE_BEFORE + 1 };

static const double balanced = 1e-9, // residual of accelerations that are kept, typical forces
    parameter_move = 1e-3,           // of a parameter in a sample, relative
    still = 1e-12;                   // relative violation that a parameter does not cause

// A linear model with what it needs to be computed again.
typedef struct linear_robot {
    snw_linear_model view; // first: the public part
    snw_robot *r;
    const snw_model *m; // of the robot when it was made
    snw_pool *pool;
    snw_linear *linear;
    snw_linear_input *of_input; // inputs of the robot
    snw_linear_output *of_output;
    const char **input_name, **input_unit; // of of_input
    const char **parameter;                // path of a parameter; NULL: none
    int ninput, noutput;
    const char *const *q_name;
    snw_linear_signal *rate_of_input[3]; // names and units of inputs and their rates
    snw_linear_signal *named[ROLES]; // names and units of all possible states, by role and index
    snw_linear_signal *state, *input, *output;
    snw_linear_pole *pole;
    snw_state *s;
    snw_vec3 *rotation;
    double *samples; // of parameters
    snw_linear_step step;
    const double *poles_of; // A of the continuous model, npoles_of x npoles_of
    double *continuous;     // memory for it
    int npoles_of;
    bool discrete, statics;
    double difference; // of derivatives by parameters
} linear_robot;

snw_linear_options snw_linear_defaults(void) {
    return (snw_linear_options){.rho = NAN, .alpha = NAN};
}

// ---- names --------------------------------------------------------------------------------------

static const char *text_of(linear_robot *l, const char *format, const char *a, const char *b) {
    const char *text = snw_pool_format(l->pool, format, a, b);
    return text ? text : "";
}

// unit of the k-th rate of a quantity
static const char *rate_unit(linear_robot *l, const char *unit, int k) {
    static const char *const per[] = {"", "/s", "/s^2"};
    if (k == 0) return unit;
    return text_of(l, "%s%s", unit[0] ? unit : "1", per[k]);
}

static const char *rate_name(linear_robot *l, const char *name, int k) {
    static const char *const suffix[] = {"", ".rate", ".acceleration"};
    return k == 0 ? name : text_of(l, "%s%s", name, suffix[k]);
}

static void add_input(linear_robot *l, snw_linear_input input, const char *name, const char *unit) {
    l->of_input[l->ninput] = input;
    l->input_name[l->ninput] = name;
    l->input_unit[l->ninput++] = unit;
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
        if (state == SNW_INPUT_SPHERICAL || state == SNW_INPUT_IDLE)
            return snw_fail(err, SNW_E_ARGUMENT,
                            "actuator '%s' %s, so it is no input of a linear model", a.name,
                            state == SNW_INPUT_SPHERICAL ? "gives the motion of a spherical joint"
                                                         : "does not act");
        // a given rate is integrated: its coordinate is the given one
        const bool rate = a.motor && snw_gives_rate(a.motor->given);
        const char *unit = part->unit;
        if (rate) unit = strcmp(unit, "rad/s") == 0 ? "rad" : "m";
        add_input(l, in, part->name, unit);
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
        add_input(l, (snw_linear_input){.kind = SNW_LINEAR_LOAD, .item = i, .component = k},
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
    const size_t nv = (size_t)l->r->m->nv, nr = (size_t)l->r->m->nconstraint;
    double *memory = snw_pool_array(l->pool, nv + nr + (size_t)l->noutput + 1, sizeof *memory);
    if (!memory) return snw_fail_memory(err);
    l->parameter[l->ninput] = text_of(l, "%s%s", path, "");
    add_input(l,
              (snw_linear_input){.kind = SNW_LINEAR_OTHER,
                                 .force = memory,
                                 .shift = memory + nv,
                                 .direct = memory + nv + nr},
              l->parameter[l->ninput], text_of(l, "%s%s", unit, ""));
    return SNW_OK;
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
        l->of_output[l->noutput++] = (snw_linear_output){.probe = probe, .column = k};
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
    const int before = l->noutput;
    for (int k = 0; k < stations; k++)
        SNW_TRY(add_outputs(l, probe, k * width + first, count, false, err));
    return named && l->noutput == before ? add_outputs(l, probe, first, 1, true, err) : SNW_OK;
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

// out (nv + nr + noutput) <- residual, violations and outputs of a model with another value of the
// parameter, at the same state
static snw_status sample_parameter(linear_robot *l, const char *path, const char *unit,
                                   double value, double *out, snw_error *err) {
    char set[400];
    (void)snprintf(set, sizeof set, "%s=%.17g %s", path, value, unit);
    const char *const sets[] = {set};
    snw_robot_model *model = NULL;
    snw_robot *r = NULL;
    if (!is_time(path)) SNW_TRY(snw_robot_model_change(l->r->model, 1, sets, &model, err));
    snw_status s = snw_robot_from_model(model ? model : l->r->model, &r, err);
    if (model) snw_robot_model_close(model);
    if (s != SNW_OK) return s;
    const snw_model *m = r->m;
    if (m->nv != l->r->m->nv || m->nconstraint != l->r->m->nconstraint ||
        m->nseg != l->r->m->nseg || m->nsignal != l->r->m->nsignal) {
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
    snw_residual(m, r->in, r->s, false, r->w);
    snw_observe(m, r->in, r->s, false, r->w);
    memcpy(out, r->w->r, (size_t)m->nv * sizeof *out);
    memcpy(out + m->nv, r->w->violation, (size_t)m->nconstraint * sizeof *out);
    memcpy(r->rotation, l->rotation, (size_t)(m->nseg + m->nobs) * sizeof *r->rotation);
    snw_rotations_update(m, r->w, r->rotation);
    const snw_readings more = {.energy = {.kinetic = snw_kinetic_energy(m, r->w),
                                          .elastic = snw_stored_energy(m, r->s, r->w),
                                          .gravity = snw_gravity_energy(m, r->in, r->w)},
                               .stability = NAN,
                               .rotation = r->rotation};
    for (int i = 0; i < l->noutput; i++) {
        snw_probe_read(m, l->of_output[i].probe, r->in, r->s, r->w, &more, r->column);
        out[m->nv + m->nconstraint + i] = r->column[l->of_output[i].column];
    }
    snw_robot_close(r);
    return SNW_OK;
}

// force, shift and direct part of input i, a parameter: differences of order 6; those of order 4
// estimate the error
static snw_status differentiate(linear_robot *l, int i, snw_error *err) {
    static const double weight[2][SAMPLES] = {{3.0 / 4, -3.0 / 20, 1.0 / 60},
                                              {2.0 / 3, -1.0 / 12, 0}};
    const size_t nv = (size_t)l->r->m->nv, nr = (size_t)l->r->m->nconstraint;
    const size_t n = nv + nr + (size_t)l->noutput;
    double value;
    char unit[48];
    SNW_TRY(parameter_value(l, l->parameter[i], &value, unit, err));
    const double h =
        value != 0 && !is_time(l->parameter[i]) ? parameter_move * fabs(value) : parameter_move;
    double *sum = l->samples, *coarse = sum + n, *sample = sum + 2 * n;
    memset(sum, 0, 2 * n * sizeof *sum);
    for (int k = 1; k <= SAMPLES; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            SNW_TRY(sample_parameter(l, l->parameter[i], unit, value + sign * k * h, sample, err));
            for (size_t j = 0; j < n; j++) {
                sum[j] += sign * weight[0][k - 1] / h * sample[j];
                coarse[j] += sign * weight[1][k - 1] / h * sample[j];
            }
        }
    }
    double largest = 0, error = 0;
    for (size_t j = 0; j < nv; j++) {
        largest = fmax(largest, fabs(sum[j]) / l->r->m->scale[j]);
        error = fmax(error, fabs(sum[j] - coarse[j]) / l->r->m->scale[j]);
    }
    if (largest > 0) l->difference = fmax(l->difference, error / largest);
    for (size_t j = 0; j < nr; j++) {
        if (fabs(sum[nv + j]) * h <= still * l->r->m->length) sum[nv + j] = 0;
    }
    // the memory is that of add_parameter
    double *to = (double *)l->of_input[i].force;
    for (size_t j = 0; j < n; j++) to[j] = j < nv + nr ? -sum[j] : sum[j];
    return SNW_OK;
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

// Has a scheme steps of increments with a past?
static bool has_increments(snw_scheme_kind scheme) {
    const snw_scheme_family family = snw_scheme_table[scheme].family;
    return family == SNW_FAMILY_ALPHA || family == SNW_FAMILY_LEVELS;
}

snw_status snw_linear_stepper(const snw_linear_model *model, snw_robot *r, snw_implicit **out,
                              snw_error *err) {
    const snw_linear_step *step = &((const linear_robot *)model)->step;
    if (!has_increments(step->scheme))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "scheme '%s' has no map of its steps; use trapezoidal, euler, newmark, "
                        "bdf2, generalized-alpha or one of their families",
                        snw_scheme_table[step->scheme].name);
    snw_implicit_opts o = snw_implicit_defaults();
    o.scheme = snw_implicit_scheme(step->scheme, step->rho, step->alpha);
    o.fixed_length = o.undamped_velocities = o.no_account = true;
    o.control = true; // no first step of another kind
    o.tolerance = 1e-11;
    if (snw_implicit_create(r->m, &o, out) != SNW_OK) return snw_fail_memory(err);
    snw_implicit_set_manual(*out, &r->held.manual);
    return SNW_OK;
}

double snw_linear_step_length(const snw_linear_model *model) {
    return ((const linear_robot *)model)->step.h;
}

snw_status snw_linear_do_step(const snw_linear_model *model, snw_robot *r, snw_implicit *im,
                              snw_error *err) {
    const double h = snw_linear_step_length(model), t = snw_implicit_state(im)->t + h;
    snw_chord_info info;
    if (snw_implicit_step(im, h, t, &info) != SNW_OK) {
        SNW_TRY(snw_implicit_check(im, t, err));
        return snw_fail(err, SNW_E_DIVERGED,
                        "the step to t = %g s was not solved; use shorter steps or smaller changes "
                        "of the inputs",
                        t);
    }
    snw_state_copy(r->m, snw_implicit_state(im), r->s);
    snw_inputs_copy(snw_implicit_inputs(im), r->in);
    r->inputs_stale = false;
    return SNW_OK;
}

// The end of a step from the present state: l->s, l->step.d; the inputs of the copy c that did it.
static snw_status do_step(linear_robot *l, snw_robot *c, snw_error *err) {
    snw_implicit *im = NULL;
    snw_status s = snw_linear_stepper(&l->view, c, &im, err);
    if (s == SNW_OK) s = snw_robot_check_state(c, err);
    if (s == SNW_OK) s = snw_robot_project(c, err);
    if (s == SNW_OK) s = snw_implicit_start(im, c->s, err);
    if (s == SNW_OK) s = snw_linear_do_step(&l->view, c, im, err);
    if (s == SNW_OK) {
        snw_state_copy(c->m, c->s, l->s);
        memcpy((double *)l->step.d, snw_implicit_increment(im), (size_t)c->m->nv * sizeof(double));
    }
    snw_implicit_destroy(im);
    return s;
}

// ---- the model ----------------------------------------------------------------------------------

static const char *const twist_name[6] = {"wx", "wy", "wz", "vx", "vy", "vz"};

// name and unit of coordinate `dof`
static snw_linear_signal coordinate_of(linear_robot *l, int dof) {
    const snw_model *m = l->r->m;
    int k = 0;
    while (dof >= m->block[k].dof + m->block[k].n) k++;
    const snw_block *b = &m->block[k];
    const int i = dof - b->dof;
    if (b->space != SNW_SPACE_RN) {
        const char *link = m->label.link[m->seg[b->seg].link].name;
        return (snw_linear_signal){.name = text_of(l, "%s.%s", link, twist_name[i]),
                                   .unit = i < 3 ? "rad" : "m",
                                   .exact = 1};
    }
    return (snw_linear_signal){.name = l->q_name[b->q + i],
                               .unit = l->r->model->npart[SNW_PART_COORDINATE]
                                           ? l->r->model->part[SNW_PART_COORDINATE][b->q + i].unit
                                           : "",
                               .exact = 1};
}

// number of possible indices of a role
static int role_size(const linear_robot *l, snw_linear_role role) {
    const snw_model *m = l->m;
    switch (role) {
    case SNW_STATE_COORDINATE:
    case SNW_STATE_RATE:
    case SNW_STATE_MASSLESS:
        return m->nv;
    case SNW_STATE_INTEGRAL:
        return m->nsignal;
    case SNW_STATE_GIVEN:
    case SNW_STATE_GIVEN_RATE:
        return l->ninput;
    case SNW_STATE_ACCELERATION:
    case SNW_STATE_PSEUDO:
    case SNW_STATE_INCREMENT:
    case SNW_STATE_RATE_BEFORE:
        return l->discrete ? m->nv : 0;
    }
    return 0;
}

// name and unit of a state
static snw_linear_signal name_state(linear_robot *l, snw_linear_role role, int i) {
    static const char *const suffix[ROLES] = {[SNW_STATE_RATE] = ".rate",
                                              [SNW_STATE_ACCELERATION] = ".acceleration",
                                              [SNW_STATE_PSEUDO] = ".pseudo",
                                              [SNW_STATE_INCREMENT] = ".increment",
                                              [SNW_STATE_RATE_BEFORE] = ".rate_before"};
    static const int order[ROLES] = {[SNW_STATE_RATE] = 1,
                                     [SNW_STATE_ACCELERATION] = 2,
                                     [SNW_STATE_PSEUDO] = 2,
                                     [SNW_STATE_RATE_BEFORE] = 1};
    if (role == SNW_STATE_INTEGRAL) {
        const char *text = l->m->signal[i].text;
        return (snw_linear_signal){.name = text ? text : "", .unit = "", .exact = 1};
    }
    if (role == SNW_STATE_GIVEN || role == SNW_STATE_GIVEN_RATE) {
        const int k = role == SNW_STATE_GIVEN_RATE;
        return (snw_linear_signal){.name = rate_name(l, l->input_name[i], k),
                                   .unit = rate_unit(l, l->input_unit[i], k),
                                   .exact = 1};
    }
    if (role == SNW_STATE_MASSLESS) {
        char number[16];
        (void)snprintf(number, sizeof number, "%d", i + 1);
        return (snw_linear_signal){
            .name = text_of(l, "massless %s%s", number, ""), .unit = "", .exact = 1};
    }
    snw_linear_signal s = coordinate_of(l, i);
    if (suffix[role]) s.name = text_of(l, "%s%s", s.name, suffix[role]);
    s.unit = rate_unit(l, s.unit, order[role]);
    return s;
}

// named, state, input, output, pole <- memory and names of all that may occur
static snw_status linear_describe(linear_robot *l, snw_error *err) {
    size_t most = 1;
    for (int role = 0; role < ROLES; role++) {
        const int n = role_size(l, (snw_linear_role)role);
        l->named[role] = snw_pool_array(l->pool, (size_t)n + 1, sizeof **l->named);
        if (!l->named[role]) return snw_fail_memory(err);
        for (int i = 0; i < n; i++) l->named[role][i] = name_state(l, (snw_linear_role)role, i);
        most += (size_t)n;
    }
    const size_t nu = 3 * (size_t)l->ninput + 1;
    l->state = snw_pool_array(l->pool, most, sizeof *l->state);
    l->pole = snw_pool_array(l->pool, most, sizeof *l->pole);
    l->input = snw_pool_array(l->pool, nu, sizeof *l->input);
    l->output = snw_pool_array(l->pool, (size_t)l->noutput + 1, sizeof *l->output);
    for (int k = 0; k < 3; k++) {
        l->rate_of_input[k] = snw_pool_array(l->pool, nu, sizeof *l->input);
        if (!l->rate_of_input[k]) return snw_fail_memory(err);
        for (int i = 0; i < l->ninput; i++) {
            l->rate_of_input[k][i] =
                (snw_linear_signal){.name = rate_name(l, l->input_name[i], k),
                                    .unit = rate_unit(l, l->input_unit[i], k),
                                    .exact = l->of_input[i].kind != SNW_LINEAR_OTHER};
        }
    }
    if (!l->state || !l->pole || !l->input || !l->output) return snw_fail_memory(err);
    const snw_robot_model *model = l->r->model;
    for (int i = 0; i < l->noutput; i++) {
        const snw_linear_output *o = &l->of_output[i];
        const snw_part *column =
            &model->part[SNW_PART_COLUMN][model->part[SNW_PART_PROBE][o->probe].first + o->column];
        l->output[i] = (snw_linear_signal){.name = column->name, .unit = column->unit};
    }
    return SNW_OK;
}

// value of coordinate `dof`; 0 on Lie groups
static double coordinate_value(const linear_robot *l, int dof) {
    const snw_model *m = l->m;
    int k = 0;
    while (dof >= m->block[k].dof + m->block[k].n) k++;
    const snw_block *b = &m->block[k];
    return b->space == SNW_SPACE_RN ? l->s->q[b->q + dof - b->dof] : 0;
}

// value of the k-th rate of an input at the operating point
static double input_value(const linear_robot *l, int i, int k, const snw_inputs *in,
                          const snw_work *w) {
    const snw_linear_input *input = &l->of_input[i];
    if (input->kind != SNW_LINEAR_OTHER) return snw_linear_input_value(l->r->m, input, k, in, w);
    double value;
    char unit[48];
    snw_error ignored;
    return parameter_value(l, l->parameter[i], &value, unit, &ignored) == SNW_OK ? value : NAN;
}

// value of a state at the operating point
static double state_value(const linear_robot *l, snw_linear_state x, const snw_inputs *in,
                          const snw_work *w) {
    switch (x.role) {
    case SNW_STATE_COORDINATE:
        return coordinate_value(l, x.index);
    case SNW_STATE_RATE:
        return x.index >= 0 ? l->s->v[x.index] : 0;
    case SNW_STATE_ACCELERATION:
        return x.index >= 0 ? l->s->a[x.index] : 0;
    case SNW_STATE_INTEGRAL:
        return l->s->z[x.index];
    case SNW_STATE_GIVEN:
    case SNW_STATE_GIVEN_RATE:
        return input_value(l, x.index, x.role == SNW_STATE_GIVEN_RATE, in, w);
    case SNW_STATE_MASSLESS:
    case SNW_STATE_PSEUDO:
    case SNW_STATE_INCREMENT:
    case SNW_STATE_RATE_BEFORE:
        break;
    }
    return 0;
}

// the public part <- the model of the last solve
static void publish(linear_robot *l, const snw_inputs *in, const snw_work *w) {
    static const snw_linear_signal massless = {.name = "massless", .unit = "", .exact = 1};
    const snw_linear_system *x = snw_linear_result(l->linear);
    for (int i = 0; i < x->nx; i++) {
        const snw_linear_state at = x->state[i];
        l->state[i] = at.index >= 0 ? l->named[at.role][at.index] : massless;
        l->state[i].value = state_value(l, at, in, w);
    }
    for (int i = 0; i < x->nu; i++) {
        l->input[i] = l->rate_of_input[x->derivative[i]][x->of_input[i]];
        l->input[i].value = input_value(l, x->of_input[i], x->derivative[i], in, w);
    }
    for (int i = 0; i < x->ny; i++) {
        l->output[i].value = l->of_output[i].value;
        l->output[i].exact = l->of_output[i].exact;
    }
    l->view = (snw_linear_model){.nx = x->nx,
                                 .nu = x->nu,
                                 .ny = x->ny,
                                 .A = x->A,
                                 .B = x->B,
                                 .C = x->C,
                                 .D = x->D,
                                 .state = l->state,
                                 .input = l->input,
                                 .output = l->output,
                                 .time = l->s->t,
                                 .step = l->discrete ? l->step.h : 0,
                                 .moving = is_moving(l->r),
                                 .residual = x->residual,
                                 .difference = fmax(x->difference, l->difference),
                                 .nidle = x->nidle,
                                 .nheld = x->nheld};
}

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
    l->difference = 0;
    for (int i = 0; i < l->ninput; i++) {
        if (l->parameter[i]) SNW_TRY(differentiate(l, i, err));
    }
    SNW_TRY(snw_linear_solve(l->linear, at->in, l->s, l->rotation, at->w, err));
    l->poles_of = snw_linear_continuous(l->linear, &l->npoles_of);
    if (l->discrete && l->step.d && snw_linear_needs_all(l->linear)) {
        memcpy(l->continuous, l->poles_of,
               (size_t)l->npoles_of * (size_t)l->npoles_of * sizeof *l->continuous);
        l->poles_of = l->continuous;
        SNW_TRY(snw_linear_solve_step(l->linear, &l->step, at->in, l->s, l->rotation, at->w, err));
    } else if (l->discrete) {
        SNW_TRY(snw_linear_discretise(l->linear, &l->step, l->s, err));
    }
    snw_residual(l->r->m, at->in, l->s, false, at->w);
    publish(l, at->in, at->w);
    return SNW_OK;
}

snw_status snw_linear_derive(snw_linear_model *model, int input, snw_error *err) {
    linear_robot *l = (linear_robot *)model;
    l->m = l->r->m;
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
    SNW_TRY(snw_linear_gain(l->linear, r->in, l->s, l->rotation, r->w, err));
    snw_residual(r->m, r->in, l->s, false, r->w);
    publish(l, r->in, r->w);
    return SNW_OK;
}

snw_status snw_linear_of_step(snw_linear_model *model, const double *d, snw_error *err) {
    linear_robot *l = (linear_robot *)model;
    snw_robot *r = l->r;
    snw_state_copy(r->m, r->s, l->s);
    show_point(l, r);
    l->step.d = d;
    SNW_TRY(snw_linear_solve_step(l->linear, &l->step, r->in, l->s, l->rotation, r->w, err));
    snw_residual(r->m, r->in, l->s, false, r->w);
    publish(l, r->in, r->w);
    return SNW_OK;
}

void snw_linear_values(snw_linear_model *model, double *y) {
    linear_robot *l = (linear_robot *)model;
    snw_robot *r = l->r;
    snw_residual(r->m, r->in, r->s, false, r->w);
    snw_observe(r->m, r->in, r->s, false, r->w);
    snw_linear_read(l->linear, r->in, r->s, r->rotation, r->w, y);
}

const snw_linear_state *snw_linear_states(const snw_linear_model *model) {
    return snw_linear_result(((const linear_robot *)model)->linear)->state;
}

snw_linear_names snw_linear_named(const snw_linear_model *model) {
    const linear_robot *l = (const linear_robot *)model;
    return (snw_linear_names){.ninput = l->ninput,
                              .noutput = l->noutput,
                              .of_input = l->of_input,
                              .input = l->rate_of_input[0],
                              .of_output = l->of_output,
                              .output = l->output};
}

const snw_linear_input *snw_linear_inputs(const snw_linear_model *model) {
    return ((const linear_robot *)model)->of_input;
}

double snw_linear_motion(const snw_linear_model *model, int input) {
    return snw_linear_result(((const linear_robot *)model)->linear)->motion[input];
}

snw_status snw_linear_update(snw_linear_model *model, snw_error *err) {
    linear_robot *l = (linear_robot *)model;
    if (!l) return snw_fail(err, SNW_E_ARGUMENT, "the linear model is NULL");
    if (l->statics) return snw_linear_static(model, err);
    SNW_TRY(check_model(l, err));
    SNW_TRY(operating_point(l, err));
    l->step.d = NULL;
    if (!l->discrete || !is_moving(l->r) || !has_increments(l->step.scheme))
        return linear_compute(l, l->r, err);
    snw_robot *copy = NULL;
    SNW_TRY(snw_robot_from_model(l->r->model, &copy, err));
    snw_robot_take_over(copy, l->r);
    l->step.d = l->samples;
    snw_status s = do_step(l, copy, err);
    if (s == SNW_OK) s = linear_compute(l, copy, err);
    snw_robot_close(copy);
    return s;
}

// options of a discrete model
static snw_status choose_step(linear_robot *l, const snw_linear_options *how, snw_error *err) {
    if (!(how->step >= 0) || !isfinite(how->step))
        return snw_fail(err, SNW_E_ARGUMENT, "the step must be positive, or 0, got %g s",
                        how->step);
    l->discrete = how->step > 0;
    l->statics = how->statics != 0;
    if (l->statics && (l->discrete || how->three_inputs))
        return snw_fail(err, SNW_E_ARGUMENT, "static gains have no step and no rates of inputs");
    if (!l->discrete && how->scheme)
        return snw_fail(err, SNW_E_ARGUMENT, "a scheme needs a step: give its length");
    if (!l->discrete) return SNW_OK;
    const char *name = how->scheme ? how->scheme : "generalized-alpha";
    const int kind = snw_scheme_find(name);
    if (kind < 0) return snw_fail(err, SNW_E_ARGUMENT, "there is no scheme '%.40s'", name);
    const snw_scheme_info *row = &snw_scheme_table[kind];
    const bool rho = isnan(how->rho) || (how->rho >= row->rho_min && how->rho <= 1);
    const bool alpha = isnan(how->alpha) || (how->alpha >= -0.5 && how->alpha <= 0);
    if (!rho || !alpha)
        return snw_fail(err, SNW_E_ARGUMENT, "%s must be between %g and %g, got %g",
                        rho ? "alpha" : "rho", rho ? -0.5 : row->rho_min, rho ? 0.0 : 1.0,
                        rho ? how->alpha : how->rho);
    const snw_step_desc defaults = snw_step_dynamic((snw_scheme_kind)kind);
    l->step = (snw_linear_step){.scheme = (snw_scheme_kind)kind,
                                .rho = isnan(how->rho) ? defaults.rho : how->rho,
                                .alpha = isnan(how->alpha) ? defaults.alpha : how->alpha,
                                .h = how->step,
                                .reduce = how->reduce != 0};
    return SNW_OK;
}

static snw_status linear_names(linear_robot *l, const snw_linear_options *how, snw_error *err) {
    const snw_robot_model *model = l->r->model;
    for (int i = 0; i < how->noutput; i++) SNW_TRY(add_named_output(l, how->output[i], err));
    for (int i = 0; how->noutput == 0 && i < l->r->desc->nprobe; i++)
        SNW_TRY(add_probe(l, i, false, err));
    for (int i = 0; i < how->ninput; i++) SNW_TRY(add_named_input(l, how->input[i], err));
    if (how->ninput == 0)
        SNW_TRY(add_actuator_inputs(l, 0, model->npart[SNW_PART_INPUT], false, err));
    return SNW_OK;
}

static snw_status linear_open(linear_robot *l, const snw_linear_options *how, snw_error *err) {
    snw_robot *r = l->r;
    const snw_model *m = r->m;
    l->pool = snw_pool_create(POOL_LIMIT);
    if (!l->pool) return snw_fail_memory(err);
    const size_t actuators = (size_t)r->model->npart[SNW_PART_INPUT];
    const size_t most = 6 * (size_t)how->ninput + ((size_t)how->ninput + 1) * actuators + 1;
    const size_t columns = (size_t)r->model->npart[SNW_PART_COLUMN];
    l->of_input = snw_pool_array(l->pool, most, sizeof *l->of_input);
    l->input_name = snw_pool_array(l->pool, most, sizeof *l->input_name);
    l->input_unit = snw_pool_array(l->pool, most, sizeof *l->input_unit);
    l->parameter = snw_pool_array(l->pool, most, sizeof *l->parameter);
    l->of_output =
        snw_pool_array(l->pool, columns * ((size_t)how->noutput + 1) + 1, sizeof *l->of_output);
    l->rotation = snw_pool_array(l->pool, (size_t)(m->nseg + m->nobs), sizeof *l->rotation);
    l->q_name = snw_coordinate_names(m, l->pool);
    if (!l->of_input || !l->input_name || !l->input_unit || !l->parameter || !l->of_output ||
        !l->rotation || !l->q_name)
        return snw_fail_memory(err);
    SNW_TRY(choose_step(l, how, err));
    SNW_TRY(linear_names(l, how, err));
    for (int i = 0; l->statics && i < l->ninput; i++) {
        if (l->parameter[i])
            return snw_fail(err, SNW_E_ARGUMENT,
                            "'%s': numbers of the file are no inputs of static gains",
                            l->parameter[i]);
    }
    const size_t n = (size_t)m->nv + (size_t)m->nconstraint + (size_t)l->noutput;
    l->samples = snw_pool_array(l->pool, 3 * n + 1, sizeof *l->samples);
    const size_t rows = 2 * (size_t)m->nv + (size_t)m->nlive + 2 * (size_t)l->ninput + 1;
    if (l->discrete) {
        l->continuous = snw_pool_array(l->pool, rows * rows, sizeof *l->continuous);
        if (!l->continuous) return snw_fail_memory(err);
    }
    if (!l->samples || snw_state_create(m, &l->s) != SNW_OK ||
        snw_linear_create(m, l->ninput, l->of_input, l->noutput, l->of_output,
                          how->three_inputs || l->discrete, l->discrete, &l->linear) != SNW_OK)
        return snw_fail_memory(err);
    return linear_describe(l, err);
}

snw_status snw_linear_prepare(snw_robot *r, const snw_linear_options *how, snw_linear_model **out,
                              snw_error *err) {
    if (!r || !out) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", r ? "out" : "the robot");
    *out = NULL;
    const snw_linear_options defaults = snw_linear_defaults();
    if (!how) how = &defaults;
    if (how->ninput < 0 || how->noutput < 0 || (how->ninput && !how->input) ||
        (how->noutput && !how->output))
        return snw_fail(err, SNW_E_ARGUMENT, "the names of %s are missing",
                        how->ninput < 0 || (how->ninput && !how->input) ? "inputs" : "outputs");
    for (int i = 0; i < how->ninput; i++) {
        if (!how->input[i]) return snw_fail(err, SNW_E_ARGUMENT, "input %d is NULL", i);
    }
    for (int i = 0; i < how->noutput; i++) {
        if (!how->output[i]) return snw_fail(err, SNW_E_ARGUMENT, "output %d is NULL", i);
    }
    if (r->m->nbranch) {
        return snw_fail(err, SNW_E_MODEL,
                        "linear models do not support materials that relax in this version; leave "
                        "'relaxation' of the material out");
    }
    linear_robot *l = snw_alloc(sizeof *l);
    if (!l) return snw_fail_memory(err);
    l->r = r;
    l->m = r->m;
    const snw_status s = linear_open(l, how, err);
    if (s != SNW_OK) {
        snw_linear_close(&l->view);
        return s;
    }
    *out = &l->view;
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
    snw_linear_destroy(l->linear);
    snw_state_destroy(l->s);
    snw_pool_destroy(l->pool);
    snw_free(l);
}

// ---- poles --------------------------------------------------------------------------------------

// frequency and damping of the root s = re + i im
static void frequency_of(double re, double im, snw_linear_pole *out) {
    const double size = hypot(re, im);
    out->frequency = size / (2 * acos(-1.0));
    out->damping = size > 0 ? -re / size : NAN;
}

// Roots of the scheme <- those left when each root of the robot has taken the one next to exp(s h),
// slow ones first.
static void mark_parasitic(const linear_robot *l, int n, const double *re, const double *im) {
    for (int i = 0; i < l->view.nx; i++) l->pole[i].parasitic = 1;
    for (int k = 0; k < n; k++) {
        const double size = exp(re[k] * l->step.h);
        const double x = size * cos(im[k] * l->step.h), y = size * sin(im[k] * l->step.h);
        int best = -1;
        double least = INFINITY;
        for (int i = 0; i < l->view.nx; i++) {
            const double distance = hypot(l->pole[i].re - x, l->pole[i].im - y);
            if (l->pole[i].parasitic && distance < least) least = distance, best = i;
        }
        if (best >= 0) l->pole[best].parasitic = 0;
    }
}

snw_status snw_linear_analyse(snw_linear_model *model, snw_error *err) {
    linear_robot *l = (linear_robot *)model;
    if (!l) return snw_fail(err, SNW_E_ARGUMENT, "the linear model is NULL");
    snw_linear_model *v = &l->view;
    const int continuous = l->npoles_of;
    const double *A = l->poles_of;
    const int n = v->nx > continuous ? v->nx : continuous, io = v->nu > v->ny ? v->nu : v->ny;
    snw_arena scratch = {.size = snw_system_scratch(n, io)};
    scratch.base = snw_alloc(scratch.size);
    double *re = snw_alloc(2 * (size_t)(n + 1) * sizeof *re), *im = re + n + 1;
    bool *lost = snw_alloc(2 * (size_t)(n + 1) * sizeof *lost), *unseen = lost + n + 1;
    snw_status s = scratch.base && re && lost ? SNW_OK : snw_fail_memory(err);
    if (s == SNW_OK) {
        s = snw_system_analyse(v->nx, v->A, v->nu, v->B, v->ny, v->C, &scratch, re, im, lost,
                               unseen);
        if (s != SNW_OK) (void)snw_fail(err, s, "the poles of the linear model were not found");
    }
    v->npole = v->ncontrollable = v->nobservable = 0;
    for (int i = 0; s == SNW_OK && i < v->nx; i++) {
        snw_linear_pole *p = &l->pole[i];
        *p = (snw_linear_pole){
            .re = re[i], .im = im[i], .controllable = !lost[i], .observable = !unseen[i]};
        v->ncontrollable += p->controllable;
        v->nobservable += p->observable;
        if (l->discrete) { // log(z)/h
            frequency_of(log(hypot(re[i], im[i])) / l->step.h, atan2(im[i], re[i]) / l->step.h, p);
        } else {
            frequency_of(re[i], im[i], p);
        }
    }
    if (s == SNW_OK && l->discrete) {
        s = snw_system_analyse(continuous, A, 0, NULL, 0, NULL, &scratch, re, im, lost, unseen);
        if (s == SNW_OK) mark_parasitic(l, continuous, re, im);
    }
    if (s == SNW_OK) {
        v->npole = v->nx;
        v->pole = l->pole;
    }
    snw_free(scratch.base);
    snw_free(re);
    snw_free(lost);
    return s;
}
