// SPDX-License-Identifier: MIT
//
// boundary.h: solves the boundary-value problem of one rod in one time step. The rod is clamped at
// its base, carries loads and bodies at its stations, and fulfils the boundary conditions of its
// law at the tip.
#pragma once

#include "base/fields.h"
#include "shoot/kept_newton.h"
#include "shoot/segments.h"

typedef enum snw_boundary_kind {
    SNW_BOUNDARY_BANDED,    // multiple shooting, with as many segments as the growth requires
    SNW_BOUNDARY_NEWTON,    // single shooting by Newton's method
    SNW_BOUNDARY_LEVENBERG, // single shooting by Levenberg-Marquardt or Powell's dogleg
    SNW_BOUNDARY_DOGLEG
} snw_boundary_kind;

typedef struct snw_boundary_opts {
    snw_boundary_kind kind;
    double tol;            // on the largest scaled residual, default 1e-10
    int max_iter;          // default 40
    double growth;         // largest growth exponent over a segment, default 2
    bool keep;             // keep factors from step to step while they converge, default true
    snw_segment_pose pose; // default SNW_POSE_NONE: rotations only where loads need them
} snw_boundary_opts;

snw_boundary_opts snw_boundary_defaults(void);

enum {
    SNW_BOUNDARY_PAST = 5, // previous instants used for the initial guess
    SNW_BOUNDARY_SECANTS = 8
};

// n segments at most, rows = n (SNW_SEGMENT_A + 6)
#define SNW_BOUNDARY_FIELDS(AT, PACK)                                                              \
    AT(snw_shoot_state, history, SNW_BOUNDARY_PAST *n, "starts at previous instants, see past")    \
    PACK(snw_shoot_state, saved, n, "starts to which a failed step returns")                       \
    PACK(double, delta, rows, "Newton step")                                                       \
    PACK(double, weight, rows, "scales of its entries for the secants")                            \
    PACK(double, memory, snw_secants_doubles((int)rows, SNW_BOUNDARY_SECANTS), "of the secants")

typedef struct snw_boundary {
    snw_boundary_opts opts;
    snw_segments *segments;
    double closing[(6 + SNW_SHOOT_Z) * (6 + SNW_SHOOT_Z)]; // factors of the tip equations
    int pivot[6 + SNW_SHOOT_Z];
    double Wa[6][12]; // d(wrench of the tip station)/d(pose, velocity)
    double tip_jacobian[SNW_SHOOT_Z]
                       [2 * SNW_SHOOT_Z]; // of the law's boundary conditions, by z at tip and base
    double tip_residual[6 +
                        SNW_SHOOT_Z]; // residual at the tip: wrench, boundary conditions of the law
    double c0;                        // c_0 of the factors
    // starts at previous instants, newest first, for the initial guess
    int npast;
    snw_shoot_state *past[SNW_BOUNDARY_PAST]; // n each, parts of history
    snw_secants secants;                      // corrections of the kept factors
    SNW_BOUNDARY_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    snw_boundary_info info; // of a running single-shooting solve
} snw_boundary;

// r must be ready (snw_shoot_ready).
SNW_NODISCARD snw_status snw_boundary_create(snw_shoot_rod *r, const snw_boundary_opts *opts,
                                             snw_boundary **out);
void snw_boundary_destroy(snw_boundary *b); // NULL is fine

// Call after snw_shoot_formula. Nodes of the rod <- the solution. On SNW_E_DIVERGED and
// SNW_E_SINGULAR the nodes hold the last iterate; snw_shoot_accept must not be called then.
SNW_NODISCARD snw_status snw_boundary_solve(snw_boundary *b, snw_boundary_info *info);
// Store the accepted step of length h for later initial guesses.
void snw_boundary_accept(snw_boundary *b, double h);
// Take the next initial guess from the nodes. Call after the nodes were changed from outside, and
// before a step is repeated with another length.
void snw_boundary_reset_guess(snw_boundary *b);

// March the segments from their starts and evaluate the boundary conditions at the tip. Returns the
// largest scaled residual, NaN when the march overflowed. This and the following functions are
// internal to src/shoot.
double snw_boundary_march(snw_boundary *b, bool derivatives, snw_boundary_info *info);
// Choose the segments and the initial guess of their starts; save the starts; restore them.
void snw_boundary_begin(snw_boundary *b);
void snw_boundary_save(snw_boundary *b);
void snw_boundary_restore(snw_boundary *b);
// Weight of the k-th newest of n instants in the initial guess, k from 0.
double snw_boundary_weight(int n, int k);
