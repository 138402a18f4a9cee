// SPDX-License-Identifier: MIT
//
// checkpoint_save.h: the state of a rod and of its solver on which later steps depend: fields at
// the previous instants, initial guesses, and factors kept between steps. Steps after loading are
// the same to the last bit as steps after saving.
#pragma once

#include "shoot/checkpoint.h"
#include "shoot/platform.h"
#include "shoot/tree.h"

// Nodes and previous instants. Base, loads and formulas are recomputed for each step.
void snw_shoot_rod_checkpoint(snw_shoot_rod *r, snw_shoot_checkpoint *row);

// Initial guesses and factors, with space for `segments`; the count is larger where more are in
// use.
void snw_boundary_checkpoint(snw_boundary *b, int segments, snw_shoot_checkpoint *row);
// Of the plate and the solvers of its legs, without their rods.
void snw_platform_checkpoint(snw_platform *p, int segments, snw_shoot_checkpoint *row);
// Of the solvers of the limbs, without their rods.
void snw_tree_checkpoint(snw_tree *t, int segments, snw_shoot_checkpoint *row);
