// SPDX-License-Identifier: MIT
//
// Steps with error control without SUNDIALS. Runge-Kutta pairs: Dormand and Prince of order 5 with
// an error of order 4, and the pair of order 8 of rk87.c. Stiff equations: Radau IIA with three
// stages, order 5 (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8), in place
// of backward differentiation; its steps end at the time asked for.
//
// An error is measured by the root mean square of its components over rtol |y| + atol; a step with
// less than 1 is accepted.
#include "solve/ode_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"
#include "solve/rk87.h"

#include <math.h>
#include <string.h>

enum {
    TRIALS = 60,    // shorter and shorter steps before an advance fails
    ITERATIONS = 10 // of Newton's method for the stages of Radau
};

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
    double *stage;   // rates at the stages; Radau: increments z of the stages, and more
    double *J, *big; // Radau: derivatives of the rates; matrices of stages and of the error
    double *small;
    int *pivot;
    bool has_J;     // J is that of a point not far away
    int iterations; // of the last stages
    void *block;
};

snw_status snw_ode_engine_create(snw_ode *o, snw_error *err) {
    const size_t n = (size_t)o->n;
    const bool stiff = o->opts.kind == SNW_ODE_BDF;
    snw_ode_engine *e = o->engine = snw_alloc(sizeof *e);
    if (e) {
        e->pair = &pairs[o->opts.kind == SNW_ODE_RK87];
        const size_t stages = stiff ? 14 : (size_t)e->pair->stages;
        const size_t matrices = stiff ? 11 * n * n : 0;
        double *next = e->block = snw_alloc((stages * n + matrices) * sizeof(double));
        e->pivot = snw_alloc(4 * n * sizeof *e->pivot);
        if (next && e->pivot) {
            e->stage = next;
            e->J = next + stages * n;
            e->big = e->J + n * n;
            e->small = e->big + 9 * n * n;
            return SNW_OK;
        }
    }
    return snw_fail(err, SNW_E_MEMORY, "no memory for an integrator of %d components", o->n);
}

void snw_ode_engine_destroy(snw_ode_engine *e) {
    if (!e) return;
    snw_free(e->block);
    snw_free(e->pivot);
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

typedef snw_status step_fn(snw_ode *o, double t, double h, double *error);

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
static snw_status advance(snw_ode *o, double t, step_fn *step, double power, snw_error *err) {
    const size_t size = (size_t)o->n * sizeof *o->y;
    SNW_TRY(begin(o, t, (int)power, err));
    double now = o->t, h = longest(o, o->h);
    int trials = 0;
    for (long steps = 0; now < t;) {
        if (steps == o->opts.max_steps) return snw_ode_explain(o, SNW_ODE_MANY_STEPS, now, err);
        const bool last = now + h * (1 + 1e-9) >= t;
        const double length = last ? t - now : h;
        double error = NAN;
        const snw_status s = step(o, now, length, &error);
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

snw_status snw_ode_advance_pair(snw_ode *o, double t, snw_error *err) {
    return advance(o, t, pair_step, o->engine->pair->order + 1, err);
}

// ---- Radau --------------------------------------------------------------------------------------

#define SQRT6 2.449489742783178
static const double radau_c[3] = {(4 - SQRT6) / 10, (4 + SQRT6) / 10, 1};
static const double radau_A[3][3] = {
    {(88 - 7 * SQRT6) / 360, (296 - 169 * SQRT6) / 1800, (-2 + 3 * SQRT6) / 225},
    {(296 + 169 * SQRT6) / 1800, (88 + 7 * SQRT6) / 360, (-2 - 3 * SQRT6) / 225},
    {(16 - SQRT6) / 36, (16 + SQRT6) / 36, 1. / 9}};
// the error: (I - h g J)^-1 (h g f + g (e1 z1 + e2 z2 + e3 z3)), with 1/g the real eigenvalue of
// the inverse of A
static const double radau_e[3] = {-(13 + 7 * SQRT6) / 3, (-13 + 7 * SQRT6) / 3, -1. / 3};
static const double radau_g = 0.2748888295956773677; // (6 + 81^(1/3) - 9^(1/3)) / 30

// matrices of the stages, I - h A (x) J, and of the error, I - h g J
static snw_status radau_factor(snw_ode *o, double h) {
    snw_ode_engine *e = o->engine;
    const int n = o->n, m = 3 * n;
    for (int s = 0; s < 3; s++) {
        for (int j = 0; j < n; j++) {
            double *column = e->big + (size_t)(s * n + j) * (size_t)m;
            for (int r = 0; r < 3; r++) {
                for (int i = 0; i < n; i++) {
                    column[r * n + i] = (r == s && i == j) -
                                        h * radau_A[r][s] * e->J[(size_t)j * (size_t)n + (size_t)i];
                }
            }
        }
    }
    for (int k = 0; k < n * n; k++) {
        e->small[k] = (k % (n + 1) == 0) - h * radau_g * e->J[k];
    }
    SNW_TRY(snw_lu_factor(m, e->big, e->pivot));
    return snw_lu_factor(n, e->small, e->pivot + m);
}

// z <- increments of the stages by Newton's method; SNW_E_DIVERGED: it does not converge
static snw_status radau_stages(snw_ode *o, double t, double h, double *z, double *f, double *r) {
    snw_ode_engine *e = o->engine;
    const int n = o->n;
    memset(z, 0, 3 * (size_t)n * sizeof *z);
    double before = INFINITY;
    for (int it = 0; it < ITERATIONS; it++) {
        e->iterations = it + 1;
        for (int s = 0; s < 3; s++) {
            for (int i = 0; i < n; i++) o->z[i] = o->accepted[i] + z[s * n + i];
            SNW_TRY(snw_ode_rates(o, t + radau_c[s] * h, o->z, f + s * n));
        }
        for (int s = 0; s < 3; s++) {
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int k = 0; k < 3; k++) sum += radau_A[s][k] * f[k * n + i];
                r[s * n + i] = h * sum - z[s * n + i];
            }
        }
        snw_lu_solve(3 * n, e->big, e->pivot, r);
        double size = 0;
        for (int s = 0; s < 3; s++) {
            size = fmax(size, size_of(o, r + s * n, o->accepted, o->accepted));
        }
        for (int i = 0; i < 3 * n; i++) z[i] += r[i];
        if (!isfinite(size)) return SNW_E_DIVERGED;
        const double rate = size / before;
        // the rest of the contraction is below a hundredth of the tolerance
        if (size < 1e-3 || (it > 0 && rate < 1 && size * rate / (1 - rate) < 1e-2)) return SNW_OK;
        if (it > 1 && rate >= 1) return SNW_E_DIVERGED;
        before = size;
    }
    return SNW_E_DIVERGED;
}

static snw_status radau_try(snw_ode *o, double t, double h, double *error) {
    snw_ode_engine *e = o->engine;
    const int n = o->n;
    double *f0 = e->stage, *z = f0 + n, *f = z + 3 * n, *r = f + 3 * n, *x = r + 3 * n;
    SNW_TRY(radau_factor(o, h));
    SNW_TRY(radau_stages(o, t, h, z, f, r));
    for (int pass = 0; pass < 2; pass++) {
        // a second pass, with the rates at the estimate, damps errors of stiff components
        const double *rates = pass ? f : f0;
        for (int i = 0; i < n; i++) {
            double sum = h * rates[i];
            for (int s = 0; s < 3; s++) sum += radau_e[s] * z[s * n + i];
            x[i] = radau_g * sum;
        }
        snw_lu_solve(n, e->small, e->pivot + 3 * n, x);
        for (int i = 0; i < n; i++) o->y[i] = o->accepted[i] + z[2 * n + i];
        // the estimate has order 3, the solution 5: it is compared with 0.1 rtol^(2/3)
        *error = size_of(o, x, o->accepted, o->y) / fmax(1, 0.1 * pow(o->opts.rtol, -1. / 3));
        if (*error < 1 || pass == 1) return SNW_OK;
        for (int i = 0; i < n; i++) o->z[i] = o->accepted[i] + x[i];
        if (snw_ode_rates(o, t, o->z, f) != SNW_OK) {
            o->fault.status = SNW_OK;
            return SNW_OK;
        }
    }
    return SNW_OK;
}

// J is kept while Newton's method converges fast with it.
static snw_status radau_step(snw_ode *o, double t, double h, double *error) {
    enum { FAST = 5 };
    snw_ode_engine *e = o->engine;
    const size_t n = (size_t)o->n;
    if (e->has_J) {
        const snw_status s = radau_try(o, t, h, error);
        e->has_J = s == SNW_OK && e->iterations <= FAST;
        if (s == SNW_OK || s == SNW_E_STOPPED) return s;
        o->fault.status = SNW_OK;
    }
    memcpy(o->y, o->accepted, n * sizeof *o->y);
    memset(e->J, 0, n * n * sizeof *e->J);
    SNW_TRY(snw_ode_differences(o, t, o->y, e->stage, e->J));
    const snw_status s = radau_try(o, t, h, error);
    e->has_J = s == SNW_OK && e->iterations <= FAST;
    return s;
}

snw_status snw_ode_advance_bdf(snw_ode *o, double t, double limit, snw_error *err) {
    (void)limit;
    if (o->fresh) o->engine->has_J = false;
    o->fresh = false;
    return advance(o, t, radau_step, 4, err);
}
