// SPDX-License-Identifier: MIT
//
// coulomb.h: impulses of hard contacts with Coulomb friction, theory.md 6.9.
//
// Contact i has the impulse p = (p_n, p_1, p_2) along its normal and two tangents and the velocity
// u = (u_n, u_1, u_2) of one surface relative to the other, u = W p + b. The law is
//   0 <= u_n  _|_  p_n >= 0,   |(p_1/mu_1, p_2/mu_2)| <= p_n,                               (6.50)
// and the friction opposes the slip: (mu_1 u_1, mu_2 u_2) is a nonpositive multiple of
// (p_1/mu_1, p_2/mu_2), zero where the inequality is strict. Restitution is part of b.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"

typedef struct snw_coulomb_problem {
    int n;              // number of contacts
    const double *W;    // 3n x 3n, symmetric positive semidefinite, velocity per impulse
    const double *b;    // 3n, velocities without impulses
    const double *mu;   // 2n, friction coefficients along both tangents, not negative
    const double *near; // 3n, impulses near the solution, tried first; NULL: none are known
} snw_coulomb_problem;

typedef struct snw_coulomb_info {
    int iterations;  // of the interior-point method
    int polished;    // Newton steps after it
    double residual; // largest violation of the law, relative to the largest velocity in b
    int worst;       // contact of that
} snw_coulomb_info;

// Scratch taken from the arena, in bytes.
size_t snw_coulomb_scratch(int n);

// p (3n) <- impulses, u (3n) <- velocities. Where impulses are not unique (redundant contacts) p is
// near the centre of the set of solutions, or near those given. p may be problem->near.
// SNW_E_DIVERGED: the violation stays above `tol` (relative to the largest velocity in b), p and u
// are the best found; there may be no solution.
SNW_NODISCARD snw_status snw_coulomb_solve(const snw_coulomb_problem *problem, double tol,
                                           snw_arena *scratch, double *p, double *u,
                                           snw_coulomb_info *info);
