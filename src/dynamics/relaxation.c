// SPDX-License-Identifier: MIT
//
// Generalised Maxwell material of rods (theory.md 2.5): internal strains of the branches within a
// step and in equilibria, their forces, tangent, energy and heat.
#include "dynamics/relaxation.h"

#include <math.h>

// Branch k of a rod: its number among all, and the first of its coordinates.
static int branch_number(const snw_rod *rod, int k) { return rod->branch_adr + k; }
static int branch_first(const snw_rod *rod, int k) {
    return rod->branch_coordinate0 + k * rod->ndof;
}
static const double *branch_stiffness(const snw_rod *rod, int k) {
    return rod->branch_K + (size_t)k * (size_t)rod->ndof * (size_t)rod->ndof;
}
static const double *rod_coordinates(const snw_rod *rod, const snw_state *s) {
    return s->q + rod->dof0 + rod->shift;
}

// Strain coordinate i of branch k.
static double branch_strain(const snw_rod *rod, int k, int i, const snw_state *s) {
    return s->relaxed[branch_first(rod, k) + i] +
           s->follow[branch_number(rod, k)] * rod_coordinates(rod, s)[i];
}

void snw_relaxation_settle(const snw_model *m, snw_relaxation_rule rule, snw_state *s) {
    if (rule.kind == SNW_RELAXED_INSTANT) snw_relaxation_fix(m, s);
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        for (int k = 0; k < rod->nbranch && rule.kind == SNW_RELAXED_AFTER; k++) {
            for (int i = 0; i < rod->ndof; i++) s->relaxed[branch_first(rod, k) + i] = 0;
            s->follow[branch_number(rod, k)] = -expm1(-rule.time / rod->relaxation_time[k]);
        }
    }
}

bool snw_relaxation_takes_euler(double h, double time) { return 0.5 * h / time > 1; }

snw_branch_rule snw_relaxation_in_step(double h, double time, bool euler) {
    const double half = 0.5 * h / time;
    if (euler || snw_relaxation_takes_euler(h, time))
        return (snw_branch_rule){.kept = 1, .old = 0, .c = 2 * half, .dc = 1 / time};
    return (snw_branch_rule){.kept = 1 - half, .old = half, .c = half, .dc = 0.5 / time};
}

void snw_relaxation_from(const snw_model *m, double h, bool euler, const double *a0,
                         const double *q0, snw_state *s) {
    for (int i = 0; i < m->nbranch_coordinate; i++) {
        const snw_branch_place at = snw_relaxation_place(m, i);
        const snw_branch_rule x = snw_relaxation_in_step(h, at.time, euler);
        s->relaxed[i] = (x.kept * a0[i] + x.old * q0[i]) / (1 + x.c);
        s->follow[branch_number(&m->rod[at.rod], at.branch)] = x.c / (1 + x.c);
    }
}

void snw_relaxation_begin(const snw_model *m, const snw_state *now, double h, bool euler,
                          snw_state *trial) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const double *q = rod_coordinates(rod, now);
        for (int k = 0; k < rod->nbranch; k++) {
            const snw_branch_rule x = snw_relaxation_in_step(h, rod->relaxation_time[k], euler);
            const double *a = now->relaxed + branch_first(rod, k);
            double *b = trial->relaxed + branch_first(rod, k);
            for (int i = 0; i < rod->ndof; i++) b[i] = (x.kept * a[i] + x.old * q[i]) / (1 + x.c);
            trial->follow[branch_number(rod, k)] = x.c / (1 + x.c);
        }
    }
}

void snw_relaxation_fix(const snw_model *m, snw_state *s) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        for (int k = 0; k < rod->nbranch; k++) {
            for (int i = 0; i < rod->ndof; i++)
                s->relaxed[branch_first(rod, k) + i] = branch_strain(rod, k, i, s);
            s->follow[branch_number(rod, k)] = 0;
        }
    }
}

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

snw_branch_place snw_relaxation_place(const snw_model *m, int coordinate) {
    int r = 0;
    while (coordinate >= m->rod[r].branch_coordinate0 + m->rod[r].nbranch * m->rod[r].ndof) r++;
    const snw_rod *rod = &m->rod[r];
    const int within = coordinate - rod->branch_coordinate0, k = within / rod->ndof;
    const int dof = rod->dof0 + within % rod->ndof;
    return (snw_branch_place){
        .rod = r, .branch = k, .q = dof + rod->shift, .dof = dof, .time = rod->relaxation_time[k]};
}

bool snw_relaxation_force(const snw_model *m, int coordinate, double *Q) {
    const snw_branch_place at = snw_relaxation_place(m, coordinate);
    const snw_rod *rod = &m->rod[at.rod];
    const double *K =
        branch_stiffness(rod, at.branch) + (size_t)(at.dof - rod->dof0) * (size_t)rod->ndof;
    bool any = false;
    for (int i = 0; i < rod->ndof; i++) {
        Q[rod->dof0 + i] += K[i];
        any = any || K[i] != 0;
    }
    return any;
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
            for (size_t j = 0; f != 0 && j < n; j++) {
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
