// SPDX-License-Identifier: MIT
//
// impact.h: links, loops and drives that come and go while the robot moves. What closes on moving
// parts, or is taken up at rest, is a plastic impact; what opens or goes leaves configuration and
// velocities of the rest as they are. theory.md 3.10.
#pragma once

#include "constraint/projection.h"

typedef struct snw_impacts snw_impacts;

// Everything that the functions below need; they allocate nothing. The assembly must outlive it.
SNW_NODISCARD snw_status snw_impacts_create(const snw_model *m, snw_projection *pr,
                                            snw_impacts **out);
void snw_impacts_destroy(snw_impacts *ip); // NULL is fine

// s->z <- z (nsignal), with the poses met by what z switches on. Nothing is struck and nothing
// moved but driven coordinates of links that come, to where their laws want them; coordinates of
// links that are away rest. This is how a step begins, before the robot is assembled.
void snw_impacts_set_conditions(snw_impacts *ip, const snw_inputs *in, const double *z,
                                snw_state *s);

// Then: s->z <- which rows of loops that come and go say what others say already, among all that
// are closed; multipliers of all that is not closed are zero.
void snw_impacts_drop_redundant(snw_impacts *ip, const snw_inputs *in, snw_state *s);

// Then, of links that have come and until now rest in the world: -J'M V (nv, until the next call),
// what they lack of the momentum of a robot that they move along with at s, and that momentum
// itself in the world; NULL and zero where there are none.
const double *snw_impacts_activated_momentum(snw_impacts *ip, const snw_inputs *in,
                                             const snw_state *s, snw_wrench *momentum);
// Behind a blow, at the motion in w: what is lost because these links came from rest, beside dV'M
// dV/2 of the robot with them.
double snw_impacts_activated_loss(const snw_impacts *ip, const snw_work *w);

typedef struct snw_impact_energy {
    double heat; // lost in the impact, J
    double work; // of given motion that jumps, and what links bring or take with them, J
} snw_impact_energy;

// At an instant of a motion: z (nsignal; NULL: as it is) remembered from now on, and velocities
// that keep all rows. SNW_E_MODEL: something closes that is open, or asks for another velocity than
// the others; s is as it was.
SNW_NODISCARD snw_status snw_impacts_apply(snw_impacts *ip, const snw_inputs *in, const double *z,
                                           snw_state *s, snw_impact_energy *out, snw_error *err);

// out <- what to say of loop i where some of its rows are left out; empty when there is nothing.
// Returns those rows as bits.
int snw_impacts_describe_dropped(const snw_model *m, const snw_state *s, int i, char *out,
                                 size_t size);
