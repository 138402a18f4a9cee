// SPDX-License-Identifier: MIT
//
// Newton's method with kept factors: line search only with exact factors, new factors where an
// increment with old ones leaves more than half of the residual.

#include "shoot/kept_newton.h"

#include "base/fail.h"

#include <math.h>

enum { HALVINGS = 10 };

// A residual below this that an exact Newton step cannot reduce is accepted as rounding error.
static const double rounding = 1e-7;

// One step with line search; norm in and out. Returns whether the norm fell; otherwise the unknowns
// are unchanged.
static bool kept_newton_step(const snw_kept_newton *n, double *norm, int halvings,
                             snw_boundary_info *info) {
    n->increment(n->user);
    n->save(n->user);
    double size = 1;
    for (int i = 0; i <= halvings; i++, size *= 0.5) {
        if (i > 0) snw_secants_pause(n->secants); // a shortened step is no secant pair
        n->move(n->user, size);
        const double now = n->march(n->user, false, info);
        if (now < *norm) {
            *norm = now;
            return true;
        }
        n->restore(n->user);
    }
    return false;
}

snw_status snw_kept_newton_solve(const snw_kept_newton *n, snw_boundary_info *info) {
    double norm = n->march(n->user, !n->have, info);
    info->residual = norm;
    if (!isfinite(norm)) return SNW_E_DIVERGED;
    if (!n->have && norm > n->tol) SNW_TRY(n->factor(n->user));
    bool exact = !n->have; // the factors belong to the present unknowns
    for (; info->iterations < n->max_iter; info->iterations++) {
        info->residual = norm;
        if (norm <= n->tol) return SNW_OK;
        const double before = norm;
        const bool improved = kept_newton_step(n, &norm, exact ? HALVINGS : 0, info);
        if (!improved && exact) {
            // restore the nodes after the failed trial
            (void)n->march(n->user, false, info);
            info->residual = norm;
            return norm <= rounding ? SNW_OK : SNW_E_DIVERGED;
        }
        exact = false;
        // a tangent costs as much as nine marches
        if (norm <= n->tol || (improved && norm <= 0.5 * before)) continue;
        norm = n->march(n->user, true, info);
        SNW_TRY(n->factor(n->user));
        snw_secants_reset(n->secants);
        exact = true;
    }
    info->residual = norm;
    return norm <= n->tol ? SNW_OK : SNW_E_DIVERGED;
}
