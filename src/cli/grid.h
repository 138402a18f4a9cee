// SPDX-License-Identifier: MIT
//
// grid.h: text tables with aligned columns.
#pragma once

#include "sinew/status.h"

#include <stdio.h>

typedef struct snw_grid snw_grid;

// `align` has one character per column: 'l' left, 'r' right. It must outlive the grid.
SNW_NODISCARD snw_status snw_grid_create(const char *align, snw_grid **out, snw_error *err);
void snw_grid_destroy(snw_grid *g); // NULL is fine

// Append the next cell, row by row. Lack of memory is reported by snw_grid_print.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void snw_grid_cell(snw_grid *g, const char *format, ...);

// Append a number with this many significant digits; "-" for NaN.
void snw_grid_number(snw_grid *g, int digits, double value);

// Print the table, with two spaces before each column.
SNW_NODISCARD snw_status snw_grid_print(const snw_grid *g, FILE *out, snw_error *err);
