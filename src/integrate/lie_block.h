// SPDX-License-Identifier: MIT
//
// lie_block.h: ball and free joints (Lie-group blocks of the coordinates) within a step: entries as
// twists and wrenches, transport of momenta, tangent maps on matrix columns.
#pragma once

#include "math/se3_tangent.h"
#include "model/model.h"

#include <string.h>

// The f-th ball or free joint.
static inline const snw_block *snw_lie_block(const snw_model *m, int f) {
    const snw_block *b = m->block;
    while (b->lie_block != f) b++;
    return b;
}

// Is its parent moved by laws only?
static inline bool snw_lie_block_is_root(const snw_model *m, const snw_block *b) {
    return m->path[m->seg[b->seg].path].own == 0;
}

// Entries of a block as a twist, those of a ball joint as its angular part; and as a wrench.
static inline snw_twist snw_lie_block_twist(const snw_block *b, double factor, const double *x) {
    snw_twist out = {0};
    for (int k = 0; k < b->n; k++) out.e[k] = factor * x[b->dof + k];
    return out;
}

static inline snw_wrench snw_lie_block_wrench(const snw_block *b, const double *x) {
    snw_wrench out = {0};
    for (int k = 0; k < b->n; k++) out.e[k] = x[b->dof + k];
    return out;
}

static inline snw_twist snw_twist_unit(int k) {
    snw_twist e = {0};
    e.e[k] = 1;
    return e;
}

// to <- momenta, those of ball and free joints transported by the coadjoint action along half the
// increment d: forward from its start, or `back` from its end.
static inline void snw_transport_half(const snw_model *m, const double *d, bool back,
                                      const double *from, double *to) {
    memcpy(to, from, (size_t)m->nv * sizeof *to);
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        const snw_se3 half = snw_se3_exp(snw_lie_block_twist(b, back ? -0.5 : 0.5, d));
        const snw_wrench F = snw_wrench_to_child(half, snw_lie_block_wrench(b, from));
        for (int k = 0; k < b->n; k++) to[b->dof + k] = F.e[k];
    }
}

// Columns of a ball or free joint in A (`rows` rows, leading dimension ld) <- A T.
static inline void snw_lie_block_turn_columns(const snw_block *b, snw_lower T, int rows, int ld,
                                              double *A) {
    for (int i = 0; i < rows; i++) {
        double row[6];
        for (int k = 0; k < b->n; k++) {
            const snw_twist z = snw_lower_apply(&T, snw_twist_unit(k));
            row[k] = 0;
            for (int j = 0; j < b->n; j++)
                row[k] += A[(size_t)(b->dof + j) * (size_t)ld + (size_t)i] * z.e[j];
        }
        for (int k = 0; k < b->n; k++) A[(size_t)(b->dof + k) * (size_t)ld + (size_t)i] = row[k];
    }
}
