// SPDX-License-Identifier: MIT
//
// impact.h: plastic impacts when conditional links, loops and drives become active during a motion
// (theory.md 3.10). Activation on moving parts, or of a link at rest, is a plastic impact;
// deactivation leaves the configuration and velocities of the other parts unchanged.
#pragma once

#include "constraint/projection.h"

typedef struct snw_impacts snw_impacts;

// Memory for the functions below, which do not allocate. The projection must outlive it.
SNW_NODISCARD snw_status snw_impacts_create(const snw_model *m, snw_projection *pr,
                                            snw_impacts **out);
void snw_impacts_destroy(snw_impacts *ip); // NULL is fine
// From now on another model that fits (snw_model_fits); the projection is told separately.
void snw_impacts_use(snw_impacts *ip, const snw_model *m);

// s->z <- z (nsignal), with the relative poses of loops that store them when they become active.
// There is no impact: only driven coordinates of activated links move, to their laws, and
// coordinates of inactive links get zero rates. For the start of a step, before the robot is
// closed.
void snw_impacts_set_conditions(snw_impacts *ip, const snw_inputs *in, const double *z,
                                snw_state *s);

// Then: s->z <- dropped rows of conditional loops, those that the other active rows imply;
// multipliers of inactive rows <- 0.
void snw_impacts_drop_redundant(snw_impacts *ip, const snw_inputs *in, snw_state *s);

// Then, for activated links, which were at rest in the world: returns -J'M V (nv, valid until the
// next call), the difference to the momentum of a robot that they move along with at s, and
// *momentum <- that momentum in the world frame; NULL and zero without such links.
const double *snw_impacts_activated_momentum(snw_impacts *ip, const snw_inputs *in,
                                             const snw_state *s, snw_wrench *momentum);
// After an impact, at the velocities in w: energy lost because these links were at rest, in
// addition to dV'M dV/2 of the robot with them. J
double snw_impacts_activated_loss(const snw_impacts *ip, const snw_work *w);

typedef struct snw_impact_energy {
    double heat; // energy lost in the impact, J
    double work; // work of driven motion that jumps, and energy that links bring or take away, J
} snw_impact_energy;

// Apply an impact: s->z <- z (nsignal; NULL: unchanged), s->v <- velocities at which all active
// rows hold. SNW_E_MODEL: a row that becomes active is violated, or its velocity contradicts the
// other rows; s is then unchanged.
SNW_NODISCARD snw_status snw_impacts_apply(snw_impacts *ip, const snw_inputs *in, const double *z,
                                           snw_state *s, snw_impact_energy *out, snw_error *err);

// out <- a warning if rows of loop i are dropped; else empty. Returns the dropped rows as bits.
int snw_impacts_describe_dropped(const snw_model *m, const snw_state *s, int i, char *out,
                                 size_t size);
