// SPDX-License-Identifier: MIT
//
// explicit.h: a model in motion as an ordinary differential equation in (q, v), for integrators
// with error control: references for everything else. The works of loads, active stress and moving
// poses and the heat are integrated beside, so that the energy balance closes at the tolerance. An
// advance allocates nothing, prints nothing and, when it fails, changes nothing.
#pragma once

#include "dynamics/dynamics.h"
#include "integrate/implicit.h"
#include "integrate/step_control.h"
#include "solve/ode.h"

typedef struct snw_explicit snw_explicit;

typedef struct snw_explicit_opts {
    snw_ode_kind kind; // default RK54
    double tolerance;  // local error relative to the state and to typical strains, default 1e-6
    double step;       // longest step, s; RK4: the step. Default 0: any
    bool locomotion; // what is driven is given, theory.md 6.8: `torque` as in snw_locomotion_opts,
                     // for this long, s
    bool projective; // likewise
    double torque, duration;
    long max_steps; // in one advance; 0: those of snw_ode_defaults
} snw_explicit_opts;

snw_explicit_opts snw_explicit_defaults(void);

SNW_NODISCARD snw_status snw_explicit_create(const snw_model *m, const snw_explicit_opts *opts,
                                             snw_explicit **out, snw_error *err);
void snw_explicit_destroy(snw_explicit *e); // NULL is fine

// Begin at state s (q, v, t); its accelerations are not read. Work starts at zero.
SNW_NODISCARD snw_status snw_explicit_start(snw_explicit *e, const snw_state *s, snw_error *err);

// Go on to time t exactly. Laws are asked for times up to `limit` >= t, where they may jump, from
// the left; INFINITY when nothing jumps. It must be the same in all advances before it; the advance
// after it takes the laws from the right. On failure nothing has changed and err says what happened
// when.
SNW_NODISCARD snw_status snw_explicit_advance(snw_explicit *e, double t, double limit,
                                              snw_error *err);

// Take the laws from the right of the present time: the view and the accelerations just after a
// jump. Positions and velocities stay.
SNW_NODISCARD snw_status snw_explicit_restart(snw_explicit *e, const double *z, snw_error *err);

// From now on an advance that is asked to stop ends with SNW_E_STOPPED; nothing has changed then.
void snw_explicit_set_interrupt(snw_explicit *e, snw_interrupt interrupt);

// Undo the last advance (once), for events.
void snw_explicit_undo(snw_explicit *e);

// The present state with its accelerations; inputs and motion at it, observers included.
const snw_state *snw_explicit_state(const snw_explicit *e);
const snw_inputs *snw_explicit_inputs(const snw_explicit *e);
const snw_work *snw_explicit_work_at(snw_explicit *e);
void snw_explicit_set_manual(snw_explicit *e,
                             const snw_manual_inputs *manual); // as snw_implicit_set_manual
snw_work_done snw_explicit_work_done(const snw_explicit *e);

snw_ode_stats snw_explicit_statistics(const snw_explicit *e);
