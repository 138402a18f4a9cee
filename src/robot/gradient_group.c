// SPDX-License-Identifier: MIT
//
// Numbers of the file that reach the equations through the arrays of the model alone: their slopes,
// many at once where they are independent, theory.md (7.5.11).
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

enum { LEAST_GROUP = 4 }; // numbers of the file that are moved together

// Do the equations of model m differ from those of the run in the arrays only?
static snw_status arrays_only(const gradient_sweep *s, const snw_model *m, bool *out,
                              snw_error *err) {
    double moved = NAN;
    *out = snw_model_arrays_only(s->arrays, m);
    if (*out) SNW_TRY(gradient_jumps_moved(&s->jumps, m->desc, &moved, err));
    *out = *out && isnan(moved);
    return *out ? gradient_same_start(s, m, out, err) : SNW_OK;
}

snw_status gradient_find_slope(gradient_sweep *s, gradient_direction *d, bool *enough,
                               snw_error *err) {
    gradient_sample sample[GRADIENT_VARIANTS];
    bool only = true, linear = d->far[0] && d->far[1] && s->p[d->entry] != 0;
    for (int k = 0; k < 2 && only; k++) {
        if (d->far[k]) SNW_TRY(arrays_only(s, d->far[k]->compiled, &only, err));
    }
    if (!only) return SNW_OK;
    if (linear && gradient_slope_straight(s->arrays, d->far[0]->compiled, s->m, d->far[1]->compiled,
                                          &linear) != SNW_OK)
        return snw_fail_memory(err);
    for (int k = 0; k < 2 && linear; k++) {
        const double weight = (k ? 1 : -1) / (2 * GRADIENT_FAR * d->step);
        sample[k] = (gradient_sample){d->far[k]->compiled, weight, weight};
    }
    if (!linear) SNW_TRY(gradient_open_samples(s, d, err));
    for (int i = 0; i < GRADIENT_VARIANTS && !linear && only; i++) {
        sample[i] = (gradient_sample){d->model[i]->compiled,
                                      gradient_sample_weight(gradient_weight6, i) / d->step,
                                      gradient_sample_weight(gradient_weight4, i) / d->step};
        SNW_TRY(arrays_only(s, sample[i].m, &only, err));
    }
    if (!only) return SNW_OK;
    gradient_slope *to = &s->slope[s->nslope++];
    *to = (gradient_slope){.entry = d->entry};
    s->nlone++;
    *enough = true;
    return gradient_slope_find(s->arrays, linear ? 2 : GRADIENT_VARIANTS, sample, to) == SNW_OK
               ? SNW_OK
               : snw_fail_memory(err);
}

// The arrays of the model at p moved; *ok <- false: it differs from that of the run in more.
static snw_status read_moved(const gradient_sweep *s, const double *p, double *x, bool *ok,
                             snw_error *err) {
    snw_robot_model *model = NULL;
    snw_error none = {0};
    snw_status status = SNW_OK;
    *ok = gradient_model_at(s->g, p, &model, &none) == SNW_OK &&
          gradient_freeze_rows(s->m, model->compiled);
    if (*ok) status = arrays_only(s, model->compiled, ok, err);
    if (status == SNW_OK && *ok) snw_model_arrays_read(s->arrays, model->compiled, x);
    snw_robot_model_close(model);
    return status;
}

// Memory for numbers that are moved together.
typedef struct group_work {
    double *p, *move, *fraction; // nentry, n, 2 n
    double *x, *slope, *scale;   // vectors of the arrays: at p, of the bits, two; 1; 1
    int *owner;
} group_work;

// x <- vectors of the arrays for gradient_group_decode
static snw_status read_group(const gradient_sweep *s, int n, const int *entry, int bits,
                             group_work *w, bool *ok, snw_error *err) {
    const size_t size = snw_model_arrays_size(s->arrays);
    snw_model_arrays_read(s->arrays, s->m, w->x);
    for (int k = 0; k < n; k++) { // any two sequences without a pattern
        w->move[k] = GRADIENT_FAR * gradient_parameter_move * fabs(s->p[entry[k]]);
        w->fraction[k] = -1 + 0.6 * fmod(0.6180339887498949 * (k + 1), 1);
        w->fraction[n + k] = 1 - 0.7 * fmod(0.4142135623730951 * (k + 1), 1);
    }
    *ok = true;
    for (int b = 0; b < bits + 2 && *ok; b++) {
        memcpy(w->p, s->p, (size_t)s->g->nentry * sizeof *w->p);
        for (int k = 0; k < n; k++) {
            const double part = b < bits ? ((k + 1) >> b) & 1 : w->fraction[(b - bits) * n + k];
            w->p[entry[k]] += part * w->move[k];
        }
        SNW_TRY(read_moved(s, w->p, w->x + (size_t)(b + 1) * size, ok, err));
        if (b == 1 && *ok) *ok = gradient_group_apart(s->arrays, w->x);
    }
    return SNW_OK;
}

// The same n numbers with vectors of one kind; *ok <- false: they are not independent there.
static snw_status try_group(gradient_sweep *s, bool sections, int n, const int *entry,
                            group_work *w, bool *ok, snw_error *err) {
    int bits = 0;
    while (n >> bits) bits++;
    snw_model_arrays_by_sections(s->arrays, sections);
    SNW_TRY(read_group(s, n, entry, bits, w, ok, err));
    if (*ok)
        gradient_group_decode(s->arrays, n, w->move, bits, w->x, w->fraction, w->owner, w->slope,
                              w->scale, ok);
    for (int k = 0; k < n && *ok; k++) {
        gradient_slope *to = &s->slope[s->nslope++];
        *to = (gradient_slope){.entry = entry[k], .sections = sections};
        s->has_slope[entry[k]] = true;
        if (gradient_group_slope(s->arrays, k, w->owner, w->slope, to) != SNW_OK)
            return snw_fail_memory(err);
    }
    return SNW_OK;
}

// Slopes of n numbers of the file that are moved together, theory.md 7.5; where they are not
// independent, not even in the laws of sections, of each half of them.
static snw_status group_slopes(gradient_sweep *s, int n, const int *entry, group_work *w,
                               snw_error *err) {
    bool ok = false;
    if (n < LEAST_GROUP) return SNW_OK;
    snw_status status = try_group(s, false, n, entry, w, &ok, err);
    if (status == SNW_OK && !ok) status = try_group(s, true, n, entry, w, &ok, err);
    snw_model_arrays_by_sections(s->arrays, false);
    if (status != SNW_OK || ok) return status;
    SNW_TRY(group_slopes(s, n / 2, entry, w, err));
    return group_slopes(s, n - n / 2, entry + n / 2, w, err);
}

snw_status gradient_find_slopes(gradient_sweep *s, snw_error *err) {
    const snw_gradient *g = s->g;
    snw_model_arrays_by_sections(s->arrays, true); // the longer vector
    const size_t ne = (size_t)g->nentry, size = snw_model_arrays_size(s->arrays);
    snw_model_arrays_by_sections(s->arrays, false);
    int n = 0, bits = 0;
    while (g->nentry >> bits) bits++;
    const size_t vectors = (size_t)bits + 5;
    group_work w = {.p = snw_alloc((4 * ne + vectors * size + 1) * sizeof *w.p),
                    .owner = snw_alloc((size + 1) * sizeof *w.owner)};
    int *entry = snw_alloc((ne + 1) * sizeof *entry);
    snw_status status = w.p && w.owner && entry ? SNW_OK : snw_fail_memory(err);
    if (status == SNW_OK) {
        w.move = w.p + ne, w.fraction = w.move + ne;
        w.slope = w.fraction + 2 * ne, w.scale = w.slope + size, w.x = w.scale + size;
        for (int k = 0; k < g->nentry; k++) {
            if (g->entry[k].kind == GRADIENT_NUMBER && s->p[k] != 0) entry[n++] = k;
        }
        status = group_slopes(s, n, entry, &w, err);
    }
    snw_free(w.p);
    snw_free(w.owner);
    snw_free(entry);
    return status;
}

void gradient_note_error(gradient_sweep *s, double p, double error, double size) {
    const double scale = p != 0 ? fabs(p) : 1;
    s->error = fmax(s->error, scale * error);
    s->size = fmax(s->size, scale * size);
}

void gradient_add_slopes(gradient_sweep *s) {
    const snw_gradient *g = s->g;
    for (int j = 0; j < g->nscalar; j++) {
        const double *by_section = NULL;
        for (int k = 0; k < s->nslope; k++) {
            const gradient_slope *slope = &s->slope[k];
            if (slope->sections && !by_section)
                by_section = snw_model_arrays_section_bars(s->arrays, j);
            double coarse, terms;
            const double *bars = slope->sections ? by_section : snw_model_arrays_bars(s->arrays, j);
            const double by = gradient_slope_product(slope, bars, &coarse, &terms);
            s->dJ[(size_t)j * (size_t)g->nentry + (size_t)slope->entry] += by;
            gradient_note_error(s, s->p[slope->entry], fabs(by - coarse), terms);
        }
    }
    s->g->info.gathered += s->nslope;
}
