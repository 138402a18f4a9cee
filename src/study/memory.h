// SPDX-License-Identifier: MIT
//
// memory.h: memory of laws (state->z) at instants, from the state: as dynamics/law_memory.h, with
// the values of all probes that laws use. theory.md 3.7
#pragma once

#include "dynamics/law_memory.h"
#include "study/probe.h"

// w->signal <- all signals at s, after snw_residual and snw_observe. Rotation vectors are at most
// half a turn long. `rotation` has room for one per segment and observer.
void snw_memory_read(const snw_model *m, const snw_inputs *in, const snw_state *s,
                     const snw_energy *energy, snw_vec3 *rotation, snw_work *w);

// Both at an instant: samples and switches at s, with w as for snw_memory_read. Returns
// whether z differs from s->z.
bool snw_memory_update(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_energy *energy, const bool *fresh, snw_vec3 *rotation, snw_work *w,
                       double *z);
