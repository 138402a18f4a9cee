// SPDX-License-Identifier: MIT
//
// Detection of missed targets. The motion is divided into quarters. With e_k the mean of an
// integrand over quarter k, its target counts as missed if neither of the last two is small against
// the largest, and the last has the same sign as and is hardly smaller than the one before: the
// error persists, and the integral keeps growing. Oscillations about a target have small means, and
// a slow approach has decreasing ones.
//
// A proportional law k (r - p) of a load, effort or active stress settles where it balances a
// constant load, with an error. That counts as an offset if in the last quarter r - p is constant
// to within CONSTANT of itself, p, a probe of the configuration, changes by less than SETTLED of
// its range (a slow approach continues), and r - p is above REACHED of the largest of r, p and r -
// p. Laws whose error is also integrated are left to the first test.
#include "study/target.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>

enum { QUARTERS = 4, MARKS = QUARTERS + 1 };

static const double SMALL = 0.1;     // relative to the largest mean: reached
static const double LASTS = 0.8;     // ratio of the means of consecutive quarters: persistent
static const double CONSTANT = 0.02; // relative change of an error that counts as constant
static const double SETTLED = 0.05;  // change relative to the range of a signal: settled
static const double TINY = 1e-3;     // or relative to the error
static const double REACHED = 0.02;  // over the largest of reference, signal and error

static const size_t POOL_LIMIT = (size_t)64 << 20; // bytes

enum {
    SAMPLES = 64,     // of proportional laws in a motion
    MIN_SAMPLES = 4,  // in the last quarter
    CONTROLS_MAX = 64 // errors recorded
};

typedef struct range {
    double low, high;
} range;

static void range_extend(range *r, double x, bool first) {
    r->low = first ? x : fmin(r->low, x);
    r->high = first ? x : fmax(r->high, x);
}

// An error that a law depends on.
typedef struct control {
    const char *name;  // of the load or actuator
    snw_law law, when; // as in the description; of a sampled law its source
    snw_expr_error error;
    double largest; // largest of reference, signal and error so far
    int n;          // samples in the last quarter while the law was active
    range e, p;     // ranges of error and signal in them
    range all;      // range of the signal so far
    double gain;    // derivative of the law in the signal, at the last sample
} control;

struct snw_targets {
    const snw_model *m;
    double t0, t1;
    int marks;       // quarters passed, with the start
    double t[MARKS]; // their times
    double *z;       // nsignal at each mark, then as many zeros
    snw_pool *pool;
    int ncontrol, samples;
    control control[CONTROLS_MAX];
};

// Has an integral a target value of probes? It has if it reads a probe of the configuration, or is
// nonzero where all probes read zero, as v.vx - r. integral(v.vx) measures a distance and has no
// target.
static bool has_target(const snw_model *m, int i, const double *zeros) {
    const snw_signal *signal = &m->signal[i];
    bool reads = false;
    if (signal->kind != SNW_SIGNAL_INTEGRAL || !signal->source) return false;
    for (int k = 0; k < i; k++) {
        const snw_signal *read = &m->signal[k];
        if (read->kind != SNW_SIGNAL_PROBE || !snw_expr_reads(signal->source, k)) continue;
        if (snw_probe_is_configuration(m->desc->probe[read->probe].kind)) return true;
        reads = true;
    }
    return reads && snw_expr_value(signal->source, (snw_at){.t = 0, .signal = zeros}) != 0;
}

// ---- proportional laws

static bool is_integrated(const snw_model *m, int slot) {
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal *s = &m->signal[i];
        if (s->kind == SNW_SIGNAL_INTEGRAL && s->source && snw_expr_reads(s->source, slot)) {
            return true;
        }
    }
    return false;
}

static snw_status add_errors(snw_targets *g, const char *name, snw_law law, snw_law when) {
    snw_expr_error found[CONTROLS_MAX];
    int n = 0;
    SNW_TRY(snw_expr_errors(g->pool, law, CONTROLS_MAX - g->ncontrol, found, &n));
    for (int i = 0; i < n; i++) {
        const snw_signal *s = &g->m->signal[found[i].slot];
        if (s->kind != SNW_SIGNAL_PROBE || is_integrated(g->m, found[i].slot)) continue;
        if (!snw_probe_is_configuration(g->m->desc->probe[s->probe].kind)) continue;
        g->control[g->ncontrol++] =
            (control){.name = name, .law = law, .when = when, .error = found[i]};
    }
    return SNW_OK;
}

// Adds the errors in the law of a force, and in the sampled laws it depends on.
static snw_status add_law(snw_targets *g, const char *name, snw_law law, snw_law when) {
    if (!law || !(snw_expr_vars(law) & SNW_VAR_SIGNAL)) return SNW_OK;
    SNW_TRY(add_errors(g, name, law, when));
    for (int i = 0; i < g->m->nsignal; i++) {
        const snw_signal *s = &g->m->signal[i];
        if (s->kind != SNW_SIGNAL_SAMPLED || !s->source || !snw_expr_proportional(law, i)) continue;
        SNW_TRY(add_errors(g, name, s->source, when));
    }
    return SNW_OK;
}

static snw_status add_laws(snw_targets *g, const snw_desc *d) {
    for (int i = 0; i < d->nload; i++) {
        const snw_load_desc *l = &d->load[i];
        for (int k = 0; k < 3; k++) {
            SNW_TRY(add_law(g, l->name, l->force[k], l->when));
            SNW_TRY(add_law(g, l->name, l->torque[k], l->when));
        }
    }
    for (int i = 0; i < d->nstress; i++) {
        const snw_stress_desc *a = &d->stress[i];
        for (int k = 0; k < 6; k++) SNW_TRY(add_law(g, a->name, a->stress[k], a->when));
    }
    for (int i = 0; i < d->nmotor; i++) {
        const snw_motor_desc *a = &d->motor[i];
        if (!snw_gives_effort(a->given) || !a->law) continue;
        for (int k = 0; k < a->n; k++) SNW_TRY(add_law(g, a->name, a->law[k], a->when));
    }
    for (int i = 0; i < d->ntendon; i++) {
        const snw_tendon_desc *a = &d->tendon[i];
        if (snw_gives_load(a->given)) SNW_TRY(add_law(g, a->name, a->law, a->when));
    }
    return SNW_OK;
}

// ---- recording

snw_status snw_targets_create(const snw_model *m, double t0, double t1, snw_targets **out) {
    *out = NULL;
    if (m->nsignal == 0) return SNW_OK;
    snw_targets *g = snw_alloc(sizeof *g);
    double *z = snw_alloc((size_t)m->nsignal * (MARKS + 1) * sizeof *z);
    snw_pool *pool = snw_pool_create(POOL_LIMIT);
    if (!g || !z || !pool) {
        snw_free(g);
        snw_free(z);
        snw_pool_destroy(pool);
        return SNW_E_MEMORY;
    }
    *g = (snw_targets){.m = m, .t0 = t0, .t1 = t1, .z = z, .pool = pool};
    bool some = false;
    for (int i = 0; i < m->nsignal; i++) some = some || has_target(m, i, z);
    const snw_status s = add_laws(g, m->desc);
    if (s == SNW_OK && (some || g->ncontrol > 0)) {
        *out = g;
    } else {
        snw_targets_destroy(g);
    }
    return s;
}

void snw_targets_destroy(snw_targets *g) {
    if (!g) return;
    snw_free(g->z);
    snw_pool_destroy(g->pool);
    snw_free(g);
}

void snw_targets_record(snw_targets *g, double t, const double *z) {
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
        const bool lasts = *error * *before > 0 && fabs(*error) >= LASTS * fabs(*before);
        if (most > 0 && !small && lasts && has_target(g->m, i, g->z + (size_t)n * MARKS)) return i;
    }
    return -1;
}

bool snw_targets_due(const snw_targets *g, double t) {
    return g->ncontrol > 0 && t >= g->t0 + (g->samples - 1e-9) * (g->t1 - g->t0) / SAMPLES;
}

void snw_targets_record_signals(snw_targets *g, double t, const double *signal) {
    const snw_at at = {.t = t, .signal = signal};
    const bool late = t >= g->t1 - (1 + 1e-9) * (g->t1 - g->t0) / QUARTERS;
    for (int i = 0; i < g->ncontrol; i++) {
        control *c = &g->control[i];
        const double p = signal[c->error.slot], e = snw_expr_value(c->error.difference, at);
        c->largest = fmax(c->largest, fmax(fabs(p), fmax(fabs(e), fabs(p - c->error.sign * e))));
        range_extend(&c->all, p, g->samples == 0);
        if (!late) continue;
        if (c->when && snw_expr_value(c->when, at) == 0) {
            c->n = 0;
            continue;
        }
        range_extend(&c->e, e, c->n == 0);
        range_extend(&c->p, p, c->n == 0);
        c->gain = snw_expr_jet_signal(c->law, at, c->error.slot).d;
        c->n++;
    }
    g->samples = (int)floor((t - g->t0) / (g->t1 - g->t0) * SAMPLES + 1e-6) + 1;
}

// NaN is no offset.
static bool is_offset(const control *c) {
    const double e = fmin(fabs(c->e.low), fabs(c->e.high)), change = c->p.high - c->p.low;
    const bool settled = change <= fmax(SETTLED * (c->all.high - c->all.low), TINY * e);
    return c->n >= MIN_SAMPLES && c->e.low * c->e.high > 0 && e > REACHED * c->largest &&
           c->e.high - c->e.low <= CONSTANT * e && settled && (c->gain != 0 || c->error.limited);
}

bool snw_targets_offset(const snw_targets *g, int i, snw_offset *out) {
    for (int k = 0; k < g->ncontrol; k++) {
        const control *c = &g->control[k];
        if (!is_offset(c) || i-- > 0) continue;
        const double p = 0.5 * (c->p.low + c->p.high), e = 0.5 * (c->e.low + c->e.high);
        *out = (snw_offset){.law = c->name,
                            .probe = g->m->signal[c->error.slot].text,
                            .value = p,
                            .reference = p - c->error.sign * e,
                            .limited = c->gain == 0};
        return true;
    }
    return false;
}
