// SPDX-License-Identifier: MIT
//
// implicit.h: one-step implicit time integration on the Lie group (generalised-alpha family,
// backward differences), one call per step. A step allocates nothing and, when it fails, changes
// nothing. theory.md 6.1
#pragma once

#include "constraint/bordered_matrix.h"
#include "dynamics/chart.h"
#include "dynamics/dynamics.h"
#include "integrate/step_together.h"
#include "integrate/step_watch.h"
#include "solve/chord.h"
#include "solve/scheme.h"

typedef struct snw_implicit snw_implicit;

typedef struct snw_implicit_opts {
    snw_scheme scheme;
    snw_chart chart;   // default SE3
    double tolerance;  // largest residual relative to typical forces, default 1e-10
    bool tighten;      // lower the tolerance to the step's own error, theory.md (6.13); default off
    int max_iter;      // default 30
    bool uniform_past; // start as if the velocity had been constant before, as Till 2019 does;
                       // theory.md 6.1
    double length_part;       // of the lengths of steps that are repeated; default 1
    bool fixed_length;        // never shorten steps, at impacts or after starts
    bool undamped_velocities; // do not project velocities at loop closures, theory.md 6.6
    bool control;    // step lengths come from error control, which then resolves starts and impacts
    bool estimate;   // estimate the global error, theory.md (6.18)
    bool no_account; // no energy account
    double torque;   // 1/m: weight of moments against forces in minimum-norm multipliers, default 1
    snw_algebra algebra; // of Newton's matrix; default: dense or sparse, whichever is faster
} snw_implicit_opts;

// Work of external actions, integrated over the steps. Index: loads, then active stress, then
// moving poses. Unit J.
typedef struct snw_work_done {
    int n;
    const double *work;
    double heat;   // dissipated energy
    double scheme; // energy removed by the implicit scheme itself, theory.md 6.5
} snw_work_done;

// The scheme of this kind, of the alpha or the levels family, with the parameters that it takes.
snw_scheme snw_implicit_scheme(snw_scheme_kind kind, double rho, double alpha);

snw_implicit_opts snw_implicit_defaults(void); // generalized-alpha, rho 0.9

SNW_NODISCARD snw_status snw_implicit_create(const snw_model *m, const snw_implicit_opts *opts,
                                             snw_implicit **out);
void snw_implicit_destroy(snw_implicit *im); // NULL is fine
// From now on another model that fits (snw_model_fits).
void snw_implicit_use(snw_implicit *im, const snw_model *m);

// Memory for Newton's matrix, of slices that touch since the last step, say; steps themselves
// allocate nothing.
SNW_NODISCARD snw_status snw_implicit_make_room(snw_implicit *im);

// Starts at state s (q, v, t) with accelerations consistent with the inputs. Work starts at zero.
SNW_NODISCARD snw_status snw_implicit_start(snw_implicit *im, const snw_state *s, snw_error *err);

// Length of the next step, at most h: shorter after a start (theory.md 6.15) or in a contact
// (6.16). `longest`: the longest step allowed.
double snw_implicit_limit(snw_implicit *im, double h, double longest);

// One step of length h with inputs evaluated at the time t_laws: now + h, or just before it where
// they are discontinuous there. SNW_E_DIVERGED: nothing has changed; try a shorter step.
SNW_NODISCARD snw_status snw_implicit_step(snw_implicit *im, double h, double t_laws,
                                           snw_chord_info *info);

// From now on steps are first offered to this solver.
void snw_implicit_set_together(snw_implicit *im, snw_step_together together);
// As snw_implicit_step, but offered to that solver before.
SNW_NODISCARD snw_status snw_implicit_step_joined(snw_implicit *im, double h, double t_laws,
                                                  snw_chord_info *info);
// Before the start: no estimate of the global error.
void snw_implicit_leave_out_estimate(snw_implicit *im);

// Continues after a discontinuity of the inputs, with the signal memory z (nsignal; NULL:
// unchanged): accelerations are made consistent again and the history of the scheme is cleared;
// work is kept.
SNW_NODISCARD snw_status snw_implicit_restart(snw_implicit *im, const double *z, snw_error *err);
// The same within a motion, after the impulse of given strains and poses whose rates jump.
SNW_NODISCARD snw_status snw_implicit_jump(snw_implicit *im, const double *z, snw_error *err);

// Confirms the last step, of length h, and advances the estimate of the global error.
void snw_implicit_accept(snw_implicit *im, double h);
// Estimated largest global error of the positions, relative to the typical length of the robot; *t
// <- its time. 0 where there is no estimate. *failed <- time at which the estimate ended since its
// equations were not solved; NaN: they were.
double snw_implicit_global_error(snw_implicit *im, double *t, double *failed);

// Undoes the last step (once), for error control and events.
void snw_implicit_undo(snw_implicit *im);

// After a step of length h: the length with which it must be repeated because it was too long for a
// contact with the ground or for a loop; 0: it is accepted. snw_implicit_shorten undoes it and
// limits the next step to that length. `patient`: iterations are left to repeat it.
double snw_implicit_retry_length(snw_implicit *im, double h, double longest, bool patient);
void snw_implicit_shorten(snw_implicit *im, double h, double longest);

// Estimated condition number of Newton's matrix (constraint/bordered_matrix.h); NaN if the next
// step makes a new one.
double snw_implicit_condition(snw_implicit *im);

// Estimated local error of the last step's configuration, relative to typical strains and lengths.
double snw_implicit_error(const snw_implicit *im);

// Present state; inputs and kinematics at it, with observers.
const snw_state *snw_implicit_state(const snw_implicit *im);
const snw_inputs *snw_implicit_inputs(const snw_implicit *im);
const snw_work *snw_implicit_work_at(snw_implicit *im);
// Reports all maps of the motion from now on.
void snw_implicit_set_watch(snw_implicit *im, snw_step_watch watch);
// Lets `manual` override the laws from now on; it must outlive the integrator. NULL: none.
void snw_implicit_set_manual(snw_implicit *im, const snw_manual_inputs *manual);
snw_work_done snw_implicit_work_done(const snw_implicit *im);

// Checkpoint: out <- everything that later steps depend on, snw_implicit_saves numbers. Loaded
// instead of a start, into an integrator of the same model and options, they give the same steps to
// the last bit. A load cannot be undone.
size_t snw_implicit_saves(const snw_model *m);
void snw_implicit_save(const snw_implicit *im, double *out);
void snw_implicit_load(snw_implicit *im, const double *in);

// Numbers on which the solution of the next step depends, in a model whose laws have no memory:
// snw_implicit_past_size of them. Velocities and accelerations of the history are those of the
// state (chart SE3).
typedef struct snw_past {
    double *t, *h;   // time; length of the step before (snw_history)
    double *q;       // nq
    double *history; // v, a, pseudo-accelerations, increment, v before: 5 nv
    double *lambda;  // nconstraint
} snw_past;
size_t snw_implicit_past_size(const snw_model *m);
snw_past snw_past_at(const snw_model *m, double *numbers);
void snw_implicit_read_past(const snw_implicit *im, double *out);
void snw_implicit_write_past(snw_implicit *im, const double *in);
// Later steps begin their iteration at the increment d (nv), which the caller keeps, instead of the
// predicted one; NULL: no longer.
void snw_implicit_guess(snw_implicit *im, const double *d);
// Increment of the last step, nv.
const double *snw_implicit_increment(const snw_implicit *im);

// Fails if an input has no finite value at time t, or a contact could not hold in the last step,
// and names it.
SNW_NODISCARD snw_status snw_implicit_check(snw_implicit *im, double t, snw_error *err);

// Fails if one of the given inputs, of time t, is not finite, and names it.
SNW_NODISCARD snw_status snw_inputs_check(const snw_model *m, const snw_inputs *in, double t,
                                          snw_error *err);

// s->a <- accelerations at (q, v) of s under the inputs; M (nv x nv) is overwritten by the factor
// of the mass matrix. SNW_E_SINGULAR if a coordinate moves no mass.
SNW_NODISCARD snw_status snw_accelerations(const snw_model *m, const snw_inputs *in, snw_state *s,
                                           snw_work *w, double *M, snw_error *err);
