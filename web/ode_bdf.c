// SPDX-License-Identifier: MIT
//
// Backward differentiation of orders 1 to 5 with a fixed leading coefficient (Jackson and
// Sacks-Davis 1980; Brenan, Campbell and Petzold, Numerical Solution of Initial-Value Problems in
// Differential-Algebraic Equations, chapter 5), on divided differences of the accepted values.
//
// Order q, step h from t_n to t. Let w be the polynomial through the last q + 1 values, and
// p = w(t), p' = w'(t) the prediction. The corrected polynomial has the degree q, agrees with w at
// t - h, .., t - q h and fulfils the equation at t. Its value p + c satisfies
//
//     f(t, p + c) = p' + (a / h) c,    a = 1 + 1/2 + .. + 1/q.                                  (1)
//
// With psi_j = t - t_(n-j), D = psi_0 .. psi_q and S = 1/psi_0 + .. + 1/psi_q the correction is
// c = y[t, t_n, .., t_(n-q)] D, and the local error is c |1 - a / (h S)|. The errors of the orders
// q - 1 and q + 1 are K D |h S / a - 1| with the divided differences K of their own orders.
//
// An error is the root mean square of its components over rtol |y| + atol. A step with less than 1
// is accepted, and the next one aims at 1/12. CVODE aims at 1/6 and ends its corrections earlier;
// on the examples its errors are then as large as these.
#include "ode_bdf.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum {
    ORDERS = 5,
    POINTS = ORDERS + 2, // values in the differences: the highest order and its error
    TRIALS = 60,         // failures of one step before an advance fails
    ITERATIONS = 3,      // corrections of one step
    J_AGE = 50           // steps for which a matrix of derivatives is kept
};

struct snw_bdf {
    // past[k], differences[k]: time of the k-th last value; divided difference of the last k + 1.
    // A restart has a double point: its first difference is the rate.
    double past[POINTS];
    double *differences, *trial; // POINTS * n each; `trial` has those with the value of the step
    int points;                  // valid in both
    int order, steps;            // steps made at this order
    double h;                    // next step
    double *p, *dp, *c, *f, *r;  // prediction, its rate, correction, rates, residual
    double *J, *lu;
    int *pivot;
    bool has_J, has_lu;
    int J_steps;  // steps since J was computed
    double gamma; // h / a of the factorisation I - gamma J
    double rate;  // of convergence of the corrections
    bool grows;   // the next step may be longer: the last one did not fail
    void *block;
};

snw_bdf *snw_bdf_create(int n) {
    snw_bdf *b = snw_alloc(sizeof *b);
    if (!b) return NULL;
    const size_t m = (size_t)n;
    double *next = b->block = snw_alloc((2 * POINTS * m + 5 * m + 2 * m * m) * sizeof *next);
    b->pivot = snw_alloc(m * sizeof *b->pivot);
    if (!next || !b->pivot) {
        snw_bdf_destroy(b);
        return NULL;
    }
    b->differences = next, b->trial = next + POINTS * m, next += 2 * POINTS * m;
    b->p = next, b->dp = next + m, b->c = next + 2 * m, b->f = next + 3 * m, b->r = next + 4 * m;
    b->J = next + 5 * m, b->lu = b->J + m * m;
    return b;
}

void snw_bdf_destroy(snw_bdf *b) {
    if (!b) return;
    snw_free(b->block);
    snw_free(b->pivot);
    snw_free(b);
}

// ---- errors and orders --------------------------------------------------------------------------

// root mean square of x over the tolerances at the last accepted values
static double bdf_size(const snw_bdf *b, const snw_ode *o, const double *x) {
    double sum = 0;
    for (int i = 0; i < o->n; i++) {
        const double e = x[i] / (o->opts.rtol * fabs(b->differences[i]) + o->atol[i]);
        sum += e * e;
    }
    return sqrt(sum / o->n);
}

static double harmonic(int q) {
    double sum = 0;
    for (int i = 1; i <= q; i++) sum += 1. / i;
    return sum;
}

// h S of order q for a step h
static double inverse_distances(const snw_bdf *b, double h, int q) {
    double sum = 0;
    for (int j = 0; j <= q; j++) sum += h / (b->past[0] - b->past[j] + h);
    return sum;
}

// size of the local error of order q, from the differences with the new value
static double bdf_error(const snw_bdf *b, const snw_ode *o, double h, int q) {
    const double hS = inverse_distances(b, h, q), a = harmonic(q);
    double scale = q == b->order ? 1 - a / hS : hS / a - 1;
    for (int j = 0; j <= q; j++) scale *= b->past[0] - b->past[j] + h;
    return fabs(scale) * bdf_size(b, o, b->trial + (size_t)(q + 1) * (size_t)o->n);
}

// factor of the step with which the error, which goes with the given power of it, is 1 / bias
static double bdf_factor(double error, int power, double bias) {
    return 1 / (pow(bias * error, 1. / power) + 1e-6);
}

// Order and length of the next step after one of length h; a change of the order is considered
// after q + 1 steps with it, a longer step only if it is worth a new factorisation.
static void bdf_plan(snw_bdf *b, const snw_ode *o, double h, double error, bool first) {
    const int q = b->order;
    double best = bdf_factor(error, q + 1, 12);
    int order = q;
    if (++b->steps > q) {
        const double lower = q > 1 ? bdf_factor(bdf_error(b, o, h, q - 1), q, 12) : 0;
        const double higher =
            q < ORDERS && q + 2 <= b->points ? bdf_factor(bdf_error(b, o, h, q + 1), q + 2, 16) : 0;
        if (lower > best && lower >= higher) best = lower, order = q - 1;
        if (higher > best) best = higher, order = q + 1;
        b->steps = q - 1; // asked again after two more steps
    }
    if (!(best >= 1) || !b->grows) return;
    if (order != q) b->order = order, b->steps = 0;
    if (best >= 1.5) b->h = h * fmin(best, first ? 1e4 : 10);
}

// ---- one step -----------------------------------------------------------------------------------

// order 1 from the values y at t, with their rates
static snw_status bdf_restart(snw_bdf *b, snw_ode *o, double t, const double *y) {
    const size_t n = (size_t)o->n;
    if (y != b->differences) memcpy(b->differences, y, n * sizeof *y);
    b->past[0] = b->past[1] = t;
    b->points = 2, b->order = 1, b->steps = 0;
    b->has_J = b->has_lu = false;
    return snw_ode_rates(o, t, b->differences, b->differences + n);
}

// First step: half of the longest one for which the error of order 1, h^2 y'' / 2, is within the
// tolerance, with the second derivative from the rates after a short explicit step.
static double bdf_first_step(snw_bdf *b, snw_ode *o, double span) {
    const double *y = b->differences, *f = y + o->n;
    const double size = bdf_size(b, o, f);
    double h = fmin(1e-3 * span, size > 0 ? 0.01 / size : INFINITY);
    for (int trial = 0; trial < 8; trial++, h *= 0.1) {
        for (int i = 0; i < o->n; i++) b->p[i] = y[i] + h * f[i];
        const snw_status s = snw_ode_rates(o, b->past[0] + h, b->p, b->r);
        if (s == SNW_E_STOPPED) return 0;
        if (s != SNW_OK) continue;
        for (int i = 0; i < o->n; i++) b->r[i] = (b->r[i] - f[i]) / h;
        const double second = bdf_size(b, o, b->r);
        return fmin(span, second > 0 ? 0.5 * sqrt(2 / second) : span);
    }
    o->fault.status = SNW_OK;
    return h;
}

// p, dp <- prediction and its rate at the end of a step h: Newton's form of the polynomial
static void bdf_predict(snw_bdf *b, int n, double h) {
    double product = 1, slope = 0; // of (t - past[0]) .. (t - past[k - 1])
    memset(b->p, 0, (size_t)n * sizeof *b->p);
    memset(b->dp, 0, (size_t)n * sizeof *b->dp);
    for (int k = 0; k <= b->order; k++) {
        const double *d = b->differences + (size_t)k * (size_t)n;
        for (int i = 0; i < n; i++) b->p[i] += product * d[i], b->dp[i] += slope * d[i];
        const double psi = b->past[0] - b->past[k] + h;
        slope = slope * psi + product;
        product *= psi;
    }
}

static snw_status bdf_factorise(snw_bdf *b, snw_ode *o, double t, double gamma) {
    const int n = o->n;
    if (!b->has_J) {
        memset(b->J, 0, (size_t)n * (size_t)n * sizeof *b->J);
        SNW_TRY(snw_ode_rates(o, t, b->p, b->f));
        SNW_TRY(snw_ode_differences(o, t, b->p, b->f, b->J));
        b->has_J = true, b->J_steps = 0;
    }
    for (int k = 0; k < n * n; k++) b->lu[k] = (k % (n + 1) == 0) - gamma * b->J[k];
    SNW_TRY(snw_lu_factor(n, b->lu, b->pivot));
    b->has_lu = true, b->gamma = gamma, b->rate = 1;
    return SNW_OK;
}

// c <- correction by Newton's method, to 1/200 of the tolerance of the step.
// SNW_E_DIVERGED: it does not converge.
static snw_status bdf_correct(snw_bdf *b, snw_ode *o, double t, double gamma, double share) {
    const int n = o->n;
    memset(b->c, 0, (size_t)n * sizeof *b->c);
    double before = 0;
    for (int it = 0; it < ITERATIONS; it++) {
        for (int i = 0; i < n; i++) o->z[i] = b->p[i] + b->c[i];
        SNW_TRY(snw_ode_rates(o, t, o->z, b->f));
        for (int i = 0; i < n; i++) b->r[i] = gamma * (b->f[i] - b->dp[i]) - b->c[i];
        snw_lu_solve(n, b->lu, b->pivot, b->r);
        // the factorisation is that of another step: its fast and slow components are weighed
        const double weight = 2 / (1 + gamma / b->gamma);
        for (int i = 0; i < n; i++) b->r[i] *= weight, b->c[i] += b->r[i];
        const double size = bdf_size(b, o, b->r);
        if (!isfinite(size)) return SNW_E_DIVERGED;
        if (it > 0) b->rate = fmax(0.3 * b->rate, size / before);
        if (size * fmin(1, b->rate) * share <= 0.005) return SNW_OK;
        if (it > 0 && size > 2 * before) return SNW_E_DIVERGED;
        before = size;
    }
    return SNW_E_DIVERGED;
}

// Prediction and correction of a step to t; the derivatives are renewed where those of an earlier
// step do not suffice.
static snw_status bdf_solve(snw_bdf *b, snw_ode *o, double t, double h) {
    const double gamma = h / harmonic(b->order);
    const double share = 1 - harmonic(b->order) / inverse_distances(b, h, b->order);
    bdf_predict(b, o->n, h);
    if (b->has_J && b->J_steps >= J_AGE) b->has_J = false;
    const bool fresh = !b->has_J;
    if (!b->has_J || !b->has_lu || fabs(gamma / b->gamma - 1) > 0.3) {
        SNW_TRY(bdf_factorise(b, o, t, gamma));
    }
    const snw_status s = bdf_correct(b, o, t, gamma, share);
    if (s == SNW_OK || s == SNW_E_STOPPED || fresh) return s;
    b->has_J = false;
    SNW_TRY(bdf_factorise(b, o, t, gamma));
    return bdf_correct(b, o, t, gamma, share);
}

// trial <- divided differences with the value p + c at the end of a step h
static void bdf_append(snw_bdf *b, int n, double h) {
    for (int i = 0; i < n; i++) b->trial[i] = b->p[i] + b->c[i];
    const int most = b->points < POINTS ? b->points : POINTS - 1;
    for (int k = 1; k <= most; k++) {
        const double *was = b->differences + (size_t)(k - 1) * (size_t)n;
        double *d = b->trial + (size_t)k * (size_t)n;
        const double psi = b->past[0] - b->past[k - 1] + h;
        for (int i = 0; i < n; i++) d[i] = (d[i - n] - was[i]) / psi;
    }
}

static void bdf_accept(snw_bdf *b, double t) {
    double *was = b->differences;
    b->differences = b->trial, b->trial = was;
    for (int k = POINTS - 1; k > 0; k--) b->past[k] = b->past[k - 1];
    b->past[0] = t;
    if (b->points < POINTS) b->points++;
    b->J_steps++;
}

// One step that is accepted, not beyond the limit.
static snw_status bdf_step(snw_bdf *b, snw_ode *o, double limit, bool first, snw_error *err) {
    const double now = b->past[0];
    b->grows = true;
    for (int trial = 0, errors = 0; trial < TRIALS; trial++) {
        if (o->opts.step > 0) b->h = fmin(b->h, o->opts.step);
        b->h = fmax(b->h, nextafter(now, INFINITY) - now); // a step that is tried, so that it fails
        const bool last = now + b->h * (1 + 1e-12) >= limit;
        const double t = last ? limit : now + b->h, h = t - now;
        const snw_status s = bdf_solve(b, o, t, h);
        if (s == SNW_E_STOPPED) return snw_ode_explain(o, SNW_ODE_OTHER, now, err);
        if (s != SNW_OK) {
            b->h = 0.25 * h, b->grows = false;
            continue;
        }
        bdf_append(b, o->n, h);
        const double error = bdf_error(b, o, h, b->order);
        if (error <= 1) {
            const double next = b->h;
            o->stats.steps++, o->stats.last = h;
            o->fault.status = SNW_OK;
            b->h = last ? fmax(next, h) : h;
            bdf_plan(b, o, h, error, first);
            bdf_accept(b, t);
            return SNW_OK;
        }
        b->grows = false;
        const double factor = isnan(error) ? 0.2 : bdf_factor(error, b->order + 1, 6);
        b->h = h * fmin(0.9, fmax(0.2, factor));
        // the past does not predict this step: begin anew
        if (++errors >= 3 && bdf_restart(b, o, now, b->differences) != SNW_OK) break;
    }
    return snw_ode_explain(o, SNW_ODE_NO_STEP, now, err);
}

// ---- advance ------------------------------------------------------------------------------------

// y <- value at t of the polynomial through the last values
static void bdf_interpolate(const snw_bdf *b, int n, double t, double *y) {
    double product = 1;
    memset(y, 0, (size_t)n * sizeof *y);
    for (int k = 0; k <= b->order && k < b->points; k++) {
        const double *d = b->differences + (size_t)k * (size_t)n;
        for (int i = 0; i < n; i++) y[i] += product * d[i];
        product *= t - b->past[k];
    }
}

snw_status snw_bdf_advance(snw_bdf *b, snw_ode *o, double t, double limit, snw_error *err) {
    bool first = o->fresh;
    if (o->fresh) {
        if (bdf_restart(b, o, o->t, o->y) != SNW_OK) {
            return snw_ode_explain(o, SNW_ODE_OTHER, o->t, err);
        }
        b->h = bdf_first_step(b, o, (isfinite(limit) ? limit : t) - o->t);
        if (!(b->h > 0)) return snw_ode_explain(o, SNW_ODE_NO_STEP, o->t, err);
        o->fresh = false;
    }
    for (long steps = 0; b->past[0] < t; steps++, first = false) {
        if (steps == o->opts.max_steps) {
            return snw_ode_explain(o, SNW_ODE_MANY_STEPS, b->past[0], err);
        }
        SNW_TRY(bdf_step(b, o, limit, first, err));
        memcpy(o->y, b->differences, (size_t)o->n * sizeof *o->y);
        if (b->past[0] < t && snw_ode_monitor_stops(o, b->past[0])) return SNW_OK;
    }
    o->h = b->h;
    bdf_interpolate(b, o->n, t, o->y);
    return SNW_OK;
}
