// SPDX-License-Identifier: MIT
//
// Outputs of a run that its scalars, conditions and samples read, at the states of the tape, and
// their derivatives by time; events of the tape, theory.md (7.5.1), (7.5.12).
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "model/probe_kind.h"
#include "robot/gradient_sample.h"

#include <string.h>

snw_status gradient_list_outputs(gradient_sweep *s, snw_error *err) {
    const snw_gradient *g = s->g;
    const snw_desc *d = s->model->desc;
    const int ncolumn = g->frames.ncolumn;
    const size_t nsignal = (size_t)s->m->nsignal;
    const size_t most =
        (size_t)ncolumn + nsignal + (size_t)gradient_law_reads(s) + gradient_inputs_targets(s);
    s->output = snw_alloc((most + 1) * sizeof *s->output);
    s->output_of = snw_alloc((nsignal + 1) * sizeof *s->output_of);
    s->signal = snw_alloc((2 * nsignal + 1) * sizeof *s->signal);
    if (!s->output || !s->output_of || !s->signal) return snw_fail_memory(err);
    for (int probe = 0, column = 0; probe < d->nprobe; probe++) {
        const int width = snw_desc_records(d, probe) ? snw_probe_columns(&d->probe[probe]) : 0;
        for (int k = 0; k < width; k++, column++) {
            bool read = false;
            for (int i = 0; i < g->nscalar && column < ncolumn; i++) {
                for (int j = 0; j < g->scalar[i].nsum; j++)
                    read = read || snw_expr_reads(g->scalar[i].sum[j].what, column);
            }
            if (read) s->output[s->noutput++] = (snw_adjoint_output){probe, k, column};
        }
    }
    for (int i = 0; i < s->m->nsignal && (s->events || s->samples); i++) {
        const snw_signal *x = &s->m->signal[i];
        s->output_of[i] = -1;
        if (x->kind != SNW_SIGNAL_PROBE) continue;
        s->output_of[i] = s->noutput;
        s->output[s->noutput++] = (snw_adjoint_output){x->probe, x->column, -1};
    }
    gradient_inputs_list_targets(s);
    gradient_list_law_reads(s);
    return SNW_OK;
}

snw_status gradient_find_weights(gradient_sweep *s, double *J, snw_error *err) {
    const snw_gradient *g = s->g;
    const snw_scalar_frames f = gradient_frames_of(g);
    size_t nsum = 0;
    for (int i = 0; i < g->nscalar; i++) nsum += (size_t)g->scalar[i].nsum;
    s->weight = snw_alloc((nsum * (size_t)f.n + 1) * sizeof *s->weight);
    s->by_sum = snw_alloc((nsum + 1) * sizeof *s->by_sum);
    double *scratch = snw_alloc(((size_t)f.n + 1) * sizeof *scratch);
    snw_status status = s->weight && s->by_sum && scratch ? SNW_OK : snw_fail_memory(err);
    for (int i = 0, at = 0; status == SNW_OK && i < g->nscalar; at += g->scalar[i++].nsum) {
        status = snw_scalar_value(&g->scalar[i], &f, scratch, s->by_sum + at, &J[i], err);
        for (int j = 0; status == SNW_OK && j < g->scalar[i].nsum; j++) {
            if (!isfinite(s->by_sum[at + j]))
                status = snw_fail(err, SNW_E_DIVERGED,
                                  "scalar '%.150s' has no finite derivative at its value %g, as a "
                                  "root has none at zero; start elsewhere, or add a small number "
                                  "under the root",
                                  g->scalar[i].text, J[i]);
        }
        for (int j = 0; status == SNW_OK && j < g->scalar[i].nsum; j++)
            status = snw_scalar_weights(&g->scalar[i].sum[j], &f,
                                        s->weight + (size_t)(at + j) * (size_t)f.n, err);
        for (int j = 0; status == SNW_OK && j < g->scalar[i].nsum; j++)
            status = snw_scalar_check_extreme(&g->scalar[i].sum[j], &f, err);
    }
    snw_free(scratch);
    return status;
}

snw_status gradient_check_place(const snw_map *map, snw_error *err) {
    if (map->place == SNW_PLACE_CHOSEN)
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative at t = %.9g s: where this point of a path is "
                        "depends on the lengths of its steps; let the path end at its range, or "
                        "use max(..) or min(..) of what is largest or smallest at a fold",
                        map->s.t);
    if (map->place == SNW_PLACE_BRANCH)
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative at t = %.9g s, a branch point or the onset of "
                        "flutter; with an imperfection, such as a small load across, a branch "
                        "point becomes a fold",
                        map->s.t);
    return SNW_OK;
}

snw_status gradient_check_frame(const gradient_sweep *s, const snw_map *map, bool any,
                                snw_error *err) {
    for (int k = 0; k < s->g->nscalar && !any && map->place; k++)
        any = gradient_frame_time_bar(s, map->frame, k) != 0;
    return any ? gradient_check_place(map, err) : SNW_OK;
}

double gradient_frame_time_bar(const gradient_sweep *s, int frame, int i) {
    const snw_gradient *g = s->g;
    const snw_scalar_frames f = gradient_frames_of(g);
    int sum = 0;
    double bar = 0;
    for (int k = 0; k < i; k++) sum += g->scalar[k].nsum;
    for (int j = 0; j < g->scalar[i].nsum; j++, sum++)
        bar += s->by_sum[sum] * snw_scalar_time_slope(&g->scalar[i].sum[j], &f, frame);
    return bar;
}

bool gradient_frame_bars(const gradient_sweep *s, int frame) {
    const snw_gradient *g = s->g;
    const snw_scalar_frames f = gradient_frames_of(g);
    const snw_at at = {.t = f.t[frame], .signal = f.y + (size_t)frame * (size_t)f.ncolumn};
    bool any = false;
    memset(s->y_bar, 0, (size_t)s->nscalar * (size_t)s->noutput * sizeof *s->y_bar);
    for (int i = 0, sum = 0; i < g->nscalar; i++) {
        double *bar = s->y_bar + (size_t)i * (size_t)s->noutput;
        for (int j = 0; j < g->scalar[i].nsum; j++, sum++) {
            const double w = s->by_sum[sum] * s->weight[(size_t)sum * (size_t)f.n + (size_t)frame];
            if (w == 0) continue;
            for (int k = 0; k < s->noutput && s->output[k].of_run >= 0; k++)
                bar[k] +=
                    w * snw_expr_jet_signal(g->scalar[i].sum[j].what, at, s->output[k].of_run).d;
        }
        for (int k = 0; k < s->noutput; k++) any = any || bar[k] != 0;
    }
    return any;
}

// signal (nsignal) <- those of conditions at a state, from the outputs y there.
static void signals_of(const gradient_sweep *s, const snw_map *map, const double *y,
                       double *signal) {
    for (int i = 0; i < s->m->nsignal; i++)
        signal[i] = s->output_of[i] >= 0 ? y[s->output_of[i]] : map->s.z[i];
}

double gradient_margin_of(gradient_sweep *s, const snw_model *m, const snw_map *map) {
    s->sampler->m = m;
    double *signal = s->signal + s->m->nsignal;
    snw_sampler_frame(s->sampler, s->adjoint, map, s->y);
    signals_of(s, map, s->y, signal);
    return gradient_event_margin(m, &s->event, signal);
}

const double *gradient_signals_of(gradient_sweep *s, const snw_map *map) {
    s->sampler->m = s->m;
    snw_sampler_frame(s->sampler, s->adjoint, map, s->y);
    signals_of(s, map, s->y, s->signal);
    return s->signal;
}

const double *gradient_samples_of(gradient_sweep *s, const snw_model *m, const snw_map *map) {
    s->sampler->m = m;
    snw_sampler_frame(s->sampler, s->adjoint, map, s->y);
    signals_of(s, map, s->y, s->signal);
    gradient_sample_take(m, map, s->signal);
    return s->signal;
}

void gradient_outputs_by_time(gradient_sweep *s, const snw_map *map) {
    const double step = snw_adjoint_time_step(s->adjoint, map);
    memset(s->y_time, 0, (size_t)s->noutput * sizeof *s->y_time);
    s->sampler->m = s->m;
    for (int i = 0; i < GRADIENT_VARIANTS; i++) {
        s->sampler->shift = gradient_sample_at(i) * step;
        snw_sampler_frame(s->sampler, s->adjoint, map, s->y);
        for (int k = 0; k < s->noutput; k++)
            s->y_time[k] += gradient_sample_weight(gradient_weight6, i) / step * s->y[k];
    }
    s->sampler->shift = 0;
}

snw_map *gradient_step_of_event(const gradient_sweep *s, int i) {
    snw_map *step = &s->tape.map[i];
    while (!snw_map_is_step(step)) step--;
    return step;
}

snw_status gradient_find_event(gradient_sweep *s, int i, snw_error *err) {
    const snw_map *map = &s->tape.map[i], *before = gradient_step_of_event(s, i) - 1;
    double *signal = s->signal + s->m->nsignal;
    bool begins = before[1].begins;
    gradient_inputs_use(s, map);
    for (const snw_map *x = before; x >= s->tape.map && !snw_map_is_step(x); x--)
        begins = begins || x->begins;
    s->sampler->m = s->m;
    snw_sampler_frame(s->sampler, s->adjoint, before, s->y);
    signals_of(s, before, s->y, signal);
    snw_sampler_frame(s->sampler, s->adjoint, map, s->y);
    signals_of(s, map, s->y, s->signal);
    return gradient_event_find(s->m, map, before->s.t, signal, s->signal, begins, &s->event, err);
}

snw_status gradient_find_given_events(gradient_sweep *s, snw_error *err) {
    for (int i = 0; i < s->tape.n; i++) {
        if (s->tape.map[i].kind != SNW_MAP_EVENT) continue;
        const int now = gradient_show_phase(s, gradient_phase_of(s, &s->tape.map[i]));
        const snw_status status = gradient_find_event(s, i, err);
        (void)gradient_show_phase(s, now);
        if (status != SNW_OK) return status;
        if (s->event.given)
            gradient_step_of_event(s, i)->end = s->event.timed ? SNW_END_TIME : SNW_END_LENGTH;
    }
    return SNW_OK;
}

void gradient_event_bars(gradient_sweep *s, const snw_map *map, double *by_time) {
    double *bar = s->y_bar + (size_t)(s->nscalar - 1) * (size_t)s->noutput;
    memset(s->y_bar, 0, (size_t)s->nscalar * (size_t)s->noutput * sizeof *s->y_bar);
    *by_time = gradient_event_slope(s->m, &s->event, s->signal, -1);
    for (int k = 0; k < s->m->nsignal; k++) {
        if (s->output_of[k] >= 0)
            bar[s->output_of[k]] = gradient_event_slope(s->m, &s->event, s->signal, k);
    }
    gradient_outputs_by_time(s, map);
    for (int k = 0; k < s->noutput; k++) *by_time += bar[k] * s->y_time[k];
}

double gradient_margin_by_memory(const gradient_sweep *s, int k) {
    const snw_signal_kind kind = s->m->signal[k].kind;
    if (kind != SNW_SIGNAL_INTEGRAL && kind != SNW_SIGNAL_STATE && kind != SNW_SIGNAL_SAMPLED)
        return 0;
    return gradient_event_slope(s->m, &s->event, s->signal, k);
}
