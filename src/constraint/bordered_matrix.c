// SPDX-License-Identifier: MIT
//
// Sparsity pattern, factorisation and solution of the bordered Newton matrix [T -C'; -C 0], from
// the paths, loops, tendons and drives of the model. For implicit steps, statics and projections.

#include "constraint/bordered_matrix.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// ---- pattern ------------------------------------------------------------------------------------

static void bordered_matrix_couple(unsigned char *map, int n, const int *dof, int count) {
    for (int j = 0; j < count; j++) {
        for (int i = 0; i < count; i++) map[(size_t)dof[j] * (size_t)n + (size_t)dof[i]] = 1;
    }
}

// the coordinates of one path with those of another
static void bordered_matrix_couple_paths(unsigned char *map, int n, const snw_path *a,
                                         const snw_path *b) {
    for (int i = 0; i < a->n; i++) {
        for (int j = 0; j < b->n; j++) {
            map[(size_t)a->dof[i] * (size_t)n + (size_t)b->dof[j]] = 1;
            map[(size_t)b->dof[j] * (size_t)n + (size_t)a->dof[i]] = 1;
        }
    }
}

static const snw_path *rod_path(const snw_model *m, int touching_rod) {
    return &m->path[m->seg[m->rod[m->touching_rod[touching_rod].rod].seg0].path];
}

// map (n x n) <- 1 where an entry may be nonzero
static void bordered_matrix_mark(const snw_model *m, int n, unsigned char *map) {
    for (int p = 0; p < m->npath; p++) bordered_matrix_couple(map, n, m->path[p].dof, m->path[p].n);
    for (int k = 0; k < m->nloop; k++) {
        const snw_loop *loop = &m->loop[k];
        bordered_matrix_couple(map, n, loop->dof, loop->ndof);
        for (int r = m->nv + loop->row; r < m->nv + loop->row + loop->nrow; r++) {
            for (int j = 0; j < loop->ndof; j++) {
                map[(size_t)loop->dof[j] * (size_t)n + (size_t)r] = 1;
                map[(size_t)r * (size_t)n + (size_t)loop->dof[j]] = 1;
            }
            if (loop->condition >= 0 || loop->nonholonomic) map[(size_t)r * (size_t)(n + 1)] = 1;
        }
    }
    for (int k = 0; k < m->ntendon; k++) {
        const snw_tendon *x = &m->tendon[k];
        bordered_matrix_couple(map, n, x->dof, x->ndof);
        for (int j = 0; j < x->ndof && x->row >= 0; j++) {
            const size_t dof = (size_t)x->dof[j], r = (size_t)(m->nv + x->row);
            map[dof * (size_t)n + r] = map[r * (size_t)n + dof] = 1;
        }
    }
    for (int k = 0; k < m->ncontact_point; k++) { // obstacles that coordinates move
        const snw_contact_point *p = &m->contact_point[k];
        if (p->wheel || !m->contact[p->contact].coupled) continue;
        bordered_matrix_couple_paths(map, n, &m->path[m->seg[p->seg].path],
                                     &m->path[m->seg[m->contact[p->contact].seg].path]);
    }
    for (int i = 0; i < m->ntouching_rod; i++) { // rods that may touch
        for (int j = 0; j < i; j++) {
            if (m->touching_contact[i * m->ntouching_rod + j])
                bordered_matrix_couple_paths(map, n, rod_path(m, i), rod_path(m, j));
        }
    }
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &m->drive[k];
        if (d->row < 0) continue;
        const size_t dof = (size_t)d->dof, r = (size_t)(m->nv + d->row);
        map[dof * (size_t)n + r] = map[r * (size_t)n + dof] = 1;
        if (d->condition >= 0 || d->passive) map[r * (size_t)(n + 1)] = 1;
    }
}

// row indices of each column from the map
static void list_entries(int n, const unsigned char *map, int *start, int *row) {
    start[0] = 0;
    for (int j = 0; j < n; j++) {
        start[j + 1] = start[j];
        for (int i = 0; i < n; i++) {
            if (map[(size_t)j * (size_t)n + (size_t)i]) row[start[j + 1]++] = i;
        }
    }
}

static snw_status analyse(const snw_model *m, const double *size, snw_sparse **out) {
    const int n = m->nv + m->nconstraint;
    const size_t N = (size_t)n;
    unsigned char *map = snw_alloc(N * N);
    int *start = snw_alloc((N + 1) * sizeof *start), *row = NULL;
    bool *bound = snw_alloc(N * sizeof *bound);
    snw_status s = SNW_E_MEMORY;
    if (!map || !start || !bound) goto done;
    bordered_matrix_mark(m, n, map);
    size_t entries = 0;
    for (size_t i = 0; i < N * N; i++) entries += map[i];
    row = snw_alloc(entries * sizeof *row);
    if (!row) goto done;
    list_entries(n, map, start, row);
    for (int i = 0; i < n; i++) bound[i] = i >= m->nv;
    s = snw_sparse_create(n, start, row, bound, size, out);
done:
    snw_free(map);
    snw_free(start);
    snw_free(row);
    snw_free(bound);
    return s;
}

// Sparse factors cost several times as much per entry as dense ones (bench/limbs.c).
static bool is_worthwhile(int n, const snw_sparse *sparse) {
    const double N = n;
    return n > 40 && 3 * snw_sparse_foresee(sparse).entries < N * N;
}

snw_status snw_pattern_create(const snw_model *m, const double *size, snw_sparse **out) {
    *out = NULL;
    if (m->nlive > 0) return SNW_OK;
    SNW_TRY(analyse(m, size, out));
    if (!is_worthwhile(m->nv + m->nconstraint, *out)) {
        snw_sparse_destroy(*out);
        *out = NULL;
    }
    return SNW_OK;
}

// ---- matrix -------------------------------------------------------------------------------------

// *out <- pattern with the sizes by which magnitudes in a column are compared; rows of loops are
// scaled by the robot's length
static snw_status bordered_matrix_take_pattern(const snw_model *m, snw_algebra algebra,
                                               snw_sparse **out) {
    const int n = m->nv + m->nconstraint;
    double *size = snw_alloc((size_t)n * sizeof *size);
    if (!size) return SNW_E_MEMORY;
    for (int i = 0; i < n; i++) size[i] = i < m->nv ? m->typical[i] : m->length;
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &m->drive[k];
        if (d->row >= 0) size[m->nv + d->row] = m->typical[d->dof];
    }
    const snw_status s =
        algebra == SNW_ALGEBRA_AUTO ? snw_pattern_create(m, size, out) : analyse(m, size, out);
    snw_free(size);
    return s;
}

snw_status snw_bordered_matrix_create(const snw_model *m, snw_algebra algebra,
                                      snw_bordered_matrix **out) {
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
    x->A = snw_alloc(n * n * sizeof *x->A);
    x->pivot = snw_alloc(n * sizeof *x->pivot);
    x->scratch = snw_alloc(4 * n * sizeof *x->scratch);
    const bool dense = algebra == SNW_ALGEBRA_DENSE || m->nlive > 0;
    if (!x->A || !x->pivot || !x->scratch ||
        (!dense && bordered_matrix_take_pattern(m, algebra, &x->sparse) != SNW_OK)) {
        snw_bordered_matrix_destroy(x);
        return SNW_E_MEMORY;
    }
    x->equilibration =
        (snw_equilibration){.n = x->n, .row = x->scratch + 2 * n, .column = x->scratch + 3 * n};
    *out = x;
    return SNW_OK;
}

void snw_bordered_matrix_destroy(snw_bordered_matrix *x) {
    if (!x) return;
    snw_sparse_destroy(x->sparse);
    snw_elimination_destroy(x->local);
    snw_free(x->A);
    snw_free(x->pivot);
    snw_free(x->scratch);
    snw_free(x);
}

void snw_bordered_matrix_invalidate(snw_bordered_matrix *x) { x->overwritten = true; }

void snw_bordered_matrix_clear(snw_bordered_matrix *x) {
    const size_t n = (size_t)x->n;
    if (x->sparse && !x->overwritten) {
        snw_sparse_clear(x->sparse, x->A);
    } else {
        memset(x->A, 0, n * n * sizeof *x->A);
    }
    x->overwritten = false;
}

snw_status snw_bordered_matrix_factor(snw_bordered_matrix *x) {
    SNW_ASSERT(!x->overwritten);
    snw_equilibration_take(&x->equilibration, x->A, x->sparse);
    x->condition = NAN;
    if (x->sparse) {
        const snw_status s = snw_sparse_factor(x->sparse, x->A);
        if (s != SNW_E_MEMORY) return s;
    }
    x->overwritten = true;
    return snw_lu_factor(x->n, x->A, x->pivot);
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
        snw_lu_solve(x->n, x->A, x->pivot, b);
    } else {
        snw_sparse_solve(x->sparse, b);
    }
}

void snw_bordered_matrix_solve_transposed(snw_bordered_matrix *x, double *b) {
    if (x->overwritten) {
        snw_lu_solve_transposed(x->n, x->A, x->pivot, b);
    } else {
        snw_sparse_solve_transposed(x->sparse, b);
    }
}

double snw_bordered_matrix_condition(snw_bordered_matrix *x) {
    if (isnan(x->condition) && !x->local) {
        snw_sparse *sparse = x->overwritten ? NULL : x->sparse;
        x->condition =
            snw_equilibration_condition(&x->equilibration, x->A, x->pivot, sparse, x->scratch);
    }
    return x->condition;
}
