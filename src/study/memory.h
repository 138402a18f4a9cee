// SPDX-License-Identifier: MIT
//
// memory.h: memory of laws (state->z) at instants: integrals advance within steps; samples are
// taken and switches (once, conditions) change at instants. theory.md 3.7
#pragma once

#include "dynamics/dynamics.h"
#include "study/probe.h"

// ---- at instants

// Does any signal change at instants: samples, latches, conditions?
bool snw_memory_has_events(const snw_model *m);

// w->signal <- all signals at s, after snw_residual and snw_observe. Rotation vectors are at most
// half a turn long. `rotation` has room for one per segment and observer.
void snw_memory_read(const snw_model *m, const snw_inputs *in, const snw_state *s,
                     const snw_energy *energy, snw_vec3 *rotation, snw_work *w);

// z <- s->z with the switches updated from the signals; returns whether any changed.
bool snw_memory_switch(const snw_model *m, const snw_state *s, const snw_work *w, double *z);

// The same, with samples that are due at time s->t or `fresh` (nsignal: never taken before).
bool snw_memory_sample(const snw_model *m, const snw_state *s, const snw_work *w, const bool *fresh,
                       double *z);

// All of the above at an instant: samples and switches at s, with w as for snw_memory_read. Returns
// whether z differs from s->z.
bool snw_memory_update(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_energy *energy, const bool *fresh, snw_vec3 *rotation, snw_work *w,
                       double *z);

// Is the signal a sample that is taken at time t? fresh: nsignal, as above.
bool snw_memory_takes(const snw_model *m, int signal, double t, const bool *fresh);

// First time after t at which a sample is due; INFINITY: never.
double snw_memory_due(const snw_model *m, double t);
