// SPDX-License-Identifier: MIT
//
// csv.h: results as comma separated values.
#pragma once

#include "output/sink.h"
#include "results/result.h"

// A line of names, then for each frame of a run a line with `t` and the chosen columns (`column`
// NULL: all). Names are quoted as in RFC 4180 when they need it; numbers read back exactly; lines
// end in \n. SNW_E_IO when the sink fails.
SNW_NODISCARD snw_status snw_csv_write(snw_result *r, int run, int ncolumn, const int *column,
                                       snw_sink sink, snw_error *err);
