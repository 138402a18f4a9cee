// SPDX-License-Identifier: MIT
//
// together.h: studies executed side by side in one thread, whose implicit steps are solved in packs
// (integrate/packs.h). Each study runs on a stack of its own up to its next step; when all of them
// wait for one, the steps are solved together and the studies go on. All else, such as equilibria,
// starts, frames and steps that do not fit a pack, is what a study by itself does. Studies whose
// models differ in structure are in different packs.
//
// The numbers of a study depend neither on the others nor on its place.
#pragma once

#include "study/run.h"

typedef struct snw_together snw_together;

// For at most `most` studies, 0: as many as a pack of this processor holds. *out NULL: there are no
// packs here.
SNW_NODISCARD snw_status snw_together_create(int most, snw_together **out);
void snw_together_destroy(snw_together *t); // NULL is fine

int snw_together_lanes(const snw_together *t);          // largest number of studies
const char *snw_together_engine(const snw_together *t); // "packs of 8 (AVX-512)"

// Why no step of this run fits packs, in words; empty: some do. The run is not executed.
SNW_NODISCARD snw_status snw_together_refuse(const snw_desc *desc, const snw_run *run,
                                             char why[160]);

// Call body(user, i) for i = 0 .. n - 1, side by side. Runs that it executes with the hook i have
// their steps solved together.
void snw_together_execute(snw_together *t, int n, void (*body)(void *user, int i), void *user);
snw_step_together snw_together_hook(snw_together *t, int i);

// Steps of body i that were solved in packs.
long snw_together_steps(const snw_together *t, int i);
