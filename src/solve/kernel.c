// SPDX-License-Identifier: MIT
//
// Projection on the kernel of constraint rows, for the constrained march of statics.
#include "solve/kernel.h"

#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

size_t snw_kernel_scratch(int n, int c) {
    const size_t pad = 64, N = (size_t)n, C = (size_t)c;
    return (2 * N * N + N * C + C) * sizeof(double) + (N + C) * sizeof(int) + 6 * pad +
           snw_qr_scratch(n, n > c ? n : c);
}

snw_kernel snw_kernel_take(int n, int c, snw_arena *arena) {
    const size_t N = (size_t)n, C = (size_t)c;
    return (snw_kernel){.n = n,
                        .c = c,
                        .Ct = snw_arena_doubles(arena, N * C),
                        .tau = snw_arena_doubles(arena, C),
                        .order = snw_arena_ints(arena, C),
                        .A = snw_arena_doubles(arena, N * N),
                        .pivot = snw_arena_ints(arena, N)};
}

void snw_kernel_factor(snw_kernel *k, double tol, snw_arena *arena) {
    k->rank = k->c > 0 ? snw_qr_factor(k->n, k->c, k->Ct, 0, tol, arena, k->tau, k->order) : 0;
}

// block <- the block of k->A on the kernel, columns as long as the block.
static void kernel_block(const snw_kernel *k, double *block) {
    const size_t n = (size_t)k->n, r = (size_t)k->rank, left = n - r;
    for (size_t j = 0; j < left; j++) {
        memcpy(block + j * left, k->A + (r + j) * n + r, left * sizeof *block);
    }
}

bool snw_kernel_is_definite(snw_kernel *k, snw_arena *arena) {
    const int left = k->n - k->rank;
    if (left == 0) return true;
    if (k->c > 0) snw_qr_turn(k->n, k->c, k->Ct, k->tau, k->A, arena);
    const size_t mark = snw_arena_mark(arena);
    double *block = snw_arena_doubles(arena, (size_t)left * (size_t)left);
    kernel_block(k, block);
    const bool is_definite = snw_cholesky_factor(left, block) == SNW_OK;
    snw_arena_reset(arena, mark);
    return is_definite;
}

// y (rank) <- inv(R') b, rows in the order of the factors; k->mismatch of the dependent rows.
static void kernel_rows(snw_kernel *k, const double *b, double *y) {
    const size_t n = (size_t)k->n;
    double size = 0;
    k->mismatch = 0;
    for (int i = 0; i < k->c; i++) size = snw_larger(size, fabs(b[i]));
    for (int i = 0; i < k->c; i++) {
        const double *column = k->Ct + (size_t)i * n; // column i of R
        double sum = b[k->order[i]];
        for (int j = 0; j < i && j < k->rank; j++) sum -= column[j] * y[j];
        if (i < k->rank) {
            y[i] = sum / column[i];
        } else if (size > 0) {
            k->mismatch = snw_larger(k->mismatch, fabs(sum) / size);
        }
    }
}

snw_status snw_kernel_solve(snw_kernel *k, double *f, const double *b, snw_arena *arena, double *x,
                            double *lambda) {
    const size_t n = (size_t)k->n, r = (size_t)k->rank, left = n - r;
    kernel_rows(k, b, x);
    if (k->c > 0) {
        snw_qr_turn(k->n, k->c, k->Ct, k->tau, k->A, arena);
        snw_qr_apply_transposed(k->n, k->c, k->Ct, k->tau, f, arena);
    }
    for (size_t j = 0; j < r; j++) {
        for (size_t i = 0; i < n; i++) f[i] -= k->A[j * n + i] * x[j];
    }
    double *y2 = x + r;
    memcpy(y2, f + r, left * sizeof *f);
    const size_t mark = snw_arena_mark(arena);
    double *block = snw_arena_doubles(arena, left * left);
    kernel_block(k, block);
    const snw_status s = left > 0 ? snw_lu_factor((int)left, block, k->pivot) : SNW_OK;
    if (s == SNW_OK && left > 0) snw_lu_solve((int)left, block, k->pivot, y2);
    snw_arena_reset(arena, mark);
    if (s != SNW_OK) return s;
    for (size_t j = 0; j < left; j++) {
        for (size_t i = 0; i < r; i++) f[i] -= k->A[(r + j) * n + i] * y2[j];
    }
    // R lambda = A_11 y_1 + A_12 y_2 - f_1, which is minus what is left of f_1
    memset(lambda, 0, (size_t)k->c * sizeof *lambda);
    for (size_t i = r; i-- > 0;) {
        double sum = -f[i];
        for (size_t j = i + 1; j < r; j++) sum -= k->Ct[j * n + i] * lambda[k->order[j]];
        lambda[k->order[i]] = sum / k->Ct[i * n + i];
    }
    if (k->c > 0) snw_qr_apply(k->n, k->c, k->Ct, k->tau, x, arena);
    return SNW_OK;
}
