// SPDX-License-Identifier: MIT
//
// solid_mass.h: volume, centre and inertia of solids and of several of them, theory.md (3.13.20).
#pragma once

#include "model/desc.h"

// Of a uniform solid: volume without its rounding, m^3; centre, m; inertia about the centre per
// unit mass, m^2. In the frame of its pose.
typedef struct snw_solid_mass {
    double volume;
    snw_vec3 centre;
    snw_mat3 inertia;
} snw_solid_mass;

// Of n solids of the same density; where they overlap both count.
snw_solid_mass snw_solids_mass(int n, const snw_body_solid *solid);
