// SPDX-License-Identifier: MIT
//
// Inputs of the public robot that its caller sets: loads, gravity, and the prescribed quantities of
// actuators, by calls or through the array u. They replace laws of the file (snw_manual_inputs).

#include "robot/robot_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/force_field.h"
#include "dynamics/tube_slide.h"

#include <math.h>
#include <string.h>

snw_status snw_robot_manual_inputs(snw_robot *r) {
    SNW_TRY(snw_held_create(r->desc, &r->held));
    r->ninput = (int)r->held.ncoordinate + r->desc->ntendon + r->desc->nstress;
    r->own_u = snw_alloc((2 * (size_t)r->ninput + 1) * sizeof *r->own_u);
    if (!r->own_u) return SNW_E_MEMORY;
    r->u = r->own_u;
    r->u_applied = r->own_u + r->ninput;
    r->in->manual = &r->held.manual;
    snw_statics_set_manual(r->statics, &r->held.manual);
    snw_robot_read_inputs(r);
    return SNW_OK;
}

// ---- the array u --------------------------------------------------------------------------------

// quiet NaN with a payload that arithmetic does not produce
static const uint64_t law_bits = 0x7ff80000534e5721;

double snw_input_law(void) {
    double x;
    memcpy(&x, &law_bits, sizeof x);
    return x;
}

static bool is_law(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == law_bits;
}

int snw_robot_inputs(const snw_robot *r) { return r ? r->ninput : 0; }
double *snw_robot_u(snw_robot *r) { return r ? r->u : NULL; }

// index in u of the first input of an actuator
static int first_input(const snw_robot *r, int actuator) {
    const int behind = actuator - r->desc->nmotor;
    return behind < 0 ? r->held.motor_first[actuator] : (int)r->held.ncoordinate + behind;
}

// u and u_applied of an actuator <- its inputs as they are set
static void read_input(snw_robot *r, int actuator) {
    const int tendon = actuator - r->desc->nmotor, muscle = tendon - r->desc->ntendon;
    const int first = first_input(r, actuator);
    double *u = r->u + first;
    int n = 1;
    if (muscle >= 0) {
        *u = r->held.activation[muscle];
    } else if (tendon >= 0) {
        *u = r->held.tendon_given[tendon] ? r->held.tendon[tendon].v : snw_input_law();
    } else {
        const bool rate = snw_gives_rate(r->desc->motor[actuator].given);
        const snw_jet *given = r->held.motor + first;
        n = r->desc->motor[actuator].n;
        for (int k = 0; k < n; k++) {
            u[k] = !r->held.motor_given[actuator] ? snw_input_law()
                   : rate                         ? given[k].d
                                                  : given[k].v;
        }
    }
    memcpy(r->u_applied + first, u, (size_t)n * sizeof *u);
}

// an actuator was set
static void input_set(snw_robot *r, int actuator) {
    read_input(r, actuator);
    r->inputs_stale = true;
}

void snw_robot_read_inputs(snw_robot *r) {
    for (int i = 0; i < snw_actuators(r->desc); i++) read_input(r, i);
}

static snw_status apply_input(snw_robot *r, int actuator, int n, const double *u, snw_error *err) {
    int laws = 0;
    for (int k = 0; k < n; k++) {
        laws += is_law(u[k]);
        if (is_law(u[k]) || isfinite(u[k])) continue;
        return snw_fail(err, SNW_E_ARGUMENT, "input %d of actuator '%s' is not a number, got %g", k,
                        snw_actuator_at(r->desc, actuator).name, u[k]);
    }
    return laws == n ? snw_robot_unset_actuator(r, actuator)
                     : snw_robot_set_actuator(r, actuator, u, err);
}

snw_status snw_robot_apply_inputs(snw_robot *r, snw_error *err) {
    const size_t one = sizeof *r->u;
    if (r->ninput == 0 || memcmp(r->u, r->u_applied, (size_t)r->ninput * one) == 0) return SNW_OK;
    for (int i = 0; i < snw_actuators(r->desc); i++) {
        const int n = i < r->desc->nmotor ? r->desc->motor[i].n : 1, first = first_input(r, i);
        const size_t bytes = (size_t)n * one;
        if (memcmp(r->u + first, r->u_applied + first, bytes) == 0) continue;
        const snw_status s = apply_input(r, i, n, r->u + first, err);
        if (s == SNW_OK) continue;
        memcpy(r->u + first, r->u_applied + first, bytes);
        return s;
    }
    return SNW_OK;
}

void snw_robot_refresh_inputs(snw_robot *r) {
    if (!r->inputs_stale) return;
    snw_inputs_at(r->m, r->s->t, r->in);
    r->inputs_stale = false;
}

void snw_robot_place_inputs(snw_robot *r, double *u) {
    memcpy(u, r->u, (size_t)r->ninput * sizeof *u);
    r->u = u;
}

// ---- calls --------------------------------------------------------------------------------------

int snw_robot_load(const snw_robot *r, const char *name) {
    if (!r || !name) return -1;
    for (int i = 0; i < r->desc->nload; i++) {
        if (strcmp(r->desc->load[i].name, name) == 0) return i;
    }
    return -1;
}

// an unknown name or a number of another robot is a mistake of the caller
static snw_status find_load(const snw_robot *r, int load) {
    if (load >= 0 && load < r->desc->nload) return SNW_OK;
    return SNW_ROBOT_REFUSE(r, "there is no load number %d, the robot has %d", load,
                            r->desc->nload);
}

snw_status snw_robot_set_load(snw_robot *r, int load, const double force[3],
                              const double torque[3]) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(find_load(r, load));
    if (force) SNW_TRY(snw_robot_check_numbers("force", 3, force, r->error));
    if (torque) SNW_TRY(snw_robot_check_numbers("torque", 3, torque, r->error));
    r->held.load_given[load] = true;
    for (int i = 0; i < 3; i++) {
        r->held.load[load].f.e[i] = force ? force[i] : 0;
        r->held.load[load].m.e[i] = torque ? torque[i] : 0;
    }
    r->inputs_stale = true;
    return SNW_OK;
}

snw_status snw_robot_unset_load(snw_robot *r, int load) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(find_load(r, load));
    r->held.load_given[load] = false;
    r->inputs_stale = true;
    return SNW_OK;
}

snw_status snw_robot_set_gravity(snw_robot *r, const double gravity[3]) {
    if (!r) return SNW_E_ARGUMENT;
    if (gravity) SNW_TRY(snw_robot_check_numbers("gravity", 3, gravity, r->error));
    r->held.manual.gravity_given = gravity != NULL;
    for (int i = 0; gravity && i < 3; i++) r->held.manual.gravity.e[i] = gravity[i];
    r->inputs_stale = true;
    return SNW_OK;
}

snw_status snw_robot_set_translation(snw_robot *r, const char *tube, const double motion[3],
                                     snw_error *err) {
    if (!r || !tube) return snw_fail(err, SNW_E_ARGUMENT, "the robot or the name is NULL");
    if (motion) SNW_TRY(snw_robot_check_numbers("motion", 3, motion, err));
    int i = 0;
    while (i < r->desc->ntube && strcmp(r->desc->tube[i].name, tube) != 0) i++;
    if (i == r->desc->ntube)
        return snw_fail(err, SNW_E_ARGUMENT, "there is no concentric tube '%s'", tube);
    if (!r->desc->tube[i].slides)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "tube '%s' does not slide; give it, or a tube around or in it, a "
                        "'translation' that is a law of t",
                        tube);
    snw_held_inputs *h = &r->held;
    const bool given = h->slide_given[i];
    const double since = h->slide_since[i];
    const snw_jet before = h->slide[i];
    h->slide_given[i] = motion != NULL;
    h->slide_since[i] = r->s->t;
    if (motion) h->slide[i] = (snw_jet){motion[0], motion[1], motion[2]};
    snw_inputs_at(r->m, r->s->t, r->in);
    const snw_status s = snw_tubes_check(r->m, r->in, r->s->t, err);
    if (s != SNW_OK) h->slide_given[i] = given, h->slide_since[i] = since, h->slide[i] = before;
    r->inputs_stale = true;
    return s == SNW_E_MODEL ? SNW_E_ARGUMENT : s;
}

int snw_robot_actuator(const snw_robot *r, const char *name) {
    return r && name ? snw_actuator_find(r->desc, name) : -1;
}

snw_status snw_robot_check_actuator(const snw_robot *r, int actuator, snw_error *err) {
    if (!r) return snw_fail(err, SNW_E_ARGUMENT, "the robot is NULL");
    const int n = snw_actuators(r->desc);
    if (actuator >= 0 && actuator < n) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "there is no actuator number %d, the robot has %d",
                    actuator, n);
}

int snw_robot_actuator_size(const snw_robot *r, int actuator) {
    if (!r || snw_robot_check_actuator(r, actuator, r->error) != SNW_OK) return 0;
    return snw_actuator_at(r->desc, actuator).n;
}

static snw_jet *take_motor(snw_robot *r, int actuator) {
    r->held.motor_given[actuator] = true;
    r->held.motor_since[actuator] = r->s->t;
    return r->held.motor + r->held.motor_first[actuator];
}

// Prescribe a quantity of an actuator along a path from now on; it must be the one that the file
// gives.
static snw_status set_tendon(snw_robot *r, const snw_actuator *a, snw_given what, snw_jet value,
                             snw_error *err) {
    // words for the given quantity, NULL: its name; function that sets it
    static const char *const given[][2] = {
        [SNW_GIVEN_EFFORT] = {"effort", "snw_robot_set_effort"},
        [SNW_GIVEN_MOTION] = {"coordinate", "snw_robot_set_motion"},
        [SNW_GIVEN_RATE] = {"rate", "snw_robot_set_motion"},
        [SNW_GIVEN_GAS] = {NULL, "snw_robot_set_gas"},
        [SNW_GIVEN_SOURCE] = {NULL, "snw_robot_set_actuator"},
        [SNW_GIVEN_ACTIVATION] = {NULL, "snw_robot_set_activation"}};
    if (a->stress) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "actuator '%s' is a muscle; use snw_robot_set_activation", a->name);
    }
    if (a->control->given != what) {
        const char *const *words = given[a->control->given];
        return snw_fail(err, SNW_E_ARGUMENT, "actuator '%s' has its %s given; use %s", a->name,
                        words[0] ? words[0] : a->control->name, words[1]);
    }
    if (!isfinite(value.v) || !isfinite(value.d) || !isfinite(value.dd)) {
        return snw_fail(err, SNW_E_ARGUMENT, "actuator '%s': the value is not a finite number",
                        a->name);
    }
    r->held.tendon_given[a->item] = true;
    r->held.tendon_since[a->item] = r->s->t;
    r->held.tendon[a->item] = value;
    input_set(r, r->desc->nmotor + a->item);
    return SNW_OK;
}

snw_status snw_robot_set_effort(snw_robot *r, int actuator, const double *effort, snw_error *err) {
    SNW_TRY(snw_robot_check_actuator(r, actuator, err));
    const snw_actuator a = snw_actuator_at(r->desc, actuator);
    SNW_TRY(snw_robot_check_numbers("effort", a.n, effort, err));
    if (!a.motor) return set_tendon(r, &a, SNW_GIVEN_EFFORT, (snw_jet){.v = *effort}, err);
    const snw_motor_desc *d = a.motor;
    if (!snw_gives_effort(d->given)) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "actuator '%s' has its motion given, and its effort is computed; use "
                        "snw_robot_set_motion, or give 'effort: 0' in the file",
                        d->name);
    }
    const int first = d->same ? d->same - 1 : actuator; // all motors with a common effort
    const int n = d->same ? r->desc->motor[first].nsame : 1;
    for (int i = first; i < first + n; i++) {
        snw_jet *given = take_motor(r, i);
        for (int k = 0; k < d->n; k++) {
            const double most = d->effort_limit ? d->effort_limit[k] : INFINITY;
            given[k] = (snw_jet){.v = fmin(fmax(effort[k], -most), most)};
        }
        input_set(r, i);
    }
    return SNW_OK;
}

// does the actuator have constraint rows?
static bool has_active_drive(const snw_model *m, int actuator) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].motor == actuator && m->drive[i].row >= 0) return true;
    }
    return false;
}

snw_status snw_robot_set_motion(snw_robot *r, int actuator, const double *position,
                                const double *rate, const double *acceleration, snw_error *err) {
    SNW_TRY(snw_robot_check_actuator(r, actuator, err));
    const snw_actuator a = snw_actuator_at(r->desc, actuator);
    SNW_TRY(snw_robot_check_numbers("position", a.n, position, err));
    if (rate) SNW_TRY(snw_robot_check_numbers("rate", a.n, rate, err));
    if (acceleration) SNW_TRY(snw_robot_check_numbers("acceleration", a.n, acceleration, err));
    if (!a.motor) {
        const snw_jet to = {
            .v = *position, .d = rate ? *rate : 0, .dd = acceleration ? *acceleration : 0};
        return set_tendon(r, &a, SNW_GIVEN_MOTION, to, err);
    }
    const snw_motor_desc *d = a.motor;
    if (d->turns) {
        return snw_fail(
            err, SNW_E_ARGUMENT,
            "actuator '%s' drives a spherical joint, whose motion only the file can give", d->name);
    }
    if (snw_gives_effort(d->given) || !has_active_drive(r->m, actuator)) {
        return snw_fail(err, SNW_E_ARGUMENT, "actuator '%s' %s", d->name,
                        snw_gives_effort(d->given)
                            ? "has its effort given; use snw_robot_set_effort, or give 'position: "
                              "0' in the file"
                            : "is switched off; leave out its 'when: off'");
    }
    snw_jet *given = take_motor(r, actuator);
    for (int k = 0; k < d->n; k++) {
        given[k] = (snw_jet){
            .v = position[k], .d = rate ? rate[k] : 0, .dd = acceleration ? acceleration[k] : 0};
    }
    input_set(r, actuator);
    return SNW_OK;
}

snw_status snw_robot_set_gas(snw_robot *r, int actuator, double moles, snw_error *err) {
    SNW_TRY(snw_robot_check_actuator(r, actuator, err));
    const snw_actuator a = snw_actuator_at(r->desc, actuator);
    if (a.motor) {
        return snw_fail(err, SNW_E_ARGUMENT, "actuator '%s' is not a chamber", a.name);
    }
    if (!(moles >= 0)) {
        return snw_fail(err, SNW_E_ARGUMENT, "moles must not be negative, got %g", moles);
    }
    return set_tendon(r, &a, SNW_GIVEN_GAS, (snw_jet){.v = moles}, err);
}

snw_status snw_robot_set_activation(snw_robot *r, int actuator, double factor, snw_error *err) {
    SNW_TRY(snw_robot_check_actuator(r, actuator, err));
    const snw_actuator a = snw_actuator_at(r->desc, actuator);
    if (!a.stress) {
        return snw_fail(err, SNW_E_ARGUMENT, "actuator '%s' is not a muscle", a.name);
    }
    if (!isfinite(factor)) {
        return snw_fail(err, SNW_E_ARGUMENT, "the activation of '%s' is not a number", a.name);
    }
    r->held.activation[a.item] = factor;
    input_set(r, actuator);
    return SNW_OK;
}

// given rates: from the present coordinates on
static snw_status set_rate(snw_robot *r, int motor, const double *rate, snw_error *err) {
    const snw_motor *at = &r->m->motor[motor];
    memcpy(r->tau, r->s->q + at->q, (size_t)at->n * sizeof *r->tau);
    return snw_robot_set_motion(r, motor, r->tau, rate, NULL, err);
}

snw_status snw_robot_set_actuator(snw_robot *r, int actuator, const double *value, snw_error *err) {
    SNW_TRY(snw_robot_check_actuator(r, actuator, err));
    const snw_actuator a = snw_actuator_at(r->desc, actuator);
    SNW_TRY(snw_robot_check_numbers("value", a.n, value, err));
    switch (a.control->given) {
    case SNW_GIVEN_EFFORT:
        return snw_robot_set_effort(r, actuator, value, err);
    case SNW_GIVEN_MOTION:
        return snw_robot_set_motion(r, actuator, value, NULL, NULL, err);
    case SNW_GIVEN_RATE:
        return set_rate(r, actuator, value, err);
    case SNW_GIVEN_GAS:
        return snw_robot_set_gas(r, actuator, *value, err);
    case SNW_GIVEN_SOURCE:
        return set_tendon(r, &a, SNW_GIVEN_SOURCE, (snw_jet){.v = *value}, err);
    case SNW_GIVEN_ACTIVATION:
        return snw_robot_set_activation(r, actuator, *value, err);
    }
    return SNW_E_ARGUMENT;
}

snw_status snw_robot_unset_actuator(snw_robot *r, int actuator) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(snw_robot_check_actuator(r, actuator, r->error));
    snw_held_release(&r->held, actuator);
    input_set(r, actuator);
    return SNW_OK;
}

// ---- fields -------------------------------------------------------------------------------------

static snw_status find_field(const snw_robot *r, const char *name, int *field, snw_error *err) {
    if (!r || !name) return snw_fail(err, SNW_E_ARGUMENT, "the robot or the name is NULL");
    for (*field = 0; *field < r->desc->nforce_field; ++*field) {
        if (strcmp(r->desc->force_field[*field].name, name) == 0) return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "there is no field '%.80s', the robot has %d", name,
                    r->desc->nforce_field);
}

snw_status snw_robot_set_field(snw_robot *r, const char *name, double factor, snw_error *err) {
    int field = 0;
    SNW_TRY(find_field(r, name, &field, err));
    const snw_scheme_kind scheme = r->how.scheme;
    if (r->integrator.close && (scheme == SNW_SCHEME_CONSERVING || scheme == SNW_SCHEME_MOREAU))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "scheme '%s' keeps the energy of field '%.80s'; set its factor before the "
                        "motion starts, or use another scheme",
                        snw_scheme_table[scheme].name, name);
    if (!isfinite(factor))
        return snw_fail(err, SNW_E_ARGUMENT, "the factor of field '%.80s' is not a number", name);
    r->held.field[field] = factor;
    r->inputs_stale = true;
    return SNW_OK;
}

snw_status snw_robot_field(snw_robot *r, const char *name, const double place[3], double *factor,
                           double value[3], snw_error *err) {
    int field = 0;
    SNW_TRY(find_field(r, name, &field, err));
    if (factor) *factor = r->held.field[field];
    if (!value) return SNW_OK;
    if (!place) return snw_fail(err, SNW_E_ARGUMENT, "the place is NULL");
    SNW_TRY(snw_robot_check_numbers("place", 3, place, err));
    if (r->m->nforce_field_point == 0)
        return snw_fail(err, SNW_E_ARGUMENT, "field '%.80s' acts on no link", name);
    SNW_TRY(snw_robot_check_state(r, err));
    snw_robot_initialise_signals(r);
    snw_robot_refresh_inputs(r);
    snw_kinematics(r->m, r->in, r->s, true, r->w);
    const snw_vec3 at = {{place[0], place[1], place[2]}};
    const snw_vec3 x = snw_force_field_at_place(r->m, r->w, field, at);
    for (int i = 0; i < 3; i++) value[i] = x.e[i];
    return SNW_OK;
}
