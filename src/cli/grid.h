// SPDX-License-Identifier: MIT
//
// grid.h: rows of text printed in columns that line up.
#pragma once

#include "sinew/status.h"

#include <stdio.h>

typedef struct snw_grid snw_grid;

// `align` has one character per column: 'l' left, 'r' right.
SNW_NODISCARD snw_status snw_grid_create(const char *align, snw_grid **out, snw_error *err);
void snw_grid_destroy(snw_grid *g); // NULL is fine

// Fill the next cell, row by row. Failures (memory) are reported by snw_grid_print.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void snw_grid_cell(snw_grid *g, const char *format, ...);

// A number to so many significant digits; "-" for NaN.
void snw_grid_number(snw_grid *g, int digits, double value);

// Two spaces before, and between columns.
SNW_NODISCARD snw_status snw_grid_print(const snw_grid *g, FILE *out, snw_error *err);
