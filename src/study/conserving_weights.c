// SPDX-License-Identifier: MIT
//
// Weights of the energy correction of the conserving scheme and the numbers of the model that they
// depend on: scale/typical of a coordinate (model/compile.c, typical_forces), which is the
// stiffness of a rod or joint, else e/l^2 with a typical energy e and a typical coordinate l.
#include "study/conserving_weights.h"

#include "integrate/lie_block.h"

#include <math.h>

static double total_mass(const snw_model *m) {
    double sum = 0;
    for (int i = 0; i < m->nseg; i++) sum += m->seg[i].M.m;
    return sum;
}

static double weight_of(const snw_model *m, const snw_weight_source *x) {
    switch (x->kind) {
    case SNW_WEIGHT_OF_ROD:
        return x->factor * snw_rod_diagonal(&m->rod[x->of], m->rod[x->of].K, x->at);
    case SNW_WEIGHT_OF_SPRING:
        return x->factor * m->spring[x->of].stiffness;
    case SNW_WEIGHT_OF_MASS:
        return x->factor * total_mass(m);
    case SNW_WEIGHT_CONSTANT:
        return x->factor;
    case SNW_WEIGHT_OF_OTHERS:
        break;
    }
    return NAN;
}

// *most <- the larger of two sources.
static void take_larger(const snw_model *m, snw_weight_source x, snw_weight_source *most) {
    const double size = weight_of(m, &x);
    if (size > 0 && (most->kind == SNW_WEIGHT_CONSTANT || size > weight_of(m, most))) *most = x;
}

// Source of the typical energy: the stiffest rod, else the weight, else the stiffest spring.
static snw_weight_source typical_energy(const snw_model *m) {
    snw_weight_source most = {.kind = SNW_WEIGHT_CONSTANT, .factor = 1};
    double g = 0;
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        for (int a = 0; a < rod->na; a++) {
            const snw_weight_source x = {SNW_WEIGHT_OF_ROD, r, rod->dof[a] - rod->dof0,
                                         1 / (rod->L * rod->L)};
            if (rod->comp[a] < 3) take_larger(m, x, &most);
        }
    }
    if (most.kind != SNW_WEIGHT_CONSTANT) return most;
    for (int i = 0; i < 3; i++) {
        if (m->gravity[i]) g = fmax(g, fabs(snw_expr_value(m->gravity[i], (snw_at){0})));
    }
    if (g * total_mass(m) > 0)
        return (snw_weight_source){.kind = SNW_WEIGHT_OF_MASS, .factor = g * m->length};
    for (int i = 0; i < m->nspring; i++) {
        const double one = m->typical[m->block[m->spring[i].block].dof];
        take_larger(m, (snw_weight_source){SNW_WEIGHT_OF_SPRING, i, 0, one * one}, &most);
    }
    if (most.kind == SNW_WEIGHT_CONSTANT && m->nforce_element > 0) most.kind = SNW_WEIGHT_OF_OTHERS;
    return most;
}

snw_weight_source snw_conserving_weight_source(const snw_model *m, int dof) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const int i = dof - rod->dof0;
        if (i >= 0 && i < rod->ndof && snw_rod_diagonal(rod, rod->K, i) > 0)
            return (snw_weight_source){SNW_WEIGHT_OF_ROD, r, i, 1};
    }
    for (int i = 0; i < m->nspring; i++) {
        const snw_block *b = &m->block[m->spring[i].block];
        if (b->spring == i && dof >= b->dof && dof < b->dof + b->n && m->spring[i].stiffness > 0)
            return (snw_weight_source){SNW_WEIGHT_OF_SPRING, i, 0, 1};
    }
    snw_weight_source energy = typical_energy(m);
    energy.factor /= m->typical[dof] * m->typical[dof];
    return energy;
}

// Is the weight of a coordinate zero, of a spherical or free joint on the world without a spring?
static bool has_no_weight(const snw_model *m, int dof) {
    // roots that elements or wheels hold have one
    const bool held = m->nforce_element > 0 || m->nnonholonomic > 0;
    for (int f = 0; f < m->nlie_block && !held; f++) {
        const snw_block *b = snw_lie_block(m, f);
        if (dof >= b->dof && dof < b->dof + b->n)
            return snw_lie_block_is_root(m, b) && b->spring < 0;
    }
    return false;
}

bool snw_conserving_weights_alike(const snw_model *m, const snw_model *other) {
    for (int i = 0; i < m->nv; i++) {
        const snw_weight_source x = snw_conserving_weight_source(m, i);
        const double got = other->scale[i] / other->typical[i], want = weight_of(other, &x);
        if (!has_no_weight(m, i) && !(fabs(got - want) <= 1e-13 * fabs(want))) return false;
    }
    return true;
}
