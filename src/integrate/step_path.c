// SPDX-License-Identifier: MIT
//
// Cubic path of an implicit step in its chart, and the conversion between derivatives of chart
// coordinates and body velocities; for the energy account and for collocation.
#include "integrate/step_path.h"

#include "math/se3_tangent.h"

// Entries of a ball or free joint that form a group: on the split chart the rotation only.
static int group_size(snw_chart chart, const snw_block *b) {
    return chart == SNW_CHART_SE3 ? b->n : 3;
}

static snw_twist group_twist(int n, const double *x) {
    snw_twist t = {0};
    for (int i = 0; i < n; i++) t.e[i] = x[i];
    return t;
}

static void step_path_store(int n, snw_twist t, double *x) {
    for (int i = 0; i < n; i++) x[i] = t.e[i];
}

void snw_step_path_state(const snw_model *m, snw_chart chart, const double *q0, const double *x,
                         double *dx, double *ddx, snw_state *out) {
    for (int k = 0; k < m->nblock; k++) {
        if (m->block[k].lie_block < 0) continue;
        const int dof = m->block[k].dof, size = group_size(chart, &m->block[k]);
        snw_lower T;
        snw_twist u, du;
        snw_se3_exp_rates(group_twist(size, x + dof), group_twist(size, dx + dof),
                          group_twist(size, ddx + dof), &T, &u, &du);
        step_path_store(size, u, dx + dof);
        step_path_store(size, du, ddx + dof);
    }
    snw_chart_to_state(m, chart, q0, x, dx, ddx, out);
}

// x'' = T^-1 (u' - T' x')
void snw_step_path_accelerations(const snw_model *m, snw_chart chart, const double *x,
                                 const double *dx, const double *acc, double *ddx) {
    for (int i = 0; i < m->nv; i++) ddx[i] = acc[i];
    for (int k = 0; k < m->nblock; k++) {
        if (m->block[k].lie_block < 0) continue;
        const int dof = m->block[k].dof, size = group_size(chart, &m->block[k]);
        snw_lower T;
        snw_twist u, quadratic;
        snw_se3_exp_rates(group_twist(size, x + dof), group_twist(size, dx + dof), (snw_twist){0},
                          &T, &u, &quadratic);
        T = snw_se3_tangent_inv(group_twist(size, x + dof));
        const snw_twist remaining = snw_twist_sub(group_twist(size, acc + dof), quadratic);
        step_path_store(size, snw_lower_apply(&T, remaining), ddx + dof);
    }
}

void snw_step_path_at(const snw_model *m, const snw_step_path *e, double s, double *scratch,
                      snw_state *out) {
    const int n = m->nv;
    const double h = e->h, remaining = 1 - s;
    double *x = scratch, *dx = x + n, *ddx = dx + n;
    // derivatives of the coordinates at the end; on a group T(d)^-1 times the velocity
    for (int i = 0; i < n; i++) ddx[i] = e->rate1[i];
    for (int k = 0; k < m->nblock; k++) {
        if (m->block[k].lie_block < 0) continue;
        const int dof = m->block[k].dof, size = group_size(e->chart, &m->block[k]);
        const snw_lower T = snw_se3_tangent_inv(group_twist(size, e->d + dof));
        step_path_store(size, snw_lower_apply(&T, group_twist(size, e->rate1 + dof)), ddx + dof);
    }
    for (int i = 0; i < n; i++) {
        const double d = e->d[i], a = h * e->rate0[i], b = h * ddx[i];
        x[i] = s * (s * (3 - 2 * s) * d + remaining * (remaining * a - s * b));
        dx[i] = (6 * s * remaining * d + remaining * (1 - 3 * s) * a - s * (2 - 3 * s) * b) / h;
        ddx[i] = (6 * (1 - 2 * s) * d - (4 - 6 * s) * a - (2 - 6 * s) * b) / (h * h);
    }
    snw_step_path_state(m, e->chart, e->q0, x, dx, ddx, out);
}
