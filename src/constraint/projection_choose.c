// SPDX-License-Identifier: MIT
//
// Choice of the active rows of redundant loops along a motion. Redundant rows are removed when the
// model is compiled; at other configurations the remaining rows may become dependent although all
// rows together keep their rank (a Bricard linkage). The measure of a choice is the smallest
// diagonal entry of R in a pivoted QR factorisation behind the rows of all other loops and drives
// (theory.md 3.8).

#include "constraint/projection_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static const double DEPENDENT = 1e-8;
static const double KEEP_FRACTION = 0.3; // a choice below this fraction of the best one is replaced

// row in pr->all of active or spare row r of loop i
static int row_in_all(const snw_projection *pr, int i, int r) {
    const snw_loop *now = &pr->m->loop[i], *all = &pr->all->loop[i];
    return all->row + snw_closure_row_of(now, r, all, all->nrow);
}

static void append_row(snw_projection *pr, int row, int *n) {
    const size_t nv = (size_t)pr->m->nv;
    memcpy(pr->C + nv * (size_t)(*n)++, pr->X + nv * (size_t)row, nv * sizeof *pr->C);
}

// pr->C <- active rows other than those of loop i; returns their number
static int append_other_rows(snw_projection *pr, int i) {
    const snw_model *m = pr->m, *all = pr->all;
    int n = 0;
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &all->drive[k];
        if (d->row >= 0 && !d->passive && snw_is_active(pr->w, d->condition))
            append_row(pr, d->row, &n);
    }
    for (int k = 0; k < m->ntendon; k++) {
        if (all->tendon[k].row >= 0) append_row(pr, all->tendon[k].row, &n);
    }
    for (int k = 0; k < m->nloop; k++) {
        if (k == i || !snw_is_active(pr->w, m->loop[k].condition)) continue;
        for (int r = 0; r < m->loop[k].nrow; r++) append_row(pr, row_in_all(pr, k, r), &n);
    }
    return n;
}

// Conditioning of the best nrow of the first n rows of loop i: the smallest pivot; 0 when they are
// dependent. pr->order behind *front lists the chosen rows.
static double conditioning(snw_projection *pr, int i, int n, int *front) {
    const size_t nv = (size_t)pr->m->nv;
    const int wanted = pr->m->loop[i].nrow;
    *front = append_other_rows(pr, i);
    int all = *front;
    for (int r = 0; r < n; r++) append_row(pr, row_in_all(pr, i, r), &all);
    const int rank =
        snw_qr_factor(pr->m->nv, all, pr->C, *front, DEPENDENT, &pr->scratch, pr->rhs, pr->order);
    if (rank < *front + wanted) return 0;
    double least = INFINITY;
    for (int k = *front; k < *front + wanted; k++) {
        least = fmin(least, fabs(pr->C[(size_t)k * (nv + 1)]));
    }
    return least;
}

// rows pr->order behind `front` become active, in their present order; the others become spare
static void exchange_rows(const snw_projection *pr, int front, snw_loop *loop) {
    bool chosen[6] = {false};
    double coefficient[6][6];
    int at = 0;
    for (int k = 0; k < loop->nrow; k++) chosen[pr->order[front + k] - front] = true;
    for (int pass = 0; pass < 2; pass++) {
        for (int r = 0; r < loop->nrow + loop->nredundant; r++) {
            if (chosen[r] == (pass == 0))
                memcpy(coefficient[at++], loop->coefficient[r], sizeof coefficient[0]);
        }
    }
    memcpy(loop->coefficient, coefficient, (size_t)at * sizeof coefficient[0]);
}

bool snw_projection_redundant(const snw_projection *pr) {
    return pr && pr->all != pr->m && !pr->m->bare;
}

bool snw_projection_choose(snw_projection *pr, snw_closure_rows *rows, const snw_inputs *in,
                           const snw_state *s) {
    bool changed = false;
    if (!rows || !snw_projection_redundant(pr)) return false;
    const snw_model *m = pr->m;
    SNW_ASSERT(m == &rows->model);
    snw_projection_set_trial(pr, s);
    snw_projection_jacobian(pr, in, pr->trial, false);
    for (int i = 0; i < m->nloop; i++) {
        snw_loop *loop = &rows->loop[i];
        int front;
        if (loop->nredundant == 0 || loop->nrow == 0 || !snw_is_active(pr->w, loop->condition))
            continue;
        const double now = conditioning(pr, i, loop->nrow, &front);
        const double best = conditioning(pr, i, loop->nrow + loop->nredundant, &front);
        if (!(now < KEEP_FRACTION * best)) continue;
        exchange_rows(pr, front, loop);
        changed = true;
    }
    return changed;
}
