// SPDX-License-Identifier: MIT
//
// tubes.h: equilibrium of concentric tubes in strong form, by shooting. Axes are those of the
// literature: z is the tangent at the exit, a tube at the angle 0 is curved about x.
#pragma once

enum { ORACLE_TUBES = 8 };

typedef struct oracle_tube {
    double k, c;             // bending and torsional stiffness, N m^2
    double kappa;            // curvature of the curved part, 1/m
    double behind;           // length behind the exit, m
    double straight, length; // beyond the exit: straight part, and all of it, m
    double alpha;            // angle of its base, rad
} oracle_tube;

// n tubes, the first ending last, with a dead force (N) at the tip. unknown (n + 2) holds a guess,
// then the solution: twists at the exit, 1/m, and the moment across the tangent there, N m.
// tip <- position, m; angle (n) <- angles at the ends of the tubes. No solution near the guess ends
// the program.
void oracle_tubes(int n, const oracle_tube *tube, const double force[3], double *unknown,
                  double tip[3], double *angle);
