// SPDX-License-Identifier: MIT
//
// gradient_event.h: the comparison whose sides become equal where a condition changes, and its
// margin, left minus right side, as a function of signals and time. theory.md (7.5.12)
#pragma once

#include "study/tape.h"

typedef struct gradient_event {
    int signal; // of the condition; -1: `until`
    int stage;  // of `until`
    int margin; // number of the comparison among those of the condition
    const char *text;
    double t;
    double before; // margin at the start of the step
    bool given; // a comparison of time alone that changes at the start of the step: its time does
                // not depend on the state
    bool timed; // likewise at its end: a comparison of functions of time that jump
} gradient_event;

// *out <- the comparison that changes at an event; signals (nsignal) at the start of the step, at
// time t_before, and at the event; begins: a motion begins with the step. SNW_E_MODEL: there is
// none, or more than one.
SNW_NODISCARD snw_status gradient_event_find(const snw_model *m, const snw_map *event,
                                             double t_before, const double *before,
                                             const double *after, bool begins, gradient_event *out,
                                             snw_error *err);
// out (most) <- comparisons of conditions, and of `until` of a step of the study (stage < 0: none),
// that are exactly at their limit and read signals; `before` has the size of their terms. Returns
// their number.
int gradient_event_limits(const snw_model *m, int stage, double t, const double *signal,
                          gradient_event *out, int most);
// Is a margin that was at its limit still there, to rounding?
bool gradient_event_stays(const gradient_event *e, double margin);
// Margin of the event in a model; its derivative by a signal, or by time (slot -1).
double gradient_event_margin(const snw_model *m, const gradient_event *e, const double *signal);
double gradient_event_slope(const snw_model *m, const gradient_event *e, const double *signal,
                            int slot);
// SNW_E_MODEL: the margin changes too slowly with the length h of the step, by `slope`.
SNW_NODISCARD snw_status gradient_event_crosses(const gradient_event *e, double slope, double h,
                                                snw_error *err);
