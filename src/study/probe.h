// SPDX-License-Identifier: MIT
//
// probe.h: evaluation of probes, the named output quantities, at a state.
#pragma once

#include "dynamics/dynamics.h"
#include "study/record.h"

// Quantities that probes need besides state, inputs and work.
typedef struct snw_readings {
    snw_energy energy;
    double stability;
    const double *frequency;  // SNW_PROBE_FREQUENCIES, Hz; NULL: not known
    const double *pole;       // SNW_PROBE_POLES, 1/s; NULL: not known
    snw_vec3 start;           // initial centre of mass
    const snw_vec3 *rotation; // rotation vector of each segment and observer, snw_rotations_update
    const struct snw_shooter *fields;  // source of strains and wrenches; NULL: coordinates
    struct snw_connection *connection; // NULL: no probe reads it
} snw_readings;

// R v, where NaN marks an undetermined component of v: the result is NaN in the components to which
// it contributes beyond rounding, and in no others.
snw_vec3 snw_rotate_known(snw_mat3 R, snw_vec3 v);

// rotation (nseg + nobs) <- continuous rotation vectors. For a section of a rod, the one nearest to
// that of its parent section plus the rotation between them; for other frames, the one nearest to
// the previous value. Full turns along a rod and in time are therefore counted. Start from zero.
void snw_rotations_update(const snw_model *m, const snw_work *w, snw_vec3 *rotation);

// out <- the columns of probe i, in the order of model/probe_kind.h. After snw_residual and
// snw_observe.
void snw_probe_read(const snw_model *m, int i, const snw_inputs *in, const snw_state *s,
                    const snw_work *w, const snw_readings *more, double *out);

// Effort of an actuator on its coordinate k: the given effort, or the multiplier of its constraint.
// After snw_residual.
double snw_motor_effort(const snw_model *m, int motor, int k, const snw_inputs *in,
                        const snw_work *w);
// Bits of SNW_LIMIT_EFFORT (1) and SNW_LIMIT_RATE (2): has coordinate k of a motor reached the
// limit of its effort, or is it beyond it; is it faster than the limit of its rate? After
// snw_residual.
int snw_motor_limits(const snw_model *m, int motor, int k, const snw_inputs *in, const snw_state *s,
                     const snw_work *w);
