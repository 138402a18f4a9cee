// SPDX-License-Identifier: MIT
//
// choice.h: selection of runs by --run and of columns by --probe.
#pragma once

#include "study/record.h"

// chosen (n) <- indices of the runs selected by `wanted`, in the order of `name`; all when nwanted
// is 0. A run is selected by its name or by the part before a dot: "load" selects load.1, load.2,
// ... Each wanted text may be a list of names separated by commas. SNW_E_ARGUMENT when a wanted run
// does not exist.
SNW_NODISCARD snw_status snw_choose_runs(int n, const char *const *name, int nwanted,
                                         const char *const *wanted, int *chosen, int *nchosen,
                                         snw_error *err);

// The same for the columns of a run: "tip" selects tip.x, tip.y, tip.z.
SNW_NODISCARD snw_status snw_choose_columns(const snw_run_info *info, int nwanted,
                                            const char *const *wanted, int *chosen, int *nchosen,
                                            snw_error *err);

// Is the column shown in short tables? Excluded are the quaternion and the matrix of a rotation,
// which repeat rx, ry and rz, and frequencies after the sixth.
bool snw_column_is_brief(const snw_column *c);
