// SPDX-License-Identifier: MIT
//
// Sparse matrix C C' of the constraint rows, theory.md 3.8: rows couple where they contain a common
// coordinate, so that the rows of a net have the graph of its meshes.

#include "constraint/row_gram.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "solve/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_ROWS = 200 };

struct snw_row_gram {
    const snw_model *m;
    const double *size;
    int n;             // rows
    int *first, *user; // nv + 1: rows that contain each coordinate, and their numbers
    int *place;        // of each: the place of the coordinate in the row
    int *start, *row;  // pattern of C C'
    double *value;     // scratch: the entries of one coordinate
    snw_sparse *sparse;
};

static bool gram_applies(const snw_model *m) {
    if (m->bare || m->nconstraint < MANY_ROWS || m->ncondition || m->nnonholonomic) return false;
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row >= 0 && m->drive[i].passive) return false;
    }
    return true;
}

// g->first, g->user, g->place <- the rows of each coordinate; w only tells where rows are stored
static snw_status list_users(snw_row_gram *g, const snw_work *w) {
    const size_t nv = (size_t)g->m->nv;
    g->first = snw_alloc((nv + 2) * sizeof *g->first);
    if (!g->first) return SNW_E_MEMORY;
    int *end = g->first + 1; // while the lists are filled: the end of each
    for (int k = 0; k < g->n; k++) {
        const snw_constraint c = snw_constraint_at(g->m, w, k);
        for (int j = 0; j < c.n; j++) end[c.dof[j] + 1]++;
    }
    for (size_t i = 0; i < nv; i++) end[i + 1] += end[i];
    const size_t all = (size_t)end[nv] + 1;
    g->user = snw_alloc(2 * all * sizeof *g->user);
    g->value = snw_alloc(all * sizeof *g->value);
    if (!g->user || !g->value) return SNW_E_MEMORY;
    g->place = g->user + all;
    for (int k = 0; k < g->n; k++) {
        const snw_constraint c = snw_constraint_at(g->m, w, k);
        for (int j = 0; j < c.n; j++) {
            const int at = end[c.dof[j]]++;
            g->user[at] = k;
            g->place[at] = j;
        }
    }
    return SNW_OK;
}

static int compare_rows(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// g->start <- starts of the columns; g->row, unless NULL, <- their rows. mark (n) is scratch.
static void list_pattern(snw_row_gram *g, const snw_work *w, int *mark) {
    for (int k = 0; k < g->n; k++) mark[k] = -1;
    for (int k = 0; k < g->n; k++) {
        const snw_constraint c = snw_constraint_at(g->m, w, k);
        int count = 0, *to = g->row ? g->row + g->start[k] : NULL;
        for (int j = 0; j < c.n; j++) {
            for (int p = g->first[c.dof[j]]; p < g->first[c.dof[j] + 1]; p++) {
                if (mark[g->user[p]] == k) continue;
                mark[g->user[p]] = k;
                if (to) to[count] = g->user[p];
                count++;
            }
        }
        if (to) qsort(to, (size_t)count, sizeof *to, compare_rows);
        g->start[k + 1] = g->start[k] + count;
    }
}

static snw_status gram_prepare(snw_row_gram *g) {
    const size_t n = (size_t)g->n;
    snw_work *w = NULL;
    int *mark = snw_alloc(n * sizeof *mark);
    g->start = snw_alloc((n + 1) * sizeof *g->start);
    snw_status s = mark && g->start ? snw_work_create(g->m, &w) : SNW_E_MEMORY;
    if (s == SNW_OK) s = list_users(g, w);
    if (s == SNW_OK) {
        list_pattern(g, w, mark);
        g->row = snw_alloc((size_t)(g->start[n] + 1) * sizeof *g->row);
        s = g->row ? SNW_OK : SNW_E_MEMORY;
    }
    if (s == SNW_OK) {
        list_pattern(g, w, mark);
        s = snw_sparse_create(g->n, g->start, g->row, NULL, NULL, &g->sparse);
    }
    if (s == SNW_OK) s = snw_sparse_compress(g->sparse);
    snw_work_destroy(w);
    snw_free(mark);
    return s;
}

snw_status snw_row_gram_create(const snw_model *m, const double *size, snw_row_gram **out) {
    *out = NULL;
    if (!gram_applies(m)) return SNW_OK;
    snw_row_gram *g = snw_alloc(sizeof *g);
    if (!g) return SNW_E_MEMORY;
    g->m = m;
    g->n = m->nconstraint;
    g->size = size;
    const snw_status s = gram_prepare(g);
    const double n = g->n;
    if (s != SNW_OK || 3 * snw_sparse_foresee(g->sparse).entries > n * n) {
        snw_row_gram_destroy(g);
        return s;
    }
    snw_sparse_prefer_diagonal(g->sparse);
    *out = g;
    return SNW_OK;
}

void snw_row_gram_destroy(snw_row_gram *g) {
    if (!g) return;
    snw_sparse_destroy(g->sparse);
    snw_free(g->first);
    snw_free(g->user);
    snw_free(g->value);
    snw_free(g->start);
    snw_free(g->row);
    snw_free(g);
}

snw_status snw_row_gram_factor(snw_row_gram *g, const snw_work *w, double shift, double *least) {
    const snw_model *m = g->m;
    const snw_matrix A = snw_sparse_matrix(g->sparse);
    snw_sparse_clear(g->sparse, A);
    for (int i = 0; i < m->nv; i++) {
        const int first = g->first[i], count = g->first[i + 1] - first;
        for (int p = 0; p < count; p++) {
            const int k = g->user[first + p];
            g->value[p] =
                snw_constraint_at(m, w, k).C[g->place[first + p]] * m->typical[i] / g->size[k];
        }
        for (int p = 0; p < count; p++) {
            snw_column_entries column = snw_matrix_column(A, g->user[first + p]);
            for (int q = 0; q < count; q++) {
                *snw_column_at(&column, g->user[first + q]) += g->value[p] * g->value[q];
            }
        }
    }
    for (int k = 0; k < g->n; k++) *snw_matrix_at(A, k, k) += shift;
    SNW_TRY(snw_sparse_factor(g->sparse, A));
    *least = snw_sparse_least_pivot(g->sparse);
    return snw_sparse_negative(g->sparse) == 0 ? SNW_OK : SNW_E_SINGULAR;
}

double snw_row_gram_least_part(const snw_row_gram *g) {
    return snw_sparse_smallest(g->sparse, snw_sparse_matrix(g->sparse));
}

void snw_row_gram_step(snw_row_gram *g, const snw_work *w, double *e, double *x) {
    const snw_model *m = g->m;
    snw_sparse_solve(g->sparse, e);
    for (int i = 0; i < m->nv; i++) x[i] = 0;
    for (int k = 0; k < g->n; k++) {
        const snw_constraint c = snw_constraint_at(m, w, k);
        for (int j = 0; j < c.n; j++)
            x[c.dof[j]] += c.C[j] * m->typical[c.dof[j]] / g->size[k] * e[k];
    }
}

double snw_row_gram_operations(const snw_row_gram *g) {
    return snw_sparse_foresee(g->sparse).products;
}
