// SPDX-License-Identifier: MIT
#include "solve/tangent.h"

#include "base/fail.h"
#include "solve/condition.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

size_t snw_tangent_scratch(int n) {
    const size_t N = (size_t)n, pad = 64;
    return (N * N + 4 * N) * sizeof(double) + N * sizeof(int) + 6 * pad;
}

snw_tangent snw_tangent_take(int n, snw_arena *arena) {
    const size_t N = (size_t)n;
    return (snw_tangent){.n = n,
                         .J = snw_arena_doubles(arena, N * N),
                         .row = snw_arena_doubles(arena, N),
                         .diagonal = snw_arena_doubles(arena, N),
                         .column = snw_arena_doubles(arena, N),
                         .spare = snw_arena_doubles(arena, N),
                         .pivot = snw_arena_ints(arena, N)};
}

// A pivot below this part of its column is made of rounding errors, or nearly so: those of a neutral direction are 1e-11 at most
// in plates on legs of some hundred coordinates, and whether they are above 1e-14, and of which sign, is chance.
static const double ROUNDING = 1e-10;

enum { REFINEMENTS = 2 };

snw_status snw_tangent_factor(snw_tangent *t, bool strict) {
    const int n = t->n;
    t->sign = 0;
    t->soft = NULL;
    for (int i = 0; i < n; i++) t->row[i] = 0;
    for (int j = 0; j < n; j++) {
        const double *column = t->J + (size_t)j * n;
        t->diagonal[j] = column[j];
        for (int i = 0; i < n; i++) {
            const double a = fabs(column[i]);
            if (!(a <= t->row[i])) t->row[i] = a; // NaN stays
        }
    }
    for (int i = 0; i < n; i++) {
        if (!(t->row[i] > 0 && t->row[i] < INFINITY)) return SNW_E_SINGULAR;
        t->row[i] = ldexp(1, -ilogb(t->row[i]));
    }
    for (int j = 0; j < n; j++) {
        double *column = t->J + (size_t)j * n;
        t->column[j] = 0;
        double sum = 0;
        for (int i = 0; i < n; i++) {
            column[i] *= t->row[i];
            t->column[j] = fmax(t->column[j], fabs(column[i]));
            sum += fabs(column[i]);
        }
        t->norm = fmax(j > 0 ? t->norm : 0, sum / t->column[j]);
    }
    if (t->sparse) {
        const snw_status s = snw_sparse_factor(t->sparse, t->J);
        t->reserve = s == SNW_E_MEMORY;
        if (!t->reserve) {
            SNW_TRY(s);
            if (strict && !(snw_sparse_smallest(t->sparse, t->J) > ROUNDING)) {
                return SNW_E_SINGULAR;
            }
            t->sign = snw_sparse_sign(t->sparse);
            return SNW_OK;
        }
    }
    SNW_TRY(snw_lu_factor(n, t->J, t->pivot));
    for (int j = 0; strict && j < n; j++) {
        if (!(fabs(t->J[(size_t)j * (n + 1)]) > ROUNDING * t->column[j])) return SNW_E_SINGULAR;
    }
    t->sign = snw_lu_sign(n, t->J, t->pivot);
    return SNW_OK;
}

static void solve_once(const snw_tangent *t, double *r) {
    for (int i = 0; i < t->n; i++) r[i] *= t->row[i];
    if (t->sparse && !t->reserve) {
        snw_sparse_solve(t->sparse, r);
    } else {
        snw_lu_solve(t->n, t->J, t->pivot, r);
    }
}

void snw_tangent_solve(const snw_tangent *t, double *r) {
    SNW_ASSERT(t->sign != 0);
    const size_t size = (size_t)t->n * sizeof *r;
    if (t->soft) memcpy(t->spare, r, size);
    solve_once(t, r);
    for (int k = 0; k < REFINEMENTS && t->soft; k++) {
        for (int i = 0; i < t->n; i++) r[i] = t->spare[i] + t->soft[i] * r[i];
        solve_once(t, r);
    }
}

double snw_tangent_condition(const snw_tangent *t, double *scratch) {
    if (t->sign == 0) return NAN;
    const snw_gauge g = {.n = t->n, .column = t->column, .norm = t->norm};
    snw_sparse *sparse = t->reserve ? NULL : t->sparse;
    return snw_gauge_condition(&g, t->J, t->pivot, sparse, scratch);
}
