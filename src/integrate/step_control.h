// SPDX-License-Identifier: MIT
//
// step_control.h: implicit steps to an instant: one, halved where Newton fails, or chosen by their
// error where that is asked for.
#pragma once

#include "integrate/implicit.h"
#include "integrate/stats.h"

// What takes the steps; each function is as its namesake of integrate/implicit.h.
typedef struct snw_stepper {
    snw_status (*start)(void *self, const snw_state *s, snw_error *err);
    // Those three: NULL where steps have the length that is asked for.
    double (*limit)(void *self, double h, double longest);
    double (*again)(void *self, double h, double longest, bool patient);
    void (*shorten)(void *self, double h, double longest);
    // One step of length h under the laws up to t_laws: its end, or a breath before it where laws
    // jump there. When it fails nothing has changed.
    snw_status (*step)(void *self, double h, double t_laws, snw_chord_info *info);
    void (*undo)(void *self);                      // undo it
    void (*accept)(void *self, double h);          // it stands; may be NULL
    double (*global_error)(void *self, double *t); // may be NULL
    snw_status (*restart)(void *self, const double *z, snw_error *err);
    double (*error)(const void *self); // of the configuration it led to, relative to typical ones
    // What has no finite value under the laws of time t.
    snw_status (*check)(void *self, double t, snw_error *err);
    const snw_state *(*state)(const void *self);
    const snw_inputs *(*inputs)(const void *self);
    const snw_work *(*work_at)(void *self);
    void (*set_manual)(void *self, const snw_manual_inputs *manual);
    double (*condition)(void *self);
    snw_work_done (*work)(const void *self);
    void (*save)(const void *self, double *out);
    void (*load)(void *self, const double *in);
    void (*destroy)(void *self);
    const char *advice; // when there are no steps: what to try
} snw_stepper;

// Asked between attempted steps; true: end with SNW_E_STOPPED. `stop` may be NULL.
typedef struct snw_interrupt {
    bool (*stop)(void *user);
    void *user;
} snw_interrupt;

static inline bool snw_interrupted(snw_interrupt i) { return i.stop && i.stop(i.user); }

typedef struct snw_step_control {
    bool control;
    double tolerance; // of the error of a step, with control,
    double power;     // which falls with this power of its length
    double h;         // step length to try next; 0 with control: estimate one
    double longest;   // INFINITY, with control: no limit but the instants
    double least;  // a step shorter than that is given up, s; 0: where it makes no sense any more
    long patience; // most Newton iterations of an advance; 0: no limit but that of attempts
    snw_interrupt interrupt;
} snw_step_control;

// The inverse of the shortest time scale that the rates and accelerations of a state show, 1/s:
// max(|v|/typical, sqrt(|a|/typical)); 0 at rest without accelerations. theory.md (6.12)
double snw_fastest_rate(const snw_model *m, const snw_state *s);

// Exactly to the time `to`; laws may jump at `limit` >= to. Attempted steps are counted and
// bounded. When it fails or is stopped the state is that of the last step that was taken.
SNW_NODISCARD snw_status snw_step_control_advance(snw_step_control *p, const snw_model *m,
                                                  const snw_stepper *k, void *self, double to,
                                                  double limit, snw_stats *took, snw_error *err);
