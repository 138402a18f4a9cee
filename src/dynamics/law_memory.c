// SPDX-License-Identifier: MIT
//
// Samples, latches and conditions of laws at an instant, from the values of all signals there. For
// study/memory.c, which reads these values by probes, and for robots on a graphics processor
// (gpu/device_memory.inc).
#include "dynamics/law_memory.h"

#include <math.h>
#include <string.h>

static double source_value(const snw_signal *signal, double t, const double *values) {
    return snw_expr_value(signal->source, (snw_at){.t = t, .signal = values});
}

bool snw_memory_has_events(const snw_model *m) {
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal *d = &m->signal[i];
        if (d->source && !snw_signal_grows(d)) return true;
    }
    return false;
}

// Completed periods; times may be off the multiples of a period by a few roundings, at least 1e-9
// of it.
static double ticks(double t, double period) {
    const double n = t / period;
    return floor(n + fmax(1e-9, 4e-15 * n));
}

static bool due(const snw_signal *d, double t) {
    return t - ticks(t, d->period) * d->period <= 1e-9 * d->period;
}

bool snw_memory_takes(const snw_model *m, int signal, double t, const bool *fresh) {
    const snw_signal *d = &m->signal[signal];
    return d->kind == SNW_SIGNAL_SAMPLED && d->source && (fresh[signal] || due(d, t));
}

// A condition on time alone is evaluated just after t, so that it changes at the instant itself,
// whether it is < or <=.
static bool condition_value(const snw_signal *d, double t, const double *values) {
    const bool timed = !(snw_expr_vars(d->source) & SNW_VAR_SIGNAL);
    return source_value(d, timed ? t + 1e-12 * (1 + fabs(t)) : t, values) != 0;
}

// A source reads only signals before it, so one pass in order updates everything.
static bool memory_pass(const snw_model *m, const snw_state *s, const snw_work *w, bool sampling,
                        const bool *fresh, double *z) {
    bool differs = false;
    if (m->nsignal) memcpy(z, s->z, (size_t)m->nsignal * sizeof *z);
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal *d = &m->signal[i];
        bool holds;
        if (!d->source) continue;
        switch (d->kind) {
        case SNW_SIGNAL_PROBE:
        case SNW_SIGNAL_INTEGRAL:
        case SNW_SIGNAL_STATE:
        case SNW_SIGNAL_CAPTURED:
            continue;
        case SNW_SIGNAL_SAMPLED:
            if (sampling && snw_memory_takes(m, i, s->t, fresh))
                z[i] = source_value(d, s->t, w->signal);
            break;
        case SNW_SIGNAL_ONCE:
            if (z[i] == 0) z[i] = source_value(d, s->t, w->signal) != 0;
            break;
        case SNW_SIGNAL_CONDITION:
            holds = condition_value(d, s->t, w->signal);
            if (!holds || z[i] == 0) z[i] = holds; // a condition that stays true keeps its value
            break;
        }
        differs = differs || z[i] != s->z[i];
        w->signal[i] = z[i];
    }
    return differs;
}

bool snw_memory_switch(const snw_model *m, const snw_state *s, const snw_work *w, double *z) {
    return memory_pass(m, s, w, false, NULL, z);
}

bool snw_memory_sample(const snw_model *m, const snw_state *s, const snw_work *w, const bool *fresh,
                       double *z) {
    return memory_pass(m, s, w, true, fresh, z);
}

double snw_memory_due(const snw_model *m, double t) {
    double first = INFINITY;
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal *d = &m->signal[i];
        if (d->kind != SNW_SIGNAL_SAMPLED || !d->source) continue;
        first = fmin(first, (ticks(t, d->period) + 1) * d->period);
    }
    return first;
}
