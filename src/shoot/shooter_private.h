// SPDX-License-Identifier: MIT
//
// shooter_private.h: a shooter from the inside.
#pragma once

#include "shoot/shooter.h"

enum { SNW_SHOOTER_STATIONS = 64 }; // places with bodies or loads on one rod

// An act of the model, at a station: where it is, seen from the section.
typedef struct snw_shooter_act {
    int act, station;
    snw_se3 g; // of its segment in the section's frame
} snw_shooter_act;

struct snw_shooter {
    const snw_model *m;
    const snw_step_desc *step;
    const snw_rod *rod;
    const snw_link_desc *link;
    snw_shoot_rod *r;
    snw_boundary *b;
    snw_inputs *in;
    double t;
    int nact;
    snw_shooter_act *act;
    bool along;     // loads per length
    double applied; // the largest force so far
    double h;       // length of the step before
    // nodes before a step, to come back to
    snw_se3 *g;
    snw_twist *V;
    snw_wrench *F;
    double *G; // Cholesky factors of the bases' products, component by component
    snw_shooter_books books;
    double power, heat; // at the present instant, W
};

// r's base, loads and gravity <- laws of time t, times `share`.
void snw_shooter_load(snw_shooter *e, double t, double share);
// e->power and heat <- of the present fields.
void snw_shooter_powers(snw_shooter *e);

// Fields at arc length x.
typedef struct snw_shooter_at {
    snw_se3 g;
    snw_shoot_history x, rate;
    snw_wrench F;
} snw_shooter_at;
snw_shooter_at snw_shooter_look(const snw_shooter *e, double x);
