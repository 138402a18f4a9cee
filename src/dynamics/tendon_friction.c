// SPDX-License-Identifier: MIT
//
// Capstan friction of tendons: tension along the path, heat, winch tension and tangent, theory.md
// (3.11.5) and (3.11.6).
//
// Points k = 0, 1, ... run from the pulled end to the fixed end. The remaining path after point k
// is c_k = sum_{j >= k} w_j f_j. The tendon slides past the duct before point k with the speed
// nu_k, and its tension decreases there by the angle between the points:
//   nu_k = -c_k',   T_k = T_{k-1} exp(-psi_k),
//   psi_k = (after_{k-1} turning_{k-1} + corner_k + before_k turning_k) s(nu_k),
//   s(nu) = viscous nu + friction nu/sqrt(nu^2 + creep^2)
// At a corner between two points the tendon slides with the speed of the second. The power on the
// robot is - sum w_k T_k f_k' = T_0 nu_0 - sum (T_{k-1} - T_k) nu_k; no term of the dissipated sum
// is negative. A tendon on a winch stretches uniformly while it slides; with l the length paid out,
//   nu_k = -(c_k l/(c + extra))' = -r (c_k' - a c_k),   r = l/(c + extra),
//   a = c'/(c + extra) - l'/l
// At the pulled end nu_k is the speed of the winch.

#include "dynamics/tendon_friction.h"

#include "dynamics/tendon_corner.h"
#include "dynamics/tendon_point.h"
#include "dynamics/tendon_segment.h"

#include <math.h>
#include <string.h>

// rad: rounding of the angle of the whole path
static const double rounding = 1e-5;

snw_tendon_slide snw_tendon_slide_at(const snw_model *m, int tendon, const snw_work *w) {
    const snw_tendon_work *now = &w->tendon[tendon];
    const snw_tendon *x = &m->tendon[tendon];
    if (!snw_gives_motion(x->given)) return (snw_tendon_slide){.r = 1, .rate = -now->rate};
    const double b = 1 / (x->reference - now->value + x->extra);
    return (snw_tendon_slide){.r = now->paid_out * b,
                              .a = -now->rate * b - now->paid_out_rate / now->paid_out,
                              .b = b,
                              .rate = -now->rate};
}

// Relative loss of tension per angle of the path, s(nu), and its derivative; in statics the sliding
// direction is an input of the model.
static double tendon_friction_loss(const snw_model *m, int tendon, const snw_work *w, double nu,
                                   double *d1) {
    const snw_tendon *x = &m->tendon[tendon];
    if (w->is_static) {
        *d1 = 0;
        return x->friction * w->tendon[tendon].sliding;
    }
    if (!(x->friction > 0)) {
        *d1 = x->viscous;
        return x->viscous * nu;
    }
    const double size = sqrt(nu * nu + x->creep * x->creep), unit = nu / size;
    *d1 = x->viscous + x->friction * (1 - unit * unit) / size;
    return x->viscous * nu + x->friction * unit;
}

// angle of the path between a point and the previous one: corner and curvature of the rods
static double angle(const snw_model *m, const snw_tendon *x, const snw_work *w, int k) {
    const double own =
        w->tendon_point[k].corner + m->tendon_point[k].before * w->tendon_point[k].turning;
    return k > x->point_adr ? own + m->tendon_point[k - 1].after * w->tendon_point[k - 1].turning
                            : own;
}

// Tension at the fixed end over that at the last point. The mean remaining path is half the
// distance between them. For probes only: it exerts no generalised force.
static double tied_remainder(const snw_model *m, int tendon, const snw_tendon_slide *sl,
                             const snw_work *w) {
    const snw_tendon *x = &m->tendon[tendon];
    const int last = x->point_adr + x->npoint - 1;
    const snw_tendon_point *p = &m->tendon_point[last];
    const snw_tendon_point_work *at = &w->tendon_point[last];
    if (p->segment >= 0) return 1;
    const double c = 0.5 * p->after * at->f, dc = 0.5 * p->after * at->df;
    double of_nu;
    const double lost = tendon_friction_loss(m, tendon, w, -sl->r * (dc - sl->a * c), &of_nu);
    return exp(-p->after * at->turning * lost);
}

void snw_tendon_friction_distribute(const snw_model *m, int tendon, double t, const snw_state *s,
                                    snw_work *w) {
    const snw_tendon *x = &m->tendon[tendon];
    const snw_tendon_slide sl = snw_tendon_slide_at(m, tendon, w);
    double c = 0, dc = 0, loss = 0;
    for (int k = x->point_adr + x->npoint - 1; k >= x->point_adr; k--) {
        const snw_tendon_point *p = &m->tendon_point[k];
        snw_tendon_point_work *at = &w->tendon_point[k];
        c += p->w * at->f;
        dc += p->w * at->df;
        at->nu = -sl.r * (dc - sl.a * c);
        if (p->corner >= 0) at->corner = snw_tendon_corner_angle(m, p->corner, t, s, w);
        if (p->segment >= 0) continue;
        at->dxi = snw_tendon_point_strain_d1(m, p, t, s);
        at->turning =
            snw_tendon_point_turning(p, at->xi, at->dxi, rounding / x->reference, NULL, NULL);
    }
    double *G = w->G + x->store;
    for (int j = 0; j < x->ndof; j++) G[j] = 0;
    for (int k = x->point_adr; k < x->point_adr + x->npoint; k++) {
        const snw_tendon_point *p = &m->tendon_point[k];
        snw_tendon_point_work *at = &w->tendon_point[k];
        double of_nu, d1[6];
        loss += angle(m, x, w, k) * tendon_friction_loss(m, tendon, w, at->nu, &of_nu);
        at->tension_fraction = exp(-loss);
        if (p->segment >= 0) continue;
        (void)snw_tendon_point_density(x, p, at->xi, d1);
        snw_tendon_point_scatter(m, p, m->tendon_phi + p->phi, -p->w * at->tension_fraction, d1, G);
    }
    w->tendon[tendon].tied_fraction = exp(-loss) * tied_remainder(m, tendon, &sl, w);
}

// sum of unstretched lengths minus length paid out, and its derivative by the tension e
static double length_excess(const snw_model *m, int tendon, double paid_out, const snw_work *w,
                            double e, double *d1) {
    const snw_tendon *x = &m->tendon[tendon];
    const double c = x->compliance, outside = 1 + c * e;
    double sum = x->extra / outside - paid_out;
    *d1 = -c * x->extra / (outside * outside);
    for (int k = x->point_adr; k < x->point_adr + x->npoint; k++) {
        const double length = m->tendon_point[k].w * w->tendon_point[k].f,
                     fraction = w->tendon_point[k].tension_fraction;
        const double stretch = 1 + c * e * fraction;
        sum += length / stretch;
        *d1 -= c * fraction * length / (stretch * stretch);
    }
    return sum;
}

// The sum is decreasing and convex in e: Newton's iteration from e = 0 converges monotonically.
double snw_tendon_friction_winch(const snw_model *m, int tendon, double paid_out,
                                 const snw_work *w) {
    double e = 0, d1;
    for (int i = 0; i < 60; i++) {
        const double step = -length_excess(m, tendon, paid_out, w, e, &d1) / d1;
        if (i == 0 && !(step > 0)) return 0; // slack
        e += step;
        if (!(step > 1e-16 * e)) break;
    }
    return e;
}

double snw_tendon_friction_heat(const snw_model *m, int tendon, const snw_work *w) {
    const snw_tendon *x = &m->tendon[tendon];
    double before = 1, sum = 0;
    for (int k = x->point_adr; k < x->point_adr + x->npoint; k++) {
        sum += (before - w->tendon_point[k].tension_fraction) * w->tendon_point[k].nu;
        before = w->tendon_point[k].tension_fraction;
    }
    return w->tendon[tendon].effort * sum;
}

bool snw_tendon_friction_acts(const snw_model *m, int tendon, const snw_work *w) {
    const snw_tendon_work *now = &w->tendon[tendon];
    return m->tendon[tendon].has_friction && (!w->is_static || now->sliding != 0) &&
           now->effort > 0;
}

void snw_tendon_friction_slopes(const snw_model *m, int tendon, const snw_work *w,
                                const snw_work *rates, double *out) {
    const snw_tendon *x = &m->tendon[tendon];
    double loss[3] = {0}; // its derivatives
    for (int i = 0; i < 3; i++) out[i] = 0;
    for (int k = x->point_adr; k < x->point_adr + x->npoint; k++) {
        const snw_tendon_point_work *at = &w->tendon_point[k];
        const double turned = angle(m, x, w, k), nu = at->nu;
        if (w->is_static) {
            loss[0] += turned * w->tendon[tendon].sliding;
        } else {
            const double size = sqrt(nu * nu + x->creep * x->creep);
            if (size > 0) loss[0] += turned * nu / size;
            loss[1] += turned * nu;
            if (x->friction > 0)
                loss[2] -= turned * x->friction * nu * x->creep / (size * size * size);
        }
        const double power = -m->tendon_point[k].w * w->tendon[tendon].effort *
                             at->tension_fraction * rates->tendon_point[k].df;
        for (int i = 0; i < 3; i++) out[i] -= power * loss[i];
    }
}

// to += factor d(turning)/dq at a point
static void scatter_turning(const snw_model *m, const snw_tendon *x, const snw_work *w, int k,
                            double factor, double *to) {
    const snw_tendon_point *p = &m->tendon_point[k];
    double of_xi[6], of_dxi[6];
    if (factor == 0 || p->segment >= 0) return;
    (void)snw_tendon_point_turning(p, w->tendon_point[k].xi, w->tendon_point[k].dxi,
                                   rounding / x->reference, of_xi, of_dxi);
    snw_tendon_point_scatter(m, p, m->tendon_phi + p->phi, factor, of_xi, to);
    snw_tendon_point_scatter(m, p, m->tendon_dphi + p->phi, factor, of_dxi, to);
}

// T += column row' between the coordinates of a tendon
static void add_outer_product(const snw_tendon *x, const double *column, const double *row,
                              snw_matrix T) {
    for (int j = 0; j < x->ndof; j++) {
        if (row[j] == 0) continue;
        snw_column_entries to = snw_matrix_column(T, x->dof[j]);
        for (int i = 0; i < x->ndof; i++) *snw_column_at(&to, x->dof[i]) += column[i] * row[j];
    }
}

// The residual contains sum w_k T_k g_k with g_k = df_k/dq and T_k = e phi_k, phi_k the tension
// fraction. Apart from the second derivative of f,
//   dr = (sum w_k phi_k g_k) de - sum_k S_k dpsi_k,   S_k = sum_{j >= k} w_j T_j g_j
// A winch has de = -(sum w_k/(1 + c T_k) g_k dq + sum_k C_k dpsi_k)/d1 with the compliance c, d1 of
// length_excess and C_k = sum_{j >= k} w_j f_j c T_j/(1 + c T_j)^2.
//
// Sums over the remaining path: c_k, c_k', and their derivatives in q, P and R.
typedef struct remaining_path {
    double *P, *R, c, dc;
} remaining_path;

// to += factor df/dq at a point
static void scatter_density(const snw_model *m, const snw_tendon *x, const snw_work *w, int k,
                            double factor, double *to) {
    const snw_tendon_point *p = &m->tendon_point[k];
    double g[6];
    if (p->segment >= 0) {
        snw_tendon_segment_jacobian(m, &m->tendon_segment[p->segment], w, &w->tendon_point[k],
                                    factor, to);
        return;
    }
    (void)snw_tendon_point_density(x, p, w->tendon_point[k].xi, g);
    snw_tendon_point_scatter(m, p, m->tendon_phi + p->phi, factor, g, to);
}

static void add_remaining_path(const snw_model *m, const snw_tendon *x, const snw_work *w, int k,
                               remaining_path *sum) {
    const snw_tendon_point *p = &m->tendon_point[k];
    const snw_tendon_point_work *at = &w->tendon_point[k];
    scatter_density(m, x, w, k, p->w, sum->P);
    sum->c += p->w * at->f;
    sum->dc += p->w * at->df;
    if (w->is_static) return; // R is multiplied by the slope of the loss, zero in statics
    if (p->segment >= 0) {
        snw_tendon_segment_rate_jacobian(m, &m->tendon_segment[p->segment], w, at, 1, sum->R);
    } else {
        double d2[6];
        snw_tendon_point_d2(p, at->xi, at->rate, d2);
        snw_tendon_point_scatter(m, p, m->tendon_phi + p->phi, p->w, d2, sum->R);
    }
}

// row <- factor (cq dnu/dq + cv dnu/dv)
static void sliding_speed_jacobian(const snw_tendon_slide *y, const remaining_path *at,
                                   const remaining_path *all, double factor, double cq, double cv,
                                   size_t n, double *row) {
    const double f = factor * y->r, cb = at->c * y->b;
    const double of_P = cq * y->a - cv, of_R = cq;
    const double of_all = cq * y->b * (at->dc - y->a * at->c - cb * y->rate) + cv * cb;
    for (size_t j = 0; j < n; j++) {
        row[j] = f * (of_P * at->P[j] - of_R * at->R[j] + of_all * all->P[j] + cq * cb * all->R[j]);
    }
}

snw_tendon_friction_point snw_tendon_friction_point_at(const snw_model *m, int tendon, int k,
                                                       const snw_work *w) {
    const snw_tendon *x = &m->tendon[tendon];
    const snw_tendon_point *p = &m->tendon_point[k];
    const snw_tendon_point_work *at = &w->tendon_point[k];
    snw_tendon_friction_point out = {0};
    double of_nu;
    if (p->segment < 0) {
        (void)snw_tendon_point_density(x, p, at->xi, out.d1);
        if (!w->is_static) snw_tendon_point_d2(p, at->xi, at->rate, out.d2);
        (void)snw_tendon_point_turning(p, at->xi, at->dxi, rounding / x->reference, out.of_xi,
                                       out.of_dxi);
    }
    out.corner = tendon_friction_loss(m, tendon, w, at->nu, &of_nu);
    out.before = p->before * out.corner;
    out.by_speed = angle(m, x, w, k) * of_nu;
    if (k + 1 < x->point_adr + x->npoint)
        out.after = p->after * tendon_friction_loss(m, tendon, w, at[1].nu, &of_nu);
    return out;
}

void snw_tendon_friction_tangent(const snw_model *m, int tendon, double paid_out, double fraction,
                                 double cq, double cv, snw_work *w, snw_matrix T) {
    const snw_tendon *x = &m->tendon[tendon];
    const size_t n = (size_t)x->ndof;
    const snw_tendon_slide sl = snw_tendon_slide_at(m, tendon, w);
    const bool winch = snw_gives_motion(x->given);
    const double e = w->tendon[tendon].effort, full = winch ? e / fraction : e;
    const double *G = w->tendon_jacobian + x->store; // -sum w phi g
    double *S = w->tendon_friction, *row = S + n, *column = row + n, *length_jacobian = column + n;
    remaining_path here = {.P = length_jacobian + n, .R = length_jacobian + 2 * n},
                   all = {.P = length_jacobian + 3 * n, .R = length_jacobian + 4 * n};
    memset(S, 0, SNW_TENDON_FRICTION_VECTORS * n * sizeof *S);
    for (int k = x->point_adr; k < x->point_adr + x->npoint; k++)
        add_remaining_path(m, x, w, k, &all);
    double C = 0, d1 = -1;
    if (winch) (void)length_excess(m, tendon, paid_out, w, full, &d1);
    const double effort_per_length = winch ? fraction / d1 : 0;
    for (int k = x->point_adr + x->npoint - 1; k >= x->point_adr; k--) {
        const snw_tendon_point *p = &m->tendon_point[k];
        const snw_tendon_point_work *at = &w->tendon_point[k];
        double of_nu;
        scatter_density(m, x, w, k, p->w * e * at->tension_fraction, S);
        add_remaining_path(m, x, w, k, &here);
        const double cT = x->compliance * full * at->tension_fraction, stretch = 1 + cT;
        C += p->w * at->f * cT / (stretch * stretch);
        scatter_density(m, x, w, k, p->w / stretch, length_jacobian);
        // dpsi of the path before this point
        const double turned = angle(m, x, w, k),
                     s = tendon_friction_loss(m, tendon, w, at->nu, &of_nu);
        sliding_speed_jacobian(&sl, &here, &all, turned * of_nu, cq, cv, n, row);
        if (p->corner >= 0) snw_tendon_corner_jacobian(m, p->corner, w, cq * s, row);
        scatter_turning(m, x, w, k, cq * s * p->before, row);
        if (k > x->point_adr)
            scatter_turning(m, x, w, k - 1, cq * s * m->tendon_point[k - 1].after, row);
        for (size_t j = 0; j < n; j++) column[j] = -S[j] + effort_per_length * C * G[j];
        add_outer_product(x, column, row, T);
    }
    if (!winch || cq == 0) return;
    for (size_t j = 0; j < n; j++) row[j] = cq * effort_per_length * length_jacobian[j];
    add_outer_product(x, G, row, T);
}
