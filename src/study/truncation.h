// SPDX-License-Identifier: MIT
//
// truncation.h: by how much a robot would be elsewhere if the strains of its rods had more functions. The same model is compiled
// on richer bases that contain the present ones; from the present shape, which is in balance but for the functions that
// were not there, its equilibrium is found. In motion forces of inertia stay as they are and joints rest. theory.md 5.1.
#pragma once

#include "dynamics/dynamics.h"

typedef struct snw_truncation snw_truncation;

typedef struct snw_truncation_info {
    double displacement; // largest of any node, m; NaN: not known
    double relative;     // over the length of the rod that is cut off most
    int rod;             // that one of the model, -1: none
    bool strain[6];      // its components that are cut off most
    bool lower_bound;    // the way to the richer equilibrium could not be followed to its end
} snw_truncation_info;

// *out <- what estimates take; NULL where there is nothing to estimate: no rod with strains that bases choose, a robot too large,
// contacts that forbid velocities. Rods whose coordinates actuators act on keep their bases.
SNW_NODISCARD snw_status snw_truncation_create(const snw_model *m, snw_truncation **out);
void snw_truncation_destroy(snw_truncation *t); // NULL is fine

// At an equilibrium, `still`, or at an instant of a motion. Allocates nothing.
void snw_truncation_estimate(snw_truncation *t, const snw_state *s, bool still,
                             snw_truncation_info *out);

// out <- what to write instead of the basis of component `strain` of a rod: "legendre 6", "elements: 8".
void snw_truncation_remedy(const snw_rod_desc *rod, int strain, char *out, size_t size);
