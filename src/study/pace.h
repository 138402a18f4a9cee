// SPDX-License-Identifier: MIT
//
// pace.h: implicit steps to an instant: one, halved where Newton fails, or chosen by their error where that is asked for.
#pragma once

#include "study/motion.h"
#include "study/record.h"

// What takes the steps; each function is as its namesake of study/motion.h.
typedef struct snw_stepper {
    snw_status (*start)(void *self, const snw_state *s, snw_error *err);
    // Those three: NULL where steps have the length that is asked for.
    double (*limit)(void *self, double h, double longest);
    double (*again)(void *self, double h, double longest);
    void (*shorten)(void *self, double h, double longest);
    // One step of length h under the laws up to t_laws: its end, or a breath before it where laws jump there. When it fails
    // nothing has changed.
    snw_status (*step)(void *self, double h, double t_laws, snw_chord_info *info);
    void (*back)(void *self); // undo it
    snw_status (*restart)(void *self, const double *z, snw_error *err);
    double (*error)(const void *self); // of the configuration it led to, relative to typical ones
    // What has no finite value under the laws of time t.
    snw_status (*check)(void *self, double t, snw_error *err);
    const snw_state *(*state)(const void *self);
    const snw_inputs *(*inputs)(const void *self);
    const snw_work *(*look)(void *self);
    void (*hold)(void *self, const snw_hand *hand);
    double (*condition)(void *self);
    snw_work_done (*work)(const void *self);
    void (*save)(const void *self, double *out);
    void (*load)(void *self, const double *in);
    void (*destroy)(void *self);
    const char *advice; // when there are no steps: what to try
} snw_stepper;

typedef struct snw_pace {
    bool control;
    double tolerance; // of the error of a step, with control,
    double power;     // which falls with this power of its length
    double h;         // step length to try next
    double longest;
    double least; // a step shorter than that is given up, s; 0: where it makes no sense any more
} snw_pace;

// Exactly to the time `to`; laws may jump at `limit` >= to.
SNW_NODISCARD snw_status snw_pace_advance(snw_pace *p, const snw_stepper *k, void *self, double to,
                                          double limit, snw_stats *took, snw_error *err);
