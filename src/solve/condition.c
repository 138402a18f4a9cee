// SPDX-License-Identifier: MIT
//
// Condition number in the 1-norm by the method of Hager and Higham, from dense or sparse factors.

#include "solve/condition.h"

#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>

// number of entries of column j; row <- their rows, NULL: all rows
static int entries(const snw_equilibration *g, const snw_sparse *sparse, int j, const int **row) {
    *row = NULL;
    return sparse ? snw_sparse_column(sparse, j, row) : g->n;
}

// as fmax, which handles NaN and is therefore a function call
static double condition_larger(double a, double b) { return a > b ? a : b; }

void snw_equilibration_take(snw_equilibration *g, snw_matrix A, const snw_sparse *sparse) {
    const int n = g->n;
    const int *row;
    for (int i = 0; g->row && i < n; i++) g->row[i] = 0;
    for (int j = 0; g->row && j < n; j++) {
        const snw_column_entries a = snw_matrix_column(A, j);
        const int count = entries(g, sparse, j, &row);
        for (int k = 0; k < count; k++) {
            const int i = row ? row[k] : k;
            g->row[i] = condition_larger(g->row[i], fabs(*snw_column_entry(a, i, k)));
        }
    }
    for (int i = 0; g->row && i < n; i++) g->row[i] = 1 / g->row[i];
    g->norm = 0;
    for (int j = 0; j < n; j++) {
        const snw_column_entries a = snw_matrix_column(A, j);
        const int count = entries(g, sparse, j, &row);
        double sum = 0, largest = 0;
        for (int k = 0; k < count; k++) {
            const int i = row ? row[k] : k;
            const double s = fabs(*snw_column_entry(a, i, k)) * (g->row ? g->row[i] : 1);
            sum += s;
            largest = condition_larger(largest, s);
        }
        g->column[j] = largest;
        if (!(sum / largest <= g->norm)) g->norm = sum / largest;
    }
}

// Factors with which inv(S) is applied.
typedef struct inverse {
    const snw_equilibration *g;
    const double *LU;
    const int *pivot;
    snw_sparse *sparse;
} inverse;

// x <- diag(1/row) x
static void divide_by_row_scales(const snw_equilibration *g, double *x) {
    for (int i = 0; g->row && i < g->n; i++) x[i] /= g->row[i];
}

// x <- diag(column) x
static void multiply_by_column_scales(const snw_equilibration *g, double *x) {
    for (int i = 0; i < g->n; i++) x[i] *= g->column[i];
}

// x <- diag(column) inv(A) diag(1/row) x
static void condition_apply(const inverse *v, double *x) {
    const int n = v->g->n;
    divide_by_row_scales(v->g, x);
    if (v->sparse) {
        snw_sparse_solve(v->sparse, x);
    } else {
        snw_lu_solve(n, v->LU, v->pivot, x);
    }
    multiply_by_column_scales(v->g, x);
}

static void condition_apply_transposed(const inverse *v, double *x) {
    const int n = v->g->n;
    multiply_by_column_scales(v->g, x);
    if (v->sparse) {
        snw_sparse_solve_transposed(v->sparse, x);
    } else {
        snw_lu_solve_transposed(n, v->LU, v->pivot, x);
    }
    divide_by_row_scales(v->g, x);
}

// sign <- signs of x; returns whether they are unchanged
static bool take_signs(int n, const double *x, double *sign) {
    bool same = true;
    for (int i = 0; i < n; i++) {
        const double s = x[i] < 0 ? -1 : 1;
        same = same && sign[i] == s;
        sign[i] = s;
    }
    return same;
}

static int largest_of(int n, const double *x) {
    int at = 0;
    for (int i = 1; i < n; i++) {
        if (fabs(x[i]) > fabs(x[at])) at = i;
    }
    return at;
}

enum { ITERATIONS = 4 };

// |inv(S)|_1 is the largest |inv(S) x|_1 with |x|_1 = 1; the function is convex, so the maximum is
// at a unit vector. From x = 1/n the iteration follows the subgradient, inv(S)' sign(inv(S) x),
// from one unit vector to the next. Finally a vector with alternating signs is tried, for which
// cancellation cannot hide all of inv(S).
static double inverse_norm(const inverse *v, double *x, double *sign) {
    const int n = v->g->n;
    for (int i = 0; i < n; i++) x[i] = 1.0 / n, sign[i] = 0;
    condition_apply(v, x);
    double best = snw_vector_norm1(n, x);
    (void)take_signs(n, x, sign);
    for (int k = 0, before = -1; n > 1 && k < ITERATIONS; k++) {
        for (int i = 0; i < n; i++) x[i] = sign[i];
        condition_apply_transposed(v, x);
        const int at = largest_of(n, x);
        if (at == before || (before >= 0 && fabs(x[at]) <= fabs(x[before]))) break;
        before = at;
        for (int i = 0; i < n; i++) x[i] = i == at;
        condition_apply(v, x);
        const double now = snw_vector_norm1(n, x);
        const bool same = take_signs(n, x, sign);
        if (!(now > best)) break;
        best = now;
        if (same) break;
    }
    for (int i = 0; i < n; i++) {
        x[i] = (i % 2 ? -1 : 1) * (1 + (n > 1 ? (double)i / (n - 1) : 0));
    }
    condition_apply(v, x);
    return fmax(best, 2 * snw_vector_norm1(n, x) / (3.0 * n));
}

double snw_equilibration_condition(const snw_equilibration *g, const double *LU, const int *pivot,
                                   snw_sparse *sparse, double *scratch) {
    if (g->n == 0) return 1;
    const inverse v = {g, LU, pivot, sparse};
    return g->norm * inverse_norm(&v, scratch, scratch + g->n);
}
