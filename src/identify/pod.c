// SPDX-License-Identifier: MIT
//
// Proper orthogonal decomposition by the singular values of the weighted snapshots.
#include "identify/pod.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/function_set.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static const double RANK = 1e-12; // singular value over the largest, below which it is rounding

// Index of the first point with a weight.
static int first_point(int npoint, const double *w) {
    int k = 0;
    while (k < npoint - 1 && !(w[k] > 0)) k++;
    return k;
}

// A (nsnapshot x npoint) <- transposed weighted snapshots: the decomposition that LAPACK makes of
// it has the square of the number of points as its largest array, not that of the snapshots.
static void weighted_rows(int npoint, const double *w, int nsnapshot, const double *e, double *A) {
    for (int j = 0; j < nsnapshot; j++) {
        for (int k = 0; k < npoint; k++)
            A[(size_t)k * (size_t)nsnapshot + (size_t)j] =
                sqrt(w[k]) * e[(size_t)j * (size_t)npoint + (size_t)k];
    }
}

snw_status snw_pod(int npoint, const double *w, int nsnapshot, const double *e, double *sigma,
                   double *C, int *rank) {
    const size_t np = (size_t)npoint, ns = (size_t)nsnapshot, least = np < ns ? np : ns;
    const int first = first_point(npoint, w);
    double *A = snw_alloc((np * ns + ns * least + np * np) * sizeof *A);
    snw_arena scratch = {.size = snw_svd_scratch(nsnapshot, npoint)};
    scratch.base = snw_alloc(scratch.size);
    snw_status s = A && scratch.base ? SNW_OK : SNW_E_MEMORY;
    if (s == SNW_OK) {
        double *U = A + np * ns, *Vt = U + ns * least;
        weighted_rows(npoint, w, nsnapshot, e, A);
        s = snw_svd(nsnapshot, npoint, A, &scratch, U, sigma, Vt);
        *rank = 0;
        for (size_t i = 0; s == SNW_OK && i < least; i++) {
            const bool counts = sigma[i] > RANK * sigma[0];
            *rank += counts;
            double value = 0; // at the first point
            for (size_t j = 0; j < ns; j++) {
                C[i * ns + j] = counts ? U[i * ns + j] / sigma[i] : 0;
                value += C[i * ns + j] * e[j * np + (size_t)first];
            }
            for (size_t j = 0; value < 0 && j < ns; j++) C[i * ns + j] *= -1;
        }
    }
    snw_free(scratch.base);
    snw_free(A);
    return s;
}

void snw_pod_functions(int npoint, int nsnapshot, const double *e, int n, const double *C,
                       double *phi) {
    const size_t np = (size_t)npoint, ns = (size_t)nsnapshot;
    memset(phi, 0, np * (size_t)n * sizeof *phi);
    for (size_t i = 0; i < (size_t)n; i++) {
        for (size_t j = 0; j < ns; j++) {
            for (size_t k = 0; k < np; k++) phi[i * np + k] += C[i * ns + j] * e[j * np + k];
        }
    }
}

void snw_pod_project(int npoint, const double *w, int n, const double *phi, const double *e,
                     double *missing, double *whole) {
    *missing = *whole = 0;
    for (int k = 0; k < npoint; k++) *whole += w[k] * e[k] * e[k];
    // the difference is formed at the points, since differences of squares would lose half the
    // digits
    double part[SNW_FUNCTION_SET_MOST];
    SNW_ASSERT(n <= SNW_FUNCTION_SET_MOST);
    for (int i = 0; i < n; i++) {
        part[i] = 0;
        for (int k = 0; k < npoint; k++)
            part[i] += w[k] * phi[(size_t)i * (size_t)npoint + (size_t)k] * e[k];
    }
    for (int k = 0; k < npoint; k++) {
        double d = e[k];
        for (int i = 0; i < n; i++) d -= part[i] * phi[(size_t)i * (size_t)npoint + (size_t)k];
        *missing += w[k] * d * d;
    }
}
