// SPDX-License-Identifier: MIT
//
// Position, strain and motion of stations that slide along rods with prescribed strains, for the
// rows of contacts there.

#include "dynamics/sliding_station.h"

// strain at x and its derivatives by t; by x as well unless dxi_dx is NULL
static void sliding_station_strain_at(const snw_rod *rod, double t, double x, snw_twist *xi,
                                      snw_twist *dxi, snw_twist *ddxi, snw_twist *dxi_dx) {
    const snw_at at = {.t = t, .x = x, .L = rod->L};
    *xi = snw_rod_rest(rod, x);
    *dxi = *ddxi = (snw_twist){0};
    if (dxi_dx) *dxi_dx = (snw_twist){0};
    for (int k = 0; k < 6; k++) {
        if (!rod->given[k]) {
            if (dxi_dx && rod->rest[k]) dxi_dx->e[k] = snw_expr_jet_x(rod->rest[k], at).d;
            continue;
        }
        const snw_jet j = snw_expr_jet_t(rod->given[k], at);
        xi->e[k] = j.v + (k == SNW_STRETCH), dxi->e[k] = j.d, ddxi->e[k] = j.dd;
        if (dxi_dx) dxi_dx->e[k] = snw_expr_jet_x(rod->given[k], at).d;
    }
}

// position of the station and strains of its slice; laws are evaluated once per time t
static void sliding_station_evaluate(const snw_model *m, const snw_sliding_station *station,
                                     double t, snw_sliding_station_work *to) {
    const snw_rod *rod = &m->rod[station->rod];
    if (to->known && to->t == t) return;
    to->known = true;
    to->t = t;
    const snw_jet x = snw_expr_jet_t(station->x, (snw_at){.t = t, .L = rod->L});
    to->x = x;
    to->x.v = x.v < 0 ? 0 : x.v > rod->L ? rod->L : x.v;
    double from = 0;
    to->below = rod->root;
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg && m->seg_x[s] <= to->x.v; s++) {
        to->below = s, from = m->seg_x[s];
    }
    to->length = to->x.v - from;
    for (int k = 0; k < rod->nc; k++) {
        sliding_station_strain_at(rod, t, from + rod->rule.c[k] * to->length, &to->xi[k],
                                  &to->dxi[k], &to->ddxi[k], NULL);
    }
    sliding_station_strain_at(rod, t, to->x.v, &to->here, &to->here_dt, &to->here_dtt,
                              &to->here_dx);
}

// Constraint rows depend on V(x(t), t). The rate is that of the material plus x' dV/dx, with dV/dx
// = dxi/dt - ad_xi V of the continuous rod, which the slice approximates to the order of its rule.
// If the contact holds a place and not a section, the rows depend on V + xi x'.
static void row_motion(const snw_sliding_station *station, snw_sliding_station_work *to) {
    const double dx = to->x.d;
    const snw_twist along = snw_twist_sub(to->here_dt, snw_ad(to->here, to->V));
    to->V_row = to->V;
    to->A_row = snw_twist_add(to->A, snw_twist_scale(dx, along));
    if (!station->fixes_frame) return;
    const snw_twist change = snw_twist_add(to->here_dt, snw_twist_scale(dx, to->here_dx));
    to->V_row = snw_twist_add(to->V_row, snw_twist_scale(dx, to->here));
    to->A_row = snw_twist_add(to->A_row, snw_twist_scale(dx, change));
    to->A_row = snw_twist_add(to->A_row, snw_twist_scale(to->x.dd, to->here));
}

void snw_sliding_stations_motion(const snw_model *m, const snw_inputs *in, bool is_static,
                                 snw_work *w) {
    for (int i = 0; i < m->nsliding_station; i++) {
        snw_sliding_station_work *to = &w->sliding_station[i];
        const snw_rod *rod = &m->rod[m->sliding_station[i].rod];
        sliding_station_evaluate(m, &m->sliding_station[i], in->t, to);
        snw_twist W, dW, ddW, du;
        snw_lower T;
        snw_rule_rates(&rod->rule, to->length, to->xi, to->dxi, to->ddxi, &W, &dW, &ddW);
        to->h = snw_se3_exp(W);
        to->g = snw_se3_mul(w->g[to->below], to->h);
        if (is_static) continue;
        snw_se3_exp_rates(W, dW, ddW, &T, &to->u, &du);
        const snw_twist carried = snw_twist_to_child(to->h, w->V[to->below]);
        to->V = snw_twist_add(carried, to->u);
        to->A = snw_twist_sub(snw_twist_to_child(to->h, w->A[to->below]), snw_ad(to->u, carried));
        to->A = snw_twist_add(to->A, du);
        row_motion(&m->sliding_station[i], to);
    }
}
