// SPDX-License-Identifier: MIT
//
// explicit.h: the equations of motion as an ordinary differential equation in (q, v), for adaptive
// integrators (SUNDIALS) and RK4; the reference for all other schemes. Work of loads, active stress
// and moving poses and heat are integrated with the state, so the energy balance closes at the
// tolerance. An advance allocates nothing and, when it fails, changes nothing. theory.md 6.4
#pragma once

#include "constraint/locomotion.h"
#include "dynamics/dynamics.h"
#include "integrate/implicit.h"
#include "integrate/step_control.h"
#include "solve/ode.h"

typedef struct snw_explicit snw_explicit;

typedef struct snw_explicit_opts {
    snw_ode_kind kind; // default RK54
    double tolerance;  // local error relative to the state and to typical strains, default 1e-6
    double step;       // longest step, s; RK4: the step. Default 0: any
    bool locomotion;   // driven shapes are prescribed, theory.md 6.8; torque as in
                       // snw_locomotion_opts, duration in s
    double torque, duration;
    bool least_efforts;     // as in snw_locomotion_opts
    snw_reaction_form form; // likewise
    long max_steps;         // in one advance; 0: that of snw_ode_defaults
} snw_explicit_opts;

snw_explicit_opts snw_explicit_defaults(void);

SNW_NODISCARD snw_status snw_explicit_create(const snw_model *m, const snw_explicit_opts *opts,
                                             snw_explicit **out, snw_error *err);
void snw_explicit_destroy(snw_explicit *e); // NULL is fine
// From now on another model with the same coordinates and rows (snw_model_alike).
void snw_explicit_use(snw_explicit *e, const snw_model *m);

// Starts at state s (q, v, t); its accelerations are not read. Work starts at zero.
SNW_NODISCARD snw_status snw_explicit_start(snw_explicit *e, const snw_state *s, snw_error *err);

// Integrates to exactly the time t. Inputs are evaluated up to `limit` >= t, where they may be
// discontinuous, with their left limits; INFINITY: no discontinuity. `limit` must be the same in
// all advances before it; the advance after it uses the right limits. On failure nothing has
// changed and err gives reason and time.
SNW_NODISCARD snw_status snw_explicit_advance(snw_explicit *e, double t, double limit,
                                              snw_error *err);

// Continues with the right limits of the inputs at the present time and the signal memory z
// (nsignal; NULL: unchanged). Positions stay, and velocities too unless there is an impact.
SNW_NODISCARD snw_status snw_explicit_restart(snw_explicit *e, const double *z, snw_error *err);

// For derivatives of advances and restarts: the present is s (q, v, z, t), whose velocities are
// consistent; ranks and classes stay as they are. Later equations at times from `from` to `to` are
// those of another model with the same coordinates and rows; NULL: none.
void snw_explicit_place(snw_explicit *e, const snw_state *s);
void snw_explicit_use_between(snw_explicit *e, const snw_model *other, double from, double to);

// Evaluations of rates in the last advance, in order: of each the time of its inputs, s,
// velocities, accelerations, rates of the memory and multipliers, together snw_explicit_stage_size
// numbers.
typedef struct snw_explicit_stages {
    int n, room;
    double *of;
} snw_explicit_stages;
int snw_explicit_stage_size(const snw_model *m);
// Later advances keep them there, as far as there is room; NULL: nowhere.
void snw_explicit_keep_stages(snw_explicit *e, snw_explicit_stages *stages);
// The locomotion of kinematic steps; NULL: they are dynamic.
const snw_locomotion *snw_explicit_locomotion(const snw_explicit *e);
// Number of steps of rk4 in an advance over the time span, each of four evaluations.
int snw_explicit_steps(const snw_explicit_opts *opts, double span);

// s <- q, v, z of y = (q, v, z), with unit quaternions; dq (nq) <- rates of q at s, for a
// configuration `q` whose quaternions may have any length.
void snw_explicit_to_state(const snw_model *m, const double *y, snw_state *s);
void snw_explicit_configuration_rates(const snw_model *m, const double *q, const snw_state *s,
                                      double *dq);

// Makes later advances end with SNW_E_STOPPED when the interrupt asks for it; nothing has changed
// then.
void snw_explicit_set_interrupt(snw_explicit *e, snw_interrupt interrupt);

// Calls the monitor after each step of later advances but the last; the state is then that of the
// step, without the projection onto the constraints.
void snw_explicit_set_monitor(snw_explicit *e, snw_step_monitor monitor);

// Undoes the last advance (once), for events.
void snw_explicit_undo(snw_explicit *e);

const snw_model *snw_explicit_model(const snw_explicit *e);
// Present state with its accelerations; inputs and kinematics at it, with observers.
const snw_state *snw_explicit_state(const snw_explicit *e);
const snw_inputs *snw_explicit_inputs(const snw_explicit *e);
const snw_work *snw_explicit_work_at(snw_explicit *e);
void snw_explicit_set_manual(snw_explicit *e,
                             const snw_manual_inputs *manual); // as snw_implicit_set_manual
snw_work_done snw_explicit_work_done(const snw_explicit *e);

snw_ode_stats snw_explicit_statistics(const snw_explicit *e);
