// SPDX-License-Identifier: MIT
//
// law_jump.h: velocities after an instant at which rates of given strains or of moving poses jump
// (theory.md 3.9): their accelerations are impulses there, which act on the coordinates.
#pragma once

#include "constraint/projection.h"

typedef struct snw_law_jump snw_law_jump;

// *out <- memory for the function below, which does not allocate; NULL: no strain is given and no
// pose moves, or the model has no matrices. projection: that of the integrator, which must outlive
// it; NULL: it has none.
SNW_NODISCARD snw_status snw_law_jump_create(const snw_model *m, snw_projection *projection,
                                             snw_law_jump **out);
void snw_law_jump_destroy(snw_law_jump *j); // NULL is fine
// From now on another model that fits (snw_model_fits); a projection of the integrator is told
// separately.
void snw_law_jump_use(snw_law_jump *j, const snw_model *m);

// Rates of laws before s->t against those of `in`, just after it. Where they jump, s->v <-
// velocities after, all rows hold, *work <- change of kinetic energy, J; *jumped <- whether they
// do. A second call at the state that it left does nothing. j may be NULL.
SNW_NODISCARD snw_status snw_law_jump_apply(snw_law_jump *j, const snw_inputs *in, snw_state *s,
                                            double *work, bool *jumped, snw_error *err);
