// SPDX-License-Identifier: MIT
//
// Times at which laws of a study jump, lengths of its steps.
#include "robot/gradient_jump.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "study/run.h"

#include <math.h>
#include <string.h>

static const double same = 1e-12; // of times, relative

// The times of one description join the list; false: no memory.
static bool add_jumps(const snw_desc *d, int stage, double last, gradient_jumps *out) {
    gradient_jumps more = {0};
    if (snw_run_law_jumps(d, stage, 0, last, &more.n, &more.t) != SNW_OK) return false;
    if (out->n == 0) {
        gradient_jumps_clear(out);
        *out = more;
        return true;
    }
    double *t = snw_alloc((size_t)(out->n + more.n) * sizeof *t);
    if (t) {
        memcpy(t, out->t, (size_t)out->n * sizeof *t);
        if (more.n) memcpy(t + out->n, more.t, (size_t)more.n * sizeof *t);
        snw_free(out->t);
        *out = (gradient_jumps){.n = out->n + more.n, .t = t};
    }
    gradient_jumps_clear(&more);
    return t != NULL;
}

snw_status gradient_jumps_find(const snw_desc *d, gradient_jumps *out, snw_error *err) {
    double last = 0;
    int stage = 0;
    *out = (gradient_jumps){0};
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].kind == SNW_STEP_DYNAMIC) last += d->step[i].duration;
        if (d->step[i].until) stage = i;
    }
    if (!(last > 0)) return SNW_OK;
    if (!add_jumps(d, stage, last, out)) return snw_fail_memory(err);
    for (int i = 0; i < d->nstep; i++) { // and of the laws that changes bring
        if (d->step[i].kind == SNW_STEP_CHANGE && !add_jumps(d->step[i].changed, stage, last, out))
            return snw_fail_memory(err);
    }
    return SNW_OK;
}

void gradient_jumps_clear(gradient_jumps *x) {
    snw_free(x->t);
    *x = (gradient_jumps){0};
}

// Does a number of a step, NaN where it has none, differ?
static bool differs(double a, double b) { return !(a == b) && !(isnan(a) && isnan(b)); }

static gradient_held period_moved(const snw_desc *d, const snw_desc *other) {
    for (int i = 0; i < d->nsignal && i < other->nsignal; i++) {
        if (d->signal[i].kind == SNW_SIGNAL_SAMPLED &&
            d->signal[i].period != other->signal[i].period)
            return (gradient_held){.key = "period", .of = d->signal[i].text};
    }
    return (gradient_held){0};
}

gradient_held gradient_held_moved(const snw_desc *d, const snw_desc *other) {
    for (int i = 0; i < d->nstep && i < other->nstep; i++) {
        const snw_step_desc *a = &d->step[i], *b = &other->step[i];
        const char *key = differs(a->duration, b->duration)                 ? "for"
                          : differs(a->step, b->step)                       ? "step"
                          : differs(a->rho, b->rho)                         ? "rho"
                          : differs(a->alpha, b->alpha)                     ? "alpha"
                          : differs(a->torque, b->torque)                   ? "reactions"
                          : differs(a->penalty, b->penalty)                 ? "penalty"
                          : differs(a->march, b->march)                     ? "march"
                          : differs(a->march_step, b->march_step)           ? "march.step"
                          : differs(a->relaxation.time, b->relaxation.time) ? "relaxation"
                                                                            : NULL;
        if (a->kind == SNW_STEP_PATH && b->kind == SNW_STEP_PATH &&
            (differs(a->path.low, b->path.low) || differs(a->path.high, b->path.high)))
            key = "range";
        if (key) return (gradient_held){.key = key, .of = a->name};
        if (a->kind != SNW_STEP_CHANGE || b->kind != SNW_STEP_CHANGE) continue;
        const gradient_held held = period_moved(a->changed, b->changed);
        if (held.key) return held;
    }
    return period_moved(d, other);
}

snw_status gradient_jumps_moved(const gradient_jumps *x, const snw_desc *other, double *at,
                                snw_error *err) {
    gradient_jumps y = {0};
    *at = NAN;
    if (x->n == 0) return SNW_OK;
    const snw_status s = gradient_jumps_find(other, &y, err);
    for (int i = 0; i < x->n && isnan(*at) && s == SNW_OK; i++) {
        bool found = false;
        for (int k = 0; k < y.n && !found; k++)
            found = fabs(y.t[k] - x->t[i]) <= same * fabs(x->t[i]);
        if (!found) *at = x->t[i];
    }
    gradient_jumps_clear(&y);
    return s;
}
