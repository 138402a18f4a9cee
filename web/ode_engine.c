// SPDX-License-Identifier: MIT
//
// Steps with error control without SUNDIALS. Runge-Kutta pairs: Dormand and Prince of order 5 with
// an error of order 4, and the pair of order 8 of rk87.c. Stiff equations: ode_bdf.c.
//
// An error is measured by the root mean square of its components over rtol |y| + atol; a step with
// less than 1 is accepted.
#include "solve/ode_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "ode_bdf.h"
#include "solve/rk87.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 60 }; // shorter and shorter steps before an advance fails

// A pair: weights b and the differences of the weights, whose sum over the stages is the error.
typedef struct pair {
    int stages, order; // order of the error estimate
    const double *c, *A, *b, *d;
} pair;

static const double dp_c[7] = {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
static const double dp_A[7][7] = {
    {0},
    {1. / 5},
    {3. / 40, 9. / 40},
    {44. / 45, -56. / 15, 32. / 9},
    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
static const double dp_b[7] = {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84, 0};
static const double dp_d[7] = {5179. / 57600,     0,           7571. / 16695, 393. / 640,
                               -92097. / 339200., 187. / 2100, 1. / 40};

static const pair pairs[] = {
    {7, 4, dp_c, dp_A[0], dp_b, dp_d},
    {SNW_RK87_STAGES, 7, snw_rk87_c, snw_rk87_A[0], snw_rk87_b, snw_rk87_d}};

struct snw_ode_engine {
    const pair *pair;
    double *stage; // rates at the stages of a pair
    snw_bdf *bdf;
};

snw_status snw_ode_engine_create(snw_ode *o, snw_error *err) {
    snw_ode_engine *e = o->engine = snw_alloc(sizeof *e);
    if (e && o->opts.kind == SNW_ODE_BDF) {
        e->bdf = snw_bdf_create(o->n);
    } else if (e) {
        e->pair = &pairs[o->opts.kind == SNW_ODE_RK87];
        e->stage = snw_alloc((size_t)e->pair->stages * (size_t)o->n * sizeof *e->stage);
    }
    if (e && (e->bdf || e->stage)) return SNW_OK;
    return snw_fail(err, SNW_E_MEMORY, "no memory for an integrator of %d components", o->n);
}

void snw_ode_engine_destroy(snw_ode_engine *e) {
    if (!e) return;
    snw_bdf_destroy(e->bdf);
    snw_free(e->stage);
    snw_free(e);
}

// ---- sizes of errors and steps ------------------------------------------------------------------

// size of x relative to the tolerance, with the larger of two states
static double size_of(const snw_ode *o, const double *x, const double *y, const double *z) {
    double sum = 0;
    for (int i = 0; i < o->n; i++) {
        const double scale = o->opts.rtol * fmax(fabs(y[i]), fabs(z[i])) + o->atol[i];
        sum += (x[i] / scale) * (x[i] / scale);
    }
    return sqrt(sum / o->n);
}

// First step: an explicit Euler step of it changes the rates by little (Hairer, Norsett and Wanner,
// Solving Ordinary Differential Equations I, II.4). k <- rates at the start.
static snw_status first_step(snw_ode *o, double span, int order, double *k, double *h) {
    double *y = o->accepted, *z = o->z, *next = o->sum;
    SNW_TRY(snw_ode_rates(o, o->t, y, k));
    const double d0 = size_of(o, y, y, y), d1 = size_of(o, k, y, y);
    double h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 * span : 0.01 * d0 / d1;
    h0 = fmin(h0, span);
    for (int i = 0; i < o->n; i++) z[i] = y[i] + h0 * k[i];
    if (snw_ode_rates(o, o->t + h0, z, next) != SNW_OK) {
        if (o->fault.status == SNW_E_STOPPED) return SNW_E_STOPPED;
        o->fault.status = SNW_OK;
        *h = 1e-3 * h0;
        return SNW_OK;
    }
    for (int i = 0; i < o->n; i++) z[i] = next[i] - k[i];
    const double most = fmax(d1, size_of(o, z, y, y) / h0);
    const double h1 = most <= 1e-15 ? fmax(1e-6 * span, 1e-3 * h0) : pow(0.01 / most, 1. / order);
    *h = fmin(fmin(100 * h0, h1), span);
    return SNW_OK;
}

// factor of the next step for an error, which goes with the given power of the step
static double step_factor(double error, double power) {
    if (!(error > 0)) return isnan(error) ? 0.1 : 5;
    return fmin(5, fmax(0.2, 0.9 * pow(error, -1 / power)));
}

static double longest(const snw_ode *o, double h) {
    return o->opts.step > 0 ? fmin(h, o->opts.step) : h;
}

// ---- Runge-Kutta pairs --------------------------------------------------------------------------

// o->y <- the state after a step h from (t, o->accepted), *error its size. The rates at the start
// are the first stage.
static snw_status pair_step(snw_ode *o, double t, double h, double *error) {
    const pair *p = o->engine->pair;
    const size_t n = (size_t)o->n;
    double *k = o->engine->stage;
    for (int s = 1; s < p->stages; s++) {
        memcpy(o->z, o->accepted, n * sizeof *o->z);
        for (int j = 0; j < s; j++) {
            const double a = h * p->A[s * p->stages + j];
            for (size_t i = 0; a != 0 && i < n; i++) o->z[i] += a * k[(size_t)j * n + i];
        }
        SNW_TRY(snw_ode_rates(o, t + p->c[s] * h, o->z, k + (size_t)s * n));
    }
    memcpy(o->y, o->accepted, n * sizeof *o->y);
    memset(o->sum, 0, n * sizeof *o->sum);
    for (int s = 0; s < p->stages; s++) {
        const double b = h * p->b[s], d = h * (p->b[s] - p->d[s]);
        for (size_t i = 0; i < n; i++) {
            o->y[i] += b * k[(size_t)s * n + i];
            o->sum[i] += d * k[(size_t)s * n + i];
        }
    }
    *error = size_of(o, o->sum, o->accepted, o->y);
    return SNW_OK;
}

// ---- the loop of steps --------------------------------------------------------------------------

// Rates at the start of the advance in the first stage, and the first step.
static snw_status begin(snw_ode *o, double t, int order, snw_error *err) {
    double *k = o->engine->stage;
    memcpy(o->accepted, o->y, (size_t)o->n * sizeof *o->y);
    double h = o->h;
    const snw_status s =
        h > 0 ? snw_ode_rates(o, o->t, o->y, k) : first_step(o, t - o->t, order, k, &h);
    if (s != SNW_OK) return snw_ode_explain(o, SNW_ODE_OTHER, o->t, err);
    o->h = h;
    return SNW_OK;
}

// Steps up to t; the last one is shortened to end there and does not change the step that follows.
snw_status snw_ode_advance_pair(snw_ode *o, double t, snw_error *err) {
    const size_t size = (size_t)o->n * sizeof *o->y;
    const int power = o->engine->pair->order + 1; // of the step, to which the error is proportional
    SNW_TRY(begin(o, t, power, err));
    double now = o->t, h = longest(o, o->h);
    int trials = 0;
    for (long steps = 0; now < t;) {
        if (steps == o->opts.max_steps) return snw_ode_explain(o, SNW_ODE_MANY_STEPS, now, err);
        const bool last = now + h * (1 + 1e-9) >= t;
        const double length = last ? t - now : h;
        double error = NAN;
        const snw_status s = pair_step(o, now, length, &error);
        if (s == SNW_E_STOPPED) return snw_ode_explain(o, SNW_ODE_OTHER, now, err);
        if (s != SNW_OK || !(error <= 1)) {
            h = length * (s == SNW_OK ? fmin(0.9, step_factor(error, power)) : 0.1);
            if (trials++ < TRIALS && now + h > now) continue;
            return snw_ode_explain(o, SNW_ODE_NO_STEP, now, err);
        }
        o->stats.steps++, o->stats.last = length;
        o->fault.status = SNW_OK;
        const double next =
            length * (trials > 0 ? fmin(1, step_factor(error, power)) : step_factor(error, power));
        o->h = h = longest(o, last && length < h ? fmax(h, next) : next);
        memcpy(o->accepted, o->y, size);
        now = last ? t : now + length, trials = 0, steps++;
        if (now < t && snw_ode_monitor_stops(o, now)) return SNW_OK;
        if (now < t && snw_ode_rates(o, now, o->y, o->engine->stage) != SNW_OK) {
            return snw_ode_explain(o, SNW_ODE_OTHER, now, err);
        }
    }
    return SNW_OK;
}

// ---- backward differentiation -------------------------------------------------------------------

snw_status snw_ode_advance_bdf(snw_ode *o, double t, double limit, snw_error *err) {
    return snw_bdf_advance(o->engine->bdf, o, t, limit, err);
}
