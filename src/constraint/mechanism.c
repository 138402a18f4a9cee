// SPDX-License-Identifier: MIT
//
// Null space of the tangent stacked on the constraint rows: motions that satisfy the constraints
// and change no force. For the message of a static step that finds no equilibrium.

#include "constraint/mechanism.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"

#include <math.h>

// Pivot, relative to the largest, below which a force or row does not change.
static const double NO_FORCE = 1e-11;

// columns of A (nv x (nv + nconstraint)) <- gradients of each generalised force and each constraint
// row in typical coordinates
static void fill_rows(const snw_model *m, const snw_work *w, const double *T, double *A) {
    const size_t nv = (size_t)m->nv;
    for (size_t i = 0; i < nv; i++) {
        for (size_t j = 0; j < nv; j++) A[i * nv + j] = T[j * nv + i] * m->typical[j] / m->scale[i];
    }
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint row = snw_constraint_at(m, w, k);
        double *a = A + (nv + (size_t)k) * nv;
        for (size_t j = 0; j < nv; j++) a[j] = 0;
        for (int j = 0; j < row.n; j++)
            a[row.dof[j]] = row.C[j] * m->typical[row.dof[j]] / row.size;
    }
}

// link of the joint with the largest component in the n columns of N
static int most_moved(const snw_model *m, int n, const double *N) {
    double most = 0.1; // smaller components accompany a motion of strains
    int link = -1;
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (m->seg[b->seg].kind == SNW_SEG_ROD) continue;
        for (int i = b->dof; i < b->dof + b->n; i++) {
            double square = 0;
            for (int j = 0; j < n; j++) {
                const double x = N[(size_t)j * (size_t)m->nv + (size_t)i];
                square += x * x;
            }
            if (square > most) most = square, link = m->seg[b->seg].link;
        }
    }
    return link;
}

int snw_mechanism_find(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w) {
    const size_t nv = (size_t)m->nv, rows = nv + (size_t)m->nconstraint;
    const size_t size = snw_null_space_scratch(m->nv, (int)rows);
    double *T = snw_alloc(nv * nv * sizeof *T), *A = snw_alloc(nv * rows * sizeof *A);
    snw_arena scratch = {.base = snw_alloc(size), .size = size};
    int rank = m->nv, link = -1;
    if (T && A && scratch.base) {
        snw_residual(m, in, s, true, w);
        snw_tangent_pass(m, NULL, w);
        snw_tangent_assemble(m, in, 1, 0, 0, w, T);
        fill_rows(m, w, T, A);
        if (snw_null_space(m->nv, (int)rows, A, NO_FORCE, &scratch, T, &rank) == SNW_OK)
            link = most_moved(m, m->nv - rank, T);
    }
    snw_free(T);
    snw_free(A);
    snw_free(scratch.base);
    return link;
}
