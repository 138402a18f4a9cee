// SPDX-License-Identifier: MIT
//
// relaxation_series.h: strains of a generalised Maxwell material and the moduli that relax with
// them, theory.md 2.5.
#pragma once

#include "model/desc.h"

// Does the stiffness against this strain relax as the shear modulus (twist, shear)? Else it does
// as Young's modulus (bending, stretch). It is the first index of the fractions of a series.
static inline bool snw_relaxes_as_shear(int component) {
    return component == SNW_TWIST || component >= SNW_SHEAR_Y;
}
