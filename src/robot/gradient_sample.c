// SPDX-License-Identifier: MIT
//
// Samples of laws as maps of a run. theory.md 7.5
#include "robot/gradient_sample.h"

#include "base/fail.h"

#include <string.h>

static snw_at at_of(const snw_map *map, const double *signal) {
    return (snw_at){.t = map->s.t, .signal = signal};
}

static bool is_taken(const snw_map *map, int signal) { return map->taken[signal] != 0; }

// Memory that derivatives pass through.
static bool is_memory(const snw_model *m, int signal) {
    const snw_signal_kind kind = m->signal[signal].kind;
    return kind == SNW_SIGNAL_INTEGRAL || kind == SNW_SIGNAL_STATE || kind == SNW_SIGNAL_SAMPLED;
}

snw_status gradient_sample_check(const snw_map *map, snw_error *err) {
    if (!map->time_moves) return SNW_OK;
    return snw_fail(err, SNW_E_MODEL,
                    "there is no derivative: a law is sampled at t = %g s, a time that depends on "
                    "an event",
                    map->s.t);
}

void gradient_sample_take(const snw_model *m, const snw_map *map, double *signal) {
    // a source reads only signals before it
    for (int i = 0; i < m->nsignal; i++) {
        if (is_taken(map, i)) signal[i] = snw_expr_value(m->signal[i].source, at_of(map, signal));
    }
}

void gradient_sample_back(const snw_model *m, const snw_map *map, const double *signal,
                          const int *output_of, double *z, double *y) {
    for (int i = m->nsignal; i-- > 0;) {
        if (!is_taken(map, i)) continue;
        const double bar = z[i];
        z[i] = 0;
        for (int j = 0; j < i && bar != 0; j++) {
            const double d = snw_expr_jet_signal(m->signal[i].source, at_of(map, signal), j).d;
            if (output_of[j] >= 0) y[output_of[j]] += bar * d;
            if (is_memory(m, j)) z[j] += bar * d;
        }
    }
}

void gradient_sample_forward(const snw_model *m, const snw_map *map, const double *signal,
                             const int *output_of, const double *y, const double *by,
                             double *scratch, double *z) {
    if (m->nsignal > 0) memcpy(scratch, z, (size_t)m->nsignal * sizeof *z);
    for (int i = 0; i < m->nsignal; i++) {
        if (!is_taken(map, i)) continue;
        double sum = 0;
        for (int j = 0; j < i; j++) {
            const double d = snw_expr_jet_signal(m->signal[i].source, at_of(map, signal), j).d;
            if (output_of[j] >= 0) sum += d * y[output_of[j]];
            if (is_memory(m, j)) sum += d * scratch[j];
        }
        scratch[i] = sum;
        z[i] = sum + by[i];
    }
}
