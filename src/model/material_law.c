// SPDX-License-Identifier: MIT
//
// Quintic Hermite interpolation of a law of x, for rods of variable length (theory.md 3.14). The
// nodes of such a rod evaluate laws at material coordinates that change with the free length, and
// the tangent needs third derivatives of the rest strain, which snw_jet does not have. On a piece
// [x0, x0 + h], with u = (x - x0)/h, and d, s the first and second derivatives in u at its ends,
//   f = f0 + d0 u + s0 u^2/2 + (10a - 4b + c/2) u^3 - (15a - 7b + c) u^4 + (6a - 3b + c/2) u^5,
//   a = f1 - f0 - d0 - s0/2,  b = d1 - d0 - s0,  c = s1 - s0.
#include "model/material_law.h"

#include <math.h>

enum { PIECES = 32 }; // per length L

snw_point_derivatives snw_law_material(snw_law law, double x, double L) {
    if (!law) return (snw_point_derivatives){0};
    if (!snw_law_varies(law))
        return (snw_point_derivatives){.v = snw_expr_value(law, (snw_at){.L = L})};
    const double h = L / PIECES, from = L - (floor((L - x) / h) + 1) * h, u = (x - from) / h;
    const snw_jet f0 = snw_expr_jet_x(law, (snw_at){.x = from, .L = L}),
                  f1 = snw_expr_jet_x(law, (snw_at){.x = from + h, .L = L});
    const double d = f0.d * h, s = f0.dd * h * h;
    const double a = f1.v - f0.v - d - s / 2, b = f1.d * h - d - s, c = f1.dd * h * h - s;
    const double c3 = 10 * a - 4 * b + c / 2, c4 = -15 * a + 7 * b - c, c5 = 6 * a - 3 * b + c / 2;
    return (snw_point_derivatives){
        .v = f0.v + u * (d + u * (s / 2 + u * (c3 + u * (c4 + u * c5)))),
        .d = (d + u * (s + u * (3 * c3 + u * (4 * c4 + u * 5 * c5)))) / h,
        .dd = (s + u * (6 * c3 + u * (12 * c4 + u * 20 * c5))) / (h * h),
        .ddd = (6 * c3 + u * (24 * c4 + u * 60 * c5)) / (h * h * h),
    };
}
