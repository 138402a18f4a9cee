// SPDX-License-Identifier: MIT
//
// probe_row.h: derivatives of probes by configuration and rates, theory.md (3.7.1), for linear
// models and gradients.
#pragma once

#include "dynamics/observer.h"

// row (2 nv) <- derivatives of a column of a probe by x and x', variations as those of
// snw_tangent_assemble; false: there is no exact row. After snw_tangent_pass and snw_observe; o:
// scratch; rotation: continuous rotation vectors (study/probe.h).
bool snw_probe_row(const snw_model *m, snw_observer *o, int probe, int column, const snw_inputs *in,
                   const snw_state *s, const snw_vec3 *rotation, snw_work *w, double *row);
// out <- derivative of a column of a probe by a signal that is memory of laws, at a fixed state of
// the robot; false: it is not known. Known of all columns with an exact row.
bool snw_probe_by_memory(const snw_model *m, int probe, int column, const snw_inputs *in,
                         const snw_work *w, int memory, double *out);
// The signal that a column of a probe reads, with its station.
snw_signal snw_probe_signal(const snw_model *m, int probe, int column);
// Is the continuous rotation vector of R that of at most half a turn?
bool snw_within_half_turn(snw_mat3 R, snw_vec3 continuous);
