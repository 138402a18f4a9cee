// SPDX-License-Identifier: MIT
//
// implicit.h: a model in motion: implicit steps on the Lie group, one call each. A step allocates
// nothing, prints nothing and, when it fails, changes nothing.
#pragma once

#include "constraint/bordered_matrix.h"
#include "dynamics/chart.h"
#include "dynamics/dynamics.h"
#include "solve/chord.h"
#include "solve/scheme.h"

typedef struct snw_implicit snw_implicit;

typedef struct snw_implicit_opts {
    snw_scheme scheme;
    snw_chart chart; // default SE3
    double
        tolerance; // Newton: largest force out of balance relative to typical ones, default 1e-10
    bool own;      // or less, where the step's own error is smaller, theory.md (6.13); default off
    int max_iter;  // default 30
    bool uniform_past; // the past before the start is uniform motion (rods.md, shooting.md 2.2)
    bool fixed_length; // steps are as long as asked for, also at impacts and behind starts
    bool undamped_velocities; // velocities at loops as an undamped scheme has them, theory.md 6.6
    bool control;  // steps are chosen so short that they resolve what an impact leaves behind
    bool estimate; // of how far the steps go astray, theory.md (6.18)
    double torque; // 1/m: of moments against forces where contacts share what they bear, default 1
    snw_algebra algebra; // of Newton's matrix, default as it pays
} snw_implicit_opts;

// Work of what acts, integrated over the steps. Index: loads, then active stress, then moving
// poses.
typedef struct snw_work_done {
    int n;
    const double *work;
    double heat;   // dissipated
    double scheme; // energy removed by an implicit scheme itself, theory.md 6.5
} snw_work_done;

snw_implicit_opts snw_implicit_defaults(void); // generalized-alpha, rho 0.9

SNW_NODISCARD snw_status snw_implicit_create(const snw_model *m, const snw_implicit_opts *opts,
                                             snw_implicit **out);
void snw_implicit_destroy(snw_implicit *im); // NULL is fine

// Begin at state s (q, v, t); accelerations are made consistent with the loads. Work starts at
// zero.
SNW_NODISCARD snw_status snw_implicit_start(snw_implicit *im, const snw_state *s, snw_error *err);

// The length of the next step, h at most: less where a start (theory.md 6.15) or a contact (6.16)
// asks for it; the longest there may be is `longest`.
double snw_implicit_limit(snw_implicit *im, double h, double longest);

// One step of length h, under the laws at the time t_laws: now + h, or a breath before it where
// laws jump there. SNW_E_DIVERGED: nothing has changed; try a shorter one.
SNW_NODISCARD snw_status snw_implicit_step(snw_implicit *im, double h, double t_laws,
                                           snw_chord_info *info);

// After a jump of the loads, with z (nsignal; NULL: as it is) remembered from now on: accelerations
// made consistent again, the scheme's memory emptied, work kept.
SNW_NODISCARD snw_status snw_implicit_restart(snw_implicit *im, const double *z, snw_error *err);

// The last step, of length h, stands: the estimate of the global error goes on.
void snw_implicit_accept(snw_implicit *im, double h);
// Estimated largest distance of the robot from where it would be without errors of the steps, of
// its typical length, and the time of it; 0 where there is no estimate.
double snw_implicit_global_error(snw_implicit *im, double *t);

// Undo the last step (once), for error control and events.
void snw_implicit_undo(snw_implicit *im);

// After a step of length h: the length with which it must be taken once more, since it was too long
// for a contact with the ground; 0: it stands. Then undone, and the next one is of that length at
// most.
double snw_implicit_retry_length(snw_implicit *im, double h, double longest, bool patient);
void snw_implicit_shorten(snw_implicit *im, double h, double longest);

// An estimate of the condition number of Newton's matrix (constraint/bordered_matrix.h); NaN when
// the next step makes a new one.
double snw_implicit_condition(snw_implicit *im);

// Estimated local error of the last step's configuration, relative to typical strains and lengths.
double snw_implicit_error(const snw_implicit *im);

// The present state; inputs and motion at it, observers included.
const snw_state *snw_implicit_state(const snw_implicit *im);
const snw_inputs *snw_implicit_inputs(const snw_implicit *im);
const snw_work *snw_implicit_work_at(snw_implicit *im);
// From now on the hand stands for the laws it gives; it must outlive the motion. NULL: none.
void snw_implicit_set_manual(snw_implicit *im, const snw_manual_inputs *manual);
snw_work_done snw_implicit_work_done(const snw_implicit *im);

// out <- all that the steps to come depend on, snw_implicit_saves numbers; loaded, instead of a
// start, into a motion of the same model and options they give the same steps bit for bit. The step
// before can no longer be undone.
size_t snw_implicit_saves(const snw_model *m);
void snw_implicit_save(const snw_implicit *im, double *out);
void snw_implicit_load(snw_implicit *im, const double *in);

// Why there is no motion beyond the present under the laws of time t: what has no finite value
// then. SNW_OK when all have.
SNW_NODISCARD snw_status snw_implicit_check(snw_implicit *im, double t, snw_error *err);

// The same for inputs at hand, said to be of time t.
SNW_NODISCARD snw_status snw_inputs_check(const snw_model *m, const snw_inputs *in, double t,
                                          snw_error *err);

// a <- accelerations at (q, v) of s under the inputs, M overwritten by its factor. SNW_E_SINGULAR
// when a coordinate moves no mass.
SNW_NODISCARD snw_status snw_accelerations(const snw_model *m, const snw_inputs *in, snw_state *s,
                                           snw_work *w, double *M, snw_error *err);
