// SPDX-License-Identifier: MIT
//
// Factorisation of tangents with row scaling, solution with regularisation, and null spaces by
// inverse iteration, for Newton's method and continuation.

#include "solve/tangent.h"

#include "base/fail.h"
#include "solve/condition.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

size_t snw_tangent_scratch_own(int n) {
    const size_t N = (size_t)n, pad = 64;
    return (4 + SNW_TANGENT_NULL) * N * sizeof(double) + N * sizeof(int) + 6 * pad;
}

size_t snw_tangent_scratch(int n) {
    const size_t N = (size_t)n, pad = 64;
    return N * N * sizeof(double) + pad + snw_tangent_scratch_own(n);
}

static snw_matrix take_matrix(int n, snw_own_factors own, const snw_sparse *sparse,
                              snw_arena *arena) {
    const size_t N = (size_t)n;
    if (own.user) return snw_matrix_dense(N, NULL);
    if (snw_sparse_is_compressed(sparse)) return snw_sparse_matrix(sparse);
    return snw_matrix_dense(N, snw_arena_doubles(arena, N * N));
}

snw_tangent snw_tangent_take(int n, snw_own_factors own, snw_sparse *sparse, snw_arena *arena) {
    const size_t N = (size_t)n;
    const snw_matrix J = take_matrix(n, own, sparse, arena);
    return (snw_tangent){.n = n,
                         .J = J,
                         .own = own,
                         .sparse = sparse,
                         .row = snw_arena_doubles(arena, N),
                         .diagonal = snw_arena_doubles(arena, N),
                         .column = snw_arena_doubles(arena, N),
                         .spare = snw_arena_doubles(arena, N),
                         .null = snw_arena_doubles(arena, SNW_TANGENT_NULL * N),
                         .pivot = snw_arena_ints(arena, N)};
}

// A pivot below this fraction of its column consists of rounding errors, or nearly so. Pivots of
// neutral directions are 1e-11 at most for plates on legs with some hundred coordinates; whether
// they exceed 1e-14, and their sign, is random.
static const double ROUNDING = 1e-10;

enum { REFINEMENTS = 2 };

// Number of entries of column j of J that may differ from zero, *row <- their rows; NULL: all rows.
static int tangent_entries(const snw_tangent *t, int j, const int **row) {
    *row = NULL;
    return t->sparse ? snw_sparse_column(t->sparse, j, row) : t->n;
}

// Entries of J outside the pattern, which are not set, <- zero.
static void clear_outside(const snw_tangent *t) {
    for (int j = 0; j < t->n; j++) {
        const int *row, count = tangent_entries(t, j, &row);
        double *column = t->J.entry + (size_t)j * t->J.ld;
        for (int i = 0, p = 0; i < t->n; i++) {
            if (p < count && row[p] == i) {
                p++;
            } else {
                column[i] = 0;
            }
        }
    }
}

// Part of a pivot without row exchanges from which on the factors of a network need no further
// look: of regular nets of 144 to 1012 rods it is 1e-4, with a condition of 3e6 to 2e7.
static const double PLAINLY_REGULAR = 1e-6;
static const double ILL_CONDITIONED = 1e14;

// Do several pivots, each with some digits left, make a matrix that is singular to rounding? The
// null space serves as scratch.
static bool is_ill_conditioned(const snw_tangent *t) {
    return !(snw_sparse_smallest(t->sparse, t->J) > PLAINLY_REGULAR) &&
           !(snw_tangent_condition(t, t->null) < ILL_CONDITIONED);
}

snw_status snw_tangent_factor(snw_tangent *t, bool strict) {
    const int n = t->n;
    t->sign = 0;
    t->regularisation = NULL;
    t->nnull = 0;
    if (t->own.user) return t->own.factor(t->own.user, NULL, t->diagonal, &t->sign, NULL);
    for (int i = 0; i < n; i++) t->row[i] = 0;
    for (int j = 0; j < n; j++) {
        const snw_column_entries column = snw_matrix_column(t->J, j);
        const int *row, count = tangent_entries(t, j, &row);
        t->diagonal[j] = 0;
        for (int p = 0; p < count; p++) {
            const int i = row ? row[p] : p;
            const double entry = *snw_column_entry(column, i, p), a = fabs(entry);
            if (i == j) t->diagonal[j] = entry;
            if (!(a <= t->row[i])) t->row[i] = a; // keeps NaN
        }
    }
    for (int i = 0; i < n; i++) {
        if (!(t->row[i] > 0 && t->row[i] < INFINITY)) return SNW_E_SINGULAR;
        t->row[i] = ldexp(1, -ilogb(t->row[i]));
    }
    for (int j = 0; j < n; j++) {
        const snw_column_entries column = snw_matrix_column(t->J, j);
        const int *row, count = tangent_entries(t, j, &row);
        t->column[j] = 0;
        double sum = 0;
        for (int p = 0; p < count; p++) {
            const int i = row ? row[p] : p;
            double *entry = snw_column_entry(column, i, p);
            *entry *= t->row[i];
            t->column[j] = fmax(t->column[j], fabs(*entry));
            sum += fabs(*entry);
        }
        t->norm = fmax(j > 0 ? t->norm : 0, sum / t->column[j]);
    }
    if (t->sparse) {
        // of a singular network exchanges of rows would only fill the factors
        const bool diagonal = strict && t->J.row && snw_sparse_prefers_diagonal(t->sparse);
        const snw_status s = diagonal ? snw_sparse_factor_diagonal(t->sparse, t->J)
                                      : snw_sparse_factor(t->sparse, t->J);
        t->reserve = s == SNW_E_MEMORY && !t->J.row;
        if (!t->reserve) {
            SNW_TRY(s);
            if (strict && !(snw_sparse_smallest(t->sparse, t->J) > ROUNDING)) {
                return SNW_E_SINGULAR;
            }
            t->sign = snw_sparse_sign(t->sparse);
            if (diagonal && is_ill_conditioned(t)) {
                t->sign = 0;
                return SNW_E_SINGULAR;
            }
            return SNW_OK;
        }
    }
    if (t->sparse) clear_outside(t);
    double *dense = t->J.entry;
    SNW_TRY(snw_lu_factor(n, dense, t->pivot));
    for (int j = 0; strict && j < n; j++) {
        if (!(fabs(dense[(size_t)j * (n + 1)]) > ROUNDING * t->column[j])) return SNW_E_SINGULAR;
    }
    t->sign = snw_lu_sign(n, dense, t->pivot);
    return SNW_OK;
}

static void solve_once(const snw_tangent *t, double *r) {
    if (t->own.user) {
        t->own.solve(t->own.user, r);
        return;
    }
    for (int i = 0; i < t->n; i++) r[i] *= t->row[i];
    if (t->sparse && !t->reserve) {
        snw_sparse_solve(t->sparse, r);
    } else {
        snw_lu_solve(t->n, t->J.entry, t->pivot, r);
    }
}

void snw_tangent_solve(const snw_tangent *t, double *r) {
    SNW_ASSERT(t->sign != 0);
    const size_t size = (size_t)t->n * sizeof *r;
    if (t->regularisation) memcpy(t->spare, r, size);
    solve_once(t, r);
    for (int k = 0; k < REFINEMENTS && t->regularisation; k++) {
        for (int i = 0; i < t->n; i++) r[i] = t->spare[i] + t->regularisation[i] * r[i];
        solve_once(t, r);
    }
}

// ---- null space ---------------------------------------------------------------------------------

// a'diag(regularisation) b
static double tangent_weigh(int n, const double *regularisation, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += regularisation[i] * a[i] * b[i];
    return sum;
}

// x <- orthogonal to the k vectors of t->null, with length one; false: x depends on them
static bool orthonormalise(const snw_tangent *t, const double *regularisation, int k, double *x) {
    const double before = sqrt(tangent_weigh(t->n, regularisation, x, x));
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < k; j++) {
            const double *other = t->null + (size_t)j * (size_t)t->n;
            const double component = tangent_weigh(t->n, regularisation, other, x);
            for (int i = 0; i < t->n; i++) x[i] -= component * other[i];
        }
    }
    const double length = sqrt(tangent_weigh(t->n, regularisation, x, x));
    if (!(length > 1e-10 * before && length < INFINITY)) return false;
    for (int i = 0; i < t->n; i++) x[i] /= length;
    return true;
}

// x <- inv(J + W) W x, W = diag(regularisation): neutral directions are unchanged, others shrink by
// regularisation over their stiffness
static void tangent_iterate(const snw_tangent *t, const double *regularisation, double *x) {
    for (int i = 0; i < t->n; i++) x[i] *= regularisation[i];
    solve_once(t, x);
}

void snw_tangent_find_null(snw_tangent *t, const double *regularisation) {
    enum { ITERATIONS = 3 };
    const size_t n = (size_t)t->n;
    unsigned long long seed = 7;
    int found = 0;
    t->nnull = 0;
    for (int k = 0; k < SNW_TANGENT_NULL; k++) {
        double *x = t->null + (size_t)found * n;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            const double random = (double)(seed >> 11) / (double)(1ULL << 52) - 1;
            x[i] = regularisation[i] > 0 ? random / sqrt(regularisation[i]) : 0;
        }
        double component = 0;
        for (int round = 0; round < ITERATIONS; round++) {
            if (!orthonormalise(t, regularisation, found, x)) return;
            tangent_iterate(t, regularisation, x);
            component =
                sqrt(tangent_weigh(t->n, regularisation, x, x)); // 1 for a neutral direction
        }
        if (!(component > 0.1) || !orthonormalise(t, regularisation, found, x)) return;
        t->nnull = ++found;
    }
}

void snw_tangent_follow_null(snw_tangent *t, const double *regularisation,
                             const snw_tangent *from) {
    enum { ITERATIONS = 2 };
    const size_t n = (size_t)t->n;
    t->nnull = 0;
    for (int k = 0; k < from->nnull; k++) {
        double *x = t->null + (size_t)t->nnull * n;
        memcpy(x, from->null + (size_t)k * n, n * sizeof *x);
        bool valid = true;
        for (int round = 0; valid && round < ITERATIONS; round++) {
            tangent_iterate(t, regularisation, x);
            valid = orthonormalise(t, regularisation, t->nnull, x);
        }
        if (valid) t->nnull++;
    }
}

void snw_tangent_remove_null(const snw_tangent *t, const double *regularisation, double *dx) {
    for (int k = 0; k < t->nnull; k++) {
        const double *x = t->null + (size_t)k * (size_t)t->n;
        const double component = tangent_weigh(t->n, regularisation, x, dx);
        for (int i = 0; i < t->n; i++) dx[i] -= component * x[i];
    }
}

double snw_tangent_condition(const snw_tangent *t, double *scratch) {
    if (t->sign == 0 || t->own.user) return NAN;
    const snw_equilibration g = {.n = t->n, .column = t->column, .norm = t->norm};
    snw_sparse *sparse = t->reserve ? NULL : t->sparse;
    return snw_equilibration_condition(&g, t->J.entry, t->pivot, sparse, scratch);
}
