// SPDX-License-Identifier: MIT
#include "solve/settle.h"

#include <float.h>
#include <math.h>

static const double FAR = 0.3;       // typical increments in one step
static const double SHORTEST = 1e-9; // pseudo-time of a step
static const double LONGEST = 1e12;
enum { STALLED = 3 }; // iterations without progress

snw_settle_opts snw_settle_defaults(void) {
    return (snw_settle_opts){.tol = 1e-10, .max_iter = 500};
}

size_t snw_settle_scratch(int n, int nx) {
    const size_t pad = 64;
    (void)nx;
    return 2 * (size_t)n * sizeof(double) + 2 * pad + snw_tangent_scratch(n);
}

// D x' = -r falls towards the equilibrium only where T + D/h is positive definite on what the rows allow: then the
// bordered determinant has the sign of (-1)^rows, and dx (T + D/h) dx, from [T + D/h, -C'; -C, 0] dx = r, is positive
static bool falls(const snw_problem *p, const double *D, const snw_tangent *t, const double *r,
                  const double *dx) {
    int rows = 0;
    double power = 0;
    for (int i = 0; i < p->n; i++) {
        rows += D[i] == 0;
        power += (D[i] == 0 ? -1 : 1) * r[i] * dx[i];
    }
    return t->sign == (rows % 2 ? -1 : 1) && power >= 0;
}

// is each residual what rounding of x makes of it? J (column major) as it is at x
static bool is_rounding(const snw_problem *p, const double *x, const double *r, const double *J) {
    double size = 1;
    for (int i = 0; i < p->nx; i++) size = fmax(size, fabs(x[i]));
    for (int i = 0; i < p->n; i++) {
        double sum = 0;
        for (int j = 0; j < p->n; j++) sum += fabs(J[(size_t)j * (size_t)p->n + (size_t)i]);
        if (!(fabs(r[i]) <= 8 * DBL_EPSILON * size * sum)) return false;
    }
    return true;
}

snw_status snw_settle(const snw_problem *p, const double *D, const snw_settle_opts *opts,
                      bool (*stop)(void *user), void *stop_user, snw_arena *scratch, double *x,
                      snw_settle_info *info) {
    const size_t mark = snw_arena_mark(scratch), n = (size_t)p->n;
    double *r = snw_arena_doubles(scratch, n), *dx = snw_arena_doubles(scratch, n), h = 1;
    snw_tangent t = snw_tangent_take(p->n, scratch);
    snw_status s = SNW_E_DIVERGED;
    double best = INFINITY;
    int stalled = 0; // iterations since it was halved
    for (*info = (snw_settle_info){0};; info->iterations++) {
        s = p->tangent(p->user, 1, x, r, t.J);
        if (s != SNW_OK) break;
        info->residual = snw_problem_norm(p, r);
        if (info->residual <= opts->tol) break;
        // stiff cables that hold a plate leave more than the tolerance, and no x has less
        stalled = info->residual < 0.5 * best ? 0 : stalled + 1;
        best = fmin(best, info->residual);
        if (stalled >= STALLED && is_rounding(p, x, r, t.J)) break;
        s = SNW_E_DIVERGED;
        if (info->iterations == opts->max_iter || !(info->residual < INFINITY)) break;
        if (stop && stop(stop_user)) {
            s = SNW_E_STOPPED;
            break;
        }
        for (size_t i = 0; i < n; i++) t.J[i * (n + 1)] += D[i] / h;
        const bool regular = snw_tangent_factor(&t, false) == SNW_OK;
        for (size_t i = 0; i < n; i++) dx[i] = r[i];
        if (regular) snw_tangent_solve(&t, dx);
        if (!regular || !falls(p, D, &t, r, dx)) {
            s = SNW_E_SINGULAR;
            if (h < SHORTEST) break;
            h *= 0.25;
            continue;
        }
        double most = 0;
        for (size_t i = 0; i < n; i++) {
            const double part = fabs(dx[i]) * D[i] / p->scale[i];
            if (!(part <= most)) most = part;
        }
        if (!(most < INFINITY)) break;
        const double step = most > FAR ? FAR / most : 1;
        snw_problem_move(p, x, -step, dx, x);
        h = fmin(h * fmin(fmax(FAR / most, 0.3), 4), LONGEST); // most may be zero
    }
    snw_arena_reset(scratch, mark);
    return s;
}
