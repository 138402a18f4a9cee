// SPDX-License-Identifier: MIT
//
// Variables of first order in linear models and modes: which act, their forces and rates.
#include "study/linear_memory.h"

#include "dynamics/feedback.h"
#include "dynamics/relaxation.h"

#include <string.h>

int snw_linear_memory_room(const snw_model *m) { return m->nlive + m->nbranch_coordinate; }

int snw_linear_memory_numbers(const snw_model *m) { return m->nsignal + m->nbranch_coordinate; }

int snw_linear_memory_number(const snw_model *m, snw_linear_state of) {
    return of.role == SNW_STATE_BRANCH ? m->nsignal + of.index : of.index;
}

bool snw_linear_memory_acts(const snw_model *m) {
    for (int i = 0; i < m->nsignal; i++) {
        if (m->signal[i].kind == SNW_SIGNAL_STATE && m->signal[i].source) return true;
    }
    return m->nbranch > 0;
}

// Does a signal change by itself, and is it not held?
static bool is_variable(const snw_signal *s, bool integrals) {
    return snw_signal_grows(s) && (integrals || s->kind == SNW_SIGNAL_STATE);
}

static bool is_listed(const snw_linear_memory *y, int signal) {
    for (int i = 0; i < y->n; i++) {
        if (y->of[i].index == signal) return true;
    }
    return false;
}

// of, F <- signals that act on the robot or that the rate of one that does reads
static void list_signals(const snw_model *m, const snw_inputs *in, const snw_work *w,
                         bool integrals, snw_linear_memory *y) {
    const size_t nv = (size_t)m->nv;
    for (int before = -1; before != y->n;) { // states may read each other
        before = y->n;
        for (int k = m->nlive; k-- > 0;) {
            const int signal = m->live[k];
            if (!is_variable(&m->signal[signal], integrals) || is_listed(y, signal)) continue;
            double *F = y->F + (size_t)y->n * nv;
            memset(F, 0, nv * sizeof *F);
            snw_feedback_force(m, in, w, signal, F);
            bool acts = false;
            for (size_t i = 0; i < nv; i++) acts = acts || F[i] != 0;
            for (int j = 0; j < y->n; j++)
                acts = acts || snw_expr_reads(m->signal[y->of[j].index].source, signal);
            if (acts) y->of[y->n++] = (snw_linear_state){SNW_STATE_INTEGRAL, signal};
        }
    }
}

// Rates of the signals by x, x' and each other.
static void signal_rates(const snw_model *m, const snw_inputs *in, const snw_work *w,
                         const double *rows, int n, snw_linear_memory *y) {
    const size_t nv = (size_t)m->nv;
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < n; i++) {
        double *by_x = y->R + 2 * nv * (size_t)i, *by_rate = by_x + nv;
        const snw_law source = m->signal[y->of[i].index].source;
        for (int k = 0; k < m->nlive; k++) {
            if (m->signal[m->live[k]].kind != SNW_SIGNAL_PROBE) continue;
            const double d = snw_expr_jet_signal(source, at, m->live[k]).d;
            for (size_t j = 0; j < nv && d != 0; j++) {
                by_x[j] += d * rows[(size_t)k * nv + j];
                by_rate[j] += d * rows[((size_t)m->nlive + (size_t)k) * nv + j];
            }
        }
        for (int j = 0; j < n; j++) {
            y->Q[(size_t)j * (size_t)y->n + (size_t)i] =
                snw_expr_jet_signal(source, at, y->of[j].index).d;
        }
    }
}

// of, F <- strains of the branches with a force on their rod
static void list_branches(const snw_model *m, snw_linear_memory *y) {
    const size_t nv = (size_t)m->nv;
    for (int i = 0; i < m->nbranch_coordinate; i++) {
        double *F = y->F + (size_t)y->n * nv;
        memset(F, 0, nv * sizeof *F);
        if (snw_relaxation_force(m, i, F)) y->of[y->n++] = (snw_linear_state){SNW_STATE_BRANCH, i};
    }
}

void snw_linear_memory_find(const snw_model *m, const snw_inputs *in, const snw_work *w,
                            const double *rows, bool integrals, snw_linear_memory *y) {
    y->n = 0;
    list_signals(m, in, w, integrals, y);
    const int nsignal = y->n;
    list_branches(m, y);
    const size_t nv = (size_t)m->nv, n = (size_t)y->n;
    memset(y->R, 0, 2 * nv * n * sizeof *y->R);
    memset(y->Q, 0, n * n * sizeof *y->Q);
    signal_rates(m, in, w, rows, nsignal, y);
    for (size_t i = (size_t)nsignal; i < n; i++) {
        const snw_branch_place at = snw_relaxation_place(m, y->of[i].index);
        y->R[2 * nv * i + (size_t)at.dof] = 1 / at.time;
        y->Q[i * n + i] = -1 / at.time;
    }
}

void snw_linear_memory_rates(const snw_model *m, const snw_inputs *in, const snw_state *s,
                             const snw_work *w, double *out) {
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < m->nsignal; i++)
        out[i] = snw_signal_grows(&m->signal[i]) ? snw_expr_value(m->signal[i].source, at) : 0;
    for (int i = 0; i < m->nbranch_coordinate; i++) {
        const snw_branch_place branch = snw_relaxation_place(m, i);
        out[m->nsignal + i] = (s->q[branch.q] - s->relaxed[i]) / branch.time;
    }
}
