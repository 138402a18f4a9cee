// SPDX-License-Identifier: MIT
//
// special_points.h: tables of the special points of paths, for `sinew run` and `sinew show`.
#pragma once

#include "output/json_field.h"
#include "results/result.h"
#include "study/special_table.h"

// Print a table; `step` heads its first column. Nothing if it is empty.
SNW_NODISCARD snw_status snw_special_print(const snw_special_table *table, const char *step,
                                           snw_error *err);
// Objects of the points, in an open list; `step` is one of their fields.
void snw_special_json(snw_json *j, const snw_special_table *table, const char *step);

// The points recorded in stage `stage` of a run of a file, without the names of their modes; to be
// freed by snw_special_free, also after a failure.
SNW_NODISCARD snw_status snw_special_read(snw_result *file, int run, int stage,
                                          snw_special_table *out, snw_error *err);
void snw_special_free(snw_special_table *table);
