// SPDX-License-Identifier: MIT
//
// ode_private.h: an integrator of ordinary differential equations, and what computes its steps with
// error control: SUNDIALS in ode_engine.c, or methods of our own in web/ode_engine.c, where
// SUNDIALS is not available.
#pragma once

#include "solve/ode.h"

#include "base/fields.h"

// n components
#define ODE_FIELDS(AT, PACK)                                                                       \
    AT(double, y, n, "present values; used by SUNDIALS during a step")                             \
    PACK(double, accepted, n, "values after the last step")                                        \
    PACK(double, before, n, "values before the advance")                                           \
    PACK(double, atol, n, "absolute tolerances")                                                   \
    PACK(double, k, n, "rates of a stage of RK4 or of a difference")                               \
    PACK(double, sum, n, "RK4: weighted rates")                                                    \
    PACK(double, z, n, "RK4: values at a stage")

// Steps with error control; defined by ode_engine.c.
typedef struct snw_ode_engine snw_ode_engine;

struct snw_ode {
    int n;
    snw_rate_fn *rate;
    void *user;
    snw_ode_opts opts;
    double t, h; // present time, and next step (0: to be estimated)
    ODE_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    snw_ode_stats stats;
    snw_error fault;        // of the rates, since the last accepted step
    char message[256];      // last message of the engine
    snw_ode_engine *engine; // NULL: RK4, or no components
    bool fresh;             // BDF: needs a restart
    bool (*monitor)(void *user, double t, const double *y); // NULL: none
    void *monitor_user;
};

// Reasons for which an advance fails.
typedef enum snw_ode_failure {
    SNW_ODE_MANY_STEPS,
    SNW_ODE_TOO_ACCURATE,
    SNW_ODE_NO_STEP,
    SNW_ODE_OTHER // o->message has it
} snw_ode_failure;

// dy <- rates; a failure is kept in o->fault.
snw_status snw_ode_rates(snw_ode *o, double t, const double *y, double *dy);
// dy/dt by forward differences of the rates; column j begins at J + j * n. `dy` are the rates at y,
// which is changed and restored. The rates do not depend on quadratures.
snw_status snw_ode_differences(snw_ode *o, double t, double *y, const double *dy, double *J);
// One line, with a remedy; an error of the rates is returned as it is.
snw_status snw_ode_explain(snw_ode *o, snw_ode_failure why, double t, snw_error *err);
bool snw_ode_monitor_stops(const snw_ode *o, double t);

// ---- the engine, for RK54, RK87 and BDF
// ----------------------------------------------------------

// o->engine <- memory for all steps. SNW_E_MEMORY; SNW_E_MODEL: this engine does not have the kind.
SNW_NODISCARD snw_status snw_ode_engine_create(snw_ode *o, snw_error *err);
void snw_ode_engine_destroy(snw_ode_engine *e); // NULL is fine
// From o->t, o->y to t. On success o->y, o->h and o->stats are new.
SNW_NODISCARD snw_status snw_ode_advance_pair(snw_ode *o, double t, snw_error *err);
SNW_NODISCARD snw_status snw_ode_advance_bdf(snw_ode *o, double t, double limit, snw_error *err);
