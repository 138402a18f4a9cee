// SPDX-License-Identifier: MIT
//
// explain.h: summary of a model description as text and as JSON, for `sinew check`.
#pragma once

#include "model/desc.h"
#include "output/json_field.h"
#include "study/record.h"

// Print the tree of links, loops, loads, probes and steps on standard output. idle (nlink): from
// snw_run_idle_joints. curvature > 0: bound on curvature components, 1/m, for which the lengths of
// slices are judged.
SNW_NODISCARD snw_status snw_explain_print(const snw_desc *d, const snw_run_info *info,
                                           const bool *idle, double curvature);

// Write the same as keys of the open JSON object.
SNW_NODISCARD snw_status snw_explain_json(snw_json *j, const snw_desc *d, const snw_run_info *info,
                                          const bool *idle, double curvature);
