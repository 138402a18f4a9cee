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

// Fehlberg's pair with the end of the step as an additional stage. ARKODE 6.4 uses any last stage
// at the end of the step as the first stage of the next step; without the additional stage the pair
// would have order 7.
static void set_table(void *ark) {
    const ARKodeButcherTable f = ARKodeButcherTable_LoadERK(ARKODE_FEHLBERG_13_7_8);
    const ARKodeButcherTable t = ARKodeButcherTable_Alloc(14, SUNTRUE);
    if (!f || !t) must(-1, "table");
    t->q = f->q, t->p = f->p;
    for (int i = 0; i < 13; i++) {
        for (int j = 0; j < i; j++) t->A[i][j] = f->A[i][j];
        t->A[13][i] = t->b[i] = f->b[i];
        t->c[i] = f->c[i], t->d[i] = f->d[i];
    }
    t->c[13] = 1;
    must(ERKStepSetTable(ark, t), "table");
    ARKodeButcherTable_Free(f);
    ARKodeButcherTable_Free(t);
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
    set_table(ark);
    must(ERKStepSStolerances(ark, tol, tol), "tolerance");
    must(ERKStepSetMaxNumSteps(ark, 1000000), "step limit");
    must(ERKStepSetMaxErrTestFails(ark, 50), "failure limit");
    must(ERKStepSetStopTime(ark, to), "stop");
    must(ERKStepSetInitStep(ark, 1e-2 * (to - from)), "first step"); // ARKODE guesses 0 at times
    double reached = from;
    must(ERKStepEvolve(ark, to, v, &reached, ARK_NORMAL), "integration");
    long calls = 0;
    must(ERKStepGetNumRhsEvals(ark, &calls), "statistics");
    ERKStepFree(&ark);
    N_VDestroy(v);
    SUNContext_Free(&context);
    return calls;
}
