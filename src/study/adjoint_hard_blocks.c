// SPDX-License-Identifier: MIT
//
// Solution of the linear equations of a step with hard contacts, block by block: d, lambda, P and h
// first, velocities, impulses and p later; between and behind them equations that are explicit, or
// explicit but for the factor of a scaling.
#include "study/adjoint_hard_private.h"

#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static const double singular = 1e-12, // pivot of a scaled matrix
    compliance = 1e-8,                // of contacts that hold the robot more than once, scaled
    consistent = 1e-7;                // part of a right side that they do not allow
enum { REFINEMENTS = 30 };

// Consecutive unknowns that are solved together: a block with factors, explicit ones, or those of a
// scaling, whose factor comes first.
typedef enum block_kind { FACTORED, EXPLICIT, SCALED } block_kind;
typedef struct block_at {
    block_kind kind;
    int at, n, of; // of: FACTORED: 0 or 1
} block_at;
enum { BLOCKS = 8 };

static int list_blocks(const adjoint_hard *x, block_at out[BLOCKS]) {
    const hard_layout *l = &x->l;
    const bool energies = l->energy >= 0;
    int n = 0;
    const int first = energies ? l->energy : l->v, v = l->s >= 0 ? l->s : l->v,
              v2 = l->s2 >= 0 ? l->s2 : l->v2;
    out[n++] = (block_at){FACTORED, 0, first, 0};
    if (energies) out[n++] = (block_at){EXPLICIT, l->energy, ENERGIES, 0};
    out[n++] = (block_at){l->s >= 0 ? SCALED : EXPLICIT, v, l->S - v, 0};
    out[n++] = (block_at){EXPLICIT, l->S, l->P1 - l->S, 0};
    out[n++] = (block_at){EXPLICIT, l->P1, l->A - l->P1, 0};
    out[n++] = (block_at){EXPLICIT, l->A, l->v1 - l->A, 0};
    out[n++] = (block_at){FACTORED, l->v1, v2 - l->v1, 1};
    out[n++] = (block_at){l->s2 >= 0 ? SCALED : EXPLICIT, v2, l->n - v2, 0};
    return n;
}

// ---- factors ------------------------------------------------------------------------------------

static bool is_regular(hard_block *b) {
    bool ok = b->n == 0 || snw_lu_factor(b->n, b->A, b->pivot) == SNW_OK;
    for (int k = 0; k < b->n && ok; k++) ok = fabs(b->A[(size_t)(b->n + 1) * (size_t)k]) > singular;
    return ok;
}

// A += a small compliance of closed contacts that stick, and of all normal forces
static void add_compliance(const adjoint_hard *x, const snw_map *map, int of, hard_block *b) {
    int k = 0;
    for (int i = 0; i < map->hard->n; i++) {
        const snw_hard_step_contact *c = &map->hard->contact[i];
        const snw_hard_state state = of ? c->in_impulse : c->in_step;
        if (state == SNW_HARD_OPEN) continue;
        for (int j = 0; j < 3; j++) {
            const int at = (of ? x->l.p : x->l.P) + 3 * k + j - b->at;
            if (j == 0 || state == SNW_HARD_STICKS)
                b->A[(size_t)(b->n + 1) * (size_t)at] += compliance;
        }
        k++;
    }
}

// A <- the block of J with its rows and columns scaled, and its factors
static bool factor_block(adjoint_hard *x, const snw_map *map, int of) {
    hard_block *b = &x->block[of];
    const size_t n = (size_t)b->n;
    for (size_t i = 0; i < n; i++) b->rows[i] = 0;
    for (size_t k = 0; k < n; k++) {
        const double *from = hard_entry(x, x->J, b->at, b->at + (int)k);
        double most = 0;
        for (size_t i = 0; i < n; i++) most = fmax(most, fabs(from[i]));
        b->columns[k] = most > 0 ? 1 / most : 1;
        for (size_t i = 0; i < n; i++) b->rows[i] = fmax(b->rows[i], fabs(from[i]) * b->columns[k]);
    }
    for (size_t i = 0; i < n; i++) b->rows[i] = b->rows[i] > 0 ? 1 / b->rows[i] : 1;
    for (size_t k = 0; k < n; k++) {
        const double *from = hard_entry(x, x->J, b->at, b->at + (int)k);
        for (size_t i = 0; i < n; i++) b->A[n * k + i] = from[i] * b->rows[i] * b->columns[k];
    }
    memcpy(b->kept, b->A, n * n * sizeof *b->A);
    b->redundant = !is_regular(b);
    if (!b->redundant) return true;
    memcpy(b->A, b->kept, n * n * sizeof *b->A);
    add_compliance(x, map, of, b);
    return is_regular(b);
}

// 1 over the pivot of the factor of a scaling at `at`
static double scaling_pivot(const adjoint_hard *x, int at, int n) {
    double sum = *hard_entry(x, x->J, at, at);
    for (int k = 1; k < n; k++)
        sum -= *hard_entry(x, x->J, at, at + k) * *hard_entry(x, x->J, at + k, at);
    return 1 / sum;
}

bool hard_factor(adjoint_hard *x, const snw_map *map) {
    block_at list[BLOCKS];
    const int n = list_blocks(x, list);
    bool ok = true;
    x->off = -1;
    for (int i = 0; i < n && ok; i++) {
        if (list[i].kind == SCALED) ok = isfinite(scaling_pivot(x, list[i].at, list[i].n));
        if (list[i].kind != FACTORED) continue;
        hard_block *b = &x->block[list[i].of];
        b->at = list[i].at, b->n = list[i].n;
        ok = factor_block(x, map, list[i].of);
    }
    return ok;
}

bool hard_is_redundant(const adjoint_hard *x) {
    return x->block[0].redundant || x->block[1].redundant;
}

// ---- solution -----------------------------------------------------------------------------------

// h->right <- b - A x, scaled; returns its largest entry, *worst <- which
static double remainder_of(adjoint_hard *h, const hard_block *of, const double *b, const double *x,
                           int *worst) {
    const size_t n = (size_t)of->n;
    double most = 0;
    memcpy(h->right, b, n * sizeof *b);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < n; i++) h->right[i] -= of->kept[n * k + i] * x[k];
    }
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(h->right[i]) <= most)) most = fabs(h->right[i]), *worst = (int)i;
    }
    return most;
}

// x <- inv(A) x. Of contacts that hold the robot more than once the forces are not unique: with a
// small compliance, whose effect is removed by refinement; h->off tells what they do not allow.
static void solve_block(adjoint_hard *h, const hard_block *of, double *x) {
    const int n = of->n;
    double *b = h->sample, size = 0;
    int worst = 0;
    for (int i = 0; i < n; i++) b[i] = x[i] * of->rows[i], x[i] = 0, size = fmax(size, fabs(b[i]));
    memcpy(h->right, b, (size_t)n * sizeof *b);
    double left = size;
    for (int k = 0; k < (of->redundant ? REFINEMENTS : 1) && left > 1e-14 * size; k++) {
        snw_lu_solve(n, of->A, of->pivot, h->right);
        for (int i = 0; i < n; i++) x[i] += h->right[i];
        if (of->redundant) left = remainder_of(h, of, b, x, &worst);
    }
    if (of->redundant && !(left <= consistent * size)) h->off = of->at + worst;
    for (int i = 0; i < n; i++) x[i] *= of->columns[i];
}

static void solve_block_transposed(const hard_block *of, double *x) {
    for (int i = 0; i < of->n; i++) x[i] *= of->columns[i];
    snw_lu_solve_transposed(of->n, of->A, of->pivot, x);
    for (int i = 0; i < of->n; i++) x[i] *= of->rows[i];
}

void hard_solve(adjoint_hard *x, double *b) {
    block_at list[BLOCKS];
    const int n = list_blocks(x, list);
    for (int i = 0; i < n; i++) {
        const int at = list[i].at, count = list[i].n;
        for (int k = 0; k < at; k++) { // unknowns before it
            const double *column = hard_entry(x, x->J, at, k);
            for (int j = 0; j < count && b[k] != 0; j++) b[at + j] -= column[j] * b[k];
        }
        if (list[i].kind == FACTORED) solve_block(x, &x->block[list[i].of], b + at);
        if (list[i].kind != SCALED) continue;
        const double *column = hard_entry(x, x->J, at, at);
        for (int k = 1; k < count; k++) b[at] -= *hard_entry(x, x->J, at, at + k) * b[at + k];
        b[at] *= scaling_pivot(x, at, count);
        for (int k = 1; k < count; k++) b[at + k] -= column[k] * b[at];
    }
}

void hard_solve_transposed(const adjoint_hard *x, double *b) {
    block_at list[BLOCKS];
    for (int i = list_blocks(x, list) - 1; i >= 0; i--) {
        const int at = list[i].at, count = list[i].n;
        if (list[i].kind == FACTORED) solve_block_transposed(&x->block[list[i].of], b + at);
        if (list[i].kind == SCALED) {
            const double *column = hard_entry(x, x->J, at, at);
            for (int k = 1; k < count; k++) b[at] -= column[k] * b[at + k];
            b[at] *= scaling_pivot(x, at, count);
            for (int k = 1; k < count; k++) b[at + k] -= *hard_entry(x, x->J, at, at + k) * b[at];
        }
        for (int k = 0; k < at; k++) // equations of the unknowns before it
            b[k] -= snw_vector_dot(count, hard_entry(x, x->J, at, k), b + at);
    }
}
