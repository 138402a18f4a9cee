// SPDX-License-Identifier: MIT
//
// show.h: computes chosen rows of a sweep again, with all frames, into a result file, for drawings
// of their robots. Plan and model are those stored with the results.
#pragma once

#include "results/sweep_file.h"

// rows (room for `most`) <- rows of a table to be shown: all that are done, or of more than `most`
// those with the least and the greatest value of each result, then others at even distances. They
// rise. Returns their number.
int snw_sweep_show_choose(const snw_sweep_table *t, int most, int64_t *rows);

// Compute n rows by `workers` threads and write them to `output`, as runs "row 17". stop (NULL:
// never) is asked between increments. A row that fails keeps its frames. SNW_E_PARSE: a row does
// not exist, is not done, or needs files that are not there.
SNW_NODISCARD snw_status snw_sweep_show_write(const snw_sweep_table *t, const char *path, int n,
                                              const int64_t *rows, int workers,
                                              bool (*stop)(void *user), void *user,
                                              const char *output, snw_error *err);
