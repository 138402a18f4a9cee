// SPDX-License-Identifier: MIT
//
// Derivatives of states and outputs by variables, carried forward through the maps of a run: the
// same linear equations as in adjoint.c, not transposed. theory.md (7.5.10)
#include "study/adjoint_private.h"

#include "base/fail.h"
#include "dynamics/chart.h"
#include "dynamics/constraint.h"
#include "dynamics/relaxation.h"
#include "integrate/hard_step.h"
#include "math/vector.h"
#include "solve/dense.h"
#include "study/probe.h"
#include "study/probe_row.h"

#include <math.h>
#include <string.h>

// y (n) += c A x, A n x n.
static void add_product(int n, double c, const double *A, const double *x, double *y) {
    for (int j = 0; j < n; j++) {
        const double f = c * x[j];
        const double *column = A + (size_t)n * (size_t)j;
        for (int i = 0; i < n && f != 0; i++) y[i] += f * column[i];
    }
}

// x <- Ad(exp(-d)) x on the spherical and free joints.
void adjoint_carry(const snw_model *m, const double *d, double *x) {
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->space == SNW_SPACE_RN) continue;
        snw_twist D = {0}, X = {0};
        for (int i = 0; i < b->n; i++) D.e[i] = d[b->dof + i], X.e[i] = x[b->dof + i];
        X = snw_twist_to_child(snw_se3_exp(D), X);
        for (int i = 0; i < b->n; i++) x[b->dof + i] = X.e[i];
    }
}

// y (nv) += S x, S that of order `order` in a->chart; 1 on other coordinates (order 0).
void adjoint_add_chart(const snw_adjoint *a, int order, const double *x, double *y) {
    const snw_model *m = a->m;
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        const bool plain = b->space == SNW_SPACE_RN;
        for (int i = 0; i < b->n; i++) {
            if (plain) {
                y[b->dof + i] += order == 0 ? x[b->dof + i] : 0;
                continue;
            }
            const double *S = a->chart + 108 * (size_t)b->lie_block + 36 * order;
            for (int k = 0; k < b->n; k++) y[b->dof + i] += S[6 * i + k] * x[b->dof + k];
        }
    }
}

// ---- equations ----------------------------------------------------------------------------------

int snw_sensitivity_size(const snw_adjoint *a, const snw_map *map) {
    const int nv = a->m->nv, nr = a->m->nconstraint, nz = a->m->nsignal;
    const int nb = a->m->nbranch_coordinate;
    switch (map->kind) {
    case SNW_MAP_STATIC:
        return nv + nr + nb + (map->steady ? 2 * nv : 0) + (map->hard ? map->hard->n : 0);
    case SNW_MAP_FOLD:
        return nv + nr + 1;
    case SNW_MAP_INITIAL:
    case SNW_MAP_ACCELERATIONS:
        return nv + nr + nz;
    case SNW_MAP_CONSERVED:
    case SNW_MAP_ENERGY:
        return adjoint_conserved_size(a->m, map);
    case SNW_MAP_STEP:
        return 3 * nv + nr + nb + nz;
    case SNW_MAP_RESTART:
        return 2 * (nv + nr) + nz;
    case SNW_MAP_STAGES:
        return map->points.s * (nv + adjoint_stage_extra(a)) + (a->m->ndrive > 0 ? 2 * nv : 0) + nb;
    case SNW_MAP_HARD:
        return adjoint_hard_size(a, map);
    case SNW_MAP_EXPLICIT:
        return adjoint_explicit_size(a->m, map);
    case SNW_MAP_INPUTS:
    case SNW_MAP_EVENT:
    case SNW_MAP_SAMPLE:
    case SNW_MAP_KEPT:
    case SNW_MAP_FROM:
    case SNW_MAP_FRAME:
        break;
    }
    return 0;
}

int snw_sensitivity_stage(const snw_adjoint *a, const snw_map *map, int i) {
    const int nv = a->m->nv, ne = adjoint_stage_extra(a), end = map->points.s * nv;
    if (map->kind == SNW_MAP_HARD) return adjoint_hard_stage(a, map, i);
    if (map->kind == SNW_MAP_EXPLICIT) return adjoint_explicit_stage(a->m, i);
    if (i < end) return i / nv;
    return i < end + map->points.s * ne ? (i - end) / ne : map->points.s;
}

// out (nv) <- M (v - before) - C'p, out + nv <- rates of the rows
static void velocity_equations(const snw_model *m, const snw_inputs *in, const snw_state *s,
                               const double *before, const double *impulse, snw_state *still,
                               snw_work *w, double *out) {
    adjoint_row_rates(m, in, s, w, out + m->nv, NULL);
    snw_state_copy(m, s, still);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < m->nv; i++) still->v[i] = 0, still->a[i] = k ? 0 : s->v[i] - before[i];
        for (int i = 0; i < m->nconstraint; i++) still->lambda[i] = k ? 0 : impulse[i];
        snw_residual(m, in, still, false, w);
        for (int i = 0; i < m->nv; i++) out[i] = k ? out[i] - w->r[i] : w->r[i];
    }
}

void snw_sampler_equations(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *out) {
    const snw_model *m = x->m;
    const int nv = m->nv, nr = m->nconstraint, nz = m->nsignal;
    if (map->kind == SNW_MAP_HARD) {
        adjoint_hard_equations(x, a, map, out);
        return;
    }
    if (map->kind == SNW_MAP_EXPLICIT) {
        adjoint_explicit_equations(x, a, map, out);
        return;
    }
    if (map->kind == SNW_MAP_FOLD) {
        adjoint_fold_equations(x, a, map, out);
        return;
    }
    if (map->kind == SNW_MAP_STAGES) {
        for (int i = 0; i < map->points.s; i++) {
            snw_inputs_at(m, a->stage[i]->t + x->shift, x->in);
            snw_residual(m, x->in, adjoint_stage_state(x, map, i, a->stage[i]), false, x->w);
            memcpy(out + i * nv, x->w->r, (size_t)nv * sizeof *out);
            const int ne = adjoint_stage_extra(a), nm = adjoint_stage_memory(a);
            double *own = out + map->points.s * nv + i * ne;
            if (a->remembers) adjoint_integrands(m, x->in, x->w, own);
            for (int k = nm; k < ne; k++) own[k] = x->w->violation[adjoint_stage_row(m, k - nm)];
        }
        double *strain = out + snw_sensitivity_size(a, map) - m->nbranch_coordinate;
        if (m->nbranch > 0) adjoint_stage_strains(m, map, map->points.s, strain);
        if (m->ndrive == 0) return;
        adjoint_stage_end(x, map);
        double *end = strain - 2 * nv;
        memset(end, 0, 2 * (size_t)nv * sizeof *end);
        for (int i = 0; i < m->ndrive; i++) {
            const snw_drive *d = &m->drive[i];
            end[d->dof] = x->s->q[d->q], end[nv + d->dof] = x->s->v[d->dof];
        }
        return;
    }
    if (map->kind == SNW_MAP_CONSERVED || map->kind == SNW_MAP_ENERGY) {
        adjoint_conserved_equations(x, map, out);
        return;
    }
    const bool step = map->kind == SNW_MAP_STEP, rest = map->kind == SNW_MAP_STATIC;
    adjoint_sampler_state(x, map);
    snw_residual(m, x->in, x->s, rest && !map->steady, x->w);
    if (!rest) adjoint_integrands(m, x->in, x->w, out + snw_sensitivity_size(a, map) - nz);
    memcpy(out, x->w->r, (size_t)nv * sizeof *out);
    if (step || rest) memcpy(out + nv, x->w->violation, (size_t)nr * sizeof *out);
    if (step) {
        memcpy(out + nv + nr, x->s->v, (size_t)nv * sizeof *out);
        memcpy(out + 2 * nv + nr, x->s->a, (size_t)nv * sizeof *out);
    }
    if (step || rest) adjoint_branches_after(x, map, out + (step ? 3 : 1) * nv + nr);
    if (rest && map->hard) {
        const int n = map->hard->n;
        double *gap = out + snw_sensitivity_size(a, map) - n;
        adjoint_rest_equations(x, a, map, out, gap);
    }
    if (map->steady) { // rates of the laws
        double *law = out + snw_sensitivity_size(a, map) - 2 * nv;
        memcpy(law, x->s->v, (size_t)nv * sizeof *law);
        memcpy(law + nv, x->s->a, (size_t)nv * sizeof *law);
    }
    if (step || rest) return;
    if (nr > 0) adjoint_row_rates(m, x->in, x->s, x->w, x->rows, out + nv);
    if (map->kind == SNW_MAP_INITIAL || map->kind == SNW_MAP_ACCELERATIONS) return;
    if (nr == 0) {
        memset(out + nv, 0, (size_t)nv * sizeof *out);
        return;
    }
    velocity_equations(m, x->in, x->s, map->before, a->impulse, x->still, x->w, out + nv + nr);
}

// ---- maps ---------------------------------------------------------------------------------------

static snw_status prepare_matrix(snw_adjoint *a, const snw_map *map, snw_error *err) {
    const snw_scheme_map c = adjoint_scheme_map(map);
    const bool rest = map->kind == SNW_MAP_STATIC;
    if (map->kind == SNW_MAP_STAGES) return adjoint_stages_prepare(a, map, err);
    if (map->kind == SNW_MAP_CONSERVED || map->kind == SNW_MAP_ENERGY)
        return adjoint_conserved_prepare(a, map, err);
    if (rest && map->hard) return adjoint_rest_prepare(a, map, err);
    if (rest) {
        adjoint_static_matrix(a, map);
        return adjoint_factor(a, true, "the equilibrium", map->s.t, err);
    }
    const snw_state s = adjoint_map_state(map);
    a->half = adjoint_half_step(map);
    adjoint_tangents(a, map->t_laws, &s, false);
    adjoint_fix_rates(a, &map->s);
    if (map->kind == SNW_MAP_STEP) {
        if (map->split) adjoint_split_tangents(a, &map->s);
        adjoint_step_matrix(a, map, &c);
        adjoint_border(a, a->C_place, -1);
        if (a->m->nlie_block > 0) adjoint_chart_rows(a);
        adjoint_rate_rows(a, c.a);
        return adjoint_factor(a, false, "the step", map->s.t, err);
    }
    adjoint_place_matrix(a, a->M);
    adjoint_border(a, a->C, 1);
    SNW_TRY(adjoint_factor(a, true, "the accelerations", map->s.t, err));
    if (map->kind == SNW_MAP_RESTART && a->m->nconstraint > 0) adjoint_find_impulse(a, map);
    return SNW_OK;
}

snw_status snw_sensitivity_prepare(snw_adjoint *a, const snw_map *map, snw_error *err) {
    a->came = a->at;
    a->at = &map->s;
    a->longest = fmax(a->longest, map->h);
    if (map->kind == SNW_MAP_HARD) return adjoint_hard_prepare(a, map, err);
    if (map->kind == SNW_MAP_EXPLICIT) return adjoint_explicit_prepare(a, map, err);
    if (map->kind == SNW_MAP_FOLD) return adjoint_fold_prepare(a, map, err);
    SNW_TRY(prepare_matrix(a, map, err));
    if (map->kind == SNW_MAP_STEP) adjoint_find_lengths(a, map);
    adjoint_find_by_time(a, map);
    return SNW_OK;
}

static void apply_static(snw_adjoint *a, const snw_map *map, int k, const double *by) {
    const int nv = a->m->nv, nr = a->m->nconstraint;
    snw_bars *b = &a->bars[k];
    double *x = a->x;
    for (int i = 0; i < nv; i++) x[i] = -by[i];
    for (int i = 0; i < nr; i++) x[nv + i] = by[nv + i];
    adjoint_memory_force(a, map, k, 0, x);
    adjoint_branch_force(a, map, k, 0, x);
    if (map->hard) {
        adjoint_rest_solve(a, map, k, by, x);
    } else {
        snw_bordered_matrix_solve(a->T, x);
    }
    memset(b->place, 0, (size_t)(6 * nv) * sizeof *b->place); // all parts of velocities
    memcpy(b->place, x, (size_t)nv * sizeof *x);
    memcpy(b->lambda, x + nv, (size_t)nr * sizeof *x);
    adjoint_branch_apply(a, map, k, by + nv + nr);
    const double *law = by + snw_sensitivity_size(a, map) - 2 * nv;
    for (int i = 0; i < nv && map->steady; i++) {
        if (a->driven[i]) b->rate[i] = law[i], b->acc[i] = law[nv + i];
    }
}

static void apply_step(snw_adjoint *a, const snw_map *map, int k, const double *by,
                       adjoint_times times) {
    const snw_model *m = a->m;
    const int nv = m->nv, nr = m->nconstraint;
    const snw_scheme_map c = adjoint_scheme_map(map);
    snw_bars *b = &a->bars[k];
    double *x = a->x, *f = a->line, *g = f + nv, *pseudo = g + nv;
    const double *const part[SNW_PAST_PARTS] = {[SNW_PAST_RATE] = b->rate,
                                                [SNW_PAST_ACCELERATION] = b->acc,
                                                [SNW_PAST_PSEUDO] = b->pseudo,
                                                [SNW_PAST_INCREMENT] = b->increment,
                                                [SNW_PAST_RATE_BEFORE] = b->old};
    if (map->split && a->came) {
        // after a restart the pseudo-accelerations are the accelerations
        adjoint_split_to_chart(m, a->came, b->place, b->rate, b->acc);
        if (!(map->history_h > 0)) memcpy(b->pseudo, b->acc, (size_t)nv * sizeof *b->acc);
    }
    const double *by_length = a->by_length, before = b->time[SNW_TIME_LENGTH];
    for (int i = 0; i < nv; i++) {
        f[i] = by_length[i] * times.length + by_length[2 * nv + i] * before;
        g[i] = by_length[nv + i] * times.length + by_length[3 * nv + i] * before;
        pseudo[i] = 0;
        for (int j = SNW_PAST_RATE; j < SNW_PAST_PARTS; j++) {
            f[i] += c.f[j] * part[j][i];
            g[i] += c.g[j] * part[j][i];
            pseudo[i] += c.pseudo[j] * part[j][i];
        }
        if (a->driven[i]) f[i] = g[i] = 0;
        x[i] = -by[i];
    }
    adjoint_carry(m, adjoint_turn(a, map), b->place);
    add_product(nv, -1, a->K, b->place, x);
    add_product(nv, -1, a->D, f, x);
    add_product(nv, -1, a->M, g, x);
    adjoint_memory_force(a, map, k, times.length, x);
    adjoint_branch_force(a, map, k, times.length, x);
    for (int i = 0; i < nr; i++) {
        const size_t row = (size_t)nv * (size_t)i;
        x[nv + i] = by[nv + i] + snw_vector_dot(nv, a->C_place + row, b->place);
        if (a->of_rates[i]) x[nv + i] += snw_vector_dot(nv, a->C + row, f);
    }
    snw_bordered_matrix_solve(a->T, x);
    if (m->nlie_block > 0) {
        adjoint_add_chart(a, 0, x, b->place);
    } else {
        for (int i = 0; i < nv; i++) b->place[i] += x[i];
    }
    for (int i = 0; i < nv; i++) {
        const double rate = a->driven[i] ? by[nv + nr + i] : c.a * x[i] + f[i];
        const double acc = a->driven[i] ? by[2 * nv + nr + i] : c.b * x[i] + g[i];
        b->old[i] = b->rate[i];
        b->rate[i] = rate;
        b->acc[i] = acc;
        b->pseudo[i] = pseudo[i] + (map->settles ? 0 : c.pseudo_acc * acc);
        b->increment[i] = x[i];
    }
    memcpy(b->lambda, x + nv, (size_t)nr * sizeof *x);
    if (map->split) adjoint_split_to_body(m, &map->s, b->place, b->rate, b->acc);
    adjoint_branch_apply(a, map, k, by + 3 * nv + nr);
    adjoint_memory_apply(a, map, k, by + 3 * nv + nr + m->nbranch_coordinate);
}

// Distance along a direction at which coordinates and velocities move by a small part of their
// typical values.
static double sample_distance(const snw_model *m, const double *x, const double *v) {
    double most = 0;
    for (int i = 0; i < m->nv; i++) {
        most = fmax(most, fabs(x[i]) / m->typical[i]);
        if (v) most = fmax(most, 0.1 * fabs(v[i]) / m->typical[i]);
    }
    return most > 0 ? 1e-3 / most : 1;
}

// a->s <- the state of a map moved along the derivatives by variable k; `all`: accelerations and
// multipliers too.
static void move_state(snw_adjoint *a, const snw_map *map, const snw_bars *b, double step,
                       bool rates, bool all) {
    const snw_model *m = a->m;
    snw_state_copy(m, &map->s, a->s);
    snw_move(m, map->s.q, step, b->place, a->s->q);
    for (int i = 0; i < m->nv; i++) {
        if (rates) a->s->v[i] += step * b->rate[i];
        if (all) a->s->a[i] += step * b->acc[i];
    }
    for (int i = 0; i < m->nconstraint && all; i++) a->s->lambda[i] += step * b->lambda[i];
    for (int i = 0; i < m->nsignal && all; i++) a->s->z[i] += step * b->z[i];
    for (int i = 0; i < m->nbranch_coordinate && all; i++) a->s->relaxed[i] += step * b->branch[i];
}

static void apply_restart(snw_adjoint *a, const snw_map *map, int k, const double *by,
                          snw_state *still) {
    const snw_model *m = a->m;
    const int nv = m->nv, nr = m->nconstraint;
    snw_bars *b = &a->bars[k];
    double *x = a->x, *sample = a->line, *rows = sample + nv + nr;
    const double by_pseudo = map->settles ? adjoint_scheme_map(map).pseudo_acc : 1;
    if (map->kind == SNW_MAP_RESTART && nr > 0) { // velocities
        const double h = sample_distance(m, b->place, NULL);
        for (int i = 0; i < nv + nr; i++) x[i] = -by[nv + nr + i];
        add_product(nv, 1, a->M, b->rate, x);
        for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
            if (j == 0) continue;
            const double w = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / h;
            move_state(a, map, b, j * h, false, false);
            velocity_equations(m, a->in, a->s, map->before, a->impulse, still, a->w, sample);
            for (int i = 0; i < nv + nr; i++) x[i] -= w * sample[i];
        }
        snw_bordered_matrix_solve(a->T, x);
        memcpy(b->rate, x, (size_t)nv * sizeof *x);
    }
    for (int i = 0; i < nv + nr; i++) x[i] = -by[i];
    add_product(nv, -1, a->K, b->place, x);
    add_product(nv, -1, a->D, b->rate, x);
    adjoint_memory_force(a, map, k, b->time[SNW_TIME_LENGTH], x);
    adjoint_branch_force(a, map, k, 0, x);
    if (nr > 0) {
        const double h = sample_distance(m, b->place, b->rate);
        for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
            if (j == 0) continue;
            const double w = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / h;
            move_state(a, map, b, j * h, true, false);
            adjoint_row_rates(m, a->in, a->s, a->w, rows, sample);
            for (int i = 0; i < nr; i++) x[nv + i] -= w * sample[i];
        }
    }
    snw_bordered_matrix_solve(a->T, x);
    double *chart = a->line; // accelerations, and rates behind them
    memcpy(chart, x, (size_t)nv * sizeof *x);
    memcpy(chart + nv, b->rate, (size_t)nv * sizeof *x);
    if (map->split) adjoint_split_to_chart(m, &map->s, b->place, chart + nv, chart);
    for (int i = 0; i < nv; i++) {
        b->acc[i] = x[i];
        if (map->settles) {
            b->pseudo[i] += by_pseudo * chart[i];
        } else {
            b->pseudo[i] = x[i];
            b->increment[i] = b->old[i] = 0;
        }
    }
    memcpy(b->lambda, x + nv, (size_t)nr * sizeof *x);
    adjoint_memory_apply(a, map, k, by + snw_sensitivity_size(a, map) - m->nsignal);
}

// Right side `to` (nv) of stage i += that by the memory before the step; right side of its
// integrands and rows, `place` that before the step in the axes of the stage.
static void memory_of_stage(const snw_adjoint *a, const snw_map *map, const snw_bars *b, int i,
                            double length, const double *by, const double *place, double *to,
                            double *integrand) {
    const snw_collocation *c = &map->points;
    const int nv = a->m->nv, nm = adjoint_stage_memory(a), ne = adjoint_stage_extra(a);
    double *slope = a->row, *rate = slope + nv;
    if (ne == 0) return;
    adjoint_stage_slopes(a->m, map, c->c[i], c->A[i], c->AA[i], slope, rate);
    for (int k = 0; k < nv; k++) {
        slope[k] = length * slope[k] + c->c[i] * map->h * b->rate[k];
        rate[k] = length * rate[k] + b->rate[k];
    }
    for (int k = 0; k < ne; k++) {
        const double *row = a->stage_row + (size_t)(i * ne + k) * 4 * (size_t)nv;
        integrand[k] = by[k] + snw_vector_dot(nv, row, place) +
                       snw_vector_dot(nv, row + 2 * nv, slope) +
                       snw_vector_dot(nv, row + 3 * nv, rate);
    }
    for (int l = 0; l < nm; l++) {
        const double z = b->z[l] + length * adjoint_stage_integral(a, map, c->A[i], l);
        const double *force = a->stage_force + (size_t)(i * nm + l) * (size_t)nv;
        for (int k = 0; k < nv; k++) to[k] += z * force[k];
        for (int k = 0; k < nm; k++) integrand[k] += z * a->stage_by[(i * nm + k) * nm + l];
    }
}

static void apply_stages(snw_adjoint *a, const snw_map *map, int k, const double *by,
                         adjoint_times times) {
    const snw_model *m = a->m;
    const snw_collocation *c = &map->points;
    const int nv = m->nv, nm = adjoint_stage_memory(a), ne = adjoint_stage_extra(a);
    const int end = c->s * nv, n = end + c->s * ne;
    const size_t square = (size_t)nv * (size_t)nv;
    const double h = map->h;
    snw_bars *b = &a->bars[k];
    double *X = a->stage_mu, *place = a->line, *x = place + nv, *rate = x + nv, *zeta = rate + nv;
    for (int i = 0; i < c->s; i++) {
        double *to = X + i * nv;
        for (int j = 0; j < nv; j++) to[j] = a->driven[j] ? 0 : -by[i * nv + j];
        memcpy(place, b->place, (size_t)nv * sizeof *place);
        adjoint_carry(m, a->stage_x + i * nv, place);
        add_product(nv, -1, a->stage_V + (size_t)i * square, place, to);
        add_product(nv, -c->c[i] * h, a->stage_K + (size_t)i * square, b->rate, to);
        add_product(nv, -1, a->stage_D + (size_t)i * square, b->rate, to);
        memory_of_stage(a, map, b, i, times.length, by + end + i * ne, place, to, X + end + i * ne);
        adjoint_stage_branch_force(a, map, k, i, times.length, to);
        if (times.length == 0) continue;
        adjoint_stage_slopes(m, map, c->c[i], c->A[i], c->AA[i], x, rate);
        add_product(nv, -times.length, a->stage_K + (size_t)i * square, x, to);
        add_product(nv, -times.length, a->stage_D + (size_t)i * square, rate, to);
    }
    snw_lu_solve(n, a->stage_matrix, a->stage_pivot, X);
    adjoint_stage_branch_apply(a, map, k, by + snw_sensitivity_size(a, map) - m->nbranch_coordinate,
                               X, times.length);
    adjoint_stage_slopes(m, map, 1, c->b, c->bb, x, rate);
    for (int j = 0; j < nv; j++) {
        x[j] = h * b->rate[j] + times.length * x[j];
        rate[j] = b->rate[j] + times.length * rate[j];
        zeta[j] = 0;
        for (int i = 0; i < c->s; i++) {
            x[j] += h * h * c->bb[i] * X[i * nv + j];
            rate[j] += h * c->b[i] * X[i * nv + j];
        }
    }
    for (int i = 0; i < nm; i++) {
        b->z[i] += times.length * adjoint_stage_integral(a, map, c->b, i);
        for (int j = 0; j < c->s; j++) b->z[i] += h * c->b[j] * X[end + j * ne + i];
    }
    adjoint_carry(m, a->stage_x + end, b->place);
    const double *law = by + n;
    for (int j = 0; j < nv && m->ndrive > 0; j++) {
        if (a->driven[j]) b->place[j] = 0, x[j] = law[j], rate[j] = law[nv + j];
    }
    if (m->nlie_block == 0) {
        for (int j = 0; j < nv; j++) b->place[j] += x[j], b->rate[j] = rate[j];
        return;
    }
    // zeta = S x, delta v = (S' + ad_v S) x + S x'
    adjoint_add_chart(a, 0, x, zeta);
    memset(b->rate, 0, (size_t)nv * sizeof *b->rate);
    adjoint_add_chart(a, 0, rate, b->rate);
    adjoint_add_chart(a, 1, x, b->rate);
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *block = &m->block[f];
        if (block->space == SNW_SPACE_RN) continue;
        double ad[36];
        adjoint_block_ad(block, map->s.v, ad);
        for (int i = 0; i < block->n; i++) {
            for (int j = 0; j < block->n; j++)
                b->rate[block->dof + i] += ad[6 * j + i] * zeta[block->dof + j];
        }
    }
    for (int j = 0; j < nv; j++) b->place[j] += zeta[j];
}

// Through a map with these changes of times; `by` is changed.
static void apply(snw_adjoint *a, const snw_map *map, int k, double *by, adjoint_times times) {
    const int n = snw_sensitivity_size(a, map);
    const bool stages = map->kind == SNW_MAP_STAGES;
    double *t = a->bars[k].time;
    const bool hard = map->kind == SNW_MAP_HARD || map->kind == SNW_MAP_EXPLICIT; // own terms
    for (int i = 0; i < n && adjoint_moves(map) && !hard; i++) {
        const double part = stages ? adjoint_stage_fraction(map, snw_sensitivity_stage(a, map, i))
                            : map->kind == SNW_MAP_CONSERVED ? 0
                                                             : 1;
        by[i] += a->by_time[i] * (times.before + part * times.length);
    }
    switch (map->kind) {
    case SNW_MAP_STATIC:
        apply_static(a, map, k, by);
        break;
    case SNW_MAP_FOLD: // as snw_sensitivity_apply
    case SNW_MAP_INITIAL:
    case SNW_MAP_RESTART:
    case SNW_MAP_ACCELERATIONS:
        apply_restart(a, map, k, by, a->still);
        break;
    case SNW_MAP_CONSERVED:
    case SNW_MAP_ENERGY:
        adjoint_conserved_apply(a, map, k, by, times.length);
        break;
    case SNW_MAP_STEP:
        apply_step(a, map, k, by, times);
        break;
    case SNW_MAP_STAGES:
        apply_stages(a, map, k, by, times);
        break;
    case SNW_MAP_HARD:
        times.length = adjoint_hard_apply(a, map, k, by, times.before, times.length);
        if (map->end == SNW_END_LENGTH) times.after = times.before + times.length;
        break;
    case SNW_MAP_EXPLICIT:
        adjoint_explicit_apply(a, map, k, by, times.before, times.length);
        break;
    case SNW_MAP_INPUTS:
    case SNW_MAP_EVENT:
    case SNW_MAP_SAMPLE:
    case SNW_MAP_KEPT:
    case SNW_MAP_FROM:
    case SNW_MAP_FRAME:
        break;
    }
    t[SNW_TIME_NOW] = times.after;
    if (map->kind == SNW_MAP_STEP || stages || hard) t[SNW_TIME_LENGTH] = times.length;
    if (map->kind == SNW_MAP_RESTART && !map->settles) t[SNW_TIME_LENGTH] = 0;
    if (map->begins) t[SNW_TIME_START] = t[SNW_TIME_NOW];
}

void snw_sensitivity_apply(snw_adjoint *a, const snw_map *map, int k, double *by) {
    if (map->kind == SNW_MAP_FOLD) {
        adjoint_fold_apply(a, k, by);
        return;
    }
    apply(a, map, k, by, adjoint_step_times(a, map, k));
}

void snw_sensitivity_of_length(snw_adjoint *a, const snw_map *map, int k) {
    double *by = a->sampled_time;
    memset(by, 0, (size_t)snw_sensitivity_size(a, map) * sizeof *by);
    memset(a->bars[k].place, 0,
           (size_t)(a->bars[k].time - a->bars[k].place + SNW_TIMES) * sizeof *by);
    apply(a, map, k, by, (adjoint_times){.length = 1, .after = 1});
}

// ---- frames -------------------------------------------------------------------------------------

// Derivative of output i, which is known by the state, by a variable with these of the state.
static double known_product(snw_adjoint *a, const snw_map *map, int i, const snw_bars *b) {
    const int nv = a->m->nv, nr = a->m->nconstraint;
    double *x = a->line;
    const snw_state_bars to = {x, x + nv, x + 2 * nv, x + 3 * nv};
    memset(x, 0, (size_t)(3 * nv + nr) * sizeof *x);
    memset(a->known_bar, 0, (size_t)a->noutput * sizeof *a->known_bar);
    a->known_bar[i] = 1;
    snw_output_bars_add(a->output_bars, a->noutput, a->output, a->known_bar, a->in, &map->s, a->w,
                        &to);
    return snw_vector_dot(nv, to.place, b->place) + snw_vector_dot(nv, to.rate, b->rate) +
           snw_vector_dot(nv, to.acc, b->acc) + snw_vector_dot(nr, to.lambda, b->lambda);
}

// out += derivatives through the memory of the outputs for which they are written down, which
// others are not in a->by_memory. After adjoint_rows.
static void add_memory(snw_adjoint *a, const snw_bars *b, double *out) {
    for (int i = 0; i < a->noutput; i++) {
        a->by_memory[i] = true;
        if (!a->exact[i] && adjoint_knows(a, i)) continue; // no function of the memory
        for (int k = 0; k < a->m->nsignal; k++) {
            double by;
            if (!adjoint_is_memory(a->m, k)) continue;
            a->by_memory[i] = adjoint_output_by_memory(a, i, k, &by);
            out[i] += a->by_memory[i] ? by * b->z[k] : 0;
        }
    }
}

// The same of the others, by differences at a fixed state of the robot: each signal moves in its
// own unit, by a part of its own size.
static void difference_memory(snw_adjoint *a, const snw_map *map, int signal, double dz,
                              double *out) {
    const double h = 1e-2 * adjoint_memory_size(a, map, signal); // as in difference_outputs
    (void)adjoint_frame_forces(map, a->touch);
    for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
        if (j == 0) continue;
        const double w = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / h;
        snw_state_copy(a->m, &map->s, a->s);
        a->s->z[signal] += j * h;
        adjoint_evaluate(a->m, map, a->touch, a->in, a->s, a->w);
        memcpy(a->rotation_now, a->rotation,
               (size_t)(a->m->nseg + a->m->nobs) * sizeof *a->rotation_now);
        adjoint_read_outputs(a, a->m, a->in, a->s, a->w, a->rotation_now, a->column, a->sample);
        for (int i = 0; i < a->noutput; i++) {
            if (!a->by_memory[i]) out[i] += dz * w * a->sample[i];
        }
    }
}

snw_status snw_sensitivity_frame(snw_adjoint *a, const snw_map *map, int k, const double *y,
                                 double *out, snw_error *err) {
    const snw_model *m = a->m;
    const snw_bars *b = &a->bars[k];
    bool rest = false, all_by_memory = true;
    snw_inputs_at(m, map->t_laws, a->in);
    SNW_TRY(adjoint_rows(a, map, y, err));
    memset(out, 0, (size_t)a->noutput * sizeof *out);
    add_memory(a, b, out);
    for (int i = 0; i < a->noutput; i++) {
        const double *row = a->rows + 2 * (size_t)m->nv * (size_t)i;
        const bool known = !a->exact[i] && adjoint_knows(a, i);
        all_by_memory = all_by_memory && a->by_memory[i];
        rest = rest || !(a->exact[i] || known);
        if (known) {
            out[i] += known_product(a, map, i, b);
            a->exact[i] = true; // without differences
        } else if (a->exact[i]) {
            out[i] +=
                snw_vector_dot(m->nv, row, b->place) + snw_vector_dot(m->nv, row + m->nv, b->rate);
        }
        if (adjoint_has_interaction(a, i))
            out[i] += snw_vector_dot(m->nv, a->interaction, b->place);
    }
    if (!rest) return SNW_OK;
    double h = sample_distance(m, b->place, b->rate);
    for (int i = 0; i < m->nbranch_coordinate; i++)
        h = fmin(h, 1e-3 * m->typical[snw_relaxation_place(m, i).dof] /
                        fmax(fabs(b->branch[i]), 1e-300));
    for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
        if (j == 0) continue;
        const double w = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / h;
        move_state(a, map, b, j * h, true, true);
        if (m->nsignal > 0) memcpy(a->s->z, map->s.z, (size_t)m->nsignal * sizeof *a->s->z);
        const int touching = 3 * adjoint_frame_forces(map, a->touch);
        for (int i = 0; i < touching; i++) a->touch[i] += j * h * b->touch[i];
        adjoint_evaluate(m, map, a->touch, a->in, a->s, a->w);
        memcpy(a->rotation_now, a->rotation, (size_t)(m->nseg + m->nobs) * sizeof *a->rotation_now);
        adjoint_read_outputs(a, m, a->in, a->s, a->w, a->rotation_now, a->column, a->sample);
        const double interaction = snw_interaction_energy(m, a->w);
        for (int i = 0; i < a->noutput; i++) {
            const double less = adjoint_has_interaction(a, i) ? interaction : 0;
            if (!a->exact[i]) out[i] += w * (a->sample[i] - less);
        }
    }
    for (int i = 0; i < m->nsignal && !all_by_memory; i++) {
        if (adjoint_is_memory(m, i) && b->z[i] != 0) difference_memory(a, map, i, b->z[i], out);
    }
    return SNW_OK;
}
