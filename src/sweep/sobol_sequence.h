// SPDX-License-Identifier: MIT
//
// sobol_sequence.h: Sobol' sequence with the direction numbers of Joe and Kuo (2008), in the order
// of the Gray code. Any point is found by itself.
#pragma once

#include <stdint.h>

enum { SNW_SOBOL_DIMENSIONS = 200, SNW_SOBOL_BITS = 52, SNW_SOBOL_DEGREES = 11 };

// Table of sobol_table.c.
extern const uint8_t snw_sobol_degree_last[SNW_SOBOL_DEGREES];
extern const uint16_t snw_sobol_initial[];

// direction (SNW_SOBOL_BITS) <- direction numbers of a dimension from 0, as fractions of 2^52.
void snw_sobol_directions(int dimension, uint64_t *direction);

// Coordinate of point `index` (below 2^52) in 1/2^52, from the direction numbers.
uint64_t snw_sobol_coordinate(const uint64_t *direction, uint64_t index);
