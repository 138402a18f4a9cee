// SPDX-License-Identifier: MIT
//
// Controls of a live simulation: the list of them, their ranges, and the filtered inputs that they
// give the robot in each step.

#include "robot/live_private.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <stdio.h>

static const double CONTROL_LAG = 0.03; // s: time constant of the filter
static const double RETURN_TIME = 0.5;  // s: duration of the transition back to a law
enum { SAMPLES = 200 };                 // samples of a law, to find its range

// exact solution: with e = x - wanted and b = x' + e/T, e(h) = (e + b h) exp(-h/T)
void snw_live_filter(snw_live_filter_state *f, double h, double T) {
    const double e = f->x - f->wanted, b = f->v + e / T, fade = exp(-h / T);
    f->x = f->wanted + (e + b * h) * fade;
    f->v = (f->v - b * h / T) * fade;
}

// ---- list of controls ---------------------------------------------------------------------------

// law of the prescribed quantity of an actuator's coordinate; NULL: none
static snw_law law_of(const snw_desc *d, int actuator, int k) {
    const snw_actuator a = snw_actuator_at(d, actuator);
    if (a.motor) return a.motor->turns ? NULL : a.motor->law[k];
    return a.tendon ? a.tendon->law : NULL;
}

// least and greatest value of a law during the study
static void law_range(double end, snw_law law, double *low, double *high) {
    *low = INFINITY, *high = -INFINITY;
    for (int i = 0; i <= SAMPLES; i++) {
        const double x = snw_expr_value(law, (snw_at){.t = end * i / SAMPLES});
        if (isfinite(x)) *low = fmin(*low, x), *high = fmax(*high, x);
    }
}

// Range of a control if the file gives none: the range of the law in the study, widened by half of
// it at either end; for constant laws a range by the robot's size and weight.
static void guess_range(const snw_live *v, const snw_desc *d, int actuator, int k, double *low,
                        double *high) {
    const snw_law law = law_of(d, actuator, k);
    const double L = v->base->m->length, W = 9.81 * fmax(v->mass, 1e-3);
    const snw_dim dim = snw_actuator_dim(d, actuator, k);
    *low = *high = 0;
    if (law && !(snw_expr_vars(law) & SNW_VAR_SIGNAL)) law_range(v->study_duration, law, low, high);
    if (!(*low <= *high)) *low = *high = 0;
    double room = 0.5 * (*high - *low);
    if (!(room > 0)) {
        const bool angle = dim.m == 0 && dim.kg == 0, force = dim.kg == 1 && dim.m == 1;
        room = *low != 0     ? fabs(*low)
               : angle       ? 1
               : dim.kg == 0 ? 0.25 * L
               : force       ? 5 * W
               : dim.m == 2  ? W * L
                             : 2e4;
    }
    *low -= room, *high += room;
    const snw_actuator a = snw_actuator_at(d, actuator);
    if (a.control->positive || a.type->feeds) *low = fmax(*low, 0);
    if (a.type->feeds) *low = fmax(*low, 0.05 * *high);
}

static void add_actuator(snw_live *v, const snw_desc *d, int actuator) {
    const snw_actuator a = snw_actuator_at(d, actuator);
    // motors with a common effort have one control
    if (a.motor && a.motor->same && !a.motor->nsame) return;
    const snw_knob_desc *range = NULL;
    for (int i = 0; i < d->nknob; i++) {
        if (d->knob[i].actuator == actuator) range = &d->knob[i];
    }
    for (int k = 0; k < a.n; k++) {
        if (!a.stress && !law_of(d, actuator, k)) continue; // free, or a rotation vector
        snw_live_control_state *x = &v->control[v->ncontrol++];
        snw_control *c = &x->info;
        *x = (snw_live_control_state){
            .info = {.actuator = actuator, .coordinate = k, .wanted = NAN}};
        (void)snprintf(c->name, sizeof c->name, a.n > 1 ? "%.80s.%d" : "%.80s", a.name, k + 1);
        snw_actuator_unit(d, actuator, k, c->unit);
        c->guessed = !range;
        if (range) {
            c->low = range->low, c->high = range->high;
        } else if (a.stress) {
            c->low = 0, c->high = 2;
        } else {
            guess_range(v, d, actuator, k, &c->low, &c->high);
        }
    }
}

snw_status snw_live_make_controls(snw_live *v, const snw_desc *desc, snw_error *err) {
    const snw_desc *d = v->base->desc;
    const int nactuator = snw_actuators(d);
    size_t n = (size_t)desc->nknob;
    for (int i = 0; i < nactuator; i++) n += (size_t)snw_actuator_at(d, i).n;
    v->control = snw_alloc((n + 1) * sizeof *v->control);
    if (!v->control) return snw_fail_memory(err);
    for (int i = 0; i < desc->nstep; i++) v->study_duration += desc->step[i].duration;
    for (int i = 0; i < nactuator; i++) add_actuator(v, d, i);
    for (int i = 0; i < desc->nknob; i++) {
        const snw_knob_desc *range = &desc->knob[i];
        if (range->actuator >= 0) continue;
        snw_live_control_state *x = &v->control[v->ncontrol++];
        *x = (snw_live_control_state){
            .info = {.actuator = -1, .wanted = NAN, .low = range->low, .high = range->high},
            .value = range->value,
            .initial = range->value};
        (void)snprintf(x->info.name, sizeof x->info.name, "%.90s", range->name);
        snw_dim_unit(range->dim, x->info.unit, sizeof x->info.unit);
    }
    return SNW_OK;
}

int snw_live_controls(const snw_live *v) { return v->ncontrol; }
const snw_control *snw_live_control(const snw_live *v, int control) {
    SNW_ASSERT(control >= 0 && control < v->ncontrol);
    return &v->control[control].info;
}

// ---- present values -----------------------------------------------------------------------------

// prescribed quantity of a motor's coordinate, and its rate
static snw_jet motor_now(const snw_robot *r, int motor, int k, const snw_inputs *in,
                         const snw_work *w) {
    if (snw_gives_effort(r->desc->motor[motor].given)) {
        return (snw_jet){.v = snw_motor_effort(r->m, motor, k, in, w)};
    }
    for (int i = 0; i < r->m->ndrive; i++) {
        const snw_drive *d = &r->m->drive[i];
        if (d->motor == motor && d->dof == r->m->motor[motor].dof + k) return in->drive[i];
    }
    return (snw_jet){0};
}

static snw_jet input_now(const snw_robot *r, int actuator, int k) {
    const snw_inputs *in = r->integrator.inputs(r->integrator.self);
    const snw_work *w = r->integrator.work_at(r->integrator.self);
    const snw_actuator a = snw_actuator_at(r->desc, actuator);
    if (a.motor) return motor_now(r, a.item, k, in, w);
    if (a.stress) return (snw_jet){.v = r->held.activation[a.item]};
    if (snw_tendon_reads_signals(r->m, in, a.item)) {
        const snw_at at = {.t = in->t, .signal = w->signal};
        return (snw_jet){.v = snw_gives_effort(a.tendon->given)
                                  ? w->tendon[a.item].effort
                                  : *in->signal_fraction * snw_expr_value(a.tendon->law, at)};
    }
    snw_jet j = in->tendon[a.item];
    if (a.tendon->temperature) {
        j.v /= SNW_GAS_CONSTANT * snw_expr_value(a.tendon->temperature, (snw_at){.t = in->t});
    }
    return j;
}

static bool is_rate(const snw_live *v, const snw_live_control_state *x) {
    return snw_gives_rate(snw_actuator_at(v->base->desc, x->info.actuator).control->given);
}

double snw_live_value(snw_live *v, int control) {
    SNW_ASSERT(control >= 0 && control < v->ncontrol);
    const snw_live_control_state *x = &v->control[control];
    if (x->info.actuator < 0) return x->value;
    if (x->manual) return x->filter.x;
    const snw_jet j = input_now(v->robot, x->info.actuator, x->info.coordinate);
    return is_rate(v, x) ? j.d : j.v;
}

// ---- setting ------------------------------------------------------------------------------------

enum { MAX_COORDINATES = 64 }; // largest number of coordinates of an actuator that can be set

// Set the inputs of all coordinates of an actuator for the next h seconds, from the filter states
// before and after.
static snw_status set_actuator_inputs(snw_live *v, int actuator, double h, snw_error *err) {
    const snw_desc *d = v->base->desc;
    double x[MAX_COORDINATES] = {0}, rate[MAX_COORDINATES] = {0},
           acceleration[MAX_COORDINATES] = {0}, end[MAX_COORDINATES] = {0};
    for (int i = 0; i < v->ncontrol; i++) {
        const snw_live_control_state *k = &v->control[i];
        if (k->info.actuator != actuator) continue;
        const int c = k->info.coordinate;
        end[c] = k->filter.x;
        if (is_rate(v, k)) {
            x[c] = k->position, rate[c] = k->before.x,
            acceleration[c] = (k->filter.x - k->before.x) / h;
        } else {
            // parabola that ends with the value and rate of the filter
            x[c] = k->before.x, rate[c] = 2 * (k->filter.x - k->before.x) / h - k->filter.v;
            acceleration[c] = (k->filter.v - rate[c]) / h;
        }
    }
    return snw_gives_motion(snw_actuator_at(d, actuator).control->given)
               ? snw_robot_set_motion(v->robot, actuator, x, rate, acceleration, err)
               : snw_robot_set_actuator(v->robot, actuator, end, err);
}

// take control of all coordinates of an actuator at their present values; if the robot refuses,
// nothing has changed
static snw_status take_control(snw_live *v, int actuator, snw_error *err) {
    if (snw_actuator_at(v->base->desc, actuator).n > MAX_COORDINATES) {
        return snw_fail(err, SNW_E_ARGUMENT, "it has more than %d coordinates", MAX_COORDINATES);
    }
    for (int i = 0; i < v->ncontrol; i++) {
        snw_live_control_state *k = &v->control[i];
        if (k->info.actuator != actuator) continue;
        const snw_jet j = input_now(v->robot, actuator, k->info.coordinate);
        k->filter = is_rate(v, k) ? (snw_live_filter_state){j.d, j.dd, j.d}
                                  : (snw_live_filter_state){j.v, j.d, j.v};
        if (!isfinite(k->filter.x) || !isfinite(k->filter.v))
            k->filter = (snw_live_filter_state){0};
        k->before = k->filter;
        k->position = j.v;
    }
    SNW_TRY(set_actuator_inputs(v, actuator, v->how.step, err));
    for (int i = 0; i < v->ncontrol; i++) {
        snw_live_control_state *k = &v->control[i];
        if (k->info.actuator != actuator) continue;
        k->manual = true;
        k->return_time = -1;
    }
    return SNW_OK;
}

static void release_actuator(snw_live *v, int actuator) {
    snw_robot_unset_actuator(v->robot, actuator);
    for (int i = 0; i < v->ncontrol; i++) {
        snw_live_control_state *k = &v->control[i];
        if (k->info.actuator != actuator) continue;
        k->manual = false;
        k->info.wanted = NAN;
    }
}

// back to the law, with a transition unless the law reads signals
static snw_status return_to_law(snw_live *v, const snw_live_control_state *x, snw_error *err) {
    const int actuator = x->info.actuator;
    if (!x->manual) return SNW_OK;
    if (is_rate(v, x)) {
        return snw_fail(
            err, SNW_E_ARGUMENT,
            "'%s' has a given rate and is no longer at the position of its law; reset instead",
            x->info.name);
    }
    for (int i = 0; i < v->ncontrol; i++) {
        snw_live_control_state *k = &v->control[i];
        if (k->info.actuator != actuator) continue;
        const snw_law law = law_of(v->robot->desc, actuator, k->info.coordinate);
        k->info.wanted = NAN;
        k->return_time = RETURN_TIME;
        if (!law || (snw_expr_vars(law) & SNW_VAR_SIGNAL)) release_actuator(v, actuator);
    }
    return SNW_OK;
}

snw_status snw_live_set(snw_live *v, int control, double value, snw_error *err) {
    if (control < 0 || control >= v->ncontrol) {
        return snw_fail(err, SNW_E_ARGUMENT, "there is no control number %d", control);
    }
    snw_live_control_state *x = &v->control[control];
    const double to = fmin(fmax(value, x->info.low), x->info.high);
    if (x->info.actuator < 0) {
        x->info.wanted = isnan(value) ? NAN : to;
        x->value = isnan(value) ? x->initial : to;
        return SNW_OK;
    }
    if (isnan(value)) return return_to_law(v, x, err);
    if (!x->manual || x->return_time >= 0) SNW_TRY(take_control(v, x->info.actuator, err));
    x->info.wanted = x->filter.wanted = to;
    return SNW_OK;
}

snw_status snw_live_apply(snw_live *v, int control, double value, snw_error *err) {
    if (control >= 0 && control < v->ncontrol && v->control[control].info.actuator >= 0) {
        const snw_control *c = &v->control[control].info;
        const snw_actuator a = snw_actuator_at(v->base->desc, c->actuator);
        if (snw_gives_motion(a.control->given))
            return snw_fail(err, SNW_E_ARGUMENT,
                            "'%s' is a given motion, which cannot jump; set it, so that it follows "
                            "smoothly",
                            c->name);
    }
    SNW_TRY(snw_live_set(v, control, value, err));
    snw_live_control_state *x = &v->control[control];
    if (x->info.actuator >= 0 && x->manual && !isnan(value))
        x->filter = (snw_live_filter_state){x->filter.wanted, 0, x->filter.wanted};
    return SNW_OK;
}

// advance the filter of a control by h seconds
static void filter_control(snw_live *v, snw_live_control_state *k, double h) {
    k->before = k->filter;
    if (k->return_time >= 0) {
        const snw_law law = law_of(v->robot->desc, k->info.actuator, k->info.coordinate);
        k->filter.wanted = snw_expr_value(law, (snw_at){.t = v->robot->s->t + h});
        k->return_time = fmax(k->return_time - h, 0);
    }
    snw_live_filter(&k->filter, h, CONTROL_LAG);
}

snw_status snw_live_move_controls(snw_live *v, double h, snw_error *err) {
    for (int i = 0; i < v->ncontrol; i++) {
        snw_live_control_state *k = &v->control[i];
        if (!k->manual) continue;
        if (k->return_time == 0) {
            release_actuator(v, k->info.actuator);
            continue;
        }
        filter_control(v, k, h);
    }
    for (int i = 0; i < v->ncontrol; i++) {
        snw_live_control_state *k = &v->control[i];
        const bool first = i == 0 || v->control[i - 1].info.actuator != k->info.actuator;
        if (k->manual && first) SNW_TRY(set_actuator_inputs(v, k->info.actuator, h, err));
        if (k->manual) k->position += 0.5 * h * (k->before.x + k->filter.x);
    }
    return SNW_OK;
}

void snw_live_free_controls(snw_live *v) {
    for (int i = 0; i < v->ncontrol; i++) {
        snw_live_control_state *k = &v->control[i];
        if (k->info.actuator >= 0) snw_robot_unset_actuator(v->base, k->info.actuator);
        k->manual = false;
        k->info.wanted = NAN;
        k->value = k->initial;
    }
}
