// SPDX-License-Identifier: MIT
//
// Sensitivities along a run: derivatives of the state by all variables, theory.md (7.5.10).
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "robot/gradient_sample.h"

#include <string.h>

// out (size) <- the equations of a map, or the outputs of a frame, by a model.
static void equations_of(gradient_sweep *s, const snw_model *m, const snw_map *map, int size,
                         double *out) {
    s->sampler->m = m;
    if (map->kind == SNW_MAP_FRAME) {
        snw_sampler_frame(s->sampler, s->adjoint, map, out);
    } else if (map->kind == SNW_MAP_EVENT) {
        out[0] = gradient_margin_of(s, m, map);
    } else if (map->kind == SNW_MAP_SAMPLE) {
        memcpy(out, gradient_samples_of(s, m, map), (size_t)size * sizeof *out);
    } else {
        snw_sampler_equations(s->sampler, s->adjoint, map, out);
    }
}

// out, coarse (size) <- differences of orders 6 and 4 of the equations of a map, or of the outputs
// of a frame, between models. sample: scratch
static void difference_equations(gradient_sweep *s, snw_robot_model *const *model, double step,
                                 const snw_map *map, int size, double *out, double *coarse,
                                 double *sample) {
    memset(out, 0, (size_t)size * sizeof *out);
    memset(coarse, 0, (size_t)size * sizeof *coarse);
    for (int i = 0; i < GRADIENT_VARIANTS; i++) {
        equations_of(s, gradient_model_in(s, model[i]), map, size, sample);
        for (int k = 0; k < size; k++) {
            out[k] += gradient_sample_weight(gradient_weight6, i) / step * sample[k];
            coarse[k] += gradient_sample_weight(gradient_weight4, i) / step * sample[k];
        }
    }
}

// out (size) <- derivatives of these along direction d. scratch: 4 size
static snw_status equations_along(gradient_sweep *s, gradient_direction *d, const snw_map *map,
                                  int size, double *out, double *scratch, snw_error *err) {
    double *coarse = scratch + size, *fine = coarse + size, *fine_coarse = fine + size;
    s->sampler->law = d->entry < 0;
    difference_equations(s, d->model, d->step, map, size, out, coarse, scratch);
    if (!s->sharp || gradient_is_resolved(size, out, coarse)) return SNW_OK;
    SNW_TRY(gradient_open_fine(s, d, err));
    difference_equations(s, d->fine, gradient_fine_part * d->step, map, size, fine, fine_coarse,
                         scratch);
    gradient_choose_estimates(size, out, coarse, fine, fine_coarse);
    return SNW_OK;
}

// out from row `first` to `last` <- derivatives by entry k from those along all directions
// (`along`, size each), which read laws at time t
static void equations_by(const gradient_sweep *s, int k, double t, int first, int last, int size,
                         const double *along, double *out) {
    const gradient_entry *e = &s->g->entry[k];
    memset(out + first, 0, (size_t)(last - first) * sizeof *out);
    for (int i = 0; i < s->ndirection; i++) {
        const gradient_direction *d = &s->direction[i];
        double by = d->entry == k ? 1 : 0;
        if (e->kind == GRADIENT_KNOT && d->entry < 0 && d->law == e->law) {
            double f[3];
            gradient_knot(&s->g->law[e->law], e->knot, t, f);
            const int used = gradient_directions_of_law(s, i - d->power);
            const double u = t - d->t0;
            // value, rate and acceleration of the law as a sum of c_0 + c_1 u + c_2 u^2/2
            const double c2 = used > 2 ? f[2] : 0, c1 = used > 1 ? f[1] - c2 * u : 0;
            const double c[3] = {f[0] - c1 * u - 0.5 * c2 * u * u, c1, c2};
            by = c[d->power];
        }
        for (int j = first; j < last && by != 0; j++)
            out[j] += by * along[(size_t)i * (size_t)size + (size_t)j];
    }
}

// out (size) <- the same for all equations of a map; stages read laws at times of their own.
static void equations_of_map_by(const gradient_sweep *s, int k, const snw_map *map, int size,
                                const double *along, double *out) {
    if (!snw_map_has_stages(map)) {
        equations_by(s, k, snw_map_stage_time(map, 0), 0, size, size, along, out);
        return;
    }
    for (int first = 0, last = 1; first < size; first = last++) {
        const int stage = snw_sensitivity_stage(s->adjoint, map, first);
        while (last < size && snw_sensitivity_stage(s->adjoint, map, last) == stage) last++;
        equations_by(s, k, snw_map_stage_time(map, stage), first, last, size, along, out);
    }
}

// along, behind those of the directions <- derivatives by held inputs; returns their number.
static int along_inputs(gradient_sweep *s, const snw_map *map, int size, double *along,
                        double *scratch) {
    const int n = gradient_inputs_act(s) ? gradient_inputs_count(s) : 0;
    s->sampler->law = false;
    for (int i = 0; i < n; i++)
        gradient_inputs_along(s, equations_of, map, i, size,
                              along + (size_t)(s->ndirection + i) * (size_t)size, scratch);
    return n;
}

// by (size) += those by entry k through the n held inputs
static void add_inputs(const gradient_sweep *s, int n, int k, int size, const double *along,
                       double *by) {
    const double *own = along + (size_t)s->ndirection * (size_t)size;
    for (int i = 0; i < n; i++) {
        const double u = gradient_inputs_by(s, i, k);
        for (int j = 0; j < size && u != 0; j++) by[j] += u * own[i * size + j];
    }
}

// Derivatives of the initial state by all entries into the bars.
static snw_status start_forward(gradient_sweep *s, snw_error *err) {
    const snw_gradient *g = s->g;
    const size_t nv = (size_t)s->m->nv;
    gradient_start w;
    snw_status status = gradient_start_open(s, &w, err);
    double *along = snw_alloc((2 * nv * (size_t)s->ndirection + 1) * sizeof *along);
    if (status == SNW_OK && !along) status = snw_fail_memory(err);
    for (int i = 0; status == SNW_OK && i < s->ndirection; i++) {
        gradient_direction *d = &s->direction[i];
        status = gradient_start_samples(s, d, d->entry, &w, along + 2 * nv * (size_t)i, err);
    }
    for (int k = 0; status == SNW_OK && k < g->nentry; k++) {
        snw_bars *b = snw_adjoint_bars(s->adjoint, k);
        if (g->entry[k].kind == GRADIENT_POSITION || g->entry[k].kind == GRADIENT_VELOCITY) {
            status = gradient_start_samples(s, NULL, k, &w, w.moved, err);
        } else {
            equations_by(s, k, snw_time_resolution(0), 0, (int)(2 * nv), (int)(2 * nv), along,
                         w.moved);
        }
        memcpy(b->place, w.moved, nv * sizeof *b->place);
        memcpy(b->rate, w.moved + nv, nv * sizeof *b->rate);
    }
    snw_free(along);
    gradient_start_close(&w);
    return status;
}

// Derivatives of the initial values of the states of laws by all entries into the bars.
static snw_status states_forward(gradient_sweep *s, double *along, snw_error *err) {
    const int nz = s->m->nsignal;
    for (int i = 0; i < s->ndirection; i++)
        SNW_TRY(gradient_start_states(s, &s->direction[i], along + (size_t)i * (size_t)nz, err));
    for (int k = 0; k < s->g->nentry; k++)
        equations_by(s, k, snw_time_resolution(0), 0, nz, nz, along,
                     snw_adjoint_bars(s->adjoint, k)->z);
    return SNW_OK;
}

// dJ += the derivatives of a frame by entry k; `by` are those of its outputs at a fixed state.
static snw_status forward_frame(gradient_sweep *s, const snw_map *map, int k, const double *by,
                                snw_error *err) {
    const snw_gradient *g = s->g;
    const snw_scalar_frames f = gradient_frames_of(g);
    const double time = snw_adjoint_bars(s->adjoint, k)->time[SNW_TIME_NOW];
    SNW_TRY(snw_sensitivity_frame(s->adjoint, map, k, f.y + (size_t)map->frame * (size_t)f.ncolumn,
                                  s->y, err));
    for (int i = 0; i < g->nscalar; i++) {
        double *to = &s->dJ[(size_t)i * (size_t)g->nentry + (size_t)k];
        for (int o = 0; o < s->noutput; o++)
            *to += s->y_bar[(size_t)i * (size_t)s->noutput + (size_t)o] *
                   (s->y[o] + by[o] + (map->time_moves ? s->y_time[o] * time : 0));
        if (map->time_moves) *to += gradient_frame_time_bar(s, map->frame, i) * time;
    }
    return SNW_OK;
}

// Derivative of the margin of the present event by variable k of the adjoint; `by`: at a fixed
// state.
static snw_status margin_along(gradient_sweep *s, const snw_map *map, int k, double by_time,
                               double by, double *out, snw_error *err) {
    const double *bar = s->y_bar + (size_t)(s->nscalar - 1) * (size_t)s->noutput;
    SNW_TRY(snw_sensitivity_frame(s->adjoint, map, k, NULL, s->y, err));
    *out = by + by_time * snw_adjoint_bars(s->adjoint, k)->time[SNW_TIME_NOW];
    for (int o = 0; o < s->noutput; o++) *out += bar[o] != 0 ? bar[o] * s->y[o] : 0;
    for (int i = 0; i < s->m->nsignal; i++)
        *out += gradient_margin_by_memory(s, i) * snw_adjoint_bars(s->adjoint, k)->z[i];
    return SNW_OK;
}

// An event: the length of its step, whose derivatives are those of the last variable, follows.
static snw_status forward_event(gradient_sweep *s, int i, double *along, double *by,
                                snw_error *err) {
    const snw_map *map = &s->tape.map[i], *step = gradient_step_of_event(s, i);
    const int n = s->g->nentry;
    double by_time, slope;
    if (step->end != SNW_END_EVENT) return SNW_OK;
    SNW_TRY(gradient_find_event(s, i, err));
    gradient_event_bars(s, map, &by_time);
    SNW_TRY(margin_along(s, map, n, by_time, 0, &slope, err));
    SNW_TRY(gradient_event_crosses(&s->event, slope, step->h, err));
    for (int d = 0; d < s->ndirection; d++)
        SNW_TRY(equations_along(s, &s->direction[d], map, 1, along + d, by, err));
    const int held = along_inputs(s, map, 1, along, by);
    for (int k = 0; k < n; k++) {
        double margin;
        equations_by(s, k, map->t_laws, 0, 1, 1, along, by);
        add_inputs(s, held, k, 1, along, by);
        SNW_TRY(margin_along(s, map, k, by_time, by[0], &margin, err));
        snw_sensitivity_add(s->adjoint, k, -margin / slope, n);
    }
    return SNW_OK;
}

static snw_status forward_samples(gradient_sweep *s, const snw_map *map, double *along, double *by,
                                  snw_error *err) {
    const int nz = s->m->nsignal;
    SNW_TRY(gradient_sample_check(map, err));
    for (int d = 0; d < s->ndirection; d++)
        SNW_TRY(
            equations_along(s, &s->direction[d], map, nz, along + (size_t)d * (size_t)nz, by, err));
    const int held = along_inputs(s, map, nz, along, by);
    for (int k = 0; k < s->g->nentry; k++) {
        const double *signal = gradient_samples_of(s, s->m, map);
        SNW_TRY(snw_sensitivity_frame(s->adjoint, map, k, NULL, s->y, err));
        equations_by(s, k, map->t_laws, 0, nz, nz, along, by);
        add_inputs(s, held, k, nz, along, by);
        gradient_sample_forward(s->m, map, signal, s->output_of, s->y, by, s->z_bar,
                                snw_adjoint_bars(s->adjoint, k)->z);
    }
    return SNW_OK;
}

// Does anything depend on this point of a path: its frame, or steps after it?
static bool point_is_used(gradient_sweep *s, int index) {
    const snw_map *map = &s->tape.map[index], *next = map + 1;
    if (index + 1 >= s->tape.n || next->kind != SNW_MAP_FRAME) return map->place < SNW_PLACE_FOLD;
    bool any = gradient_frame_bars(s, next->frame);
    for (int k = 0; k < s->g->nscalar && !any; k++)
        any = gradient_frame_time_bar(s, next->frame, k) != 0;
    return any;
}

static snw_status forward_map(gradient_sweep *s, int index, double *along, double *by,
                              snw_error *err) {
    const snw_gradient *g = s->g;
    const snw_map *map = &s->tape.map[index];
    const bool frame = map->kind == SNW_MAP_FRAME;
    gradient_use_map(s, map);
    gradient_inputs_use(s, map);
    if (map->kind == SNW_MAP_INPUTS) return gradient_inputs_forward(s, map, err);
    if (map->place && !frame && !point_is_used(s, index)) return SNW_OK;
    if (frame && map->place && (gradient_frame_bars(s, map->frame) || map->time_moves))
        SNW_TRY(gradient_check_frame(s, map, gradient_frame_bars(s, map->frame), err));
    if (map->kind == SNW_MAP_EVENT) return forward_event(s, index, along, by, err);
    if (map->kind == SNW_MAP_SAMPLE) return forward_samples(s, map, along, by, err);
    if (map->kind == SNW_MAP_KEPT || map->kind == SNW_MAP_FROM) {
        gradient_from_forward(s, map);
        gradient_inputs_from(s, map);
        return SNW_OK;
    }
    if (map->kind == SNW_MAP_RESTART && index > 0)
        SNW_TRY(gradient_check_activation(s->m, map[-1].s.z, map, err));
    if (frame && !gradient_frame_bars(s, map->frame) && !map->time_moves) return SNW_OK;
    if (frame && map->time_moves) gradient_outputs_by_time(s, map);
    if (!frame) SNW_TRY(snw_sensitivity_prepare(s->adjoint, map, err));
    const int size = frame ? s->noutput : snw_sensitivity_size(s->adjoint, map);
    for (int i = 0; i < s->ndirection; i++)
        SNW_TRY(equations_along(s, &s->direction[i], map, size, along + (size_t)i * (size_t)size,
                                by, err));
    const int held = along_inputs(s, map, size, along, by);
    for (int k = 0; k < g->nentry; k++) {
        equations_of_map_by(s, k, map, size, along, by);
        add_inputs(s, held, k, size, along, by);
        if (frame) {
            SNW_TRY(forward_frame(s, map, k, by, err));
        } else {
            snw_sensitivity_apply(s->adjoint, map, k, by);
            SNW_TRY(snw_sensitivity_check(s->adjoint, map, err));
        }
    }
    if (frame || !s->events) return SNW_OK;
    memset(by, 0, (size_t)size * sizeof *by);
    if (map->end == SNW_END_EVENT) {
        snw_sensitivity_of_length(s->adjoint, map, g->nentry);
    } else {
        snw_sensitivity_apply(s->adjoint, map, g->nentry, by);
    }
    return SNW_OK;
}

snw_status gradient_sweep_forward(gradient_sweep *s, snw_error *err) {
    if (s->partial)
        return snw_fail(err, SNW_E_MEMORY,
                        "the states of the run take more than %g MB; allow more memory, or use the "
                        "adjoint",
                        s->g->how.memory / 1e6);
    const size_t nv = (size_t)s->m->nv, nz = (size_t)s->m->nsignal;
    size_t nr = 0, nb = (size_t)s->m->nbranch_coordinate;
    for (int k = 0; k < s->nphase; k++) {
        const size_t rows = (size_t)s->phase[k].m->nconstraint;
        nr = rows > nr ? rows : nr;
    }
    size_t size = (SNW_STAGES + 2) * (nv + nz) + 2 * nr + nb + (size_t)s->noutput + 1;
    for (int i = 0; i < s->tape.n; i++) {
        const size_t own = (size_t)snw_sensitivity_size(s->adjoint, &s->tape.map[i]);
        size = own > size ? own : size;
    }
    const size_t nd = (size_t)s->ndirection + (size_t)gradient_inputs_count(s);
    double *along = snw_alloc((nd + 4) * size * sizeof *along);
    if (!along) return snw_fail_memory(err);
    snw_adjoint_clear(s->adjoint);
    snw_status status = gradient_check_limits(s, err);
    if (status == SNW_OK) status = gradient_find_given_events(s, err);
    snw_tape_find_times(&s->tape, false);
    gradient_note_memory(s);
    if (status == SNW_OK && gradient_begins_moving(s)) status = start_forward(s, err);
    if (status == SNW_OK) status = states_forward(s, along, err);
    for (int i = 0; status == SNW_OK && i < s->tape.n; i++)
        status = forward_map(s, i, along, along + nd * size, err);
    snw_free(along);
    return status;
}
