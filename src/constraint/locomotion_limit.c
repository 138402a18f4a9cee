// SPDX-License-Identifier: MIT
//
// Velocities and accelerations at configurations where the rows lose rank although the motion goes
// on (three axles of a snake that meet in a point; theory.md 6.8). With u the left and V the right
// singular vector of the vanishing singular value, u'C = 0 and the row u'(C v + b) = 0 does not
// determine z in v = v_r + z V. But it holds at all times, so its rate
//   f(z) = d/dt u'(C v + b) at fixed v = v_r + z V
// vanishes too, since u'C v' = 0 for any v'. Along q' = v it is quadratic in z, found from three
// values. Without a real root the singularity cannot be passed.

#include "constraint/locomotion_private.h"

#include "base/fail.h"
#include "constraint/redundancy.h"

#include <math.h>
#include <string.h>

// Step of the finite differences, s; motions are expected to change within a second.
static const double DIFFERENCE_STEP = 1e-3;

// lo->near <- s at t + dt with unchanged unknown rates; inputs <- those at t + dt
static void locomotion_limit_later(snw_locomotion *lo, snw_inputs *in, const snw_state *s, double t,
                                   double dt) {
    const snw_model *m = lo->m;
    double *dx = lo->v0;
    snw_state_copy(m, s, lo->near);
    for (int i = 0; i < m->nv; i++) dx[i] = dt * (s->v[i] + 0.5 * dt * s->a[i]);
    snw_move(m, s->q, 1, dx, lo->near->q);
    snw_inputs_at(m, t + dt, in);
    snw_locomotion_impose(lo, in, lo->near);
}

// *out <- d/dt u'(rates of rows) along s, to fourth order, passive joints eliminated
static snw_status locomotion_limit_derivative(snw_locomotion *lo, snw_inputs *in,
                                              const snw_state *s, const double *u, double *out) {
    static const double weight[5] = {1, -8, 0, 8, -1};
    const snw_model *m = lo->m;
    const double t = in->t;
    double sum = 0;
    for (int n = -2; n <= 2; n++) {
        if (n == 0) continue;
        locomotion_limit_later(lo, in, s, t, n * DIFFERENCE_STEP);
        snw_locomotion_kinematics(lo, in, lo->near);
        snw_locomotion_rates(lo, in, lo->near, lo->rate, NULL);
        if (lo->npassive > 0) {
            int ignored;
            SNW_TRY(snw_locomotion_decompose(lo, &ignored));
            snw_locomotion_condense_rates(lo, lo->rate, NULL);
        }
        for (int k = 0; k < lo->nr; k++) {
            sum += weight[n + 2] * u[k] * lo->rate[lo->row[k].row] / lo->row[k].size;
        }
    }
    snw_inputs_at(m, t, in);
    *out = sum / (12 * DIFFERENCE_STEP);
    return SNW_OK;
}

static snw_status fail_singular(const snw_locomotion *lo, const snw_inputs *in, const double *u,
                                snw_error *err) {
    int a = 0;
    for (int k = 1; k < lo->nr; k++) a = fabs(u[k]) > fabs(u[a]) ? k : a;
    return snw_fail(
        err, SNW_E_SINGULAR,
        "the contacts are in a singular position at t = %.9g s: '%s' is linearly dependent on the "
        "others, and the gait has no finite motion through it; choose one that avoids it",
        in->t, snw_locomotion_row_name(lo, a));
}

// s->v += z times the open motion in lo->v1
static void locomotion_limit_shift(const snw_locomotion *lo, double z, snw_state *s) {
    for (int i = 0; i < lo->m->nv; i++) s->v[i] += z * lo->v1[i];
}

// s->a <- differences of the velocities at regular configurations before and after; repeated, since
// these configurations depend on s->a
static snw_status difference_accelerations(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                           int passes, snw_error *err) {
    static const double weight[5] = {1, -8, 0, 8, -1};
    const snw_model *m = lo->m;
    const double t = in->t;
    double *a = lo->v1;
    for (int pass = 0; pass < passes; pass++) {
        for (int i = 0; i < m->nv; i++) a[i] = 0;
        for (int n = -2; n <= 2; n++) {
            int rank;
            if (n == 0) continue;
            locomotion_limit_later(lo, in, s, t, n * DIFFERENCE_STEP);
            SNW_TRY(snw_locomotion_velocities(lo, in, lo->near, &rank, err));
            snw_inputs_at(m, t, in);
            for (int i = 0; i < m->nv; i++) {
                a[i] += weight[n + 2] * lo->near->v[i] / (12 * DIFFERENCE_STEP);
            }
        }
        snw_locomotion_impose(lo, in, s);
        for (int j = 0; j < lo->nu; j++) s->a[lo->dof[j]] = a[lo->dof[j]];
        for (int i = 0; i < lo->npassive; i++) s->a[lo->passive[i].dof] = a[lo->passive[i].dof];
    }
    return SNW_OK;
}

snw_status snw_locomotion_limit_rates(snw_locomotion *lo, snw_inputs *in, snw_state *s, int rank,
                                      snw_error *err) {
    const size_t nu = (size_t)lo->nu, nr = (size_t)lo->nr;
    double *V = lo->x + 2 * nu, *u = lo->rhs;
    for (size_t j = 0; j < nu; j++) V[j] = lo->Vt[j * nu + (size_t)rank];
    memcpy(u, lo->U + (size_t)rank * nr, nr * sizeof *u);
    if (lo->nominal - rank > 1) return fail_singular(lo, in, u, err);
    memset(lo->v1, 0, (size_t)lo->m->nv * sizeof *lo->v1);
    snw_locomotion_add_motion(lo, V, lo->v1);
    double f[3], z = 0;
    for (int n = -1; n <= 1; n++) {
        locomotion_limit_shift(lo, n, s);
        const snw_status status = locomotion_limit_derivative(lo, in, s, u, &f[n + 1]);
        locomotion_limit_shift(lo, -n, s);
        if (status == SNW_E_SINGULAR) return snw_locomotion_fail_lever(lo, in->t, err);
        if (status != SNW_OK) return fail_singular(lo, in, u, err);
    }
    if (!snw_smaller_root(f[1], 0.5 * (f[2] - f[0]), 0.5 * (f[2] + f[0]) - f[1], &z)) {
        return fail_singular(lo, in, u, err);
    }
    locomotion_limit_shift(lo, z, s);
    return SNW_OK;
}

snw_status snw_locomotion_difference_motion(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                            int passes, snw_error *err) {
    int rank;
    SNW_TRY(difference_accelerations(lo, in, s, passes, err));
    // forces from the accelerations as at regular configurations
    snw_locomotion_kinematics(lo, in, s);
    const snw_status status = snw_locomotion_decompose(lo, &rank);
    if (status == SNW_E_SINGULAR) return snw_locomotion_fail_lever(lo, in->t, err);
    SNW_TRY(status);
    return snw_locomotion_forces(lo, in, s, err);
}

snw_status snw_locomotion_limit(snw_locomotion *lo, snw_inputs *in, snw_state *s, int rank,
                                snw_error *err) {
    SNW_TRY(snw_locomotion_limit_rates(lo, in, s, rank, err));
    return snw_locomotion_difference_motion(lo, in, s, 3, err);
}
