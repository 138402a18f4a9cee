// SPDX-License-Identifier: MIT
//
// cells.h: fields of a table of comma-separated values. Failures are kept by the sink.
#pragma once

#include "output/sink.h"

void snw_cell_text(const snw_sink *to, const char *text);
void snw_cell_number(const snw_sink *to, double x); // with a comma before it
void snw_cell_comma(const snw_sink *to);
void snw_cell_end(const snw_sink *to);
