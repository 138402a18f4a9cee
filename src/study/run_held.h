// SPDX-License-Identifier: MIT
//
// run_held.h: inputs that inverse steps found and the following steps of a run hold. Nothing is
// done in studies without inverse steps.
#pragma once

#include "study/run_private.h"

// Memory, and all solvers of the run read it; after they are created.
SNW_NODISCARD snw_status snw_run_held_create(snw_run *r);
void snw_run_held_destroy(snw_run *r);
// Nothing is held: at the start of an execution.
void snw_run_held_reset(snw_run *r);
// At the end of a step they are kept; a step that begins from there takes them again.
void snw_run_held_keep(snw_run *r, int stage);
void snw_run_held_resume(snw_run *r, int stage);
// A change gives actuators and loads back to their laws.
void snw_run_held_release(snw_run *r, const snw_step_desc *change);
// Their numbers in checkpoints; the place behind them.
size_t snw_run_held_size(const snw_run *r);
double *snw_run_held_save(const snw_run *r, double *row);
const double *snw_run_held_load(snw_run *r, const double *row);
