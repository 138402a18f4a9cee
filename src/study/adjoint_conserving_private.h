// SPDX-License-Identifier: MIT
//
// adjoint_conserving_private.h: steps of the conserving scheme as maps, theory.md (7.5.21), for
// adjoint_conserving.c (maps, differences) and adjoint_conserving_tangent.c (written tangents).
#pragma once

#include "integrate/conserving.h"
#include "study/adjoint_private.h"
#include "study/part_model.h"

// Variables by which a step is differentiated.
typedef enum conserved_variable {
    BY_INCREMENT, // and multipliers
    BY_PLACE,
    BY_RATE,
    BY_MEMORY,
    BY_LENGTH
} conserved_variable;

typedef struct adjoint_conserved {
    snw_conserving *c;
    snw_conserved_parts at;
    int n, size; // unknowns; equations: R, v_1, E_1, z_1
    double *by_y, *by_place, *by_rate, *by_memory, *by_energy, *by_length; // columns of `size`
    double *matrix;                                                        // n x n: factors of R_y
    int *pivot;
    double *q, *v, *z, *d, *x; // of a sample; right side
    double *sample;            // 5 x parts: of a sample, differences of two orders, twice
    double *by_q, *by_v;       // nv: of the energy at a state
    double *parts;             // at the step
    bool *inactive; // nv + nconstraint: coordinates of inactive links, rows that do not act
    bool *of_rates; // nconstraint: rows of velocities (wheels)
    double theta;
    bool shown; // c is evaluated at the present step, and not at a sample
    void *block;
    // of written tangents; NULL where the model has none
    snw_part_model *conservative, *inertia;
    snw_inputs *part_in;
    snw_state *still;
    double *tangent, *line, *rows, *signals;
    int nacting;     // contact points with a force over the step, and rods that touch
    bool touches;    // are there the latter, with a correction?
    double *contact; // of each CONSERVED_CONTACT vectors nv, then CONSERVED_SLOPES numbers
} adjoint_conserved;

// a->conserved->c <- evaluated at the step of the last sweep back or forward.
void adjoint_conserved_show(const snw_adjoint *a, const snw_map *map);

// Matrices nv x nv, vectors nv and sets of rows of the written tangents.
enum { CONSERVED_TANGENTS = 16, CONSERVED_LINES = 15, CONSERVED_ROWS = 4 };
enum { CONSERVED_CONTACT = 5, CONSERVED_SLOPES = 3 }; // of a contact point

// Are the tangents of a model written? Without contacts along pieces of rods, where the parts of
// its forces are known.
bool conserved_tangent_applies(const snw_model *m);
SNW_NODISCARD snw_status conserved_tangent_create(const snw_model *m, adjoint_conserved *o);
void conserved_tangent_destroy(adjoint_conserved *o);
// to <- the inputs of momenta, with poses moved on for the time `along`: velocities of bases in
// place of their accelerations, no forces.
void conserved_momentum_inputs(const snw_model *m, const snw_inputs *in, double along,
                               snw_inputs *to);
// Time over which velocities, and those of bases, move a robot by a small part of its size, for
// differences of order 4 along them; 0: it is at rest.
double conserved_along(const snw_model *m, const snw_inputs *in, const double *v);
// Finds the matrices of a step whose equations have just been evaluated by o->c. False: it has none
// (they are differences then).
bool conserved_tangent_find(const snw_model *m, adjoint_conserved *o, const snw_map *map);
// o->by_q, by_v <- derivatives of the energy of a state. False: they are differences.
bool conserved_tangent_energy(const snw_model *m, adjoint_conserved *o, const snw_map *map);
// Derivatives of the parts of its equations (snw_conserved_parts) by coordinate k of a variable.
const double *conserved_tangent_column(const snw_model *m, const adjoint_conserved *o, double h,
                                       conserved_variable of, int k);
