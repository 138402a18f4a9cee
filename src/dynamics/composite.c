// SPDX-License-Identifier: MIT
//
// Mass matrix by composite bodies, theory.md (4.1.1) and (4.1.2). From the leaves to the root, each
// segment and all that it carries are one composite body. Its momentum per own coordinate is
// carried towards the root; the products with the columns of the segments on the way are entries
// of the mass matrix.

#include "dynamics/subtree.h"

#include "base/vectorise.h"

#include <string.h>

void snw_subtree_arms(const snw_model *m, snw_work *w) {
    for (int i = 1; i < m->nseg; i++) {
        const int p = m->seg[i].parent;
        w->arm[i] = snw_rotate(w->g[p].R, w->h[i].p);
        if (m->subtree[p].own == 0 && p > 0) w->arm[i] = snw_add(w->arm[p], w->arm[i]);
    }
}

// S <- R S, angular and linear parts
static void turn_columns(const snw_mat3 *R, int n, int ld, double *S) {
    for (int k = 0; k < n; k++) {
        const col x = col_load(S, ld, k);
        const snw_vec3 a = snw_rotate(*R, (snw_vec3){{x.a, x.b, x.c}}),
                       b = snw_rotate(*R, (snw_vec3){{x.d, x.e, x.f}});
        col_store(S, ld, k, (col){a.x, a.y, a.z, b.x, b.y, b.z});
    }
}

void snw_subtree_columns(const snw_model *m, const snw_work *w, int i, int ld, double *S) {
    const snw_seg *seg = &m->seg[i];
    const snw_twist *axis = &m->block[seg->item].S;
    const int n = m->subtree[i].own;
    for (int row = 0; row < 6; row++) {
        for (int k = 0; k < n; k++) {
            S[row * ld + k] = seg->kind == SNW_SEG_SCREW ? axis->e[row] : row == k;
        }
    }
    turn_columns(&w->g[i].R, n, ld, S);
}

// U <- C S for the own columns of a segment
static void own_momentum(const snw_inertia *C, int n, int lds, const double *S, int ldu,
                         double *U) {
    for (int k = 0; k < n; k++) col_store(U, ldu, k, col_inertia(C, col_load(S, lds, k)));
}

// out <- S' U, one row
SNW_CLONES static void momentum_row(col S, int n, int ld, const double *restrict U,
                                    double *restrict out) {
    SNW_INDEPENDENT
    for (int j = 0; j < n; j++) {
        out[j] = S.a * U[j] + S.b * U[ld + j] + S.c * U[2 * ld + j] + S.d * U[3 * ld + j] +
                 S.e * U[4 * ld + j] + S.f * U[5 * ld + j];
    }
}

// U about the origin of the carrier
SNW_CLONES static void carry_momentum(double x, double y, double z, int n, int ld,
                                      double *restrict U) {
    SNW_INDEPENDENT
    for (int j = 0; j < n; j++) {
        const double a = U[3 * ld + j], b = U[4 * ld + j], c = U[5 * ld + j];
        U[j] += y * c - z * b;
        U[ld + j] += z * a - x * c;
        U[2 * ld + j] += x * b - y * a;
    }
}

// Rows of the own coordinates of segment i in M: own columns and those of what it carries.
static void set_rows(const snw_model *m, int i, snw_work *w, double *M) {
    const snw_subtree *t = &m->subtree[i];
    const int ld = m->nv, n = t->own;
    const size_t nv = (size_t)m->nv;
    double S[36], *U = w->momentum + t->column;
    snw_subtree_columns(m, w, i, n, S);
    own_momentum(&w->body[i], n, n, S, ld, U);
    for (int k = 0; k < n; k++) {
        const size_t at = (size_t)m->column_dof[t->column + k];
        momentum_row(col_load(S, n, k), t->ncolumn - k, ld, U + k, w->column_row);
        for (int j = k; j < t->ncolumn; j++) {
            const size_t to = (size_t)m->column_dof[t->column + j];
            M[at * nv + to] = M[to * nv + at] = w->column_row[j - k];
        }
    }
}

void snw_composite_mass(const snw_model *m, snw_work *w, double *M) {
    const size_t nv = (size_t)m->nv;
    memset(M, 0, nv * nv * sizeof *M);
    snw_subtree_arms(m, w);
    for (int i = 1; i < m->nseg; i++) {
        w->body[i] = (snw_inertia){0};
        if (snw_seg_has_mass(m, w, i)) w->body[i] = subtree_inertia(&w->g[i].R, &m->seg[i].M);
    }
    for (int i = m->nseg - 1; i > 0; i--) {
        const snw_subtree *t = &m->subtree[i];
        if (t->own > 0) set_rows(m, i, w, M);
        if (t->carrier == 0 || !(t->own > 0 || m->seg[i].has_mass)) continue;
        const snw_inertia C = subtree_move(w->arm[i], &w->body[i]);
        snw_inertia_add(&w->body[t->carrier], &C);
        if (t->own == 0) continue;
        carry_momentum(w->arm[i].x, w->arm[i].y, w->arm[i].z, t->ncolumn, m->nv,
                       w->momentum + t->column);
    }
    for (int k = 0; k < m->nblock && m->has_armature; k++) {
        const snw_block *b = &m->block[k];
        for (int i = b->dof; i < b->dof + b->n; i++) M[(size_t)i * (nv + 1)] += b->armature;
    }
    if (m->nconditional) snw_clear_inactive_matrix(m, w, nv, M);
}
