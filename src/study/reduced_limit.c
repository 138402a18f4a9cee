// SPDX-License-Identifier: MIT
//
// Instants at which rows lose rank although the motion goes on (three axles of a snake that meet in a point). With u the left
// vector of what is lost, u'C = 0, the row u'(C v + b) = 0 says nothing of the motion z along the right vector, but it holds
// at all times: its rate
//   f(z) = d/dt u'(C v + b) at fixed v = v_r + z V
// must vanish too, since u'C v' = 0 whatever v'. Along q' = v it is of second degree in z, so three values give it. Where no z makes
// it vanish the singularity is a true one. theory.md 6.8
#include "study/reduced_private.h"

#include "base/fail.h"
#include "study/share.h"

#include <math.h>
#include <string.h>

// between instants of differences, s; of what changes within a second
static const double APART = 1e-3;

// red->near <- s as it is dt later than t, unknown rates unchanged; inputs with it
static void later(snw_reduced *red, snw_inputs *in, const snw_state *s, double t, double dt) {
    const snw_model *m = red->m;
    double *dx = red->v0;
    snw_state_copy(m, s, red->near);
    for (int i = 0; i < m->nv; i++) dx[i] = dt * (s->v[i] + 0.5 * dt * s->a[i]);
    snw_move(m, s->q, 1, dx, red->near->q);
    snw_inputs_at(m, t + dt, in);
    snw_reduced_impose(red, in, red->near);
}

// d/dt u'(rates of rows) along s, to fourth order; followers give way
static snw_status slope(snw_reduced *red, snw_inputs *in, const snw_state *s, const double *u,
                        double *out) {
    static const double weight[5] = {1, -8, 0, 8, -1};
    const snw_model *m = red->m;
    const double t = in->t;
    double sum = 0;
    for (int n = -2; n <= 2; n++) {
        if (n == 0) continue;
        later(red, in, s, t, n * APART);
        snw_reduced_at(red, in, red->near);
        snw_reduced_rates(red, in, red->near, red->rate, NULL);
        if (red->nled > 0) {
            int ignored;
            SNW_TRY(snw_reduced_decompose(red, &ignored));
            snw_reduced_yield(red, red->rate, NULL);
        }
        for (int k = 0; k < red->nr; k++) {
            sum += weight[n + 2] * u[k] * red->rate[red->row[k].row] / red->row[k].size;
        }
    }
    snw_inputs_at(m, t, in);
    *out = sum / (12 * APART);
    return SNW_OK;
}

static snw_status lost(const snw_reduced *red, const snw_inputs *in, const double *u,
                       snw_error *err) {
    int a = 0;
    for (int k = 1; k < red->nr; k++) a = fabs(u[k]) > fabs(u[a]) ? k : a;
    return snw_fail(err, SNW_E_SINGULAR,
                    "the contacts are in a singular position at t = %.9g s: '%s' says what others "
                    "say, and the gait has no finite motion through it; choose one that stays away",
                    in->t, snw_reduced_row_name(red, a));
}

// s->v += z times the open motion in red->v1
static void shift(const snw_reduced *red, double z, snw_state *s) {
    for (int i = 0; i < red->m->nv; i++) s->v[i] += z * red->v1[i];
}

// s->a <- differences of the velocities before and behind, where rows have their rank; twice, since the way there depends on it
static snw_status differ(snw_reduced *red, snw_inputs *in, snw_state *s, snw_error *err) {
    static const double weight[5] = {1, -8, 0, 8, -1};
    const snw_model *m = red->m;
    const double t = in->t;
    double *a = red->v1;
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < m->nv; i++) a[i] = 0;
        for (int n = -2; n <= 2; n++) {
            int rank;
            if (n == 0) continue;
            later(red, in, s, t, n * APART);
            SNW_TRY(snw_reduced_velocities(red, in, red->near, &rank, err));
            snw_inputs_at(m, t, in);
            for (int i = 0; i < m->nv; i++) {
                a[i] += weight[n + 2] * red->near->v[i] / (12 * APART);
            }
        }
        snw_reduced_impose(red, in, s);
        for (int j = 0; j < red->nu; j++) s->a[red->dof[j]] = a[red->dof[j]];
        for (int i = 0; i < red->nled; i++) s->a[red->led[i].dof] = a[red->led[i].dof];
    }
    return SNW_OK;
}

snw_status snw_reduced_limit_rates(snw_reduced *red, snw_inputs *in, snw_state *s, int rank,
                                   snw_error *err) {
    const size_t nu = (size_t)red->nu, nr = (size_t)red->nr;
    double *V = red->x + 2 * nu, *u = red->side;
    for (size_t j = 0; j < nu; j++) V[j] = red->Vt[j * nu + (size_t)rank];
    memcpy(u, red->U + (size_t)rank * nr, nr * sizeof *u);
    if (red->nominal - rank > 1) return lost(red, in, u, err);
    memset(red->v1, 0, (size_t)red->m->nv * sizeof *red->v1);
    snw_reduced_along(red, V, red->v1);
    double f[3], z = 0;
    for (int n = -1; n <= 1; n++) {
        shift(red, n, s);
        const snw_status status = slope(red, in, s, u, &f[n + 1]);
        shift(red, -n, s);
        if (status == SNW_E_SINGULAR) return snw_reduced_stuck(red, in->t, err);
        if (status != SNW_OK) return lost(red, in, u, err);
    }
    if (!snw_smaller_root(f[1], 0.5 * (f[2] - f[0]), 0.5 * (f[2] + f[0]) - f[1], &z)) {
        return lost(red, in, u, err);
    }
    shift(red, z, s);
    return SNW_OK;
}

snw_status snw_reduced_limit(snw_reduced *red, snw_inputs *in, snw_state *s, int rank,
                             snw_error *err) {
    SNW_TRY(snw_reduced_limit_rates(red, in, s, rank, err));
    SNW_TRY(differ(red, in, s, err));
    // forces as at any instant, the accelerations being known
    snw_reduced_at(red, in, s);
    const snw_status status = snw_reduced_decompose(red, &rank);
    if (status == SNW_E_SINGULAR) return snw_reduced_stuck(red, in->t, err);
    SNW_TRY(status);
    return snw_reduced_forces(red, in, s, err);
}
