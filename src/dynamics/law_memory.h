// SPDX-License-Identifier: MIT
//
// law_memory.h: memory of laws (state->z) at instants: integrals advance within steps; samples are
// taken and switches (once, conditions) change at instants. theory.md 3.7
#pragma once

#include "dynamics/dynamics.h"

// Does any signal change at instants: samples, latches, conditions?
bool snw_memory_has_events(const snw_model *m);

// z <- s->z with the switches updated from the signals; returns whether any changed.
bool snw_memory_switch(const snw_model *m, const snw_state *s, const snw_work *w, double *z);

// The same, with samples that are due at time s->t or `fresh` (nsignal: never taken before).
bool snw_memory_sample(const snw_model *m, const snw_state *s, const snw_work *w, const bool *fresh,
                       double *z);

// Is the signal a sample that is taken at time t? fresh: nsignal, as above.
bool snw_memory_takes(const snw_model *m, int signal, double t, const bool *fresh);

// First time after t at which a sample is due; INFINITY: never.
double snw_memory_due(const snw_model *m, double t);
