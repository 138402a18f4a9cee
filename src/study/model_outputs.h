// SPDX-License-Identifier: MIT
//
// model_outputs.h: results of a run as functions of the numbers of a model at a fixed state:
// energies, tensions, pressures and wrenches. Part of model_arrays.h; theory.md (7.5.19).
#pragma once

#include "study/adjoint.h"

typedef enum snw_output_use {
    SNW_OUTPUT_MOTION,  // of poses, velocities, strains and coordinates
    SNW_OUTPUT_STATE,   // of the state and of geometry: lengths of tendons and springs, relative
                        // poses, accelerations, reactions of loops
    SNW_OUTPUT_ENERGY,  // kinetic, elastic and of gravity
    SNW_OUTPUT_INERTIA, // momentum and centre of mass
    SNW_OUTPUT_EFFORT,  // tension or pressure of an actuator
    SNW_OUTPUT_TENSION, // of a spring, cable or damper
    SNW_OUTPUT_JOINT,   // reaction of the joint of a link
    SNW_OUTPUT_WRENCH,  // within a rod
    SNW_OUTPUT_CONTACT, // force of a compliant contact of points; not by its own numbers
    SNW_OUTPUT_OTHER    // derivatives by the numbers are not known
} snw_output_use;
snw_output_use snw_output_use_of(const snw_model *m, const snw_adjoint_output *output);
// Are the derivatives of the output by geometric numbers known, too? Not of tendons with friction,
// of efforts by laws that read probes.
bool snw_output_knows_geometry(const snw_model *m, const snw_adjoint_output *output);
// Is it the force of a compliant contact of points?
bool snw_output_is_contact_force(const snw_model *m, const snw_adjoint_output *output);
// Station at which an output of a probe of wrenches is measured; its component is column % 6.
const snw_station *snw_output_station(const snw_model *m, const snw_adjoint_output *output);

// Reactions of joints and wrenches within rods are products of all forces W on the segments with
// virtual twists V, theory.md (7.5.19): V (nseg) += the jump of this motion from a segment to its
// child, for c times an output; then V <- the twists with these jumps. The motion in w.
void snw_output_add_jumps(const snw_model *m, const snw_adjoint_output *output, double c,
                          const snw_work *w, snw_twist *V);
void snw_output_carry_jumps(const snw_model *m, const snw_work *w, snw_twist *V);
// Part of the wrench at a station that node k of its rod has beyond the node that carries it.
double snw_output_beyond(const snw_model *m, const snw_station *at, int k);

// Weights of the energies in a sum of outputs.
typedef struct snw_energy_weights {
    double kinetic, elastic, gravity;
} snw_energy_weights;
// *out <- those of y_bar (noutput); false: all are zero.
bool snw_energy_weights_of(const snw_model *m, int noutput, const snw_adjoint_output *output,
                           const double *y_bar, snw_energy_weights *out);
