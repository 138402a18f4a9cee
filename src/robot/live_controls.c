// SPDX-License-Identifier: MIT
//
// What may be turned in a live simulation: which things, how far, and how the robot follows.
#include "robot/live_private.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <stdio.h>

static const double lag = 0.03;     // s: within which what is turned is followed
static const double homeward = 0.5; // s: for which a thing let go goes smoothly to its law
enum { SAMPLES = 200 };             // of a law, to see how far it goes

// exactly: with e = x - wanted and b = x' + e/T, e(h) = (e + b h) exp(-h/T)
void snw_live_follow(snw_follower *f, double h, double T) {
    const double e = f->x - f->wanted, b = f->v + e / T, fade = exp(-h / T);
    f->x = f->wanted + (e + b * h) * fade;
    f->v = (f->v - b * h / T) * fade;
}

// ---- which there are
// -------------------------------------------------------------------------------

// the law of what is given of an actuator's coordinate; NULL: none
static snw_law law_of(const snw_desc *d, int actuator, int k) {
    if (actuator < d->nmotor) return d->motor[actuator].turns ? NULL : d->motor[actuator].law[k];
    const int tendon = actuator - d->nmotor;
    return tendon < d->ntendon ? d->tendon[tendon].law : NULL;
}

static bool is_muscle(const snw_desc *d, int actuator) {
    return actuator >= d->nmotor + d->ntendon;
}

static const char *live_controls_name_of(const snw_desc *d, int actuator) {
    if (actuator < d->nmotor) return d->motor[actuator].name;
    const int i = actuator - d->nmotor;
    return i < d->ntendon ? d->tendon[i].name : d->stress[i - d->ntendon].name;
}

static int live_controls_size_of(const snw_desc *d, int actuator) {
    return actuator < d->nmotor ? d->motor[actuator].n : 1;
}

static snw_dim live_controls_dim_of(const snw_desc *d, int actuator, int k) {
    if (actuator < d->nmotor) return snw_motor_dim(d, &d->motor[actuator], k);
    const int i = actuator - d->nmotor;
    return i < d->ntendon ? snw_tendon_dim(&d->tendon[i]) : SNW_DIM_NONE;
}

// cords do not push, and there is no less than nothing of a gas
static bool is_positive(const snw_desc *d, int actuator) {
    const int i = actuator - d->nmotor;
    if (i < 0) return d->motor[actuator].feed;
    return i < d->ntendon &&
           !(d->tendon[i].kind == SNW_TENDON_CABLE && d->tendon[i].given == SNW_TENDON_COORDINATE);
}

// lowest and highest value of a law in the course of the study
static void survey(double end, snw_law law, double *low, double *high) {
    *low = INFINITY, *high = -INFINITY;
    for (int i = 0; i <= SAMPLES; i++) {
        const double x = snw_expr_value(law, (snw_at){.t = end * i / SAMPLES});
        if (isfinite(x)) *low = fmin(*low, x), *high = fmax(*high, x);
    }
}

// Nobody said how far: somewhat beyond where the study goes, and where that stands still, about
// what the robot's size and weight suggest.
static void live_controls_guess(const snw_live *v, const snw_desc *d, int actuator, int k,
                                double *low, double *high) {
    const snw_law law = law_of(d, actuator, k);
    const double L = v->base->m->length, W = 9.81 * fmax(v->mass, 1e-3);
    const snw_dim dim = live_controls_dim_of(d, actuator, k);
    *low = *high = 0;
    if (law && !(snw_expr_vars(law) & SNW_VAR_SIGNAL)) survey(v->span, law, low, high);
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
    if (is_positive(d, actuator)) *low = fmax(*low, 0);
    if (actuator < d->nmotor && d->motor[actuator].feed) *low = fmax(*low, 0.05 * *high);
}

static void put_unit(snw_control *c, snw_dim dim, bool angle) {
    snw_dim_unit(dim, c->unit, sizeof c->unit);
    if (angle) (void)snprintf(c->unit, sizeof c->unit, dim.s ? "rad/s" : "rad");
}

static void add_actuator(snw_live *v, const snw_desc *d, int actuator) {
    // wheels with one effort have one control
    if (actuator < d->nmotor && d->motor[actuator].same && !d->motor[actuator].nsame) return;
    const int n = live_controls_size_of(d, actuator);
    const snw_knob_desc *said = NULL;
    for (int i = 0; i < d->nknob; i++) {
        if (d->knob[i].actuator == actuator) said = &d->knob[i];
    }
    for (int k = 0; k < n; k++) {
        if (!is_muscle(d, actuator) && !law_of(d, actuator, k)) continue; // free, or a rotation
        snw_knob *x = &v->knob[v->ncontrol++];
        snw_control *c = &x->is;
        *x = (snw_knob){.is = {.actuator = actuator, .coordinate = k, .wanted = NAN}};
        (void)snprintf(c->name, sizeof c->name, n > 1 ? "%.80s.%d" : "%.80s",
                       live_controls_name_of(d, actuator), k + 1);
        const snw_dim dim = live_controls_dim_of(d, actuator, k);
        const bool motion = actuator < d->nmotor && d->motor[actuator].kind != SNW_MOTOR_EFFORT;
        put_unit(c, dim, motion && dim.m == 0 && !d->motor[actuator].rod);
        c->guessed = !said;
        if (said) {
            c->low = said->low, c->high = said->high;
        } else if (is_muscle(d, actuator)) {
            c->low = 0, c->high = 2;
        } else {
            live_controls_guess(v, d, actuator, k, &c->low, &c->high);
        }
    }
}

snw_status snw_live_make_controls(snw_live *v, const snw_desc *desc, snw_error *err) {
    const snw_desc *d = v->base->desc;
    const int nactuator = d->nmotor + d->ntendon + d->nstress;
    size_t n = (size_t)desc->nknob;
    for (int i = 0; i < nactuator; i++) n += (size_t)live_controls_size_of(d, i);
    v->knob = snw_alloc((n + 1) * sizeof *v->knob);
    if (!v->knob) return snw_fail(err, SNW_E_MEMORY, "out of memory");
    for (int i = 0; i < desc->nstep; i++) v->span += desc->step[i].duration;
    for (int i = 0; i < nactuator; i++) add_actuator(v, d, i);
    for (int i = 0; i < desc->nknob; i++) {
        const snw_knob_desc *said = &desc->knob[i];
        if (said->actuator >= 0) continue;
        snw_knob *x = &v->knob[v->ncontrol++];
        *x = (snw_knob){.is = {.actuator = -1, .wanted = NAN, .low = said->low, .high = said->high},
                        .value = said->value,
                        .law0 = said->value};
        (void)snprintf(x->is.name, sizeof x->is.name, "%.90s", said->name);
        put_unit(&x->is, said->dim, false);
    }
    return SNW_OK;
}

int snw_live_controls(const snw_live *v) { return v->ncontrol; }
const snw_control *snw_live_control(const snw_live *v, int control) {
    SNW_ASSERT(control >= 0 && control < v->ncontrol);
    return &v->knob[control].is;
}

// ---- where they are
// --------------------------------------------------------------------------------

// what is given of a motor's coordinate, and its rate
static snw_jet motor_now(const snw_robot *r, int motor, int k, const snw_inputs *in,
                         const snw_work *w) {
    if (r->desc->motor[motor].kind == SNW_MOTOR_EFFORT) {
        return (snw_jet){.v = snw_motor_effort(r->m, motor, k, in, w)};
    }
    for (int i = 0; i < r->m->ndrive; i++) {
        const snw_drive *d = &r->m->drive[i];
        if (d->motor == motor && d->dof == r->m->motor[motor].dof + k) return in->drive[i];
    }
    return (snw_jet){0};
}

static snw_jet live_controls_now(const snw_robot *r, int actuator, int k) {
    const snw_inputs *in = r->integrator.inputs(r->integrator.self);
    const snw_work *w = r->integrator.work_at(r->integrator.self);
    if (actuator < r->desc->nmotor) return motor_now(r, actuator, k, in, w);
    const int i = actuator - r->desc->nmotor;
    if (i >= r->desc->ntendon) return (snw_jet){.v = r->activation[i - r->desc->ntendon]};
    const snw_tendon_desc *d = &r->desc->tendon[i];
    if (snw_tendon_reads_signals(r->m, in, i)) return (snw_jet){.v = w->tendon[i].effort};
    snw_jet j = in->tendon[i];
    if (d->given == SNW_TENDON_GAS) {
        j.v /= SNW_GAS_CONSTANT * snw_expr_value(d->temperature, (snw_at){.t = in->t});
    }
    return j;
}

static bool is_rate(const snw_live *v, const snw_knob *x) {
    const snw_desc *d = v->base->desc;
    return x->is.actuator < d->nmotor && d->motor[x->is.actuator].kind == SNW_MOTOR_RATE;
}

double snw_live_value(snw_live *v, int control) {
    SNW_ASSERT(control >= 0 && control < v->ncontrol);
    const snw_knob *x = &v->knob[control];
    if (x->is.actuator < 0) return x->value;
    if (x->held) return x->f.x;
    const snw_jet j = live_controls_now(v->robot, x->is.actuator, x->is.coordinate);
    return is_rate(v, x) ? j.d : j.v;
}

// ---- turning
// ---------------------------------------------------------------------------------------

enum { MOST = 64 }; // coordinates of one actuator that can be turned

// Hand over what all coordinates of an actuator are to do in the h seconds to come, from where they
// were to where they are now.
static snw_status hand_over(snw_live *v, int actuator, double h, snw_error *err) {
    const snw_desc *d = v->base->desc;
    double x[MOST] = {0}, rate[MOST] = {0}, bend[MOST] = {0}, end[MOST] = {0};
    for (int i = 0; i < v->ncontrol; i++) {
        const snw_knob *k = &v->knob[i];
        if (k->is.actuator != actuator) continue;
        const int c = k->is.coordinate;
        end[c] = k->f.x;
        if (is_rate(v, k)) {
            x[c] = k->at, rate[c] = k->was.x, bend[c] = (k->f.x - k->was.x) / h;
        } else {
            // the parabola that ends as the follower does
            x[c] = k->was.x, rate[c] = 2 * (k->f.x - k->was.x) / h - k->f.v;
            bend[c] = (k->f.v - rate[c]) / h;
        }
    }
    if (is_muscle(d, actuator)) return snw_robot_set_activation(v->robot, actuator, end[0], err);
    if (actuator < d->nmotor) {
        return d->motor[actuator].kind == SNW_MOTOR_EFFORT
                   ? snw_robot_set_effort(v->robot, actuator, end, err)
                   : snw_robot_set_motion(v->robot, actuator, x, rate, bend, err);
    }
    switch (d->tendon[actuator - d->nmotor].given) {
    case SNW_TENDON_EFFORT:
        return snw_robot_set_effort(v->robot, actuator, end, err);
    case SNW_TENDON_COORDINATE:
        return snw_robot_set_motion(v->robot, actuator, x, rate, bend, err);
    case SNW_TENDON_GAS:
        break;
    }
    return snw_robot_set_gas(v->robot, actuator, end[0], err);
}

// take all coordinates of an actuator in hand, where they are; what cannot be held says so before
// anything is turned
static snw_status live_controls_take(snw_live *v, int actuator, snw_error *err) {
    if (live_controls_size_of(v->base->desc, actuator) > MOST) {
        return snw_fail(err, SNW_E_ARGUMENT, "it has more than %d coordinates", MOST);
    }
    for (int i = 0; i < v->ncontrol; i++) {
        snw_knob *k = &v->knob[i];
        if (k->is.actuator != actuator) continue;
        const snw_jet j = live_controls_now(v->robot, actuator, k->is.coordinate);
        k->f = is_rate(v, k) ? (snw_follower){j.d, j.dd, j.d} : (snw_follower){j.v, j.d, j.v};
        if (!isfinite(k->f.x) || !isfinite(k->f.v)) k->f = (snw_follower){0};
        k->was = k->f;
        k->at = j.v;
    }
    SNW_TRY(hand_over(v, actuator, v->how.step, err));
    for (int i = 0; i < v->ncontrol; i++) {
        snw_knob *k = &v->knob[i];
        if (k->is.actuator != actuator) continue;
        k->held = true;
        k->home = -1;
    }
    return SNW_OK;
}

static void let_actuator_go(snw_live *v, int actuator) {
    snw_robot_unset_actuator(v->robot, actuator);
    for (int i = 0; i < v->ncontrol; i++) {
        snw_knob *k = &v->knob[i];
        if (k->is.actuator != actuator) continue;
        k->held = false;
        k->is.wanted = NAN;
    }
}

// back to the law: smoothly where it is known beforehand
static snw_status go_home(snw_live *v, const snw_knob *x, snw_error *err) {
    const int actuator = x->is.actuator;
    if (!x->held) return SNW_OK;
    if (is_rate(v, x)) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%s' has its rate given and is no longer where its law would have brought "
                        "it; reset instead",
                        x->is.name);
    }
    for (int i = 0; i < v->ncontrol; i++) {
        snw_knob *k = &v->knob[i];
        if (k->is.actuator != actuator) continue;
        const snw_law law = law_of(v->robot->desc, actuator, k->is.coordinate);
        k->is.wanted = NAN;
        k->home = homeward;
        if (!law || (snw_expr_vars(law) & SNW_VAR_SIGNAL)) let_actuator_go(v, actuator);
    }
    return SNW_OK;
}

snw_status snw_live_turn(snw_live *v, int control, double value, snw_error *err) {
    if (control < 0 || control >= v->ncontrol) {
        return snw_fail(err, SNW_E_ARGUMENT, "there is nothing number %d to turn", control);
    }
    snw_knob *x = &v->knob[control];
    const double to = fmin(fmax(value, x->is.low), x->is.high);
    if (x->is.actuator < 0) {
        x->is.wanted = isnan(value) ? NAN : to;
        x->value = isnan(value) ? x->law0 : to;
        return SNW_OK;
    }
    if (isnan(value)) return go_home(v, x, err);
    if (!x->held || x->home >= 0) SNW_TRY(live_controls_take(v, x->is.actuator, err));
    x->is.wanted = x->f.wanted = to;
    return SNW_OK;
}

// the follower of a knob, h seconds later
static void live_controls_follow(snw_live *v, snw_knob *k, double h) {
    k->was = k->f;
    if (k->home >= 0) {
        const snw_law law = law_of(v->robot->desc, k->is.actuator, k->is.coordinate);
        k->f.wanted = snw_expr_value(law, (snw_at){.t = v->robot->s->t + h});
        k->home = fmax(k->home - h, 0);
    }
    snw_live_follow(&k->f, h, lag);
}

snw_status snw_live_move_controls(snw_live *v, double h, snw_error *err) {
    for (int i = 0; i < v->ncontrol; i++) {
        snw_knob *k = &v->knob[i];
        if (!k->held) continue;
        if (k->home == 0) {
            let_actuator_go(v, k->is.actuator);
            continue;
        }
        live_controls_follow(v, k, h);
    }
    for (int i = 0; i < v->ncontrol; i++) {
        snw_knob *k = &v->knob[i];
        const bool first = i == 0 || v->knob[i - 1].is.actuator != k->is.actuator;
        if (k->held && first) SNW_TRY(hand_over(v, k->is.actuator, h, err));
        if (k->held) k->at += 0.5 * h * (k->was.x + k->f.x);
    }
    return SNW_OK;
}

void snw_live_free_controls(snw_live *v) {
    for (int i = 0; i < v->ncontrol; i++) {
        snw_knob *k = &v->knob[i];
        if (k->is.actuator >= 0) snw_robot_unset_actuator(v->base, k->is.actuator);
        k->held = false;
        k->is.wanted = NAN;
        k->value = k->law0;
    }
}
