// SPDX-License-Identifier: MIT
//
// Integrators of ordinary differential equations: rates, failures, the classical Runge-Kutta
// method. Steps with error control are computed by the engine, ode_engine.c.

#include "solve/ode_private.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

snw_ode_opts snw_ode_defaults(void) {
    return (snw_ode_opts){.kind = SNW_ODE_RK54, .rtol = 1e-6, .max_steps = 10000000};
}

// ---- rates --------------------------------------------------------------------------------------

snw_status snw_ode_rates(snw_ode *o, double t, const double *y, double *dy) {
    o->stats.rates++;
    const snw_status s = o->rate(o->user, t, y, dy, &o->fault);
    if (s != SNW_OK) {
        o->fault.status = s;
        return s;
    }
    for (int i = 0; i < o->n; i++) {
        if (isfinite(dy[i])) continue;
        return snw_fail(&o->fault, SNW_E_DIVERGED,
                        "the rate of component %d is %g at t = %.9g s: the motion diverges, or a "
                        "law is not defined there",
                        i + 1, dy[i], t);
    }
    return SNW_OK;
}

snw_status snw_ode_differences(snw_ode *o, double t, double *y, const double *dy, double *J) {
    for (int j = 0; j < o->n - o->opts.nquad; j++) {
        const double was = y[j], typical = fmax(fabs(was), o->atol[j] / o->opts.rtol);
        y[j] = was + sqrt(DBL_EPSILON) * typical;
        const double step = y[j] - was;
        const snw_status s = snw_ode_rates(o, t, y, o->k);
        y[j] = was;
        if (s != SNW_OK) return s;
        double *column = J + (size_t)j * (size_t)o->n;
        for (int i = 0; i < o->n; i++) column[i] = (o->k[i] - dy[i]) / step;
    }
    return SNW_OK;
}

// ---- creation -----------------------------------------------------------------------------------

static snw_status ode_check(int n, const snw_ode_opts *opts, snw_error *err) {
    SNW_ASSERT(n >= 0 && opts->nquad >= 0 && opts->nquad <= n);
    if (opts->kind == SNW_ODE_RK4) {
        if (opts->step > 0 && isfinite(opts->step)) return SNW_OK;
        return snw_fail(err, SNW_E_ARGUMENT, "the step of rk4 must be positive, got %g s",
                        opts->step);
    }
    if (!(opts->rtol > 0 && opts->rtol < 1)) {
        return snw_fail(err, SNW_E_ARGUMENT, "the tolerance must lie between 0 and 1, got %g",
                        opts->rtol);
    }
    // below, rounding of the rates is taken for error and steps become tiny
    if (opts->rtol < 1e-14) {
        return snw_fail(
            err, SNW_E_ARGUMENT,
            "the tolerance %g is below the limit of double precision; use 1e-13 or more",
            opts->rtol);
    }
    if (!(opts->step >= 0)) {
        return snw_fail(err, SNW_E_ARGUMENT, "the longest step must not be negative, got %g s",
                        opts->step);
    }
    for (int i = 0; opts->atol && i < n; i++) {
        if (opts->atol[i] > 0 && isfinite(opts->atol[i])) continue;
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the absolute tolerance of component %d must be positive, got %g", i + 1,
                        opts->atol[i]);
    }
    return SNW_OK;
}

static void ode_place(void *object, snw_fields *f) {
    snw_ode *o = object;
    const size_t n = (size_t)o->n;
    ODE_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_ode_create(int n, snw_rate_fn *rate, void *user, const snw_ode_opts *opts,
                          snw_ode **out, snw_error *err) {
    *out = NULL;
    SNW_TRY(ode_check(n, opts, err));
    snw_ode *o = snw_alloc(sizeof *o);
    if (!o) return snw_fail(err, SNW_E_MEMORY, "no memory for an integrator");
    o->n = n, o->rate = rate, o->user = user, o->opts = *opts;
    o->block = snw_fields_create(ode_place, o);
    snw_status s = SNW_OK;
    if (!o->block) {
        s = snw_fail(err, SNW_E_MEMORY, "no memory for an integrator of %d components", n);
    }
    for (int i = 0; s == SNW_OK && i < n; i++) o->atol[i] = opts->atol ? opts->atol[i] : opts->rtol;
    o->opts.atol = o->atol;
    if (s == SNW_OK && opts->kind != SNW_ODE_RK4 && n > 0) s = snw_ode_engine_create(o, err);
    if (s != SNW_OK) {
        snw_ode_destroy(o);
        return s;
    }
    snw_ode_start(o, 0, o->accepted, 0);
    *out = o;
    return SNW_OK;
}

void snw_ode_destroy(snw_ode *o) {
    if (!o) return;
    snw_ode_engine_destroy(o->engine);
    snw_free(o->block);
    snw_free(o);
}

void snw_ode_start(snw_ode *o, double t, const double *y, double h) {
    SNW_ASSERT(h >= 0);
    o->t = t, o->h = h, o->fresh = true;
    if (y != o->y) memcpy(o->y, y, (size_t)o->n * sizeof *y);
}

// ---- failures -----------------------------------------------------------------------------------

snw_status snw_ode_explain(snw_ode *o, snw_ode_failure why, double t, snw_error *err) {
    if (o->fault.status != SNW_OK) {
        if (err) *err = o->fault;
        return o->fault.status;
    }
    switch (why) {
    case SNW_ODE_MANY_STEPS:
        return snw_fail(
            err, SNW_E_DIVERGED,
            "%ld steps did not suffice, the last at t = %.9g s: the motion is stiff or the "
            "tolerance too small; try method stiff or a larger tolerance",
            o->opts.max_steps, t);
    case SNW_ODE_TOO_ACCURATE:
        return snw_fail(err, SNW_E_DIVERGED,
                        "at t = %.9g s the tolerance %g is below the limit of double precision; "
                        "use a larger one",
                        t, o->opts.rtol);
    case SNW_ODE_NO_STEP:
        return snw_fail(err, SNW_E_DIVERGED,
                        "no step is short enough at t = %.9g s for the tolerance %g: an input "
                        "jumps there, or the tolerance is too small",
                        t, o->opts.rtol);
    case SNW_ODE_OTHER:
        break;
    }
    return snw_fail(err, SNW_E_DIVERGED, "integration ends at t = %.9g s: %s", t, o->message);
}

// ---- monitor ------------------------------------------------------------------------------------

void snw_ode_set_monitor(snw_ode *o, bool (*step)(void *user, double t, const double *y),
                         void *user) {
    o->monitor = step;
    o->monitor_user = user;
}

bool snw_ode_monitor_stops(const snw_ode *o, double t) {
    return o->monitor && o->monitor(o->monitor_user, t, o->y);
}

// ---- equal steps --------------------------------------------------------------------------------

static snw_status step_rk4(snw_ode *o, double t, double h) {
    const int n = o->n;
    double *k = o->k, *sum = o->sum, *z = o->z;
    SNW_TRY(snw_ode_rates(o, t, o->y, k));
    for (int i = 0; i < n; i++) sum[i] = k[i], z[i] = o->y[i] + 0.5 * h * k[i];
    SNW_TRY(snw_ode_rates(o, t + 0.5 * h, z, k));
    for (int i = 0; i < n; i++) sum[i] += 2 * k[i], z[i] = o->y[i] + 0.5 * h * k[i];
    SNW_TRY(snw_ode_rates(o, t + 0.5 * h, z, k));
    for (int i = 0; i < n; i++) sum[i] += 2 * k[i], z[i] = o->y[i] + h * k[i];
    SNW_TRY(snw_ode_rates(o, t + h, z, k));
    for (int i = 0; i < n; i++) o->y[i] += h / 6 * (sum[i] + k[i]);
    return SNW_OK;
}

double snw_ode_equal_steps(double step, double span) {
    return fmax(1, ceil(span / step * (1 - 1e-12)));
}

static snw_status advance_rk4(snw_ode *o, double t, snw_error *err) {
    const double span = t - o->t, count = snw_ode_equal_steps(o->opts.step, span);
    if (!(count <= (double)o->opts.max_steps))
        return snw_ode_explain(o, SNW_ODE_MANY_STEPS, o->t, err);
    const long n = (long)count;
    const double h = span / (double)n;
    for (long i = 0; i < n; i++) {
        const double from = o->t + (double)i * h;
        if (step_rk4(o, from, i == n - 1 ? t - from : h) != SNW_OK)
            return snw_ode_explain(o, SNW_ODE_OTHER, from, err);
        o->stats.steps++, o->stats.last = h;
        if (i < n - 1 && snw_ode_monitor_stops(o, from + h)) return SNW_OK;
    }
    return SNW_OK;
}

// ---- advance ------------------------------------------------------------------------------------

snw_status snw_ode_advance(snw_ode *o, double t, double limit, snw_error *err) {
    SNW_ASSERT(t >= o->t && limit >= t);
    if (!(t > o->t)) return SNW_OK;
    const double h = o->h;
    const size_t size = (size_t)o->n * sizeof *o->y;
    memcpy(o->before, o->y, size);
    o->fault = (snw_error){0};
    o->message[0] = 0;
    snw_status s = SNW_OK;
    if (o->n > 0) {
        switch (o->opts.kind) {
        case SNW_ODE_RK4:
            s = advance_rk4(o, t, err);
            break;
        case SNW_ODE_RK54:
        case SNW_ODE_RK87:
            s = snw_ode_advance_pair(o, t, err);
            break;
        case SNW_ODE_BDF:
            s = snw_ode_advance_bdf(o, t, limit, err);
            break;
        }
    }
    if (s != SNW_OK) {
        memcpy(o->y, o->before, size);
        o->h = h;
        o->fresh = true;
        return s;
    }
    o->t = t;
    return SNW_OK;
}

double snw_ode_time(const snw_ode *o) { return o->t; }
const double *snw_ode_y(const snw_ode *o) { return o->y; }
double snw_ode_step(const snw_ode *o) { return o->h; }
snw_ode_stats snw_ode_statistics(const snw_ode *o) { return o->stats; }
