// SPDX-License-Identifier: MIT
//
// plot_map.h: figure of a map of the workspace: poses coloured by their distance to singularity, as
// areas or dots, and the boundary by its kinds.
#pragma once

#include "output/plot.h"
#include "sinew/workspace.h"

// `column`: two names of outputs or inputs of the map; NULL: the two outputs of largest extent, or
// the inputs where there are not two. Points that were not reached are left out. The figure is
// allocated in the pool; the caller sets its size on paper. SNW_E_ARGUMENT: there is no such
// column.
SNW_NODISCARD snw_status snw_plot_map(snw_pool *pool, const snw_workspace *map,
                                      const char *const *column, snw_figure *out, snw_error *err);
