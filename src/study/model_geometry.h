// SPDX-License-Identifier: MIT
//
// model_geometry.h: geometric numbers of a model: constant poses of joints and sites, axes of
// joints, lengths and rest strains of slices of rods, places of tendons and chambers, shapes of
// bodies in contact. Derivatives of a scalar by them are gathered over a run by the transposed
// recursion, theory.md (7.5.16). Part of model_arrays.h.
#pragma once

#include "study/adjoint.h"
#include "study/model_laws.h"
#include "study/model_outputs.h"
#include "study/model_sections.h"
#include "study/model_shapes.h"

typedef struct snw_model_geometry snw_model_geometry;

// Derivatives of a scalar by a state: by the configuration (body twists of spherical and free
// joints, at fixed body rates), rates, accelerations, multipliers.
typedef struct snw_state_bars {
    double *place, *rate, *acc, *lambda;
} snw_state_bars;

// Are these numbers gathered? Not where other forces than inertia, gravity, loads, tendons along
// rods, force elements, closed loops, feedback of motions, a fluid at rest and contacts of
// points depend on poses: rods that touch rods, straight tendons, conditional elements; nor with
// tendon friction or chambers of variable area.
bool snw_geometry_is_gathered(const snw_model *m);
// Is the pose constant, so that its numbers are gathered?
bool snw_pose_is_constant(const snw_pose_desc *pose);

// motions: derivatives by poses that move and by given strains are kept, too.
SNW_NODISCARD snw_status snw_model_geometry_create(const snw_model *m, bool motions,
                                                   snw_model_geometry **out);
void snw_model_geometry_destroy(snw_model_geometry *a); // NULL is fine

size_t snw_model_geometry_size(const snw_model *m);
void snw_model_geometry_read(const snw_model *m, double *out);

// by (3) <- what the functions below have added since the last call by zeta, u and u' of the motion
// of a pose that moves, or, i counted on from npose, by the given strains at a Magnus point
// (snw_field), their rates and accelerations; false: nothing.
bool snw_model_geometry_take_motion(snw_model_geometry *a, int i, snw_wrench *by);

// First number of the shapes (model_shapes.h); are they needed? True before this call. bar (size)
// -= a product with them.
size_t snw_model_geometry_shapes(const snw_model *m);
void snw_model_geometry_need_shapes(snw_model_geometry *a, bool needed);
void snw_model_geometry_subtract_shape(const snw_model_geometry *a, const snw_work *w,
                                       const snw_shape_product *x, double *bar);

// bar (size) -= derivatives of mu'r by the numbers.
void snw_model_geometry_subtract(snw_model_geometry *a, const snw_product *x, double *bar);
// The next sweep also has c times a product with these derivatives by poses and velocities.
void snw_model_geometry_more(snw_model_geometry *a, int n, const snw_contact_bars *bars, double c);
// The same of the virtual motion of c times a reaction of a joint or a wrench within a rod
// (snw_output_add_jumps): its jumps turn with the segments. After snw_residual.
void snw_model_geometry_turn_jumps(snw_model_geometry *a, const snw_adjoint_output *output,
                                   double c, const snw_work *w);
// bar -= derivatives of energies (NULL: none) and of what was added, at the motion s in w.
void snw_model_geometry_motion(snw_model_geometry *a, const snw_energy_weights *energy,
                               const snw_inputs *in, const snw_state *s, const snw_work *w,
                               double *bar);
// bar -= derivatives of nu'e" + z'e' by the numbers (z NULL: none), e the rows of loops, at the
// motion in w, which is changed and restored: of a restart.
void snw_model_geometry_subtract_rows(snw_model_geometry *a, const snw_state *s, const snw_work *w,
                                      const double *nu, const double *z, double *bar);
// to->place, rate, acc += the same derivatives by the state.
void snw_model_geometry_rows_by_state(snw_model_geometry *a, const snw_state *s, const snw_work *w,
                                      const double *nu, const double *z, const snw_state_bars *to);
// bar += y_bar (of the outputs) times the derivatives of the outputs at state s, whose motion is in
// w. They are functions of poses, velocities, strains and coordinates, and energies.
void snw_model_geometry_frame(snw_model_geometry *a, int noutput, const snw_adjoint_output *output,
                              const double *y_bar, const snw_inputs *in, const snw_state *s,
                              const snw_work *w, double *bar);

// to += y_bar times the derivatives of the outputs by the state, theory.md (7.5.52): of poses and
// velocities, accelerations, momentum and centre of mass, relative poses, wrenches of loops,
// lengths and rates of force elements; of energies with these factors (NULL: none), but not by the
// strains and springs; of the product of all forces with the virtual twists x->at_mu->V, whose mu
// is zero (NULL: none). Multipliers are left out. State s, whose motion is in w.
void snw_model_geometry_by_state(snw_model_geometry *a, const snw_product *x, int noutput,
                                 const snw_adjoint_output *output, const double *y_bar,
                                 const snw_energy_weights *energy, const snw_inputs *in,
                                 const snw_state *s, const snw_work *w, const snw_state_bars *to);

// Rest strains in a vector of these numbers <- 0; bar (of the sections) += the derivatives by the
// laws of rest strains, from those by the rest strains at all places.
void snw_model_geometry_drop_rest(const snw_model *m, double *x);
void snw_model_geometry_add_rest(const snw_model *m, const double *by, snw_model_sections *sections,
                                 double *bar);
