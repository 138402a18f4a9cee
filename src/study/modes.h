// SPDX-License-Identifier: MIT
//
// modes.h: small motions about a configuration at rest or about a steady motion, theory.md 7:
// frequencies, damping and shapes of the robot with its loops closed.
#pragma once

#include "dynamics/dynamics.h"

typedef struct snw_modes snw_modes;

typedef struct snw_mode {
    bool null;        // costs nothing: rigid motion, a rod's spin between two balls
    double frequency; // Hz, of the motion without damping; 0: null; negative: it grows by 2 pi |f|
                      // per second instead.
    // About a steady motion |s|/(2 pi) of the root s
    double
        damping; // share of the critical one, below zero when it grows; NaN where nothing vibrates
    const char *moves; // what moves most: "arm.bend_z", "leg(3) spins about its axis"
    double truncation; // estimated error of the frequency by the strain bases, of its value
                       // (truncation.h); NaN: not known
} snw_mode;

// Forces out of balance, relative to typical ones, from which on a configuration is no equilibrium.
#define SNW_UNBALANCED 1e-6

// What was found, by rising frequency.
typedef struct snw_mode_table {
    int n, nnull; // modes, and how many of them are null motions
    const snw_mode *mode;
    int nidle; // motions with neither mass nor stiffness; they are not among the modes
    const char *const *idle; // what they move
    double residual;   // forces out of balance and gaps, relative to typical ones: 0 in equilibrium
    bool conservative; // the stiffness is symmetric
} snw_mode_table;

// Everything a solve needs; a solve allocates nothing. `count`: how many modes to keep beside null
// motions; `steady`: about the motion of the state, its rates as they are and those of what is
// given as their laws say, not about rest.
SNW_NODISCARD snw_status snw_modes_create(const snw_model *m, int count, bool steady,
                                          snw_modes **out);
void snw_modes_destroy(snw_modes *mo); // NULL is fine

// The modes at s, under the laws at s->t and at rest, unless steady; multipliers of loops are those
// of s.
SNW_NODISCARD snw_status snw_modes_solve(snw_modes *mo, const snw_state *s, snw_error *err);

const snw_mode_table *snw_modes_table(const snw_modes *mo);

// The motion of mode i, nv coordinates; about a steady motion real or imaginary part of it,
// whichever is larger.
const double *snw_modes_vector(const snw_modes *mo, int i);

// What is estimated of mode i besides: its `truncation`.
void snw_modes_set_truncation(snw_modes *mo, int i, double error);

// q (nq) <- the configuration of the last solve moved along mode i: the node that moves most goes 5
// % of the robot's size, less where one would turn by more than half a radian. Loops open by the
// square of that.
void snw_modes_shape(const snw_modes *mo, int i, double *q);
