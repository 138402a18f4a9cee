// SPDX-License-Identifier: MIT
//
// The motion is cut into quarters. With e_k the mean of what an integral sums up over quarter k,
// its target counts as missed when neither of the last two is small beside the largest and the last
// is of the sign and hardly smaller than the one before: e stays, and the integral grows on.
// Oscillations about a target have small means, and a slow approach shrinks.
//
// A proportional law k (r - p) of a load, effort or active stress comes to rest where it balances
// the lasting load, at an error. That counts as an offset when through the last quarter r - p stays
// the same to STILL of itself, p, a probe of the configuration, moves less than RESTS of all its
// way (a slow approach goes on), and r - p is above PART of the largest of r, p and r - p. Laws
// whose error an integral sums up are left to it.
#include "study/target.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>

enum { QUARTERS = 4, MARKS = QUARTERS + 1 };

static const double SMALL = 0.1;  // beside the largest mean: reached
static const double STAYS = 0.8;  // of one quarter to the next
static const double STILL = 0.02; // of an error: it does not change
static const double RESTS = 0.05; // of how far a signal moved: it has come to rest,
static const double TINY = 1e-3;  // or of the error
static const double PART = 0.02;  // of the largest of reference, signal and error: reached

static const size_t POOL_LIMIT = (size_t)64 << 20; // bytes of what is looked at

enum {
    LOOKS = 64,       // at proportional laws
    FEWEST = 4,       // of them in the last quarter
    CONTROLS_MAX = 64 // errors that are followed
};

typedef struct range {
    double low, high;
} range;

static void range_take(range *r, double x, bool first) {
    r->low = first ? x : fmin(r->low, x);
    r->high = first ? x : fmax(r->high, x);
}

// An error that a law acts on.
typedef struct control {
    const char *name;  // of the load or actuator
    snw_law law, when; // as in the description; of a sampled law its source
    snw_expr_error error;
    double largest; // of reference, signal and error so far
    int n;          // looks at it in the last quarter, while the law was on
    range e, p;     // then
    range all;      // of the signal so far
    double slope;   // of the law in the signal, at the last look
} control;

struct snw_targets {
    const snw_model *m;
    double t0, t1;
    int marks;       // passed
    double t[MARKS]; // when
    double *z;       // nsignal of each mark, and as many zeros
    snw_pool *pool;
    int ncontrol, looks;
    control control[CONTROLS_MAX];
};

static bool shows_configuration(snw_probe_kind kind) {
    return kind == SNW_PROBE_POSITION || kind == SNW_PROBE_ROTATION || kind == SNW_PROBE_POSE ||
           kind == SNW_PROBE_ANGLE || kind == SNW_PROBE_VALUE || kind == SNW_PROBE_STRAIN ||
           kind == SNW_PROBE_LENGTH || kind == SNW_PROBE_VOLUME;
}

// Whether an integral aims at a value of probes: it reads where things are, or differs from zero
// where all probes show zero, as v.vx - r does. integral(v.vx) measures a way and aims at nothing.
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

// ---- proportional laws --------------------------------------------------------------------------

static bool is_summed_up(const snw_model *m, int slot) {
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_desc *s = &m->desc->signal[i];
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
        const snw_signal_desc *s = &g->m->desc->signal[found[i].slot];
        if (s->kind != SNW_SIGNAL_PROBE || is_summed_up(g->m, found[i].slot)) continue;
        if (!shows_configuration(g->m->desc->probe[s->probe].kind)) continue;
        g->control[g->ncontrol++] =
            (control){.name = name, .law = law, .when = when, .error = found[i]};
    }
    return SNW_OK;
}

// a law of a force, and what it takes from samples of another one
static snw_status add_law(snw_targets *g, const char *name, snw_law law, snw_law when) {
    if (!law || !(snw_expr_vars(law) & SNW_VAR_SIGNAL)) return SNW_OK;
    SNW_TRY(add_errors(g, name, law, when));
    for (int i = 0; i < g->m->nsignal; i++) {
        const snw_signal_desc *s = &g->m->desc->signal[i];
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
        if (a->kind != SNW_MOTOR_EFFORT || !a->law) continue;
        for (int k = 0; k < a->n; k++) SNW_TRY(add_law(g, a->name, a->law[k], a->when));
    }
    for (int i = 0; i < d->ntendon; i++) {
        const snw_tendon_desc *a = &d->tendon[i];
        if (a->given == SNW_TENDON_EFFORT) SNW_TRY(add_law(g, a->name, a->law, a->when));
    }
    return SNW_OK;
}

// ---- looking ------------------------------------------------------------------------------------

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
    for (int i = 0; i < m->nsignal; i++) some = some || aims(m, i, z);
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
        const bool stays = *error * *before > 0 && fabs(*error) >= STAYS * fabs(*before);
        if (most > 0 && !small && stays && aims(g->m, i, g->z + (size_t)n * MARKS)) return i;
    }
    return -1;
}

bool snw_targets_due(const snw_targets *g, double t) {
    return g->ncontrol > 0 && t >= g->t0 + (g->looks - 1e-9) * (g->t1 - g->t0) / LOOKS;
}

void snw_targets_record_signals(snw_targets *g, double t, const double *signal) {
    const snw_at at = {.t = t, .signal = signal};
    const bool late = t >= g->t1 - (1 + 1e-9) * (g->t1 - g->t0) / QUARTERS;
    for (int i = 0; i < g->ncontrol; i++) {
        control *c = &g->control[i];
        const double p = signal[c->error.slot], e = snw_expr_value(c->error.difference, at);
        c->largest = fmax(c->largest, fmax(fabs(p), fmax(fabs(e), fabs(p - c->error.sign * e))));
        range_take(&c->all, p, g->looks == 0);
        if (!late) continue;
        if (c->when && snw_expr_value(c->when, at) == 0) {
            c->n = 0;
            continue;
        }
        range_take(&c->e, e, c->n == 0);
        range_take(&c->p, p, c->n == 0);
        c->slope = snw_expr_jet_signal(c->law, at, c->error.slot).d;
        c->n++;
    }
    g->looks = (int)floor((t - g->t0) / (g->t1 - g->t0) * LOOKS + 1e-6) + 1;
}

// NaN is no offset
static bool stayed(const control *c) {
    const double e = fmin(fabs(c->e.low), fabs(c->e.high)), way = c->p.high - c->p.low;
    const bool rests = way <= fmax(RESTS * (c->all.high - c->all.low), TINY * e);
    return c->n >= FEWEST && c->e.low * c->e.high > 0 && e > PART * c->largest &&
           c->e.high - c->e.low <= STILL * e && rests && (c->slope != 0 || c->error.limited);
}

bool snw_targets_offset(const snw_targets *g, int i, snw_offset *out) {
    for (int k = 0; k < g->ncontrol; k++) {
        const control *c = &g->control[k];
        if (!stayed(c) || i-- > 0) continue;
        const double p = 0.5 * (c->p.low + c->p.high), e = 0.5 * (c->e.low + c->e.high);
        *out = (snw_offset){.law = c->name,
                            .probe = g->m->desc->signal[c->error.slot].text,
                            .value = p,
                            .reference = p - c->error.sign * e,
                            .limited = c->slope == 0};
        return true;
    }
    return false;
}
