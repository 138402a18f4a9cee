// SPDX-License-Identifier: MIT
//
// pack_order.h: order in which packs of robots eliminate the unknowns of Newton's matrix, and the
// entries of its factors. Both follow from the structure of the model alone, so that they are the
// same for all robots of a pack and do not depend on their numbers, theory.md 6.10.
//
// The order also lists what laws that read signals read and act on, from the same structure.
//
// Coordinates come first, each time the one that couples with the fewest others (minimum degree);
// constraint rows come last, so that their block is the Schur complement of the coordinates.
#pragma once

#include "integrate/pack_lane.h"
#include "model/model.h"

// The caller destroys *out.
SNW_NODISCARD snw_status snw_pack_order_create(const snw_model *m, snw_pack_order **out);
void snw_pack_order_destroy(snw_pack_order *o); // NULL is fine
