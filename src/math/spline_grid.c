// SPDX-License-Identifier: MIT
//
// Tensor products of cubic B-splines on a uniform grid. With the second differences M_i of the
// coefficients c_i, in one coordinate,
//   s_i = c_i + M_i/6,   M_{i-1} + 4 M_i + M_{i+1} = 6 (s_{i-1} - 2 s_i + s_{i+1}),
// and the third derivative is continuous at the second sample when M_0 - 2 M_1 + M_2 = 0, whence
// M_1 = s_0 - 2 s_1 + s_2.
#include "math/spline_grid.h"

#include <math.h>

static double second_difference(const double *s, size_t stride) {
    return s[0] - 2 * s[stride] + s[2 * stride];
}

// Samples in the places 1 to n of a line of n + 2 become its coefficients; scratch: M (n), the
// factors of the tridiagonal matrix (n).
static void fit_line(int n, size_t stride, double *line, double *M, double *factor) {
    double *s = line + stride;
    M[1] = second_difference(s, stride);
    M[n - 2] = second_difference(s + (size_t)(n - 3) * stride, stride);
    double below = 0; // elimination of the rows 2 to n - 3, and substitution
    for (int i = 2; i < n - 2; i++) {
        const double right = 6 * second_difference(s + (size_t)(i - 1) * stride, stride);
        factor[i] = 1 / (4 - below);
        M[i] = (right - M[i - 1] - (i == n - 3 ? M[n - 2] : 0)) * factor[i];
        below = factor[i];
    }
    for (int i = n - 4; i >= 2; i--) M[i] -= factor[i] * M[i + 1];
    M[0] = 2 * M[1] - M[2];
    M[n - 1] = 2 * M[n - 2] - M[n - 3];
    for (int i = 0; i < n; i++) s[(size_t)i * stride] -= M[i] / 6;
    line[0] = M[0] + 2 * s[0] - s[stride];
    s[(size_t)n * stride] =
        M[n - 1] + 2 * s[(size_t)(n - 1) * stride] - s[(size_t)(n - 2) * stride];
}

bool snw_spline_grid_fit(snw_pool *pool, const double *sample, snw_spline_grid *g) {
    const bool plane = g->n[2] == 1;
    size_t size[3], most = 0;
    for (int k = 0; k < 3; k++) {
        size[k] = (size_t)g->n[k] + (k == 2 && plane ? 0 : 2);
        if (size[k] > most) most = size[k];
    }
    double *c = snw_pool_array(pool, size[0] * size[1] * size[2], sizeof *c);
    double *scratch = snw_pool_array(pool, 2 * most, sizeof *scratch);
    if (!c || !scratch) return false;
    const size_t row = size[0], layer = size[0] * size[1], up = plane ? 0 : 1;
    for (size_t k = 0; k < (size_t)g->n[2]; k++) {
        for (size_t j = 0; j < (size_t)g->n[1]; j++) {
            double *line = c + (k + up) * layer + (j + 1) * row;
            for (size_t i = 0; i < (size_t)g->n[0]; i++) line[i + 1] = *sample++;
            fit_line(g->n[0], 1, line, scratch, scratch + most);
        }
        for (size_t i = 0; i < row; i++)
            fit_line(g->n[1], row, c + (k + up) * layer + i, scratch, scratch + most);
    }
    for (size_t i = 0; !plane && i < layer; i++)
        fit_line(g->n[2], layer, c + i, scratch, scratch + most);
    g->c = c;
    return true;
}

// The four B-splines that are not zero at a coordinate: their coefficients, values, first and
// second derivatives.
typedef struct spline_weights {
    size_t at[4];
    double w[3][4];
} spline_weights;

static spline_weights weights_at(const snw_spline_grid *g, int k, double y) {
    const int last = g->n[k] + 1; // coefficient
    const double h = g->step[k];
    double u = (y - g->first[k]) / h;
    // beyond these all four coefficients are the same
    if (!(u > -4)) u = -4;
    if (u > last + 2) u = last + 2;
    const double cell = floor(u), t = u - cell, r = 1 - t;
    spline_weights s = {.w = {{r * r * r / 6, (t * t * (3 * t - 6) + 4) / 6,
                               (t * (3 + t * (3 - 3 * t)) + 1) / 6, t * t * t / 6},
                              {-r * r / 2 / h, t * (3 * t - 4) / 2 / h,
                               (1 + t * (2 - 3 * t)) / 2 / h, t * t / 2 / h},
                              {r / h / h, (3 * t - 2) / h / h, (1 - 3 * t) / h / h, t / h / h}}};
    for (int i = 0; i < 4; i++) {
        const int at = (int)cell + i;
        s.at[i] = (size_t)(at < 0 ? 0 : at > last ? last : at);
    }
    return s;
}

double snw_spline_grid_at(const snw_spline_grid *g, snw_vec3 y, snw_vec3 *slope, snw_mat3 *second) {
    const bool plane = g->n[2] == 1;
    const size_t row = (size_t)g->n[0] + 2, layer = row * ((size_t)g->n[1] + 2);
    const spline_weights X = weights_at(g, 0, y.x), Y = weights_at(g, 1, y.y);
    spline_weights Z = {.w = {{1, 0, 0, 0}}};
    if (!plane) Z = weights_at(g, 2, y.z);
    // d[i][j][k]: i, j, k times differentiated by x, y, z
    double d[3][3][3] = {{{0}}};
    for (int k = 0; k < (plane ? 1 : 4); k++) {
        double e[3][3] = {{0}}; // in this layer, by x and y
        for (int j = 0; j < 4; j++) {
            const double *c = g->c + Z.at[k] * layer + Y.at[j] * row;
            for (int a = 0; a < 3; a++) {
                double sum = 0;
                for (int i = 0; i < 4; i++) sum += X.w[a][i] * c[X.at[i]];
                for (int b = 0; a + b < 3; b++) e[a][b] += Y.w[b][j] * sum;
            }
        }
        for (int a = 0; a < 3; a++) {
            for (int b = 0; a + b < 3; b++) {
                for (int m = 0; a + b + m < 3; m++) d[a][b][m] += Z.w[m][k] * e[a][b];
            }
        }
    }
    *slope = (snw_vec3){{d[1][0][0], d[0][1][0], d[0][0][1]}};
    *second = (snw_mat3){{{d[2][0][0], d[1][1][0], d[1][0][1]},
                          {d[1][1][0], d[0][2][0], d[0][1][1]},
                          {d[1][0][1], d[0][1][1], d[0][0][2]}}};
    return d[0][0][0];
}
