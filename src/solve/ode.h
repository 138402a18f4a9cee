// SPDX-License-Identifier: MIT
//
// ode.h: ordinary differential equations y' = f(t, y) with error control: explicit Runge-Kutta
// pairs, BDF for stiff equations, and the classical Runge-Kutta method of order 4 with equal steps.
//
// The next step of a Runge-Kutta kind is a function of (t, y, h) only, where h is the step it would
// take: a run resumed from these numbers is the same to the last bit.
#pragma once

#include "sinew/status.h"

#include <stdbool.h>

typedef struct snw_ode snw_ode;

// dy <- rates at t, y. A status other than SNW_OK, or rates that are not finite, at a trial point
// count as a step that is too long: a shorter one is tried. SNW_E_STOPPED is returned at once.
typedef snw_status snw_rate_fn(void *user, double t, const double *y, double *dy, snw_error *err);

typedef enum snw_ode_kind {
    SNW_ODE_RK4,  // classical, order 4, equal steps
    SNW_ODE_RK54, // Dormand and Prince, order 5, error of order 4
    SNW_ODE_RK87, // Prince and Dormand, order 8, error of order 7: for tolerances below 1e-8
    SNW_ODE_BDF   // backward differentiation, orders 1 to 5, Jacobian by differences
} snw_ode_kind;

typedef struct snw_ode_opts {
    snw_ode_kind kind;  // default RK54
    double rtol;        // default 1e-6
    const double *atol; // n numbers, copied; NULL: rtol for all
    double step;        // longest step, s; others than RK4: 0 for no limit (default)
    int nquad;          // the rates do not depend on the last nquad numbers (default 0)
    long max_steps;     // in one advance, default 10^7
} snw_ode_opts;

typedef struct snw_ode_stats {
    long steps, rates; // accepted steps, calls of the rate function; since creation
    double last;       // length of the last step
} snw_ode_stats;

snw_ode_opts snw_ode_defaults(void);

// Allocates all memory. SNW_E_ARGUMENT for tolerances or steps that are not positive.
SNW_NODISCARD snw_status snw_ode_create(int n, snw_rate_fn *rate, void *user,
                                        const snw_ode_opts *opts, snw_ode **out, snw_error *err);
void snw_ode_destroy(snw_ode *o); // NULL is fine

// Start at y (n numbers), or restart after a jump of y or of its rates. h: first step to try, 0:
// estimated. BDF always estimates it: it restarts with order one, for which the previous step would
// be far too long.
void snw_ode_start(snw_ode *o, double t, const double *y, double h);

// Number of equal steps of rk4, none longer than `step`, in an advance over a time span.
double snw_ode_equal_steps(double step, double span);

// Advance to t exactly. Rates may be evaluated at times up to `limit` >= t, where they may jump,
// and never beyond (INFINITY: no limit); it must be the same in all advances before it. On
// SNW_E_DIVERGED, SNW_E_STOPPED or a status of the rate function nothing has changed; err contains
// the time of the failure.
SNW_NODISCARD snw_status snw_ode_advance(snw_ode *o, double t, double limit, snw_error *err);

// Calls step(user, t, y) after each step of later advances that ends before their end; true: the
// advance ends there with SNW_OK, and snw_ode_start must follow. NULL: no calls.
void snw_ode_set_monitor(snw_ode *o, bool (*step)(void *user, double t, const double *y),
                         void *user);

double snw_ode_time(const snw_ode *o);
const double *snw_ode_y(const snw_ode *o);
double snw_ode_step(const snw_ode *o); // next step it would take, 0: to be estimated
snw_ode_stats snw_ode_statistics(const snw_ode *o);
