// SPDX-License-Identifier: MIT
//
// Sparse matrix C C' of the constraint rows, theory.md 3.8: rows couple where they contain a common
// coordinate, so that the rows of a net have the graph of its meshes. A coordinate that all
// rows contain, as those of a plate on many legs, would couple all of them. With the columns P of
// such coordinates and those B of the others
//   C C' = B B' + P P',   [B B' P; P' -1] [e; z] = [b; 0]  has  C C' e = b,
// and the rows of one leg are coupled with each other and with z only.

#include "constraint/row_gram.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "solve/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANY_ROWS = 200,
    WIDE = 40 // rows from which on a coordinate may stand in the border
};

struct snw_row_gram {
    const snw_model *m;
    const double *size;
    int n, nwide;      // rows, coordinates in the border
    int *column;       // nv: column of a coordinate in the border, -1: it has none
    int *first, *user; // nv + 1: rows that contain each coordinate, and their numbers
    int *place;        // of each: the place of the coordinate in the row
    int *start, *row;  // pattern of C C'
    double *value;     // scratch: the entries of one coordinate
    double *solution;  // n + nwide
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
            const int border = g->column[c.dof[j]];
            if (border >= 0) {
                if (to) to[count] = border;
                count++;
                continue;
            }
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
    for (int i = 0; i < g->m->nv; i++) {
        const int k = g->column[i], first = g->first[i], count = g->first[i + 1] - first;
        if (k < 0) continue;
        int *to = g->row ? g->row + g->start[k] : NULL;
        for (int p = 0; to && p < count; p++) to[p] = g->user[first + p];
        if (to) to[count] = k;
        g->start[k + 1] = g->start[k] + count + 1;
    }
}

// g->column, g->nwide <- the border: coordinates in so many rows that these would fill C C'
static void choose_border(snw_row_gram *g, bool bordered) {
    g->nwide = 0;
    for (int i = 0; i < g->m->nv; i++) {
        const bool wide = bordered && g->first[i + 1] - g->first[i] >= WIDE;
        g->column[i] = wide ? g->n + g->nwide++ : -1;
    }
}

// The factors with or without a border; *suits <- are they much smaller than dense ones?
static snw_status gram_analyse(snw_row_gram *g, const snw_work *w, bool bordered, bool *suits) {
    *suits = false;
    choose_border(g, bordered);
    if (bordered && g->nwide == 0) return SNW_OK;
    const size_t n = (size_t)(g->n + g->nwide);
    int *mark = snw_alloc(n * sizeof *mark);
    snw_free(g->start);
    snw_free(g->row);
    g->row = NULL;
    g->start = snw_alloc((n + 1) * sizeof *g->start);
    snw_status s = mark && g->start ? SNW_OK : SNW_E_MEMORY;
    if (s == SNW_OK) {
        list_pattern(g, w, mark);
        g->row = snw_alloc((size_t)(g->start[n] + 1) * sizeof *g->row);
        s = g->row ? SNW_OK : SNW_E_MEMORY;
    }
    if (s == SNW_OK) {
        list_pattern(g, w, mark);
        s = snw_sparse_create((int)n, g->start, g->row, NULL, NULL, &g->sparse);
    }
    const double rows = g->n;
    *suits = s == SNW_OK && !(3 * snw_sparse_foresee(g->sparse).entries > rows * rows);
    snw_free(mark);
    return s;
}

static snw_status gram_prepare(snw_row_gram *g, bool *suits) {
    snw_work *w = NULL;
    g->column = snw_alloc(((size_t)g->m->nv + 1) * sizeof *g->column);
    snw_status s = g->column ? snw_work_create(g->m, &w) : SNW_E_MEMORY;
    if (s == SNW_OK) s = list_users(g, w);
    // the rows of one coordinate are coupled with each other
    double most = 0;
    for (int i = 0; s == SNW_OK && i < g->m->nv; i++)
        most = fmax(most, g->first[i + 1] - g->first[i]);
    const double rows = g->n;
    if (s == SNW_OK && 3 * most * most < rows * rows) s = gram_analyse(g, w, false, suits);
    if (s == SNW_OK && !*suits) {
        snw_sparse_destroy(g->sparse);
        g->sparse = NULL;
        s = gram_analyse(g, w, true, suits);
    }
    if (s == SNW_OK && *suits) {
        s = snw_sparse_compress(g->sparse);
        g->solution = snw_alloc((size_t)(g->n + g->nwide) * sizeof *g->solution);
        if (!g->solution) s = SNW_E_MEMORY;
    }
    snw_work_destroy(w);
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
    bool suits = false;
    const snw_status s = gram_prepare(g, &suits);
    if (s != SNW_OK || !suits) {
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
    snw_free(g->column);
    snw_free(g->solution);
    snw_free(g->first);
    snw_free(g->user);
    snw_free(g->value);
    snw_free(g->start);
    snw_free(g->row);
    snw_free(g);
}

snw_status snw_row_gram_factor(snw_row_gram *g, const snw_work *w, double shift) {
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
        if (g->column[i] >= 0) {
            const int k = g->column[i];
            for (int p = 0; p < count; p++) {
                *snw_matrix_at(A, k, g->user[first + p]) = g->value[p];
                *snw_matrix_at(A, g->user[first + p], k) = g->value[p];
            }
            *snw_matrix_at(A, k, k) = -1;
            continue;
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
    return snw_sparse_negative(g->sparse) == g->nwide ? SNW_OK : SNW_E_SINGULAR;
}

double snw_row_gram_least_part(const snw_row_gram *g) {
    return snw_sparse_smallest(g->sparse, snw_sparse_matrix(g->sparse));
}

void snw_row_gram_step(snw_row_gram *g, const snw_work *w, double *e, double *x) {
    const snw_model *m = g->m;
    memcpy(g->solution, e, (size_t)g->n * sizeof *e);
    for (int k = 0; k < g->nwide; k++) g->solution[g->n + k] = 0;
    snw_sparse_solve(g->sparse, g->solution);
    memcpy(e, g->solution, (size_t)g->n * sizeof *e);
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
