// SPDX-License-Identifier: MIT
//
// boundary.h: solves the boundary-value problem of one rod in one step of time: clamped at its
// base, loads and bodies at its stations, the equations of its law closed at the tip.
#pragma once

#include "shoot/segments.h"
#include "solve/secants.h"

typedef enum snw_boundary_kind {
    SNW_BOUNDARY_BANDED,    // multiple shooting: as many segments as the growth asks for
    SNW_BOUNDARY_NEWTON,    // single shooting,
    SNW_BOUNDARY_LEVENBERG, // and other ways to its root
    SNW_BOUNDARY_DOGLEG
} snw_boundary_kind;

typedef struct snw_boundary_opts {
    snw_boundary_kind kind;
    double tol;            // on the largest scaled residual, default 1e-10
    int max_iter;          // default 40
    double growth;         // over a segment, default 2
    bool keep;             // factors of earlier steps while they serve, default true
    snw_segment_pose pose; // default: none but what loads ask for
} snw_boundary_opts;

typedef struct snw_boundary_info {
    int iterations, marches, tangents;
    double residual; // largest scaled one
} snw_boundary_info;

snw_boundary_opts snw_boundary_defaults(void);

enum {
    SNW_BOUNDARY_PAST = 5, // instants that a guess is made of
    SNW_BOUNDARY_SECANTS = 8
};

typedef struct snw_boundary {
    snw_boundary_opts opts;
    snw_segments *segments;
    double closing[(6 + SNW_SHOOT_Z) * (6 + SNW_SHOOT_Z)]; // factors
    int pivot[6 + SNW_SHOOT_Z];
    double Wa[6][12];                                  // d(tip's wrench)/d(pose, velocity)
    double tip_jacobian[SNW_SHOOT_Z][2 * SNW_SHOOT_Z]; // of the law's closing
    double tip_residual[6 + SNW_SHOOT_Z];              // what does not hold at the tip
    double c0;                                         // that the factors are of
    // starts at earlier instants, newest first, for a first guess
    int npast;
    snw_shoot_state *past[SNW_BOUNDARY_PAST], *kept;
    snw_secants secants; // on the kept factors
    double *delta, *weight, *memory;
    snw_boundary_info info; // of a minimiser under way
} snw_boundary;

// Of a rod that is ready.
SNW_NODISCARD snw_status snw_boundary_create(snw_shoot_rod *r, const snw_boundary_opts *opts,
                                             snw_boundary **out);
void snw_boundary_destroy(snw_boundary *b); // NULL is fine

// After snw_shoot_formula: nodes of the rod <- the solution. On SNW_E_DIVERGED and SNW_E_SINGULAR
// the nodes are whatever the last iterate left; snw_shoot_accept must not be called then.
SNW_NODISCARD snw_status snw_boundary_solve(snw_boundary *b, snw_boundary_info *info);
// The step was accepted, at length h: it serves for the next guess.
void snw_boundary_accept(snw_boundary *b, double h);
// The nodes have changed by other hands, or the step shall be tried again with another length:
// guess from the nodes.
void snw_boundary_reset_guess(snw_boundary *b);

// March the segments from their starts and look at the tip: the largest scaled residual, NaN when
// the march has left the numbers. For the files of this engine.
double snw_boundary_march(snw_boundary *b, bool slopes, snw_boundary_info *info);
// Likewise: segments cut, starts guessed; starts kept and brought back.
void snw_boundary_begin(snw_boundary *b);
void snw_boundary_save(snw_boundary *b);
void snw_boundary_restore(snw_boundary *b);
// And the weight of the k-th of the last n instants in a guess.
double snw_boundary_weight(int n, int k);
