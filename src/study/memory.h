// SPDX-License-Identifier: MIT
//
// memory.h: what laws remember, carried through time: integrals go on within steps, samples are
// taken and switches (once, gates) thrown at instants.
#pragma once

#include "dynamics/dynamics.h"
#include "study/probe.h"

// ---- at instants
// -----------------------------------------------------------------------------------

// Whether anything happens at instants: samples, switches.
bool snw_memory_has_events(const snw_model *m);

// w->signal <- all signals at s, after snw_residual and snw_observe. Rotation vectors are those of
// at most half a turn. `rotation` has room for one of each segment and observer.
void snw_memory_read(const snw_model *m, const snw_inputs *in, const snw_state *s,
                     const snw_energy *energy, snw_vec3 *rotation, snw_work *w);

// z <- s->z with the switches as the signals have them; whether any differs.
bool snw_memory_switch(const snw_model *m, const snw_state *s, const snw_work *w, double *z);

// The same, and samples taken that are due at time s->t or `fresh` (nsignal: never taken before).
bool snw_memory_sample(const snw_model *m, const snw_state *s, const snw_work *w, const bool *fresh,
                       double *z);

// What all of the above make of an instant: samples and switches at s, whose motion is in w as
// snw_memory_read wants it. Whether z differs from s->z.
bool snw_memory_update(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_energy *energy, const bool *fresh, snw_vec3 *rotation, snw_work *w,
                       double *z);

// The first time after t at which a sample is due; INFINITY: never.
double snw_memory_due(const snw_model *m, double t);
