// SPDX-License-Identifier: MIT
//
// linear_write.h: files of linear models: MATLAB, HDF5, CSV, by the ending of their names.
#pragma once

#include "sinew/linear.h"

// SNW_E_ARGUMENT unless the name ends in .mat, .h5 or .csv.
SNW_NODISCARD snw_status snw_linear_format_check(const char *path, snw_error *err);
SNW_NODISCARD snw_status snw_linear_write(const snw_linear_model *m, const char *path,
                                          snw_error *err);
