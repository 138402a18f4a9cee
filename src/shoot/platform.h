// SPDX-License-Identifier: MIT
//
// platform.h: several rods (legs), each clamped at its base, whose tips are joined to one rigid
// plate (theory.md 10.6).
//
// Each leg is condensed to a linear relation between pose and wrench of its tip (segments.h). Only
// the six balance equations of the plate, in the six variations of its pose, are solved together.
// Legs may have variable length (snw_shoot_set_length). The plate is a station by itself; its
// velocity follows from its poses by the time formula.
#pragma once

#include "base/fields.h"
#include "shoot/boundary.h"

// Joint between a leg and the plate: its frame relative to the tip, and relative to the plate.
// Relative motions along and about the axes of the joint, angular first, are constrained to zero or
// free. Rotations about one axis or about all three may be free.
typedef struct snw_leg_end {
    snw_shoot_rod *rod; // owned by the caller
    snw_se3 tip_frame, plate_frame;
    bool free[6];
} snw_leg_end;

typedef struct snw_leg {
    snw_leg_end end;
    snw_boundary *b;
    // of the last evaluation: pose of the tip in the plate frame, rotation from the plate side to
    // the tip side of the joint, violation of the constrained motions; wrench of the plate on the
    // tip, in the tip frame and in the plate frame
    snw_se3 g_pt;
    snw_mat3 rotation;
    double violation[6];
    snw_wrench tip_wrench, on_plate;
    // E: LU factors of the joint equations by the wrench b at the tip; Y: pose of the tip by b; Z:
    // wrench on the tip by b; Wa: wrench of the tip station by pose and velocity
    double E[36];
    int pivot[6];
    bool known; // E was factorised
    double Y[36], Z[36], Wa[6][12];
    double x[6]; // scratch
} snw_leg;

// n legs, rows: unknowns of all legs and of the plate
#define SNW_PLATFORM_FIELDS(AT, PACK)                                                              \
    AT(snw_leg, leg, n, "the legs")                                                                \
    PACK(double, delta, rows, "Newton step")                                                       \
    PACK(double, weight, rows, "scales of its entries for the secants")                            \
    PACK(double, memory, snw_secants_doubles((int)rows, SNW_BOUNDARY_SECANTS), "of the secants")

typedef struct snw_platform {
    snw_boundary_opts opts;
    int n;
    size_t rows;
    snw_shoot_station plate; // its body and loads
    snw_vec3 gravity;
    snw_wrench support; // artificial wrench on the plate, in its axes, during the search for an
                        // equilibrium
    double damping; // artificial stiffness of the plate in the static tangent, relative to a leg's;
                    // larger values give shorter steps
    double force;   // typical force, N
    snw_se3 g, saved; // of the plate, with its velocity and acceleration; before a Newton step
    snw_twist V, A;
    // at previous instants, newest first: for the time formula and the initial guess
    snw_se3 past[SNW_BOUNDARY_PAST];
    snw_twist V_past[SNW_TIME_LEVELS];
    int npast;
    double A_plate[36],
        LU[36]; // derivative of the balance by the pose of the plate, column major; factors
    int pivot[6];
    bool factored;
    double c0;
    snw_secants secants; // corrections of the kept factors
    SNW_PLATFORM_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    snw_wrench balance; // residual of the balance of the plate, plate axes
} snw_platform;

#define SNW_PLATFORM_DAMPING 1e-9 // keeps the tangent regular where the plate has no stiffness

// The rods must be ready and are taken as they stand; the plate, without mass, is at g.
SNW_NODISCARD snw_status snw_platform_create(int n, const snw_leg_end *end, snw_se3 g,
                                             const snw_boundary_opts *opts, snw_platform **out);
void snw_platform_destroy(snw_platform *p); // NULL is fine; the rods are not destroyed

// Call after p->plate or the gravity of the legs has changed: sets gravity and the typical force.
void snw_platform_ready(snw_platform *p);

// These correspond, for one rod, to snw_shoot_formula, snw_boundary_solve, snw_shoot_accept with
// snw_boundary_accept, and snw_shoot_begin.
void snw_platform_formula(snw_platform *p, snw_levels levels, double h);
SNW_NODISCARD snw_status snw_platform_solve(snw_platform *p, snw_boundary_info *info);
void snw_platform_accept(snw_platform *p, double h);
void snw_platform_begin(snw_platform *p, bool rest, double h);
// Take the next initial guess from the nodes and the pose of the plate.
void snw_platform_reset_guess(snw_platform *p);

// March from the nodes with the present formula: sets the poses leg->g_pt of the tips and the
// residual p->balance of the plate. Returns the largest scaled residual.
double snw_platform_evaluate(snw_platform *p);

// A (36, symmetric at equilibrium) <- stiffness of the plate against motions along and about its
// axes, angular first, at constant lengths of the legs. Call at a static solution.
SNW_NODISCARD snw_status snw_platform_stiffness(snw_platform *p, double *A);
