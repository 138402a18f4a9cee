// SPDX-License-Identifier: MIT
//
// material_law.h: section, material and rest-strain laws of rods of variable length, as functions
// of the material coordinate x, theory.md 3.14.
#pragma once

#include "model/desc.h"

// Value and first three derivatives in x.
typedef struct snw_point_derivatives {
    double v, d, dd, ddd;
} snw_point_derivatives;

// Does the law depend on x?
static inline bool snw_law_varies(snw_law law) {
    return law && (snw_expr_vars(law) & SNW_VAR_X) != 0;
}

// Law at x, which may lie outside of [0, L], interpolated by quintic polynomials on pieces of
// length L/32 counted from the tip. They match value, first and second derivative of the law at the
// ends of the pieces; discontinuities of the law are smoothed over one piece.
snw_point_derivatives snw_law_material(snw_law law, double x, double L);
