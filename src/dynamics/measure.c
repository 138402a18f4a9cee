// SPDX-License-Identifier: MIT
#include "dynamics/measure.h"

#include "dynamics/rub.h"
#include "dynamics/spot.h"

#include <math.h>

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
        out->paid = m->measure[i].reference + d->extra - given;
        out->paid_rate = -in->measure[i].d;
        out->part = *in->share;
        const double strain = (m->measure[i].reference - out->value + d->extra) / out->paid - 1;
        if (strain <= 0) break; // slack
        out->effort = out->part * strain / d->compliance;
        out->slope = -out->part / (out->paid * d->compliance);
        break;
    }
    case SNW_MEASURE_GAS: // given: moles R temperature
        out->effort = *in->share * (given / out->value - in->ambient[i]);
        out->slope = -*in->share * given / (out->value * out->value);
        break;
    }
}

// ---- all -------------------------------------------------------------------------------------------

// value and rate of a measure, w->G <- its slope, and its spots; effort, unless laws that read signals or a row make it
static void gather(const snw_model *m, int i, const snw_inputs *in, const snw_state *s, bool still,
                   snw_work *w) {
    const snw_measure *measure = &m->measure[i];
    const snw_measure_desc *d = &m->desc->measure[i];
    const double sign = d->kind == SNW_MEASURE_TENDON ? -1 : 1;
    double *G = w->G + measure->store, c = 0, dc = 0;
    for (int j = 0; j < measure->ndof; j++) G[j] = 0;
    for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
        const snw_spot *p = &m->spot[k];
        snw_spot_work *at = &w->spot[k];
        double slope[6];
        *at = (snw_spot_work){.share = 1};
        snw_spot_strain(m, p, in->t, s, &at->xi, still ? NULL : &at->rate);
        at->f = snw_spot_density(d, p, at->xi, slope);
        for (int e = 0; e < 6; e++) at->df += slope[e] * at->rate.e[e];
        c += p->w * at->f;
        dc += p->w * at->df;
        snw_spot_spread(m, p, m->spot_phi + p->phi, sign * p->w, slope, G);
    }
    w->measured[i].value = d->kind == SNW_MEASURE_TENDON ? measure->reference - c : c;
    w->measured[i].rate = sign * dc;
    if (measure->row >= 0 || m->measure_reads[i]) return;
    effort_of(m, i, in, (snw_at){.t = in->t}, &w->measured[i]);
}

void snw_measures_gather(const snw_model *m, const snw_inputs *in, const snw_state *s, bool still,
                         snw_work *w) {
    for (int i = 0; i < m->nmeasure; i++) gather(m, i, in, s, still, w);
}

void snw_measures_add(const snw_model *m, const snw_inputs *in, const snw_state *s, bool still,
                      snw_work *w) {
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < m->nmeasure; i++) {
        const snw_measure *measure = &m->measure[i];
        const double *G = w->G + measure->store;
        snw_measured *out = &w->measured[i];
        if (measure->row >= 0) {
            out->effort = measure->unit * s->l[measure->row];
            out->slope = 0;
            w->gap[measure->row] = measure->unit * (out->value - in->measure[i].v);
        } else if (m->measure_reads[i]) {
            effort_of(m, i, in, at, out);
        }
        // without motion nothing slides
        if (measure->rubs && !still && out->effort > 0) {
            snw_rub_shares(m, i, in->t, s, w);
            if (m->desc->measure[i].given == SNW_MEASURE_COORDINATE) {
                out->effort = out->part * snw_rub_winch(m, i, out->paid, w);
            }
        }
        for (int j = 0; j < measure->ndof; j++) w->r[measure->dof[j]] -= out->effort * G[j];
    }
}

double snw_measure_power(const snw_model *m, int i, const snw_work *w) {
    const snw_measure *measure = &m->measure[i];
    if (!measure->rubs) return w->measured[i].effort * w->measured[i].rate;
    double rods = 0;
    for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
        rods -= w->spot[k].share * m->spot[k].w * w->spot[k].df;
    }
    return w->measured[i].effort * rods + snw_rub_heat(m, i, w);
}

double snw_measures_power(const snw_model *m, const snw_work *w) {
    double power = 0;
    for (int i = 0; i < m->nmeasure; i++) power += snw_measure_power(m, i, w);
    return power;
}

double snw_measures_heat(const snw_model *m, const snw_work *w) {
    double heat = 0;
    for (int i = 0; i < m->nmeasure; i++) {
        if (m->measure[i].rubs) heat += snw_rub_heat(m, i, w);
    }
    return heat;
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

// T += cq dr/dq of a winch or gas whose effort follows its coordinate
static void spring(const snw_measure *measure, double f, const double *G, size_t ld, double *T) {
    for (int k = 0; k < measure->ndof && f != 0; k++) {
        double *to = T + (size_t)measure->dof[k] * ld;
        for (int j = 0; j < measure->ndof; j++) to[measure->dof[j]] -= f * G[j] * G[k];
    }
}

void snw_measures_columns(const snw_model *m, double cq, double cv, snw_work *w, size_t ld,
                          double *T) {
    for (int i = 0; i < m->nmeasure; i++) {
        const snw_measure *measure = &m->measure[i];
        const snw_measured *now = &w->measured[i];
        if (now->effort == 0 && now->slope == 0) continue;
        if (measure->rubs && !w->still) {
            snw_rub_columns(m, i, now->paid, now->part, cq, cv, w, ld, T);
        } else {
            spring(measure, cq * now->slope, w->G + measure->store, ld, T);
        }
        if (cq == 0 || m->desc->measure[i].kind != SNW_MEASURE_TENDON)
            continue; // a volume is linear in the strain
        for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
            const double tension = now->effort * w->spot[k].share;
            snw_spot_curvature(m, &m->spot[k], w->spot[k].xi, -cq * tension * m->spot[k].w, ld, T);
        }
    }
}

// ---- what laws read --------------------------------------------------------------------------------

void snw_measure_slope(const snw_model *m, int i, snw_reading reading, double cq, double cv,
                       const snw_work *w, double *slope) {
    const snw_measure *measure = &m->measure[i];
    const snw_measure_desc *d = &m->desc->measure[i];
    const bool tendon = d->kind == SNW_MEASURE_TENDON, rate = reading == SNW_READ_MEASURE_RATE;
    const double of_effort = reading == SNW_READ_MEASURE_EFFORT ? w->measured[i].slope : 1;
    const double sign = tendon ? -1 : 1, f = sign * (rate ? cv : cq * of_effort);
    for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
        const snw_spot *p = &m->spot[k];
        const snw_rod *rod = &m->rod[p->rod];
        double c[6], bend[6] = {0};
        (void)snw_spot_density(d, p, w->spot[k].xi, c);
        // a volume is linear in the strain
        if (rate && tendon && !w->still) snw_spot_bend(p, w->spot[k].xi, w->spot[k].rate, bend);
        const double *phi = m->spot_phi + p->phi;
        for (int a = 0; a < rod->na; phi += p->count[a], a++) {
            const int e = rod->comp[a];
            const double by = p->w * (f * c[e] + sign * cq * bend[e]);
            double *to = slope + rod->dof[a] + p->first[a];
            for (int j = 0; j < p->count[a]; j++) to[j] += by * phi[j];
        }
    }
}
