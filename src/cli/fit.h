// SPDX-License-Identifier: MIT
//
// fit.h: the two uses of `sinew fit`, each of which returns the exit status, and the file of values
// found.
#pragma once

#include "cli/args.h"
#include "cli/job.h"

// --find: parameters of a model from measured values of its probes.
int snw_fit_values(const snw_args *args, snw_reply *reply);

// --shape: generalised coordinates of a rod from points measured along it.
int snw_fit_shape(const snw_args *args, snw_reply *reply);

// Check that a file at `output` can include this model. SNW_E_IO when its folder does not exist.
SNW_NODISCARD snw_status snw_fit_can_name(const char *model, const char *output, snw_error *err);
// Write a model file that includes the model and overrides its runs by `set`. Its head says by what
// the values were found.
SNW_NODISCARD snw_status snw_fit_write(const snw_job *job, int nset, const char *const *set,
                                       const char *by, const char *output, snw_error *err);
