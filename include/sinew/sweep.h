// SPDX-License-Identifier: MIT
//
// sweep.h: many runs of one model with other numbers, from a plan (docs/language/sweeps.md), on all
// cores, and the sensitivity of their results.
//
//   snw_sweep_options o = snw_sweep_defaults();
//   snw_sweep_report r;
//   if (snw_sweep_run("finger.sweep.yaml", &o, NULL, &r, &err) == SNW_OK)
//       printf("%lld of %lld rows done\n", (long long)r.done, (long long)r.rows);
//
// Rows are computed by processes of their own, so that one that crashes is a row of the results and
// not the end. The calling process waits, calls hooks and writes the result file.
#pragma once

#include "sinew/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct snw_sweep_options {
    const char *output; // result file; NULL: name of the plan with .h5, in the current folder
    int workers;        // processes; 0: as many as there are processors
    int shard, shards;  // only rows of shard `shard` (from 1) of `shards`; 0: all
    int resume;         // not 0: compute what is missing in an unfinished output
    int force;          // not 0: replace an output of other rows
    const char *engine; // "auto", "packs" or "alone", see below; NULL: "auto"
} snw_sweep_options;

// Engine of the rows. With "auto" the implicit steps of rows are solved in packs of 8 (AVX-512) or
// 4 (AVX2) rows where processor, scheme and model allow it, as in sinew/batch.h: several times
// faster, and the same results to the tolerance of the solver. A row is the same to the last bit
// whatever is computed beside it. "alone": each row as sinew run does, to the last bit. "packs": as
// "auto", but refused where packs do not serve the plan. The result file has the engine of each
// row.

SNW_API snw_sweep_options snw_sweep_defaults(void);

// Rows by their states. `computed` are those of this call, in `seconds` of wall clock; `work` is
// the sum of the times of all rows.
typedef struct snw_sweep_report {
    int64_t rows, done, failed, refused, crashed, waiting, computed;
    int64_t packs; // of all rows, stepped in packs
    double seconds, work;
    int workers;
    int leads; // 0: a rank of MPI other than the first, which has no counts
    // "packs of 8 (AVX-512)" or "alone", and why it is that; the text is constant or empty
    const char *engine;
    char why[160];
    // the first row that failed, was refused or crashed, and its message; -1: none, or not known:
    // rows of other shards, or all were done before
    int64_t bad;
    char message[256];
} snw_sweep_report;

// Hooks; each may be NULL. `user` is passed to both.
typedef struct snw_sweep_hooks {
    void *user;
    // Some ten times a second: rows of this call that are done, failed among them, and all of them;
    // seconds since the first began.
    void (*progress)(void *user, int64_t done, int64_t failed, int64_t all, double seconds);
    // Not 0: end with SNW_E_STOPPED; rows that are done are kept.
    int (*cancel)(void *user);
    // A live table, NULL: none. Rows as workers store them: a line with number, state, first
    // parameters and results, and the heading of such lines. Where rows are quicker than
    // `progress` only the latest; ranks of MPI tell none.
    void (*row)(void *user, const char *heading, const char *line);
} snw_sweep_hooks;

// Compute the rows of a plan into an HDF5 file (docs/results.md). `options`, `hooks` and `report`
// may be NULL. A row that fails is a row of the results. SNW_E_PARSE, SNW_E_MODEL: plan or model;
// SNW_E_ARGUMENT: the output exists, belongs to another plan, or is being computed; SNW_E_IO: it
// cannot be written; SNW_E_STOPPED: cancelled. What was computed is kept, and `resume` goes on.
SNW_API SNW_NODISCARD snw_status snw_sweep_run(const char *plan, const snw_sweep_options *options,
                                               const snw_sweep_hooks *hooks,
                                               snw_sweep_report *report, snw_error *err);

#ifdef __cplusplus
}
#endif
