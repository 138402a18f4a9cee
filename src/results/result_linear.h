// SPDX-License-Identifier: MIT
//
// result_linear.h: linear models in a result file: for each linearize step of a run a group
// linear/STEP with the layout of a linear model's own file (results/linear_file.h). Its datasets
// are empty until the step is done.
#pragma once

#include "sinew/linear.h"
#include "study/record.h"

#include <hdf5.h>

#define SNW_LAYOUT_LINEAR "linear"

// Create the empty groups of a run in its group; false with HDF5's error stack set.
bool snw_layout_create_linear(hid_t run, const snw_run_info *info);
// Write the model of a step of this name.
bool snw_layout_write_linear(hid_t run, const char *step, const snw_linear_model *m);
