// SPDX-License-Identifier: MIT
//
// Hard contacts in equilibria, theory.md (5.8): the energy is least among the configurations
// without penetration. Multipliers P by the augmented Lagrangian: with the force N = <P - k g>_+
// the equilibrium is one of a compliant contact, then P <- N, until g = 0 where N > 0 and g >= 0
// elsewhere. There is no friction.
#include "study/statics_private.h"

#include "base/fail.h"
#include "dynamics/hard_contact.h"

#include <math.h>
#include <string.h>

static const double STIFFNESS = 1e4; // k, of the typical stiffness of the robot
static const double SMOOTH = 1e-5;   // width of the onset at first, of the length of the robot
static const double SHARPER = 0.1;   // then, of the largest violation
static const double SLOWER = 1e-2; // at least, of the last width: contacts that touch without force
static const double SOFTER = 1e-2; // of the stiffness, where the onset does not narrow
static const double LEAST_SMOOTH = 1e-11;
static const double GAP = 1e-10; // of the length of the robot: closed

void snw_statics_hard_begin(snw_statics *st) {
    const snw_model *m = st->m;
    double energy = 0;
    for (int i = 0; i < m->nv; i++) energy = fmax(energy, m->scale[i] * m->typical[i]);
    st->w->hard_stiffness = STIFFNESS * energy / (m->length * m->length);
    st->w->hard_smooth = SMOOTH * m->length;
    st->w->hard_holds = false;
}

void snw_statics_hard_reset(snw_statics *st) {
    if (st->m->hard) snw_hard_release(st->m, st->w);
}

// Violation by a contact with this gap and force
static double violation_of(const snw_work *w, double gap, double force) {
    return force > w->hard_stiffness * w->hard_smooth ? fabs(gap) : fmax(-gap, 0);
}

// Largest penetration, or gap of a contact with a force; *worst <- that contact, point -2: none
static double hard_violation(const snw_statics *st, snw_hard_contact *worst) {
    const snw_model *m = st->m;
    const snw_work *w = st->w;
    double most = 0;
    worst->point = -2;
    for (int k = 0; k < m->ncontact_point; k++) {
        if (!snw_contact_is_hard(m, k) || !w->contact_point[k].in_contact) continue;
        const double off =
            violation_of(w, w->contact_point[k].gap, w->contact_point[k].elastic_force);
        if (!(off <= most)) most = off, *worst = snw_hard_point(k);
    }
    for (int i = 0; i < m->nstop; i++) {
        const snw_stop_work *at = &w->stop[i];
        if (!m->stop[i].hard || !snw_seg_is_active(m, w, m->block[m->stop[i].block].seg)) continue;
        const double arm = m->stop[i].arm;
        const double off = violation_of(w, arm * at->gap, at->elastic_force / arm);
        if (!(off <= most)) most = off, *worst = snw_hard_limit(2 * i + (at->way < 0));
    }
    for (int i = 0; i < snw_ntouch(m, w); i++) {
        if (!w->touch[i].hard) continue;
        const double off = violation_of(w, w->touch[i].gap, w->touch[i].elastic_force);
        if (!(off <= most)) most = off, *worst = snw_hard_rods(&w->touch[i]);
    }
    return most;
}

// Multipliers <- present forces
static void keep_forces(snw_statics *st) {
    const snw_model *m = st->m;
    snw_work *w = st->w;
    for (int k = 0; k < m->ncontact_point; k++)
        w->hard_force[k] = snw_contact_is_hard(m, k) ? w->contact_point[k].elastic_force : 0;
    for (int i = 0; i < m->nstop; i++) {
        const int upper = w->stop[i].way < 0;
        if (!m->stop[i].hard) continue;
        w->hard_stop[2 * i + upper] = w->stop[i].elastic_force / m->stop[i].arm;
        w->hard_stop[2 * i + !upper] = 0;
    }
    w->nhard_touch = 0;
    for (int i = 0; i < snw_ntouch(m, w); i++) {
        if (!w->touch[i].hard || !(w->touch[i].elastic_force > 0)) continue;
        w->hard_touch[w->nhard_touch] = w->touch[i];
        w->hard_touch[w->nhard_touch++].held[0] = w->touch[i].elastic_force;
    }
}

snw_status snw_statics_hard_finish(snw_statics *st, const snw_statics_opts *opts, double t,
                                   snw_statics_info *info, snw_error *err) {
    enum { MOST = 60, TRIALS = 5 };
    const snw_model *m = st->m;
    snw_work *w = st->w;
    const double closed = GAP * fmin(1, m->length);
    double last = INFINITY;
    snw_hard_contact worst;
    for (int i = 0; i < MOST; i++) {
        snw_statics_evaluate(st, 1, st->x);
        const double off = hard_violation(st, &worst);
        if (off <= closed && w->hard_smooth <= closed) return SNW_OK;
        keep_forces(st);
        // a robot that yields little to the contacts needs a larger stiffness
        if (off > 0.2 * last) w->hard_stiffness *= 10;
        last = off;
        const double width = w->hard_smooth;
        w->hard_smooth =
            fmax(fmax(SHARPER * off, SLOWER * w->hard_smooth), LEAST_SMOOTH * m->length);
        snw_status s = SNW_E_DIVERGED;
        memcpy(st->kept, st->x, (size_t)(m->nq + m->nconstraint) * sizeof *st->x);
        for (int n = 0; n < TRIALS && s != SNW_OK; n++) {
            st->from = 1;
            s = snw_statics_newton(st, opts, info);
            st->from = 0;
            if (s == SNW_E_STOPPED) return s;
            if (s == SNW_OK) break;
            // contacts that open and close in turns: a softer onset
            memcpy(st->x, st->kept, (size_t)(m->nq + m->nconstraint) * sizeof *st->x);
            w->hard_smooth *= 10;
        }
        if (s != SNW_OK) break;
        // a contact that touches without force opens and closes at each width: less stiffness
        if (off <= closed && w->hard_smooth >= width) w->hard_stiffness *= SOFTER;
    }
    if (worst.point < -1)
        return snw_fail(err, SNW_E_DIVERGED, "static at t = %g s: no equilibrium", t);
    if (worst.limit >= 0)
        return snw_fail(err, SNW_E_DIVERGED,
                        "static at t = %g s: the hard stop of link '%s' does not settle, its "
                        "coordinate is %.3g beyond the limit. Let loads grow along a path (static: "
                        "{for, step}), or give the stop a stiffness instead of 'hard'",
                        t, snw_hard_link(m, &worst, 0),
                        -snw_hard_gap(m, w, &worst) / m->stop[worst.limit / 2].arm);
    return snw_fail(err, SNW_E_DIVERGED,
                    "static at t = %g s: the hard contact '%s' of link '%s' does not settle, its "
                    "gap is %.3g m. Let loads grow along a path (static: {for, step}), or give the "
                    "contact a stiffness instead of 'hard'",
                    t, snw_hard_law_name(m, snw_hard_law(m, &worst)), snw_hard_link(m, &worst, 0),
                    snw_hard_gap(m, w, &worst));
}
