// SPDX-License-Identifier: MIT
//
// Steps of a study that begin from the end of an earlier one: a state is an input of several maps,
// theory.md 7.5. Back, the bars that come to the beginning of such a step are kept until the sweep
// comes to the end of the other; forward, the derivatives at that end are kept for all that begin
// there.
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <string.h>

// Numbers kept for each set of bars: place, rate, memory, branches, times.
static size_t set_size(const gradient_sweep *s) {
    return 2 * (size_t)s->m->nv + (size_t)s->m->nsignal + (size_t)s->m->nbranch_coordinate +
           SNW_TIMES;
}

snw_status gradient_from_open(gradient_sweep *s, snw_error *err) {
    const snw_desc *d = s->model->desc;
    s->from = snw_alloc(((size_t)d->nstep + 1) * sizeof *s->from);
    if (!s->from) return snw_fail_memory(err);
    for (int i = 0; i < d->nstep; i++) s->from[i] = NULL;
    for (int i = 0; i < d->nstep; i++) {
        const int k = d->step[i].from;
        if (k < 0 || s->from[k]) continue;
        s->from[k] = snw_alloc(set_size(s) * (size_t)s->nset * sizeof **s->from);
        if (!s->from[k]) return snw_fail_memory(err);
    }
    gradient_from_clear(s);
    return SNW_OK;
}

void gradient_from_clear(gradient_sweep *s) {
    for (int i = 0; i < s->model->desc->nstep; i++) {
        if (s->from[i]) memset(s->from[i], 0, set_size(s) * (size_t)s->nset * sizeof **s->from);
    }
}

void gradient_from_close(gradient_sweep *s) {
    for (int i = 0; s->from && i < s->model->desc->nstep; i++) snw_free(s->from[i]);
    snw_free(s->from);
}

// The parts of the bars of set k that are kept, with their sizes.
enum { PARTS = 5 };
static void parts_of(const gradient_sweep *s, int k, double *part[PARTS], size_t n[PARTS]) {
    const snw_bars *b = snw_adjoint_bars(s->adjoint, k);
    part[0] = b->place, n[0] = (size_t)s->m->nv;
    part[1] = b->rate, n[1] = n[0];
    part[2] = b->z, n[2] = (size_t)s->m->nsignal;
    part[3] = b->branch, n[3] = (size_t)s->m->nbranch_coordinate;
    part[4] = b->time, n[4] = SNW_TIMES;
}

// kept = (or, of_bars, bars = bars plus) the kept numbers of the end of the step that a map names
static void copy_bars(gradient_sweep *s, const snw_map *map, bool to_bars) {
    double *kept = s->from[map->stage];
    for (int k = 0; k < s->nset; k++) {
        double *part[PARTS];
        size_t n[PARTS];
        parts_of(s, k, part, n);
        for (int i = 0; i < PARTS; i++) {
            for (size_t j = 0; j < n[i]; j++)
                *(to_bars ? &part[i][j] : &kept[j]) += to_bars ? kept[j] : part[i][j];
            kept += n[i];
        }
    }
}

void gradient_from_back(gradient_sweep *s, const snw_map *map) {
    const bool begins = map->kind == SNW_MAP_FROM;
    copy_bars(s, map, !begins);
    if (begins) snw_adjoint_clear(s->adjoint);
}

void gradient_from_forward(gradient_sweep *s, const snw_map *map) {
    const bool begins = map->kind == SNW_MAP_FROM;
    if (begins) snw_adjoint_clear(s->adjoint);
    copy_bars(s, map, begins);
}
