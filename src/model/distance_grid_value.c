// SPDX-License-Identifier: MIT
//
// Signed distance from a mesh by its spline on a grid (distance_grid.c), for graphics processors
// too.
#include "model/distance_grid.h"

#include <math.h>

double snw_distance_grid_at(const snw_distance_grid *g, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    snw_vec3 inner = y, beyond = {{0}};
    double out = 0;
    for (int i = 0; i < 3; i++) {
        const double low = g->grid.first[i], high = low + g->grid.step[i] * (g->grid.n[i] - 1);
        if (y.e[i] < low) inner.e[i] = low;
        if (y.e[i] > high) inner.e[i] = high;
        out += (y.e[i] - inner.e[i]) * (y.e[i] - inner.e[i]);
        beyond.e[i] = fmax(0, fmax(g->low.e[i] - y.e[i], y.e[i] - g->high.e[i]));
    }
    const double value = snw_spline_grid_at(&g->grid, inner, n, H);
    if (!(out > 0)) {
        if (!(snw_norm(*n) > 0)) *n = (snw_vec3){{0, 0, 1}}; // in a middle any direction will do
        return value;
    }
    const double size = sqrt(out);
    *n = snw_scale(1 / size, snw_sub(y, inner));
    *H = (snw_mat3){{{0}}};
    return fmax(snw_norm(beyond), value - size);
}
