// SPDX-License-Identifier: MIT
//
// Chord iteration with Broyden updates and line search, for one time step of the implicit
// integrators.

#include "solve/chord.h"

#include <math.h>

snw_status snw_chord_solve(const snw_chord *c, snw_chord_info *info) {
    double norm = c->evaluate(c->user);
    bool fresh = false, stalled = false;
    snw_broyden_reset(c->broyden);
    while (!(norm <= c->tolerance)) {
        info->residual = norm; // also reported when the solve fails
        const bool is_last = info->iterations == c->max_iter;
        // so long at rounding level that no iteration is left
        if (is_last && stalled && norm <= 1e3 * c->tolerance) return SNW_OK;
        if (!isfinite(norm) || is_last) return SNW_E_DIVERGED;
        if (!*c->known) {
            snw_broyden_reset(c->broyden);
            if (c->renew(c->user) != SNW_OK) return SNW_E_DIVERGED;
            *c->known = true;
            info->tangents++;
            fresh = true;
        }
        c->correct(c->user);
        if (!snw_broyden_next(c->broyden, c->dx)) {
            *c->known = false;
            continue;
        }
        info->iterations++;
        double step = 1, was = norm;
        const bool rounded = fresh && c->rounded && c->rounded(c->user);
        c->move(c->user, 1);
        norm = c->evaluate(c->user);
        stalled = !(norm <= 0.5 * was);
        // forces far stiffer than those in the norm: the residual is their rounding error
        if (rounded && norm > 0.5 * was) break;
        while (!(norm < was) && step > 1e-3) {
            if (!fresh) break;
            // at rounding level the residual cannot fall further
            if (was <= 1e3 * c->tolerance) {
                c->move(c->user, -step);
                norm = c->evaluate(c->user);
                info->residual = norm;
                return SNW_OK;
            }
            c->move(c->user, -0.5 * step);
            step *= 0.5;
            norm = c->evaluate(c->user);
        }
        if (!(norm < was)) {
            if (fresh) return SNW_E_DIVERGED;
            c->move(c->user, -1);
            norm = c->evaluate(c->user);
            *c->known = false;
            continue;
        }
        fresh = false;
        if (norm > 0.5 * was || step < 1) *c->known = false;
    }
    info->residual = norm;
    return SNW_OK;
}
