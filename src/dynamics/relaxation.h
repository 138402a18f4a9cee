// SPDX-License-Identifier: MIT
//
// relaxation.h: rods of a generalised Maxwell material (Prony series), theory.md 2.5. Branch i has
// the stiffness matrix K_i and the internal strain a_i, in the coordinates of the rod:
//   force = K q - sum K_i a_i,   tau_i a_i' = q - a_i,   K the instantaneous stiffness.
// During a step a_i = b_i + f_i q follows the trial coordinates q with a constant fraction f_i, so
// that Newton's method has no further unknowns; b is `relaxed` and f is `follow` of the state.
// Outside of a step f = 0 and b = a.
#pragma once

#include "dynamics/state.h"
#include "dynamics/work.h"
#include "math/matrix.h"

// s->relaxed, s->follow <- for an equilibrium by a rule that is stated.
void snw_relaxation_settle(const snw_model *m, snw_relaxation_rule rule, snw_state *s);
// trial->relaxed, trial->follow <- for a step of length h from `now`, by backward Euler or by the
// trapezoidal rule; branches with tau < h/2, which that rule lets ring, take Euler's.
void snw_relaxation_begin(const snw_model *m, const snw_state *now, double h, bool euler,
                          snw_state *trial);
// Does a branch take Euler's rule in steps of the trapezoidal one?
bool snw_relaxation_takes_euler(double h, double time);
// The rule of a step for one branch, theory.md (2.5.2): a_1 = (kept a_0 + old q_0 + c q_1)/(1 + c);
// dc: derivative of c by the length of the step, 1/s.
typedef struct snw_branch_rule {
    double kept, old, c, dc;
} snw_branch_rule;
snw_branch_rule snw_relaxation_in_step(double h, double time, bool euler);
// s->relaxed, s->follow <- for a step, from the strains a_0 of the branches and the coordinates q_0
// of the rods (nbranch_coordinate each) at its start.
void snw_relaxation_from(const snw_model *m, double h, bool euler, const double *a0,
                         const double *q0, snw_state *s);
// Fixes the strains of the branches at the coordinates of s.
void snw_relaxation_fix(const snw_model *m, snw_state *s);
// Heat of a step of length h between two states with fixed branches, J.
double snw_relaxation_heat(const snw_model *m, const snw_state *before, const snw_state *after,
                           double h);

// w->r -= sum K_i a_i; w->follow <- that of s.
void snw_relaxation_add(const snw_model *m, const snw_state *s, snw_work *w);
// T -= cq sum f_i K_i, columns ld apart.
void snw_relaxation_tangent(const snw_model *m, double cq, const snw_work *w, snw_matrix T);
// Energy of the branches of a rod beyond 1/2 q'Kq, J.
double snw_relaxation_energy(const snw_rod *rod, const snw_state *s);
// A strain coordinate of a branch, counted over all rods.
typedef struct snw_branch_place {
    int rod, branch; // its rod, and its branch among those of the rod
    int q, dof;      // the strain coordinate of the rod that it follows, in q and in v
    double time;     // of relaxation, s
} snw_branch_place;
snw_branch_place snw_relaxation_place(const snw_model *m, int coordinate);
// Q (nv) += generalised force per unit of a strain coordinate; false: it has none.
bool snw_relaxation_force(const snw_model *m, int coordinate, double *Q);
// Power of the forces -K_i a_i of all rods at the velocities of s, W.
double snw_relaxation_power(const snw_model *m, const snw_state *s);
