// SPDX-License-Identifier: MIT
//
// checkpoint_save.h: all that the steps to come depend on, of a rod and of what solves it: fields
// with their past, guesses, and factors that are kept from one step to the next. A step after
// loading has the bits of one after saving.
#pragma once

#include "shoot/checkpoint.h"
#include "shoot/platform.h"

// Nodes with their past. Base, loads and formulas are made anew for each step.
void snw_shoot_rod_checkpoint(snw_shoot_rod *r, snw_shoot_checkpoint *row);

// Guesses and factors, in room for `segments`; where more are in use the count is larger.
void snw_boundary_checkpoint(snw_boundary *b, int segments, snw_shoot_checkpoint *row);
// Of a plate and its legs; their rods are carried by themselves.
void snw_platform_checkpoint(snw_platform *p, int segments, snw_shoot_checkpoint *row);
