// SPDX-License-Identifier: MIT
//
// Generalised Maxwell material of rods (theory.md 2.5): internal strains of the branches within a
// step and in equilibria.
#include "dynamics/relaxation_branch.h"

#include <math.h>

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
