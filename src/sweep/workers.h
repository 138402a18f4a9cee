// SPDX-License-Identifier: MIT
//
// workers.h: workers of one machine. They are processes, since HDF5 and the reader of models serve
// one thread at a time, and since a row that crashes must not end the others. They share a counter
// of rows. A row whose process dies is tried once more, alone, and some times where it was killed;
// if that dies too, it is a crashed row.
#pragma once

#include "sinew/sweep.h"
#include "sweep/queue.h"

// Totals of the rows that were computed.
typedef struct snw_sweep_done {
    int64_t done, failed;
    double seconds; // wall clock
} snw_sweep_done;

// Compute all rows to be done with n workers. SNW_E_STOPPED: hooks asked for it.
SNW_NODISCARD snw_status snw_sweep_workers(snw_sweep_row_computer *c, const snw_sweep_parts *parts,
                                           const snw_sweep_todo *todo, int n,
                                           const snw_sweep_hooks *hooks, snw_sweep_done *out,
                                           snw_error *err);
