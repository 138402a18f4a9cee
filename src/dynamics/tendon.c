// SPDX-License-Identifier: MIT
//
// Coordinates, efforts, forces, power and tangent of tendons and chambers, theory.md (3.11.1) to
// (3.11.3). Quantities at quadrature points come from tendon_point.c, of straight segments from
// tendon_segment.c, tension losses from tendon_friction.c.

#include "dynamics/tendon.h"

#include "dynamics/chamber.h"
#include "dynamics/segment_pair.h"
#include "dynamics/tendon_friction.h"
#include "dynamics/tendon_point.h"
#include "dynamics/tendon_segment.h"

#include <math.h>
#include <string.h>

// ---- efforts ----------------------------------------------------------------

static bool tendon_is_active(const snw_model *m, int i, const snw_inputs *in, snw_at at) {
    const snw_law when = m->tendon[i].when;
    return !when || snw_tendon_is_manual(in, i) || snw_any(snw_expr_value(when, at) != 0);
}

static bool area_depends_on_pressure(const snw_tendon *tendon) {
    return tendon->area && tendon->area->by_pressure;
}

// effort and its derivative by the coordinate
static void effort_of(const snw_model *m, int i, const snw_inputs *in, snw_at at, snw_work *w) {
    const snw_tendon *tendon = &m->tendon[i];
    snw_tendon_work *out = &w->tendon[i];
    const double given = in->tendon[i].v;
    out->effort = out->stiffness = 0;
    out->gain = 1;
    if (!tendon_is_active(m, i, in, at)) return;
    if (area_depends_on_pressure(tendon) && !snw_gives_effort(tendon->given)) {
        snw_chamber_pressure(m, i, given, in->ambient[i], *in->signal_fraction, w, out);
        return;
    }
    switch (tendon->given) {
    case SNW_GIVEN_EFFORT:
        out->effort = snw_tendon_reads_signals(m, in, i) ? snw_tendon_law(m, i, in, at) : given;
        if (tendon->type->only_pulls) out->effort = snw_select(out->effort < 0, 0, out->effort);
        break;
    case SNW_GIVEN_SOURCE: {
        const double x = snw_tendon_reads_signals(m, in, i) ? snw_tendon_law(m, i, in, at) : given;
        const snw_path_effort f = tendon->type->effort(tendon->constant, x, out->value);
        out->effort = f.e, out->stiffness = f.by_y, out->gain = f.by_x;
        break;
    }
    case SNW_GIVEN_MOTION: {
        if (snw_any(tendon->unit > 0)) break; // a constraint row
        // (length + extra)/(1 + compliance tension) = length paid out
        out->paid_out = tendon->reference + tendon->extra - given;
        out->paid_out_rate = -in->tendon[i].d;
        out->fraction = *in->signal_fraction;
        const double strain = (tendon->reference - out->value + tendon->extra) / out->paid_out - 1;
        const snw_mask slack = strain <= 0;
        if (snw_all(slack)) break;
        const double stiffness = -out->fraction / (out->paid_out * tendon->compliance);
        out->effort = snw_select(slack, 0, out->fraction * strain / tendon->compliance);
        out->stiffness = snw_select(slack, 0, stiffness);
        break;
    }
    case SNW_GIVEN_GAS: // given: n R T
        out->effort = *in->signal_fraction * (given / out->value - in->ambient[i]);
        out->stiffness = -*in->signal_fraction * given / (out->value * out->value);
        // without a volume there is no physical pressure: the solver must step back
        out->effort = snw_select(out->value > 0, out->effort, NAN);
        break;
    case SNW_GIVEN_RATE:
    case SNW_GIVEN_ACTIVATION: // not along a path
        break;
    }
}

static double static_sliding(const snw_tendon *tendon, double t) {
    const double x = tendon->sliding ? snw_expr_value(tendon->sliding, (snw_at){.t = t}) : 0;
    return snw_select(x > 1, 1, snw_select(x < -1, -1, x));
}

// ---- coordinates and forces -------------------------------------------------

// value and rate of a tendon or chamber and its points; w->G <- dy/dq along rods
static void tendon_gather(const snw_model *m, int i, const snw_inputs *in, const snw_state *s,
                          bool is_static, snw_work *w) {
    const snw_tendon *tendon = &m->tendon[i];
    double *G = w->G + tendon->store, c = 0, dc = 0;
    for (int j = 0; j < tendon->ndof; j++) G[j] = 0;
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
        const snw_tendon_point *p = &m->tendon_point[k];
        snw_tendon_point_work *at = &w->tendon_point[k];
        *at = (snw_tendon_point_work){.tension_fraction = 1};
        if (p->segment >= 0) {
            snw_tendon_segment_motion(&m->tendon_segment[p->segment], w, at);
        } else {
            double d1[6];
            if (p->same >= 0) {
                at->xi = w->tendon_point[p->same].xi, at->rate = w->tendon_point[p->same].rate;
            } else {
                snw_tendon_point_strain(m, p, in->t, s, &at->xi, is_static ? NULL : &at->rate);
            }
            if (tendon->area) continue; // once its pressure is known
            at->f = snw_tendon_point_density(tendon, p, at->xi, d1);
            for (int e = 0; e < 6; e++) at->df += d1[e] * at->rate.e[e];
            snw_tendon_point_scatter(m, p, m->tendon_phi + p->phi, tendon->sign * p->w, d1, G);
        }
        c += p->w * at->f;
        dc += p->w * at->df;
    }
    if (tendon->area) {
        const bool known = area_depends_on_pressure(tendon) && !tendon->reads_signals;
        if (known) snw_tendon_evaluate(m, i, in, w);
        snw_chamber_gather(m, i, known ? w->tendon[i].effort : 0, w);
        return;
    }
    w->tendon[i].value = tendon->type->is_length ? tendon->reference - c : c;
    w->tendon[i].rate = tendon->sign * dc;
    w->tendon[i].tied_fraction = 1;
}

void snw_tendons_motion(const snw_model *m, const snw_inputs *in, const snw_state *s,
                        bool is_static, snw_work *w) {
    for (int i = 0; i < m->ntendon; i++) tendon_gather(m, i, in, s, is_static, w);
}

// w->r, w->F -= forces of the effort on coordinates of rods and at the ends of straight segments
static void tendon_add_forces(const snw_model *m, int i, snw_work *w) {
    const snw_tendon *tendon = &m->tendon[i];
    const double *G = w->G + tendon->store, effort = w->tendon[i].effort;
    if (tendon->area) {
        snw_chamber_gather(m, i, effort, w);
        snw_chamber_add_forces(m, i, w);
        return;
    }
    for (int j = 0; j < tendon->ndof; j++) w->r[tendon->dof[j]] -= effort * G[j];
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
        const int segment = m->tendon_point[k].segment;
        if (segment < 0) continue;
        snw_tendon_segment_add(&m->tendon_segment[segment], &w->tendon_point[k],
                               effort * w->tendon_point[k].tension_fraction, w);
    }
}

void snw_tendons_add(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                     snw_work *w) {
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *tendon = &m->tendon[i];
        snw_tendon_work *out = &w->tendon[i];
        if (tendon->row >= 0) {
            out->effort = tendon->unit * s->lambda[tendon->row];
            out->stiffness = 0;
            w->violation[tendon->row] = tendon->unit * (out->value - in->tendon[i].v);
        } else {
            effort_of(m, i, in, at, w);
        }
        // statics: the sliding direction of friction is an input
        out->sliding = is_static ? static_sliding(tendon, in->t) : 0;
        if (tendon->has_friction && (!is_static || snw_any(out->sliding != 0)) &&
            snw_any(out->effort > 0)) {
            snw_tendon_friction_distribute(m, i, in->t, s, w);
            if (snw_gives_motion(tendon->given)) {
                out->effort = out->fraction * snw_tendon_friction_winch(m, i, out->paid_out, w);
            }
        }
        tendon_add_forces(m, i, w);
    }
}

// to += generalised force per unit effort of all straight segments of a tendon, by one recursion to
// the root instead of the Jacobians of their ends
static void add_straight_segments(const snw_model *m, const snw_tendon *tendon, snw_work *w,
                                  double *to) {
    memset(w->tendon_wrench, 0, (size_t)m->nseg * sizeof *w->tendon_wrench);
    memset(w->tendon_force, 0, (size_t)m->nv * sizeof *w->tendon_force);
    bool any = false;
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
        if (m->tendon_point[k].segment < 0) continue;
        const snw_tendon_segment *p = &m->tendon_segment[m->tendon_point[k].segment];
        const snw_tendon_point_work *at = &w->tendon_point[k];
        const snw_vec3 pull = snw_scale(at->tension_fraction, at->n);
        snw_wrench *a = &w->tendon_wrench[p->a], *b = &w->tendon_wrench[p->b];
        a->f = snw_add(a->f, snw_rotate_inv(w->g[p->a].R, pull));
        b->f = snw_sub(b->f, snw_rotate_inv(w->g[p->b].R, pull));
        any = true;
    }
    if (!any) return;
    snw_wrenches_project(m, w, w->tendon_wrench, w->tendon_force);
    for (int j = 0; j < tendon->ndof; j++) to[j] += w->tendon_force[tendon->dof[j]];
}

void snw_tendons_jacobian(const snw_model *m, snw_work *w) {
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *tendon = &m->tendon[i];
        double *to = w->tendon_jacobian + tendon->store;
        for (int j = 0; j < tendon->ndof; j++) to[j] = w->G[tendon->store + (size_t)j];
        for (int j = 0; j < tendon->ndof && tendon->area && tendon->row >= 0; j++) {
            w->tendon_row[tendon->store + (size_t)j] = tendon->unit * to[j];
        }
        if (m->bare && m->ntendon_segment) {
            add_straight_segments(m, tendon, w, to);
            continue;
        }
        for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
            const int segment = m->tendon_point[k].segment;
            if (segment < 0) continue;
            snw_tendon_segment_jacobian(m, &m->tendon_segment[segment], w, &w->tendon_point[k],
                                        -w->tendon_point[k].tension_fraction, to);
        }
    }
}

double snw_tendon_power(const snw_model *m, int i, const snw_work *w) {
    const snw_tendon *tendon = &m->tendon[i];
    if (tendon->area) return snw_chamber_power(m, i, false, w);
    if (!tendon->has_friction) return w->tendon[i].effort * w->tendon[i].rate;
    double rods = 0;
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
        rods -= w->tendon_point[k].tension_fraction * m->tendon_point[k].w * w->tendon_point[k].df;
    }
    return w->tendon[i].effort * rods + snw_tendon_friction_heat(m, i, w);
}

double snw_tendons_power(const snw_model *m, const snw_work *w) {
    double power = 0;
    for (int i = 0; i < m->ntendon; i++) power += snw_tendon_power(m, i, w);
    return power;
}

double snw_tendons_heat(const snw_model *m, const snw_work *w) {
    double heat = 0;
    for (int i = 0; i < m->ntendon; i++) {
        if (m->tendon[i].has_friction) heat += snw_tendon_friction_heat(m, i, w);
    }
    return heat;
}

// power per effort of point k on given strains; straight segments act on sections instead
static double given_power(const snw_model *m, const snw_tendon *tendon, int k, const snw_work *w) {
    const snw_tendon_point *p = &m->tendon_point[k];
    if (p->segment >= 0) return 0;
    const snw_rod *rod = &m->rod[p->rod];
    const snw_tendon_point_work *at = &w->tendon_point[k];
    double d1[6], sum = 0;
    (void)snw_tendon_point_density(tendon, p, at->xi, d1);
    for (int e = 0; e < 6; e++) sum += rod->given[e] ? d1[e] * at->rate.e[e] : 0;
    return tendon->sign * p->w * at->tension_fraction * sum;
}

double snw_tendons_given_power(const snw_model *m, const snw_work *w) {
    double power = 0;
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *tendon = &m->tendon[i];
        double sum = 0;
        if (tendon->area) {
            power += snw_chamber_power(m, i, true, w);
            continue;
        }
        for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
            sum += given_power(m, tendon, k, w);
        }
        power += w->tendon[i].effort * sum;
    }
    return power;
}

// Does a law of signals give the effort now?
static bool law_acts(const snw_model *m, int i, const snw_inputs *in, const snw_work *w) {
    const snw_at at = {.t = in->t, .signal = w->signal};
    const bool slack = m->tendon[i].type->only_pulls && snw_all(w->tendon[i].effort == 0);
    return snw_tendon_reads_signals(m, in, i) && tendon_is_active(m, i, in, at) && !slack;
}

double snw_tendon_effort_by(const snw_model *m, int i, const snw_inputs *in, const snw_work *w,
                            int signal) {
    const snw_at at = {.t = in->t, .signal = w->signal};
    if (!law_acts(m, i, in, w)) return 0;
    return *in->signal_fraction * w->tendon[i].gain *
           snw_expr_jet_signal(m->tendon[i].law, at, signal).d;
}

void snw_tendons_signal_derivative(const snw_model *m, const snw_inputs *in, const snw_work *w,
                                   int signal, double *derivative) {
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *tendon = &m->tendon[i];
        if (!law_acts(m, i, in, w)) continue;
        const double f = snw_tendon_effort_by(m, i, in, w, signal);
        for (int j = 0; j < tendon->ndof; j++) {
            derivative[tendon->dof[j]] += f * w->tendon_jacobian[tendon->store + (size_t)j];
        }
    }
}

// Derivatives of the density at point k on a rod: d1 <- df/dxi, d2 <- d2f/dxi2 xi'. The area of a
// chamber with a constraint row does not depend on its pressure.
static void point_derivatives(const snw_model *m, int i, int k, const snw_work *w, double d1[6],
                              double d2[6]) {
    const snw_tendon *tendon = &m->tendon[i];
    const snw_tendon_point *p = &m->tendon_point[k];
    const snw_tendon_point_work *at = &w->tendon_point[k];
    for (int e = 0; e < 6; e++) d2[e] = 0; // volumes of constant area are linear in the strain
    if (tendon->area) {
        snw_chamber_derivatives(m, i, k, w, d1, d2);
        return;
    }
    (void)snw_tendon_point_density(tendon, p, at->xi, d1);
    if (tendon->type->is_length) snw_tendon_point_d2(p, at->xi, at->rate, d2);
}

// d2f/dt2 at a point = df/dxi . xi'' + xi' . (d2f/dxi2 xi')
static double point_second_rate(const snw_model *m, int i, int k, double t, const snw_state *s,
                                const snw_work *w) {
    const snw_tendon_point_work *at = &w->tendon_point[k];
    double d1[6], d2[6], sum = 0;
    const snw_twist ddxi = snw_tendon_point_strain_d2(m, &m->tendon_point[k], t, s);
    point_derivatives(m, i, k, w, d1, d2);
    for (int e = 0; e < 6; e++) sum += d1[e] * ddxi.e[e] + d2[e] * at->rate.e[e];
    return sum;
}

void snw_tendons_rates(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_work *w, double *rate, double *acceleration) {
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *tendon = &m->tendon[i];
        if (tendon->row < 0) continue;
        if (rate) rate[tendon->row] = tendon->unit * (w->tendon[i].rate - in->tendon[i].d);
        if (!acceleration) continue;
        double sum = 0;
        for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
            const snw_tendon_point *p = &m->tendon_point[k];
            const snw_tendon_point_work *at = &w->tendon_point[k];
            sum += p->segment >= 0 ? snw_tendon_segment_d2(&m->tendon_segment[p->segment], w, at)
                                   : p->w * point_second_rate(m, i, k, in->t, s, w);
        }
        acceleration[tendon->row] = tendon->unit * (tendon->sign * sum - in->tendon[i].dd);
    }
}

// ---- derivatives ------------------------------------------------------------

// T -= f G G', f = cq de/dy: winch or gas whose effort depends on its coordinate
static void add_effort_stiffness(const snw_tendon *tendon, double f, const double *G,
                                 snw_matrix T) {
    if (snw_all(f == 0)) return;
    for (int k = 0; k < tendon->ndof; k++) {
        snw_column_entries to = snw_matrix_column(T, tendon->dof[k]);
        for (int j = 0; j < tendon->ndof; j++)
            *snw_column_at(&to, tendon->dof[j]) -= f * G[j] * G[k];
    }
}

void snw_tendons_tangent(const snw_model *m, double cq, double cv, snw_work *w, snw_matrix T) {
    if (snw_all(cq == 0) && snw_all(cv == 0)) return;
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *tendon = &m->tendon[i];
        const snw_tendon_work *now = &w->tendon[i];
        if (snw_all(now->effort == 0) && snw_all(now->stiffness == 0)) continue;
        if (tendon->has_friction && (!w->is_static || snw_any(now->sliding != 0))) {
            snw_tendon_friction_tangent(m, i, now->paid_out, now->fraction, cq, cv, w, T);
        } else {
            add_effort_stiffness(tendon, cq * now->stiffness, w->tendon_jacobian + tendon->store,
                                 T);
        }
        if (tendon->area) snw_chamber_curvature(m, i, cq, w, T);
        if (snw_all(cq == 0) || !tendon->type->is_length)
            continue; // volumes are linear in the strain
        for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
            const snw_tendon_point *p = &m->tendon_point[k];
            const double f = cq * now->effort * w->tendon_point[k].tension_fraction * p->w;
            if (p->segment >= 0) {
                snw_tendon_segment_curvature(m, tendon, &m->tendon_segment[p->segment], w,
                                             &w->tendon_point[k], f, T);
            } else {
                snw_tendon_point_curvature(m, p, w->tendon_point[k].xi, -f, T);
            }
        }
    }
}

// ---- signals ----------------------------------------------------------------

void snw_tendon_evaluate(const snw_model *m, int i, const snw_inputs *in, snw_work *w) {
    const bool later = m->tendon[i].row >= 0 || m->tendon[i].reads_signals;
    if (!later) effort_of(m, i, in, (snw_at){.t = in->t}, w);
}

// to += cq d/dq + cv d/dv of the rate f' of point k: df'/dv = df/dxi phi,
// df'/dq = (d2f/dxi2 xi') phi
static void point_rate_jacobian(const snw_model *m, int i, int k, double cq, double cv,
                                const snw_work *w, double *to) {
    const snw_tendon_point *p = &m->tendon_point[k];
    const snw_tendon_point_work *at = &w->tendon_point[k];
    double d1[6], d2[6];
    if (p->segment >= 0) {
        snw_tendon_segment_jacobian(m, &m->tendon_segment[p->segment], w, at, cv, to);
        if (!w->is_static)
            snw_tendon_segment_rate_jacobian(m, &m->tendon_segment[p->segment], w, at, cq, to);
        return;
    }
    point_derivatives(m, i, k, w, d1, d2);
    snw_tendon_point_scatter(m, p, m->tendon_phi + p->phi, cv * p->w, d1, to);
    if (w->is_static) return;
    snw_tendon_point_scatter(m, p, m->tendon_phi + p->phi, cq * p->w, d2, to);
}

void snw_tendon_jacobian(const snw_model *m, int i, snw_reading reading, double cq, double cv,
                         snw_work *w, double *jacobian) {
    const snw_tendon *tendon = &m->tendon[i];
    const double sign = tendon->sign;
    const snw_tendon_work *now = &w->tendon[i];
    // the volume of a chamber whose area depends on its pressure follows the latter, too
    const double follow = reading == SNW_READ_TENDON_EFFORT ? now->stiffness
                          : tendon->area                    ? 1 + now->by_effort * now->stiffness
                                                            : 1;
    double *own = w->tendon_variation;
    for (int j = 0; j < tendon->ndof; j++) own[j] = 0;
    for (int k = tendon->point_adr; k < tendon->point_adr + tendon->npoint; k++) {
        if (reading == SNW_READ_TENDON_RATE) {
            point_rate_jacobian(m, i, k, sign * cq, sign * cv, w, own);
        } else { // dy/dq = d(dy/dt)/dv
            point_rate_jacobian(m, i, k, 0, sign * cq * follow, w, own);
        }
    }
    for (int j = 0; j < tendon->ndof; j++) jacobian[tendon->dof[j]] += own[j];
}
