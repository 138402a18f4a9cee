// SPDX-License-Identifier: MIT
//
// Memory of inputs that replace laws.
#include "study/held_inputs.h"

#include "base/alloc.h"

#include <string.h>

enum { DRAG_SPRING_SIZE = 9, GRAVITY_SIZE = 4 };

static void held_place(void *object, snw_fields *f) {
    snw_held_inputs *o = (snw_held_inputs *)object;
    const snw_desc *d = o->desc;
    SNW_HELD_FIELDS(SNW_FIELD_PACK)
}

snw_status snw_held_create(const snw_desc *d, snw_held_inputs *out) {
    *out = (snw_held_inputs){.desc = d};
    for (int i = 0; i < d->nmotor; i++) out->ncoordinate += (size_t)d->motor[i].n;
    out->block = snw_fields_create_sized(held_place, out, &out->bytes);
    if (!out->block) return SNW_E_MEMORY;
    for (int i = 0, first = 0; i < d->nmotor; i++) {
        out->motor_first[i] = first;
        first += d->motor[i].n;
    }
    for (int i = 0; i < d->nstress; i++) out->activation[i] = 1;
    for (int i = 0; i < d->nforce_field; i++) out->field[i] = 1;
    out->manual = (snw_manual_inputs){.load_given = out->load_given,
                                      .load = out->load,
                                      .motor_given = out->motor_given,
                                      .motor_since = out->motor_since,
                                      .motor_first = out->motor_first,
                                      .motor = out->motor,
                                      .tendon_given = out->tendon_given,
                                      .tendon_since = out->tendon_since,
                                      .tendon = out->tendon,
                                      .slide_given = out->slide_given,
                                      .slide_since = out->slide_since,
                                      .slide = out->slide,
                                      .activation = out->activation,
                                      .field = out->field};
    return SNW_OK;
}

void snw_held_destroy(snw_held_inputs *h) {
    snw_free(h->block);
    h->block = NULL;
}

void snw_held_copy(const snw_held_inputs *from, snw_held_inputs *to) {
    memcpy(to->block, from->block, from->bytes);
    to->manual.gravity_given = from->manual.gravity_given;
    to->manual.gravity = from->manual.gravity;
    to->manual.drag_spring = from->manual.drag_spring;
}

void snw_held_clear(snw_held_inputs *h) {
    const snw_desc *d = h->desc;
    for (int i = 0; i < d->nload; i++) h->load_given[i] = false;
    for (int i = 0; i < d->nmotor; i++) h->motor_given[i] = false;
    for (int i = 0; i < d->ntendon; i++) h->tendon_given[i] = false;
    for (int i = 0; i < d->ntube; i++) h->slide_given[i] = false;
    for (int i = 0; i < d->nstress; i++) h->activation[i] = 1;
    for (int i = 0; i < d->nforce_field; i++) h->field[i] = 1;
    h->manual.gravity_given = false;
    h->manual.drag_spring = (snw_drag_spring){0};
}

// ---- rows of numbers

size_t snw_held_doubles(const snw_held_inputs *h) {
    const snw_desc *d = h->desc;
    return GRAVITY_SIZE + DRAG_SPRING_SIZE + 7 * (size_t)d->nload + 2 * (size_t)d->nmotor +
           3 * h->ncoordinate + 5 * (size_t)d->ntendon + 5 * (size_t)d->ntube + (size_t)d->nstress +
           (size_t)d->nforce_field;
}

double *snw_held_save(const snw_held_inputs *h, double *row) {
    const snw_desc *d = h->desc;
    *row++ = h->manual.gravity_given;
    for (int i = 0; i < 3; i++) *row++ = h->manual.gravity.e[i];
    const snw_drag_spring *drag_spring = &h->manual.drag_spring;
    *row++ = drag_spring->seg;
    for (int i = 0; i < 3; i++) *row++ = drag_spring->at.e[i];
    for (int i = 0; i < 3; i++) *row++ = drag_spring->to.e[i];
    *row++ = drag_spring->stiffness;
    *row++ = drag_spring->damping;
    for (int i = 0; i < d->nload; i++) {
        *row++ = h->load_given[i];
        for (int k = 0; k < 6; k++) *row++ = h->load[i].e[k];
    }
    for (int i = 0; i < d->nmotor; i++) {
        *row++ = h->motor_given[i];
        *row++ = h->motor_since[i];
    }
    for (int i = 0; i < d->ntendon; i++) {
        *row++ = h->tendon_given[i];
        *row++ = h->tendon_since[i];
    }
    for (int i = 0; i < d->ntube; i++) {
        *row++ = h->slide_given[i];
        *row++ = h->slide_since[i];
    }
    for (int i = 0; i < d->nstress; i++) *row++ = h->activation[i];
    for (int i = 0; i < d->nforce_field; i++) *row++ = h->field[i];
    // motors, tendons and tubes are contiguous
    const size_t n = h->ncoordinate + (size_t)d->ntendon + (size_t)d->ntube;
    memcpy(row, h->motor, n * sizeof *h->motor);
    return row + 3 * n;
}

const double *snw_held_load(snw_held_inputs *h, const double *row) {
    const snw_desc *d = h->desc;
    h->manual.gravity_given = *row++ != 0;
    for (int i = 0; i < 3; i++) h->manual.gravity.e[i] = *row++;
    snw_drag_spring *drag_spring = &h->manual.drag_spring;
    drag_spring->seg = (int)*row++;
    for (int i = 0; i < 3; i++) drag_spring->at.e[i] = *row++;
    for (int i = 0; i < 3; i++) drag_spring->to.e[i] = *row++;
    drag_spring->stiffness = *row++;
    drag_spring->damping = *row++;
    for (int i = 0; i < d->nload; i++) {
        h->load_given[i] = *row++ != 0;
        for (int k = 0; k < 6; k++) h->load[i].e[k] = *row++;
    }
    for (int i = 0; i < d->nmotor; i++) {
        h->motor_given[i] = *row++ != 0;
        h->motor_since[i] = *row++;
    }
    for (int i = 0; i < d->ntendon; i++) {
        h->tendon_given[i] = *row++ != 0;
        h->tendon_since[i] = *row++;
    }
    for (int i = 0; i < d->ntube; i++) {
        h->slide_given[i] = *row++ != 0;
        h->slide_since[i] = *row++;
    }
    for (int i = 0; i < d->nstress; i++) h->activation[i] = *row++;
    for (int i = 0; i < d->nforce_field; i++) h->field[i] = *row++;
    const size_t n = h->ncoordinate + (size_t)d->ntendon + (size_t)d->ntube;
    memcpy(h->motor, row, n * sizeof *h->motor);
    return row + 3 * n;
}

// ---- one input

// the motors that share the effort of `motor`: their number, *first the first of them
static int sharing(const snw_desc *d, int motor, int *first) {
    const snw_motor_desc *m = &d->motor[motor];
    *first = m->same ? m->same - 1 : motor;
    return m->same ? d->motor[*first].nsame : 1;
}

void snw_held_set(snw_held_inputs *h, int actuator, int k, double value, double t) {
    const snw_actuator a = snw_actuator_at(h->desc, actuator);
    if (a.stress) {
        h->activation[a.item] = value;
    } else if (a.tendon) {
        h->tendon_given[a.item] = true;
        h->tendon_since[a.item] = t;
        h->tendon[a.item] = (snw_jet){.v = value};
    } else {
        int first;
        const int n = sharing(h->desc, a.item, &first);
        for (int i = first; i < first + n; i++) {
            snw_jet *own = h->motor + h->motor_first[i];
            for (int j = 0; j < a.n && !h->motor_given[i]; j++) own[j] = (snw_jet){0};
            h->motor_given[i] = true;
            h->motor_since[i] = t;
            own[k] = (snw_jet){.v = value};
        }
    }
}

void snw_held_release(snw_held_inputs *h, int actuator) {
    const snw_actuator a = snw_actuator_at(h->desc, actuator);
    if (a.stress) {
        h->activation[a.item] = 1;
    } else {
        (a.motor ? h->motor_given : h->tendon_given)[a.item] = false;
    }
}

void snw_held_release_load(snw_held_inputs *h, int load) { h->load_given[load] = false; }

bool snw_held_is_set(const snw_held_inputs *h, int actuator) {
    const snw_actuator a = snw_actuator_at(h->desc, actuator);
    if (a.stress) return h->activation[a.item] != 1;
    return (a.motor ? h->motor_given : h->tendon_given)[a.item];
}
