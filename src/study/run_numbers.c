// SPDX-License-Identifier: MIT
//
// Numbers of the file that an inverse step found (study/run_numbers.h). The description is read
// again with them, its model is compiled, and everything that holds the present model of the phase
// is told to use it. Coordinates and sizes are the same, so states and workspaces remain valid.
#include "study/run_numbers.h"

#include "base/fail.h"
#include "constraint/projection.h"
#include "model/tube_layout.h"

#include <math.h>
#include <string.h>

snw_status snw_run_numbers_create(snw_run *r) {
    const snw_desc *d = r->desc;
    r->number_stage = -1;
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].kind == SNW_STEP_INVERSE && d->step[i].inverse.family.nparameter > 0)
            r->number_stage = i;
    }
    if (r->number_stage < 0) return SNW_OK;
    for (int i = 0; i < r->nphase; i++) r->phase[i].file_desc = r->phase[i].desc;
    r->nnumber = d->step[r->number_stage].inverse.family.nparameter;
    r->number = snw_pool_array(r->pool, (size_t)r->nnumber, sizeof *r->number);
    return r->number ? SNW_OK : SNW_E_MEMORY;
}

// Phase e <- with a model of another description; NULL: its own. The phase owns both.
static snw_status use_description(snw_run *r, snw_phase *e, snw_desc *desc, snw_model *fresh) {
    SNW_TRY(snw_run_use_model(r, e, fresh ? fresh : e->compiled));
    snw_model_destroy(e->remeshed);
    if (e->number_desc) snw_pool_destroy(e->number_desc->pool);
    e->remeshed = fresh;
    e->number_desc = desc;
    e->desc = desc ? desc : e->file_desc;
    // its richer model is that of other numbers
    snw_truncation_destroy(e->truncation);
    e->truncation = NULL;
    e->truncation_tried = false;
    if (r->loads_applied) snw_statics_assume(e->statics, r->state->t);
    return SNW_OK;
}

snw_status snw_run_numbers_reset(snw_run *r, snw_error *err) {
    if (r->number_stage < 0) return SNW_OK;
    r->numbers_found = false;
    for (int i = 0; i < r->nphase; i++) {
        snw_phase *e = &r->phase[i];
        if (e->number_desc && use_description(r, e, NULL, NULL) != SNW_OK)
            return snw_fail_memory(err);
    }
    return SNW_OK;
}

// The rods have the nodes of the phase: their number does not follow the values.
static void keep_nodes(const snw_phase *e, snw_desc *desc) {
    for (int i = 0; i < e->compiled->nrod; i++) {
        const snw_rod *rod = &e->compiled->rod[i];
        if (desc->link[rod->link].rod.nodes == 0) desc->link[rod->link].rod.nodes = rod->nodes;
    }
}

snw_status snw_run_numbers_set(snw_run *r, int stage, const double *value, snw_error *err) {
    const snw_step_desc *step = &r->desc->step[stage];
    const snw_desc_family *family = &step->inverse.family;
    snw_phase *e = r->now;
    if (r->mesh_adapts || snw_tubes_slide(e->desc))
        return snw_fail(err, SNW_E_MODEL,
                        "step '%s': numbers of the file are no unknowns where rods place their "
                        "nodes or tubes slide by laws; use integrator: magnus 6, fixed tubes",
                        step->name);
    // the phase begins with the change before it
    int until = r->cursor.stage + 1;
    while (until > 0 && r->phase_of_step[until - 1] == (int)(e - r->phase) &&
           r->desc->step[until - 1].kind != SNW_STEP_CHANGE)
        until--;
    int k[SNW_PARAMETERS];
    for (int i = 0; i < family->nparameter; i++) k[i] = i;
    snw_desc *desc = NULL;
    snw_model *fresh = NULL;
    snw_status s = family->at(family->user, until, family->nparameter, k, value, &desc, err);
    if (s != SNW_OK) return s;
    keep_nodes(e, desc);
    s = snw_projection_compile(desc, &fresh, err);
    if (s == SNW_OK && !snw_model_alike(e->compiled, fresh))
        s = snw_fail(err, SNW_E_MODEL,
                     "step '%s': other values of '%s' change the coordinates, nodes or constraints "
                     "of the robot",
                     step->name, family->parameter[0].name);
    if (s == SNW_OK && use_description(r, e, desc, fresh) != SNW_OK) s = snw_fail_memory(err);
    if (s == SNW_OK) {
        memcpy(r->number, value, (size_t)r->nnumber * sizeof *r->number);
        r->numbers_found = true;
        return SNW_OK;
    }
    snw_model_destroy(fresh);
    snw_pool_destroy(desc->pool);
    return s;
}

snw_status snw_run_numbers_apply(snw_run *r, snw_error *err) {
    if (r->number_stage < 0 || !r->numbers_found) return SNW_OK;
    double value[SNW_PARAMETERS];
    memcpy(value, r->number, (size_t)r->nnumber * sizeof *value);
    return snw_run_numbers_set(r, r->number_stage, value, err);
}

size_t snw_run_numbers_size(const snw_run *r) {
    return r->number_stage < 0 ? 0 : (size_t)r->nnumber + 1;
}

double *snw_run_numbers_save(const snw_run *r, double *row) {
    if (r->number_stage < 0) return row;
    *row++ = r->numbers_found;
    for (int i = 0; i < r->nnumber; i++) *row++ = r->numbers_found ? r->number[i] : 0;
    return row;
}

const double *snw_run_numbers_load(snw_run *r, const double *row) {
    if (r->number_stage < 0) return row;
    r->numbers_found = *row++ != 0;
    for (int i = 0; i < r->nnumber; i++) r->number[i] = *row++;
    return row;
}
