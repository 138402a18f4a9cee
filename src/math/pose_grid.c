// SPDX-License-Identifier: MIT
//
// Chebyshev grid along a rod and Gauss elimination over the quaternions. Equation i is
// sum_j y_j a_ij = b_i with coefficients on the right; equation p times f = a_pp^-1 a_ip is
// subtracted from it. A system of m quaternions takes a quarter of the operations of its 4m real
// equations.
#include "math/pose_grid.h"

#include "base/fail.h"
#include "math/magnus.h"
#include "math/quadrature.h"

#include <math.h>
#include <stddef.h>

void snw_grid_points(int n, double *x) {
    SNW_ASSERT(n >= SNW_GRID_LEAST && n <= SNW_GRID_MOST);
    for (int i = 0; i < n; i++) {
        const double s = sin(i * 3.14159265358979323846 / (2 * (n - 1)));
        x[i] = s * s;
    }
}

void snw_grid_row(int n, const double *x, double u, double *row) {
    for (int j = 1; j < n; j++) row[j - 1] = snw_lagrange_integral(n - 1, x + 1, j - 1, u);
}

void snw_grid_make(int n, snw_grid *out) {
    out->n = n;
    snw_grid_points(n, out->x);
    for (int i = 1; i < n; i++) {
        snw_grid_row(n, out->x, out->x[i], out->S + (ptrdiff_t)(i - 1) * (n - 1));
    }
}

void snw_grid_quadrature(int n, double *x, double *w) {
    double all[SNW_GRID_MOST], row[SNW_GRID_MOST];
    snw_grid_points(n, all);
    snw_grid_row(n, all, 1, row);
    for (int i = 0; i < n - 2; i++) x[i] = all[i + 1], w[i] = row[i];
}

// ---- quaternion matrices ------------------------------------------------------------------------

static snw_quat quat_inverse(snw_quat a) {
    const double s = 1 / snw_quat_dot(a, a);
    return (snw_quat){{s * a.w, -s * a.x, -s * a.y, -s * a.z}};
}

static void swap_quats(snw_quat *a, snw_quat *b) {
    const snw_quat c = *a;
    *a = *b;
    *b = c;
}

// Below the diagonal the factors f, on it the inverse pivots.
snw_status snw_grid_factor(int m, const double *S, const snw_quat *k, snw_quat *a, int *pivot) {
    snw_status status = SNW_OK;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            const snw_quat one = {{i == j, 0, 0, 0}};
            a[i * m + j] = snw_quat_axpy(-S[i * m + j], k[j], one);
        }
    }
    for (int p = 0; p < m; p++) {
        int best = p;
        double size = -1;
        for (int i = p; i < m; i++) {
            const double d = snw_quat_dot(a[i * m + p], a[i * m + p]);
            if (d > size) best = i, size = d;
        }
        pivot[p] = best;
        if (!(size > 1e-26)) status = SNW_E_SINGULAR; // the rows of S have sums of up to one
        for (int j = 0; best != p && j < m; j++) swap_quats(&a[p * m + j], &a[best * m + j]);
        const snw_quat inverse = quat_inverse(a[p * m + p]);
        a[p * m + p] = inverse;
        for (int i = p + 1; i < m; i++) {
            const snw_quat f = snw_quat_mul(inverse, a[i * m + p]);
            a[i * m + p] = f;
            for (int j = p + 1; j < m; j++) {
                a[i * m + j] = snw_quat_axpy(-1, snw_quat_mul(a[p * m + j], f), a[i * m + j]);
            }
        }
    }
    return status;
}

// y -= x f, n columns with four rows each
static void subtract_product(int n, const double *restrict x, snw_quat f, double *restrict y) {
    const double *w = x, *a = x + n, *b = a + n, *c = b + n;
    double *to[4] = {y, y + n, y + 2 * (ptrdiff_t)n, y + 3 * (ptrdiff_t)n};
    for (int i = 0; i < n; i++) {
        to[0][i] -= w[i] * f.w - a[i] * f.x - b[i] * f.y - c[i] * f.z;
        to[1][i] -= w[i] * f.x + a[i] * f.w + b[i] * f.z - c[i] * f.y;
        to[2][i] -= w[i] * f.y - a[i] * f.z + b[i] * f.w + c[i] * f.x;
        to[3][i] -= w[i] * f.z + a[i] * f.y - b[i] * f.x + c[i] * f.w;
    }
}

// x <- x f
static void times_quat(int n, snw_quat f, double *x) {
    for (int i = 0; i < n; i++) {
        const snw_quat y =
            snw_quat_mul((snw_quat){{x[i], x[n + i], x[2 * n + i], x[3 * n + i]}}, f);
        for (int e = 0; e < 4; e++) x[e * n + i] = y.e[e];
    }
}

void snw_grid_solve(int m, const snw_quat *a, const int *pivot, int cols, double *b) {
    const ptrdiff_t block = (ptrdiff_t)4 * cols;
    for (int p = 0; p < m; p++) {
        double *at = b + p * block, *from = b + pivot[p] * block;
        for (ptrdiff_t i = 0; from != at && i < block; i++) {
            const double x = at[i];
            at[i] = from[i];
            from[i] = x;
        }
    }
    for (int p = 0; p < m; p++) {
        for (int i = p + 1; i < m; i++)
            subtract_product(cols, b + p * block, a[i * m + p], b + i * block);
    }
    for (int p = m - 1; p >= 0; p--) {
        double *at = b + p * block;
        for (int j = p + 1; j < m; j++) subtract_product(cols, b + j * block, a[p * m + j], at);
        times_quat(cols, a[p * m + p], at);
    }
}

void snw_grid_solve_transposed(int m, const snw_quat *a, const int *pivot, snw_quat *c) {
    for (int p = 0; p < m; p++) {
        for (int i = 0; i < p; i++) {
            const snw_quat x = snw_quat_mul(c[i], snw_quat_conj(a[i * m + p]));
            c[p] = snw_quat_axpy(-1, x, c[p]);
        }
        c[p] = snw_quat_mul(c[p], snw_quat_conj(a[p * m + p]));
    }
    for (int p = m - 1; p >= 0; p--) {
        for (int i = p + 1; i < m; i++) {
            const snw_quat x = snw_quat_mul(c[i], snw_quat_conj(a[i * m + p]));
            c[p] = snw_quat_axpy(-1, x, c[p]);
        }
    }
    for (int p = m - 1; p >= 0; p--) {
        if (pivot[p] != p) swap_quats(&c[p], &c[pivot[p]]);
    }
}

// ---- poses --------------------------------------------------------------------------------------

static snw_quat half_turn(double L, snw_twist xi) {
    return snw_quat_pure(snw_scale(0.5 * L, xi.w));
}

snw_status snw_grid_shape(int m, const double *S, double L, const snw_twist *xi, snw_quat *a,
                          int *pivot, snw_quat *h) {
    for (int j = 0; j < m; j++) h[j] = half_turn(L, xi[j]);
    const snw_status status = snw_grid_factor(m, S, h, a, pivot);
    for (int j = 0; j < m; j++) h[j] = snw_quat_identity();
    snw_grid_solve(m, a, pivot, 1, (double *)(void *)h);
    return status;
}

snw_se3 snw_grid_pose(int m, const double *row, double L, const snw_twist *xi, const snw_quat *h) {
    snw_quat at = snw_quat_identity();
    snw_vec3 p = {{0, 0, 0}};
    for (int j = 0; j < m; j++) {
        at = snw_quat_axpy(row[j], snw_quat_mul(h[j], half_turn(L, xi[j])), at);
        p = snw_add(p, snw_scale(L * row[j], snw_rotate(snw_quat_to_mat3(h[j]), xi[j].v)));
    }
    return (snw_se3){snw_quat_to_mat3(at), p};
}

snw_se3 snw_grid_pose_at(int n, double L, snw_grid_strain strain, const void *user, double x) {
    enum { MOST = SNW_GRID_MOST - 1 };
    snw_grid grid;
    snw_quat a[MOST * MOST], h[MOST];
    snw_twist xi[MOST] = {0};
    int pivot[MOST];
    const int m = n - 1;
    snw_grid_make(n, &grid);
    for (int j = 0; j < m; j++) xi[j] = strain(user, L * grid.x[j + 1]);
    // a grid that is too coarse gives numbers that are not finite or a large error
    (void)!snw_grid_shape(m, grid.S, L, xi, a, pivot, h);
    double row[MOST];
    snw_grid_row(n, grid.x, x / L, row);
    return snw_grid_pose(m, row, L, xi, h);
}

double snw_grid_tip_error(int n, double L, snw_grid_strain strain, const void *user) {
    enum { CUTS = 4, ORDER = 6 };
    double x[SNW_GRID_MOST];
    snw_se3 g = snw_se3_identity();
    snw_grid_points(n, x);
    const double *c = snw_magnus_abscissae(ORDER);
    for (int i = 0; i < CUTS * (n - 1); i++) {
        const double from = L * x[i / CUTS], step = L * (x[i / CUTS + 1] - x[i / CUTS]) / CUTS;
        snw_twist xi[3];
        for (int k = 0; k < 3; k++) xi[k] = strain(user, from + (i % CUTS + c[k]) * step);
        g = snw_se3_mul(g, snw_se3_exp(snw_magnus(ORDER, step, xi)));
    }
    return snw_norm(snw_sub(snw_grid_pose_at(n, L, strain, user, L).p, g.p)) / L;
}
