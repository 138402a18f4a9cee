// SPDX-License-Identifier: MIT
//
// dense.c: the functions of LAPACK that the shooting engine needs, written out, for number types
// that LAPACK does not have.
#include "solve/dense.h"

#include "shoot/single.h"

#include <math.h>

static void exchange(double *a, double *b) {
    const double x = *a;
    *a = *b;
    *b = x;
}

snw_status snw_lu_factor(int n, double *A, int *pivot) {
    for (int k = 0; k < n; k++) {
        double *column = A + k * n;
        pivot[k] = k;
        for (int i = k + 1; i < n; i++) {
            if (fabs(column[i]) > fabs(column[pivot[k]])) pivot[k] = i;
        }
        for (int j = 0; j < n; j++) exchange(&A[j * n + k], &A[j * n + pivot[k]]);
        if (!(fabs(column[k]) > 0)) return SNW_E_SINGULAR;
        for (int i = k + 1; i < n; i++) {
            column[i] /= column[k];
            for (int j = k + 1; j < n; j++) A[j * n + i] -= column[i] * A[j * n + k];
        }
    }
    return SNW_OK;
}

void snw_lu_solve(int n, const double *LU, const int *pivot, double *x) {
    for (int k = 0; k < n; k++) exchange(&x[k], &x[pivot[k]]);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] -= LU[j * n + i] * x[j];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= LU[j * n + i] * x[j];
        x[i] /= LU[i * n + i];
    }
}

void snw_lu_solve_transposed(int n, const double *LU, const int *pivot, double *x) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] -= LU[i * n + j] * x[j];
        x[i] /= LU[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= LU[i * n + j] * x[j];
    }
    for (int k = n - 1; k >= 0; k--) exchange(&x[k], &x[pivot[k]]);
}

snw_status snw_cholesky_factor(int n, double *A) {
    for (int k = 0; k < n; k++) {
        for (int i = k; i < n; i++) {
            for (int j = 0; j < k; j++) A[k * n + i] -= A[j * n + i] * A[j * n + k];
        }
        if (!(A[k * n + k] > 0)) return SNW_E_SINGULAR;
        A[k * n + k] = sqrt(A[k * n + k]);
        for (int i = k + 1; i < n; i++) A[k * n + i] /= A[k * n + k];
    }
    return SNW_OK;
}

void snw_cholesky_solve(int n, const double *L, double *x) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] -= L[j * n + i] * x[j];
        x[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= L[i * n + j] * x[j];
        x[i] /= L[i * n + i];
    }
}

// The minimiser is not compiled with such numbers.
snw_status snw_single_solve(snw_boundary *b, snw_boundary_info *info) {
    (void)b;
    (void)info;
    return SNW_E_DIVERGED;
}
