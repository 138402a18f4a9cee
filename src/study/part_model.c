// SPDX-License-Identifier: MIT
//
// Models with part of their forces (study/part_model.h).
#include "study/part_model.h"

#include "base/alloc.h"

#include <string.h>

bool snw_part_model_applies(const snw_model *m, bool touching) {
    for (int i = 0; i < m->ntendon; i++) {
        if (m->tendon[i].row >= 0) return false;
    }
    for (int i = 0; i < m->nforce_element; i++) {
        if (m->force_element[i].force) return false;
    }
    for (int i = 0; i < m->ncontact; i++) {
        if (m->contact[i].line > 0 && !m->contact[i].hard && !touching) return false;
    }
    return m->nfluid_point == 0 && m->ntube == 0 && m->nfeed == 0 && m->nbranch == 0 &&
           m->nforce_field_point == 0 && m->nsliding_station == 0 && m->nsection_varies == 0 &&
           !m->has_slip_friction && !m->flowing;
}

// Arrays of the part that differ from those of the model.
typedef struct part_arrays {
    snw_rod *rod;
    snw_spring *spring;
    snw_contact *contact;
    snw_contact_point *point;
    snw_force_element *element;
    snw_stop *stop;
    double *zero;
    int *none;
} part_arrays;

static size_t largest_rod(const snw_model *m) {
    size_t most = 0;
    for (int i = 0; i < m->nrod; i++) {
        const size_t n = (size_t)m->rod[i].ndof * (size_t)m->rod[i].ndof;
        most = n > most ? n : most;
    }
    return most;
}

// Lays out the arrays in `block` (NULL: only their size, which is returned).
static size_t place_arrays(const snw_model *m, char *block, part_arrays *x) {
    size_t used = 0;
#define PLACE(member, count)                                                                       \
    x->member = block ? (void *)(block + used) : NULL,                                             \
    used += ((size_t)(count) * sizeof *x->member + 15) / 16 * 16
    PLACE(rod, m->nrod);
    PLACE(spring, m->nspring);
    PLACE(contact, m->ncontact);
    PLACE(point, m->ncontact_point);
    PLACE(element, m->nforce_element);
    PLACE(stop, m->nstop);
    PLACE(zero, largest_rod(m));
    PLACE(none, m->nseg + m->nobs + 1);
#undef PLACE
    return used;
}

static void fill(const snw_model *m, snw_part part, const part_arrays *x) {
    const bool impulse = part == SNW_PART_IMPULSE;
    memset(x->zero, 0, largest_rod(m) * sizeof *x->zero);
    memset(x->none, 0, (size_t)(m->nseg + m->nobs + 1) * sizeof *x->none);
    for (int i = 0; i < m->nrod; i++) {
        x->rod[i] = m->rod[i];
        x->rod[i].D = x->zero;
        if (impulse) x->rod[i].K = x->zero;
    }
    for (int i = 0; i < m->nspring; i++) {
        x->spring[i] = m->spring[i];
        x->spring[i].damping = x->spring[i].friction = 0;
        if (impulse) x->spring[i].stiffness = 0;
    }
    for (int i = 0; i < m->ncontact; i++) {
        x->contact[i] = m->contact[i];
        x->contact[i].damping = x->contact[i].along = x->contact[i].across = 0;
    }
    for (int i = 0; i < m->ncontact_point; i++) {
        x->point[i] = m->contact_point[i];
        if (impulse) x->point[i].stiffness = 0;
    }
    for (int i = 0; i < m->nforce_element; i++) {
        x->element[i] = m->force_element[i];
        x->element[i].damping = 0;
        memset(x->element[i].axis_damping, 0, sizeof x->element[i].axis_damping);
    }
    for (int i = 0; i < m->nstop; i++) {
        x->stop[i] = m->stop[i];
        x->stop[i].damping = 0;
    }
}

snw_status snw_part_model_create(const snw_model *m, snw_part part, snw_part_model **out) {
    snw_part_model *x = snw_alloc(sizeof *x);
    *out = x;
    if (!x) return SNW_E_MEMORY;
    part_arrays at;
    *x = (snw_part_model){.m = *m, .block = snw_alloc(place_arrays(m, NULL, &at))};
    if (!x->block) return SNW_E_MEMORY;
    (void)place_arrays(m, x->block, &at);
    fill(m, part, &at);
    x->m.rod = at.rod, x->m.spring = at.spring, x->m.contact = at.contact;
    x->m.contact_point = at.point, x->m.force_element = at.element, x->m.stop = at.stop;
    x->m.load_point_of_seg = at.none;
    x->m.nload_point = x->m.ntendon = x->m.nlive = 0;
    if (part == SNW_PART_IMPULSE) x->m.nforce_element = x->m.nstop = x->m.nlaw_point = 0;
    return SNW_OK;
}

void snw_part_model_destroy(snw_part_model *x) {
    if (!x) return;
    snw_free(x->block);
    snw_free(x);
}

void snw_part_inputs(const snw_model *m, const snw_inputs *in, snw_part part, snw_inputs *to) {
    snw_inputs_copy(in, to);
    memset(to->stress, 0, (size_t)m->nv * sizeof *to->stress);
    if (part == SNW_PART_IMPULSE) to->gravity = (snw_vec3){{0}};
}
