// SPDX-License-Identifier: MIT
//
// Mass matrices that may be singular: links without mass that loops hold.
#include "constraint/projection.h"

#include "base/fail.h"
#include "solve/dense.h"

#include <math.h>

// positive definite, and not by rounding only
static bool projection_mass_definite(int n, const double *diagonal, double *M) {
    if (snw_cholesky_factor(n, M) != SNW_OK) return false;
    for (int i = 0; i < n; i++) {
        const double pivot = M[(size_t)i * (size_t)(n + 1)];
        if (!(pivot * pivot > 1e-13 * diagonal[i])) return false;
    }
    return true;
}

// the upper triangle is as it was
static void restore(int n, const double *diagonal, double *M) {
    for (int j = 0; j < n; j++) {
        M[(size_t)j * (size_t)(n + 1)] = diagonal[j];
        for (int i = j + 1; i < n; i++) {
            M[(size_t)j * (size_t)n + (size_t)i] = M[(size_t)i * (size_t)n + (size_t)j];
        }
    }
}

static double heaviest(const snw_model *m, const double *diagonal) {
    double mu = 0;
    for (int i = 0; i < m->nv; i++) mu = fmax(mu, diagonal[i] * m->typical[i] * m->typical[i]);
    return mu;
}

snw_status snw_mass_factor(const snw_model *m, const double *X, const double *size,
                           double *diagonal, double *M, double *weight, bool *soft) {
    const int n = m->nv;
    const size_t N = (size_t)n;
    *weight = 0;
    *soft = false;
    for (size_t i = 0; i < N; i++) diagonal[i] = M[i * (N + 1)];
    if (projection_mass_definite(n, diagonal, M)) return SNW_OK;
    const double mu = heaviest(m, diagonal);
    if (!(mu > 0 && mu < INFINITY)) return SNW_E_SINGULAR;
    restore(n, diagonal, M);
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
        restore(n, diagonal, M);
    }
    *soft = true;
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
