// SPDX-License-Identifier: MIT
//
// rub.c: with spots k = 0, 1, ... from the end that is pulled to the one that is tied, the tendon slides past the duct before
// spot k by the rate of the path behind, c_k = sum_{j >= k} w_j f_j, and its tension falls there by the angle between spots,
//   nu_k = -c_k',   T_k = T_{k-1} exp(-psi_k),   psi_k = (after_{k-1} turn_{k-1} + kink_k + before_k turn_k) s(nu_k),
//   s(nu) = viscous nu + friction nu/sqrt(nu^2 + creep^2)
// The path behind a kink between two spots is that from the second on, so there, too, it slides by nu_k.
// The robot gets - sum w_k T_k f_k' = T_0 nu_0 - sum (T_{k-1} - T_k) nu_k: what is lost is a sum of terms none of which is
// negative. A tendon on a winch stretches as it slides; evenly, that is c_k l/(c + extra) of what was paid out, l, so
//   nu_k = -(c_k l/(c + extra))' = -r (c_k' - a c_k),   r = l/(c + extra),   a = c'/(c + extra) - l'/l
// which is the speed of the winch at its own end.
#include "dynamics/rub.h"

#include "dynamics/kink.h"
#include "dynamics/span.h"
#include "dynamics/spot.h"

#include <math.h>
#include <string.h>

// rad: angle by which turning is rounded on the whole path
static const double rounding = 1e-5;

// How a tendon slides: nu_k = -r (c_k' - a c_k), and b = 1/(c + extra), zero where it does not stretch.
typedef struct slide {
    double r, a, b, rate; // rate: c'
} slide;

static slide slide_of(const snw_model *m, int measure, const snw_work *w) {
    const snw_measured *now = &w->measured[measure];
    const snw_measure_desc *d = &m->desc->measure[measure];
    if (d->given != SNW_MEASURE_COORDINATE) return (slide){.r = 1, .rate = -now->rate};
    const double b = 1 / (m->measure[measure].reference - now->value + d->extra);
    return (slide){.r = now->paid * b,
                   .a = -now->rate * b - now->paid_rate / now->paid,
                   .b = b,
                   .rate = -now->rate};
}

// Relative loss of tension per angle of the path, and its derivative by the sliding speed; in static steps the file gives the direction of sliding.
static double loss(const snw_model *m, int measure, const snw_work *w, double nu, double *slope) {
    const snw_measure_desc *d = &m->desc->measure[measure];
    if (w->still) {
        *slope = 0;
        return d->friction * w->measured[measure].sliding;
    }
    if (!(d->friction > 0)) {
        *slope = d->viscous;
        return d->viscous * nu;
    }
    const double size = sqrt(nu * nu + d->creep * d->creep), unit = nu / size;
    *slope = d->viscous + d->friction * (1 - unit * unit) / size;
    return d->viscous * nu + d->friction * unit;
}

// angle between a spot and the one before, of the kink between them and along their rods
static double angle(const snw_model *m, const snw_measure *x, const snw_work *w, int k) {
    const double own = w->spot[k].kink + m->spot[k].before * w->spot[k].turning;
    return k > x->spot0 ? own + m->spot[k - 1].after * w->spot[k - 1].turning : own;
}

// What is left of the tension on the way from the last spot to where the tendon is tied. The path behind is half of that way in
// the mean; no coordinate moves by it.
static double left_behind(const snw_model *m, int measure, const slide *way, const snw_work *w) {
    const snw_measure *x = &m->measure[measure];
    const int last = x->spot0 + x->nspot - 1;
    const snw_spot *p = &m->spot[last];
    const snw_spot_work *at = &w->spot[last];
    if (p->span >= 0) return 1;
    const double c = 0.5 * p->after * at->f, dc = 0.5 * p->after * at->df;
    double of_nu;
    const double lost = loss(m, measure, w, -way->r * (dc - way->a * c), &of_nu);
    return exp(-p->after * at->turning * lost);
}

void snw_rub_shares(const snw_model *m, int measure, double t, const snw_state *s, snw_work *w) {
    const snw_measure *x = &m->measure[measure];
    const snw_measure_desc *d = &m->desc->measure[measure];
    const slide way = slide_of(m, measure, w);
    double c = 0, dc = 0, fallen = 0;
    for (int k = x->spot0 + x->nspot - 1; k >= x->spot0; k--) {
        const snw_spot *p = &m->spot[k];
        snw_spot_work *at = &w->spot[k];
        c += p->w * at->f;
        dc += p->w * at->df;
        at->nu = -way.r * (dc - way.a * c);
        if (p->kink >= 0) at->kink = snw_kink_turn(m, p->kink, t, s, w);
        if (p->span >= 0) continue;
        at->dxi = snw_spot_strain_slope(m, p, t, s);
        at->turning = snw_spot_turning(p, at->xi, at->dxi, rounding / x->reference, NULL, NULL);
    }
    double *G = w->G + x->store;
    for (int j = 0; j < x->ndof; j++) G[j] = 0;
    for (int k = x->spot0; k < x->spot0 + x->nspot; k++) {
        const snw_spot *p = &m->spot[k];
        snw_spot_work *at = &w->spot[k];
        double of_nu, slope[6];
        fallen += angle(m, x, w, k) * loss(m, measure, w, at->nu, &of_nu);
        at->share = exp(-fallen);
        if (p->span >= 0) continue;
        (void)snw_spot_density(d, p, at->xi, slope);
        snw_spot_spread(m, p, m->spot_phi + p->phi, -p->w * at->share, slope, G);
    }
    w->measured[measure].tied = exp(-fallen) * left_behind(m, measure, &way, w);
}

// sum of unstretched parts less what was paid out, and its slope in the tension e
static double lacking(const snw_model *m, int measure, double paid, const snw_work *w, double e,
                      double *slope) {
    const snw_measure *x = &m->measure[measure];
    const snw_measure_desc *d = &m->desc->measure[measure];
    const double c = d->compliance, outside = 1 + c * e;
    double sum = d->extra / outside - paid;
    *slope = -c * d->extra / (outside * outside);
    for (int k = x->spot0; k < x->spot0 + x->nspot; k++) {
        const double length = m->spot[k].w * w->spot[k].f, share = w->spot[k].share;
        const double stretch = 1 + c * e * share;
        sum += length / stretch;
        *slope -= c * share * length / (stretch * stretch);
    }
    return sum;
}

// The sum falls and is convex in e: Newton's steps from slack go up to the root and never beyond.
double snw_rub_winch(const snw_model *m, int measure, double paid, const snw_work *w) {
    double e = 0, slope;
    for (int i = 0; i < 60; i++) {
        const double step = -lacking(m, measure, paid, w, e, &slope) / slope;
        if (i == 0 && !(step > 0)) return 0; // slack
        e += step;
        if (!(step > 1e-16 * e)) break;
    }
    return e;
}

double snw_rub_heat(const snw_model *m, int measure, const snw_work *w) {
    const snw_measure *x = &m->measure[measure];
    double before = 1, sum = 0;
    for (int k = x->spot0; k < x->spot0 + x->nspot; k++) {
        sum += (before - w->spot[k].share) * w->spot[k].nu;
        before = w->spot[k].share;
    }
    return w->measured[measure].effort * sum;
}

// to += factor times the derivative of the angle turned per length at a spot
static void spread_turning(const snw_model *m, const snw_measure *x, const snw_work *w, int k,
                           double factor, double *to) {
    const snw_spot *p = &m->spot[k];
    double of_xi[6], of_dxi[6];
    if (factor == 0 || p->span >= 0) return;
    (void)snw_spot_turning(p, w->spot[k].xi, w->spot[k].dxi, rounding / x->reference, of_xi,
                           of_dxi);
    snw_spot_spread(m, p, m->spot_phi + p->phi, factor, of_xi, to);
    snw_spot_spread(m, p, m->spot_dphi + p->phi, factor, of_dxi, to);
}

// T += column row' between the coordinates of a measure
static void outer(const snw_measure *x, const double *column, const double *row, size_t ld,
                  double *T) {
    for (int j = 0; j < x->ndof; j++) {
        if (row[j] == 0) continue;
        double *to = T + (size_t)x->dof[j] * ld;
        for (int i = 0; i < x->ndof; i++) to[x->dof[i]] += column[i] * row[j];
    }
}

// r has sum w_k T_k g_k, g_k = df_k/dq, and T_k = e share_k, so besides the curvature of f
//   dr = (sum w_k share_k g_k) de - sum_k S_k dpsi_k,   S_k = sum_{j >= k} w_j T_j g_j
// A winch adds de = -(sum w_k/(1 + c T_k) g_k dq + sum_k C_k dpsi_k)/slope, C_k = sum_{j >= k} w_j f_j c T_j/(1 + c T_j)^2.
//
// Sums over the spots behind one: derivatives of c_k (P) and of c_k' (R) in q, c_k and c_k' themselves.
typedef struct behind {
    double *P, *R, c, dc;
} behind;

// to += factor df/dq at a spot
static void spread_slope(const snw_model *m, const snw_measure_desc *d, const snw_work *w, int k,
                         double factor, double *to) {
    const snw_spot *p = &m->spot[k];
    double g[6];
    if (p->span >= 0) {
        snw_span_slope(m, &m->span[p->span], w, &w->spot[k], factor, to);
        return;
    }
    (void)snw_spot_density(d, p, w->spot[k].xi, g);
    snw_spot_spread(m, p, m->spot_phi + p->phi, factor, g, to);
}

static void add_behind(const snw_model *m, const snw_measure_desc *d, const snw_work *w, int k,
                       behind *sum) {
    const snw_spot *p = &m->spot[k];
    const snw_spot_work *at = &w->spot[k];
    spread_slope(m, d, w, k, p->w, sum->P);
    if (p->span >= 0) {
        snw_span_rate_slope(m, &m->span[p->span], w, at, 1, sum->R);
    } else {
        double bend[6];
        snw_spot_bend(p, at->xi, at->rate, bend);
        snw_spot_spread(m, p, m->spot_phi + p->phi, p->w, bend, sum->R);
    }
    sum->c += p->w * at->f;
    sum->dc += p->w * at->df;
}

// row <- factor (cq dnu/dq + cv dnu/dv)
static void slide_row(const slide *y, const behind *at, const behind *all, double factor, double cq,
                      double cv, size_t n, double *row) {
    const double f = factor * y->r, cb = at->c * y->b;
    const double of_P = cq * y->a - cv, of_R = cq;
    const double of_all = cq * y->b * (at->dc - y->a * at->c - cb * y->rate) + cv * cb;
    for (size_t j = 0; j < n; j++) {
        row[j] = f * (of_P * at->P[j] - of_R * at->R[j] + of_all * all->P[j] + cq * cb * all->R[j]);
    }
}

void snw_rub_columns(const snw_model *m, int measure, double paid, double part, double cq,
                     double cv, snw_work *w, size_t ld, double *T) {
    const snw_measure *x = &m->measure[measure];
    const snw_measure_desc *d = &m->desc->measure[measure];
    const size_t n = (size_t)x->ndof;
    const slide way = slide_of(m, measure, w);
    const bool winch = d->given == SNW_MEASURE_COORDINATE;
    const double e = w->measured[measure].effort, full = winch ? e / part : e;
    const double *G = w->slope_of + x->store; // -sum w share g
    double *S = w->rub, *row = S + n, *column = row + n, *reach = column + n;
    behind here = {.P = reach + n, .R = reach + 2 * n},
           all = {.P = reach + 3 * n, .R = reach + 4 * n};
    memset(S, 0, SNW_RUB_VECTORS * n * sizeof *S);
    for (int k = x->spot0; k < x->spot0 + x->nspot; k++) add_behind(m, d, w, k, &all);
    double C = 0, slope = -1;
    if (winch) (void)lacking(m, measure, paid, w, full, &slope);
    const double yield = winch ? part / slope : 0;
    for (int k = x->spot0 + x->nspot - 1; k >= x->spot0; k--) {
        const snw_spot *p = &m->spot[k];
        const snw_spot_work *at = &w->spot[k];
        double of_nu;
        spread_slope(m, d, w, k, p->w * e * at->share, S);
        add_behind(m, d, w, k, &here);
        const double cT = d->compliance * full * at->share, stretch = 1 + cT;
        C += p->w * at->f * cT / (stretch * stretch);
        spread_slope(m, d, w, k, p->w / stretch, reach);
        // dpsi of the way before this spot
        const double turned = angle(m, x, w, k), s = loss(m, measure, w, at->nu, &of_nu);
        slide_row(&way, &here, &all, turned * of_nu, cq, cv, n, row);
        if (p->kink >= 0) snw_kink_slope(m, p->kink, w, cq * s, row);
        spread_turning(m, x, w, k, cq * s * p->before, row);
        if (k > x->spot0) spread_turning(m, x, w, k - 1, cq * s * m->spot[k - 1].after, row);
        for (size_t j = 0; j < n; j++) column[j] = -S[j] + yield * C * G[j];
        outer(x, column, row, ld, T);
    }
    if (!winch || cq == 0) return;
    for (size_t j = 0; j < n; j++) row[j] = cq * yield * reach[j];
    outer(x, G, row, ld, T);
}
