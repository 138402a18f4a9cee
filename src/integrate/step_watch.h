// SPDX-License-Identifier: MIT
//
// step_watch.h: report of the maps of which a motion consists, for derivatives (study/adjoint.h):
// starts, accepted steps, restarts after a jump of the inputs.
#pragma once

#include "dynamics/state.h"
#include "solve/collocation.h"
#include "solve/scheme.h"

typedef enum snw_step_event {
    SNW_WATCH_STEP,
    SNW_WATCH_STAGES,  // a step of collocation, without the accelerations at its end
    SNW_WATCH_HARD,    // a step with hard contacts
    SNW_WATCH_RESTART, // velocities made consistent, then accelerations and multipliers; also the
                       // first map of a motion
    SNW_WATCH_ACCELERATIONS, // and multipliers, at a state that stays as it is
    SNW_WATCH_CONSERVED, // a step of the conserving scheme, without the accelerations at its end
    SNW_WATCH_ENERGY,    // its reference energy becomes that of the state
    SNW_WATCH_EXPLICIT,  // a step, start or restart of an explicit scheme
    SNW_WATCH_OTHER,     // a map without a derivative: projections within the motion
    // of the run: a motion begins; the steps since the last instant are undone; an instant is
    // reached
    SNW_WATCH_BEGIN,
    SNW_WATCH_UNDO,
    SNW_WATCH_INSTANT,
    SNW_WATCH_SAMPLE, // samples of laws are taken at the state; a restart follows
    SNW_WATCH_KEEP,   // step `stage` of the study has ended at the state, which a later one takes
    SNW_WATCH_FROM,   // step `stage` begins `from` the state at the end of an earlier one
    SNW_WATCH_INPUTS, // an inverse step has found inputs, which are held from now on
    SNW_WATCH_PATH    // a path has ended at the state, from which the following steps begin
} snw_step_event;

// Reason for the length of a step.
typedef enum snw_step_end {
    SNW_END_LENGTH, // it was chosen, and keeps its value
    SNW_END_GRID,   // the next instant of the time grid, which begins with the motion
    SNW_END_TIME,   // a given time: a jump of a law, a sample
    SNW_END_EVENT   // a condition that reads probes changes
} snw_step_end;

struct snw_hard_step;     // integrate/hard_step.h
struct snw_found_inputs;  // study/found_inputs.h
struct snw_explicit_opts; // integrate/explicit.h

typedef struct snw_step_report {
    snw_step_event event;
    const snw_state *s; // state after the map
    double t_laws;      // time of the inputs
    // Of a restart: velocities (nv) before it. Of a step: velocities, accelerations and multipliers
    // before they were projected onto the constraints (6.11); NULL: they were not.
    const double *before;
    // of a step
    const snw_scheme *scheme; // alpha or levels
    double h, history_h;      // its length; that of the history (snw_history)
    bool split;               // free joints on SO(3) x R^3; also of a restart that settles a step
    bool no_past;             // the past ends with this step: its accelerations are not resolved
    const double *d;          // nv: increment
    // of a step of collocation: configuration and velocities at its start, accelerations of the
    // chart at the stages
    const snw_collocation *points;
    const double *q0, *v0, *ddx;
    // with rows of velocities (wheels): multipliers of the rows of loops at the stages, over this
    // scale; those left out. `before` are then the velocities (nv) at the end before their
    // projection
    const double *stage_lambda, *stage_dropped;
    double lambda_scale;
    // of a step of the conserving scheme, whose d has the multipliers, too: state and reference
    // energy before it, times of the inputs of its first momenta and of the gravity before
    const snw_state *start; // also of an explicit scheme
    double energy, start_laws, gravity_laws;
    // of an explicit scheme: its options; time up to which laws are read (`limit` of the advance);
    // true if a restart has another memory of the laws
    const struct snw_explicit_opts *ode;
    // of rk4: its stages, snw_explicit_stage_size numbers each; NULL: not known
    const double *stage_rates;
    int nstage;
    double limit;
    bool remembers;
    // of a step with Maxwell branches: their strains and the configuration (q0) before it
    const double *relaxed0;
    // memory of the laws before a step (nsignal), and the integrands of their integrals: of a step
    // those before it, of collocation those at the stages (stages x nsignal)
    const double *z0, *integrand;
    // Of a start: the scheme takes the accelerations before as zero. Where a motion begins: it
    // follows an equilibrium.
    bool rest;
    const snw_history *past; // before a step
    // of an instant: its kind; its step of the study (also where a motion begins), and whether
    // `until` ends that
    snw_step_end end;
    int stage;
    int from; // of a step that begins from an earlier one: its number
    bool over;
    const bool *fresh;                // of samples: nsignal, those taken although they are not due
    const struct snw_hard_step *hard; // of a step with hard contacts
    const struct snw_found_inputs *inputs; // of an inverse step
} snw_step_report;

// A NULL function: no reports. It may allocate.
typedef struct snw_step_watch {
    void (*note)(void *user, const snw_step_report *r);
    void *user;
} snw_step_watch;
