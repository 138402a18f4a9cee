// SPDX-License-Identifier: MIT
//
// material_law.h: laws of the arc length x of a rod that travel with its material, theory.md 3.14.
#pragma once

#include "model/desc.h"

// A value and its first three derivatives in x.
typedef struct snw_point_derivatives {
    double v, d, dd, ddd;
} snw_point_derivatives;

// Does a law vary along a rod?
static inline bool snw_law_varies(snw_law law) {
    return law && (snw_expr_vars(law) & SNW_VAR_X) != 0;
}

// A law at x, which may lie outside of 0 to L, as polynomials of degree five on pieces of L/32,
// counted from the tip: value, slope and second derivative at their ends are the law's, so that it
// is smooth where the law has kinks or jumps.
snw_point_derivatives snw_law_material(snw_law law, double x, double L);
