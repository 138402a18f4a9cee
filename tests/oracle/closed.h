// SPDX-License-Identifier: MIT
//
// closed.h: solutions in closed form, or as roots of one equation. references.md B4.1, B4.9
#pragma once

#include "math/se3.h"

// Pose at arc length s of a rod of constant strain that starts at the identity, g = exp(s xi),
// computed from the screw: rotation about the axis of xi.w and translation along it.
snw_se3 oracle_helix(snw_twist xi, double s);

// Tip of a cantilever of length L along x, bent to a circle of curvature k in the plane x y.
snw_vec3 oracle_circle(double k, double L);

// beta_i of the clamped-free Euler-Bernoulli beam, cos b cosh b = -1; i from 1. Its frequencies are
// beta^2 sqrt(EI / (rho A L^4)).
double oracle_cantilever_beta(int i);

// Frequency number i (from 1) of the clamped-free Timoshenko beam, rad/s, from its frequency
// equation (Huang 1961). GA is the shear stiffness without further factor, rho I the rotary inertia
// per length.
double oracle_timoshenko(int i, double L, double EI, double GA, double rhoA, double rhoI);

// Buckling load of a cantilever in compression, times L^2 / EI.
double oracle_euler_load(void);

// Weight per length at which an upright cantilever buckles, times L^3 / EI: 9/4 j^2 with j the
// first zero of the Bessel function of order -1/3 (Greenhill).
double oracle_self_weight(void);

// Follower compression at which Beck's column flutters, times L^2 / EI; omega <- the frequency
// there, times sqrt(rho A L^4 / EI). It is a double root of the frequency equation.
double oracle_beck_load(double *omega);

// Complete elliptic integral of the first kind of modulus k, by the arithmetic-geometric mean.
double oracle_elliptic_K(double k);

// Jacobi's elliptic functions of u, modulus k < 1 (Abramowitz and Stegun 16.4).
void oracle_jacobi(double u, double k, double *sn, double *cn, double *dn);
