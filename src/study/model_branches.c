// SPDX-License-Identifier: MIT
//
// Derivatives of a scalar by the numbers of Maxwell branches, theory.md (7.5.41). With the strains
// a = b + f q of the branches in the equations of a map,
//
//     r = .. - sum K_i a_i,   by K_i  -mu a_i',   by tau_i  -(K_i mu + branch)'da_i/dtau
//
// A step depends on h/tau alone, so that da/dtau = -(h/tau) da/dh.
#include "study/model_branches.h"

#include "dynamics/relaxation.h"
#include "study/adjoint_private.h"

#include <math.h>
#include <string.h>

static size_t rod_size(const snw_rod *rod) {
    const size_t n = (size_t)rod->nbranch, nd = (size_t)rod->ndof;
    return n > 0 ? n * (nd * nd + 3) + 2 : 0;
}

size_t snw_model_branches_size(const snw_model *m) {
    size_t n = 0;
    for (int i = 0; i < m->nrod; i++) n += rod_size(&m->rod[i]);
    return n;
}

snw_branch_numbers snw_model_branches_of(const snw_model *m, int rod) {
    const snw_rod *r = &m->rod[rod];
    const size_t n = (size_t)r->nbranch, nd = (size_t)r->ndof;
    snw_branch_numbers x = {0};
    for (int i = 0; i < rod; i++) x.K += rod_size(&m->rod[i]);
    x.time = x.K + n * nd * nd;
    x.fraction = x.time + n;
    x.instant = x.fraction + 2 * n;
    return x;
}

void snw_model_branches_read(const snw_model *m, bool sections, double *out) {
    memset(out, 0, snw_model_branches_size(m) * sizeof *out);
    for (int i = 0; i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        if (rod->nbranch == 0) continue;
        const size_t n = (size_t)rod->nbranch, nd = (size_t)rod->ndof;
        const snw_branch_numbers at = snw_model_branches_of(m, i);
        const snw_relaxation_series *series = &m->desc->link[rod->link].rod.material->relaxation;
        memcpy(out + at.time, rod->relaxation_time, n * sizeof *out);
        if (!sections) memcpy(out + at.K, rod->branch_K, n * nd * nd * sizeof *out);
        for (size_t k = 0; k < 2 && sections; k++) {
            memcpy(out + at.fraction + k * n, series->fraction[k], n * sizeof *out);
            out[at.instant + k] = series->instant[k];
        }
    }
}

void snw_model_branches_scale(const snw_model *m, double *x) {
    for (int i = 0; i < m->nrod; i++) {
        const size_t nn = (size_t)m->rod[i].ndof * (size_t)m->rod[i].ndof;
        for (int k = 0; k < m->rod[i].nbranch; k++) {
            double *K = x + snw_model_branches_of(m, i).K + (size_t)k * nn, most = 0;
            for (size_t j = 0; j < nn; j++) most = fmax(most, fabs(K[j]));
            for (size_t j = 0; j < nn; j++) K[j] = most;
        }
    }
}

// Strain coordinate i of a branch in the equations of a map, and its derivative by the time.
static double strain_of(const snw_model *m, const snw_map *map, snw_branch_place at, int i,
                        double *by_time) {
    const double q = map->s.q[at.q], t = at.time;
    *by_time = 0;
    if (!map->branch_part) return map->s.relaxed[i];
    const double a =
        map->branch_part[i] + map->branch_follow[m->rod[at.rod].branch_adr + at.branch] * q;
    if (map->kind == SNW_MAP_STEP) {
        *by_time = -map->h / t * adjoint_branch_by_length(map, at, i);
    } else if (map->relaxation.kind == SNW_RELAXED_AFTER && isfinite(map->relaxation.time)) {
        *by_time = -q * exp(-map->relaxation.time / t) * map->relaxation.time / (t * t);
    }
    return a;
}

void snw_model_branches_subtract(const snw_model *m, const snw_map *map, const double *mu,
                                 const double *branch, double *bar) {
    for (int i = 0; i < m->nbranch_coordinate; i++) {
        const snw_branch_place at = snw_relaxation_place(m, i);
        const snw_rod *rod = &m->rod[at.rod];
        const size_t nd = (size_t)rod->ndof, j = (size_t)(at.dof - rod->dof0);
        const snw_branch_numbers to = snw_model_branches_of(m, at.rod);
        const double *own = mu + rod->dof0, *K = rod->branch_K + (size_t)at.branch * nd * nd;
        double *by_K = bar + to.K + (size_t)at.branch * nd * nd, by_time, force = branch[i];
        const double a = strain_of(m, map, at, i, &by_time);
        for (size_t k = 0; k < nd; k++) {
            by_K[k * nd + j] += own[k] * a;
            force += own[k] * K[k * nd + j];
        }
        bar[to.time + (size_t)at.branch] += force * by_time;
    }
}

void snw_model_branches_add_energy(const snw_model *m, const snw_state *s, double c, double *bar) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const size_t nd = (size_t)rod->ndof;
        const double *q = s->q + rod->dof0 + rod->shift;
        double *to = bar + snw_model_branches_of(m, r).K;
        for (int k = 0; k < rod->nbranch; k++, to += nd * nd) {
            const double *a = s->relaxed + rod->branch_coordinate0 + k * rod->ndof;
            for (size_t i = 0; i < nd; i++) {
                for (size_t j = 0; j < nd; j++) to[i * nd + j] += c * (0.5 * a[i] - q[i]) * a[j];
            }
        }
    }
}
