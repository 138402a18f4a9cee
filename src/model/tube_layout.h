// SPDX-License-Identifier: MIT
//
// tube_layout.h: rods of a concentric-tube robot at an instant, theory.md 3.19. The pieces between
// places where a tube ends or becomes curved move as the tubes slide in each other.
#pragma once

#include "model/desc.h"

enum { SNW_TUBES_MOST = 16, SNW_TUBES_MOST_DEGREE = 5, SNW_TUBES_MOST_ELEMENTS = 100 };

// Pieces shorter than this fraction of the whole are there only to keep their number while tubes
// slide.
#define SNW_TUBES_SHORT 1e-6

// Does a tube slide as a law of t?
bool snw_tubes_slide(const snw_desc *d);

// Lengths of all tubes (d->ntube) at time t, and from them lengths, bases, nodes, sections and
// poses of the rods of their links (d->nlink). New memory belongs to the pool. While tubes slide
// the number of coordinates and nodes stays. SNW_E_MODEL: the tubes do not fit, or are retracted
// too far.
SNW_NODISCARD snw_status snw_tubes_place(const snw_desc *d, double t, snw_pool *pool,
                                         snw_link_desc *link, snw_tube_desc *tube, snw_error *err);

// Fails when something in the description does not go together with tubes that slide in a motion:
// elements along their centreline, or attached between its ends. After snw_tubes_place.
SNW_NODISCARD snw_status snw_check_sliding_tubes(const snw_desc *d, snw_error *err);
