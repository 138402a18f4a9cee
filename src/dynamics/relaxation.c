// SPDX-License-Identifier: MIT
//
// Generalised Maxwell material of rods (theory.md 2.5): forces of the branches, their tangent,
// energy and heat. Part of the recursion, for packs of robots too.
#include "dynamics/relaxation_branch.h"

#include "base/number.h"

double snw_relaxation_heat(const snw_model *m, const snw_state *before, const snw_state *after,
                           double h) {
    double sum = 0;
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        for (int k = 0; k < rod->nbranch; k++) {
            const double *K = branch_stiffness(rod, k);
            double square = 0;
            for (int i = 0; i < rod->ndof; i++) {
                const double di =
                    branch_strain(rod, k, i, after) - branch_strain(rod, k, i, before);
                for (int j = 0; j < rod->ndof; j++) {
                    square += di * K[(size_t)i * (size_t)rod->ndof + (size_t)j] *
                              (branch_strain(rod, k, j, after) - branch_strain(rod, k, j, before));
                }
            }
            sum += rod->relaxation_time[k] / h * square;
        }
    }
    return sum;
}

// Sum over the branches of row i of K_k a_k.
static double branch_force(const snw_rod *rod, int i, const snw_state *s) {
    double sum = 0;
    for (int k = 0; k < rod->nbranch; k++) {
        const double *K = branch_stiffness(rod, k) + (size_t)i * (size_t)rod->ndof;
        for (int j = 0; j < rod->ndof; j++) sum += K[j] * branch_strain(rod, k, j, s);
    }
    return sum;
}

void snw_relaxation_add(const snw_model *m, const snw_state *s, snw_work *w) {
    for (int i = 0; i < m->nbranch; i++) w->follow[i] = s->follow[i];
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        for (int i = 0; rod->nbranch && i < rod->ndof; i++)
            w->r[rod->dof0 + i] -= branch_force(rod, i, s);
    }
}

double snw_relaxation_power(const snw_model *m, const snw_state *s) {
    double sum = 0;
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        for (int i = 0; rod->nbranch && i < rod->ndof; i++)
            sum -= branch_force(rod, i, s) * s->v[rod->dof0 + i];
    }
    return sum;
}

void snw_relaxation_tangent(const snw_model *m, double cq, const snw_work *w, snw_matrix T) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const size_t n = (size_t)rod->ndof;
        for (int k = 0; k < rod->nbranch; k++) {
            const double *K = branch_stiffness(rod, k), f = cq * w->follow[branch_number(rod, k)];
            if (snw_all(f == 0)) continue;
            for (size_t j = 0; j < n; j++) {
                snw_column_entries to = snw_matrix_column(T, rod->dof0 + (int)j);
                for (size_t i = 0; i < n; i++)
                    *snw_column_at(&to, rod->dof0 + (int)i) -= f * K[i * n + j];
            }
        }
    }
}

double snw_relaxation_energy(const snw_rod *rod, const snw_state *s) {
    const double *q = rod_coordinates(rod, s);
    double sum = 0;
    for (int k = 0; k < rod->nbranch; k++) {
        const double *K = branch_stiffness(rod, k);
        for (int i = 0; i < rod->ndof; i++) {
            const double left = 0.5 * branch_strain(rod, k, i, s) - q[i];
            for (int j = 0; j < rod->ndof; j++)
                sum += left * K[(size_t)i * (size_t)rod->ndof + (size_t)j] *
                       branch_strain(rod, k, j, s);
        }
    }
    return sum;
}
