// SPDX-License-Identifier: MIT
//
// event_search.h: conditions that change and change back within one time step, which their values
// at the ends of steps do not show. The search interpolates the signals along the path of a step
// and proposes instants at which a condition may have changed; the caller advances to them.
// theory.md (6.19)
#pragma once

#include "dynamics/dynamics.h"
#include "integrate/stats.h"
#include "model/desc.h"

typedef struct snw_event_search snw_event_search;

// An instant: state, energies and all signals (nsignal).
typedef struct snw_event_instant {
    const snw_state *state;
    const snw_energy *energy;
    const double *signal;
} snw_event_instant;

// Search for the conditions of the model and for `until` (NULL: none). *out <- NULL when none of
// them compares a quantity that varies within steps. before: nsignal + 1 numbers of the caller,
// time and signals at the start of the last step, kept up to date for checkpoints; its time is NaN
// when they are not known. manual: inputs that replace laws; NULL: none.
SNW_NODISCARD snw_status snw_event_search_create(const snw_model *m, snw_law until,
                                                 const snw_manual_inputs *manual, double *before,
                                                 snw_event_search **out);
void snw_event_search_destroy(snw_event_search *e); // NULL is fine
// From now on another model that fits (snw_model_fits).
void snw_event_search_use(snw_event_search *e, const snw_model *m);

// Does a comparison jump while the signals vary continuously (snw_expr_margins_jump)? *text <- its
// condition as written, NULL for `until`.
bool snw_event_search_jumps(const snw_event_search *e, const char **text);

// Continue at this instant; `before` has the signals at the start of the step that led to it, or a
// time that is NaN where they say nothing about the next step: at the start and after a jump.
void snw_event_search_begin(snw_event_search *e, snw_event_instant at);
// Save the present instant, and return to it when the steps since then are undone.
void snw_event_search_mark(snw_event_search *e);
void snw_event_search_return(snw_event_search *e);

// A step was taken from the last instant to this one, and no condition has changed at its end.
// Returns whether one may have changed within it; look: false skips the search.
bool snw_event_search_step(snw_event_search *e, snw_event_instant to, bool look);
// Start of the last step, s.
double snw_event_search_from(const snw_event_search *e);
// *t <- instant within the last step at which a condition may have changed; false: there is none.
bool snw_event_search_next(snw_event_search *e, double *t);
// At the time of snw_event_search_next no condition has changed; signal: the signals there, NULL
// when they could not be computed.
void snw_event_search_reject(snw_event_search *e, const double *signal);
