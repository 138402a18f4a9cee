// SPDX-License-Identifier: MIT
//
// kept_newton.h: Newton's method with line search, whose factors are kept from one time step to the
// next while they converge and are corrected by secants (theory.md 10.4). One iteration for one
// rod, for a tree of rods and for a platform.
#pragma once

#include "sinew/status.h"
#include "solve/secants.h"

#include <stdbool.h>

typedef struct snw_boundary_info {
    int iterations, marches, tangents;
    double residual; // largest scaled residual
} snw_boundary_info;

typedef struct snw_kept_newton {
    void *user;
    double tol; // on the largest scaled residual
    int max_iter;
    snw_secants *secants;
    bool have; // factors of an earlier step may be used
    // residual at the present unknowns, NaN where it overflows; with `derivatives` its variations
    double (*march)(void *user, bool derivatives, snw_boundary_info *info);
    snw_status (*factor)(void *user);
    void (*increment)(void *user);         // with the present factors, corrected by the secants
    void (*save)(void *user);              // the unknowns
    void (*move)(void *user, double size); // the saved unknowns by `size` times the increment
    void (*restore)(void *user);
} snw_kept_newton;

// On SNW_E_DIVERGED and SNW_E_SINGULAR the unknowns are the last iterate.
SNW_NODISCARD snw_status snw_kept_newton_solve(const snw_kept_newton *n, snw_boundary_info *info);
