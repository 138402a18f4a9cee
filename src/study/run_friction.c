// SPDX-License-Identifier: MIT
//
// Warning about friction that static steps leave out: of hard contacts unless the step has
// 'friction', of compliant ones that touch, of tendons and of rods that slide through loops. There
// is no sliding velocity, so that of tendons acts only where the description gives the direction of
// their last sliding.
#include "study/run_private.h"

#include "dynamics/rod_contact.h"

#include <stdio.h>

// Of hard contacts, whose friction does not creep; that of compliant ones would.
static void warn_hard_contacts(snw_run *r) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->ncontact && !r->warned_friction; i++) {
        const snw_contact *c = &m->contact[i];
        if (!c->hard || !(c->along > 0 || c->across > 0)) continue;
        char text[320];
        r->warned_friction = true;
        (void)snprintf(text, sizeof text,
                       "run '%s': the friction of the hard contact '%.60s' is left out of static "
                       "steps; 'friction: on' follows what sticks and slips along the loads",
                       r->info.run, m->label.contact[c->of].name);
        snw_run_warn(r, text);
    }
}

// The compliant contact with friction that carries a force at an equilibrium; -1: none.
static int sticking_contact(const snw_model *m, const snw_work *w) {
    for (int k = 0; k < m->ncontact_point; k++) {
        const int i = m->contact_point[k].contact;
        const snw_contact *c = &m->contact[i];
        if (m->contact_point[k].wheel || c->hard || !(c->along > 0 || c->across > 0)) continue;
        if (w->contact_point[k].in_contact) return i;
    }
    for (int k = 0; k < snw_ntouch(m, w); k++) {
        const int i = w->touch[k].contact;
        const snw_contact *c = &m->contact[i];
        if (!c->hard && (c->along > 0 || c->across > 0)) return i;
    }
    return -1;
}

void snw_run_warn_contact_friction(snw_run *r, const snw_work *w) {
    const snw_model *m = r->now->model;
    const int i = r->warned_friction ? -1 : sticking_contact(m, w);
    char text[360];
    if (i < 0) return;
    r->warned_friction = true;
    (void)snprintf(text, sizeof text,
                   "run '%s': the friction of contact '%.60s', which touches at t = %g s, is left "
                   "out of static steps, where it would creep; use a slow dynamic step, or 'hard: "
                   "true' and 'friction: on'",
                   r->info.run, m->label.contact[m->contact[i].of].name, r->state->t);
    snw_run_warn(r, text);
}

void snw_run_warn_static_friction(snw_run *r, const snw_step_desc *step) {
    const snw_model *m = r->now->model;
    if (!step->friction) warn_hard_contacts(r);
    for (int i = 0; i < m->nloop; i++) {
        if (!(m->loop[i].friction > 0) || r->warned_friction) continue;
        char text[320];
        r->warned_friction = true;
        (void)snprintf(text, sizeof text,
                       "run '%s': the friction of loop '%s' is left out of static steps, where "
                       "nothing slides; use a slow dynamic step",
                       r->info.run, m->label.loop[i].name);
        snw_run_warn(r, text);
    }
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *d = &m->tendon[i];
        if (!(d->friction > 0) || d->sliding || r->warned_friction) continue;
        char text[320];
        r->warned_friction = true;
        (void)snprintf(text, sizeof text,
                       "run '%s': the friction of tendon '%s' is left out of static steps, where "
                       "nothing slides; give the direction it slid last (sliding: 1 pulled in, -1 "
                       "let out, 0 none), or use a slow dynamic step",
                       r->info.run, d->name);
        snw_run_warn(r, text);
    }
}
