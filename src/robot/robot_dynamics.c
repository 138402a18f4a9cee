// SPDX-License-Identifier: MIT
//
// Forward dynamics, bias forces, solutions with the mass matrix, constraints and energies by link
// of the public robot.

#include "robot/robot_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"
#include "study/probe.h"

#include <math.h>
#include <string.h>

static snw_status robot_solve_accelerations(snw_robot *r, snw_error *err) {
    if (r->m->nconstraint) {
        return snw_projection_accelerations(snw_statics_projection(r->statics), r->in, r->s, err);
    }
    return snw_accelerations(r->m, r->in, r->s, r->w, r->M, err);
}

snw_status snw_robot_forward_dynamics(snw_robot *r, snw_error *err) {
    return snw_robot_accelerate(r, NULL, err);
}

snw_status snw_robot_accelerate(snw_robot *r, const double *tau, snw_error *err) {
    if (!r) return snw_fail(err, SNW_E_ARGUMENT, "the robot is NULL");
    const int nv = r->m->nv;
    if (tau) SNW_TRY(snw_robot_check_numbers("tau", nv, tau, err));
    SNW_TRY(snw_robot_check_state(r, err));
    snw_robot_initialise_signals(r);
    if (!tau) return robot_solve_accelerations(r, err);
    // tau acts as the efforts of actuators do
    memcpy(r->tau, r->in->stress, (size_t)nv * sizeof *r->tau);
    for (int i = 0; i < nv; i++) r->in->stress[i] += tau[i];
    const snw_status s = robot_solve_accelerations(r, err);
    memcpy(r->in->stress, r->tau, (size_t)nv * sizeof *r->tau);
    return s;
}

snw_status snw_robot_bias(snw_robot *r, double *h) {
    if (!r) return SNW_E_ARGUMENT;
    if (!h) return SNW_ROBOT_REFUSE(r, "h is NULL");
    SNW_TRY(snw_robot_check_state(r, r->error));
    const size_t size = (size_t)r->m->nv * sizeof *h;
    snw_robot_initialise_signals(r);
    memcpy(r->tau, r->s->a, size);
    memset(r->s->a, 0, size);
    snw_residual(r->m, r->in, r->s, false, r->w);
    memcpy(r->s->a, r->tau, size);
    memcpy(h, r->w->r, size);
    return SNW_OK;
}

snw_status snw_robot_mass_solve(snw_robot *r, int n, const double *b, double *x, snw_error *err) {
    if (!r) return snw_fail(err, SNW_E_ARGUMENT, "the robot is NULL");
    const size_t nv = (size_t)r->m->nv;
    if (n < 0) return snw_fail(err, SNW_E_ARGUMENT, "n must not be negative, got %d", n);
    if (n > 0 && (!b || !x)) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", b ? "x" : "b");
    for (int k = 0; k < n; k++)
        SNW_TRY(snw_robot_check_numbers("b", r->m->nv, b + (size_t)k * nv, err));
    SNW_TRY(snw_robot_check_state(r, err));
    snw_robot_initialise_signals(r);
    snw_mass_matrix(r->m, r->in, r->s, r->w, r->M);
    double weight;
    bool regularised = false;
    snw_model tree = *r->m; // without constraints
    tree.nconstraint = 0;
    const snw_status s =
        snw_mass_factor(&tree, NULL, NULL, r->diagonal, r->M, &weight, &regularised);
    if (s != SNW_OK || regularised) {
        return snw_fail(err, SNW_E_SINGULAR,
                        "the mass matrix is singular: some coordinate moves no mass");
    }
    for (int k = 0; k < n; k++) {
        double *column = x + (size_t)k * nv;
        if (column != b + (size_t)k * nv) memcpy(column, b + (size_t)k * nv, nv * sizeof *x);
        snw_cholesky_solve(r->m->nv, r->M, column);
    }
    return SNW_OK;
}

// ---- energies -----------------------------------------------------------------------------------

snw_status snw_robot_link_energies(snw_robot *r, double *out) {
    if (!r) return SNW_E_ARGUMENT;
    if (!out) return SNW_ROBOT_REFUSE(r, "out is NULL");
    SNW_TRY(snw_robot_check_state(r, r->error));
    snw_robot_initialise_signals(r);
    snw_residual(r->m, r->in, r->s, false, r->w);
    snw_energy_by_link(r->m, r->in, r->s, r->w, r->energy);
    for (int i = 0; i < r->desc->nlink; i++) {
        *out++ = r->energy[i].kinetic;
        *out++ = r->energy[i].elastic;
        *out++ = r->energy[i].gravity;
    }
    return SNW_OK;
}

// ---- constraints --------------------------------------------------------------------------------

int snw_robot_constraints(const snw_robot *r) { return r ? r->m->nconstraint : 0; }

// w->C, w->violation, w->lambda at the present motion
static snw_status constraints_at(snw_robot *r) {
    SNW_TRY(snw_robot_check_forces(r, r->error));
    snw_robot_initialise_signals(r);
    r->w->velocity_time = 1; // violations of contacts without slip in m/s and rad/s
    snw_residual(r->m, r->in, r->s, false, r->w);
    r->w->velocity_time = 0;
    snw_jacobian_pass(r->m, r->w);
    snw_constraints_jacobian(r->m, r->w);
    return SNW_OK;
}

snw_status snw_robot_constraint_jacobian(snw_robot *r, double *C, double *violation) {
    if (!r) return SNW_E_ARGUMENT;
    if (!C) return SNW_ROBOT_REFUSE(r, "C is NULL");
    SNW_TRY(constraints_at(r));
    const size_t n = (size_t)r->m->nconstraint;
    memset(C, 0, n * (size_t)r->m->nv * sizeof *C);
    for (size_t i = 0; i < n; i++) {
        const snw_constraint row = snw_constraint_at(r->m, r->w, (int)i);
        for (int k = 0; !row.inactive && k < row.n; k++) C[(size_t)row.dof[k] * n + i] += row.C[k];
        if (violation) violation[i] = row.inactive ? 0 : r->w->violation[i];
    }
    return SNW_OK;
}

snw_status snw_robot_multipliers(snw_robot *r, double *lambda, double *f) {
    if (!r) return SNW_E_ARGUMENT;
    if (!lambda) return SNW_ROBOT_REFUSE(r, "lambda is NULL");
    memcpy(lambda, r->s->lambda, (size_t)r->m->nconstraint * sizeof *lambda);
    if (!f) return SNW_OK;
    SNW_TRY(constraints_at(r));
    memset(f, 0, (size_t)r->m->nv * sizeof *f);
    snw_constraints_apply_transpose(r->m, r->w, r->s->lambda, f);
    return SNW_OK;
}

snw_status snw_robot_loop_wrench(snw_robot *r, int loop, double wrench[6]) {
    if (!r) return SNW_E_ARGUMENT;
    if (!wrench) return SNW_ROBOT_REFUSE(r, "wrench is NULL");
    if (loop < 0 || loop >= r->m->nloop) {
        return SNW_ROBOT_REFUSE(r, "there is no loop number %d, the robot has %d", loop,
                                r->m->nloop);
    }
    SNW_TRY(snw_robot_check_forces(r, r->error));
    snw_robot_initialise_signals(r);
    snw_residual(r->m, r->in, r->s, false, r->w);
    const snw_wrench F = snw_loop_wrench(r->m, r->w, loop, r->w->lambda);
    const snw_mat3 R = snw_loop_pose(r->m, r->w, loop).R;
    const snw_vec3 moment = snw_rotate_known(R, F.m), force = snw_rotate_known(R, F.f);
    for (int i = 0; i < 3; i++) wrench[i] = moment.e[i], wrench[3 + i] = force.e[i];
    return SNW_OK;
}
