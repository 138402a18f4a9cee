// SPDX-License-Identifier: MIT
//
// linear_file.h: a linear model as an HDF5 file in memory (docs/results.md).
#pragma once

#include "sinew/linear.h"

// *bytes (to be freed by snw_free), *size <- contents of the file. SNW_E_MEMORY, SNW_E_IO: HDF5
// failed.
SNW_NODISCARD snw_status snw_linear_image(const snw_linear_model *m, void **bytes, size_t *size,
                                          snw_error *err);
