// SPDX-License-Identifier: MIT
//
// The public robot: state, inverse and forward dynamics, tangents, energies, equilibria and probes,
// with checked arguments, from the compiled model.

#include "robot/robot_private.h"

#include "base/fail.h"
#include "shoot/shooter.h"

#include <math.h>
#include <string.h>

// ---- arguments ----------------------------------------------------------------------------------

const snw_error *snw_robot_error(const snw_robot *r) {
    static const snw_error none = {.status = SNW_E_ARGUMENT, .text = "the robot is NULL"};
    return r ? r->error : &none;
}

snw_status snw_robot_check_numbers(const char *name, int n, const double *x, snw_error *err) {
    if (!x) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", name);
    for (int i = 0; i < n; i++) {
        if (isfinite(x[i])) continue;
        return snw_fail(err, SNW_E_ARGUMENT, "%s[%d] is not a finite number, got %g", name, i,
                        x[i]);
    }
    return SNW_OK;
}

// Check coordinates written by the caller: finite numbers, unit quaternions. Take his inputs.
static snw_status check_configuration(snw_robot *r, snw_error *err) {
    const double *q = r->s->q;
    SNW_TRY(snw_robot_apply_inputs(r, err));
    snw_robot_refresh_inputs(r);
    SNW_TRY(snw_robot_check_numbers("q", r->m->nq, q, err));
    for (int k = 0; k < r->m->nblock; k++) {
        const snw_block *b = &r->m->block[k];
        if (b->space == SNW_SPACE_RN) continue;
        const double *h = q + b->q;
        const double n = sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2] + h[3] * h[3]);
        if (fabs(n - 1) < 1e-6) continue;
        return snw_fail(err, SNW_E_ARGUMENT,
                        "q[%d] to q[%d] are a unit quaternion, got one of length %g; divide "
                        "them by it",
                        b->q, b->q + 3, n);
    }
    return SNW_OK;
}

static snw_status check_motion(snw_robot *r, snw_error *err) {
    SNW_TRY(check_configuration(r, err));
    return snw_robot_check_numbers("v", r->m->nv, r->s->v, err);
}

snw_status snw_robot_check_state(snw_robot *r, snw_error *err) { return check_motion(r, err); }

snw_status snw_robot_check_forces(snw_robot *r, snw_error *err) {
    SNW_TRY(check_motion(r, err));
    return snw_robot_check_numbers("a", r->m->nv, r->s->a, err);
}

// ---- state --------------------------------------------------------------------------------------

int snw_robot_nq(const snw_robot *r) { return r ? r->m->nq : 0; }
int snw_robot_nv(const snw_robot *r) { return r ? r->m->nv : 0; }
double *snw_robot_q(snw_robot *r) { return r ? r->s->q : NULL; }
double *snw_robot_v(snw_robot *r) { return r ? r->s->v : NULL; }
double *snw_robot_a(snw_robot *r) { return r ? r->s->a : NULL; }
double snw_robot_time(const snw_robot *r) { return r ? r->s->t : NAN; }

snw_status snw_robot_set_time(snw_robot *r, double t) {
    if (!r) return SNW_E_ARGUMENT;
    if (!isfinite(t)) return SNW_ROBOT_REFUSE(r, "t is not a finite number, got %g", t);
    r->s->t = t;
    r->inputs_stale = true;
    return SNW_OK;
}

snw_status snw_robot_move(snw_robot *r, const double *dx) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(snw_robot_check_numbers("dx", r->m->nv, dx, r->error));
    SNW_TRY(check_configuration(r, r->error));
    snw_move(r->m, r->s->q, 1, dx, r->s->q);
    return SNW_OK;
}

static snw_energy energies(const snw_robot *r) {
    return (snw_energy){.kinetic = snw_kinetic_energy(r->m, r->w),
                        .elastic = snw_stored_energy(r->m, r->s, r->w),
                        .gravity = snw_gravity_energy(r->m, r->in, r->w)};
}

// s <- conditions and poses of the loops that were closed in `before` at a pose of their own.
static void keep_closed(const snw_model *m, const double *before, snw_state *s) {
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        if (loop->condition < 0) continue;
        const int condition = m->condition_signal[loop->condition];
        const int captured = m->pose[m->seg[loop->a].item].captured;
        if (captured == 0 || before[condition] == 0) continue;
        s->z[condition] = 1;
        memcpy(s->z + captured - 1, before + captured - 1, 7 * sizeof *before);
    }
}

void snw_robot_initialise_signals(snw_robot *r) {
    const snw_model *m = r->m;
    if (!snw_memory_has_events(m) || r->integrator.close) return;
    memcpy(r->z, r->s->z, (size_t)m->nsignal * sizeof *r->z);
    snw_state_forget(m, r->s);
    keep_closed(m, r->z, r->s);
    snw_residual(m, r->in, r->s, false, r->w);
    snw_observe(m, r->in, r->s, false, r->w);
    const snw_energy e = energies(r);
    snw_memory_read(m, r->in, r->s, &e, r->rotation_now, r->w);
    (void)snw_memory_sample(m, r->s, r->w, r->unsampled, r->z);
    snw_impacts *ip = snw_statics_impacts(r->statics);
    if (ip) {
        snw_impacts_set_conditions(ip, r->in, r->z, r->s);
        snw_impacts_drop_redundant(ip, r->in, r->s);
    }
    if (!ip) memcpy(r->s->z, r->z, (size_t)m->nsignal * sizeof *r->z);
}

snw_status snw_robot_inverse_dynamics(snw_robot *r, double *tau) {
    if (!r) return SNW_E_ARGUMENT;
    if (!tau) return SNW_ROBOT_REFUSE(r, "tau is NULL");
    SNW_TRY(snw_robot_check_forces(r, r->error));
    snw_robot_initialise_signals(r);
    snw_residual(r->m, r->in, r->s, false, r->w);
    memcpy(tau, r->w->r, (size_t)r->m->nv * sizeof *tau);
    return SNW_OK;
}

// conditions from the present state
static void set_conditions(snw_robot *r) {
    snw_residual(r->m, r->in, r->s, false, r->w);
    snw_observe(r->m, r->in, r->s, false, r->w);
    const snw_energy e = energies(r);
    snw_memory_read(r->m, r->in, r->s, &e, r->rotation_now, r->w);
    (void)snw_memory_switch(r->m, r->s, r->w, r->z);
    snw_impacts_set_conditions(snw_statics_impacts(r->statics), r->in, r->z, r->s);
}

snw_status snw_robot_project(snw_robot *r, snw_error *err) {
    if (r->m->nconstraint == 0 && r->m->ncondition == 0) return SNW_OK;
    snw_robot_refresh_inputs(r);
    snw_projection *pr = snw_statics_projection(r->statics);
    snw_projection_info info;
    if (r->m->ncondition) set_conditions(r);
    if (snw_projection_violation(pr, r->in, r->s, NULL) > 1e-12) {
        SNW_TRY(snw_projection_close(pr, r->in, r->s, &info, err));
    }
    if (r->m->ncondition) snw_impacts_drop_redundant(snw_statics_impacts(r->statics), r->in, r->s);
    return snw_projection_velocities(pr, r->in, r->s, err);
}

snw_status snw_robot_tangent(snw_robot *r, double *K, double *C, double *M) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(snw_robot_check_forces(r, r->error));
    snw_robot_initialise_signals(r);
    snw_residual(r->m, r->in, r->s, false, r->w);
    snw_tangent_pass(r->m, NULL, r->w);
    if (K) snw_tangent_assemble(r->m, r->in, 1, 0, 0, r->w, K);
    if (C) snw_tangent_assemble(r->m, r->in, 0, 1, 0, r->w, C);
    if (M) snw_tangent_assemble(r->m, r->in, 0, 0, 1, r->w, M);
    return SNW_OK;
}

snw_status snw_robot_mass(snw_robot *r, double *M) {
    if (!r) return SNW_E_ARGUMENT;
    if (!M) return SNW_ROBOT_REFUSE(r, "M is NULL");
    SNW_TRY(check_motion(r, r->error));
    snw_robot_initialise_signals(r);
    snw_mass_matrix(r->m, r->in, r->s, r->w, M);
    return SNW_OK;
}

snw_status snw_robot_energy(snw_robot *r, snw_robot_energies *out) {
    if (!r) return SNW_E_ARGUMENT;
    if (!out) return SNW_ROBOT_REFUSE(r, "out is NULL");
    SNW_TRY(check_motion(r, r->error));
    snw_robot_initialise_signals(r);
    snw_residual(r->m, r->in, r->s, false, r->w);
    const snw_wrench P = snw_momentum(r->m, r->w);
    *out = (snw_robot_energies){.kinetic = snw_kinetic_energy(r->m, r->w),
                                .elastic = snw_stored_energy(r->m, r->s, r->w),
                                .gravity = snw_gravity_energy(r->m, r->in, r->w),
                                .dissipation = snw_dissipation(r->m, r->s->v) +
                                               snw_other_heat(r->m, r->s, r->w)};
    for (int i = 0; i < 6; i++) out->momentum[i] = P.e[i];
    return SNW_OK;
}

snw_status snw_robot_equilibrium(snw_robot *r, double t, snw_error *err) {
    if (!r) return snw_fail(err, SNW_E_ARGUMENT, "the robot is NULL");
    if (!isfinite(t)) {
        return snw_fail(err, SNW_E_ARGUMENT, "t is not a finite number, got %g", t);
    }
    SNW_TRY(check_configuration(r, err));
    snw_statics_opts opts = snw_statics_defaults();
    snw_statics_info info;
    // of a material that relaxes, as the file says
    for (int i = 0; i < r->desc->nstep && opts.relaxation.kind == SNW_RELAXED_NOT_STATED; i++) {
        if (r->desc->step[i].kind == SNW_STEP_STATIC) opts.relaxation = r->desc->step[i].relaxation;
    }
    snw_robot_initialise_signals(r);
    const snw_status s = snw_statics_solve(r->statics, t, &opts, r->s, &info, err);
    r->inputs_stale = true;
    return s;
}

double snw_robot_stability(snw_robot *r) {
    if (!r || check_configuration(r, r->error) != SNW_OK) return NAN;
    snw_robot_initialise_signals(r);
    snw_statics_assume(r->statics, r->s->t);
    return snw_statics_stability(r->statics, r->s).value;
}

int snw_robot_probe(snw_robot *r, const char *probe, int max, double *out) {
    if (!r) return 0;
    const char *problem = !probe ? "probe is NULL" : max > 0 && !out ? "out is NULL" : NULL;
    if (problem) return (void)SNW_ROBOT_REFUSE(r, "%s", problem), 0;
    if (check_motion(r, r->error) != SNW_OK) return 0;
    for (int i = 0; i < r->desc->nprobe; i++) {
        const snw_probe_desc *p = &r->desc->probe[i];
        if (strcmp(p->name, probe) != 0) continue;
        snw_readings more = {.stability = NAN, .rotation = r->rotation};
        if (p->kind == SNW_PROBE_STABILITY) more.stability = snw_robot_stability(r);
        snw_robot_initialise_signals(r);
        const snw_work *w = r->w;
        if (r->integrator.shooter) {
            w = r->integrator.work_at(r->integrator.self);
            more.fields = r->integrator.shooter(r->integrator.self);
            const snw_shoot_energy E = snw_shooter_energy(more.fields);
            more.energy =
                (snw_energy){.kinetic = E.kinetic, .elastic = E.elastic, .gravity = E.gravity};
        } else {
            snw_residual(r->m, r->in, r->s, false, r->w);
            snw_observe(r->m, r->in, r->s, false, r->w);
            more.energy = energies(r);
        }
        snw_rotations_update(r->m, w, r->rotation);
        snw_probe_read(r->m, i, r->in, r->s, w, &more, r->column);
        const int n = snw_probe_columns(p);
        for (int k = 0; k < n && k < max; k++) out[k] = r->column[k];
        return n;
    }
    return 0;
}

snw_status snw_robot_effort(snw_robot *r, int actuator, double *effort) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(snw_robot_check_actuator(r, actuator, r->error));
    if (!effort) return SNW_ROBOT_REFUSE(r, "effort is NULL");
    SNW_TRY(check_motion(r, r->error));
    const snw_actuator a = snw_actuator_at(r->desc, actuator);
    if (a.stress) {
        *effort = r->held.activation[a.item];
        return SNW_OK;
    }
    snw_robot_initialise_signals(r);
    snw_residual(r->m, r->in, r->s, false, r->w);
    if (a.tendon) {
        *effort = r->w->tendon[a.item].effort;
        return SNW_OK;
    }
    for (int k = 0; k < a.n; k++) {
        effort[k] = snw_motor_effort(r->m, actuator, k, r->in, r->w);
    }
    return SNW_OK;
}

int snw_robot_limits(snw_robot *r, int actuator) {
    if (!r || snw_robot_check_actuator(r, actuator, r->error) != SNW_OK) return -1;
    const snw_motor_desc *d = snw_actuator_at(r->desc, actuator).motor;
    if (!d) return 0;
    if (check_motion(r, r->error) != SNW_OK) return -1;
    snw_robot_initialise_signals(r);
    snw_residual(r->m, r->in, r->s, false, r->w);
    int reached = 0;
    for (int k = 0; k < d->n; k++)
        reached |= snw_motor_limits(r->m, actuator, k, r->in, r->s, r->w);
    return reached;
}
