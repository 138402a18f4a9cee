// SPDX-License-Identifier: MIT
//
// Energies of a state and its forces on one side only, for the judgement of a step.
#include "integrate/step_energies.h"

#include "base/number.h"
#include "dynamics/contact.h"
#include "dynamics/force_element.h"
#include "dynamics/rod_contact.h"
#include "dynamics/stop.h"

#include <math.h>

// The set of forces is a polynomial of their flags modulo a prime, whose numbers floats hold, too.
static void add_flag(double flag, snw_step_energies *f) {
    static const double PRIME = 524287, BASE = 31;
    const double set = BASE * f->set + flag;
    f->set = set - PRIME * floor(set / PRIME);
}

// Add a force on one side to f; rate: of its gap.
static void add_force(double force, double rate, snw_step_energies *f) {
    const double acts = snw_select(force > 0, 1, 0);
    f->power += fabs(force * rate);
    f->touching += acts;
    add_flag(acts, f);
}

// Places where rods touch come in any order: the search may find the same ones in another one.
static void add_touches(const snw_model *m, const snw_work *w, snw_step_energies *f) {
    unsigned touching = 0;
    for (int k = 0; k < snw_ntouch(m, w); k++) {
        const snw_touch *touch = &w->touch[k];
        f->power += fabs(touch->elastic_force * touch->rate);
        if (!snw_any(touch->elastic_force > 0)) continue;
        const int a = m->touching_slice[touch->slice[0]].rod,
                  b = m->touching_slice[touch->slice[1]].rod;
        touching |= 1u << (unsigned)(a + 5 * b) % 19;
        f->touching += 1;
    }
    add_flag(touching, f);
}

bool snw_step_energies_count(const snw_model *m) {
    return snw_touches(m) || m->nforce_element || m->nforce_field_point || m->ntube;
}

snw_step_energies snw_step_energies_at(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                       snw_work *w) {
    snw_step_energies f = {0};
    snw_kinematics(m, in, s, false, w);
    f.stored = snw_contact_energy(m, w) + snw_rod_contacts_energy(m, w) + snw_stops_energy(m, w);
    f.interaction = snw_interaction_energy(m, w);
    f.kinetic = snw_kinetic_energy(m, w);
    f.total = f.kinetic + snw_stored_energy(m, s, w) + snw_gravity_energy(m, in, w);
    for (int k = 0; k < m->ncontact_point; k++)
        add_force(w->contact_point[k].elastic_force, w->contact_point[k].rate, &f);
    if (m->ntouching_rod) add_touches(m, w, &f);
    for (int k = 0; k < m->nstop; k++) add_force(w->stop[k].elastic_force, w->stop[k].rate, &f);
    for (int k = 0; m->one_sided && k < m->nforce_element; k++) {
        if (!snw_force_element_table[m->force_element[k].kind].one_sided) continue;
        add_force(w->force_element[k].elastic, w->force_element[k].rate, &f);
        f.stored += snw_force_element_energy(m, w, k);
    }
    return f;
}
