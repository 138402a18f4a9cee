// SPDX-License-Identifier: MIT
//
// Lengths of steps and times of states that vary after an event, theory.md (7.5.12). A step of
// length h from time t_0 to t_1 = t_0 + h has the scalar J(h, t_1, ..); its length follows from
// its end: it keeps its value, or it ends at a given time, at an instant of the time grid of
// the motion, or where a condition changes.
#include "study/adjoint_private.h"

#include "math/vector.h"

#include <math.h>
#include <string.h>

static const double length_move = 1e-3, // of lengths in differences, relative
    time_move = 0.05,                   // of times, of the longest step
    fold_move = 1e-3;                   // of the parameter of a path, of its range

bool adjoint_moves(const snw_map *map) {
    return map->time_moves || map->length_moves ||
           (snw_map_is_step(map) && map->end == SNW_END_EVENT);
}

double snw_adjoint_time_step(const snw_adjoint *a, const snw_map *map) {
    if (map->place == SNW_PLACE_FOLD) return fold_move * map->range;
    return time_move * (a->longest > 0 ? a->longest : 1e-3);
}

// ---- derivatives
// ----------------------------------------------------------------------------------

// rate, acc (nv) += c times rates and accelerations of the scheme `c` without those that follow
// laws
static void add_scheme(const snw_adjoint *a, const snw_map *map, const snw_scheme_map *by,
                       double weight, double *rate, double *acc) {
    const size_t nv = (size_t)a->m->nv;
    for (size_t i = 0; i < nv; i++) {
        if (a->driven[i]) continue;
        double f = by->a * map->d[i], g = by->b * map->d[i];
        for (size_t j = SNW_PAST_RATE; j < SNW_PAST_PARTS; j++) {
            const double past = map->past[(j - SNW_PAST_RATE) * nv + i];
            f += by->f[j] * past;
            g += by->g[j] * past;
        }
        rate[i] += weight * f;
        acc[i] += weight * g;
    }
}

void adjoint_find_lengths(snw_adjoint *a, const snw_map *map) {
    const size_t nv = (size_t)a->m->nv;
    memset(a->by_length, 0, 4 * nv * sizeof *a->by_length);
    if (!map->past || !adjoint_moves(map)) return;
    for (int of = 0; of < 2; of++) { // its own length, that of the step before
        const double length = of ? map->history_h : map->h, step = length_move * length;
        if (!(length > 0)) continue;
        for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
            if (j == 0) continue;
            snw_map moved = *map;
            *(of ? &moved.history_h : &moved.h) += j * step;
            const snw_scheme_map c = adjoint_scheme_map(&moved);
            const double weight = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / step;
            add_scheme(a, map, &c, weight, a->by_length + 2 * of * nv,
                       a->by_length + (2 * of + 1) * nv);
        }
    }
}

void adjoint_find_products(snw_adjoint *a, const snw_map *map) {
    const bool stages = map->kind == SNW_MAP_STAGES;
    const double step = snw_adjoint_time_step(a, map);
    memset(a->of_time, 0, (size_t)a->nscalar * sizeof *a->of_time);
    memset(a->of_length, 0, (size_t)a->nscalar * sizeof *a->of_length);
    for (int i = 0; i < (stages ? snw_map_parts(map) : 1); i++) {
        // of the conserving scheme the derivative by the length is in by_own
        const double part = stages                           ? adjoint_stage_fraction(map, i)
                            : map->kind == SNW_MAP_CONSERVED ? 0
                                                             : 1;
        a->clock.stage = stages ? i + 1 : 0;
        for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
            if (j == 0) continue;
            a->clock.shift = j * step;
            snw_sampler_map(&a->clock, a, map, a->product);
            const double c = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / step;
            for (int k = 0; k < a->nscalar; k++) {
                a->of_time[k] += c * a->product[k];
                a->of_length[k] += part * c * a->product[k];
            }
        }
    }
    a->clock.stage = 0, a->clock.shift = 0;
}

void adjoint_find_by_time(snw_adjoint *a, const snw_map *map) {
    const int n = snw_sensitivity_size(a, map);
    const double step = snw_adjoint_time_step(a, map);
    memset(a->by_time, 0, (size_t)n * sizeof *a->by_time);
    if (!adjoint_moves(map)) return;
    for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
        if (j == 0) continue;
        a->clock.shift = j * step;
        snw_sampler_equations(&a->clock, a, map, a->sampled_time);
        const double c = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / step;
        for (int i = 0; i < n; i++) a->by_time[i] += c * a->sampled_time[i];
    }
    a->clock.shift = 0;
}

// ---- backward -----------------------------------------------------------------------------------

void adjoint_back_times(snw_adjoint *a, const snw_map *map) {
    adjoint_find_products(a, map);
    for (int i = 0; i < a->nscalar; i++) {
        double *t = a->bars[i].time;
        const double by_start = t[SNW_TIME_NOW] - a->of_time[i]; // at a fixed length
        if (!snw_map_is_step(map)) {
            if (map->time_moves) t[SNW_TIME_NOW] = by_start;
            if (map->kind == SNW_MAP_RESTART && !map->settles) t[SNW_TIME_LENGTH] = 0;
            continue;
        }
        const double own = a->by_own[i] + t[SNW_TIME_LENGTH];
        const double by_length = own + t[SNW_TIME_NOW] - a->of_length[i]; // at a fixed start
        const bool given = map->end == SNW_END_TIME || map->end == SNW_END_GRID;
        t[SNW_TIME_NOW] = given ? -own - a->of_time[i] + a->of_length[i] : by_start;
        if (map->end == SNW_END_GRID) t[SNW_TIME_START] += by_length;
        t[SNW_TIME_LENGTH] = a->by_before[i];
        a->by_free[i] = by_length;
    }
}

void snw_adjoint_begin(snw_adjoint *a) {
    for (int i = 0; i < a->nscalar; i++) {
        double *t = a->bars[i].time;
        t[SNW_TIME_NOW] += t[SNW_TIME_START];
        t[SNW_TIME_START] = 0;
    }
}

// Numbers of the bars of one scalar, which follow each other.
static size_t bars_numbers(const snw_adjoint *a) {
    return (size_t)(a->bars[0].time - a->bars[0].place) + SNW_TIMES;
}

double snw_adjoint_free_length(snw_adjoint *a, double *factor) {
    const int last = a->nscalar - 1;
    const size_t n = bars_numbers(a);
    const double by = a->by_free[last];
    for (int i = 0; i < last; i++) {
        factor[i] = -a->by_free[i] / by;
        for (size_t k = 0; k < n; k++) a->bars[i].place[k] += factor[i] * a->bars[last].place[k];
    }
    memset(a->bars[last].place, 0, n * sizeof *a->bars[last].place);
    return by;
}

// ---- forward ------------------------------------------------------------------------------------

adjoint_times adjoint_step_times(const snw_adjoint *a, const snw_map *map, int k) {
    const double *t = a->bars[k].time;
    adjoint_times x = {.before = t[SNW_TIME_NOW], .after = t[SNW_TIME_NOW]};
    if (!snw_map_is_step(map)) return x;
    if (map->end == SNW_END_TIME) x.after = 0;
    if (map->end == SNW_END_GRID) x.after = t[SNW_TIME_START];
    x.length = x.after - x.before;
    return x;
}

void snw_sensitivity_add(snw_adjoint *a, int k, double length, int from) {
    const size_t n = bars_numbers(a);
    for (size_t i = 0; i < n; i++) a->bars[k].place[i] += length * a->bars[from].place[i];
}
