// SPDX-License-Identifier: MIT
//
// Left-looking sparse LU with partial pivoting (Gilbert and Peierls), for tangents: column k of the
// factors is A's column less the multiples of all earlier columns that reach it, in their order.
// Unknowns are eliminated in `order`; `place` is the step at which a row became a pivot row.

#include "solve/sparse.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "base/scratch.h"
#include "math/vector.h"
#include "solve/minimum_degree.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const double PIVOT_THRESHOLD =
    0.1; // smallest diagonal entry, relative to the largest of the column, without a row exchange

// n unknowns, of which the pattern has `entries`
#define PATTERN_FIELDS(AT, PACK)                                                                   \
    AT(int, start, n + 1, "first entry of each column")                                            \
    PACK(int, row, entries, "row of each entry")                                                   \
    PACK(int, order, n, "unknown eliminated at each step")                                         \
    AT(double, size, n, "typical size of each unknown")

// Factors: columns of L below the unit diagonal, of U above the diagonal; rows are steps. `room`:
// capacity of each.
#define FACTOR_FIELDS(AT, PACK)                                                                    \
    AT(int, l_end, n, "end of each column of L")                                                   \
    PACK(int, u_end, n, "end of each column of U")                                                 \
    PACK(int, pivot, n, "row of each step")                                                        \
    PACK(int, place, n, "scratch: step of each row, -1: none yet")                                 \
    PACK(int, seen, n, "scratch: last step that reached a row")                                    \
    PACK(int, left, n, "scratch: rows of this column that are not pivot rows yet")                 \
    AT(double, diagonal, n, "of U")                                                                \
    PACK(double, x, n, "scratch: one column")                                                      \
    AT(unsigned char, due, n + 1, "scratch: steps to apply to this column")

#define FILL_FIELDS(AT, PACK)                                                                      \
    AT(int, l_row, room, "rows of L")                                                              \
    PACK(int, u_row, room, "rows of U")                                                            \
    AT(double, l, room, "entries of L")                                                            \
    PACK(double, u, room, "entries of U")

struct snw_sparse {
    int n;
    bool prefer_diagonal;
    bool diagonal_only; // of the last factors: no rows were exchanged
    bool known;         // the rows of L and U are those of factors without exchanges
    double terms;       // sum of the magnitudes of which the present diagonal entry is the sum
    double remains;     // and the smallest part of a pivot that cancellation has left
    double bound;       // part that it must leave
    snw_sparse_cost predicted;
    int entries; // of the pattern
    int room;    // capacity of L and of U, entries
    PATTERN_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    FACTOR_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    FILL_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    double *matrix; // entries of the compressed matrix, NULL: the caller has a dense one
    void *pattern_block, *factor_block, *fill_block;
};

// ---- elimination order --------------------------------------------------------------------------

static snw_status find_order(snw_sparse *sp, const bool *bound) {
    int *degree = snw_alloc((size_t)sp->n * sizeof *degree);
    if (!degree) return SNW_E_MEMORY;
    const snw_status s = snw_minimum_degree(sp->n, sp->start, sp->row, bound, sp->order, degree);
    for (int k = 0; s == SNW_OK && k < sp->n; k++) {
        const double d = degree[k];
        sp->predicted.entries += 1 + 2 * d;
        sp->predicted.products += d * (1 + d);
    }
    snw_free(degree);
    return s;
}

// ---- memory -------------------------------------------------------------------------------------

// four times the prediction, but never more than a full triangle
static int capacity_of(const snw_sparse *sp) {
    const double n = sp->n, full = 0.5 * n * (n - 1);
    return (int)fmin(full, 4 * 0.5 * sp->predicted.entries + 64);
}

static void sparse_place_pattern(void *object, snw_fields *f) {
    snw_sparse *o = object;
    const size_t n = (size_t)o->n, entries = (size_t)o->entries;
    PATTERN_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static void sparse_place_factors(void *object, snw_fields *f) {
    snw_sparse *o = object;
    const size_t n = (size_t)o->n;
    FACTOR_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static void sparse_place_fill(void *object, snw_fields *f) {
    snw_sparse *o = object;
    const size_t room = (size_t)o->room;
    FILL_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

// Twice the capacity of L and U, their entries kept. False: no memory.
static bool sparse_grow(snw_sparse *sp, int nl, int nu) {
    const snw_sparse before = *sp;
    if (!sp->matrix || sp->room > INT_MAX / 2) return false;
    sp->room *= 2;
    sp->fill_block = snw_fields_create_scratch(sparse_place_fill, sp);
    if (!sp->fill_block) {
        *sp = before;
        return false;
    }
    memcpy(sp->l_row, before.l_row, (size_t)nl * sizeof *sp->l_row);
    memcpy(sp->l, before.l, (size_t)nl * sizeof *sp->l);
    memcpy(sp->u_row, before.u_row, (size_t)nu * sizeof *sp->u_row);
    memcpy(sp->u, before.u, (size_t)nu * sizeof *sp->u);
    snw_free(before.fill_block);
    return true;
}

static snw_status sparse_copy_pattern(snw_sparse *sp, const int *start, const int *row,
                                      const double *size) {
    const size_t n = (size_t)sp->n, entries = (size_t)start[n];
    sp->entries = start[n];
    sp->pattern_block = snw_fields_create(sparse_place_pattern, sp);
    if (!sp->pattern_block) return SNW_E_MEMORY;
    memcpy(sp->start, start, (n + 1) * sizeof *start);
    memcpy(sp->row, row, entries * sizeof *row);
    for (size_t i = 0; i < n; i++) sp->size[i] = size ? size[i] : 1;
    return SNW_OK;
}

// The order is that of `like`, or (NULL) the one found for `bound`.
static snw_status sparse_make(int n, const int *start, const int *row, const bool *bound,
                              const double *size, const snw_sparse *like, snw_sparse **out) {
    *out = NULL;
    snw_sparse *sp = snw_alloc(sizeof *sp);
    if (!sp) return SNW_E_MEMORY;
    sp->n = n;
    snw_status s = sparse_copy_pattern(sp, start, row, size);
    if (s == SNW_OK && like) {
        memcpy(sp->order, like->order, (size_t)n * sizeof *sp->order);
        sp->predicted = like->predicted;
    } else if (s == SNW_OK) {
        s = find_order(sp, bound);
    }
    if (s == SNW_OK) {
        sp->room = capacity_of(sp);
        sp->factor_block = snw_fields_create(sparse_place_factors, sp);
        sp->fill_block = snw_fields_create_scratch(sparse_place_fill, sp);
        if (!sp->factor_block || !sp->fill_block) s = SNW_E_MEMORY;
    }
    if (s != SNW_OK) {
        snw_sparse_destroy(sp);
        return s;
    }
    *out = sp;
    return SNW_OK;
}

snw_status snw_sparse_create(int n, const int *start, const int *row, const bool *bound,
                             const double *size, snw_sparse **out) {
    return sparse_make(n, start, row, bound, size, NULL, out);
}

snw_status snw_sparse_create_like(const snw_sparse *like, const double *size, snw_sparse **out) {
    const snw_status s = sparse_make(like->n, like->start, like->row, NULL, size, like, out);
    if (s != SNW_OK) return s;
    (*out)->prefer_diagonal = like->prefer_diagonal;
    if (!like->matrix || snw_sparse_compress(*out) == SNW_OK) return SNW_OK;
    snw_sparse_destroy(*out);
    *out = NULL;
    return SNW_E_MEMORY;
}

bool snw_sparse_has_pattern(const snw_sparse *sp, int n, const int *start, const int *row) {
    return sp->n == n && memcmp(sp->start, start, ((size_t)n + 1) * sizeof *start) == 0 &&
           memcmp(sp->row, row, (size_t)start[n] * sizeof *row) == 0;
}

bool snw_sparse_same_pattern(const snw_sparse *a, const snw_sparse *b) {
    return snw_sparse_has_pattern(a, b->n, b->start, b->row);
}

void snw_sparse_destroy(snw_sparse *sp) {
    if (!sp) return;
    snw_free(sp->pattern_block);
    snw_free(sp->factor_block);
    snw_free(sp->fill_block);
    snw_free(sp->matrix);
    snw_free(sp);
}

snw_sparse_cost snw_sparse_foresee(const snw_sparse *sp) { return sp->predicted; }

// ---- matrix -------------------------------------------------------------------------------------

snw_status snw_sparse_compress(snw_sparse *sp) {
    sp->matrix = snw_alloc((size_t)(sp->entries + 1) * sizeof *sp->matrix);
    return sp->matrix ? SNW_OK : SNW_E_MEMORY;
}

bool snw_sparse_is_compressed(const snw_sparse *sp) { return sp && sp->matrix; }

snw_matrix snw_sparse_matrix(const snw_sparse *sp) {
    return snw_matrix_compressed(sp->start, sp->row, sp->matrix);
}

void snw_sparse_clear(const snw_sparse *sp, snw_matrix A) {
    if (A.row) {
        memset(A.entry, 0, (size_t)sp->entries * sizeof *A.entry);
        return;
    }
    for (int j = 0; j < sp->n; j++) {
        double *column = A.entry + (size_t)j * A.ld;
        for (int p = sp->start[j]; p < sp->start[j + 1]; p++) column[sp->row[p]] = 0;
    }
}

void snw_sparse_multiply(const snw_sparse *sp, snw_matrix A, const double *x, double *y) {
    for (int i = 0; i < sp->n; i++) y[i] = 0;
    for (int j = 0; j < sp->n; j++) {
        const snw_column_entries a = snw_matrix_column(A, j);
        const int *row, count = snw_sparse_column(sp, j, &row);
        for (int k = 0; k < count; k++) y[row[k]] += *snw_column_entry(a, row[k], k) * x[j];
    }
}

// ---- factors ------------------------------------------------------------------------------------

// mark row i of column k: for elimination if it is a pivot row, else as remaining
static void sparse_reach(snw_sparse *sp, int i, int k, int *nleft) {
    sp->seen[i] = k;
    sp->x[i] = 0;
    if (sp->place[i] >= 0) {
        sp->due[sp->place[i]] = 1;
    } else {
        sp->left[(*nleft)++] = i;
    }
}

// x <- column k of A less the multiples of earlier columns; entries of U are stored. Returns the
// number of remaining rows, -1: no memory
static int eliminate_column(snw_sparse *sp, snw_matrix A, int k) {
    const int column = sp->order[k];
    int nleft = 0, nu = k > 0 ? sp->u_end[k - 1] : 0;
    const snw_column_entries a = snw_matrix_column(A, column);
    for (int p = sp->start[column]; p < sp->start[column + 1]; p++) {
        const int i = sp->row[p];
        sparse_reach(sp, i, k, &nleft);
        sp->x[i] = *snw_column_entry(a, i, p - sp->start[column]);
    }
    unsigned char *due = sp->due;
    sp->terms = sp->seen[column] == k ? fabs(sp->x[column]) : 0;
    while ((due = memchr(due, 1, (size_t)(sp->due + k - due)))) {
        const int j = (int)(due - sp->due);
        const double x = sp->x[sp->pivot[j]];
        *due++ = 0;
        if (nu == sp->room && !sparse_grow(sp, k > 0 ? sp->l_end[k - 1] : 0, nu)) {
            memset(sp->due, 0, (size_t)sp->n);
            return -1;
        }
        sp->u_row[nu] = j;
        sp->u[nu++] = x;
        const double before = sp->seen[column] == k ? sp->x[column] : 0;
        for (int p = j > 0 ? sp->l_end[j - 1] : 0; p < sp->l_end[j]; p++) {
            const int i = sp->l_row[p];
            if (sp->seen[i] != k) sparse_reach(sp, i, k, &nleft);
            sp->x[i] -= sp->l[p] * x;
        }
        if (sp->seen[column] == k) sp->terms += fabs(sp->x[column] - before);
    }
    sp->u_end[k] = nu;
    return nleft;
}

// pivot row: the diagonal unless its entry is small; otherwise, among large enough entries, the row
// with the fewest entries in A; -1: none
static int sparse_choose(const snw_sparse *sp, int column, int nleft) {
    double largest = 0;
    for (int p = 0; p < nleft; p++) {
        const double a = fabs(sp->x[sp->left[p]]) * sp->size[sp->left[p]];
        if (!(a <= largest)) largest = a; // keeps NaN
    }
    if (!(largest > 0 && largest < INFINITY)) return -1;
    int best = -1, fewest_entries = 0;
    for (int p = 0; p < nleft; p++) {
        const int i = sp->left[p], entries = sp->start[i + 1] - sp->start[i];
        if (!(fabs(sp->x[i]) * sp->size[i] >= PIVOT_THRESHOLD * largest)) continue;
        if (i == column) return i;
        if (best < 0 || entries < fewest_entries) best = i, fewest_entries = entries;
    }
    return best;
}

// Part of a pivot without exchange that cancellation must leave; and that it must leave in a large
// matrix rather than exchange rows, which fills the factors: some digits of a step along a neutral
// direction, which regularisation holds, are enough.
static const double REMAINS = 1e-9, FEW_DIGITS = 1e-13;

// Is enough left of a pivot on the diagonal that is a sum of terms of this magnitude?
static bool sparse_pivot_remains(snw_sparse *sp, double pivot, double terms) {
    if (!(pivot > sp->bound * terms && pivot < INFINITY)) return false;
    sp->remains = fmin(sp->remains, pivot / terms);
    return true;
}

// The diagonal as pivot; -1: too little of it is left.
static int sparse_diagonal(snw_sparse *sp, int column, int k) {
    const double pivot = sp->seen[column] == k ? fabs(sp->x[column]) : 0;
    return sparse_pivot_remains(sp, pivot, sp->terms) ? column : -1;
}

// A NaN beside a pivot of its own row does not propagate.
static bool sparse_is_finite(const snw_sparse *sp) {
    const int last = sp->n - 1;
    return sp->n == 0 || (snw_vector_is_finite(sp->u_end[last], sp->u) &&
                          snw_vector_is_finite(sp->l_end[last], sp->l));
}

static snw_status sparse_factorise(snw_sparse *sp, bool diagonal_only, snw_matrix A) {
    const int n = sp->n;
    int nl = 0;
    sp->diagonal_only = diagonal_only;
    sp->known = false;
    sp->remains = 1;
    for (int i = 0; i < n; i++) sp->place[i] = sp->seen[i] = -1;
    for (int k = 0; k < n; k++) {
        const int nleft = eliminate_column(sp, A, k);
        if (nleft < 0) return SNW_E_MEMORY;
        while (nl + nleft - 1 > sp->room) {
            if (!sparse_grow(sp, nl, sp->u_end[k])) return SNW_E_MEMORY;
        }
        const int pivot = diagonal_only ? sparse_diagonal(sp, sp->order[k], k)
                                        : sparse_choose(sp, sp->order[k], nleft);
        if (pivot < 0) return SNW_E_SINGULAR;
        sp->pivot[k] = pivot;
        sp->place[pivot] = k;
        sp->diagonal[k] = sp->x[pivot];
        for (int p = 0; p < nleft; p++) {
            if (sp->left[p] == pivot) continue;
            sp->l_row[nl] = sp->left[p];
            sp->l[nl++] = sp->x[sp->left[p]] / sp->x[pivot];
        }
        sp->l_end[k] = nl;
    }
    for (int p = 0; p < nl; p++) sp->l_row[p] = sp->place[sp->l_row[p]];
    sp->known = diagonal_only;
    return sparse_is_finite(sp) ? SNW_OK : SNW_E_SINGULAR;
}

// The same factors without exchanges where their rows are known: the same operations in the same
// order, without the search for the columns that reach a column.
static snw_status sparse_refactorise(snw_sparse *sp, snw_matrix A) {
    double *x = sp->x; // by steps, not by rows
    sp->diagonal_only = true;
    sp->remains = 1;
    for (int k = 0; k < sp->n; k++) {
        const int column = sp->order[k], *row, count = snw_sparse_column(sp, column, &row);
        const int u0 = k > 0 ? sp->u_end[k - 1] : 0, l0 = k > 0 ? sp->l_end[k - 1] : 0;
        const snw_column_entries a = snw_matrix_column(A, column);
        for (int p = u0; p < sp->u_end[k]; p++) x[sp->u_row[p]] = 0;
        for (int p = l0; p < sp->l_end[k]; p++) x[sp->l_row[p]] = 0;
        x[k] = 0;
        for (int p = 0; p < count; p++) x[sp->place[row[p]]] = *snw_column_entry(a, row[p], p);
        double terms = fabs(x[k]);
        for (int p = u0; p < sp->u_end[k]; p++) {
            const int j = sp->u_row[p];
            const double xj = x[j], before = x[k];
            sp->u[p] = xj;
            for (int q = j > 0 ? sp->l_end[j - 1] : 0; q < sp->l_end[j]; q++)
                x[sp->l_row[q]] -= sp->l[q] * xj;
            terms += fabs(x[k] - before);
        }
        if (!sparse_pivot_remains(sp, fabs(x[k]), terms)) return SNW_E_SINGULAR;
        sp->diagonal[k] = x[k];
        for (int p = l0; p < sp->l_end[k]; p++) sp->l[p] = x[sp->l_row[p]] / x[k];
    }
    return sparse_is_finite(sp) ? SNW_OK : SNW_E_SINGULAR;
}

void snw_sparse_prefer_diagonal(snw_sparse *sp) { sp->prefer_diagonal = true; }

int snw_sparse_negative(const snw_sparse *sp) {
    int negative = 0;
    if (!sp->diagonal_only) return -1;
    for (int k = 0; k < sp->n; k++) negative += sp->diagonal[k] < 0;
    return negative;
}

// Factors without exchanges that leave this part of each pivot.
static snw_status sparse_keep_order(snw_sparse *sp, double bound, snw_matrix A) {
    sp->bound = bound;
    return sp->known ? sparse_refactorise(sp, A) : sparse_factorise(sp, true, A);
}

snw_status snw_sparse_factor(snw_sparse *sp, snw_matrix A) {
    if (sp->prefer_diagonal && snw_sparse_factor_diagonal(sp, A) == SNW_OK) return SNW_OK;
    if (sp->prefer_diagonal && sp->matrix && sparse_keep_order(sp, FEW_DIGITS, A) == SNW_OK)
        return SNW_OK;
    return sparse_factorise(sp, false, A);
}

snw_status snw_sparse_factor_diagonal(snw_sparse *sp, snw_matrix A) {
    return sparse_keep_order(sp, REMAINS, A);
}

bool snw_sparse_prefers_diagonal(const snw_sparse *sp) { return sp->prefer_diagonal; }

double snw_sparse_smallest(const snw_sparse *sp, snw_matrix A) {
    double smallest = INFINITY;
    if (sp->diagonal_only) return sp->remains;
    for (int k = 0; k < sp->n; k++) {
        const snw_column_entries a = snw_matrix_column(A, sp->order[k]);
        const int *row, count = snw_sparse_column(sp, sp->order[k], &row);
        double largest = 0;
        for (int p = 0; p < count; p++) {
            largest = fmax(largest, fabs(*snw_column_entry(a, row[p], p)) * sp->size[row[p]]);
        }
        const double pivot = fabs(sp->diagonal[k]) * sp->size[sp->pivot[k]];
        smallest = fmin(smallest, pivot / largest);
    }
    return smallest;
}

// row pivot[k] and column order[k] meet on the diagonal; that permutation is even when n less the
// number of its cycles is
int snw_sparse_sign(snw_sparse *sp) {
    const int n = sp->n;
    int sign = 1, *to = sp->left, *seen = sp->seen;
    for (int k = 0; k < n; k++) {
        to[sp->pivot[k]] = sp->order[k];
        seen[k] = 0;
        if (sp->diagonal[k] < 0) sign = -sign;
    }
    for (int i = 0; i < n; i++) {
        if (seen[i]) continue;
        for (int j = to[i]; j != i; j = to[j]) {
            seen[j] = 1;
            sign = -sign;
        }
    }
    return sign;
}

void snw_sparse_solve(snw_sparse *sp, double *x) {
    const int n = sp->n;
    double *y = sp->x;
    for (int k = 0; k < n; k++) y[k] = x[sp->pivot[k]];
    for (int k = 0, p = 0; k < n; k++) {
        const double yk = y[k];
        for (; p < sp->l_end[k]; p++) y[sp->l_row[p]] -= sp->l[p] * yk;
    }
    for (int k = n - 1; k >= 0; k--) {
        const double yk = y[k] / sp->diagonal[k];
        for (int p = k > 0 ? sp->u_end[k - 1] : 0; p < sp->u_end[k]; p++) {
            y[sp->u_row[p]] -= sp->u[p] * yk;
        }
        y[k] = yk;
    }
    for (int k = 0; k < n; k++) x[sp->order[k]] = y[k];
}

// A = P' L U Q' with rows pivot[k] and columns order[k]: U' first, then L'
void snw_sparse_solve_transposed(snw_sparse *sp, double *x) {
    const int n = sp->n;
    double *y = sp->x;
    for (int k = 0; k < n; k++) y[k] = x[sp->order[k]];
    for (int k = 0, p = 0; k < n; k++) {
        double yk = y[k];
        for (; p < sp->u_end[k]; p++) yk -= sp->u[p] * y[sp->u_row[p]];
        y[k] = yk / sp->diagonal[k];
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int p = k > 0 ? sp->l_end[k - 1] : 0; p < sp->l_end[k]; p++) {
            y[k] -= sp->l[p] * y[sp->l_row[p]];
        }
    }
    for (int k = 0; k < n; k++) x[sp->pivot[k]] = y[k];
}

int snw_sparse_column(const snw_sparse *sp, int j, const int **row) {
    *row = sp->row + sp->start[j];
    return sp->start[j + 1] - sp->start[j];
}
