// SPDX-License-Identifier: MIT
//
// States with rates given by laws: Newton's method for all of them together, and the implicit
// function theorem for their derivatives, theory.md (3.7.4).
#include "dynamics/law_state.h"

#include <math.h>

enum { MOST = SNW_STATES_MAX, ITERATIONS = 60 };

// live (MOST) <- positions of the states among the live signals; returns their number.
static int list_states(const snw_model *m, int *live) {
    int n = 0;
    for (int k = 0; k < m->nlive; k++) {
        if (m->signal[m->live[k]].kind == SNW_SIGNAL_STATE && n < MOST) live[n++] = k;
    }
    return n;
}

// A (n x MOST) <- 1 - a df/dx at the signals of w
static void state_matrix(const snw_model *m, int n, const int *live, const snw_inputs *in,
                         const snw_work *w, double A[MOST][MOST]) {
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < n; i++) {
        const snw_law rate = m->signal[m->live[live[i]]].source;
        for (int j = 0; j < n; j++) {
            const double d = rate ? snw_expr_jet_signal(rate, at, m->live[live[j]]).d : 0;
            A[i][j] = (i == j) - in->integral_step * d;
        }
    }
}

// LU factors of A in place with row exchanges; false: it is singular.
static bool state_factor(int n, double A[MOST][MOST], int *pivot) {
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) p = fabs(A[i][k]) > fabs(A[p][k]) ? i : p;
        pivot[k] = p;
        if (!(fabs(A[p][k]) > 0)) return false;
        for (int j = 0; j < n; j++) {
            const double swap = A[k][j];
            A[k][j] = A[p][j];
            A[p][j] = swap;
        }
        for (int i = k + 1; i < n; i++) {
            A[i][k] /= A[k][k];
            for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j];
        }
    }
    return true;
}

static void state_solve(int n, double A[MOST][MOST], const int *pivot, double *x) {
    for (int k = 0; k < n; k++) {
        const double swap = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = swap;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] -= A[i][j] * x[j];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= A[i][j] * x[j];
        x[i] /= A[i][i];
    }
}

void snw_law_states(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w) {
    int live[MOST], pivot[MOST];
    double A[MOST][MOST], d[MOST], last = INFINITY;
    const int n = list_states(m, live);
    for (int i = 0; i < n; i++) w->signal[m->live[live[i]]] = s->z[m->live[live[i]]];
    if (n == 0 || in->integral_step == 0) return;
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int it = 0; it < ITERATIONS; it++) {
        double size = 0;
        for (int i = 0; i < n; i++) {
            const int k = m->live[live[i]];
            const snw_law rate = m->signal[k].source;
            d[i] = s->z[k] - w->signal[k];
            if (rate) d[i] += in->integral_step * snw_expr_value(rate, at);
        }
        state_matrix(m, n, live, in, w, A);
        if (!state_factor(n, A, pivot)) break;
        state_solve(n, A, pivot, d);
        for (int i = 0; i < n; i++) {
            const int k = m->live[live[i]];
            const double before = fabs(w->signal[k]);
            w->signal[k] += d[i];
            if (d[i] != 0) size = fmax(size, fabs(d[i]) / fmax(before, fabs(w->signal[k])));
            if (isnan(d[i])) size = NAN;
        }
        // quadratic convergence: the step after one of 1e-8 is rounding
        if (last <= 1e-8 || size == 0) return;
        last = size;
        if (isnan(size)) break;
    }
    for (int i = 0; i < n; i++) w->signal[m->live[live[i]]] = NAN;
}

void snw_law_states_jacobian(const snw_model *m, const snw_inputs *in, const snw_work *w,
                             double *jacobian) {
    int live[MOST], pivot[MOST];
    double A[MOST][MOST], x[MOST];
    const size_t nv = (size_t)m->nv;
    const int n = list_states(m, live);
    if (n == 0 || in->integral_step == 0) return;
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < n; i++) { // a df/dy dy
        double *own = jacobian + (size_t)live[i] * nv;
        const snw_law rate = m->signal[m->live[live[i]]].source;
        for (int k = 0; rate && k < m->nlive; k++) {
            if (m->signal[m->live[k]].kind != SNW_SIGNAL_PROBE) continue;
            const double d = in->integral_step * snw_expr_jet_signal(rate, at, m->live[k]).d;
            if (d == 0) continue;
            for (size_t j = 0; j < nv; j++) own[j] += d * jacobian[(size_t)k * nv + j];
        }
    }
    state_matrix(m, n, live, in, w, A);
    if (!state_factor(n, A, pivot)) return;
    for (size_t j = 0; j < nv; j++) {
        for (int i = 0; i < n; i++) x[i] = jacobian[(size_t)live[i] * nv + j];
        state_solve(n, A, pivot, x);
        for (int i = 0; i < n; i++) jacobian[(size_t)live[i] * nv + j] = x[i];
    }
}
