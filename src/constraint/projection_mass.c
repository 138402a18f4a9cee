// SPDX-License-Identifier: MIT
//
// Cholesky factor of mass matrices that may be singular because links without mass are carried by
// loops: constraint rows are added, then a small inertia of joints (theory.md 3.8, equation 3.8.4).
// For the dense projections of velocities and accelerations.

#include "constraint/projection.h"

#include "base/fail.h"
#include "solve/dense.h"

#include <math.h>

// positive definite, with pivots above rounding
static bool projection_mass_definite(int n, const double *diagonal, double *M) {
    if (snw_cholesky_factor(n, M) != SNW_OK) return false;
    for (int i = 0; i < n; i++) {
        const double pivot = M[(size_t)i * (size_t)(n + 1)];
        if (!(pivot * pivot > 1e-13 * diagonal[i])) return false;
    }
    return true;
}

// M <- symmetric again, from its upper triangle and the saved diagonal
static void restore_lower_triangle(int n, const double *diagonal, double *M) {
    for (int j = 0; j < n; j++) {
        M[(size_t)j * (size_t)(n + 1)] = diagonal[j];
        for (int i = j + 1; i < n; i++) {
            M[(size_t)j * (size_t)n + (size_t)i] = M[(size_t)i * (size_t)n + (size_t)j];
        }
    }
}

static double largest_inertia(const snw_model *m, const double *diagonal) {
    double mu = 0;
    for (int i = 0; i < m->nv; i++) mu = fmax(mu, diagonal[i] * m->typical[i] * m->typical[i]);
    return mu;
}

snw_status snw_mass_factor(const snw_model *m, const double *X, const double *size,
                           double *diagonal, double *M, double *weight, bool *regularised) {
    const int n = m->nv;
    const size_t N = (size_t)n;
    *weight = 0;
    *regularised = false;
    for (size_t i = 0; i < N; i++) diagonal[i] = M[i * (N + 1)];
    if (projection_mass_definite(n, diagonal, M)) return SNW_OK;
    const double mu = largest_inertia(m, diagonal);
    if (!(mu > 0 && mu < INFINITY)) return SNW_E_SINGULAR;
    restore_lower_triangle(n, diagonal, M);
    if (m->nconstraint > 0) {
        *weight = mu;
        for (size_t k = 0; k < (size_t)m->nconstraint; k++) {
            const double f = mu / (size[k] * size[k]);
            for (size_t j = 0; j < N; j++) {
                const double x = f * X[k * N + j];
                for (size_t i = 0; x != 0 && i < N; i++) M[j * N + i] += x * X[k * N + i];
            }
        }
        for (size_t i = 0; i < N; i++) diagonal[i] = M[i * (N + 1)];
        if (projection_mass_definite(n, diagonal, M)) return SNW_OK;
        restore_lower_triangle(n, diagonal, M);
    }
    *regularised = true;
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (!snw_is_joint(m, b)) continue;
        for (int i = b->dof; i < b->dof + b->n; i++) {
            diagonal[i] += 1e-10 * mu / (m->typical[i] * m->typical[i]);
            M[(size_t)i * (N + 1)] = diagonal[i];
        }
    }
    return projection_mass_definite(n, diagonal, M) ? SNW_OK : SNW_E_SINGULAR;
}
