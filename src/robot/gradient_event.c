// SPDX-License-Identifier: MIT
//
// The comparison that changes at an event. theory.md (7.5.12)
#include "robot/gradient_event.h"

#include "base/fail.h"

#include <math.h>

enum { MOST_MARGINS = 64 };

static const double equal = 1e-7, // margin of an equality, relative to its change over the step
    same = 1e-9,                  // margins of one quantity, likewise
    limit = 1e-13,                // margin at its limit, relative to the terms it compares
    grazing = 1e-6;               // rate of a margin, relative to its mean over the step

static snw_law law_of(const snw_model *m, int signal, int stage) {
    return signal < 0 ? m->desc->step[stage].until : m->signal[signal].source;
}

static int margins_at(snw_law law, double t, const double *signal, int slot, snw_jet *out) {
    const int n =
        snw_expr_margin_jets(law, (snw_at){.t = t, .signal = signal}, slot, out, MOST_MARGINS);
    return n < MOST_MARGINS ? n : MOST_MARGINS;
}

// Does a comparison read signals?
static bool reads_signals(const snw_model *m, snw_law law, double t, const double *signal,
                          int margin) {
    snw_jet x[MOST_MARGINS];
    for (int i = 0; i < m->nsignal; i++) {
        if (!snw_expr_reads(law, i)) continue;
        (void)margins_at(law, t, signal, i, x);
        if (x[margin].d != 0) return true;
    }
    return false;
}

// Comparisons of one condition; *found: number so far, the first in *out.
static snw_status look(const snw_model *m, const snw_map *event, int signal, double t_before,
                       const double *before, const double *after, int *found, gradient_event *out,
                       snw_error *err) {
    const snw_law law = law_of(m, signal, event->stage);
    const char *text = signal < 0 ? "until" : m->signal[signal].text;
    snw_jet a[MOST_MARGINS], b[MOST_MARGINS];
    const int n = margins_at(law, t_before, before, -1, a);
    (void)margins_at(law, event->s.t, after, -1, b);
    for (int i = 0; i < n; i++) {
        const double change = fabs(b[i].v - a[i].v);
        const bool given =
            fabs(a[i].v) <= equal * change && !reads_signals(m, law, event->s.t, after, i);
        if (!(change > 0) || (!given && !(fabs(b[i].v) <= equal * change))) continue;
        if (++*found == 1) {
            *out = (gradient_event){.signal = signal,
                                    .stage = event->stage,
                                    .margin = i,
                                    .text = text ? text : "when",
                                    .t = event->s.t,
                                    .before = a[i].v,
                                    .given = given};
            continue;
        }
        // the same quantity, in another condition or with its sides exchanged
        const double size = same * fabs(out->before);
        if (fabs(a[i].v - out->before) <= size || fabs(a[i].v + out->before) <= size) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative: the conditions '%.100s' and '%.100s' change at "
                        "the same time t = %g s, so that their order is open",
                        out->text, text ? text : "when", event->s.t);
    }
    return SNW_OK;
}

// Those of one condition, after the first n.
static int add_limits(const snw_model *m, gradient_event e, const double *signal,
                      gradient_event *out, int n, int most) {
    const snw_law law = law_of(m, e.signal, e.stage);
    snw_jet x[MOST_MARGINS], own[MOST_MARGINS];
    const int count = margins_at(law, e.t, signal, -1, x);
    for (e.margin = 0; e.margin < count && n < most; e.margin++) {
        bool reads_one = false;
        e.before = 0;
        for (int i = 0; i < m->nsignal; i++) {
            if (!snw_expr_reads(law, i)) continue;
            (void)margins_at(law, e.t, signal, i, own);
            e.before += fabs(own[e.margin].d * signal[i]);
            reads_one = reads_one || own[e.margin].d != 0;
        }
        if (reads_one && fabs(x[e.margin].v) <= limit * e.before) out[n++] = e;
    }
    return n;
}

int gradient_event_limits(const snw_model *m, int stage, double t, const double *signal,
                          gradient_event *out, int most) {
    int n = 0;
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal *x = &m->signal[i];
        if (x->kind != SNW_SIGNAL_ONCE && x->kind != SNW_SIGNAL_CONDITION) continue;
        if (!x->source) continue;
        const gradient_event e = {
            .signal = i, .stage = stage, .text = x->text ? x->text : "when", .t = t};
        n = add_limits(m, e, signal, out, n, most);
    }
    if (stage < 0 || !m->desc->step[stage].until) return n;
    return add_limits(m, (gradient_event){.signal = -1, .stage = stage, .text = "until", .t = t},
                      signal, out, n, most);
}

// Does a condition read signals?
static bool reads(const snw_model *m, int signal, int stage) {
    return (snw_expr_vars(law_of(m, signal, stage)) & SNW_VAR_SIGNAL) != 0;
}

snw_status gradient_event_find(const snw_model *m, const snw_map *event, double t_before,
                               const double *before, const double *after, bool begins,
                               gradient_event *out, snw_error *err) {
    int found = 0, changed = -1;
    bool timed = !event->over || !reads(m, -1, event->stage);
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_kind kind = m->signal[i].kind;
        if (kind != SNW_SIGNAL_ONCE && kind != SNW_SIGNAL_CONDITION) continue;
        if (event->z[i] == event->s.z[i]) continue;
        changed = i;
        timed = timed && !reads(m, i, event->stage);
        SNW_TRY(look(m, event, i, t_before, before, after, &found, out, err));
    }
    if (event->over) SNW_TRY(look(m, event, -1, t_before, before, after, &found, out, err));
    if (found > 0) return SNW_OK;
    const char *text = changed >= 0 ? m->signal[changed].text : "until";
    if (timed) { // a comparison of functions of time that jump: its instant is given
        *out = (gradient_event){.signal = changed,
                                .stage = event->stage,
                                .text = text ? text : "when",
                                .t = event->s.t,
                                .given = true,
                                .timed = true};
        return SNW_OK;
    }
    gradient_event at_limit;
    if (begins && gradient_event_limits(m, event->stage, t_before, before, &at_limit, 1) > 0)
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative: the condition '%.100s' is exactly at its limit "
                        "where the motion begins, and changes at once, at t = %g s; begin beside "
                        "the limit",
                        text ? text : "when", event->s.t);
    return snw_fail(err, SNW_E_MODEL,
                    "there is no derivative: the condition '%.100s' changes at t = %g s without a "
                    "comparison of functions of the state whose sides are equal there",
                    text ? text : "when", event->s.t);
}

bool gradient_event_stays(const gradient_event *e, double margin) {
    return fabs(margin) <= same * e->before;
}

double gradient_event_margin(const snw_model *m, const gradient_event *e, const double *signal) {
    snw_jet x[MOST_MARGINS];
    (void)margins_at(law_of(m, e->signal, e->stage), e->t, signal, -1, x);
    return x[e->margin].v;
}

double gradient_event_slope(const snw_model *m, const gradient_event *e, const double *signal,
                            int slot) {
    snw_jet x[MOST_MARGINS];
    (void)margins_at(law_of(m, e->signal, e->stage), e->t, signal, slot, x);
    return x[e->margin].d;
}

snw_status gradient_event_crosses(const gradient_event *e, double slope, double h, snw_error *err) {
    if (fabs(slope) > grazing * fabs(e->before) / h) return SNW_OK;
    return snw_fail(err, SNW_E_MODEL,
                    "there is no derivative: the condition '%.100s' only grazes its limit at "
                    "t = %g s",
                    e->text, e->t);
}
