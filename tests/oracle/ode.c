// SPDX-License-Identifier: MIT
#include "oracle/ode.h"

#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct call {
    oracle_rate *rate;
    void *user;
} call;

static int evaluate(realtype x, N_Vector y, N_Vector dy, void *user) {
    const call *c = user;
    c->rate(c->user, x, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
    return 0;
}

static void must(int flag, const char *what) {
    if (flag >= 0) return;
    fprintf(stderr, "oracle: %s of ARKODE failed with %d\n", what, flag);
    abort();
}

long oracle_ode(int n, oracle_rate *rate, void *user, double from, double to, double tol,
                double *y) {
    call c = {rate, user};
    SUNContext context = NULL;
    must(SUNContext_Create(NULL, &context), "context");
    N_Vector v = N_VMake_Serial(n, y, context);
    void *ark = ERKStepCreate(evaluate, from, v, context);
    if (!v || !ark) must(-1, "creation");
    must(ERKStepSetUserData(ark, &c), "user data");
    must(ERKStepSetTableNum(ark, ARKODE_FEHLBERG_13_7_8), "table");
    must(ERKStepSStolerances(ark, tol, tol), "tolerance");
    must(ERKStepSetMaxNumSteps(ark, 1000000), "step limit");
    must(ERKStepSetMaxErrTestFails(ark, 50), "failure limit");
    must(ERKStepSetStopTime(ark, to), "stop");
    must(ERKStepSetInitStep(ark, 1e-2 * (to - from)), "first step"); // its own guess can vanish
    double reached = from;
    must(ERKStepEvolve(ark, to, v, &reached, ARK_NORMAL), "integration");
    long calls = 0;
    must(ERKStepGetNumRhsEvals(ark, &calls), "statistics");
    ERKStepFree(&ark);
    N_VDestroy(v);
    SUNContext_Free(&context);
    return calls;
}
