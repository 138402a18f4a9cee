// SPDX-License-Identifier: MIT
//
// run_numbers.h: numbers of the file that an inverse step found; the following steps have the
// models with them. Nothing is done in studies without such a step, and a study has at most one.
#pragma once

#include "study/run_private.h"

// Memory; numbers of the file as at the start.
SNW_NODISCARD snw_status snw_run_numbers_create(snw_run *r);
// All phases with the numbers of the file again: at the start of an execution.
SNW_NODISCARD snw_status snw_run_numbers_reset(snw_run *r, snw_error *err);
// The present phase <- with these values of the family of inverse step `stage`. SNW_E_MODEL: they
// make other coordinates, nodes or rows. On failure it is as before.
SNW_NODISCARD snw_status snw_run_numbers_set(snw_run *r, int stage, const double *value,
                                             snw_error *err);
// The present phase, after a change or a checkpoint, <- with the values found before.
SNW_NODISCARD snw_status snw_run_numbers_apply(snw_run *r, snw_error *err);
// Their numbers in checkpoints; the place behind them.
size_t snw_run_numbers_size(const snw_run *r);
double *snw_run_numbers_save(const snw_run *r, double *row);
const double *snw_run_numbers_load(snw_run *r, const double *row);
