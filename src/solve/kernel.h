// SPDX-License-Identifier: MIT
//
// kernel.h: linear equations with constraint rows, solved by projection on the kernel of the rows:
//   [A  -C'; C  0] (x, lambda) = (f, b),   A n x n, C c x n.
// With Q R P' = C' the pivoted QR factors, x = Q y: R' y_1 = P' b, and the rest of y, on the
// kernel, solves the block of Q'A Q there. Rows that depend on others are left out: their lambda is
// zero. The result does not depend on the basis of the kernel.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"

#include <stdbool.h>

typedef struct snw_kernel {
    int n, c;
    int rank;        // independent rows
    double *Ct;      // n x c column major: in C', out its QR factors
    double *tau;     // c
    int *order;      // c: rows in the order of the factors, the independent ones first
    double *A;       // n x n column major: in A, out Q'A Q with factors of its last block
    int *pivot;      // n
    double mismatch; // largest relative difference of a dependent row from its right-hand side
} snw_kernel;

// Bytes that snw_kernel_take and the functions below take from an arena.
size_t snw_kernel_scratch(int n, int c);
snw_kernel snw_kernel_take(int n, int c, snw_arena *arena);

// k->Ct <- factors of C', k->rank <- its rank: rows shorter than tol times the longest count as
// dependent.
void snw_kernel_factor(snw_kernel *k, double tol, snw_arena *arena);

// Is the symmetric matrix k->A positive definite on the kernel? After snw_kernel_factor; overwrites
// k->A.
bool snw_kernel_is_definite(snw_kernel *k, snw_arena *arena);

// x (n), lambda (c) from f (n) and b (c), after snw_kernel_factor; overwrites k->A and f.
// SNW_E_SINGULAR when A is singular on the kernel.
SNW_NODISCARD snw_status snw_kernel_solve(snw_kernel *k, double *f, const double *b,
                                          snw_arena *arena, double *x, double *lambda);
