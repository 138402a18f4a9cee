// SPDX-License-Identifier: MIT
//
// Gradient of a run: the run with a tape of its maps, then one sweep back, theory.md 7.5. The
// equations of each map are evaluated by models at other values of the parameters; the products
// with the covectors of the map are differentiated by differences of order 6.
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "math/vector.h"
#include "robot/gradient_sample.h"
#include "study/model_outputs.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { FEW = 4 }; // times as many scalars as variables: sensitivities are cheaper
static const double straight =
                        1e-9, // curvature between the far samples that counts as rounding, relative
    rounding = 1e-14;         // the same, relative to typical forces

// ---- the sweep ----------------------------------------------------------------------------------

// s->value <- derivative-free products of a model with what is differentiated at a map: minus its
// equations times the covectors; of a frame, or a step that a frame shows, outputs times y_bar.
void gradient_products(gradient_sweep *s, const snw_model *m, const snw_map *map, bool frame) {
    const int nscalar = s->nscalar;
    if (s->aim) {
        gradient_aim_products(s, m, map);
        return;
    }
    const bool is_frame = map->kind == SNW_MAP_FRAME;
    s->sampler->m = m;
    for (int j = 0; j < nscalar; j++) s->value[j] = 0;
    if (map->kind == SNW_MAP_EVENT) {
        s->value[nscalar - 1] = gradient_margin_of(s, m, map);
        return;
    }
    if (map->kind == SNW_MAP_SAMPLE) {
        const double *z = gradient_samples_of(s, m, map);
        for (int j = 0; j < nscalar; j++)
            s->value[j] = snw_vector_dot(m->nsignal, s->z_bar + (size_t)j * (size_t)m->nsignal, z);
        return;
    }
    if (!is_frame) {
        snw_sampler_map(s->sampler, s->adjoint, map, s->value);
        for (int j = 0; j < nscalar; j++) s->value[j] = -s->value[j];
    }
    if (!frame) return;
    s->sampler->known = !is_frame;
    snw_sampler_frame(s->sampler, s->adjoint, map, s->y);
    s->sampler->known = false;
    for (int j = 0; j < nscalar; j++) {
        for (int o = 0; o < s->noutput; o++)
            s->value[j] += s->y_bar[(size_t)j * (size_t)s->noutput + (size_t)o] * s->y[o];
    }
}

// d->by <- derivative along a direction, from the far samples alone where the products are linear
// between them: their mean is s->centre.
static bool try_linear(gradient_sweep *s, gradient_direction *d, const snw_map *map, bool frame) {
    const int nscalar = s->nscalar;
    if (d->curved > GRADIENT_LINEAR_TRIALS || (d->entry >= 0 && s->p[d->entry] == 0)) return false;
    for (int k = 0; k < 2; k++) {
        gradient_products(s, gradient_model_in(s, d->far[k]), map, frame);
        memcpy(k ? d->coarse : d->by, s->value, (size_t)nscalar * sizeof *s->value);
    }
    for (int j = 0; j < nscalar; j++) {
        const double low = d->by[j] - s->centre[j], high = d->coarse[j] - s->centre[j];
        const double noise = rounding * snw_adjoint_magnitude(s->adjoint, map, j);
        if (fabs(low + high) <= straight * (fabs(low) + fabs(high)) + noise) continue;
        d->curved++;
        return false;
    }
    for (int j = 0; j < nscalar; j++)
        d->by[j] = d->coarse[j] = (d->coarse[j] - d->by[j]) / (2 * GRADIENT_FAR * d->step);
    return true;
}

// by, coarse (nscalar) <- differences of orders 6 and 4 of the products of models
static void difference_products(gradient_sweep *s, snw_robot_model *const *model, double step,
                                const snw_map *map, bool frame, double *by, double *coarse) {
    for (int j = 0; j < s->nscalar; j++) by[j] = coarse[j] = 0;
    for (int i = 0; i < GRADIENT_VARIANTS; i++) {
        gradient_products(s, gradient_model_in(s, model[i]), map, frame);
        for (int j = 0; j < s->nscalar; j++) {
            by[j] += gradient_sample_weight(gradient_weight6, i) / step * s->value[j];
            coarse[j] += gradient_sample_weight(gradient_weight4, i) / step * s->value[j];
        }
    }
}

static snw_status differentiate(gradient_sweep *s, gradient_direction *d, const snw_map *map,
                                bool frame, snw_error *err) {
    if (try_linear(s, d, map, frame)) return SNW_OK;
    SNW_TRY(gradient_open_samples(s, d, err));
    difference_products(s, d->model, d->step, map, frame, d->by, d->coarse);
    if (!s->sharp || gradient_is_resolved(s->nscalar, d->by, d->coarse)) return SNW_OK;
    double *fine = d->coarse + s->nscalar;
    SNW_TRY(gradient_open_fine(s, d, err));
    difference_products(s, d->fine, gradient_fine_part * d->step, map, frame, fine,
                        fine + s->nscalar);
    gradient_choose_estimates(s->nscalar, d->by, d->coarse, fine, fine + s->nscalar);
    return SNW_OK;
}

// dJ += the derivatives by parameters and laws, which are read at time t, of the equations of a map
// that the sampler takes, and of the frame that shows it.
static snw_status contract_at(gradient_sweep *s, const snw_map *map, double t, bool frame,
                              snw_error *err) {
    gradient_products(s, s->m, map, frame);
    memcpy(s->centre, s->value, (size_t)s->nscalar * sizeof *s->value);
    for (int k = 0; k < s->ndirection; k++) {
        gradient_direction *d = &s->direction[k];
        SNW_TRY(differentiate(s, d, map, frame, err));
        for (int j = 0; j < s->nscalar; j++) {
            d->error += fabs(d->by[j] - d->coarse[j]);
            d->size += fabs(d->by[j]);
        }
    }
    for (int k = 0; k < s->ndirection;) k += gradient_add_direction(s, &s->direction[k], t);
    return SNW_OK;
}

// The same for all equations of a map; stages read the laws at times of their own.
snw_status gradient_contract(gradient_sweep *s, const snw_map *map, bool frame, snw_error *err) {
    SNW_TRY(gradient_inputs_contract(s, map, frame, err));
    if (s->ndirection == 0 || gradient_inputs_measure(s)) return SNW_OK;
    if (!snw_map_has_stages(map) || s->g->nlaw == 0) {
        const double t = snw_map_has_stages(map) ? map->t_laws : snw_map_stage_time(map, 0);
        return contract_at(s, map, t, frame, err);
    }
    snw_status status = SNW_OK;
    for (int i = 0; status == SNW_OK && i < snw_map_parts(map); i++) {
        s->sampler->stage = i + 1;
        status = contract_at(s, map, snw_map_stage_time(map, i), false, err);
    }
    s->sampler->stage = 0;
    return status;
}

// Is the frame `i` of the tape that of a step before it, so that both can be evaluated at once?
static bool shows_step(const gradient_sweep *s, int i) {
    const snw_map *map = &s->tape.map[i];
    return i > 0 && map[-1].kind == SNW_MAP_STEP && map[-1].t_laws == map->t_laws &&
           s->m->ndrive == 0 && !s->memory;
}

static snw_status frame_back(gradient_sweep *s, int i, bool *pending, snw_error *err) {
    const snw_map *map = &s->tape.map[i];
    const snw_scalar_frames f = gradient_frames_of(s->g);
    const bool any = gradient_frame_bars(s, map->frame);
    if (any || map->time_moves) SNW_TRY(gradient_check_frame(s, map, any, err));
    if (map->time_moves) {
        gradient_outputs_by_time(s, map);
        for (int k = 0; k < s->g->nscalar; k++) {
            double *t = &snw_adjoint_bars(s->adjoint, k)->time[SNW_TIME_NOW];
            *t += gradient_frame_time_bar(s, map->frame, k);
            for (int o = 0; o < s->noutput; o++)
                *t += s->y_bar[(size_t)k * (size_t)s->noutput + (size_t)o] * s->y_time[o];
        }
    }
    if (!any) return SNW_OK;
    const double *bar = gradient_chain_laws(s, map);
    SNW_TRY(
        snw_adjoint_frame(s->adjoint, map, bar, f.y + (size_t)map->frame * (size_t)f.ncolumn, err));
    if (s->arrays && !s->gathered) snw_model_arrays_frame(s->arrays, s->adjoint, map, bar);
    *pending = shows_step(s, i);
    return *pending ? SNW_OK : gradient_contract(s, map, true, err);
}

static snw_status event_back(gradient_sweep *s, int i, snw_error *err) {
    const snw_map *map = &s->tape.map[i];
    double by_time;
    if (gradient_step_of_event(s, i)->end != SNW_END_EVENT) return SNW_OK;
    SNW_TRY(gradient_find_event(s, i, err));
    gradient_event_bars(s, map, &by_time);
    SNW_TRY(snw_adjoint_frame(s->adjoint, map, s->y_bar, NULL, err));
    snw_bars *margin = snw_adjoint_bars(s->adjoint, s->nscalar - 1);
    margin->time[SNW_TIME_NOW] += by_time;
    for (int k = 0; k < s->m->nsignal; k++) margin->z[k] += gradient_margin_by_memory(s, k);
    if (s->arrays && !s->gathered) snw_model_arrays_frame(s->arrays, s->adjoint, map, s->y_bar);
    return gradient_contract(s, map, false, err);
}

static snw_status samples_back(gradient_sweep *s, const snw_map *map, snw_error *err) {
    const size_t nz = (size_t)s->m->nsignal, ny = (size_t)s->noutput;
    SNW_TRY(gradient_sample_check(map, err));
    memset(s->y_bar, 0, (size_t)s->nscalar * ny * sizeof *s->y_bar);
    const double *signal = gradient_samples_of(s, s->m, map);
    for (size_t j = 0; j < (size_t)s->nscalar; j++) {
        double *z = snw_adjoint_bars(s->adjoint, (int)j)->z, *own = s->z_bar + j * nz;
        for (size_t i = 0; i < nz; i++) own[i] = map->taken[i] != 0 ? z[i] : 0;
        gradient_sample_back(s->m, map, signal, s->output_of, z, s->y_bar + j * ny);
    }
    SNW_TRY(snw_adjoint_frame(s->adjoint, map, s->y_bar, NULL, err));
    if (s->arrays && !s->gathered) {
        snw_model_arrays_frame(s->arrays, s->adjoint, map, s->y_bar);
        snw_model_arrays_sample(s->arrays, map, signal, s->z_bar);
    }
    return gradient_contract(s, map, false, err);
}

// The length of the step of an event follows from its margin.
static snw_status free_length(gradient_sweep *s, const snw_map *map, snw_error *err) {
    const size_t n = (size_t)s->g->nentry, last = (size_t)s->nscalar - 1;
    const double slope = snw_adjoint_free_length(s->adjoint, s->factor);
    double *margin = s->dJ + last * n;
    SNW_TRY(gradient_event_crosses(&s->event, slope, map->h, err));
    for (size_t j = 0; j < last; j++) {
        for (size_t k = 0; k < n; k++) s->dJ[j * n + k] += s->factor[j] * margin[k];
    }
    memset(margin, 0, n * sizeof *margin);
    if (s->arrays && !s->gathered) snw_model_arrays_fold(s->arrays, s->factor);
    gradient_inputs_fold(s);
    return SNW_OK;
}

static snw_status sweep_back(gradient_sweep *s, snw_error *err) {
    bool pending = false; // the products of the frame are to be taken with those of its step
    SNW_TRY(gradient_check_limits(s, err));
    SNW_TRY(gradient_find_given_events(s, err));
    snw_tape_find_times(&s->tape, s->partial && (s->events || s->moreau));
    gradient_note_memory(s);
    for (int i = s->tape.n - 1; i >= 0; i--) {
        const snw_map *map = &s->tape.map[i];
        gradient_use_map(s, map);
        gradient_inputs_use(s, map);
        if (map->kind == SNW_MAP_FRAME) {
            SNW_TRY(frame_back(s, i, &pending, err));
            continue;
        }
        if (map->kind == SNW_MAP_EVENT) {
            SNW_TRY(event_back(s, i, err));
            continue;
        }
        if (map->kind == SNW_MAP_SAMPLE) {
            SNW_TRY(samples_back(s, map, err));
            continue;
        }
        if (map->kind == SNW_MAP_KEPT || map->kind == SNW_MAP_FROM) {
            gradient_from_back(s, map);
            gradient_inputs_from(s, map);
            continue;
        }
        if (map->kind == SNW_MAP_INPUTS) {
            SNW_TRY(gradient_inputs_back(s, map, err));
            continue;
        }
        if (map->kind == SNW_MAP_RESTART && i > 0)
            SNW_TRY(gradient_check_activation(s->m, map[-1].s.z, map, err));
        if (map->begins) snw_adjoint_begin(s->adjoint);
        if (snw_adjoint_idle(s->adjoint, map)) continue;
        SNW_TRY(gradient_check_place(map, err));
        SNW_TRY(snw_adjoint_back(s->adjoint, map, err));
        if (map->kind == SNW_MAP_EXPLICIT && !snw_adjoint_transposed_stages(s->adjoint) &&
            (s->impatient || (s->arrays && !s->gathered))) {
            s->abandoned = true;
            return SNW_E_STOPPED;
        }
        if (s->arrays && !s->gathered) snw_model_arrays_add(s->arrays, s->adjoint, map);
        SNW_TRY(gradient_contract(s, map, pending, err));
        pending = false;
        if (map->end == SNW_END_EVENT) SNW_TRY(free_length(s, map, err));
    }
    return SNW_OK;
}

// ---- the run ------------------------------------------------------------------------------------

static snw_status take_state(void *user, const snw_run_state *at, snw_error *err) {
    gradient_sweep *s = user;
    SNW_TRY(snw_tape_state(&s->tape, at, err));
    if (at->shown) return SNW_OK;
    if (s->last < 0) return gradient_checkpoints_keep(&s->kept, at->save, err);
    return s->tape.frames > s->last ? SNW_E_STOPPED : SNW_OK;
}

static void note_map(void *user, const snw_step_report *r) {
    gradient_sweep *s = user;
    gradient_count_note(s->last < 0 ? &s->count : &s->again, r);
    gradient_inputs_note(s, r);
    snw_tape_note(&s->tape, r);
}

static snw_run_hooks hooks_of(gradient_sweep *s) {
    return (snw_run_hooks){.user = s, .watch = {note_map, s}, .state = take_state};
}

// Parts without derivatives, of all phases.
static snw_status check_phases(gradient_sweep *s, snw_error *err) {
    const snw_desc *d = s->model->desc;
    int k = 0;
    for (int i = 0; i < d->nstep; i++) {
        k += d->step[i].kind == SNW_STEP_CHANGE;
        SNW_TRY(gradient_check_step(&d->step[i], s->phase[k].m, err));
        const snw_scheme_family family = snw_scheme_table[d->step[i].scheme].family;
        const bool dynamic = d->step[i].kind == SNW_STEP_DYNAMIC;
        s->conserving |= dynamic && family == SNW_FAMILY_CONSERVING;
        s->collocation |= dynamic && family == SNW_FAMILY_COLLOCATION;
        // loops are closed in typical units after explicit steps, velocities in kinematic ones
        s->kinematic |= dynamic && (d->step[i].kinematic ||
                                    (family == SNW_FAMILY_ODE && s->phase[k].m->nloop > 0));
    }
    for (k = 0; k < s->nphase; k++)
        SNW_TRY(gradient_check_model(s->phase[k].desc, s->phase[k].m, err));
    return SNW_OK;
}

static snw_status run_with_tape(gradient_sweep *s, double *J, snw_error *err) {
    snw_gradient *g = s->g;
    const double begin = snw_clock_seconds();
    SNW_TRY(gradient_model_at(g, s->p, NULL, &s->model, err));
    SNW_TRY(gradient_run_at(g, s->p, s->model, &s->run, err));
    SNW_TRY(gradient_phases_find(s, err));
    SNW_TRY(check_phases(s, err));
    SNW_TRY(gradient_checkpoints_begin(&s->kept, (size_t)snw_run_describe(s->run)->nsave,
                                       g->how.memory, err));
    for (int k = 0; k < s->nphase; k++) {
        const snw_model *m = s->phase[k].m;
        s->events = s->events || gradient_has_events(s->model->desc, m);
        s->samples = s->samples || gradient_has(m, SNW_SIGNAL_SAMPLED);
        s->memory = s->memory || s->samples || gradient_has(m, SNW_SIGNAL_INTEGRAL) ||
                    gradient_has(m, SNW_SIGNAL_STATE) || m->nbranch > 0;
        s->sharp = s->sharp || gradient_has_onsets(m);
    }
    if (s->conserving && s->forward && !s->sharp) s->move = gradient_conserving_move;
    s->nscalar = g->nscalar + (s->events ? 1 : 0);
    s->moreau = gradient_has_moreau(s->model->desc);
    SNW_TRY(gradient_jumps_find(s->model->desc, &s->jumps, err));
    SNW_TRY(gradient_inputs_open(s, err));
    snw_tape_begin(&s->tape, s->m, (size_t)g->how.memory, s->events);
    if (s->nphase > 1) s->tape.run = s->run;
    s->tape.held = snw_run_held(s->run);
    const snw_run_hooks hooks = hooks_of(s);
    SNW_TRY(gradient_run_frames(g, s->model, s->run, &hooks, err));
    s->partial = s->tape.full;
    g->info.steps = s->count.steps, g->info.cut_steps = s->count.cut;
    SNW_TRY(gradient_find_weights(s, J, err));
    g->info.run_seconds = snw_clock_seconds() - begin;
    if (!isnan(s->tape.other))
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative: at t = %g s steps were shortened and velocities "
                        "projected onto the loops (use shorter steps, or 'shorten: off'), or the "
                        "rate of a given strain or pose jumps (use a smooth law)",
                        s->tape.other);
    if (s->tape.closed)
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative: a motion begins directly after a change of the "
                        "model, and its loops or given coordinates may have been closed there; put "
                        "a static step between");
    if (s->tape.changed)
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative: the nodes of the robot or the "
                        "rows of its loops have changed on the way");
    return SNW_OK;
}

// The maps between checkpoint i and the next one once more, to the last bit, on the tape.
static snw_status repeat_part(gradient_sweep *s, int i, int last, snw_error *err) {
    snw_error stopped = {0};
    snw_tape_clear(&s->tape);
    snw_tape_begin(&s->tape, s->phase[0].m, SIZE_MAX, s->events);
    if (s->nphase > 1) s->tape.run = s->run;
    s->tape.held = snw_run_held(s->run);
    gradient_inputs_forget(s);
    s->last = last;
    if (i >= 0) {
        s->tape.m = snw_run_model_at(s->run, (int)s->kept.save[i][0]); // a checkpoint begins with
                                                                       // its step of the study
        s->tape.frames = s->kept.frame[i] + 1;
        SNW_TRY(snw_run_resume(s->run, s->kept.save[i], err));
    }
    const snw_run_hooks hooks = hooks_of(s);
    const snw_status status = snw_run_execute(s->run, 0, NULL, &hooks, NULL, &stopped);
    if (status == SNW_E_STOPPED || status == SNW_OK) return SNW_OK;
    if (err) *err = stopped;
    return status;
}

static snw_status sweep_all(gradient_sweep *s, snw_error *err) {
    if (!s->partial) return sweep_back(s, err);
    const gradient_checkpoints *c = &s->kept;
    if (c->size == 0)
        return snw_fail(err, SNW_E_MEMORY,
                        "the states of the run take more than %g MB, and it has no checkpoints; "
                        "allow more memory",
                        s->g->how.memory / 1e6);
    for (int i = c->n - 1, last = c->frames - 1; i >= -1; i--) {
        if (i >= 0 && c->frame[i] == last) continue;
        SNW_TRY(repeat_part(s, i, last, err));
        SNW_TRY(sweep_back(s, err));
        if (i >= 0) last = c->frame[i];
    }
    return SNW_OK;
}

// ---- all ----------------------------------------------------------------------------------------

static void gather(gradient_sweep *s) {
    for (int k = 0; k < s->ndirection; k++) {
        const gradient_direction *d = &s->direction[k];
        gradient_note_error(s, d->entry >= 0 ? s->p[d->entry] : d->step / s->move, d->error,
                            d->size);
    }
}

// Are the derivatives of all results by the numbers of a model known? *geometry <- also by
// geometric ones; false before: not.
static bool outputs_are_known(const gradient_sweep *s, const snw_model *m, bool *geometry) {
    for (int i = 0; i < s->noutput; i++) {
        if (s->chains && gradient_law_is_chained(m->desc, &s->output[i])) continue;
        if (snw_output_use_of(m, &s->output[i]) == SNW_OUTPUT_OTHER) return false;
        *geometry = *geometry && snw_output_knows_geometry(m, &s->output[i]);
    }
    return true;
}

// s->motion <- given motions at the start, unless they are compared as a whole
static snw_status keep_motions(gradient_sweep *s, snw_error *err) {
    const snw_model *m = s->phase[0].m;
    snw_inputs *in = NULL;
    if (s->moreau) return SNW_OK;
    s->motion = snw_alloc(((size_t)m->ndrive + 1) * sizeof *s->motion);
    if (!s->motion || snw_inputs_create(m, &in) != SNW_OK) return snw_fail_memory(err);
    snw_inputs_at(m, snw_time_resolution(0), in);
    if (m->ndrive > 0) memcpy(s->motion, in->drive, (size_t)m->ndrive * sizeof *s->motion);
    snw_inputs_destroy(in);
    return SNW_OK;
}

static snw_status prepare_arrays(gradient_sweep *s, snw_error *err) {
    bool numbers = false, geometry = true;
    for (int k = 0; k < s->g->nentry; k++)
        numbers = numbers || s->g->entry[k].kind == GRADIENT_NUMBER;
    if (s->forward || !numbers || s->lone) return SNW_OK;
    const snw_arrays_schemes schemes = {.hard = s->moreau,
                                        .conserving = s->conserving,
                                        .collocation = s->collocation,
                                        .kinematic = s->kinematic};
    for (int k = 0; k < s->nphase; k++) {
        if (!outputs_are_known(s, s->phase[k].m, &geometry) ||
            !snw_model_arrays_apply(s->phase[k].m, schemes))
            return SNW_OK;
    }
    s->slope = snw_alloc((size_t)s->g->nentry * sizeof *s->slope);
    s->has_slope = snw_alloc((size_t)s->g->nentry * sizeof *s->has_slope);
    if (!s->slope || !s->has_slope) return snw_fail_memory(err);
    SNW_TRY(keep_motions(s, err));
    for (int k = 0; k < s->nphase; k++) {
        if (snw_model_arrays_create(s->phase[k].m, s->nscalar, geometry, schemes,
                                    &s->phase[k].arrays) != SNW_OK)
            return snw_fail_memory(err);
    }
    return SNW_OK;
}

static snw_status sweep_prepare(gradient_sweep *s, snw_error *err) {
    const size_t n = (size_t)s->nscalar;
    SNW_TRY(gradient_list_outputs(s, err));
    SNW_TRY(prepare_arrays(s, err));
    s->y_bar = snw_alloc((2 * n * (size_t)s->noutput + 1) * sizeof *s->y_bar);
    s->value = snw_alloc((3 * n + 2 * (size_t)s->noutput + 1) * sizeof *s->value);
    s->dJ = snw_alloc((n * (size_t)s->g->nentry + 1) * sizeof *s->dJ);
    s->z_bar = snw_alloc((n * (size_t)s->m->nsignal + 1) * sizeof *s->z_bar);
    if (!s->y_bar || !s->value || !s->dJ || !s->z_bar) return snw_fail_memory(err);
    s->x_bar = s->y_bar + n * (size_t)s->noutput;
    s->centre = s->value + n;
    s->factor = s->centre + n;
    s->y = s->factor + n;
    s->y_time = s->y + s->noutput;
    memset(s->dJ, 0, n * (size_t)s->g->nentry * sizeof *s->dJ);
    const int sets = s->forward ? s->g->nentry + (s->events ? 1 : 0) : s->nscalar;
    SNW_TRY(gradient_phases_open(s, sets, err));
    gradient_inputs_connect(s);
    return gradient_from_open(s, err);
}

// Sweeps for all variables, a number of parameters at once.
static snw_status sweep_variables(gradient_sweep *s, snw_error *err) {
    int entry = 0;
    do {
        const bool first = entry == 0;
        SNW_TRY(gradient_open_directions(s, &entry, err));
        if (entry == s->g->nentry && s->nslope == 0) s->gathered = true; // none to come
        if (s->arrays && entry == s->g->nentry) gradient_numbers_need(s);
        if (first || s->ndirection > 0) {
            if (s->forward) gradient_use_phase(s, 0);
            snw_adjoint_clear(s->adjoint);
            gradient_from_clear(s);
            gradient_inputs_clear(s);
            s->g->info.sweeps++;
            SNW_TRY(s->forward ? gradient_sweep_forward(s, err) : sweep_all(s, err));
            gradient_use_phase(s, 0);
            if (!s->forward) SNW_TRY(gradient_add_starts(s, first, err));
            if (s->motion && !s->gathered) SNW_TRY(gradient_numbers_start_motions(s, err));
            s->gathered = true;
        }
        if (s->arrays) SNW_TRY(gradient_add_slopes(s, err));
        gather(s);
        gradient_close_directions(s);
    } while (entry < s->g->nentry);
    return SNW_OK;
}

// Way to the derivatives. lone: numbers of the file one by one. impatient: not by
// differences of the maps of explicit steps. *abandoned <- these were met, with numbers that are
// gathered or impatiently; nothing else is known then.
typedef struct gradient_way {
    bool forward, lone, impatient, *abandoned;
} gradient_way;

static snw_status gradient_by(snw_gradient *g, const double *p, gradient_way way, double *J,
                              double *dJ, snw_error *err) {
    gradient_sweep s = {.g = g,
                        .p = p,
                        .last = -1,
                        .move = gradient_parameter_move,
                        .forward = way.forward,
                        .lone = way.lone,
                        .impatient = way.impatient};
    *way.abandoned = false;
    g->info.method = s.forward ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT;
    for (int k = 0; k < g->nentry; k++) g->entry[k].sampled = false;
    snw_status status = run_with_tape(&s, J, err);
    const double begin = snw_clock_seconds();
    if (status == SNW_OK) status = sweep_prepare(&s, err);
    if (status == SNW_OK) status = sweep_variables(&s, err);
    for (int j = 0; status == SNW_OK && j < g->nscalar; j++) s.size = fmax(s.size, fabs(J[j]));
    for (int j = 0; status == SNW_OK && j < g->nscalar * g->nentry; j++) {
        if (!isfinite(s.dJ[j]))
            status = snw_fail(err, SNW_E_SINGULAR,
                              "there is no derivative by '%.100s': the motion does not exist for "
                              "values nearby",
                              g->entry[j % g->nentry].name);
    }
    g->info.error = s.size > 0 ? s.error / s.size : 0;
    if (status == SNW_OK) memcpy(dJ, s.dJ, (size_t)g->nscalar * (size_t)g->nentry * sizeof *dJ);
    *way.abandoned = s.abandoned;
    g->info.gradient_seconds = snw_clock_seconds() - begin;
    g->info.recomputed = s.again.steps;
    g->info.differenced_steps = g->info.differenced_results = 0;
    for (int k = 0; k < s.nphase && s.phase && s.phase[k].adjoint; k++) {
        const snw_adjoint_dear dear = snw_adjoint_differenced(s.phase[k].adjoint);
        g->info.differenced_steps += dear.steps;
        g->info.differenced_results += dear.frames;
    }
    gradient_close_directions(&s);
    snw_free(s.direction);
    snw_free(s.slope);
    snw_free(s.has_slope);
    snw_free(s.motion);
    gradient_checkpoints_end(&s.kept);
    gradient_from_close(&s);
    gradient_inputs_close(&s);
    gradient_phases_close(&s);
    snw_tape_clear(&s.tape);
    snw_free(s.output);
    snw_free(s.output_of);
    snw_free(s.signal);
    gradient_jumps_clear(&s.jumps);
    snw_free(s.dJ);
    snw_free(s.weight);
    snw_free(s.by_sum);
    snw_free(s.y_bar);
    snw_free(s.z_bar);
    snw_free(s.value);
    snw_run_destroy(s.run);
    snw_robot_model_close(s.model);
    return status;
}

snw_status gradient_adjoint(snw_gradient *g, const double *p, bool impatient, double *J, double *dJ,
                            bool *abandoned, snw_error *err) {
    // as many linear equations as variables, or as scalars
    const bool choose = g->how.method == SNW_GRADIENT_AUTO;
    gradient_way way = {.forward = g->how.method == SNW_GRADIENT_FORWARD ||
                                   (choose && !impatient && FEW * g->nentry < g->nscalar),
                        .impatient = impatient,
                        .abandoned = abandoned};
    snw_status status = gradient_by(g, p, way, J, dJ, err);
    if (*abandoned && !impatient) {
        way.lone = true;
        status = gradient_by(g, p, way, J, dJ, err);
    }
    // contacts that hold a robot more than once need the forward method
    if (status != SNW_E_SINGULAR || way.forward || !choose || !g->model->compiled->hard)
        return status;
    way.forward = true;
    return gradient_by(g, p, way, J, dJ, err);
}
