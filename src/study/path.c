// SPDX-License-Identifier: MIT
#include "study/path.h"

#include "math/se3_tangent.h"

// numbers of a free joint as a twist; on the split chart only the turning is on a group
static snw_twist turning(snw_chart chart, const double *x) {
    snw_twist t = {0};
    for (int i = 0; i < (chart == SNW_CHART_SE3 ? 6 : 3); i++) t.e[i] = x[i];
    return t;
}

static void put(snw_chart chart, snw_twist t, double *x) {
    for (int i = 0; i < (chart == SNW_CHART_SE3 ? 6 : 3); i++) x[i] = t.e[i];
}

void snw_path_at(const snw_model *m, const snw_path_ends *e, double s, double *scratch,
                 snw_state *out) {
    const int n = m->nv;
    const double h = e->h, rest = 1 - s;
    double *x = scratch, *dx = x + n, *ddx = dx + n;
    // rates of the coordinates at the end: those of a group are T(d)^-1 times the velocity
    for (int i = 0; i < n; i++) ddx[i] = e->rate1[i];
    for (int f = 0; f < m->nfree; f++) {
        const int dof = m->floating[f].dof;
        const snw_lower T = snw_se3_tangent_inv(turning(e->chart, e->d + dof));
        put(e->chart, snw_lower_apply(&T, turning(e->chart, e->rate1 + dof)), ddx + dof);
    }
    for (int i = 0; i < n; i++) {
        const double d = e->d[i], a = h * e->rate0[i], b = h * ddx[i];
        x[i] = s * (s * (3 - 2 * s) * d + rest * (rest * a - s * b));
        dx[i] = (6 * s * rest * d + rest * (1 - 3 * s) * a - s * (2 - 3 * s) * b) / h;
        ddx[i] = (6 * (1 - 2 * s) * d - (4 - 6 * s) * a - (2 - 6 * s) * b) / (h * h);
    }
    for (int f = 0; f < m->nfree; f++) {
        const int dof = m->floating[f].dof;
        snw_lower T;
        snw_twist u, du;
        snw_se3_exp_rates(turning(e->chart, x + dof), turning(e->chart, dx + dof),
                          turning(e->chart, ddx + dof), &T, &u, &du);
        put(e->chart, u, dx + dof);
        put(e->chart, du, ddx + dof);
    }
    snw_chart_to_state(m, e->chart, e->q0, x, dx, ddx, out);
}
