// SPDX-License-Identifier: MIT
//
// Results of a run by what they read besides the state.
#include "study/model_outputs.h"

#include "integrate/stats.h"
#include "model/probe_kind.h"
#include "study/probe_row.h"

// Columns of the probe of energies.
enum {
#define X(name) COLUMN_##name,
    SNW_ENERGY_LIST(X)
#undef X
        COLUMN_total
};

// Energies of rods, joints, masses, springs, cables and stops only: those of fluids and compliant
// contacts are not differentiated.
static snw_output_use use_of_energy(const snw_model *m, int column) {
    const bool known = column == COLUMN_kinetic || column == COLUMN_elastic ||
                       column == COLUMN_gravity || column == COLUMN_total;
    for (int i = 0; i < m->nforce_element; i++) {
        if (m->force_element[i].force) return SNW_OUTPUT_OTHER;
    }
    for (int i = 0; i < m->nrod; i++) {
        if (m->rod[i].section_varies) return SNW_OUTPUT_OTHER;
    }
    // hard contacts have no energy
    const bool touches = !m->hard && (m->ncontact_point > 0 || m->ntouching_rod > 0);
    return known && m->nfluid_point == 0 && !touches && m->nforce_field == 0 ? SNW_OUTPUT_ENERGY
                                                                             : SNW_OUTPUT_OTHER;
}

static snw_output_use use_of_element(const snw_model *m, const snw_probe_desc *p) {
    if (p->kind == SNW_PROBE_LENGTH || p->kind == SNW_PROBE_RATE) return SNW_OUTPUT_STATE;
    return p->kind == SNW_PROBE_TENSION && m->force_element[p->item].kind != SNW_ELEMENT_BUSHING
               ? SNW_OUTPUT_TENSION
               : SNW_OUTPUT_OTHER;
}

static snw_output_use use_of_reaction(const snw_model *m, const snw_probe_desc *p) {
    if (m->hard) return SNW_OUTPUT_OTHER; // forces of contacts beyond the joint
    if (p->of == SNW_PROBE_OF_LOOP)
        return m->loop[p->item].friction == 0 ? SNW_OUTPUT_STATE : SNW_OUTPUT_OTHER;
    return p->of == SNW_PROBE_OF_LINK && m->ntendon_segment == 0 ? SNW_OUTPUT_JOINT
                                                                 : SNW_OUTPUT_OTHER;
}

// Is it the force of a hard contact, which is an unknown of the step (adjoint_hard.c)?
static bool is_hard_force(const snw_model *m, const snw_adjoint_output *o) {
    const snw_probe_desc *p = &m->desc->probe[o->probe];
    for (int i = 0; i < m->ncontact; i++) {
        if (!m->contact[i].hard) return false;
    }
    return (p->kind == SNW_PROBE_CONTACT && o->column < 3) ||
           (p->kind == SNW_PROBE_REACTION && p->of == SNW_PROBE_OF_CONTACT);
}

bool snw_output_is_contact_force(const snw_model *m, const snw_adjoint_output *o) {
    const snw_probe_desc *p = &m->desc->probe[o->probe];
    if (p->of != SNW_PROBE_OF_CONTACT) return false;
    if (p->kind == SNW_PROBE_CONTACT ? o->column >= 3 : p->kind != SNW_PROBE_REACTION) return false;
    for (int i = 0; i < m->ncontact; i++) {
        const snw_contact *c = &m->contact[i];
        if (c->of == p->item && (c->hard || c->line > 0)) return false;
    }
    for (int k = 0; k < m->ncontact_point; k++) {
        if (m->contact[m->contact_point[k].contact].of == p->item && m->contact_point[k].wheel)
            return false;
    }
    return m->desc->contact[p->item].nnonholonomic == 0;
}

const snw_station *snw_output_station(const snw_model *m, const snw_adjoint_output *o) {
    return &m->station[m->probe_station[o->probe] + o->column / 6];
}

snw_output_use snw_output_use_of(const snw_model *m, const snw_adjoint_output *o) {
    const snw_probe_desc *p = &m->desc->probe[o->probe];
    const snw_reading r = snw_probe_table[p->kind].reading;
    if (is_hard_force(m, o)) return SNW_OUTPUT_STATE;
    if (snw_output_is_contact_force(m, o)) return SNW_OUTPUT_CONTACT;
    if (p->kind == SNW_PROBE_ENERGY) return use_of_energy(m, o->column);
    if (p->kind == SNW_PROBE_MOMENTUM || p->kind == SNW_PROBE_CENTER_OF_MASS)
        return SNW_OUTPUT_INERTIA;
    if (p->kind == SNW_PROBE_RELATIVE || p->kind == SNW_PROBE_ACCELERATION) return SNW_OUTPUT_STATE;
    if (p->of == SNW_PROBE_OF_FORCE_ELEMENT) return use_of_element(m, p);
    if (p->kind == SNW_PROBE_REACTION) return use_of_reaction(m, p);
    if (p->kind == SNW_PROBE_WRENCH) {
        if (m->hard) return SNW_OUTPUT_OTHER; // likewise
        // pulls of straight tendons and the flux of a fluid past the station are not differentiated
        return m->ntendon_segment == 0 && m->rod[snw_output_station(m, o)->rod].fluid < 0
                   ? SNW_OUTPUT_WRENCH
                   : SNW_OUTPUT_OTHER;
    }
    if (r == SNW_READ_TENDON_EFFORT)
        return m->tendon[p->item].has_friction || m->tendon[p->item].area ? SNW_OUTPUT_OTHER
                                                                          : SNW_OUTPUT_EFFORT;
    if (!snw_probe_is_configuration(p->kind) && r != SNW_READ_VELOCITY && r != SNW_READ_TWIST &&
        r != SNW_READ_RATE && r != SNW_READ_TENDON_RATE)
        return SNW_OUTPUT_OTHER;
    return snw_probe_signal(m, o->probe, o->column).tendon >= 0 ? SNW_OUTPUT_STATE
                                                                : SNW_OUTPUT_MOTION;
}

bool snw_output_knows_geometry(const snw_model *m, const snw_adjoint_output *o) {
    const snw_output_use use = snw_output_use_of(m, o);
    const snw_probe_desc *p = &m->desc->probe[o->probe];
    if (p->of == SNW_PROBE_OF_TENDON && (use == SNW_OUTPUT_STATE || use == SNW_OUTPUT_EFFORT)) {
        const snw_tendon *t = &m->tendon[p->item];
        const bool reads = t->law && (snw_expr_vars(t->law) & SNW_VAR_SIGNAL) != 0;
        return !t->has_friction && !t->area && (use == SNW_OUTPUT_STATE || !reads);
    }
    if (p->kind == SNW_PROBE_RELATIVE && m->probe_count[o->probe] > 1) return false;
    if (is_hard_force(m, o)) return false; // its axes follow surfaces
    if (use == SNW_OUTPUT_CONTACT) return false;
    return use != SNW_OUTPUT_OTHER;
}

double snw_output_beyond(const snw_model *m, const snw_station *at, int k) {
    const snw_rod *rod = &m->rod[at->rod];
    const bool chained = k > 0 && m->seg[rod->seg0 + k].parent == rod->seg0 + k - 1;
    return at->beyond[k] - (chained ? at->beyond[k - 1] : 0);
}

void snw_output_add_jumps(const snw_model *m, const snw_adjoint_output *o, double c,
                          const snw_work *w, snw_twist *V) {
    const snw_probe_desc *p = &m->desc->probe[o->probe];
    snw_twist e = snw_twist_zero();
    if (snw_output_use_of(m, o) == SNW_OUTPUT_JOINT) { // all links beyond the joint move as one
        const int first = m->link_first[p->site.link];
        const snw_mat3 R = w->g[first].R;
        e.e[o->column] = c;
        if (!p->body) e = (snw_twist){{.w = snw_rotate_inv(R, e.w), .v = snw_rotate_inv(R, e.v)}};
        V[first] = snw_twist_add(V[first], e);
        return;
    }
    // node k moves with the part at->beyond[k] of a rigid motion, as does what it carries
    const snw_station *at = snw_output_station(m, o);
    const snw_rod *rod = &m->rod[at->rod];
    e.e[o->column % 6] = -c; // the wrench on the root side
    const snw_twist in_world = snw_twist_to_parent(w->g[at->seg], e);
    for (int k = 0; k < rod->nseg; k++) {
        const int i = rod->seg0 + k;
        V[i] = snw_twist_add(V[i], snw_twist_scale(snw_output_beyond(m, at, k),
                                                   snw_twist_to_child(w->g[i], in_world)));
    }
}

void snw_output_carry_jumps(const snw_model *m, const snw_work *w, snw_twist *V) {
    for (int i = 1; i < m->nseg; i++)
        V[i] = snw_twist_add(V[i], snw_twist_to_child(w->h[i], V[m->seg[i].parent]));
}

bool snw_energy_weights_of(const snw_model *m, int noutput, const snw_adjoint_output *output,
                           const double *y_bar, snw_energy_weights *out) {
    *out = (snw_energy_weights){0};
    for (int i = 0; i < noutput; i++) {
        const int column = output[i].column;
        if (m->desc->probe[output[i].probe].kind != SNW_PROBE_ENERGY) continue;
        const double all = column == COLUMN_total ? y_bar[i] : 0;
        out->kinetic += column == COLUMN_kinetic ? y_bar[i] : all;
        out->elastic += column == COLUMN_elastic ? y_bar[i] : all;
        out->gravity += column == COLUMN_gravity ? y_bar[i] : all;
    }
    return out->kinetic != 0 || out->elastic != 0 || out->gravity != 0;
}
