// SPDX-License-Identifier: MIT
//
// Sparsity pattern, factorisation and solution of the bordered Newton matrix [T -C'; -C 0], from
// the paths, loops, tendons and drives of the model. For implicit steps, statics and projections.

#include "constraint/bordered_matrix.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/scratch.h"
#include "dynamics/dynamics.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// ---- pattern ------------------------------------------------------------------------------------

// Unknowns of which each of the first couples with each of the second, and back.
typedef struct coupling {
    const int *a, *b;
    int na, nb;
} coupling;

// All couplings of a matrix of n unknowns; the list is counted first, then filled.
typedef struct coupling_list {
    int n, count;
    coupling *item;     // NULL: only count
    const int *unknown; // n: 0, 1, 2 ..
    bool *covered;      // paths with which others begin
} coupling_list;

static void couple(coupling_list *l, const int *a, int na, const int *b, int nb) {
    if (l->item) l->item[l->count] = (coupling){a, b, na, nb};
    l->count++;
}

static void couple_row(coupling_list *l, const snw_model *m, int row, const int *dof, int ndof) {
    couple(l, dof, ndof, l->unknown + m->nv + row, 1);
}

static void couple_itself(coupling_list *l, int i) {
    couple(l, l->unknown + i, 1, l->unknown + i, 1);
}

static void couple_paths(coupling_list *l, const snw_path *a, const snw_path *b) {
    couple(l, a->dof, a->n, b->dof, b->n);
}

static const snw_path *rod_path(const snw_model *m, int touching_rod) {
    return &m->path[m->seg[m->rod[m->touching_rod[touching_rod].rod].seg0].path];
}

// the unknowns between which an entry may be nonzero
static void list_couplings(const snw_model *m, coupling_list *l) {
    l->count = 0;
    for (int p = 0; p < m->npath; p++) {
        if (!l->covered[p]) couple_paths(l, &m->path[p], &m->path[p]);
    }
    for (int k = 0; k < m->nloop; k++) {
        const snw_loop *loop = &m->loop[k];
        couple(l, loop->dof, loop->ndof, loop->dof, loop->ndof);
        for (int r = loop->row; r < loop->row + loop->nrow; r++) {
            couple_row(l, m, r, loop->dof, loop->ndof);
            if (loop->condition >= 0 || loop->nonholonomic) couple_itself(l, m->nv + r);
        }
    }
    for (int k = 0; k < m->ntendon; k++) {
        const snw_tendon *x = &m->tendon[k];
        couple(l, x->dof, x->ndof, x->dof, x->ndof);
        if (x->row >= 0) couple_row(l, m, x->row, x->dof, x->ndof);
    }
    for (int k = 0; k < m->ncontact_point; k++) { // obstacles that coordinates move
        const snw_contact_point *p = &m->contact_point[k];
        if (p->wheel || !m->contact[p->contact].coupled) continue;
        couple_paths(l, &m->path[m->seg[p->seg].path],
                     &m->path[m->seg[m->contact[p->contact].seg].path]);
    }
    for (int k = 0; k < m->nforce_element; k++) { // springs and their like between branches
        const int *end = m->force_element[k].end;
        couple_paths(l, &m->path[m->seg[end[0]].path], &m->path[m->seg[end[1]].path]);
    }
    for (int k = 0; k < m->nforce_field_point; k++) { // fields that coordinates move
        const snw_force_field_point *p = &m->force_field_point[k];
        const snw_force_field *f = &m->force_field[p->field];
        if (!f->coupled) continue;
        couple_paths(l, &m->path[m->seg[p->seg].path], &m->path[m->seg[f->carrier].path]);
    }
    for (int i = 0; i < m->ntouching_rod; i++) { // rods that may touch
        for (int j = 0; j < i; j++) {
            if (m->touching_contact[i * m->ntouching_rod + j])
                couple_paths(l, rod_path(m, i), rod_path(m, j));
        }
    }
    for (int k = 0; k < m->nforce_element; k++) {
        const int *end = m->force_element[k].end;
        couple_paths(l, &m->path[m->seg[end[0]].path], &m->path[m->seg[end[1]].path]);
    }
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &m->drive[k];
        if (d->row < 0) continue;
        couple_row(l, m, d->row, &d->dof, 1);
        if (d->condition >= 0 || d->passive) couple_itself(l, m->nv + d->row);
    }
}

// Columns of the pattern: start (n + 1) and the rows of each, increasing. Those of couplings that
// contain a column are marked, column by column.
typedef struct pattern {
    int n, *start, *row;
    int *first, *of;    // couplings of each column: n + 1, and their numbers; 2 k + 1: the reverse
    int *mark;          // n: last column that has the row
    int *next;          // n: place of the next row of each column
    coupling_list list; // of the model
} pattern;

static void index_couplings(pattern *x) {
    const coupling_list *l = &x->list;
    for (int fill = 0; fill < 2; fill++) {
        for (int k = 0; k < l->count; k++) {
            const coupling *c = &l->item[k];
            const bool both = c->a != c->b;
            for (int i = 0; i < c->na; i++) {
                if (fill) x->of[x->first[c->a[i]]] = 2 * k;
                x->first[c->a[i] + (fill ? 0 : 1)]++;
            }
            for (int i = 0; both && i < c->nb; i++) {
                if (fill) x->of[x->first[c->b[i]]] = 2 * k + 1;
                x->first[c->b[i] + (fill ? 0 : 1)]++;
            }
        }
        if (fill) break;
        for (int j = 0; j < x->n; j++) x->first[j + 1] += x->first[j];
    }
    for (int j = x->n; j > 0; j--) x->first[j] = x->first[j - 1];
    x->first[0] = 0;
}

// x->start <- starts of the columns; x->row, unless NULL, <- their rows. The pattern is symmetric:
// the entries of column j are listed as entries of row j, so that each column receives its rows in
// increasing order.
static void list_entries(pattern *x) {
    for (int j = 0; j < x->n; j++) x->mark[j] = -1;
    if (!x->row) x->start[0] = 0;
    for (int j = 0; j < x->n; j++) {
        int count = 0;
        for (int p = x->first[j]; p < x->first[j + 1]; p++) {
            const coupling *c = &x->list.item[x->of[p] / 2];
            const int *with = x->of[p] % 2 ? c->a : c->b, n = x->of[p] % 2 ? c->na : c->nb;
            for (int i = 0; i < n; i++) {
                if (x->mark[with[i]] == j) continue;
                x->mark[with[i]] = j;
                if (x->row) x->row[x->next[with[i]]++] = j;
                count++;
            }
        }
        if (!x->row) x->start[j + 1] = x->start[j] + count;
    }
}

static size_t memberships(const coupling_list *l) {
    size_t sum = 1;
    for (int k = 0; k < l->count; k++) sum += (size_t)(l->item[k].na + l->item[k].nb);
    return sum;
}

// The path of a segment begins with that of its parent.
static void find_covered(const snw_model *m, bool *covered) {
    for (int i = 1; i < m->nseg; i++) {
        const int own = m->seg[i].path, before = m->seg[m->seg[i].parent].path;
        if (own != before) covered[before] = true;
    }
}

static void pattern_free(pattern *x) {
    snw_free((int *)x->list.unknown);
    snw_free(x->list.covered);
    snw_free(x->list.item);
    snw_free(x->start);
    snw_free(x->first);
    snw_free(x->mark);
    snw_free(x->next);
    snw_free(x->of);
    snw_free(x->row);
}

// *x <- the pattern of the model, which pattern_free releases, on failure too
static snw_status list_pattern(const snw_model *m, pattern *x) {
    const int n = m->nv + m->nconstraint;
    const size_t N = (size_t)n;
    int *unknown = snw_alloc((N + 1) * sizeof *unknown);
    bool *covered = snw_alloc((size_t)(m->npath + 1) * sizeof *covered);
    *x = (pattern){.n = n, .list = {.n = n, .unknown = unknown, .covered = covered}};
    if (!unknown || !covered) return SNW_E_MEMORY;
    find_covered(m, covered);
    for (int i = 0; i < n; i++) unknown[i] = i;
    list_couplings(m, &x->list);
    x->list.item = snw_alloc((size_t)(x->list.count + 1) * sizeof *x->list.item);
    if (!x->list.item) return SNW_E_MEMORY;
    list_couplings(m, &x->list);
    x->start = snw_alloc((N + 1) * sizeof *x->start);
    x->first = snw_alloc((N + 2) * sizeof *x->first);
    x->mark = snw_alloc((N + 1) * sizeof *x->mark);
    x->of = snw_alloc(memberships(&x->list) * sizeof *x->of);
    if (!x->start || !x->first || !x->mark || !x->of) return SNW_E_MEMORY;
    index_couplings(x);
    list_entries(x);
    x->row = snw_alloc((size_t)(x->start[n] + 1) * sizeof *x->row);
    x->next = snw_alloc((N + 1) * sizeof *x->next);
    if (!x->row || !x->next) return SNW_E_MEMORY;
    memcpy(x->next, x->start, (N + 1) * sizeof *x->next);
    list_entries(x);
    return SNW_OK;
}

snw_status snw_pattern_columns(const snw_model *m, int **start, int **row) {
    pattern x;
    const snw_status s = list_pattern(m, &x);
    *start = *row = NULL;
    if (s == SNW_OK) {
        *start = x.start, *row = x.row;
        x.start = x.row = NULL;
    }
    pattern_free(&x);
    return s;
}

static snw_status analyse(const snw_model *m, const double *size, const snw_sparse *like,
                          snw_sparse **out) {
    const int n = m->nv + m->nconstraint;
    bool *bound = snw_alloc((size_t)(n + 1) * sizeof *bound);
    if (!bound) return SNW_E_MEMORY;
    for (int i = 0; i < n; i++) bound[i] = i >= m->nv;
    pattern x;
    snw_status s = list_pattern(m, &x);
    const bool known = s == SNW_OK && like && snw_sparse_has_pattern(like, n, x.start, x.row);
    if (known) {
        s = snw_sparse_create_like(like, size, out);
    } else if (s == SNW_OK) {
        s = snw_sparse_create(n, x.start, x.row, bound, size, out);
    }
    pattern_free(&x);
    snw_free(bound);
    return s;
}

// Sparse factors cost several times as much per entry as dense ones (bench/limbs.c).
static bool is_worthwhile(int n, const snw_sparse *sparse) {
    const double N = n;
    return n > 40 && 3 * snw_sparse_foresee(sparse).entries < N * N;
}

enum { MANY_ROWS = 200 };

// Unknowns up to which the matrix is an n x n array, 32 MB: it also serves dense factors, where row
// exchanges fill the sparse ones.
enum { LARGE = 2000 };

enum { MOST_CLEARED = 1000 }; // unknowns

// Feedback laws and concentric tubes couple coordinates that no path, loop or element joins.
static bool couples_all(const snw_model *m) { return m->nlive + m->ntube > 0; }

static snw_status choose_factors(const snw_model *m, const double *size, const snw_sparse *like,
                                 snw_sparse **out) {
    *out = NULL;
    if (couples_all(m)) return SNW_OK;
    SNW_TRY(analyse(m, size, like, out));
    // Networks: exchanges of rows would add much to factors with many loops (design.md)
    if (m->nconstraint >= MANY_ROWS) snw_sparse_prefer_diagonal(*out);
    if (!is_worthwhile(m->nv + m->nconstraint, *out)) {
        snw_sparse_destroy(*out);
        *out = NULL;
    }
    return SNW_OK;
}

snw_status snw_pattern_create_like(const snw_model *m, const double *size, const snw_sparse *like,
                                   snw_sparse **out) {
    SNW_TRY(choose_factors(m, size, like, out));
    const bool large = m->nv + m->nconstraint > LARGE && snw_tangent_compresses(m);
    const bool takes = *out && large && !snw_sparse_is_compressed(*out);
    return takes ? snw_sparse_compress(*out) : SNW_OK;
}

snw_status snw_pattern_create(const snw_model *m, const double *size, snw_sparse **out) {
    return snw_pattern_create_like(m, size, NULL, out);
}

// ---- matrix -------------------------------------------------------------------------------------

// *out <- pattern, that of `like` unless it is NULL, with the sizes by which magnitudes in a column
// are compared; rows of loops are scaled by the robot's length
static snw_status bordered_matrix_take_pattern(const snw_model *m, snw_algebra algebra,
                                               const snw_sparse *like, snw_sparse **out) {
    const int n = m->nv + m->nconstraint;
    double *size = snw_alloc((size_t)n * sizeof *size);
    if (!size) return SNW_E_MEMORY;
    for (int i = 0; i < n; i++) size[i] = i < m->nv ? m->typical[i] : m->length;
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &m->drive[k];
        if (d->row >= 0) size[m->nv + d->row] = m->typical[d->dof];
    }
    snw_status s = like                                  ? snw_sparse_create_like(like, size, out)
                   : algebra == SNW_ALGEBRA_AUTO         ? snw_pattern_create(m, size, out)
                   : algebra == SNW_ALGEBRA_DENSE_MATRIX ? choose_factors(m, size, NULL, out)
                                                         : analyse(m, size, NULL, out);
    if (s == SNW_OK && algebra == SNW_ALGEBRA_COMPRESSED) s = snw_sparse_compress(*out);
    snw_free(size);
    return s;
}

static snw_status bordered_matrix_make(const snw_model *m, snw_algebra algebra,
                                       const snw_sparse *like, snw_bordered_matrix **out) {
    *out = NULL;
    snw_bordered_matrix *x = snw_alloc(sizeof *x);
    if (!x) return SNW_E_MEMORY;
    x->n = m->nv + m->nconstraint;
    const size_t n = (size_t)x->n;
    if (m->local) {
        const snw_status s = snw_elimination_create(m, &x->local);
        if (s == SNW_OK) *out = x;
        if (s != SNW_OK) snw_bordered_matrix_destroy(x);
        return s;
    }
    x->pivot = snw_alloc(n * sizeof *x->pivot);
    x->scratch = snw_alloc(4 * n * sizeof *x->scratch);
    const bool dense = algebra == SNW_ALGEBRA_DENSE || couples_all(m);
    snw_status s = x->pivot && x->scratch ? SNW_OK : SNW_E_MEMORY;
    if (s == SNW_OK && !dense) s = bordered_matrix_take_pattern(m, algebra, like, &x->sparse);
    if (s == SNW_OK && snw_sparse_is_compressed(x->sparse)) {
        x->A = snw_sparse_matrix(x->sparse);
    } else if (s == SNW_OK) {
        // cleared before its first use; of a large one only the entries of the pattern are touched
        x->overwritten = n <= MOST_CLEARED;
        x->A = snw_matrix_dense(n, x->overwritten ? snw_alloc_scratch(n * n * sizeof(double))
                                                  : snw_alloc(n * n * sizeof(double)));
        if (!x->A.entry) s = SNW_E_MEMORY;
    }
    if (s != SNW_OK) {
        snw_bordered_matrix_destroy(x);
        return s;
    }
    x->equilibration =
        (snw_equilibration){.n = x->n, .row = x->scratch + 2 * n, .column = x->scratch + 3 * n};
    *out = x;
    return SNW_OK;
}

snw_status snw_bordered_matrix_create(const snw_model *m, snw_algebra algebra,
                                      snw_bordered_matrix **out) {
    return bordered_matrix_make(m, algebra, NULL, out);
}

snw_status snw_bordered_matrix_create_like(const snw_model *m, const snw_sparse *like,
                                           snw_bordered_matrix **out) {
    return bordered_matrix_make(m, SNW_ALGEBRA_AUTO, like, out);
}

void snw_bordered_matrix_destroy(snw_bordered_matrix *x) {
    if (!x) return;
    if (!x->A.row) snw_free(x->A.entry);
    snw_sparse_destroy(x->sparse);
    snw_elimination_destroy(x->local);
    snw_free(x->pivot);
    snw_free(x->scratch);
    snw_free(x);
}

void snw_bordered_matrix_invalidate(snw_bordered_matrix *x) {
    SNW_ASSERT(!x->A.row);
    x->overwritten = true;
}

void snw_bordered_matrix_clear(snw_bordered_matrix *x) {
    const size_t n = (size_t)x->n;
    if (x->sparse && !x->overwritten) {
        snw_sparse_clear(x->sparse, x->A);
    } else {
        memset(x->A.entry, 0, n * n * sizeof(double));
    }
    x->overwritten = false;
}

snw_status snw_bordered_matrix_factor(snw_bordered_matrix *x) {
    SNW_ASSERT(!x->overwritten);
    snw_equilibration_take(&x->equilibration, x->A, x->sparse);
    x->condition = NAN;
    if (x->sparse) {
        const snw_status s = snw_sparse_factor(x->sparse, x->A);
        if (s != SNW_E_MEMORY || x->A.row) return s;
    }
    x->overwritten = true;
    return snw_lu_factor(x->n, x->A.entry, x->pivot);
}

snw_status snw_bordered_matrix_eliminate(snw_bordered_matrix *x, const snw_tangent_at *at,
                                         snw_work *w) {
    x->condition = NAN;
    return snw_elimination_factor(x->local, at, w);
}

void snw_bordered_matrix_solve(snw_bordered_matrix *x, double *b) {
    if (x->local) {
        snw_elimination_solve(x->local, b);
    } else if (x->overwritten) {
        snw_lu_solve(x->n, x->A.entry, x->pivot, b);
    } else {
        snw_sparse_solve(x->sparse, b);
    }
}

void snw_bordered_matrix_solve_transposed(snw_bordered_matrix *x, double *b) {
    if (x->overwritten) {
        snw_lu_solve_transposed(x->n, x->A.entry, x->pivot, b);
    } else {
        snw_sparse_solve_transposed(x->sparse, b);
    }
}

double snw_bordered_matrix_condition(snw_bordered_matrix *x) {
    if (isnan(x->condition) && !x->local) {
        snw_sparse *sparse = x->overwritten ? NULL : x->sparse;
        x->condition = snw_equilibration_condition(&x->equilibration, x->A.entry, x->pivot, sparse,
                                                   x->scratch);
    }
    return x->condition;
}
