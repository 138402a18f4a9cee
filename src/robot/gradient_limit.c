// SPDX-License-Identifier: MIT
//
// Conditions that are exactly at their limit where a motion begins: for values on one side they
// change at the start, on the other at another time or never, so that results have two derivatives,
// one for each side. theory.md (7.5.12)
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

enum { MOST_LIMITS = 16 };
static const double trial_move = 1e-3; // of a variable, relative

// A run at other values until its motion number `count` begins.
typedef struct limit_trial {
    snw_tape tape;
    int count;
} limit_trial;

// The map with the state at which motion number k of a tape begins; NULL: it is not on the tape.
static const snw_map *start_of(const snw_tape *tape, int k) {
    for (int i = 0; i < tape->n; i++) {
        const snw_map *map = &tape->map[i];
        if (!map->begins || k-- > 0) continue;
        if (!snw_map_is_step(map) || !(map->h > 0)) return map;
        return i > 0 ? map - 1 : NULL;
    }
    return NULL;
}

// Step of the study to which a map belongs: that of the next frame; -1: there is none.
static int stage_of(const snw_tape *tape, const snw_map *map) {
    for (; map < tape->map + tape->n; map++) {
        if (map->kind == SNW_MAP_FRAME) return map->stage;
    }
    return -1;
}

static snw_status take_trial(void *user, const snw_run_state *at, snw_error *err) {
    limit_trial *x = user;
    SNW_TRY(snw_tape_state(&x->tape, at, err));
    return start_of(&x->tape, x->count) ? SNW_E_STOPPED : SNW_OK;
}

static void note_trial(void *user, const snw_step_report *r) {
    limit_trial *x = user;
    snw_tape_note(&x->tape, r);
}

// *margin <- that of s->event where motion `count` of a run at p begins; false: there is none.
static bool margin_at(gradient_sweep *s, const double *p, int count, double *margin) {
    limit_trial x = {.count = count};
    snw_error none = {0};
    snw_robot_model *model = NULL;
    snw_run *run = NULL;
    bool found = gradient_model_at(s->g, p, s->phase[0].m, &model, &none) == SNW_OK &&
                 gradient_run_at(s->g, p, model, &run, &none) == SNW_OK;
    if (found) {
        snw_tape_begin(&x.tape, snw_run_model(run), SIZE_MAX, true);
        if (s->nphase > 1) x.tape.run = run;
        x.tape.held = snw_run_held(run);
        const snw_run_hooks hooks = {.user = &x, .watch = {note_trial, &x}, .state = take_trial};
        const snw_status end = snw_run_execute(run, 0, NULL, &hooks, NULL, &none);
        const snw_map *map = start_of(&x.tape, count);
        found = (end == SNW_OK || end == SNW_E_STOPPED) && map &&
                gradient_freeze_rows(s->m, (snw_model *)map->m);
        if (found) gradient_inputs_use(s, map);
        if (found) *margin = gradient_margin_of(s, map->m, map);
        gradient_inputs_forget(s);
        snw_tape_clear(&x.tape);
    }
    snw_run_destroy(run);
    snw_robot_model_close(model);
    return found;
}

// s->event is at its limit where motion `count` begins: does a variable move it?
static snw_status check_limit(gradient_sweep *s, int count, snw_error *err) {
    const snw_gradient *g = s->g;
    double *p = snw_alloc((size_t)g->nentry * sizeof *p + 1);
    if (!p) return snw_fail_memory(err);
    snw_status status = SNW_OK;
    memcpy(p, s->p, (size_t)g->nentry * sizeof *p);
    for (int k = 0; status == SNW_OK && k < g->nentry; k++) {
        double margin = 0;
        p[k] += trial_move * (p[k] != 0 ? fabs(p[k]) : 1);
        const bool moves =
            margin_at(s, p, count, &margin) && !gradient_event_stays(&s->event, margin);
        p[k] = s->p[k];
        if (!moves) continue;
        status = snw_fail(err, SNW_E_MODEL,
                          "there is no derivative by '%.100s': the condition '%.100s' is exactly "
                          "at its limit where the motion begins, t = %g s, and holds from there "
                          "for values on one side only; begin beside the limit, or leave the "
                          "variable out",
                          g->entry[k].name, s->event.text, s->event.t);
    }
    snw_free(p);
    return status;
}

snw_status gradient_check_limits(gradient_sweep *s, snw_error *err) {
    gradient_event limit[MOST_LIMITS];
    for (int k = 0; s->events; k++) {
        const snw_map *map = start_of(&s->tape, k);
        if (!map) break;
        const int now = gradient_show_phase(s, gradient_phase_of(s, map));
        gradient_inputs_use(s, map);
        const double *signal = gradient_signals_of(s, map);
        const int n = gradient_event_limits(s->m, stage_of(&s->tape, map), map->s.t, signal, limit,
                                            MOST_LIMITS);
        snw_status status = SNW_OK;
        for (int i = 0; status == SNW_OK && i < n; i++) {
            s->event = limit[i];
            status = check_limit(s, k, err);
        }
        (void)gradient_show_phase(s, now);
        if (status != SNW_OK) return status;
    }
    return SNW_OK;
}
