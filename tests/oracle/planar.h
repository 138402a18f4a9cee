// SPDX-License-Identifier: MIT
//
// planar.h: equilibrium of a planar cantilever by shooting: the differential equations in position,
// angle and world components of force, integrated from the free end, whose angle is found so that
// the clamp is met. No strain functions, no rods of ours.
#pragma once

typedef struct oracle_planar {
    double L, EI;
    double stretch, shear; // 1/EA and 1/GA, 0: inextensible, unshearable
    double weight;         // dead force per length along -y
    double dead[2];        // dead force at the tip
    double follower[2];    // tip force in the axes of the tip section
    double moment;         // at the tip
} oracle_planar;

typedef struct oracle_planar_tip {
    double x, y, angle;
    double root_moment;      // of the rod's stress at the clamp
    double elastic, gravity; // energies
} oracle_planar_tip;

// `guess` of the tip angle; the solution it leads to. Local errors of the integration below 1e-13.
oracle_planar_tip oracle_planar_solve(const oracle_planar *p, double guess);
