// SPDX-License-Identifier: MIT
//
// Explicit and BDF integration by ARKODE and CVODE of SUNDIALS, and the classical Runge-Kutta
// method, for the explicit integrators. SUNDIALS allocates in its first step, so creation makes it
// take one, of y' = 0. Each advance of a Runge-Kutta kind restarts from (t, y, h): this costs one
// more call of the rates, but neither the shortened step before a stop nor the memory of the
// step-size control affects later steps.

#include "solve/ode.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "solve/rk87.h"

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <float.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

enum { TRIALS = 20 }; // shorter and shorter steps before a failure of the rates is returned

// n components
#define ODE_FIELDS(AT, PACK)                                                                       \
    AT(double, y, n, "present values; used by SUNDIALS during a step")                             \
    PACK(double, accepted, n, "values after the last step")                                        \
    PACK(double, before, n, "values before the advance")                                           \
    PACK(double, atol, n, "absolute tolerances")                                                   \
    PACK(double, k, n, "rates of a stage of RK4 or of a difference")                               \
    PACK(double, sum, n, "RK4: weighted rates")                                                    \
    PACK(double, z, n, "RK4: values at a stage")

struct snw_ode {
    int n;
    snw_rate_fn *rate;
    void *user;
    snw_ode_opts opts;
    double t, h; // present time, and next step (0: to be estimated)
    ODE_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    snw_ode_stats stats;
    bool creating;     // creation: rates are zero
    snw_error fault;   // of the rates, since the last accepted step
    char message[256]; // last message of SUNDIALS
    // SUNDIALS
    SUNContext context;
    N_Vector y_v, atol_v;
    void *ark, *cvode;
    SUNMatrix J;
    SUNLinearSolver dense;
    double reached; // BDF: time of its last step, at or after t
    bool fresh;     // BDF: needs a restart
    bool (*monitor)(void *user, double t, const double *y); // NULL: none
    void *monitor_user;
};

snw_ode_opts snw_ode_defaults(void) {
    return (snw_ode_opts){.kind = SNW_ODE_RK54, .rtol = 1e-6, .max_steps = 10000000};
}

// ---- rates --------------------------------------------------------------------------------------

static snw_status ode_rates(snw_ode *o, double t, const double *y, double *dy) {
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

// rate function for SUNDIALS: positive, try a shorter step; negative, fail
static int sundials_rates(realtype t, N_Vector y, N_Vector dy, void *user) {
    snw_ode *o = user;
    if (o->creating) {
        N_VConst(0, dy);
        return 0;
    }
    const snw_status s = ode_rates(o, t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
    return s == SNW_OK ? 0 : s == SNW_E_STOPPED ? -1 : 1;
}

// Jacobian by forward differences; the rates do not depend on quadratures. CVODE's own version
// allocates in each call.
static int ode_differences(realtype t, N_Vector y_v, N_Vector dy_v, SUNMatrix J, void *user,
                           N_Vector a, N_Vector b, N_Vector c) {
    (void)a, (void)b, (void)c;
    snw_ode *o = user;
    SUNMatZero(J);
    if (o->creating) return 0;
    double *y = N_VGetArrayPointer(y_v);
    const double *dy = N_VGetArrayPointer(dy_v);
    for (int j = 0; j < o->n - o->opts.nquad; j++) {
        const double was = y[j], typical = fmax(fabs(was), o->atol[j] / o->opts.rtol);
        y[j] = was + sqrt(DBL_EPSILON) * typical;
        const double step = y[j] - was;
        const snw_status s = ode_rates(o, t, y, o->k);
        y[j] = was;
        if (s != SNW_OK) return s == SNW_E_STOPPED ? -1 : 1;
        double *column = SUNDenseMatrix_Column(J, j);
        for (int i = 0; i < o->n; i++) column[i] = (o->k[i] - dy[i]) / step;
    }
    return 0;
}

// ---- creation -----------------------------------------------------------------------------------

// messages are stored, not printed
static void ode_store_message(int code, const char *module, const char *function, char *text,
                              void *user) {
    (void)module, (void)function;
    snw_ode *o = user;
    if (code < 0) snprintf(o->message, sizeof o->message, "%s", text);
}

static bool create_rk(snw_ode *o) {
    o->ark = ERKStepCreate(sundials_rates, 0, o->y_v, o->context);
    if (!o->ark) return false;
    int bad = ERKStepSetErrHandlerFn(o->ark, ode_store_message, o) | ERKStepSetUserData(o->ark, o) |
              ERKStepSVtolerances(o->ark, o->opts.rtol, o->atol_v) |
              ERKStepSetMaxErrTestFails(o->ark, 50) | ERKStepSetMaxHnilWarns(o->ark, -1) |
              ERKStepSetMaxStep(o->ark, o->opts.step) | ERKStepSetInterpolantDegree(o->ark, 3);
    if (o->opts.kind == SNW_ODE_RK54) {
        bad |= ERKStepSetTableNum(o->ark, ARKODE_DORMAND_PRINCE_7_4_5);
    } else {
        // the built-in pairs of higher order in ARKODE 6.4 are wrong: a last stage at the end of
        // the step is taken as the first of the next, whatever its weights
        enum { S = SNW_RK87_STAGES };
        ARKodeButcherTable table = ARKodeButcherTable_Alloc(S, SUNTRUE);
        if (!table) return false;
        table->q = 8, table->p = 7;
        for (int i = 0; i < S; i++) memcpy(table->A[i], snw_rk87_A[i], sizeof snw_rk87_A[i]);
        memcpy(table->b, snw_rk87_b, sizeof snw_rk87_b);
        memcpy(table->c, snw_rk87_c, sizeof snw_rk87_c);
        memcpy(table->d, snw_rk87_d, sizeof snw_rk87_d);
        bad |= ERKStepSetTable(o->ark, table);
        ARKodeButcherTable_Free(table);
    }
    double reached;
    return !bad && ERKStepEvolve(o->ark, 1, o->y_v, &reached, ARK_ONE_STEP) >= 0;
}

static bool create_bdf(snw_ode *o) {
    o->cvode = CVodeCreate(CV_BDF, o->context);
    if (!o->cvode) return false;
    o->J = SUNDenseMatrix(o->n, o->n, o->context);
    if (!o->J) return false;
    o->dense = SUNLinSol_Dense(o->y_v, o->J, o->context);
    if (!o->dense) return false;
    double reached;
    return CVodeSetErrHandlerFn(o->cvode, ode_store_message, o) == CV_SUCCESS &&
           CVodeInit(o->cvode, sundials_rates, 0, o->y_v) == CV_SUCCESS &&
           CVodeSetUserData(o->cvode, o) == CV_SUCCESS &&
           CVodeSVtolerances(o->cvode, o->opts.rtol, o->atol_v) == CV_SUCCESS &&
           CVodeSetLinearSolver(o->cvode, o->dense, o->J) == CV_SUCCESS &&
           CVodeSetJacFn(o->cvode, ode_differences) == CV_SUCCESS &&
           CVodeSetMaxHnilWarns(o->cvode, -1) == CV_SUCCESS &&
           CVodeSetMaxErrTestFails(o->cvode, 50) == CV_SUCCESS &&
           CVodeSetMaxStep(o->cvode, o->opts.step) == CV_SUCCESS &&
           CVode(o->cvode, 1, o->y_v, &reached, CV_ONE_STEP) >= 0;
}

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
    if (!o->block) goto no_memory;
    for (int i = 0; i < n; i++) o->atol[i] = opts->atol ? opts->atol[i] : opts->rtol;
    o->opts.atol = o->atol;
    if (opts->kind != SNW_ODE_RK4 && n > 0) {
        if (SUNContext_Create(NULL, &o->context) != 0) goto no_memory;
        o->y_v = N_VMake_Serial(n, o->y, o->context);
        o->atol_v = N_VMake_Serial(n, o->atol, o->context);
        o->creating = true;
        if (!o->y_v || !o->atol_v || !(opts->kind == SNW_ODE_BDF ? create_bdf(o) : create_rk(o))) {
            goto no_memory;
        }
        o->creating = false;
    }
    snw_ode_start(o, 0, o->accepted, 0);
    *out = o;
    return SNW_OK;
no_memory:
    snw_ode_destroy(o);
    return snw_fail(err, SNW_E_MEMORY, "no memory for an integrator of %d components", n);
}

void snw_ode_destroy(snw_ode *o) {
    if (!o) return;
    if (o->ark) ERKStepFree(&o->ark);
    if (o->cvode) CVodeFree(&o->cvode);
    if (o->dense) SUNLinSolFree(o->dense);
    if (o->J) SUNMatDestroy(o->J);
    if (o->y_v) N_VDestroy(o->y_v);
    if (o->atol_v) N_VDestroy(o->atol_v);
    if (o->context) SUNContext_Free(&o->context);
    snw_free(o->block);
    snw_free(o);
}

void snw_ode_start(snw_ode *o, double t, const double *y, double h) {
    SNW_ASSERT(h >= 0);
    o->t = t, o->h = h, o->fresh = true;
    if (y != o->y) memcpy(o->y, y, (size_t)o->n * sizeof *y);
}

// ---- failures -----------------------------------------------------------------------------------

// one line, with a remedy; an error of the rates is returned as it is
static snw_status ode_explain(snw_ode *o, int flag, double t, snw_error *err) {
    if (o->fault.status != SNW_OK) {
        if (err) *err = o->fault;
        return o->fault.status;
    }
    switch (flag) {
    case CV_TOO_MUCH_WORK:
        return snw_fail(
            err, SNW_E_DIVERGED,
            "%ld steps did not suffice, the last at t = %.9g s: the motion is stiff or the "
            "tolerance too small; try method stiff or a larger tolerance",
            o->opts.max_steps, t);
    case CV_TOO_MUCH_ACC:
        return snw_fail(err, SNW_E_DIVERGED,
                        "at t = %.9g s the tolerance %g is below the limit of double precision; "
                        "use a larger one",
                        t, o->opts.rtol);
    case CV_ERR_FAILURE:
    case CV_CONV_FAILURE:
        return snw_fail(err, SNW_E_DIVERGED,
                        "no step is short enough at t = %.9g s for the tolerance %g: an input "
                        "jumps there, or the tolerance is too small",
                        t, o->opts.rtol);
    default:
        return snw_fail(err, SNW_E_DIVERGED, "integration ends at t = %.9g s: %s", t, o->message);
    }
}

_Static_assert(CV_TOO_MUCH_WORK == ARK_TOO_MUCH_WORK && CV_TOO_MUCH_ACC == ARK_TOO_MUCH_ACC &&
                   CV_ERR_FAILURE == ARK_ERR_FAILURE && CV_CONV_FAILURE == ARK_CONV_FAILURE,
               "one list of messages is for both");

// ---- monitor ------------------------------------------------------------------------------------

void snw_ode_set_monitor(snw_ode *o, bool (*step)(void *user, double t, const double *y),
                         void *user) {
    o->monitor = step;
    o->monitor_user = user;
}

static bool monitor_stops(const snw_ode *o, double t) {
    return o->monitor && o->monitor(o->monitor_user, t, o->y);
}

// ---- Runge-Kutta pairs --------------------------------------------------------------------------

// restart from the last accepted values, with the step h (0: estimate)
static void begin_rk(snw_ode *o, double now, double t) {
    memcpy(o->y, o->accepted, (size_t)o->n * sizeof *o->y);
    const int bad = ERKStepSetInitStep(o->ark, o->h) | ERKStepReset(o->ark, now, o->y_v) |
                    ERKStepSetStopTime(o->ark, t);
    SNW_ASSERT(!bad);
    (void)bad;
}

// ARKODE shortens the last step before the stop time and does not report the step it would have
// taken; the previous one is used instead.
static double natural_step(double proposed, double last, double left) {
    return proposed < left * (1 - 1e-9) ? proposed : fmax(proposed, last);
}

static snw_status advance_rk(snw_ode *o, double t, snw_error *err) {
    const size_t size = (size_t)o->n * sizeof *o->y;
    double now = o->t;
    int trials = 0;
    memcpy(o->accepted, o->y, size);
    begin_rk(o, now, t);
    for (long steps = 0; now < t;) {
        if (steps == o->opts.max_steps) return ode_explain(o, ARK_TOO_MUCH_WORK, now, err);
        double reached = now, last = 0, next = 0;
        const int flag = ERKStepEvolve(o->ark, t, o->y_v, &reached, ARK_ONE_STEP);
        (void)ERKStepGetCurrentStep(o->ark, &next);
        if (flag < 0) {
            const bool refused = o->fault.status != SNW_OK && o->fault.status != SNW_E_STOPPED;
            const double shorter = 0.1 * fmin(next > 0 ? next : t - now, t - now);
            if (!refused || trials++ == TRIALS || !(now + shorter > now)) {
                return ode_explain(o, flag, now, err);
            }
            o->h = shorter;
            o->fault.status = SNW_OK;
            begin_rk(o, now, t);
            continue;
        }
        if (!(reached > now)) return ode_explain(o, ARK_ERR_FAILURE, now, err);
        (void)ERKStepGetLastStep(o->ark, &last);
        o->h = flag == ARK_TSTOP_RETURN ? fmax(o->h, last) : natural_step(next, last, t - reached);
        o->stats.steps++, o->stats.last = last;
        o->fault.status = SNW_OK;
        memcpy(o->accepted, o->y, size);
        now = reached, trials = 0, steps++;
        if (now < t && monitor_stops(o, now)) return SNW_OK;
    }
    return SNW_OK;
}

// ---- backward differentiation -------------------------------------------------------------------

// steps may pass t, up to the limit; the solution at t is interpolated by the method's polynomial
static snw_status advance_bdf(snw_ode *o, double t, double limit, snw_error *err) {
    if (o->fresh) {
        const int bad = CVodeReInit(o->cvode, o->t, o->y_v) | CVodeSetInitStep(o->cvode, 0);
        SNW_ASSERT(!bad);
        (void)bad;
        o->reached = o->t;
        o->fresh = false;
    }
    if (o->reached < t && isfinite(limit)) {
        const int flag = CVodeSetStopTime(o->cvode, limit);
        if (flag < 0) return ode_explain(o, flag, o->reached, err);
    }
    for (long steps = 0; o->reached < t; steps++) {
        if (steps == o->opts.max_steps) return ode_explain(o, CV_TOO_MUCH_WORK, o->reached, err);
        const double was = o->reached;
        const int flag = CVode(o->cvode, t, o->y_v, &o->reached, CV_ONE_STEP);
        if (flag < 0) return ode_explain(o, flag, was, err);
        if (!(o->reached > was)) return ode_explain(o, CV_ERR_FAILURE, was, err);
        o->stats.steps++;
        o->fault.status = SNW_OK;
        (void)CVodeGetLastStep(o->cvode, &o->stats.last);
        if (o->reached < t && monitor_stops(o, o->reached)) return SNW_OK;
    }
    (void)CVodeGetCurrentStep(o->cvode, &o->h);
    const int flag = CVodeGetDky(o->cvode, t, 0, o->y_v);
    return flag < 0 ? ode_explain(o, flag, t, err) : SNW_OK;
}

// ---- equal steps --------------------------------------------------------------------------------

static snw_status step_rk4(snw_ode *o, double t, double h) {
    const int n = o->n;
    double *k = o->k, *sum = o->sum, *z = o->z;
    SNW_TRY(ode_rates(o, t, o->y, k));
    for (int i = 0; i < n; i++) sum[i] = k[i], z[i] = o->y[i] + 0.5 * h * k[i];
    SNW_TRY(ode_rates(o, t + 0.5 * h, z, k));
    for (int i = 0; i < n; i++) sum[i] += 2 * k[i], z[i] = o->y[i] + 0.5 * h * k[i];
    SNW_TRY(ode_rates(o, t + 0.5 * h, z, k));
    for (int i = 0; i < n; i++) sum[i] += 2 * k[i], z[i] = o->y[i] + h * k[i];
    SNW_TRY(ode_rates(o, t + h, z, k));
    for (int i = 0; i < n; i++) o->y[i] += h / 6 * (sum[i] + k[i]);
    return SNW_OK;
}

static snw_status advance_rk4(snw_ode *o, double t, snw_error *err) {
    const double span = t - o->t, count = fmax(1, ceil(span / o->opts.step * (1 - 1e-12)));
    if (!(count <= (double)o->opts.max_steps)) return ode_explain(o, CV_TOO_MUCH_WORK, o->t, err);
    const long n = (long)count;
    const double h = span / (double)n;
    for (long i = 0; i < n; i++) {
        const double from = o->t + (double)i * h;
        if (step_rk4(o, from, i == n - 1 ? t - from : h) != SNW_OK)
            return ode_explain(o, 0, from, err);
        o->stats.steps++, o->stats.last = h;
        if (i < n - 1 && monitor_stops(o, from + h)) return SNW_OK;
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
            s = advance_rk(o, t, err);
            break;
        case SNW_ODE_BDF:
            s = advance_bdf(o, t, limit, err);
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
