// SPDX-License-Identifier: MIT
//
// implicit_private.h: internals of implicit steps, shared by the steps themselves (implicit.c),
// starts (implicit_start.c), the energy account and the monitoring of impacts (implicit_energy.c)
// and the estimate of the global error (implicit_corrected.c).
#pragma once

#include "integrate/contact_steps.h"
#include "integrate/implicit.h"

#include "base/fields.h"
#include "constraint/impact.h"
#include "constraint/law_jump.h"
#include "constraint/projection.h"
#include "solve/broyden.h"

enum { SNW_SLOW = 7 }; // iterations that cost as much as a new matrix

// Short steps after a start, theory.md (6.15).
typedef struct snw_onset {
    double longest;    // present limit of the step, s; 0: none
    double checked_at; // time of the last update; NaN: none yet
    int waits;         // updates without growth
} snw_onset;

// State and inputs at which Newton's matrix was made; after a load it is made again from these.
typedef struct snw_matrix_origin {
    bool known;
    double a, b; // coefficients of the scheme
    snw_inputs *in;
    snw_state *at;
} snw_matrix_origin;

// Second solution for the estimate of the global error, theory.md (6.18).
typedef struct snw_corrected {
    double active;   // 1: it is integrated; 0: not, or no longer
    double h;        // length of the previous step, s; negative: the first after a start; 0: none
    double steps;    // number taken
    double distance; // last distance between the solutions, m
    double max_distance; // largest distance so far, m
    double t;            // its time, s
    double failed;       // time at which its equations were not solved, s; NaN: they were
    snw_state *now;
    snw_history past;
    snw_broyden broyden;
} snw_corrected;

// nv velocities, n = nv + nconstraint, np powers, ns signals; nh and nb: memory of a history and of
// Broyden's method
#define IMPLICIT_FIELDS(AT, PACK)                                                                  \
    AT(double, d, nv, "increment of the configuration in the step's chart")                        \
    PACK(double, f, nv, "rates without the part of the increment: a d + f")                        \
    PACK(double, g, nv, "accelerations likewise: b d + g")                                         \
    PACK(double, rate, nv, "velocities in the chart")                                              \
    PACK(double, acc, nv, "accelerations in the chart")                                            \
    PACK(double, mass, nv, "diagonal of the mass matrix")                                          \
    PACK(double, scale, nv, "typical forces, less where the step's own error is smaller")          \
    PACK(double, force, nv, "typical forces of the step")                                          \
    PACK(double, matrix_d, nv, "d where Newton's matrix was made")                                 \
    PACK(double, work, np, "work of loads and actuators")                                          \
    PACK(double, work_kept, np, "the same before the last step")                                   \
    PACK(double, power_within, np, "power within a step")                                          \
    PACK(double, past_memory, nh, "of the history")                                                \
    PACK(double, past_kept_memory, nh, "of the history before the last step")                      \
    PACK(double, source, ns, "integrands of the laws' integrals")                                  \
    PACK(double, source_kept, ns, "the same before the last step")                                 \
    PACK(double, scratch, 3 * nv, "for the path of a step")                                        \
    PACK(double, chart_jacobian, 108 * (size_t)m->nlie_block, "Jacobian of the chart")             \
    PACK(double, condition_scratch, m->local ? 4 * n : 0, "of the estimate of the condition")      \
    PACK(double, dx, n, "change of d and of the multipliers over constraint_scale")                \
    PACK(double, typical, n, "typical values of these")                                            \
    PACK(double, unsettled, nv + n, "velocities, accelerations, multipliers before a projection")  \
    PACK(double, broyden_memory, nb, "of the step")                                                \
    PACK(double, corrected_broyden_memory, nb, "of the second solution, snw_corrected")            \
    PACK(double, corrected_past_memory, nh, "likewise")                                            \
    PACK(double, corrected_jerk, nv, "rate of its accelerations in the previous step")             \
    PACK(double, corrected_a, nv, "accelerations of the first that the constraint rows allow")     \
    PACK(double, corrected_rows, 2 * (n - nv), "second rates of the rows at the end of the step")  \
    PACK(double, corrected_point, 18 * (size_t)m->nseg, "points on the segments, of both solutions")

struct snw_implicit {
    const snw_model *m;
    snw_implicit_opts opts;
    snw_work *w;
    snw_inputs *in, *within;         // at the last instant; within a step
    snw_state *now, *trial, *before; // committed; of the iteration; before the last step
    snw_state *scratch_state;        // within a step
    snw_history past, past_kept;     // history of the scheme; the same before the last step
    IMPLICIT_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    bool start_known;           // the last product was at the point of implicit_start_tangent
    double constraint_scale;    // scale of constraint rows and multipliers in Newton's matrix
    snw_projection *projection; // NULL: no constraints or conditions
    snw_impacts *impacts;   // of conditional elements and velocity jumps; NULL where projection is
    snw_law_jump *law_jump; // of given strains and moving poses; NULL: none
    snw_redundancy *redundancy; // owned by the projection; NULL: no redundancy possible
    bool redundant;             // constraint rows are redundant
    bool has_closures;          // there are holonomic loop closures
    bool undamped;              // the scheme does not damp errors across constraint rows
    bool settled;               // the last step ended with projected velocities, theory.md (6.11)
    int slipping;               // loop whose constraint failed in the last step; -1: none
    double slip_speed;          // its violation, m/s or rad/s
    double heat, heat_kept;
    double scheme, scheme_kept;
    snw_bordered_matrix *T; // Newton's matrix bordered by the constraint rows, factorised, of this
                            // step or an earlier one
    snw_matrix_origin T_origin;
    snw_broyden broyden;
    double a, b;         // coefficients of the step being solved
    const double *guess; // nv: increment at which its iteration begins; NULL: the predicted one
    bool matrix_current; // T belongs to the last step, or has its coefficients
    double history_h;    // length of the previous step as the scheme used it in the last step,
                         // snw_history
    snw_corrected corrected;
    double jump; // change of acceleration in the last step times h^2, relative to typical values
    snw_onset onset;
    snw_impact_monitor impact, impact_kept;
    double longest;        // longest step allowed, s
    double retry_fraction; // fraction of its length with which the last step must be repeated; 0:
                           // accepted
    double loss_limit;     // fraction of the energy in motion that no resolved step of a loop loses
    bool took_euler;       // the last step was one by backward Euler
    snw_step_watch watch;
    double begun_past_h;   // past.h before the step under way
    bool lane_keeps;       // the last step was one in a pack, which keeps its matrix (packs.h)
    double lane_h;         // length of the step in a pack under way
    double *lane_signal;   // signals at its end, in the memory of the lane
    double *lane_effort;   // efforts of tendons by laws that read signals, likewise
    double lane_tolerance; // of the residual in the last step in a pack; 0: it was none
    bool use_euler; // take the next step by backward Euler, which gains no energy in contacts
    snw_step_together together;
};


// im->rate, acc, trial <- those of the increment im->d.
void snw_implicit_place(snw_implicit *im);

// im->T <- factors of Newton's matrix at im->trial, evaluated in im->w, for the coefficients a and
// b.
SNW_NODISCARD snw_status snw_implicit_factor(snw_implicit *im, double a, double b);
// x (nv + nconstraint) <- the residual in im->w in the rows of Newton's matrix.
void snw_implicit_project(const snw_implicit *im, double *x);

// Reports the map that led to the present state; h: of a step; before: velocities before a restart.
void snw_implicit_note(const snw_implicit *im, snw_step_event event, double h,
                       const double *before);

// ---- parts of a step

// Energies of a step, theory.md (6.5): heat of dampers and other heat, work of the residual, work
// of external actions (snw_npower), J; where they count (snw_step_energies_count), the energies at
// both ends.
typedef struct snw_step_sums {
    double heat, other_heat, unbalanced;
    const double *work;
    const snw_step_energies *from, *to;
} snw_step_sums;

// Begins a step of length h with inputs at the time t_laws: coefficients of the scheme, typical
// forces, initial guess. Then its equations are solved, and it is ended, or given up with nothing
// changed. `sums`: its energies; NULL: they are computed.
void snw_implicit_begin(snw_implicit *im, double h, double t_laws);
// im->d and multipliers of im->trial <- where its iteration begins: driven coordinates at their
// targets, multipliers of the last step.
void snw_implicit_first_guess(snw_implicit *im);
// Will the end of the step be projected onto the loop closures, theory.md (6.11)?
bool snw_implicit_projects_end(const snw_implicit *im);
void snw_implicit_end(snw_implicit *im, double h, const snw_step_sums *sums);
void snw_implicit_give_up(snw_implicit *im);

// ---- starts

// Does the scheme resolve the initial accelerations with a first step of length h? theory.md
// (6.10)
bool snw_implicit_resolves(snw_implicit *im, double h);

// Projects velocities, accelerations and multipliers of the present state onto the loop closures
// and restarts the scheme with them: short steps would amplify the violations left by long ones. A
// singular configuration is left unchanged.
void snw_implicit_project_start(snw_implicit *im);

// ---- energy

// Adds work, heat and the energy that the scheme removes in the step just solved, from im->now to
// im->trial.
void snw_implicit_account(snw_implicit *im, double h);
// The same from sums that are known.
void snw_implicit_book(snw_implicit *im, double h, const snw_step_sums *sums);

// ---- global error

// Starts the second solution at the present state; continues it after a discontinuity of the
// inputs that changed the velocities by the impulses of an impact from `before` (nv).
void snw_corrected_start(snw_implicit *im);
void snw_corrected_restart(snw_implicit *im, const double *before);
// Restarts its scheme with velocities and accelerations that the constraint rows allow, where the
// first solution did.
void snw_corrected_settle_start(snw_implicit *im);
// Makes Newton's matrix again where the steps made it, with the same bits.
void snw_implicit_remake_matrix(snw_implicit *im);
