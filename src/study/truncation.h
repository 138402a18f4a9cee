// SPDX-License-Identifier: MIT
//
// truncation.h: estimate of the error of positions and frequencies due to the finite strain bases
// of rods. The model is compiled again with richer bases that contain the present ones; from the
// present shape, which has a residual only in the added functions, its equilibrium is computed, and
// its modes there. During a motion inertia forces are kept and joints are fixed. theory.md 5.1, 7.2
#pragma once

#include "study/modes.h"

typedef struct snw_truncation snw_truncation;

// Kind of a state.
typedef enum snw_truncation_state {
    SNW_TRUNCATION_REST,   // equilibrium at rest
    SNW_TRUNCATION_STEADY, // steady motion: velocities count
    SNW_TRUNCATION_MOTION, // instant of a motion
} snw_truncation_state;

typedef struct snw_truncation_info {
    double displacement; // largest of any node, m; NaN: not known
    double relative;  // displacement over the length of the rod with the largest truncation; or the
                      // relative error of a frequency
    int rod;          // that rod; -1: none
    bool strain[6];   // its components with the largest truncation
    bool lower_bound; // the richer equilibrium was not reached
} snw_truncation_info;

// *out <- estimator; NULL: none. *gap <- why there is none; no gap if there is nothing to estimate,
// for lack of rods with strain bases. Rods with actuated strain coordinates keep their bases.
// Robots with nonholonomic constraints, which have no modes either, have no estimator.
SNW_NODISCARD snw_status snw_truncation_create(const snw_model *m, snw_truncation **out,
                                               snw_truncation_gap *gap);
void snw_truncation_destroy(snw_truncation *t); // NULL is fine
// Lets `manual` override the laws from now on.
void snw_truncation_set_manual(snw_truncation *t, const snw_manual_inputs *manual);
// From now on another model that fits (snw_model_fits).
void snw_truncation_use(snw_truncation *t, const snw_model *m);

// Estimates the position error. `leave`: if an equilibrium at rest is unstable with the richer
// bases, it is replaced by a stable one, which allocates; nothing else does.
void snw_truncation_estimate(snw_truncation *t, const snw_state *s, snw_truncation_state kind,
                             bool leave, snw_truncation_info *out);

// Sets the errors of the frequencies found at s in `modes`, or the reason why one is not known. The
// richer robot is in equilibrium if s is (`balanced`), leaving an unstable one as above; otherwise
// it has the same shape. out->relative
// <- the largest error, with the rod that has the largest truncation in that mode. Allocates.
SNW_NODISCARD snw_status snw_truncation_frequencies(snw_truncation *t, const snw_state *s,
                                                    bool steady, bool balanced, bool leave,
                                                    snw_modes *modes, snw_truncation_info *out);
// Sets the errors of all frequencies to not known, for this reason.
void snw_truncation_no_frequencies(snw_truncation_gap gap, snw_modes *modes);

// out <- suggestion to replace the basis of component `strain` of a rod: "legendre 6", "elements:
// 8".
void snw_truncation_remedy(const snw_rod_desc *rod, int strain, char *out, size_t size);
