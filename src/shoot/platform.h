// SPDX-License-Identifier: MIT
//
// platform.h: several rods, each clamped at its base, whose tips are joined to one rigid plate.
// theory.md 10.6
//
// Each leg condenses to a relation between the pose of its tip and the wrench there (segments.h),
// whatever its points; the plate's six equations of balance in the six variations of its pose are
// all that is solved together. Legs may be fed (snw_shoot_set_length). The plate is a station by
// itself, whose velocity is the formula of time for its poses.
#pragma once

#include "shoot/boundary.h"

// How a leg meets the plate: the frame of the joint at the tip of the leg, and in the plate's
// frame. Motions of one against the other along and about the axes of that frame, angular first,
// are held at zero or free; turns about one axis or all three may be.
typedef struct snw_leg_end {
    snw_shoot_rod *rod; // the caller's
    snw_se3 tip_frame, plate_frame;
    bool free[6];
} snw_leg_end;

typedef struct snw_leg {
    snw_leg_end end;
    snw_boundary *b;
    // of the last look: tip in the plate's frame, joint there by joint here, what keeps the held
    // motions from zero; what the plate exerts on the tip, in the tip's frame and in the plate's
    snw_se3 g_pt;
    snw_mat3 rotation;
    double violation[6];
    snw_wrench tip_wrench, on_plate;
    // factors: of what the joint says by the wrench; pose by the wrench; what is exerted by the
    // wrench, and by pose and velocity
    double E[36];
    int pivot[6];
    bool known; // it was factorised
    double Y[36], Z[36], Wa[6][12];
    double x[6]; // scratch
} snw_leg;

typedef struct snw_platform {
    snw_boundary_opts opts;
    int n;
    snw_leg *leg;
    snw_shoot_station plate; // its body and loads
    snw_vec3 gravity;
    snw_wrench support; // on the plate besides, its axes: while an equilibrium is looked for
    double damping; // stiffness of the plate in the tangent of statics, of a leg's: a larger one
                    // takes shorter steps
    double force;   // a typical one, N
    snw_se3 g;      // of the plate, its velocity and the rate of that
    snw_twist V, A;
    // at earlier instants, newest first: for the formula of time, and for a first guess
    snw_se3 past[SNW_BOUNDARY_PAST];
    snw_twist V_past[SNW_TIME_LEVELS];
    int npast;
    double A_plate[36], LU[36]; // force on the plate against its moves, column major; factors
    int pivot[6];
    bool factored;
    double c0;
    snw_secants secants; // on the kept factors
    double *delta, *weight, *memory;
    snw_wrench balance; // what does not hold, plate axes
} snw_platform;

#define SNW_PLATFORM_DAMPING 1e-9 // keeps the tangent regular where nothing resists the plate

// Rods are ready and stand as they are, the plate, without mass, at g.
SNW_NODISCARD snw_status snw_platform_create(int n, const snw_leg_end *end, snw_se3 g,
                                             const snw_boundary_opts *opts, snw_platform **out);
void snw_platform_destroy(snw_platform *p); // NULL is fine; the rods stay

// After p->plate has changed, or gravity, which is that of the legs: what is typical of it.
void snw_platform_ready(snw_platform *p);

// As those of one rod: snw_shoot_formula, snw_boundary_solve, snw_shoot_accept and
// snw_boundary_accept, snw_shoot_begin.
void snw_platform_formula(snw_platform *p, snw_time_kind kind, double alpha, double h);
SNW_NODISCARD snw_status snw_platform_solve(snw_platform *p, snw_boundary_info *info);
void snw_platform_accept(snw_platform *p, double h);
void snw_platform_begin(snw_platform *p, bool rest, double h);
// Guess from the nodes and the plate's pose.
void snw_platform_reset_guess(snw_platform *p);

// March from the nodes under the present formula: leg->at is where the tips come to, and balance
// what the plate misses. Returns the largest scaled residual.
double snw_platform_evaluate(snw_platform *p);

// A (36, symmetric at equilibrium) <- stiffness of the plate against moves along and about its
// axes, angular first, lengths of the legs held, at the static solution just found.
SNW_NODISCARD snw_status snw_platform_stiffness(snw_platform *p, double *A);
