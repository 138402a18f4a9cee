// SPDX-License-Identifier: MIT
//
// choice.h: what --run and --probe pick out of what there is.
#pragma once

#include "study/record.h"

// chosen <- indices of the runs meant by `wanted`, in the order of `name`; all when nothing is
// wanted. A run is meant by its name, and by the part before a dot: "load" means load.1, load.2,
// ...; one wanted text may be several names between commas. SNW_E_ARGUMENT names the first wanted
// run that does not exist. `chosen` has room for n.
SNW_NODISCARD snw_status snw_choose_runs(int n, const char *const *name, int nwanted,
                                         const char *const *wanted, int *chosen, int *nchosen,
                                         snw_error *err);

// The same for the columns of a run: "tip" means tip.x, tip.y, tip.z.
SNW_NODISCARD snw_status snw_choose_columns(const snw_run_info *info, int nwanted,
                                            const char *const *wanted, int *chosen, int *nchosen,
                                            snw_error *err);

// Worth a line in a short table? Not what says the same again: quaternion and matrix of a rotation,
// which rx, ry and rz tell; nor frequencies behind the sixth.
bool snw_column_is_brief(const snw_column *c);
