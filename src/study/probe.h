// SPDX-License-Identifier: MIT
//
// probe.h: named quantities, read off the motion.
#pragma once

#include "dynamics/dynamics.h"
#include "study/record.h"

// What probes need besides the motion.
typedef struct snw_readings {
    snw_energy energy;
    double stability;
    const double *frequency;  // SNW_PROBE_FREQUENCIES of them, NULL: none known
    snw_vec3 start;           // where the centre of mass was
    const snw_vec3 *rotation; // rotation vector of each segment and observer, snw_rotations_update
    const struct snw_shooter *fields; // strains and wrenches come from these; NULL: coordinates
} snw_readings;

// R v. What is not determined (NaN) shows in the components that it has a part in, beyond rounding,
// and in no others.
snw_vec3 snw_rotate_known(snw_mat3 R, snw_vec3 v);

// Rotation vectors of all segments and observers: of a rod's section nearest to its neighbour's
// towards the root plus the turn between them, of other frames nearest to what they were; so they
// count turns along a rod and in time. Zero at first.
void snw_rotations_update(const snw_model *m, const snw_work *w, snw_vec3 *rotation);

// out <- the columns of probe i, in the order of model/probe_columns.h. After snw_residual and
// snw_observe.
void snw_probe_read(const snw_model *m, int i, const snw_inputs *in, const snw_state *s,
                    const snw_work *w, const snw_readings *more, double *out);

// What an actuator exerts on its coordinate k: the effort given, or the one that it takes. After
// snw_residual.
double snw_motor_effort(const snw_model *m, int motor, int k, const snw_inputs *in,
                        const snw_work *w);
