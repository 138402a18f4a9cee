// SPDX-License-Identifier: MIT
//
// truncation.h: by how much a robot would be elsewhere, and its frequencies others, if the strains
// of its rods had more functions. The same model is compiled on richer bases that contain the
// present ones; from the present shape, which is in balance but for the functions that were not
// there, its equilibrium is found, and its modes there. In motion forces of inertia stay as they
// are and joints rest. theory.md 5.1, 7.2.
#pragma once

#include "study/modes.h"

typedef struct snw_truncation snw_truncation;

// What a state is.
typedef enum snw_truncation_state {
    SNW_TRUNCATION_REST,   // an equilibrium
    SNW_TRUNCATION_STEADY, // one beside a steady motion: rates count
    SNW_TRUNCATION_MOTION, // an instant of a motion
} snw_truncation_state;

typedef struct snw_truncation_info {
    double displacement; // largest of any node, m; NaN: not known
    double relative;     // over the length of the rod that is cut off most; or of a frequency
    int rod;             // that one of the model, -1: none
    bool strain[6];      // its components that are cut off most
    bool lower_bound;    // the way to the richer equilibrium could not be followed to its end
} snw_truncation_info;

// *out <- what estimates take; NULL where there is nothing to estimate: no rod with strains that
// bases choose, a robot too large, contacts that forbid velocities. Rods whose coordinates
// actuators act on keep their bases.
SNW_NODISCARD snw_status snw_truncation_create(const snw_model *m, snw_truncation **out);
void snw_truncation_destroy(snw_truncation *t); // NULL is fine

// By how much the robot would be elsewhere. `leave`: where the richer bases make an equilibrium at
// rest unstable, it is left for a stable one, which allocates; nothing else does.
void snw_truncation_estimate(snw_truncation *t, const snw_state *s, snw_truncation_state kind,
                             bool leave, snw_truncation_info *out);

// Errors of the frequencies that were found at s, set in `modes`; the richer robot is in
// equilibrium where s is one, `balanced`, and leaves an unstable one as above, else about the same
// shape. out->relative <- the largest, with the rod that is cut off most in that mode. Allocates.
SNW_NODISCARD snw_status snw_truncation_frequencies(snw_truncation *t, const snw_state *s,
                                                    bool steady, bool balanced, bool leave,
                                                    snw_modes *modes, snw_truncation_info *out);

// out <- what to write instead of the basis of component `strain` of a rod: "legendre 6",
// "elements: 8".
void snw_truncation_remedy(const snw_rod_desc *rod, int strain, char *out, size_t size);
