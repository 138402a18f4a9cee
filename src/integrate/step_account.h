// SPDX-License-Identifier: MIT
//
// step_account.h: energies of an implicit step just solved, theory.md (6.5): heat, work of external
// actions, and the work of the residual along the path of the step, which is the energy that the
// scheme removes. For one robot (implicit_energy.c) and for packs (pack_engine.cpp).
#pragma once

#include "dynamics/dynamics.h"
#include "integrate/step_path.h"

enum { SNW_ACCOUNT_POINTS = 2 };
// Gauss points on the path, as fractions of the step.
extern const double snw_account_point[SNW_ACCOUNT_POINTS];

typedef struct snw_step_account {
    const snw_model *m;
    snw_step_path path;
    const snw_state *now, *trial; // at both ends
    double past_h;                // length of the step before; not positive: none
    const double *vb;             // chart velocities at the beginning of the step before
    double *scratch;              // 3 nv
    snw_state *at;                // state at a point
    snw_work *w;
    double *power; // snw_npower: scratch
} snw_step_account;

// Heat of dampers, in closed form along the path, and increase of the elastic energy, J.
double snw_step_account_heat(const snw_step_account *a);
double snw_step_account_elastic(const snw_step_account *a);
// Adds the work of external actions at point k with the inputs there to work (snw_npower), and
// other heat to *heat. Returns the work of the residual and of external actions that are
// not conservative, J.
double snw_step_account_at(const snw_step_account *a, int k, const snw_inputs *in, double *work,
                           double *heat);
// The same in two parts: a->at <- state at point k; the powers there, after the residual at it.
void snw_step_account_state(const snw_step_account *a, int k);
double snw_step_account_powers(const snw_step_account *a, const snw_inputs *in, double *work,
                               double *heat);
