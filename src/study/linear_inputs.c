// SPDX-License-Identifier: MIT
//
// Inputs of actuators and components of loads, by their numbers in the description.
#include "study/linear_inputs.h"

#include "study/probe.h"

const char *snw_load_unit(const snw_load_desc *d, int component) {
    if (component < 3) return d->along ? "N" : "N*m";
    return d->along ? "N/m" : "N";
}

// constraint row of a given coordinate of a motor; -1: none
static int row_of_motor(const snw_model *m, int motor, int k) {
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->motor == motor && d->dof == m->motor[motor].dof + k && !d->passive) return d->row;
    }
    return -1;
}

snw_input_state snw_linear_input_of(const snw_model *m, const snw_input_of *x,
                                    snw_linear_input *out) {
    *out = (snw_linear_input){.kind = SNW_LINEAR_LOAD, .item = x->load, .component = x->component};
    if (x->actuator < 0) return SNW_INPUT_ACTS;
    const snw_actuator a = snw_actuator_at(m->desc, x->actuator);
    out->item = a.item;
    if (a.stress) {
        out->kind = SNW_LINEAR_ACTIVATION;
    } else if (a.tendon) {
        out->row = m->tendon[a.item].row;
        out->unit = m->tendon[a.item].unit;
        out->kind = out->row >= 0 ? SNW_LINEAR_GIVEN : SNW_LINEAR_TENDON;
    } else if (snw_gives_effort(a.motor->given)) {
        const int same = m->motor[a.item].same;
        out->kind = SNW_LINEAR_EFFORT;
        if (same && same - 1 != a.item) return SNW_INPUT_SHARED;
    } else {
        out->row = a.motor->turns ? -1 : row_of_motor(m, a.item, x->component);
        out->unit = 1;
        out->kind = SNW_LINEAR_GIVEN;
        if (out->row < 0) return a.motor->turns ? SNW_INPUT_SPHERICAL : SNW_INPUT_IDLE;
    }
    return SNW_INPUT_ACTS;
}

double snw_linear_input_value(const snw_model *m, const snw_linear_input *input, int k,
                              const snw_inputs *in, const snw_work *w) {
    switch (input->kind) {
    case SNW_LINEAR_EFFORT:
        return snw_motor_effort(m, input->item, input->component, in, w);
    case SNW_LINEAR_TENDON: {
        const snw_tendon *tendon = &m->tendon[input->item];
        if (tendon->given == SNW_GIVEN_EFFORT) return w->tendon[input->item].effort;
        const double unit =
            tendon->given == SNW_GIVEN_GAS
                ? SNW_GAS_CONSTANT * snw_expr_value(tendon->temperature, (snw_at){.t = in->t})
                : 1;
        return in->tendon[input->item].v / unit;
    }
    case SNW_LINEAR_ACTIVATION:
        return snw_activation(in, input->item);
    case SNW_LINEAR_LOAD:
        return snw_present_load(m, input->item, in, w).e[input->component];
    case SNW_LINEAR_GIVEN: {
        snw_jet j = {0};
        for (int d = 0; d < m->ndrive; d++) {
            if (m->drive[d].row == input->row) j = in->drive[d];
        }
        for (int t = 0; t < m->ntendon; t++) {
            if (m->tendon[t].row == input->row) j = in->tendon[t];
        }
        return k == 0 ? j.v : k == 1 ? j.d : j.dd;
    }
    case SNW_LINEAR_OTHER:
        break;
    }
    return NAN;
}

snw_wrench snw_present_load(const snw_model *m, int load, const snw_inputs *in, const snw_work *w) {
    snw_wrench now = {0};
    for (int p = 0; p < m->nload_point; p++) {
        const double weight = m->load_point[p].w;
        if (m->load_point[p].load != load || weight == 0) continue;
        for (int k = 0; k < 6; k++) now.e[k] = snw_loads(m, in, w)[p].e[k] / weight;
        break;
    }
    return now;
}

void snw_held_keep_load(snw_held_inputs *h, const snw_model *m, int load, const snw_inputs *in,
                        const snw_work *w) {
    if (h->load_given[load]) return;
    h->load[load] = snw_present_load(m, load, in, w);
    h->load_given[load] = true;
}

void snw_held_set_input(snw_held_inputs *h, const snw_input_of *x, double value, double t) {
    if (x->actuator >= 0) {
        snw_held_set(h, x->actuator, x->component, value, t);
    } else {
        h->load[x->load].e[x->component] = value;
        h->load_given[x->load] = true;
    }
}

bool snw_held_has_input(const snw_held_inputs *h, const snw_input_of *x) {
    return x->actuator >= 0 ? snw_held_is_set(h, x->actuator) : h->load_given[x->load];
}

double snw_held_input(const snw_held_inputs *h, const snw_input_of *x) {
    if (x->actuator < 0) return h->load[x->load].e[x->component];
    const snw_actuator a = snw_actuator_at(h->desc, x->actuator);
    if (a.stress) return h->activation[a.item];
    if (a.tendon) return h->tendon[a.item].v;
    return h->motor[h->motor_first[a.item] + x->component].v;
}
