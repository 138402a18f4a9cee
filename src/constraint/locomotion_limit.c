// SPDX-License-Identifier: MIT
//
// Instants at which rows lose rank although the motion goes on (three axles of a snake that meet in
// a point). With u the left vector of what is lost, u'C = 0, the row u'(C v + b) = 0 says nothing
// of the motion z along the right vector, but it holds at all times: its rate
//   f(z) = d/dt u'(C v + b) at fixed v = v_r + z V
// must vanish too, since u'C v' = 0 whatever v'. Along q' = v it is of second degree in z, so three
// values give it. Where no z makes it vanish the singularity is a true one. theory.md 6.8
#include "constraint/locomotion_private.h"

#include "base/fail.h"
#include "constraint/redundancy.h"

#include <math.h>
#include <string.h>

// between instants of differences, s; of what changes within a second
static const double APART = 1e-3;

// lo->near <- s as it is dt later than t, unknown rates unchanged; inputs with it
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

// d/dt u'(rates of rows) along s, to fourth order; followers give way
static snw_status locomotion_limit_slope(snw_locomotion *lo, snw_inputs *in, const snw_state *s,
                                         const double *u, double *out) {
    static const double weight[5] = {1, -8, 0, 8, -1};
    const snw_model *m = lo->m;
    const double t = in->t;
    double sum = 0;
    for (int n = -2; n <= 2; n++) {
        if (n == 0) continue;
        locomotion_limit_later(lo, in, s, t, n * APART);
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
    *out = sum / (12 * APART);
    return SNW_OK;
}

static snw_status locomotion_limit_lost(const snw_locomotion *lo, const snw_inputs *in,
                                        const double *u, snw_error *err) {
    int a = 0;
    for (int k = 1; k < lo->nr; k++) a = fabs(u[k]) > fabs(u[a]) ? k : a;
    return snw_fail(err, SNW_E_SINGULAR,
                    "the contacts are in a singular position at t = %.9g s: '%s' says what others "
                    "say, and the gait has no finite motion through it; choose one that stays away",
                    in->t, snw_locomotion_row_name(lo, a));
}

// s->v += z times the open motion in lo->v1
static void locomotion_limit_shift(const snw_locomotion *lo, double z, snw_state *s) {
    for (int i = 0; i < lo->m->nv; i++) s->v[i] += z * lo->v1[i];
}

// s->a <- differences of the velocities before and behind, where rows have their rank; twice, since
// the way there depends on it
static snw_status differ(snw_locomotion *lo, snw_inputs *in, snw_state *s, snw_error *err) {
    static const double weight[5] = {1, -8, 0, 8, -1};
    const snw_model *m = lo->m;
    const double t = in->t;
    double *a = lo->v1;
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < m->nv; i++) a[i] = 0;
        for (int n = -2; n <= 2; n++) {
            int rank;
            if (n == 0) continue;
            locomotion_limit_later(lo, in, s, t, n * APART);
            SNW_TRY(snw_locomotion_velocities(lo, in, lo->near, &rank, err));
            snw_inputs_at(m, t, in);
            for (int i = 0; i < m->nv; i++) {
                a[i] += weight[n + 2] * lo->near->v[i] / (12 * APART);
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
    double *V = lo->x + 2 * nu, *u = lo->side;
    for (size_t j = 0; j < nu; j++) V[j] = lo->Vt[j * nu + (size_t)rank];
    memcpy(u, lo->U + (size_t)rank * nr, nr * sizeof *u);
    if (lo->nominal - rank > 1) return locomotion_limit_lost(lo, in, u, err);
    memset(lo->v1, 0, (size_t)lo->m->nv * sizeof *lo->v1);
    snw_locomotion_add_motion(lo, V, lo->v1);
    double f[3], z = 0;
    for (int n = -1; n <= 1; n++) {
        locomotion_limit_shift(lo, n, s);
        const snw_status status = locomotion_limit_slope(lo, in, s, u, &f[n + 1]);
        locomotion_limit_shift(lo, -n, s);
        if (status == SNW_E_SINGULAR) return snw_locomotion_fail_lever(lo, in->t, err);
        if (status != SNW_OK) return locomotion_limit_lost(lo, in, u, err);
    }
    if (!snw_smaller_root(f[1], 0.5 * (f[2] - f[0]), 0.5 * (f[2] + f[0]) - f[1], &z)) {
        return locomotion_limit_lost(lo, in, u, err);
    }
    locomotion_limit_shift(lo, z, s);
    return SNW_OK;
}

snw_status snw_locomotion_limit(snw_locomotion *lo, snw_inputs *in, snw_state *s, int rank,
                                snw_error *err) {
    SNW_TRY(snw_locomotion_limit_rates(lo, in, s, rank, err));
    SNW_TRY(differ(lo, in, s, err));
    // forces as at any instant, the accelerations being known
    snw_locomotion_kinematics(lo, in, s);
    const snw_status status = snw_locomotion_decompose(lo, &rank);
    if (status == SNW_E_SINGULAR) return snw_locomotion_fail_lever(lo, in->t, err);
    SNW_TRY(status);
    return snw_locomotion_forces(lo, in, s, err);
}
