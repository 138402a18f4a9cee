// SPDX-License-Identifier: MIT
//
// The motion is cut into quarters. With e_k the mean of what an integral sums up over quarter k, its target counts as missed when
// neither of the last two is small beside the largest and the last is of the sign and hardly smaller than the one before: e
// stays, and the integral grows on. Oscillations about a target have small means, and a slow approach shrinks.
#include "study/target.h"

#include "base/alloc.h"

#include <math.h>

enum { QUARTERS = 4, MARKS = QUARTERS + 1 };

static const double SMALL = 0.1; // beside the largest mean: reached
static const double STAYS = 0.8; // of one quarter to the next

struct snw_targets {
    const snw_model *m;
    double t0, t1;
    int marks;       // passed
    double t[MARKS]; // when
    double *z;       // nsignal of each mark, and as many zeros
};

static bool shows_configuration(snw_probe_kind kind) {
    return kind == SNW_PROBE_POSITION || kind == SNW_PROBE_ROTATION || kind == SNW_PROBE_POSE ||
           kind == SNW_PROBE_ANGLE || kind == SNW_PROBE_VALUE || kind == SNW_PROBE_STRAIN;
}

// Whether an integral aims at a value of probes: it reads where things are, or differs from zero where all probes show zero, as
// v.vx - r does. integral(v.vx) measures a way and aims at nothing.
static bool aims(const snw_model *m, int i, const double *zeros) {
    const snw_signal_desc *signal = &m->desc->signal[i];
    bool reads = false;
    if (signal->kind != SNW_SIGNAL_INTEGRAL || !signal->source) return false;
    for (int k = 0; k < i; k++) {
        const snw_signal_desc *read = &m->desc->signal[k];
        if (read->kind != SNW_SIGNAL_PROBE || !snw_expr_reads(signal->source, k)) continue;
        if (shows_configuration(m->desc->probe[read->probe].kind)) return true;
        reads = true;
    }
    return reads && snw_expr_value(signal->source, (snw_at){.t = 0, .signal = zeros}) != 0;
}

snw_status snw_targets_create(const snw_model *m, double t0, double t1, snw_targets **out) {
    *out = NULL;
    snw_targets *g = snw_alloc(sizeof *g);
    double *z = snw_alloc((size_t)m->nsignal * (MARKS + 1) * sizeof *z);
    if (!g || !z) {
        snw_free(g);
        snw_free(z);
        return SNW_E_MEMORY;
    }
    *g = (snw_targets){.m = m, .t0 = t0, .t1 = t1, .z = z};
    bool some = false;
    for (int i = 0; i < m->nsignal; i++) some = some || aims(m, i, z);
    if (some) {
        *out = g;
    } else {
        snw_targets_destroy(g);
    }
    return SNW_OK;
}

void snw_targets_destroy(snw_targets *g) {
    if (!g) return;
    snw_free(g->z);
    snw_free(g);
}

void snw_targets_look(snw_targets *g, double t, const double *z) {
    const int n = g->m->nsignal;
    const double quarter = (g->t1 - g->t0) / QUARTERS;
    if (g->marks == MARKS || t < g->t0 + (g->marks - 1e-9) * quarter) return;
    g->t[g->marks] = t;
    for (int i = 0; i < n; i++) g->z[(size_t)g->marks * (size_t)n + (size_t)i] = z[i];
    g->marks++;
}

int snw_targets_missed(const snw_targets *g, int from, double *error, double *before) {
    const int n = g->m->nsignal;
    if (g->marks < MARKS) return -1;
    for (int i = from; i < n; i++) {
        double e[QUARTERS], most = 0;
        for (int k = 0; k < QUARTERS; k++) {
            const double *z = g->z + (size_t)k * (size_t)n + (size_t)i;
            e[k] = (z[n] - z[0]) / (g->t[k + 1] - g->t[k]);
            most = fmax(most, fabs(e[k]));
        }
        *error = e[QUARTERS - 1];
        *before = e[QUARTERS - 2];
        const bool small = fabs(*error) <= SMALL * most || fabs(*before) <= SMALL * most;
        const bool stays = *error * *before > 0 && fabs(*error) >= STAYS * fabs(*before);
        if (most > 0 && !small && stays && aims(g->m, i, g->z + (size_t)n * MARKS)) return i;
    }
    return -1;
}
