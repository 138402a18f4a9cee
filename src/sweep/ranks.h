// SPDX-License-Identifier: MIT
//
// ranks.h: workers on many machines: the ranks of a program started by mpirun. Rank 0 leads: it
// gives out rows in small lots as they are asked for, and computes none; all others compute.
// OpenMPI is loaded only when the program was started by it.
#pragma once

#include "sweep/workers.h"

typedef struct snw_sweep_ranks snw_sweep_ranks;

// *out <- the ranks, or NULL when this process is alone. SNW_E_IO: started by mpirun, and MPI
// cannot be used.
SNW_NODISCARD snw_status snw_sweep_ranks_open(snw_sweep_ranks **out, snw_error *err);
bool snw_sweep_ranks_leads(const snw_sweep_ranks *r);
int snw_sweep_ranks_workers(const snw_sweep_ranks *r);

// Rank 0: give out all rows to be done.
SNW_NODISCARD snw_status snw_sweep_ranks_lead(snw_sweep_ranks *r, const snw_sweep_todo *todo,
                                              const snw_sweep_hooks *hooks, snw_sweep_done *out,
                                              snw_error *err);
// The others: compute rows until there are no more.
SNW_NODISCARD snw_status snw_sweep_ranks_follow(snw_sweep_ranks *r, snw_sweep_row_computer *c,
                                                const snw_sweep_parts *parts, snw_error *err);
// End MPI; NULL is fine. Called by all ranks, also after a failure: those that wait are released.
void snw_sweep_ranks_close(snw_sweep_ranks *r);
