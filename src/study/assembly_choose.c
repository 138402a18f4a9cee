// SPDX-License-Identifier: MIT
//
// Which rows of redundant loops are kept, chosen anew as the robot moves. Rows are left out when a model is compiled, where it begins;
// elsewhere those that stayed may depend on each other although all rows together keep their rank (a Bricard chain). How well rows tell
// motions apart is the smallest diagonal entry of R in a QR factorisation with pivoting, behind all that others forbid.
#include "study/assembly_private.h"

#include "dynamics/loop.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static const double DEPENDENT = 1e-8;
static const double WORSE = 0.3; // part of the best choice below which another one is made

static bool same_mix(size_t n, const double *a, const double *b) {
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

// the row of `all` that is kept or spare row r of loop i
static int row_in_all(const snw_assembly *as, int i, int r) {
    const snw_loop *now = &as->m->loop[i], *all = &as->all->loop[i];
    const size_t n = sizeof now->mix[r] / sizeof now->mix[r][0];
    int k = 0;
    while (k < all->nrow - 1 && !same_mix(n, now->mix[r], all->mix[k])) k++;
    return all->row + k;
}

static void put(snw_assembly *as, int row, int *n) {
    const size_t nv = (size_t)as->m->nv;
    memcpy(as->C + nv * (size_t)(*n)++, as->X + nv * (size_t)row, nv * sizeof *as->C);
}

// as->C <- rows that are kept beside those of loop i; how many
static int put_others(snw_assembly *as, int i) {
    const snw_model *m = as->m, *all = as->all;
    int n = 0;
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &all->drive[k];
        if (d->row >= 0 && !d->follows && snw_is_on(as->w, d->gate)) put(as, d->row, &n);
    }
    for (int k = 0; k < m->nmeasure; k++) {
        if (all->measure[k].row >= 0) put(as, all->measure[k].row, &n);
    }
    for (int k = 0; k < m->nloop; k++) {
        if (k == i || !snw_is_on(as->w, m->loop[k].gate)) continue;
        for (int r = 0; r < m->loop[k].nrow; r++) put(as, row_in_all(as, k, r), &n);
    }
    return n;
}

// How well the best of the first n rows of loop i, as many as it keeps, tell motions apart; as->order behind *front: which these are. 0: they
// depend on each other.
static double quality(snw_assembly *as, int i, int n, int *front) {
    const size_t nv = (size_t)as->m->nv;
    const int wanted = as->m->loop[i].nrow;
    *front = put_others(as, i);
    int all = *front;
    for (int r = 0; r < n; r++) put(as, row_in_all(as, i, r), &all);
    const int rank =
        snw_qr_factor(as->m->nv, all, as->C, *front, DEPENDENT, &as->scratch, as->side, as->order);
    if (rank < *front + wanted) return 0;
    double least = INFINITY;
    for (int k = *front; k < *front + wanted; k++) {
        least = fmin(least, fabs(as->C[(size_t)k * (nv + 1)]));
    }
    return least;
}

// rows as->order behind `front` become those that are kept, in the order they have; the others are spare
static void exchange(const snw_assembly *as, int front, snw_loop *loop) {
    bool chosen[6] = {false};
    double mix[6][6];
    int at = 0;
    for (int k = 0; k < loop->nrow; k++) chosen[as->order[front + k] - front] = true;
    for (int pass = 0; pass < 2; pass++) {
        for (int r = 0; r < loop->nrow + loop->nspare; r++) {
            if (chosen[r] == (pass == 0)) memcpy(mix[at++], loop->mix[r], sizeof mix[0]);
        }
    }
    memcpy(loop->mix, mix, (size_t)at * sizeof mix[0]);
}

bool snw_assembly_redundant(const snw_assembly *as) {
    return as && as->all != as->m && !as->m->bare;
}

bool snw_assembly_choose(snw_assembly *as, snw_model *m, const snw_inputs *in, const snw_state *s) {
    bool changed = false;
    if (!snw_assembly_redundant(as)) return false;
    snw_assembly_take(as, s);
    snw_assembly_look(as, in, as->trial, false);
    for (int i = 0; i < m->nloop; i++) {
        snw_loop *loop = &m->loop[i];
        int front;
        if (loop->nspare == 0 || loop->nrow == 0 || !snw_is_on(as->w, loop->gate)) continue;
        const double now = quality(as, i, loop->nrow, &front);
        const double best = quality(as, i, loop->nrow + loop->nspare, &front);
        if (!(now < WORSE * best)) continue;
        exchange(as, front, loop);
        changed = true;
    }
    return changed;
}

// ---- choices as numbers ----------------------------------------------------------------------------

// digits to the base six: which row stands at r, less r
double snw_assembly_choice(const snw_assembly *as, int i) {
    const snw_loop *loop = &as->m->loop[i];
    double code = 0;
    for (int r = loop->nrow + loop->nspare - 1; r >= 0 && loop->nspare > 0; r--) {
        code = 6 * code + (row_in_all(as, i, r) - as->all->loop[i].row - r + 6) % 6;
    }
    return code;
}

bool snw_assembly_set_choice(const snw_assembly *as, snw_model *m, int i, double choice) {
    snw_loop *loop = &m->loop[i];
    const int n = loop->nspare > 0 ? loop->nrow + loop->nspare : 0;
    if (!(choice >= 0 && choice < 46656 && choice == floor(choice))) return false; // 6^6
    int code = (int)choice, row[6];
    bool seen[6] = {false};
    for (int r = 0; r < n; r++, code /= 6) {
        row[r] = (r + code % 6) % 6;
        if (row[r] >= n || seen[row[r]]) return false;
        seen[row[r]] = true;
    }
    if (code != 0) return false;
    for (int r = 0; r < n; r++)
        memcpy(loop->mix[r], as->all->loop[i].mix[row[r]], sizeof loop->mix[r]);
    return true;
}
