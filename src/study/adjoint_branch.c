// SPDX-License-Identifier: MIT
//
// Maxwell branches in the maps of a run, theory.md (7.5.31). The equations of a step have the
// strains of the branches eliminated,
//
//     a_1 = b + f q_1,   b = (kept a_0 + old q_0)/(1 + c),   f = c/(1 + c) (2.5.2)
//
// so that tangents and samples are taken at fixed b; an equilibrium has b and f by its rule
// (2.5.4), a restart the strains themselves.
#include "study/adjoint_private.h"

#include "dynamics/relaxation.h"
#include "math/vector.h"

#include <string.h>

// Are the strains after the map functions of the coordinates there?
static bool follows(const snw_map *map) {
    return map->kind == SNW_MAP_STEP ||
           (map->kind == SNW_MAP_STATIC && map->relaxation.kind == SNW_RELAXED_AFTER);
}

static bool is_euler(const snw_map *map) { return map->scheme.order == 1; }

// Fraction with which strain i follows its coordinate in the map.
static double fraction(const snw_model *m, const snw_map *map, snw_branch_place at) {
    return map->branch_follow ? map->branch_follow[m->rod[at.rod].branch_adr + at.branch] : 0;
}

// Generalised force (nv) of a unit of strain i.
static const double *force_of(snw_adjoint *a, int i) {
    memset(a->branch_force, 0, (size_t)a->m->nv * sizeof *a->branch_force);
    (void)snw_relaxation_force(a->m, i, a->branch_force);
    return a->branch_force;
}

static snw_branch_rule rule_of(const snw_map *map, snw_branch_place at) {
    return snw_relaxation_in_step(map->h, at.time, is_euler(map));
}

double adjoint_branch_by_length(const snw_map *map, snw_branch_place at, int i) {
    const snw_branch_rule x = rule_of(map, at);
    const double before = x.old > 0 ? map->branch_place[i] - map->branch_from[i] : 0;
    return (map->s.q[at.q] - map->s.relaxed[i] + before) * x.dc / (1 + x.c);
}

void adjoint_sampler_branches(snw_sampler *x, const snw_map *map) {
    if (!map->branch_part) return;
    if (map->kind == SNW_MAP_STATIC) {
        snw_relaxation_settle(x->m, map->relaxation, x->s);
    } else {
        snw_relaxation_from(x->m, map->h, is_euler(map), map->branch_from, map->branch_place, x->s);
    }
}

void adjoint_branches_after(const snw_sampler *x, const snw_map *map, double *out) {
    const snw_model *m = x->m;
    for (int i = 0; i < m->nbranch_coordinate; i++) {
        const snw_branch_place at = snw_relaxation_place(m, i);
        out[i] = 0;
        if (follows(map))
            out[i] = x->s->relaxed[i] +
                     x->s->follow[m->rod[at.rod].branch_adr + at.branch] * x->s->q[at.q];
    }
}

// ---- backward

void adjoint_branch_begin(snw_adjoint *a, const snw_map *map, int scalar) {
    const snw_model *m = a->m;
    const snw_bars *b = &a->bars[scalar];
    for (int i = 0; i < m->nbranch_coordinate && follows(map); i++) {
        const snw_branch_place at = snw_relaxation_place(m, i);
        a->covectors[scalar].branch[i] = b->branch[i];
        b->place[at.dof] += fraction(m, map, at) * b->branch[i];
    }
}

void adjoint_branch_back(snw_adjoint *a, const snw_map *map, int scalar) {
    const snw_model *m = a->m;
    const snw_bars *b = &a->bars[scalar];
    const double *mu = a->covectors[scalar].mu;
    const bool step = map->kind == SNW_MAP_STEP, moves = adjoint_moves(map);
    for (int i = 0; i < m->nbranch_coordinate; i++) {
        const snw_branch_place at = snw_relaxation_place(m, i);
        const double bar = b->branch[i] + snw_vector_dot(m->nv, force_of(a, i), mu);
        b->branch[i] = follows(map) ? 0 : bar;
        if (!step) continue;
        const snw_branch_rule x = rule_of(map, at);
        b->branch[i] = x.kept / (1 + x.c) * bar;
        b->place[at.dof] += x.old / (1 + x.c) * bar;
        if (moves) a->by_own[scalar] += bar * adjoint_branch_by_length(map, at, i);
    }
}

// ---- forward

void adjoint_branch_force(snw_adjoint *a, const snw_map *map, int k, double length, double *x) {
    const snw_model *m = a->m;
    const snw_bars *b = &a->bars[k];
    for (int i = 0; i < m->nbranch_coordinate; i++) {
        const snw_branch_place at = snw_relaxation_place(m, i);
        double part = map->kind == SNW_MAP_STATIC && follows(map) ? 0 : b->branch[i];
        if (map->kind == SNW_MAP_STEP) {
            const snw_branch_rule rule = rule_of(map, at);
            part = (rule.kept * b->branch[i] + rule.old * b->place[at.dof]) / (1 + rule.c);
            if (length != 0) part += length * adjoint_branch_by_length(map, at, i);
        }
        a->branch[i] = part;
        const double *force = force_of(a, i);
        for (int j = 0; j < m->nv && part != 0; j++) x[j] += part * force[j];
    }
}

void adjoint_branch_apply(snw_adjoint *a, const snw_map *map, int k, const double *by) {
    const snw_model *m = a->m;
    const snw_bars *b = &a->bars[k];
    for (int i = 0; i < m->nbranch_coordinate && follows(map); i++) {
        const snw_branch_place at = snw_relaxation_place(m, i);
        b->branch[i] = a->branch[i] + by[i] + fraction(m, map, at) * b->place[at.dof];
    }
}
