// SPDX-License-Identifier: MIT
//
// pushed_beam.h: small deflections of two straight concentric tubes that are pushed out of their
// exit under gravity, from the equation of beams with moving material.
#pragma once

typedef struct oracle_pushed_tube {
    double k, mass; // bending stiffness, N m^2, and mass per length, kg/m
    double length;  // beyond the exit at t = 0, m
    double push;    // by which it is pushed within the duration, m: push (10 u^3 - 15 u^4 + 6 u^5)
} oracle_pushed_tube;

// From equilibrium at t = 0; the second tube ends before the first. Returns the deflection of the
// tip at the end of the duration along gravity, m, found in n time steps.
double oracle_pushed_beam(const oracle_pushed_tube tube[2], double gravity, double duration, int n);
