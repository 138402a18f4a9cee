// SPDX-License-Identifier: MIT
//
// reuse.h: numbers of nodes and points along rods that rows of a sweep have in common. A
// compilation chooses them by predicted errors, which takes most of its time; rows for which the
// same would be chosen take them from a row before (model/layout_reuse.h). Their models are the
// same to the last bit as by themselves.
#pragma once

#include "model/desc.h"
#include "model/model.h"

typedef struct snw_sweep_reuse snw_sweep_reuse;

// For `lanes` rows that are under way at once; each has its own number, `lane`.
SNW_NODISCARD snw_status snw_sweep_reuse_create(int lanes, snw_sweep_reuse **out, snw_error *err);
void snw_sweep_reuse_destroy(snw_sweep_reuse *r); // NULL is fine

// Set the numbers of the rods of a description that are known from rows before. Returns whether
// there are any. *all <- whether those of all rods are known.
bool snw_sweep_reuse_take(snw_sweep_reuse *r, int lane, snw_desc *desc, bool *all);
// Has the model compiled from that description the nodes of the rows whose numbers it took? If not,
// attachments have moved: restore the description and compile it again.
bool snw_sweep_reuse_holds(const snw_sweep_reuse *r, int lane, const snw_model *m);
// Undo snw_sweep_reuse_take.
void snw_sweep_reuse_restore(snw_sweep_reuse *r, int lane, snw_desc *desc);

// Remember the numbers of a model, with its description as it was read, which it takes over.
// Returns false, and does not, when memory is out.
bool snw_sweep_reuse_keep(snw_sweep_reuse *r, snw_desc *desc, const snw_model *m);
