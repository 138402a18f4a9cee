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
    X(SNW_SWEEP_ROW_CRASHED, "crashed", "its process ended without a result when tried again")

typedef enum snw_sweep_row_state {
#define X(state, name, meaning) state,
    SNW_SWEEP_ROW_STATES(X)
#undef X
        SNW_SWEEP_ROW_STATE_COUNT
} snw_sweep_row_state;

extern const char *const snw_sweep_row_state_name[SNW_SWEEP_ROW_STATE_COUNT];

// Engine that stepped a row: identifier, word in the result file, meaning.
#define SNW_SWEEP_ENGINES(X)                                                                       \
    X(SNW_SWEEP_ALONE, "alone", "by itself, as sinew run")                                         \
    X(SNW_SWEEP_PACKS, "packs", "implicit steps in packs, the rest by itself")

typedef enum snw_sweep_engine {
#define X(engine, name, meaning) engine,
    SNW_SWEEP_ENGINES(X)
#undef X
        SNW_SWEEP_ENGINE_COUNT
} snw_sweep_engine;

extern const char *const snw_sweep_engine_name[SNW_SWEEP_ENGINE_COUNT];

// A computed row. Arrays belong to the computer of the rows until its next row.
typedef struct snw_sweep_row {
    int64_t row;
    snw_sweep_row_state state;
    snw_sweep_engine engine;
    double seconds;       // wall clock; of rows in packs their share
    const double *result; // nresult; NaN where the row has none
    int nframe;           // of the series
    const double *series; // nframe x (1 + columns of the series): time, values
    const char *message;  // why it failed or was refused; of a checked row its first warning
} snw_sweep_row;

typedef struct snw_sweep_row_computer snw_sweep_row_computer;

// Read the model of a plan and check it: parameters, results and series must exist, units must
// agree. The plan must outlive the computer; units of its parameters are completed. `engine`: rows
// are stepped in packs where these serve them, or each alone.
SNW_NODISCARD snw_status snw_sweep_row_computer_open(snw_sweep_plan *plan, snw_sweep_engine engine,
                                                     snw_sweep_row_computer **out, snw_error *err);
void snw_sweep_row_computer_close(snw_sweep_row_computer *c); // NULL is fine

// Columns of the series, "tip.x"; they belong to the computer.
int snw_sweep_row_columns(const snw_sweep_row_computer *c);
const char *snw_sweep_row_column(const snw_sweep_row_computer *c, int i);

// SI unit of result i; empty for plain numbers and where it is not known.
const char *snw_sweep_row_unit(const snw_sweep_row_computer *c, int i);

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

// Number of rows that are best computed at once: those of a pack, else 1.
int snw_sweep_row_lanes(const snw_sweep_row_computer *c);
// The packs, "packs of 8 (AVX-512)"; NULL: rows are computed alone, *why <- the reason in words.
const char *snw_sweep_row_packs(const snw_sweep_row_computer *c, const char **why);

// Compute n rows, at most snw_sweep_row_lanes; out: n. The numbers of a row depend neither on the
// others nor on their order. A row that fails is an outcome, not an error. stop (NULL: never) is
// asked between increments; SNW_E_STOPPED then.
SNW_NODISCARD snw_status snw_sweep_rows_compute(snw_sweep_row_computer *c, int n,
                                                const int64_t *row, bool (*stop)(void *user),
                                                void *user, snw_sweep_row *out, snw_error *err);
