// SPDX-License-Identifier: MIT
#include "dynamics/measure.h"

#include <math.h>

// ---- at one spot -----------------------------------------------------------------------------------

// u = Gamma + K x D + D' varies by columns of strain: U[e] = du/dxi_e
static void columns_of(const snw_spot *p, snw_vec3 U[6]) {
    U[0] = (snw_vec3){{0, -p->z, p->y}};
    U[1] = (snw_vec3){{p->z, 0, 0}};
    U[2] = (snw_vec3){{-p->y, 0, 0}};
    for (int i = 0; i < 3; i++) {
        U[3 + i] = (snw_vec3){{0}};
        U[3 + i].e[i] = 1;
    }
}

static snw_vec3 tangent_of(const snw_spot *p, snw_twist xi) {
    const snw_vec3 D = {{0, p->y, p->z}};
    return snw_add(snw_add(xi.v, snw_cross(xi.w, D)), (snw_vec3){{0, p->dy, p->dz}});
}

// xi += functions times the numbers x (of the model's, from the rod's first coordinate on)
static void add_functions(const snw_model *m, const snw_spot *p, const double *x, snw_twist *xi) {
    const snw_rod *rod = &m->rod[p->rod];
    const double *phi = m->spot_phi + p->phi;
    for (int a = 0; a < rod->na; phi += p->count[a], a++) {
        const double *c = x + rod->dof[a] - rod->dof0 + p->first[a];
        for (int j = 0; j < p->count[a]; j++) xi->e[rod->comp[a]] += phi[j] * c[j];
    }
}

// strain and its rate; `rate` may be NULL
static void strain_of(const snw_model *m, const snw_spot *p, double t, const snw_state *s,
                      snw_twist *xi, snw_twist *rate) {
    const snw_rod *rod = &m->rod[p->rod];
    const snw_rod_desc *d = &m->desc->link[rod->link].rod;
    *xi = p->xi0;
    add_functions(m, p, s->q + rod->dof0 + rod->shift, xi);
    if (rate) {
        *rate = (snw_twist){0};
        add_functions(m, p, s->v + rod->dof0, rate);
    }
    for (int k = 0; k < 6; k++) {
        if (!d->given[k]) continue;
        const snw_jet j = snw_expr_jet_t(d->given[k], (snw_at){.t = t, .x = p->x, .L = rod->L});
        xi->e[k] += j.v;
        if (rate) rate->e[k] = j.d;
    }
}

// value f and slope of the density
static double density(const snw_measure_desc *d, const snw_spot *p, snw_twist xi, double slope[6]) {
    snw_vec3 U[6];
    const snw_vec3 u = tangent_of(p, xi);
    columns_of(p, U);
    if (d->kind == SNW_MEASURE_CHAMBER) {
        for (int e = 0; e < 6; e++) slope[e] = p->area * U[e].x;
        return p->area * (u.x); // D' lies in the section
    }
    const double size = snw_norm(u);
    for (int e = 0; e < 6; e++) slope[e] = snw_dot(U[e], u) / size;
    return size;
}

// ---- efforts ---------------------------------------------------------------------------------------

static bool acts(const snw_model *m, int i, const snw_inputs *in, snw_at at) {
    const snw_law when = m->desc->measure[i].when;
    return !when || snw_measure_by_hand(in, i) || snw_expr_value(when, at) != 0;
}

// effort and its slope in the coordinate
static void effort_of(const snw_model *m, int i, const snw_inputs *in, snw_at at,
                      snw_measured *out) {
    const snw_measure_desc *d = &m->desc->measure[i];
    const double given = in->measure[i].v;
    out->effort = out->slope = 0;
    if (!acts(m, i, in, at)) return;
    switch (d->given) {
    case SNW_MEASURE_EFFORT:
        out->effort =
            snw_measure_follows(m, in, i) ? *in->share * snw_expr_value(d->law, at) : given;
        if (d->kind == SNW_MEASURE_TENDON && out->effort < 0) out->effort = 0; // it never pushes
        break;
    case SNW_MEASURE_COORDINATE: {
        if (m->measure[i].slope) break; // a row
        // (length + extra)/(1 + compliance tension) = what was paid out
        const double paid = m->measure[i].reference + d->extra - given;
        const double strain = (m->measure[i].reference - out->value + d->extra) / paid - 1;
        if (strain <= 0) break; // slack
        out->effort = *in->share * strain / d->compliance;
        out->slope = -*in->share / (paid * d->compliance);
        break;
    }
    case SNW_MEASURE_GAS: // given: moles R temperature
        out->effort = *in->share * (given / out->value - in->ambient[i]);
        out->slope = -*in->share * given / (out->value * out->value);
        break;
    }
}

// ---- all -------------------------------------------------------------------------------------------

void snw_measures_add(const snw_model *m, const snw_inputs *in, const snw_state *s, bool still,
                      snw_work *w) {
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < m->nmeasure; i++) {
        const snw_measure *measure = &m->measure[i];
        const snw_measure_desc *d = &m->desc->measure[i];
        const double sign = d->kind == SNW_MEASURE_TENDON ? -1 : 1;
        double *G = w->G + measure->store, c = 0, dc = 0;
        for (int j = 0; j < measure->ndof; j++) G[j] = 0;
        for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
            const snw_spot *p = &m->spot[k];
            const snw_rod *rod = &m->rod[p->rod];
            snw_twist rate = {0};
            double slope[6];
            strain_of(m, p, in->t, s, &w->spot_xi[k], still ? NULL : &rate);
            c += p->w * density(d, p, w->spot_xi[k], slope);
            for (int e = 0; e < 6; e++) dc += p->w * slope[e] * rate.e[e];
            const double *phi = m->spot_phi + p->phi;
            for (int a = 0; a < rod->na; phi += p->count[a], a++) {
                const double f = sign * p->w * slope[rod->comp[a]];
                double *to = G + p->local + rod->dof[a] - rod->dof0 + p->first[a];
                for (int j = 0; j < p->count[a]; j++) to[j] += f * phi[j];
            }
        }
        snw_measured *out = &w->measured[i];
        out->value = d->kind == SNW_MEASURE_TENDON ? measure->reference - c : c;
        out->rate = sign * dc;
        if (measure->row >= 0) {
            out->effort = measure->unit * s->l[measure->row];
            out->slope = 0;
            w->gap[measure->row] = measure->unit * (out->value - in->measure[i].v);
        } else {
            effort_of(m, i, in, at, out);
        }
        for (int j = 0; j < measure->ndof; j++) w->r[measure->dof[j]] -= out->effort * G[j];
    }
}

double snw_measures_power(const snw_model *m, const snw_work *w) {
    double power = 0;
    for (int i = 0; i < m->nmeasure; i++) power += w->measured[i].effort * w->measured[i].rate;
    return power;
}

void snw_measures_push(const snw_model *m, const snw_inputs *in, const snw_work *w, int signal,
                       double *push) {
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < m->nmeasure; i++) {
        const snw_measure_desc *d = &m->desc->measure[i];
        const snw_measure *measure = &m->measure[i];
        const bool slack = d->kind == SNW_MEASURE_TENDON && w->measured[i].effort == 0;
        if (!snw_measure_follows(m, in, i) || !acts(m, i, in, at) || slack) continue;
        const double f = *in->share * snw_expr_jet_signal(d->law, at, signal).d;
        for (int j = 0; j < measure->ndof; j++) {
            push[measure->dof[j]] += f * w->G[measure->store + (size_t)j];
        }
    }
}

// what given strains alone do to a volume, per time, and that per time
static snw_jet given_part(const snw_model *m, const snw_measure *measure, double t) {
    snw_jet sum = {0};
    for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
        const snw_spot *p = &m->spot[k];
        const snw_rod *rod = &m->rod[p->rod];
        const snw_rod_desc *d = &m->desc->link[rod->link].rod;
        const double of[6] = {0, p->z, -p->y, 1, 0, 0};
        for (int e = 1; e < 4; e++) {
            if (!d->given[e]) continue;
            const snw_jet j = snw_expr_jet_t(d->given[e], (snw_at){.t = t, .x = p->x, .L = rod->L});
            sum.d += p->w * p->area * of[e] * j.d;
            sum.dd += p->w * p->area * of[e] * j.dd;
        }
    }
    return sum;
}

void snw_measures_rates(const snw_model *m, const snw_inputs *in, const snw_state *s, double *rate,
                        double *bend) {
    for (int i = 0; i < m->nmeasure; i++) {
        const snw_measure *measure = &m->measure[i];
        if (measure->row < 0) continue;
        const snw_jet given = given_part(m, measure, in->t);
        double v = measure->unit * (given.d - in->measure[i].d);
        double a = measure->unit * (given.dd - in->measure[i].dd);
        for (int j = 0; j < measure->ndof; j++) {
            v += measure->slope[j] * s->v[measure->dof[j]];
            a += measure->slope[j] * s->a[measure->dof[j]];
        }
        if (rate) rate[measure->row] = v;
        if (bend) bend[measure->row] = a;
    }
}

// ---- derivatives -----------------------------------------------------------------------------------

// T -= f d2|u|/dxi2 between the coordinates of one spot: (U_e . U_g - (t . U_e)(t . U_g))/|u|, t = u/|u|
static void curvature(const snw_model *m, const snw_spot *p, snw_twist xi, double f, size_t ld,
                      double *T) {
    const snw_rod *rod = &m->rod[p->rod];
    snw_vec3 U[6];
    columns_of(p, U);
    const snw_vec3 u = tangent_of(p, xi);
    const double size = snw_norm(u);
    const snw_vec3 t = snw_scale(1 / size, u);
    const double *pa = m->spot_phi + p->phi;
    for (int a = 0; a < rod->na; pa += p->count[a], a++) {
        const snw_vec3 Ua = U[rod->comp[a]];
        const double *pb = m->spot_phi + p->phi;
        for (int b = 0; b < rod->na; pb += p->count[b], b++) {
            const snw_vec3 Ub = U[rod->comp[b]];
            const double h = f / size * (snw_dot(Ua, Ub) - snw_dot(t, Ua) * snw_dot(t, Ub));
            if (h == 0) continue;
            for (int j = 0; j < p->count[b]; j++) {
                double *to =
                    T + (size_t)(rod->dof[b] + p->first[b] + j) * ld + rod->dof[a] + p->first[a];
                for (int i = 0; i < p->count[a]; i++) to[i] -= h * pa[i] * pb[j];
            }
        }
    }
}

void snw_measures_columns(const snw_model *m, double cq, const snw_work *w, size_t ld, double *T) {
    for (int i = 0; i < m->nmeasure; i++) {
        const snw_measure *measure = &m->measure[i];
        const snw_measured *now = &w->measured[i];
        const double *G = w->G + measure->store;
        if (now->effort == 0 && now->slope == 0) continue;
        for (int k = 0; k < measure->ndof && now->slope != 0; k++) {
            double *to = T + (size_t)measure->dof[k] * ld;
            for (int j = 0; j < measure->ndof; j++) {
                to[measure->dof[j]] -= cq * now->slope * G[j] * G[k];
            }
        }
        if (m->desc->measure[i].kind != SNW_MEASURE_TENDON)
            continue; // a volume is linear in the strain
        for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
            curvature(m, &m->spot[k], w->spot_xi[k], -cq * now->effort * m->spot[k].w, ld, T);
        }
    }
}

// ---- what laws read --------------------------------------------------------------------------------

void snw_measure_look(const snw_model *m, int i, const snw_inputs *in, const snw_state *s,
                      snw_work *w) {
    const snw_measure *measure = &m->measure[i];
    const snw_measure_desc *d = &m->desc->measure[i];
    snw_measured *out = &w->measured[i];
    double c = 0, dc = 0, slope[6];
    for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
        const snw_spot *p = &m->spot[k];
        snw_twist *rate = &w->spot_rate[k];
        strain_of(m, p, in->t, s, &w->spot_xi[k], rate);
        if (w->still) *rate = (snw_twist){0};
        c += p->w * density(d, p, w->spot_xi[k], slope);
        for (int e = 0; e < 6; e++) dc += p->w * slope[e] * rate->e[e];
    }
    const bool tendon = d->kind == SNW_MEASURE_TENDON;
    out->value = tendon ? measure->reference - c : c;
    out->rate = tendon ? -dc : dc;
    const bool later = measure->row >= 0 || m->measure_reads[i];
    if (!later) effort_of(m, i, in, (snw_at){.t = in->t}, out);
}

// slope += f d(rate)/dq of a tendon: along the rates du of its tangent u, |u|' changes by
// U_e . (du - t (t . du))/|u|, t = u/|u|
static void rate_slope(const snw_model *m, const snw_measure *measure, double f, const snw_work *w,
                       double *slope) {
    for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
        const snw_spot *p = &m->spot[k];
        const snw_rod *rod = &m->rod[p->rod];
        snw_vec3 U[6], du = {{0}};
        columns_of(p, U);
        for (int e = 0; e < 6; e++) du = snw_add(du, snw_scale(w->spot_rate[k].e[e], U[e]));
        const snw_vec3 u = tangent_of(p, w->spot_xi[k]);
        const double size = snw_norm(u);
        const snw_vec3 t = snw_scale(1 / size, u);
        const snw_vec3 turn = snw_scale(f * p->w / size, snw_sub(du, snw_scale(snw_dot(t, du), t)));
        const double *phi = m->spot_phi + p->phi;
        for (int a = 0; a < rod->na; phi += p->count[a], a++) {
            const double of = snw_dot(U[rod->comp[a]], turn);
            double *to = slope + rod->dof[a] + p->first[a];
            for (int j = 0; j < p->count[a]; j++) to[j] += of * phi[j];
        }
    }
}

void snw_measure_slope(const snw_model *m, int i, snw_reading reading, double cq, double cv,
                       const snw_work *w, double *slope) {
    const snw_measure *measure = &m->measure[i];
    const double *G = w->G + measure->store;
    const bool rate = reading == SNW_READ_MEASURE_RATE;
    const double f = rate                                 ? cv
                     : reading == SNW_READ_MEASURE_EFFORT ? cq * w->measured[i].slope
                                                          : cq;
    for (int j = 0; j < measure->ndof; j++) slope[measure->dof[j]] += f * G[j];
    // a volume is linear in the strain
    if (rate && m->desc->measure[i].kind == SNW_MEASURE_TENDON && !w->still) {
        rate_slope(m, measure, -cq, w, slope);
    }
}
