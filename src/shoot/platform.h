// SPDX-License-Identifier: MIT
//
// platform.h: several rods, each clamped at its base, whose tips are clamped in one rigid plate. theory.md 10.6
//
// Each leg condenses to a relation between the pose of its tip and the wrench there (segments.h), whatever its points; the
// plate's six equations of balance in the six variations of its pose are all that is solved together. Weight and inertia of the
// plate are shared by the stations at the tips, with the velocities there. Legs may be fed: their lengths are inputs, their
// points stay at the same shares of the length, and histories with the points.
#pragma once

#include "shoot/boundary.h"

typedef struct snw_leg {
    snw_shoot_rod *r; // of one piece; the caller's
    snw_boundary *b;
    snw_se3 hole; // its tip in the plate's frame
    double length[SNW_TIME_LEVELS + 1],
        rate; // free length: now, then at the last instants; its rate at the last one
    // of the last look: what keeps the tip from the plate, and what the plate exerts there
    snw_twist gap;
    snw_wrench beyond;
    // factors: of the pose by the wrench; what is exerted by the wrench, and by pose and velocity
    double Y[36];
    int pivot[6];
    double Z[36], Wa[6][12];
    double x[6]; // scratch
} snw_leg;

typedef struct snw_platform {
    snw_boundary_opts opts;
    int n;
    snw_leg *leg;
    snw_se3 g;                       // of the plate
    snw_se3 past[SNW_BOUNDARY_PAST]; // at earlier instants, newest first
    int npast;
    double A[36], LU[36]; // force on the plate against its moves, plate axes, column major; factors
    int pivot[6];
    bool factored;
    double c0;
    snw_secants secants; // on the kept factors
    double *delta, *weight, *memory;
    snw_wrench balance; // what does not hold, plate axes
} snw_platform;

// Rods are ready but for what the platform puts on their tips; they stand as they are, the plate at g.
SNW_NODISCARD snw_status snw_platform_create(int n, snw_shoot_rod *const *rod, const snw_se3 *hole,
                                             snw_se3 g, const snw_boundary_opts *opts,
                                             snw_platform **out);
void snw_platform_destroy(snw_platform *p); // NULL is fine; the rods stay

// The plate's inertia about its frame, and a load at its origin (components in its own frame if `body`).
SNW_NODISCARD snw_status snw_platform_carry(snw_platform *p, const snw_inertia *M);
SNW_NODISCARD snw_status snw_platform_push_on(snw_platform *p, const snw_wrench *W, bool body);

// The free length of a leg at the end of the step to come; before snw_platform_formula.
void snw_platform_feed(snw_platform *p, int leg, double length);

// As those of one rod: snw_shoot_formula, snw_boundary_solve, snw_shoot_push and snw_boundary_accept, snw_shoot_begin.
void snw_platform_formula(snw_platform *p, snw_time_kind kind, double alpha, double h);
SNW_NODISCARD snw_status snw_platform_solve(snw_platform *p, snw_boundary_info *info);
void snw_platform_accept(snw_platform *p, double h);
void snw_platform_begin(snw_platform *p, bool rest, double h);
// Guess from the nodes.
void snw_platform_forget(snw_platform *p);

// A (36, symmetric at equilibrium) <- stiffness of the plate against moves along and about its axes, angular first, lengths of
// the legs held, at the static solution just found.
SNW_NODISCARD snw_status snw_platform_stiffness(snw_platform *p, double *A);
