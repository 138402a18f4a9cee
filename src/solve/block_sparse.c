// SPDX-License-Identifier: MIT
//
// Right-looking LU by blocks. Cells are eliminated in `order`; step k has a pivot block D, the rows
// X = inv(D) U of the cells that it couples with and their columns L, of which the later blocks
// take L X. Most blocks of L have rows of zeros (equations that do not contain a cell), which are
// left out.

#include "solve/block_sparse.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/vectorise.h"
#include "solve/dense.h"
#include "solve/minimum_degree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct snw_block_sparse {
    int n, size_of_all, most; // cells, unknowns, unknowns of the largest cell
    int *size, *first;        // of each cell
    bool *late;
    // couplings: cells row[start[i]] .. of cell i in increasing order, itself included
    int npair;
    int *pair, *start, *row;
    size_t *at;    // entries of each coupling
    double *entry; // of the matrix
    size_t nentry;
    // order
    int *order, *step; // cell of each step, step of each cell
    int *list_adr, *list,
        *before;       // later steps with which one couples; columns before each of them
    int *total;        // columns of each step
    size_t *d, *u, *l; // where its numbers begin
    double *number;
    size_t nnumber;
    double products;
    int *exchange;   // rows of each unknown within its cell
    double *panel;   // scratch: L X
    double **target; // scratch: the blocks that take it
    int *distance;   // and the distances of their rows
    double *rhs, *left;
    double *block; // scratch: a pivot block
    snw_arena scratch;
    int sign;
};

// ---- cells --------------------------------------------------------------------------------------

snw_status snw_block_sparse_create(int ncell, const int *size, const bool *late,
                                   snw_block_sparse **out) {
    *out = NULL;
    snw_block_sparse *b = snw_alloc(sizeof *b);
    if (!b) return SNW_E_MEMORY;
    const size_t n = (size_t)ncell;
    b->n = ncell;
    b->size = snw_alloc((n + 1) * sizeof *b->size);
    b->first = snw_alloc((n + 1) * sizeof *b->first);
    b->late = snw_alloc((n + 1) * sizeof *b->late);
    b->order = snw_alloc((n + 1) * sizeof *b->order);
    b->step = snw_alloc((n + 1) * sizeof *b->step);
    b->total = snw_alloc((n + 1) * sizeof *b->total);
    b->d = snw_alloc((n + 1) * sizeof *b->d);
    b->u = snw_alloc((n + 1) * sizeof *b->u);
    b->l = snw_alloc((n + 1) * sizeof *b->l);
    b->start = snw_alloc((n + 2) * sizeof *b->start);
    b->list_adr = snw_alloc((n + 2) * sizeof *b->list_adr);
    bool enough = b->size && b->first && b->late && b->order && b->step && b->total && b->d &&
                  b->u && b->l && b->start && b->list_adr;
    for (int i = 0; enough && i < ncell; i++) {
        b->size[i] = size[i];
        b->first[i] = b->size_of_all;
        b->late[i] = late && late[i];
        b->size_of_all += size[i];
        if (size[i] > b->most) b->most = size[i];
    }
    const size_t all = (size_t)b->size_of_all, most = (size_t)b->most;
    b->scratch.size = snw_negative_scratch(b->most);
    b->exchange = snw_alloc((all + 1) * sizeof *b->exchange);
    b->rhs = snw_alloc((all + 1) * sizeof *b->rhs);
    b->left = snw_alloc((all + 1) * sizeof *b->left);
    b->block = snw_alloc((most * most + 1) * sizeof *b->block);
    b->scratch.base = snw_alloc(b->scratch.size + 1);
    enough = enough && b->exchange && b->rhs && b->left && b->block && b->scratch.base;
    if (!enough) {
        snw_block_sparse_destroy(b);
        return SNW_E_MEMORY;
    }
    *out = b;
    return SNW_OK;
}

void snw_block_sparse_destroy(snw_block_sparse *b) {
    if (!b) return;
    void *const own[] = {b->size,   b->first,   b->late,  b->pair,     b->start,    b->row,
                         b->at,     b->entry,   b->order, b->step,     b->list_adr, b->list,
                         b->total,  b->d,       b->u,     b->l,        b->before,   b->number,
                         b->panel,  b->rhs,     b->left,  b->exchange, b->block,    b->scratch.base,
                         b->target, b->distance};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) snw_free(own[i]);
    snw_free(b);
}

int snw_block_sparse_first(const snw_block_sparse *b, int cell) { return b->first[cell]; }

double snw_block_sparse_products(const snw_block_sparse *b) { return b->products; }

double snw_block_sparse_entries(const snw_block_sparse *b) { return (double)b->nnumber; }

// ---- couplings ----------------------------------------------------------------------------------

static int by_value(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// Place of x in the n increasing numbers of a list, -1: it is not there.
static int find(int n, const int *list, int x) {
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (list[middle] < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && list[low] == x ? low : -1;
}

bool snw_block_sparse_couples(const snw_block_sparse *b, int i, int j) {
    return b->number != NULL && find(b->start[i + 1] - b->start[i], b->row + b->start[i], j) >= 0;
}

// start, row <- couplings of all cells, each once
static snw_status list_couplings(snw_block_sparse *b, int n, const int *pair) {
    const size_t most = (size_t)b->n + 2 * (size_t)n;
    snw_free(b->row);
    snw_free(b->at);
    b->row = snw_alloc(most * sizeof *b->row);
    b->at = snw_alloc(most * sizeof *b->at);
    int *count = snw_alloc((size_t)(b->n + 2) * sizeof *count);
    if (!b->row || !b->at || !count) {
        snw_free(count);
        return SNW_E_MEMORY;
    }
    for (int i = 0; i < b->n; i++) count[i + 1] = 1;
    for (int k = 0; k < 2 * n; k++) count[pair[k] + 1] += pair[k] != pair[k ^ 1];
    for (int i = 0; i < b->n; i++) count[i + 1] += count[i];
    memcpy(b->start, count, (size_t)(b->n + 1) * sizeof *count);
    for (int i = 0; i < b->n; i++) b->row[count[i]++] = i;
    for (int k = 0; k < 2 * n; k++) {
        if (pair[k] != pair[k ^ 1]) b->row[count[pair[k]]++] = pair[k ^ 1];
    }
    int kept = 0;
    b->nentry = 0;
    for (int i = 0; i < b->n; i++) {
        const int from = b->start[i], to = count[i];
        qsort(b->row + from, (size_t)(to - from), sizeof *b->row, by_value);
        b->start[i] = kept;
        for (int k = from; k < to; k++) {
            if (kept > b->start[i] && b->row[kept - 1] == b->row[k]) continue;
            b->row[kept] = b->row[k];
            b->at[kept++] = b->nentry;
            b->nentry += (size_t)b->size[i] * (size_t)b->size[b->row[k]];
        }
    }
    b->start[b->n] = kept;
    snw_free(count);
    snw_free(b->entry);
    b->entry = snw_alloc((b->nentry + 1) * sizeof *b->entry);
    return b->entry ? SNW_OK : SNW_E_MEMORY;
}

static snw_status find_cell_order(snw_block_sparse *b) {
    int *degree = snw_alloc((size_t)(b->n + 1) * sizeof *degree);
    if (!degree) return SNW_E_MEMORY;
    const snw_status s = snw_minimum_degree(b->n, b->start, b->row, NULL, b->order, degree);
    int k = 0;
    for (int j = 0; j < b->n; j++) {
        if (!b->late[b->order[j]]) b->order[k++] = b->order[j];
    }
    for (int i = 0; i < b->n; i++) {
        if (b->late[i]) b->order[k++] = i;
    }
    for (k = 0; k < b->n; k++) b->step[b->order[k]] = k;
    snw_free(degree);
    return s;
}

// Later steps of step k from its couplings and from the steps `child`, `next` whose first one it
// is; list NULL: only counts them.
static int later_steps(const snw_block_sparse *b, int k, const int *child, const int *next,
                       const int *known_adr, const int *known, int *mark, int *list) {
    int n = 0;
    mark[k] = k + 1;
    const int cell = b->order[k];
    for (int p = b->start[cell]; p < b->start[cell + 1]; p++) {
        const int j = b->step[b->row[p]];
        if (j > k && mark[j] != k + 1) mark[j] = k + 1, list[n++] = j;
    }
    for (int c = child[k]; c >= 0; c = next[c]) {
        for (int p = known_adr[c]; p < known_adr[c + 1]; p++) {
            const int j = known[p];
            if (j > k && mark[j] != k + 1) mark[j] = k + 1, list[n++] = j;
        }
    }
    qsort(list, (size_t)n, sizeof *list, by_value);
    return n;
}

// list <- later steps with which each one couples, fill included
static snw_status list_steps(snw_block_sparse *b) {
    const size_t n = (size_t)b->n;
    int *scratch = snw_alloc((4 * n + 1) * sizeof *scratch), room = 0;
    if (!scratch) return SNW_E_MEMORY;
    int *child = scratch, *next = child + n, *mark = next + n, *now = mark + n;
    for (size_t k = 0; k < n; k++) child[k] = next[k] = -1;
    snw_free(b->list);
    b->list = NULL;
    b->list_adr[0] = 0;
    for (int k = 0; k < b->n; k++) {
        const int count = later_steps(b, k, child, next, b->list_adr, b->list, mark, now);
        const int from = b->list_adr[k], to = from + count;
        if (to > room || !b->list) {
            room = 2 * to + 16;
            int *list = snw_alloc((size_t)room * sizeof *list);
            if (list && from > 0) memcpy(list, b->list, (size_t)from * sizeof *list);
            snw_free(b->list);
            b->list = list;
            if (!list) break;
        }
        memcpy(b->list + from, now, (size_t)count * sizeof *now);
        b->list_adr[k + 1] = to;
        if (count > 0) next[k] = child[now[0]], child[now[0]] = k;
    }
    snw_free(scratch);
    return b->list || b->n == 0 ? SNW_OK : SNW_E_MEMORY;
}

static snw_status place_numbers(snw_block_sparse *b) {
    snw_free(b->before);
    snw_free(b->number);
    snw_free(b->panel);
    snw_free(b->target);
    snw_free(b->distance);
    b->panel = NULL, b->target = NULL, b->distance = NULL, b->number = NULL;
    b->before = snw_alloc((size_t)(b->list_adr[b->n] + 1) * sizeof *b->before);
    if (!b->before) return SNW_E_MEMORY;
    b->nnumber = 0;
    b->products = 0;
    int widest = 0, longest = 0;
    for (int k = 0; k < b->n; k++) {
        const int count = b->list_adr[k + 1] - b->list_adr[k];
        longest = count > longest ? count : longest;
        const size_t own = (size_t)b->size[b->order[k]];
        int total = 0;
        for (int p = b->list_adr[k]; p < b->list_adr[k + 1]; p++) {
            b->before[p] = total;
            total += b->size[b->order[b->list[p]]];
        }
        b->total[k] = total;
        b->d[k] = b->nnumber;
        b->u[k] = b->d[k] + own * own;
        b->l[k] = b->u[k] + own * (size_t)total;
        b->nnumber = b->l[k] + own * (size_t)total;
        const double s = (double)own, t = total;
        b->products += s * s * s / 3 + s * s * t + s * t * t;
        if (total > widest) widest = total;
    }
    b->number = snw_alloc((b->nnumber + 1) * sizeof *b->number);
    b->panel = snw_alloc((size_t)(widest + 1) * sizeof *b->panel);
    b->target = snw_alloc((size_t)(longest + 1) * sizeof *b->target);
    b->distance = snw_alloc((size_t)(longest + 1) * sizeof *b->distance);
    return b->number && b->panel && b->target && b->distance ? SNW_OK : SNW_E_MEMORY;
}

snw_status snw_block_sparse_couple(snw_block_sparse *b, int n, const int *pair) {
    bool known = b->row != NULL && b->number != NULL;
    for (int k = 0; known && k < n; k++)
        known = snw_block_sparse_couples(b, pair[2 * k], pair[2 * k + 1]);
    if (known && b->npair <= 2 * n) return SNW_OK;
    b->npair = n;
    snw_free(b->number);
    b->number = NULL; // until all has succeeded
    SNW_TRY(list_couplings(b, n, pair));
    SNW_TRY(find_cell_order(b));
    SNW_TRY(list_steps(b));
    return place_numbers(b);
}

// ---- entries ------------------------------------------------------------------------------------

void snw_block_sparse_clear(snw_block_sparse *b) {
    memset(b->entry, 0, b->nentry * sizeof *b->entry);
}

double *snw_block_sparse_at(snw_block_sparse *b, int i, int j) {
    const int k = find(b->start[i + 1] - b->start[i], b->row + b->start[i], j);
    SNW_ASSERT(k >= 0);
    return b->entry + b->at[b->start[i] + k];
}

SNW_CLONES void snw_block_sparse_multiply(const snw_block_sparse *b, const double *x, double *y) {
    for (int i = 0; i < b->n; i++) {
        double *to = y + b->first[i];
        for (int r = 0; r < b->size[i]; r++) to[r] = 0;
        for (int p = b->start[i]; p < b->start[i + 1]; p++) {
            const int j = b->row[p], columns = b->size[j];
            const double *A = b->entry + b->at[p], *from = x + b->first[j];
            for (int r = 0; r < b->size[i]; r++, A += columns) {
                double sum = 0;
                for (int c = 0; c < columns; c++) sum += A[c] * from[c];
                to[r] += sum;
            }
        }
    }
}

// ---- factors ------------------------------------------------------------------------------------

// Rows of the block of steps i and j in the factors; *ld <- their distance.
static double *factor_block(snw_block_sparse *b, int i, int j, int *ld) {
    const int own = b->size[b->order[i < j ? i : j]];
    if (i == j) {
        *ld = own;
        return b->number + b->d[i];
    }
    const int low = i < j ? i : j, high = i < j ? j : i;
    const int adr = b->list_adr[low], p = find(b->list_adr[low + 1] - adr, b->list + adr, high);
    SNW_ASSERT(p >= 0);
    const size_t before = (size_t)b->before[adr + p];
    *ld = i < j ? b->total[low] : own;
    return b->number + (i < j ? b->u[low] + before : b->l[low] + before * (size_t)own);
}

static void take_entries(snw_block_sparse *b) {
    memset(b->number, 0, b->nnumber * sizeof *b->number);
    for (int i = 0; i < b->n; i++) {
        for (int p = b->start[i]; p < b->start[i + 1]; p++) {
            const int j = b->row[p], columns = b->size[j];
            int ld;
            double *to = factor_block(b, b->step[i], b->step[j], &ld);
            const double *from = b->entry + b->at[p];
            for (int r = 0; r < b->size[i]; r++)
                memcpy(to + (ptrdiff_t)r * ld, from + (ptrdiff_t)r * columns,
                       (size_t)columns * sizeof *to);
        }
    }
}

// y (n) -= f x
static inline void take_off(int n, double f, const double *restrict x, double *restrict y) {
    SNW_INDEPENDENT for (int k = 0; k < n; k++) y[k] -= f * x[k];
}

// LU of D (n x n, by rows) with row exchanges; returns the sign of its determinant, 0: singular.
static int factor_pivot(int n, double *D, int *exchange) {
    int sign = 1;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            best = fabs(D[i * n + k]) > fabs(D[best * n + k]) ? i : best;
        exchange[k] = best;
        for (int j = 0; best != k && j < n; j++) {
            const double x = D[k * n + j];
            D[k * n + j] = D[best * n + j], D[best * n + j] = x;
        }
        const double pivot = D[k * n + k];
        if (pivot == 0 || !isfinite(pivot)) return 0;
        if (best != k) sign = -sign;
        if (pivot < 0) sign = -sign;
        for (int i = k + 1; i < n; i++) {
            const double f = D[i * n + k] /= pivot;
            if (f != 0) take_off(n - k - 1, f, D + k * n + k + 1, D + i * n + k + 1);
        }
    }
    return sign;
}

// X (n rows of m) <- inv(D) X
static void solve_pivot(int n, const double *D, const int *exchange, int m, double *X) {
    for (int k = 0; k < n; k++) {
        double *a = X + (ptrdiff_t)k * m, *b = X + (ptrdiff_t)exchange[k] * m;
        for (int j = 0; a != b && j < m; j++) {
            const double x = a[j];
            a[j] = b[j], b[j] = x;
        }
    }
    for (int i = 1; i < n; i++) {
        for (int j = 0; j < i; j++) {
            if (D[i * n + j] != 0)
                take_off(m, D[i * n + j], X + (ptrdiff_t)j * m, X + (ptrdiff_t)i * m);
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        double *x = X + (ptrdiff_t)i * m;
        for (int j = i + 1; j < n; j++) {
            if (D[i * n + j] != 0) take_off(m, D[i * n + j], X + (ptrdiff_t)j * m, x);
        }
        for (int k = 0; k < m; k++) x[k] /= D[i * n + i];
    }
}

// Blocks of the later steps -= L X of step k.
static void hand_out(snw_block_sparse *b, int k) {
    const int own = b->size[b->order[k]], total = b->total[k], from = b->list_adr[k],
              count = b->list_adr[k + 1] - from;
    const double *X = b->number + b->u[k];
    for (int p = 0; p < count; p++) {
        const int i = b->list[from + p], rows = b->size[b->order[i]];
        const double *L = b->number + b->l[k] + (ptrdiff_t)b->before[from + p] * own;
        for (int q = 0; q < count; q++)
            b->target[q] = factor_block(b, i, b->list[from + q], &b->distance[q]);
        for (int r = 0; r < rows; r++, L += own) {
            int c = 0;
            while (c < own && L[c] == 0) c++;
            if (c == own) continue;
            memset(b->panel, 0, (size_t)total * sizeof *b->panel);
            for (; c < own; c++) {
                if (L[c] != 0) take_off(total, L[c], X + (ptrdiff_t)c * total, b->panel);
            }
            for (int q = 0; q < count; q++) {
                double *to = b->target[q] + (ptrdiff_t)r * b->distance[q];
                const double *add = b->panel + b->before[from + q];
                const int columns = b->size[b->order[b->list[from + q]]];
                for (int j = 0; j < columns; j++) to[j] += add[j];
            }
        }
    }
}

// Negative eigenvalues of a pivot block; -1: a pivot is zero.
static int negative_of(snw_block_sparse *b, int n, const double *D) {
    int negative = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) b->block[j * n + i] = 0.5 * (D[i * n + j] + D[j * n + i]);
    }
    return snw_count_negative(n, b->block, &b->scratch, &negative) == SNW_OK ? negative : -1;
}

SNW_CLONES snw_status snw_block_sparse_factor(snw_block_sparse *b, int *negative) {
    take_entries(b);
    b->sign = 1;
    if (negative) *negative = 0;
    for (int k = 0; k < b->n; k++) {
        const int cell = b->order[k], own = b->size[cell];
        double *D = b->number + b->d[k];
        if (negative && *negative >= 0) {
            const int found = negative_of(b, own, D);
            *negative = found < 0 ? -1 : *negative + found;
        }
        b->sign *= factor_pivot(own, D, b->exchange + b->first[cell]);
        if (b->sign == 0) return SNW_E_SINGULAR;
        if (b->total[k] == 0) continue;
        solve_pivot(own, D, b->exchange + b->first[cell], b->total[k], b->number + b->u[k]);
        hand_out(b, k);
    }
    return SNW_OK;
}

int snw_block_sparse_sign(const snw_block_sparse *b) { return b->sign; }

// x <- inv(A) x by the factors
SNW_CLONES static void solve_once(const snw_block_sparse *b, double *x) {
    for (int k = 0; k < b->n; k++) {
        const int cell = b->order[k], own = b->size[cell];
        double *t = x + b->first[cell];
        solve_pivot(own, b->number + b->d[k], b->exchange + b->first[cell], 1, t);
        const double *L = b->number + b->l[k];
        for (int p = b->list_adr[k]; p < b->list_adr[k + 1]; p++) {
            const int to = b->order[b->list[p]];
            for (int r = 0; r < b->size[to]; r++, L += own) {
                double sum = 0;
                for (int c = 0; c < own; c++) sum += L[c] * t[c];
                x[b->first[to] + r] -= sum;
            }
        }
    }
    for (int k = b->n - 1; k >= 0; k--) {
        const int cell = b->order[k], own = b->size[cell];
        double *t = x + b->first[cell];
        for (int p = b->list_adr[k]; p < b->list_adr[k + 1]; p++) {
            const int from = b->order[b->list[p]], columns = b->size[from];
            const double *X = b->number + b->u[k] + b->before[p], *y = x + b->first[from];
            for (int r = 0; r < own; r++, X += b->total[k]) {
                double sum = 0;
                for (int c = 0; c < columns; c++) sum += X[c] * y[c];
                t[r] -= sum;
            }
        }
    }
}

void snw_block_sparse_solve(snw_block_sparse *b, double *x) {
    const size_t bytes = (size_t)b->size_of_all * sizeof *x;
    memcpy(b->rhs, x, bytes);
    solve_once(b, x);
    snw_block_sparse_multiply(b, x, b->left);
    for (int i = 0; i < b->size_of_all; i++) b->left[i] = b->rhs[i] - b->left[i];
    solve_once(b, b->left);
    for (int i = 0; i < b->size_of_all; i++) x[i] += b->left[i];
}
