// SPDX-License-Identifier: MIT
//
// Report of a step with hard contacts for derivatives (integrate/step_watch.h, theory.md 7.5): the
// contacts that act, their forces and impulses, and whether they stick or slide.
#include "integrate/moreau.h"

#include <math.h>

static const double BOUNDARY = 1e-8; // of the normal force: distance from the friction cone that
                                     // counts as none
static const double STILL = 1e-9;    // of the length of the robot per second: no slip
static const double LIGHT = 1e-9;    // of the largest force: none

// State of a contact with forces f, slip velocities u and friction coefficients mu; *unclear <- it
// is at the boundary between two of them.
static snw_hard_state state_of(const snw_moreau *c, const double f[3], const double u[2],
                               const double mu[2], const char **unclear) {
    if (!(f[0] > 0)) return SNW_HARD_OPEN;
    double used = 0, slip = 0;
    for (int j = 0; j < 2; j++) {
        if (!(mu[j] > 0)) continue;
        used = hypot(used, f[1 + j] / mu[j]);
        slip = hypot(slip, u[j]);
    }
    if (!(mu[0] > 0 || mu[1] > 0)) return SNW_HARD_SLIDES;
    if (f[0] - used > BOUNDARY * f[0]) return SNW_HARD_STICKS;
    if (!(slip > STILL * c->m->length))
        *unclear = "is at the boundary between sticking and sliding";
    return SNW_HARD_SLIDES;
}

static double largest(int n, const double *f) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, f[3 * i]);
    return most;
}

void snw_moreau_note_forces(snw_moreau *c, double h) {
    const double most = largest(c->nc, c->force);
    for (int i = 0; i < c->nc; i++) {
        const double *f = c->force + 3 * i, *u = c->u + 3 * i, slip[2] = {u[1] / h, u[2] / h};
        snw_hard_step_contact *x = &c->acting[i];
        *x = (snw_hard_step_contact){.P = {f[0], f[1], f[2]}};
        x->in_step = state_of(c, f, slip, c->mu + 2 * i, &x->unclear);
        if (f[0] > 0 && f[0] < LIGHT * most) x->unclear = "touches without force";
    }
    c->nstep = c->nc;
}

void snw_moreau_note_impulses(snw_moreau *c, bool bounced) {
    const double most = largest(c->nc, c->impulse);
    for (int i = 0; i < c->nc; i++) {
        const double *p = c->impulse + 3 * i, *f = c->force + 3 * i;
        snw_hard_step_contact *x = &c->acting[i];
        if (i >= c->nstep) *x = (snw_hard_step_contact){.closes = true};
        x->at = c->candidate[i];
        const double e = snw_hard_restitution(c->m, &x->at);
        x->bounces = bounced && e > 0 && c->approach[i] < -c->slowest;
        for (int j = 0; j < 3; j++) x->P1[j] = f[j], x->p[j] = p[j];
        x->in_impulse = state_of(c, p, c->u + 3 * i + 1, c->mu + 2 * i, &x->unclear);
        if (p[0] > 0 && p[0] < LIGHT * most) x->unclear = "touches without force";
    }
}

void snw_moreau_report(const snw_moreau *c, double h, snw_hard_step *r) {
    r->n = c->nc;
    r->contact = c->acting;
    r->q0 = c->now->q, r->v0 = c->now->v;
    r->theta = c->theta;
    r->v = c->v_step, r->v1 = c->v_impulse;
    r->impulse = c->row_impulse;
    const snw_step_report report = {
        .event = SNW_WATCH_HARD, .s = c->end, .t_laws = c->t_laws, .h = h, .d = c->d, .hard = r};
    c->watch.note(c->watch.user, &report);
}
