// SPDX-License-Identifier: MIT
//
// Numbers of the file that reach the equations through the numbers of the models alone: their
// slopes, many at once where they are independent, theory.md (7.5.11).
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_GROUP = 3,  // numbers of the file that are moved together
    MOST_SHARED = 100 // that share array numbers
};

// Have the laws of model m the jumps of those of the run, and its steps their lengths?
static snw_status same_jumps(const gradient_sweep *s, const snw_model *m, bool *out,
                             snw_error *err) {
    double moved = NAN;
    SNW_TRY(gradient_jumps_moved(&s->jumps, m->desc, &moved, err));
    *out = isnan(moved) && !gradient_held_moved(s->model->desc, m->desc).key;
    return SNW_OK;
}

// Do the equations of a model differ from those of the run in the numbers only?
static snw_status numbers_only(const gradient_sweep *s, const snw_robot_model *model, bool *out,
                               snw_error *err) {
    *out = gradient_numbers_only(s, model);
    return *out ? same_jumps(s, model->compiled, out, err) : SNW_OK;
}

// x (size) <- the vector of a model; *ok <- false: its equations differ in more.
static snw_status read_alone(const gradient_sweep *s, const snw_robot_model *model, double *x,
                             bool *ok, snw_error *err) {
    snw_error none = {0};
    SNW_TRY(numbers_only(s, model, ok, err));
    if (*ok && gradient_numbers_read(s, model, x, &none) != SNW_OK) *ok = false; // cannot be closed
    return SNW_OK;
}

// sum, coarse (size) <- derivatives of the vector along a direction; x (3 size), scale (2 size)
static snw_status slope_of(gradient_sweep *s, gradient_direction *d, size_t size, double *x,
                           double *scale, double *sum, double *coarse, bool *ok, snw_error *err) {
    double *low = x, *high = x + size, *at = x + 2 * size;
    bool linear = d->far[0] && d->far[1] && s->p[d->entry] != 0;
    *ok = true;
    for (int k = 0; k < 2 && *ok; k++) {
        if (d->far[k]) SNW_TRY(read_alone(s, d->far[k], k ? high : low, ok, err));
    }
    if (!*ok) return SNW_OK;
    SNW_TRY(gradient_numbers_read(s, NULL, at, err));
    gradient_numbers_scale(s, at, scale, scale + size);
    linear = linear && gradient_slope_straight(size, low, at, high, scale);
    memset(sum, 0, 2 * size * sizeof *sum);
    for (size_t i = 0; i < size && linear; i++)
        sum[i] = coarse[i] = (high[i] - low[i]) / (2 * GRADIENT_FAR * d->step);
    if (linear) return SNW_OK;
    SNW_TRY(gradient_open_samples(s, d, err));
    for (int k = 0; k < GRADIENT_VARIANTS && *ok; k++) {
        SNW_TRY(read_alone(s, d->model[k], low, ok, err));
        for (size_t i = 0; i < size && *ok; i++) {
            const double change = low[i] - at[i]; // exact
            sum[i] += gradient_sample_weight(gradient_weight6, k) / d->step * change;
            coarse[i] += gradient_sample_weight(gradient_weight4, k) / d->step * change;
        }
    }
    return SNW_OK;
}

snw_status gradient_find_slope(gradient_sweep *s, gradient_direction *d, bool *enough,
                               snw_error *err) {
    const size_t size = gradient_numbers_size(s);
    double *x = snw_alloc((7 * size + 1) * sizeof *x), *sum = x + 5 * size;
    if (!x) return snw_fail_memory(err);
    snw_status status = slope_of(s, d, size, x, x + 3 * size, sum, sum + size, enough, err);
    if (status == SNW_OK && *enough) {
        gradient_slope *to = &s->slope[s->nslope++];
        *to = (gradient_slope){.entry = d->entry};
        s->nlone++;
        if (gradient_slope_find(size, sum, sum + size, to) != SNW_OK) status = snw_fail_memory(err);
    }
    snw_free(x);
    return status;
}

// ---- numbers that are moved together ------------------------------------------------------------

enum { PLAIN, SECTIONS, VIEWS }; // the vector of the arrays, and that by sections

// Memory for numbers that are moved together.
typedef struct group_work {
    double *p, *move, *part; // nentry each: values, moves, fractions of them
    size_t size[VIEWS];      // of the vectors
    double *x[VIEWS];        // vectors at p and of the models
    double *scale, *noise;   // one each
    bool ok[VIEWS];          // all models so far differ in this vector only
    bool curved;             // numbers that share array numbers do not enter linearly
    gradient_owners to;
} group_work;

// The vectors `at` of the views <- those of a model; NULL: of the run.
static void read_views(const gradient_sweep *s, const snw_robot_model *model, int at,
                       group_work *w) {
    snw_error none = {0};
    for (int v = 0; v < VIEWS; v++) {
        if (!w->ok[v]) continue;
        gradient_numbers_by_sections(s, v == SECTIONS);
        if (model) w->ok[v] = gradient_numbers_only(s, model);
        if (w->ok[v])
            w->ok[v] =
                gradient_numbers_read(s, model, w->x[v] + (size_t)at * w->size[v], &none) == SNW_OK;
    }
    gradient_numbers_by_sections(s, false);
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
    bool ok = gradient_model_at(s->g, w->p, s->phase[0].m, &model, &none) == SNW_OK &&
              gradient_compile_phases(s, model, "", &none) == SNW_OK;
    s->g->info.models++;
    if (ok) status = same_jumps(s, model->compiled, &ok, err);
    for (int v = 0; v < VIEWS && !ok; v++) w->ok[v] = false;
    if (status == SNW_OK && ok) read_views(s, model, at, w);
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
    read_views(s, NULL, 0, w);
}

// Slopes of n numbers from w->to of a view.
static snw_status keep_slopes(gradient_sweep *s, int view, int n, const int *entry,
                              const group_work *w, snw_error *err) {
    for (int k = 0; k < n; k++) {
        gradient_slope *to = &s->slope[s->nslope++];
        *to = (gradient_slope){.entry = entry[k], .sections = view == SECTIONS};
        s->has_slope[entry[k]] = true;
        if (gradient_group_slope(w->size[view], k, &w->to, to) != SNW_OK)
            return snw_fail_memory(err);
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
            gradient_numbers_by_sections(s, v == SECTIONS);
            gradient_numbers_scale(s, w->x[v], w->scale, w->noise);
            gradient_group_linear(w->size[v], n, w->move, i + 1, w->x[v], w->scale, &w->to,
                                  &w->ok[v]);
            *ok = w->ok[v] && i == GRADIENT_MOVED - 1;
            if (*ok) SNW_TRY(keep_slopes(s, v, n, entry, w, err));
        }
        gradient_numbers_by_sections(s, false);
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
        for (int v = 0; v < VIEWS && i == bits - 1; v++) {
            if (!w->ok[v]) continue;
            gradient_numbers_by_sections(s, v == SECTIONS);
            gradient_numbers_scale(s, w->x[v], w->scale, w->noise);
            w->ok[v] = gradient_group_owned(w->size[v], n, bits, w->x[v], w->noise);
        }
        gradient_numbers_by_sections(s, false);
    }
    for (int v = 0; v < VIEWS && !*ok; v++) {
        if (!w->ok[v]) continue;
        gradient_numbers_by_sections(s, v == SECTIONS);
        gradient_numbers_scale(s, w->x[v], w->scale, w->noise);
        gradient_group_bits(w->size[v], n, bits, w->x[v], w->noise, &w->to, ok);
        if (!*ok) continue;
        gradient_group_samples(w->size[v], w->move, w->x[v],
                               w->x[v] + (size_t)(bits + 1) * w->size[v], &w->to);
        SNW_TRY(keep_slopes(s, v, n, entry, w, err));
    }
    gradient_numbers_by_sections(s, false);
    return SNW_OK;
}

// found (VIEWS x n) <- the slopes in each view of n numbers that share array numbers, each moved
// alone; w->ok <- the views in which all together do what they do one by one.
static snw_status move_alone(gradient_sweep *s, int n, const int *entry, group_work *w,
                             gradient_slope *found, snw_error *err) {
    for (int k = 0; k <= n; k++) {
        for (int j = 0; j < n; j++)
            w->part[j] = k == n ? gradient_group_fraction(GRADIENT_MOVED - 1, j, n) : j == k;
        SNW_TRY(read_moved(s, n, entry, 1, w, err));
        for (int v = 0; v < VIEWS; v++) {
            const size_t size = w->size[v];
            double *x0 = w->x[v], *x = x0 + size, *sum = x + size;
            if (!w->ok[v]) continue;
            gradient_numbers_by_sections(s, v == SECTIONS);
            gradient_numbers_scale(s, x0, w->scale, w->noise);
            gradient_numbers_by_sections(s, false);
            if (k == n) {
                w->ok[v] = gradient_shared_is(size, x0, x, sum, w->scale);
                continue;
            }
            if (k == 0) memset(sum, 0, size * sizeof *sum);
            gradient_shared_add(size, w->move[k], gradient_group_fraction(GRADIENT_MOVED - 1, k, n),
                                x0, x, w->scale, w->to.by, sum);
            if (gradient_slope_find(size, w->to.by, w->to.by, &found[v * n + k]) != SNW_OK)
                return snw_fail_memory(err);
        }
    }
    return SNW_OK;
}

// Slopes of n numbers that share array numbers and enter them linearly, n + 1 models; *ok <- they
// do, in one of the views.
static snw_status try_shared(gradient_sweep *s, int n, const int *entry, group_work *w, bool *ok,
                             snw_error *err) {
    if (n > MOST_SHARED || w->curved) return SNW_OK;
    gradient_slope *found = snw_alloc(VIEWS * (size_t)n * sizeof *found);
    if (!found) return snw_fail_memory(err);
    memset(found, 0, VIEWS * (size_t)n * sizeof *found);
    begin_group(s, n, entry, GRADIENT_FAR * gradient_parameter_move, w);
    const snw_status status = move_alone(s, n, entry, w, found, err);
    const int view = w->ok[PLAIN] ? PLAIN : SECTIONS;
    *ok = status == SNW_OK && w->ok[view];
    w->curved = !*ok;
    for (int i = 0; i < VIEWS * n; i++) {
        if (!*ok || i / n != view) {
            gradient_slope_close(&found[i]);
            continue;
        }
        found[i].entry = entry[i % n];
        found[i].sections = view == SECTIONS;
        s->has_slope[found[i].entry] = true;
        s->slope[s->nslope++] = found[i];
    }
    snw_free(found);
    return status;
}

// Slopes of n numbers of the file that are moved together, theory.md 7.5; where they are not
// independent, not even in the laws of sections, and not linear, of each half of them.
static snw_status group_slopes(gradient_sweep *s, int n, const int *entry, group_work *w,
                               snw_error *err) {
    bool ok = false;
    if (n < LEAST_GROUP) return SNW_OK;
    SNW_TRY(try_linear(s, n, entry, w, &ok, err));
    if (!ok) SNW_TRY(try_curved(s, n, entry, w, &ok, err));
    if (!ok) SNW_TRY(try_shared(s, n, entry, w, &ok, err));
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
        gradient_numbers_by_sections(s, v == SECTIONS);
        w.size[v] = gradient_numbers_size(s);
        most = w.size[v] > most ? w.size[v] : most;
        all += w.size[v];
    }
    gradient_numbers_by_sections(s, false);
    w.p = snw_alloc((3 * ne + 4 * most + vectors * all + 1) * sizeof *w.p);
    w.to.owner = snw_alloc((most + 1) * sizeof *w.to.owner);
    int *entry = snw_alloc((ne + 1) * sizeof *entry);
    snw_status status = w.p && w.to.owner && entry ? SNW_OK : snw_fail_memory(err);
    if (status == SNW_OK) {
        w.move = w.p + ne, w.part = w.move + ne, w.scale = w.part + ne;
        w.noise = w.scale + most;
        w.to.by = w.noise + most, w.to.coarse = w.to.by + most;
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

snw_status gradient_add_slopes(gradient_sweep *s, snw_error *err) {
    const snw_gradient *g = s->g;
    if (s->nslope == 0) return SNW_OK;
    size_t size[VIEWS];
    for (int v = VIEWS; v-- > 0;) {
        gradient_numbers_by_sections(s, v == SECTIONS);
        size[v] = gradient_numbers_size(s);
    }
    double *plain = snw_alloc((size[PLAIN] + size[SECTIONS] + 1) * sizeof *plain);
    if (!plain) return snw_fail_memory(err);
    double *by_section = plain + size[PLAIN];
    bool sections = false;
    for (int k = 0; k < s->nslope; k++) sections = sections || s->slope[k].sections;
    for (int j = 0; j < g->nscalar; j++) {
        gradient_numbers_bars(s, j, false, plain);
        if (sections) gradient_numbers_bars(s, j, true, by_section);
        for (int k = 0; k < s->nslope; k++) {
            const gradient_slope *slope = &s->slope[k];
            double coarse, terms;
            const double by = gradient_slope_product(slope, slope->sections ? by_section : plain,
                                                     &coarse, &terms);
            s->dJ[(size_t)j * (size_t)g->nentry + (size_t)slope->entry] += by;
            gradient_note_error(s, s->p[slope->entry], fabs(by - coarse), terms);
        }
    }
    snw_free(plain);
    s->g->info.gathered += s->nslope;
    return SNW_OK;
}
