// SPDX-License-Identifier: MIT
//
// implicit_private.h: implicit steps from the inside: the steps themselves (motion.c), how a motion
// begins (motion_start.c), its energy account and what it says about impacts (motion_energy.c).
#pragma once

#include "integrate/implicit.h"

#include "constraint/impact.h"
#include "constraint/projection.h"
#include "solve/broyden.h"

// Short steps behind a start, theory.md (6.15).
typedef struct snw_onset {
    double longest; // step now, s; 0: as long as asked for
    double looked;  // time at which that was found; NaN: not yet
    int waits;      // times that it did not grow
} snw_onset;

// Contact with the ground, step by step, theory.md (6.16).
typedef struct snw_impact {
    double longest; // step now, s; 0: as long as asked for
    double gain;    // energy that steps have created, share of what was in motion; without ground J
    double most;    // largest energy in motion until now, J
    double since;   // steps since a point touched or let go
    double many;    // short steps in a row
} snw_impact;

// Where Newton's matrix was made: from that it can be made again, after a load.
typedef struct snw_origin {
    bool known;
    double a, b; // coefficients
    snw_inputs *in;
    snw_state *at;
    double *d;
} snw_origin;

// A second solution beside the steps, theory.md (6.18).
typedef struct snw_corrected {
    double on; // it is carried; 0: not, or no longer
    double h;  // length of the step before, s, negative: it was the first behind a start; 0: none
    double steps; // taken
    double far;   // distance when last looked at, m,
    double worst; // the largest until now,
    double t;     // at that time
    snw_state *now;
    snw_history past;
    snw_broyden broyden;
    double *jerk;  // nv: rate of the accelerations in the step before
    double *point; // 18 nseg: places of points on segments, of both solutions
} snw_corrected;

struct snw_implicit {
    const snw_model *m;
    snw_implicit_opts opts;
    snw_work *w;
    snw_inputs *in, *within;         // of the last instant, within a step
    snw_state *now, *trial, *before; // committed, of the solver, before the last step
    snw_state *way;                  // within a step
    snw_history past, kept;          // of the scheme, and before the last step
    double *memory;                  // everything below
    double *d, *f, *g, *rate, *acc, *mass, *scale, *force;
    double *dx, *typical;       // nv + nrow: change of d and of the multipliers over `bond`
    double bond;                // what multipliers and gaps are scaled by
    snw_projection *projection; // of loops; NULL: none
    snw_impacts *impacts;       // of what comes and goes, and of jumps; with it
    snw_redundancy *redundancy; // of the assembly,
    bool redundant;             // and whether contacts say the same
    bool closed;                // there are loops that are no contacts
    bool keeps;                 // the scheme keeps errors across their rows
    int slips;   // the contact that could not hold in the last step; -1: none did not
    double slip; // and how fast it would have to go
    double *work, *work_kept, *power_within;
    double heat, heat_kept;
    double scheme, scheme_kept;
    double *source, *source_kept; // nsignal: what integrals go on with
    double *scratch;              // of the path of a step
    double *columns;              // of the chart
    snw_bordered_matrix
        *T; // Newton matrix, bordered by the loops, and its factors, of this step or one before
    snw_origin of_T;
    snw_broyden broyden;
    double a, b;  // coefficients of the step being solved
    bool fits;    // T is of the last step, or of one before with the same coefficients
    double begun; // length of the step before as the scheme had it for the last step, snw_history
    snw_corrected corrected;
    double jump; // change of acceleration in the last step, times h^2, relative
    snw_onset onset;
    snw_impact impact, impact_kept;
    double longest; // the longest step that may be, s
    double verdict; // on the last step: the share of its length that contacts ask for; 0: it stands
    double swallow; // part of the energy in motion that no resolved step of a loop loses
    bool soft;      // the next step is one of backward Euler, which no contact gives energy
};


// im->T <- Newton's matrix and its factors at im->trial, where im->w is, for the coefficients a and
// b.
SNW_NODISCARD snw_status snw_implicit_factor(snw_implicit *im, double a, double b);
// x (nv + nrow) <- the residual in im->w as the rows of Newton's matrix have it.
void snw_implicit_project(const snw_implicit *im, double *x);

// ---- starts
// ------------------------------------------------------------------------------------------

// Is the length h of a first step such that the scheme follows the accelerations it begins with?
// theory.md (6.10)
bool snw_implicit_resolves(snw_implicit *im, double h);

// Velocities, accelerations and multipliers of the present state made to fit the rows of loops, and
// the scheme begun anew with them: short steps behind long ones would take what is amiss for
// motion. A singular configuration stays as it is.
void snw_implicit_settle_start(snw_implicit *im);

// ---- energy
// ------------------------------------------------------------------------------------------

// Works, heat and the energy that the scheme removes in the step just solved, from im->now to
// im->trial.
void snw_implicit_account(snw_implicit *im, double h);

// ---- estimated error
// ---------------------------------------------------------------------------------

// The corrected solution begins at the present state; it goes on behind a jump of the loads.
void snw_corrected_start(snw_implicit *im);
void snw_corrected_restart(snw_implicit *im);
