// SPDX-License-Identifier: MIT
#include "study/robot_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "model/probe_columns.h"
#include "shoot/shooter.h"

#include <math.h>
#include <string.h>

static snw_status prepare(snw_robot *r, snw_error *err) {
    SNW_TRY(snw_assembly_compile(r->desc, &r->m, err));
    SNW_TRY(snw_state_create(r->m, &r->s));
    SNW_TRY(snw_inputs_create(r->m, &r->in));
    SNW_TRY(snw_work_create(r->m, &r->w));
    SNW_TRY(snw_statics_create(r->m, &r->statics));
    int longest = 1;
    for (int i = 0; i < r->desc->nprobe; i++) {
        const int n = snw_probe_columns(&r->desc->probe[i]);
        if (n > longest) longest = n;
    }
    const size_t nv = (size_t)r->m->nv;
    r->rotation = snw_alloc((size_t)(r->m->nseg + r->m->nobs) * sizeof *r->rotation);
    r->M = snw_alloc(nv * nv * sizeof *r->M);
    SNW_TRY(snw_robot_hand(r));
    r->column = snw_alloc((size_t)longest * sizeof *r->column);
    const size_t ns = (size_t)r->m->nsignal + 1;
    r->turn = snw_alloc((size_t)(r->m->nseg + r->m->nobs) * sizeof *r->turn);
    r->z = snw_alloc(ns * sizeof *r->z);
    r->fresh = snw_alloc(ns * sizeof *r->fresh);
    if (!r->rotation || !r->M || !r->column || !r->turn || !r->z || !r->fresh) return SNW_E_MEMORY;
    for (int i = 0; i < r->m->nsignal; i++) r->fresh[i] = true;
    snw_inputs_at(r->m, 0, r->in);
    return SNW_OK;
}

snw_status snw_robot_create(const snw_desc *desc, void (*release)(void *owner), void *owner,
                            snw_robot **out, snw_error *err) {
    *out = NULL;
    snw_robot *r = snw_alloc(sizeof *r);
    if (!r) {
        if (release) release(owner);
        return snw_fail(err, SNW_E_MEMORY, "out of memory");
    }
    r->desc = desc;
    r->release = release;
    r->owner = owner;
    const snw_status s = prepare(r, err);
    if (s == SNW_OK) {
        *out = r;
        return s;
    }
    snw_robot_close(r);
    return s == SNW_E_MEMORY ? snw_fail(err, s, "out of memory") : s;
}

void snw_robot_close(snw_robot *r) {
    if (!r) return;
    snw_free(r->column);
    snw_free(r->turn);
    snw_free(r->z);
    snw_free(r->fresh);
    snw_free(r->M);
    snw_free(r->rotation);
    if (r->mover.close) r->mover.close(r->mover.self);
    snw_free(r->hand_memory);
    snw_statics_destroy(r->statics);
    snw_work_destroy(r->w);
    snw_inputs_destroy(r->in);
    snw_state_destroy(r->s);
    snw_model_destroy(r->m);
    if (r->release) r->release(r->owner);
    snw_free(r);
}

int snw_robot_nq(const snw_robot *r) { return r->m->nq; }
int snw_robot_nv(const snw_robot *r) { return r->m->nv; }
double *snw_robot_q(snw_robot *r) { return r->s->q; }
double *snw_robot_v(snw_robot *r) { return r->s->v; }
double *snw_robot_a(snw_robot *r) { return r->s->a; }
double snw_robot_time(const snw_robot *r) { return r->s->t; }

void snw_robot_set_time(snw_robot *r, double t) {
    r->s->t = t;
    snw_inputs_at(r->m, t, r->in);
}

void snw_robot_move(snw_robot *r, const double *dx) { snw_move(r->m, r->s->q, 1, dx, r->s->q); }

static snw_energy energies(const snw_robot *r) {
    return (snw_energy){.kinetic = snw_kinetic_energy(r->m, r->w),
                        .elastic = snw_stored_energy(r->m, r->s->q, r->w),
                        .gravity = snw_gravity_energy(r->m, r->in, r->w)};
}

// before it moves, a robot has a state and no past: conditions and samples are those of now, integrals zero
static void attend(snw_robot *r) {
    const snw_model *m = r->m;
    if (!snw_memory_acts(m) || r->mover.close) return;
    memset(r->s->z, 0, (size_t)m->nsignal * sizeof *r->s->z);
    snw_residual(m, r->in, r->s, false, r->w);
    snw_observe(m, r->in, r->s, false, r->w);
    const snw_energy e = energies(r);
    snw_memory_read(m, r->in, r->s, &e, r->turn, r->w);
    (void)snw_memory_renew(m, r->s, r->w, r->fresh, r->z);
    snw_switches *sw = snw_statics_switches(r->statics);
    if (sw) {
        snw_switches_set(sw, r->in, r->z, r->s);
        snw_switches_compare(sw, r->in, r->s);
    }
    if (!sw) memcpy(r->s->z, r->z, (size_t)m->nsignal * sizeof *r->z);
}

void snw_robot_inverse_dynamics(snw_robot *r, double *tau) {
    attend(r);
    snw_residual(r->m, r->in, r->s, false, r->w);
    memcpy(tau, r->w->r, (size_t)r->m->nv * sizeof *tau);
}

snw_status snw_robot_forward_dynamics(snw_robot *r, snw_error *err) {
    attend(r);
    if (r->m->nrow) {
        return snw_assembly_accelerations(snw_statics_assembly(r->statics), r->in, r->s, err);
    }
    return snw_accelerations(r->m, r->in, r->s, r->w, r->M, err);
}

// what comes and goes, as it is now
static void switch_on(snw_robot *r) {
    snw_residual(r->m, r->in, r->s, false, r->w);
    snw_observe(r->m, r->in, r->s, false, r->w);
    const snw_energy e = energies(r);
    snw_memory_read(r->m, r->in, r->s, &e, r->turn, r->w);
    (void)snw_memory_throw(r->m, r->s, r->w, r->z);
    snw_switches_set(snw_statics_switches(r->statics), r->in, r->z, r->s);
}

snw_status snw_robot_assemble(snw_robot *r, snw_error *err) {
    if (r->m->nrow == 0 && r->m->nswitch == 0) return SNW_OK;
    snw_assembly *as = snw_statics_assembly(r->statics);
    snw_assembly_info info;
    if (r->m->nswitch) switch_on(r);
    if (snw_assembly_gap(as, r->in, r->s, NULL) > 1e-12) {
        SNW_TRY(snw_assembly_close(as, r->in, r->s, &info, err));
    }
    if (r->m->nswitch) snw_switches_compare(snw_statics_switches(r->statics), r->in, r->s);
    return snw_assembly_velocities(as, r->in, r->s, err);
}

void snw_robot_tangent(snw_robot *r, double *K, double *C, double *M) {
    attend(r);
    snw_residual(r->m, r->in, r->s, false, r->w);
    snw_tangent_sweep(r->m, NULL, r->w);
    if (K) snw_tangent_assemble(r->m, r->in, 1, 0, 0, r->w, K);
    if (C) snw_tangent_assemble(r->m, r->in, 0, 1, 0, r->w, C);
    if (M) snw_tangent_assemble(r->m, r->in, 0, 0, 1, r->w, M);
}

void snw_robot_mass(snw_robot *r, double *M) {
    attend(r);
    snw_mass_matrix(r->m, r->in, r->s, r->w, M);
}

void snw_robot_energy(snw_robot *r, snw_robot_energies *out) {
    attend(r);
    snw_residual(r->m, r->in, r->s, false, r->w);
    const snw_wrench P = snw_momentum(r->m, r->w);
    *out = (snw_robot_energies){.kinetic = snw_kinetic_energy(r->m, r->w),
                                .elastic = snw_stored_energy(r->m, r->s->q, r->w),
                                .gravity = snw_gravity_energy(r->m, r->in, r->w),
                                .dissipation = snw_dissipation(r->m, r->s->v) +
                                               snw_other_heat(r->m, r->s, r->w)};
    for (int i = 0; i < 6; i++) out->momentum[i] = P.e[i];
}

snw_status snw_robot_equilibrium(snw_robot *r, double t, snw_error *err) {
    const snw_statics_opts opts = snw_statics_defaults();
    snw_statics_info info;
    attend(r);
    const snw_status s = snw_statics_solve(r->statics, t, &opts, r->s, &info, err);
    snw_inputs_at(r->m, r->s->t, r->in);
    return s;
}

double snw_robot_stability(snw_robot *r) {
    attend(r);
    snw_statics_assume(r->statics, r->s->t);
    return snw_statics_stability(r->statics, r->s).value;
}

int snw_robot_probe(snw_robot *r, const char *probe, int max, double *out) {
    for (int i = 0; i < r->desc->nprobe; i++) {
        const snw_probe_desc *p = &r->desc->probe[i];
        if (strcmp(p->name, probe) != 0) continue;
        snw_readings more = {.stability = NAN, .rotation = r->rotation};
        if (p->kind == SNW_PROBE_STABILITY) more.stability = snw_robot_stability(r);
        attend(r);
        const snw_work *w = r->w;
        if (r->mover.shooter) {
            w = r->mover.look(r->mover.self);
            more.fields = r->mover.shooter(r->mover.self);
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

void snw_robot_effort(snw_robot *r, int actuator, double *effort) {
    const int nmotor = r->desc->nmotor;
    const int muscle = actuator - nmotor - r->desc->nmeasure;
    SNW_ASSERT(actuator >= 0 && muscle < r->desc->nstress);
    if (muscle >= 0) {
        *effort = r->activation[muscle];
        return;
    }
    attend(r);
    snw_residual(r->m, r->in, r->s, false, r->w);
    if (actuator >= nmotor) {
        *effort = r->w->measured[actuator - nmotor].effort;
        return;
    }
    for (int k = 0; k < r->desc->motor[actuator].n; k++) {
        effort[k] = snw_motor_effort(r->m, actuator, k, r->in, r->w);
    }
}
