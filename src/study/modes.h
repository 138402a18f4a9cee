// SPDX-License-Identifier: MIT
//
// modes.h: small vibrations about an equilibrium or a steady motion: frequencies, damping and mode
// shapes of the robot with its loops closed. theory.md 7
#pragma once

#include "dynamics/dynamics.h"

typedef struct snw_modes snw_modes;

// Why the truncation error of a frequency is not known.
typedef enum snw_truncation_gap {
    SNW_TRUNCATION_NO_GAP,   // it is known, or there is none: null motions, robots without strain
                             // bases
    SNW_TRUNCATION_TOGETHER, // strains of a rod move together
    SNW_TRUNCATION_ACTUATED, // actuators act on the strain coordinates of the rods
    SNW_TRUNCATION_LARGE,    // the model with richer bases is too large
    SNW_TRUNCATION_FAILED,   // it cannot be compiled or its modes cannot be computed
    SNW_TRUNCATION_ALONE,    // it has no mode that corresponds
    SNW_TRUNCATION_ROUNDING, // rounding errors hide the difference
    SNW_TRUNCATION_NGAP
} snw_truncation_gap;

typedef struct snw_mode {
    bool null;         // zero stiffness: rigid motion, spin of a rod between two ball joints
    double frequency;  // Hz, undamped; 0: null; negative: grows with the rate 2 pi |f| 1/s. About a
                       // steady motion and with states or Maxwell branches |s|/(2 pi) of the root s
    double damping;    // fraction of critical damping, negative if growing; NaN without vibration
    const char *moves; // coordinates that move most: "arm.bend_z", "leg(3) spins about its axis"
    double truncation; // estimated relative error of the frequency due to the strain bases
                       // (truncation.h); NaN: not known
    snw_truncation_gap gap; // why not
} snw_mode;

// Residual, relative to typical forces, above which a configuration is no equilibrium.
#define SNW_UNBALANCED 1e-6

// Modes by rising frequency.
typedef struct snw_mode_table {
    int n, nnull; // modes, and the null motions among them
    int nhidden;  // null motions with stiffness, which rounding hides beside that of the fastest
                  // mode
    const snw_mode *mode;
    int nidle;               // motions with neither mass nor stiffness, not among the modes
    const char *const *idle; // names of their coordinates
    double residual; // largest residual or violation, relative to typical values: 0 in equilibrium
    bool conservative; // the stiffness is symmetric
    bool coupled;      // states of laws or Maxwell branches take part: roots as about a steady
                       // motion, those that decay without vibrating behind the others
    int ngrazing;      // hard contacts that touch without force; they count as open
    int grazing;       // contact of the first of them
} snw_mode_table;

// Allocates everything that solves need; a solve allocates nothing. `count`: modes to keep besides
// null motions. `steady`: about the motion of the state, with its velocities and the rates of the
// laws, instead of about rest.
SNW_NODISCARD snw_status snw_modes_create(const snw_model *m, int count, bool steady,
                                          snw_modes **out);
void snw_modes_destroy(snw_modes *mo); // NULL is fine
// From now on another model that fits (snw_model_fits).
void snw_modes_use(snw_modes *mo, const snw_model *m);

// Inputs set by the caller in place of laws; NULL: none.
void snw_modes_set_manual(snw_modes *mo, const snw_manual_inputs *manual);

// Modes at s, under the inputs at s->t, at rest unless steady; with the multipliers of s.
SNW_NODISCARD snw_status snw_modes_solve(snw_modes *mo, const snw_state *s, snw_error *err);

const snw_mode_table *snw_modes_table(const snw_modes *mo);

// Mode shape i, nv coordinates; about a steady motion its real or imaginary part, whichever is
// larger.
const double *snw_modes_vector(const snw_modes *mo, int i);

// Sets the estimated truncation error of mode i; NaN: not known, for the reason `gap`.
void snw_modes_set_truncation(snw_modes *mo, int i, double error, snw_truncation_gap gap);

// q (nq) <- configuration of the last solve displaced along mode i: the node that moves most goes 5
// % of the robot's size, less if a node would turn by more than half a radian. Loops open to second
// order of that.
void snw_modes_shape(const snw_modes *mo, int i, double *q);
