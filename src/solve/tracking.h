// SPDX-License-Identifier: MIT
//
// tracking.h: linear least squares over a chain of steps, by a Riccati recursion: changes d of the
// inputs u that minimise
//
//     sum_(n = 1..N) |e_n + C_n x_n|^2 / 2 + sum_(n = 0..N-1) sum_i r_i (u_n + d_n)_i^2 / 2,
//     x_(n+1) = A_n x_n + B_n d_n,   x_0 = 0
//
// as d_n = k_n + K_n x_n. Matrices by columns, steps one behind the other. Terms of each input and
// of its change from step to step may be added, such as those of limits (solve/tracking_limits.h):
//
//     g_n d_n + w_n d_n^2 / 2 + c_n (d_n - d_(n-1)) + v_n (d_n - d_(n-1))^2 / 2,   d_(-1) = 0
//
// The last nu states are then d_(n-1): their rows of B are a unit matrix.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"

typedef struct snw_tracking {
    int steps, nx, nu, ny;
    const double *A, *B; // of the steps 0 to N - 1
    const double *C, *e; // of the ends of the steps, 1 to N
    const double *u;     // nu by steps
    const double *r;     // nu, positive
    // nu: sum of damping_i (d_n)_i^2 / 2 is added, which keeps the changes small; NULL: nothing
    const double *damping;
    // nu by steps, further terms; NULL: none. With changes, the states hold d_(n-1).
    const double *weight, *gradient, *change_weight, *change_gradient;
} snw_tracking;

size_t snw_tracking_scratch(int nx, int nu);

// k (nu by steps), K (nu x nx by steps) <- the solution; *fall <- decrease of the sum. Cost: of the
// order of steps nx^3. SNW_E_SINGULAR: a matrix is not finite.
SNW_NODISCARD snw_status snw_tracking_solve(const snw_tracking *p, snw_arena *scratch, double *k,
                                            double *K, double *fall);
