// SPDX-License-Identifier: MIT
//
// planar_motion.h: planar motion of a clamped, inextensible rod whose curvature is a sum of
// Chebyshev polynomials. The angle is a sum of their antiderivatives; Lagrange's equations are
// written out in position and angle; integrals along the rod are those of the polynomial through
// the Gauss points. The method uses no slices, no exponentials and not the library's rods.
#pragma once

#include <stdbool.h>

enum { ORACLE_PLANAR_MOST = 8 }; // largest number of functions

typedef struct oracle_planar_rod {
    int n;             // functions of the curvature
    double L, EI;      // m, N m^2
    double rhoA, rhoI; // kg/m, kg m
    double damping;    // Kelvin-Voigt time, s
    double gravity;    // along -y, m/s^2
} oracle_planar_rod;

typedef struct oracle_planar_motion oracle_planar_motion;

oracle_planar_motion *oracle_planar_motion_create(const oracle_planar_rod *rod);
void oracle_planar_motion_destroy(oracle_planar_motion *m);

// Integrate y (coordinates of the curvature, then their rates, 2 n numbers) from t0 to t1 under
// gravity alone; local errors below tol.
void oracle_planar_motion_go(oracle_planar_motion *m, double t0, double t1, double tol, double *y);

// A backward difference: dy/dt now = (c0 y + c1 y_before + c2 y_earlier)/h + d1 dy/dt_before.
typedef struct oracle_difference {
    double c0, c1, c2, d1;
} oracle_difference;

// Position of the tip after each step of a fall from rest, straight, by backward differences.
// Accelerations are differences of the coordinates' rates or, with `sections`, of the velocities of
// sections in their own axes, as in Till's method.
void oracle_planar_motion_fall(const oracle_planar_motion *m, oracle_difference by, double h,
                               int steps, bool sections, double (*tip)[2]);

// Position of the tip, x along the clamp, m; kinetic and elastic energy, J.
void oracle_planar_motion_look(const oracle_planar_motion *m, const double *y, double tip[2],
                               double energy[2]);
