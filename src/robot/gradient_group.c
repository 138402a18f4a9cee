// SPDX-License-Identifier: MIT
//
// Numbers of the file that reach the equations through the arrays of the model alone: their slopes,
// many at once where they are independent, theory.md (7.5.11).
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

enum { LEAST_GROUP = 3 }; // numbers of the file that are moved together

// Have the laws of model m the jumps of those of the run?
static snw_status same_jumps(const gradient_sweep *s, const snw_model *m, bool *out,
                             snw_error *err) {
    double moved = NAN;
    SNW_TRY(gradient_jumps_moved(&s->jumps, m->desc, &moved, err));
    *out = isnan(moved);
    return SNW_OK;
}

// Do the equations of model m differ from those of the run in the arrays only? *moves <- it begins
// in another state.
static snw_status arrays_only(const gradient_sweep *s, const snw_model *m, bool *out, bool *moves,
                              snw_error *err) {
    bool same = true;
    *out = snw_model_arrays_only(s->arrays, m);
    if (*out) SNW_TRY(same_jumps(s, m, out, err));
    if (*out) SNW_TRY(gradient_same_start(s, m, &same, err));
    *moves = *moves || !same;
    *out = *out && (same || !s->partial); // the first state of the tape is not there yet
    return SNW_OK;
}

// slope->start <- derivative of the initial state
static snw_status keep_start(gradient_sweep *s, gradient_direction *d, gradient_slope *slope,
                             snw_error *err) {
    gradient_start w;
    slope->start = snw_alloc(2 * (size_t)s->m->nv * sizeof *slope->start);
    if (!slope->start) return snw_fail_memory(err);
    snw_status status = gradient_start_open(s, &w, err);
    if (status == SNW_OK) status = gradient_start_samples(s, d, d->entry, &w, slope->start, err);
    gradient_start_close(&w);
    return status;
}

snw_status gradient_find_slope(gradient_sweep *s, gradient_direction *d, bool *enough,
                               snw_error *err) {
    gradient_sample sample[GRADIENT_VARIANTS];
    bool only = true, moves = false, linear = d->far[0] && d->far[1] && s->p[d->entry] != 0;
    for (int k = 0; k < 2 && only; k++) {
        if (d->far[k]) SNW_TRY(arrays_only(s, d->far[k]->compiled, &only, &moves, err));
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
        SNW_TRY(arrays_only(s, sample[i].m, &only, &moves, err));
    }
    if (!only) return SNW_OK;
    gradient_slope *to = &s->slope[s->nslope++];
    *to = (gradient_slope){.entry = d->entry};
    s->nlone++;
    *enough = true;
    if (moves) SNW_TRY(keep_start(s, d, to, err));
    return gradient_slope_find(s->arrays, linear ? 2 : GRADIENT_VARIANTS, sample, to) == SNW_OK
               ? SNW_OK
               : snw_fail_memory(err);
}

// ---- numbers that are moved together ------------------------------------------------------------

enum { PLAIN, SECTIONS, VIEWS }; // the vector of the arrays, and that by sections

// Memory for numbers that are moved together.
typedef struct group_work {
    double *p, *move, *part;  // nentry each: values, moves, fractions of them
    size_t size[VIEWS];       // of the vectors
    double *x[VIEWS], *scale; // vectors at p and of the models; one more
    bool ok[VIEWS];           // all models so far differ in this vector only
    gradient_owners to;
} group_work;

// The vectors `at` of the views <- those of model m.
static void read_views(const gradient_sweep *s, const snw_model *m, int at, group_work *w) {
    for (int v = 0; v < VIEWS; v++) {
        if (!w->ok[v]) continue;
        snw_model_arrays_by_sections(s->arrays, v == SECTIONS);
        if (m != s->m) w->ok[v] = snw_model_arrays_only(s->arrays, m);
        if (w->ok[v]) snw_model_arrays_read(s->arrays, m, w->x[v] + (size_t)at * w->size[v]);
    }
    snw_model_arrays_by_sections(s->arrays, false);
}

// The vectors `at` <- those of the model in which w->part of the moves of n numbers is made.
static snw_status read_moved(const gradient_sweep *s, int n, const int *entry, int at,
                             group_work *w, snw_error *err) {
    snw_robot_model *model = NULL;
    snw_error none = {0};
    snw_status status = SNW_OK;
    if (!w->ok[PLAIN] && !w->ok[SECTIONS]) return SNW_OK;
    memcpy(w->p, s->p, (size_t)s->g->nentry * sizeof *w->p);
    for (int k = 0; k < n; k++) w->p[entry[k]] += w->part[k] * w->move[k];
    bool ok = gradient_model_at(s->g, w->p, s->m, &model, &none) == SNW_OK &&
              gradient_freeze_rows(s->m, model->compiled);
    if (ok) status = same_jumps(s, model->compiled, &ok, err);
    if (ok && status == SNW_OK) status = gradient_same_start(s, model->compiled, &ok, err);
    for (int v = 0; v < VIEWS && !ok; v++) w->ok[v] = false;
    if (status == SNW_OK && ok) read_views(s, model->compiled, at, w);
    snw_robot_model_close(model);
    return status;
}

// Moves that are `part` of a number, and vectors at p.
static void begin_group(const gradient_sweep *s, int n, const int *entry, double part,
                        group_work *w) {
    for (int k = 0; k < n; k++) {
        const double p = fabs(s->p[entry[k]]);
        w->move[k] = p > 0 ? part * p : gradient_parameter_move;
    }
    w->ok[PLAIN] = w->ok[SECTIONS] = true;
    read_views(s, s->m, 0, w);
}

// Slopes of n numbers from w->to of a view.
static snw_status keep_slopes(gradient_sweep *s, int view, int n, const int *entry,
                              const group_work *w, snw_error *err) {
    for (int k = 0; k < n; k++) {
        gradient_slope *to = &s->slope[s->nslope++];
        *to = (gradient_slope){.entry = entry[k], .sections = view == SECTIONS};
        s->has_slope[entry[k]] = true;
        if (gradient_group_slope(s->arrays, k, &w->to, to) != SNW_OK) return snw_fail_memory(err);
    }
    return SNW_OK;
}

// Slopes of n numbers each of which enters linearly array numbers of its own; *ok <- they do, in
// one of the views.
static snw_status try_linear(gradient_sweep *s, int n, const int *entry, group_work *w, bool *ok,
                             snw_error *err) {
    *ok = false;
    begin_group(s, n, entry, GRADIENT_FAR * gradient_parameter_move, w);
    for (int i = 0; i < GRADIENT_MOVED; i++) {
        for (int k = 0; k < n; k++) w->part[k] = gradient_group_fraction(i, k, n);
        SNW_TRY(read_moved(s, n, entry, i + 1, w, err));
        for (int v = 0; v < VIEWS && i > 0 && !*ok; v++) {
            if (!w->ok[v]) continue;
            snw_model_arrays_by_sections(s->arrays, v == SECTIONS);
            gradient_group_linear(s->arrays, n, w->move, i + 1, w->x[v], w->scale, &w->to,
                                  &w->ok[v]);
            *ok = w->ok[v] && i == GRADIENT_MOVED - 1;
            if (*ok) SNW_TRY(keep_slopes(s, v, n, entry, w, err));
        }
        snw_model_arrays_by_sections(s->arrays, false);
    }
    return SNW_OK;
}

// The same for numbers that do not enter linearly, by differences.
static snw_status try_curved(gradient_sweep *s, int n, const int *entry, group_work *w, bool *ok,
                             snw_error *err) {
    int bits = 0;
    while (n >> bits) bits++;
    *ok = false;
    begin_group(s, n, entry, gradient_parameter_move, w);
    for (int i = 0; i < bits + GRADIENT_VARIANTS; i++) {
        for (int k = 0; k < n; k++)
            w->part[k] =
                i < bits ? (((k + 1) >> i) & 1) * GRADIENT_SAMPLES : gradient_sample_at(i - bits);
        SNW_TRY(read_moved(s, n, entry, i + 1, w, err));
    }
    for (int v = 0; v < VIEWS && !*ok; v++) {
        if (!w->ok[v]) continue;
        snw_model_arrays_by_sections(s->arrays, v == SECTIONS);
        gradient_group_bits(s->arrays, n, bits, w->x[v], &w->to, ok);
        if (!*ok) continue;
        gradient_group_samples(s->arrays, w->move, w->x[v] + (size_t)(bits + 1) * w->size[v],
                               &w->to);
        SNW_TRY(keep_slopes(s, v, n, entry, w, err));
    }
    snw_model_arrays_by_sections(s->arrays, false);
    return SNW_OK;
}

// Slopes of n numbers of the file that are moved together, theory.md 7.5; where they are not
// independent, not even in the laws of sections, of each half of them.
static snw_status group_slopes(gradient_sweep *s, int n, const int *entry, group_work *w,
                               snw_error *err) {
    bool ok = false;
    if (n < LEAST_GROUP) return SNW_OK;
    SNW_TRY(try_linear(s, n, entry, w, &ok, err));
    if (!ok) SNW_TRY(try_curved(s, n, entry, w, &ok, err));
    if (ok) return SNW_OK;
    SNW_TRY(group_slopes(s, n / 2, entry, w, err));
    return group_slopes(s, n - n / 2, entry + n / 2, w, err);
}

snw_status gradient_find_slopes(gradient_sweep *s, snw_error *err) {
    const snw_gradient *g = s->g;
    const size_t ne = (size_t)g->nentry;
    size_t vectors = 1 + GRADIENT_VARIANTS, most = 0, all = 0;
    int n = 0;
    while (g->nentry >> (vectors - 1 - GRADIENT_VARIANTS)) vectors++;
    group_work w = {0};
    for (int v = 0; v < VIEWS; v++) {
        snw_model_arrays_by_sections(s->arrays, v == SECTIONS);
        w.size[v] = snw_model_arrays_size(s->arrays);
        most = w.size[v] > most ? w.size[v] : most;
        all += w.size[v];
    }
    snw_model_arrays_by_sections(s->arrays, false);
    w.p = snw_alloc((3 * ne + 3 * most + vectors * all + 1) * sizeof *w.p);
    w.to.owner = snw_alloc((most + 1) * sizeof *w.to.owner);
    int *entry = snw_alloc((ne + 1) * sizeof *entry);
    snw_status status = w.p && w.to.owner && entry ? SNW_OK : snw_fail_memory(err);
    if (status == SNW_OK) {
        w.move = w.p + ne, w.part = w.move + ne, w.scale = w.part + ne;
        w.to.by = w.scale + most, w.to.coarse = w.to.by + most;
        w.x[PLAIN] = w.to.coarse + most, w.x[SECTIONS] = w.x[PLAIN] + vectors * w.size[PLAIN];
        for (int k = 0; k < g->nentry; k++) {
            if (g->entry[k].kind == GRADIENT_NUMBER) entry[n++] = k;
        }
        status = group_slopes(s, n, entry, &w, err);
    }
    snw_free(w.p);
    snw_free(w.to.owner);
    snw_free(entry);
    return status;
}

void gradient_note_error(gradient_sweep *s, double p, double error, double size) {
    const double scale = p != 0 ? fabs(p) : 1;
    s->error = fmax(s->error, scale * error);
    s->size = fmax(s->size, scale * size);
}

// Derivative of scalar j through the initial state.
static double start_product(const gradient_sweep *s, const gradient_slope *slope, int j) {
    const snw_bars *b = snw_adjoint_bars(s->adjoint, j);
    double sum = 0;
    for (int k = 0; slope->start && k < s->m->nv; k++)
        sum += b->place[k] * slope->start[k] + b->rate[k] * slope->start[s->m->nv + k];
    return sum;
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
            s->dJ[(size_t)j * (size_t)g->nentry + (size_t)slope->entry] +=
                by + start_product(s, slope, j);
            gradient_note_error(s, s->p[slope->entry], fabs(by - coarse), terms);
        }
    }
    s->g->info.gathered += s->nslope;
}
