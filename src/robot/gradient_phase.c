// SPDX-License-Identifier: MIT
//
// Studies that change the model: each phase has its own model, adjoint and sampler, and the bars of
// configuration, velocities, memory and time go from one to the other. theory.md 7.5
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "constraint/projection.h"

#include <string.h>

static int count_changes(const snw_desc *d) {
    int n = 0;
    for (int i = 0; i < d->nstep; i++) n += d->step[i].kind == SNW_STEP_CHANGE;
    return n;
}

snw_status gradient_phases_find(gradient_sweep *s, snw_error *err) {
    const snw_desc *d = s->model->desc;
    s->nphase = 1 + count_changes(d);
    s->phase = snw_alloc((size_t)s->nphase * sizeof *s->phase);
    if (!s->phase) return snw_fail_memory(err);
    s->phase[0] = (gradient_phase){.m = snw_run_model(s->run), .desc = d};
    for (int i = 0, k = 1; i < d->nstep; i++) {
        if (d->step[i].kind != SNW_STEP_CHANGE) continue;
        s->phase[k++] =
            (gradient_phase){.m = snw_run_model_at(s->run, i), .desc = d->step[i].changed};
    }
    s->m = s->phase[0].m;
    return SNW_OK;
}

snw_status gradient_phases_open(gradient_sweep *s, int sets, snw_error *err) {
    for (int k = 0; k < s->nphase; k++) {
        gradient_phase *e = &s->phase[k];
        if (snw_adjoint_create(e->m, sets, s->noutput, s->output, &e->adjoint) != SNW_OK ||
            snw_sampler_create(e->m, &e->sampler) != SNW_OK)
            return snw_fail_memory(err);
    }
    s->nset = sets;
    s->now = 0;
    s->adjoint = s->phase[0].adjoint;
    s->sampler = &s->phase[0].sampler;
    s->arrays = s->phase[0].arrays;
    return SNW_OK;
}

void gradient_phases_close(gradient_sweep *s) {
    for (int k = 0; s->phase && k < s->nphase; k++) {
        snw_adjoint_destroy(s->phase[k].adjoint);
        snw_sampler_destroy(&s->phase[k].sampler);
        snw_model_arrays_destroy(s->phase[k].arrays);
    }
    snw_free(s->phase);
}

void gradient_use_phase(gradient_sweep *s, int k) {
    if (k == s->now) return;
    gradient_phase *e = &s->phase[k];
    const size_t nv = (size_t)e->m->nv, nz = (size_t)e->m->nsignal;
    const size_t nb = (size_t)e->m->nbranch_coordinate;
    snw_adjoint_clear(e->adjoint);
    for (int i = 0; i < s->nset; i++) {
        const snw_bars *from = snw_adjoint_bars(s->adjoint, i);
        snw_bars *to = snw_adjoint_bars(e->adjoint, i);
        memcpy(to->place, from->place, nv * sizeof *to->place);
        memcpy(to->rate, from->rate, nv * sizeof *to->rate);
        if (nz) memcpy(to->z, from->z, nz * sizeof *to->z);
        if (nb) memcpy(to->branch, from->branch, nb * sizeof *to->branch);
        memcpy(to->time, from->time, SNW_TIMES * sizeof *to->time);
    }
    (void)gradient_show_phase(s, k);
}

int gradient_show_phase(gradient_sweep *s, int k) {
    const int before = s->now;
    s->now = k;
    s->m = s->phase[k].m;
    s->adjoint = s->phase[k].adjoint;
    s->sampler = &s->phase[k].sampler;
    s->arrays = s->phase[k].arrays;
    return before;
}

int gradient_phase_of(const gradient_sweep *s, const snw_map *map) {
    int k = 0;
    while (k < s->nphase - 1 && s->phase[k].m != map->m) k++;
    return k;
}

void gradient_use_map(gradient_sweep *s, const snw_map *map) {
    if (s->m != map->m) gradient_use_phase(s, gradient_phase_of(s, map));
}

void gradient_note_memory(gradient_sweep *s) {
    for (int i = 0; i < s->tape.n; i++)
        snw_adjoint_note_memory(s->phase[gradient_phase_of(s, &s->tape.map[i])].adjoint,
                                &s->tape.map[i]);
}

snw_status gradient_compile_phases(const gradient_sweep *s, snw_robot_model *model, const char *by,
                                   snw_error *err) {
    const snw_desc *d = model->desc;
    if (!gradient_freeze_rows(s->phase[0].m, model->compiled))
        return snw_fail(err, SNW_E_MODEL,
                        "'%s' changes the coordinates or nodes of the robot, so there is no "
                        "derivative",
                        by);
    if (s->nphase == 1) return SNW_OK;
    model->phase = snw_alloc((size_t)s->nphase * sizeof *model->phase);
    if (!model->phase) return snw_fail_memory(err);
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].kind != SNW_STEP_CHANGE) continue;
        const int k = ++model->nphase;
        SNW_TRY(snw_projection_compile(d->step[i].changed, &model->phase[k - 1], err));
        if (gradient_freeze_rows(s->phase[k].m, model->phase[k - 1])) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "'%s' changes the nodes of the robot after step '%s', so there is no "
                        "derivative; give the rods their 'nodes'",
                        by, d->step[i].name);
    }
    return SNW_OK;
}

const snw_model *gradient_model_in(const gradient_sweep *s, const snw_robot_model *model) {
    return s->now == 0 ? model->compiled : model->phase[s->now - 1];
}
