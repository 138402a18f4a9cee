// SPDX-License-Identifier: MIT
#include "dynamics/measure.h"

#include "dynamics/rub.h"
#include "dynamics/span.h"
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
        if (m->measure[i].unit > 0) break; // a row
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
        if (!(out->value > 0))
            out->effort = NAN; // beyond an infinite pressure: no way for a solver
        break;
    }
}

static double sliding(const snw_measure_desc *d, double t) {
    const double x = d->sliding ? snw_expr_value(d->sliding, (snw_at){.t = t}) : 0;
    return x > 1 ? 1 : (x < -1 ? -1 : x);
}

// ---- all -------------------------------------------------------------------------------------------

// value and rate of a measure, w->G <- its slope along rods, and its spots
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
        *at = (snw_spot_work){.share = 1};
        if (p->span >= 0) {
            snw_span_move(&m->span[p->span], w, at);
        } else {
            double slope[6];
            if (p->same >= 0) {
                at->xi = w->spot[p->same].xi, at->rate = w->spot[p->same].rate;
            } else {
                snw_spot_strain(m, p, in->t, s, &at->xi, still ? NULL : &at->rate);
            }
            at->f = snw_spot_density(d, p, at->xi, slope);
            for (int e = 0; e < 6; e++) at->df += slope[e] * at->rate.e[e];
            snw_spot_spread(m, p, m->spot_phi + p->phi, sign * p->w, slope, G);
        }
        c += p->w * at->f;
        dc += p->w * at->df;
    }
    w->measured[i].value = d->kind == SNW_MEASURE_TENDON ? measure->reference - c : c;
    w->measured[i].rate = sign * dc;
    w->measured[i].tied = 1;
}

void snw_measures_motion(const snw_model *m, const snw_inputs *in, const snw_state *s, bool still,
                         snw_work *w) {
    for (int i = 0; i < m->nmeasure; i++) gather(m, i, in, s, still, w);
}

// what the effort does to the coordinates of rods and at the ends of straight parts
static void pull(const snw_model *m, int i, snw_work *w) {
    const snw_measure *measure = &m->measure[i];
    const double *G = w->G + measure->store, effort = w->measured[i].effort;
    for (int j = 0; j < measure->ndof; j++) w->r[measure->dof[j]] -= effort * G[j];
    for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
        const int span = m->spot[k].span;
        if (span < 0) continue;
        snw_span_add(&m->span[span], &w->spot[k], effort * w->spot[k].share, w);
    }
}

void snw_measures_add(const snw_model *m, const snw_inputs *in, const snw_state *s, bool still,
                      snw_work *w) {
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < m->nmeasure; i++) {
        const snw_measure *measure = &m->measure[i];
        snw_measured *out = &w->measured[i];
        if (measure->row >= 0) {
            out->effort = measure->unit * s->l[measure->row];
            out->slope = 0;
            w->gap[measure->row] = measure->unit * (out->value - in->measure[i].v);
        } else {
            effort_of(m, i, in, at, out);
        }
        // without motion nothing slides: there friction acts as it is said to
        out->sliding = still ? sliding(&m->desc->measure[i], in->t) : 0;
        if (measure->rubs && (!still || out->sliding != 0) && out->effort > 0) {
            snw_rub_shares(m, i, in->t, s, w);
            if (m->desc->measure[i].given == SNW_MEASURE_COORDINATE) {
                out->effort = out->part * snw_rub_winch(m, i, out->paid, w);
            }
        }
        pull(m, i, w);
    }
}

void snw_measures_slopes(const snw_model *m, snw_work *w) {
    for (int i = 0; i < m->nmeasure; i++) {
        const snw_measure *measure = &m->measure[i];
        double *to = w->slope_of + measure->store;
        for (int j = 0; j < measure->ndof; j++) to[j] = w->G[measure->store + (size_t)j];
        for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
            const int span = m->spot[k].span;
            if (span < 0) continue;
            snw_span_slope(m, &m->span[span], w, &w->spot[k], -w->spot[k].share, to);
        }
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

// of spot k, by the strains of its rod that are laws; straight parts act on sections instead
static double given_power(const snw_model *m, const snw_measure_desc *d, int k, const snw_work *w) {
    const snw_spot *p = &m->spot[k];
    if (p->span >= 0) return 0;
    const snw_rod_desc *rod = &m->desc->link[m->rod[p->rod].link].rod;
    const snw_spot_work *at = &w->spot[k];
    const double sign = d->kind == SNW_MEASURE_TENDON ? -1 : 1;
    double slope[6], sum = 0;
    (void)snw_spot_density(d, p, at->xi, slope);
    for (int e = 0; e < 6; e++) sum += rod->given[e] ? slope[e] * at->rate.e[e] : 0;
    return sign * p->w * at->share * sum;
}

double snw_measures_given_power(const snw_model *m, const snw_work *w) {
    double power = 0;
    for (int i = 0; i < m->nmeasure; i++) {
        const snw_measure *measure = &m->measure[i];
        double sum = 0;
        for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
            sum += given_power(m, &m->desc->measure[i], k, w);
        }
        power += w->measured[i].effort * sum;
    }
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
            push[measure->dof[j]] += f * w->slope_of[measure->store + (size_t)j];
        }
    }
}

// acceleration of a spot of a tendon: d2f/dt2 = slope . xi'' + xi' . (d2f/dxi2 xi')
static double spot_bend(const snw_model *m, const snw_measure_desc *d, const snw_spot *p, double t,
                        const snw_state *s, const snw_spot_work *at) {
    double slope[6], bend[6], sum = 0;
    const snw_twist ddxi = snw_spot_strain_bend(m, p, t, s);
    (void)snw_spot_density(d, p, at->xi, slope);
    if (d->kind == SNW_MEASURE_TENDON) snw_spot_bend(p, at->xi, at->rate, bend);
    for (int e = 0; e < 6; e++) {
        sum += slope[e] * ddxi.e[e];
        if (d->kind == SNW_MEASURE_TENDON) sum += bend[e] * at->rate.e[e];
    }
    return sum;
}

void snw_measures_rates(const snw_model *m, const snw_inputs *in, const snw_state *s,
                        const snw_work *w, double *rate, double *bend) {
    for (int i = 0; i < m->nmeasure; i++) {
        const snw_measure *measure = &m->measure[i];
        const snw_measure_desc *d = &m->desc->measure[i];
        if (measure->row < 0) continue;
        const double sign = d->kind == SNW_MEASURE_TENDON ? -1 : 1;
        if (rate) rate[measure->row] = measure->unit * (w->measured[i].rate - in->measure[i].d);
        if (!bend) continue;
        double sum = 0;
        for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
            const snw_spot *p = &m->spot[k];
            const snw_spot_work *at = &w->spot[k];
            sum += p->span >= 0 ? snw_span_bend(&m->span[p->span], w, at)
                                : p->w * spot_bend(m, d, p, in->t, s, at);
        }
        bend[measure->row] = measure->unit * (sign * sum - in->measure[i].dd);
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
    for (int i = 0; i < m->nmeasure && (cq != 0 || cv != 0); i++) {
        const snw_measure *measure = &m->measure[i];
        const snw_measured *now = &w->measured[i];
        if (now->effort == 0 && now->slope == 0) continue;
        if (measure->rubs && (!w->still || now->sliding != 0)) {
            snw_rub_columns(m, i, now->paid, now->part, cq, cv, w, ld, T);
        } else {
            spring(measure, cq * now->slope, w->slope_of + measure->store, ld, T);
        }
        if (cq == 0 || m->desc->measure[i].kind != SNW_MEASURE_TENDON)
            continue; // a volume is linear in the strain
        for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
            const snw_spot *p = &m->spot[k];
            const double f = cq * now->effort * w->spot[k].share * p->w;
            if (p->span >= 0) {
                snw_span_curvature(m, measure, &m->span[p->span], w, &w->spot[k], f, ld, T);
            } else {
                snw_spot_curvature(m, p, w->spot[k].xi, -f, ld, T);
            }
        }
    }
}

// ---- what laws read --------------------------------------------------------------------------------

void snw_measure_look(const snw_model *m, int i, const snw_inputs *in, snw_work *w) {
    const bool later = m->measure[i].row >= 0 || m->measure_reads[i];
    if (!later) effort_of(m, i, in, (snw_at){.t = in->t}, &w->measured[i]);
}

// to += cq and cv times the derivatives of the rate of spot k, of a density f: df/dv = df/dxi phi,
// d(f')/dq = (d2f/dxi2 xi') phi
static void rate_slope(const snw_model *m, int i, int k, double cq, double cv, const snw_work *w,
                       double *to) {
    const snw_measure_desc *d = &m->desc->measure[i];
    const snw_spot *p = &m->spot[k];
    const snw_spot_work *at = &w->spot[k];
    double slope[6], bend[6];
    if (p->span >= 0) {
        snw_span_slope(m, &m->span[p->span], w, at, cv, to);
        if (!w->still) snw_span_rate_slope(m, &m->span[p->span], w, at, cq, to);
        return;
    }
    (void)snw_spot_density(d, p, at->xi, slope);
    snw_spot_spread(m, p, m->spot_phi + p->phi, cv * p->w, slope, to);
    if (d->kind != SNW_MEASURE_TENDON || w->still) return; // a volume is linear in the strain
    snw_spot_bend(p, at->xi, at->rate, bend);
    snw_spot_spread(m, p, m->spot_phi + p->phi, cq * p->w, bend, to);
}

void snw_measure_slope(const snw_model *m, int i, snw_reading reading, double cq, double cv,
                       snw_work *w, double *slope) {
    const snw_measure *measure = &m->measure[i];
    const double sign = m->desc->measure[i].kind == SNW_MEASURE_TENDON ? -1 : 1;
    const double follow = reading == SNW_READ_MEASURE_EFFORT ? w->measured[i].slope : 1;
    double *own = w->own;
    for (int j = 0; j < measure->ndof; j++) own[j] = 0;
    for (int k = measure->spot0; k < measure->spot0 + measure->nspot; k++) {
        if (reading == SNW_READ_MEASURE_RATE) {
            rate_slope(m, i, k, sign * cq, sign * cv, w, own);
        } else { // the rate depends on the rates as the value does on the coordinates
            rate_slope(m, i, k, 0, sign * cq * follow, w, own);
        }
    }
    for (int j = 0; j < measure->ndof; j++) slope[measure->dof[j]] += own[j];
}
