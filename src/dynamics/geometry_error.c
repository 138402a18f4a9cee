// SPDX-License-Identifier: MIT
//
// Error of a rod's tip position due to the Magnus expansion: difference to the same coordinates
// with every segment halved. Halving reduces the error by 4 or more, so the difference estimates
// the error of the coarse mesh.

#include "dynamics/geometry_error.h"
#include "dynamics/variable_length.h"

#include "math/pose_grid.h"
#include "math/vector.h"

// Coordinates and time of a rod, for strains along it.
typedef struct rod_at {
    const snw_rod *rod;
    const double *q;
    double t;
} rod_at;

static snw_twist geometry_strain(const void *user, double x) {
    const rod_at *r = user;
    return snw_rod_strain(r->rod, r->q, r->t, x);
}

snw_vec3 snw_rod_tip_position(const snw_model *m, const snw_rod *rod, const double *q, double t,
                              int cuts) {
    const double *c = rod->rule.c;
    if (rod->grid)
        return snw_grid_pose_at(rod->rule.number, rod->L, geometry_strain, &(rod_at){rod, q, t},
                                rod->L)
            .p;
    snw_se3 g = snw_se3_identity();
    const double ratio = snw_rod_length_ratio(rod, q);
    double from = 0;
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        const double h = (m->seg_x[s] - from) / cuts;
        for (int i = 0; i < cuts; i++) {
            snw_twist xi[SNW_MAGNUS_POINTS];
            for (int k = 0; k < rod->nc; k++) {
                xi[k] = snw_rod_strain(rod, q, t, from + (i + c[k]) * h);
            }
            g = snw_se3_mul(g, snw_se3_exp(snw_rule_value(&rod->rule, ratio * h, xi)));
        }
        from = m->seg_x[s];
    }
    return g.p;
}

double snw_geometry_error(const snw_model *m, const double *q, double t) {
    double worst = 0;
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const double e = rod->grid ? snw_grid_tip_error(rod->rule.number, rod->L, geometry_strain,
                                                        &(rod_at){rod, q, t})
                                   : snw_norm(snw_sub(snw_rod_tip_position(m, rod, q, t, 1),
                                                      snw_rod_tip_position(m, rod, q, t, 2))) /
                                         rod->L;
        worst = snw_larger(worst, e);
    }
    return worst;
}
