// SPDX-License-Identifier: MIT
//
// The public robot in motion: inputs set by the caller, the choice of an integrator, and steps.

#include "robot/robot_private.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

snw_status snw_robot_manual_inputs(snw_robot *r) {
    for (int i = 0; i < r->desc->nmotor; i++) r->ncoordinate += (size_t)r->desc->motor[i].n;
    const size_t n = (size_t)r->desc->nload, nm = (size_t)r->desc->nmotor, nc = r->ncoordinate;
    const size_t ne = (size_t)r->desc->ntendon, ns = (size_t)r->desc->nstress;
    r->manual_bytes =
        n * (sizeof *r->load + sizeof *r->load_given) +
        nm * (sizeof *r->motor_since + sizeof *r->motor_first + sizeof *r->motor_given) +
        ne * (sizeof *r->tendon + sizeof *r->tendon_since + sizeof *r->tendon_given) +
        nc * sizeof *r->motor + ns * sizeof *r->activation;
    r->manual_memory = snw_alloc(r->manual_bytes);
    if (!r->manual_memory) return SNW_E_MEMORY;
    r->load = r->manual_memory;
    r->motor = (snw_jet *)(void *)(r->load + n);
    r->tendon = r->motor + nc;
    r->motor_since = (double *)(void *)(r->tendon + ne);
    r->tendon_since = r->motor_since + nm;
    r->activation = r->tendon_since + ne;
    r->motor_first = (int *)(void *)(r->activation + ns);
    r->load_given = (bool *)(void *)(r->motor_first + nm);
    r->motor_given = r->load_given + n;
    r->tendon_given = r->motor_given + nm;
    for (int i = 0, first = 0; i < r->desc->nmotor; i++) {
        r->motor_first[i] = first;
        first += r->desc->motor[i].n;
    }
    r->manual = (snw_manual_inputs){.load_given = r->load_given,
                                    .load = r->load,
                                    .motor_given = r->motor_given,
                                    .motor_since = r->motor_since,
                                    .motor_first = r->motor_first,
                                    .motor = r->motor,
                                    .tendon_given = r->tendon_given,
                                    .tendon_since = r->tendon_since,
                                    .tendon = r->tendon,
                                    .activation = r->activation};
    for (size_t i = 0; i < ns; i++) r->activation[i] = 1;
    r->in->manual = &r->manual;
    snw_statics_set_manual(r->statics, &r->manual);
    return SNW_OK;
}

// ---- inputs -------------------------------------------------------------------------------------

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
    r->load_given[load] = true;
    for (int i = 0; i < 3; i++) {
        r->load[load].f.e[i] = force ? force[i] : 0;
        r->load[load].m.e[i] = torque ? torque[i] : 0;
    }
    snw_inputs_at(r->m, r->s->t, r->in);
    return SNW_OK;
}

snw_status snw_robot_unset_load(snw_robot *r, int load) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(find_load(r, load));
    r->load_given[load] = false;
    snw_inputs_at(r->m, r->s->t, r->in);
    return SNW_OK;
}

snw_status snw_robot_set_gravity(snw_robot *r, const double gravity[3]) {
    if (!r) return SNW_E_ARGUMENT;
    if (gravity) SNW_TRY(snw_robot_check_numbers("gravity", 3, gravity, r->error));
    r->manual.gravity_given = gravity != NULL;
    for (int i = 0; gravity && i < 3; i++) r->manual.gravity.e[i] = gravity[i];
    snw_inputs_at(r->m, r->s->t, r->in);
    return SNW_OK;
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
    r->motor_given[actuator] = true;
    r->motor_since[actuator] = r->s->t;
    return r->motor + r->motor_first[actuator];
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
    r->tendon_given[a->item] = true;
    r->tendon_since[a->item] = r->s->t;
    r->tendon[a->item] = value;
    snw_inputs_at(r->m, r->s->t, r->in);
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
        for (int k = 0; k < d->n; k++) given[k] = (snw_jet){.v = effort[k]};
    }
    snw_inputs_at(r->m, r->s->t, r->in);
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
    snw_inputs_at(r->m, r->s->t, r->in);
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
    r->activation[a.item] = factor;
    snw_inputs_at(r->m, r->s->t, r->in);
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
    const snw_actuator a = snw_actuator_at(r->desc, actuator);
    if (a.stress) {
        r->activation[a.item] = 1;
    } else {
        (a.motor ? r->motor_given : r->tendon_given)[a.item] = false;
    }
    snw_inputs_at(r->m, r->s->t, r->in);
    return SNW_OK;
}

// ---- drag spring --------------------------------------------------------------------------------

int snw_robot_nodes(const snw_robot *r) { return r ? r->m->nseg - 1 : 0; }

static snw_status find_node(const snw_robot *r, int node, snw_error *err) {
    if (node >= 0 && node < r->m->nseg - 1) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "there is no node number %d, the robot has %d", node,
                    r->m->nseg - 1);
}

snw_status snw_robot_node(snw_robot *r, int node, double position[3]) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(find_node(r, node, r->error));
    if (!position) return SNW_ROBOT_REFUSE(r, "position is NULL");
    SNW_TRY(snw_robot_check_state(r, r->error));
    snw_kinematics(r->m, r->in, r->s, true, r->w);
    for (int k = 0; k < 3; k++) position[k] = r->w->g[node + 1].p.e[k];
    return SNW_OK;
}

snw_status snw_robot_pull(snw_robot *r, int node, const double at[3], const double to[3],
                          double stiffness, double damping, snw_error *err) {
    static const double origin[3] = {0};
    if (!r) return snw_fail(err, SNW_E_ARGUMENT, "the robot is NULL");
    if (!at) at = origin;
    SNW_TRY(find_node(r, node, err));
    SNW_TRY(snw_robot_check_numbers("at", 3, at, err));
    SNW_TRY(snw_robot_check_numbers("to", 3, to, err));
    if (!(stiffness >= 0 && isfinite(stiffness) && damping >= 0 && isfinite(damping))) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the mouse spring needs a stiffness and damping that are finite and not "
                        "negative, got %g N/m and %g N s/m",
                        stiffness, damping);
    }
    const snw_scheme_info *scheme = &snw_scheme_table[r->how.scheme];
    if (r->integrator.close && !(scheme->works & SNW_SCHEME_ON_DRAG_SPRING)) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the %s scheme does not support the mouse spring; use generalized-alpha",
                        scheme->name);
    }
    snw_drag_spring *drag_spring = &r->manual.drag_spring;
    *drag_spring = (snw_drag_spring){.seg = node + 1, .stiffness = stiffness, .damping = damping};
    for (int k = 0; k < 3; k++) drag_spring->at.e[k] = at[k], drag_spring->to.e[k] = to[k];
    return SNW_OK;
}

void snw_robot_let_go(snw_robot *r) {
    if (r) r->manual.drag_spring = (snw_drag_spring){0};
}

// ---- steps --------------------------------------------------------------------------------------

snw_robot_steps snw_robot_steps_defaults(double step) {
    return (snw_robot_steps){.scheme = "generalized-alpha", .step = step, .rho = NAN, .alpha = NAN};
}

// engine, and check that it has the scheme
static snw_status set_engine(const snw_robot_steps *how, snw_step_desc *out, snw_error *err) {
    if (!how->engine || strcmp(how->engine, "strain") == 0) return SNW_OK;
    if (strcmp(how->engine, "shooting") != 0) {
        return snw_fail(err, SNW_E_ARGUMENT, "there is no engine '%.40s'", how->engine);
    }
    const snw_scheme_info *scheme = &snw_scheme_table[out->scheme];
    if (!(scheme->works & SNW_SCHEME_ON_SHOOTING)) {
        char names[100];
        snw_scheme_names(0, SNW_SCHEME_ON_SHOOTING, names, sizeof names);
        return snw_fail(err, SNW_E_ARGUMENT, "the shooting engine has no scheme '%s'; it has %s",
                        scheme->name, names);
    }
    if (how->points != 0 && (how->points < 4 || how->points > 100000)) {
        return snw_fail(err, SNW_E_ARGUMENT, "points along a rod must be from 4 to 100000, got %d",
                        how->points);
    }
    out->engine = SNW_ENGINE_SHOOTING;
    out->shooting.points = how->points ? how->points : SNW_SHOOT_POINTS;
    return SNW_OK;
}

// parameter of a scheme within the limits of the language; NaN: default
static snw_status take_parameter(const char *name, double given, double low, double high,
                                 double *out, snw_error *err) {
    if (isnan(given)) return SNW_OK;
    if (!(given >= low && given <= high)) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s must be from %g to %g, got %g", name, low, high,
                        given);
    }
    *out = given;
    return SNW_OK;
}

static snw_status choose_scheme(const snw_robot_steps *how, snw_step_desc *out, snw_error *err) {
    if (how->tolerance < 0 || !isfinite(how->tolerance)) {
        return snw_fail(err, SNW_E_ARGUMENT, "tolerance must be positive, or 0, got %g",
                        how->tolerance);
    }
    if (!(how->step > 0 && isfinite(how->step))) {
        return snw_fail(err, SNW_E_ARGUMENT, "the longest step must be positive, got %g s",
                        how->step);
    }
    const char *name = how->scheme ? how->scheme : "generalized-alpha";
    const int kind = snw_scheme_find(name);
    if (kind < 0) return snw_fail(err, SNW_E_ARGUMENT, "there is no scheme '%.40s'", name);
    *out = snw_step_dynamic((snw_scheme_kind)kind);
    out->step = how->step;
    out->patience = SNW_LIVE_PATIENCE;
    if (how->tolerance > 0) out->tolerance = how->tolerance;
    const double least = snw_scheme_table[kind].rho_min;
    SNW_TRY(take_parameter("rho", how->rho, least, 1, &out->rho, err));
    SNW_TRY(take_parameter("alpha", how->alpha, -0.5, 0, &out->alpha, err));
    return set_engine(how, out, err);
}

void snw_robot_copy_motion(snw_robot *r) {
    if (r->integrator.shooter)
        (void)r->integrator.work_at(r->integrator.self); // fills the coordinates of its fields
    snw_state_copy(r->m, r->integrator.state(r->integrator.self), r->s);
    snw_inputs_copy(r->integrator.inputs(r->integrator.self), r->in);
}

// samples and conditions at the present time
static snw_status update_signals(snw_robot *r, snw_error *err) {
    const snw_model *m = r->m;
    if (!snw_memory_has_events(m)) return SNW_OK;
    snw_work *w = (snw_work *)r->integrator.work_at(r->integrator.self);
    const snw_state *s = r->integrator.state(r->integrator.self);
    const snw_inputs *in = r->integrator.inputs(r->integrator.self);
    const snw_energy e = {.kinetic = snw_kinetic_energy(m, w),
                          .elastic = snw_stored_energy(m, s->q, w),
                          .gravity = snw_gravity_energy(m, in, w)};
    const bool changed = snw_memory_update(m, in, s, &e, r->unsampled, r->rotation_now, w, r->z);
    for (int i = 0; i < m->nsignal; i++) r->unsampled[i] = false;
    return changed ? r->integrator.restart(r->integrator.self, r->z, err) : SNW_OK;
}

snw_status snw_robot_begin(snw_robot *r, const snw_step_desc *how, snw_error *err) {
    r->how = *how;
    if (r->integrator.close) r->integrator.close(r->integrator.self);
    r->integrator = (snw_integrator){0};
    if (r->how.engine == SNW_ENGINE_SHOOTING) {
        SNW_TRY(snw_integrator_shooting(r->m, &r->how, NULL, &r->integrator, err));
    } else {
        SNW_TRY(snw_integrator_open(r->m, &r->how, how->step, &r->integrator, err));
    }
    r->saves = snw_integrator_saves(r->m, &r->how);
    r->integrator.set_manual(r->integrator.self, &r->manual);
    SNW_TRY(snw_robot_project(r, err));
    SNW_TRY(r->integrator.start(r->integrator.self, r->s, err));
    SNW_TRY(snw_integrator_choose_rows(&r->integrator, snw_statics_projection(r->statics), r->rows,
                                       err));
    for (int i = 0; i < r->m->nsignal; i++) r->unsampled[i] = true;
    SNW_TRY(update_signals(r, err));
    snw_robot_copy_motion(r);
    return SNW_OK;
}

snw_status snw_robot_start(snw_robot *r, const snw_robot_steps *how, snw_error *err) {
    snw_step_desc step;
    if (!r || !how) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", r ? "how" : "the robot");
    }
    SNW_TRY(choose_scheme(how, &step, err));
    SNW_TRY(snw_robot_check_state(r, err));
    return snw_robot_begin(r, &step, err);
}

double snw_robot_scheme_energy(const snw_robot *r) {
    if (!r) return NAN;
    return r->integrator.close ? r->integrator.work(r->integrator.self).scheme : 0;
}

void snw_robot_take_over(snw_robot *r, const snw_robot *from) {
    const snw_model *m = r->m, *old = from->m;
    SNW_ASSERT(m->nq == old->nq && m->nv == old->nv && m->nsignal == old->nsignal);
    const size_t nv = (size_t)m->nv * sizeof(double);
    r->s->t = from->s->t;
    memcpy(r->s->q, from->s->q, (size_t)m->nq * sizeof(double));
    memcpy(r->s->v, from->s->v, nv);
    memcpy(r->s->a, from->s->a, nv);
    memcpy(r->s->z, from->s->z, (size_t)m->nsignal * sizeof(double));
    if (m->nconstraint == old->nconstraint)
        memcpy(r->s->lambda, from->s->lambda, (size_t)m->nconstraint * sizeof(double));
    memcpy(r->manual_memory, from->manual_memory, from->manual_bytes);
    r->manual.gravity_given = from->manual.gravity_given;
    r->manual.gravity = from->manual.gravity;
    r->manual.drag_spring = from->manual.drag_spring;
    snw_inputs_at(m, r->s->t, r->in);
}

// Advance to the time `end`; rows of redundant loops are chosen again where they lose rank.
static snw_status advance_to(snw_robot *r, double end, snw_stats *stats, snw_error *err) {
    enum { PARTS = 100 };
    snw_projection *pr = snw_statics_projection(r->statics);
    for (int n = 0; n < PARTS; n++) {
        double to = end;
        SNW_TRY(snw_integrator_advance(&r->integrator, pr, r->rows, &to, INFINITY, stats, err));
        SNW_TRY(snw_integrator_choose_rows(&r->integrator, pr, r->rows, err));
        if (to == end) return SNW_OK;
    }
    return snw_fail(
        err, SNW_E_SINGULAR,
        "the rank of redundant loops changes repeatedly before t = %g s; use shorter steps", end);
}

snw_status snw_robot_step(snw_robot *r, double h, snw_error *err) {
    if (!r || !r->integrator.close) {
        return snw_fail(err, SNW_E_ARGUMENT, "call snw_robot_start before the first step");
    }
    if (!(h > 0 && h <= r->how.step * (1 + 1e-9))) {
        return snw_fail(err, SNW_E_ARGUMENT, "a step must be positive and at most %g s, got %g s",
                        r->how.step, h);
    }
    snw_stats stats = {0};
    const double end = r->integrator.state(r->integrator.self)->t + h;
    SNW_TRY(advance_to(r, end, &stats, err));
    const snw_status s = update_signals(r, err);
    if (s == SNW_OK) {
        snw_robot_copy_motion(r);
    } else {
        r->integrator.undo(r->integrator.self);
    }
    return s;
}
