// SPDX-License-Identifier: MIT
#include "study/memory.h"

#include <math.h>
#include <string.h>

static double source_value(const snw_signal_desc *signal, double t, const double *values) {
    return snw_expr_value(signal->source, (snw_at){.t = t, .signal = values});
}

// ---- within steps ----------------------------------------------------------------------------------

void snw_memory_lead(const snw_model *m, double h, const snw_state *now, const double *source,
                     snw_state *s, snw_inputs *in) {
    in->lead = 0.5 * h;
    for (int i = 0; i < m->nsignal; i++) {
        const bool grows = m->desc->signal[i].kind == SNW_SIGNAL_INTEGRAL;
        s->z[i] = now->z[i] + (grows ? 0.5 * h * source[i] : 0);
    }
}

void snw_memory_settle(const snw_model *m, snw_inputs *in, snw_state *s, const snw_work *w,
                       double *source) {
    in->lead = 0;
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_desc *signal = &m->desc->signal[i];
        source[i] = 0;
        if (signal->kind != SNW_SIGNAL_INTEGRAL || !signal->source) continue;
        s->z[i] = w->signal[i];
        source[i] = source_value(signal, in->t, w->signal);
    }
}

// ---- at instants -----------------------------------------------------------------------------------

bool snw_memory_acts(const snw_model *m) {
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_kind kind = m->desc->signal[i].kind;
        if (kind != SNW_SIGNAL_PROBE && kind != SNW_SIGNAL_INTEGRAL) return true;
    }
    return false;
}

void snw_memory_read(const snw_model *m, const snw_inputs *in, const snw_state *s,
                     const snw_energy *energy, snw_vec3 *rotation, snw_work *w) {
    double column[32]; // more than any quantity has at one station
    const snw_readings more = {.energy = *energy, .stability = NAN, .rotation = rotation};
    int at = -1; // probe in `column`
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_desc *signal = &m->desc->signal[i];
        if (signal->kind != SNW_SIGNAL_PROBE) {
            w->signal[i] = s->z[i];
            continue;
        }
        if (at != signal->probe) {
            at = signal->probe;
            const int seg = m->watch[m->probe_watch[at]].seg;
            rotation[seg] = snw_so3_log(w->g[seg].R);
            snw_probe_read(m, at, in, s, w, &more, column);
        }
        w->signal[i] = column[signal->column];
    }
}

bool snw_memory_throw(const snw_model *m, const snw_state *s, const snw_work *w, double *z) {
    bool differs = false;
    double *signal = w->signal;
    if (m->nsignal) memcpy(z, s->z, (size_t)m->nsignal * sizeof *z);
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_desc *d = &m->desc->signal[i];
        const bool once = d->kind == SNW_SIGNAL_ONCE;
        if ((!once && d->kind != SNW_SIGNAL_GATE) || !d->source) continue;
        if (once && z[i] != 0) continue;
        z[i] = source_value(d, s->t, signal) != 0;
        differs = differs || z[i] != s->z[i];
        signal[i] = z[i]; // for the switches behind it
    }
    return differs;
}

static double tick(double t, double period) { return floor(t / period + 1e-9) * period; }

void snw_memory_sample(const snw_model *m, const snw_state *s, const snw_work *w, bool first,
                       double *z) {
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_desc *d = &m->desc->signal[i];
        if (d->kind != SNW_SIGNAL_SAMPLED || !d->source) continue;
        if (!first && !(s->t - tick(s->t, d->period) <= 1e-9 * d->period)) continue;
        z[i] = source_value(d, s->t, w->signal);
        w->signal[i] = z[i];
    }
}

double snw_memory_due(const snw_model *m, double t) {
    double due = INFINITY;
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_desc *d = &m->desc->signal[i];
        if (d->kind != SNW_SIGNAL_SAMPLED || !d->source) continue;
        due = fmin(due, tick(t, d->period) + d->period);
    }
    return due;
}
