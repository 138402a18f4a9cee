// SPDX-License-Identifier: MIT
//
// pose_grid.h: the pose along a rod on one grid of Chebyshev points (spectral numerical
// integration, Gotelli 2024, 3.8), theory.md (3.1d). With g' = g xi^ the quaternion h of a section
// and its position p follow h' = h (0, kappa)/2 and p' = R(h) eps. They are collocated at the m =
// n - 1 points of a grid but the first, where h = 1 and p = 0:
//   h_i = 1 + sum_j S_ij h_j k_j,   k_j = L (0, kappa_j)/2,   p_i = L sum_j S_ij R(h_j) eps_j.
// The first is a linear system over the quaternions, whose coefficients multiply from the right.
#pragma once

#include "math/se3.h"
#include "sinew/status.h"

enum { SNW_GRID_LEAST = 3, SNW_GRID_MOST = 41 }; // points n

// x: n Chebyshev points (1 - cos(i pi/(n - 1)))/2 of [0, 1]. S, (n - 1)^2 row major: integral from
// 0 to x_{i+1} of the polynomial that is 1 at x_{j+1} and 0 at the other points but x_0, the
// inverse of the differentiation matrix without its first row and column.
typedef struct snw_grid {
    int n;
    double x[SNW_GRID_MOST], S[(SNW_GRID_MOST - 1) * (SNW_GRID_MOST - 1)];
} snw_grid;

void snw_grid_points(int n, double *x);
// row (n - 1) <- the integrals of these polynomials from 0 to u in [0, 1], x the n points.
void snw_grid_row(int n, const double *x, double u, double *row);
void snw_grid_make(int n, snw_grid *out);
// x, w (n - 2) <- points between the ends and their weights, with sum 1: the last row of S, whose
// last number is 0. They are positive (the second rule of Fejer), exact for degree n - 3.
void snw_grid_quadrature(int n, double *x, double *w);

// a (m x m), pivot (m) <- factors of y_i - sum_j S_ij y_j k_j = b_i. SNW_E_SINGULAR: the grid is
// too coarse for the turns; solutions are then not finite.
snw_status snw_grid_factor(int m, const double *S, const snw_quat *k, snw_quat *a, int *pivot);
// b <- solution y of `cols` such systems; number c of component e of b_i is b[(4 i + e) cols + c].
void snw_grid_solve(int m, const snw_quat *a, const int *pivot, int cols, double *b);
// c <- y with sum_i y_i conj(a_ij) = c_j, the transposed system of these real numbers.
void snw_grid_solve_transposed(int m, const snw_quat *a, const int *pivot, snw_quat *c);

// h (m) <- quaternions at the points of a rod of length L with the strains xi (m) there, not
// normalised: | |h| - 1 | is of the size of the error. a, pivot: scratch. As snw_grid_factor.
SNW_NODISCARD snw_status snw_grid_shape(int m, const double *S, double L, const snw_twist *xi,
                                        snw_quat *a, int *pivot, snw_quat *h);
// Pose at the place of a row, from the strains and quaternions at the points.
snw_se3 snw_grid_pose(int m, const double *row, double L, const snw_twist *xi, const snw_quat *h);

// Strain at the arc length x.
typedef snw_twist (*snw_grid_strain)(const void *user, double x);

// Pose of the section at x of a rod of length L on n points, relative to its root.
snw_se3 snw_grid_pose_at(int n, double L, snw_grid_strain strain, const void *user, double x);
// Distance of its tip to the tip by the Magnus expansion of order 6 on four slices between
// neighbouring points, over L.
double snw_grid_tip_error(int n, double L, snw_grid_strain strain, const void *user);

static inline snw_quat snw_quat_conj(snw_quat a) {
    const snw_quat r = {{a.w, -a.x, -a.y, -a.z}};
    return r;
}
static inline double snw_quat_dot(snw_quat a, snw_quat b) {
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}
// s a + b
static inline snw_quat snw_quat_axpy(double s, snw_quat a, snw_quat b) {
    const snw_quat r = {{s * a.w + b.w, s * a.x + b.x, s * a.y + b.y, s * a.z + b.z}};
    return r;
}
// (0, v)
static inline snw_quat snw_quat_pure(snw_vec3 v) {
    const snw_quat r = {{0, v.x, v.y, v.z}};
    return r;
}
static inline snw_vec3 snw_quat_vector(snw_quat a) {
    const snw_vec3 r = {{a.x, a.y, a.z}};
    return r;
}
