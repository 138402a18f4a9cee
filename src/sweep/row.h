// SPDX-License-Identifier: MIT
//
// row.h: computes rows of a sweep: the model with the values of a row is read again from the parsed
// file, compiled and run, and the results of the plan are evaluated on its frames.
#pragma once

#include "sweep/plan.h"

#include <stdbool.h>

// State of a row: identifier, word in the result file, meaning.
#define SNW_SWEEP_ROW_STATES(X)                                                                    \
    X(SNW_SWEEP_ROW_WAITING, "waiting", "not computed yet")                                        \
    X(SNW_SWEEP_ROW_DONE, "done", "computed")                                                      \
    X(SNW_SWEEP_ROW_FAILED, "failed", "the study of the row failed")                               \
    X(SNW_SWEEP_ROW_REFUSED, "refused", "the model does not take these values")                    \
    X(SNW_SWEEP_ROW_CRASHED, "crashed", "its process ended twice without a result")

typedef enum snw_sweep_row_state {
#define X(state, name, meaning) state,
    SNW_SWEEP_ROW_STATES(X)
#undef X
        SNW_SWEEP_ROW_STATE_COUNT
} snw_sweep_row_state;

extern const char *const snw_sweep_row_state_name[SNW_SWEEP_ROW_STATE_COUNT];

// A computed row. Arrays belong to the computer of the rows until its next row.
typedef struct snw_sweep_row {
    int64_t row;
    snw_sweep_row_state state;
    double seconds;       // wall clock
    const double *result; // nresult; NaN where the row has none
    int nframe;           // of the series
    const double *series; // nframe x (1 + columns of the series): time, values
    const char *message;  // why it failed or was refused; of a checked row its first warning
} snw_sweep_row;

typedef struct snw_sweep_row_computer snw_sweep_row_computer;

// Read the model of a plan and check it: parameters, results and series must exist, units must
// agree. The plan must outlive the computer; units of its parameters are completed.
SNW_NODISCARD snw_status snw_sweep_row_computer_open(snw_sweep_plan *plan,
                                                     snw_sweep_row_computer **out, snw_error *err);
void snw_sweep_row_computer_close(snw_sweep_row_computer *c); // NULL is fine

// Columns of the series, "tip.x"; they belong to the computer.
int snw_sweep_row_columns(const snw_sweep_row_computer *c);
const char *snw_sweep_row_column(const snw_sweep_row_computer *c, int i);

// The plan of the rows.
const snw_sweep_plan *snw_sweep_row_plan(const snw_sweep_row_computer *c);

// Text of the model as stored in results, and a hash of all that determines the results: plan,
// model, tables.
const char *snw_sweep_row_model_text(const snw_sweep_row_computer *c);
uint64_t snw_sweep_row_identity(const snw_sweep_row_computer *c);
// SNW_E_ARGUMENT when `output` is a file of the model.
SNW_NODISCARD snw_status snw_sweep_row_refuse_output(const snw_sweep_row_computer *c,
                                                     const char *output, snw_error *err);

// Every row of this number is checked: its discretisation errors are estimated as by `sinew run`,
// and its first warning is kept as its message. Other rows have no warnings.
#define SNW_SWEEP_CHECKED 256

// From now on all rows are compiled by themselves with all estimates, for comparison.
void snw_sweep_row_computer_fresh(snw_sweep_row_computer *c);
// Did the last row take numbers from rows before?
bool snw_sweep_row_reuses(const snw_sweep_row_computer *c);

// Compute a row. A row that fails is an outcome, not an error. stop (NULL: never) is asked between
// increments; SNW_E_STOPPED then.
SNW_NODISCARD snw_status snw_sweep_row_compute(snw_sweep_row_computer *c, int64_t row,
                                               bool (*stop)(void *user), void *user,
                                               snw_sweep_row *out, snw_error *err);
