// SPDX-License-Identifier: MIT
//
// Inverse statics and kinematics of the public robot: names of inputs and outputs for
// study/inverse.h.
#include "robot/robot_follow.h"
#include "robot/robot_linear.h"

#include "base/fail.h"
#include "base/pool.h"
#include "study/inverse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POOL_LIMIT = 1 << 24 };

typedef struct inverse_robot {
    snw_robot *r;
    const snw_inverse_options *how;
    snw_pool *pool;
    snw_linear_model *names; // of inputs and outputs; not computed
    snw_error *err;
    snw_inverse_problem problem;
} inverse_robot;

snw_inverse_options snw_inverse_defaults(void) { return (snw_inverse_options){.tolerance = 1e-9}; }

static snw_status refuse(snw_error *err, const char *what, const char *name) {
    return snw_fail(err, SNW_E_ARGUMENT, "%s '%.100s'", what, name);
}

static snw_status check_options(const snw_inverse_options *how, snw_error *err) {
    if (how->ntarget < 1 || !how->target || how->nactuator < 0 ||
        (how->nactuator > 0 && !how->actuator))
        return snw_fail(err, SNW_E_ARGUMENT, "%s are missing",
                        how->ntarget < 1 || !how->target ? "targets" : "actuators");
    if (!isfinite(how->time) || !(how->interval >= 0) || !(how->tolerance > 0))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "time must be finite, interval not negative and tolerance positive, got "
                        "%g, %g and %g",
                        how->time, how->interval, how->tolerance);
    for (int i = 0; i < how->ntarget; i++) {
        const snw_inverse_target *t = &how->target[i];
        if (!t->output || t->n < 1 || !t->value)
            return snw_fail(err, SNW_E_ARGUMENT, "target %d has no %s", i,
                            t->output ? "values" : "name");
        SNW_TRY(snw_robot_check_numbers(t->output, t->n, t->value, err));
        if (!isnan(t->weight) && !(t->weight > 0 && isfinite(t->weight)))
            return snw_fail(err, SNW_E_ARGUMENT, "target '%.60s': weight must be positive, got %g",
                            t->output, t->weight);
    }
    for (int i = 0; i < how->nactuator; i++) {
        const snw_inverse_actuator *a = &how->actuator[i];
        if (!a->name) return snw_fail(err, SNW_E_ARGUMENT, "actuator %d has no name", i);
        if (a->rate < 0 || isinf(a->rest) || a->low == INFINITY || a->high == -INFINITY)
            return refuse(err, "a limit, rate or rest is not possible, of actuator", a->name);
    }
    return SNW_OK;
}

// the name, if it is that of a load or of one of its components; else NULL
static const char *load_of(const snw_robot *r, const char *name) {
    snw_varied x;
    snw_error none;
    const bool some = snw_robot_load(r, name) >= 0 || snw_varied_find(r, name, &x, &none) == SNW_OK;
    return some ? name : NULL;
}

// names of the actuators and loads, each once, and of the targets, for the gain
static snw_status prepare_names(inverse_robot *v) {
    const snw_robot_model *model = v->r->model;
    snw_linear_options o = snw_linear_defaults();
    const size_t nt = (size_t)v->how->ntarget, na = (size_t)v->how->nactuator;
    const char **name = snw_pool_array(v->pool, nt + na + 1, sizeof *name);
    if (!name) return snw_fail_memory(v->err);
    for (int i = 0; i < v->how->nactuator; i++) {
        const char *given = v->how->actuator[i].name;
        int actuator = snw_robot_model_find(model, SNW_PART_ACTUATOR, given);
        const int input = snw_robot_model_find(model, SNW_PART_INPUT, given);
        if (actuator < 0 && input >= 0) actuator = model->part[SNW_PART_INPUT][input].first;
        const char *own =
            actuator >= 0 ? model->part[SNW_PART_ACTUATOR][actuator].name : load_of(v->r, given);
        double value;
        char unit[48];
        snw_error none;
        if (!own && snw_robot_model_value(model, given, &value, unit, &none) == SNW_OK) own = given;
        if (!own)
            return refuse(v->err,
                          "there is no actuator, input, load, component of a load or number of the "
                          "file",
                          given);
        bool again = false;
        for (int k = 0; k < o.ninput; k++) again = again || strcmp(name[nt + (size_t)k], own) == 0;
        if (!again) name[nt + (size_t)o.ninput++] = own;
    }
    for (size_t i = 0; i < nt; i++) name[i] = v->how->target[i].output;
    o.input = name + nt;
    o.noutput = v->how->ntarget;
    o.output = name;
    o.three_inputs = 1;
    return snw_linear_prepare(v->r, &o, &v->names, v->err);
}

static bool is_column_of(const char *column, const char *output) {
    const size_t size = strlen(output);
    return strncmp(column, output, size) == 0 && (column[size] == '.' || column[size] == 0);
}

// SNW_E_ARGUMENT: a column has two desired values.
static snw_status check_twice(const inverse_robot *v) {
    const snw_inverse_target *target = v->how->target;
    for (int i = 0; i < v->how->ntarget; i++) {
        for (int k = 0; k < v->how->ntarget; k++) {
            if (k != i && (k < i || strcmp(target[i].output, target[k].output) != 0) &&
                is_column_of(target[i].output, target[k].output))
                return refuse(v->err, "there are two desired values for", target[i].output);
        }
    }
    return SNW_OK;
}

// aim <- targets by columns
static snw_status list_aims(inverse_robot *v, const snw_linear_names *names, snw_inverse_aim *aim) {
    int k = 0;
    SNW_TRY(check_twice(v));
    for (int t = 0; t < v->how->ntarget; t++) {
        const snw_inverse_target *target = &v->how->target[t];
        int n = 0, columns = 0;
        while (k + columns < names->noutput &&
               is_column_of(names->output[k + columns].name, target->output))
            columns++;
        while (n < columns && n < target->n) {
            aim[k] = (snw_inverse_aim){.probe = names->of_output[k].probe,
                                       .column = names->of_output[k].column,
                                       .name = names->output[k].name,
                                       .unit = names->output[k].unit,
                                       .value = target->value[n++],
                                       .weight = target->weight};
            k++;
        }
        if (target->n == columns) continue;
        return snw_fail(v->err, SNW_E_ARGUMENT,
                        "target '%.60s' has %d value%s for %d column%s; give one for each, or name "
                        "a column: %.60s",
                        target->output, target->n, target->n == 1 ? "" : "s", columns,
                        columns == 1 ? "" : "s", names->output[k - n].name);
    }
    return SNW_OK;
}

// the entry of the options for an input, its own before that of the whole; NULL: none
static const snw_inverse_actuator *options_of(const inverse_robot *v, const char *name,
                                              const char *whole) {
    const char *const wanted[] = {name, whole};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < v->how->nactuator; k++) {
            if (strcmp(v->how->actuator[k].name, wanted[i]) == 0) return &v->how->actuator[k];
        }
    }
    return NULL;
}

// unknown <- inputs of the actuators and loads, with their limits
static snw_status list_unknowns(const inverse_robot *v, const snw_linear_names *names,
                                snw_inverse_unknown *unknown) {
    const snw_robot_model *model = v->r->model;
    const snw_inverse_actuator none = {.low = NAN, .high = NAN, .rate = NAN, .rest = NAN};
    for (int i = 0; i < names->ninput; i++) {
        const snw_linear_input *of = &names->of_input[i];
        const char *name = names->input[i].name;
        snw_input_of at = {.actuator = -1, .load = of->item, .component = of->component};
        const bool parameter = of->kind == SNW_LINEAR_OTHER;
        if (parameter) {
            char unit[48];
            SNW_TRY(snw_robot_model_value(model, name, &unknown[i].value, unit, v->err));
        } else if (of->kind != SNW_LINEAR_LOAD) {
            const int input = snw_robot_model_find(model, SNW_PART_INPUT, name);
            at.actuator = model->part[SNW_PART_INPUT][input].first;
        }
        const char *whole = parameter          ? name
                            : at.actuator >= 0 ? model->part[SNW_PART_ACTUATOR][at.actuator].name
                                               : v->r->desc->load[at.load].name;
        const snw_inverse_actuator *o = options_of(v, name, whole);
        const bool fixed = !o && v->how->nactuator > 0; // another input of its actuator may change
        if (!o) o = &none;
        unknown[i] = (snw_inverse_unknown){.of = at,
                                           .parameter = parameter ? of : NULL,
                                           .value = unknown[i].value,
                                           .name = name,
                                           .unit = names->input[i].unit,
                                           .low = o->low,
                                           .high = o->high,
                                           .rate = o->rate,
                                           .rest = o->rest,
                                           .fixed = fixed};
    }
    return SNW_OK;
}

// the problem <- that of the robot with other numbers of the file
static snw_status set_parameters(void *user, const double *value, snw_error *err) {
    inverse_robot *v = user;
    const snw_inverse_problem *p = &v->problem;
    const char **set = snw_pool_array(v->pool, (size_t)p->nunknown, sizeof *set);
    int n = 0;
    for (int i = 0; set && i < p->nunknown; i++) {
        const snw_inverse_unknown *x = &p->unknown[i];
        if (!x->parameter) continue;
        char number[32];
        (void)snprintf(number, sizeof number, "%.17g", value[i]);
        const char *text = snw_pool_format(v->pool, "%s=%s %s", x->name, number, x->unit);
        if (!text) return snw_fail_memory(err);
        set[n++] = text;
    }
    if (!set) return snw_fail_memory(err);
    SNW_TRY(snw_robot_set_parameters(v->r, n, set, err));
    v->problem.statics = v->r->statics;
    v->problem.s = v->r->s;
    v->problem.held = &v->r->held;
    v->problem.rotation = v->r->rotation;
    return SNW_OK;
}

static snw_status derive_parameter(void *user, int i, snw_error *err) {
    return snw_linear_derive(((inverse_robot *)user)->names, i, err);
}

static void inverse_signals(void *user) {
    snw_robot *r = ((inverse_robot *)user)->r;
    r->inputs_stale = true;
    snw_robot_refresh_inputs(r);
    snw_robot_initialise_signals(r);
}

static snw_status inverse_solve(inverse_robot *v, snw_inverse_result **out) {
    snw_robot *r = v->r;
    SNW_TRY(prepare_names(v));
    const snw_linear_names names = snw_linear_named(v->names);
    if (names.ninput == 0)
        return snw_fail(v->err, SNW_E_ARGUMENT,
                        "the robot has no actuators whose inputs could be "
                        "found; add some to the file");
    snw_inverse_unknown *unknown = snw_pool_array(v->pool, (size_t)names.ninput, sizeof *unknown);
    snw_inverse_aim *aim = snw_pool_array(v->pool, (size_t)names.noutput + 1, sizeof *aim);
    if (!unknown || !aim) return snw_fail_memory(v->err);
    SNW_TRY(list_aims(v, &names, aim));
    SNW_TRY(list_unknowns(v, &names, unknown));
    v->problem = (snw_inverse_problem){.statics = r->statics,
                                       .s = r->s,
                                       .held = &r->held,
                                       .rotation = r->rotation,
                                       .nunknown = names.ninput,
                                       .unknown = unknown,
                                       .naim = names.noutput,
                                       .aim = aim,
                                       .time = v->how->time,
                                       .interval = v->how->interval,
                                       .tolerance = v->how->tolerance,
                                       .user = v,
                                       .set = set_parameters,
                                       .derive = derive_parameter,
                                       .signals = inverse_signals};
    const snw_status s = snw_inverse_solve(&v->problem, out, v->err);
    r->inputs_stale = true;
    snw_robot_read_inputs(r);
    return s;
}

snw_status snw_robot_solve_inverse(snw_robot *r, const snw_inverse_options *how,
                                   snw_inverse_result **out, snw_error *err) {
    if (!r || !how || !out)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", !r ? "the robot" : !how ? "how" : "out");
    *out = NULL;
    SNW_TRY(check_options(how, err));
    SNW_TRY(snw_robot_check_forces(r, err));
    inverse_robot v = {.r = r, .how = how, .err = err, .pool = snw_pool_create(POOL_LIMIT)};
    const snw_status s = v.pool ? inverse_solve(&v, out) : snw_fail_memory(err);
    snw_linear_close(v.names);
    snw_pool_destroy(v.pool);
    return s;
}
