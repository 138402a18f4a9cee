// SPDX-License-Identifier: MIT
//
// Variables of first order in collocation, theory.md (6.8a): strains a of Maxwell branches and
// states z of laws are polynomials of the step too, with their rates at the stages,
//
//     a_i = a_0 + h sum A_ij a'_j,   tau a'_j = q_j - a_j;   z_i = z_0 + h sum A_ij f(z_j, y_j)
//
// Those of the branches follow from the coordinates q of the stages by a matrix of their time, and
// Newton's matrix has their derivatives. Those of the states are solved by Newton's method at given
// probes y.
#include "integrate/collocation_step_private.h"

#include "dynamics/constraint.h"
#include "dynamics/relaxation.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// ---- branches

// B (s x s, by columns) <- factors of 1 + (h/tau) A.
static snw_status branch_matrix(const snw_collocation *k, double ratio, double *B, int *pivot) {
    for (int j = 0; j < k->s; j++) {
        for (int i = 0; i < k->s; i++) B[j * k->s + i] = (i == j) + ratio * k->A[i][j];
    }
    return snw_lu_factor(k->s, B, pivot);
}

void snw_collocation_step_branches(snw_collocation_step *g) {
    const snw_model *m = g->m;
    const snw_collocation *k = &g->k;
    const double h = g->h;
    double B[SNW_STAGES * SNW_STAGES], x[SNW_STAGES];
    int pivot[SNW_STAGES];
    for (int i = 0; i < m->nbranch_coordinate; i++) {
        const snw_branch_place at = snw_relaxation_place(m, i);
        const bool known = branch_matrix(k, h / at.time, B, pivot) == SNW_OK;
        for (int j = 0; j < k->s; j++) { // q_j - a_0
            x[j] = g->now->q[at.q] + h * k->c[j] * g->rate[at.dof] - g->now->relaxed[i];
            for (int l = 0; l < k->s; l++) x[j] += h * h * k->AA[j][l] * g->ddx[l * m->nv + at.dof];
        }
        if (known) snw_lu_solve(k->s, B, pivot, x);
        for (int j = 0; j < k->s; j++)
            g->branch_rate[j * m->nbranch_coordinate + i] = known ? x[j] / at.time : NAN;
    }
}

void snw_collocation_step_relaxed(const snw_collocation_step *g, const double *A, snw_state *s) {
    const int n = g->m->nbranch_coordinate;
    for (int i = 0; i < n; i++) {
        s->relaxed[i] = g->now->relaxed[i];
        for (int j = 0; j < g->k.s; j++) s->relaxed[i] += g->h * A[j] * g->branch_rate[j * n + i];
    }
}

void snw_collocation_step_place_branches(snw_collocation_step *g, int i) {
    const snw_model *m = g->m;
    const snw_collocation *k = &g->k;
    const size_t nv = (size_t)m->nv, all = snw_collocation_step_unknowns(g);
    const double h = g->J_origin.h;
    double B[SNW_STAGES * SNW_STAGES], x[SNW_STAGES];
    int pivot[SNW_STAGES];
    for (int b = 0; b < m->nbranch_coordinate; b++) {
        const snw_branch_place at = snw_relaxation_place(m, b);
        if (branch_matrix(k, h / at.time, B, pivot) != SNW_OK) continue;
        memset(g->scratch, 0, nv * sizeof *g->scratch);
        bool acts = snw_relaxation_force(m, b, g->scratch);
        for (int d = 0; d < m->ndrive; d++) { // driven coordinates have unit rows
            if (!snw_drive_holds(m, g->J_origin.at[i], d)) continue;
            g->scratch[m->drive[d].dof] = 0;
            acts = acts && m->drive[d].dof != at.dof;
        }
        for (int j = 0; j < k->s && acts; j++) { // da_i/dx''_j
            double by = 0;
            for (int l = 0; l < k->s; l++) x[l] = h * h * k->AA[l][j];
            snw_lu_solve(k->s, B, pivot, x);
            for (int l = 0; l < k->s; l++) by += h / at.time * k->A[i][l] * x[l];
            double *to = g->J + ((size_t)j * nv + (size_t)at.dof) * all + (size_t)i * nv;
            for (size_t r = 0; r < nv; r++) to[r] -= by * g->scratch[r];
        }
    }
}

void snw_collocation_step_add_heat(snw_collocation_step *g, double weight, const double *l,
                                   const snw_state *s) {
    const snw_model *m = g->m;
    const int n = m->nbranch_coordinate;
    for (int i = 0; i < n; i++) {
        const snw_branch_place at = snw_relaxation_place(m, i);
        const snw_rod *rod = &m->rod[at.rod];
        const int first = rod->branch_coordinate0 + at.branch * rod->ndof;
        memset(g->scratch, 0, (size_t)m->nv * sizeof *g->scratch);
        if (!snw_relaxation_force(m, i, g->scratch)) continue;
        double rate = 0, heat = 0, force = 0; // K a', K (q - a)
        for (int j = 0; j < g->k.s; j++) rate += l[j] * g->branch_rate[j * n + i];
        for (int c = 0; c < rod->ndof; c++) {
            double other = 0;
            for (int j = 0; j < g->k.s; j++) other += l[j] * g->branch_rate[j * n + first + c];
            heat += g->scratch[rod->dof0 + c] * other;
            force += g->scratch[rod->dof0 + c] *
                     (s->q[rod->dof0 + rod->shift + c] - s->relaxed[first + c]);
        }
        g->heat += weight * at.time * rate * heat;
        if (g->k.ends) g->scheme += weight * rate * (force - at.time * heat);
    }
}

// ---- states

// state (at most SNW_STATES_MAX) <- signals that are states; returns their number.
static int list_states(const snw_model *m, int *state) {
    int n = 0;
    for (int i = 0; i < m->nsignal; i++) {
        if (m->signal[i].kind == SNW_SIGNAL_STATE && m->signal[i].source) state[n++] = i;
    }
    return n;
}

void snw_collocation_step_forget_rates(snw_collocation_step *g) {
    int state[SNW_STATES_MAX];
    const int n = list_states(g->m, state);
    for (int i = 0; i < g->k.s; i++) {
        for (int k = 0; k < n; k++) g->integrand[i * g->m->nsignal + state[k]] = 0;
    }
}

// One iteration of Newton's method for the rates of all states at all stages; returns its size,
// relative to the rates and the changes of the states.
static double improve_rates(snw_collocation_step *g, int n, const int *state) {
    enum { MOST = SNW_STAGES * SNW_STATES_MAX };
    const snw_model *m = g->m;
    const int nz = m->nsignal, s = g->k.s, all = n * s;
    double *J = g->state_matrix, *signal = g->state_signal, d[MOST], size = 0;
    int pivot[MOST];
    for (int i = 0; i < s; i++) {
        const snw_at at = {.t = g->in_stage[i]->t, .signal = signal};
        memcpy(signal, g->w[i]->signal, (size_t)nz * sizeof *signal);
        for (int k = 0; k < n; k++) {
            double *z = &signal[state[k]];
            *z = g->now->z[state[k]];
            for (int j = 0; j < s; j++) *z += g->h * g->k.A[i][j] * g->integrand[j * nz + state[k]];
        }
        for (int k = 0; k < n; k++) {
            const snw_law rate = m->signal[state[k]].source;
            const int row = i * n + k;
            d[row] = snw_expr_value(rate, at) - g->integrand[i * nz + state[k]];
            for (int l = 0; l < n; l++) {
                const double by = snw_expr_jet_signal(rate, at, state[l]).d;
                for (int j = 0; j < s; j++)
                    J[(j * n + l) * all + row] = (i == j && k == l) - g->h * g->k.A[i][j] * by;
            }
        }
    }
    if (snw_lu_factor(all, J, pivot) != SNW_OK) return NAN;
    snw_lu_solve(all, J, pivot, d);
    for (int i = 0; i < all; i++) {
        double *e = &g->integrand[i / n * nz + state[i % n]];
        const double z = fabs(g->now->z[state[i % n]]) / g->h, before = fabs(*e);
        *e += d[i];
        if (d[i] != 0) size = fmax(size, fabs(d[i]) / fmax(fmax(before, fabs(*e)), z));
        if (isnan(d[i])) return NAN;
    }
    return size;
}

bool snw_collocation_step_solve_rates(snw_collocation_step *g) {
    enum { ITERATIONS = 60 };
    static const double converged = 1e-8, rounding = 1e-14;
    int state[SNW_STATES_MAX];
    const int n = list_states(g->m, state);
    if (n == 0) return false;
    const double first = improve_rates(g, n, state);
    double last = first;
    // quadratic convergence: the step after one of 1e-8 is rounding
    for (int k = 0; k < ITERATIONS && last > converged; k++) last = improve_rates(g, n, state);
    if (!(last <= converged)) {
        for (int i = 0; i < g->k.s; i++) {
            for (int k = 0; k < n; k++) g->integrand[i * g->m->nsignal + state[k]] = NAN;
        }
        return false; // the residuals tell
    }
    return first > rounding;
}
