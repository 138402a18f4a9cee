// SPDX-License-Identifier: MIT
//
// Limits of a sequence of inputs by an interior-point method.
#include "solve/tracking_limits.h"

#include <math.h>

static const double kept = 0.01, // part of a slack that a step leaves
    inside = 0.01,               // of the range: distance from limits at the start
    near = 1e-3,                 // distance from a limit that holds
    apart = 1e3;                 // largest ratio of z and mu/slack

enum { LOW, HIGH, FALL, RISE };

static size_t at(const snw_tracking_limits *l, int n, int i) {
    return (size_t)n * (size_t)l->nu + (size_t)i;
}

static double input_before(const snw_tracking_limits *l, const double *u, int n, int i) {
    return n > 0 ? u[at(l, n - 1, i)] : l->before[i];
}

// slack (4) <- distances of input i of step n from its limits; INFINITY: no limit
static void slacks(const snw_tracking_limits *l, const double *u, int n, int i, double *slack) {
    const double x = u[at(l, n, i)], d = x - input_before(l, u, n, i);
    slack[LOW] = x - l->low[i];
    slack[HIGH] = l->high[i] - x;
    slack[FALL] = l->change[i] + d;
    slack[RISE] = l->change[i] - d;
}

size_t snw_limits_count(const snw_tracking_limits *l) {
    size_t n = 0;
    for (int i = 0; i < l->nu; i++)
        n += (size_t)(isfinite(l->low[i]) + isfinite(l->high[i]) + 2 * isfinite(l->change[i]));
    return n * (size_t)l->steps;
}

int snw_limits_contradiction(const snw_tracking_limits *l) {
    for (int i = 0; i < l->nu; i++) {
        const bool none = !(l->low[i] < l->high[i]) || !(l->change[i] > 0);
        const bool far =
            l->before[i] - l->change[i] >= l->high[i] || l->before[i] + l->change[i] <= l->low[i];
        if (none || far) return i;
    }
    return -1;
}

void snw_limits_enter(const snw_tracking_limits *l, double *u) {
    for (int i = 0; i < l->nu; i++) {
        const double low = l->low[i], high = l->high[i], most = (1 - inside) * l->change[i];
        double size = high - low; // of the range; with one limit, of the inputs
        if (!isfinite(size)) {
            const double from = isfinite(low) ? low : isfinite(high) ? high : 0;
            size = fabs(from);
            for (int n = 0; n < l->steps; n++) size = fmax(size, fabs(u[at(l, n, i)] - from));
            if (!(size > 0)) size = 1;
        }
        for (int n = 0; n < l->steps; n++) {
            double *x = &u[at(l, n, i)];
            const double before = input_before(l, u, n, i);
            *x = fmin(fmax(*x, low + inside * size), high - inside * size);
            if (isfinite(most)) *x = fmin(fmax(*x, before - most), before + most);
        }
    }
}

void snw_limits_begin(snw_tracking_limits *l, const double *u) {
    double slack[SNW_TRACKING_SIDES];
    for (int n = 0; n < l->steps; n++) {
        for (int i = 0; i < l->nu; i++) {
            slacks(l, u, n, i, slack);
            for (int k = 0; k < SNW_TRACKING_SIDES; k++) l->z[k][at(l, n, i)] = l->mu / slack[k];
        }
    }
}

void snw_limits_weigh(snw_tracking_limits *l, const double *u) {
    double slack[SNW_TRACKING_SIDES];
    for (int n = 0; n < l->steps; n++) {
        for (int i = 0; i < l->nu; i++) {
            const size_t k = at(l, n, i);
            slacks(l, u, n, i, slack);
            l->weight[k] = l->z[LOW][k] / slack[LOW] + l->z[HIGH][k] / slack[HIGH];
            l->gradient[k] = l->mu / slack[HIGH] - l->mu / slack[LOW];
            l->change_weight[k] = l->z[FALL][k] / slack[FALL] + l->z[RISE][k] / slack[RISE];
            l->change_gradient[k] = l->mu / slack[RISE] - l->mu / slack[FALL];
        }
    }
}

double snw_limits_barrier(const snw_tracking_limits *l, const double *u) {
    double sum = 0, slack[SNW_TRACKING_SIDES];
    for (int n = 0; n < l->steps; n++) {
        for (int i = 0; i < l->nu; i++) {
            slacks(l, u, n, i, slack);
            for (int k = 0; k < SNW_TRACKING_SIDES; k++) {
                if (!(slack[k] > 0)) return INFINITY;
                if (isfinite(slack[k])) sum -= log(slack[k]);
            }
        }
    }
    return sum;
}

double snw_limits_clip(const snw_tracking_limits *l, const double *u, int n, int i, double previous,
                       double x) {
    double slack[SNW_TRACKING_SIDES];
    slacks(l, u, n, i, slack);
    const double change = l->change[i];
    // constant inputs stay possible: at most a part of the change is kept
    const double fall = fmin(slack[FALL], change), rise = fmin(slack[RISE], change);
    double low = l->low[i] + (isfinite(slack[LOW]) ? kept * slack[LOW] : 0);
    double high = l->high[i] - (isfinite(slack[HIGH]) ? kept * slack[HIGH] : 0);
    if (isfinite(change)) {
        low = fmax(low, previous - change + kept * fall);
        high = fmin(high, previous + change - kept * rise);
    }
    return fmin(fmax(x, low), high);
}

bool snw_limits_hold(const snw_tracking_limits *l, const double *u, int n, int i) {
    double slack[SNW_TRACKING_SIDES];
    slacks(l, u, n, i, slack);
    double range = l->high[i] - l->low[i];
    if (!isfinite(range)) range = fabs(isfinite(l->low[i]) ? l->low[i] : l->high[i]);
    if (!isfinite(range) || range == 0) range = 1;
    return fmin(slack[LOW], slack[HIGH]) < near * range ||
           fmin(slack[FALL], slack[RISE]) < near * l->change[i];
}

void snw_limits_update(snw_tracking_limits *l, const double *u, const double *next, double part) {
    double before[SNW_TRACKING_SIDES], after[SNW_TRACKING_SIDES];
    double most = 1; // part of the step of z that leaves it positive
    for (int pass = 0; pass < 2; pass++) {
        for (int n = 0; n < l->steps; n++) {
            for (int i = 0; i < l->nu; i++) {
                slacks(l, u, n, i, before);
                slacks(l, next, n, i, after);
                for (int k = 0; k < SNW_TRACKING_SIDES; k++) {
                    double *z = &l->z[k][at(l, n, i)];
                    if (!isfinite(after[k])) continue;
                    const double move = (after[k] - before[k]) / part;
                    const double step = l->mu / before[k] - *z - *z / before[k] * move;
                    if (pass == 0) {
                        if (step < 0) most = fmin(most, -(1 - kept) * *z / step);
                        continue;
                    }
                    const double centre = l->mu / after[k];
                    *z = fmin(fmax(*z + most * step, centre / apart), centre * apart);
                }
            }
        }
    }
}
