// SPDX-License-Identifier: MIT
//
// variable_length_motion.h: planar motion of an inextensible variable-length rod that is pushed out
// of a sleeve, in material coordinates measured from the tip. Its curvature is a sum of Chebyshev
// polynomials on the free length. The method uses no slices, exponentials or moving nodes.
#pragma once

enum { ORACLE_VARIABLE_LENGTH_MOST = 6 }; // largest number of functions

// Values with first and second time derivative.
typedef struct oracle_variable_length_laws {
    double l[3];       // free length; only where it is given
    double x[3], y[3]; // mouth of the sleeve,
    double angle[3];   // and its direction
    double push;       // force on the rod in the sleeve where the length is free, N
} oracle_variable_length_laws;

typedef struct oracle_variable_length_rod {
    int n;                   // functions of the curvature
    double EI;               // N m^2
    double rhoA, rhoI;       // kg/m, kg m
    double radius_series[2]; // radius over the radius of EI, rhoA and rhoI: 1 + taper_0 z + taper_1
                             // z^2, z from the tip backwards
    double damping;          // Kelvin-Voigt time, s
    double gravity[2];       // m/s^2
    int given;               // the length is given, otherwise free
    void (*laws)(double t, oracle_variable_length_laws *out);
} oracle_variable_length_rod;

typedef struct oracle_variable_length_motion oracle_variable_length_motion;

oracle_variable_length_motion *oracle_variable_length_create(const oracle_variable_length_rod *rod);
void oracle_variable_length_destroy(oracle_variable_length_motion *m);

// Integrate y from t0 to t1, local errors below tol. y: coordinates of the curvature, then their
// rates; with a free length also the length and its rate at the end.
void oracle_variable_length_go(oracle_variable_length_motion *m, double t0, double t1, double tol,
                               double *y);

// Tip of the rod at t, the force that pushes it out, and the rate of the free length.
void oracle_variable_length_at(oracle_variable_length_motion *m, double t, const double *y,
                               double tip[2], double *push);
