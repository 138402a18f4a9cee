// SPDX-License-Identifier: MIT
//
// model_arrays_private.h: what model_arrays.c shares with model_arrays_hard.c and
// model_arrays_conserving.c.
#pragma once

#include "study/model_arrays.h"
#include "study/model_geometry.h"
#include "study/model_laws.h"
#include "study/model_outputs.h"
#include "study/model_sections.h"
#include "study/part_model.h"

struct snw_conserved_arrays; // of steps of the conserving scheme

struct snw_model_arrays {
    const snw_model *m;
    int nscalar;
    size_t size;
    double *bar;    // nscalar x size
    snw_model tree; // m without surroundings, for virtual motions
    snw_model_laws *laws;
    snw_model_geometry *geometry; // NULL: not gathered
    bool needs_geometry, motions;
    bool typical; // equations depend on typical values
    snw_model_sections *sections;
    bool by_sections;
    double *section_bar; // vector by sections
    size_t first_branch, first_geometry;
    double *by_signal, *virtual_rate; // nsignal, nv
    snw_inputs *in, *held;
    double in_time; // of `in`; NaN: they were changed
    // nscalar x (npose + nfield) x 3: by given motions (snw_model_geometry_take_motion), at the
    // time of `in`
    snw_wrench *given_bar;
    bool given_waits; // some of them are not yet in the bars
    snw_state *s, *trial;
    snw_work *w, *at_mu;
    struct snw_conserved_arrays *conserved; // NULL: none
};

// First numbers of laws and of surroundings.
size_t arrays_laws_at(const snw_model_arrays *a);
size_t arrays_surroundings_at(const snw_model_arrays *a);
// a->in, a->held <- inputs at time t.
void arrays_inputs_at(snw_model_arrays *a, double t);
// a->at_mu <- motion when the rates are mu.
void arrays_virtual_motion(snw_model_arrays *a, const snw_state *s, const double *mu);
// Covectors of a map: those of its rows and of the integrands of laws may be NULL, none.
typedef struct arrays_covectors {
    const double *mu, *nu, *integrand;
} arrays_covectors;
// bar -= derivatives of mu'r - nu'e - integrand'E at s, whose forces are in a->w, with the virtual
// motion of mu.
void arrays_subtract_product(snw_model_arrays *a, arrays_covectors by, const snw_state *s,
                             double *bar);
// The same of an equilibrium, whose velocities are zero.
void arrays_subtract_static_product(snw_model_arrays *a, arrays_covectors by, const snw_state *s,
                                    double *bar);
// bar -= derivatives of eta'M X by the inertia of a segment; of a product by its mass and by its
// first moment; by gravity, under the inputs a->in.
void arrays_subtract_inertia(const snw_model_arrays *a, int seg, snw_twist eta, snw_twist X,
                             double *bar);
void arrays_subtract_mass(const snw_model_arrays *a, int seg, double by, double *bar);
void arrays_subtract_first_moment(const snw_model_arrays *a, int seg, snw_vec3 by, double *bar);
void arrays_subtract_gravity(snw_model_arrays *a, snw_vec3 by, double *bar);
// bar -= derivatives of mu'r of a part of the forces (part_model.h) under its inputs, which are in
// w at state s.
void arrays_subtract_part(snw_model_arrays *a, const snw_part_model *of, snw_part part,
                          const snw_inputs *in, const double *mu, const snw_state *s,
                          const snw_work *w, double *bar);
// For the scalar of `bar`: bars of given motions += what the last sweep over geometry, of a part, a
// product or rows, has found by them, with or without that by their accelerations; the same of
// momenta (conserved_momentum_inputs) of poses moved on for the time `along`.
void arrays_add_given(snw_model_arrays *a, bool accelerations, const double *bar);
void arrays_add_given_momenta(snw_model_arrays *a, double along, const double *bar);
// bar -= derivatives of the energies with these factors at the motion s in a->w, and of what
// snw_model_geometry_more has added.
void arrays_subtract_motion(snw_model_arrays *a, snw_energy_weights c, const snw_state *s,
                            double *bar);
// bar -= the derivative of a product by number (i, i) of the stiffness of a rod; by the stiffness
// of a spring.
void arrays_subtract_diagonal(const snw_model_arrays *a, int rod, int i, double by, double *bar);
void arrays_subtract_spring(const snw_model_arrays *a, int spring, double by, double *bar);
// Bars of a step with hard contacts (model_arrays_hard.c).
void arrays_add_hard(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map);
// Bars of an equilibrium with hard contacts.
void arrays_add_rest(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map);
// Bars of a step of the conserving scheme, or of its reference energy
// (model_arrays_conserving.c); its memory.
void arrays_add_conserved(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map);
SNW_NODISCARD snw_status arrays_conserved_create(snw_model_arrays *a);
void arrays_conserved_destroy(snw_model_arrays *a);
