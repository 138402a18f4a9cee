// SPDX-License-Identifier: MIT
//
// Riccati recursion. The least sum over the steps from n on is x'S x/2 + s'x + constant.
#include "solve/tracking.h"

#include "base/fail.h"
#include "solve/dense.h"

#include <string.h>

size_t snw_tracking_scratch(int nx, int nu) {
    const size_t x = (size_t)nx, u = (size_t)nu;
    return (3 * x * x + 2 * x * u + u * u + 2 * x + u + 16) * sizeof(double) + 1024;
}

// out (m x n) <- A' B with A (k x m), B (k x n)
static void transposed_product(size_t k, size_t m, size_t n, const double *A, const double *B,
                               double *out) {
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < m; i++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++) sum += A[i * k + l] * B[j * k + l];
            out[j * m + i] = sum;
        }
    }
}

// S, s += of the errors e + C x
static void add_errors(const snw_tracking *p, int n, double *S, double *s) {
    const size_t nx = (size_t)p->nx, ny = (size_t)p->ny, at = (size_t)n;
    const double *C = p->C + at * nx * ny, *e = p->e + at * ny;
    for (size_t j = 0; j < nx; j++) {
        for (size_t i = 0; i < nx; i++) {
            for (size_t l = 0; l < ny; l++) S[j * nx + i] += C[i * ny + l] * C[j * ny + l];
        }
        for (size_t l = 0; l < ny; l++) s[j] += C[j * ny + l] * e[l];
    }
}

snw_status snw_tracking_solve(const snw_tracking *p, snw_arena *scratch, double *k, double *K,
                              double *fall) {
    const size_t nx = (size_t)p->nx, nu = (size_t)p->nu, mark = snw_arena_mark(scratch);
    double *S = snw_arena_doubles(scratch, nx * nx), *SA = snw_arena_doubles(scratch, nx * nx);
    double *next = snw_arena_doubles(scratch, nx * nx), *SB = snw_arena_doubles(scratch, nx * nu);
    double *G = snw_arena_doubles(scratch, nx * nu), *H = snw_arena_doubles(scratch, nu * nu);
    double *s = snw_arena_doubles(scratch, nx), *t = snw_arena_doubles(scratch, nx);
    double *h = snw_arena_doubles(scratch, nu); // gradient by the inputs
    snw_status status = SNW_OK;
    memset(S, 0, nx * nx * sizeof *S);
    memset(s, 0, nx * sizeof *s);
    *fall = 0;
    for (int n = p->steps - 1; n >= 0 && status == SNW_OK; n--) {
        const size_t at = (size_t)n;
        const double *A = p->A + at * nx * nx, *B = p->B + at * nx * nu, *u = p->u + at * nu;
        double *kn = k + at * nu, *Kn = K + at * nu * nx;
        add_errors(p, n, S, s);
        transposed_product(nx, nx, nx, S, A, SA); // S is symmetric
        transposed_product(nx, nx, nu, S, B, SB);
        transposed_product(nx, nu, nu, B, SB, H);
        transposed_product(nx, nu, nx, B, SA, Kn);
        transposed_product(nx, nu, 1, B, s, kn);
        const double *change = p->change_weight ? p->change_weight + at * nu : NULL;
        const size_t held = (nx - nu) * nu; // columns of the changes before
        for (size_t i = 0; change && i < nu; i++) Kn[held + i * (nu + 1)] -= change[i];
        memcpy(G, Kn, nu * nx * sizeof *G);
        for (size_t i = 0; i < nu; i++) {
            H[i * (nu + 1)] += p->r[i] + (p->damping ? p->damping[i] : 0);
            kn[i] += p->r[i] * u[i];
            if (p->weight) {
                H[i * (nu + 1)] += p->weight[at * nu + i];
                kn[i] += p->gradient[at * nu + i];
            }
            if (change) {
                H[i * (nu + 1)] += change[i];
                kn[i] += p->change_gradient[at * nu + i];
            }
        }
        memcpy(h, kn, nu * sizeof *h);
        status = snw_cholesky_factor(p->nu, H);
        if (status != SNW_OK) break;
        for (size_t i = 0; i < nu; i++) kn[i] = -kn[i];
        snw_cholesky_solve(p->nu, H, kn);
        for (size_t j = 0; j < nx; j++) {
            for (size_t i = 0; i < nu; i++) Kn[j * nu + i] = -Kn[j * nu + i];
            snw_cholesky_solve(p->nu, H, Kn + j * nu);
        }
        for (size_t i = 0; i < nu; i++) *fall -= 0.5 * h[i] * kn[i];
        // S <- A'S A + G'K, s <- A's + G'k
        transposed_product(nx, nx, nx, A, SA, next);
        transposed_product(nx, nx, 1, A, s, t);
        for (size_t j = 0; j < nx; j++) {
            for (size_t i = 0; i < nx; i++) {
                double sum = next[j * nx + i];
                for (size_t l = 0; l < nu; l++) sum += G[i * nu + l] * Kn[j * nu + l];
                S[j * nx + i] = sum;
            }
            s[j] = t[j];
            for (size_t l = 0; l < nu; l++) s[j] += G[j * nu + l] * kn[l];
        }
        for (size_t i = 0; change && i < nu; i++) {
            const size_t j = nx - nu + i;
            S[j * (nx + 1)] += change[i];
            s[j] -= p->change_gradient[at * nu + i];
        }
        for (size_t j = 0; j < nx; j++) { // rounding
            for (size_t i = 0; i < j; i++)
                S[j * nx + i] = S[i * nx + j] = 0.5 * (S[j * nx + i] + S[i * nx + j]);
        }
    }
    snw_arena_reset(scratch, mark);
    return status;
}
