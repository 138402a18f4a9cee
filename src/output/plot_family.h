// SPDX-License-Identifier: MIT
//
// plot_family.h: runs of an `each`, "load.1", "load.2", .., in a figure: their names say the values
// in which they differ, and their pens the order of these values.
#pragma once

#include "output/plot_data.h"

// Names, shades and dashes of the runs that are a family; all other runs keep theirs. Runs of
// several names before the dot keep that name before their values, and all have colours of their
// own.
SNW_NODISCARD snw_status snw_plot_family(snw_pool *pool, int nrun, snw_plot_run *run,
                                         snw_error *err);
