// SPDX-License-Identifier: MIT
//
// Variations of the motion of material that passes a node of a rod.

#include "dynamics/passing.h"

#include "dynamics/jacobian_column.h"

void snw_passing_columns(const snw_passing *p, int n, int ld, const double *J, const double *dJ,
                         const double *ddJ, double *vel, double *acc) {
    for (int j = 0; j < n; j++) {
        const col x = col_load(J, ld, j);
        if (p->is_static) {
            col_store(acc, ld, j, col_plus(col_times(p->cq, col_ad(p->A, x)), col_times(p->ca, x)));
            col_store(vel, ld, j, (col){0});
            continue;
        }
        const col y = col_load(dJ, ld, j), z = col_load(ddJ, ld, j), Vx = col_ad(p->V, x);
        const col v = col_plus(col_times(p->cq, col_plus(y, Vx)), col_times(p->cv, x));
        const col a = col_plus(
            col_plus(col_times(p->cq, col_plus(col_plus(z, col_ad(p->A, x)), col_ad(p->V, y))),
                     col_times(p->cv, col_plus(col_plus(y, y), Vx))),
            col_times(p->ca, x));
        col_store(vel, ld, j, v);
        col_store(acc, ld, j, col_minus(a, col_times(p->speed, col_ad(p->xi, v))));
    }
}

static void add_column(double *X, int ld, int j, col x) {
    col_store(X, ld, j, col_plus(col_load(X, ld, j), x));
}

void snw_passing_strain_columns(const snw_passing *p, const snw_rod *rod, const int first[6],
                                const int count[6], const double *phi, const double *phi_d1,
                                int own, int ld, double *vel, double *acc) {
    if (p->is_static) return;
    for (int a = 0; a < rod->na; a++) {
        double e[6] = {0};
        e[rod->comp[a]] = 1;
        const col unit = {e[0], e[1], e[2], e[3], e[4], e[5]}, turned = col_ad(p->V, unit);
        const int at = own + rod->dof[a] - rod->dof0 + first[a];
        for (int j = 0; j < count[a]; j++) {
            const double f = phi[j], c = p->cq * p->speed * f;
            const double here =
                p->cq * (p->rate * f + p->gradient * phi_d1[j]) + 2 * p->cv * p->speed * f;
            add_column(vel, ld, at + j, col_times(c, unit));
            add_column(acc, ld, at + j, col_plus(col_times(here, unit), col_times(c, turned)));
        }
        phi += count[a], phi_d1 += count[a];
    }
}
