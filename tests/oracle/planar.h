// SPDX-License-Identifier: MIT
//
// planar.h: equilibrium of a planar cantilever by shooting. The differential equations in position,
// angle and world components of force are integrated from the free end; its angle is found from the
// condition at the clamp. The method uses neither strain functions nor the library's rods.
#pragma once

typedef struct oracle_planar {
    double L, EI;
    double stretch, shear; // 1/EA and 1/GA, 0: inextensible, unshearable
    double weight;         // dead force per length along -y
    double dead[2];        // dead force at the tip
    double follower[2];    // tip force in the axes of the tip section
    double moment;         // moment at the tip
} oracle_planar;

typedef struct oracle_planar_tip {
    double x, y, angle;
    double root_moment;      // moment of the rod's stress at the clamp
    double elastic, gravity; // energies
} oracle_planar_tip;

// Solution near the tip angle `guess`. Local errors of the integration are below 1e-13.
oracle_planar_tip oracle_planar_solve(const oracle_planar *p, double guess);
