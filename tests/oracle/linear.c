// SPDX-License-Identifier: MIT
#include "oracle/linear.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void *oracle_alloc(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        fputs("oracle: out of memory\n", stderr);
        abort();
    }
    return p;
}

void oracle_factor(int n, double *A, int *pivot) {
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) {
            if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
        }
        pivot[k] = p;
        if (!(fabs(A[p * n + k]) > 0)) {
            fprintf(stderr, "oracle: singular matrix, column %d of %d\n", k, n);
            abort();
        }
        for (int j = 0; p != k && j < n; j++) {
            const double t = A[k * n + j];
            A[k * n + j] = A[p * n + j];
            A[p * n + j] = t;
        }
        for (int i = k + 1; i < n; i++) {
            const double f = A[i * n + k] /= A[k * n + k];
            for (int j = k + 1; f != 0 && j < n; j++) A[i * n + j] -= f * A[k * n + j];
        }
    }
}

void oracle_solve(int n, const double *A, const int *pivot, int nrhs, double *b) {
    for (int c = 0; c < nrhs; c++) {
        for (int k = 0; k < n; k++) {
            const double t = b[pivot[k] * nrhs + c];
            b[pivot[k] * nrhs + c] = b[k * nrhs + c];
            b[k * nrhs + c] = t;
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) b[i * nrhs + c] -= A[i * n + j] * b[j * nrhs + c];
        }
        for (int i = n - 1; i >= 0; i--) {
            for (int j = i + 1; j < n; j++) b[i * nrhs + c] -= A[i * n + j] * b[j * nrhs + c];
            b[i * nrhs + c] /= A[i * n + i];
        }
    }
}

double oracle_size(size_t n, const double *x) {
    double s = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(x[i]) <= s)) s = fabs(x[i]);
    }
    return s;
}

double oracle_distance(size_t n, const double *x, const double *y) {
    double s = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs(x[i] - y[i]);
        if (!(d <= s)) s = d;
    }
    return s;
}
