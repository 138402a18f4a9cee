// SPDX-License-Identifier: MIT
//
// run_private.h: a run from the inside, shared by the files that do its steps.
#pragma once

#include "study/run.h"

#include "constraint/impact.h"
#include "integrate/integrator.h"
#include "model/probe_columns.h"
#include "model/rod_mesh.h"
#include "study/modes.h"
#include "study/probe.h"
#include "study/statics.h"
#include "study/truncation.h"

// What holds from the beginning, or from a change on.
typedef struct snw_phase {
    const snw_desc *desc;
    snw_model *model;
    snw_statics *statics;
    snw_link_desc *link;        // its own, where rods have nodes that follow their shape; else NULL
    snw_truncation *truncation; // made when it is asked for the first time; NULL: there is none,
    bool asked;                 // and it was
} snw_phase;

// Where in the study a run is.
typedef struct snw_here {
    int stage;
    bool over;       // the stage's last frame is out
    double k;        // instants of its grid done
    double t0;       // when it began
    double start;    // energy then, J; dynamic
    double supplied; // most that could have moved the robot since, J, and
    double height;   // energy of gravity then, to see whether its motion diverges
} snw_here;

// What may have changed the energy where the time scheme did.
typedef enum snw_suspect {
    SNW_SUSPECT_MOTION, // the steps do not resolve it
    SNW_SUSPECT_CONTACT,
    SNW_SUSPECT_RELEASE, // the step has just begun
    SNW_SUSPECT_JUMP,
    SNW_SUSPECT_DAMPING
} snw_suspect;

// The interval between two instants in which most was created or removed.
typedef struct snw_sharpest {
    double energy, t;
    double why; // snw_suspect, as a checkpoint has it
} snw_sharpest;

// The energy that the scheme of a dynamic step removes, over time, J.
typedef struct snw_drift {
    double scheme, heat;     // at the last instant
    double high, low;        // of `scheme` until then
    double created, removed; // largest fall and rise of it
    double
        least; // of balance - scheme at frames: energy from nothing, whatever the account has of it
    double jump; // when laws jumped last, s
    snw_sharpest creates, removes;
} snw_drift;

struct snw_run {
    const snw_desc *desc;
    snw_pool *pool;
    int nphase;
    snw_phase *phase;
    int *phase_of_step; // which one holds after each step
    snw_run_info info;
    const snw_model *wide; // of the eras' models the one with most rows: states have room for them
    snw_state *state;
    snw_state **ended;         // state at the end of each step done
    snw_vec3 *rotation, *turn; // of each segment and observer; scratch of the signals
    double *lambda;            // scratch of multipliers
    double *z;                 // nsignal: scratch of what laws remember
    bool *fresh;               // nsignal: scratch, samples that were never taken
    double *column;
    double *q, *v;     // coordinates and velocities as the file has them
    bool mesh_adapts;  // some rod has nodes that follow its shape:
    size_t ngrid;      // numbers that say where its cells end,
    double *grid;      // ngrid of each such rod: how many, their ends; and as many to find others
    snw_se3 *pose;     // poses at the nodes of the beginning
    size_t nchoice;    // loops whose rows may be chosen anew,
    double *choice;    // and how they were: scratch of checkpoints
    int *column_first; // of each recorded probe
    snw_vec3 start;    // centre of mass where the file puts the robot
    double *acting;    // loads, loops, grounds, efforts and switches of a frame
    bool reads_stability;
    bool leans;        // it was said that an equilibrium is unstable
    int left;          // how often it was said that a branch of equilibria was left
    bool gives;        // it was said that loops give way a little
    bool smooth;       // it was said that static steps leave friction of tendons out
    snw_modes **modes; // nstep: of the steps that look for them, NULL of others
    snw_state *shape;  // moved along a mode
    bool *beyond; // nlink, nmeasure: its joint has left its limits, the tendon pushes or its eyes
                  // met; which was said
    snw_vec3 *turned; // nblock: rotation from rest of balls with springs, at the last instant
    bool *passed;     // nblock: it was said that such a one has passed half a turn
    int turned_stage; // of that instant
    unsigned long long *said; // nloop: which sets of rows left out were spoken of, one bit each
    bool opened;              // rows left out have come open, which was said
    // of one execution
    snw_truncation_info cut; // where strains were cut off most,
    const snw_desc *cut_of;  // and of which description; NULL: nowhere
    snw_phase *now;
    int nrecorder;
    const snw_recorder *recorder;
    const snw_run_hooks *hooks;
    snw_run_totals totals;
    int increments_before; // of the totals, made before the checkpoint that it goes on from
    snw_here here;
    bool resuming;                      // go on from `save`
    bool loaded;                        // statics has loads that hold already
    double *save;                       // info.nsave: of the last frame, or to go on from
    double next_frame;                  // time from which the next frame is due
    double work, heat, scheme, balance; // of the dynamic steps done
    snw_drift drift;
    double held; // T + U before the changes that the state has just gone through; NaN: none
    double frequency[SNW_PROBE_FREQUENCIES]; // Hz, of the modes found last; NaN: none
    bool *found;                             // nstep: its modes were found
    struct snw_shooter **fields; // nstep: with which each ended; NULL: coordinates say it all
    struct snw_shooter *current; // those of the state, NULL: coordinates
    size_t *field_saves; // nstep: numbers of fields that a checkpoint has; 0: nobody asks for them
    size_t integrator_saves; // numbers of the largest mover
};

// What a frame shows: a state with its motion and inputs, and what it took to get there.
typedef struct snw_view {
    const snw_state *state;
    const snw_inputs *in;
    const snw_work *w;
    const snw_integrator *integrator; // NULL: statics
    const struct snw_shooter *fields; // NULL: those of coordinates
    snw_energy energy;
    snw_stats stats;
    bool partial;
    bool live; // nothing goes on from it: no checkpoint
} snw_view;

SNW_NODISCARD snw_status snw_run_frame(snw_run *r, int stage, const snw_view *v, snw_error *err);
// acting <- what loads, loops, grounds, tendons and chambers do and what is there, as snw_frame has
// it, one after the other.
void snw_run_acting(const snw_run *r, const snw_view *v, double *acting);
bool snw_run_due(snw_run *r, double t, bool last);
// A dynamic step begins with these energies. Later, e at the mover's present: SNW_E_DIVERGED when
// its steps have made far more energy than there was to move the robot.
void snw_run_supply(snw_run *r, const snw_energy *first);
SNW_NODISCARD snw_status snw_run_diverges(snw_run *r, const snw_integrator *it, const snw_energy *e,
                                          snw_error *err);

// Energies of a dynamic step at the mover's present, w its look; what it moved from here.start on.
snw_energy snw_run_energies(const snw_run *r, const snw_integrator *it, const snw_work *w);
// T + U of the run's state as the present model, or its fields, have it.
double snw_run_stored(snw_run *r);
// A dynamic step ends here: its work, heat and balance count for those to come.
void snw_run_settle(snw_run *r, const snw_energy *e);
// What the scheme does to the energy of a dynamic step: as it begins; after each instant; the word
// about it at its end.
void snw_drift_begin(snw_drift *d);
void snw_drift_follow(snw_run *r, const snw_integrator *it, const snw_stats *took);
void snw_drift_weigh(snw_drift *d, const snw_energy *e); // at a frame
void snw_drift_speak(const snw_run *r, const snw_step_desc *step, double grid);
void snw_run_report(const snw_run *r, int stage, double t, double t0, double t1);
void snw_run_warn(const snw_run *r, const char *message);
void snw_run_note(const snw_run *r, const char *message);
// stats <- estimated errors of the discretisation at s (run_accuracy.c), of its nodes and, unless
// it follows the other engine, of its strain bases. Allocates. And a word about those that are too
// large, at the end.
bool snw_run_looks_closely(const snw_run *r, bool last); // now and then: it costs more than a step
void snw_run_accuracy(snw_run *r, const snw_state *s, snw_truncation_state kind, snw_stats *stats);
void snw_run_speak_of_accuracy(const snw_run *r);
// The same at the modes of a step, of their frequencies, of which it is told at once.
void snw_run_accuracy_of_modes(snw_run *r, int stage, snw_stats *stats);

// How far the time steps of a dynamic step have gone astray, where that is known and worth a word.
// theory.md (6.18)
void snw_run_speak_of_steps(snw_run *r, const snw_step_desc *step, const snw_integrator *it);
bool snw_run_stopped(const snw_run *r);
// What comes and goes, as it is at the run's state, where a step begins; samples are not taken.
void snw_run_set_conditions(snw_run *r);
// Warn of what is open and will be closed where a step begins.
void snw_run_warn_violations(snw_run *r);
// Warn of loops that have closed and say in part what others say already, of each set of rows once
// in an execution.
void snw_run_remark(snw_run *r, const snw_state *s);
// Warn of joints outside of their limits and of tendons that push, of each once in an execution;
// fail where a fed rod is drawn in altogether.
SNW_NODISCARD snw_status snw_run_limits(snw_run *r, const snw_state *s, snw_error *err);
// Say where springs of spherical joints pass half a turn, beginning from r->state; to be called at
// every instant.
void snw_run_turns_begin(snw_run *r);
void snw_run_turns(snw_run *r, const snw_state *state);

// Checkpoints. r->save <- all that comes after the present frame depends on; NULL when what moves
// (or shoots an equilibrium) cannot say. Loading brings the run back there; the mover's own numbers
// wait at snw_run_save_integrator.
size_t snw_run_save_size(snw_run *r);
const double *snw_run_save(snw_run *r, const snw_view *v);
SNW_NODISCARD snw_status snw_run_load(snw_run *r, snw_error *err);
const double *snw_run_save_integrator(const snw_run *r);

// Statics and modes know poses only: SNW_E_MODEL when a contact forbids velocities.
SNW_NODISCARD snw_status snw_run_refuse_nonholonomic(const snw_run *r, const snw_step_desc *step,
                                                     snw_error *err);
// Rods whose nodes follow their shape (run_grid.c). e->desc <- d, or a copy whose cells may change;
// room for them, once the models are compiled; all as at the beginning; an era as the cells have
// it, of another era or of a checkpoint.
SNW_NODISCARD snw_status snw_run_own(snw_run *r, const snw_desc *d, snw_phase *e);
// Rows of redundant loops: room to save their choice, the one of the beginning, r->choice from and
// to the present model.
SNW_NODISCARD snw_status snw_run_choose_room(snw_run *r);
void snw_run_choose_reset(snw_run *r);
void snw_run_choose_read(snw_run *r);
SNW_NODISCARD snw_status snw_run_choose_apply(snw_run *r, snw_error *err);

SNW_NODISCARD snw_status snw_run_room(snw_run *r);
// Models of all eras have as many nodes in each rod with nodes: auto as the one that asks for most;
// for kinematic steps alone when `given`.
SNW_NODISCARD snw_status snw_run_same_nodes(snw_run *r, bool given, snw_error *err);
SNW_NODISCARD snw_status snw_run_grid_reset(snw_run *r, snw_error *err);
SNW_NODISCARD snw_status snw_run_grid_apply(snw_run *r, snw_phase *e, snw_error *err);
// Place the nodes anew where the state, at rest when still, asks for more of them, or loosen: for
// fewer. Allocates only then.
SNW_NODISCARD snw_status snw_run_follow(snw_run *r, const snw_state *s, bool is_static, bool loosen,
                                        bool *changed, snw_error *err);
// Poses of a frame.
const snw_se3 *snw_run_poses(snw_run *r, const snw_view *v);

// Warn, once in an execution, of friction of tendons that a static step leaves out.
void snw_run_friction(snw_run *r);
SNW_NODISCARD snw_status snw_run_static(snw_run *r, int stage, snw_error *err);
// An equilibrium, or a path of them, by the shooting engine.
SNW_NODISCARD snw_status snw_run_shoot(snw_run *r, int stage, snw_error *err);
// r->fields[stage] <- a shooter of its own with these fields, and the state's from now on.
SNW_NODISCARD snw_status snw_run_keep_fields(snw_run *r, int stage,
                                             const struct snw_shooter *fields, snw_error *err);
SNW_NODISCARD snw_status snw_run_modes(snw_run *r, int stage, snw_error *err);
SNW_NODISCARD snw_status snw_run_dynamic(snw_run *r, int stage, snw_error *err);
