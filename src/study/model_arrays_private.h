// SPDX-License-Identifier: MIT
//
// model_arrays_private.h: what model_arrays.c shares with model_arrays_hard.c.
#pragma once

#include "study/model_arrays.h"
#include "study/model_geometry.h"
#include "study/model_laws.h"
#include "study/model_outputs.h"
#include "study/model_sections.h"

struct snw_model_arrays {
    const snw_model *m;
    int nscalar;
    size_t size;
    double *bar;    // nscalar x size
    snw_model tree; // m without surroundings, for virtual motions
    snw_model_laws *laws;
    snw_model_geometry *geometry; // NULL: not gathered
    bool needs_geometry, motions;
    snw_model_sections *sections;
    bool by_sections;
    double *section_bar; // vector by sections
    size_t first_geometry;
    double *by_signal, *virtual_rate; // nsignal, nv
    snw_inputs *in, *held;
    snw_state *s, *trial;
    snw_work *w, *at_mu;
};

// First numbers of laws and of surroundings.
size_t arrays_laws_at(const snw_model_arrays *a);
size_t arrays_surroundings_at(const snw_model_arrays *a);
// a->in, a->held <- inputs at time t.
void arrays_inputs_at(snw_model_arrays *a, double t);
// a->at_mu <- motion when the rates are mu.
void arrays_virtual_motion(snw_model_arrays *a, const snw_state *s, const double *mu);
// bar -= derivatives of mu'r - nu'e at s, whose forces are in a->w, with the virtual motion of mu.
void arrays_subtract_product(snw_model_arrays *a, const double *mu, const double *nu,
                             const snw_state *s, double *bar);
// bar += derivatives of energies at the motion in a->w, but for geometry.
void arrays_add_energies(snw_model_arrays *a, const snw_energy_weights *c, const snw_state *s,
                         double *bar);
// bar -= derivatives of eta'M X by the inertia of a segment; of a product by its mass; of mu'K q.
void arrays_subtract_inertia(const snw_model_arrays *a, int seg, snw_twist eta, snw_twist X,
                             double *bar);
void arrays_subtract_mass(const snw_model_arrays *a, int seg, double by, double *bar);
void arrays_subtract_stiffness(const snw_model_arrays *a, const double *mu, const snw_state *s,
                               double *bar);
// Bars of a step with hard contacts (model_arrays_hard.c).
void arrays_add_hard(snw_model_arrays *a, const snw_adjoint *adjoint, const snw_map *map);
