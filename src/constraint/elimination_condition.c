// SPDX-License-Identifier: MIT
//
// Condition number of an eliminated matrix A, bordered by its rows, which has no entries to look
// at: only products with A and solutions. theory.md (4.10)
#include "constraint/elimination_private.h"

#include "constraint/projection.h"
#include "math/vector.h"

#include <math.h>

enum {
    SCALINGS = 3, // changes of the scales
    PROBES = 3,   // vectors of random signs for each
    POWERS = 6    // products, and solutions, that estimate a norm
};

static double random_sign(unsigned long long *seed) {
    return snw_projection_random(seed) < 0 ? -1 : 1;
}

// d (n) <- scales with which rows and columns of D A D have the norm 1. With a vector z of random
// signs the mean of (A D z)_i^2 is the square of the norm of row i of A D.
static void find_scales(snw_elimination *e, snw_tangent_at *at, snw_work *w, int n, double *d,
                        double *x, double *y, double *mean) {
    const snw_model *m = e->m;
    unsigned long long seed = 5;
    for (int i = 0; i < n; i++) d[i] = i < m->nv ? sqrt(m->typical[i] / m->scale[i]) : 1;
    for (int k = 0; k < SCALINGS; k++) {
        for (int i = 0; i < n; i++) mean[i] = 0;
        for (int p = 0; p < PROBES; p++) {
            for (int i = 0; i < n; i++) x[i] = d[i] * random_sign(&seed);
            snw_elimination_product_bordered(e, at, w, x, y);
            at->same_point = true;
            for (int i = 0; i < n; i++) mean[i] += y[i] * y[i] / PROBES;
        }
        for (int i = 0; i < n; i++) {
            const double norm = d[i] * sqrt(mean[i]);
            if (norm > 0 && isfinite(norm)) d[i] /= sqrt(norm);
        }
    }
}

double snw_elimination_condition(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                                 double *scratch) {
    const int n = e->m->nv + (e->has_rows ? e->m->nconstraint : 0);
    if (e->sign == 0 || n == 0) return NAN;
    double *d = scratch, *x = d + n, *y = x + n, *mean = y + n;
    snw_tangent_at here = *at;
    find_scales(e, &here, w, n, d, x, y, mean);
    double norm[2] = {0, 0}; // of D A D and of its inverse: least upper bounds of |B x|/|x|
    unsigned long long seed = 7;
    for (int inverse = 0; inverse < 2; inverse++) {
        for (int i = 0; i < n; i++) x[i] = random_sign(&seed);
        for (int k = 0; k < POWERS; k++) {
            const double before = sqrt(snw_vector_dot(n, x, x));
            for (int i = 0; i < n; i++)
                x[i] = inverse ? x[i] / (before * d[i]) : x[i] * d[i] / before;
            if (inverse) {
                snw_elimination_solve(e, x);
                for (int i = 0; i < n; i++) x[i] /= d[i];
            } else {
                snw_elimination_product_bordered(e, &here, w, x, y);
                for (int i = 0; i < n; i++) x[i] = d[i] * y[i];
            }
            norm[inverse] = fmax(norm[inverse], sqrt(snw_vector_dot(n, x, x)));
        }
    }
    return norm[0] * norm[1];
}
