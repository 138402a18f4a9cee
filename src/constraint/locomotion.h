// SPDX-License-Identifier: MIT
//
// locomotion.h: locomotion with prescribed shape changes (theory.md 6.8). Rates of driven joints
// are known. The other rates, mostly those of the base, follow from the rows of contacts and loops;
// motions that these leave open follow from the dynamics projected onto them. Efforts of the driven
// joints and reactions are recovered from inverse dynamics, reactions with minimum norm where they
// are not unique. The cost is a few recursions, linear in the number of bodies.
#pragma once

#include "dynamics/dynamics.h"

// Classes of locomotion by the equations that determine the motion (theory.md 6.8).
typedef enum snw_locomotion_class {
    SNW_LOCOMOTION_DRIVEN,    // every coordinate is driven: a manipulator
    SNW_LOCOMOTION_FULL,      // contacts determine the motion
    SNW_LOCOMOTION_OVER,      // more contact rows than unknowns: they must be consistent
    SNW_LOCOMOTION_UNDER,     // contacts and projected dynamics
    SNW_LOCOMOTION_FREE,      // dynamics alone
    SNW_LOCOMOTION_SYMMETRIC, // conservation of momentum
    SNW_LOCOMOTION_VISCOUS    // no mass: contacts, and resistance that is in balance
} snw_locomotion_class;

typedef struct snw_locomotion_opts {
    double torque; // weight of moments against forces in the norm of the reactions, 1/m, default 1
    bool least_efforts; // redundant reactions for which the efforts of the drives are least
    snw_reaction_form form;
} snw_locomotion_opts;

typedef struct snw_locomotion snw_locomotion;

// SNW_E_MODEL: a rod has coordinates that are not driven, a tendon has a given length, efforts are
// to be least although joints are passive, or the projective form does not apply.
SNW_NODISCARD snw_status snw_locomotion_create(const snw_model *m, const snw_locomotion_opts *opts,
                                               snw_locomotion **out, snw_error *err);
void snw_locomotion_destroy(snw_locomotion *lo); // NULL is fine
// From now on another model with the same coordinates and rows (snw_model_alike).
void snw_locomotion_use(snw_locomotion *lo, const snw_model *m);

// Start at s: the rank of the rows is found there and at later times up to `until`, s. Where
// momentum is conserved and the file does not give the motion of the base, the momentum is zero.
SNW_NODISCARD snw_status snw_locomotion_start(snw_locomotion *lo, snw_inputs *in,
                                              const snw_state *s, double until, snw_error *err);
// Goes on from s, a state with consistent velocities: rank and class stay, a conserved momentum is
// that of s with the driven rates of the inputs.
void snw_locomotion_continue(snw_locomotion *lo, snw_inputs *in, const snw_state *s);
snw_locomotion_class snw_locomotion_class_of(const snw_locomotion *lo);
// Are there more rows than the motion needs, or passive joints and servo motors, so that efforts
// and reactions are shares?
bool snw_locomotion_is_shared(const snw_locomotion *lo);
// Do the rows of contacts and loops determine all rates?
bool snw_locomotion_is_determined(const snw_locomotion *lo);
// dof (unless NULL) <- coordinates of the base whose momentum is conserved; returns their number, 0
// in other classes.
int snw_locomotion_base(const snw_locomotion *lo, int *dof);
// The class as text, with the numbers of unknown rates, rows and open motions.
void snw_locomotion_describe(const snw_locomotion *lo, char *out, size_t size);

// s <- driven coordinates and rates from their laws, the other velocities nearest to s->v that
// satisfy the rows, accelerations and multipliers. SNW_E_MODEL: contacts contradict each other;
// SNW_E_SINGULAR: the gait meets a singular configuration. The message names the contacts.
SNW_NODISCARD snw_status snw_locomotion_motion(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                               snw_error *err);

// Kinematics and forces of that state, as filled by snw_residual.
const snw_work *snw_locomotion_work(const snw_locomotion *lo);
// Power of the wrench that the projective form leaves on the base at that state, W; 0 in others.
double snw_locomotion_unbalanced_power(const snw_locomotion *lo, const snw_state *s);

// s->v <- velocities after contacts or driven rates have jumped or links have become active: open
// motions keep their momentum. `momentum` (nv; NULL: none) and `missing` are the results of
// snw_impacts_activated_momentum.
SNW_NODISCARD snw_status snw_locomotion_impact(snw_locomotion *lo, snw_inputs *in,
                                               const double *push, snw_wrench lacks, snw_state *s,
                                               snw_error *err);
