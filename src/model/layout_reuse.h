// SPDX-License-Identifier: MIT
//
// layout_reuse.h: numbers of nodes and points along rods that one description of a robot has in
// common with another. They are chosen by predicted errors (layout.h), which is most of the time of
// a compilation; a model with numbers that were chosen before is the same to the last bit.
#pragma once

#include "model/desc.h"
#include "model/model.h"

// Do the numbers of nodes and of points along the rod of link l follow from equal data in two
// descriptions of one robot, apart from the stations of attachments? False also where that is not
// known. Stiffness and damping of a section that does not vary along the rod, efforts of tendons,
// and whatever is no part of the rod may differ.
bool snw_layout_reusable(const snw_desc *a, const snw_desc *b, int l);

// Have two rods the same shape functions and rest strains at equal arc lengths? False also where
// that is not known.
bool snw_rods_alike(const snw_rod *a, const snw_rod *b);
