// SPDX-License-Identifier: MIT
//
// Explicit and BDF integration by ARKODE and CVODE of SUNDIALS. SUNDIALS allocates in its first
// step, so creation makes it take one, of y' = 0. Each advance of a Runge-Kutta kind restarts from
// (t, y, h): this costs one more call of the rates, but neither the shortened step before a stop
// nor the memory of the step-size control affects later steps.
#include "solve/ode_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/rk87.h"

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

enum { TRIALS = 20 }; // shorter and shorter steps before a failure of the rates is returned

struct snw_ode_engine {
    bool creating; // creation: rates are zero
    SUNContext context;
    N_Vector y_v, atol_v;
    void *ark, *cvode;
    SUNMatrix J;
    SUNLinearSolver dense;
    double reached; // BDF: time of its last step, at or after t
};

// ---- rates --------------------------------------------------------------------------------------

// rate function for SUNDIALS: positive, try a shorter step; negative, fail
static int sundials_rates(realtype t, N_Vector y, N_Vector dy, void *user) {
    snw_ode *o = user;
    if (o->engine->creating) {
        N_VConst(0, dy);
        return 0;
    }
    const snw_status s = snw_ode_rates(o, t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
    return s == SNW_OK ? 0 : s == SNW_E_STOPPED ? -1 : 1;
}

// CVODE's own differences allocate in each call
static int sundials_differences(realtype t, N_Vector y, N_Vector dy, SUNMatrix J, void *user,
                                N_Vector a, N_Vector b, N_Vector c) {
    (void)a, (void)b, (void)c;
    snw_ode *o = user;
    SUNMatZero(J);
    if (o->engine->creating) return 0;
    const snw_status s = snw_ode_differences(o, t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy),
                                             SUNDenseMatrix_Data(J));
    return s == SNW_OK ? 0 : s == SNW_E_STOPPED ? -1 : 1;
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
    o->engine->ark = ERKStepCreate(sundials_rates, 0, o->engine->y_v, o->engine->context);
    if (!o->engine->ark) return false;
    int bad = ERKStepSetErrHandlerFn(o->engine->ark, ode_store_message, o) |
              ERKStepSetUserData(o->engine->ark, o) |
              ERKStepSVtolerances(o->engine->ark, o->opts.rtol, o->engine->atol_v) |
              ERKStepSetMaxErrTestFails(o->engine->ark, 50) |
              ERKStepSetMaxHnilWarns(o->engine->ark, -1) |
              ERKStepSetMaxStep(o->engine->ark, o->opts.step) |
              ERKStepSetInterpolantDegree(o->engine->ark, 3);
    if (o->opts.kind == SNW_ODE_RK54) {
        bad |= ERKStepSetTableNum(o->engine->ark, ARKODE_DORMAND_PRINCE_7_4_5);
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
        bad |= ERKStepSetTable(o->engine->ark, table);
        ARKodeButcherTable_Free(table);
    }
    double reached;
    return !bad && ERKStepEvolve(o->engine->ark, 1, o->engine->y_v, &reached, ARK_ONE_STEP) >= 0;
}

static bool create_bdf(snw_ode *o) {
    o->engine->cvode = CVodeCreate(CV_BDF, o->engine->context);
    if (!o->engine->cvode) return false;
    o->engine->J = SUNDenseMatrix(o->n, o->n, o->engine->context);
    if (!o->engine->J) return false;
    o->engine->dense = SUNLinSol_Dense(o->engine->y_v, o->engine->J, o->engine->context);
    if (!o->engine->dense) return false;
    double reached;
    return CVodeSetErrHandlerFn(o->engine->cvode, ode_store_message, o) == CV_SUCCESS &&
           CVodeInit(o->engine->cvode, sundials_rates, 0, o->engine->y_v) == CV_SUCCESS &&
           CVodeSetUserData(o->engine->cvode, o) == CV_SUCCESS &&
           CVodeSVtolerances(o->engine->cvode, o->opts.rtol, o->engine->atol_v) == CV_SUCCESS &&
           CVodeSetLinearSolver(o->engine->cvode, o->engine->dense, o->engine->J) == CV_SUCCESS &&
           CVodeSetJacFn(o->engine->cvode, sundials_differences) == CV_SUCCESS &&
           CVodeSetMaxHnilWarns(o->engine->cvode, -1) == CV_SUCCESS &&
           CVodeSetMaxErrTestFails(o->engine->cvode, 50) == CV_SUCCESS &&
           CVodeSetMaxStep(o->engine->cvode, o->opts.step) == CV_SUCCESS &&
           CVode(o->engine->cvode, 1, o->engine->y_v, &reached, CV_ONE_STEP) >= 0;
}

snw_status snw_ode_engine_create(snw_ode *o, snw_error *err) {
    snw_ode_engine *e = o->engine = snw_alloc(sizeof *e);
    bool good = e && SUNContext_Create(NULL, &e->context) == 0;
    if (good) {
        e->y_v = N_VMake_Serial(o->n, o->y, e->context);
        e->atol_v = N_VMake_Serial(o->n, o->atol, e->context);
        e->creating = true;
        good = e->y_v && e->atol_v && (o->opts.kind == SNW_ODE_BDF ? create_bdf(o) : create_rk(o));
        e->creating = false;
    }
    if (good) return SNW_OK;
    return snw_fail(err, SNW_E_MEMORY, "no memory for an integrator of %d components", o->n);
}

void snw_ode_engine_destroy(snw_ode_engine *e) {
    if (!e) return;
    if (e->ark) ERKStepFree(&e->ark);
    if (e->cvode) CVodeFree(&e->cvode);
    if (e->dense) SUNLinSolFree(e->dense);
    if (e->J) SUNMatDestroy(e->J);
    if (e->y_v) N_VDestroy(e->y_v);
    if (e->atol_v) N_VDestroy(e->atol_v);
    if (e->context) SUNContext_Free(&e->context);
    snw_free(e);
}

// ---- failures -----------------------------------------------------------------------------------

static snw_status explain_flag(snw_ode *o, int flag, double t, snw_error *err) {
    switch (flag) {
    case CV_TOO_MUCH_WORK:
        return snw_ode_explain(o, SNW_ODE_MANY_STEPS, t, err);
    case CV_TOO_MUCH_ACC:
        return snw_ode_explain(o, SNW_ODE_TOO_ACCURATE, t, err);
    case CV_ERR_FAILURE:
    case CV_CONV_FAILURE:
        return snw_ode_explain(o, SNW_ODE_NO_STEP, t, err);
    default:
        return snw_ode_explain(o, SNW_ODE_OTHER, t, err);
    }
}

_Static_assert(CV_TOO_MUCH_WORK == ARK_TOO_MUCH_WORK && CV_TOO_MUCH_ACC == ARK_TOO_MUCH_ACC &&
                   CV_ERR_FAILURE == ARK_ERR_FAILURE && CV_CONV_FAILURE == ARK_CONV_FAILURE,
               "one list of reasons is for both");

// ---- Runge-Kutta pairs --------------------------------------------------------------------------

// restart from the last accepted values, with the step h (0: estimate)
static void begin_rk(snw_ode *o, double now, double t) {
    memcpy(o->y, o->accepted, (size_t)o->n * sizeof *o->y);
    const int bad = ERKStepSetInitStep(o->engine->ark, o->h) |
                    ERKStepReset(o->engine->ark, now, o->engine->y_v) |
                    ERKStepSetStopTime(o->engine->ark, t);
    SNW_ASSERT(!bad);
    (void)bad;
}

// ARKODE shortens the last step before the stop time and does not report the step it would have
// taken; the previous one is used instead.
static double natural_step(double proposed, double last, double left) {
    return proposed < left * (1 - 1e-9) ? proposed : fmax(proposed, last);
}

snw_status snw_ode_advance_pair(snw_ode *o, double t, snw_error *err) {
    const size_t size = (size_t)o->n * sizeof *o->y;
    double now = o->t;
    int trials = 0;
    memcpy(o->accepted, o->y, size);
    begin_rk(o, now, t);
    for (long steps = 0; now < t;) {
        if (steps == o->opts.max_steps) return explain_flag(o, ARK_TOO_MUCH_WORK, now, err);
        double reached = now, last = 0, next = 0;
        const int flag = ERKStepEvolve(o->engine->ark, t, o->engine->y_v, &reached, ARK_ONE_STEP);
        (void)ERKStepGetCurrentStep(o->engine->ark, &next);
        if (flag < 0) {
            const bool refused = o->fault.status != SNW_OK && o->fault.status != SNW_E_STOPPED;
            const double shorter = 0.1 * fmin(next > 0 ? next : t - now, t - now);
            if (!refused || trials++ == TRIALS || !(now + shorter > now)) {
                return explain_flag(o, flag, now, err);
            }
            o->h = shorter;
            o->fault.status = SNW_OK;
            begin_rk(o, now, t);
            continue;
        }
        if (!(reached > now)) return explain_flag(o, ARK_ERR_FAILURE, now, err);
        (void)ERKStepGetLastStep(o->engine->ark, &last);
        o->h = flag == ARK_TSTOP_RETURN ? fmax(o->h, last) : natural_step(next, last, t - reached);
        o->stats.steps++, o->stats.last = last;
        o->fault.status = SNW_OK;
        memcpy(o->accepted, o->y, size);
        now = reached, trials = 0, steps++;
        if (now < t && snw_ode_monitor_stops(o, now)) return SNW_OK;
    }
    return SNW_OK;
}

// ---- backward differentiation -------------------------------------------------------------------

// steps may pass t, up to the limit; the solution at t is interpolated by the method's polynomial
snw_status snw_ode_advance_bdf(snw_ode *o, double t, double limit, snw_error *err) {
    if (o->fresh) {
        const int bad = CVodeReInit(o->engine->cvode, o->t, o->engine->y_v) |
                        CVodeSetInitStep(o->engine->cvode, 0);
        SNW_ASSERT(!bad);
        (void)bad;
        o->engine->reached = o->t;
        o->fresh = false;
    }
    if (o->engine->reached < t && isfinite(limit)) {
        const int flag = CVodeSetStopTime(o->engine->cvode, limit);
        if (flag < 0) return explain_flag(o, flag, o->engine->reached, err);
    }
    for (long steps = 0; o->engine->reached < t; steps++) {
        if (steps == o->opts.max_steps)
            return explain_flag(o, CV_TOO_MUCH_WORK, o->engine->reached, err);
        const double was = o->engine->reached;
        const int flag =
            CVode(o->engine->cvode, t, o->engine->y_v, &o->engine->reached, CV_ONE_STEP);
        if (flag < 0) return explain_flag(o, flag, was, err);
        if (!(o->engine->reached > was)) return explain_flag(o, CV_ERR_FAILURE, was, err);
        o->stats.steps++;
        o->fault.status = SNW_OK;
        (void)CVodeGetLastStep(o->engine->cvode, &o->stats.last);
        if (o->engine->reached < t && snw_ode_monitor_stops(o, o->engine->reached)) return SNW_OK;
    }
    (void)CVodeGetCurrentStep(o->engine->cvode, &o->h);
    const int flag = CVodeGetDky(o->engine->cvode, t, 0, o->engine->y_v);
    return flag < 0 ? explain_flag(o, flag, t, err) : SNW_OK;
}
