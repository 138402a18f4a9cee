// SPDX-License-Identifier: MIT
//
// redundancy.h: contacts that say the same. Rows of contacts may depend on each other, on loops and
// on what is driven, and fit all the same: ten wheels of a snake, four of a car. A step is then
// computed with as many rows as are independent, the others rest, and what the robot bears is
// shared among all afterwards: of all multipliers that do the same to coordinates that nothing
// drives the smallest. theory.md 3.15
#pragma once

#include "dynamics/dynamics.h"

typedef struct snw_redundancy snw_redundancy;

SNW_NODISCARD snw_status snw_redundancy_create(const snw_model *m, snw_redundancy **out);
void snw_redundancy_destroy(snw_redundancy *rd); // NULL is fine

// How moments count against forces, 1/m; 1 unless set.
void snw_redundancy_weigh(snw_redundancy *rd, double torque);

// Where rows of contacts depend on others at s->q: P (nrow x nrow) <- columns of which the first *n
// combine rows to independent ones, P'C: a column of its own for each that is none of a contact or
// loop, and orthonormal ones, by weights, for these. Multipliers P y are the smallest that do the
// same. False: all are independent, nothing has been done.
bool snw_redundancy_combine(snw_redundancy *rd, const snw_inputs *in, const snw_state *s, double *P,
                            int *n);

// S (nr x nr) <- P'S P, side <- P'side; and side (n) <- P side. scratch: nr x nr doubles.
void snw_redundancy_reduce(int nr, int n, const double *P, double *S, double *side,
                           double *scratch);
void snw_redundancy_expand(int nr, int n, const double *P, double *side, double *scratch);

// After combining at s->q: would more be independent a moment later, as laws go on? Then the
// configuration is singular, its rows do not say the same.
bool snw_redundancy_passes(snw_redundancy *rd, const snw_inputs *in, const snw_state *s);

// Where nothing but one motion is open at such an instant, s->v <- the velocities with which rows
// go on to hold, those along it included. False: more is open, or there are none and the
// singularity is a true one.
bool snw_redundancy_limit(snw_redundancy *rd, const snw_inputs *in, snw_state *s);

// The smaller root of c0 + c1 z + c2 z^2; false: none.
bool snw_smaller_root(double c0, double c1, double c2, double *z);

// s->dropped <- rows of contacts that the others, loops and drives imply at s->q: those that stay
// are the best of all to tell motions apart. s->lambda <- multipliers of these that do the same.
// How many rest is returned.
int snw_redundancy_drop(snw_redundancy *rd, const snw_inputs *in, snw_state *s);

// Did rows depend on each other when they were combined or chosen last?
bool snw_redundancy_found(const snw_redundancy *rd);

// s->lambda <- the smallest multipliers of all rows that do the same; and with s->dropped <- none,
// nothing when none rests.
SNW_NODISCARD snw_status snw_redundancy_minimum_norm(snw_redundancy *rd, const snw_inputs *in,
                                                     snw_state *s);
SNW_NODISCARD snw_status snw_redundancy_recover(snw_redundancy *rd, const snw_inputs *in,
                                                snw_state *s);

// Do rows of contacts hold at the velocities of s, those that rest too? If not the one that slips
// most is returned, with *left m/s or rad/s; -1: they do.
int snw_redundancy_slips(snw_redundancy *rd, const snw_inputs *in, const snw_state *s,
                         double *left);
