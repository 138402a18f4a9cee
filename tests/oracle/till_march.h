// SPDX-License-Identifier: MIT
//
// till_march.h: the form in which Till 2019 integrates along rods, for comparison with printed
// digits (theory.md 10.5). Its variables are a quaternion that is not normalised, and the internal
// force and moment of the rod alone in world axes or, with tendons, its strains; there are no group
// steps, and variations are finite differences. The velocity of a plate follows from positions and
// the entries of rotations. The differential equation is that of march.h; the discrete solutions
// differ by the truncation error.
//
// With tendons, all strains must be active, or all but stretch and shear, and the rod must be
// uniform.
#pragma once

#include "shoot/rod.h"

extern const snw_shoot_form oracle_till_form;
