// SPDX-License-Identifier: MIT
//
// redundancy.h: redundant nonholonomic constraints (theory.md 3.15). Constraint rows of contacts
// may depend linearly on each other, on loop closures and on driven coordinates and still be
// consistent: the ten wheels of a snake, the four of a car. A step is solved with an independent
// subset of the rows; the others are dropped for that step. Their multipliers are recovered
// afterwards: among all multipliers with the same generalised force on the coordinates that are not
// driven, those of minimum weighted norm.
#pragma once

#include "dynamics/dynamics.h"

typedef struct snw_redundancy snw_redundancy;

SNW_NODISCARD snw_status snw_redundancy_create(const snw_model *m, snw_redundancy **out);
void snw_redundancy_destroy(snw_redundancy *rd); // NULL is fine
// From now on another model that fits (snw_model_fits).
void snw_redundancy_use(snw_redundancy *rd, const snw_model *m);

// Weight of moments against forces in the norm of the multipliers, 1/m. Default 1.
void snw_redundancy_weigh(snw_redundancy *rd, double torque);

// If the rows are dependent at s->q: P (nconstraint x nconstraint) <- a matrix whose first *n
// columns combine the rows C to independent ones, P'C. Rows of drives keep a unit column each; rows
// of closures and contacts get columns that are orthonormal in the weighted norm, so the
// multipliers P y have minimum norm. Returns false, and leaves P alone, when all rows are
// independent.
bool snw_redundancy_combine(snw_redundancy *rd, const snw_inputs *in, const snw_state *s, double *P,
                            int *n);

// Reduce: S (nr x nr) <- P'S P and side <- P'side. Expand: side (nr) <- P side. scratch: nr x nr
// doubles.
void snw_redundancy_reduce(int nr, int n, const double *P, double *S, double *side,
                           double *scratch);
void snw_redundancy_expand(int nr, int n, const double *P, double *side, double *scratch);

// After snw_redundancy_combine at s->q: does the rank rise when the driven coordinates move on by a
// millisecond? Then the configuration is singular and the rows are not redundant.
bool snw_redundancy_passes(snw_redundancy *rd, const snw_inputs *in, const snw_state *s);

// At a singular configuration with a one-dimensional null space: s->v <- the velocities, including
// the component in the null space, for which the rows continue to hold to second order. Returns
// false when the null space has more dimensions, or no such velocity exists.
bool snw_redundancy_limit(snw_redundancy *rd, const snw_inputs *in, snw_state *s);

// *z <- the root of c0 + c1 z + c2 z^2 that is smaller in magnitude; false: there is no real root.
bool snw_smaller_root(double c0, double c1, double c2, double *z);

// s->dropped <- the contact rows that the other rows imply at s->q, chosen by QR with column
// pivoting so that the remaining rows are as well conditioned as possible; s->lambda <- multipliers
// of the remaining rows with the same generalised force. Returns the number of dropped rows.
int snw_redundancy_drop(snw_redundancy *rd, const snw_inputs *in, snw_state *s);

// Were the rows dependent at the last call of snw_redundancy_combine or snw_redundancy_drop?
bool snw_redundancy_found(const snw_redundancy *rd);

// s->lambda <- multipliers of all active rows with the same generalised force and minimum norm.
// snw_redundancy_recover also clears s->dropped; without dropped rows it does nothing.
SNW_NODISCARD snw_status snw_redundancy_minimum_norm(snw_redundancy *rd, const snw_inputs *in,
                                                     snw_state *s);
SNW_NODISCARD snw_status snw_redundancy_recover(snw_redundancy *rd, const snw_inputs *in,
                                                snw_state *s);

// Index of the closure whose contact rows, dropped ones included, are violated most by the
// velocities of s, with *left the violation in m/s or rad/s; -1 when all rows hold.
int snw_redundancy_slips(snw_redundancy *rd, const snw_inputs *in, const snw_state *s,
                         double *left);
