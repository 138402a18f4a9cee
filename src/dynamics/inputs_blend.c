// SPDX-License-Identifier: MIT
//
// Memory of inputs, their check, and blending of two sets of inputs for load stepping.

#include "dynamics/inputs.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <string.h>

static void inputs_place(void *object, snw_fields *f) {
    snw_inputs *o = (snw_inputs *)object;
    const snw_model *m = o->model;
    SNW_INPUTS_FIELDS(SNW_FIELD_PACK)
}

size_t snw_inputs_doubles(const snw_model *m) {
    snw_inputs sizes = {0};
    snw_fields f = {NULL, 0};
    sizes.model = m;
    inputs_place(&sizes, &f);
    return f.used / sizeof(double);
}

snw_status snw_inputs_create(const snw_model *m, snw_inputs **out) {
    snw_inputs *in = (snw_inputs *)snw_alloc(sizeof *in);
    *out = in;
    if (!in) return SNW_E_MEMORY;
    in->model = m;
    in->block = snw_fields_create_sized(inputs_place, in, &in->bytes);
    return in->block ? SNW_OK : SNW_E_MEMORY;
}

void snw_inputs_destroy(snw_inputs *in) {
    if (in) snw_free(in->block);
    snw_free(in);
}

void snw_inputs_copy(const snw_inputs *from, snw_inputs *to) {
    to->t = from->t;
    to->gravity = from->gravity;
    to->integral_step = from->integral_step;
    memcpy(to->pose, from->pose, from->bytes);
}

snw_status snw_tendons_check(const snw_model *m, const snw_inputs *in, double t, snw_error *err) {
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *d = &m->tendon[i];
        if (isfinite(in->tendon[i].v) && isfinite(in->ambient[i])) continue;
        const char *rule = d->control->rule ? d->control->rule : "";
        const snw_status s =
            snw_fail(err, SNW_E_DIVERGED, "actuator '%s' is given no finite value%s at t = %.9g s",
                     d->name, rule, t);
        return snw_fail_at_location(err, s, d->location.file, d->location.line, d->location.column);
    }
    return SNW_OK;
}

void snw_inputs_unload(const snw_model *m, snw_inputs *in) {
    in->gravity = (snw_vec3){{0}};
    for (int i = 0; i < m->nload_point; i++) in->load[i] = (snw_wrench){0};
    for (int i = 0; i < m->nv; i++) in->stress[i] = 0;
    for (int i = 0; i < m->ntendon; i++) {
        if (snw_gives_load(m->tendon[i].given)) in->tendon[i].v = 0;
    }
    for (int i = 0; i < m->nfluid; i++) {
        in->current[i] = in->current_rate[i] = (snw_vec3){{0}};
    }
    if (m->nforce_field_point) in->force_field[1] = 0;
    *in->signal_fraction = 0;
}

void snw_inputs_blend(const snw_model *m, const snw_inputs *a, const snw_inputs *b, double fraction,
                      snw_inputs *out) {
    snw_inputs_copy(b, out);
    if (fraction == 1) return;
    const double other = 1 - fraction;
    for (int i = 0; i < 3; i++) {
        out->gravity.e[i] = other * a->gravity.e[i] + fraction * b->gravity.e[i];
    }
    for (int i = 0; i < m->nload_point; i++) {
        for (int k = 0; k < 6; k++) {
            out->load[i].e[k] = other * a->load[i].e[k] + fraction * b->load[i].e[k];
        }
    }
    for (int i = 0; i < m->nv; i++) out->stress[i] = other * a->stress[i] + fraction * b->stress[i];
    for (int i = 0; i < m->ntendon; i++) {
        if (m->tendon[i].row < 0) {
            out->tendon[i].v = other * a->tendon[i].v + fraction * b->tendon[i].v;
        }
        out->ambient[i] = other * a->ambient[i] + fraction * b->ambient[i];
    }
    for (int i = 0; i < m->nfluid; i++) {
        out->current[i] =
            snw_add(snw_scale(other, a->current[i]), snw_scale(fraction, b->current[i]));
    }
    for (int i = 0; m->nforce_field_point && i < 2 + m->nforce_field; i++)
        out->force_field[i] = other * a->force_field[i] + fraction * b->force_field[i];
    *out->signal_fraction = other * *a->signal_fraction + fraction * *b->signal_fraction;
}

double snw_field_rate(const snw_model *m, const snw_inputs *in) {
    double fast = 0;
    for (int i = 0; i < m->nfield; i++) {
        for (int k = 0; k < 6; k++) {
            fast = fmax(fast, fabs(in->dxi[i].e[k]) * (k < 3 ? m->length : 1));
        }
    }
    return fast;
}
